// hip: what a kernel compiled for HIP is told of its launch, before its own arguments, which begin
// where this ends.
#ifndef PERTOKEN_KERNELS_GPU_ARGUMENTS_HIP_H
#define PERTOKEN_KERNELS_GPU_ARGUMENTS_HIP_H

#include <stdint.h>

// Of 16 bytes, the most that a kernel's arguments are aligned to.
struct hip_grid {
  uint32_t blocks[3], threads; // of a block
};

#endif
