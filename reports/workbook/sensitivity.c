#include "reports/workbook/sensitivity.h"

#include "base/arena.h"
#include "model/cost/formula.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/questions/sensitivity.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "model/whatif/variation.h"
#include "reports/sheets/cost_columns.h"
#include "reports/sheets/cost_curves.h"
#include "reports/sheets/equal_shares.h"
#include "reports/sheets/sheets.h"
#include "reports/sheets/weakest_grades.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/charts.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/formula.h"
#include "reports/spreadsheet/names.h"
#include "reports/workbook/negotiation.h"
#include "reports/workbook/writers.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { NOTE_ROW = 1, FIRST_STAMP_ROW };
enum {
  COLUMN_BASE = 3,
  COLUMN_LOW,
  COLUMN_HIGH,
  COLUMN_AT_LOW,
  COLUMN_AT_HIGH,
  COLUMN_WIDTH,
  COLUMN_RANK
};
enum { COLUMN_ORDER = 3, COLUMN_PLACE, COLUMN_DOWN, COLUMN_UP };
enum { MAX_SWINGS = 12, REPLICA_COLUMN = 4, TORNADO_ROWS = 24 };

#define SWING_SHARE 0.20
#define MIN_EFFECT  1e-9 // no smaller swing is shown

static const struct unit order = {.text = "rank", .counts = true};

struct writer {
  struct book *book;
  const struct sensitivity *sensitivity;
  const struct swing *swings[MAX_SWINGS]; // shown
  size_t count;
  struct name *share;
  int first, sorted; // rows of the first swing, and of the first of the sorted ones
  int base_row,
      zero_row; // with the current result; with a price and a delay of zero; below, all off
  const struct replica **replicas;  // by option; NULL if nothing moves it
  size_t (*columns)[MAX_SWINGS][2]; // by option: those of its replica; SIZE_MAX: it is not moved
};

static const struct scenario *scenario_of(const struct writer *writer) {
  return writer->book->scenario;
}

static bool shows_saving(const struct writer *writer) {
  return writer->sensitivity->of_saving;
}

static const struct unit *result_unit(const struct writer *writer) {
  if (shows_saving(writer))
    return &unit_percent;
  return &scenario_of(writer)->model->declarations[writer->sensitivity->item].unit;
}

// "$I$6:$I$17": a column over a number of swings.
static const char *swing_cells(const struct writer *writer, int column, size_t count) {
  return arena_printf(writer->book->arena, "%s:%s", cell_fixed(writer->book, writer->first, column),
                      cell_fixed(writer->book, writer->first + (int)count - 1, column));
}

static const char *all_swings(const struct writer *writer, int column) {
  return swing_cells(writer, column, writer->count);
}

// The range for INDEX: at least two rows, because Gnumeric's INDEX returns nothing for a single
// cell.
static const char *picked_swings(const struct writer *writer, int column) {
  return swing_cells(writer, column, writer->count > 1 ? writer->count : 2);
}

// The option whose name and unit represent a swing: the first that it moves.
static const struct option_sheet *moved_option(const struct writer *writer,
                                               const struct swing *swing) {
  const struct scenario *scenario = scenario_of(writer);
  for (size_t o = 0; o < scenario->option_count; o++)
    if (target_moves(scenario, swing->target, o))
      return &writer->book->sheets->options[o];
  return NULL;
}

// ---- the ends

// How far an open limit is moved inwards, as in target_limits.
static const char *inwards_text(const struct writer *writer, const char *limit, const char *base) {
  struct name *share = constants_literal(&writer->book->constants, "swing",
                                         "Distance that a swing keeps from an open limit", "share",
                                         OPEN_LIMIT_SHARE, &unit_plain);
  return arena_printf(writer->book->arena, "%s+%s*ABS(%s)", limit, name_use(share), base);
}

static const char *constant_limit(const struct writer *writer, const struct declaration *input,
                                  bool low) {
  const double limit = cell_number(low ? input->min : input->max, &input->unit);
  if (limit == 0 || limit == 1)
    return arena_printf(writer->book->arena, "%g", limit);
  return name_use(constants_literal(&writer->book->constants, input->name, input->label,
                                    low ? "lowest" : "highest", low ? input->min : input->max,
                                    &input->unit));
}

