// allocation_programme: the mixed integer program of allocation.h, as GLPK solves it.
#ifndef PERTOKEN_MODEL_OPTIMISE_ALLOCATION_PROGRAMME_H
#define PERTOKEN_MODEL_OPTIMISE_ALLOCATION_PROGRAMME_H

#include "base/arena.h"
#include "model/optimise/allocation_problem.h"

#include <stdbool.h>

// Whether this build has GLPK.
bool allocation_available(void);

// The problem's best split within limit_s seconds, as far as GLPK can tell, without sums: cost and
// capex are 0. It has failed if there is no GLPK.
struct allocation allocation_programme(const struct allocation_problem *problem, double limit_s,
                                       struct arena *arena);

#endif
