// offer_warnings: what a reader is told about a vendor's offer: what the option does not take from
// it, what it lacks, and that what the vendor would owe is counted as received.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_OFFER_WARNINGS_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_OFFER_WARNINGS_H

#include "base/arena.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

// Adds them to the warnings of an evaluated option, for the selected case. What it owes may be
// stated without an offer.
void offer_warn(const struct scenario *scenario, struct option *option, struct arena *arena);

#endif
