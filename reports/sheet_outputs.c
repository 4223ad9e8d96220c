// Outputs: the options side by side, category by category and year by year, and a chart.
#include "reports/compare.h"
#include "reports/workbook_internal.h"

#include <math.h>
#include <string.h>

enum { TITLE_ROW, NOTE_ROW, FIRST_STAMP_ROW };

static const struct unit percent = {.text = "%", .percents = 1};

struct writer {
  struct book *book;
  const struct scenario *scenario;
  const struct model *model;
  lxw_worksheet *sheet;
  int row; // the next
  int tokens_row;
};

static int option_column(size_t option) {
  return COLUMN_VALUE + (int)option;
}

static const char *fixed_row(const struct writer *writer, int row, size_t first, size_t last) {
  struct arena *arena = writer->book->arena;
  return arena_printf(arena, "%s:%s",
                      cell_address(row, option_column(first), ADDRESS_ABSOLUTE, arena),
                      cell_address(row, option_column(last), ADDRESS_ABSOLUTE, arena));
}

static void write_ids(struct writer *writer, const char *heading) {
  const char *headings[] = {heading, "Key", "Unit"};
  put_header(writer->book, writer->sheet, writer->row, headings, 3);
  for (size_t o = 0; o < writer->scenario->option_count; o++)
    put_text(writer->book, writer->sheet, writer->row, option_column(o),
             writer->scenario->options[o].id, TEXT_HEADER_RIGHT);
  writer->row++;
}

static int write_labels(struct writer *writer, const char *label, const char *key,
                        const char *unit) {
  put_text(writer->book, writer->sheet, writer->row, COLUMN_LABEL, label, TEXT_PLAIN);
  put_text(writer->book, writer->sheet, writer->row, COLUMN_KEY, key, TEXT_NOTE);
  put_text(writer->book, writer->sheet, writer->row, COLUMN_UNIT, unit, TEXT_PLAIN);
  return writer->row++;
}

// A scalar of every option that has it.
static int write_scalar(struct writer *writer, int declaration) {
  const struct declaration *item = &writer->model->declarations[declaration];
  int row = write_labels(writer, item->label, item->name, item->unit.text);
  for (size_t o = 0; o < writer->scenario->option_count; o++) {
    const struct option_sheet *sheet = &writer->book->options[o];
    if (option_has(sheet->option, declaration))
      put_link(writer->book, writer->sheet, row, option_column(o), option_name(sheet, declaration),
               shown_value(writer->book, sheet, declaration, 0), &item->unit);
    else
      put_text(writer->book, writer->sheet, row, option_column(o), "-", TEXT_RIGHT);
  }
  return row;
}

static int write_saving(struct writer *writer, const char *label, const char *key, const char *item,
                        int item_row) {
  struct book *book = writer->book;
  struct arena *arena = book->arena;
  const struct scenario *scenario = writer->scenario;
  int row = write_labels(writer, label, key, percent.text);
  const char *baseline =
      cell_address(item_row, option_column(scenario->baseline), ADDRESS_ABSOLUTE, arena);
  for (size_t o = 0; o < scenario->option_count; o++) {
    if (!compare_rankable(&scenario->options[o], &scenario->options[scenario->baseline])) {
      put_text(book, writer->sheet, row, option_column(o), "-", TEXT_RIGHT);
      continue;
    }
    double saving = option_saving(scenario, &scenario->options[o], item);
    const char *cost = cell_address(item_row, option_column(o), ADDRESS_ROW, arena);
    put_formula(book, writer->sheet, row, option_column(o),
                arena_printf(arena, "=IF(%s=0,0,1-%s/%s)", baseline, cost, baseline),
                isfinite(saving) ? saving : 0, formats_cell(&book->formats, CELL_TOTAL, &percent));
  }
  return row;
}