// A limit as text in a formula; NULL if there is none.
static const char *limit_text(const struct writer *writer, const struct swing *swing,
                              const char *base, bool low) {
  const struct declaration *input = target_input(scenario_of(writer), swing->target);
  struct arena *arena = writer->book->arena;
  if (!low && !strcmp(input->name, "horizon")) {
    const struct option_sheet *option = &writer->book->sheets->options[0];
    const char *periods = cell_on(writer->book, option->tab, TIME_ROW,
                                  COLUMN_PERIOD + scenario_of(writer)->periods - 1);
    int length = model_find(scenario_of(writer)->model, "period_length");
    if (length < 0)
      return periods;
    return arena_printf(arena, "%s*%s", periods, option_name_used(option, length));
  }
  if (low ? !input->has_min : !input->has_max)
    return NULL;
  const char *limit = constant_limit(writer, input, low);
  return low && input->min_exclusive ? inwards_text(writer, limit, base) : limit;
}

// "List price per accelerator, H200", "Throughput, Acme = Beta" of one quantity
static const char *input_label(const struct writer *writer, const struct swing *swing) {
  const struct scenario *scenario = scenario_of(writer);
  const char *label = target_input(scenario, swing->target)->label;
  for (size_t o = 0, named = 0; o < scenario->option_count && swing->target.option >= 0; o++)
    if (swing_moves(scenario, swing, o) &&
        !option_is_lent(&scenario->options[o], swing->target.declaration))
      label = arena_printf(writer->book->arena, "%s%s%s", label, named++ ? " = " : ", ",
                           scenario->options[o].label);
  return label;
}

// A percentile of the input's range: a constant of Inputs.
static const char *percentile_formula(const struct writer *writer, const struct swing *swing,
                                      bool low) {
  const struct declaration *input = target_input(scenario_of(writer), swing->target);
  struct name *name =
      constants_literal(&writer->book->constants, input->name, input_label(writer, swing),
                        low ? "5th percentile" : "95th percentile",
                        low ? swing->low.value : swing->high.value, &input->unit);
  return arena_printf(writer->book->arena, "=%s", name_use(name));
}

// "=MAX(D6-pt_swing*ABS(D6),0)"; an integer moves by at least one.
static const char *end_formula(const struct writer *writer, const struct swing *swing, int row,
                               bool low) {
  struct arena *arena = writer->book->arena;
  if (swing->ranged)
    return percentile_formula(writer, swing, low);
  const bool integer = target_input(scenario_of(writer), swing->target)->integer;
  const char *base = cell_here(writer->book, row, COLUMN_BASE),
             *limit = limit_text(writer, swing, base, low);
  const char *sign = low ? "-" : "+";
  const char *end =
      arena_printf(arena, "%s%s%s*ABS(%s)", base, sign, name_use(writer->share), base);
  if (integer)
    end = arena_printf(arena, "%s(ROUND(%s,0),%s%s1)", low ? "MIN" : "MAX", end, base, sign);
  if (limit)
    end = arena_printf(arena, "%s(%s,%s)", low ? "MAX" : "MIN", end, limit);
  return arena_printf(arena, "=%s", end);
}

// "List price per accelerator, H200 (swing)": which input, and what its ends are.
static const char *swing_label(const struct writer *writer, const struct swing *swing) {
  return arena_printf(writer->book->arena, "%s (%s)", input_label(writer, swing),
                      swing->ranged ? "range" : "swing");
}

static void write_ends(const struct writer *writer, size_t i) {
  struct book *book = writer->book;
  const struct swing *swing = writer->swings[i];
  const struct declaration *input = target_input(scenario_of(writer), swing->target);
  const int row = writer->first + (int)i;
  put_labels(book, row, swing_label(writer, swing), swing->name, input->unit.text);
  put_link(book, row, COLUMN_BASE,
           option_name(moved_option(writer, swing), swing->target.declaration),
           swing->base / unit_cell_factor(&input->unit), &input->unit);
  const double ends[] = {swing->low.value, swing->high.value};
  for (int k = 0; k < 2; k++)
    put_formula(book, row, COLUMN_LOW + k, ends[k] / unit_cell_factor(&input->unit),
                swing->ranged ? CELL_LINK : CELL_FORMULA, &input->unit, "%s",
                end_formula(writer, swing, row, k == 0));
}

// ---- their effect

