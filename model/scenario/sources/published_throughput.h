// published_throughput: an option's throughput as a row of the catalogue, or a curve of rows, has it.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_PUBLISHED_THROUGHPUT_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_PUBLISHED_THROUGHPUT_H

#include "model/evidence/evidence.h"
#include "model/scenario/amendment.h"
#include "model/scenario/sources/sources.h"

#include <stdbool.h>

// Whether decoding is asked for, and published of the accelerator.
bool published_throughput_exists(const struct sources *sources);

struct lack published_throughput_choose(const struct sources *sources, struct evidence *evidence);

// Makes what is chosen the option's figure; what lacks is reported.
void published_throughput_apply(const struct sources *sources);

#endif
