// cells: what is written on the sheet at hand. Rows and columns count from 0, as in libxlsxwriter.
// In the first pass nothing is; a cell that cannot be written fails the book.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_CELLS_H
#define PERTOKEN_REPORTS_SPREADSHEET_CELLS_H

#include "base/arena.h"
#include "model/cost/units.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"

#include <stddef.h>

// Text that is neither formula nor number, whatever it begins with. What is no UTF-8, control
// characters and what is over a cell's length are replaced or cut.
void put_text(struct book *book, int row, int column, const char *text, enum text_format format);
void put_typed_text(struct book *book, int row, int column, const char *text, enum cell_role role);
void put_number(struct book *book, int row, int column, double value, lxw_format *format);

// A text that may be long, such as a source: wrapped at that many characters, the row as high as it
// needs to be.
void put_wrapped(struct book *book, int row, int column, const char *text, size_t width,
                 enum text_format format);

// A formula, "=...", after a format like printf's, with the value that it has in the selected case, as
// the cell shows it.
void put_formula(struct book *book, int row, int column, double value, enum cell_role role,
                 const struct unit *unit, const char *formula, ...)
    __attribute__((format(printf, 7, 8)));
void put_formula_in(struct book *book, int row, int column, double value, lxw_format *format,
                    const char *formula, ...) __attribute__((format(printf, 6, 7)));
void put_formula_text(struct book *book, int row, int column, const char *value, lxw_format *format,
                      const char *formula, ...) __attribute__((format(printf, 6, 7)));

// "=pt_NAME", green when the name is on another sheet.
void put_link(struct book *book, int row, int column, struct name *name, double value,
              const struct unit *unit);

// A row's first three cells: label, key and unit.
void put_labels(struct book *book, int row, const char *label, const char *key, const char *unit);

// A table's heading row from column 0 on; put_headings, above numbers, from any column.
void put_header(struct book *book, int row, const char *const *texts, int count);
void put_headings(struct book *book, int row, int column, const char *const *texts, int count);

// A group's heading over columns 0..last.
void put_heading(struct book *book, int row, int last, const char *text);

// Merges columns 0..last of a row, `width` characters wide together, and makes it as high as a text
// of that many characters in that size needs; the text is written by the caller.
void merge_line(struct book *book, int row, int last, double width, size_t characters, int size,
                enum text_format format);

// A row as high as that many lines of usual text; of one line as it is.
void set_lines(struct book *book, int row, size_t lines);

// The widths of the columns from 0 on, in characters; the last of them holds up to column `last`.
void set_widths(struct book *book, const int *widths, int count, int last);

// A formula that says `good` or `bad`, in colours; is_good: in the selected case.
void put_state(struct book *book, int row, int column, const char *formula, const char *good,
               const char *bad, bool is_good);

// A conditional format, or what may be typed, in the cells first_row..last_row of the columns.
void put_rule(struct book *book, int first_row, int first_column, int last_row, int last_column,
              lxw_conditional_format *rule);
void put_validation(struct book *book, int row, int first_column, int last_column,
                    lxw_data_validation *rule);

// The sample of a role in a legend: locked, whatever the role.
void put_sample(struct book *book, int row, int column, const char *text, enum cell_role role);

// A hyperlink to another sheet of the workbook, by its name.
void put_jump(struct book *book, int row, int column, const char *sheet);

// Text that is safe and no longer than `length` characters.
const char *safe_text(const char *text, size_t length, struct arena *arena);

// "B7" and "$B$7".
const char *cell_here(const struct book *book, int row, int column);
const char *cell_fixed(const struct book *book, int row, int column);

// "'h200'!$F$12"
const char *cell_on(const struct book *book, const char *sheet, int row, int column);

// Title in A1 and all that makes a sheet ready to print; `title_rows` are repeated and frozen.
void begin_sheet(struct book *book, const char *title, int title_rows, int frozen_columns);

// Print area and protection, without a password. A sheet of texts alone needs no area: all of it is
// printed where last_row is -1.
void end_sheet(struct book *book, int last_row, int last_column);

#endif
