// matrix_elements: the operand types of a matrix product, for the templates of product_matrix,
// tile_check and rate: bf16_bf16, e4m3_bf16, e4m3_e4m3. The weights, A of the matrix tile, come
// first; the activations, B, second.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_MATRIX_ELEMENTS_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_MATRIX_ELEMENTS_H

#include "kernels/gpu/device/machine/matrix_tile.h"

enum matrix_scales { NOT_SCALED, SCALED, SCALED_IF_GIVEN };

// A_BYTES, B_BYTES: of an element; STEP: elements of a step of the tile; B_STEP_BYTES: a step of a
// column; A_SCALED, B_SCALED: each row, each column has a scale. scale() is the factor missing from
// a sum of products.
#define MATRIX_ELEMENTS(name, a_bytes, b_bytes, factor)                                            \
  struct name {                                                                                    \
    enum {                                                                                         \
      A_BYTES = a_bytes,                                                                           \
      B_BYTES = b_bytes,                                                                           \
      STEP = TILE_STEP_BYTES / A_BYTES,                                                            \
      B_STEP_BYTES = STEP * B_BYTES                                                                \
    };                                                                                             \
    static constexpr enum matrix_scales A_SCALED = a_bytes == 1 ? SCALED : NOT_SCALED,             \
                                        B_SCALED = b_bytes == 1 ? SCALED : NOT_SCALED;             \
    DEVICE float scale(void) {                                                                     \
      return factor;                                                                               \
    }                                                                                              \
    template <int N>                                                                               \
    DEVICE void multiply(const tile_a (&a)[N], const void *b, int b_stride_bytes,                  \
                         float (&sum)[N][TILE_ACCUMULATORS]) {                                     \
      tile_multiply_##name<N>(a, b, b_stride_bytes, sum);                                          \
    }                                                                                              \
  };
MATRIX_ELEMENTS(bf16_bf16, 2, 2, 1)
MATRIX_ELEMENTS(e4m3_bf16, 1, 2, E4M3_BF16_SCALE)
MATRIX_ELEMENTS(e4m3_e4m3, 1, 1, E4M3_PRODUCT_SCALE)

#endif
