// carbon: what the table of carbon has of a grid, and of making an accelerator.
#ifndef PERTOKEN_MODEL_EVIDENCE_CARBON_H
#define PERTOKEN_MODEL_EVIDENCE_CARBON_H

#include "base/arena.h"
#include "base/csv.h"

// The row of a grid's intensity by its region ("DE", "US-TEX-ERCO"; letters' case does not count), its
// value in g/kWh; -1 for a region that is not there. *nearest is the nearest that is, or NULL.
long carbon_of_grid(const struct table *table, const char *region, const char **nearest,
                    struct arena *arena);

// The row of an accelerator's own footprint, per_gpu_value in kg: of several the highest. -1: none.
long carbon_of_accelerator(const struct table *table, const char *accelerator);

#endif
