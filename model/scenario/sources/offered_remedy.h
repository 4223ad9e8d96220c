// offered_remedy: what an option's vendor promises by its offer beside a throughput that was found
// elsewhere: what it owes if the accelerators are slower, and their watts; as inputs of the cost
// model.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_OFFERED_REMEDY_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_OFFERED_REMEDY_H

#include "model/scenario/sources/sources.h"

// Applies to every case whose offer has exactly one guarantee that fits the option's workload, with
// a remedy in money or by replacement: gives remedy, guaranteed_throughput, guarantee_tolerance and
// remedy_limit, unless the option states them itself. Other cases then owe nothing. Does nothing
// for a guarantee of another throughput than the one that the option states, and for rented
// accelerators.
void offered_remedy_apply(const struct sources *sources);

// The watts that such a guarantee promises, in every case in which the option's record measured
// none: what is owed in writing says more than the TDP.
void offered_watts_apply(const struct sources *sources);

#endif
