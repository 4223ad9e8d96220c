// throughput: where an option's throughput comes from: its own word, a record of the probe, a
// projection from another device's record, or what is published; and the watts that come with it.
#ifndef PERTOKEN_MODEL_SCENARIO_THROUGHPUT_H
#define PERTOKEN_MODEL_SCENARIO_THROUGHPUT_H

#include "model/scenario/resolving.h"

// After hardware_apply. Sets the option's workload, record, curve and decode_only, and fills, where
// its layers are silent, throughput or decode_throughput, and of a record load_power and idle_power.
// Errors: evidence that contradicts itself or the option's own word; and, unless resolving->lack is
// there to take it, none to be found.
void throughput_apply(struct resolving *resolving);

// After throughput_apply. Fills, where the option's layers are silent and it names a record of
// production, utilization: what that served, over what its accelerators can at the option's throughput,
// availability, scaling efficiency and share delivered. Errors: no such record; one of another
// accelerator, model or precision than the option's; of less than a day; an option without a serving
// throughput; more served than can be.
void throughput_utilization(struct resolving *resolving);

#endif
