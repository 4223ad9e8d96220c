// offered_throughput: an option's throughput as its vendor's offer guarantees it.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_OFFERED_THROUGHPUT_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_OFFERED_THROUGHPUT_H

#include "model/scenario/sources/sources.h"

#include <stdbool.h>

// In every case, makes what the guarantee that fits the workload says the option's tokens per second and,
// where it is of an accelerator, watts. False where there is none, where evidence is named, and beside
// power_limit, of which an offer says nothing. Error: more than one guarantee fits.
bool offered_throughput_apply(const struct sources *sources);

#endif
