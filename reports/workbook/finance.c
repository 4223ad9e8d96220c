// Finance: each view of finance by itself, option by option, and what the dearer purchase of two
// earns back. The views are the groups of the cost model that say so.
#include "model/questions/comparison.h"
#include "model/scenario/ranking.h"
#include "reports/answers/compare.h"
#include "reports/spreadsheet/book.h"

#include <math.h>
#include <string.h>

enum { TITLE_ROW, NOTE_ROW, FIRST_STAMP_ROW };

static const char never[] = "not within the horizon";
static const struct unit ratio = {.text = "-", .counts = true};
static const struct unit flag = {.text = "flag", .counts = true};
static const struct unit rate = {.text = "%/yr", .percents = 1};

struct writer {
  struct book *book;
  const struct scenario *scenario;
  const struct model *model;
  lxw_worksheet *sheet;
  int row; // the next
};

static int last_column(const struct writer *writer) {
  return COLUMN_PERIOD + writer->scenario->periods - 1;
}

static const char *here(const struct writer *writer, int row, int column, enum address fixed) {
  return cell_address(row, column, fixed, writer->book->arena);
}

// "E7:L7"
static const char *whole_row(const struct writer *writer, int row) {
  return arena_printf(writer->book->arena, "%s:%s",
                      here(writer, row, COLUMN_PERIOD, ADDRESS_RELATIVE),
                      here(writer, row, last_column(writer), ADDRESS_RELATIVE));
}

static int write_labels(struct writer *writer, const char *label, const char *key,
                        const char *unit) {
  put_text(writer->book, writer->sheet, writer->row, COLUMN_LABEL, label, TEXT_PLAIN);
  put_text(writer->book, writer->sheet, writer->row, COLUMN_KEY, key, TEXT_NOTE);
  put_text(writer->book, writer->sheet, writer->row, COLUMN_UNIT, unit, TEXT_PLAIN);
  return writer->row++;
}

// A table's heading with the periods' numbers over their columns.
static void write_header(struct writer *writer, const char *title) {
  struct book *book = writer->book;
  const struct option_sheet *first = &book->options[0];
  const char *headings[] = {title, "Key", "Unit"};
  put_header(book, writer->sheet, writer->row, headings, 3);
  put_text(book, writer->sheet, writer->row, COLUMN_VALUE, "Value", TEXT_HEADER_RIGHT);
  for (int t = 0; t < writer->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    const char *time = sheet_address(book, first->option->id, first->time_row, column, ADDRESS_ROW);
    put_formula(book, writer->sheet, writer->row, column, arena_printf(book->arena, "=%s", time), t,
                formats_text(&book->formats, TEXT_HEADER_RIGHT));
  }
  writer->row++;
}

// ---- the views

static bool in_view(const struct writer *writer, int declaration, int group) {
  const struct declaration *item = &writer->model->declarations[declaration];
  return item->group == group && item->kind != DECLARATION_INPUT;
}

static bool has_view(const struct writer *writer, const struct option *option, int group) {
  for (int d = 0; d < writer->model->count; d++)
    if (in_view(writer, d, group) && option_has(option, d))
      return true;
  return false;
}

static const char *series_cell(const struct writer *writer, const struct option_sheet *sheet,
                               int declaration, int column) {
  return sheet_address(writer->book, sheet->option->id, sheet->rows[declaration], column,
                       ADDRESS_RELATIVE);
}

static void write_item(struct writer *writer, const struct option_sheet *sheet, int declaration) {
  struct book *book = writer->book;
  const struct declaration *item = &writer->model->declarations[declaration];
  const char *key = arena_printf(book->arena, "%s.%s", sheet->option->id, item->name);
  int row = write_labels(writer, item->label, key, item->unit.text);
  if (item->kind != DECLARATION_SERIES) {
    put_link(book, writer->sheet, row, COLUMN_VALUE, option_name(sheet, declaration),
             shown_value(book, sheet, declaration, 0), &item->unit);
    return;
  }
  for (int t = 0; t < writer->scenario->periods; t++) {
    const char *cell = series_cell(writer, sheet, declaration, COLUMN_PERIOD + t);
    put_formula(book, writer->sheet, row, COLUMN_PERIOD + t, arena_printf(book->arena, "=%s", cell),
                shown_value(book, sheet, declaration, t),
                formats_cell(&book->formats, CELL_LINK, &item->unit));
  }
}

