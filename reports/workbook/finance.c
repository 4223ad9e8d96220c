// Finance: each finance view on its own, option by option, and what the more expensive of two
// purchases earns back. The views are the cost model's groups that are marked as such.
#include "reports/answers/finance.h"
#include "base/arena.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/questions/comparison.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "reports/faces/parts.h"
#include "reports/outputs/rows.h"
#include "reports/outputs/verdict.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/formula.h"
#include "reports/workbook/writers.h"

#include <math.h>
#include <string.h>

enum { NOTE_ROW = 1, FIRST_STAMP_ROW };

static const struct unit rate = {.text = "%/yr", .percents = 1};

// From the rate of whole periods, three steps lead to that of a last period cut short within 1e-6
// of it, four within 1e-12: Newton's method, on a curve that is nearly straight.
enum { RATE_STEPS = 4 };

static int last_column(struct book *book) {
  return COLUMN_PERIOD + book->scenario->periods - 1;
}

// "E7:L7"
static const char *whole_row(struct book *book, int row) {
  return arena_printf(book->arena, "%s:%s", cell_here(book, row, COLUMN_PERIOD),
                      cell_here(book, row, last_column(book)));
}

static int write_labels(struct book *book, const char *label, const char *key, const char *unit) {
  put_labels(book, book->row, label, key, unit);
  return book->row++;
}

// A table's heading, with the periods above their columns; returns its row.
static int write_header(struct book *book, const char *title) {
  const int head = book->row;
  book->row = put_periods(book, head, title, "Value");
  return head;
}

// ---- the views

static bool in_view(struct book *book, int declaration, int group) {
  const struct declaration *item = &book->scenario->model->declarations[declaration];
  return item->group == group && item->kind != DECLARATION_INPUT;
}

static bool has_view(struct book *book, const struct option *option, int group) {
  for (int d = 0; d < book->scenario->model->count; d++)
    if (in_view(book, d, group) && option_has(option, d))
      return true;
  return false;
}

// An item's value on the calculation sheet, or the text that is there instead.
static void put_scalar(struct book *book, int row, const struct option_sheet *sheet,
                       int declaration) {
  const struct unit *unit = shown_unit(sheet, declaration);
  const char *none = option_none(book->scenario, sheet->option, declaration);
  if (none)
    put_formula_text(book, row, COLUMN_VALUE, none, formats_cell(&book->formats, CELL_LINK, unit),
                     "=%s", option_name_used(sheet, declaration));
  else
    put_link(book, row, COLUMN_VALUE, option_name(sheet, declaration),
             shown_value(book, sheet, declaration, 0), unit);
}

static void write_item(struct book *book, const struct option_sheet *sheet, int declaration) {
  const struct declaration *item = &book->scenario->model->declarations[declaration];
  const char *key = arena_printf(book->arena, "%s.%s", sheet->option->id, item->name);
  int row = write_labels(book, item->label, key, item->unit.text);
  if (!graph_is_series(sheet->option->graph, declaration)) {
    put_scalar(book, row, sheet, declaration);
    return;
  }
  for (int t = 0; t < book->scenario->periods; t++) {
    const char *cell = series_cell(book, sheet, declaration, COLUMN_PERIOD + t);
    put_formula(book, row, COLUMN_PERIOD + t, shown_value(book, sheet, declaration, t), CELL_LINK,
                shown_unit(sheet, declaration), "=%s", cell);
  }
}

static void write_view(struct book *book, int group) {
  int head = 0;
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->sheets->options[o];
    if (!has_view(book, sheet->option, group))
      continue;
    if (!head)
      head = write_header(book, book->scenario->model->groups[group].label);
    put_heading(book, book->row++, last_column(book), sheet->option->label);
    for (int d = 0; d < book->scenario->model->count; d++)
      if (in_view(book, d, group) && option_has(sheet->option, d))
        write_item(book, sheet, d);
  }
  if (head)
    blank_undated(book, head, book->row++ - 1);
}

// ---- the difference from the baseline

// The rows of a difference.
struct block {
  const struct option_sheet *option, *baseline;
  const struct comparison *comparison;
  const char *id;
  int scale, direction, dearer; // cells of COLUMN_VALUE
  const char *pair;             // the text of the last of these
  int times;                    // the row with the flows' times
  int minor, no_rate; // cells: whether the outlay is too little, and the words instead of a rate
};