static bool any_has(const struct writer *writer, int declaration) {
  for (size_t o = 0; o < writer->scenario->option_count; o++)
    if (option_has(&writer->scenario->options[o], declaration))
      return true;
  return false;
}

static void write_accelerators(struct writer *writer) {
  const struct scenario *scenario = writer->scenario;
  const char *names[scenario->option_count];
  for (size_t o = 0; o < scenario->option_count; o++)
    names[o] = scenario->options[o].accelerator_name;
  int row = write_labels(writer, "Accelerator", "accelerator", "-");
  put_option_texts(writer->book, writer->sheet, row, COLUMN_VALUE, names);
}

static void write_results(struct writer *writer) {
  struct output_rows *rows = &writer->book->rows;
  const struct scenario *scenario = writer->scenario;
  int cost = model_find(writer->model, "cost_per_mtok");
  int levelised = model_find(writer->model, "levelised_cost_per_mtok");
  rows->options = writer->row;
  write_ids(writer, "Results");
  write_accelerators(writer);
  for (int d = 0; d < writer->model->count; d++) {
    const struct declaration *item = &writer->model->declarations[d];
    bool result =
        item->role == ROLE_HEADLINE ||
        (item->role == ROLE_NONE && item->group == writer->model->declarations[cost].group);
    if (item->kind != DECLARATION_SCALAR || !result || !any_has(writer, d))
      continue;
    int row = write_scalar(writer, d);
    if (d == cost)
      rows->cost = row;
    if (d == levelised)
      rows->levelised = row;
    if (!strcmp(item->name, "tco"))
      rows->tco = row;
    if (!strcmp(item->name, "tokens_total"))
      writer->tokens_row = row;
  }
  const char *baseline = scenario->options[scenario->baseline].id;
  struct arena *arena = writer->book->arena;
  rows->saving = write_saving(writer, arena_printf(arena, "Saving per token against %s", baseline),
                              "saving", "cost_per_mtok", rows->cost);
  rows->saving_levelised =
      write_saving(writer, arena_printf(arena, "Saving per token against %s, levelised", baseline),
                   "saving_levelised", "levelised_cost_per_mtok", rows->levelised);
}

static void write_categories(struct writer *writer) {
  struct output_rows *rows = &writer->book->rows;
  write_ids(writer, "Cost by category");
  rows->first_category = writer->row;
  for (int d = 0; d < writer->model->count; d++)
    if (writer->model->declarations[d].role == ROLE_CATEGORY && any_has(writer, d))
      write_scalar(writer, d);
  rows->last_category = writer->row - 1;
}

// A category's share of the cost per million tokens: its cost over the tokens.
static void write_share(struct writer *writer, int declaration, int category_row) {
  struct book *book = writer->book;
  struct arena *arena = book->arena;
  const struct declaration *item = &writer->model->declarations[declaration];
  int tokens = model_find(writer->model, "tokens_total");
  int cost = model_find(writer->model, "cost_per_mtok");
  const struct unit *unit = &writer->model->declarations[cost].unit;
  const struct unit *per = &writer->model->declarations[tokens].unit;
  struct conversion excess = conversion_multiply(
      conversion_multiply(item->unit.conversion, per->conversion, -1), unit->conversion, -1);
  conversion_use(excess, &book->constants);
  int row =
      write_labels(writer, item->label, arena_printf(arena, "%s_per_mtok", item->name), unit->text);
  for (size_t o = 0; o < writer->scenario->option_count; o++) {
    const struct option_sheet *sheet = &book->options[o];
    int column = option_column(o);
    if (!option_has(sheet->option, declaration))
      continue;
    const char *formula =
        arena_printf(arena, "=%s/%s%s", cell_address(category_row, column, ADDRESS_RELATIVE, arena),
                     cell_address(writer->tokens_row, column, ADDRESS_ROW, arena),
                     conversion_factors(excess, &book->constants, arena));
    double value = shown_value(book, sheet, declaration, 0) / shown_value(book, sheet, tokens, 0) *
                   conversion_value(excess);
    put_formula(book, writer->sheet, row, column, formula, value,
                formats_cell(&book->formats, CELL_FORMULA, unit));
  }
}