static void write_view(struct writer *writer, int group) {
  bool headed = false;
  for (size_t o = 0; o < writer->scenario->option_count; o++) {
    const struct option_sheet *sheet = &writer->book->options[o];
    if (!has_view(writer, sheet->option, group))
      continue;
    if (!headed)
      write_header(writer, writer->model->groups[group].label);
    headed = true;
    put_heading(writer->book, writer->sheet, writer->row++, last_column(writer), sheet->option->id);
    for (int d = 0; d < writer->model->count; d++)
      if (in_view(writer, d, group) && option_has(sheet->option, d))
        write_item(writer, sheet, d);
  }
  writer->row += headed;
}

// ---- the difference from the baseline

// Where a difference's rows stand.
struct block {
  const struct option_sheet *option, *baseline;
  const struct comparison *comparison;
  const char *id;
  int scale, direction; // cells of COLUMN_VALUE
};

static const struct unit *unit_of(const struct writer *writer, const char *item) {
  return &writer->model->declarations[model_find(writer->model, item)].unit;
}

static int put_row(struct writer *writer, const struct block *block, const char *label,
                   const char *key, const struct unit *unit) {
  return write_labels(writer, label, arena_printf(writer->book->arena, "%s.%s", block->id, key),
                      unit->text);
}

static void put_value(struct writer *writer, int row, const char *formula, double value,
                      enum cell_role role, const struct unit *unit) {
  put_formula(writer->book, writer->sheet, row, COLUMN_VALUE, formula, value,
              formats_cell(&writer->book->formats, role, unit));
}

// A number, or a text where there is none.
static void put_number_or_text(struct writer *writer, int row, const char *formula, double value,
                               const struct unit *unit) {
  if (isnan(value))
    put_formula_text(writer->book, writer->sheet, row, COLUMN_VALUE, formula, never,
                     formats_cell(&writer->book->formats, CELL_TOTAL, unit));
  else
    put_value(writer, row, formula, value, CELL_TOTAL, unit);
}

// The dearer purchase's flow of a series of both options.
static int write_flow(struct writer *writer, const struct block *block, const char *series,
                      const char *label, const char *key, const double *values) {
  struct arena *arena = writer->book->arena;
  const struct unit *unit = unit_of(writer, series);
  int d = model_find(writer->model, series);
  int row = put_row(writer, block, label, key, unit);
  for (int t = 0; t < writer->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    const char *formula = arena_printf(
        arena, "=%s*(%s-%s*%s)", here(writer, block->direction, COLUMN_VALUE, ADDRESS_ABSOLUTE),
        series_cell(writer, block->baseline, d, column),
        series_cell(writer, block->option, d, column),
        here(writer, block->scale, COLUMN_VALUE, ADDRESS_ABSOLUTE));
    put_formula(writer->book, writer->sheet, row, column, formula, values[t],
                formats_cell(&writer->book->formats, CELL_FORMULA, unit));
  }
  return row;
}

// The sum of all flows so far; the cell left of period 0 is blank.
static int write_running(struct writer *writer, const struct block *block, int flow,
                         const char *label, const char *key, const double *values) {
  const struct unit *unit = unit_of(writer, "cash");
  int row = put_row(writer, block, label, key, unit);
  for (int t = 0; t < writer->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    const char *formula =
        arena_printf(writer->book->arena, "=%s+%s", here(writer, row, column - 1, ADDRESS_RELATIVE),
                     here(writer, flow, column, ADDRESS_RELATIVE));
    put_formula(writer->book, writer->sheet, row, column, formula, values[t],
                formats_cell(&writer->book->formats, CELL_FORMULA, unit));
  }
  return row;
}

