// carbon: the carbon intensity of a grid and the footprint of making an accelerator, from the table
// of carbon.
#ifndef PERTOKEN_MODEL_EVIDENCE_CARBON_H
#define PERTOKEN_MODEL_EVIDENCE_CARBON_H

#include "base/arena.h"
#include "base/csv.h"

// The row of a grid's intensity by its region ("DE", "US-TEX-ERCO", ignoring case), with its value
// in g/kWh; -1 for an unknown region. *nearest is the nearest known region, or NULL.
long carbon_of_grid(const struct table *table, const char *region, const char **nearest,
                    struct arena *arena);

// The row of an accelerator's own footprint, per_gpu_value in kg: the highest of several. -1: none.
long carbon_of_accelerator(const struct table *table, const char *accelerator);

#endif
