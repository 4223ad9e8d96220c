#include "reports/outputs/outputs.h"

#include "base/arena.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "reports/outputs/charts.h"
#include "reports/outputs/crossings.h"
#include "reports/outputs/missing.h"
#include "reports/outputs/rows.h"
#include "reports/outputs/verdict.h"
#include "reports/outputs/words.h"
#include "reports/outputs/zero_price.h"
#include "reports/sheets/sheets.h"
#include "reports/sheets/weakest_grades.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/formula.h"
#include "reports/spreadsheet/names.h"

#include <math.h>
#include <string.h>

enum { NOTE_ROW = 1, FIRST_STAMP_ROW };

// A text for each option, from `column` on, wrapped.
static void put_option_texts(struct book *book, int row, int column, const char *const *texts) {
  for (size_t o = 0; o < book->scenario->option_count; o++)
    put_text(book, row, column + (int)o, texts[o], TEXT_RIGHT_WRAPPED);
}

static const char *option_label(const struct book *book, size_t option) {
  return book->scenario->options[option].label;
}

static void write_ids(struct book *book, const char *heading,
                      const char *(*label_of)(const struct book *, size_t)) {
  const char *headings[] = {heading, "Key", "Unit"};
  put_header(book, book->row, headings, 3);
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    const char *label = label_of(book, o);
    put_headings(book, book->row, outputs_option_column(o), &label, 1);
  }
  book->row++;
}

// A scalar for every option that has it.
static int write_scalar(struct book *book, int declaration) {
  const struct declaration *item = &book->scenario->model->declarations[declaration];
  int row = outputs_labels(book, item->label, item->name, item->unit.text);
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->sheets->options[o];
    if (option_has(sheet->option, declaration))
      put_option_value(book, row, outputs_option_column(o), sheet, declaration);
    else
      put_text(book, row, outputs_option_column(o), "-", TEXT_RIGHT);
  }
  return row;
}

static int write_saving(struct book *book, const char *label, const char *key, const char *item,
                        int item_row) {
  struct arena *arena = book->arena;
  const struct scenario *scenario = book->scenario;
  int row = outputs_labels(book, label, key, unit_percent.text);
  const char *baseline = cell_fixed(book, item_row, outputs_option_column(scenario->baseline));
  for (size_t o = 0; o < scenario->option_count; o++) {
    if (!book->sheets->ranking->options[o].compared) {
      put_text(book, row, outputs_option_column(o), "-", TEXT_RIGHT);
      continue;
    }
    const double saving = option_saving(scenario, &scenario->options[o], item);
    const char *cost = cell_address(item_row, outputs_option_column(o), ADDRESS_ROW, arena);
    put_formula_or_dash(
        book, row, outputs_option_column(o), saving,
        formats_saving(&book->formats, CELL_TOTAL, saving),
        arena_printf(arena, "=IF(OR(%s<=0,%s<0),\"-\",1-%s/%s)", baseline, cost, cost, baseline));
  }
  return row;
}

static void write_accelerators(struct book *book) {
  const struct scenario *scenario = book->scenario;
  const char **names = arena_array(book->arena, scenario->option_count, sizeof *names);
  for (size_t o = 0; o < scenario->option_count; o++)
    names[o] = scenario->options[o].accelerator_name;
  int row = outputs_labels(book, "Accelerator", "accelerator", "-");
  put_option_texts(book, row, COLUMN_VALUE, names);
}

static void write_grades(struct book *book) {
  const struct scenario *scenario = book->scenario;
  const char *grades[scenario->option_count];
  for (size_t o = 0; o < scenario->option_count; o++)
    grades[o] = grade_name(scenario->options[o].headline_grade);
  book->sheets->rows.grade = outputs_labels(book, "Weakest grade that matters", "grade", "-");
  if (!grades_rows(book))
    put_option_texts(book, book->sheets->rows.grade, COLUMN_VALUE, grades);
  for (size_t o = 0; grades_rows(book) && o < scenario->option_count; o++)
    put_formula_text(book, book->sheets->rows.grade, outputs_option_column(o), grades[o],
                     formats_text(&book->formats, TEXT_LINKED_RIGHT), "=%s", grades_cell(book, o));
}

// A single option saves nothing against itself.
static void write_savings(struct book *book) {
  struct output_rows *rows = &book->sheets->rows;
  const char *baseline = book->scenario->options[book->scenario->baseline].label;
  struct arena *arena = book->arena;
  if (book->scenario->option_count < 2)
    return;
  rows->saving = write_saving(book, arena_printf(arena, "Saving per token against %s", baseline),
                              "saving", "cost_per_mtok", rows->cost);
  rows->saving_levelised =
      write_saving(book, arena_printf(arena, "Saving per token against %s, levelized", baseline),
                   "saving_levelised", "levelised_cost_per_mtok", rows->levelised);
}

