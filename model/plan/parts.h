// parts: the components of the cost of a plan's purchases, by the cost model's own items.
#ifndef PERTOKEN_MODEL_PLAN_PARTS_H
#define PERTOKEN_MODEL_PLAN_PARTS_H

#include "base/arena.h"
#include "model/plan/outcome.h"

#include <stddef.h>

// The lots of an action in the plan, with what makes their order's spares whole: the items that add
// up to their capital and operating expenditure, and their resale. Their sum in a period is the
// action's cash.
struct plan_parts {
  const int *items; // [count] declarations
  size_t count;
  int periods;
  const double *paid; // [count][periods] USD, from the purchase on; undiscounted
};

struct plan_parts plan_parts_of(const struct plan_answer *answer, size_t action,
                                struct arena *arena);

static inline double plan_part_paid(const struct plan_parts *parts, size_t item, int period) {
  return parts->paid[item * (size_t)parts->periods + (size_t)period];
}

#endif