// An option's cost at present, among the operands of a saving.
static const char *present_cost(const struct writer *writer, size_t option) {
  const int above = option == writer->book->scenario->baseline ? 1 : 2;
  return cell_fixed(writer->book, writer->base_row - above, COLUMN_BASE);
}

// An option's cost at an end: from its replica, or the option's own if the swing does not move it.
static const char *cost_text(const struct writer *writer, size_t option, size_t swing, int end) {
  const size_t column = writer->columns[option][swing][end];
  struct name *name =
      option_name(&writer->book->sheets->options[option], writer->sensitivity->item);
  const char *moved =
      column == SIZE_MAX ? name->text : replica_cell(writer->replicas[option], column);
  if (moved == name->text && shows_saving(writer))
    return present_cost(writer, option);
  return moved == name->text ? name_use(name) : moved;
}

// The saving, like cost_saving; a dash where there is none, nor a cost.
static const char *saving_formula(const struct writer *writer, const char *cost,
                                  const char *baseline) {
  return arena_printf(writer->book->arena, "=IF(ISNUMBER(1/((%s>0)*(%s>=0))),1-%s/%s,\"-\")",
                      baseline, cost, cost, baseline);
}

static double result_at(const struct writer *writer, const struct swing_end *end) {
  const struct sensitivity *sensitivity = writer->sensitivity;
  return shows_saving(writer)
             ? end->saving
             : end->costs[sensitivity->option] / unit_cell_factor(result_unit(writer));
}

// A number rounded like ROUND in the cells, so that a pure rounding error becomes zero.
static double rounded(double value) {
  const double scale = pow(10, CEIL_DECIMALS);
  return round(value * scale) / scale;
}

static double or_nothing(double value) {
  return isfinite(value) ? value : 0;
}

// The difference between a swing's two results, 0 unless there are both. Rounded, because swings
// with the same effect must rank the same on every machine.
static double width_of(const struct writer *writer, size_t i) {
  const struct swing *swing = writer->swings[i];
  return rounded(
      or_nothing(fabs(result_at(writer, &swing->high) - result_at(writer, &swing->low))));
}

static lxw_format *result_format(const struct writer *writer, enum cell_role role, double value) {
  struct formats *formats = &writer->book->formats;
  return shows_saving(writer) ? formats_share(formats, role, value)
                              : formats_cell(formats, role, result_unit(writer));
}

static void write_effect(const struct writer *writer, size_t i) {
  struct book *book = writer->book;
  struct arena *arena = book->arena;
  const struct sensitivity *sensitivity = writer->sensitivity;
  const struct swing_end *ends[] = {&writer->swings[i]->low, &writer->swings[i]->high};
  const int row = writer->first + (int)i;
  for (int k = 0; k < 2; k++) {
    const char *cost = cost_text(writer, sensitivity->option, i, k);
    const char *formula =
        shows_saving(writer)
            ? saving_formula(writer, cost, cost_text(writer, book->scenario->baseline, i, k))
            : arena_printf(arena, "=IF(ISNUMBER(%s),%s,\"-\")", cost, cost);
    const double result = result_at(writer, ends[k]);
    put_formula_or_dash(book, row, COLUMN_AT_LOW + k, result,
                        result_format(writer, CELL_FORMULA, result), formula);
  }
  const char *low = cell_here(writer->book, row, COLUMN_AT_LOW),
             *high = cell_here(writer->book, row, COLUMN_AT_HIGH);
  struct name *digits = constants_rounding(&book->constants);
  const double width = width_of(writer, i);
  put_formula_in(book, row, COLUMN_WIDTH, width, result_format(writer, CELL_FORMULA, width),
                 "=IF(ISNUMBER(%s-%s),ROUND(ABS(%s-%s),%s),0)", high, low, high, low,
                 name_use(digits));
}

// ---- the order

static size_t rank_of(const struct writer *writer, size_t i) {
  size_t rank = 1;
  for (size_t k = 0; k < writer->count; k++) {
    const double width = width_of(writer, k), own = width_of(writer, i);
    rank += width == own ? k < i : width > own;
  }
  return rank;
}

