// utilization: what a record of production says of an option: its utilization, its day and its cache
// hits.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_UTILIZATION_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_UTILIZATION_H

#include "model/scenario/resolving.h"

// After throughput_apply. Fills, where the option's layers are silent and it names a record of
// production, utilization: what that served, over what its accelerators can at the option's throughput,
// availability, scaling efficiency and share delivered. Errors: no such record; one of another
// accelerator, model or precision than the option's; of less than a day; an option without a serving
// throughput; more served than can be.
void utilization_apply(struct resolving *resolving);

#endif
