#include "kernels/gpu/plan/memory.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/fill.h"
#include "kernels/gpu/arguments/latent.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/streaming.h"
#include "kernels/gpu/arguments/token.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/plan/experts.h"
#include "kernels/gpu/plan/vectors.h"
#include "kernels/gpu/stream.h"
#include "kernels/gpu/units.h"
#include "kernels/gpu/vendor.h"
#include "kernels/integers.h"
#include "kernels/weights.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define REGION_ALIGNMENT 256 // guaranteed by cudaMalloc and hipMalloc for a whole allocation

// Whether each row as a whole has a scale.
static bool is_scaled(enum element element) {
  return element == ELEMENT_E4M3 || element == ELEMENT_INT8 || element == ELEMENT_NVFP4;
}

struct memory_layout {
  struct plan *plan;
  bool overflow;
};

static size_t times(struct memory_layout *layout, size_t a, size_t b) {
  size_t product = 0;
  layout->overflow |= __builtin_mul_overflow(a, b, &product);
  return product;
}

static size_t aligned(struct memory_layout *layout, size_t bytes) {
  layout->overflow |= bytes > SIZE_MAX - REGION_ALIGNMENT;
  return round_up(bytes, REGION_ALIGNMENT);
}

static void place(struct memory_layout *layout, enum plan_region region, size_t bytes,
                  size_t layers) {
  struct plan_extent *extent = &layout->plan->region[region];
  extent->offset = layout->plan->bytes;
  extent->layer_bytes = aligned(layout, bytes);
  layout->overflow |= __builtin_add_overflow(
      extent->offset, times(layout, extent->layer_bytes, layers), &layout->plan->bytes);
}

static void place_matrix(struct memory_layout *layout, enum plan_region region,
                         enum product_name which, size_t rows) {
  const struct plan_product *product = &layout->plan->product[which];
  const size_t data = aligned(layout, times(layout, rows, gpu_plan_row_bytes(product)));
  const bool scaled = is_scaled(product->weights);
  place(layout, region, data + (scaled ? rows * sizeof(float) : 0), (size_t)product->layers);
  layout->plan->region[region].scales = scaled ? data : 0;
  layout->plan->region[region].first_layer = product->first_layer;
}

// A region of several vectors, and its first vector.
static void place_vectors(struct memory_layout *layout) {
  const struct decode_shape *shape = &layout->plan->request.shape;
  struct plan_vector vectors[PLAN_VECTORS];
  vectors_of(shape, vectors);
  for (int v = 0; v < PLAN_VECTORS; v++)
    if (vectors[v].first == 0)
      place(layout, vectors[v].region,
            (size_t)vectors_region(shape, vectors[v].region) * sizeof(float),
            vectors[v].layers > 0 ? (size_t)vectors[v].layers : 1);
}

static void place_model(struct memory_layout *layout) {
  static const struct {
    enum plan_region region;
    enum product_name like; // the product whose shape and type it has
  } matrices[] = {{REGION_QKV, PRODUCT_QKV},
                  {REGION_Q_B, PRODUCT_Q_B},
                  {REGION_K_B, PRODUCT_K_B},
                  {REGION_V_B, PRODUCT_V_B},
                  {REGION_WO, PRODUCT_WO},
                  {REGION_GATE, PRODUCT_GATE_UP},
                  {REGION_UP, PRODUCT_GATE_UP},
                  {REGION_DOWN, PRODUCT_DOWN},
                  {REGION_ROUTER, PRODUCT_ROUTER},
                  {REGION_SHARED_GATE, PRODUCT_SHARED_GATE_UP},
                  {REGION_SHARED_UP, PRODUCT_SHARED_GATE_UP},
                  {REGION_SHARED_DOWN, PRODUCT_SHARED_DOWN},
                  {REGION_EXPERT_GATE, PRODUCT_EXPERT_GATE_UP},
                  {REGION_EXPERT_UP, PRODUCT_EXPERT_GATE_UP},
                  {REGION_EXPERT_DOWN, PRODUCT_EXPERT_DOWN},
                  {REGION_HEAD, PRODUCT_HEAD},
                  {REGION_EMBEDDING, PRODUCT_HEAD}};
  const struct plan *plan = layout->plan;
  const struct decode_shape *shape = &plan->request.shape;
  const size_t layers = (size_t)shape->layers;
  for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++) {
    const struct plan_product *like = &plan->product[matrices[i].like];
    const bool embedding = matrices[i].region == REGION_EMBEDDING;
    if (matrices[i].region == REGION_GATE && !like->gated)
      continue;
    place_matrix(layout, matrices[i].region, matrices[i].like,
                 embedding ? (size_t)plan->whole.vocab : (size_t)like->rows * (size_t)like->copies);
  }
  place_vectors(layout);
  const bool latent = gpu_plan_is_latent(plan);
  size_t cache = times(layout, (size_t)plan->request.batch * (latent ? 1 : (size_t)shape->kv_heads),
                       (size_t)plan->context_padded * gpu_element_bytes(plan->request.types.kv));
  place(layout, REGION_KEYS, times(layout, cache, (size_t)plan->head_stride), layers);
  place(layout, REGION_VALUES, times(layout, cache, latent ? 0 : (size_t)shape->head_dim), layers);
}

