// solve_spread: how uncertain the value found by solve_ask() is: the ranged inputs are drawn, and
// the question is answered again in every draw.
//
// Each draw is checked at the same points as the answer itself; the lowest crossing is refined by
// bisection to 2^-52 of the distance between two points (a whole number: exactly). The input that
// is solved for is not drawn, even if it has a range. The result is the same on any number of
// threads.
//
// Ranked is meant as in model/scenario/ranking.h; for a wanted amount of money, only the demand and
// the site's power count.
#ifndef PERTOKEN_MODEL_QUESTIONS_SOLVE_SPREAD_H
#define PERTOKEN_MODEL_QUESTIONS_SOLVE_SPREAD_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/chance/draw.h"
#include "model/questions/solve_search.h"
#include "model/simulate/simulate.h"
#include "model/simulate/simulation.h"

#include <stddef.h>
#include <stdint.h>

#define MAX_SOLVE_DRAWS UINT64_C(10000000) // all of them are kept

// The spread of the solution over draws. All except the first two are shares of the draws made.
struct solve_spread {
  uint64_t draws, done, seed; // requested, and made
  enum draw_method method;
  bool partial;
  double found;        // there is a value
  double several;      // there are several: the lowest one counts
  double above, below; // none: it costs more, or less, over the whole interval
  double enough;       // it costs no more than wanted at the scenario's value, and both are ranked
  double percentiles[SIMULATE_LEVELS]; // of draws with a value, base units; NAN if there are none
  const char *const *notes;
  size_t note_count;
};

// Uses these fields of request: draws, seed, method, threads, stop and progress. NULL after errors:
// 0 draws or more than MAX_SOLVE_DRAWS, nothing to draw (see sampler_draws_any).
const struct solve_spread *solve_spread_ask(const struct solve_answer *answer,
                                            const struct simulate_request *request,
                                            struct arena *arena, struct diagnostics *diagnostics);

#endif
