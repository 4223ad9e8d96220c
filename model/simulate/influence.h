// influence: the share of the variance due to each group of inputs (simulate.h names the
// estimators).
#ifndef PERTOKEN_MODEL_SIMULATE_INFLUENCE_H
#define PERTOKEN_MODEL_SIMULATE_INFLUENCE_H

#include "model/simulate/run.h"
#include "model/simulate/worker.h"

#include <stdint.h>

// Draws a block of both samples, swaps each group between them, and counts the results; like
// tallying_work.
void influence_work(struct simulation_run *run, struct worker *worker, uint64_t block);

#endif