// A swing's rank: how many are wider, plus the equal ones above it.
static void write_rank(const struct writer *writer, size_t i) {
  struct book *book = writer->book;
  struct arena *arena = book->arena;
  const int row = writer->first + (int)i;
  const char *width = cell_here(writer->book, row, COLUMN_WIDTH);
  const char *formula =
      arena_printf(arena, "=1+SUMPRODUCT((%s>%s)*1)", all_swings(writer, COLUMN_WIDTH), width);
  if (i > 0)
    formula = arena_printf(arena, "%s+SUMPRODUCT((%s:%s=%s)*1)", formula,
                           cell_address(writer->first, COLUMN_WIDTH, ADDRESS_ROW, arena),
                           cell_here(writer->book, row - 1, COLUMN_WIDTH), width);
  put_formula(book, row, COLUMN_RANK, (double)rank_of(writer, i), CELL_FORMULA, &order, "%s",
              formula);
}

static size_t ranked(const struct writer *writer, size_t rank) {
  size_t i = 0;
  while (rank_of(writer, i) != rank)
    i++;
  return i;
}

static double base_result(const struct writer *writer) {
  const struct scenario *scenario = scenario_of(writer);
  const struct option *option = &scenario->options[writer->sensitivity->option];
  if (shows_saving(writer))
    return option_saving(scenario, option, "cost_per_mtok");
  return option_value(scenario, option, writer->sensitivity->item, 0) /
         unit_cell_factor(result_unit(writer));
}

static void write_sorted(const struct writer *writer, size_t k) {
  struct book *book = writer->book;
  struct arena *arena = book->arena;
  const int row = writer->sorted + (int)k;
  const size_t i = ranked(writer, k + 1);
  const struct swing *swing = writer->swings[i];
  assert(swing); // there are as many ranks as swings
  lxw_format *counting = formats_cell(&book->formats, CELL_FORMULA, &order);
  put_formula_in(book, row, COLUMN_ORDER, (double)k + 1, counting, "%s",
                 k ? arena_printf(arena, "=%s+1", cell_here(writer->book, row - 1, COLUMN_ORDER))
                   : "=1");
  put_formula_in(book, row, COLUMN_PLACE, (double)i + 1, counting, "=MATCH(%s,%s,0)",
                 cell_here(writer->book, row, COLUMN_ORDER), all_swings(writer, COLUMN_RANK));
  const char *place = cell_address(row, COLUMN_PLACE, ADDRESS_COLUMN, arena);
  put_formula_text(book, row, COLUMN_LABEL, swing_label(writer, swing),
                   formats_text(&book->formats, TEXT_PLAIN), "=INDEX(%s,%s,1)",
                   picked_swings(writer, COLUMN_LABEL), place);
  const double results[] = {result_at(writer, &swing->low), result_at(writer, &swing->high)};
  for (int e = 0; e < 2; e++) {
    const double change = rounded(or_nothing(results[e] - base_result(writer)));
    const char *result =
        arena_printf(arena, "INDEX(%s,%s,1)", picked_swings(writer, COLUMN_AT_LOW + e), place);
    const char *present = cell_fixed(writer->book, writer->base_row, COLUMN_BASE);
    put_formula_in(book, row, COLUMN_DOWN + e, change, result_format(writer, CELL_FORMULA, change),
                   "=IF(ISNUMBER(%s-%s),ROUND(%s-%s,%s),0)", result, present, result, present,
                   name_use(constants_rounding(&book->constants)));
  }
}

// ---- the whole

static void insert_chart(const struct writer *writer, const char *title) {
  enum { WIDTH = 1056, HEIGHT = 420 };
  struct book *book = writer->book;
  lxw_chart *chart = chart_begin(book, LXW_CHART_BAR, title);
  const int first = writer->sorted, last = first + (int)writer->count - 1;
  const char *name = SHEET_SENSITIVITY;
  static const char *const ends[] = {"at the low end", "at the high end"};
  const lxw_color_t colours[] = {low_colour(), high_colour()};
  const struct chart_range inputs = {name, first, COLUMN_LABEL, last, COLUMN_LABEL};
  for (int e = 0; e < 2; e++) {
    const struct chart_range changes = {name, first, COLUMN_DOWN + e, last, COLUMN_DOWN + e};
    chart_add_bars(chart, &inputs, &changes, ends[e], colours[e]);
  }
  chart_set_series_overlap(chart, 100);
  chart_set_series_gap(chart, 40);
  const bool saving = shows_saving(writer);
  const char *change =
      saving ? "change of the saving, percentage points"
             : arena_printf(book->arena, "change, %s", cost_axis(result_unit(writer), book->arena));
  // In a bar chart the library's y axis is that of the categories.
  const struct chart_axes axes = {change, saving ? "+0.0 %;-0.0 %;0 %" : "General", NULL, NULL};
  chart_set_axes(chart, &axes);
  chart_set_grid(chart->x_axis);
  chart_axis_set_reverse(chart->y_axis);
  chart_axis_set_label_position(chart->y_axis, LXW_CHART_AXIS_LABEL_POSITION_LOW);
  chart_place_sized(
      book, chart, last + 2, WIDTH, HEIGHT,
      "Bars: effect of each input on the result at its low and high end, widest first");
}

