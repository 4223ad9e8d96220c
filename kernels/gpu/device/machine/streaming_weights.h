// streaming_weights: how the products of a step in one launch have their weights: through rings
// (ring.h), or where there are none through registers, like those of launches. For streaming.h,
// after which it is included:
//   void streaming_start(void): by all threads, before the first stage
//   streaming_product<WEIGHTS, ROUND, END, BATCH>(): the stage's product
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_STREAMING_WEIGHTS_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_STREAMING_WEIGHTS_H

#if STREAMING_RING
#include "kernels/gpu/device/product_stream.h"

// Where the launch's shared memory has a warp's things (arguments.h).
DEVICE struct stream_block stream_block_of(void) {
  SHARED(unsigned char, shared);
  const struct streaming_place *place = streaming_place();
  const int slots = place->launch.slots, mine = warp_index() * slots;
  unsigned char *ring = shared + place->launch.ring;
  unsigned char *barriers = ring + STREAM_WARPS * slots * STREAM_SLOT;
  unsigned char *kept = barriers + STREAM_WARPS * slots * 8;
  return {place->launch.products,
          place->launch.product_count,
          place->own,
          place->grid,
          warp_index(),
          {ring + mine * STREAM_SLOT, reinterpret_cast<uint64_t *>(barriers) + mine, slots},
          reinterpret_cast<float *>(shared + place->launch.sums),
          place->launch.pairs,
          reinterpret_cast<struct stream_state *>(kept) + warp_index()};
}

DEVICE void streaming_start(void) {
  stream_start(stream_block_of());
}

template <enum element WEIGHTS, enum rounding ROUND, enum vector_end END, int BATCH>
DEVICE void streaming_product(void) {
  stream_product_stage<stream_kind<WEIGHTS, ROUND, END, BATCH>>(streaming_held().arguments.product);
}

#else
#include "kernels/gpu/device/product_vector.h"

DEVICE void streaming_start(void) {}

template <enum element WEIGHTS, enum rounding ROUND, enum vector_end END, int BATCH>
DEVICE void streaming_product(void) {
  vector_product<vector_kind<WEIGHTS, ELEMENT_BF16, ROUND, END, BATCH>>(
      streaming_held().arguments.product);
}

#endif

#endif
