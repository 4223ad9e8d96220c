// plannable: options that a plan cannot include.
#ifndef PERTOKEN_MODEL_PLAN_PLANNABLE_H
#define PERTOKEN_MODEL_PLAN_PLANNABLE_H

#include "model/plan/quote.h"

#include <stddef.h>

// Why it cannot, to be read after "option 'x'"; NULL if it can. Options that have a ramp, a day or
// a delivery delay, build their own facility, have a demand of their own, or live for less than a
// period.
const char *plannable_barrier(const struct quoting *quoting, size_t option);

#endif
