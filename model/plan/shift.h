// shift: an option evaluated for purchases after the plan's start, with its years and the steps of
// its lists counted from that start.
//
// In the cost model year = floor(elapsed / 1 yr) counts from the purchase. Lists by year,
// `inflation`, `rent_decline` and `throughput_gain` depend on it; lists with a step depend on the
// series that counts their steps in the same way. For an option that is bought later
//   year = floor((elapsed + lead_time) / 1 yr)
// where the input lead_time carries the time from the start to the purchase: otherwise it only
// affects the decline of prices, which a plan includes in the list price (costs.h).
#ifndef PERTOKEN_MODEL_PLAN_SHIFT_H
#define PERTOKEN_MODEL_PLAN_SHIFT_H

#include "base/arena.h"
#include "model/cost/evaluate.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// Whether anything except the decline of prices depends on the year or on the steps of a list.
bool shift_matters(const struct scenario *scenario, const struct option *option);

// A block of `width` cases of the option. The carrier is among its inputs if the shift matters.
struct evaluation *shift_block(const struct scenario *scenario, const struct option *option,
                               size_t width, struct arena *arena);

// The declaration that carries the time.
int shift_carrier(const struct scenario *scenario);

#endif
