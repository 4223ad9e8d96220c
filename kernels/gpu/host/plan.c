#include "kernels/gpu/host/plan.h"

#include "kernels/decode.h"
#include "kernels/family.h"
#include "kernels/gpu/arguments.h"
#include "kernels/gpu/host/tuning.h"
#include "kernels/share.h"
#include "kernels/weights.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// The kernels count rows, columns and positions in int.
#define MAX_COLUMNS  65536
#define MAX_BATCH    256
#define MAX_CONTEXT  (1 << 24)
#define MAX_VOCAB    (1 << 24)
#define MAX_LAYERS   4096
#define MAX_HEAD_DIM 256
#define MAX_GRID_Y   65535 // CUDA C++ Programming Guide, technical specifications

#define REGION_ALIGNMENT 256 // what cudaMalloc and hipMalloc promise for a whole allocation
#define MIN_SLICE        16
#define STATIC_SHARED    16 // bytes that a kernel takes beside those of its launch, in arrive_last

// Blocks of a multiprocessor at a time, as far as shared memory goes: what the kernels are compiled
// for, and of attention what their registers come to.
#define NARROW_BLOCKS      2 // matrix, 16 columns to a warp
#define WIDE_BLOCKS        1
#define ATTENTION_LIGHT    3
#define ATTENTION_HEAVY    2
#define VECTOR_BLOCKS      1
#define VECTOR_BATCH_SHORT 2 // with weights in E4M3, which are to be converted: more take too long
#define VECTOR_AHEAD       2 // windows: twice 64 KiB of a multiprocessor
#define MATRIX_AHEAD       512 // bytes of each row, of all blocks of a multiprocessor
#define AHEAD_OF_WO        4   // after attention, which for a short context reads next to nothing
#define SHORT_CACHE        4   // of a layer: less than this part of the L2 cache

// Percent of 228 KB, with which sm_90 gives 164: three blocks of attention, or two of it and one of
// a vector product. Kernels that want different amounts do not run on a multiprocessor at a time,
// and those that want little are advised to ask for what the others do (CUDA C++ Programming Guide,
// compute capability 7.x, shared memory).
#define EVEN_CARVEOUT 72
#define MAX_SPLITS    8 // of a matrix product: their sums are written and read again

const char *const gpu_element_names[] = {
    [ELEMENT_F32] = "f32", [ELEMENT_BF16] = "bf16", [ELEMENT_E4M3] = "e4m3"};

static size_t element_bytes(enum element element) {
  static const size_t bytes[] = {
      [ELEMENT_F32] = 4, [ELEMENT_BF16] = 2, [ELEMENT_E4M3] = 1, [ELEMENT_INT8] = 1};
  return bytes[element];
}

static bool is_scaled(enum element element) {
  return element == ELEMENT_E4M3 || element == ELEMENT_INT8;
}

static int ceiling(int value, int divisor) {
  return (value + divisor - 1) / divisor;
}

static int least(int a, int b) {
  return a < b ? a : b;
}

// What tuning says, or else the plan's own choice.
static int chosen(int tuned, int own) {
  return tuned > 0 ? tuned : own;
}

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

// ---- what is known

static bool in(int value, int low, int high) {
  return value >= low && value <= high;
}

// In words that last until the thread's next call.
static const char *shape_unknown(const struct decode_shape *shape) {
  static _Thread_local char words[320];
  char missing[256];
  if (*family_missing(shape, FAMILY_ROPE, missing)) {
    snprintf(words, sizeof words, "the GPU kernels do not support %s", missing);
    return words;
  }
  if (family_fault(shape))
    return family_fault(shape);
  if (shape->rope.interleaved)
    return "the GPU kernels do not support rotary pairs of neighbours";
  if (!in(shape->head_dim, 2, MAX_HEAD_DIM) || shape->head_dim % 2 != 0)
    return "the GPU kernels need an even head_dim of at most 256";
  if (!in(shape->kv_heads, 1, MAX_COLUMNS) || !in(shape->heads, shape->kv_heads, MAX_COLUMNS) ||
      shape->heads % shape->kv_heads != 0)
    return "the query heads are not a multiple of the KV heads";
  if (!in(shape->layers, 1, MAX_LAYERS) || !in(shape->hidden, 1, MAX_COLUMNS) ||
      !in(shape->ffn_hidden, 1, MAX_COLUMNS) || !in(shape->vocab, 1, MAX_VOCAB) ||
      !in(shape->heads * shape->head_dim, 2, MAX_COLUMNS))
    return "the model is wider or deeper than the GPU kernels support";
  if (!(shape->norm_epsilon >= 0) || !(shape->rope_theta > 0))
    return "the norm's epsilon is negative, or rope's theta is not positive";
  return NULL;
}

