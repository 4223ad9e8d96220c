// utilization: what a record of production gives an option: its utilization, its day and its cache
// hits.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_UTILIZATION_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_UTILIZATION_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/option.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"

// Call after throughput_apply. If the option names a record of production and its layers leave its
// utilization open, fills production_throughput, the tokens that each accelerator served, from
// which the model computes utilization: with a day's profile, those of the busiest hour. Errors: no
// such record; a record of another accelerator, model or precision than the option's, or of less
// than a day; an option without a serving throughput.
void utilization_apply(struct resolving *resolving);

// Reports an option that served more than its accelerators can, in any case. Call once it is
// evaluated.
void utilization_refuse(const struct scenario *scenario, const struct option *option,
                        struct arena *arena, struct diagnostics *diagnostics);

#endif
