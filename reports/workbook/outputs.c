// Outputs: the options side by side, category by category and year by year.
#include "reports/workbook/outputs.h"
#include "model/scenario/ranking.h"
#include "reports/answers/compare.h"
#include "reports/spreadsheet/charts.h"

#include <math.h>
#include <string.h>

enum { TITLE_ROW, NOTE_ROW, FIRST_STAMP_ROW };

static const struct unit percent = {.text = "%", .percents = 1};

int outputs_option_column(size_t option) {
  return COLUMN_VALUE + (int)option;
}

const char *outputs_all_options(const struct outputs *outputs, int row) {
  struct arena *arena = outputs->book->arena;
  const int last = outputs_option_column(outputs->scenario->option_count - 1);
  return arena_printf(arena, "%s:%s",
                      cell_address(row, outputs_option_column(0), ADDRESS_ABSOLUTE, arena),
                      cell_address(row, last, ADDRESS_ABSOLUTE, arena));
}

const char *outputs_cell(const struct outputs *outputs, int row, size_t option) {
  return cell_address(row, outputs_option_column(option), ADDRESS_ROW, outputs->book->arena);
}

const char *outputs_fixed(const struct outputs *outputs, int row) {
  return cell_address(row, COLUMN_VALUE, ADDRESS_ABSOLUTE, outputs->book->arena);
}

double outputs_value(const struct outputs *outputs, size_t option, const char *item, int period) {
  return shown_value(outputs->book, &outputs->book->options[option],
                     model_find(outputs->model, item), period);
}

const struct unit *outputs_unit(const struct outputs *outputs, const char *item) {
  return &outputs->model->declarations[model_find(outputs->model, item)].unit;
}

const char *outputs_number(double value, int decimals, struct arena *arena) {
  const double scale = pow(10, decimals);
  return arena_printf(arena, "%.*f", decimals, round(value * scale) / scale);
}

static void write_ids(struct outputs *outputs, const char *heading) {
  const char *headings[] = {heading, "Key", "Unit"};
  put_header(outputs->book, outputs->sheet, outputs->row, headings, 3);
  for (size_t o = 0; o < outputs->scenario->option_count; o++)
    put_text(outputs->book, outputs->sheet, outputs->row, outputs_option_column(o),
             outputs->scenario->options[o].id, TEXT_HEADER_RIGHT);
  outputs->row++;
}

int outputs_labels(struct outputs *outputs, const char *label, const char *key, const char *unit) {
  put_text(outputs->book, outputs->sheet, outputs->row, COLUMN_LABEL, label, TEXT_PLAIN);
  put_text(outputs->book, outputs->sheet, outputs->row, COLUMN_KEY, key, TEXT_NOTE);
  put_text(outputs->book, outputs->sheet, outputs->row, COLUMN_UNIT, unit, TEXT_PLAIN);
  return outputs->row++;
}

const char *outputs_text(struct outputs *outputs, const char *label, const char *key,
                         const char *formula, const char *value) {
  const int row = outputs_labels(outputs, label, key, "-");
  put_formula_text(outputs->book, outputs->sheet, row, COLUMN_VALUE, formula, value,
                   formats_text(&outputs->book->formats, TEXT_PLAIN));
  return outputs_fixed(outputs, row);
}

const char *outputs_count(struct outputs *outputs, const char *label, const char *key,
                          const char *formula, double value) {
  static const struct unit options = {.text = "options", .counts = true};
  const int row = outputs_labels(outputs, label, key, options.text);
  put_formula(outputs->book, outputs->sheet, row, COLUMN_VALUE, formula, value,
              formats_cell(&outputs->book->formats, CELL_FORMULA, &options));
  return outputs_fixed(outputs, row);
}

// A scalar of every option that has it.
static int write_scalar(struct outputs *outputs, int declaration) {
  const struct declaration *item = &outputs->model->declarations[declaration];
  int row = outputs_labels(outputs, item->label, item->name, item->unit.text);
  for (size_t o = 0; o < outputs->scenario->option_count; o++) {
    const struct option_sheet *sheet = &outputs->book->options[o];
    if (option_has(sheet->option, declaration))
      put_link(outputs->book, outputs->sheet, row, outputs_option_column(o),
               option_name(sheet, declaration), shown_value(outputs->book, sheet, declaration, 0),
               &item->unit);
    else
      put_text(outputs->book, outputs->sheet, row, outputs_option_column(o), "-", TEXT_RIGHT);
  }
  return row;
}

