// formula: a line item's formula as the text that a spreadsheet computes.
//
// The engine computes in base units; cells hold display units. Every part of a formula therefore
// carries the conversion of its unit: for products they are added, for quotients subtracted; sums
// and comparisons convert their operands to the unit of the first, and the total is converted to
// the line item's own unit, by named constants. Scalars are read by name, series in the cell of the
// same column.
//
// Spreadsheets disagree about -2^2 and 2^3^2: powers and signs are always in parentheses.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_FORMULA_H
#define PERTOKEN_REPORTS_SPREADSHEET_FORMULA_H

#include "base/arena.h"
#include "model/cost/formula.h"
#include "model/cost/model.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/names.h"

// Where the formulas of a calculation sheet find their operands.
struct formula_references {
  const struct model *model;
  struct name *const *names;   // by declaration: of inputs and scalars
  const int *rows;             // by declaration: of series, from 0
  int time_row;                // row of the period numbers, from 0
  int first_period, periods;   // the column of period 0, from 0; number of columns
  struct constants *constants; // where the literals of formulas go
  struct arena *arena;
  bool final; // marks names as used; not for a text that is only measured

  // On a sheet other than a calculation sheet: the addresses there, or NULL for what is read as
  // above. `column` counts as if periods ran across from first_period on.
  const char *(*scalar)(const struct formula_references *, int declaration);
  const char *(*series)(const struct formula_references *, int declaration, int column);
  // The number of a period beside a series' value, or (-1) beside the formula.
  const char *(*time)(const struct formula_references *, int series, int column);
  const void *elsewhere; // context of these functions
};

// "=pt_h200_net_price*F12": the formula of `item` in a column (which scalars ignore).
const char *spreadsheet_formula(const struct declaration *item, const struct node *formula,
                                int column, const struct formula_references *references);

// "B7", "$B$7", "$B7": a cell's address, row and column from 0.
enum address { ADDRESS_RELATIVE, ADDRESS_ROW = 1, ADDRESS_COLUMN = 2, ADDRESS_ABSOLUTE = 3 };
const char *cell_address(int row, int column, enum address fixed, struct arena *arena);

// "'h200'!F12"
const char *sheet_address(const char *sheet, int row, int column, enum address fixed,
                          struct arena *arena);

#endif
