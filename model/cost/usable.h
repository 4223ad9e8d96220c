// usable: which formulas of a cost model a scenario can come to use, and which items then vary.
//
// An input that is `typed` has a value in no option of a scenario that does not mention it. What
// needs it is left out of that scenario's model, so that an item whose formulas may differ in kind
// is one number where the scenario uses nothing that changes over the periods.
#ifndef PERTOKEN_MODEL_COST_USABLE_H
#define PERTOKEN_MODEL_COST_USABLE_H

#include "model/cost/formula.h"
#include "model/cost/model.h"

#include <stdbool.h>

// Takes a key of a scenario, "demand_growth" or "h200.demand_growth.source", as a mention of every
// input that it names or stands for.
void model_mention(struct model *model, const char *key);

// Leaves out every formula that needs what no option can have. After the last mention and the last
// declaration, before model_check.
void model_leave_out(struct model *model);

// Decides which items that may vary are series: those with a usable formula that speaks of periods.
void model_settle_kinds(struct model *model);

// Does a formula that is not checked yet speak of periods, outside sum() and the like?
bool model_is_per_period(const struct model *model, const struct node *node);

// Does a declaration follow `year` by the formulas that are in use? state[declaration] says which
// one that is, as in a graph; without states it is each one that was not left out.
bool model_follows_year(const struct model *model, const int *state, int declaration);

#endif