static bool is_owed(const double *running, int t) {
  for (int i = 0; i <= t; i++)
    if (running[i] >= 0)
      return false;
  return true;
}

static int write_owed(struct writer *writer, const struct block *block, int running,
                      const char *label, const char *key, const double *values) {
  int row = put_row(writer, block, label, key, &flag);
  for (int t = 0; t < writer->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    const char *formula = arena_printf(writer->book->arena, "=IF(MAX(%s:%s)<0,1,0)",
                                       here(writer, running, COLUMN_PERIOD, ADDRESS_COLUMN),
                                       here(writer, running, column, ADDRESS_RELATIVE));
    put_formula(writer->book, writer->sheet, row, column, formula, is_owed(values, t),
                formats_cell(&writer->book->formats, CELL_FORMULA, &flag));
  }
  return row;
}

// The time of a period in which the outlay is not yet earned back, by interpolation in the last.
static int write_time(struct writer *writer, const struct block *block, const int rows[3],
                      const char *label, const char *key, const double *running) {
  struct arena *arena = writer->book->arena;
  const struct unit *unit = unit_of(writer, "period");
  int period = model_find(writer->model, "period"), flow = rows[0], sum = rows[1], owed = rows[2];
  int row = put_row(writer, block, label, key, unit);
  for (int t = 0; t < writer->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    const char *before = here(writer, owed, column - 1, ADDRESS_RELATIVE);
    const char *formula = arena_printf(arena, "=IF(%s*(1-%s)=1,(-%s)/%s,%s)*%s", before,
                                       here(writer, owed, column, ADDRESS_RELATIVE),
                                       here(writer, sum, column - 1, ADDRESS_RELATIVE),
                                       here(writer, flow, column, ADDRESS_RELATIVE), before,
                                       series_cell(writer, block->option, period, column));
    double share = t && is_owed(running, t - 1) ? 1 : 0;
    if (share > 0 && !is_owed(running, t))
      share = -running[t - 1] / (running[t] - running[t - 1]);
    put_formula(writer->book, writer->sheet, row, column, formula,
                share * shown_value(writer->book, block->option, period, t),
                formats_cell(&writer->book->formats, CELL_FORMULA, unit));
  }
  return row;
}

// The rows behind one payback time; returns that of the flow.
static int write_payback(struct writer *writer, const struct block *block, const char *series,
                         const char *what, const char *key, const double *flow,
                         const double *running, double payback) {
  struct arena *arena = writer->book->arena;
  const struct unit *year = unit_of(writer, "period");
  int rows[3];
  rows[0] =
      write_flow(writer, block, series, arena_printf(arena, "Extra outlay and savings%s", what),
                 arena_printf(arena, "%sflow", key), flow);
  rows[1] = write_running(writer, block, rows[0], arena_printf(arena, "Their sum so far%s", what),
                          arena_printf(arena, "%scumulative", key), running);
  rows[2] = write_owed(writer, block, rows[1],
                       arena_printf(arena, "Flag of an outlay not yet earned back%s", what),
                       arena_printf(arena, "%sowed", key), running);
  int time =
      write_time(writer, block, rows, arena_printf(arena, "Time before it is earned back%s", what),
                 arena_printf(arena, "%stime", key), running);
  int row = put_row(writer, block, arena_printf(arena, "Payback time%s", what),
                    arena_printf(arena, "%spayback", key), year);
  const char *formula = arena_printf(arena, "=IF(AND(%s<0,MAX(%s)>=0),SUM(%s),\"%s\")",
                                     here(writer, rows[0], COLUMN_PERIOD, ADDRESS_RELATIVE),
                                     whole_row(writer, rows[1]), whole_row(writer, time), never);
  put_number_or_text(writer, row, formula, payback / unit_cell_factor(year), year);
  return rows[0];
}

