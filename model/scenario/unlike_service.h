// unlike_service: warnings that ranked options were tested or are guaranteed under unlike loads,
// meet times at unlike percentiles, or must serve unlike demands. All are allowed, and all can
// decide who is the cheapest.
#ifndef PERTOKEN_MODEL_SCENARIO_UNLIKE_SERVICE_H
#define PERTOKEN_MODEL_SCENARIO_UNLIKE_SERVICE_H

#include "base/arena.h"
#include "model/scenario/scenario.h"

// Adds the warnings for the selected case to the scenario. An option that serves another's tokens
// has no demand of its own.
void unlike_service_warn(struct scenario *scenario, struct arena *arena);

#endif
