// utilization: what a record of production gives an option: its utilization, its day and its cache
// hits.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_UTILIZATION_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_UTILIZATION_H

#include "model/scenario/resolving.h"

// After throughput_apply. If the option names a record of production and its layers leave it open,
// fills utilization: the tokens served, divided by what its accelerators can serve at the option's
// throughput, availability, scaling efficiency and share delivered. Errors: no such record; a
// record of another accelerator, model or precision than the option's, or of less than a day; an
// option without a serving throughput; more served than possible.
void utilization_apply(struct resolving *resolving);

#endif
