// persistent: the kernels persistent_* of arguments.h, apart from the others, whose stages they
// contain again.
#include "kernels/gpu/persistent.h"

#define ELEMENT_bf16 ELEMENT_BF16
#define ELEMENT_e4m3 ELEMENT_E4M3

// Tiles of keys and values that attention fetches together: with 4, keys in BF16 spill 20 of the
// 128 registers that a block of so many threads leaves (ptxas 13.0, sm_80 and sm_90a).
enum { TILES = 2 };

#define PERSISTENT(weights, kv)                                                                    \
  KERNEL_BOUNDS(persistent_##weights##_##kv##_1, persistent_arguments, VECTOR_THREADS, 1) {        \
    persistent<persistent_step<ELEMENT_##weights, attention_narrow<kv##_bf16, 128, TILES>>>(a);    \
  }
PERSISTENT(bf16, bf16)
PERSISTENT(bf16, e4m3)
PERSISTENT(e4m3, bf16)
PERSISTENT(e4m3, e4m3)
