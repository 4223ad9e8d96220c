// delay_damages: over the draws, how often a contract pays damages for a late delivery, what the
// delay costs, and how much of that they leave uncovered.
//
// From the first draws, the same ones in every shard, each with its delivery as drawn and again on
// time.
#ifndef PERTOKEN_MODEL_SIMULATE_DELAY_DAMAGES_H
#define PERTOKEN_MODEL_SIMULATE_DELAY_DAMAGES_H

#include "model/scenario/scenario.h"
#include "model/simulate/run.h"
#include "model/simulate/worker.h"

#include <stdbool.h>
#include <stddef.h>

// The cost of a delay: the amount with which a token would be as cheap as on time, at least 0.
// unpaid: the cost before damages; on_time: per token.
double delay_cost(double unpaid, double tokens, double on_time);

// Whether the option has a clause for a delay.
bool delay_damages_apply(const struct scenario *scenario, size_t option);

// Fills frame.damages. -1 after an error.
int delay_damages_find(struct simulation_run *run, struct worker *worker);

#endif
