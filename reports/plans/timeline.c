#include "reports/plans/timeline.h"

#include "model/cost/units.h"
#include "model/plan/fleet.h"
#include "model/plan/ledger.h"
#include "model/plan/outcome.h"
#include "model/plan/terms.h"
#include "model/questions/portfolio.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"
#include "reports/faces/parts.h"
#include "reports/plans/calendar.h"

#include <math.h>
#include <stddef.h>

static const struct option *option_of(const struct plan_answer *answer, size_t o) {
  return &answer->scenario->options[o];
}

static double tokens_of(const struct fleet_problem *problem, int t) {
  double tokens = 0;
  for (size_t w = 0; w < problem->workload_count; w++)
    tokens += problem->workloads[w].demand[t];
  return tokens;
}

static double outlay_of(const struct plan_answer *answer, int t) {
  double outlay = 0;
  for (size_t o = 0; o < answer->problem->option_count; o++)
    outlay += ledger_outlay_of(answer, o, t);
  return outlay;
}

static double power_of(const struct plan_answer *answer, int t) {
  const struct fleet_problem *problem = answer->problem;
  double power = 0;
  for (size_t o = 0; o < problem->option_count; o++)
    power += problem->options[o].power * fleet_nodes(problem, &answer->result.fleet, o, t);
  return power;
}

static void write_fleet(struct answer *written, const struct plan_answer *answer) {
  const struct fleet_problem *problem = answer->problem;
  const struct unit *gpu = unit_known("gpu", written->arena);
  struct answer_table *table =
      ANSWER_TABLE(written, "fleet", "Fleet in each period", {"period", "Period", NULL},
                   {"tokens", "Tokens", "Mtok"}, {"outlay", "Paid for it", "USD"},
                   {"power", "Site power", "MW"});
  for (size_t o = 0; o < problem->option_count; o++)
    if (!problem->options[o].by_token)
      ANSWER_COLUMN(table, .key = option_of(answer, o)->id,
                    .title = option_brief(option_of(answer, o)), .unit = gpu);
  for (int t = 0; t < problem->periods; t++) {
    struct answer_cell *cells = answer_table_row(table);
    size_t column = 4;
    cells[0] = cell_words(calendar_begins(answer, t, written->arena));
    cells[1] = cell_value(tokens_of(problem, t));
    cells[2] = cell_value(outlay_of(answer, t));
    cells[3] = cell_value(power_of(answer, t));
    for (size_t o = 0; o < problem->option_count; o++)
      if (!problem->options[o].by_token)
        cells[column++] = cell_value(fleet_nodes(problem, &answer->result.fleet, o, t) *
                                     problem->options[o].accelerators);
  }
  table->note = "Paid for it: at the end of the period before.";
}

static void write_accelerators(struct answer *written, const struct plan_answer *answer) {
  const struct fleet_problem *problem = answer->problem;
  const struct portfolio *portfolio = answer->portfolio;
  const struct unit *gpu = unit_known("gpu", written->arena);
  struct answer_table *table = ANSWER_TABLE(written, "accelerators", "Accelerators of each vendor",
                                            {"period", "Period", NULL});
  for (int v = 0; v < portfolio->vendor_count; v++)
    ANSWER_COLUMN(table, .key = portfolio->vendors[v], .title = portfolio->vendors[v], .unit = gpu);
  table->faces = FACE_CSV | FACE_JSON | FACE_SHEET;
  for (int t = 0; t < problem->periods; t++) {
    struct answer_cell *cells = answer_table_row(table);
    cells[0] = cell_words(calendar_begins(answer, t, written->arena));
    for (int v = 0; v < portfolio->vendor_count; v++) {
      double there = 0;
      for (size_t o = 0; o < problem->option_count; o++)
        there += problem->options[o].vendor == v
                     ? fleet_nodes(problem, &answer->result.fleet, o, t) *
                           problem->options[o].accelerators
                     : 0;
      cells[1 + v] = cell_value(there);
    }
  }
}

static void write_tokens(struct answer *written, const struct plan_answer *answer) {
  const struct fleet_problem *problem = answer->problem;
  const struct portfolio *portfolio = answer->portfolio;
  const struct unit *mtok = unit_known("Mtok", written->arena);
  struct answer_table *table =
      ANSWER_TABLE(written, "tokens", "Tokens of each vendor's fleet, and the demand",
                   {"period", "Period", NULL}, {"demand", "Demand", "Mtok"});
  for (int v = 0; v < portfolio->vendor_count; v++)
    ANSWER_COLUMN(table, .key = portfolio->vendors[v], .title = portfolio->vendors[v],
                  .unit = mtok);
  ANSWER_COLUMN(table, .key = "spare", .title = "Spare", .unit = mtok);
  table->faces = FACE_CSV | FACE_JSON | FACE_SHEET;
  for (int t = 0; t < problem->periods; t++) {
    struct answer_cell *cells = answer_table_row(table);
    double spare = 0;
    cells[0] = cell_words(calendar_begins(answer, t, written->arena));
    cells[1] = cell_value(tokens_of(problem, t));
    for (int v = 0; v < portfolio->vendor_count; v++) {
      double served = 0;
      for (size_t o = 0; o < problem->option_count; o++)
        served += problem->options[o].vendor == v
                      ? fleet_served(problem, &answer->result.fleet, o, t)
                      : 0;
      cells[2 + v] = cell_value(served);
    }
    for (size_t o = 0; o < problem->option_count; o++)
      spare += fleet_spare(problem, &answer->result.fleet, o, t);
    cells[2 + portfolio->vendor_count] = cell_value(spare);
  }
  table->note = "Spare: what nodes that hold nothing could serve of the same workloads.";
}

