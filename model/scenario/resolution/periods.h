// periods: what the length of a period does to the figures, where a reader may not expect it.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_PERIODS_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_PERIODS_H

#include "base/arena.h"
#include "model/scenario/scenario.h"

// Warns, in the selected case, of
// - a ramp that reaches the demand, in any hour of its day, within a period, so that the period's
//   mean capacity meets a demand that its first months do not: where shorter periods would show it;
// - a life that is not a whole number of periods, as counted, to the option that has it;
// - the user's own operating items in money, not money per time, that are charged per period where
//   periods are not years, or where the horizon cuts the last one short.
void periods_warn(struct scenario *scenario, struct arena *arena);

#endif
