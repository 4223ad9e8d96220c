#include "kernels/gpu/host/launches.h"

#include "kernels/decode.h"
#include "kernels/gpu/host/plan.h"
#include "kernels/gpu/host/tuning.h"
#include "kernels/share.h"
#include "kernels/weights.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILL_BLOCKS          8 // of a multiprocessor
#define FILL_THREAD_ELEMENTS 16
#define STAGE_BYTES          32 // of a stage's name

#define SMALL_SHARED 1024 // bytes that rounding and sampling share: what the warps tell each other

#define NO_REGION REGIONS

static size_t element_bytes(enum element element) {
  return element == ELEMENT_BF16 ? 2 : 1;
}

union arguments {
  struct product_arguments product;
  struct wgmma_arguments wgmma;
  struct round_arguments round;
  struct embed_arguments embed;
  struct attention_arguments attention;
  struct sample_arguments sample;
  struct sample_key_arguments sample_key;
  struct all_reduce_arguments all_reduce;
  struct fill_arguments fill;
  struct fill_value_arguments fill_value;
};

// Made twice: counted while `launches` is NULL, then written.
struct list {
  const struct plan *plan;
  char *base;
  int layer; // -1 outside of the layers
  size_t count;
  struct gpu_launch *launches;
  union arguments *arguments;
  const char **what;
  char (*stages)[STAGE_BYTES];
};

// Of the layer that the list is at.
static void *at(const struct list *list, enum plan_region region) {
  const struct plan_extent *extent = &list->plan->region[region];
  const size_t layer = list->layer < 0 ? 0 : (size_t)list->layer;
  return list->base + extent->offset + layer * extent->layer_bytes;
}

// What all layers use alike.
static void *shared_at(const struct list *list, enum plan_region region) {
  return list->base + list->plan->region[region].offset;
}

static float *scales_at(const struct list *list, enum plan_region region) {
  const size_t scales = list->plan->region[region].scales;
  return scales ? (float *)(void *)((char *)at(list, region) + scales) : NULL;
}

// `launch` has everything but its arguments.
static void add(struct list *list, const char *stage, const struct gpu_launch *launch,
                const union arguments *arguments) {
  const size_t i = list->count++;
  if (!list->launches)
    return;
  list->arguments[i] = *arguments;
  list->launches[i] = *launch;
  list->launches[i].arguments = &list->arguments[i];
  list->launches[i].maps = &list->arguments[i].wgmma.weights;
  list->launches[i].carveout = list->plan->carveout;
  list->what[i] = list->stages[i];
  if (list->layer < 0)
    snprintf(list->stages[i], STAGE_BYTES, "%s", stage);
  else
    snprintf(list->stages[i], STAGE_BYTES, "layer %d %s", list->layer, stage);
}

static struct gpu_launch *make(struct list *list, void (*emit)(struct list *), size_t *count) {
  emit(list);
  const size_t n = list->count;
  const size_t alignment = _Alignof(union arguments);
  const size_t before = gpu_round_up(n * sizeof *list->launches, alignment);
  const size_t behind = n * (sizeof *list->arguments + sizeof *list->what + sizeof *list->stages);
  struct gpu_launch *launches = aligned_alloc(alignment, gpu_round_up(before + behind, alignment));
  if (!launches)
    return NULL;
  list->launches = launches;
  list->arguments = (union arguments *)(void *)((char *)launches + before);
  list->what = (const char **)(void *)(list->arguments + n);
  list->stages = (char(*)[STAGE_BYTES])(void *)(list->what + n);
  list->count = 0;
  emit(list);
  *count = n;
  return launches;
}

// ---- filling

static unsigned fill_grid(const struct plan *plan, size_t elements) {
  const size_t wanted = elements / ((size_t)SMALL_THREADS * FILL_THREAD_ELEMENTS) + 1;
  const size_t most = (size_t)plan->device.described.units * FILL_BLOCKS;
  return (unsigned)(wanted < most ? wanted : most > 0 ? most : 1);
}