// How the two are made comparable, and which is the dearer purchase.
static void write_terms(struct writer *writer, struct block *block) {
  struct book *book = writer->book;
  struct arena *arena = book->arena;
  const struct comparison *comparison = block->comparison;
  const char *baseline = block->baseline->option->id;
  int tokens = model_find(writer->model, "tokens_total"), cash = model_find(writer->model, "cash");
  struct name *ours = option_name(block->option, tokens);
  struct name *theirs = option_name(block->baseline, tokens);
  ours->used = theirs->used = true;
  block->scale = put_row(writer, block,
                         arena_printf(arena, "Output of %s over that of %s", baseline, block->id),
                         "scale", &ratio);
  put_value(writer, block->scale, arena_printf(arena, "=%s/%s", theirs->text, ours->text),
            comparison->scale, CELL_FORMULA, &ratio);
  const char *first_ours = series_cell(writer, block->option, cash, COLUMN_PERIOD);
  const char *first_theirs = series_cell(writer, block->baseline, cash, COLUMN_PERIOD);
  const char *scale = here(writer, block->scale, COLUMN_VALUE, ADDRESS_RELATIVE);
  block->direction =
      put_row(writer, block,
              arena_printf(arena, "1: %s is the dearer purchase; -1: %s", block->id, baseline),
              "direction", &flag);
  put_value(writer, block->direction,
            arena_printf(arena, "=IF(%s-%s*%s>0,-1,1)", first_theirs, first_ours, scale),
            comparison->direction, CELL_FORMULA, &flag);
  int row = put_row(writer, block, "The dearer purchase", "dearer", &ratio);
  put_formula_text(book, writer->sheet, row, COLUMN_VALUE,
                   arena_printf(arena, "=IF(%s=1,\"%s\",\"%s\")",
                                here(writer, block->direction, COLUMN_VALUE, ADDRESS_RELATIVE),
                                block->id, baseline),
                   comparison->direction > 0 ? block->id : baseline,
                   formats_cell_text(&book->formats, CELL_TOTAL));
}

static void write_rate(struct writer *writer, const struct block *block, int flow) {
  static const struct unit share = {.text = "%", .percents = 1};
  struct arena *arena = writer->book->arena;
  struct name *length = option_name(block->option, model_find(writer->model, "period_length"));
  length->used = true;
  int row =
      put_row(writer, block, "Internal rate of return (IRR) per period", "irr_per_period", &share);
  const char *flows = whole_row(writer, flow);
  const char *outlay = here(writer, flow, COLUMN_PERIOD, ADDRESS_RELATIVE);
  // Spreadsheets search from a first guess: of high rates, the first period's alone is near enough.
  const char *formula = arena_printf(
      arena, "=IF(AND(%s<0,SUM(%s)>0),IRR(%s,MAX(0,(%s/(-%s))-1)),\"%s\")", outlay, flows, flows,
      here(writer, flow, COLUMN_PERIOD + 1, ADDRESS_RELATIVE), outlay, never);
  put_number_or_text(writer, row, formula, block->comparison->irr_per_period, &share);
  const char *found = here(writer, row, COLUMN_VALUE, ADDRESS_RELATIVE);
  row = put_row(writer, block, "Internal rate of return (IRR) of the extra outlay", "irr", &rate);
  formula = arena_printf(arena, "=IF(ISNUMBER(%s),((1+%s)^(1/%s))-1,\"%s\")", found, found,
                         length->text, never);
  put_number_or_text(writer, row, formula, block->comparison->irr, &rate);
}

