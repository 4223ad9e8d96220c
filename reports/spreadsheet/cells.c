#include "reports/spreadsheet/cells.h"

#include "base/arena.h"
#include "model/cost/units.h"
#include "reports/spreadsheet/autofit.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/formula.h"
#include "reports/spreadsheet/names.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistr.h>
#include <unitypes.h>

enum { MAX_CELL_TEXT = 32000 };

const char *safe_text(const char *text, size_t length, struct arena *arena) {
  size_t size = strlen(text), used = 0, characters = 0;
  char *safe = arena_copy_n(arena, text, size);
  while (used < size && characters < length) {
    ucs4_t code;
    int bytes = u8_mbtoucr(&code, (const uint8_t *)text + used, size - used);
    if (bytes < 1 || code < 0x20 || code == 0x7F) {
      safe[used] = bytes < 1 ? '?' : ' ';
      bytes = 1;
    } else if (code == 0xFFFE || code == 0xFFFF) // not allowed in XML
      u8_uctomb((uint8_t *)safe + used, 0xFFFD, bytes);
    used += (size_t)bytes;
    characters++;
  }
  safe[used] = 0;
  return safe;
}

// A spreadsheet reads "_x0041_" in a text as the character with that code (ECMA-376, part 1,
// 22.9.2.19): if a text happens to contain such a sequence, its first underscore is encoded that
// way.
static const char *escaped(const char *text, struct arena *arena) {
  enum { DIGITS = 4 };
  const char *done = "", *at = text, *next;
  while ((next = strstr(at, "_x"))) {
    const bool code =
        strspn(next + 2, "0123456789abcdefABCDEF") >= DIGITS && next[2 + DIGITS] == '_';
    done = arena_printf(arena, "%s%.*s%s", done, (int)(next - at), at, code ? "_x005F_" : "_");
    at = next + 1;
  }
  return *done ? arena_printf(arena, "%s%s", done, at) : text;
}

static void check(struct book *book, lxw_error error) {
  if (error != LXW_NO_ERROR)
    book->failed = true;
}

// No spreadsheet would open a file with another number.
static void check_number(struct book *book, int row, int column, double value) {
  if (isfinite(value))
    return;
  book->failed = true;
  if (!book->no_number)
    book->no_number =
        arena_printf(book->diagnostics->arena, "'%s'!%s", book->sheet->name,
                     cell_address(row, column, ADDRESS_RELATIVE, book->diagnostics->arena));
}

static void put_string(struct book *book, int row, int column, const char *text,
                       lxw_format *format) {
  if (!book->writing)
    return;
  const char *safe = escaped(safe_text(text, MAX_CELL_TEXT, book->arena), book->arena);
  check(book, worksheet_write_string(book->sheet, (lxw_row_t)row, (lxw_col_t)column, safe, format));
}

void put_text(struct book *book, int row, int column, const char *text, enum text_format format) {
  put_string(book, row, column, text, formats_text(&book->formats, format));
}

void put_typed_text(struct book *book, int row, int column, const char *text, enum cell_role role) {
  put_string(book, row, column, text, formats_cell_text(&book->formats, role));
}

void put_sample(struct book *book, int row, int column, const char *text, enum cell_role role) {
  put_string(book, row, column, text, formats_sample(&book->formats, role));
}

void put_number(struct book *book, int row, int column, double value, lxw_format *format) {
  check_number(book, row, column, value);
  if (book->writing)
    check(book,
          worksheet_write_number(book->sheet, (lxw_row_t)row, (lxw_col_t)column, value, format));
}

static void write_formula(struct book *book, int row, int column, double value, lxw_format *format,
                          const char *formula, va_list arguments) {
  const char *text = arena_vprintf(book->arena, formula, arguments);
  check_number(book, row, column, value);
  if (book->writing)
    check(book, worksheet_write_formula_num(book->sheet, (lxw_row_t)row, (lxw_col_t)column, text,
                                            format, value == 0 ? 0 : value));
}

