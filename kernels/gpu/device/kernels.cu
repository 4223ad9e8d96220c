// kernels: every kernel of kernels/gpu/arguments under its name, instantiated from the templates of
// the stages; those on the matrix tile are named in their own headers. One source for nvcc, clang
// -x hip and the emulator's g++ -x c++.
#include "kernels/gpu/device/attention.h"
#include "kernels/gpu/device/calibration.h"
#include "kernels/gpu/device/embedding.h"
#include "kernels/gpu/device/experts.h"
#include "kernels/gpu/device/fill.h"
#include "kernels/gpu/device/finish.h"
#include "kernels/gpu/device/heads.h"
#include "kernels/gpu/device/latent.h"
#include "kernels/gpu/device/products/product_matrix.h"
#include "kernels/gpu/device/products/product_vector.h"
#include "kernels/gpu/device/products/round.h"
#include "kernels/gpu/device/route.h"
#include "kernels/gpu/device/sample.h"
#include "kernels/gpu/device/turn.h"
#include "kernels/gpu/device/units.h"
#if defined(TILE_WGMMA)
#include "kernels/gpu/device/products/product_wgmma.h"
#endif

#define ELEMENT_bf16  ELEMENT_BF16
#define ELEMENT_e4m3  ELEMENT_E4M3
#define ELEMENT_f32   ELEMENT_F32
#define ELEMENT_int8  ELEMENT_INT8
#define ROUND_round   ROUND_ALONE
#define ROUND_norm    ROUND_NORM
#define ROUND_layer   ROUND_LAYER
#define VECTOR_store  VECTOR_STORE
#define VECTOR_add    VECTOR_ADD
#define VECTOR_swiglu VECTOR_SWIGLU
#define VECTOR_biased VECTOR_BIASED
#define VECTOR_gated  VECTOR_GATED

// With one vector, a multiprocessor runs two blocks; with more, the sums and activations need the
// registers of both.
#define VECTOR(w, x, round, end, batch)                                                            \
  KERNEL_BOUNDS(vector_##w##_##x##_##round##_##end##_##batch, product_arguments, VECTOR_THREADS,   \
                batch == 1 ? 2 : 1) {                                                              \
    vector_product<vector_kind<ELEMENT_##w, ELEMENT_##x, ROUND_##round, VECTOR_##end, batch>>(a);  \
  }
#define VECTOR_ENDS(w, x, batch)                                                                   \
  VECTOR(w, x, norm, store, batch)                                                                 \
  VECTOR(w, x, round, add, batch)                                                                  \
  VECTOR(w, x, norm, swiglu, batch)                                                                \
  VECTOR(w, x, norm, biased, batch)                                                                \
  VECTOR(w, x, round, biased, batch)                                                               \
  VECTOR(w, x, norm, gated, batch)
#define VECTOR_BATCHES(w, x) VECTOR_ENDS(w, x, 1) VECTOR_ENDS(w, x, 2) VECTOR_ENDS(w, x, 4)
VECTOR_BATCHES(bf16, bf16)
VECTOR_BATCHES(e4m3, bf16)
VECTOR_BATCHES(e4m3, e4m3)

EXPERT_VECTOR_BATCHES(bf16, bf16)
EXPERT_VECTOR_BATCHES(e4m3, bf16)
EXPERT_VECTOR_BATCHES(e4m3, e4m3)
EXPERT_MATRICES(bf16_bf16)
EXPERT_MATRICES(e4m3_bf16)
EXPERT_MATRICES(e4m3_e4m3)
GPU_UNIT_ELEMENTS(EXPERT_UNITS_16)
WIDE_UNIT_ELEMENTS(EXPERT_UNITS_64)
KERNEL_BOUNDS(route, route_arguments, SMALL_THREADS, 2) {
  route_rows(a);
}
KERNEL_BOUNDS(gather, gather_arguments, SMALL_THREADS, 2) {
  gather_row(a);
}
KERNEL_BOUNDS(combine, combine_arguments, SMALL_THREADS, 2) {
  combine_row(a);
}

#define ATTENTION_KERNEL_OF(name, kind, elements, headdim)                                         \
  KERNEL_BOUNDS(name##_##headdim, attention_arguments, ATTENTION_WARPS *WARP,                      \
                (kind<elements, headdim>::BLOCKS)) {                                               \
    attention<kind<elements, headdim>>(a);                                                         \
  }