static size_t partial_bytes(const struct plan *plan) {
  const size_t splits = larger((size_t)plan->attention_splits, (size_t)plan->window_splits);
  const bool latent = gpu_plan_is_latent(plan);
  const size_t tile = latent ? LATENT_HEADS : (size_t)plan->device.warp / 4;
  const int width = (latent ? LATENT_RANK : plan->head_dim_padded) + ATTENTION_PARTIAL;
  size_t floats = 0;
  if (splits > 1)
    floats = (size_t)gpu_plan_attention_rows(plan) * splits * tile * (size_t)width;
  for (int p = 0; p < PRODUCTS; p++) {
    const struct plan_product *product = &plan->product[p];
    if (product->splits > 1)
      floats = larger(floats, (size_t)product->splits * (product->gated ? 2 : 1) *
                                  (size_t)product->slice * (size_t)product->rows);
    if (product->wgmma && gpu_plan_merges(&product->work) > 0)
      floats = larger(floats, 2 * (size_t)product->blocks *
                                  wgmma_partial_floats(product->warp_columns, product->strips));
  }
  return floats * sizeof(float);
}

// Bytes for the sums of the products that the vendor's library may take; gate and up are one after
// the other.
static size_t library_bytes(const struct plan *plan) {
  size_t floats = 0;
  for (int p = 0; p < PRODUCTS; p++)
    if (gpu_plan_fits_library(plan, (enum product_name)p))
      floats = larger(floats, gpu_plan_library_sums(plan, (enum product_name)p) *
                                  (plan->product[p].gated ? 2 : 1));
  return floats * sizeof(float);
}

// One set of counters for all kernels: each leaves them zero.
static size_t counter_bytes(const struct plan *plan) {
  int count = gpu_plan_attention_rows(plan); // at least one per batch row, as sampling needs
  for (int p = 0; p < PRODUCTS; p++)
    if (!plan->product[p].vector)
      count = (int)larger((size_t)count, (size_t)plan->product[p].blocks *
                                             (plan->product[p].wgmma ? WGMMA_GROUPS * 4 : 1));
  return (size_t)count * sizeof(unsigned);
}

static size_t heads_of(const struct plan_product *product) {
  return product->by_head ? (size_t)product->copies : 1;
}

static size_t activation_bytes(const struct plan *plan) {
  size_t bytes = 0;
  for (int p = 0; p < PRODUCTS; p++)
    if (gpu_plan_passed(plan, (enum product_name)p) == PASSED_FLOAT)
      bytes = larger(bytes, heads_of(&plan->product[p]) * (size_t)plan->batch_padded *
                                (size_t)plan->product[p].activation_stride *
                                gpu_element_bytes(plan->product[p].activations));
  return bytes;
}

// Bytes for each element of the vectors between two products: floats, or BF16 up to what a matrix
// kernel reads.
static size_t passed_bytes(const struct plan *plan) {
  return larger((size_t)plan->request.batch * sizeof(float), (size_t)plan->batch_padded * 2);
}

// Bytes for what a product passes on of the residual stream, `bytes` for each vector: its elements
// times a norm's gain, or its sums of squares.
static size_t normed_bytes(const struct plan *plan, size_t bytes) {
  const bool any = gpu_plan_norm_from(plan, PRODUCT_QKV) != PRODUCTS ||
                   gpu_plan_norm_from(plan, PRODUCT_GATE_UP) != PRODUCTS;
  return any ? (size_t)plan->batch_padded * bytes : 0;
}

static bool has_units(const struct plan *plan) {
  bool has = false;
  for (int p = 0; p < PRODUCTS; p++)
    has |= plan->product[p].rows > 0 && lies_in_units(plan->product[p].weights);
  return has;
}

// In a layer with experts, the products besides theirs: two of attention, the router, and perhaps a
// shared expert's.
static size_t products_beside_experts(const struct plan *plan) {
  return plan->product[PRODUCT_SHARED_DOWN].rows > 0 ? 5 : 3;
}
// Clearing, embedding, head, sampling; five per layer. With experts: attention, the choice, the two
// products of experts, their sum, and the other products.
static size_t stage_count(const struct plan *plan) {
  const size_t mixtures = (size_t)plan->experts.layers;
  return 4 + 5 * ((size_t)plan->request.shape.layers - mixtures) +
         (5 + products_beside_experts(plan)) * mixtures;
}
// Products in the stream of a step, those of experts once for each item.
static size_t streamed_count(const struct plan *plan) {
  const size_t mixtures = (size_t)plan->experts.layers;
  return 1 + 4 * ((size_t)plan->request.shape.layers - mixtures) +
         (products_beside_experts(plan) + 2 * (size_t)plan->experts.items) * mixtures;
}

