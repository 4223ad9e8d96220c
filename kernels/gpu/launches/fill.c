#include "kernels/gpu/launches/fill.h"

#include "kernels/decode.h"
#include "kernels/element.h"
#include "kernels/gpu/arguments/fill.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/plan/vectors.h"
#include "kernels/gpu/units.h"
#include "kernels/quantised.h"
#include "kernels/share.h"
#include "kernels/weights.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define FILL_BLOCKS          8 // of a multiprocessor
#define FILL_THREAD_ELEMENTS 16

static unsigned fill_grid(const struct plan *plan, size_t elements) {
  const size_t wanted = elements / ((size_t)SMALL_THREADS * FILL_THREAD_ELEMENTS) + 1;
  const size_t most = (size_t)plan->device.described.units * FILL_BLOCKS;
  return (unsigned)(wanted < most ? wanted : most > 0 ? most : 1);
}

static struct share_part part_of(const struct launch_list *list, enum tensor tensor) {
  const struct share share = gpu_plan_share(list->plan);
  return share_part_of(&share, tensor);
}

static void fill(struct launch_list *list, enum element element, enum tensor tensor,
                 struct fill_arguments arguments) {
  const struct plan *plan = list->plan;
  // E4M3 weights are stored as the integers that they are drawn as.
  const bool bare = arguments.layout == FILL_MATRIX && element == ELEMENT_E4M3;
  arguments.key = weights_key(plan->request.seed, tensor, list->layer < 0 ? 0 : list->layer);
  const struct share_part part = part_of(list, tensor);
  arguments.first += part.first;
  arguments.beside = part.beside;
  arguments.scale = bare ? 1 : weights_scale(&plan->whole, tensor);
  arguments.bell = list_shared_at(list, REGION_BELL);
  const size_t elements = (size_t)arguments.rows * (size_t)arguments.columns;
  struct gpu_launch launch = {.grid = {fill_grid(plan, elements), 1, 1},
                              .block = SMALL_THREADS,
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "fill_%s", gpu_element_names[element]);
  list_add(list, "fill", &launch, &(union launch_arguments){.fill = arguments});
}

static void fill_units(struct launch_list *list, const struct plan_product *product,
                       enum tensor tensor, void *destination, int rows, uint64_t first) {
  const struct plan *plan = list->plan;
  const struct share_part part = part_of(list, tensor);
  const struct unit_layout layout = unit_layout(product->weights);
  const struct fill_units_arguments arguments = {
      .destination = destination,
      .element = (int)product->weights,
      .block = element_format(product->weights)->block,
      .rows = rows,
      .columns = product->columns,
      .stride = product->stride,
      .code_bytes = layout.code_bytes,
      .beside_bytes = layout.beside_bytes,
      .first = first + part.first,
      .beside = part.beside,
      .key = weights_key(plan->request.seed, tensor, list->layer < 0 ? 0 : list->layer),
      .table = (const struct fill_table *)list_shared_at(list, REGION_TABLES) + tensor,
      .bell = list_shared_at(list, REGION_BELL),
  };
  const struct gpu_launch launch = {
      .kernel = "fill_units",
      .grid = {fill_grid(plan, (size_t)rows * (size_t)product->columns), 1, 1},
      .block = SMALL_THREADS,
      .argument_bytes = sizeof arguments};
  list_add(list, "fill", &launch, &(union launch_arguments){.fill_units = arguments});
}

static void fill_scales(struct launch_list *list, enum element element, float *scales,
                        enum tensor tensor, int rows) {
  const struct fill_value_arguments arguments = {
      scales, (uint64_t)rows, quantised_scale(element, weights_scale(&list->plan->whole, tensor))};
  const struct gpu_launch launch = {.kernel = "fill_value",
                                    .grid = {fill_grid(list->plan, (size_t)rows), 1, 1},
                                    .block = SMALL_THREADS,
                                    .argument_bytes = sizeof arguments};
  list_add(list, "fill scales", &launch, &(union launch_arguments){.fill_value = arguments});
}

// Rows of a tensor shaped for `product`, whose first element has the index `first`.
static void fill_rows(struct launch_list *list, const struct plan_product *product,
                      enum tensor tensor, void *destination, int rows, uint64_t first) {
  if (lies_in_units(product->weights))
    fill_units(list, product, tensor, destination, rows, first);
  else
    fill(list, product->weights, tensor,
         (struct fill_arguments){.destination = destination,
                                 .layout = FILL_MATRIX,
                                 .rows = rows,
                                 .columns = product->columns,
                                 .stride = product->stride,
                                 .first = first});
}

