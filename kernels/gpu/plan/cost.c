#include "kernels/gpu/plan/cost.h"

#include "kernels/decode.h"
#include "kernels/element.h"
#include "kernels/gpu/plan/experts.h"
#include "kernels/gpu/plan/vectors.h"
#include "kernels/routing.h"

#include <stddef.h>
#include <stdint.h>

uint64_t gpu_plan_product_bytes(const struct plan *plan, enum product_name which) {
  const struct plan_product *product = &plan->product[which];
  const uint64_t rows = (uint64_t)product->rows * (product->gated ? 2 : 1);
  const uint64_t bytes = element_tensor_bytes(product->weights, rows, (size_t)product->columns);
  return product->routed ? experts_bytes(plan, bytes)
                         : (uint64_t)product->layers * (uint64_t)product->copies * bytes;
}

// The positions that one batch row reads, over all layers.
static uint64_t positions_read(const struct plan *plan) {
  uint64_t positions = 0;
  for (int layer = 0; layer < plan->request.shape.layers; layer++)
    positions += (uint64_t)(plan->request.context - gpu_plan_attention(plan, layer).first);
  return positions;
}

uint64_t gpu_plan_cache_bytes(const struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  const uint64_t positions = positions_read(plan) + (uint64_t)shape->layers;
  const uint64_t entry = gpu_plan_is_latent(plan)
                             ? (uint64_t)(shape->latent.rank + shape->latent.rope_dim)
                             : 2 * (uint64_t)shape->kv_heads * (uint64_t)shape->head_dim;
  return (uint64_t)plan->request.batch * positions * entry *
         gpu_element_bytes(plan->request.types.kv);
}

// Counted as in the CPU backend (kernels/cpu/plan.c). Bytes: every weight, scale, bias and norm
// once, without padding; the batch's rows of the embedding; the cache of all positions in the
// window, read, and one position, written. Operations: two for each weight of a product and batch
// row; for each query head and position, two for each element of a key, for the score, and of a
// value, for the sum.
struct decode_cost gpu_plan_cost(const struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  const struct decode_types *types = &plan->request.types;
  const uint64_t batch = (uint64_t)plan->request.batch;
  const uint64_t hidden = (uint64_t)shape->hidden;
  uint64_t bytes = experts_bias_bytes(plan);
  uint64_t weights = (uint64_t)shape->vocab * hidden;
  for (int p = 0; p < PRODUCT_HEAD; p++) {
    const struct plan_product *product = &plan->product[p];
    const uint64_t rows = (uint64_t)product->rows * (product->gated ? 2 : 1);
    const uint64_t times =
        product->routed ? (uint64_t)shape->experts.chosen : (uint64_t)product->copies;
    bytes += product->routed ? 0 : gpu_plan_product_bytes(plan, (enum product_name)p);
    weights += (uint64_t)product->layers * times * rows * (uint64_t)product->columns;
  }
  const uint64_t positions = batch * (uint64_t)shape->heads * positions_read(plan);
  const struct decode_latent *latent = &shape->latent; // its entry is the key, its rank the value
  const uint64_t elements = gpu_plan_is_latent(plan)
                                ? (uint64_t)(2 * latent->rank + latent->rope_dim)
                                : 2 * (uint64_t)shape->head_dim;
  return (struct decode_cost){
      .weight_bytes = bytes + vectors_all(shape) * sizeof(float) +
                      element_tensor_bytes(types->head, (uint64_t)shape->vocab, hidden) +
                      element_tensor_bytes(types->head, batch, hidden),
      .expert_bytes = experts_one_bytes(plan),
      .expected_experts = routing_expected(shape, plan->request.batch),
      .kv_bytes = gpu_plan_cache_bytes(plan),
      .operations = 2 * weights * batch + positions * 2 * elements,
      .resident_bytes = plan->bytes,
  };
}
