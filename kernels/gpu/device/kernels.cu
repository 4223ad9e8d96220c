// kernels: every kernel of arguments.h under its name, from the templates of the stages; those on
// the matrix tile are named in their own headers. One source for nvcc, clang -x hip and the
// emulator's g++ -x c++.
#include "kernels/gpu/device/attention_kernels.h"
#include "kernels/gpu/device/embedding.h"
#include "kernels/gpu/device/fill.h"
#include "kernels/gpu/device/product_matrix.h"
#include "kernels/gpu/device/product_vector.h"
#include "kernels/gpu/device/rate.h"
#include "kernels/gpu/device/read.h"
#include "kernels/gpu/device/round.h"
#include "kernels/gpu/device/sample.h"
#include "kernels/gpu/device/tile_check.h"
#if defined(TILE_WGMMA)
#include "kernels/gpu/device/product_wgmma.h"
#endif

#define ELEMENT_bf16  ELEMENT_BF16
#define ELEMENT_e4m3  ELEMENT_E4M3
#define ELEMENT_f32   ELEMENT_F32
#define ROUND_round   ROUND_ALONE
#define ROUND_norm    ROUND_NORM
#define VECTOR_store  VECTOR_STORE
#define VECTOR_add    VECTOR_ADD
#define VECTOR_swiglu VECTOR_SWIGLU

// Of one vector, two blocks fit a multiprocessor, so that the next kernel's can begin beside this
// one's; of more, the sums and activations take the registers of one.
#define VECTOR(w, x, round, end, batch)                                                            \
  KERNEL_BOUNDS(vector_##w##_##x##_##round##_##end##_##batch, product_arguments, VECTOR_THREADS,   \
                batch == 1 ? 2 : 1) {                                                              \
    vector_product<vector_kind<ELEMENT_##w, ELEMENT_##x, ROUND_##round, VECTOR_##end, batch>>(a);  \
  }
#define VECTOR_ENDS(w, x, batch)                                                                   \
  VECTOR(w, x, norm, store, batch)                                                                 \
  VECTOR(w, x, round, add, batch)                                                                  \
  VECTOR(w, x, norm, swiglu, batch)
#define VECTOR_BATCHES(w, x) VECTOR_ENDS(w, x, 1) VECTOR_ENDS(w, x, 2) VECTOR_ENDS(w, x, 4)
VECTOR_BATCHES(bf16, bf16)
VECTOR_BATCHES(e4m3, bf16)
VECTOR_BATCHES(e4m3, e4m3)

#define ROUND(x, round)                                                                            \
  KERNEL_BOUNDS(round_##x##_##round, round_arguments, ROUND_THREADS, 2) {                          \
    round_vector<ELEMENT_##x, ROUND_##round>(a);                                                   \
  }
ROUND(bf16, norm)
ROUND(bf16, round)
ROUND(e4m3, norm)
ROUND(e4m3, round)
KERNEL_BOUNDS(round_paired_norm, round_arguments, ROUND_THREADS, 2) {
  round_vector<ELEMENT_BF16, ROUND_NORM, true>(a);
}
KERNEL_BOUNDS(round_paired_round, round_arguments, ROUND_THREADS, 2) {
  round_vector<ELEMENT_BF16, ROUND_ALONE, true>(a);
}

#define EMBED(head)                                                                                \
  KERNEL_BOUNDS(embed_##head, embed_arguments, SMALL_THREADS, 2) {                                 \
    embed_row<ELEMENT_##head>(a);                                                                  \
  }
EMBED(bf16)
EMBED(e4m3)

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
KERNEL_BOUNDS(fill_value, fill_value_arguments, SMALL_THREADS, 2) {
  fill_with_value(a);
}

KERNEL_BOUNDS(read_0, read_arguments, VECTOR_THREADS, 3) {
  read_strides<4>(a);
}
KERNEL_BOUNDS(read_1, read_arguments, VECTOR_THREADS, 2) {
  read_strides<8>(a);
}
KERNEL_BOUNDS(read_2, read_arguments, VECTOR_THREADS, 2) {
  read_shares(a);
}