// The ends of the swings that move the option, each a column of its replica. Returns their number.
static size_t swing_columns(const struct writer *writer, size_t option,
                            struct replica_column *columns) {
  const struct scenario *scenario = scenario_of(writer);
  const bool wanted = option == writer->sensitivity->option || option == scenario->baseline;
  size_t count = 0;
  for (size_t i = 0; i < writer->count; i++) {
    const struct swing *swing = writer->swings[i];
    const char *label = target_input(scenario, swing->target)->label;
    const double values[] = {swing->low.value, swing->high.value};
    for (int e = 0; e < 2; e++) {
      writer->columns[option][i][e] = SIZE_MAX;
      if (!wanted || !swing_moves(scenario, swing, option))
        continue;
      writer->columns[option][i][e] = count;
      columns[count++] = (struct replica_column){
          swing->target.declaration,
          cell_fixed(writer->book, writer->first + (int)i, COLUMN_LOW + e), values[e],
          arena_printf(writer->book->arena, "%s, %s end", label, e ? "high" : "low")};
    }
  }
  return count;
}

// What Negotiation reads: the cost with an input of zero, each a column of the option's replica.
enum negotiated { PRICE_ZERO, DELAY_ZERO, NEGOTIATED };

// The columns of those inputs, from `first` on: SIZE_MAX for one that the option lacks. Returns the
// column after them.
static size_t zero_columns(const struct writer *writer, const struct option *option, size_t first,
                           struct replica_column *columns, size_t of[NEGOTIATED]) {
  static const char *const titles[NEGOTIATED] = {"price zero", "delay zero"};
  const int inputs[NEGOTIATED] = {negotiated_price(writer->book, option),
                                  negotiated_delay(writer->book, option)};
  for (int i = 0; i < NEGOTIATED; i++) {
    of[i] = inputs[i] < 0 ? SIZE_MAX : first++;
    if (inputs[i] >= 0)
      columns[of[i]] = (struct replica_column){
          inputs[i], cell_fixed(writer->book, writer->zero_row, COLUMN_BASE), 0, titles[i]};
  }
  if (inputs[PRICE_ZERO] >= 0 && negotiates_tokens(writer->book, option)) // all at once
    columns[of[PRICE_ZERO]] = (struct replica_column){
        model_find(writer->book->scenario->model, "api_discount"),
        cell_fixed(writer->book, writer->zero_row + 1, COLUMN_BASE), 1, titles[PRICE_ZERO]};
  return first;
}

static const char *replica_address(const struct writer *writer, const struct replica *replica,
                                   size_t column) {
  return arena_printf(writer->book->arena, "%s!%s", writer->book->sheet->name,
                      replica_cell(replica, column));
}

// A replica for each option that is moved or negotiated, from `row` on. Returns the row after them.
static int lay_out_replicas(struct writer *writer, int row) {
  struct book *book = writer->book;
  const struct scenario *scenario = book->scenario;
  for (size_t o = 0; o < scenario->option_count; o++) {
    struct option_sheet *sheet = &book->sheets->options[o];
    struct replica_column *columns =
        arena_array(book->arena, 2 * writer->count + NEGOTIATED, sizeof *columns);
    size_t zero[NEGOTIATED];
    const size_t count = zero_columns(writer, &scenario->options[o],
                                      swing_columns(writer, o, columns), columns, zero);
    if (!count)
      continue;
    const struct replica *replica = writer->replicas[o] =
        replica_new(book, sheet, writer->sensitivity->item, row, REPLICA_COLUMN, columns, count);
    if (zero[PRICE_ZERO] != SIZE_MAX) {
      sheet->free_cost_cell = replica_address(writer, replica, zero[PRICE_ZERO]);
      sheet->free_cost = replica_value(replica, zero[PRICE_ZERO]);
    }
    if (zero[DELAY_ZERO] != SIZE_MAX) {
      sheet->on_time_cost_cell = replica_address(writer, replica, zero[DELAY_ZERO]);
    }
    row = replica_end(replica) + 1;
  }
  return row;
}