static const char *types_unknown(const struct decode_types *types) {
  if (types->weights != ELEMENT_BF16 && types->weights != ELEMENT_E4M3)
    return "the GPU kernels support weights in bf16 or e4m3";
  if (types->activations != ELEMENT_BF16 &&
      !(types->activations == ELEMENT_E4M3 && types->weights == ELEMENT_E4M3))
    return "the GPU kernels support activations in bf16, or in e4m3 with e4m3 weights";
  if (types->kv != ELEMENT_BF16 && types->kv != ELEMENT_E4M3)
    return "the GPU kernels support a KV cache in bf16 or e4m3";
  if (types->head != ELEMENT_BF16 && types->head != types->weights)
    return "the GPU kernels support a head in bf16 or in the weights' type";
  if (types->experts != ELEMENT_F32)
    return "the GPU kernels support experts in the weights' type";
  if (types->accumulation != ELEMENT_F32)
    return "the GPU kernels accumulate in f32";
  return NULL;
}

// In words that last until the thread's next call.
static const char *division_unknown(const struct decode_request *request) {
  static _Thread_local char words[160];
  int size;
  const char *what;
  if (request->ranks < 2 || share_divides(&request->shape, request->ranks, &size, &what))
    return NULL;
  snprintf(words, sizeof words, "a model with %d %s cannot be divided among %d devices", size, what,
           request->ranks);
  return words;
}

static const char *request_unknown(const struct decode_request *request) {
  const char *why = shape_unknown(&request->shape);
  if (!why)
    why = division_unknown(request);
  if (!why)
    why = types_unknown(&request->types);
  if (why)
    return why;
  if (!in(request->batch, 1, MAX_BATCH))
    return "the GPU kernels support batches of 1 to 256";
  if (!in(request->context, 1, MAX_CONTEXT) || request->context > INT_MAX / request->batch)
    return "the context is longer than the GPU kernels support";
  return NULL;
}

static const char *device_unknown(const struct plan *plan) {
  if (plan->device.warp != 32 && plan->device.warp != 64)
    return "the device's warp is neither 32 nor 64 wide";
  if (attention_shared_bytes(plan->head_dim_padded) + STATIC_SHARED > plan->device.shared_bytes)
    return "attention with heads this wide needs more shared memory than the device has";
  if (plan->device.tuning.matrix == MATRIX_WGMMA && !plan->device.wgmma)
    return "matrix=wgmma needs sm_90 (H100, H200)";
  if (plan->request.shape.kv_heads > MAX_GRID_Y / plan->head_groups)
    return "there are more KV heads than a grid can take";
  return NULL;
}

// What a vector kernel's launch may give to a block: one that is a whole step holds a part itself.
static size_t block_shared_bytes(const struct plan *plan) {
  const size_t own = plan->device.tuning.step == STEP_PERSISTENT ? PERSISTENT_SHARED : 0;
  return plan->device.shared_bytes > own ? plan->device.shared_bytes - own : 0;
}

// Why a step cannot be one launch; NULL when it can, or is not asked to be.
static const char *persistent_unknown(const struct plan *plan) {
  const struct decode_types *types = &plan->request.types;
  if (plan->device.tuning.step != STEP_PERSISTENT)
    return NULL;
  if (!plan->device.cooperative)
    return "step=persistent needs cooperative launches, which this device or its runtime lacks (on "
           "AMD, HIP with hipModuleLaunchCooperativeKernel): leave it out for a graph of launches";
  if (plan->ranks > 1 || plan->request.batch > VECTOR_BATCH || types->activations != ELEMENT_BF16 ||
      types->head != ELEMENT_BF16 || plan->head_dim_padded != 128)
    return "step=persistent needs one device, batch 1 to 4, heads of 65 to 128, and activations "
           "and head in bf16";
  if (!plan->vector || attention_shared_bytes(plan->head_dim_padded) > block_shared_bytes(plan))
    return "step=persistent: this batch's activations do not fit into the device's shared memory, "
           "or vector_batch leaves it to the matrix kernels";
  return NULL;
}

