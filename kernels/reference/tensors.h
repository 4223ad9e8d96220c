// tensors: the model's weights as the oracle reads them, row by row: from a copy, or from the seed.
#ifndef PERTOKEN_KERNELS_REFERENCE_TENSORS_H
#define PERTOKEN_KERNELS_REFERENCE_TENSORS_H

#include "kernels/decode.h"
#include "kernels/quantised.h"
#include "kernels/reference/state.h"
#include "kernels/weights.h"

#include <stddef.h>
#include <stdint.h>

// The shape of a tensor of one layer, including weights of norms, biases and sinks, without the
// cache. For experts, the rows are those of all experts.
struct tensor_size {
  size_t rows, columns;
};
struct tensor_size reference_tensor_size(const struct decode_shape *shape, enum tensor tensor);

// Where a tensor's values come from.
struct tensor_source {
  const double *held; // a copy, or NULL
  size_t columns;
  uint64_t key;
  // The values that a backend holds: of weights, in their element; of norms, biases and sinks,
  // floats.
  const struct quantised *quantised;
  double base; // 1 for a norm's weight
  float scale;
};
struct tensor_source reference_source(const struct reference *reference, enum tensor tensor,
                                      int layer);
void reference_source_row(const struct tensor_source *source, size_t row, double *out);

// A part of a tensor: of a norm's weight, of biases, of sinks.
void reference_read(const struct reference *reference, enum tensor tensor, int layer, size_t first,
                    size_t count, double *out);

// Some rows of a tensor times vectors. in[count][..., columns] and out[count][..., rows] have their
// own strides.
struct reference_product {
  enum tensor tensor;
  int layer;
  size_t first, rows; // of the tensor
  const double *in;
  double *out;
  size_t in_stride, out_stride, count;
};
// Adds the bias if the shape's products have one.
void reference_multiply(struct reference *reference, const struct reference_product *product);
// The whole tensor times a vector of each item, vectors end to end.
void reference_multiply_all(struct reference *reference, enum tensor tensor, int layer,
                            const double *in, double *out);

// out = the norm of x of each item, of the shape's kind; of width hidden.
void reference_normalise(struct reference *reference, enum tensor norm, int layer, const double *x,
                         double *out);

#endif