static int put_row(struct book *book, const struct block *block, const char *label, const char *key,
                   const struct unit *unit) {
  return write_labels(book, label, arena_printf(book->arena, "%s.%s", block->id, key), unit->text);
}

static void put_value(struct book *book, int row, const char *formula, double value,
                      enum cell_role role, const struct unit *unit) {
  put_formula(book, row, COLUMN_VALUE, value, role, unit, "%s", formula);
}

// A number, or the words if there is none.
static void put_number_or_text(struct book *book, const struct block *block, int row,
                               const char *formula, double value, const struct unit *unit) {
  if (isnan(value))
    put_formula_text(book, row, COLUMN_VALUE, finance_no_rate(block->comparison->is_minor),
                     formats_cell(&book->formats, CELL_TOTAL, unit), "%s", formula);
  else
    put_value(book, row, formula, value, CELL_TOTAL, unit);
}

// When the flows are paid: at the ends of the periods, the later one if the last period of the two
// options ends at different horizons. The cell left of period 0 is blank.
static void write_times(struct book *book, struct block *block) {
  const struct unit *year = unit_of_item(book->scenario, "end");
  int end = model_find(book->scenario->model, "end");
  block->times =
      put_row(book, block, "Time of the extra outlay and of the savings", "flow_time", year);
  for (int t = 0; t < book->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    put_formula(book, block->times, column, block->comparison->times[t] / unit_cell_factor(year),
                CELL_FORMULA, year, "=MAX(%s,%s)", series_cell(book, block->baseline, end, column),
                series_cell(book, block->option, end, column));
  }
}

// The more expensive purchase's flow: the difference of both options' cash cost.
static int write_flow(struct book *book, const struct block *block) {
  const struct unit *unit = unit_of_item(book->scenario, "cash");
  int d = model_find(book->scenario->model, "cash");
  int row = put_row(book, block, "Extra outlay and savings", "flow", unit);
  for (int t = 0; t < book->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    put_formula(book, row, column, block->comparison->flow[t], CELL_FORMULA, unit, "=%s*(%s-%s*%s)",
                cell_fixed(book, block->direction, COLUMN_VALUE),
                series_cell(book, block->baseline, d, column),
                series_cell(book, block->option, d, column),
                cell_fixed(book, block->scale, COLUMN_VALUE));
  }
  return row;
}

// How large the outlay is beside the purchase: COMPARISON_LEAST_SHARE in a formula is 1 of 100.
static void write_size(struct book *book, struct block *block, int flow) {
  const struct comparison *comparison = block->comparison;
  const struct unit *usd = unit_of_item(book->scenario, "cash");
  const int cash = model_find(book->scenario->model, "cash");
  struct arena *arena = book->arena;
  const char *outlay = cell_here(book, flow, COLUMN_PERIOD);
  int row =
      put_row(book, block, "What the more expensive purchase costs at the outset", "purchase", usd);
  const char *purchase = cell_here(book, row, COLUMN_VALUE);
  put_value(book, row,
            arena_printf(arena, "=MAX(%s,%s*%s)",
                         series_cell(book, block->baseline, cash, COLUMN_PERIOD),
                         series_cell(book, block->option, cash, COLUMN_PERIOD),
                         cell_here(book, block->scale, COLUMN_VALUE)),
            fmax(shown_value(book, block->baseline, cash, 0),
                 shown_value(book, block->option, cash, 0) * comparison->scale),
            CELL_FORMULA, usd);
  row = put_row(book, block, "The extra outlay, share of it", "outlay_share", &unit_percent);
  const char *share = cell_here(book, row, COLUMN_VALUE);
  put_value(book, row, arena_printf(arena, "=IF(%s>0,(-%s)/%s,0)", purchase, outlay, purchase),
            comparison->outlay_share, CELL_FORMULA, &unit_percent);
  block->minor = put_row(book, block, "Flag: too little for a payback or a rate of return", "minor",
                         &unit_flag);
  put_value(book, block->minor, arena_printf(arena, "=IF(AND(%s>0,100*%s<1),1,0)", share, share),
            comparison->is_minor, CELL_FORMULA, &unit_flag);
  block->no_rate =
      put_row(book, block, "Instead of one (n.m.: not meaningful)", "no_rate", &unit_plain);
  put_formula_text(book, block->no_rate, COLUMN_VALUE, finance_no_rate(comparison->is_minor),
                   formats_cell_text(&book->formats, CELL_FORMULA), "=IF(%s=1,\"%s\",\"%s\")",
                   cell_here(book, block->minor, COLUMN_VALUE), finance_no_rate(true),
                   finance_no_rate(false));
}

