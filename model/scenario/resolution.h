// resolution: what holds of every input for an option in every case, out of what its layers say,
// what its selections give, and the defaults.
#ifndef PERTOKEN_MODEL_SCENARIO_RESOLUTION_H
#define PERTOKEN_MODEL_SCENARIO_RESOLUTION_H

#include "model/scenario/reading.h"

// After assign_all. Fills every option's figures and builds its graph. Errors: inputs that exclude
// each other, that a rented option does not pay, that mean nothing without another or that another
// one needs; a case that gives an input which the option otherwise does not have; and what
// selections and graphs report.
void resolve_options(struct reading *reading);

#endif
