// exclusions: inputs of a case that exclude one another, and which of them holds.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_EXCLUSIONS_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_EXCLUSIONS_H

#include "model/scenario/figure.h"
#include "model/scenario/resolving.h"

// Settles what an option names, such as a row of prices. It counts as a statement of the layer that
// names it: what weaker layers say does not apply, as if the option stated its value there.
void exclusions_settle_named(const struct resolving *resolving, const struct figure **figures);

// Settles pairs of which only one may be given: what the option states wins over what is common to
// all. Errors: both at one level.
void exclusions_settle_purchase(const struct resolving *resolving, const struct figure **figures);

// Says whether the option is rented, and sets what it then does not pay for itself to zero; a
// bought one is left without what applies to a rent. Errors: the option states such an input
// itself. Call last, and not after an error.
void exclusions_settle_rent(const struct resolving *resolving, const struct figure **figures);

#endif