static int write_discounted(struct book *book, const struct block *block, int flow) {
  const struct unit *unit = unit_of_item(book->scenario, "cash");
  const char *wacc = option_name_used(block->baseline, model_find(book->scenario->model, "wacc"));
  int row = put_row(book, block, "Extra outlay and savings, discounted", "discounted_flow", unit);
  for (int t = 0; t < book->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    put_formula(book, row, column, block->comparison->discounted_flow[t], CELL_FORMULA, unit,
                "=%s/((1+%s)^%s)", cell_here(book, flow, column), wacc,
                cell_here(book, block->times, column));
  }
  return row;
}

// The running total of the flows; the cell left of period 0 is blank.
static int write_running(struct book *book, const struct block *block, int flow, const char *label,
                         const char *key, const double *values) {
  const struct unit *unit = unit_of_item(book->scenario, "cash");
  int row = put_row(book, block, label, key, unit);
  for (int t = 0; t < book->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    put_formula(book, row, column, values[t], CELL_FORMULA, unit, "=%s+%s",
                cell_here(book, row, column - 1), cell_here(book, flow, column));
  }
  return row;
}

// Whether the running total is below zero in this period or later.
static bool is_owed(const struct book *book, const double *running, int t) {
  for (int i = t; i < book->scenario->periods; i++)
    if (running[i] < 0)
      return true;
  return false;
}

static int write_owed(struct book *book, const struct block *block, int running, const char *label,
                      const char *key, const double *values) {
  int row = put_row(book, block, label, key, &unit_flag);
  for (int t = 0; t < book->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    put_formula(book, row, column, is_owed(book, values, t), CELL_FORMULA, &unit_flag,
                "=IF(MIN(%s:%s)<0,1,0)", cell_here(book, running, column),
                cell_address(running, COLUMN_PERIOD + book->scenario->periods - 1, ADDRESS_COLUMN,
                             book->arena));
  }
  return row;
}

// How much of each period passes before the outlay is earned back, interpolated in the last of
// them.
static int write_time(struct book *book, const struct block *block, const int rows[3],
                      const char *label, const char *key, const double *running) {
  const struct unit *unit = unit_of_item(book->scenario, "end");
  const double *times = block->comparison->times;
  const int flow = rows[0], sum = rows[1], owed = rows[2];
  int row = put_row(book, block, label, key, unit);
  for (int t = 0; t < book->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    const char *before = cell_here(book, owed, column - 1);
    double share = t && is_owed(book, running, t - 1) ? 1 : 0;
    if (share > 0 && !is_owed(book, running, t))
      share = -running[t - 1] / (running[t] - running[t - 1]);
    double length = (t ? times[t] - times[t - 1] : 0) / unit_cell_factor(unit);
    put_formula(book, row, column, share * length, CELL_FORMULA, unit,
                "=IF(%s*(1-%s)=1,(-%s)/%s,%s)*(%s-%s)", before, cell_here(book, owed, column),
                cell_here(book, sum, column - 1), cell_here(book, flow, column), before,
                cell_here(book, block->times, column), cell_here(book, block->times, column - 1));
  }
  return row;
}

// The rows from which a payback time follows.
static void write_payback(struct book *book, const struct block *block, int flow, const char *what,
                          const char *key, const double *running, double payback) {
  struct arena *arena = book->arena;
  const struct unit *year = unit_of_item(book->scenario, "period");
  int rows[3] = {flow};
  rows[1] = write_running(book, block, rows[0],
                          arena_printf(arena, "Cumulative extra outlay and savings%s", what),
                          arena_printf(arena, "%scumulative", key), running);
  rows[2] = write_owed(book, block, rows[1],
                       arena_printf(arena, "Flag: outlay not yet earned back%s", what),
                       arena_printf(arena, "%sowed", key), running);
  int time =
      write_time(book, block, rows, arena_printf(arena, "Time until it is earned back%s", what),
                 arena_printf(arena, "%stime", key), running);
  int row = put_row(book, block, arena_printf(arena, "Payback time of the extra outlay%s", what),
                    arena_printf(arena, "%soutlay_payback", key), year);
  const char *formula = arena_printf(
      arena, "=IF(AND(%s<0,%s=0,%s=0),SUM(%s),%s)", cell_here(book, rows[0], COLUMN_PERIOD),
      cell_here(book, rows[2], COLUMN_PERIOD + book->scenario->periods - 1),
      cell_here(book, block->minor, COLUMN_VALUE), whole_row(book, time),
      cell_here(book, block->no_rate, COLUMN_VALUE));
  put_number_or_text(book, block, row, formula, payback / unit_cell_factor(year), year);
}

