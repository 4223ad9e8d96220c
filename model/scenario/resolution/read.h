// read: reads a scenario file into a scenario, resolved, evaluated and graded.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_READ_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_READ_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/scenario.h"

// Reads a scenario. NULL after errors (all of a file's in one run), each at the user's own text.
// Warnings are in the scenario and its options, not in diagnostics. Everything is in the arena.
struct scenario *scenario_read(const struct scenario_request *request, struct arena *arena,
                               struct diagnostics *diagnostics);

#endif
