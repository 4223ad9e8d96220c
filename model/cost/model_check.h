// model_check: whether a cost model's formulas make sense.
#ifndef PERTOKEN_MODEL_COST_MODEL_CHECK_H
#define PERTOKEN_MODEL_COST_MODEL_CHECK_H

#include "base/diagnostics.h"
#include "model/cost/model.h"

// Decides what varies, resolves every name and checks every formula that is not left out: unknown
// names, dimensions, series where a scalar is required, circular references; own(GROUP) becomes the
// sum of the user's items, and first() and highest() of a single number become that number. Returns
// 0 or -1. Call it once, after own_items_finish.
int model_check(struct model *model, struct diagnostics *diagnostics);

#endif
