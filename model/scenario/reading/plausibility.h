// plausibility: figures that are so far from what is published that a slip of the unit or of a digit
// is likelier, 80 USD/kWh, 700 kW for an accelerator; and throughputs that no software can reach.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_PLAUSIBILITY_H
#define PERTOKEN_MODEL_SCENARIO_READING_PLAUSIBILITY_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// A figure is told of when it is this many times the highest published, or this part of the lowest.
// Wide enough that no fact is: prices of one accelerator in data/ are within 3 of each other.
#define PLAUSIBILITY_TIMES 4

// Power under load beside the TDP, which is meant as the most that is drawn for long, and of which
// no load that is worth buying for draws a tenth.
#define PLAUSIBILITY_TDP_HIGH 1.5
#define PLAUSIBILITY_TDP_LOW  0.1

// Adds a warning to the option for each, in the selected case. Compared with what
// published_bounds.h has, and with the TDP of the option's accelerator; where there is none,
// nothing is said.
//
// A throughput above the accelerator's roofline (model/evidence/roofline.h) is warned of whatever it
// comes from; the roofline of reading counts while decoding, where the batch is known.
void plausibility_warn(const struct scenario *scenario, size_t option, struct arena *arena);

// The most that an input may be typed as without a source, in base units: INFINITY of what has no
// roofline.
double plausibility_most(const struct scenario *scenario, const struct option *option,
                         int declaration);

// What lies below a value of an input: "more than b200-sxm-180 can compute of llama-2-70b in fp8:
// 36231.9 token/s by its datasheet"; NULL where nothing does.
const char *plausibility_beyond(const struct scenario *scenario, const struct option *option,
                                int declaration, double value, struct arena *arena);

// An error at each range, and at what is free, that lies above the roofline as a whole; one that
// reaches above it is warned of.
void plausibility_refuse_reach(const struct scenario *scenario, struct arena *arena,
                               struct diagnostics *diagnostics);

// An error at each throughput above the roofline that is typed without a source, in all cases.
void plausibility_refuse(const struct scenario *scenario, const struct option *option,
                         struct arena *arena, struct diagnostics *diagnostics);

#endif
