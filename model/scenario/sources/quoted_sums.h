// quoted_sums: costs that a contract states as a sum instead of a share of the hardware's price,
// and which of the two counts if both are given.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_QUOTED_SUMS_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_QUOTED_SUMS_H

#include "model/cost/model.h"
#include "model/scenario/option.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// Settles an option's shares and sums in all cases. What a stronger layer states replaces the other
// of the two, as does what an option states beside its offer; both of one layer, or of one offer,
// are added. What a case or --set states for the option changes that input alone. If one case has
// sums, all have them, of 0 where none is stated. Call before companions are settled.
void quoted_sums_settle(const struct resolving *resolving);

bool quoted_sums_is_sum(const struct model *model, int declaration);

// The sum that may be paid instead of a share; -1 for any other declaration.
int quoted_sums_beside(const struct model *model, int share);

// The first pair, from `pair` on, of which a case or --set changes one, so that in the selected
// case both are paid: its number, with the names of the two inputs. -1: none.
int quoted_sums_added(const struct scenario *scenario, const struct option *option, int pair,
                      const char **share, const char **sum);

#endif
