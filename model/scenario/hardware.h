// hardware: what an option's accelerator and its row of prices give it.
#ifndef PERTOKEN_MODEL_SCENARIO_HARDWARE_H
#define PERTOKEN_MODEL_SCENARIO_HARDWARE_H

#include "model/scenario/resolving.h"

// Fills, where the option's layers are silent, accelerators_per_node and load_power (the TDP) by the
// accelerator, and list_price by the price, with node_price and network_price where that contains
// them. Errors: no accelerator, an unknown one or an unknown price; a price of another accelerator
// or none of purchase, beside a list_price or beside a part that it contains. Returns 0, or -1
// where the accelerator is not known, so that no more can be looked up.
int hardware_apply(struct resolving *resolving);

#endif
