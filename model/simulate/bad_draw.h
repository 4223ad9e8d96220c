// bad_draw: reports a draw with a value that is not finite: which draw, of what, and all its
// inputs.
#ifndef PERTOKEN_MODEL_SIMULATE_BAD_DRAW_H
#define PERTOKEN_MODEL_SIMULATE_BAD_DRAW_H

#include "model/simulate/run.h"
#include "model/simulate/worker.h"

// Repeats the run's bad block, and reports the first such draw in it.
void bad_draw_report(struct simulation_run *run, struct worker *worker);

#endif
