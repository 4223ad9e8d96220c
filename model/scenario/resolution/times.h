// times: whether the life, lead time and delay of an option's hardware can be modeled together.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_TIMES_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_TIMES_H

#include "model/scenario/resolving.h"

// Reports hardware that lives shorter than a period, that would be retired before it arrives, or
// that never arrives within the horizon: in any case, at the key. For an option that has its graph.
void times_check(const struct resolving *resolving);

#endif
