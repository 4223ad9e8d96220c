// cost_curves: the cost per token at other utilizations and at other batches, live: the calculation
// repeated for each point, on the sheet Sensitivity. Outputs draws them.
#ifndef PERTOKEN_REPORTS_SHEETS_COST_CURVES_H
#define PERTOKEN_REPORTS_SHEETS_COST_CURVES_H

#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"

#include <stddef.h>

struct cost_curve {
  size_t option;
  int input; // a declaration: the input that changes from point to point
  size_t count;
  const struct batch_curve *batches; // NULL: utilizations
  int x_row, input_row, y_row;       // on Sensitivity, from COLUMN_VALUE on
};

struct cost_curves {
  struct cost_curve *list; // curves over utilization first
  size_t count, utilizations;
};

// Curves over utilization for options that may be ranked; curves over batches if an option's
// evidence has several.
struct cost_curves *curves_plan(const struct book *book);

// The number of rows of their tables; 0 if there are none.
int curves_rows(const struct book *book);

int curves_last_column(const struct book *book);

// Writes the tables from one row on, the calculations from another. Returns the row after the
// latter.
int curves_write(struct book *book, int row, int calculations);

#endif
