// lateness: what it costs that a part of an option's accelerators is delivered late, what the
// vendor would have to pay to make up for it, and how much of that its contract pays.
#ifndef PERTOKEN_MODEL_QUESTIONS_LATENESS_H
#define PERTOKEN_MODEL_QUESTIONS_LATENESS_H

#include "base/arena.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// In base units, for the selected case. The cost of an option is lower by what its contract pays;
// what the delay adds, and what would offset it, are before that.
struct lateness {
  double on_time;  // cost_per_mtok if everything were there at the outset
  double increase; // of the cost above that, a fraction
  double damages;  // an amount, undiscounted, with which the cost is the same; 0 if it is no higher
  double rate;     // damages per time of the delay
  double share;    // of the price of the hardware that is late, per time; NAN if nothing is bought
  // Of the damages, by the contract's clause for a delay; NAN without one.
  double paid, uncovered;
};

// False if the option has no delay, or a cost with or without it that is not a number above zero.
bool lateness_of(const struct scenario *scenario, size_t option, struct lateness *lateness,
                 struct arena *arena);

#endif
