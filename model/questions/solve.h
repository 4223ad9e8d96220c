// solve: the value of one input at which an option reaches a wanted cost: the discount to ask for,
// the walk-away price, the number of engineers that cancels an advantage, the tokens/s that a
// challenger must show.
#ifndef PERTOKEN_MODEL_QUESTIONS_SOLVE_H
#define PERTOKEN_MODEL_QUESTIONS_SOLVE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/scenario.h"
#include "model/whatif/variation.h"

#include <stddef.h>

enum { MAX_SOLVE_ROOTS = 8 };

struct solve_question {
  const char *option;  // whose cost is wanted
  const char *input;   // "list_price", of that option if possible; or "h200.discount"
  const char *match;   // the option whose cost it must match; NULL: the baseline
  const char *target;  // "0.30 USD/Mtok" instead of another option; NULL: none
  double saving;       // over the matched option, a fraction: 0.05 wants 95 % of its cost
  const char *between; // "LOW:HIGH", numbers with a unit at the end or in the input's own; NULL:
                       // the input's limits, as far as values make sense
};

// Gaps are cost / wanted cost - 1.
struct solve_sides {
  bool
      jumps; // the cost jumps across the wanted one, or to it: at a threshold, such as whole nodes,
             // or between two whole numbers
  bool ties; // from here on, or up to here, many values cost as much as wanted
  int before, after;           // the signs of the gaps below and above it, also if it does not jump
  double below, above;         // the values on both sides: for a whole number, neighbors
  double gap_below, gap_above; // there
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
  double wanted_cost, saving, base;   // base units
  double low, high;                   // the interval that was searched
  double gap_low, gap_high, gap_base; // cost / wanted cost - 1 there
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

// Searches the whole interval for changes of sign and for values that cost as much as wanted: at
// 768 points, a third of them evenly spaced, and a third each at distances from the low end and
// from the scenario's value that grow geometrically, so that no crossing near these is missed.
// Without an upper limit, the interval ends at 2e6 times the value in the scenario (or two million
// units if that is zero), and the dense points at twice that value or, if the sign changes later,
// there; beyond, each point doubles the last. A crossing is refined by Brent's method to 1e-12 of
// the value or, if the cost jumps, by bisection to its last bits. No crossing is an answer with
// count 0. Returns NULL after errors.
const struct solve_answer *solve_ask(const struct scenario *scenario,
                                     const struct solve_question *question, struct arena *arena,
                                     struct diagnostics *diagnostics);

#endif