static int write_saving(struct outputs *outputs, const char *label, const char *key,
                        const char *item, int item_row) {
  struct book *book = outputs->book;
  struct arena *arena = book->arena;
  const struct scenario *scenario = outputs->scenario;
  int row = outputs_labels(outputs, label, key, percent.text);
  const char *baseline =
      cell_address(item_row, outputs_option_column(scenario->baseline), ADDRESS_ABSOLUTE, arena);
  for (size_t o = 0; o < scenario->option_count; o++) {
    if (!book->ranking->options[o].compared) {
      put_text(book, outputs->sheet, row, outputs_option_column(o), "-", TEXT_RIGHT);
      continue;
    }
    double saving = option_saving(scenario, &scenario->options[o], item);
    const char *cost = cell_address(item_row, outputs_option_column(o), ADDRESS_ROW, arena);
    put_formula(book, outputs->sheet, row, outputs_option_column(o),
                arena_printf(arena, "=IF(%s=0,0,1-%s/%s)", baseline, cost, baseline),
                isfinite(saving) ? saving : 0, formats_cell(&book->formats, CELL_TOTAL, &percent));
  }
  return row;
}

static bool any_has(const struct outputs *outputs, int declaration) {
  for (size_t o = 0; o < outputs->scenario->option_count; o++)
    if (option_has(&outputs->scenario->options[o], declaration))
      return true;
  return false;
}

static void write_accelerators(struct outputs *outputs) {
  const struct scenario *scenario = outputs->scenario;
  const char *names[scenario->option_count];
  for (size_t o = 0; o < scenario->option_count; o++)
    names[o] = scenario->options[o].accelerator_name;
  int row = outputs_labels(outputs, "Accelerator", "accelerator", "-");
  put_option_texts(outputs->book, outputs->sheet, row, COLUMN_VALUE, names);
}

static void write_grades(struct outputs *outputs) {
  const struct scenario *scenario = outputs->scenario;
  const char *grades[scenario->option_count];
  for (size_t o = 0; o < scenario->option_count; o++)
    grades[o] = grade_name(scenario->options[o].headline_grade);
  outputs->grade = outputs_labels(outputs, "Weakest grade that matters", "grade", "-");
  put_option_texts(outputs->book, outputs->sheet, outputs->grade, COLUMN_VALUE, grades);
}

static void write_results(struct outputs *outputs) {
  struct output_rows *rows = &outputs->book->rows;
  const struct scenario *scenario = outputs->scenario;
  int cost = model_find(outputs->model, "cost_per_mtok");
  int levelised = model_find(outputs->model, "levelised_cost_per_mtok");
  rows->options = outputs->row;
  write_ids(outputs, "Results");
  write_accelerators(outputs);
  for (int d = 0; d < outputs->model->count; d++) {
    const struct declaration *item = &outputs->model->declarations[d];
    bool result =
        item->role == ROLE_HEADLINE ||
        (item->role == ROLE_NONE && item->group == outputs->model->declarations[cost].group);
    if (item->kind != DECLARATION_SCALAR || !result || !any_has(outputs, d))
      continue;
    int row = write_scalar(outputs, d);
    if (d == cost)
      rows->cost = row;
    if (d == levelised)
      rows->levelised = row;
    if (!strcmp(item->name, "tco"))
      rows->tco = row;
    if (!strcmp(item->name, "tokens_total"))
      outputs->tokens = row;
  }
  write_grades(outputs);
  const char *baseline = scenario->options[scenario->baseline].id;
  struct arena *arena = outputs->book->arena;
  rows->saving = write_saving(outputs, arena_printf(arena, "Saving per token against %s", baseline),
                              "saving", "cost_per_mtok", rows->cost);
  rows->saving_levelised =
      write_saving(outputs, arena_printf(arena, "Saving per token against %s, levelised", baseline),
                   "saving_levelised", "levelised_cost_per_mtok", rows->levelised);
  write_ranked(outputs);
}

