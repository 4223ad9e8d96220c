#include "kernels/gpu/plan/experts.h"

#include "kernels/element.h"
#include "kernels/family.h"
#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/integers.h"
#include "kernels/routing.h"

#include <math.h>
#include <stdbool.h>

#define MAX_WIDTH 65536
#define MIN_SLICE 16
#define MAX_SLICE (4 * MATRIX_COLUMNS) // the most groups of a block's warps

// From how many multiply-adds of an expert, and positions, its products go to the library. They
// take about seven launches, where our own tiles take all experts in two; with few positions both
// mostly read weights. Not measured: 3 us a launch, and our tiles' time at 100 million a
// microsecond.
#define LIBRARY_WORK      ((int64_t)1 << 31)
#define LIBRARY_POSITIONS 64

int experts_dense_layers(const struct decode_shape *shape) {
  int layers = 0;
  while (layers < shape->layers && !family_layer(shape, layers).experts)
    layers++;
  return layers;
}

const char *experts_unknown(const struct decode_request *request) {
  const struct decode_shape *shape = &request->shape;
  const struct decode_experts *experts = &shape->experts;
  if (routing_fault(request))
    return routing_fault(request);
  if (experts->count == 0)
    return NULL;
  if (shape->mlp == MLP_GELU)
    return "the GPU kernels support experts with a gate";
  if (shape->norm != NORM_RMS || shape->parallel)
    return "the GPU kernels support experts after a norm without a mean, behind attention";
  if (experts->chosen > EXPERTS_CHOSEN)
    return "the GPU kernels support up to 64 experts per token";
  if (experts->hidden > MAX_WIDTH || experts->shared_hidden > MAX_WIDTH)
    return "the experts are wider than the GPU kernels support";
  return NULL;
}

void experts_count(struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  plan->experts.first_layer = experts_dense_layers(shape);
  plan->experts.layers = shape->layers - plan->experts.first_layer;
  plan->experts.pairs = plan->request.batch * shape->experts.chosen;
}

// Distinct experts of a layer that a step touches with uniform routing; at least one.
static int expected_in_a_layer(const struct plan *plan) {
  const double all = routing_expected(&plan->request.shape, plan->request.batch);
  const double one = plan->experts.layers > 0 ? all / plan->experts.layers : 0;
  return one > 1 ? (int)ceil(one) : 1;
}

void experts_set_product(const struct plan *plan, enum product_name which,
                         struct plan_product *product) {
  const bool dense = which == PRODUCT_GATE_UP || which == PRODUCT_DOWN;
  if (dense)
    product->layers = plan->experts.first_layer;
  if (which >= PRODUCT_ROUTER && which <= PRODUCT_EXPERT_DOWN) {
    product->layers = plan->experts.layers;
    product->first_layer = plan->experts.first_layer;
  }
  if (which == PRODUCT_SHARED_GATE_UP || which == PRODUCT_EXPERT_GATE_UP)
    product->gated = true;
  if (which == PRODUCT_EXPERT_GATE_UP || which == PRODUCT_EXPERT_DOWN) {
    product->routed = product->family = true;
    product->copies = plan->request.shape.experts.count;
    product->at_once = expected_in_a_layer(plan);
  }
  if (product->layers == 0) // dense, with experts in every layer, or the other way round
    *product = (struct plan_product){0};
}

static int64_t weights_of(const struct plan_product *product) {
  return (int64_t)product->rows * product->columns * (product->gated ? 2 : 1);
}

int experts_library_count(const struct plan *plan) {
  const int64_t weights = weights_of(&plan->product[PRODUCT_EXPERT_GATE_UP]) +
                          weights_of(&plan->product[PRODUCT_EXPERT_DOWN]);
  if (plan->device.tuning.library_count > 0 || weights == 0)
    return plan->device.tuning.library_count;
  return (int)larger(LIBRARY_POSITIONS, (size_t)((LIBRARY_WORK + weights - 1) / weights));
}

int experts_library_vectors(int count) {
  enum { FEW = 128, STEP = 64 };
  return count <= FEW ? gpu_plan_library_vectors(count) : (int)round_up((size_t)count, STEP);
}

void experts_share(struct plan *plan) {
  struct plan_experts *experts = &plan->experts;
  const int count = plan->request.shape.experts.count;
  if (experts->layers == 0)
    return;
  const int touched = count < experts->pairs ? count : experts->pairs;
  const bool vector = plan->product[PRODUCT_EXPERT_DOWN].vector;
  experts->columns = vector ? 0 : plan->product[PRODUCT_EXPERT_DOWN].slice;
  experts->items = touched + (vector ? 0 : experts->pairs / experts->columns);
  experts->slots = vector ? touched * plan->request.batch : experts->pairs;
}

