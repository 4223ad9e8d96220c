// cells: writes the cells of the current sheet. Rows and columns count from 0, as in libxlsxwriter.
// The first pass writes nothing; a cell that cannot be written fails the book.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_CELLS_H
#define PERTOKEN_REPORTS_SPREADSHEET_CELLS_H

#include "base/arena.h"
#include "model/cost/units.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"

#include <stddef.h>

// Text that is never a formula or a number, whatever it begins with. Invalid UTF-8 and control
// characters are replaced; text beyond a cell's length is cut.
void put_text(struct book *book, int row, int column, const char *text, enum text_format format);
void put_typed_text(struct book *book, int row, int column, const char *text, enum cell_role role);
void put_number(struct book *book, int row, int column, double value, lxw_format *format);

// A formula, "=...", from a format like printf's, with its value in the selected case, as the cell
// shows it.
void put_formula(struct book *book, int row, int column, double value, enum cell_role role,
                 const struct unit *unit, const char *formula, ...)
    __attribute__((format(printf, 7, 8)));
void put_formula_in(struct book *book, int row, int column, double value, lxw_format *format,
                    const char *formula, ...) __attribute__((format(printf, 6, 7)));
// A formula that gives "-" instead of a number in some cases, as now if `value` is not finite.
void put_formula_or_dash(struct book *book, int row, int column, double value, lxw_format *format,
                         const char *formula);
// A formula that gives an error in some cases, as now if `value` is not finite.
void put_formula_or_error(struct book *book, int row, int column, double value, lxw_format *format,
                          const char *formula);
void put_formula_text(struct book *book, int row, int column, const char *value, lxw_format *format,
                      const char *formula, ...) __attribute__((format(printf, 6, 7)));

// "=pt_NAME", green if the name is on another sheet.
void put_link(struct book *book, int row, int column, struct name *name, double value,
              const struct unit *unit);

// A row's first three cells: label, key and unit. A plain number has no unit, except in a line
// item, which says "-".
void put_labels(struct book *book, int row, const char *label, const char *key, const char *unit);
void put_item_labels(struct book *book, int row, const char *label, const char *key,
                     const char *unit);

// A table's heading row from column 0 on; put_headings, above numbers, starts at any column.
void put_header(struct book *book, int row, const char *const *texts, int count);
void put_headings(struct book *book, int row, int column, const char *const *texts, int count);

// A group's heading over columns 0..last.
void put_heading(struct book *book, int row, int last, const char *text);

// Merges columns 0..last of a row; the caller writes the text.
void merge_line(struct book *book, int row, int last, enum text_format format);

// The minimum widths of the columns from 0 on, in characters; the last one applies up to column
// `last`.
void set_widths(struct book *book, const int *widths, int count, int last);

// A formula whose result is `good` or `bad`, in color; is_good: in the selected case.
void put_state(struct book *book, int row, int column, const char *formula, const char *good,
               const char *bad, bool is_good);

// A conditional format, or a restriction of what may be typed, in the cells first_row..last_row of
// the columns.
void put_rule(struct book *book, int first_row, int first_column, int last_row, int last_column,
              lxw_conditional_format *rule);
void put_validation(struct book *book, int first_row, int first_column, int last_row,
                    int last_column, lxw_data_validation *rule);

// A sample of a role's format for a legend: locked, whatever the role.
void put_sample(struct book *book, int row, int column, const char *text, enum cell_role role);

// A hyperlink to another sheet of the workbook, by its name.
void put_jump(struct book *book, int row, int column, const char *sheet);

// Text without invalid characters, no longer than `length` characters.
const char *safe_text(const char *text, size_t length, struct arena *arena);

// "B7" and "$B$7".
const char *cell_here(const struct book *book, int row, int column);
const char *cell_fixed(const struct book *book, int row, int column);

// "'h200'!$F$12"
const char *cell_on(const struct book *book, const char *sheet, int row, int column);

// Title in A1 and everything that prepares a sheet for printing; `title_rows` are repeated and
// frozen.
void begin_sheet(struct book *book, const char *title, int title_rows, int frozen_columns);

// Room for the contents of all cells (autofit.h), print area and protection, without a password.
void end_sheet(struct book *book, int last_row, int last_column);

#endif