static void fill(struct list *list, enum element element, enum tensor tensor,
                 struct fill_arguments arguments) {
  const struct plan *plan = list->plan;
  // E4M3 weights are held as the integers that they are drawn as.
  const bool bare = arguments.layout == FILL_MATRIX && element == ELEMENT_E4M3;
  arguments.key = weights_key(plan->request.seed, tensor, list->layer < 0 ? 0 : list->layer);
  const struct share_part part = share_part_of(&plan->whole, tensor, plan->rank, plan->ranks);
  arguments.first = part.first;
  arguments.beside = part.beside;
  arguments.scale = bare ? 1 : weights_scale(&plan->whole, tensor);
  arguments.bell = shared_at(list, REGION_BELL);
  const size_t elements = (size_t)arguments.rows * (size_t)arguments.columns;
  struct gpu_launch launch = {.grid = {fill_grid(plan, elements), 1, 1},
                              .block = SMALL_THREADS,
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "fill_%s", gpu_element_names[element]);
  add(list, "fill", &launch, &(union arguments){.fill = arguments});
}

static void fill_scales(struct list *list, float *scales, enum tensor tensor, int rows) {
  const struct fill_value_arguments arguments = {scales, (uint64_t)rows,
                                                 weights_scale(&list->plan->whole, tensor)};
  const struct gpu_launch launch = {.kernel = "fill_value",
                                    .grid = {fill_grid(list->plan, (size_t)rows), 1, 1},
                                    .block = SMALL_THREADS,
                                    .argument_bytes = sizeof arguments};
  add(list, "fill scales", &launch, &(union arguments){.fill_value = arguments});
}

// A tensor that begins at row `first` of the region's matrix, which is shaped for `product`.
static void fill_matrix(struct list *list, enum plan_region region, enum product_name name,
                        enum tensor tensor, int first, int rows) {
  const struct plan_product *product = &list->plan->product[name];
  const size_t row = (size_t)product->stride * element_bytes(product->weights);
  fill(list, product->weights, tensor,
       (struct fill_arguments){.destination = (char *)at(list, region) + (size_t)first * row,
                               .layout = FILL_MATRIX,
                               .rows = rows,
                               .columns = product->columns,
                               .stride = product->stride});
  float *scales = scales_at(list, region);
  if (scales)
    fill_scales(list, scales + first, tensor, rows);
}

static void fill_norm(struct list *list, enum plan_region region, enum tensor tensor) {
  const int hidden = list->plan->request.shape.hidden;
  fill(list, ELEMENT_F32, tensor,
       (struct fill_arguments){.destination = at(list, region),
                               .layout = FILL_MATRIX,
                               .rows = 1,
                               .columns = hidden,
                               .stride = hidden});
}

static void fill_cache(struct list *list, enum plan_region region, enum tensor tensor,
                       enum fill_layout layout) {
  const struct plan *plan = list->plan;
  const struct decode_shape *shape = &plan->request.shape;
  fill(list, plan->request.types.kv, tensor,
       (struct fill_arguments){.destination = at(list, region),
                               .layout = (int)layout,
                               .rows = plan->request.batch * plan->request.context,
                               .columns = shape->kv_heads * shape->head_dim,
                               .stride = plan->head_stride,
                               .context = plan->request.context,
                               .context_padded = plan->context_padded,
                               .kv_heads = shape->kv_heads,
                               .head_dim = shape->head_dim});
}

