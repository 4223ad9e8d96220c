// fill: the launches that fill the plan's memory from the seed.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_FILL_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_FILL_H

#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

#include <stddef.h>

// [*count], in one allocation with their arguments, to be passed to free; NULL without memory.
struct gpu_launch *gpu_plan_fill(const struct plan *plan, void *base, size_t *count);

#endif
