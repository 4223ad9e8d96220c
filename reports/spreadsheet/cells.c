// Cells, and what all sheets have in common; book.h has the contracts.
#include "base/short_text.h"
#include "reports/spreadsheet/book.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

enum { CELL_TEXT_LENGTH = 32000 };

const char *safe_text(const char *text, size_t length, struct arena *arena) {
  size_t size = strlen(text), used = 0, characters = 0;
  char *safe = arena_copy_n(arena, text, size);
  while (used < size && characters < length) {
    ucs4_t code;
    int bytes = u8_mbtoucr(&code, (const uint8_t *)text + used, size - used);
    if (bytes < 1 || code < 0x20 || code == 0x7F) {
      safe[used] = bytes < 1 ? '?' : ' ';
      bytes = 1;
    }
    used += (size_t)bytes;
    characters++;
  }
  safe[used] = 0;
  return safe;
}

// A spreadsheet reads "_x0041_" in a text as the character of that code (ECMA-376, part
// 1, 22.9.2.19): where a text happens to hold the like, its first underscore is written so itself.
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

static void put_string(struct book *book, lxw_worksheet *sheet, int row, int column,
                       const char *text, lxw_format *format) {
  const char *safe = escaped(safe_text(text, CELL_TEXT_LENGTH, book->arena), book->arena);
  check(book, worksheet_write_string(sheet, (lxw_row_t)row, (lxw_col_t)column, safe, format));
}

void put_text(struct book *book, lxw_worksheet *sheet, int row, int column, const char *text,
              enum text_format format) {
  put_string(book, sheet, row, column, text, formats_text(&book->formats, format));
}

void put_typed_text(struct book *book, lxw_worksheet *sheet, int row, int column, const char *text,
                    enum cell_role role) {
  put_string(book, sheet, row, column, text, formats_cell_text(&book->formats, role));
}

void put_wrapped(struct book *book, lxw_worksheet *sheet, int row, int column, const char *text,
                 size_t width, enum text_format format) {
  enum { LINE_HEIGHT = 15 };
  const size_t lines = 1 + text_characters(text) / width;
  put_text(book, sheet, row, column, text, format);
  if (lines > 1)
    worksheet_set_row(sheet, (lxw_row_t)row, (double)(lines * LINE_HEIGHT), NULL);
}

void put_number(struct book *book, lxw_worksheet *sheet, int row, int column, double value,
                lxw_format *format) {
  if (!isfinite(value))
    book->failed = true; // the file would be none that a spreadsheet opens
  check(book, worksheet_write_number(sheet, (lxw_row_t)row, (lxw_col_t)column, value, format));
}

void put_formula(struct book *book, lxw_worksheet *sheet, int row, int column, const char *formula,
                 double value, lxw_format *format) {
  if (!isfinite(value))
    book->failed = true;
  check(book, worksheet_write_formula_num(sheet, (lxw_row_t)row, (lxw_col_t)column, formula, format,
                                          value == 0 ? 0 : value));
}

void put_formula_text(struct book *book, lxw_worksheet *sheet, int row, int column,
                      const char *formula, const char *value, lxw_format *format) {
  check(book, worksheet_write_formula_str(sheet, (lxw_row_t)row, (lxw_col_t)column, formula, format,
                                          safe_text(value, CELL_TEXT_LENGTH, book->arena)));
}

void put_link(struct book *book, lxw_worksheet *sheet, int row, int column, struct name *name,
              double value, const struct unit *unit) {
  name->used = true;
  bool here = name->sheet && !strcmp(name->sheet, sheet->name);
  put_formula(book, sheet, row, column, arena_printf(book->arena, "=%s", name->text), value,
              formats_cell(&book->formats, here ? CELL_FORMULA : CELL_LINK, unit));
}