static void write_years(struct answer *written, const struct plan_answer *answer) {
  const struct plan_terms *terms = answer->terms;
  struct answer_table *table =
      ANSWER_TABLE(written, "years", "Purchases by year", {"year", "Year from", NULL},
                   {"outlay", "Bought", "USD"}, {"budget", "Budget", "USD"});
  for (int year = 0; year < terms->year_count; year++) {
    double outlay = 0;
    for (int t = 0; t < terms->periods; t++)
      outlay += terms->years[t] == year ? outlay_of(answer, t) : 0;
    ANSWER_ROW(table, cell_words(scenario_year_begins(answer->scenario, year + 1, written->arena)),
               cell_value(outlay),
               isfinite(terms->budgets[year]) ? cell_value(terms->budgets[year]) : cell_nothing());
  }
}

// The cash at the beginning of each period, and at the end of the last.
static void write_cash(struct answer *written, const struct plan_answer *answer) {
  const struct plan_terms *terms = answer->terms;
  struct answer_table *table =
      ANSWER_TABLE(written, "cash", "What is paid, and when", {"when", "When", NULL},
                   {"cash", "Cash out", "USD"}, {"discounted", "Discounted", "USD"});
  double sum = 0, discounted = 0;
  for (int t = 0; t <= terms->periods; t++) {
    const double cash = ledger_entry_at(answer, t).cash;
    const double worth = cash * plan_discount(terms, plan_elapsed(terms, t));
    ANSWER_ROW(table, cell_words(calendar_begins(answer, t, written->arena)), cell_value(cash),
               cell_value(worth));
    sum += cash;
    discounted += worth;
  }
  ANSWER_ROW(table, cell_words("together"), cell_value(sum), cell_value(discounted));
  table->note = "Purchases for the period that begins then, and what the one before cost: power, "
                "support, people, rent; less what is sold.";
}

static void write_entry(struct answer_table *table, const char *when,
                        const struct ledger_entry *entry) {
  const double values[] = {entry->depreciation, entry->written_off, entry->book_value,
                           entry->after_tax};
  struct answer_cell *cells = answer_table_row(table);
  cells[0] = cell_words(when);
  for (size_t c = 1; c < table->column_count; c++)
    cells[c] = cell_value(values[c - 1]);
}

// What is owned and its cost, from the point of view of finance.
static void write_books(struct answer *written, const struct plan_answer *answer) {
  const int periods = answer->terms->periods;
  struct ledger_entry sum = {.book_value = NAN};
  struct answer_table *table =
      ANSWER_TABLE(written, "books", "In the books and after tax", {"when", "When", NULL},
                   {"depreciation", "Depreciation", "USD"}, {"written_off", "Written off", "USD"},
                   {"book_value", "Book value", "USD"});
  if (ledger_is_taxed(answer))
    ANSWER_COLUMN(table, .key = "after_tax", .title = "After tax", .unit = table->columns[1].unit);
  for (int t = 0; t <= periods; t++) {
    const struct ledger_entry entry = ledger_entry_at(answer, t);
    write_entry(table, calendar_begins(answer, t, written->arena), &entry);
    sum.depreciation += entry.depreciation;
    sum.written_off += entry.written_off;
    sum.after_tax += entry.after_tax;
  }
  write_entry(table, "together", &sum);
  table->faces = FACE_CSV | FACE_JSON | FACE_SHEET;
  table->note = "Each purchase from its own date; written off: what is retired before it is "
                "depreciated. After tax, where an option has a 'tax_rate': the cash, less the tax "
                "that it saves.";
}

void timeline_write(struct answer *written, const struct plan_answer *answer) {
  write_fleet(written, answer);
  write_accelerators(written, answer);
  write_tokens(written, answer);
  write_years(written, answer);
  write_cash(written, answer);
  write_books(written, answer);
}

void timeline_write_shares(struct answer *written, const struct plan_answer *answer) {
  const struct fleet_problem *problem = answer->problem;
  struct answer_table *table =
      ANSWER_TABLE(written, "shares", "What serves each workload in each period",
                   {"period", "Period", NULL}, {"workload", "Workload", NULL},
                   {"option", "On", NULL}, {"share", "Share", "%"}, {"busy_nodes", "Nodes", "-"});
  table->faces = FACE_CSV | FACE_JSON | FACE_SHEET;
  for (int t = 0; t < problem->periods; t++)
    for (size_t w = 0; w < problem->workload_count; w++)
      for (size_t o = 0; o < problem->option_count; o++) {
        const double share = *fleet_share(problem, &answer->result.fleet, w, o, t);
        if (share > 0)
          ANSWER_ROW(table, cell_words(calendar_begins(answer, t, written->arena)),
                     cell_words(answer->portfolio->demands[w].name),
                     cell_option(option_of(answer, o)), cell_value(share),
                     problem->options[o].by_token
                         ? cell_nothing()
                         : cell_value(fleet_busy(problem, &answer->result.fleet, w, o, t)));
      }
}
