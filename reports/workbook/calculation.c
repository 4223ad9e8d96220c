// The calculation sheet of an option: every line item as a live formula.
#include "base/arena.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/formula.h"
#include "reports/spreadsheet/names.h"
#include "reports/spreadsheet/row_order.h"
#include "reports/workbook/writers.h"

#include <stdbool.h>
#include <string.h>

enum { NOTE_ROW = 1, STAMP_ROW };

struct writer {
  struct book *book;
  struct option_sheet *sheet;
  struct formula_references references;
  size_t option;
};

static void write_timeline(struct book *book) {
  static const char *const above[] = {"Period begins", "", "", ""};
  static const char *const headings[] = {"Line item", "Key", "Unit"}, *const value[] = {"Value"};
  put_header(book, DATE_ROW, above, 4);
  put_header(book, TIME_ROW, headings, 3);
  put_headings(book, TIME_ROW, COLUMN_VALUE, value, 1);
  for (int t = 0; t < book->scenario->periods; t++) {
    put_text(book, DATE_ROW, COLUMN_PERIOD + t, period_begins(book, t), TEXT_HEADER_RIGHT);
    put_number(book, TIME_ROW, COLUMN_PERIOD + t, t,
               formats_text(&book->formats, TEXT_HEADER_RIGHT));
  }
}

static lxw_format *format_of(const struct writer *writer, int declaration, const char *formula) {
  const struct declaration *item = &writer->sheet->graph.model.declarations[declaration];
  const struct name *name = names_find(&writer->book->names, formula + 1);
  bool link = name && (!name->sheet || strcmp(name->sheet, writer->book->sheet->name) != 0);
  bool total = item->role == ROLE_HEADLINE;
  enum cell_role role = link    ? (total ? CELL_TOTAL_LINK : CELL_LINK)
                        : total ? CELL_TOTAL
                                : CELL_FORMULA;
  return formats_cell(&writer->book->formats, role, shown_unit(writer->sheet, declaration));
}

static void write_cell(struct writer *writer, int declaration, int row, int column, int period) {
  struct book *book = writer->book;
  const struct option_sheet *sheet = writer->sheet;
  const struct declaration *item = &sheet->graph.model.declarations[declaration];
  struct arena *arena = book->arena, scratch = {NULL}; // no text outlives its cell
  writer->references.arena = book->arena = &scratch;
  const char *formula = spreadsheet_formula(item, graph_formula(&sheet->graph.graph, declaration),
                                            column, &writer->references);
  lxw_format *format = format_of(writer, declaration, formula);
  // Only for a scenario's own items; no item has both.
  const int bound = item->none_below >= 0 ? item->none_below : item->none_without;
  const int limit = bound >= 0 && option_has(sheet->option, bound) ? bound : -1;
  const char *none = limit >= 0 ? option_none(book->scenario, sheet->option, declaration) : NULL;
  if (limit >= 0)
    formula = arena_printf(&scratch, "=IF(%s%s0,\"%s\",%s)", option_name_used(sheet, limit),
                           item->none_below >= 0 ? "<" : "<=", item->none, formula + 1);
  if (none)
    put_formula_text(book, row, column, none, format, "%s", formula);
  else
    put_formula_or_error(book, row, column, shown_value(book, sheet, declaration, period), format,
                         formula);
  writer->references.arena = book->arena = arena;
  arena_free(&scratch);
}

static void write_item(struct writer *writer, const char *label, int declaration, int row) {
  struct option_sheet *sheet = writer->sheet;
  struct book *book = writer->book;
  const struct declaration *item = &sheet->graph.model.declarations[declaration];
  bool series = item->kind == DECLARATION_SERIES;
  put_item_labels(book, row, label, item->name, item->unit.text);
  sheet->rows[declaration] = book_place(book, row);
  int first = series ? COLUMN_PERIOD : COLUMN_VALUE;
  int count = series ? book->scenario->periods : 1;
  for (int i = 0; i < count; i++)
    write_cell(writer, declaration, row, first + i, i);
  if (!series)
    book_place_name(book, option_name(sheet, declaration), row, COLUMN_VALUE);
}

