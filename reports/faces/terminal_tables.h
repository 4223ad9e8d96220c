// terminal_tables: the tables of an answer on a terminal: as a grid, as several grids below each
// other, turned so that columns are rows, or as a tree; whichever the table asks for and the width
// has room for.
#ifndef PERTOKEN_REPORTS_FACES_TERMINAL_TABLES_H
#define PERTOKEN_REPORTS_FACES_TERMINAL_TABLES_H

#include "reports/faces/answer.h"
#include "reports/faces/terminal_cells.h"

#include <stdbool.h>

// Whether a terminal shows any row of it.
bool table_has_rows(const struct answer_table *table);

// Prints a table, with its title above and its note below.
void table_print(const struct view *view, const struct answer_table *table);

#endif
