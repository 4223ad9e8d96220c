// offered_throughput: an option's throughput as guaranteed in its vendor's offer.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_OFFERED_THROUGHPUT_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_OFFERED_THROUGHPUT_H

#include "base/source.h"
#include "model/delivery/offer.h"
#include "model/evidence/workload.h"
#include "model/scenario/resolving.h"
#include "model/scenario/sources/sources.h"

#include <stdbool.h>
#include <stddef.h>

// Gives an input of a case a figure from a guarantee, unless it has a stronger one.
void offered_set(struct resolving *resolving, size_t which_case, const struct offer *offer,
                 const struct offer_guarantee *guarantee, const char *input, double value,
                 struct place place);

// Takes the option's tokens per second in every case and, if they are per accelerator, its watts
// from the guarantee that fits the workload. A throughput that is already there keeps its value,
// and takes the watts of a guarantee with the same basis. Returns false if there is no guarantee,
// if evidence is named, and beside power_limit, which no offer states. Errors: more than one
// guarantee fits; some cases' offers have one, others none.
bool offered_throughput_apply(const struct sources *sources);

// Adds the conditions of the rate that an offer guarantees in a case, if it has that rate there.
void offered_throughput_conditions(const struct sources *sources, size_t which_case,
                                   struct workload *workload);

#endif
