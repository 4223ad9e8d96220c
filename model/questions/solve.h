// solve: the value of one input at which an option reaches a wanted cost: the discount to ask for,
// the walk-away price, the number of engineers that cancels an advantage, the tokens/s that a
// challenger must show.
#ifndef PERTOKEN_MODEL_QUESTIONS_SOLVE_H
#define PERTOKEN_MODEL_QUESTIONS_SOLVE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/questions/solve_search.h"
#include "model/scenario/scenario.h"

struct solve_question {
  const char *option;  // whose cost is wanted
  const char *input;   // "list_price", of that option if possible; or "h200.discount"
  const char *match;   // the option whose cost it must match; NULL: the baseline
  const char *target;  // "0.30 USD/Mtok" instead of another option; NULL: none
  double saving;       // over the matched option, a fraction: 0.05 wants 95 % of its cost
  const char *between; // "LOW:HIGH", numbers with a unit at the end or in the input's own; NULL:
                       // the input's limits, as far as values make sense
};

// Finds the values as described in solve_search.h. If there is none, the answer has count 0.
// Returns NULL after errors.
const struct solve_answer *solve_ask(const struct scenario *scenario,
                                     const struct solve_question *question, struct arena *arena,
                                     struct diagnostics *diagnostics);

#endif
