// challenge: compares a fleet found by programme.h with others before it counts as the cheapest.
//
// A fleet is proven only if GLPK closed the gap and none of these beats it: the same fleet with a
// purchase dropped, moved to another period or changed in length; the best fleet without each
// option; the best of each vendor alone. A fleet that beats it replaces it, and is not proven. If
// no fleet was found in time, the cheapest of these counts, if they have one.
#ifndef PERTOKEN_MODEL_PLAN_CHALLENGE_H
#define PERTOKEN_MODEL_PLAN_CHALLENGE_H

#include "base/arena.h"
#include "model/plan/fleet.h"
#include "model/plan/programme.h"

#include <stdbool.h>
#include <stddef.h>

// Solves the problem and challenges the fleet within time_s seconds; the challenges get what the
// search leaves, at least a tenth. If `known`, a fleet that satisfies all constraints, is not NULL,
// only cheaper fleets are searched for.
struct programme_result challenge_prove(const struct fleet_problem *problem,
                                        const struct planned_fleet *known, double time_s,
                                        struct arena *arena);

// Runs only the challenges: `best` stays as it is, or is replaced by what beat it and is no longer
// PROGRAMME_OPTIMAL. If it is not proven anyway, its purchases are only moved.
void challenge_hold(const struct fleet_problem *problem, struct programme_result *best,
                    double time_s, struct arena *arena);

// The problem without an option.
struct fleet_problem challenge_without(const struct fleet_problem *problem, size_t option,
                                       struct arena *arena);

// Whether what one vendor alone serves satisfies the shares of the others: they have none.
bool challenge_may_be_single(const struct fleet_problem *problem, int vendor);

// The problem with one vendor only, whatever its share was to be.
struct fleet_problem challenge_single(const struct fleet_problem *problem, int vendor,
                                      struct arena *arena);

#endif