static void fill_layer(struct list *list) {
  const struct decode_shape *shape = &list->plan->request.shape;
  const int q = shape->heads * shape->head_dim, kv = shape->kv_heads * shape->head_dim;
  fill_matrix(list, REGION_QKV, PRODUCT_QKV, TENSOR_WQ, 0, q);
  fill_matrix(list, REGION_QKV, PRODUCT_QKV, TENSOR_WK, q, kv);
  fill_matrix(list, REGION_QKV, PRODUCT_QKV, TENSOR_WV, q + kv, kv);
  fill_matrix(list, REGION_WO, PRODUCT_WO, TENSOR_WO, 0, shape->hidden);
  fill_matrix(list, REGION_GATE, PRODUCT_GATE_UP, TENSOR_GATE, 0, shape->ffn_hidden);
  fill_matrix(list, REGION_UP, PRODUCT_GATE_UP, TENSOR_UP, 0, shape->ffn_hidden);
  fill_matrix(list, REGION_DOWN, PRODUCT_DOWN, TENSOR_DOWN, 0, shape->hidden);
  fill_norm(list, REGION_ATTENTION_NORM, TENSOR_ATTENTION_NORM);
  fill_norm(list, REGION_FFN_NORM, TENSOR_FFN_NORM);
  fill_cache(list, REGION_KEYS, TENSOR_KEYS, FILL_KEYS);
  fill_cache(list, REGION_VALUES, TENSOR_VALUES, FILL_VALUES);
}

static void emit_fill(struct list *list) {
  const struct decode_shape *shape = &list->plan->request.shape;
  for (list->layer = 0; list->layer < shape->layers; list->layer++)
    fill_layer(list);
  list->layer = -1;
  fill_matrix(list, REGION_EMBEDDING, PRODUCT_HEAD, TENSOR_EMBEDDING, 0, list->plan->whole.vocab);
  fill_matrix(list, REGION_HEAD, PRODUCT_HEAD, TENSOR_HEAD, 0, shape->vocab);
  fill_norm(list, REGION_FINAL_NORM, TENSOR_FINAL_NORM);
}

struct gpu_launch *gpu_plan_fill(const struct plan *plan, void *base, size_t *count) {
  struct list list = {.plan = plan, .base = base};
  return make(&list, emit_fill, count);
}

// ---- a step

// What a product reads and writes, and the parts of its kernels' names.
static const struct operands {
  const char *stage, *prologue, *epilogue;
  enum plan_region weights, second, input, norm, output;
} operands_of[PRODUCTS] = {
    [PRODUCT_QKV] = {"qkv", "norm", "store", REGION_QKV, NO_REGION, REGION_X, REGION_ATTENTION_NORM,
                     REGION_QKV_OUT},
    [PRODUCT_WO] = {"wo", "round", "add", REGION_WO, NO_REGION, REGION_ATTENDED, NO_REGION,
                    REGION_X},
    [PRODUCT_GATE_UP] = {"gate and up", "norm", "swiglu", REGION_GATE, REGION_UP, REGION_X,
                         REGION_FFN_NORM, REGION_FFN_OUT},
    [PRODUCT_DOWN] = {"down", "round", "add", REGION_DOWN, NO_REGION, REGION_FFN_OUT, NO_REGION,
                      REGION_X},
    [PRODUCT_HEAD] = {"head", "norm", "store", REGION_HEAD, NO_REGION, REGION_X, REGION_FINAL_NORM,
                      REGION_LOGITS},
};

// The residual stream goes into the sum over the ranks once: with the first one's part.
static bool is_part(const struct plan *plan, enum product_name name) {
  return plan->rank > 0 && operands_of[name].output == REGION_X;
}

// Of a matrix product.
static const char *epilogue_of(const struct plan *plan, enum product_name name) {
  return is_part(plan, name) ? "store" : operands_of[name].epilogue;
}

// What vector and matrix kernels have in common.
static struct product_arguments product_arguments(const struct list *list, enum product_name name) {
  const struct plan_product *product = &list->plan->product[name];
  const struct operands *operands = &operands_of[name];
  return (struct product_arguments){
      .weights = at(list, operands->weights),
      .second = product->gated ? at(list, operands->second) : NULL,
      .scales = scales_at(list, operands->weights),
      .second_scales = product->gated ? scales_at(list, operands->second) : NULL,
      .rows = product->rows,
      .columns = product->columns,
      .stride = product->stride,
      .batch = list->plan->request.batch,
      .splits = 1,
      .output = shared_at(list, operands->output),
      .output_stride = product->rows,
      .without_residual = is_part(list->plan, name),
  };
}

