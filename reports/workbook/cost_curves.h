// cost_curves: what a token costs at other utilizations and at other batches, live: the calculation once
// more per point, on the sheet Sensitivity. Outputs draws them.
#ifndef PERTOKEN_REPORTS_WORKBOOK_COST_CURVES_H
#define PERTOKEN_REPORTS_WORKBOOK_COST_CURVES_H

#include "reports/spreadsheet/book.h"
#include "reports/workbook/sheets.h"

#include <stddef.h>

struct cost_curve {
  size_t option;
  int input; // a declaration: what changes from point to point
  size_t count;
  const struct batch_curve *batches; // NULL: utilizations
  int x_row, input_row, y_row;       // on Sensitivity, from COLUMN_VALUE on
};

struct cost_curves {
  struct cost_curve *list; // those of utilization first
  size_t count, utilizations;
};

// Utilizations of the options that may be ranked; batches where the
// evidence of an option has several.
struct cost_curves *curves_plan(const struct book *book);

// How many rows their tables take; 0 where there are none.
int curves_rows(const struct book *book);

int curves_last_column(const struct book *book);

// The tables from one row on, the calculations from another. Returns the row behind those.
int curves_write(struct book *book, int row, int calculations);

#endif