// ---- how the work is shared out

// In how many splits of `parts` equal parts `blocks` blocks end soonest, when `room` of them run at
// a time. Beginning a block takes as long as a part; to write a split's sums and read them again,
// as long as `merging` parts.
static int best_splits(int blocks, int parts, int merging, int room, int most) {
  int best = 1;
  int64_t best_time = INT64_MAX;
  for (int splits = 1; splits <= least(parts, most); splits++) {
    const int64_t rounds = ((int64_t)blocks * splits + room - 1) / room;
    const int64_t time = rounds * (ceiling(parts, splits) + 1 + (splits > 1 ? merging : 0));
    if (time >= best_time)
      continue;
    best = splits;
    best_time = time;
  }
  return best;
}

// Of a matrix product whose parts are `bytes` of a row of weights: for each row a float per column,
// twice.
static int merging_of(const struct plan_product *product, int bytes) {
  return ceiling(2 * (int)sizeof(float) * product->slice, bytes);
}

// Blocks that the device runs at a time.
static int room_for(const struct plan *plan, size_t shared_bytes, int most) {
  const size_t fit = plan->device.shared_bytes / larger(shared_bytes, 1);
  const int blocks = fit < (size_t)most ? (int)larger(fit, 1) : most;
  return blocks * (plan->device.described.units > 0 ? plan->device.described.units : 1);
}

static void name_product(struct plan *plan, enum product_name which, int rows, int columns) {
  const struct decode_types *types = &plan->request.types;
  const enum element weights = which == PRODUCT_HEAD ? types->head : types->weights;
  plan->product[which] = (struct plan_product){
      .rows = rows,
      .columns = columns,
      .stride = (int)gpu_round_up((size_t)columns, ROW_ALIGNMENT),
      .gated = which == PRODUCT_GATE_UP,
      .weights = weights,
      // A head in BF16 takes no narrower activations: decode.h.
      .activations = weights == ELEMENT_BF16 ? ELEMENT_BF16 : types->activations,
  };
}

static void name_products(struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  const int q = shape->heads * shape->head_dim, kv = shape->kv_heads * shape->head_dim;
  name_product(plan, PRODUCT_QKV, q + 2 * kv, shape->hidden);
  name_product(plan, PRODUCT_WO, shape->hidden, q);
  name_product(plan, PRODUCT_GATE_UP, shape->ffn_hidden, shape->hidden);
  name_product(plan, PRODUCT_DOWN, shape->hidden, shape->ffn_hidden);
  name_product(plan, PRODUCT_HEAD, shape->vocab, shape->hidden);
}

// In windows. Where attention has the caches to itself for a while, more of what follows fits them.
static int ahead_of(const struct plan *plan, enum product_name which) {
  const uint64_t layer = gpu_plan_cache_bytes(plan) / (uint64_t)plan->request.shape.layers;
  const bool is_short = layer < plan->device.described.cache_bytes / SHORT_CACHE;
  const int own = which == PRODUCT_WO && is_short ? AHEAD_OF_WO : VECTOR_AHEAD;
  return chosen(plan->device.tuning.vector_ahead, own);
}

static int carveout_of(enum gpu_tuning_carveout tuned) {
  return tuned == CARVEOUT_DRIVER ? 0 : tuned == CARVEOUT_SHARED ? 100 : EVEN_CARVEOUT;
}

