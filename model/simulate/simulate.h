// simulate: many draws of the ranged inputs -> the distributions of the options' costs per token
// and of the savings between them, and the inputs that cause the variance.
//
// A run is divided into blocks of VECTOR_BLOCK draws, which are always computed whole. Sums are
// exact and counts are integers, so the result is the same to the last bit on any number of
// threads, and for any number of shards once they are merged.
//
// Draws are spread over up to MAX_REPLICATES independent scramblings of Sobol's sequence, whose
// means give the standard error of the mean; random draws are one sample. Percentiles come from a
// sketch (model/chance/quantile_sketch.h), whose error in rank is at most `rank_error`.
//
// Influence: the share of the variance that is due to an input alone (first order) and to it
// including its interactions (total), by the estimators of Saltelli et al. (Computer Physics
// Communications 181, 2010, table 2, b) and Jansen (ibid. 117, 1999), from two independent samples
// of up to MAX_INFLUENCE_DRAWS draws each. Correlated inputs have no individual shares: they are
// taken together. Runs of fewer than SIMULATE_FEW_DRAWS draws use regression on ranks instead:
// first is the standardized coefficient times the correlation (Pratt's measure), which adds up to
// the regression's R squared, and total is NAN.
#ifndef PERTOKEN_MODEL_SIMULATE_SIMULATE_H
#define PERTOKEN_MODEL_SIMULATE_SIMULATE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/chance/draw.h"
#include "model/scenario/scenario.h"
#include "model/simulate/part.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum { SIMULATE_FEW_DRAWS = 1024 };

struct simulate_request {
  const struct scenario *scenario;
  const char *item; // with the unit USD/Mtok or any other; NULL: cost_per_mtok
  uint64_t draws, seed;
  enum draw_method method;
  bool without_influence;            // which takes time with each option and each input
  int threads;                       // 0: OpenMP's choice
  unsigned shard, shards;            // shard 0 to shards - 1; shards 0 is 1
  const volatile sig_atomic_t *stop; // once it is nonzero, the run ends early; may be NULL
  // Called occasionally by the thread that called simulate(); may be NULL.
  void (*progress)(void *data, uint64_t done, uint64_t all);
  void *progress_data;
};

// Errors: 0 draws or more than MAX_SIMULATE_DRAWS, no ranges, an item that is unknown or not a
// scalar in every option, a value that is not finite (in which draw, with all its inputs). NULL
// after errors.
struct simulation_part *simulate(const struct simulate_request *request, struct arena *arena,
                                 struct diagnostics *diagnostics);

#endif
