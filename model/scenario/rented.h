// rented: why a rented option has no use for an input of a purchase.
#ifndef PERTOKEN_MODEL_SCENARIO_RENTED_H
#define PERTOKEN_MODEL_SCENARIO_RENTED_H

#include "base/diagnostics.h"
#include "base/source.h"

// An error at `place`, where the input, or a range on it, is given to a rented option: the rent
// contains it, or what to state instead.
void rented_refuse(struct diagnostics *diagnostics, struct place place, const char *input,
                   const char *option);

#endif