static int start_before(const struct plan *plan, const struct plan_product *product) {
  switch (plan->device.tuning.vector_start) {
  case START_EARLY: return product->rows;
  case START_ROW: return VECTOR_THREADS / plan->device.warp; // to a warp's next row
  default: return 0;
  }
}

static void vector_product(struct list *list, enum product_name name) {
  const struct plan *plan = list->plan;
  const struct plan_product *product = &plan->product[name];
  const struct operands *operands = &operands_of[name];
  struct product_arguments arguments = product_arguments(list, name);
  arguments.input = shared_at(list, operands->input);
  arguments.norm = operands->norm != NO_REGION ? at(list, operands->norm) : NULL;
  arguments.epsilon = plan->request.shape.norm_epsilon;
  arguments.ahead = product->ahead;
  arguments.start_before = start_before(plan, product);
  struct gpu_launch launch = {.grid = {(unsigned)product->blocks, 1, 1},
                              .block = VECTOR_THREADS,
                              .shared_bytes = product->shared_bytes,
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "vector_%s_%s_%s_%s_%d",
           gpu_element_names[product->weights], gpu_element_names[product->activations],
           operands->prologue, operands->epilogue, plan->vector_rows);
  add(list, operands->stage, &launch, &(union arguments){.product = arguments});
}

static void round_input(struct list *list, enum product_name name) {
  const struct plan *plan = list->plan;
  const struct plan_product *product = &plan->product[name];
  const struct operands *operands = &operands_of[name];
  const struct round_arguments arguments = {
      .input = shared_at(list, operands->input),
      .norm = operands->norm != NO_REGION ? at(list, operands->norm) : NULL,
      .epsilon = plan->request.shape.norm_epsilon,
      .columns = product->columns,
      .stride = product->activation_stride,
      .batch = plan->request.batch,
      .output = shared_at(list, REGION_ACTIVATIONS),
      .scales = shared_at(list, REGION_ACTIVATION_SCALES),
  };
  struct gpu_launch launch = {.grid = {(unsigned)plan->batch_padded, 1, 1},
                              .block = ROUND_THREADS,
                              .shared_bytes = SMALL_SHARED,
                              .argument_bytes = sizeof arguments};
  const bool paired = product->wgmma && product->weights != product->activations;
  snprintf(launch.kernel, sizeof launch.kernel, "round_%s_%s",
           paired ? "paired" : gpu_element_names[product->activations], operands->prologue);
  add(list, "round", &launch, &(union arguments){.round = arguments});
}

// The three are of memory of the plan.
static void wgmma_slice(struct list *list, enum product_name name,
                        const struct product_arguments *slice) {
  const struct plan_product *product = &list->plan->product[name];
  const uint32_t rows = (uint32_t)product->rows, columns = (uint32_t)product->slice;
  const size_t weight = element_bytes(product->weights);
  const uint64_t row = (uint64_t)product->stride * weight;
  const uint64_t activations =
      (uint64_t)product->activation_stride * element_bytes(product->activations);
  const union arguments arguments = {
      .wgmma = {.weights.matrix = {slice->weights, row, rows, WGMMA_ROWS},
                .second.matrix = {slice->second, row, rows, WGMMA_ROWS},
                .activations.matrix = {slice->activations, activations, columns, columns},
                .product = *slice,
                .stages = product->stages}};
  struct gpu_launch launch = {.grid = {(unsigned)product->blocks, (unsigned)product->splits, 1},
                              .block = WGMMA_THREADS,
                              .shared_bytes = product->shared_bytes,
                              .argument_bytes = sizeof arguments.wgmma,
                              .map_count = product->gated ? 3 : 2};
  snprintf(launch.kernel, sizeof launch.kernel, "wgmma_%s_%s_%s_%d",
           gpu_element_names[product->weights], gpu_element_names[product->activations],
           epilogue_of(list->plan, name), product->warp_columns);
  add(list, operands_of[name].stage, &launch, &arguments);
}