static void write_categories(struct outputs *outputs) {
  struct output_rows *rows = &outputs->book->rows;
  write_ids(outputs, "Cost by category");
  rows->first_category = outputs->row;
  for (int d = 0; d < outputs->model->count; d++)
    if (outputs->model->declarations[d].role == ROLE_CATEGORY && any_has(outputs, d))
      write_scalar(outputs, d);
  rows->last_category = outputs->row - 1;
}

// A category's share of the cost per million tokens: its cost over the tokens.
static void write_share(struct outputs *outputs, int declaration, int category_row) {
  struct book *book = outputs->book;
  struct arena *arena = book->arena;
  const struct declaration *item = &outputs->model->declarations[declaration];
  int tokens = model_find(outputs->model, "tokens_total");
  int cost = model_find(outputs->model, "cost_per_mtok");
  const struct unit *unit = &outputs->model->declarations[cost].unit;
  const struct unit *per = &outputs->model->declarations[tokens].unit;
  struct conversion excess = conversion_multiply(
      conversion_multiply(item->unit.conversion, per->conversion, -1), unit->conversion, -1);
  conversion_use(excess, &book->constants);
  int row = outputs_labels(outputs, item->label, arena_printf(arena, "%s_per_mtok", item->name),
                           unit->text);
  for (size_t o = 0; o < outputs->scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->options[o];
    int column = outputs_option_column(o);
    if (!option_has(sheet->option, declaration))
      continue;
    const char *formula =
        arena_printf(arena, "=%s/%s%s", cell_address(category_row, column, ADDRESS_RELATIVE, arena),
                     cell_address(outputs->tokens, column, ADDRESS_ROW, arena),
                     conversion_factors(excess, &book->constants, arena));
    double value = shown_value(book, sheet, declaration, 0) / shown_value(book, sheet, tokens, 0) *
                   conversion_value(excess);
    put_formula(book, outputs->sheet, row, column, formula, value,
                formats_cell(&book->formats, CELL_FORMULA, unit));
  }
}

// The chart's legend leaves out a category that is nothing in every case.
static bool is_named(const struct outputs *outputs, int declaration) {
  const struct scenario *scenario = outputs->scenario;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option_sheet *sheet = &outputs->book->options[o];
    if (!option_has(sheet->option, declaration))
      continue;
    for (size_t c = 0; c < scenario->case_count; c++)
      if (evaluation_at(sheet->graph.evaluation, declaration, 0)[c] != 0)
        return true;
  }
  return false;
}

// "Cooling" of "Cooling, total".
static const char *short_label(const struct outputs *outputs, int declaration) {
  static const char total[] = ", total";
  const char *label = outputs->model->declarations[declaration].label;
  const size_t length = strlen(label), end = strlen(total);
  if (length <= end || strcmp(label + length - end, total) != 0)
    return label;
  return arena_copy_n(outputs->book->arena, label, length - end);
}

static void write_shares(struct outputs *outputs) {
  const struct output_rows *rows = &outputs->book->rows;
  const struct model *model = outputs->model;
  if (outputs->tokens < 0 || rows->last_category < rows->first_category)
    return;
  const int count = rows->last_category - rows->first_category + 1;
  int category = rows->first_category, ordinal = -1;
  outputs->share_ids = outputs->row;
  outputs->shares = arena_array(outputs->book->arena, (size_t)count, sizeof *outputs->shares);
  write_ids(outputs, "Cost per million output tokens by category");
  for (int d = 0; d < model->count; d++) {
    ordinal += model->declarations[d].role == ROLE_CATEGORY;
    if (model->declarations[d].role != ROLE_CATEGORY || !any_has(outputs, d))
      continue;
    outputs->shares[outputs->share_count++] =
        (struct share){outputs->row, short_label(outputs, d), category_colour((size_t)ordinal),
                       is_named(outputs, d)};
    write_share(outputs, d, category++);
  }
}

