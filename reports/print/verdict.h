// verdict: the sentence of model/scenario/ranking.h, the same on every face.
#ifndef PERTOKEN_REPORTS_PRINT_VERDICT_H
#define PERTOKEN_REPORTS_PRINT_VERDICT_H

#include "base/arena.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// "mi325x costs least per output token, 14.3 % less than h200", "h200 and mi325x cost the same per
// output token" or "Not ranked: the throughputs are of unlike kinds"; "" for a single option. Without
// full stop, in the arena.
const char *verdict_text(const struct scenario *scenario, const struct ranking *ranking,
                         struct arena *arena);

// Of an option that is not ranked: "b: another workload than the baseline's: precision: fp8 and bf16".
const char *verdict_not_ranked(const struct scenario *scenario, const struct ranking *ranking,
                               size_t option, struct arena *arena);

#endif