// The rows of the batch from `first` on.
static void matrix_slice(struct list *list, enum product_name name, int first) {
  const struct plan *plan = list->plan;
  const struct plan_product *product = &plan->product[name];
  struct product_arguments arguments = product_arguments(list, name);
  const int rest = plan->request.batch - first;
  const size_t row = (size_t)product->activation_stride * element_bytes(product->activations);
  arguments.activations = (const char *)shared_at(list, REGION_ACTIVATIONS) + (size_t)first * row;
  if (product->activations == ELEMENT_E4M3)
    arguments.activation_scales = (const float *)shared_at(list, REGION_ACTIVATION_SCALES) + first;
  arguments.batch = rest < product->slice ? rest : product->slice;
  arguments.batch_padded = product->slice;
  arguments.splits = product->splits;
  arguments.chunk = product->chunk;
  arguments.ahead = product->ahead;
  arguments.partials = shared_at(list, REGION_PARTIALS);
  arguments.counters = shared_at(list, REGION_COUNTERS);
  arguments.output += (size_t)first * (size_t)product->rows;
  if (product->wgmma) {
    wgmma_slice(list, name, &arguments);
    return;
  }
  struct gpu_launch launch = {.grid = {(unsigned)product->blocks, (unsigned)product->splits, 1},
                              .block = MATRIX_WARPS * (unsigned)plan->device.warp,
                              .shared_bytes = product->shared_bytes,
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "matrix_%s_%s_%s_%d",
           gpu_element_names[product->weights], gpu_element_names[product->activations],
           epilogue_of(plan, name), product->warp_columns);
  add(list, operands_of[name].stage, &launch, &(union arguments){.product = arguments});
}

static void all_reduce(struct list *list, const char *kernel, enum plan_region region,
                       size_t count) {
  const struct all_reduce_arguments arguments = {shared_at(list, region), count};
  struct gpu_launch launch = {.grid = {1, 1, 1}, .block = 1, .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "%s", kernel);
  add(list, "all-reduce", &launch, &(union arguments){.all_reduce = arguments});
}

static void add_up_residual(struct list *list) {
  const struct decode_request *request = &list->plan->request;
  all_reduce(list, ALL_REDUCE_SUM, REGION_X,
             (size_t)request->batch * (size_t)request->shape.hidden);
}

static void multiply(struct list *list, enum product_name name) {
  const struct plan *plan = list->plan;
  if (plan->vector) {
    vector_product(list, name);
  } else {
    round_input(list, name);
    for (int first = 0; first < plan->request.batch; first += plan->product[name].slice)
      matrix_slice(list, name, first);
  }
  if (plan->ranks > 1 && operands_of[name].output == REGION_X)
    add_up_residual(list);
}

static void embed(struct list *list) {
  const struct plan *plan = list->plan;
  const struct plan_product *head = &plan->product[PRODUCT_HEAD];
  const struct embed_arguments arguments = {
      .embedding = shared_at(list, REGION_EMBEDDING),
      .scales = scales_at(list, REGION_EMBEDDING),
      .tokens = shared_at(list, REGION_TOKENS),
      .hidden = head->columns,
      .stride = head->stride,
      .x = shared_at(list, REGION_X),
  };
  struct gpu_launch launch = {.grid = {(unsigned)plan->request.batch, 1, 1},
                              .block = SMALL_THREADS,
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "embed_%s", gpu_element_names[head->weights]);
  add(list, "embed", &launch, &(union arguments){.embed = arguments});
}

