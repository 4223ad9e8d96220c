// requirements: what an option's settled inputs must have together, or may not, beyond pairs.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_REQUIREMENTS_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_REQUIREMENTS_H

#include "model/scenario/figure.h"
#include "model/scenario/resolving.h"

#include <stddef.h>

// Reports, for one case, a token API without tokens to pay for, cache hits beside a throughput that
// includes them, and shares of a rent that do not cover it: the first of them.
void requirements_check(const struct resolving *resolving, const struct figure **figures);

// Reports inputs that case `which`, above 0, states and the base case lacks: a case may change the
// value of an input, but not which inputs there are. One that it adds is then pretended to be
// there, so that the graph misses nothing.
void requirements_check_case(struct resolving *resolving, size_t which);

#endif
