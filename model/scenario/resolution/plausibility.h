// plausibility: figures so far from what is published that a wrong unit or digit is more likely,
// such as 80 USD/kWh, or 700 kW for an accelerator; throughputs that no software can reach; and
// values outside their own ranges.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_PLAUSIBILITY_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_PLAUSIBILITY_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// A figure is reported if it is this many times the highest published one, or this fraction of the
// lowest; of a list by year, its lowest and its highest value. Wide enough for all facts: the
// prices of any accelerator in data/ are within a factor of 3.
#define PLAUSIBILITY_TIMES 4

// Power under load, of prefill too, compared with the TDP, which is meant as the highest sustained
// power; no load worth buying hardware for draws a tenth of it.
#define PLAUSIBILITY_TDP_HIGH 1.5
#define PLAUSIBILITY_TDP_LOW  0.1

// A small batch, a long context or a pace for each user makes any throughput possible, however low.
// So one is reported as too low only
//
//   in a benchmark's scenario that the workload names, if it states none of these; or
//   beside another option of another accelerator, on a like workload, that is not as far below its
//   own published figures: the baseline or, for the baseline, any other.
//
// In data/, the figures of one accelerator, model and scenario of a benchmark are within
// PLAUSIBILITY_TIMES of each other, nearly all within 1.6.

// Adds a warning to the option for each such figure, in the selected case. Figures are compared
// with those of published_bounds.h, and with the TDP of the option's accelerator; if there are
// none, nothing is reported.
//
// A throughput above the accelerator's roofline (model/evidence/roofline.h) gets a warning whatever
// its source; the roofline of reading counts for decoding, if the batch is known. So does a value
// outside the range that applies to it.
//
// Two things let a rate exceed that roofline, and only one above what they allow is impossible: a
// server's prompts may come from its cache, so that only the output is computed; and a step may
// yield several tokens under speculation, so that reading is no limit.
void plausibility_warn(const struct scenario *scenario, size_t option, struct arena *arena);

// The highest value of an input that is possible, in base units: INFINITY without a roofline.
double plausibility_most(const struct scenario *scenario, const struct option *option,
                         int declaration);

// The limit that a value exceeds: "more than b200-sxm-180 can compute of llama-2-70b in fp8:
// 36231.9 token/s by its datasheet", with what makes it possible, if anything does: "unless a step
// yields 2.64 tokens", "unless 65.4 % of the input comes from a cache".
struct excess {
  const char *words; // NULL: it exceeds none
  bool is_possible;
};

struct excess plausibility_beyond(const struct scenario *scenario, const struct option *option,
                                  int declaration, double value, struct arena *arena);

// An error for each range and each free input that is impossible throughout; a warning for one that
// partly lies above the roofline.
void plausibility_refuse_reach(const struct scenario *scenario, struct arena *arena,
                               struct diagnostics *diagnostics);

// An error for each impossible throughput that is typed without a source, in any case.
void plausibility_refuse(const struct scenario *scenario, const struct option *option,
                         struct arena *arena, struct diagnostics *diagnostics);

#endif
