// row_order: a single order of rows for the calculation sheets of all options, so that a row means
// the same on each of them.
//
// A row comes after everything that it is computed from, on every sheet. It is in the block of its
// group, in the order of the model's groups, or in a later block if something that it needs is
// there.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_ROW_ORDER_H
#define PERTOKEN_REPORTS_SPREADSHEET_ROW_ORDER_H

#include "base/arena.h"
#include "model/cost/model.h"
#include "reports/spreadsheet/steps.h"

#include <stddef.h>

struct ordered_row {
  int block;                      // of the model's groups
  const struct declaration *item; // of the first option that has it
  const char *label;              // with the key if an earlier row has the same label
  int *declarations;              // [option_count] in the option's own model, or -1
};

struct row_order {
  struct ordered_row *rows;
  size_t count;
};

// graphs[count] are those of a scenario's options, `model` is the scenario's.
struct row_order *row_order_of(const struct model *model, const struct sheet_graph *const *graphs,
                               size_t count, struct arena *arena);

#endif
