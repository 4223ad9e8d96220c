// cost_columns: parts of an option's calculation repeated as columns on a sheet of cases.
//
// A column holds what changes if one input has another value: the line items that the wanted item
// needs and that depend on the input, with the periods of a series below one another. Everything
// else is read in place, so the columns stay live.
#ifndef PERTOKEN_REPORTS_SHEETS_COST_COLUMNS_H
#define PERTOKEN_REPORTS_SHEETS_COST_COLUMNS_H

#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"

#include <stddef.h>

struct replica_column {
  int input;         // a declaration of the scenario's model; the option may compute it
  const char *cell;  // absolute address of its other value, on the same sheet
  double value;      // that value in the selected case, in base units
  const char *title; // above the column
};

struct replica;

// Lays out the block from `row` on, in the columns from `first_column` on; the period of a series'
// row is in the preceding column. Writes nothing yet.
struct replica *replica_new(struct book *book, const struct option_sheet *option, int wanted,
                            int row, int first_column, const struct replica_column *columns,
                            size_t count);

// The first row after the block.
int replica_end(const struct replica *replica);

// The address of a column's wanted line item, "$F$80", and the value that the cell shows; if it
// does not depend on the column's input, the option's own: "pt_h200_tco".
const char *replica_cell(const struct replica *replica, size_t column);
double replica_value(const struct replica *replica, size_t column);

// Puts the column's wanted line item in a cell of the current sheet, a dash where it has no number.
void replica_put(const struct replica *replica, size_t column, int row, int in_column);

void replica_write(const struct replica *replica);

#endif
