// step_numbers: the numbering of the steps of line items, so that ITEM_step_2 is the same on the
// sheet of every option that has it.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_STEP_NUMBERS_H
#define PERTOKEN_REPORTS_SPREADSHEET_STEP_NUMBERS_H

#include "base/arena.h"
#include "model/cost/model.h"

#include <stddef.h>

struct numbered_step {
  const char *item, *what;
  int number;
};

// Initialize to {0}.
struct step_numbers {
  struct numbered_step *list;
  size_t count, capacity;
};

// The number, from 1, of a step of the item: `what` it computes, as text. A new step gets the next
// number for which the model does not declare ITEM_step_NUMBER. The texts must outlive the numbers.
int step_number(struct step_numbers *numbers, const struct model *model, const char *item,
                const char *what, struct arena *arena);

#endif
