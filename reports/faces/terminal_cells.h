// terminal_cells: the cells of an answer as texts on a terminal.
#ifndef PERTOKEN_REPORTS_FACES_TERMINAL_CELLS_H
#define PERTOKEN_REPORTS_FACES_TERMINAL_CELLS_H

#include "base/arena.h"
#include "reports/faces/answer.h"
#include "reports/print/number.h"
#include "reports/print/style.h"

#include <stdbool.h>
#include <stddef.h>

struct view {
  const struct style *style;
  struct arena *arena;
  bool exact; // numbers with `digits` and their units, for explain
  int digits;
  bool narrow; // shows the columns for little room
};

// Whether the view has room for the column, or the table has another one to show instead.
bool view_has_room(const struct view *view, const struct answer_table *table, size_t column);

// The scale shared by all numbers of a row, or of a column, that have its unit.
struct scale view_row_scale(const struct view *view, const struct answer_table *table, size_t row);
struct scale view_column_scale(const struct view *view, const struct answer_table *table,
                               size_t column);

// The words of a cell of words; else NULL.
const char *cell_shown_text(const struct answer_cell *cell);

// A cell as shown; its number in the scale of its row or its column, which an exact view does not
// use.
const char *view_cell_text(const struct view *view, const struct answer_table *table, size_t row,
                           size_t column, const struct scale *of_column,
                           const struct scale *of_row);

#endif
