// companions: inputs that have no effect without another one, or that another one needs.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_COMPANIONS_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_COMPANIONS_H

#include "base/diagnostics.h"
#include "model/scenario/figure.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// Takes away an input that the option has no use for in a case, such as one for a view of finance
// that it does not have: an error at the option's own level, but allowed at the common one as long
// as some option uses it. What a case states is for that case alone.
//
// `late` is for the inputs that depend on what is known only along with the option's throughput:
// an offer's `remedy`, a record's `prefill_throughput`.
void companions_settle(const struct resolving *resolving, size_t which, bool late);

// An option with errors may have any: so that no other error says that no option has it.
void companions_assume(const struct resolving *resolving, size_t which);

// The same as companions_settle for inputs that exist only if something varies over the years; once
// the option has a graph.
void companions_settle_varying(const struct resolving *resolving);

// Reports inputs at the common level, or of a case, that no option uses. Call once all options are
// resolved.
void companions_report(const struct scenario *scenario, size_t which,
                       const struct companions *companions, struct diagnostics *diagnostics);

// Reports what is missing of the inputs that are required once another one is above zero.
void companions_check(const struct resolving *resolving, const struct figure **figures);

#endif
