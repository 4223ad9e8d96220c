// Checks: every difference that must be zero, its tolerance and its flag, and the master check.
#include "reports/spreadsheet/book.h"

#include <math.h>
#include <string.h>

enum { TITLE_ROW, NOTE_ROW, MASTER_ROW, HEADER_ROW = 4 };
enum { COLUMN_CHECK, COLUMN_OPTION, COLUMN_DIFFERENCE, COLUMN_TOLERANCE, COLUMN_FLAG };

static const struct unit flag_unit = {.text = "flag", .counts = true};

struct writer {
  struct book *book;
  lxw_worksheet *sheet;
  int row; // the next
  double tolerance;
};

static void write_flag(struct writer *writer, int row, double difference) {
  struct book *book = writer->book;
  struct name *tolerance = constants_tolerance(&book->constants);
  tolerance->used = true;
  put_formula(book, writer->sheet, row, COLUMN_TOLERANCE,
              arena_printf(book->arena, "=%s", tolerance->text), writer->tolerance,
              formats_difference(&book->formats, CELL_LINK));
  const char *formula =
      arena_printf(book->arena, "=IF(ABS(%s)<=%s,1,0)",
                   cell_address(row, COLUMN_DIFFERENCE, ADDRESS_RELATIVE, book->arena),
                   cell_address(row, COLUMN_TOLERANCE, ADDRESS_RELATIVE, book->arena));
  bool pass = fabs(difference) <= writer->tolerance;
  book->checks_pass &= pass;
  put_formula(book, writer->sheet, row, COLUMN_FLAG, formula, pass,
              formats_cell(&book->formats, CELL_FORMULA, &flag_unit));
}

static int write_labels(struct writer *writer, const char *label,
                        const struct option_sheet *sheet) {
  put_text(writer->book, writer->sheet, writer->row, COLUMN_CHECK, label, TEXT_PLAIN);
  put_text(writer->book, writer->sheet, writer->row, COLUMN_OPTION, sheet->option->id, TEXT_PLAIN);
  return writer->row++;
}

static void write_item(struct writer *writer, const struct option_sheet *sheet, int declaration) {
  const struct declaration *item = &sheet->graph.model.declarations[declaration];
  struct name *name = option_name(sheet, declaration);
  int row = write_labels(writer, item->label, sheet);
  double difference = shown_value(writer->book, sheet, declaration, 0);
  name->used = true;
  put_formula(writer->book, writer->sheet, row, COLUMN_DIFFERENCE,
              arena_printf(writer->book->arena, "=%s", name->text), difference,
              formats_difference(&writer->book->formats, CELL_LINK));
  write_flag(writer, row, difference);
}

// Do cells of Outputs add up to the TCO there?
static void write_sum(struct writer *writer, const struct option_sheet *sheet, const char *label,
                      const char *first, const char *last, double sum) {
  struct book *book = writer->book;
  struct arena *arena = book->arena;
  int tco = model_find(book->scenario->model, "tco");
  int column = COLUMN_VALUE + (int)(sheet - book->options);
  const char *total =
      sheet_address(book, book->outputs->name, book->rows.tco, column, ADDRESS_ABSOLUTE);
  double whole = shown_value(book, sheet, tco, 0);
  double difference = (sum - whole) / fmax(fabs(whole), 1);
  int row = write_labels(writer, label, sheet);
  put_formula(book, writer->sheet, row, COLUMN_DIFFERENCE,
              arena_printf(arena, "=(SUM(%s:%s)-%s)/MAX(ABS(%s),1)", first, last, total, total),
              difference, formats_difference(&book->formats, CELL_FORMULA));
  write_flag(writer, row, difference);
}

static void write_category_sum(struct writer *writer, const struct option_sheet *sheet) {
  struct book *book = writer->book;
  const struct model *model = book->scenario->model;
  const struct output_rows *rows = &book->rows;
  if (rows->last_category < rows->first_category)
    return;
  int column = COLUMN_VALUE + (int)(sheet - book->options);
  double sum = 0;
  for (int d = 0; d < model->count; d++)
    if (model->declarations[d].role == ROLE_CATEGORY && option_has(sheet->option, d))
      sum += shown_value(book, sheet, d, 0);
  write_sum(
      writer, sheet, "Categories on Outputs add up to the TCO",
      sheet_address(book, book->outputs->name, rows->first_category, column, ADDRESS_ABSOLUTE),
      cell_address(rows->last_category, column, ADDRESS_ABSOLUTE, book->arena), sum);
}

