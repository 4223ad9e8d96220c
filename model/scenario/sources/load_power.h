// load_power: the power under load of an option that states none, and of the host where a whole
// node's was measured.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_LOAD_POWER_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_LOAD_POWER_H

#include "model/scenario/figure.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>

// Replaces the TDP, after throughput_apply, with the watts of the row that the throughput is from,
// else with those of a like run (model/evidence/like_run.h), graded projected; option->power_doubt
// has a note on watts that are not the row's own, which are option->doubted_power. A case's
// host_power is deducted from a whole node's watts, and is then contained in these: figure.h.
// Error: it is more than these.
void load_power_find(struct resolving *resolving);

// Whether the power under load is the accelerator's TDP.
bool load_power_is_tdp(const struct scenario *scenario, const struct figure *load);

#endif
