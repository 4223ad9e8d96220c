// solve_search: where the cost of an option crosses the one that solve.h asks for.
#ifndef PERTOKEN_MODEL_QUESTIONS_SOLVE_SEARCH_H
#define PERTOKEN_MODEL_QUESTIONS_SOLVE_SEARCH_H

#include "base/arena.h"
#include "model/questions/solve.h"

#include <math.h>
#include <stdbool.h>

// A gap that is smaller is rounding in the last digits: the costs are the same.
#define SOLVE_TIE 1e-12

// cost / wanted cost - 1. matched: the cost of the option that it must match, if any.
static inline double solve_gap(const struct solve_answer *answer, double cost, double matched) {
  const double wanted = (answer->matches ? matched : answer->wanted_cost) * (1 - answer->saving);
  const double gap = cost / wanted - 1;
  return fabs(gap) < SOLVE_TIE ? 0 : gap;
}

// Chooses low and high, unless they are given, and finds everything that follows from the fields
// before them.
void solve_search(struct solve_answer *answer, bool interval_given, struct arena *arena);

#endif