// False when the activations do not fit into shared memory.
static bool share_vector(struct plan *plan) {
  const int warps = VECTOR_THREADS / plan->device.warp;
  const int most = chosen(plan->device.tuning.vector_blocks, VECTOR_BLOCKS);
  plan->vector_rows = plan->request.batch > 2 ? VECTOR_BATCH : plan->request.batch;
  for (int p = 0; p < PRODUCTS; p++) {
    struct plan_product *product = &plan->product[p];
    product->shared_bytes = vector_shared_bytes(product->stride, plan->vector_rows,
                                                element_bytes(product->activations));
    if (product->shared_bytes > block_shared_bytes(plan))
      return false;
    product->blocks =
        least(ceiling(product->rows, warps), room_for(plan, product->shared_bytes, most));
    product->ahead = ahead_of(plan, (enum product_name)p);
  }
  return true;
}

// The largest slice of the batch that fits, and with it the largest chunk of its activations.
static bool choose_slice(const struct plan *plan, struct plan_product *product) {
  const int smallest =
      plan->device.any_chunk ? matrix_least_chunk(element_bytes(product->weights)) : MATRIX_CHUNK;
  for (int slice = plan->batch_padded; slice >= MIN_SLICE; slice /= 2)
    for (int chunk = MATRIX_CHUNK; chunk >= smallest; chunk /= 2) {
      product->slice = slice;
      product->chunk = chunk;
      product->shared_bytes =
          matrix_shared_bytes(slice, chunk, element_bytes(product->activations));
      if (product->shared_bytes + STATIC_SHARED <= plan->device.shared_bytes)
        return true;
    }
  return false;
}

// Its columns lie in at most WGMMA_GROUPS warpgroups side by side. As many stages as fit.
static bool choose_stages(const struct plan *plan, struct plan_product *product) {
  const size_t weight = element_bytes(product->weights);
  const size_t activation = element_bytes(product->activations);
  for (int slice = plan->batch_padded; slice >= MIN_SLICE; slice /= 2) {
    const int columns = least(slice, wgmma_max_columns(weight));
    if (slice > WGMMA_GROUPS * columns)
      continue;
    const size_t stage = wgmma_stage_bytes(slice, columns, weight, activation);
    int stages = MAX_WGMMA_STAGES;
    while (stages > 0 &&
           wgmma_shared_bytes(stage, stages) + STATIC_SHARED > plan->device.shared_bytes)
      stages--;
    product->slice = slice;
    product->warp_columns = columns;
    product->stages = stages;
    product->shared_bytes = wgmma_shared_bytes(stage, stages);
    if (stages >= MIN_WGMMA_STAGES)
      return true;
  }
  return false;
}

static bool share_wgmma(const struct plan *plan, struct plan_product *product) {
  if (!choose_stages(plan, product))
    return false;
  const size_t weight = element_bytes(product->weights);
  const int tiles = wgmma_tiles(product->slice, product->warp_columns);
  product->wgmma = true;
  product->blocks = ceiling(product->rows, tiles * WGMMA_ROWS / (product->gated ? 2 : 1));
  if (weight < element_bytes(product->activations)) // whole steps
    product->activation_stride = (int)gpu_round_up((size_t)product->stride, WGMMA_STEP_BYTES);
  const int steps = ceiling(product->stride * (int)weight, WGMMA_STEP_BYTES);
  const int merging = merging_of(product, WGMMA_STEP_BYTES);
  const int own = best_splits(product->blocks, steps, merging,
                              room_for(plan, product->shared_bytes, 1), MAX_SPLITS);
  product->splits = least(chosen(plan->device.tuning.matrix_splits, own), steps);
  return true;
}

static bool share_registers(const struct plan *plan, struct plan_product *product) {
  if (!choose_slice(plan, product))
    return false;
  const int slice = product->slice;
  product->warp_columns = least(slice, MATRIX_COLUMNS);
  const int groups = slice > MATRIX_COLUMNS ? slice / MATRIX_COLUMNS : 1;
  const int rows = MATRIX_ROWS * MATRIX_WARPS / groups / (product->gated ? 2 : 1);
  product->blocks = ceiling(product->rows, rows);
  const int chunks = ceiling(product->stride, MATRIX_CHUNK);
  const int most = slice > MIN_SLICE ? WIDE_BLOCKS : NARROW_BLOCKS;
  const int chunk_bytes = MATRIX_CHUNK * (int)element_bytes(product->weights);
  product->ahead = chosen(plan->device.tuning.matrix_ahead, MATRIX_AHEAD / chunk_bytes / most);
  const int merging = merging_of(product, chunk_bytes);
  const int own = best_splits(product->blocks, chunks, merging,
                              room_for(plan, product->shared_bytes, most), MAX_SPLITS);
  product->splits = least(chosen(plan->device.tuning.matrix_splits, own), chunks);
  return true;
}

