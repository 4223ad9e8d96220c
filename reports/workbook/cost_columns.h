// cost_columns: parts of an option's calculation once more, as columns of a sheet of cases.
//
// A column holds what changes when one input has another value: the line items that a wanted one
// needs and that depend on the input, the periods of a series below one another. Everything else is
// read where it stands, so that the columns stay live.
#ifndef PERTOKEN_REPORTS_WORKBOOK_COST_COLUMNS_H
#define PERTOKEN_REPORTS_WORKBOOK_COST_COLUMNS_H

#include "reports/spreadsheet/book.h"
#include "reports/workbook/sheets.h"

#include <stddef.h>

struct replica_column {
  int input;         // a declaration of the scenario's model
  const char *cell;  // absolute address of its other value, on the same sheet
  double value;      // that value in the selected case, in base units
  const char *title; // above the column
};

struct replica;

// Lays the block out from `row` on, in the columns from `first_column` on; the period of a series'
// row stands in the column before. Nothing is written yet.
struct replica *replica_new(struct book *book, const struct option_sheet *option, int wanted,
                            int row, int first_column, const struct replica_column *columns,
                            size_t count);

// The first row behind the block.
int replica_end(const struct replica *replica);

// Where the wanted line item of a column stands, "$F$80", and what the cell shows; where it does not
// depend on the column's input, the option's own: "pt_h200_tco".
const char *replica_cell(const struct replica *replica, size_t column);
double replica_value(const struct replica *replica, size_t column);

void replica_write(const struct replica *replica);

#endif
