// throughput: the source of an option's throughput: its own statement, a record of the probe, a
// projection from another device's record, or what is published; and the watts that belong to it.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_THROUGHPUT_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_THROUGHPUT_H

#include "model/records/served_rungs.h"
#include "model/scenario/resolving.h"

// Counts the option's serving record in the tally, if its throughput is to be that record's within
// ttft or tpot. Call after hardware_apply, with scratch diagnostics; sets the option's workload.
void throughput_tally(struct resolving *resolving, struct served_tally *tally);

// Call after hardware_apply. Sets the option's workload, record, curve, decode_only and
// serving_estimate, and fills what its layers leave open: throughput or decode_throughput, and from
// a record prefill_throughput, load_power and idle_power. Errors: evidence that contradicts itself
// or what the option states; and no evidence, unless resolving->lack takes that.
void throughput_apply(struct resolving *resolving);

#endif
