// cost_model: the cost model that a scenario is evaluated with: the built-in one or that of
// --model, with the scenario's own items and its period.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_COST_MODEL_H
#define PERTOKEN_MODEL_SCENARIO_READING_COST_MODEL_H

#include "model/scenario/reading/reading.h"

// Sets scenario->model and period_h. Returns 0, or -1 where there is no model to go on with; after
// errors in it the rest of the scenario can still be read.
int scenario_model_read(struct reading *reading);

#endif