static void write_cash_sum(struct writer *writer, const struct option_sheet *sheet) {
  struct book *book = writer->book;
  int cash = model_find(book->scenario->model, "cash"), periods = book->scenario->periods;
  if (sheet->cash_row < 0)
    return;
  double sum = 0;
  for (int t = 0; t < periods; t++)
    sum += shown_value(book, sheet, cash, t);
  write_sum(
      writer, sheet, "Cash by period on Outputs adds up to the TCO",
      sheet_address(book, book->outputs->name, sheet->cash_row, COLUMN_PERIOD, ADDRESS_ABSOLUTE),
      cell_address(sheet->cash_row, COLUMN_PERIOD + periods - 1, ADDRESS_ABSOLUTE, book->arena),
      sum);
}

static void write_option(struct writer *writer, const struct option_sheet *sheet) {
  const struct model *model = &sheet->graph.model;
  for (int i = 0; i < sheet->graph.graph.order_count; i++) {
    int d = sheet->graph.graph.order[i];
    if (model->declarations[d].role == ROLE_CHECK)
      write_item(writer, sheet, d);
  }
  if (writer->book->rows.tco < 0 || !option_has(sheet->option, model_find(model, "tco")))
    return;
  write_category_sum(writer, sheet);
  write_cash_sum(writer, sheet);
}

static void highlight_flags(struct writer *writer, int first, int last) {
  struct book *book = writer->book;
  static const struct {
    double flag;
    enum text_format format;
  } looks[] = {{1, TEXT_GOOD}, {0, TEXT_BAD}};
  for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
    lxw_conditional_format rule = {.type = LXW_CONDITIONAL_TYPE_CELL,
                                   .criteria = LXW_CONDITIONAL_CRITERIA_EQUAL_TO,
                                   .value = looks[i].flag,
                                   .format = formats_text(&book->formats, looks[i].format)};
    worksheet_conditional_format_range(writer->sheet, (lxw_row_t)first, COLUMN_FLAG,
                                       (lxw_row_t)last, COLUMN_FLAG, &rule);
  }
}

static void write_master(struct writer *writer, int first, int last) {
  struct book *book = writer->book;
  put_text(book, writer->sheet, MASTER_ROW, COLUMN_CHECK, "All checks", TEXT_STRONG);
  const char *formula = arena_printf(
      book->arena, "=MIN(%s:%s)", cell_address(first, COLUMN_FLAG, ADDRESS_ABSOLUTE, book->arena),
      cell_address(last, COLUMN_FLAG, ADDRESS_ABSOLUTE, book->arena));
  put_formula(book, writer->sheet, MASTER_ROW, COLUMN_FLAG, formula, book->checks_pass,
              formats_cell(&book->formats, CELL_TOTAL, &flag_unit));
  name_place(book->checks_ok, writer->sheet->name, MASTER_ROW, COLUMN_FLAG);
}

void write_checks(struct book *book) {
  struct writer writer = {.book = book, .sheet = book->checks, .row = HEADER_ROW + 1};
  static const char *const headings[] = {"Check", "Option"};
  static const char *const numbers[] = {"Difference", "Tolerance", "Flag"};
  writer.tolerance = constants_tolerance_value(&book->constants);
  begin_sheet(book, book->checks, "Checks", HEADER_ROW + 1, COLUMN_OPTION + 1);
  put_text(book, book->checks, NOTE_ROW, 0,
           "Relative differences that must be zero. 1 passes, 0 fails.", TEXT_NOTE);
  put_header(book, book->checks, HEADER_ROW, headings, 2);
  for (int i = 0; i < 3; i++)
    put_text(book, book->checks, HEADER_ROW, COLUMN_DIFFERENCE + i, numbers[i], TEXT_HEADER_RIGHT);
  book->checks_pass = true;
  for (size_t o = 0; o < book->scenario->option_count; o++)
    write_option(&writer, &book->options[o]);
  write_master(&writer, HEADER_ROW + 1, writer.row - 1);
  highlight_flags(&writer, MASTER_ROW, MASTER_ROW);
  highlight_flags(&writer, HEADER_ROW + 1, writer.row - 1);
  worksheet_set_column(book->checks, COLUMN_CHECK, COLUMN_CHECK, 52, NULL);
  worksheet_set_column(book->checks, COLUMN_OPTION, COLUMN_OPTION, 26, NULL);
  worksheet_set_column(book->checks, COLUMN_DIFFERENCE, COLUMN_FLAG, 14, NULL);
  end_sheet(book->checks, writer.row - 1, COLUMN_FLAG);
}