// A tensor that begins at row `first` of the region's matrix, which is shaped for `product`. With
// experts, a rank's part consists of a part of each expert, expert by expert.
static void fill_matrix(struct launch_list *list, enum plan_region region, enum product_name name,
                        enum tensor tensor, int first, int rows) {
  const struct plan_product *product = &list->plan->product[name];
  const struct share_part part = part_of(list, tensor);
  const int parts = part.expert > 0 ? product->copies : 1;
  const size_t row_bytes = gpu_plan_row_bytes(product);
  char *const destination = (char *)list_at(list, region) + (size_t)first * row_bytes;
  for (int i = 0; i < parts; i++)
    fill_rows(list, product, tensor, destination + (size_t)(i * (rows / parts)) * row_bytes,
              rows / parts, (uint64_t)i * part.expert);
  float *scales = list_scales_at(list, region);
  if (scales)
    fill_scales(list, product->weights, scales + first, tensor, rows);
}

// Floats of a region from `first` on.
static void fill_floats(struct launch_list *list, enum plan_region region, enum tensor tensor,
                        int first, int rows, int columns) {
  fill(list, ELEMENT_F32, tensor,
       (struct fill_arguments){.destination = (float *)list_at(list, region) + first,
                               .layout = FILL_MATRIX,
                               .rows = rows,
                               .columns = columns,
                               .stride = columns,
                               .base = weights_is_norm(tensor) ? 1 : 0});
}

// The weight of a norm, a bias or sinks.
static void fill_vector(struct launch_list *list, enum plan_region region, enum tensor tensor,
                        int first, int count) {
  fill_floats(list, region, tensor, first, 1, count);
}

static bool in_first(const struct launch_list *list, int layers) {
  return list->layer >= 0 && list->layer < layers;
}

// Fills the vectors of the list's current layer, or those outside the layers.
static void fill_vectors(struct launch_list *list) {
  struct plan_vector vectors[PLAN_VECTORS];
  vectors_of(&list->plan->request.shape, vectors);
  for (const struct plan_vector *v = vectors; v < vectors + PLAN_VECTORS; v++)
    if (v->count > 0 && (v->layers > 0 ? in_first(list, v->layers) : list->layer < 0))
      fill_vector(list, v->region, v->tensor, v->first, v->count);
}

static void fill_cache(struct launch_list *list, enum plan_region region, enum tensor tensor,
                       enum fill_layout layout) {
  const struct plan *plan = list->plan;
  const struct decode_shape *shape = &plan->request.shape;
  const struct decode_latent *latent = &shape->latent;
  const int heads = tensor == TENSOR_LATENTS ? 1 : shape->kv_heads;
  const int width = tensor == TENSOR_LATENTS ? latent->rank + latent->rope_dim : shape->head_dim;
  fill(list, plan->request.types.kv, tensor,
       (struct fill_arguments){.destination = list_at(list, region),
                               .layout = (int)layout,
                               .rows = plan->request.batch * plan->request.context,
                               .columns = heads * width,
                               .stride = plan->head_stride,
                               .context = plan->request.context,
                               .context_padded = plan->context_padded,
                               .kv_heads = heads,
                               .head_dim = width});
}

static void fill_latent(struct launch_list *list) {
  const struct decode_shape *shape = &list->plan->request.shape;
  const struct decode_latent *latent = &shape->latent;
  const struct plan_product *products = list->plan->product;
  const struct plan_product *k_b = &products[PRODUCT_K_B], *v_b = &products[PRODUCT_V_B];
  const int low = latent->query_rank, q = shape->heads * shape->head_dim;
  const int first = low > 0 ? low : q;
  fill_matrix(list, REGION_QKV, PRODUCT_QKV, low > 0 ? TENSOR_Q_A : TENSOR_WQ, 0, first);
  fill_matrix(list, REGION_QKV, PRODUCT_QKV, TENSOR_KV_A, first, latent->rank + latent->rope_dim);
  if (low > 0)
    fill_matrix(list, REGION_Q_B, PRODUCT_Q_B, TENSOR_Q_B, 0, q);
  fill(list, k_b->weights, TENSOR_K_B,
       (struct fill_arguments){.destination = list_at(list, REGION_K_B),
                               .layout = FILL_TURNED,
                               .rows = k_b->rows * k_b->copies,
                               .columns = k_b->columns,
                               .stride = k_b->stride,
                               .head_dim = k_b->rows});
  fill_matrix(list, REGION_V_B, PRODUCT_V_B, TENSOR_V_B, 0, v_b->rows * v_b->copies);
  fill_cache(list, REGION_KEYS, TENSOR_LATENTS, FILL_KEYS);
}

