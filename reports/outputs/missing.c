#include "reports/outputs/missing.h"

#include "base/arena.h"
#include "base/texts.h"
#include "model/cost/model.h"
#include "model/cost/schedule.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/resolution/left_out.h"
#include "model/scenario/scenario.h"
#include "reports/outputs/rows.h"
#include "reports/sheets/inputs_written.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"

#include <stddef.h>

// For each option, the last row so far with the costs that it lacks, and its text; -1: none yet.
struct missing {
  int *rows;
  const char **texts;
};

// A cost that an option may leave out, the inputs that state it, those that state what it is the
// price of, and that of a sum paid instead, or -1.
struct omissible {
  struct book *book;
  size_t option;
  int declaration, inputs[MAX_LIST], count, priced[MAX_LIST], priced_count, sum;
};

static bool may_be_missing(struct book *book, size_t option, int declaration,
                           struct omissible *cost) {
  *cost = (struct omissible){.book = book, .option = option, .declaration = declaration};
  cost->count =
      left_out_inputs(book->scenario, &book->scenario->options[option], declaration, cost->inputs);
  cost->priced_count = left_out_priced(&book->scenario->options[option], declaration, cost->priced);
  cost->sum = left_out_sum(&book->scenario->options[option], declaration);
  return cost->count > 0;
}

static bool any_may_be_missing(struct book *book, int declaration, const struct missing *before) {
  struct omissible cost;
  for (size_t o = 0; o < book->scenario->option_count; o++)
    if ((!before || before->rows[o] >= 0) && may_be_missing(book, o, declaration, &cost))
      return true;
  return false;
}

static bool is_left_out(const struct omissible *cost, size_t which_case) {
  const struct scenario *scenario = cost->book->scenario;
  return left_out(scenario, &scenario->options[cost->option], which_case, cost->declaration);
}

static bool all_zero(const struct omissible *cost, const int *inputs, int count,
                     size_t which_case) {
  const struct option_sheet *sheet = &cost->book->sheets->options[cost->option];
  for (int i = 0; i < count; i++)
    if (amount_in(sheet, inputs[i], 0, which_case) != 0)
      return false;
  return true;
}

static bool is_zero(const struct omissible *cost, size_t which_case) {
  return all_zero(cost, cost->inputs, cost->count, which_case) &&
         (cost->sum < 0 || all_zero(cost, &cost->sum, 1, which_case)) &&
         (!cost->priced_count || !all_zero(cost, cost->priced, cost->priced_count, which_case));
}

// Whether there is a case in which the cost is zero and is left out as written, if so asked, or is
// not left out.
static bool any_case(const struct omissible *cost, bool left_out) {
  for (size_t c = 0; c < cost->book->scenario->case_count; c++)
    if (is_zero(cost, c) && is_left_out(cost, c) == left_out)
      return true;
  return false;
}

static bool has_source(const struct omissible *cost) {
  return any_case(cost, false);
}

static bool depends_on_case(const struct omissible *cost) {
  return has_source(cost) && any_case(cost, true);
}

// The rows of one cost, a column for each option; -1 for one that none needs.
struct cost_rows {
  int cases;    // those in which it is left out as written, although in others it has a source
  int lost;     // whether a zero has no source, or no longer
  int left_out; // whether it is left out
  int commas, texts;
};

static void write_cases_without(const struct omissible *cost, int row) {
  const struct scenario *scenario = cost->book->scenario;
  struct texts names = {0};
  for (size_t c = 0; c < scenario->case_count; c++)
    if (is_left_out(cost, c))
      texts_add(&names, cost->book->arena, "%s", scenario->case_labels[c]);
  put_text(cost->book, row, outputs_option_column(cost->option),
           outputs_name_list(&names, cost->book->arena), TEXT_RIGHT);
}

// "pt_hall_colo_rate=0" of an input that is one value or a list, whose years are side by side on
// Inputs.
static const char *zero_text(struct book *book, const struct option_sheet *sheet, int declaration,
                             const int *inputs, int years) {
  const int row = sheet->input_rows[inputs[0]];
  if (inputs[0] == declaration)
    return arena_printf(book->arena, "%s=0", option_name_used(sheet, declaration));
  return arena_printf(book->arena, "SUM(%s:%s)=0", cell_on(book, SHEET_INPUTS, row, COLUMN_CASE),
                      cell_fixed(book, row, COLUMN_CASE + years - 1));
}

