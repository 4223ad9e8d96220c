// tile_check: does the device's matrix unit lay its tiles out as the kernels assume? The code that
// a product uses multiplies small tiles of whole numbers, whose sums are exact.
#ifndef PERTOKEN_KERNELS_GPU_HOST_TILE_CHECK_H
#define PERTOKEN_KERNELS_GPU_HOST_TILE_CHECK_H

#include "kernels/decode.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/plan/plan.h"

// Sizes of the tile_check and rate kernels (arguments/calibration.h).
enum {
  TILE_CHECK_ROWS = 16,
  TILE_CHECK_ELEMENTS = 64,
  TILE_CHECK_SHARED = TILE_CHECK_ROWS * (TILE_CHECK_ELEMENTS * 2 + 16) // bytes of shared memory
};

// Checks every kind of tile that the plan multiplies; attention multiplies keys and values by BF16.
// DECODE_FAILED if the layout of one differs; see failure.h.
enum decode_status tile_check(struct gpu_context *context, const struct plan *plan);

#endif
