// throughput: where an option's throughput comes from: its own word, a record of the probe, a
// projection from another device's record, or what is published; and the watts that come with it.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_THROUGHPUT_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_THROUGHPUT_H

#include "model/scenario/resolving.h"

// After hardware_apply. Sets the option's workload, record, curve and decode_only, and fills, where
// its layers are silent, throughput or decode_throughput, and of a record load_power and idle_power.
// Errors: evidence that contradicts itself or the option's own word; and, unless resolving->lack is
// there to take it, none to be found.
void throughput_apply(struct resolving *resolving);

#endif
