// source_spread: how uncertain a figure is according to where it comes from, the rows of a table or
// the probe's records, and which options have one and the same figure.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_SOURCE_SPREAD_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_SOURCE_SPREAD_H

#include "base/arena.h"
#include "model/chance/distribution.h"
#include "model/evidence/evidence.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>

// The rows from which a published throughput was chosen: every submitter's best, with equal
// weights.
struct distribution source_spread_of_rows(const struct evidence *evidence, struct arena *arena);

// Whether the record of an option's decoding gives the declaration, in the base case.
bool source_spread_is_recorded(const struct scenario *scenario, const struct option *option,
                               int declaration);

// Completes a `from measurement` of such a declaration: decode_throughput, load_power or
// idle_power. Returns 0, or -1 where a throughput's samples do not tell an interval (timing.h).
int source_spread_of_record(const struct scenario *scenario, const struct option *option,
                            int declaration, struct distribution *distribution,
                            struct arena *arena);

// Whether two options draw the declaration from the same rows, or have it from the same records: it
// is then one quantity, as uncertain for one as for the other, and cancels between them (JCGM
// 100:2008, 5.2 and F.1.2.3).
bool source_spread_is_one(const struct scenario *scenario, const struct option *one,
                          const struct option *other, int declaration);

#endif