static int write_yearly(struct outputs *outputs, struct option_sheet *sheet, int declaration) {
  struct book *book = outputs->book;
  const struct declaration *item = &outputs->model->declarations[declaration];
  const char *id = sheet->option->id;
  int row = outputs_labels(outputs, arena_printf(book->arena, "%s, %s", item->label, id),
                           arena_printf(book->arena, "%s.%s", id, item->name), item->unit.text);
  for (int t = 0; t < outputs->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    const char *formula =
        arena_printf(book->arena, "=%s",
                     sheet_address(book, id, sheet->rows[declaration], column, ADDRESS_RELATIVE));
    put_formula(book, outputs->sheet, row, column, formula,
                shown_value(book, sheet, declaration, t),
                formats_cell(&book->formats, CELL_LINK, &item->unit));
  }
  return row;
}

static int series_of(const struct outputs *outputs, const char *name) {
  const int d = model_find(outputs->model, name);
  return d >= 0 && outputs->model->declarations[d].kind == DECLARATION_SERIES ? d : -1;
}

// A row per option of a series.
static int *write_all_yearly(struct outputs *outputs, const char *name) {
  const size_t count = outputs->scenario->option_count;
  int *rows = arena_array(outputs->book->arena, count, sizeof *rows);
  const int d = series_of(outputs, name);
  for (size_t o = 0; o < count; o++) {
    struct option_sheet *sheet = &outputs->book->options[o];
    rows[o] = d >= 0 && option_has(sheet->option, d) ? write_yearly(outputs, sheet, d) : -1;
  }
  return rows;
}

// When a period ends, no later than the horizon: the chart's lines stop there.
static void write_ends(struct outputs *outputs) {
  struct book *book = outputs->book;
  const int end = series_of(outputs, "end"), horizon = model_find(outputs->model, "horizon");
  for (size_t o = 0; o < outputs->scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->options[o];
    outputs->years[o] = -1;
    if (end < 0 || horizon < 0 || !option_has(sheet->option, end))
      continue;
    const struct unit *unit = &outputs->model->declarations[end].unit;
    struct name *name = option_name(sheet, horizon);
    const char *id = sheet->option->id;
    name->used = true;
    outputs->years[o] =
        outputs_labels(outputs, arena_printf(book->arena, "Time since the purchase, %s", id),
                       arena_printf(book->arena, "%s.time", id), unit->text);
    for (int t = 0; t < outputs->scenario->periods; t++) {
      const char *from =
          sheet_address(book, id, sheet->rows[end], COLUMN_PERIOD + t, ADDRESS_RELATIVE);
      put_formula(book, outputs->sheet, outputs->years[o], COLUMN_PERIOD + t,
                  arena_printf(book->arena, "=MIN(%s,%s)", from, name->text),
                  fmin(shown_value(book, sheet, end, t), shown_value(book, sheet, horizon, 0)),
                  formats_cell(&book->formats, CELL_FORMULA, unit));
    }
  }
}

static void write_years(struct outputs *outputs) {
  struct book *book = outputs->book;
  const struct option_sheet *first = &book->options[0];
  static const char *const headings[] = {"Cash cost by period", "Key", "Unit", ""};
  outputs->period = outputs->row;
  put_header(book, outputs->sheet, outputs->row, headings, 4);
  for (int t = 0; t < outputs->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    const char *formula =
        arena_printf(book->arena, "=%s",
                     sheet_address(book, first->option->id, first->time_row, column, ADDRESS_ROW));
    put_formula(book, outputs->sheet, outputs->row, column, formula, t,
                formats_text(&book->formats, TEXT_HEADER_RIGHT));
  }
  outputs->row++;
  outputs->cash = write_all_yearly(outputs, "cash");
  for (size_t o = 0; o < outputs->scenario->option_count; o++)
    book->options[o].cash_row = outputs->cash[o];
  outputs->cumulative = write_all_yearly(outputs, "cumulative_cash");
  outputs->years =
      arena_array(book->arena, outputs->scenario->option_count, sizeof *outputs->years);
  write_ends(outputs);
}

