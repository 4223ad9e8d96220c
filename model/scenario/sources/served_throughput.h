// served_throughput: an option's serving as a record of load on an inference server has it.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_SERVED_THROUGHPUT_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_SERVED_THROUGHPUT_H

#include "model/evidence/served.h"
#include "model/scenario/amendment.h"
#include "model/scenario/sources/sources.h"

#include <stdbool.h>

// Whether a serving record speaks for the option: it is named, or nothing else is and a record of
// its accelerator and model is there. Never where decoding is asked for.
bool served_throughput_speaks(const struct sources *sources);

struct lack served_throughput_choose(const struct sources *sources, struct served *served);

// Makes what is chosen the option's figure; what lacks is reported.
void served_throughput_apply(const struct sources *sources);

#endif
