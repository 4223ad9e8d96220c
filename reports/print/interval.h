// interval: the uncertainty of a result of a scenario with ranges, for faces that show it beside
// the result. It uses the same draws as `pertoken simulate` without options, so the figures are the
// same.
#ifndef PERTOKEN_REPORTS_PRINT_INTERVAL_H
#define PERTOKEN_REPORTS_PRINT_INTERVAL_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "model/simulate/simulation.h"

#include <stdbool.h>
#include <stddef.h>

enum { INTERVAL_DRAWS = 65536, INTERVAL_SEED = 1 };

struct interval {
  double low, median, high; // percentiles 5, 50 and 95
  bool constant;            // no ranged input affects it
};

// Simulates cost_per_mtok in the selected case; `out` is NULL if nothing is drawn. Returns 0, or -1
// after an error, such as a draw without a result.
int interval_simulate(const struct scenario *scenario, const struct simulation **out,
                      struct arena *arena, struct diagnostics *diagnostics);

// An outcome's interval, in the item's unit; a saving as a fraction. NAN if there is none.
struct interval interval_of(const struct simulation *simulation, enum outcome_kind kind,
                            size_t option);

// What the cheapest saves over the option that the verdict compares it with, a fraction. NAN if
// neither is the baseline.
struct interval interval_of_verdict(const struct simulation *simulation,
                                    const struct ranking *ranking);

#endif