static int years_of(const struct book *book, int declaration) {
  return book->scenario->model->declarations[declaration].year_count;
}

// The source is lost if the zero is overwritten, or a figure that it is part of, or if the rent of
// which that is a part becomes zero; in some cases it may have none.
static void write_lost(const struct omissible *cost, const struct cost_rows *rows) {
  struct book *book = cost->book;
  const struct option_sheet *sheet = &book->sheets->options[cost->option];
  struct texts reasons = {0};
  int within = -1, rents = 0, rent[MAX_LIST];
  for (size_t c = 0; c < book->scenario->case_count && within < 0; c++) {
    within = left_out_within(book->scenario, sheet->option, c, cost->inputs[0]);
    rents = left_out_rent(book->scenario, sheet->option, c, cost->inputs[0], rent);
  }
  texts_add(&reasons, book->arena, "%s=1",
            written_changed(book, sheet->input_rows[cost->inputs[0]]));
  if (within >= 0)
    texts_add(&reasons, book->arena, "%s=1", written_changed(book, sheet->input_rows[within]));
  if (rents) {
    const int rented = book->scenario->model->declarations[within].only_with;
    texts_add(
        &reasons, book->arena, "%s",
        zero_text(book, sheet, option_stated(sheet->option, rented), rent, years_of(book, rented)));
  }
  if (depends_on_case(cost)) {
    texts_add(&reasons, book->arena, "ISNUMBER(FIND(\"|\"&%s&\"|\",%s))",
              name_use(book->sheets->case_name), outputs_cell(book, rows->cases, cost->option));
  }
  put_formula(book, rows->lost, outputs_option_column(cost->option),
              is_left_out(cost, book->scenario->selected), CELL_FORMULA, &unit_flag,
              "=IF(OR(%s),1,0)", texts_joined_by(&reasons, ",", book->arena));
}

// ",Scale=0" of a list that is scaled, unless a zero scale as written has a source; else "".
static const char *or_scaled_away(const struct omissible *cost) {
  struct book *book = cost->book;
  const struct option *option = &book->scenario->options[cost->option];
  const int scale = left_out_scale(option, cost->declaration);
  for (size_t c = 0; scale >= 0 && c < book->scenario->case_count; c++) {
    const struct figure *figure = option_figure(book->scenario, option, c, scale);
    if (figure->value == 0 && figure_has_source(figure))
      return "";
  }
  return scale < 0 ? ""
                   : arena_printf(book->arena, ",%s=0",
                                  option_name_used(&book->sheets->options[cost->option], scale));
}

// "AND(OR(...),NOT(SUM(E7:G7)=0))" around a condition, of a cost that is a price of something or is
// paid as a sum.
static const char *unless_paid(const struct omissible *cost, const char *condition) {
  struct book *book = cost->book;
  const struct option_sheet *sheet = &book->sheets->options[cost->option];
  if (cost->sum >= 0)
    return arena_printf(book->arena, "AND(%s,%s=0)", condition, option_name_used(sheet, cost->sum));
  if (!cost->priced_count)
    return condition;
  const int priced = book->scenario->model->declarations[cost->declaration].needed_with;
  const char *zero = zero_text(book, sheet, option_stated(sheet->option, priced), cost->priced,
                               cost->priced_count);
  return arena_printf(book->arena, "AND(%s,NOT(%s))", condition, zero);
}

static void write_left_out(const struct omissible *cost, const struct cost_rows *rows) {
  struct book *book = cost->book;
  const char *zero = zero_text(book, &book->sheets->options[cost->option], cost->declaration,
                               cost->inputs, years_of(book, cost->declaration));
  const char *formula = has_source(cost)
                            ? arena_printf(book->arena, "AND(%s,%s=1)", zero,
                                           outputs_cell(book, rows->lost, cost->option))
                            : zero;
  const char *either = arena_printf(book->arena, "OR(%s%s)", formula, or_scaled_away(cost));
  put_formula(book, rows->left_out, outputs_option_column(cost->option),
              is_left_out(cost, book->scenario->selected), CELL_FORMULA, &unit_flag, "=IF(%s,1,0)",
              unless_paid(cost, either));
}

