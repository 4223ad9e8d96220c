// solve_search: the values of an input at which the cost of an option crosses the one wanted.
#ifndef PERTOKEN_MODEL_QUESTIONS_SOLVE_SEARCH_H
#define PERTOKEN_MODEL_QUESTIONS_SOLVE_SEARCH_H

#include "base/arena.h"
#include "model/scenario/scenario.h"
#include "model/whatif/variation.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum { MAX_SOLVE_ROOTS = 8 };

// The cost of the option at a value of the input, and the cost wanted there, in base units.
struct solve_costs {
  double cost, wanted;
};

struct solve_sides {
  // The cost jumps across the wanted one, or to it: at a threshold, such as whole nodes, or between
  // two whole numbers.
  bool jumps;
  bool ties;         // from here on, or up to here, many values cost as much as wanted
  int before, after; // the signs of the gaps below and above it, also if it does not jump
  // The values on both sides: for a whole number, neighbors, or both of them if it is cheap enough
  // between two that are not.
  double below, above;
  struct solve_costs costs_below, costs_above; // there
};

// The values from one to another cost no more than wanted; infinite: the end of the interval.
struct solve_stretch {
  double from, to;
};

struct solve_answer {
  const struct scenario *scenario;
  size_t option;
  struct target target;
  const char *name; // of the target
  int item;         // cost_per_mtok
  bool matches;     // another option, else wanted_cost
  size_t match;
  double wanted_cost, saving, base; // base units
  double low, high;                 // the interval that was searched
  struct solve_costs costs_low, costs_high, costs_base;
  // Ascending. At a jump, the side on which the option costs no more than wanted.
  double roots[MAX_SOLVE_ROOTS];
  struct solve_sides sides[MAX_SOLVE_ROOTS];
  size_t count;
  bool more; // there are more than MAX_SOLVE_ROOTS
  struct solve_stretch stretches[MAX_SOLVE_ROOTS + 1];
  size_t stretch_count;
  bool by_stretches;    // some root jumps or ties, so that the stretches say more than the roots
  bool flat;            // the input does not change the gap: no roots, also if it is zero
  bool integer;         // roots are whole numbers
  const double *points; // the points checked, ascending, from low to high
  size_t point_count;
};

// A gap that is larger than this next to a change of sign is a pole, not a solution.
#define SOLVE_POLE 1e6

// A gap that is smaller is rounding in the last digits: the costs are the same.
#define SOLVE_TIE 1e-12

// The costs at one value. matched: the cost of the option that it must match, if any.
static inline struct solve_costs solve_costs(const struct solve_answer *answer, double cost,
                                             double matched) {
  return (struct solve_costs){cost, (answer->matches ? matched : answer->wanted_cost) *
                                        (1 - answer->saving)};
}

// The gap by which the cost is above the wanted one, as a share of that; if that is zero, in
// millions of base units, USD/Mtok.
static inline double solve_gap(struct solve_costs costs) {
  const double more = costs.cost - costs.wanted;
  const double gap = costs.wanted != 0 ? more / fabs(costs.wanted) : more * 1e6;
  return fabs(gap) < SOLVE_TIE ? 0 : gap;
}

// The share cost / wanted cost - 1; NAN if there is no such share, unless both are the same.
static inline double solve_ratio(struct solve_costs costs) {
  const double gap = solve_gap(costs);
  return gap == 0 || costs.wanted > 0 ? gap : NAN;
}

// Searches the whole interval for changes of sign and for values that cost as much as wanted: at
// 768 points, a third of them evenly spaced, and a third each at distances from the low end and
// from the scenario's value that grow geometrically (around a whole number: 127 on either side), so
// that no crossing near these is missed. Without an upper limit, the interval ends at 2e6 times the
// value in the scenario (or two million units if that is zero), and the dense points at twice that
// value or, if the sign changes later, there; beyond, each point doubles the last. A crossing is
// refined by Brent's method to 1e-12 of the value or, if the cost jumps, by bisection to its last
// bits.
//
// The fields of the answer up to `base`, and `integer`, are given; so are low and high if
// interval_given.
void solve_search(struct solve_answer *answer, bool interval_given, struct arena *arena);

#endif
