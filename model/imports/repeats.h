// repeats: of the runs of one load in a file, the one that counts.
//
// `vllm bench sweep` repeats every load, three times by default. A rung is one run, and a mean of
// several would be a rate that nobody measured: the usable run with the median rate stays, the
// slower of the two in the middle of an even number.
#ifndef PERTOKEN_MODEL_IMPORTS_REPEATS_H
#define PERTOKEN_MODEL_IMPORTS_REPEATS_H

#include "base/arena.h"
#include "model/imports/imported.h"

#include <stddef.h>

// Leaves one value for every load and lengths among those from `first` on, which are a file's, with
// a rung each. A remark says of how many.
void repeats_settle(struct imported_list *all, size_t first, struct arena *arena);

#endif
