// finish: the kernels finish_*: apply scales, biases and the MLP's nonlinearity to sums from the
// vendor's library. The epilogues are those of product_matrix.h; only the sums' layout differs.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_FINISH_H
#define PERTOKEN_KERNELS_GPU_DEVICE_FINISH_H

#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/device/machine/platform.h"
#include "kernels/gpu/device/products/product_matrix.h"

// Only E4M3 has scales. The factors are multiplied in the order of product_matrix.h.
DEVICE float finish_sum(const struct product_arguments &p, const float *sums, const float *scales,
                        int row, int column) {
  const float sum = load_published_float(sums + (size_t)column * (size_t)p.rows + (size_t)row);
  if (!p.activation_scales) {
    return sum;
  }
  return sum * (E4M3_PRODUCT_SCALE * load_published_float(scales + row) *
                load_published_float(p.activation_scales + column));
}

// The body of finish_*.
template <matrix_end END> DEVICE void finish(const struct finish_arguments &a) {
  const struct product_arguments &p = a.product;
  let_next_start();
  wait_for_previous();
  const int row = block_index(0) * block_threads() + thread_index(), column = block_index(1);
  if (row >= p.rows) {
    return;
  }
  const float *output = p.output + (size_t)column * (size_t)p.output_stride + (size_t)row;
  const float residual = matrix_adds<END>(p) ? load_published_float(output) : 0;
  float complete[MATRIX_STREAMS<END>];
#pragma unroll
  for (int s = 0; s < MATRIX_STREAMS<END>; s++) {
    const float bias = MATRIX_FAMILY<END> ? family_bias(s ? p.second_bias : p.bias, row) : 0;
    complete[s] =
        finish_sum(p, s ? a.second_sums : a.sums, s ? p.second_scales : p.scales, row, column) +
        bias;
  }
  matrix_write<END>(p, row, column, matrix_made<END>(p.mlp, complete) + residual);
}

#define FINISH_KERNEL(end, END)                                                                    \
  KERNEL_BOUNDS(finish_##end, finish_arguments, SMALL_THREADS, 2) {                                \
    finish<END>(a);                                                                                \
  }

#endif
