// solve_spread: how uncertain the value is that solve_ask() found: the ranged inputs are drawn, and
// the question is answered again in every draw.
//
// Each draw is looked through at the same points as the answer itself, and beyond them, where the
// input has no upper limit, in doublings up to `reach`; the lowest crossing is refined by bisection
// to 2^-52 of the distance between two points (a whole number: exactly). The input that is solved
// for is not drawn, whatever its range. The result is the same on any number of threads.
#ifndef PERTOKEN_MODEL_QUESTIONS_SOLVE_SPREAD_H
#define PERTOKEN_MODEL_QUESTIONS_SOLVE_SPREAD_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/chance/draw.h"
#include "model/questions/solve.h"
#include "model/simulate/simulate.h"
#include "model/simulate/simulation.h"

#include <stddef.h>
#include <stdint.h>

#define MAX_SOLVE_DRAWS UINT64_C(10000000) // all of them are kept

// All but the first two are shares of the draws made.
struct solve_spread {
  uint64_t draws, done, seed; // wanted, and made
  enum draw_method method;
  bool partial;
  double found;                        // there is a value
  double several;                      // there are several: the lowest counts
  double above, below;                 // none: it costs more, or less, all over the interval
  double enough;                       // it costs no more than wanted at the value in the scenario
  double percentiles[SIMULATE_LEVELS]; // of the draws with a value, base units; NAN without any
  const char *const *notes;
  size_t note_count;
};

// Of request: draws, seed, method, threads, stop and progress. NULL after errors: 0 draws or more
// than MAX_SOLVE_DRAWS, nothing to draw (see sampler_draws_any).
const struct solve_spread *solve_spread_ask(const struct solve_answer *answer,
                                            const struct simulate_request *request,
                                            struct arena *arena, struct diagnostics *diagnostics);

#endif