// In a row that only other options compute: an input of this option, or nothing.
static void write_absent(const struct writer *writer, const struct ordered_row *ordered, int row) {
  struct book *book = writer->book;
  const struct declaration *item = ordered->item;
  const struct option_sheet *sheet = writer->sheet;
  const int d = model_find(&sheet->graph.model, item->name);
  const char *const labels[] = {ordered->label, item->name, item->unit.text};
  for (int i = 0; i < 3; i++)
    put_text(book, row, i, labels[i], TEXT_NOTE);
  if (d >= 0 && sheet->input_rows[d] >= 0)
    put_link(book, row, COLUMN_VALUE, option_name(sheet, d), shown_value(book, sheet, d, 0),
             &item->unit);
  else
    put_text(book, row, COLUMN_VALUE, "not part of this option", TEXT_NOTE);
}

// All rows of all options: a row means the same on each of their sheets. Returns the row after
// them.
static int write_rows(struct writer *writer, int row) {
  struct book *book = writer->book;
  const struct row_order *order = book->sheets->order;
  const int last = COLUMN_PERIOD + book->scenario->periods - 1;
  for (size_t i = 0; i < order->count; i++) {
    const struct ordered_row *ordered = &order->rows[i];
    const int declaration = ordered->declarations[writer->option];
    if (!i || ordered->block != order->rows[i - 1].block)
      put_heading(book, row++, last, book->scenario->model->groups[ordered->block].label);
    if (declaration >= 0)
      write_item(writer, ordered->label, declaration, row++);
    else
      write_absent(writer, ordered, row++);
  }
  return row;
}

static void blank_past_horizon(const struct writer *writer, int last_row) {
  struct book *book = writer->book;
  const int operating = model_find(book->scenario->model, "operating");
  const int row = operating < 0 ? -1 : writer->sheet->rows[operating];
  if (row < 0)
    return;
  const char *flag = cell_address(row, COLUMN_PERIOD, ADDRESS_ROW, book->arena);
  const char *time = cell_address(TIME_ROW, COLUMN_PERIOD, ADDRESS_ROW, book->arena);
  blank_periods(book, arena_printf(book->arena, "=AND(%s>0,%s=0)", time, flag), DATE_ROW, last_row);
}

// The longest horizon that the columns have room for, in years.
static double columns_years(const struct scenario *scenario) {
  return (scenario->periods - 1) * scenario->period_h / HOURS_PER_YEAR;
}

// A note for readers about the horizon that the columns have room for.
static const char *horizon_note(const struct book *book) {
  return arena_printf(
      book->arena,
      "Columns past the horizon are blank; a longer one, typed on Inputs, fills them, "
      "up to %g years.",
      columns_years(book->scenario));
}

void write_calculation(struct book *book, struct option_sheet *sheet) {
  const struct option *option = sheet->option;
  int periods = book->scenario->periods;
  struct writer writer = {.book = book, .sheet = sheet};
  writer.option = (size_t)(sheet - book->sheets->options);
  writer.references = (struct formula_references){.model = &sheet->graph.model,
                                                  .names = sheet->graph.names,
                                                  .rows = sheet->rows,
                                                  .time_row = TIME_ROW,
                                                  .first_period = COLUMN_PERIOD,
                                                  .periods = periods,
                                                  .constants = &book->constants,
                                                  .arena = book->arena,
                                                  .final = true};
  begin_sheet(book, arena_printf(book->arena, "%s: %s", option->label, option->accelerator_name),
              TIME_ROW + 1, COLUMN_LABEL + 1);
  put_text(book, NOTE_ROW, 0,
           arena_printf(book->arena,
                        "Period 0 is the purchase; 1, 2, ... are periods of operation. Amounts are "
                        "per period. %s",
                        horizon_note(book)),
           TEXT_NOTE);
  put_stamps(book, STAMP_ROW);
  write_timeline(book);
  const int last = write_rows(&writer, TIME_ROW + 1) - 1;
  blank_past_horizon(&writer, last);
  set_widths(book, (const int[]){46, 25, 13, 17, 14}, 5, COLUMN_PERIOD + periods - 1);
  end_sheet(book, last, COLUMN_PERIOD + periods - 1);
}
