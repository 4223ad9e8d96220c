// What the sheets of the workbook have in common.
#include "reports/workbook/sheets.h"

#include "base/arena.h"
#include "model/cost/evaluate.h"
#include "model/cost/units.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/formula.h"
#include "reports/spreadsheet/names.h"

#include <string.h>

struct name *option_name(const struct option_sheet *sheet, int declaration) {
  return sheet->graph.names[declaration];
}

const char *option_name_used(const struct option_sheet *sheet, int declaration) {
  struct name *name = option_name(sheet, declaration);
  name->used = true;
  return name->text;
}

double amount_in(const struct option_sheet *sheet, int declaration, int period, size_t which_case) {
  return evaluation_at(sheet->graph.evaluation, declaration, period)[which_case];
}

double shown_value(const struct book *book, const struct option_sheet *sheet, int declaration,
                   int period) {
  const struct unit *unit = &sheet->graph.model.declarations[declaration].unit;
  return amount_in(sheet, declaration, period, book->scenario->selected) / unit_cell_factor(unit);
}

const char *series_cell(const struct book *book, const struct option_sheet *sheet, int declaration,
                        int column) {
  return sheet_address(sheet->option->id, sheet->rows[declaration], column, ADDRESS_RELATIVE,
                       book->arena);
}

const char *time_cell(const struct book *book, const struct option_sheet *sheet, int column) {
  return sheet_address(sheet->option->id, TIME_ROW, column, ADDRESS_ROW, book->arena);
}

void put_periods(struct book *book, int row) {
  for (int t = 0; t < book->scenario->periods; t++)
    put_formula_in(book, row, COLUMN_PERIOD + t, t, formats_text(&book->formats, TEXT_HEADER_RIGHT),
                   "=%s", time_cell(book, &book->sheets->options[0], COLUMN_PERIOD + t));
}

int option_width(const struct scenario *scenario) {
  enum { MIN_WIDTH = 15, MARGIN = 3 };
  size_t width = MIN_WIDTH;
  for (size_t o = 0; o < scenario->option_count; o++) {
    size_t needed = strlen(scenario->options[o].id) + MARGIN;
    width = needed > width ? needed : width;
  }
  return (int)width;
}

void set_option_height(struct book *book, int row, const char *const *texts) {
  size_t lines = 1, width = (size_t)option_width(book->scenario);
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    size_t needed = 1 + strlen(texts[o]) / width;
    lines = needed > lines ? needed : lines;
  }
  set_lines(book, row, lines);
}

void put_option_texts(struct book *book, int row, int column, const char *const *texts) {
  for (size_t o = 0; o < book->scenario->option_count; o++)
    put_text(book, row, column + (int)o, texts[o], TEXT_RIGHT_WRAPPED);
  set_option_height(book, row, texts);
}

int put_stamps(struct book *book, int row) {
  const char *text = scenario_stamp(book->scenario, book->arena);
  if (!*text)
    return row;
  put_text(book, row, 0, text, TEXT_STAMP);
  return row + 1;
}

void put_check_state(struct book *book, int row, int column) {
  static const char good[] = "all pass", bad[] = "a check FAILS";
  struct name *checks = book->sheets->checks_ok;
  checks->used = true;
  put_state(book, row, column,
            arena_printf(book->arena, "=IF(%s=1,\"%s\",\"%s\")", checks->text, good, bad), good,
            bad, book->sheets->checks_pass);
}