static void write_results(struct book *book) {
  struct output_rows *rows = &book->sheets->rows;
  int cost = model_cost_item(book->scenario->model);
  int levelised = model_find(book->scenario->model, "levelised_cost_per_mtok");
  rows->options = book_place(book, book->row);
  write_ids(book, "Results", option_label);
  write_accelerators(book);
  for (int d = 0; d < book->scenario->model->count; d++) {
    const struct declaration *item = &book->scenario->model->declarations[d];
    bool result =
        item->role == ROLE_HEADLINE ||
        (item->role == ROLE_NONE && item->group == book->scenario->model->declarations[cost].group);
    if (item->kind != DECLARATION_SCALAR || !result || !scenario_has(book->scenario, d))
      continue;
    int row = write_scalar(book, d);
    if (d == cost)
      rows->cost = row;
    if (d == levelised)
      rows->levelised = row;
    if (!strcmp(item->name, "tco"))
      rows->tco = row;
    if (!strcmp(item->name, "tokens_total"))
      book->sheets->outputs->tokens = row;
    for (size_t a = 0; a < RANKING_AMOUNTS; a++)
      if (!strcmp(item->name, ranking_amounts[a].item))
        book->sheets->outputs->amounts[a] = row;
  }
  write_grades(book);
  write_savings(book);
  verdict_place_ranked(book);
  crossings_place(book);
}

static void write_categories(struct book *book) {
  struct output_rows *rows = &book->sheets->rows;
  write_ids(book, "Cost by category", option_label);
  rows->first_category = book->row;
  for (int d = 0; d < book->scenario->model->count; d++)
    if (book->scenario->model->declarations[d].role == ROLE_CATEGORY &&
        scenario_has(book->scenario, d))
      write_scalar(book, d);
  rows->last_category = book->row - 1;
}

// A category's share of the cost per million tokens: its cost over the tokens.
static void write_share(struct book *book, int declaration, int category_row) {
  struct arena *arena = book->arena;
  const struct declaration *item = &book->scenario->model->declarations[declaration];
  int tokens = model_find(book->scenario->model, "tokens_total");
  int cost = model_cost_item(book->scenario->model);
  const struct unit *unit = &book->scenario->model->declarations[cost].unit;
  const struct unit *per = &book->scenario->model->declarations[tokens].unit;
  struct conversion excess = conversion_multiply(
      conversion_multiply(item->unit.conversion, per->conversion, -1), unit->conversion, -1);
  conversion_use(excess, &book->constants);
  int row =
      outputs_labels(book, item->label, arena_printf(arena, "%s_per_mtok", item->name), unit->text);
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->sheets->options[o];
    int column = outputs_option_column(o);
    if (!option_has(sheet->option, declaration))
      continue;
    double value = shown_value(book, sheet, declaration, 0) / shown_value(book, sheet, tokens, 0) *
                   conversion_value(excess);
    put_formula(book, row, column, value, CELL_FORMULA, unit, "=%s/%s%s",
                cell_here(book, category_row, column),
                cell_address(book->sheets->outputs->tokens, column, ADDRESS_ROW, arena),
                conversion_factors(excess, &book->constants, arena));
  }
}

// The chart's legend leaves out a category that is zero in every case.
static bool is_named(struct book *book, int declaration) {
  const struct scenario *scenario = book->scenario;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->sheets->options[o];
    if (!option_has(sheet->option, declaration))
      continue;
    for (size_t c = 0; c < scenario->case_count; c++)
      if (amount_in(sheet, declaration, 0, c) != 0)
        return true;
  }
  return false;
}

// "Cooling" for "Cooling, total".
static const char *short_label(struct book *book, int declaration) {
  static const char total[] = ", total";
  const char *label = book->scenario->model->declarations[declaration].label;
  const size_t length = strlen(label), end = strlen(total);
  if (length <= end || strcmp(label + length - end, total) != 0)
    return label;
  return arena_copy_n(book->arena, label, length - end);
}

static void write_shares(struct book *book) {
  const struct output_rows *rows = &book->sheets->rows;
  const struct model *model = book->scenario->model;
  if (book->sheets->outputs->tokens < 0 || rows->last_category < rows->first_category)
    return;
  const int count = rows->last_category - rows->first_category + 1;
  int category = rows->first_category, ordinal = -1;
  book->sheets->outputs->share_ids = book->row;
  book->sheets->outputs->shares =
      arena_array(book->arena, (size_t)count, sizeof *book->sheets->outputs->shares);
  write_ids(book, "Cost per million output tokens by category", chart_label);
  for (int d = 0; d < model->count; d++) {
    ordinal += model->declarations[d].role == ROLE_CATEGORY;
    if (model->declarations[d].role != ROLE_CATEGORY || !scenario_has(book->scenario, d))
      continue;
    book->sheets->outputs->shares[book->sheets->outputs->share_count++] =
        (struct share){book->row, short_label(book, d), (size_t)ordinal, is_named(book, d)};
    write_share(book, d, category++);
  }
}

