// simulate: many draws of the ranged inputs -> how the costs per token of the options, and the
// savings between them, are distributed, and which inputs that comes from.
//
// A run is cut into blocks of VECTOR_BLOCK draws, always computed whole. Sums are exact and counts
// are counts, so the result is the same to the last bit on any number of threads, and for any
// number of shards once they are merged.
//
// Draws are spread over up to MAX_REPLICATES independent scramblings of Sobol's sequence,
// whose means give the standard error of the mean; random draws are one sample. Percentiles come
// from a sketch (model/chance/quantile_sketch.h), whose error in rank is at most `rank_error`.
//
// Influence: which share of the variance goes with an input alone (first order) and with it in any
// company (total), by the estimators of Saltelli et al. (Computer Physics Communications 181, 2010,
// table 2, b) and Jansen (ibid. 117, 1999), from two unrelated samples of up to
// MAX_INFLUENCE_DRAWS draws each. Correlated inputs have no share of their own: they are taken
// together. Runs of fewer than SIMULATE_FEW_DRAWS draws have regression on ranks instead: first is
// the standardised coefficient times the correlation (Pratt's measure), which adds up to the
// regression's R squared, and total is NAN.
#ifndef PERTOKEN_MODEL_SIMULATE_SIMULATE_H
#define PERTOKEN_MODEL_SIMULATE_SIMULATE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/chance/draw.h"
#include "model/scenario/scenario.h"
#include "model/simulate/part.h"

#include <signal.h>
#include <stdint.h>

enum { SIMULATE_FEW_DRAWS = 1024 };

struct simulate_request {
  const struct scenario *scenario;
  const char *item; // of unit USD/Mtok or any other; NULL: cost_per_mtok
  uint64_t draws, seed;
  enum draw_method method;
  int threads;                       // 0: as many as OpenMP sees fit
  unsigned shard, shards;            // shard 0 to shards - 1; shards 0 is 1
  const volatile sig_atomic_t *stop; // once not zero, the run ends early; may be NULL
  // Called now and then by the thread that called simulate(); may be NULL.
  void (*progress)(void *data, uint64_t done, uint64_t all);
  void *progress_data;
};

// Errors: 0 draws or more than MAX_SIMULATE_DRAWS, no ranges, an unknown item or one that is no
// scalar of every option, a value that is not finite (which draw, and all its inputs). NULL after
// errors.
struct simulation_part *simulate(const struct simulate_request *request, struct arena *arena,
                                 struct diagnostics *diagnostics);

#endif
