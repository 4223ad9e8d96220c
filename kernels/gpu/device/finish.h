// finish: the kernels finish_*: apply scales, biases and the MLP's nonlinearity to sums from the
// vendor's library. The epilogues are those of product_matrix.h; only the sums' layout differs.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_FINISH_H
#define PERTOKEN_KERNELS_GPU_DEVICE_FINISH_H

#include "kernels/gpu/arguments.h"
#include "kernels/gpu/device/machine/platform.h"
#include "kernels/gpu/device/product_matrix.h"

// The part of it that matrix_family needs.
template <matrix_end END> struct finish_kind {
  static constexpr int STREAMS = END == MATRIX_SWIGLU || END == MATRIX_GATED ? 2 : 1;
};

// Only E4M3 has scales. The factors are multiplied in the order of matrix_factor.
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
  float *output = p.output + (size_t)column * (size_t)p.output_stride + (size_t)row;
  float v = finish_sum(p, a.sums, p.scales, row, column), second = 0;
  if constexpr (finish_kind<END>::STREAMS == 2) {
    second = finish_sum(p, a.second_sums, p.second_scales, row, column);
  }
  if constexpr (END == MATRIX_ADD) {
    v += load_published_float(output);
  }
  if constexpr (END == MATRIX_SWIGLU) {
    v = matrix_silu(v) * second;
  }
  if constexpr (END == MATRIX_BIASED || END == MATRIX_GATED) {
    v = matrix_family<finish_kind<END>>(p, row, output, v, second);
  }
  if constexpr (END == MATRIX_STORE || END == MATRIX_ADD) {
    publish(output, v);
  } else {
    pass_on(p.passed, p.output, (size_t)column * (size_t)p.output_stride, row, v);
  }
}

#define FINISH_KERNEL(end, END)                                                                    \
  KERNEL_BOUNDS(finish_##end, finish_arguments, SMALL_THREADS, 2) {                                \
    finish<END>(a);                                                                                \
  }

#endif
