// served_throughput: an option's serving throughput from a record of load on an inference server.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_SERVED_THROUGHPUT_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_SERVED_THROUGHPUT_H

#include "model/records/served.h"
#include "model/scenario/amendment.h"
#include "model/scenario/sources/sources.h"

#include <stdbool.h>

// Whether a serving record counts for the option: it is named, or nothing else is and there is a
// record of its accelerator and model. Never if decoding is asked for.
bool served_throughput_speaks(const struct sources *sources);

struct lack served_throughput_choose(const struct sources *sources, struct served *served);

// Gives the option the chosen figure; anything missing is reported.
void served_throughput_apply(const struct sources *sources);

#endif