static double sum_of(const struct book *book, const double *values) {
  double sum = 0;
  for (int t = 0; t < book->scenario->periods; t++)
    sum += values[t];
  return sum;
}

// "'Outputs'!$E$8&" over "&'Outputs'!$D$8": the text of finance_examined.
static const char *pair_formula(const struct book *book, const struct option_sheet *dearer,
                                const struct option_sheet *cheaper) {
  const char *pair = finance_examined("\"", "\"", book->arena);
  return arena_printf(book->arena, "%s&%s&%s", outputs_label(book, dearer), pair,
                      outputs_label(book, cheaper));
}

// How the two are made comparable, and which one is the more expensive purchase.
static void write_terms(struct book *book, struct block *block) {
  struct arena *arena = book->arena;
  const struct comparison *comparison = block->comparison;
  const char *baseline = block->baseline->option->label, *label = block->option->option->label;
  int tokens = model_find(book->scenario->model, "tokens_total"),
      cash = model_find(book->scenario->model, "cash");
  block->scale =
      put_row(book, block, arena_printf(arena, "Output of %s over that of %s", baseline, label),
              "scale", &unit_plain);
  put_value(book, block->scale,
            arena_printf(arena, "=%s/%s", option_name_used(block->baseline, tokens),
                         option_name_used(block->option, tokens)),
            comparison->scale, CELL_FORMULA, &unit_plain);
  const char *first_ours = series_cell(book, block->option, cash, COLUMN_PERIOD);
  const char *first_theirs = series_cell(book, block->baseline, cash, COLUMN_PERIOD);
  const char *scale = cell_here(book, block->scale, COLUMN_VALUE);
  block->direction =
      put_row(book, block,
              arena_printf(arena, "1: %s is the more expensive purchase; (1): %s", label, baseline),
              "direction", &unit_flag);
  put_value(book, block->direction,
            arena_printf(arena, "=IF(%s-%s*%s>0,-1,1)", first_theirs, first_ours, scale),
            comparison->direction, CELL_FORMULA, &unit_flag);
  block->dearer =
      put_row(book, block, "The more expensive purchase and the other", "dearer", &unit_plain);
  block->pair = comparison->direction > 0 ? finance_examined(label, baseline, arena)
                                          : finance_examined(baseline, label, arena);
  put_formula_text(book, block->dearer, COLUMN_VALUE, block->pair,
                   formats_cell_text(&book->formats, CELL_FORMULA), "=IF(%s=1,%s,%s)",
                   cell_here(book, block->direction, COLUMN_VALUE),
                   pair_formula(book, block->option, block->baseline),
                   pair_formula(book, block->baseline, block->option));
}

// The rate per period from which spreadsheets search: for high rates, one from the first period
// alone is close enough; and never from zero, as from there Gnumeric finds a rate below zero where
// there is one, too.
static const char *write_guess(struct book *book, const struct block *block, int flow) {
  const struct comparison *comparison = block->comparison;
  const int periods = book->scenario->periods;
  const char *outlay = cell_here(book, flow, COLUMN_PERIOD);
  const double first = comparison->flow[1] / -comparison->flow[0] - 1;
  const int row =
      put_row(book, block, "Rate per period to search the IRR from", "guess", &unit_plain);
  put_value(book, row,
            arena_printf(book->arena, "=IF(%s<0,MAX(1/COUNT(%s),(%s/(-%s))-1),0)", outlay,
                         whole_row(book, flow), cell_here(book, flow, COLUMN_PERIOD + 1), outlay),
            comparison->flow[0] < 0 ? fmax(1. / periods, first) : 0, CELL_FORMULA, &unit_plain);
  return cell_here(book, row, COLUMN_VALUE);
}

