// experts: the products of a mixture's experts, built on those of product_vector, product_matrix
// and units: the kernels expert_vector_*, expert_matrix_* and gather of arguments/experts.h.
//
// A block takes an item from the list that `route` made and does what the plain kernel does, with
// the expert's matrices; blocks beyond the list's end do nothing. The weights to read are not known
// before the list is, so none are fetched before wait_for_previous.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_EXPERTS_H
#define PERTOKEN_KERNELS_GPU_DEVICE_EXPERTS_H

#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/device/products/product_matrix.h"
#include "kernels/gpu/device/products/product_vector.h"
#include "kernels/gpu/device/units.h"

// The block's item; false when there is none.
DEVICE bool expert_item_of(const struct expert_arguments &a, struct expert_item *item) {
  const int index = block_index(2);
  if (index >= load_published_int(a.item_count)) {
    return false;
  }
  const struct words4 words = load_published(a.items + index);
  *item = {(int)words.word[0], (int)words.word[1], (int)words.word[2], 0};
  return true;
}

// What no expert's product has, stated so that nothing is compiled for it.
template <class KIND> DEVICE void expert_leave_out(struct product_arguments &p) {
  p.without_residual = 1;
  p.norm_bias = nullptr;
  p.passed = PASSED_FLOAT;
  p.rounded = 0;
  p.splits = 1;
  if (KIND::STREAMS == 1) {
    p.mlp = MLP_SWIGLU;
  }
}

// The body of expert_vector_*. Rows count from the first expert's on, so that a single number holds
// where the item's matrices and biases are. Input after a norm is x, of all batch rows, the same
// for every expert; other input is in the expert's own slots.
template <class KIND> DEVICE void expert_vector(const struct expert_arguments &a) {
  wait_for_previous();
  struct expert_item item;
  if (!expert_item_of(a, &item)) {
    return;
  }
  struct product_arguments p = a.product;
  expert_leave_out<KIND>(p);
  const int before = item.expert * p.rows;
  p.rows += before;
  p.output += (long long)item.first * p.output_stride - before;
  p.input += KIND::ROUND == ROUND_NORM ? 0 : (size_t)item.first * (size_t)p.columns;
  vector_product<KIND>(p, before);
}

// The arguments of matrix_* for the block's item; false when there is none.
template <class KIND>
DEVICE bool expert_product(const struct expert_arguments &a, struct product_arguments &p) {
  let_next_start();
  wait_for_previous();
  struct expert_item item;
  if (!expert_item_of(a, &item)) {
    return false;
  }
  p = a.product;
  expert_leave_out<KIND>(p);
  const size_t rows = (size_t)item.expert * (size_t)p.rows, first = (size_t)item.first;
  const size_t weights = rows * KIND::row_bytes(p.stride);
  p.weights = static_cast<const char *>(p.weights) + weights;
  p.second = static_cast<const char *>(p.second) + (p.second ? weights : 0);
  p.scales += p.scales ? rows : 0;
  p.second_scales += p.second_scales ? rows : 0;
  p.bias += p.bias ? rows : 0;
  p.second_bias += p.second_bias ? rows : 0;
  p.activations =
      static_cast<const char *>(p.activations) + first * (size_t)p.stride * KIND::ELEMENTS::B_BYTES;
  p.activation_scales += p.activation_scales ? first : 0;
  p.output += first * (size_t)p.output_stride;
  p.batch = item.count;
  return true;
}

// The bodies of expert_matrix_*, with weights in units and with others.
template <class KIND> DEVICE void expert_units(const struct expert_arguments &a) {
  struct product_arguments p;
  if (expert_product<KIND>(a, p)) {
    units_product<KIND>(p);
  }
}
template <class KIND> DEVICE void expert_matrix(const struct expert_arguments &a) {
  struct product_arguments p;
  if (expert_product<KIND>(a, p)) {
    matrix_product<KIND>(p);
  }
}

// The body of gather.
DEVICE void gather_row(const struct gather_arguments &a) {
  let_next_start();
  wait_for_previous();
  const int slot = block_index(0), row = slot < a.slots ? load_published_int(a.rows + slot) : -1;
  const char *from =
      static_cast<const char *>(a.from) + (row < 0 ? 0 : (size_t)row * (size_t)a.row_bytes);
  char *to = static_cast<char *>(a.to) + (size_t)slot * (size_t)a.row_bytes;
  for (int at = thread_index() * 16; at < a.row_bytes; at += block_threads() * 16) {
    const struct words4 zeros = {{0, 0, 0, 0}};
    publish_words(to + at, row < 0 ? zeros : load_published(from + at));
  }
  if (a.from_scales && thread_index() == 0) {
    publish(a.to_scales + slot, row < 0 ? 1 : load_published_float(a.from_scales + row));
  }
}

#define EXPERT_VECTOR(w, x, round, end, batch)                                                     \
  KERNEL_BOUNDS(expert_vector_##w##_##x##_##round##_##end##_##batch, expert_arguments,             \
                VECTOR_THREADS, batch == 1 ? 2 : 1) {                                              \
    expert_vector<vector_kind<ELEMENT_##w, ELEMENT_##x, ROUND_##round, VECTOR_##end, batch>>(a);   \
  }
#define EXPERT_VECTORS(w, x, batch)                                                                \
  EXPERT_VECTOR(w, x, norm, gated, batch)                                                          \
  EXPERT_VECTOR(w, x, round, biased, batch)
#define EXPERT_VECTOR_BATCHES(w, x)                                                                \
  EXPERT_VECTORS(w, x, 1) EXPERT_VECTORS(w, x, 2) EXPERT_VECTORS(w, x, 4)

#define EXPERT_MATRIX(elements, end, END, columns)                                                 \
  KERNEL_BOUNDS(expert_matrix_##elements##_##end##_##columns, expert_arguments,                    \
                MATRIX_WARPS *WARP, (matrix_kind<elements, END, columns>::BLOCKS)) {               \
    expert_matrix<matrix_kind<elements, END, columns>>(a);                                         \
  }
#define EXPERT_MATRICES(elements)                                                                  \
  EXPERT_MATRIX(elements, gated, MATRIX_GATED, 16)                                                 \
  EXPERT_MATRIX(elements, gated, MATRIX_GATED, 64)                                                 \
  EXPERT_MATRIX(elements, biased, MATRIX_BIASED, 16)                                               \
  EXPERT_MATRIX(elements, biased, MATRIX_BIASED, 64)

#define EXPERT_UNIT(name, ELEMENT, end, END, columns)                                              \
  KERNEL_BOUNDS(expert_matrix_##name##_bf16_##end##_##columns, expert_arguments,                   \
                MATRIX_WARPS *WARP, (units_kind<ELEMENT_##ELEMENT, END, columns>::BLOCKS)) {       \
    expert_units<units_kind<ELEMENT_##ELEMENT, END, columns>>(a);                                  \
  }
#define EXPERT_UNITS(name, ELEMENT, columns)                                                       \
  EXPERT_UNIT(name, ELEMENT, gated, MATRIX_GATED, columns)                                         \
  EXPERT_UNIT(name, ELEMENT, biased, MATRIX_BIASED, columns)
#define EXPERT_UNITS_16(name, ELEMENT, code_bytes, beside_bytes) EXPERT_UNITS(name, ELEMENT, 16)
#define EXPERT_UNITS_64(name, ELEMENT, code_bytes, beside_bytes) EXPERT_UNITS(name, ELEMENT, 64)

#endif
