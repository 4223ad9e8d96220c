#include "reports/plans/derivation.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/plan/fleet.h"
#include "model/plan/ledger.h"
#include "model/plan/outcome.h"
#include "model/plan/parts.h"
#include "model/plan/prices.h"
#include "model/plan/programme.h"
#include "model/plan/terms.h"
#include "model/plan/uncertainty.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"
#include "reports/faces/parts.h"
#include "reports/plans/calendar.h"
#include "reports/plans/load.h"
#include "reports/print/number.h"

#include <math.h>
#include <string.h>

// Which table derives each table; one may derive several.
static const struct {
  const char *table, *derived_by;
} derived[] = {{"calendar", "purchase_parts"},
               {"commitments", "draws"},
               {"uncertainty", "draws"},
               {"fleet", "fleet_parts"},
               {"years", "fleet_parts"},
               {"tokens", "spare_parts"},
               {"cash", "cash_parts"},
               {"books", "vintages"},
               {"guide", "load"},
               {"shares", "load"},
               {"proof", "proof_parts"},
               {"prices", "solved_again"},
               {"sourcing", "solved_again"},
               {"lacks", "lack_parts"},
               {"barred", "barred_parts"}};

enum { DERIVED = sizeof derived / sizeof derived[0] };

static const char *const rest_names[RESTS] = {[REST_STANDING] = "Engineers",
                                              [REST_ENTRY] = "Migration",
                                              [REST_EXTRA] = "Watts above the least"};

struct deriving {
  const struct plan_answer *answer;
  struct answer *written;
  struct plan_parts *parts; // [action_count] of the actions that the plan takes
  struct arena *arena;
};

static const char *begins(const struct deriving *deriving, int period) {
  return calendar_begins(deriving->answer, period, deriving->arena);
}

static double factor(const struct deriving *deriving, int period) {
  return plan_discount(deriving->answer->terms, plan_elapsed(deriving->answer->terms, period));
}

static const char *label_of(const struct deriving *deriving, int declaration) {
  return deriving->answer->scenario->model->declarations[declaration].label;
}

static void without_sheet(struct answer_table *table) {
  table->faces = FACE_TERMINAL | FACE_CSV | FACE_JSON;
}

// ---- purchases

// Adds up one item of an action over all of its tiers: the total paid, and its present value.
static void sum_item(const struct deriving *deriving, size_t a, size_t item, double *paid,
                     double *worth) {
  const struct fleet_problem *problem = deriving->answer->problem;
  *paid = *worth = 0;
  for (int k = 0; k <= fleet_tiers(problem, a); k++) {
    const struct plan_parts *parts = &deriving->parts[a + (size_t)k];
    for (int t = 0; t < parts->periods; t++) {
      const double cash = plan_part_paid(parts, item, t);
      *paid += cash;
      *worth += cash * factor(deriving, problem->actions[a].first + t);
    }
  }
}

static const struct plan_parts *parts_of(const struct deriving *deriving, size_t a) {
  size_t tier = a;
  while (!deriving->parts[tier].count)
    tier++;
  return &deriving->parts[tier];
}

static double write_purchase(const struct deriving *deriving, struct answer_table *table,
                             size_t a) {
  const struct plan_answer *answer = deriving->answer;
  const struct fleet_action *action = &answer->problem->actions[a];
  const struct plan_parts *parts = parts_of(deriving, a);
  const struct answer_cell named[] = {cell_words(begins(deriving, action->first)),
                                      cell_words(calendar_until(answer, a, deriving->arena)),
                                      cell_option(&answer->scenario->options[action->option]),
                                      cell_value(calendar_accelerators(answer, a))};
  double paid_in_all = 0, worth_in_all = 0;
  for (size_t i = 0; i < parts->count; i++) {
    double paid, worth;
    sum_item(deriving, a, i, &paid, &worth);
    paid_in_all += paid;
    worth_in_all += worth;
    if (paid != 0)
      ANSWER_ROW(table, named[0], named[1], named[2], named[3],
                 cell_words(label_of(deriving, parts->items[i])), cell_value(paid),
                 cell_value(worth));
  }
  ANSWER_ROW(table, named[0], named[1], named[2], named[3], cell_words("together"),
             cell_value(paid_in_all), cell_value(worth_in_all));
  return worth_in_all;
}