static bool share_matrix(struct plan *plan) {
  const bool wgmma = plan->device.tuning.matrix == MATRIX_WGMMA;
  for (int p = 0; p < PRODUCTS; p++) {
    struct plan_product *product = &plan->product[p];
    product->activation_stride = product->stride;
    if (!(wgmma ? share_wgmma(plan, product) : share_registers(plan, product)))
      return false;
  }
  return true;
}

static int attention_rows(const struct plan *plan) {
  return plan->request.batch * plan->request.shape.kv_heads * plan->head_groups;
}

static int attention_blocks(const struct plan *plan) {
  const bool is_light = plan->head_dim_padded <= 64 ||
                        (plan->head_dim_padded <= 128 && plan->request.types.kv == ELEMENT_E4M3);
  return is_light ? ATTENTION_LIGHT : ATTENTION_HEAVY;
}

static void share_attention(struct plan *plan) {
  const int blocks = plan->context_padded / VALUE_BLOCK;
  const int room = room_for(plan, attention_shared_bytes(plan->head_dim_padded),
                            plan->persistent ? 1 : attention_blocks(plan));
  const int most = blocks < ATTENTION_SPLITS ? blocks : ATTENTION_SPLITS;
  const int own = best_splits(attention_rows(plan), blocks, 0, room, most);
  plan->attention_splits = least(chosen(plan->device.tuning.attention_splits, own), most);
}

static void set_padding(struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  const int head_dim = shape->head_dim, tile_columns = plan->device.warp == 64 ? 16 : 8;
  plan->batch_padded = MIN_SLICE;
  while (plan->batch_padded < plan->request.batch)
    plan->batch_padded *= 2;
  plan->context_padded = (int)gpu_round_up((size_t)plan->request.context, VALUE_BLOCK);
  plan->head_dim_padded = head_dim <= 64 ? 64 : head_dim <= 128 ? 128 : 256;
  plan->head_stride = (int)gpu_round_up((size_t)head_dim, ROW_ALIGNMENT);
  plan->head_groups = ceiling(shape->heads / shape->kv_heads, tile_columns);
}

// ---- where things lie

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
  return gpu_round_up(bytes, REGION_ALIGNMENT);
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
                         enum product_name which, int rows, size_t layers) {
  const struct plan_product *product = &layout->plan->product[which];
  const size_t row = (size_t)product->stride * element_bytes(product->weights);
  const size_t data = aligned(layout, times(layout, (size_t)rows, row));
  const bool scaled = is_scaled(product->weights);
  place(layout, region, data + (scaled ? (size_t)rows * sizeof(float) : 0), layers);
  layout->plan->region[region].scales = scaled ? data : 0;
}

static void place_model(struct memory_layout *layout) {
  static const struct {
    enum plan_region region;
    enum product_name like; // the product whose shape and type it has
  } matrices[] = {{REGION_QKV, PRODUCT_QKV},       {REGION_WO, PRODUCT_WO},
                  {REGION_GATE, PRODUCT_GATE_UP},  {REGION_UP, PRODUCT_GATE_UP},
                  {REGION_DOWN, PRODUCT_DOWN},     {REGION_HEAD, PRODUCT_HEAD},
                  {REGION_EMBEDDING, PRODUCT_HEAD}};
  const struct plan *plan = layout->plan;
  const struct decode_shape *shape = &plan->request.shape;
  const size_t layers = (size_t)shape->layers, norm = (size_t)shape->hidden * sizeof(float);
  for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++)
    place_matrix(layout, matrices[i].region, matrices[i].like,
                 matrices[i].region == REGION_EMBEDDING ? plan->whole.vocab
                                                        : plan->product[matrices[i].like].rows,
                 matrices[i].like == PRODUCT_HEAD ? 1 : layers);
  place(layout, REGION_ATTENTION_NORM, norm, layers);
  place(layout, REGION_FFN_NORM, norm, layers);
  place(layout, REGION_FINAL_NORM, norm, 1);
  size_t cache = times(layout, (size_t)plan->request.batch * (size_t)shape->kv_heads,
                       (size_t)plan->context_padded * element_bytes(plan->request.types.kv));
  place(layout, REGION_KEYS, times(layout, cache, (size_t)plan->head_stride), layers);
  place(layout, REGION_VALUES, times(layout, cache, (size_t)shape->head_dim), layers);
}

