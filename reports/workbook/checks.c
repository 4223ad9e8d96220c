// Checks: every difference that must be zero, with its tolerance and flag, and the master check.
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/scenario/scenario.h"
#include "reports/sheets/inputs_written.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"
#include "reports/workbook/writers.h"

#include <math.h>
#include <string.h>

enum { NOTE_ROW = 1, MASTER_ROW, HEADER_ROW = 4 };
enum { COLUMN_CHECK, COLUMN_OPTION, COLUMN_DIFFERENCE, COLUMN_TOLERANCE, COLUMN_FLAG };

static void write_flag(struct book *book, int row, double difference) {
  put_formula_in(book, row, COLUMN_TOLERANCE, constants_tolerance_value(&book->constants),
                 formats_difference(&book->formats, CELL_LINK), "=%s",
                 name_use(constants_tolerance(&book->constants)));
  bool pass = fabs(difference) <= constants_tolerance_value(&book->constants);
  book->sheets->checks_pass &= pass;
  const char *cell = cell_here(book, row, COLUMN_DIFFERENCE);
  put_formula(book, row, COLUMN_FLAG, pass, CELL_FORMULA, &unit_flag,
              "=IF(ISNUMBER(%s),(ABS(%s)<=%s)*1,0)", cell, cell,
              cell_here(book, row, COLUMN_TOLERANCE));
}

static int write_labels(struct book *book, const char *label, const struct option_sheet *sheet) {
  put_text(book, book->row, COLUMN_CHECK, label, TEXT_PLAIN);
  put_text(book, book->row, COLUMN_OPTION, sheet ? sheet->option->label : "all options",
           TEXT_PLAIN);
  return book->row++;
}

// The validation of cells does not see what is pasted or cleared.
static void write_inputs_check(struct book *book) {
  const int row = write_labels(
      book, "Inputs that are missing, not numbers or outside their limits (red on Inputs)", NULL);
  put_formula(book, row, COLUMN_DIFFERENCE, 0, CELL_FORMULA, &unit_inputs, "=%s",
              written_outside(book));
  write_flag(book, row, 0);
}

// Whether an option's cost per token is a number, unless it never is.
static void write_number(struct book *book, const struct option_sheet *sheet) {
  const int cost = model_cost_item(book->scenario->model);
  if (cost < 0 || !option_has(sheet->option, cost))
    return;
  const double missing = isfinite(shown_value(book, sheet, cost, 0)) ? 0 : 1;
  const int row = write_labels(book, "Cost per token is not a number", sheet);
  put_formula(book, row, COLUMN_DIFFERENCE, missing, CELL_FORMULA, &unit_flag,
              "=IF(ISNUMBER(%s),0,1)", option_name_used(sheet, cost));
  write_flag(book, row, missing);
}

static void write_item(struct book *book, const struct option_sheet *sheet, int declaration) {
  const struct declaration *item = &sheet->graph.model.declarations[declaration];
  int row = write_labels(book, item->label, sheet);
  double difference = shown_value(book, sheet, declaration, 0);
  put_formula_in(book, row, COLUMN_DIFFERENCE, difference,
                 formats_difference(&book->formats, CELL_LINK), "=%s",
                 option_name_used(sheet, declaration));
  write_flag(book, row, difference);
}

// Whether these cells of Outputs add up to the TCO there.
static void write_sum(struct book *book, const struct option_sheet *sheet, const char *label,
                      const char *first, const char *last, double sum) {
  int tco = model_find(book->scenario->model, "tco");
  int column = COLUMN_VALUE + (int)(sheet - book->sheets->options);
  const char *total = cell_on(book, SHEET_OUTPUTS, book->sheets->rows.tco, column);
  double whole = shown_value(book, sheet, tco, 0);
  double difference = (sum - whole) / fmax(fabs(whole), 1);
  int row = write_labels(book, label, sheet);
  put_formula_in(book, row, COLUMN_DIFFERENCE, difference,
                 formats_difference(&book->formats, CELL_FORMULA),
                 "=(SUM(%s:%s)-%s)/MAX(ABS(%s),1)", first, last, total, total);
  write_flag(book, row, difference);
}

