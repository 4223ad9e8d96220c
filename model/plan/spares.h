// spares: orders with whole spares, and plans that pay for them.
//
// A program (fleet.h) counts fractions of spares. What is ordered of an option for a period is
//   ordered = ceil(accelerators * (1 + spares))
// as in the cost model. The accelerators beyond those fractions cost more, never less, so that the
// bound of the program is also one for whole spares, but the cheapest plan may be another one.
#ifndef PERTOKEN_MODEL_PLAN_SPARES_H
#define PERTOKEN_MODEL_PLAN_SPARES_H

#include "base/arena.h"
#include "model/plan/fleet.h"
#include "model/plan/programme.h"

#include <stddef.h>

// Accelerators to be ordered of an option for a period, spares included.
double spares_ordered(const struct fleet_problem *problem, const struct fleet *fleet, size_t option,
                      int period);

// What a single lot costs at its purchase.
double spares_outlay_of_lot(const struct fleet_problem *problem, size_t action);

// What whole spares add to a fleet's cost.
double spares_cost(const struct fleet_problem *problem, const struct fleet *fleet);

// challenge_prove, with whole spares in the fleet, its cost and its outlay. If they cost anything,
// it is not proven. If they break a budget, searches again with that budget lowered by what they
// cost, for as long again at most; PROGRAMME_OVER_BUDGET if that leads nowhere: the fleet is then
// the first one found.
struct programme_result spares_prove(const struct fleet_problem *problem, const struct fleet *known,
                                     double time_s, struct arena *arena);

#endif