int outputs_periods(const struct scenario *scenario) {
  int most = 1;
  for (size_t o = 0; o < scenario->option_count; o++)
    for (size_t c = 0; c < scenario->case_count; c++) {
      const int periods = option_periods(scenario, &scenario->options[o], c);
      most = periods > most ? periods : most;
    }
  return most;
}

// Above the results; the verdict itself is written with them.
static void write_answer(struct outputs *outputs, int row) {
  struct book *book = outputs->book;
  put_text(book, outputs->sheet, row, 0, "Cheapest per output token", TEXT_STRONG);
  book->rows.cheapest = row;
  if (ranking_may_rank(book->ranking))
    return;
  const char *why = ranking_why_nobody(book->ranking);
  put_text(book, outputs->sheet, row, COLUMN_VALUE,
           outputs->scenario->option_count > 1 ? arena_printf(book->arena, "not ranked: %s", why)
                                               : why,
           TEXT_NOTE);
}

// Names of its columns fit the calculation sheets': a period stands in the same one everywhere.
static void set_widths(const struct outputs *outputs) {
  int last = COLUMN_PERIOD + outputs->scenario->periods - 1;
  int options = outputs_option_column(outputs->scenario->option_count - 1);
  worksheet_set_column(outputs->sheet, COLUMN_LABEL, COLUMN_LABEL, 46, NULL);
  worksheet_set_column(outputs->sheet, COLUMN_KEY, COLUMN_KEY, 27, NULL);
  worksheet_set_column(outputs->sheet, COLUMN_UNIT, COLUMN_UNIT, 11, NULL);
  worksheet_set_column(outputs->sheet, COLUMN_VALUE, (lxw_col_t)(last > options ? last : options),
                       option_width(outputs->scenario), NULL);
}

void write_outputs(struct book *book) {
  const struct scenario *scenario = book->scenario;
  struct outputs *outputs = arena_alloc(book->arena, sizeof *outputs);
  *outputs = (struct outputs){.book = book,
                              .scenario = scenario,
                              .model = scenario->model,
                              .sheet = book->outputs,
                              .tokens = -1,
                              .interval = -1};
  book->outputs_table = outputs;
  book->rows = (struct output_rows){.tco = -1, .why_not = -1, .last_category = -1};
  begin_sheet(book, book->outputs, "Outputs", NOTE_ROW + 1, COLUMN_LABEL + 1);
  book->rows.state = put_stamps(book, book->outputs, FIRST_STAMP_ROW);
  outputs->row = book->rows.state + 4;
  write_results(outputs);
  outputs->charts = outputs->row + 1;
  const int tables = outputs->row = outputs->charts + outputs_chart_rows(outputs);
  write_answer(outputs, book->rows.state + 2);
  write_words(outputs);
  write_categories(outputs);
  outputs->row++;
  write_shares(outputs);
  outputs->row++;
  const int years = outputs->row;
  write_years(outputs);
  write_crossings(outputs);
  break_pages(outputs, tables, years);
  put_text(book, book->outputs, NOTE_ROW, 0,
           "Every number is a link to the calculation sheets, or a formula on such links.",
           TEXT_NOTE);
  set_widths(outputs);
  int last = COLUMN_PERIOD + scenario->periods - 1;
  int options = outputs_option_column(scenario->option_count - 1);
  end_sheet(book->outputs, outputs->row - 1, last > options ? last : options);
}

void write_outputs_state(struct book *book) {
  lxw_worksheet *sheet = book->outputs;
  int row = book->rows.state;
  put_text(book, sheet, row, 0, "Case shown", TEXT_PLAIN);
  put_formula_text(book, sheet, row, COLUMN_VALUE,
                   arena_printf(book->arena, "=%s", book->case_name->text),
                   book->scenario->cases[book->scenario->selected],
                   formats_cell_text(&book->formats, CELL_LINK));
  put_text(book, sheet, row + 1, 0, "Checks", TEXT_PLAIN);
  put_check_state(book, sheet, row + 1, COLUMN_VALUE);
  write_interval(book->outputs_table);
  insert_charts(book->outputs_table);
}