#define ATTENTION_KERNEL(name, elements, headdim)                                                  \
  ATTENTION_KERNEL_OF(attention_##name, attention_kind, elements, headdim)                         \
  ATTENTION_KERNEL_OF(attention_##name##_family, attention_family, elements, headdim)              \
  ATTENTION_KERNEL_OF(attention_##name##_prompt, attention_prompt, elements, headdim)
ATTENTION_KERNEL(bf16, bf16_bf16, 64)
ATTENTION_KERNEL(bf16, bf16_bf16, 128)
ATTENTION_KERNEL(e4m3, e4m3_bf16, 64)
ATTENTION_KERNEL(e4m3, e4m3_bf16, 128)
IF_LARGE_SHARED(ATTENTION_KERNEL(bf16, bf16_bf16, 256))
IF_LARGE_SHARED(ATTENTION_KERNEL(e4m3, e4m3_bf16, 256))

KERNEL_BOUNDS(turn_bf16, turn_arguments, SMALL_THREADS, 2) {
  turn<attention_kind<bf16_bf16, 64>>(a);
}
KERNEL_BOUNDS(turn_e4m3, turn_arguments, SMALL_THREADS, 2) {
  turn<attention_kind<e4m3_bf16, 64>>(a);
}

FINISH_KERNEL(store, MATRIX_STORE)
FINISH_KERNEL(add, MATRIX_ADD)
FINISH_KERNEL(swiglu, MATRIX_SWIGLU)
FINISH_KERNEL(biased, MATRIX_BIASED)
FINISH_KERNEL(gated, MATRIX_GATED)

HEADS_KERNELS
LATENT_KERNEL(bf16, BF16)
LATENT_KERNEL(e4m3, E4M3)

#define ROUND(x, round)                                                                            \
  KERNEL_BOUNDS(round_##x##_##round, round_arguments, ROUND_THREADS, 2) {                          \
    round_vector<ELEMENT_##x, ROUND_##round>(a);                                                   \
  }
ROUND(bf16, norm)
ROUND(bf16, layer)
ROUND(bf16, round)
ROUND(e4m3, norm)
ROUND(e4m3, layer)
ROUND(e4m3, round)
KERNEL_BOUNDS(round_paired_norm, round_arguments, ROUND_THREADS, 2) {
  round_vector<ELEMENT_BF16, ROUND_NORM, WRITTEN_PAIRED>(a);
}
KERNEL_BOUNDS(round_paired_round, round_arguments, ROUND_THREADS, 2) {
  round_vector<ELEMENT_BF16, ROUND_ALONE, WRITTEN_PAIRED>(a);
}
#define ROUND_AS_BF16(x, round)                                                                    \
  KERNEL_BOUNDS(round_##x##_as_bf16_##round, round_arguments, ROUND_THREADS, 2) {                  \
    round_vector<ELEMENT_##x, ROUND_##round, WRITTEN_AS_BF16>(a);                                  \
  }
ROUND_AS_BF16(e4m3, norm)
ROUND_AS_BF16(e4m3, layer)
ROUND_AS_BF16(e4m3, round)
ROUND_AS_BF16(int8, norm)
ROUND_AS_BF16(int8, layer)
ROUND_AS_BF16(int8, round)

#define EMBED(head)                                                                                \
  KERNEL_BOUNDS(embed_##head, embed_arguments, SMALL_THREADS, 2) {                                 \
    embed_row<ELEMENT_##head>(a);                                                                  \
  }
EMBED(bf16)
EMBED(e4m3)
#define EMBED_UNITS(name, ELEMENT, code_bytes, beside_bytes)                                       \
  KERNEL_BOUNDS(embed_##name, embed_arguments, SMALL_THREADS, 2) {                                 \
    embed_units<ELEMENT_##ELEMENT>(a);                                                             \
  }
GPU_UNIT_ELEMENTS(EMBED_UNITS)

KERNEL_BOUNDS(sample, sample_arguments, SMALL_THREADS, 2) {
  sample_row(a);
}
KERNEL_BOUNDS(sample_key, sample_key_arguments, SMALL_THREADS, 2) {
  sample_keys(a);
}

#define FILL(element)                                                                              \
  KERNEL_BOUNDS(fill_##element, fill_arguments, SMALL_THREADS, 2) {                                \
    fill_tensor<ELEMENT_##element>(a);                                                             \
  }
FILL(bf16)
FILL(e4m3)
FILL(f32)
KERNEL_BOUNDS(fill_units, fill_units_arguments, SMALL_THREADS, 2) {
  fill_rows_of_units(a);
}
KERNEL_BOUNDS(fill_value, fill_value_arguments, SMALL_THREADS, 2) {
  fill_with_value(a);
}

KERNEL_BOUNDS(read_0, read_arguments, VECTOR_THREADS, READ_0_BLOCKS) {
  read_strides<4>(a);
}
KERNEL_BOUNDS(read_1, read_arguments, VECTOR_THREADS, READ_1_BLOCKS) {
  read_strides<8>(a);
}
KERNEL_BOUNDS(read_2, read_arguments, VECTOR_THREADS, READ_2_BLOCKS) {
  read_shares(a);
}