// Twice what an expert gets on average: those that get more have several items, each of which reads
// the expert's matrices.
int experts_slice(const struct plan *plan) {
  const int count = plan->request.shape.experts.count;
  int slice = MIN_SLICE;
  const int most = least(plan->batch_padded, MAX_SLICE);
  while (slice < most && slice * count < 2 * plan->experts.pairs)
    slice *= 2;
  return slice;
}

int experts_warp_columns(int slice) {
  return slice < MATRIX_COLUMNS ? MIN_SLICE : MATRIX_COLUMNS;
}

static size_t gathered_row(const struct plan_product *product) {
  return (size_t)product->stride * (product->activations == ELEMENT_BF16 ? 2 : 1);
}

void experts_regions(const struct plan *plan, struct experts_region out[EXPERT_REGIONS]) {
  const struct plan_experts *experts = &plan->experts;
  const struct plan_product *up = &plan->product[PRODUCT_EXPERT_GATE_UP];
  const struct plan_product *down = &plan->product[PRODUCT_EXPERT_DOWN];
  const bool mixture = experts->layers > 0, matrix = mixture && !down->vector;
  const bool biased = mixture && plan->request.shape.biases & BIAS_ROUTER;
  const size_t count = (size_t)plan->request.shape.experts.count, layers = (size_t)experts->layers;
  const size_t pairs = mixture ? (size_t)experts->pairs * sizeof(int) : 0;
  const size_t slots = (size_t)experts->slots, all = (size_t)plan->request.shape.layers;
  // The library may be given more vectors than there are slots.
  const size_t library = (size_t)experts_library_vectors(plan->request.batch);
  const size_t rows = matrix ? larger(slots + (size_t)experts->columns, library) : 0;
  const size_t of_rows = (size_t)up->rows * count * sizeof(float);
  const bool has_biases = mixture && plan->request.shape.biases & BIAS_MLP;
  const size_t widest =
      gathered_row(up) > gathered_row(down) ? gathered_row(up) : gathered_row(down);
  const struct experts_region regions[EXPERT_REGIONS] = {
      {REGION_ROUTER_BIAS, biased ? count * sizeof(float) : 0, layers, experts->first_layer},
      {REGION_EXPERT_GATE_BIAS, has_biases ? of_rows : 0, layers, experts->first_layer},
      {REGION_EXPERT_UP_BIAS, has_biases ? of_rows : 0, layers, experts->first_layer},
      {REGION_EXPERT_DOWN_BIAS, has_biases ? (size_t)down->rows * count * sizeof(float) : 0, layers,
       experts->first_layer},
      {REGION_CHOSEN, pairs, layers, experts->first_layer},
      {REGION_ROUTED, mixture ? (size_t)plan->request.batch * count * sizeof(float) : 0, 1, 0},
      {REGION_CHOSEN_WEIGHTS, pairs, 1, 0},
      {REGION_SLOTS, pairs, 1, 0},
      {REGION_SLOT_ROWS, matrix ? pairs : 0, 1, 0},
      {REGION_ITEMS,
       mixture ? ITEMS_OFFSET + (size_t)experts->items * sizeof(struct expert_item) : 0, 1, 0},
      {REGION_EXPERT_OUT, slots * (size_t)up->rows * sizeof(float), 1, 0},
      {REGION_EXPERT_SUMS, slots * (size_t)down->rows * sizeof(float), 1, 0},
      {REGION_GATHERED, rows * widest, 1, 0},
      {REGION_GATHERED_SCALES, rows * sizeof(float), 1, 0},
      {REGION_TOUCHED, mixture ? (all + 1) * sizeof(int) : 0, 1, 0},
      {REGION_STEP, mixture ? sizeof(int) : 0, 1, 0},
      {REGION_ROUTING, routing_entries(&plan->request) * sizeof(uint16_t), 1, 0},
  };
  for (size_t i = 0; i < EXPERT_REGIONS; i++)
    out[i] = regions[i];
}

uint64_t experts_bytes(const struct plan *plan, uint64_t bytes) {
  return (uint64_t)(routing_expected(&plan->request.shape, plan->request.batch) * (double)bytes);
}

uint64_t experts_one_bytes(const struct plan *plan) {
  uint64_t bytes = 0;
  for (int p = PRODUCT_EXPERT_GATE_UP; p <= PRODUCT_EXPERT_DOWN; p++) {
    const struct plan_product *product = &plan->product[p];
    const uint64_t rows = (uint64_t)product->rows * (product->gated ? 2 : 1);
    bytes += element_tensor_bytes(product->weights, rows, (size_t)product->columns) +
             (plan->request.shape.biases & BIAS_MLP ? rows * sizeof(float) : 0);
  }
  return bytes;
}

uint64_t experts_bias_bytes(const struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  const uint64_t count = shape->biases & BIAS_ROUTER ? (uint64_t)shape->experts.count : 0;
  return (uint64_t)plan->experts.layers * count * sizeof(float);
}
