// likeness: whether the throughputs of a scenario's options are of like workloads.
#ifndef PERTOKEN_MODEL_SCENARIO_LIKENESS_H
#define PERTOKEN_MODEL_SCENARIO_LIKENESS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

// Fills scenario->mixed and mixed_reason for the selected case, and warns of precisions of one
// family.
void scenario_say_mixed(struct scenario *scenario, struct arena *arena);

// Refuses unlike throughputs, unless --mixed is set, whichever case they are unlike in: faces that
// show all cases rank all of them.
void scenario_refuse_unlike(const struct scenario *scenario, struct arena *arena,
                            struct diagnostics *diagnostics);

// The error for two options whose workloads differ, in the words of workload_difference.
void option_refuse_unlike(const struct option *baseline, const struct option *option,
                          const char *difference, struct diagnostics *diagnostics);

#endif