static void attend(struct list *list) {
  const struct plan *plan = list->plan;
  const struct decode_shape *shape = &plan->request.shape;
  const struct attention_arguments arguments = {
      .qkv = shared_at(list, REGION_QKV_OUT),
      .angles = shared_at(list, REGION_ANGLES),
      .keys = at(list, REGION_KEYS),
      .values = at(list, REGION_VALUES),
      .batch = plan->request.batch,
      .heads = shape->heads,
      .kv_heads = shape->kv_heads,
      .head_groups = plan->head_groups,
      .head_dim = shape->head_dim,
      .head_stride = plan->head_stride,
      .context = plan->request.context,
      .context_padded = plan->context_padded,
      .splits = plan->attention_splits,
      .partials = shared_at(list, REGION_PARTIALS),
      .counters = shared_at(list, REGION_COUNTERS),
      .output = shared_at(list, REGION_ATTENDED),
  };
  struct gpu_launch launch = {.grid = {(unsigned)plan->attention_splits,
                                       (unsigned)(shape->kv_heads * plan->head_groups),
                                       (unsigned)plan->request.batch},
                              .block = ATTENTION_WARPS * (unsigned)plan->device.warp,
                              .shared_bytes = attention_shared_bytes(plan->head_dim_padded),
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "attention_%s_%d",
           gpu_element_names[plan->request.types.kv], plan->head_dim_padded);
  add(list, "attention", &launch, &(union arguments){.attention = arguments});
}

static void sample(struct list *list) {
  const struct plan *plan = list->plan;
  const struct sample_arguments arguments = {
      .logits = shared_at(list, REGION_LOGITS),
      .vocab = plan->request.shape.vocab,
      .best = shared_at(list, REGION_BEST),
      .best_index = shared_at(list, REGION_BEST_INDEX),
      .counters = shared_at(list, REGION_COUNTERS),
      .tokens = shared_at(list, REGION_TOKENS),
      .first = plan->rank * plan->request.shape.vocab,
      .keys = plan->ranks > 1 ? shared_at(list, REGION_KEYS_OF_TOKENS) : NULL,
  };
  const struct gpu_launch launch = {.kernel = "sample",
                                    .grid = {SAMPLE_BLOCKS, (unsigned)plan->request.batch, 1},
                                    .block = SMALL_THREADS,
                                    .shared_bytes = SMALL_SHARED,
                                    .argument_bytes = sizeof arguments};
  add(list, "sample", &launch, &(union arguments){.sample = arguments});
}

// The best of what the ranks have found.
static void agree(struct list *list) {
  const struct plan *plan = list->plan;
  const struct sample_key_arguments arguments = {
      .keys = shared_at(list, REGION_KEYS_OF_TOKENS),
      .batch = plan->request.batch,
      .tokens = shared_at(list, REGION_TOKENS),
  };
  const struct gpu_launch launch = {.kernel = "sample_key",
                                    .grid = {1, 1, 1},
                                    .block = SMALL_THREADS,
                                    .argument_bytes = sizeof arguments};
  all_reduce(list, ALL_REDUCE_MAX, REGION_KEYS_OF_TOKENS, (size_t)plan->request.batch);
  add(list, "sample", &launch, &(union arguments){.sample_key = arguments});
}

static void emit_step(struct list *list) {
  list->layer = -1;
  embed(list);
  for (list->layer = 0; list->layer < list->plan->request.shape.layers; list->layer++) {
    multiply(list, PRODUCT_QKV);
    attend(list);
    multiply(list, PRODUCT_WO);
    multiply(list, PRODUCT_GATE_UP);
    multiply(list, PRODUCT_DOWN);
  }
  list->layer = -1;
  multiply(list, PRODUCT_HEAD);
  sample(list);
  if (list->plan->ranks > 1)
    agree(list);
}

struct gpu_launch *gpu_plan_all_reduce(const struct plan *plan, void *base, size_t *count) {
  struct list list = {.plan = plan, .base = base, .layer = -1};
  return make(&list, add_up_residual, count);
}