static void write_text(const struct omissible *cost, const struct cost_rows *rows,
                       struct missing *missing) {
  struct book *book = cost->book;
  const size_t option = cost->option;
  lxw_format *format = formats_text(&book->formats, TEXT_RIGHT);
  const char *left_out = outputs_cell(book, rows->left_out, option), *comma = "", *before = "";
  const char *notice = left_out_notice(book->scenario, cost->declaration);
  const bool now = is_left_out(cost, book->scenario->selected);
  const int column = outputs_option_column(option);
  if (missing->rows[option] >= 0) {
    const char *others = outputs_cell(book, missing->rows[option], option);
    comma = now && *missing->texts[option] ? ", " : "";
    before = arena_printf(book->arena, "%s&%s&", others, outputs_cell(book, rows->commas, option));
    put_formula_text(book, rows->commas, column, comma, format,
                     "=IF(AND(%s=1,%s<>\"\"),\", \",\"\")", left_out, others);
  }
  missing->rows[option] = rows->texts;
  missing->texts[option] =
      arena_printf(book->arena, "%s%s%s", missing->texts[option], comma, now ? notice : "");
  put_formula_text(book, rows->texts, column, missing->texts[option], format,
                   "=%sIF(%s=1,\"%s\",\"\")", before, left_out, notice);
}

// A row about a cost; -1 if `holds` is true for no option.
static int row_if(struct book *book, int declaration, bool (*holds)(const struct omissible *),
                  const char *label, const char *key, const char *unit) {
  const struct declaration *input = &book->scenario->model->declarations[declaration];
  struct omissible cost;
  for (size_t o = 0; o < book->scenario->option_count; o++)
    if (may_be_missing(book, o, declaration, &cost) && holds(&cost))
      return outputs_labels(
          book,
          arena_printf(book->arena, "%s %s", label, left_out_notice(book->scenario, declaration)),
          arena_printf(book->arena, "%s_%s", key, input->name), unit);
  return -1;
}

static bool is_any(const struct omissible *cost) {
  return cost->count > 0;
}

static void write_missing_cost(struct book *book, int declaration, struct missing *missing) {
  struct omissible cost;
  struct cost_rows rows = {.commas = -1};
  rows.cases = row_if(book, declaration, depends_on_case, "Cases, as written, without",
                      "cases_without", "-");
  rows.lost =
      row_if(book, declaration, has_source, "No source that includes", "no_source", unit_flag.text);
  rows.left_out = row_if(book, declaration, is_any, "Left out:", "left_out", unit_flag.text);
  if (any_may_be_missing(book, declaration, missing))
    rows.commas = row_if(book, declaration, is_any, "Comma before", "comma", "-");
  rows.texts = row_if(book, declaration, is_any, "Not included, up to", "without", "-");
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    if (!may_be_missing(book, o, declaration, &cost))
      continue;
    if (depends_on_case(&cost))
      write_cases_without(&cost, rows.cases);
    if (has_source(&cost))
      write_lost(&cost, &rows);
    write_left_out(&cost, &rows);
    write_text(&cost, &rows, missing);
  }
}

void missing_write(struct book *book) {
  static const char *const headings[] = {"Costs that are not included", "Key", "Unit", ""};
  const struct scenario *scenario = book->scenario;
  const size_t count = scenario->option_count;
  struct missing missing = {.rows = arena_array(book->arena, count, sizeof *missing.rows),
                            .texts = arena_array(book->arena, count, sizeof *missing.texts)};
  for (size_t o = 0; o < count; o++) {
    missing.rows[o] = -1;
    missing.texts[o] = "";
  }
  put_header(book, book->row++, headings, 4);
  for (int d = 0; d < scenario->model->count; d++)
    if (any_may_be_missing(book, d, NULL))
      write_missing_cost(book, d, &missing);
  book->sheets->rows.not_included = missing.rows;
  book->row++;
}

void put_not_included(struct book *book, int row, int column, size_t option,
                      enum text_format format) {
  static const char nothing[] = "nothing";
  const int *rows = book->sheets->rows.not_included, at = rows ? rows[option] : -1;
  const char *text = book->scenario->options[option].not_included;
  if (at < 0) {
    put_text(book, row, column, nothing, format);
    return;
  }
  const char *cell = cell_on(book, SHEET_OUTPUTS, at, COLUMN_VALUE + (int)option);
  put_formula_text(book, row, column, *text ? text : nothing, formats_text(&book->formats, format),
                   "=IF(%s=\"\",\"%s\",%s)", cell, nothing, cell);
}
