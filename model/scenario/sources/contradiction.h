// contradiction: what an option cannot say together of where its throughput comes from.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_CONTRADICTION_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_CONTRADICTION_H

#include "model/scenario/sources/sources.h"

#include <stdbool.h>

// Reports the first contradiction at what is to blame for it. False where there is none.
bool contradiction_refuse(const struct sources *sources);

#endif
