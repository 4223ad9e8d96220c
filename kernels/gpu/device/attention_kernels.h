// attention_kernels: the kernels attention_* of arguments.h; of a persistent step attention is a
// stage.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_ATTENTION_KERNELS_H
#define PERTOKEN_KERNELS_GPU_DEVICE_ATTENTION_KERNELS_H

#include "kernels/gpu/device/attention.h"

#define ATTENTION_KERNEL(name, elements, headdim)                                                  \
  KERNEL_BOUNDS(attention_##name##_##headdim, attention_arguments, ATTENTION_WARPS *WARP,          \
                (attention_kind<elements, headdim>::BLOCKS)) {                                     \
    attention<attention_kind<elements, headdim>>(a);                                               \
  }
ATTENTION_KERNEL(bf16, bf16_bf16, 64)
ATTENTION_KERNEL(bf16, bf16_bf16, 128)
ATTENTION_KERNEL(e4m3, e4m3_bf16, 64)
ATTENTION_KERNEL(e4m3, e4m3_bf16, 128)
IF_LARGE_SHARED(ATTENTION_KERNEL(bf16, bf16_bf16, 256))
IF_LARGE_SHARED(ATTENTION_KERNEL(e4m3, e4m3_bf16, 256))

#endif
