// family: what distinguishes a shape from a Llama, piece by piece, so that a backend can say which
// pieces it lacks.
#ifndef PERTOKEN_KERNELS_FAMILY_H
#define PERTOKEN_KERNELS_FAMILY_H

#include "kernels/decode.h"

#include <stdbool.h>

enum family_piece { // bits
  FAMILY_LAYER_NORM = 1 << 0,
  FAMILY_GELU = 1 << 1,
  FAMILY_CLAMPED_SWIGLU = 1 << 2,
  FAMILY_PARALLEL = 1 << 3,
  FAMILY_BIASES = 1 << 4,
  FAMILY_QK_NORM = 1 << 5,
  FAMILY_SINKS = 1 << 6,
  FAMILY_WINDOW = 1 << 7,
  FAMILY_ROPE = 1 << 8, // other than plain
  FAMILY_EXPERTS = 1 << 9,
  FAMILY_SIGMOID_ROUTER = 1 << 10,
  FAMILY_SHARED_EXPERT = 1 << 11,
  FAMILY_DENSE_LAYERS = 1 << 12, // before the layers with experts
  FAMILY_LATENT = 1 << 13,
  FAMILY_SCORE_SCALE = 1 << 14,
  FAMILY_ALL = (1 << 15) - 1,
};

// The pieces that a shape needs.
unsigned family_pieces(const struct decode_shape *shape);

// "sliding windows, attention sinks": the pieces missing from `known`, in `text`; "" when none are.
const char *family_missing(const struct decode_shape *shape, unsigned known, char text[256]);

// NULL, or why such a model is impossible: "more experts per token than experts".
const char *family_fault(const struct decode_shape *shape);

// What a layer of the shape is.
struct family_layer {
  int window;   // positions it attends to; 0: all
  bool experts; // an MLP of experts, otherwise the dense one
};
struct family_layer family_layer(const struct decode_shape *shape, int layer);

#endif