int option_width(const struct scenario *scenario) {
  enum { LEAST_WIDTH = 15, MARGIN = 3 };
  size_t width = LEAST_WIDTH;
  for (size_t o = 0; o < scenario->option_count; o++) {
    size_t needed = strlen(scenario->options[o].id) + MARGIN;
    width = needed > width ? needed : width;
  }
  return (int)width;
}

void set_option_height(struct book *book, lxw_worksheet *sheet, int row, const char *const *texts) {
  enum { LINE_HEIGHT = 15 };
  size_t lines = 1, width = (size_t)option_width(book->scenario);
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    size_t needed = 1 + strlen(texts[o]) / width;
    lines = needed > lines ? needed : lines;
  }
  if (lines > 1)
    worksheet_set_row(sheet, (lxw_row_t)row, (double)(lines * LINE_HEIGHT), NULL);
}

void put_option_texts(struct book *book, lxw_worksheet *sheet, int row, int column,
                      const char *const *texts) {
  for (size_t o = 0; o < book->scenario->option_count; o++)
    put_text(book, sheet, row, column + (int)o, texts[o], TEXT_RIGHT_WRAPPED);
  set_option_height(book, sheet, row, texts);
}

void put_header(struct book *book, lxw_worksheet *sheet, int row, const char *const *texts,
                int count) {
  for (int i = 0; i < count; i++)
    put_text(book, sheet, row, i, texts[i], TEXT_HEADER);
}

void merge_line(struct book *book, lxw_worksheet *sheet, int row, int last, double width,
                size_t characters, int size, enum text_format format) {
  enum { USUAL_SIZE = 11, LINE_SHARE = 145 }; // a line's height, in hundredths of its letters'
  const size_t line = (size_t)(width * USUAL_SIZE / size);
  const size_t lines = 1 + characters / (line ? line : 1);
  worksheet_set_row(sheet, (lxw_row_t)row, (double)(lines * (size_t)size) * LINE_SHARE / 100, NULL);
  if (worksheet_merge_range(sheet, (lxw_row_t)row, 0, (lxw_row_t)row, (lxw_col_t)last, "",
                            formats_text(&book->formats, format)) != LXW_NO_ERROR)
    book->failed = true;
}

void put_heading(struct book *book, lxw_worksheet *sheet, int row, int last, const char *text) {
  put_text(book, sheet, row, 0, text, TEXT_HEADING);
  for (int column = 1; column <= last; column++)
    worksheet_write_blank(sheet, (lxw_row_t)row, (lxw_col_t)column,
                          formats_text(&book->formats, TEXT_HEADING));
}

const char *sheet_address(const struct book *book, const char *sheet, int row, int column,
                          enum address fixed) {
  return arena_printf(book->arena, "'%s'!%s", sheet, cell_address(row, column, fixed, book->arena));
}

void put_sample(struct book *book, lxw_worksheet *sheet, int row, int column, const char *text,
                enum cell_role role) {
  put_string(book, sheet, row, column, text, formats_sample(&book->formats, role));
}

void put_jump(struct book *book, lxw_worksheet *sheet, int row, int column,
              const lxw_worksheet *target, const char *text) {
  const char *url = arena_printf(book->arena, "internal:'%s'!A1", target->name);
  check(book, worksheet_write_url_opt(sheet, (lxw_row_t)row, (lxw_col_t)column, url,
                                      formats_text(&book->formats, TEXT_LINK), text, NULL));
}

void put_state(struct book *book, lxw_worksheet *sheet, int row, int column, const char *formula,
               const char *good, const char *bad, bool is_good) {
  put_formula_text(book, sheet, row, column, formula, is_good ? good : bad,
                   formats_cell_text(&book->formats, CELL_FORMULA));
  lxw_conditional_format rule = {.type = LXW_CONDITIONAL_TYPE_CELL,
                                 .criteria = LXW_CONDITIONAL_CRITERIA_EQUAL_TO,
                                 .value_string = arena_printf(book->arena, "\"%s\"", good),
                                 .format = formats_text(&book->formats, TEXT_GOOD)};
  worksheet_conditional_format_cell(sheet, (lxw_row_t)row, (lxw_col_t)column, &rule);
  rule.criteria = LXW_CONDITIONAL_CRITERIA_NOT_EQUAL_TO;
  rule.format = formats_text(&book->formats, TEXT_BAD);
  worksheet_conditional_format_cell(sheet, (lxw_row_t)row, (lxw_col_t)column, &rule);
}

