// projected_throughput: an option's decoding as it follows from a record of another accelerator.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_PROJECTED_THROUGHPUT_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_PROJECTED_THROUGHPUT_H

#include "model/scenario/sources/sources.h"

#include <stdbool.h>

// Whether a projection counts: it does unless the accelerator's own decoding of the workload is
// measured or published, which outranks what is projected from another's, and is said.
bool projected_throughput_counts(const struct sources *sources);

// Makes the projection the option's figure; what lacks is reported.
void projected_throughput_apply(const struct sources *sources);

#endif