// The growth per year at the IRR if the last period were a whole one, which IRR() assumes; 0 if
// there is no IRR.
static double write_growth(struct book *book, const struct block *block, int flow) {
  const struct comparison *comparison = block->comparison;
  struct arena *arena = book->arena;
  const int periods = book->scenario->periods;
  const struct unit *year = unit_of_item(book->scenario, "end");
  double *whole = arena_array(arena, (size_t)periods, sizeof *whole);
  for (int t = 0; t < periods; t++)
    whole[t] = t * unit_cell_factor(year);
  double growth = pow(1 + internal_rate(comparison->flow, whole, periods),
                      unit_cell_factor(year) / comparison->times[1]);
  growth = isnan(growth) ? 0 : growth;
  const char *flows = whole_row(book, flow), *outlay = cell_here(book, flow, COLUMN_PERIOD);
  const char *guess = write_guess(book, block, flow);
  const int row =
      put_row(book, block, "Growth per year at the IRR of whole periods", "growth", &unit_plain);
  put_value(book, row,
            arena_printf(arena, "=IF(AND(%s<0,SUM(%s)>0),(1+IRR(%s,%s))^(1/%s),0)", outlay, flows,
                         flows, guess, cell_here(book, block->times, COLUMN_PERIOD + 1)),
            growth, CELL_FORMULA, &unit_plain);
  return growth;
}

// The flows times their time, by which their present value falls with a continuous rate.
static int write_moments(struct book *book, const struct block *block, int flow) {
  const struct unit *unit = unit_of_item(book->scenario, "cash"),
                    *year = unit_of_item(book->scenario, "end");
  const struct comparison *comparison = block->comparison;
  const int row = write_labels(book, "Extra outlay and savings times their time",
                               arena_printf(book->arena, "%s.moment", block->id),
                               arena_printf(book->arena, "%s*%s", unit->text, year->text));
  for (int t = 0; t < book->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    put_formula(book, row, column,
                comparison->flow[t] * comparison->times[t] / unit_cell_factor(year), CELL_FORMULA,
                unit, "=%s*%s", cell_here(book, flow, column),
                cell_here(book, block->times, column));
  }
  return row;
}

// A step of Newton's method, with the logarithm of the growth as the unknown.
static double better_growth(const struct book *book, const struct comparison *comparison,
                            double growth) {
  const struct unit *year = unit_of_item(book->scenario, "end");
  double value = 0, moment = 0;
  for (int t = 0; t < book->scenario->periods; t++) {
    const double years = comparison->times[t] / unit_cell_factor(year);
    value += comparison->flow[t] * pow(growth, -years);
    moment += comparison->flow[t] * years * pow(growth, -years);
  }
  return growth * exp(value / moment);
}

// The growth at which the net present value is closer to zero than at that of the row above.
static double write_step(struct book *book, const struct block *block, const int rows[2], int step,
                         double growth) {
  struct arena *arena = book->arena;
  const char *before = cell_here(book, book->row - 1, COLUMN_VALUE);
  const char *times = whole_row(book, block->times);
  const int row =
      put_row(book, block, arena_printf(arena, "Growth per year at the IRR, step %d", step),
              arena_printf(arena, "growth_%d", step), &unit_plain);
  growth = growth > 0 ? better_growth(book, block->comparison, growth) : 0;
  put_value(book, row,
            arena_printf(arena,
                         "=IF(%s>0,%s*EXP(SUMPRODUCT(%s,%s^(-%s))/SUMPRODUCT(%s,%s^(-%s))),0)",
                         before, before, whole_row(book, rows[0]), before, times,
                         whole_row(book, rows[1]), before, times),
            growth, CELL_FORMULA, &unit_plain);
  return growth;
}

static void write_rate(struct book *book, const struct block *block, int flow) {
  const int rows[] = {flow, write_moments(book, block, flow)};
  double growth = write_growth(book, block, flow);
  for (int step = 1; step <= RATE_STEPS; step++)
    growth = write_step(book, block, rows, step, growth);
  const char *found = cell_here(book, book->row - 1, COLUMN_VALUE);
  const int row =
      put_row(book, block, "Internal rate of return (IRR) of the extra outlay", "irr", &rate);
  put_number_or_text(book, block, row,
                     arena_printf(book->arena, "=IF(AND(%s>0,%s=0),%s-1,%s)", found,
                                  cell_here(book, block->minor, COLUMN_VALUE), found,
                                  cell_here(book, block->no_rate, COLUMN_VALUE)),
                     block->comparison->irr, &rate);
}

