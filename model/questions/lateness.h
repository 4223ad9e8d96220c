// lateness: what it costs that a part of an option's accelerators is delivered late, what the
// vendor would have to pay to make up for it, and how much of that its contract pays.
#ifndef PERTOKEN_MODEL_QUESTIONS_LATENESS_H
#define PERTOKEN_MODEL_QUESTIONS_LATENESS_H

#include "base/arena.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

enum lateness_amount {
  LATENESS_ON_TIME,  // cost_per_mtok if everything were there at the outset
  LATENESS_INCREASE, // of the cost above that, a fraction
  LATENESS_DAMAGES,  // undiscounted, with which the cost is the same; 0 if it is no higher
  LATENESS_RATE,     // damages per time of the delay; 0 without a delay
  LATENESS_SHARE,    // of the price of the hardware that is late, per time; NAN: nothing is bought
  LATENESS_PAID,     // of the damages, by the contract's clause for a delay; NAN without one
  LATENESS_UNCOVERED // the same
};
enum { LATENESS_AMOUNTS = LATENESS_UNCOVERED + 1 };

// The words with which every face shows the amounts.
extern const struct lateness_words {
  const char *key, *label, *unit;
  int digits; // significant ones; 0: the unit's decimals
} lateness_words[LATENESS_AMOUNTS];

// The amounts in base units, for the selected case; NAN: there is none. The cost of an option is
// lower by what its contract pays; what the delay adds, and what would offset it, are before that.
struct lateness {
  double amounts[LATENESS_AMOUNTS];
};

// Finds an option's amounts. Returns false if it has no delay, or a cost with or without it that is
// not a number above zero. The amounts of an option that has the input are there also while its
// delay is zero.
bool lateness_of(const struct scenario *scenario, size_t option, struct lateness *lateness,
                 struct arena *arena);

#endif