static int write_yearly(struct book *book, struct option_sheet *sheet, int declaration) {
  const struct declaration *item = &book->scenario->model->declarations[declaration];
  const char *id = sheet->option->id;
  int row =
      outputs_labels(book, arena_printf(book->arena, "%s, %s", item->label, sheet->option->label),
                     arena_printf(book->arena, "%s.%s", id, item->name), item->unit.text);
  for (int t = 0; t < book->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    put_formula(book, row, column, shown_value(book, sheet, declaration, t), CELL_LINK, &item->unit,
                "=%s", series_cell(book, sheet, declaration, column));
  }
  return row;
}

// A row of a series for each option; -1 for one that lacks it.
static int *write_all_yearly(struct book *book, const char *name) {
  const size_t count = book->scenario->option_count;
  int *rows = arena_array(book->arena, count, sizeof *rows);
  const int d = outputs_series(book, name);
  for (size_t o = 0; o < count; o++) {
    struct option_sheet *sheet = &book->sheets->options[o];
    rows[o] = d >= 0 && option_has(sheet->option, d) ? write_yearly(book, sheet, d) : -1;
  }
  return rows;
}

// The end of each period, at most the horizon: the chart's lines stop there.
static void write_ends(struct book *book) {
  const int end = outputs_series(book, "end"),
            horizon = model_find(book->scenario->model, "horizon");
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->sheets->options[o];
    book->sheets->outputs->years[o] = -1;
    if (end < 0 || horizon < 0 || !option_has(sheet->option, end))
      continue;
    const struct unit *unit = &book->scenario->model->declarations[end].unit;
    const char *id = sheet->option->id, *horizon_name = option_name_used(sheet, horizon);
    book->sheets->outputs->years[o] = outputs_labels(
        book, arena_printf(book->arena, "Time since the purchase, %s", sheet->option->label),
        arena_printf(book->arena, "%s.time", id), unit->text);
    for (int t = 0; t < book->scenario->periods; t++) {
      const char *from = series_cell(book, sheet, end, COLUMN_PERIOD + t);
      put_formula(book, book->sheets->outputs->years[o], COLUMN_PERIOD + t,
                  fmin(shown_value(book, sheet, end, t), shown_value(book, sheet, horizon, 0)),
                  CELL_FORMULA, unit, "=MIN(%s,%s)", from, horizon_name);
    }
  }
}

static void write_years(struct book *book) {
  const int head = book->row;
  book->sheets->outputs->period = head;
  book->row = put_periods(book, head, "By period", "");
  book->sheets->outputs->cash = write_all_yearly(book, "cash");
  for (size_t o = 0; o < book->scenario->option_count; o++)
    book->sheets->options[o].cash_row = book->sheets->outputs->cash[o];
  book->sheets->outputs->cumulative = write_all_yearly(book, "cumulative_cash");
  book->sheets->outputs->fleet = write_all_yearly(book, "in_service");
  book->sheets->outputs->demanded = write_all_yearly(book, "demanded");
  book->sheets->outputs->tokens_served = outputs_any_series(book, "demanded")
                                             ? write_all_yearly(book, "tokens")
                                             : book->sheets->outputs->demanded;
  blank_undated(book, head, book->row - 1);
}

// A row of a series up to the horizon; after it, the last value is repeated at the same time.
static int write_held(struct book *book, size_t option, int row, const char *name) {
  const struct option_sheet *sheet = &book->sheets->options[option];
  const int d = outputs_series(book, name), times = book->sheets->outputs->years[option];
  const struct declaration *item = &book->scenario->model->declarations[d];
  const int held = outputs_labels(
      book,
      arena_printf(book->arena, "%s, %s, up to the horizon", item->label, sheet->option->label),
      arena_printf(book->arena, "%s.%s_line", sheet->option->id, name), item->unit.text);
  double value = 0, before = -1;
  for (int t = 0; t < book->scenario->periods; t++) {
    const int column = COLUMN_PERIOD + t;
    const double time =
        fmin(outputs_value(book, option, "end", t), outputs_value(book, option, "horizon", 0));
    if (time > before)
      value = shown_value(book, sheet, d, t);
    before = time;
    if (t)
      put_formula(book, held, column, value, CELL_FORMULA, &item->unit, "=IF(%s>%s,%s,%s)",
                  cell_here(book, times, column), cell_here(book, times, column - 1),
                  cell_here(book, row, column), cell_here(book, held, column - 1));
    else
      put_formula(book, held, column, value, CELL_FORMULA, &item->unit, "=%s",
                  cell_here(book, row, column));
  }
  return held;
}