static size_t partial_bytes(const struct plan *plan) {
  const size_t splits = (size_t)plan->attention_splits, tile = (size_t)plan->device.warp / 4;
  size_t floats = 0;
  if (splits > 1)
    floats = (size_t)attention_rows(plan) * splits * tile * ((size_t)plan->head_dim_padded + 2);
  for (int p = 0; !plan->vector && p < PRODUCTS; p++) {
    const struct plan_product *product = &plan->product[p];
    if (product->splits > 1)
      floats = larger(floats, (size_t)product->splits * (product->gated ? 2 : 1) *
                                  (size_t)product->slice * (size_t)product->rows);
  }
  return floats * sizeof(float);
}

// One set of counters for all kernels: each leaves them zero.
static size_t counter_bytes(const struct plan *plan) {
  int count = attention_rows(plan); // at least a row of the batch each, as sampling needs
  for (int p = 0; !plan->vector && p < PRODUCTS; p++)
    count = (int)larger((size_t)count, (size_t)plan->product[p].blocks);
  return (size_t)count * sizeof(unsigned);
}

static size_t activation_bytes(const struct plan *plan) {
  size_t bytes = 0;
  for (int p = 0; !plan->vector && p < PRODUCTS; p++)
    bytes = larger(bytes, (size_t)plan->batch_padded * (size_t)plan->product[p].activation_stride *
                              element_bytes(plan->product[p].activations));
  return bytes;
}

// Embedding, five of a layer, head, sampling.
static size_t stage_count(const struct plan *plan) {
  return 3 + 5 * (size_t)plan->request.shape.layers;
}

static void place_step(struct memory_layout *layout) {
  const struct plan *plan = layout->plan;
  const struct decode_shape *shape = &plan->request.shape;
  const size_t batch = (size_t)plan->request.batch, row = batch * sizeof(float);
  const struct {
    enum plan_region region;
    size_t bytes;
  } rest[] = {
      {REGION_ANGLES, (size_t)shape->head_dim * sizeof(float)},
      {REGION_TOKENS, batch * sizeof(int)},
      {REGION_X, (size_t)shape->hidden * row},
      {REGION_QKV_OUT, (size_t)plan->product[PRODUCT_QKV].rows * row},
      {REGION_ATTENDED, (size_t)plan->product[PRODUCT_WO].columns * row},
      {REGION_FFN_OUT, (size_t)shape->ffn_hidden * row},
      {REGION_LOGITS, (size_t)shape->vocab * row},
      {REGION_ACTIVATIONS, activation_bytes(plan)},
      {REGION_ACTIVATION_SCALES, plan->vector ? 0 : (size_t)plan->batch_padded * sizeof(float)},
      {REGION_PARTIALS, partial_bytes(plan)},
      {REGION_COUNTERS, counter_bytes(plan)},
      {REGION_BEST, SAMPLE_BLOCKS * row},
      {REGION_BEST_INDEX, SAMPLE_BLOCKS * batch * sizeof(int)},
      {REGION_KEYS_OF_TOKENS, plan->ranks > 1 ? batch * sizeof(uint64_t) : 0},
      {REGION_BELL, sizeof weights_bell},
      {REGION_STAGES, plan->persistent ? stage_count(plan) * sizeof(struct persistent_stage) : 0},
      {REGION_ARRIVED, plan->persistent ? sizeof(unsigned) : 0},
  };
  for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
    place(layout, rest[i].region, rest[i].bytes, 1);
}

// The largest that the vector kernels take. A step in one launch has no others.
static int vector_batch(const struct plan *plan) {
  const struct gpu_tuning *tuning = &plan->device.tuning;
  const bool is_short =
      plan->request.types.weights == ELEMENT_E4M3 && tuning->step != STEP_PERSISTENT;
  return chosen(tuning->vector_batch, is_short ? VECTOR_BATCH_SHORT : VECTOR_BATCH);
}