static void fill_experts(struct launch_list *list) {
  static const struct {
    enum plan_region region;
    enum product_name name;
    enum tensor tensor;
  } matrices[] = {
      {REGION_ROUTER, PRODUCT_ROUTER, TENSOR_ROUTER},
      {REGION_SHARED_GATE, PRODUCT_SHARED_GATE_UP, TENSOR_SHARED_GATE},
      {REGION_SHARED_UP, PRODUCT_SHARED_GATE_UP, TENSOR_SHARED_UP},
      {REGION_SHARED_DOWN, PRODUCT_SHARED_DOWN, TENSOR_SHARED_DOWN},
      {REGION_EXPERT_GATE, PRODUCT_EXPERT_GATE_UP, TENSOR_EXPERT_GATE},
      {REGION_EXPERT_UP, PRODUCT_EXPERT_GATE_UP, TENSOR_EXPERT_UP},
      {REGION_EXPERT_DOWN, PRODUCT_EXPERT_DOWN, TENSOR_EXPERT_DOWN},
  };
  for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++) {
    const struct plan_product *product = &list->plan->product[matrices[i].name];
    if (product->rows > 0)
      fill_matrix(list, matrices[i].region, matrices[i].name, matrices[i].tensor, 0,
                  product->rows * product->copies);
  }
  const struct decode_shape *shape = &list->plan->request.shape;
  const int count = shape->experts.count, width = shape->experts.hidden;
  if (shape->biases & BIAS_ROUTER)
    fill_vector(list, REGION_ROUTER_BIAS, TENSOR_ROUTER_BIAS, 0, count);
  if (shape->biases & BIAS_MLP) {
    fill_floats(list, REGION_EXPERT_GATE_BIAS, TENSOR_EXPERT_GATE_BIAS, 0, count, width);
    fill_floats(list, REGION_EXPERT_UP_BIAS, TENSOR_EXPERT_UP_BIAS, 0, count, width);
    fill_floats(list, REGION_EXPERT_DOWN_BIAS, TENSOR_EXPERT_DOWN_BIAS, 0, count, shape->hidden);
  }
}

static void fill_layer(struct launch_list *list) {
  const struct decode_shape *shape = &list->plan->request.shape;
  const int q = shape->heads * shape->head_dim, kv = shape->kv_heads * shape->head_dim;
  if (gpu_plan_is_latent(list->plan)) {
    fill_latent(list);
  } else {
    fill_matrix(list, REGION_QKV, PRODUCT_QKV, TENSOR_WQ, 0, q);
    fill_matrix(list, REGION_QKV, PRODUCT_QKV, TENSOR_WK, q, kv);
    fill_matrix(list, REGION_QKV, PRODUCT_QKV, TENSOR_WV, q + kv, kv);
    fill_cache(list, REGION_KEYS, TENSOR_KEYS, FILL_KEYS);
    fill_cache(list, REGION_VALUES, TENSOR_VALUES, FILL_VALUES);
  }
  fill_matrix(list, REGION_WO, PRODUCT_WO, TENSOR_WO, 0, shape->hidden);
  if (list->layer < list->plan->experts.first_layer) {
    if (list->plan->product[PRODUCT_GATE_UP].gated)
      fill_matrix(list, REGION_GATE, PRODUCT_GATE_UP, TENSOR_GATE, 0, shape->ffn_hidden);
    fill_matrix(list, REGION_UP, PRODUCT_GATE_UP, TENSOR_UP, 0, shape->ffn_hidden);
    fill_matrix(list, REGION_DOWN, PRODUCT_DOWN, TENSOR_DOWN, 0, shape->hidden);
  } else {
    fill_experts(list);
  }
  fill_vectors(list);
}

static void emit_fill(struct launch_list *list) {
  const struct decode_shape *shape = &list->plan->request.shape;
  for (list->layer = 0; list->layer < shape->layers; list->layer++)
    fill_layer(list);
  list->layer = -1;
  fill_matrix(list, REGION_EMBEDDING, PRODUCT_HEAD, TENSOR_EMBEDDING, 0, list->plan->whole.vocab);
  fill_matrix(list, REGION_HEAD, PRODUCT_HEAD, TENSOR_HEAD, 0, shape->vocab);
  fill_vectors(list);
}

struct gpu_launch *gpu_plan_fill(const struct plan *plan, void *base, size_t *count) {
  struct launch_list list = {.plan = plan, .base = base};
  return list_make(&list, emit_fill, count);
}
