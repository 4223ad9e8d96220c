// exclusion: the inputs that an option does not take beside what it gives.
#ifndef PERTOKEN_MODEL_WHATIF_EXCLUSION_H
#define PERTOKEN_MODEL_WHATIF_EXCLUSION_H

#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>

// The input of the option that keeps another one, which is not given or zero, from being given in
// the selected case; or -1. It stands in the other's place, conflicts with it, or is a list by year
// that already says what the other one would.
int exclusion_by(const struct scenario *scenario, const struct option *option, int declaration);

// Whether that also rules out a value in common, instead of only taking its place in this option.
bool exclusion_in_common(const struct scenario *scenario, const struct option *option,
                         int declaration, int by);

#endif