static void write_sums(struct book *book, const struct block *block, int flow, int discounted) {
  struct arena *arena = book->arena;
  const struct comparison *comparison = block->comparison;
  const struct unit *usd = unit_of_item(book->scenario, "cash");
  const char *direction = cell_here(book, block->direction, COLUMN_VALUE);
  const char *label = block->option->option->label, *baseline = block->baseline->option->label;
  int row =
      put_row(book, block, arena_printf(arena, "Saving with %s compared with %s", label, baseline),
              "saved", usd);
  put_value(book, row, arena_printf(arena, "=%s*SUM(%s)", direction, whole_row(book, flow)),
            comparison->saved_total, CELL_TOTAL, usd);
  row = put_row(book, block, arena_printf(arena, "Saving with %s, net present value", label),
                "npv_saved", usd);
  put_value(book, row, arena_printf(arena, "=%s*SUM(%s)", direction, whole_row(book, discounted)),
            comparison->npv_saved, CELL_TOTAL, usd);
}

// A row of the derivation of the answer: `yes` if the formula's condition holds, else `no`, which
// may be the cell of the row above.
static void write_verdict(struct book *book, const struct block *block, const char *const labels[2],
                          const char *condition, const char *yes, const char *no,
                          const char *value) {
  const int row = put_row(book, block, labels[0], labels[1], &unit_plain);
  put_formula_text(book, row, COLUMN_VALUE, value, formats_cell_text(&book->formats, CELL_TOTAL),
                   "=IF(%s>0,%s,%s)", condition, yes, no);
}

static const char *quoted(struct book *book, const char *text) {
  return arena_printf(book->arena, "\"%s\"", text);
}

// "'Outputs'!$E$31": of a row there, an option's cell.
static const char *outputs_of(const struct book *book, int row, size_t option) {
  return cell_on(book, SHEET_OUTPUTS, row, COLUMN_VALUE + (int)option);
}

// The verdict of the row above holds only if Outputs ranks both; why it does not is in a row for
// each of them.
static void write_ranked_verdict(struct book *book, const struct block *block,
                                 const char *const labels[2], const char *verdict) {
  static const char *const keys[] = {"baseline_ranked", "option_ranked"};
  const struct output_rows *rows = &book->sheets->rows;
  const struct ranking *ranking = book->sheets->ranking;
  const struct option *first = book->scenario->options;
  const size_t both[] = {book->scenario->baseline, (size_t)(block->option->option - first)};
  const char *above = cell_here(book, book->row - 1, COLUMN_VALUE);
  for (size_t i = 0; i < 2; i++) {
    const struct standing *standing = &ranking->options[both[i]];
    const int row = put_row(
        book, block, arena_printf(book->arena, "Ranked, or why not: %s", first[both[i]].label),
        keys[i], &unit_plain);
    put_formula_text(book, row, COLUMN_VALUE, standing->ranked ? VERDICT_RANKED : standing->why_not,
                     formats_cell_text(&book->formats, CELL_LINK), "=%s",
                     outputs_of(book, rows->why_not, both[i]));
  }
  write_verdict(book, block, labels,
                arena_printf(book->arena, "MIN(%s,%s)", outputs_of(book, rows->ranked, both[0]),
                             outputs_of(book, rows->ranked, both[1])),
                above, quoted(book, FINANCE_UNRANKED),
                *finance_bar(book->scenario, ranking, both[1], book->arena) ? FINANCE_UNRANKED
                                                                            : verdict);
}

