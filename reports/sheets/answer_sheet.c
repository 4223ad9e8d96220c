#include "reports/sheets/answer_sheet.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "reports/faces/answer.h"
#include "reports/faces/parts.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_WIDTH = 46, OTHER_WIDTH = 20, MIN_COLUMNS = 6 };

// How a column of the current table is shown: found once, as tables have thousands of rows.
struct look {
  bool texts;              // its cells are words
  const struct unit *unit; // of the numbers that have so many decimals; NULL: of none yet
  int decimals;
};

struct writer {
  struct book *book;
  bool fixed;                     // all of it is as it was when the workbook was written
  const struct live_answer *live; // NULL: the answer is not shown only as long as it holds
  int row;                        // the next row
  int top;                        // the first row of cells of the current table
  int *tops;                      // where to report each table's first row to the caller, or NULL
  size_t columns;                 // of the widest table
  struct look *looks;             // [columns of the current table]
};

static const struct unit *unit_of(const struct answer_table *table, size_t column,
                                  const struct answer_cell *cell) {
  if (cell->unit)
    return cell->unit;
  return table->columns[column].unit ? table->columns[column].unit : &unit_plain;
}

// ---- live formulas

// "h200.tco": the name of an option's item or input.
static const char *named(const struct writer *writer, const char *what) {
  struct book *book = writer->book;
  const char *dot = strchr(what, '.');
  for (size_t o = 0; dot && o < book->scenario->option_count; o++) {
    const char *id = book->sheets->options[o].option->id;
    if (strlen(id) != (size_t)(dot - what) || strncmp(id, what, strlen(id)) != 0)
      continue;
    const int declaration = model_find(book->scenario->model, dot + 1);
    struct name *name =
        declaration < 0 ? NULL : option_name(&book->sheets->options[o], declaration);
    if (name)
      return name_use(name);
  }
  return NULL;
}

// "@2,1": a cell of the same table.
static const char *neighbour(const struct writer *writer, const char *what) {
  char *end;
  const long row = strtol(what + 1, &end, 10);
  const long column = *end == ',' ? strtol(end + 1, &end, 10) : -1;
  if (row < 0 || column < 0 || *end)
    return NULL;
  return cell_here(writer->book, writer->top + (int)row, (int)column);
}

// "=5 %": a number that gets a cell of its own on Inputs; in its column's unit, or that unit in
// USD.
static const char *literal(const struct writer *writer, const char *what, const char *label,
                           const struct unit *unit) {
  struct book *book = writer->book;
  const char *currency = book->scenario->model->currency;
  double value;
  if (text_has_currency(what, "USD"))
    unit = unit_known(text_in_currency(unit->text, currency, "USD", book->arena), book->arena);
  if (quantity_parse(what + 1, nowhere, unit, &value, book->diagnostics))
    return NULL;
  return name_use(constants_literal(&book->constants, "decision", label, what + 1, value, unit));
}

static const char *reference(const struct writer *writer, const char *what,
                             const struct answer_column *column, const struct unit *unit) {
  if (*what == '@')
    return neighbour(writer, what);
  return *what == '=' ? literal(writer, what, column->title, unit) : named(writer, what);
}

// The formula with its references resolved, or NULL if one cannot be.
static const char *live_text(const struct writer *writer, const struct answer_cell *cell,
                             const struct answer_column *column, const struct unit *unit) {
  struct arena *arena = writer->book->arena;
  const char *text = *cell->formula == '=' ? "" : "=", *at = cell->formula;
  for (const char *open; (open = strchr(at, '[')); at = strchr(open, ']') + 1) {
    const char *close = strchr(open, ']');
    const char *what = close ? arena_copy_n(arena, open + 1, (size_t)(close - open - 1)) : "";
    const char *found = close ? reference(writer, what, column, unit) : NULL;
    if (!found)
      return NULL;
    text = arena_printf(arena, "%s%.*s%s", text, (int)(open - at), at, found);
  }
  return arena_printf(arena, "%s%s", text, at);
}

// Whether everything that the cell is computed from follows the inputs. A cell that reads a result
// of the run is itself a result.
static bool is_live(const struct answer_table *table, const struct answer_cell *cell) {
  if (!cell->formula)
    return cell->text || isnan(cell->value);
  for (const char *at = cell->formula; (at = strstr(at, "[@")); at++) {
    char *end;
    const long row = strtol(at + 2, &end, 10), column = strtol(end + 1, &end, 10);
    if (!is_live(table, cell_at(table, (size_t)row, (size_t)column)))
      return false;
  }
  return true;
}

// ---- cells

