// programme: the lowest cost of a fleet over several periods, by GLPK (branch and bound; Makhorin,
// GLPK 5.0 reference manual, section 2.10). fleet.h states what is minimized.
#ifndef PERTOKEN_MODEL_PLAN_PROGRAMME_H
#define PERTOKEN_MODEL_PLAN_PROGRAMME_H

#include "base/arena.h"
#include "model/plan/fleet.h"

#include <stdbool.h>

enum programme_status {
  PROGRAMME_OPTIMAL,
  PROGRAMME_INFEASIBLE,
  PROGRAMME_UNPROVEN, // time limit reached: the best so far; or it costs more than was counted
  PROGRAMME_BEATEN,   // nothing costs less than the cost to beat
  PROGRAMME_FAILED    // no answer: time limit reached before anything was found, or no GLPK
};

struct programme_result {
  enum programme_status status;
  struct planned_fleet fleet;
  double bound; // USD: no fleet costs less
  bool rounded; // unproven only because spares cost more than a program counts (fleet.h)
};

// A fleet whose cost exceeds the bound by at most this share counts as the cheapest: the rest is
// due to the solver's own tolerances.
#define PROGRAMME_GAP 1e-7

struct programme_limits {
  double time_s;
  double cost; // USD to beat; INFINITY: none
};

// Whether this build has GLPK.
bool programme_available(void);

// A fleet that satisfies its constraints by independent sums; one that violates them does not
// count.
struct programme_result programme_solve(const struct fleet_problem *problem,
                                        struct programme_limits limits, struct arena *arena);

bool programme_has_fleet(const struct programme_result *result);

// The gap of a result, (cost - bound) / cost; 0 if it is proven.
double programme_gap(const struct programme_result *result);

#endif