static double write_purchases(const struct deriving *deriving) {
  struct answer_table *table = ANSWER_TABLE(
      deriving->written, "purchase_parts", "What each purchase costs, from its order to its end",
      {"serves_from", "From", NULL}, {"until", "Until", NULL}, {"option", "Option", NULL},
      {"accelerators", "Number", "gpu"}, {"part", "Part", NULL}, {"paid", "Paid", "USD"},
      {"discounted", "Discounted", "USD"});
  size_t count;
  const size_t *taken = calendar_actions(deriving->answer, &count, deriving->arena);
  double worth = 0;
  for (size_t i = 0; i < count; i++)
    worth += write_purchase(deriving, table, taken[i]);
  without_sheet(table);
  table->columns[3].faces = table->columns[5].faces = FACE_CSV | FACE_JSON;
  table->note =
      "Each by the cost model, at the prices of its time, for the workload that draws the "
      "fewest watts. The purchase itself is paid when it begins to serve.";
  return worth;
}

// ---- cash, date by date

static const char *rest_name(const struct deriving *deriving, size_t o, enum ledger_rest rest) {
  return rest == REST_EXTRA && deriving->answer->problem->options[o].by_token
             ? "Tokens of a provider"
             : rest_names[rest];
}

// The cash of one item, by its declaration, over all purchases of an option at a date.
static double item_at(const struct deriving *deriving, size_t o, int declaration, int date) {
  const struct fleet_problem *problem = deriving->answer->problem;
  double cash = 0;
  for (size_t a = 0; a < problem->action_count; a++) {
    const struct fleet_action *action = &problem->actions[a];
    const struct plan_parts *parts = &deriving->parts[a];
    if (action->option != o || date < action->first || date > action->last + 1)
      continue;
    for (size_t i = 0; i < parts->count; i++)
      if (parts->items[i] == declaration)
        cash += plan_part_paid(parts, i, date - action->first);
  }
  return cash;
}

static double write_dated(const struct deriving *deriving, struct answer_table *table, int date,
                          size_t o, const char *part, double cash) {
  if (cash != 0)
    ANSWER_ROW(table, cell_words(begins(deriving, date)),
               cell_option(&deriving->answer->scenario->options[o]), cell_words(part),
               cell_value(cash), cell_value(factor(deriving, date)),
               cell_value(cash * factor(deriving, date)));
  return cash;
}

static double write_date_of(const struct deriving *deriving, struct answer_table *table, int date,
                            size_t o) {
  const struct fleet_problem *problem = deriving->answer->problem;
  const struct plan_parts *parts = NULL;
  double cash = 0;
  for (size_t a = 0; a < problem->action_count; a++)
    if (problem->actions[a].option == o && deriving->parts[a].count)
      parts = &deriving->parts[a];
  for (size_t i = 0; parts && i < parts->count; i++)
    cash += write_dated(deriving, table, date, o, label_of(deriving, parts->items[i]),
                        item_at(deriving, o, parts->items[i], date));
  for (enum ledger_rest rest = REST_STANDING; rest < RESTS; rest++)
    cash += write_dated(deriving, table, date, o, rest_name(deriving, o, rest),
                        ledger_rest_at(deriving->answer, o, rest, date));
  return cash;
}

static void write_cash(const struct deriving *deriving) {
  const struct fleet_problem *problem = deriving->answer->problem;
  struct answer_table *table = ANSWER_TABLE(
      deriving->written, "cash_parts", "What is paid, part by part", {"when", "When", NULL},
      {"option", "Option", NULL}, {"part", "Part", NULL}, {"cash", "Cash out", "USD"},
      {"factor", "Factor", "-"}, {"discounted", "Discounted", "USD"});
  for (int date = 0; date <= problem->periods; date++) {
    double cash = 0;
    for (size_t o = 0; o < problem->option_count; o++)
      cash += write_date_of(deriving, table, date, o);
    ANSWER_ROW(table, cell_words(begins(deriving, date)), cell_words(""), cell_words("together"),
               cell_value(cash), cell_value(factor(deriving, date)),
               cell_value(cash * factor(deriving, date)));
  }
  without_sheet(table);
  table->columns[4].faces = FACE_CSV | FACE_JSON;
  table->note = "Engineers: all that does not change with the number of nodes. Watts above the "
                "least: of workloads that draw more than the lowest.";
}

// ---- the total, and what was solved again