enum decode_status gpu_plan_make(const struct decode_request *request,
                                 const struct gpu_device *device, struct plan *out,
                                 const char **why) {
  *out = (struct plan){.request = *request,
                       .whole = request->shape,
                       .ranks = request->ranks > 1 ? request->ranks : 1,
                       .device = *device};
  *why = request_unknown(request);
  if (*why)
    return DECODE_UNSUPPORTED;
  out->request.shape = share_of(request->shape, out->ranks);
  set_padding(out);
  *why = device_unknown(out);
  if (*why)
    return DECODE_UNSUPPORTED;
  name_products(out);
  out->vector = request->batch <= vector_batch(out) && share_vector(out);
  if (!out->vector && !share_matrix(out)) {
    *why = "the products need more shared memory than the device has";
    return DECODE_UNSUPPORTED;
  }
  *why = persistent_unknown(out);
  if (*why)
    return DECODE_UNSUPPORTED;
  out->persistent = device->tuning.step == STEP_PERSISTENT;
  out->carveout = carveout_of((enum gpu_tuning_carveout)device->tuning.carveout);
  share_attention(out);
  struct memory_layout layout = {.plan = out};
  place_model(&layout);
  place_step(&layout);
  if (layout.overflow)
    *why = "the model and its cache are larger than any memory";
  return layout.overflow ? DECODE_UNSUPPORTED : DECODE_OK;
}

// ---- what a step costs

// Rows times columns, and a float per row where rows have scales; padding is not counted.
static uint64_t tensor_bytes(enum element element, uint64_t rows, uint64_t columns) {
  return rows * (columns * element_bytes(element) + (is_scaled(element) ? sizeof(float) : 0));
}

uint64_t gpu_plan_product_bytes(const struct plan *plan, enum product_name which) {
  const struct plan_product *product = &plan->product[which];
  const uint64_t layers = which == PRODUCT_HEAD ? 1 : (uint64_t)plan->request.shape.layers;
  const uint64_t rows = (uint64_t)product->rows * (product->gated ? 2 : 1);
  return layers * tensor_bytes(product->weights, rows, (uint64_t)product->columns);
}

uint64_t gpu_plan_cache_bytes(const struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  const uint64_t positions = (uint64_t)plan->request.batch * (uint64_t)(plan->request.context + 1);
  return (uint64_t)shape->layers * positions * 2 * (uint64_t)shape->kv_heads *
         (uint64_t)shape->head_dim * element_bytes(plan->request.types.kv);
}

// As the CPU backend counts (kernels/cpu/plan.c): every weight, scale and norm once, the batch's
// rows of the embedding, the cache of all positions read and one position written; two operations
// for each weight of a product and row of the batch, and for each query head and position
// 2 * head_dim for the score and as many for the sum of values.
struct decode_cost gpu_plan_cost(const struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  const struct decode_types *types = &plan->request.types;
  const uint64_t layers = (uint64_t)shape->layers, batch = (uint64_t)plan->request.batch;
  const uint64_t hidden = (uint64_t)shape->hidden, context = (uint64_t)plan->request.context;
  uint64_t bytes = 0, weights = (uint64_t)shape->vocab * hidden;
  for (int p = 0; p < PRODUCT_HEAD; p++) {
    const struct plan_product *product = &plan->product[p];
    const uint64_t rows = (uint64_t)product->rows * (product->gated ? 2 : 1);
    bytes += gpu_plan_product_bytes(plan, (enum product_name)p);
    weights += layers * rows * (uint64_t)product->columns;
  }
  const uint64_t positions = layers * batch * (uint64_t)shape->heads * context;
  return (struct decode_cost){
      .weight_bytes = bytes + (2 * layers + 1) * hidden * sizeof(float) +
                      tensor_bytes(types->head, (uint64_t)shape->vocab + batch, hidden),
      .kv_bytes = gpu_plan_cache_bytes(plan),
      .operations = 2 * weights * batch + positions * 4 * (uint64_t)shape->head_dim,
      .resident_bytes = plan->bytes,
  };
}
