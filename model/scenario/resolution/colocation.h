// colocation: what a colocation contract that includes electricity says of its price.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_COLOCATION_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_COLOCATION_H

#include "model/scenario/resolving.h"

// Sets electricity_price to 0 where colo_power is included and no layer gives that price. It is a
// part of colo_power: paid for in the rent, and left out once the power is metered. Error: a case
// without either, of an option that has no price by this rule alone.
void colocation_apply(struct resolving *resolving);

#endif
