// evaluated: the values of an option's line items, in every case, and which input is to blame where
// one has none.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_EVALUATED_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_EVALUATED_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

// With how many of the options before it an option is compared, to share what they have alike: most
// options of a scenario have one.
enum { OPTIONS_BEFORE = 8 };

// Evaluates an option that has its graph, over scenario->periods. Errors: a line item without a
// finite value, and what plausibility.h and utilization.h refuse.
void option_evaluate(const struct scenario *scenario, struct option *option, struct arena *arena,
                     struct diagnostics *diagnostics);

// Finds the periods of the horizons and evaluates every option in every case, after a resolution
// without errors. Errors: those of option_evaluate.
void scenario_evaluate(struct scenario *scenario, struct arena *arena,
                       struct diagnostics *diagnostics);

#endif
