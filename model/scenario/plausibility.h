// plausibility: figures that somebody typed and that are so far from what is published that a slip
// of the unit or of a digit is likelier: 80 USD/kWh, 700 kW for an accelerator.
#ifndef PERTOKEN_MODEL_SCENARIO_PLAUSIBILITY_H
#define PERTOKEN_MODEL_SCENARIO_PLAUSIBILITY_H

#include "base/arena.h"
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
void plausibility_warn(const struct scenario *scenario, size_t option, struct arena *arena);

#endif
