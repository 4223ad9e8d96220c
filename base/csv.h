// csv: the text of a CSV file (RFC 4180, comma, UTF-8, LF or CRLF) as a table of text cells.
//
// The first line names the columns. Blank lines are skipped; blanks around an unquoted cell do not
// count. Cells point into one buffer in the arena, so a table lives as long as its arena.
#ifndef PERTOKEN_BASE_CSV_H
#define PERTOKEN_BASE_CSV_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>

// A row's line and its first byte, from which the place of a cell is found on demand.
struct table_row {
  size_t offset;
  int line;
  const struct table *of; // the table that it was read from; NULL: this one
};

struct table {
  const char *name;            // as given to csv_read
  const struct source *source; // never NULL
  size_t columns, rows;
  const char *const *column_names; // [columns]; none is blank, no two are alike
  const char *const *cells;        // [rows * columns], row by row; "" when blank, never NULL
  const struct table_row *places;  // [rows]
  struct table_row header;
  const struct table_key *keys; // of table_index, else NULL
  int kind;                     // for the owner of a set of tables: which one this is; -1: none
};

// Limits, beyond which there is an error: bytes of a line without its line end, columns of a table.
enum { MAX_CSV_LINE = 65536, MAX_CSV_COLUMNS = 256 };

// Reports every error in the text, each with its place: no header, one with semicolons or tabs in
// place of commas, a blank or repeated column name, a row with too few or too many cells, a stray
// or unclosed quote, an over-long line, a carriage return within a line. Without a readable header
// the rows are not read. NULL after errors.
struct table *csv_read(const struct source *source, const char *name, struct arena *arena,
                       struct diagnostics *diagnostics);

// The table's rows, then the rows of `more` with these numbers: a column that `more` lacks is blank
// in them, and one that only `more` has is left out. Rows keep their places. Not indexed.
struct table *table_with(const struct table *table, const struct table *more, const size_t *rows,
                         size_t count, struct arena *arena);

// The number of a column, or -1.
int table_column(const struct table *table, const char *name);

// The cell of a column that must exist (asserted, never an error). "" when blank.
const char *table_cell(const struct table *table, size_t row, const char *column);

// Reads a number. Returns false if the cell is blank or is not a finite decimal number; *out is
// then unchanged.
bool table_number(const struct table *table, size_t row, const char *column, double *out);

// The cell's number, or `none`.
double table_number_or(const struct table *table, size_t row, const char *column, double none);

// The place where a cell begins; for a column that the table lacks, where the row begins.
struct place table_place(const struct table *table, size_t row, const char *column);

// The place where the header begins.
struct place table_header_place(const struct table *table);

// Makes table_find work on the cells of one column. A blank or repeated cell is an error. Returns 0
// or -1.
int table_index(struct table *table, const char *column, struct arena *arena,
                struct diagnostics *diagnostics);

// The row whose indexed cell is `key`, or -1, in constant time.
long table_find(const struct table *table, const char *key);

// A finite decimal number that is the whole text ("1200", "-3.5e6"): no blanks, hexadecimal, nan or
// inf.
bool csv_number(const char *text, double *out);

#endif