static int *write_all_held(struct book *book, const int *rows, const char *name) {
  const size_t count = book->scenario->option_count;
  int *lines = arena_array(book->arena, count, sizeof *lines);
  for (size_t o = 0; o < count; o++)
    lines[o] = rows[o] < 0 || book->sheets->outputs->years[o] < 0
                   ? -1
                   : write_held(book, o, rows[o], name);
  return lines;
}

static void write_lines(struct book *book) {
  struct outputs *outputs = book->sheets->outputs;
  if (!outputs_horizons_differ(book->scenario))
    return;
  outputs->cash_line = write_all_held(book, outputs->cash, "cash");
  outputs->fleet_line = write_all_held(book, outputs->fleet, "in_service");
  outputs->demanded_line = write_all_held(book, outputs->demanded, "demanded");
  outputs->served_line = outputs_any_series(book, "demanded")
                             ? write_all_held(book, outputs->tokens_served, "tokens")
                             : outputs->demanded_line;
}

// What the answer's sentence and the charts are computed from, not meant for readers: below
// everything that is printed.
static void write_workings(struct book *book) {
  put_workings(book, book->row);
  book->row += 3;
  verdict_write_ranked(book);
  words_write(book);
  zero_price_write(book);
  missing_write(book);
  const int head = book->row;
  book->row = put_periods(book, head, "By period", "");
  book->sheets->outputs->years =
      arena_array(book->arena, book->scenario->option_count, sizeof *book->sheets->outputs->years);
  write_ends(book);
  write_lines(book);
  crossings_write(book);
  blank_undated(book, head, book->row - 1);
}

// The row of the answer, above the results; the verdict itself is written with them.
static void write_answer(struct book *book, int row) {
  put_text(book, row, 0, "Cheapest per output token", TEXT_STRONG);
  book->sheets->rows.cheapest = book_place(book, row);
  if (ranking_may_rank(book->sheets->ranking))
    return;
  const char *why = ranking_why_nobody(book->sheets->ranking, book->arena);
  put_text(book, row, COLUMN_VALUE,
           book->scenario->option_count > 1 ? arena_printf(book->arena, "not ranked: %s", why)
                                            : why,
           TEXT_NOTE);
}

static void write_state(struct book *book, int row) {
  put_text(book, row, 0, "Case shown", TEXT_PLAIN);
  put_formula_text(book, row, COLUMN_VALUE, book->scenario->case_labels[book->scenario->selected],
                   formats_cell_text(&book->formats, CELL_LINK), "=%s",
                   name_use(book->sheets->case_name));
  put_text(book, row + 1, 0, "Checks", TEXT_PLAIN);
  put_check_state(book, row + 1, COLUMN_VALUE);
  write_answer(book, row + 2);
}

// Returns the last row that is printed.
static int write_tables(struct book *book) {
  const int tables = book->row;
  write_categories(book);
  book->row++;
  write_shares(book);
  book->row++;
  const int years = book->row;
  write_years(book);
  if (book->writing)
    break_pages(book, tables, years);
  const int last = book->row - 1;
  book->row += 2;
  write_workings(book);
  return last;
}

// A period is in the same column as on the calculation sheets.
void write_outputs(struct book *book) {
  const struct scenario *scenario = book->scenario;
  struct outputs *outputs = arena_alloc(book->arena, sizeof *outputs);
  *outputs = (struct outputs){.tokens = -1};
  book->sheets->outputs = outputs;
  book->sheets->rows = (struct output_rows){.tco = -1, .last_category = -1};
  begin_sheet(book, SHEET_OUTPUTS, NOTE_ROW + 1, COLUMN_LABEL + 1);
  put_text(book, NOTE_ROW, 0,
           "Every number links to the calculation sheets, or is a formula on such links.",
           TEXT_NOTE);
  const int state = put_stamps(book, FIRST_STAMP_ROW);
  write_state(book, state);
  book->row = state + 4;
  write_results(book);
  book->sheets->outputs->charts = book->row + 1;
  book->row = book->sheets->outputs->charts + outputs_chart_rows(book) + 1;
  const int printed = write_tables(book);
  if (book->writing)
    insert_charts(book);
  const int options = outputs_option_column(scenario->option_count - 1);
  const int periods = COLUMN_PERIOD + scenario->periods - 1;
  const int last = periods > options ? periods : options;
  set_widths(book, (const int[]){46, 27, 11, option_width(scenario)}, 4, last);
  if (book->blank_column <= options)
    book->blank_column = options + 1;
  end_sheet(book, printed, last);
}