// What a prompt's pass shares with the steps or does not need, including weights, biases and cache.
static bool is_of_steps(enum plan_region region) {
  switch (region) {
  case REGION_ANGLES:
  case REGION_TOKENS:
  case REGION_LOGITS:
  case REGION_STEP:
  case REGION_BELL:
  case REGION_ROUTING:
  case REGION_TABLES: return true;
  default: return region <= REGION_VALUES;
  }
}

static void place_step(struct memory_layout *layout) {
  const struct plan *plan = layout->plan;
  const struct decode_shape *shape = &plan->request.shape;
  const size_t batch = (size_t)plan->request.batch, row = batch * sizeof(float);
  const bool prompt = plan->prompt;
  const struct {
    enum plan_region region;
    size_t bytes;
  } rest[] = {
      {REGION_ANGLES, (size_t)shape->head_dim * sizeof(float)},
      {REGION_TOKENS, batch * sizeof(int)},
      {REGION_X, (size_t)shape->hidden * row},
      {REGION_QKV_OUT, (size_t)plan->product[PRODUCT_QKV].rows * row},
      {REGION_QUERIES, (size_t)plan->product[PRODUCT_Q_B].rows * row},
      {REGION_ABSORBED, (size_t)shape->heads * (size_t)plan->product[PRODUCT_K_B].rows * row},
      {REGION_LATENT_SUMS, (size_t)shape->heads * (size_t)plan->product[PRODUCT_V_B].columns * row},
      {REGION_ATTENDED, (size_t)plan->product[PRODUCT_WO].columns * passed_bytes(plan)},
      {REGION_FFN_OUT,
       (size_t)(plan->product[PRODUCT_GATE_UP].rows + plan->product[PRODUCT_SHARED_GATE_UP].rows) *
           passed_bytes(plan)},
      {REGION_PARTIALS, partial_bytes(plan)}, // from REGION_X to here what stages pass on
      {REGION_LOGITS, (size_t)shape->vocab * row},
      {REGION_ACTIVATIONS, activation_bytes(plan)},
      {REGION_ACTIVATION_SCALES,
       activation_bytes(plan) > 0 ? (size_t)plan->batch_padded * sizeof(float) : 0},
      {REGION_SCALED, normed_bytes(plan, (size_t)shape->hidden * 2)},
      {REGION_SQUARES, normed_bytes(plan, (size_t)wgmma_squares(shape->hidden) * sizeof(float))},
      {REGION_COUNTERS, counter_bytes(plan)},
      {REGION_BEST, SAMPLE_BLOCKS * row},
      {REGION_BEST_INDEX, SAMPLE_BLOCKS * batch * sizeof(int)},
      {REGION_KEYS_OF_TOKENS, plan->ranks > 1 ? batch * sizeof(uint64_t) : 0},
      {REGION_BELL, sizeof weights_bell},
      {REGION_TABLES, has_units(plan) ? TENSORS * sizeof(struct fill_table) : 0},
      {REGION_STAGES, plan->streaming ? stage_count(plan) * sizeof(struct streaming_stage) : 0},
      {REGION_STREAM, plan->streaming ? streamed_count(plan) * sizeof(struct stream_product) : 0},
      {REGION_ARRIVED, plan->streaming ? sizeof(unsigned) : 0},
      {REGION_PROMPT_TOKENS, prompt ? (size_t)plan->request.chunk * sizeof(int) : 0},
      {REGION_PROMPT_ANGLES, prompt ? times(layout, (size_t)plan->request.context,
                                            (size_t)shape->head_dim * sizeof(float))
                                    : 0},
      {REGION_SUMS, library_bytes(plan)},
      {REGION_WORKSPACE, library_bytes(plan) > 0 ? VENDOR_WORKSPACE : 0},
  };
  for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
    if (!prompt || !is_of_steps(rest[i].region))
      place(layout, rest[i].region, rest[i].bytes, 1);
  struct experts_region of_experts[EXPERT_REGIONS];
  experts_regions(plan, of_experts);
  for (size_t i = 0; i < EXPERT_REGIONS; i++) {
    if (prompt && is_of_steps(of_experts[i].region))
      continue;
    place(layout, of_experts[i].region, of_experts[i].bytes, of_experts[i].layers);
    layout->plan->region[of_experts[i].region].first_layer = of_experts[i].first_layer;
  }
}

bool memory_place(struct plan *plan) {
  struct memory_layout layout = {.plan = plan};
  place_model(&layout);
  place_step(&layout);
  plan->own_bytes = plan->bytes;
  return !layout.overflow;
}

bool memory_place_prompt(struct plan *plan, const struct plan *steps) {
  struct memory_layout layout = {.plan = plan};
  memcpy(plan->region, steps->region, sizeof plan->region);
  plan->bytes = steps->own_bytes;
  place_step(&layout);
  return !layout.overflow;
}