void put_check_state(struct book *book, lxw_worksheet *sheet, int row, int column) {
  static const char good[] = "all pass", bad[] = "a check FAILS";
  book->checks_ok->used = true;
  put_state(book, sheet, row, column,
            arena_printf(book->arena, "=IF(%s=1,\"%s\",\"%s\")", book->checks_ok->text, good, bad),
            good, bad, book->checks_pass);
}

// An option's id may read like a cell (h200): its sheet's name needs quotes wherever it is written,
// which the library gives only to names with blanks and the like.
static void quote_name(struct book *book, lxw_worksheet *sheet) {
  char *quoted = strdup(arena_printf(book->arena, "'%s'", sheet->name));
  if (!quoted)
    return;
  free(sheet->quoted_name);
  sheet->quoted_name = quoted;
}

// As spreadsheets number paper.
enum { A3 = 8, A4 = 9 };

void begin_sheet(struct book *book, lxw_worksheet *sheet, const char *title, int title_rows,
                 int frozen_columns) {
  enum { LONG_TITLE = 70 };
  quote_name(book, sheet);
  put_text(book, sheet, 0, 0, title, strlen(title) > LONG_TITLE ? TEXT_STRONG : TEXT_TITLE);
  worksheet_set_row(sheet, 0, 24, NULL);
  worksheet_gridlines(sheet, LXW_HIDE_ALL_GRIDLINES);
  worksheet_set_landscape(sheet);
  worksheet_set_paper(sheet, A4);
  worksheet_set_margins(sheet, 0.5, 0.5, 0.6, 0.7);
  worksheet_fit_to_pages(sheet, 1, 0);
  worksheet_set_footer(sheet, "&Lpertoken: &A&RPage &P of &N");
  if (!title_rows)
    return;
  worksheet_freeze_panes(sheet, (lxw_row_t)title_rows, (lxw_col_t)frozen_columns);
  worksheet_repeat_rows(sheet, 0, (lxw_row_t)title_rows - 1);
}

void protect_sheet(lxw_worksheet *sheet) {
  lxw_protection allowed = {.format_columns = LXW_TRUE, .format_rows = LXW_TRUE};
  worksheet_protect(sheet, NULL, &allowed);
}

void end_sheet(lxw_worksheet *sheet, int last_row, int last_column) {
  enum { MOST_A4_COLUMNS = 30 }; // still readable on one page's width
  if (last_column >= MOST_A4_COLUMNS)
    worksheet_set_paper(sheet, A3);
  worksheet_print_area(sheet, 0, 0, (lxw_row_t)last_row, (lxw_col_t)last_column);
  protect_sheet(sheet);
}

const char *stamp_text(const struct book *book) {
  return scenario_stamp(book->scenario, book->arena);
}

int put_stamps(struct book *book, lxw_worksheet *sheet, int row) {
  const char *text = stamp_text(book);
  if (!*text)
    return row;
  put_text(book, sheet, row, 0, text, TEXT_STAMP);
  return row + 1;
}

struct name *option_name(const struct option_sheet *sheet, int declaration) {
  return sheet->graph.names[declaration];
}

double shown_value(const struct book *book, const struct option_sheet *sheet, int declaration,
                   int period) {
  const struct unit *unit = &sheet->graph.model.declarations[declaration].unit;
  return evaluation_at(sheet->graph.evaluation, declaration, period)[book->scenario->selected] /
         unit_cell_factor(unit);
}
