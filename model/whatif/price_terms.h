// price_terms: what an option pays or receives as a share of its hardware's price, the buyer's own
// items included, and which therefore moves when that price is negotiated.
#ifndef PERTOKEN_MODEL_WHATIF_PRICE_TERMS_H
#define PERTOKEN_MODEL_WHATIF_PRICE_TERMS_H

#include "base/arena.h"
#include "base/texts.h"
#include "model/scenario/scenario.h"
#include "model/whatif/variation.h"

#include <stddef.h>

// Those of an option in the selected case, "support", "residual value", that a change of the target
// moves along with the hardware's cost; none for a target that does not move that, or that also
// moves how much is bought.
struct texts price_terms(const struct scenario *scenario, struct target target, size_t option,
                         struct arena *arena);

#endif
