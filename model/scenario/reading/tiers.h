// tiers: volume tiers of an option, "discount = 8 % from 100 gpu, 14 % from 500 gpu", as the inputs
// that the cost model declares for them.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_TIERS_H
#define PERTOKEN_MODEL_SCENARIO_READING_TIERS_H

#include "base/arena.h"
#include "model/cost/model.h"
#include "model/cost/schedule.h"
#include "model/scenario/resolving.h"

#include <stdbool.h>
#include <stddef.h>

enum { TIERS_INPUTS = 2 * MAX_TIERS + 1 };

// The name of a tier's input, from 0: its value (part 0) or the number from which it holds (part
// 1).
const char *tiers_input(const struct model *model, int declaration, size_t tier, size_t part,
                        struct arena *arena);

// Lists all inputs of the tiers, with the one that says what a tier's value applies to; -1 for
// those that the model lacks.
void tiers_inputs(const struct model *model, int declaration, int inputs[TIERS_INPUTS],
                  struct arena *arena);

// Finds the same input of the tiers before and after that of a tier's input: declarations, or -1.
// Returns false for any other input.
bool tiers_beside(const struct model *model, int declaration, int *before, int *after);

// An option that has tiers in some case has them in all: a value without tiers is one tier from 1
// on, and missing tiers of a case are copies of its last one. A tier that is stated by itself
// (--set discount_tier_2) has priority over those of the same or a weaker layer. Tiers that overlap
// or fall are errors.
void tiers_settle(const struct resolving *resolving);

#endif
