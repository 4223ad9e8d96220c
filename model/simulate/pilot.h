// pilot: what a run determines before it counts: the sketches' bins, how often remedies are owed,
// and, for a short run, the shares of its inputs by regression on their ranks.
#ifndef PERTOKEN_MODEL_SIMULATE_PILOT_H
#define PERTOKEN_MODEL_SIMULATE_PILOT_H

#include "model/simulate/run.h"
#include "model/simulate/worker.h"

// Finds the shapes of the sketches from the run's first draws. Returns -1 if one of them has a
// value that is not finite.
int pilot_find_shapes(struct simulation_run *run, struct worker *worker);

// Finds the shares of influence by regression on ranks, from all draws of a short run.
void pilot_find_rank_shares(struct simulation_run *run, struct worker *worker);

#endif
