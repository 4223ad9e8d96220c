// vectors: what a model holds in float apart from its matrices: weights and biases of norms, biases
// of products, sinks. One table says where they are, what fills them and what a step reads of them.
#ifndef PERTOKEN_KERNELS_GPU_PLAN_VECTORS_H
#define PERTOKEN_KERNELS_GPU_PLAN_VECTORS_H

#include "kernels/decode.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/weights.h"

#include <stdint.h>

enum { PLAN_VECTORS = 18 };

struct plan_vector {
  enum plan_region region;
  enum tensor tensor;
  int first, count; // floats, from the region's beginning in a layer
  int layers;       // layers that have it, the first ones; 0: it is outside the layers
};

// Every possible vector, those of a region in their order; if the shape does not have one, its
// `count` is 0. With several ranks the shape is a rank's share.
void vectors_of(const struct decode_shape *shape, struct plan_vector out[PLAN_VECTORS]);

// Floats of a region in one layer, and of all vectors of the model.
int vectors_region(const struct decode_shape *shape, enum plan_region region);
uint64_t vectors_all(const struct decode_shape *shape);

#endif
