// range: [range] and [correlate] of a scenario: what is believed of its inputs beside their values.
#ifndef PERTOKEN_MODEL_SCENARIO_RANGE_H
#define PERTOKEN_MODEL_SCENARIO_RANGE_H

#include "model/scenario/reading.h"

// Reads the sections before the options are resolved, so that all of a file's errors come in one
// run, and checks them afterwards: which options have the inputs, what a record gives, whether the
// correlations go together.
void ranges_read(struct reading *reading);
void ranges_check(struct reading *reading);

#endif