static void insert_chart(struct writer *writer, int ids_row, int first, int last) {
  lxw_chart *chart = workbook_add_chart(writer->book->workbook, LXW_CHART_COLUMN_STACKED);
  const char *name = writer->sheet->name;
  lxw_col_t left = (lxw_col_t)option_column(0);
  lxw_col_t right = (lxw_col_t)option_column(writer->scenario->option_count - 1);
  for (int row = first; row <= last; row++) {
    lxw_chart_series *series = chart_add_series(chart, NULL, NULL);
    chart_series_set_categories(series, name, (lxw_row_t)ids_row, left, (lxw_row_t)ids_row, right);
    chart_series_set_values(series, name, (lxw_row_t)row, left, (lxw_row_t)row, right);
    chart_series_set_name_range(series, name, (lxw_row_t)row, COLUMN_LABEL);
  }
  chart_title_set_name(chart, "Cost per million output tokens, USD");
  chart_axis_set_num_format(chart->y_axis, "0.000");
  chart_legend_set_position(chart, LXW_CHART_LEGEND_RIGHT);
  lxw_chart_options options = {.x_scale = 1.6, .y_scale = 1.3};
  worksheet_insert_chart_opt(writer->sheet, (lxw_row_t)writer->row, 0, chart, &options);
  writer->row += 20;
}

static void write_shares(struct writer *writer) {
  const struct output_rows *rows = &writer->book->rows;
  int tokens = model_find(writer->model, "tokens_total");
  if (tokens < 0 || writer->tokens_row < 0 || rows->last_category < rows->first_category)
    return;
  int ids_row = writer->row, category = rows->first_category;
  write_ids(writer, "Cost per million output tokens by category");
  int first = writer->row;
  for (int d = 0; d < writer->model->count; d++)
    if (writer->model->declarations[d].role == ROLE_CATEGORY && any_has(writer, d))
      write_share(writer, d, category++);
  int last = writer->row++ - 1;
  insert_chart(writer, ids_row, first, last);
}

static int write_yearly(struct writer *writer, struct option_sheet *sheet, int declaration) {
  struct book *book = writer->book;
  const struct declaration *item = &writer->model->declarations[declaration];
  const char *id = sheet->option->id;
  int row = write_labels(writer, arena_printf(book->arena, "%s, %s", item->label, id),
                         arena_printf(book->arena, "%s.%s", id, item->name), item->unit.text);
  for (int t = 0; t < writer->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    const char *formula =
        arena_printf(book->arena, "=%s",
                     sheet_address(book, id, sheet->rows[declaration], column, ADDRESS_RELATIVE));
    put_formula(book, writer->sheet, row, column, formula, shown_value(book, sheet, declaration, t),
                formats_cell(&book->formats, CELL_LINK, &item->unit));
  }
  return row;
}

static void write_years(struct writer *writer) {
  struct book *book = writer->book;
  const struct option_sheet *first = &book->options[0];
  int cash = model_find(writer->model, "cash");
  int cumulative = model_find(writer->model, "cumulative_cash");
  static const char *const headings[] = {"Cash cost by period", "Key", "Unit", ""};
  put_header(book, writer->sheet, writer->row, headings, 4);
  for (int t = 0; t < writer->scenario->periods; t++) {
    int column = COLUMN_PERIOD + t;
    const char *formula =
        arena_printf(book->arena, "=%s",
                     sheet_address(book, first->option->id, first->time_row, column, ADDRESS_ROW));
    put_formula(book, writer->sheet, writer->row, column, formula, t,
                formats_text(&book->formats, TEXT_HEADER_RIGHT));
  }
  writer->row++;
  for (size_t o = 0; o < writer->scenario->option_count; o++) {
    struct option_sheet *sheet = &book->options[o];
    sheet->cash_row =
        cash >= 0 && option_has(sheet->option, cash) ? write_yearly(writer, sheet, cash) : -1;
    if (cumulative >= 0 && option_has(sheet->option, cumulative))
      write_yearly(writer, sheet, cumulative);
  }
}