static const char *question(const struct writer *writer) {
  const struct scenario *scenario = scenario_of(writer);
  const char *label = scenario->options[writer->sensitivity->option].label;
  if (!shows_saving(writer))
    return arena_printf(writer->book->arena, "Cost per million output tokens of %s", label);
  return arena_printf(writer->book->arena, "Saving per token of %s against %s", label,
                      scenario->options[scenario->baseline].label);
}

// The operands of a saving: names of two options would make one formula too long.
static void write_cost(const struct writer *writer, int row, size_t o) {
  struct book *book = writer->book;
  const struct scenario *scenario = book->scenario;
  const int item = writer->sensitivity->item;
  const struct unit *unit = &scenario->model->declarations[item].unit;
  struct name *cost = option_name(&book->sheets->options[o], item);
  put_text(
      book, row, COLUMN_LABEL,
      arena_printf(book->arena, "Cost per million output tokens of %s", scenario->options[o].label),
      TEXT_PLAIN);
  put_text(book, row, COLUMN_UNIT, unit->text, TEXT_PLAIN);
  put_link(book, row, COLUMN_BASE, cost,
           option_value(scenario, &scenario->options[o], item, 0) / unit_cell_factor(unit), unit);
}

static void write_base(const struct writer *writer) {
  struct book *book = writer->book;
  const struct scenario *scenario = book->scenario;
  const int item = writer->sensitivity->item;
  struct name *cost = option_name(&book->sheets->options[writer->sensitivity->option], item);
  put_text(book, writer->base_row, COLUMN_LABEL,
           arena_printf(book->arena, "%s, at present", question(writer)), TEXT_STRONG);
  put_text(book, writer->base_row, COLUMN_UNIT, result_unit(writer)->text, TEXT_PLAIN);
  if (!shows_saving(writer)) {
    put_link(book, writer->base_row, COLUMN_BASE, cost, base_result(writer), result_unit(writer));
    return;
  }
  write_cost(writer, writer->base_row - 2, writer->sensitivity->option);
  write_cost(writer, writer->base_row - 1, scenario->baseline);
  put_formula_or_dash(book, writer->base_row, COLUMN_BASE, base_result(writer),
                      result_format(writer, CELL_TOTAL, base_result(writer)),
                      saving_formula(writer, cell_here(book, writer->base_row - 2, COLUMN_BASE),
                                     cell_here(book, writer->base_row - 1, COLUMN_BASE)));
}

static bool any_negotiates_tokens(const struct book *book) {
  for (size_t o = 0; o < book->scenario->option_count; o++)
    if (negotiated_price(book, &book->scenario->options[o]) >= 0 &&
        negotiates_tokens(book, &book->scenario->options[o]))
      return true;
  return false;
}

static void write_other(struct book *book, int row, const char *label, const struct unit *unit,
                        int value) {
  put_text(book, row, COLUMN_LABEL, label, TEXT_PLAIN);
  put_text(book, row, COLUMN_UNIT, unit->text, TEXT_PLAIN);
  put_formula(book, row, COLUMN_BASE, value, CELL_FORMULA, unit, "=%d", value);
}

static void write_zero(const struct writer *writer) {
  struct book *book = writer->book;
  write_other(book, writer->zero_row, "A price and a delay of zero, for Negotiation", &unit_plain,
              0);
  if (any_negotiates_tokens(book))
    write_other(book, writer->zero_row + 1, "A discount of all of a provider's prices, likewise",
                &unit_percent, 1);
}

static void write_headings(const struct writer *writer) {
  static const char *const swings[] = {"Input", "Key", "Unit"};
  static const char *const numbers[] = {"At present",     "Low end", "High end", "Result at low",
                                        "Result at high", "Width",   "Rank"};
  static const char *const in_order[] = {"In order: change of the result", "", ""};
  static const char *const sorted[] = {"Rank", "Place", "Low end", "High end"};
  struct book *book = writer->book;
  put_header(book, writer->first - 1, swings, 3);
  put_headings(book, writer->first - 1, COLUMN_BASE, numbers, 7);
  put_header(book, writer->sorted - 1, in_order, 3);
  put_headings(book, writer->sorted - 1, COLUMN_ORDER, sorted, 4);
}

