#include "model/optimise/row.h"

#include <math.h>

struct row row_of(size_t columns, struct arena *arena) {
  return (struct row){.columns = arena_array(arena, columns + 1, sizeof(int)),
                      .values = arena_array(arena, columns + 1, sizeof(double))};
}

void row_add(struct row *row, int column, double value) {
  if (value == 0)
    return;
  row->terms++;
  row->columns[row->terms] = column;
  row->values[row->terms] = value;
}

void row_end(struct row *row, double low, double high) {
  const int kind = !isfinite(low) ? GLP_UP : !isfinite(high) ? GLP_LO : GLP_FX;
  const int index = glp_add_rows(row->glpk, 1);
  glp_set_row_bnds(row->glpk, index, kind, low, high);
  glp_set_mat_row(row->glpk, index, row->terms, row->columns, row->values);
  row->terms = 0;
}
