// stamp: when and where a block of a kernel ran, in a build that stamps (GPU_STAMPS, build.mk: CUDA
// only): host/stamps.h gives every launch room for its blocks, and device/machine/stamp_cuda.h
// writes there. Times are %globaltimer's nanoseconds, the same on all multiprocessors; 0: not
// reached.
#ifndef PERTOKEN_KERNELS_GPU_STAMP_H
#define PERTOKEN_KERNELS_GPU_STAMP_H

#include <stdint.h>

struct gpu_stamp {
  uint64_t entry;      // of the block
  uint64_t released;   // by wait_for_previous
  uint64_t multiplied; // the first product, which has weights and activations, is there
  uint64_t exit;       // of the block's last warp
  uint64_t multiprocessor;
};

// The shared memory that the kernels of such a build use for it, and that no plan may count on.
enum { STAMP_SHARED_BYTES = 16 };

#endif