void put_formula(struct book *book, int row, int column, double value, enum cell_role role,
                 const struct unit *unit, const char *formula, ...) {
  va_list arguments;
  va_start(arguments, formula);
  write_formula(book, row, column, value, formats_cell(&book->formats, role, unit), formula,
                arguments);
  va_end(arguments);
}

void put_formula_in(struct book *book, int row, int column, double value, lxw_format *format,
                    const char *formula, ...) {
  va_list arguments;
  va_start(arguments, formula);
  write_formula(book, row, column, value, format, formula, arguments);
  va_end(arguments);
}

void put_formula_text(struct book *book, int row, int column, const char *value, lxw_format *format,
                      const char *formula, ...) {
  va_list arguments;
  va_start(arguments, formula);
  const char *text = arena_vprintf(book->arena, formula, arguments);
  va_end(arguments);
  if (book->writing)
    check(book, worksheet_write_formula_str(book->sheet, (lxw_row_t)row, (lxw_col_t)column, text,
                                            format, safe_text(value, MAX_CELL_TEXT, book->arena)));
}

void put_formula_or_dash(struct book *book, int row, int column, double value, lxw_format *format,
                         const char *formula) {
  if (isfinite(value))
    put_formula_in(book, row, column, value, format, "%s", formula);
  else
    put_formula_text(book, row, column, "-", formats_text(&book->formats, TEXT_RIGHT), "%s",
                     formula);
}

void put_formula_or_error(struct book *book, int row, int column, double value, lxw_format *format,
                          const char *formula) {
  if (isfinite(value))
    put_formula_in(book, row, column, value, format, "%s", formula);
  else
    put_formula_text(book, row, column, "#DIV/0!", format, "%s", formula);
}

void put_link(struct book *book, int row, int column, struct name *name, double value,
              const struct unit *unit) {
  bool here = name->sheet && !strcmp(name->sheet, book->sheet->name);
  put_formula(book, row, column, value, here ? CELL_FORMULA : CELL_LINK, unit, "=%s",
              name_use(name));
}

void put_item_labels(struct book *book, int row, const char *label, const char *key,
                     const char *unit) {
  put_text(book, row, 0, label, TEXT_PLAIN);
  put_text(book, row, 1, key, TEXT_NOTE);
  put_text(book, row, 2, unit, TEXT_PLAIN);
}

void put_labels(struct book *book, int row, const char *label, const char *key, const char *unit) {
  put_item_labels(book, row, label, key, strcmp(unit, unit_plain.text) != 0 ? unit : "");
}

void put_header(struct book *book, int row, const char *const *texts, int count) {
  for (int i = 0; i < count; i++)
    put_text(book, row, i, texts[i], TEXT_HEADER);
}

void put_headings(struct book *book, int row, int column, const char *const *texts, int count) {
  for (int i = 0; i < count; i++)
    put_text(book, row, column + i, texts[i], TEXT_HEADER_RIGHT);
}

void put_heading(struct book *book, int row, int last, const char *text) {
  lxw_format *format = formats_text(&book->formats, TEXT_HEADING);
  put_text(book, row, 0, text, TEXT_HEADING);
  for (int column = 1; book->writing && column <= last; column++)
    worksheet_write_blank(book->sheet, (lxw_row_t)row, (lxw_col_t)column, format);
}

static void set_height(struct book *book, int row, double points) {
  if (book->writing)
    worksheet_set_row(book->sheet, (lxw_row_t)row, points, NULL);
}

void set_widths(struct book *book, const int *widths, int count, int last) {
  for (int i = 0; i < count || i <= last; i++)
    worksheet_set_column(book->sheet, (lxw_col_t)i, (lxw_col_t)i, widths[i < count ? i : count - 1],
                         NULL);
}

void merge_line(struct book *book, int row, int last, enum text_format format) {
  if (book->writing)
    check(book, worksheet_merge_range(book->sheet, (lxw_row_t)row, 0, (lxw_row_t)row,
                                      (lxw_col_t)last, "", formats_text(&book->formats, format)));
}