// The amount that is examined, and whether it pays, step by step.
static void write_outlay(struct book *book, const struct block *block, int flow, int discounted) {
  static const char *const labels[][2] = {{"Whose extra outlay is examined", "examined"},
                                          {"Verdict by the undiscounted sum", "pays_undiscounted"},
                                          {"Verdict by both sums", "pays_discounted"},
                                          {"Verdict, if both are ranked", "pays_if_ranked"},
                                          {"Does it pay?", "pays"}};
  struct arena *arena = book->arena;
  const struct unit *usd = unit_of_item(book->scenario, "cash");
  const enum outlay outlay = block->comparison->outlay;
  const double *flows = block->comparison->flow, *values = block->comparison->discounted_flow;
  const int row = put_row(book, block, "The extra outlay", "extra_outlay", usd);
  put_value(book, row, arena_printf(arena, "=(-%s)", cell_here(book, flow, COLUMN_PERIOD)),
            block->comparison->extra_outlay, CELL_TOTAL, usd);
  const char *any = cell_here(book, row, COLUMN_VALUE), *above;
  write_verdict(book, block, labels[0], any, cell_here(book, block->dearer, COLUMN_VALUE),
                quoted(book, finance_no_rate(false)),
                outlay == OUTLAY_NONE ? finance_no_rate(false) : block->pair);
  const char *found = finance_pays[sum_of(book, flows) > 0 ? OUTLAY_UNDISCOUNTED : OUTLAY_LOST];
  write_verdict(book, block, labels[1], arena_printf(arena, "SUM(%s)", whole_row(book, flow)),
                quoted(book, finance_pays[OUTLAY_UNDISCOUNTED]),
                quoted(book, finance_pays[OUTLAY_LOST]), found);
  above = cell_here(book, book->row - 1, COLUMN_VALUE);
  found = sum_of(book, values) > 0 ? finance_pays[OUTLAY_PAYS] : found;
  write_verdict(book, block, labels[2], arena_printf(arena, "SUM(%s)", whole_row(book, discounted)),
                quoted(book, finance_pays[OUTLAY_PAYS]), above, found);
  above = cell_here(book, book->row - 1, COLUMN_VALUE);
  const bool barred = verdict_has_bars(book);
  write_verdict(book, block, labels[barred ? 3 : 4], any, above,
                quoted(book, finance_pays[OUTLAY_NONE]), finance_pays[outlay]);
  if (barred)
    write_ranked_verdict(book, block, labels[4], finance_pays[outlay]);
}

static void write_difference(struct book *book, struct block *block) {
  const struct comparison *comparison = block->comparison;
  put_heading(book, book->row++, last_column(book),
              arena_printf(book->arena, "%s against %s", block->option->option->label,
                           block->baseline->option->label));
  write_terms(book, block);
  write_times(book, block);
  int flow = write_flow(book, block);
  write_size(book, block, flow);
  write_payback(book, block, flow, "", "", comparison->cumulative, comparison->payback);
  int discounted = write_discounted(book, block, flow);
  write_payback(book, block, discounted, ", discounted", "discounted_",
                comparison->discounted_cumulative, comparison->discounted_payback);
  write_sums(book, block, flow, discounted);
  write_outlay(book, block, flow, discounted);
  write_rate(book, block, flow);
}

static void write_differences(struct book *book) {
  const struct scenario *scenario = book->scenario;
  const struct option_sheet *baseline = &book->sheets->options[scenario->baseline];
  int head = 0;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->sheets->options[o];
    if (o == scenario->baseline || !book->sheets->ranking->options[o].compared)
      continue;
    struct block block = {.option = sheet,
                          .baseline = baseline,
                          .comparison = comparison_ask(scenario, sheet->option, book->arena),
                          .id = sheet->option->id};
    if (!block.comparison)
      continue;
    if (!head)
      head = write_header(book, "Extra outlay of the more expensive purchase");
    write_difference(book, &block);
  }
  if (head)
    blank_undated(book, head, book->row - 1);
}

void write_finance(struct book *book) {
  begin_sheet(book, "Finance", NOTE_ROW + 1, COLUMN_LABEL + 1);
  put_text(book, NOTE_ROW, 0,
           "Each view shows the same purchase on its own; amounts from two views are never added. "
           "Period 0 is the purchase.",
           TEXT_NOTE);
  book->row = put_stamps(book, FIRST_STAMP_ROW) + 1;
  for (int g = 0; g < book->scenario->model->group_count; g++)
    if (book->scenario->model->groups[g].view)
      write_view(book, g);
  write_differences(book);
  set_widths(book, (const int[]){52, 36, 10, 22, 14}, 5, last_column(book));
  end_sheet(book, book->row - 1, last_column(book));
}
