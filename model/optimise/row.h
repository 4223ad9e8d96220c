// row: the constraints of a GLPK program, each built term by term.
//
// Only for files that are compiled with GLPK.
#ifndef PERTOKEN_MODEL_OPTIMISE_ROW_H
#define PERTOKEN_MODEL_OPTIMISE_ROW_H

#include "base/arena.h"

#include <glpk.h>
#include <stddef.h>

// The terms of the row being built, from 1; their memory is in the arena.
struct row {
  glp_prob *glpk;
  int *columns;
  double *values;
  int terms;
};

// Room for rows over `columns` columns, none started; the program is set when it is created.
struct row row_of(size_t columns, struct arena *arena);

// A coefficient of 0 adds no term. Each column may occur at most once in a row.
void row_add(struct row *row, int column, double value);

// Ends the row: the sum of its terms is between low and high; an infinite end is open. It has one
// finite end, or two equal ones.
void row_end(struct row *row, double low, double high);

#endif
