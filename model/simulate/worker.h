// worker: what one thread of a simulation needs, and the outcomes of a block of draws: the costs of
// all options, less what their vendors owe, and the savings between them.
#ifndef PERTOKEN_MODEL_SIMULATE_WORKER_H
#define PERTOKEN_MODEL_SIMULATE_WORKER_H

#include "base/arena.h"
#include "model/simulate/part.h"
#include "model/simulate/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct worker {
  double *workspace;
  double *outcomes;             // [outcome_count][VECTOR_BLOCK]
  double *samples;              // [2][variable_count][VECTOR_BLOCK]
  double *held;                 // [2][outcome_count][VECTOR_BLOCK]
  struct simulation_part *part; // what it has counted
  const double **costs;         // [option_count] for a block
  const double **amounts;       // [option_count][RANKING_AMOUNTS] for the block, or NULL
  double *cost;                 // [option_count] for a draw
  bool *ranked, *cheapest;      // [option_count] for the draw
  struct arena arena;
};

void worker_start(const struct simulation_run *run, struct worker *worker);
void worker_end(struct worker *worker);

// Runs the response on the variables in the workspace: the costs of all options, then the savings.
void worker_find_outcomes(const struct simulation_run *run, struct worker *worker,
                          double *outcomes);

// The variables and outcomes of a block.
void worker_draw(const struct simulation_run *run, struct worker *worker, uint64_t block);

// Whether all of a block's outcomes are finite; otherwise notes the block, if it is the first.
// `influence`: it is from one of the samples for influence.
bool worker_check(struct simulation_run *run, const double *outcomes, uint64_t block, size_t count,
                  bool influence);

#endif
