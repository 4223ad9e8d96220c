// matrix_elements: what a matrix product is made of, as types for the templates of product_matrix,
// tile_check and rate: bf16_bf16, e4m3_bf16, e4m3_e4m3; the weights, which are A of the matrix
// tile, first, the activations, B, second.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MATRIX_ELEMENTS_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MATRIX_ELEMENTS_H

#include "kernels/gpu/device/matrix_tile.h"

// A_BYTES, B_BYTES: of an element; STEP: elements of a step of the tile; B_STEP_BYTES: a step of a
// column; AS_THEY_LIE: no side is converted. scale() is the factor that a sum of products lacks.
#define MATRIX_ELEMENTS(name, a_bytes, b_bytes, as_they_lie, factor)                               \
  struct name {                                                                                    \
    enum {                                                                                         \
      A_BYTES = a_bytes,                                                                           \
      B_BYTES = b_bytes,                                                                           \
      STEP = TILE_STEP_BYTES / A_BYTES,                                                            \
      B_STEP_BYTES = STEP * B_BYTES,                                                               \
      AS_THEY_LIE = as_they_lie                                                                    \
    };                                                                                             \
    DEVICE float scale(void) {                                                                     \
      return factor;                                                                               \
    }                                                                                              \
    template <int N>                                                                               \
    DEVICE void multiply(const tile_a (&a)[N], const void *b, int b_stride_bytes,                  \
                         float (&sum)[N][TILE_ACCUMULATORS]) {                                     \
      tile_multiply_##name<N>(a, b, b_stride_bytes, sum);                                          \
    }                                                                                              \
  };
MATRIX_ELEMENTS(bf16_bf16, 2, 2, 1, 1)
MATRIX_ELEMENTS(e4m3_bf16, 1, 2, 0, E4M3_BF16_SCALE)
MATRIX_ELEMENTS(e4m3_e4m3, 1, 1, TILE_E4M3, E4M3_PRODUCT_SCALE)

#endif
