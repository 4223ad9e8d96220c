// streaming_registers: the products of a step in one launch have their weights through registers,
// like those of launches; otherwise as product_stream.h.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_STREAMING_REGISTERS_H
#define PERTOKEN_KERNELS_GPU_DEVICE_STREAMING_REGISTERS_H

#include "kernels/gpu/device/product_vector.h"

DEVICE void streaming_start(void) {}

template <enum element WEIGHTS, enum rounding ROUND, enum vector_end END, int BATCH>
DEVICE void streaming_product(void) {
  vector_product<vector_kind<WEIGHTS, ELEMENT_BF16, ROUND, END, BATCH>>(
      streaming_held().arguments.product);
}

#endif
