// heads: products with a separate matrix for each head, built on those of product_vector and
// product_matrix: the kernels heads_* of arguments/product.h.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_HEADS_H
#define PERTOKEN_KERNELS_GPU_DEVICE_HEADS_H

#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/device/products/product_matrix.h"
#include "kernels/gpu/device/products/product_vector.h"

// The body of heads_vector_*. Rows count from the first head's on, as for experts.
template <class KIND> DEVICE void heads_vector(const struct heads_arguments &a) {
  struct product_arguments p = a.product;
  const int head = block_index(2), before = head * p.rows;
  p.rows += before;
  p.input += (size_t)head * (size_t)a.input_step;
  p.output += (long long)head * a.output_step - before;
  p.rounded = 0;
  vector_product<KIND>(p, before);
}

// The body of heads_matrix_*.
template <class KIND> DEVICE void heads_matrix(const struct heads_arguments &a) {
  struct product_arguments p = a.product;
  const size_t head = (size_t)block_index(2), rows = head * (size_t)p.rows;
  p.weights = static_cast<const char *>(p.weights) + rows * KIND::row_bytes(p.stride);
  p.activations = static_cast<const char *>(p.activations) + head * (size_t)a.activations_step;
  p.output += head * (size_t)a.output_step;
  p.splits = 1;
  matrix_product<KIND>(p);
}

#define HEADS_VECTOR(batch)                                                                        \
  KERNEL_BOUNDS(heads_vector_bf16_bf16_round_store_##batch, heads_arguments, VECTOR_THREADS,       \
                batch == 1 ? 2 : 1) {                                                              \
    heads_vector<vector_kind<ELEMENT_BF16, ELEMENT_BF16, ROUND_ALONE, VECTOR_STORE, batch>>(a);    \
  }
#define HEADS_MATRIX(columns)                                                                      \
  KERNEL_BOUNDS(heads_matrix_bf16_bf16_store_##columns, heads_arguments, MATRIX_WARPS *WARP,       \
                (matrix_kind<bf16_bf16, MATRIX_STORE, columns>::BLOCKS)) {                         \
    heads_matrix<matrix_kind<bf16_bf16, MATRIX_STORE, columns>>(a);                                \
  }
#define HEADS_KERNELS                                                                              \
  HEADS_VECTOR(1) HEADS_VECTOR(2) HEADS_VECTOR(4) HEADS_MATRIX(16) HEADS_MATRIX(64)

#endif
