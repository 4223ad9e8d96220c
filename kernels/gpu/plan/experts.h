// experts: what a mixture of experts adds to a plan. Pure arithmetic, like planner.h.
#ifndef PERTOKEN_KERNELS_GPU_PLAN_EXPERTS_H
#define PERTOKEN_KERNELS_GPU_PLAN_EXPERTS_H

#include "kernels/decode.h"
#include "kernels/gpu/plan/plan.h"

#include <stddef.h>
#include <stdint.h>

enum {
  EXPERTS_CHOSEN = 64,  // of a row, at most
  EXPERTS_PAIRS = 16384 // of a pass: what `route` has shared memory for
};

// Layers with a dense MLP: the first ones.
int experts_dense_layers(const struct decode_shape *shape);

// Why the kernels of experts cannot do it, in words; NULL if they can, or there are no experts.
const char *experts_unknown(const struct decode_request *request);

// plan->experts, as far as the request determines it; then, for a product, what differs from that
// of a dense model; and, once the products are divided, the rest of plan->experts.
void experts_count(struct plan *plan);
void experts_set_product(const struct plan *plan, enum product_name which,
                         struct plan_product *product);
void experts_share(struct plan *plan);

// The most pairs that an item of a matrix product may have, before shared memory limits it; and how
// many of them a warp takes.
int experts_slice(const struct plan *plan);
int experts_warp_columns(int slice);

// The fewest positions of an expert for which its products go to the library; and how many vectors
// this is asked to multiply for `count` positions: few distinct numbers, as for a batch
// (gpu_plan_library_vectors).
int experts_library_count(const struct plan *plan);
int experts_library_vectors(int count);

// What is in memory apart from matrices.
enum { EXPERT_REGIONS = 17 };
struct experts_region {
  enum plan_region region;
  size_t bytes; // per layer, if there are layers
  size_t layers;
  int first_layer;
};
void experts_regions(const struct plan *plan, struct experts_region out[EXPERT_REGIONS]);

// What a step is expected to read of matrices of `bytes` for each expert of a layer; the bytes of
// one expert of a layer, biases included; and the router's biases.
uint64_t experts_bytes(const struct plan *plan, uint64_t bytes);
uint64_t experts_one_bytes(const struct plan *plan);
uint64_t experts_bias_bytes(const struct plan *plan);

#endif
