// recorded_throughput: an option's decoding from a record of the probe, with the watts, and its
// prefill if the record has that too.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_RECORDED_THROUGHPUT_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_RECORDED_THROUGHPUT_H

#include "model/records/recorded.h"
#include "model/scenario/amendment.h"
#include "model/scenario/sources/sources.h"

#include <stdbool.h>

// Whether the accelerator's own decoding of the workload is measured.
bool recorded_throughput_exists(const struct sources *sources);

// Whether a record counts for the option though none is named: its device is known only from
// records, or the workload is decode only, without a published figure, and its accelerator was
// measured.
bool recorded_throughput_speaks(const struct sources *sources);

struct lack recorded_throughput_choose(const struct sources *sources, struct recorded *recorded);

// Gives the option the chosen figures, which also replace the TDP.
void recorded_throughput_take(const struct sources *sources, const struct recorded *recorded);

// The same of its watts alone, in place of a TDP.
void recorded_throughput_watts(const struct sources *sources, const struct recorded *recorded);

// Chooses and takes; anything missing is reported.
void recorded_throughput_apply(const struct sources *sources);

#endif
