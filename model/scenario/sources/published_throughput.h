// published_throughput: an option's throughput from a row of the catalogue, or a curve of rows.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_PUBLISHED_THROUGHPUT_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_PUBLISHED_THROUGHPUT_H

#include "model/evidence/evidence.h"
#include "model/scenario/amendment.h"
#include "model/scenario/sources/sources.h"

#include <stdbool.h>

// Whether decoding is asked for, and published for the accelerator.
bool published_throughput_exists(const struct sources *sources);

struct lack published_throughput_choose(const struct sources *sources, struct evidence *evidence);

// Gives the option the chosen figure; anything missing is reported.
void published_throughput_apply(const struct sources *sources);

#endif
