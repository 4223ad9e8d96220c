// free_range: [free] of a scenario: inputs whose value nobody stated, each with the range in which
// it may lie.
#ifndef PERTOKEN_MODEL_SCENARIO_FREE_RANGE_H
#define PERTOKEN_MODEL_SCENARIO_FREE_RANGE_H

#include "model/scenario/reading.h"

void frees_read(struct reading *reading);

// Puts the middle of a range where an option was given no value for the input in a case. figures:
// [model->count].
void frees_fill(struct reading *reading, size_t option, struct figure *figures);

#endif