const struct sensitivity *sensitivity_shown(const struct book *book) {
  const struct scenario *scenario = book->scenario;
  const struct sensitivity *sensitivity =
      sensitivity_ask(scenario, NULL, SWING_SHARE, book->arena, book->diagnostics);
  if (!sensitivity)
    return NULL;
  bool moves = false;
  for (size_t i = 0; i < sensitivity->count; i++)
    moves |= sensitivity->swings[i].effect > MIN_EFFECT;
  return book->sheets->ranking->options[sensitivity->option].compared && moves ? sensitivity : NULL;
}

// The widest swings, only of inputs that mean the same in every case, since the case may be changed
// in the workbook.
static void choose_swings(struct writer *writer) {
  const struct sensitivity *sensitivity = writer->sensitivity;
  for (size_t i = 0; i < sensitivity->count && writer->count < MAX_SWINGS; i++) {
    const struct swing *swing = &sensitivity->swings[i];
    if (!(swing->effect <= MIN_EFFECT) && target_is_steady(scenario_of(writer), swing->target))
      writer->swings[writer->count++] = swing;
  }
}

// Returns the row after the calculations.
static int write_tornado(struct writer *writer, int calculations) {
  writer->zero_row = calculations;
  const int end = lay_out_replicas(writer, calculations + 2 + any_negotiates_tokens(writer->book));
  write_base(writer);
  if (negotiation_shown(writer->book))
    write_zero(writer);
  write_headings(writer);
  for (size_t i = 0; i < writer->count; i++) {
    write_ends(writer, i);
    write_effect(writer, i);
    write_rank(writer, i);
  }
  for (size_t k = 0; k < writer->count; k++)
    write_sorted(writer, k);
  if (writer->book->writing)
    insert_chart(writer, question(writer));
  for (size_t o = 0; o < scenario_of(writer)->option_count; o++)
    if (writer->replicas[o])
      replica_write(writer->replicas[o]);
  return end;
}

static void lay_out(struct writer *writer, int row) {
  const size_t options = scenario_of(writer)->option_count;
  struct book *book = writer->book;
  choose_swings(writer);
  writer->share = constants_literal(&book->constants, "swing", "Swing of the tornado", "share",
                                    SWING_SHARE, &unit_percent);
  writer->replicas = arena_array(book->arena, options, sizeof(const struct replica *));
  writer->columns = arena_array(book->arena, options, sizeof *writer->columns);
  writer->base_row = row + (shows_saving(writer) ? 2 : 0);
  writer->first = writer->base_row + 3;
  writer->sorted = writer->first + (int)writer->count + 2;
}

void write_sensitivity(struct book *book) {
  static const char swings[] = "Each input by itself, everything else as on Inputs. Range: from "
                               "its 5th to its 95th percentile. Swing: down and up by the share on "
                               "Inputs. Live: change an input and the tornado moves.";
  static const char alone[] =
      "Everything else as on Inputs. Live: change an input and the costs move.";
  const struct sensitivity *tornado = book->sheets->tornado;
  struct writer writer = {.book = book, .sensitivity = tornado};
  begin_sheet(book, "Sensitivity", FIRST_STAMP_ROW, COLUMN_LABEL + 1);
  put_text(book, NOTE_ROW, 0, tornado ? swings : alone, TEXT_NOTE);
  const int grades = put_stamps(book, FIRST_STAMP_ROW) + 1;
  int row = grades + grades_rows(book);
  if (tornado) {
    lay_out(&writer, row);
    row = writer.sorted + (int)writer.count + TORNADO_ROWS;
  }
  const int shares = row + curves_rows(book);
  const int workings = shares + equal_shares_rows(book) + 1, last = workings - 2;
  int calculations = workings + 3;
  put_workings(book, workings);
  if (tornado)
    calculations = write_tornado(&writer, calculations);
  calculations = curves_write(book, row, calculations);
  calculations = equal_shares_write(book, shares, calculations);
  grades_write(book, grades, calculations);
  set_widths(book, (const int[]){46, 29, 13, 16}, 4, REPLICA_COLUMN + 2 * (int)writer.count + 1);
  const int tables = (int)fmax(curves_last_column(book), equal_shares_last_column(book));
  end_sheet(book, last, (int)fmax(COLUMN_RANK, tables));
}
