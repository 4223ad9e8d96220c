// defaults: what an option's inputs are if nobody states them.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_DEFAULTS_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_DEFAULTS_H

#include "model/scenario/figure.h"
#include "model/scenario/resolving.h"

#include <stdbool.h>

// An option has the same inputs in every case. One with a default, which no other case needs to
// state, and the years of a list are there if one case states them: whether one does.
bool defaults_stated_somewhere(const struct resolving *resolving, int declaration);

// Gives the inputs of a case that have no figure their defaults, those that apply to the option.
void defaults_apply(const struct resolving *resolving, const struct figure **figures);

#endif
