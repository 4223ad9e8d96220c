// grid: rows of cells, aligned by display width, for tables that people read.
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
  bool *left; // [columns] aligned to the left; column 0 always is
  struct grid_row *rows;
  size_t count, capacity;
};

struct grid *grid_new(int columns, struct arena *arena);

// A new row, all cells empty.
struct cell *grid_row(struct grid *grid);

// A rule over the width of the grid.
void grid_rule(struct grid *grid);

// Cuts texts short, of those of the columns that may be which are the widest, until the grid takes no
// more than `width` columns or none of them has more than a few.
void grid_squeeze(struct grid *grid, const bool *may_cut, int width);

// The columns it takes with its first column as narrow as `label`, on a terminal of any width.
int grid_width(const struct grid *grid, int label);

// Prints the grid, two blanks between columns. The first column is wrapped at blanks as far as
// the style's width demands; where that is not enough, the columns that do not fit follow below, in
// a grid of their own with the first column once more. Cells are passed through style_text.
void grid_print(const struct grid *grid, const struct style *style);

#endif