static void write_proof(const struct deriving *deriving, double purchases) {
  const struct plan_answer *answer = deriving->answer;
  const struct fleet_problem *problem = answer->problem;
  const double cost = answer->result.fleet.cost, bound = answer->result.bound;
  double whole = purchases;
  struct answer_table *table =
      ANSWER_TABLE(deriving->written, "proof_parts", "What the plan's cost consists of",
                   {"part", "Part", NULL}, {"option", "Option", NULL}, {"value", "Value", "USD"});
  ANSWER_ROW(table, cell_words("purchases and rents"), cell_words(""), cell_value(purchases));
  for (size_t o = 0; o < problem->option_count; o++)
    for (enum ledger_rest rest = REST_STANDING; rest < RESTS; rest++) {
      double worth = 0;
      for (int date = 0; date <= problem->periods; date++)
        worth += ledger_rest_at(deriving->answer, o, rest, date) * factor(deriving, date);
      whole += worth;
      if (worth != 0)
        ANSWER_ROW(table, cell_words(rest_name(deriving, o, rest)),
                   cell_option(&answer->scenario->options[o]), cell_value(worth));
    }
  ANSWER_ROW(table, cell_words("together: the cost of the plan"), cell_words(""),
             cell_value(whole));
  ANSWER_ROW(table, cell_words("less the bound"), cell_words(""), cell_value(-bound));
  ANSWER_ROW(table, cell_words("what a plan could save at most"), cell_words(""),
             cell_value(cost - bound));
  without_sheet(table);
  table->note = "The gap is the last line as a share of the cost. The bound is the least cost that "
                "the search has not ruled out.";
}

static struct answer_cell unproven_cell(const struct deriving *deriving,
                                        const struct plan_price *price) {
  if (price->status == PROGRAMME_INFEASIBLE)
    return cell_words("cannot be served");
  if (!isfinite(price->bound))
    return cell_words("not found in time");
  return cell_words(
      arena_printf(deriving->arena, "at least %s", number_fixed(price->bound, 0, deriving->arena)));
}

static void write_solved(const struct deriving *deriving, struct answer_table *table,
                         const char *what, const struct plan_price *price,
                         struct answer_cell instead) {
  const double cost = deriving->answer->result.fleet.cost;
  const bool known = price->status == PROGRAMME_OPTIMAL;
  ANSWER_ROW(table, cell_words(what),
             known ? cell_value(price->cost) : unproven_cell(deriving, price), cell_value(cost),
             known ? cell_value(price->cost - cost) : cell_nothing(), instead);
}

static void write_solved_again(const struct deriving *deriving) {
  const struct plan_answer *answer = deriving->answer;
  const size_t options = answer->problem->option_count;
  struct plan_runner_up *found = arena_array(deriving->arena, options + 1, sizeof *found);
  const size_t count = prices_find_runners_up(answer, found);
  struct answer_table *table = ANSWER_TABLE(
      deriving->written, "solved_again", "Why this plan: what the best alternatives cost",
      {"choice", "The best plan", NULL}, {"cost", "Cost", "USD"}, {"planned", "As planned", "USD"},
      {"difference", "Difference", "USD"}, {"instead", "Then mostly on", NULL});
  for (size_t i = 0; i < count; i++)
    write_solved(
        deriving, table, arena_printf(deriving->arena, "without %s", found[i].price.constraint),
        &found[i].price,
        found[i].instead < options ? cell_option(&answer->scenario->options[found[i].instead])
                                   : cell_words(""));
  for (size_t i = 0; i < answer->price_count; i++)
    write_solved(deriving, table,
                 arena_printf(deriving->arena, "without %s", answer->prices[i].constraint),
                 &answer->prices[i], cell_words(""));
  for (int v = 0; v < answer->portfolio->vendor_count; v++)
    write_solved(deriving, table,
                 arena_printf(deriving->arena, "all from %s", answer->vendors[v].constraint),
                 &answer->vendors[v], cell_words(""));
  without_sheet(table);
  table->columns[2].faces = FACE_CSV | FACE_JSON;
  table->note = "An option is bought because the best plan without it costs more. A limit's price "
                "is how much less the best plan without it costs.";
}

// ---- the draws

static double accelerators_of(const struct plan_answer *answer, size_t o, double lots) {
  return lots * answer->problem->options[o].lot * answer->problem->options[o].accelerators;
}

