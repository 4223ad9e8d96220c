// cost_model: the cost model with which a scenario is evaluated: the built-in one or that of
// --model, with the scenario's own items and its period.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_COST_MODEL_H
#define PERTOKEN_MODEL_SCENARIO_READING_COST_MODEL_H

#include "model/scenario/reading/reading.h"

// Sets scenario->model and period_h. Returns 0, or -1 if there is no model to continue with; after
// errors in the model the rest of the scenario can still be read.
int scenario_model_read(struct reading *reading);

#endif
