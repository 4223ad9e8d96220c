// hardware: what an option's accelerator and its row of prices give it, or, for an option without
// hardware, a provider's token API.
#ifndef PERTOKEN_MODEL_SCENARIO_SOURCES_HARDWARE_H
#define PERTOKEN_MODEL_SCENARIO_SOURCES_HARDWARE_H

#include "model/scenario/figure.h"
#include "model/scenario/resolving.h"

// Fills what the option's layers leave open. From the accelerator: accelerators_per_node,
// load_power (the TDP) and, if the grid's carbon is given, embodied_carbon. From the price, in
// every case that takes it: list_price, and node_price and network_price if the price includes
// them. Errors: no accelerator, an unknown one, an offer of another one or an unknown price; a
// price that is another accelerator's or not a purchase price, or that is given beside a list_price
// or a part that it includes. Returns 0, or -1 if the accelerator is unknown, so that nothing more
// can be looked up.
int hardware_apply(struct resolving *resolving);

// Gives an option with `api` the prices of that row, and removes from an option with an
// output_price whatever absent_with excludes, in each case, before all of the above. A price that
// the option states itself has priority over the row's: reading/text.h and assignment.h see to it
// that it is not the older of the two. Errors in the base case: an unknown row, a row of another
// model or beside an output_price typed in the same file; hardware at the option's level.
void hardware_api(const struct resolving *resolving, const struct figure **figures);

#endif
