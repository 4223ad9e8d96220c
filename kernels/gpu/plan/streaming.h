// streaming: a step in one launch: how its blocks use their shared memory.
#ifndef PERTOKEN_KERNELS_GPU_PLAN_STREAMING_H
#define PERTOKEN_KERNELS_GPU_PLAN_STREAMING_H

#include "kernels/gpu/plan/plan.h"

// Of its grid: one for each multiprocessor.
int streaming_blocks(const struct plan *plan);

// Sets plan->stream of a plan whose products are divided. Returns NULL, or why the device has no
// room for that.
const char *streaming_share(struct plan *plan);

#endif
