// usable: which formulas of a cost model a scenario can use, and which items vary as a result.
//
// An input that is `typed` has a value in no option of a scenario that does not mention it. What
// needs it is left out of that scenario's model, so that an item whose formulas may differ in kind
// is a single number if the scenario uses nothing that changes over the periods.
#ifndef PERTOKEN_MODEL_COST_USABLE_H
#define PERTOKEN_MODEL_COST_USABLE_H

#include "model/cost/model.h"

#include <stdbool.h>

// Treats a key of a scenario, "demand_growth" or "h200.demand_growth.source", as a mention of every
// input that it names or stands for.
void model_mention(struct model *model, const char *key);

// Leaves out every formula that needs what no option can have. Call it after the last mention and
// the last declaration, before model_check.
void model_leave_out(struct model *model);

// Decides which items that may vary are series: those with a usable formula that depends on the
// period.
void model_settle_kinds(struct model *model);

// Whether a declaration follows `year`, or the steps of a list, by the formulas in use.
// state[declaration] is the formula in use, as in a graph; without states, every formula that was
// not left out counts.
bool model_follows_year(const struct model *model, const int *state, int declaration);

// The series that it follows, `year` or one of step.h; -1: none.
int model_followed_clock(const struct model *model, const int *state, int declaration);

#endif
