// streaming: a step in one launch.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_STREAMING_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_STREAMING_H

#include "kernels/gpu/arguments/streaming.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/stream.h"

#include <stddef.h>

// What belongs in REGION_STAGES and REGION_STREAM.
struct streaming_lists {
  const struct streaming_stage *stages;
  const struct stream_product *products;
  size_t count, product_count;
};

// A streaming plan's step, and its lists in the same allocation: to be passed to free, NULL without
// memory.
struct gpu_launch *gpu_plan_streaming(const struct plan *plan, void *base,
                                      struct streaming_lists *lists);

#endif
