// memory: where a plan's regions are in its single allocation.
#ifndef PERTOKEN_KERNELS_GPU_PLAN_MEMORY_H
#define PERTOKEN_KERNELS_GPU_PLAN_MEMORY_H

#include "kernels/gpu/plan/plan.h"

#include <stdbool.h>

// Sets plan->region and bytes. False if they are larger than any memory.
bool memory_place(struct plan *plan);
// Places a prompt's plan after the steps' own regions. False likewise.
bool memory_place_prompt(struct plan *prompt, const struct plan *steps);

#endif