const struct option *cheapest_option(const struct scenario *scenario) {
  int cost = model_find(scenario->model, "cost_per_mtok");
  const struct option *best = &scenario->options[0];
  for (size_t o = 1; o < scenario->option_count; o++)
    if (option_value(scenario, &scenario->options[o], cost, 0) <
        option_value(scenario, best, cost, 0))
      best = &scenario->options[o];
  return best;
}

static void write_answer(struct writer *writer, int row) {
  struct book *book = writer->book;
  const struct scenario *scenario = writer->scenario;
  put_text(book, writer->sheet, row, 0, "Cheapest per output token", TEXT_STRONG);
  if (may_rank(scenario))
    book->rows.cheapest = row;
  if (!may_rank(scenario)) {
    const char *why = scenario->option_count > 1 ? "not ranked: the throughputs are of unlike kinds"
                                                 : "there is one option only";
    put_text(book, writer->sheet, row, COLUMN_VALUE, why, TEXT_NOTE);
    return;
  }
  size_t last = scenario->option_count - 1;
  const char *costs = fixed_row(writer, book->rows.cost, 0, last);
  const char *formula = arena_printf(book->arena, "=INDEX(%s,1,MATCH(MIN(%s),%s,0))",
                                     fixed_row(writer, book->rows.options, 0, last), costs, costs);
  put_formula_text(book, writer->sheet, row, COLUMN_VALUE, formula, cheapest_option(scenario)->id,
                   formats_cell_text(&book->formats, CELL_TOTAL));
}

// Names of its columns fit the calculation sheets': a period stands in the same one everywhere.
static void set_widths(const struct writer *writer) {
  int last = COLUMN_PERIOD + writer->scenario->periods - 1;
  int options = option_column(writer->scenario->option_count - 1);
  worksheet_set_column(writer->sheet, COLUMN_LABEL, COLUMN_LABEL, 46, NULL);
  worksheet_set_column(writer->sheet, COLUMN_KEY, COLUMN_KEY, 29, NULL);
  worksheet_set_column(writer->sheet, COLUMN_UNIT, COLUMN_UNIT, 13, NULL);
  worksheet_set_column(writer->sheet, COLUMN_VALUE, (lxw_col_t)(last > options ? last : options),
                       option_width(writer->scenario), NULL);
}

void write_outputs(struct book *book) {
  const struct scenario *scenario = book->scenario;
  struct writer writer = {.book = book,
                          .scenario = scenario,
                          .model = scenario->model,
                          .sheet = book->outputs,
                          .tokens_row = -1};
  book->rows = (struct output_rows){.tco = -1, .cheapest = -1, .last_category = -1};
  begin_sheet(book, book->outputs, "Outputs", NOTE_ROW + 1, COLUMN_LABEL + 1);
  book->rows.state = put_stamps(book, book->outputs, FIRST_STAMP_ROW);
  writer.row = book->rows.state + 4;
  write_results(&writer);
  writer.row++;
  write_categories(&writer);
  writer.row++;
  write_shares(&writer);
  writer.row++;
  write_years(&writer);
  write_answer(&writer, book->rows.state + 2);
  put_text(book, book->outputs, NOTE_ROW, 0,
           "Every number is a link to the calculation sheets, or a formula on such links.",
           TEXT_NOTE);
  set_widths(&writer);
  int last = COLUMN_PERIOD + scenario->periods - 1;
  int options = option_column(scenario->option_count - 1);
  end_sheet(book->outputs, writer.row - 1, last > options ? last : options);
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
}
