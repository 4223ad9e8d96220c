// contradiction: contradictory statements about the source of an option's throughput.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_CONTRADICTION_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_CONTRADICTION_H

#include "model/scenario/sources/sources.h"

#include <stdbool.h>

// Reports the first contradiction, at the selection to blame. False if there is none.
bool contradiction_refuse(const struct sources *sources);

#endif
