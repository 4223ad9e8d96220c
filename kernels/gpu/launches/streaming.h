// streaming: a step in one launch.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_STREAMING_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_STREAMING_H

#include "kernels/gpu/arguments.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

#include <stddef.h>

// A streaming plan's step, and the `count` stages that belong in REGION_STAGES, in the same
// allocation: to be passed to free, NULL without memory.
struct gpu_launch *gpu_plan_streaming(const struct plan *plan, void *base,
                                       const struct streaming_stage **stages, size_t *count);

#endif
