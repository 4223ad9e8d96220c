// verdict: the sentence of model/scenario/ranking.h, the same on every face.
#ifndef PERTOKEN_REPORTS_PRINT_VERDICT_H
#define PERTOKEN_REPORTS_PRINT_VERDICT_H

#include "base/arena.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "model/simulate/simulation.h"

#include <stddef.h>

// "mi325x costs least per output token, 14.3 % less than h200", "h200 and mi325x cost the same per
// output token" or "Not ranked: the throughputs are not comparable"; for a single option, its cost.
// If inputs have ranges, the sentence says that these are the base values, and gives the result
// over the ranges. Without a full stop, in the arena. simulation: NULL if nothing is drawn.
const char *verdict_text(const struct scenario *scenario, const struct ranking *ranking,
                         const struct simulation *simulation, struct arena *arena);

// "14.3 %": a saving as the sentence shows it.
const char *verdict_percent(double saving, struct arena *arena);

// " at the base values", if the numbers shown are those and the inputs have ranges.
#define VERDICT_BASE " at the base values"

// A smaller saving is shown as "less than 0.1 %", not "0.0 %": it is not a tie.
#define VERDICT_LEAST_SAVING 0.0005
#define VERDICT_LITTLE       "less than 0.1 %"

// A larger one is shown as "over 99.9 %", not "100.0 %": it is not free.
#define VERDICT_MOST_SAVING 0.9995
#define VERDICT_MUCH        "over 99.9 %"

// Instead of a share, of what costs less than nothing.
#define VERDICT_NEGATIVE "less than nothing"

// What is said of a case in which no input has a range.
#define VERDICT_CERTAIN "nothing is uncertain in this case"

// "over the ranges mi325x costs 0.1626 USD/Mtok in the median (P5 to P95: 0.1305 to 0.2161) and
// saves 12.4 % against h200 (1.4 to 20.4 %)", for the cheapest, the first of several; in how many
// draws these are ranked if that is not always so, else which other option is the cheapest in more
// of the draws; "" if there is none.
const char *verdict_over_ranges(const struct scenario *scenario, const struct ranking *ranking,
                                const struct simulation *simulation, struct arena *arena);

// Why an option is not ranked: "b: its workload differs from that of the baseline: precision: fp8
// and bf16".
const char *verdict_not_ranked(const struct scenario *scenario, const struct ranking *ranking,
                               size_t option, struct arena *arena);

#endif
