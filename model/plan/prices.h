// prices: what a plan's constraints cost, what everything would cost from one vendor, and what each
// option in it saves: all by solving again.
#ifndef PERTOKEN_MODEL_PLAN_PRICES_H
#define PERTOKEN_MODEL_PLAN_PRICES_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/plan/outcome.h"
#include "model/questions/route_pairs.h"

#include <stddef.h>

// Fills in the answer's prices and vendors, within its time. `pairing` is what the plan was priced
// with.
void prices_find(struct plan_answer *answer, const struct pairing *pairing, struct arena *arena,
                 struct diagnostics *diagnostics);

// The best plan without an option.
struct plan_runner_up {
  size_t option;
  struct plan_price price;
  size_t instead; // the option that gains the most tokens; option_count for none
};

// Finds the runner-up to each option in the plan, at most [option_count], within the plan's time
// for all of them. Returns how many there are.
size_t prices_find_runners_up(const struct plan_answer *answer, struct plan_runner_up *found);

#endif
