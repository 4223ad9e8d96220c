// warnings: what a reader is told about an evaluated scenario: of its options, each alone and
// beside the others, and of the scenario as a whole.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_WARNINGS_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_WARNINGS_H

#include "base/arena.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// A load below which accelerators are nearly always idle.
#define HARDLY_USED 0.1

// Fills the grades and warnings of an evaluated option for the selected case, replacing earlier
// ones; `number` is its own in scenario->options.
void option_assess(struct scenario *scenario, size_t number, struct arena *arena);

// The same for every option, and adds the warnings of the scenario as a whole.
void scenario_assess(struct scenario *scenario, struct arena *arena);

#endif