static void write_sums(struct writer *writer, const struct block *block, int flow, int discounted) {
  struct arena *arena = writer->book->arena;
  const struct comparison *comparison = block->comparison;
  const struct unit *usd = unit_of(writer, "cash");
  const char *direction = here(writer, block->direction, COLUMN_VALUE, ADDRESS_RELATIVE);
  const char *baseline = block->baseline->option->id;
  int row = put_row(writer, block, "Extra outlay of the dearer purchase", "extra_outlay", usd);
  put_value(writer, row,
            arena_printf(arena, "=(-%s)", here(writer, flow, COLUMN_PERIOD, ADDRESS_RELATIVE)),
            comparison->extra_outlay, CELL_TOTAL, usd);
  row = put_row(writer, block, arena_printf(arena, "Saved by %s against %s", block->id, baseline),
                "saved", usd);
  put_value(writer, row, arena_printf(arena, "=%s*SUM(%s)", direction, whole_row(writer, flow)),
            comparison->saved_total, CELL_TOTAL, usd);
  row = put_row(writer, block, arena_printf(arena, "Saved by %s, net present value", block->id),
                "npv_saved", usd);
  put_value(writer, row,
            arena_printf(arena, "=%s*SUM(%s)", direction, whole_row(writer, discounted)),
            comparison->npv_saved, CELL_TOTAL, usd);
}

static void write_difference(struct writer *writer, struct block *block) {
  const struct comparison *comparison = block->comparison;
  put_heading(
      writer->book, writer->sheet, writer->row++, last_column(writer),
      arena_printf(writer->book->arena, "%s against %s", block->id, block->baseline->option->id));
  write_terms(writer, block);
  int flow = write_payback(writer, block, "cash", "", "", comparison->flow, comparison->cumulative,
                           comparison->payback);
  int discounted = write_payback(writer, block, "discounted_cash", ", discounted", "discounted_",
                                 comparison->discounted_flow, comparison->discounted_cumulative,
                                 comparison->discounted_payback);
  write_sums(writer, block, flow, discounted);
  write_rate(writer, block, flow);
}

static void write_differences(struct writer *writer) {
  const struct scenario *scenario = writer->scenario;
  const struct option_sheet *baseline = &writer->book->options[scenario->baseline];
  bool headed = false;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option_sheet *sheet = &writer->book->options[o];
    if (o == scenario->baseline || !writer->book->ranking->options[o].compared)
      continue;
    struct block block = {.option = sheet,
                          .baseline = baseline,
                          .comparison =
                              comparison_ask(scenario, sheet->option, writer->book->arena),
                          .id = sheet->option->id};
    if (!block.comparison)
      continue;
    if (!headed)
      write_header(writer, "Does the dearer purchase pay?");
    headed = true;
    write_difference(writer, &block);
  }
}

static void set_widths(const struct writer *writer) {
  lxw_worksheet *sheet = writer->sheet;
  worksheet_set_column(sheet, COLUMN_LABEL, COLUMN_LABEL, 52, NULL);
  worksheet_set_column(sheet, COLUMN_KEY, COLUMN_KEY, 36, NULL);
  worksheet_set_column(sheet, COLUMN_UNIT, COLUMN_UNIT, 10, NULL);
  worksheet_set_column(sheet, COLUMN_VALUE, COLUMN_VALUE, 22, NULL);
  worksheet_set_column(sheet, COLUMN_PERIOD, (lxw_col_t)last_column(writer), 14, NULL);
}

void write_finance(struct book *book) {
  const struct scenario *scenario = book->scenario;
  struct writer writer = {
      .book = book, .scenario = scenario, .model = scenario->model, .sheet = book->finance};
  begin_sheet(book, book->finance, "Finance", NOTE_ROW + 1, COLUMN_LABEL + 1);
  put_text(book, book->finance, NOTE_ROW, 0,
           "The same purchase in each view by itself; amounts of two views are never added. "
           "Period 0 is the purchase.",
           TEXT_NOTE);
  writer.row = put_stamps(book, book->finance, FIRST_STAMP_ROW) + 1;
  for (int g = 0; g < writer.model->group_count; g++)
    if (writer.model->groups[g].view)
      write_view(&writer, g);
  write_differences(&writer);
  set_widths(&writer);
  end_sheet(book->finance, writer.row - 1, last_column(&writer));
}