// The decimals of a column's numbers in one unit: the largest has five digits, as on a terminal,
// but no decimal is zero in all of them.
static int column_decimals(const struct answer_table *table, size_t column,
                           const struct unit *unit) {
  enum { DIGITS = 5 };
  double largest = 0;
  int most = DIGITS - 1, needed = 0;
  for (int pass = 0; pass < 2; pass++) {
    const double scale = pow(10, most);
    for (size_t r = 0; r < table->row_count; r++) {
      const struct answer_cell *cell = cell_at(table, r, column);
      if (cell->text || !isfinite(cell->value) ||
          strcmp(unit_of(table, column, cell)->text, unit->text) != 0)
        continue;
      const double number = fabs(cell_number(cell->value, unit));
      const int decimals = formats_decimals(round(number * scale) / scale, &unit_plain);
      largest = fmax(largest, number);
      needed = pass && decimals > needed ? decimals : needed;
    }
    for (; !pass && most && largest >= 10; largest /= 10)
      most--;
  }
  return needed;
}

static lxw_format *number_format(const struct writer *writer, const struct answer_table *table,
                                 size_t column, enum cell_role role, const struct unit *unit,
                                 double value) {
  struct look *look = &writer->looks[column];
  if (unit->percents)
    return formats_share(&writer->book->formats, role, value);
  if (!look->unit || strcmp(look->unit->text, unit->text) != 0) {
    look->unit = unit;
    look->decimals = column_decimals(table, column, unit);
  }
  return formats_column(&writer->book->formats, role, look->decimals, unit);
}

static void write_live(const struct writer *writer, const struct answer_table *table, int row,
                       size_t column, const struct answer_cell *cell) {
  struct book *book = writer->book;
  const struct unit *unit = unit_of(table, column, cell);
  const char *formula = live_text(writer, cell, &table->columns[column], unit);
  if (!formula) {
    diagnostics_error(book->diagnostics, nowhere,
                      "a live formula of '%s' has a broken reference: %s", table->key,
                      cell->formula);
    book->failed = true;
    return;
  }
  const bool link = strspn(formula + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                        "0123456789") == strlen(formula + 1) &&
                    strncmp(formula + 1, "pt_", 3) == 0;
  put_formula_in(
      book, row, (int)column, cell_number(cell->value, unit),
      number_format(writer, table, column, link ? CELL_LINK : CELL_FORMULA, unit, cell->value),
      "%s", formula);
}

// The words that people read in a cell; NULL for a number.
static const char *words_of(const struct answer_cell *cell) {
  if (cell->text)
    return cell->shown ? cell->shown : cell->text;
  return isfinite(cell->value) ? NULL : cell->otherwise;
}

static bool holds_texts(const struct answer_table *table, size_t column) {
  for (size_t r = 0; r < table->row_count; r++)
    if (!words_of(cell_at(table, r, column)))
      return false;
  return true;
}

// Words in a column of numbers are aligned like them; a column of words keeps a distance from the
// numbers before it. Results in words are gray, like other results of the run; labels need not be.
static enum text_format text_format_of(const struct writer *writer, size_t column) {
  const bool of_run = writer->fixed || (writer->live && column);
  if (!column)
    return of_run ? TEXT_FIXED_WRAPPED : TEXT_WRAPPED;
  if (writer->looks[column].texts)
    return of_run ? TEXT_FIXED_INDENTED_WRAPPED : TEXT_INDENTED_WRAPPED;
  return of_run ? TEXT_FIXED_RIGHT : TEXT_RIGHT;
}

static void write_cell(const struct writer *writer, const struct answer_table *table, int row,
                       size_t column, const struct answer_cell *cell) {
  struct book *book = writer->book;
  const char *words = words_of(cell);
  if (words)
    put_text(book, row, (int)column, words, text_format_of(writer, column));
  else if (isfinite(cell->value) && cell->formula && is_live(table, cell))
    write_live(writer, table, row, column, cell);
  else if (isfinite(cell->value)) {
    const struct unit *unit = unit_of(table, column, cell);
    put_number(book, row, (int)column, cell_number(cell->value, unit),
               number_format(writer, table, column, CELL_RESULT, unit, cell->value));
  } else
    put_text(book, row, (int)column, cell_placeholder(cell), TEXT_RIGHT);
}

static void write_header(struct writer *writer, const struct answer_table *table, size_t columns) {
  struct arena *arena = writer->book->arena;
  for (size_t c = 0; c < columns; c++) {
    const struct answer_column *column = &table->columns[c];
    const bool unit = column->unit && strcmp(column->unit->text, "-") != 0;
    const char *title =
        unit ? arena_printf(arena, "%s, %s", column->title, column->unit->text) : column->title;
    put_text(writer->book, writer->row, (int)c, title,
             c == 0                   ? TEXT_HEADER
             : writer->looks[c].texts ? TEXT_HEADER_INDENTED
                                      : TEXT_HEADER_RIGHT);
  }
  writer->row++;
}

static bool has_header(const struct answer_table *table, size_t columns) {
  for (size_t c = 0; c < columns; c++)
    if (*table->columns[c].title)
      return true;
  return false;
}

// A sentence over the full width.
static void write_sentence(struct writer *writer, const char *text, enum text_format format) {
  merge_line(writer->book, writer->row, (int)writer->columns - 1, format);
  put_text(writer->book, writer->row++, 0, text, format);
}

