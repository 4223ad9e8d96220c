// remedy: what a vendor owes in the draws in which accelerators are slower than its offer
// guarantees.
//
// It is due if the option's speed is below the guaranteed speed less the offer's tolerance. Money
// and replacement are items of the cost model, remedy_total and made_good, and are counted here
// only to be reported. docs/offer.md has the formulas.
#ifndef PERTOKEN_MODEL_SIMULATE_REMEDY_H
#define PERTOKEN_MODEL_SIMULATE_REMEDY_H

#include "base/arena.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// The remedy for one option.
struct remedy {
  size_t option;
  const char *words; // "h200 (Example Compute Q-2026-118, guarantee decoding): ..."
  bool replacement;  // else money
};

struct remedies {
  struct remedy *list;
  size_t count;
};

// The remedies of all options that have one in the selected case.
struct remedies remedies_of(const struct scenario *scenario, struct arena *arena);

#endif