void put_rule(struct book *book, int first_row, int first_column, int last_row, int last_column,
              lxw_conditional_format *rule) {
  if (book->writing)
    check(book, worksheet_conditional_format_range(book->sheet, (lxw_row_t)first_row,
                                                   (lxw_col_t)first_column, (lxw_row_t)last_row,
                                                   (lxw_col_t)last_column, rule));
}

void put_validation(struct book *book, int first_row, int first_column, int last_row,
                    int last_column, lxw_data_validation *rule) {
  if (book->writing)
    check(book, worksheet_data_validation_range(book->sheet, (lxw_row_t)first_row,
                                                (lxw_col_t)first_column, (lxw_row_t)last_row,
                                                (lxw_col_t)last_column, rule));
}

void put_jump(struct book *book, int row, int column, const char *sheet) {
  const char *url = arena_printf(book->arena, "internal:'%s'!A1", sheet);
  lxw_format *format = formats_text(&book->formats, TEXT_LINK);
  if (book->writing)
    check(book, worksheet_write_url_opt(book->sheet, (lxw_row_t)row, (lxw_col_t)column, url, format,
                                        sheet, NULL));
}

void put_state(struct book *book, int row, int column, const char *formula, const char *good,
               const char *bad, bool is_good) {
  put_formula_text(book, row, column, is_good ? good : bad,
                   formats_cell_text(&book->formats, CELL_FORMULA), "%s", formula);
  lxw_conditional_format rule = {.type = LXW_CONDITIONAL_TYPE_CELL,
                                 .criteria = LXW_CONDITIONAL_CRITERIA_EQUAL_TO,
                                 .value_string = arena_printf(book->arena, "\"%s\"", good),
                                 .format = formats_text(&book->formats, TEXT_GOOD)};
  put_rule(book, row, column, row, column, &rule);
  rule.criteria = LXW_CONDITIONAL_CRITERIA_NOT_EQUAL_TO;
  rule.format = formats_text(&book->formats, TEXT_BAD);
  put_rule(book, row, column, row, column, &rule);
}

const char *cell_here(const struct book *book, int row, int column) {
  return cell_address(row, column, ADDRESS_RELATIVE, book->arena);
}

const char *cell_fixed(const struct book *book, int row, int column) {
  return cell_address(row, column, ADDRESS_ABSOLUTE, book->arena);
}

const char *cell_on(const struct book *book, const char *sheet, int row, int column) {
  return sheet_address(sheet, row, column, ADDRESS_ABSOLUTE, book->arena);
}

void begin_sheet(struct book *book, const char *title, int title_rows, int frozen_columns) {
  enum { LONG_TITLE = 70, TITLE_HEIGHT = 24 };
  lxw_worksheet *sheet = book->sheet;
  put_text(book, 0, 0, title, strlen(title) > LONG_TITLE ? TEXT_STRONG : TEXT_TITLE);
  set_height(book, 0, TITLE_HEIGHT);
  worksheet_gridlines(sheet, LXW_HIDE_ALL_GRIDLINES);
  worksheet_set_landscape(sheet);
  worksheet_set_margins(sheet, 0.5, 0.5, 0.6, 0.7);
  worksheet_set_footer(sheet, "&Lpertoken: &A&RPage &P of &N");
  if (!title_rows)
    return;
  worksheet_freeze_panes(sheet, (lxw_row_t)title_rows, (lxw_col_t)frozen_columns);
  worksheet_repeat_rows(sheet, 0, (lxw_row_t)title_rows - 1);
}

// The library counts a sheet's validations in 8 bits, and writes none of them if that count is 0.
static void keep_validations(lxw_worksheet *sheet) {
  if (!sheet->num_validations && !STAILQ_EMPTY(sheet->data_validations))
    sheet->num_validations = UINT8_MAX;
}

void end_sheet(struct book *book, int last_row, int last_column) {
  keep_validations(book->sheet);
  last_column = autofit(book, last_row, last_column);
  lxw_protection allowed = {.format_columns = LXW_TRUE, .format_rows = LXW_TRUE};
  worksheet_print_area(book->sheet, 0, 0, (lxw_row_t)last_row, (lxw_col_t)last_column);
  worksheet_protect(book->sheet, NULL, &allowed);
}