// The number of columns, without the last ones if sheets do not show them.
static size_t shown_columns(const struct answer_table *table) {
  size_t count = table->column_count;
  while (count && !column_shown(table, count - 1, FACE_SHEET))
    count--;
  return count;
}

static void write_table(struct writer *writer, const struct answer_table *table) {
  const size_t columns = shown_columns(table);
  writer->looks = arena_array(writer->book->arena, table->column_count + 1, sizeof *writer->looks);
  for (size_t c = 0; c < columns; c++)
    writer->looks[c].texts = holds_texts(table, c);
  if (table->title)
    put_heading(writer->book, writer->row++, (int)columns - 1, table->title);
  if (has_header(table, columns))
    write_header(writer, table, columns);
  writer->top = writer->row;
  if (writer->tops)
    *writer->tops++ = writer->top;
  for (size_t r = 0; r < table->row_count; r++, writer->row++)
    for (size_t c = 0; c < columns; c++)
      write_cell(writer, table, writer->row, c, cell_at(table, r, c));
  if (table->note)
    write_sentence(writer, table->note, TEXT_NOTE_WRAPPED);
  writer->row++;
}

static void write_tables(struct writer *writer, const struct answer *answer) {
  for (size_t t = 0; t < answer->table_count; t++)
    if (table_shown(&answer->tables[t], FACE_SHEET))
      write_table(writer, &answer->tables[t]);
}

// The answer itself, as long as it holds.
static void write_live_sentence(struct writer *writer, const struct answer *answer) {
  static const char again[] = "Inputs have changed since: run pertoken again.";
  struct book *book = writer->book;
  const int row = writer->row++;
  merge_line(book, row, (int)writer->columns - 1, TEXT_STRONG_WRAPPED);
  put_formula_text(book, row, 0, answer->sentence,
                   formats_text(&book->formats, TEXT_STRONG_WRAPPED),
                   "=IF(%s=\"" STATE_CURRENT "\",%s,\"%s\")", writer->live->state,
                   cell_fixed(book, writer->live->sentence, 0), again);
  lxw_conditional_format rule = {
      .type = LXW_CONDITIONAL_TYPE_FORMULA,
      .value_string = arena_printf(book->arena, "=%s<>\"" STATE_CURRENT "\"", writer->live->state),
      .format = formats_text(&book->formats, TEXT_STAMP)};
  if (answer->no)
    rule.value_string = "=TRUE";
  put_rule(book, row, 0, row, 0, &rule);
}

static void write_one(struct writer *writer, const struct answer *answer) {
  put_text(writer->book, writer->row++, 0, answer->title ? answer->title : answer->name,
           TEXT_SUBTITLE);
  if (writer->live)
    write_live_sentence(writer, answer);
  else
    write_sentence(writer, answer->sentence,
                   answer->no      ? TEXT_STAMP_WRAPPED
                   : writer->fixed ? TEXT_FIXED_STRONG_WRAPPED
                                   : TEXT_STRONG_WRAPPED);
  for (size_t i = 0; i < answer->warnings.count; i++)
    write_sentence(writer,
                   arena_printf(writer->book->arena, "Warning: %s", answer->warnings.list[i]),
                   TEXT_NOTE_WRAPPED);
  writer->row++;
  write_tables(writer, answer);
}

const char *answer_note_text(const struct answer *answer, size_t note, struct arena *arena) {
  return arena_printf(arena, "%s%s", answer->notes[note].label, answer->notes[note].text);
}

static void write_notes(struct writer *writer, const struct answer *answer) {
  for (size_t i = 0; i < answer->note_count; i++)
    write_sentence(writer, answer_note_text(answer, i, writer->book->arena), TEXT_NOTE_WRAPPED);
  writer->row += answer->note_count > 0;
}

size_t answer_columns(const struct answer *answer) {
  size_t columns = MIN_COLUMNS;
  for (size_t t = 0; t < answer->table_count; t++)
    if (answer->tables[t].column_count > columns)
      columns = answer->tables[t].column_count;
  return columns;
}

void set_answer_widths(struct book *book, size_t columns) {
  set_widths(book, (const int[]){FIRST_WIDTH, OTHER_WIDTH}, 2, (int)columns);
}

int write_answer_sheet(struct book *book, const struct answer *answer, size_t columns, int row,
                       const char *title, int *tops) {
  struct writer writer = {
      .book = book, .fixed = book->scenario != NULL, .row = row, .tops = tops, .columns = columns};
  begin_sheet(book, title, row, 0);
  write_one(&writer, answer);
  set_answer_widths(book, columns);
  return writer.row - 2;
}

int write_answer_end(struct book *book, const struct answer *notes, const struct answer *tables,
                     size_t columns, int row) {
  struct writer writer = {.book = book, .row = row, .columns = columns};
  write_notes(&writer, notes);
  write_tables(&writer, tables);
  return writer.row;
}

int write_live_answer(struct book *book, const struct answer *answer,
                      const struct live_answer *live, int row) {
  struct writer writer = {.book = book, .live = live, .row = row, .columns = live->columns};
  write_one(&writer, answer);
  write_notes(&writer, answer);
  return writer.row;
}
