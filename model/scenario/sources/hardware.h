// hardware: what an option's accelerator and its row of prices give it, or, of an option without
// hardware, a provider's token API.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_HARDWARE_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_HARDWARE_H

#include "model/scenario/figure.h"
#include "model/scenario/resolving.h"

// Fills, where the option's layers are silent, accelerators_per_node, load_power (the TDP) and, where
// the grid's carbon is given, embodied_carbon by the accelerator, and list_price by the price, with node_price and network_price where that contains
// them. Errors: no accelerator, an unknown one or an unknown price; a price of another accelerator
// or none of purchase, beside a list_price or beside a part that it contains. Returns 0, or -1
// where the accelerator is not known, so that no more can be looked up.
int hardware_apply(struct resolving *resolving);

// After throughput_apply: puts the watts of the row that the throughput is from in place of the TDP,
// else those of a like run (model/evidence/like_run.h), graded projected; and says in
// option->power_doubt what is to be said of watts that are not the row's own.
void hardware_power(struct resolving *resolving);

// Before all that, in each case: gives an option with `api` the prices of that row, and takes from one
// with an output_price whatever absent_with says that it cannot have. Errors in the base case: an
// unknown row, one of another model or beside a typed output_price; hardware at the option's level.
void hardware_api(const struct resolving *resolving, const struct figure **figures);

#endif
