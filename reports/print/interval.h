// interval: how far the result of a scenario with ranges lies apart, for faces that show it beside
// the result. The same draws as `pertoken simulate` makes without options, so the same figures.
#ifndef PERTOKEN_REPORTS_PRINT_INTERVAL_H
#define PERTOKEN_REPORTS_PRINT_INTERVAL_H

#include "base/arena.h"
#include "model/scenario/scenario.h"
#include "model/simulate/simulation.h"

#include <stddef.h>

enum { INTERVAL_DRAWS = 65536, INTERVAL_SEED = 1 };

struct interval {
  double low, high; // percentiles 5 and 95
};

// Of cost_per_mtok in the selected case; NULL without ranges, or when a draw has no result:
// `pertoken simulate` says which.
const struct simulation *interval_simulate(const struct scenario *scenario, struct arena *arena);

// In the item's unit; a saving as a fraction. NAN where there is none.
struct interval interval_of(const struct simulation *simulation, enum outcome_kind kind,
                            size_t option);

#endif
