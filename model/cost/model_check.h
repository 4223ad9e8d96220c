// model_check: whether a cost model's formulas mean something.
#ifndef PERTOKEN_MODEL_COST_MODEL_CHECK_H
#define PERTOKEN_MODEL_COST_MODEL_CHECK_H

#include "base/diagnostics.h"
#include "model/cost/model.h"

// Resolves every name and checks every formula: unknown names, dimensions, series where a scalar is
// wanted, cycles; own(GROUP) becomes the sum of the user's items. Returns 0 or -1. Call once, after
// the last model_add_own.
int model_check(struct model *model, struct diagnostics *diagnostics);

#endif
