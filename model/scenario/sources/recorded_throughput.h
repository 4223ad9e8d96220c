// recorded_throughput: an option's decoding as a record of the probe has it, with the watts.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_RECORDED_THROUGHPUT_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_RECORDED_THROUGHPUT_H

#include "model/evidence/recorded.h"
#include "model/scenario/amendment.h"
#include "model/scenario/sources/sources.h"

#include <stdbool.h>

// Whether the accelerator's own decoding of the workload is measured.
bool recorded_throughput_exists(const struct sources *sources);

// Whether a record speaks for the option though none is named: its device is known from records
// alone, or the workload is decoding, of which nothing is published, and its accelerator was
// measured.
bool recorded_throughput_speaks(const struct sources *sources);

struct lack recorded_throughput_choose(const struct sources *sources, struct recorded *recorded);

// Makes what was chosen the option's figures, in place of the TDP too.
void recorded_throughput_take(const struct sources *sources, const struct recorded *recorded);

// Both; what lacks is reported.
void recorded_throughput_apply(const struct sources *sources);

#endif