struct gpu_launch *gpu_plan_step(const struct plan *plan, void *base, size_t *count,
                                 const char *const **what) {
  struct list list = {.plan = plan, .base = base};
  struct gpu_launch *launches = make(&list, emit_step, count);
  if (launches && what)
    *what = list.what;
  return launches;
}

// ---- a step in one launch

// By what the stage's own kernel is called.
static enum persistent_kind persistent_kind(const char *kernel) {
  static const struct {
    const char *begins;
    enum persistent_kind kind;
  } kinds[] = {{"embed_bf16", PERSISTENT_EMBED},
               {"vector_bf16_bf16_norm_store_", PERSISTENT_STORE_BF16},
               {"vector_e4m3_bf16_norm_store_", PERSISTENT_STORE_E4M3},
               {"vector_bf16_bf16_round_add_", PERSISTENT_ADD_BF16},
               {"vector_e4m3_bf16_round_add_", PERSISTENT_ADD_E4M3},
               {"vector_bf16_bf16_norm_swiglu_", PERSISTENT_SWIGLU_BF16},
               {"vector_e4m3_bf16_norm_swiglu_", PERSISTENT_SWIGLU_E4M3},
               {"attention_bf16_128", PERSISTENT_ATTENTION_BF16},
               {"attention_e4m3_128", PERSISTENT_ATTENTION_E4M3}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (strncmp(kernel, kinds[i].begins, strlen(kinds[i].begins)) == 0)
      return kinds[i].kind;
  return PERSISTENT_SAMPLE;
}

_Static_assert(sizeof(struct persistent_stage) % 16 == 0, "copied in pieces of 16 bytes");

struct gpu_launch *gpu_plan_persistent(const struct plan *plan, void *base,
                                       const struct persistent_stage **stages, size_t *count) {
  struct whole {
    struct gpu_launch launch;
    struct persistent_arguments arguments;
    struct persistent_stage stages[];
  } *whole = NULL;
  struct gpu_launch *steps = gpu_plan_step(plan, base, count, NULL);
  if (steps)
    whole = calloc(1, sizeof *whole + *count * sizeof whole->stages[0]);
  if (!whole) {
    free(steps);
    return NULL;
  }
  const struct list list = {.plan = plan, .base = base};
  whole->arguments = (struct persistent_arguments){shared_at(&list, REGION_STAGES),
                                                   shared_at(&list, REGION_ARRIVED), (int)*count};
  whole->launch = (struct gpu_launch){.grid = {(unsigned)plan->device.described.units, 1, 1},
                                      .block = VECTOR_THREADS,
                                      .carveout = plan->carveout,
                                      .arguments = &whole->arguments,
                                      .argument_bytes = sizeof whole->arguments,
                                      .cooperative = true};
  snprintf(whole->launch.kernel, sizeof whole->launch.kernel, "persistent_%d", plan->vector_rows);
  for (size_t i = 0; i < *count; i++) {
    const struct gpu_launch *from = &steps[i];
    struct persistent_stage *to = &whole->stages[i];
    to->kind = (int)persistent_kind(from->kernel);
    to->blocks = (int)(from->grid[0] * from->grid[1] * from->grid[2]);
    to->grid[0] = (int)from->grid[0];
    to->grid[1] = (int)from->grid[1];
    memcpy(&to->arguments, from->arguments, from->argument_bytes);
    if (from->shared_bytes > whole->launch.shared_bytes)
      whole->launch.shared_bytes = from->shared_bytes;
  }
  free(steps);
  *stages = whole->stages;
  return &whole->launch;
}

uint64_t gpu_plan_stage_bytes(const struct plan *plan, const char *stage) {
  for (int p = 0; p < PRODUCTS; p++)
    if (strcmp(operands_of[p].stage, stage) == 0)
      return gpu_plan_product_bytes(plan, (enum product_name)p);
  return strcmp(stage, "attention") == 0 ? gpu_plan_cache_bytes(plan) : 0;
}
