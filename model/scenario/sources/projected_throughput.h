// projected_throughput: an option's decoding, projected from a record of another accelerator.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_PROJECTED_THROUGHPUT_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_PROJECTED_THROUGHPUT_H

#include "model/scenario/sources/sources.h"

#include <stdbool.h>

// Whether a projection counts: it does unless the accelerator's own decoding of the workload is
// measured or published, which outranks a projection from another one; that is reported.
bool projected_throughput_counts(const struct sources *sources);

// Gives the option the projected figure; anything missing is reported.
void projected_throughput_apply(const struct sources *sources);

#endif
