#include "kernels/reference/mlp.h"

#include "kernels/decode.h"
#include "kernels/family.h"
#include "kernels/reference/rounding.h"
#include "kernels/reference/router.h"
#include "kernels/reference/stages.h"
#include "kernels/reference/tensors.h"
#include "kernels/routing.h"
#include "kernels/weights.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// One of the model's MLPs: its matrices, and which part, of `width` rows, of the tensors it has.
struct mlp {
  enum tensor gate, up, down;
  size_t width, expert;
};

// output[count][hidden] = the MLP of input[count][hidden].
static void run(struct reference *r, int layer, const struct mlp *mlp, const double *input,
                size_t count, double *output) {
  const enum decode_mlp kind = r->request.shape.mlp;
  struct reference_product product = {.layer = layer,
                                      .first = mlp->expert * mlp->width,
                                      .rows = mlp->width,
                                      .in = input,
                                      .in_stride = r->hidden,
                                      .out_stride = mlp->width,
                                      .count = count};
  if (kind != MLP_GELU) {
    product.tensor = mlp->gate;
    product.out = r->gate;
    reference_multiply(r, &product);
  }
  product.tensor = mlp->up;
  product.out = r->up;
  reference_multiply(r, &product);
  reference_activation(kind, r->gate, r->up, count * mlp->width);
  reference_round_parts(r, mlp->down, r->gate, count, mlp->width);
  reference_multiply(r, &(struct reference_product){.tensor = mlp->down,
                                                    .layer = layer,
                                                    .first = mlp->expert * r->hidden,
                                                    .rows = r->hidden,
                                                    .in = r->gate,
                                                    .out = output,
                                                    .in_stride = mlp->width,
                                                    .out_stride = r->hidden,
                                                    .count = count});
}

// Where the experts of an item's row are in what a table or a device gave.
static size_t place(const struct reference *r, size_t first, const struct reference_item *item) {
  const size_t chosen = (size_t)r->request.shape.experts.chosen;
  return (first * r->batch + (size_t)item->row) * chosen;
}

// Takes the experts from the table: those of a step of the whole batch, or of a prompt's position.
static void choose_forced(const struct reference *r, int layer, const struct reference_item *item,
                          int *chosen) {
  const uint64_t step = (item->prompt ? (uint64_t)item->position : r->steps) % ROUTING_STEPS;
  const uint16_t *from = r->table + place(r, step * r->layers + (size_t)layer, item);
  for (int k = 0; k < r->request.shape.experts.chosen; k++)
    chosen[k] = from[k];
}

static void choose(struct reference *r, int layer, const struct reference_item *item,
                   const double *scores, int *chosen) {
  const struct decode_experts *experts = &r->request.shape.experts;
  const int *given = r->given + place(r, (size_t)layer, item);
  if (r->table)
    choose_forced(r, layer, item, chosen);
  else
    router_choose(experts, scores, chosen);
  if (!r->is_given || item->prompt)
    return;
  double shortfall = router_shortfall(experts, scores, given);
  if (r->table)
    shortfall = router_same(experts, given, chosen) ? 0 : INFINITY;
  r->routing_shortfall = fmax(r->routing_shortfall, shortfall);
  if (isfinite(shortfall))
    memcpy(chosen, given, (size_t)experts->chosen * sizeof *chosen);
}

// weights[count][experts]; 0 for those that an item does not go to.
static void route(struct reference *r, int layer) {
  const struct decode_shape *shape = &r->request.shape;
  const size_t count = (size_t)shape->experts.count;
  double scores[MAX_DECODE_EXPERTS], bias[MAX_DECODE_EXPERTS], weights[MAX_DECODE_EXPERTS];
  int chosen[MAX_DECODE_EXPERTS];
  const bool biased = shape->biases & BIAS_ROUTER;
  if (biased)
    reference_read(r, TENSOR_ROUTER_BIAS, layer, 0, count, bias);
  memset(r->weights, 0, r->count * count * sizeof *r->weights);
  for (size_t i = 0; i < r->count; i++) {
    const struct reference_item *item = &r->items[i];
    const double *router = r->router + i * count;
    router_scores(&shape->experts, router, biased ? bias : NULL, scores);
    choose(r, layer, item, scores, chosen);
    router_weigh(&shape->experts, router, chosen, weights);
    for (int k = 0; k < shape->experts.chosen; k++)
      r->weights[i * count + (size_t)chosen[k]] = weights[k];
    if (!item->prompt)
      memcpy(r->chosen + place(r, (size_t)layer, item), chosen,
             (size_t)shape->experts.chosen * sizeof *chosen);
  }
}

// Adds an expert's output, times its weight, to the items that go to it.
static void add_expert(struct reference *r, int layer, size_t expert) {
  const size_t experts = (size_t)r->request.shape.experts.count, n = r->hidden;
  size_t going = 0;
  for (size_t i = 0; i < r->count; i++)
    if (r->weights[i * experts + expert] > 0)
      memcpy(r->expert_input + going++ * n, r->input + i * n, n * sizeof *r->input);
  if (going == 0)
    return;
  const struct mlp mlp = {TENSOR_EXPERT_GATE, TENSOR_EXPERT_UP, TENSOR_EXPERT_DOWN,
                          (size_t)r->request.shape.experts.hidden, expert};
  run(r, layer, &mlp, r->expert_input, going, r->expert_output);
  const double *from = r->expert_output;
  for (size_t i = 0; i < r->count; i++) {
    const double weight = r->weights[i * experts + expert];
    if (!(weight > 0))
      continue;
    for (size_t d = 0; d < n; d++)
      r->mlp_output[i * n + d] += weight * from[d];
    from += n;
  }
}

static void run_experts(struct reference *r, int layer) {
  const struct decode_experts *experts = &r->request.shape.experts;
  const struct mlp shared = {TENSOR_SHARED_GATE, TENSOR_SHARED_UP, TENSOR_SHARED_DOWN,
                             (size_t)experts->shared_hidden, 0};
  memcpy(r->fine, r->input, r->count * r->hidden * sizeof *r->fine);
  for (size_t i = 0; i < r->count; i++)
    reference_round(reference_fine(r), r->fine + i * r->hidden, r->hidden);
  reference_multiply_all(r, TENSOR_ROUTER, layer, r->fine, r->router);
  route(r, layer);

  reference_round_all(r, r->input, r->hidden);
  if (experts->shared_hidden > 0)
    run(r, layer, &shared, r->input, r->count, r->mlp_output);
  else
    memset(r->mlp_output, 0, r->count * r->hidden * sizeof *r->mlp_output);
  for (size_t e = 0; e < (size_t)experts->count; e++)
    add_expert(r, layer, e);
}

void reference_mlp(struct reference *r, int layer) {
  static const struct mlp dense = {TENSOR_GATE, TENSOR_UP, TENSOR_DOWN, 0, 0};
  reference_normalise(r, TENSOR_FFN_NORM, layer, r->x, r->input);
  if (family_layer(&r->request.shape, layer).experts) {
    run_experts(r, layer);
    return;
  }
  struct mlp mlp = dense;
  mlp.width = r->ffn;
  reference_round_all(r, r->input, r->hidden);
  run(r, layer, &mlp, r->input, r->count, r->mlp_output);
}
