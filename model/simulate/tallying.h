// tallying: counts the results of a block of draws: each outcome, and who is cheapest in each draw.
#ifndef PERTOKEN_MODEL_SIMULATE_TALLYING_H
#define PERTOKEN_MODEL_SIMULATE_TALLYING_H

#include "base/arena.h"
#include "model/simulate/run.h"
#include "model/simulate/worker.h"

#include <stdint.h>

// Call it once the sketches' shapes are known. The worker's part will be in `arena`.
void tallying_start(const struct simulation_run *run, struct worker *worker, struct arena *arena);

// Draws a block and counts it; not after a stop, or after a block with a value that is not finite.
void tallying_work(struct simulation_run *run, struct worker *worker, uint64_t block);

#endif