static void write_draws(const struct deriving *deriving) {
  const struct plan_answer *answer = deriving->answer;
  const struct plan_chance *chance = answer->chance;
  const struct unit *gpu = unit_known("gpu", deriving->arena);
  if (!chance)
    return;
  struct answer_table *table = ANSWER_TABLE(
      deriving->written, "draws", "Draw by draw", {"draw", "Draw", "-"}, {"best", "Best", "USD"},
      {"first_order", "First order", "USD"}, {"regret", "Regret", "USD"},
      {"whole_plan", "Every order", "USD"}, {"excess", "More", "USD"});
  for (size_t o = 0; o < answer->problem->option_count; o++)
    if (chance->lots[o] > 0)
      ANSWER_COLUMN(table, .key = answer->scenario->options[o].id,
                    .title = option_brief(&answer->scenario->options[o]), .unit = gpu);
  for (size_t i = 0; i < chance->draws; i++) {
    struct answer_cell *cells = answer_table_row(table);
    const double values[] = {(double)(i + 1),
                             chance->each[PLAN_BEST][i],
                             chance->each[PLAN_FIRST_ORDER][i],
                             chance->each[PLAN_FIRST_ORDER][i] - chance->each[PLAN_BEST][i],
                             chance->each[PLAN_WHOLE_PLAN][i],
                             chance->each[PLAN_WHOLE_PLAN][i] - chance->each[PLAN_BEST][i]};
    size_t column = sizeof values / sizeof values[0];
    for (size_t c = 0; c < column; c++)
      cells[c] = isfinite(values[c]) ? cell_value(values[c]) : cell_nothing();
    for (size_t o = 0; o < answer->problem->option_count; o++)
      if (chance->lots[o] > 0)
        cells[column++] =
            cell_value(accelerators_of(answer, o, chance->bought[o * chance->asked + i]));
  }
  without_sheet(table);
  table->note =
      "By option: what the best plan of the draw buys for the first period, in fractional "
      "purchase units.";
}

// ---- all of it

static void find_parts(struct deriving *deriving) {
  const struct fleet_problem *problem = deriving->answer->problem;
  deriving->parts =
      arena_array(deriving->arena, problem->action_count + 1, sizeof *deriving->parts);
  for (size_t a = 0; a < problem->action_count; a++)
    deriving->parts[a] = deriving->answer->result.fleet.lots[a] > 0
                             ? plan_parts_of(deriving->answer, a, deriving->arena)
                             : (struct plan_parts){0};
}

void derivation_write(struct answer *written, const struct plan_answer *answer) {
  struct deriving deriving = {.answer = answer, .written = written, .arena = written->arena};
  find_parts(&deriving);
  const double purchases = write_purchases(&deriving);
  write_cash(&deriving);
  write_proof(&deriving, purchases);
  write_solved_again(&deriving);
  load_write(written, answer);
  write_draws(&deriving);
}

static const char *derived_by(const char *table) {
  for (size_t i = 0; i < DERIVED; i++)
    if (!strcmp(derived[i].table, table))
      return derived[i].derived_by;
  return "";
}

// Tables that only derive others cannot be requested by themselves.
static bool may_be_asked(const char *table) {
  return *derived_by(table) != 0;
}

static const char *names_of(const struct answer *written) {
  const char *names = "";
  for (size_t t = 0; t < written->table_count; t++)
    if (may_be_asked(written->tables[t].key))
      names = joined(names, written->tables[t].key, written->arena);
  return names;
}

// A requested table is shown on all faces.
static void keep(struct answer_table *kept, const struct answer_table *table, const char *what) {
  *kept = *table;
  if (what)
    kept->faces = 0;
}

int derivation_select(struct answer *written, const char *what, struct diagnostics *diagnostics) {
  size_t count = 0;
  bool found = !what;
  for (size_t t = 0; what && t < written->table_count; t++)
    found |= !strcmp(written->tables[t].key, what) && may_be_asked(what);
  if (!found) {
    diagnostics_error(diagnostics, nowhere, "a plan has no figures '%s'; available: %s", what,
                      names_of(written));
    return -1;
  }
  for (size_t t = 0; t < written->table_count; t++)
    if (!what || !strcmp(written->tables[t].key, what) ||
        !strcmp(written->tables[t].key, derived_by(what)))
      keep(&written->tables[count++], &written->tables[t], what);
  written->table_count = count;
  return 0;
}
