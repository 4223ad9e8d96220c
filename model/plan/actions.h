// actions: what a plan can do with an option: the possible purchases and rents, and their volume
// tiers.
#ifndef PERTOKEN_MODEL_PLAN_ACTIONS_H
#define PERTOKEN_MODEL_PLAN_ACTIONS_H

#include "base/arena.h"
#include "model/plan/fleet.h"
#include "model/plan/quote.h"

#include <stddef.h>

// Fills in where the tiers of an option begin, in lots with their spares: at a number of
// accelerators in one order, or after all accelerators up to that number have been ordered. A
// number that whole spares alone reach is reached. Missing tiers of a case are copies of its last
// one.
void actions_find_tiers(const struct quoting *quoting, size_t o, struct fleet_option *option);

// Lists rents by the term, up to the horizon, and purchases that last until the horizon, the end of
// their life, or an earlier anniversary. Returns how many there are, at most periods * periods *
// (FLEET_MOST_TIERS + 1).
size_t actions_list(const struct quoting *quoting, size_t o, const struct fleet_option *option,
                    struct fleet_action *actions);

// The quote of the option over the whole plan, then that of each action, then that of each with a
// spare added to every accelerator. In the arena.
struct quote *actions_quotes(const struct quoting *quoting, size_t o,
                             const struct fleet_action *actions, size_t count, struct arena *arena);

#endif
