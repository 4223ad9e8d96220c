// streaming: a step in one launch: how its blocks use their shared memory.
#ifndef PERTOKEN_KERNELS_GPU_PLAN_STREAMING_H
#define PERTOKEN_KERNELS_GPU_PLAN_STREAMING_H

#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/stream.h"

// The blocks of the launch, and of every product but experts': one for each multiprocessor, but no
// more than a layer's product has rows. For a block without rows might be late, and find a mark of
// the vector before last, or be early, and never see the mark that it waits for (streaming.h).
int streaming_blocks(const struct plan *plan);

// A product's matrices as its blocks divide them, for a matrix at `weights` and perhaps one at
// `second`.
struct stream_product streaming_divided(const struct plan_product *product, const void *weights,
                                        const void *second);

// Sets plan->stream of a plan whose products are divided. Returns NULL, or why the device has no
// room for that.
const char *streaming_share(struct plan *plan);

#endif
