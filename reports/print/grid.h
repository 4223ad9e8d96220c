// grid: rows of cells, aligned by display width, for tables for people.
#ifndef PERTOKEN_REPORTS_PRINT_GRID_H
#define PERTOKEN_REPORTS_PRINT_GRID_H

#include "base/arena.h"
#include "reports/print/style.h"

#include <stddef.h>

struct cell {
  const char *text; // NULL counts as ""
  enum emphasis emphasis;
};

struct grid_row {
  struct cell *cells; // [columns]; NULL for a rule
};

struct grid {
  struct arena *arena;
  int columns;
  bool *left; // [columns], left-aligned; column 0 always is
  struct grid_row *rows;
  size_t count, capacity;
};

struct grid *grid_new(int columns, struct arena *arena);

// A new row, all cells empty.
struct cell *grid_row(struct grid *grid);

// A rule over the width of the grid.
void grid_rule(struct grid *grid);

// Truncates texts in the widest columns that allow it, until the grid takes no more than `width`
// columns or none of these is wider than a few.
void grid_squeeze(struct grid *grid, const bool *may_cut, int width);

// The width of the grid if its first column is as narrow as `label`, on a terminal of any width.
int grid_width(const struct grid *grid, int label);

// Prints the grid with two spaces between columns. The first column is wrapped at spaces as far as
// the style's width demands; if that is not enough, the columns that do not fit follow below, in a
// grid of their own that repeats the first column. Cells are passed through style_text.
void grid_print(const struct grid *grid, const struct style *style);

// The same with each row folded: what does not fit follows in indented lines below. The first
// column is not wrapped.
void grid_print_folded(const struct grid *grid, const struct style *style);

#endif
