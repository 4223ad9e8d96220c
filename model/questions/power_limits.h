// power_limits: the cost of a token of an option at each power limit at which its device was
// measured: from records that differ from the option's own only in the limit.
#ifndef PERTOKEN_MODEL_QUESTIONS_POWER_LIMITS_H
#define PERTOKEN_MODEL_QUESTIONS_POWER_LIMITS_H

#include "base/arena.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

enum { MAX_POWER_LIMITS = 32 };

struct power_point {
  double limit_w;
  double cost_per_mtok; // in the scenario's currency
};

struct power_limits {
  struct power_point points[MAX_POWER_LIMITS]; // by increasing limit
  size_t count;                                // 0: fewer than two limits are known
  size_t least;                                // the point with the lowest cost
};

// The power limits at which the option's throughput was measured, for the selected case. Empty for
// an option whose evidence is not a record of the probe, or is a record named explicitly.
struct power_limits power_limits_of(const struct scenario *scenario, size_t option,
                                    struct arena *arena);

#endif