static void write_category_sum(struct book *book, const struct option_sheet *sheet) {
  const struct model *model = book->scenario->model;
  const struct output_rows *rows = &book->sheets->rows;
  if (rows->last_category < rows->first_category)
    return;
  int column = COLUMN_VALUE + (int)(sheet - book->sheets->options);
  double sum = 0;
  for (int d = 0; d < model->count; d++)
    if (model->declarations[d].role == ROLE_CATEGORY && option_has(sheet->option, d))
      sum += shown_value(book, sheet, d, 0);
  write_sum(book, sheet, "Categories on Outputs add up to the TCO",
            cell_on(book, SHEET_OUTPUTS, rows->first_category, column),
            cell_fixed(book, rows->last_category, column), sum);
}

static void write_cash_sum(struct book *book, const struct option_sheet *sheet) {
  int cash = model_find(book->scenario->model, "cash"), periods = book->scenario->periods;
  if (sheet->cash_row < 0)
    return;
  double sum = 0;
  for (int t = 0; t < periods; t++)
    sum += shown_value(book, sheet, cash, t);
  write_sum(book, sheet, "Cash by period on Outputs adds up to the TCO",
            cell_on(book, SHEET_OUTPUTS, sheet->cash_row, COLUMN_PERIOD),
            cell_fixed(book, sheet->cash_row, COLUMN_PERIOD + periods - 1), sum);
}

static void write_option(struct book *book, const struct option_sheet *sheet) {
  const struct model *model = &sheet->graph.model;
  for (int i = 0; i < sheet->graph.graph.order_count; i++) {
    int d = sheet->graph.graph.order[i];
    if (model->declarations[d].role == ROLE_CHECK)
      write_item(book, sheet, d);
  }
  write_number(book, sheet);
  if (book->sheets->rows.tco < 0 || !option_has(sheet->option, model_find(model, "tco")))
    return;
  write_category_sum(book, sheet);
  write_cash_sum(book, sheet);
}

static void highlight_flags(struct book *book, int first, int last) {
  static const struct {
    double flag;
    enum text_format format;
  } looks[] = {{1, TEXT_GOOD}, {0, TEXT_BAD}};
  for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
    lxw_conditional_format rule = {.type = LXW_CONDITIONAL_TYPE_CELL,
                                   .criteria = LXW_CONDITIONAL_CRITERIA_EQUAL_TO,
                                   .value = looks[i].flag,
                                   .format = formats_text(&book->formats, looks[i].format)};
    put_rule(book, first, COLUMN_FLAG, last, COLUMN_FLAG, &rule);
  }
}

static void write_master(struct book *book, int first, int last) {
  put_text(book, MASTER_ROW, COLUMN_CHECK, "All checks", TEXT_STRONG);
  put_formula(book, MASTER_ROW, COLUMN_FLAG, book->sheets->checks_pass, CELL_TOTAL, &unit_flag,
              "=MIN(%s:%s)", cell_fixed(book, first, COLUMN_FLAG),
              cell_fixed(book, last, COLUMN_FLAG));
  book_place_name(book, book->sheets->checks_ok, MASTER_ROW, COLUMN_FLAG);
}

void write_checks(struct book *book) {
  book->row = HEADER_ROW + 1;
  book->sheets->checks_pass = true;
  static const char *const headings[] = {"Check", "Option"};
  static const char *const numbers[] = {"Difference", "Tolerance", "Flag"};
  begin_sheet(book, "Checks", HEADER_ROW + 1, COLUMN_OPTION + 1);
  put_text(book, NOTE_ROW, 0, "Differences and counts that must be zero. 1 passes, 0 fails.",
           TEXT_NOTE);
  put_header(book, HEADER_ROW, headings, 2);
  put_headings(book, HEADER_ROW, COLUMN_DIFFERENCE, numbers, 3);
  write_inputs_check(book);
  for (size_t o = 0; o < book->scenario->option_count; o++)
    write_option(book, &book->sheets->options[o]);
  write_master(book, HEADER_ROW + 1, book->row - 1);
  highlight_flags(book, MASTER_ROW, MASTER_ROW);
  highlight_flags(book, HEADER_ROW + 1, book->row - 1);
  set_widths(book, (const int[]){52, 26, 14}, 3, COLUMN_FLAG);
  end_sheet(book, book->row - 1, COLUMN_FLAG);
}
