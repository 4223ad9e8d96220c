// neighbours: a second search of a program, for better solutions near the best one, while the first
// closes the gap to the bound.
//
// All lots are fixed as in the best solution, except those of some periods or options, and the
// program is solved for these alone: each period in turn, each pair of options in turn, then more
// periods at once. The first solution is built a few periods at a time, allowing fractions of lots
// in later ones. (Pochet and Wolsey, Production Planning by Mixed Integer Programming, 2006,
// section 3.6: relax-and-fix, exchange.)
//
// Only for files that are compiled with GLPK.
#ifndef PERTOKEN_MODEL_PLAN_NEIGHBOURS_H
#define PERTOKEN_MODEL_PLAN_NEIGHBOURS_H

#include "base/arena.h"
#include "model/plan/fleet.h"
#include "model/plan/incumbent.h"

struct neighbours;

// Runs in its own thread, until neighbours_end or until end_s by the machine's clock. NULL if this
// GLPK cannot be used by several threads, or no thread is available. Its memory is in the arena.
struct neighbours *neighbours_start(const struct fleet_problem *problem,
                                    struct incumbent *incumbent, double end_s, struct arena *arena);

void neighbours_end(struct neighbours *neighbours);

#endif
