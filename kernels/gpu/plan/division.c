#include "kernels/gpu/plan/division.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/streaming.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/even.h"
#include "kernels/gpu/plan/experts.h"
#include "kernels/gpu/plan/limits.h"
#include "kernels/gpu/plan/tuning.h"
#include "kernels/gpu/units.h"
#include "kernels/integers.h"
#include "kernels/weights.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Blocks per multiprocessor, as far as shared memory allows: what the kernels are compiled for, and
// for attention what its registers allow or, where it copies the cache, what keeps a memory busy.
#define NARROW_BLOCKS      2 // matrix, 16 columns per warp
#define WIDE_BLOCKS        1
#define ATTENTION_LIGHT    3
#define ATTENTION_HEAVY    2
#define VECTOR_BLOCKS      2 // of one vector; a step in one launch has one block
#define VECTOR_BATCH_SHORT 2

// Percent of a multiprocessor's 228 KB to request as shared memory. 71 % is 161.88 KB, which the
// driver rounds up to the next supported capacity, 164 KB (CUDA C++ Programming Guide, Configuring
// L1/Shared Memory Balance): room for two blocks of attention or of a vector product. The rest
// stays L1, through which vector products load. 72 % would round up to 196 KB. All kernels of a
// step request the same, because kernels with different carveouts cannot share a multiprocessor
// (the guide, compute capability 7.x, shared memory): it would empty before and after the kernel
// that differs. If one kernel needs more, all request 100 %.
#define EVEN_CARVEOUT   71
#define SHARED_CARVEOUT 100
#define RESERVED_SHARED 1024 // bytes: the system's own, per block
#define MAX_SPLITS      8    // of a tile of a matrix product: their sums are written and read back

#define UNITS_COLUMNS  16 // of a warp, apart from MATRIX_COLUMNS
#define NARROW_COLUMNS 32 // of a warpgroup: fewer, and it waits for the rows in shared memory

// Warps side by side in the columns each bring the weights from L2, and the block has fewer rows
// for each column of activations: with four of them that takes longer than to read the weights
// twice.
#define COPIED_SLICE (2 * MATRIX_COLUMNS)

// What an H200 does. The rates of memory and L2 and what a merge takes are fitted: with them the
// measured times of all products alone, of 8B and 70B models at batch 4 to 64, come out within 13 %
// (docs/gpu-model.md). No product was measured that a multiprocessor's own rates limit, so these
// are three quarters of what it could do, the share that FlashAttention-3 reaches (arXiv
// 2407.08608): its port brings 64 bytes a cycle at 1.98 GHz, its matrix unit multiplies and adds at
// 989 TFLOP/s by 132, and 32 E4M3 weights a cycle become BF16, by four instructions a pair. The
// starts of launches and of clusters are assumed, as clusters that add up parts were not measured.
static const struct {
  uint64_t memory_bytes_per_ns;  // weights, of all multiprocessors together
  uint64_t cache_bytes_per_ns;   // L2's weights and activations, of all together
  uint64_t port_bytes_per_ns;    // into one multiprocessor, like the rates that follow
  uint64_t multiplies_per_ns;    // with an addition each
  uint64_t converted_per_ns;     // weights
  uint64_t merge_bytes_per_ns;   // sums of a merge through L2
  uint64_t network_bytes_per_ns; // between shared memories: tests/support/timing/timing.h
  uint64_t launch_ns;            // until a launch's first bytes have come
  uint64_t merge_ns;             // of a merge, beside its sums
  uint64_t parts_ns; // of a cluster that adds up parts, whose blocks begin together and wait for
                     // each other twice
} h200 = {
    .memory_bytes_per_ns = 4300,
    .cache_bytes_per_ns = 5000,
    .port_bytes_per_ns = 95,
    .multiplies_per_ns = 2800,
    .converted_per_ns = 47,
    .merge_bytes_per_ns = 50,
    .network_bytes_per_ns = 17,
    .launch_ns = 1000,
    .merge_ns = 500,
    .parts_ns = 1000,
};

// Bytes of `count` elements of a row of weights; of units without what is stored beside them.
static int code_bytes(enum element element, int count) {
  return lies_in_units(element) ? count / UNIT * unit_layout(element).code_bytes
                                : count * (int)gpu_element_bytes(element);
}

// The value from tuning, or else the plan's own choice.
static int chosen(int tuned, int own) {
  return tuned > 0 ? tuned : own;
}

int division_splits(int blocks, int parts, int merging, int room, int most) {
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

// What merging costs a matrix product, in parts of `bytes` of a row of weights: for each row one
// float per column, twice.
static int merging_of(const struct plan_product *product, int bytes) {
  return ceiling(2 * (int)sizeof(float) * product->slice, bytes);
}

// Blocks that the device runs at a time.
static int room_for(const struct plan *plan, size_t shared_bytes, int most) {
  const size_t fit = plan->device.shared_bytes / larger(shared_bytes, 1);
  const int blocks = fit < (size_t)most ? (int)larger(fit, 1) : most;
  return blocks * (plan->device.described.units > 0 ? plan->device.described.units : 1);
}

static void name_product(struct plan *plan, enum product_name which, enum tensor tensor, int rows,
                         int columns) {
  const struct decode_shape *shape = &plan->request.shape;
  const struct decode_types *types = &plan->request.types;
  const enum element weights = weights_element(types, tensor);
  // Products in BF16, the head or a router, take no narrower activations: decode.h.
  const enum element rounded = weights == ELEMENT_BF16 ? ELEMENT_BF16 : types->activations;
  const bool in_units = lies_in_units(weights);
  struct plan_product *product = &plan->product[which];
  if (rows == 0 || columns == 0)
    return;
  *product = (struct plan_product){
      .rows = rows,
      .columns = columns,
      .stride = (int)round_up((size_t)columns, in_units ? UNIT : ROW_ALIGNMENT),
      .gated = which == PRODUCT_GATE_UP && shape->mlp != MLP_GELU,
      .family = product_is_of_family(shape, which),
      .layers = which == PRODUCT_HEAD ? 1 : shape->layers,
      .copies = 1,
      .at_once = 1,
      .weights = weights,
      .rounded = rounded,
      .activations = in_units ? ELEMENT_BF16 : rounded,
  };
  experts_set_product(plan, which, product);
}

static void name_by_head(struct plan *plan, enum product_name which, enum tensor tensor, int rows,
                         int columns) {
  struct plan_product *product = &plan->product[which];
  name_product(plan, which, tensor, rows, columns);
  product->by_head = true;
  product->copies = product->at_once = plan->request.shape.heads;
}

// The products around latent attention.
static void name_latent(struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  const struct decode_latent *latent = &shape->latent;
  const int q = shape->heads * shape->head_dim, low = latent->query_rank;
  const int first = low > 0 ? low : q, entry = latent->rank + latent->rope_dim;
  name_product(plan, PRODUCT_QKV, TENSOR_KV_A, first + entry, shape->hidden);
  name_product(plan, PRODUCT_Q_B, TENSOR_Q_B, q, low);
  name_by_head(plan, PRODUCT_K_B, TENSOR_K_B, latent->rank, shape->head_dim - latent->rope_dim);
  name_by_head(plan, PRODUCT_V_B, TENSOR_V_B, latent->value_dim, latent->rank);
  name_product(plan, PRODUCT_WO, TENSOR_WO, shape->hidden, shape->heads * latent->value_dim);
}

void division_name_products(struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  const struct decode_experts *experts = &shape->experts;
  const int q = shape->heads * shape->head_dim, kv = shape->kv_heads * shape->head_dim;
  const int h = shape->hidden, shared = experts->shared_hidden, own = experts->hidden;
  if (gpu_plan_is_latent(plan)) {
    name_latent(plan);
  } else {
    name_product(plan, PRODUCT_QKV, TENSOR_WQ, q + 2 * kv, h);
    name_product(plan, PRODUCT_WO, TENSOR_WO, h, q);
  }
  name_product(plan, PRODUCT_GATE_UP, TENSOR_GATE, shape->ffn_hidden, h);
  name_product(plan, PRODUCT_DOWN, TENSOR_DOWN, h, shape->ffn_hidden);
  name_product(plan, PRODUCT_ROUTER, TENSOR_ROUTER, experts->count, h);
  name_product(plan, PRODUCT_SHARED_GATE_UP, TENSOR_SHARED_GATE, shared, h);
  name_product(plan, PRODUCT_SHARED_DOWN, TENSOR_SHARED_DOWN, h, shared);
  name_product(plan, PRODUCT_EXPERT_GATE_UP, TENSOR_EXPERT_GATE, own, h);
  name_product(plan, PRODUCT_EXPERT_DOWN, TENSOR_EXPERT_DOWN, h, own);
  name_product(plan, PRODUCT_HEAD, TENSOR_HEAD, shape->vocab, h);
}

// Whether a block of attention or of a product needs more than that many percent of a
// multiprocessor's memory, or as many of a vector product as there are for each.
static bool needs_more(const struct plan *plan, size_t percent) {
  const int units = plan->device.described.units;
  const size_t given = percent * (plan->device.shared_bytes + RESERVED_SHARED);
  if (100 * (gpu_plan_attention_shared_bytes(plan) + RESERVED_SHARED) > given)
    return true;
  for (int p = 0; p < PRODUCTS; p++) {
    const struct plan_product *product = &plan->product[p];
    const size_t blocks =
        product->vector && units > 0 && product->blocks > units ? VECTOR_BLOCKS : 1;
    if (100 * blocks * (product->shared_bytes + RESERVED_SHARED) > given)
      return true;
  }
  return false;
}

int division_carveout(const struct plan *plan) {
  return plan->streaming || needs_more(plan, EVEN_CARVEOUT) ? SHARED_CARVEOUT : EVEN_CARVEOUT;
}

// Whether there is a vector kernel; for weights in units, only a step in one launch has one.
static bool has_vector_kernel(const struct plan *plan, const struct plan_product *product) {
  return !lies_in_units(product->weights) ||
         (plan->device.tuning.step == STEP_STREAMING && !limits_fallback(plan));
}

// False if the activations of a product for the vector kernels do not fit into shared memory.
static bool share_vector(struct plan *plan) {
  const int warps = VECTOR_THREADS / plan->device.warp;
  const bool in_one = plan->device.tuning.step == STEP_STREAMING && !limits_fallback(plan);
  const int blocks = plan->request.batch == 1 && !in_one ? VECTOR_BLOCKS : 1;
  plan->vector_rows = plan->request.batch > 2 ? VECTOR_BATCH : plan->request.batch;
  for (int p = 0; p < PRODUCTS; p++) {
    struct plan_product *product = &plan->product[p];
    if (product->rows == 0 || !has_vector_kernel(plan, product))
      continue;
    product->shared_bytes =
        lies_in_units(product->weights)
            ? streaming_units_bytes(product->stride, plan->vector_rows, plan->device.warp,
                                    unit_layout(product->weights).code_bytes)
            : vector_shared_bytes(product->stride, plan->vector_rows,
                                  gpu_element_bytes(product->activations));
    if (product->shared_bytes > gpu_plan_block_shared_bytes(plan))
      return false;
    const int room = room_for(plan, product->shared_bytes, blocks) / product->at_once;
    product->blocks = least(ceiling(product->rows, warps), room > 0 ? room : 1);
  }
  return true;
}

// A product's chunks of activations in shared memory, beside its ring of weights.
static bool fits_shared(const struct plan *plan, struct plan_product *product, int chunk,
                        int buffers, size_t ring) {
  product->chunk = chunk;
  product->buffers = buffers;
  product->shared_bytes = ring + matrix_shared_bytes(product->slice, chunk, buffers,
                                                     gpu_element_bytes(product->activations));
  return product->shared_bytes + PLAN_STATIC_SHARED <= plan->device.shared_bytes;
}

// The largest slice of the batch that fits, and for it the largest chunk of its activations. If the
// weights are copied, activations should be on their way for as long as a ring of these, so that
// waiting for them takes nothing from the ring.
static bool choose_slice(const struct plan *plan, struct plan_product *product) {
  const bool in_units = lies_in_units(product->weights);
  const bool copied = !plan->device.any_chunk && !in_units;
  const int step = in_units ? UNIT : matrix_least_chunk(gpu_element_bytes(product->weights));
  const int longest = copied ? MATRIX_COPIED_CHUNK : MATRIX_CHUNK;
  const int shortest = plan->device.any_chunk ? step : longest;
  const int most = copied ? 1 + ceiling(MATRIX_DEPTH * step, longest) : 2;
  const int largest = product->routed
                          ? experts_slice(plan)
                          : least(plan->batch_padded, copied ? COPIED_SLICE : LIMITS_BATCH);
  for (product->slice = largest; product->slice >= PLAN_MIN_SLICE; product->slice /= 2)
    for (int buffers = most; buffers >= 2; buffers--)
      for (int chunk = longest; chunk >= shortest; chunk /= 2)
        if (fits_shared(plan, product, chunk, buffers, copied ? MATRIX_RING : 0))
          return true;
  return false;
}

// The largest slice of the batch, with as many stages as fit. At most WGMMA_GROUPS warpgroups are
// side by side in its columns; `narrow`: where one could take all, too, so that a tile has half as
// many rows. Strips need all of a unit and half of the next at least.
static bool choose_stages(const struct plan *plan, bool narrow, struct plan_product *product) {
  const size_t weight = gpu_element_bytes(product->weights);
  const size_t activation = gpu_element_bytes(product->activations);
  const int most = wgmma_max_columns(weight);
  for (int slice = plan->batch_padded; slice >= PLAN_MIN_SLICE; slice /= 2) {
    const int columns = least(slice, most) / (narrow && slice <= most ? WGMMA_GROUPS : 1);
    const int strips = product->strips;
    if (slice > WGMMA_GROUPS * columns || (narrow && columns < NARROW_COLUMNS) ||
        (strips > 1 && (slice < plan->batch_padded || slice != WGMMA_STRIPS_COLUMNS)))
      continue;
    int stages = MAX_WGMMA_STAGES + 1;
    do
      product->shared_bytes =
          wgmma_shared_bytes(slice, columns, weight, activation, --stages, strips);
    while (stages > 0 && product->shared_bytes + PLAN_STATIC_SHARED > plan->device.shared_bytes);
    product->slice = slice;
    product->warp_columns = columns;
    product->stages = stages;
    if (stages >= MIN_WGMMA_STAGES + strips - 1)
      return true;
  }
  return false;
}

// What a block needs for each of its units: bytes of weights from memory, bytes from L2 and through
// its port, multiply-adds, and weights to convert. Nanoseconds for each merge through L2, and to
// add up a cluster's parts.
struct even_costs {
  uint64_t weights, cached, received, products, converted;
  uint64_t merge, parts;
};

// Nanoseconds of a block for its units, while `blocks` of them share the memory and L2: the fewer
// they are, the faster is each, up to what its multiprocessor does.
static uint64_t units_time(const struct even_costs *costs, uint64_t units, uint64_t blocks) {
  const uint64_t limits[] = {units * costs->weights * blocks / h200.memory_bytes_per_ns,
                             units * costs->cached * blocks / h200.cache_bytes_per_ns,
                             units * costs->received / h200.port_bytes_per_ns,
                             units * costs->products / h200.multiplies_per_ns,
                             units * costs->converted / h200.converted_per_ns};
  uint64_t most = 0;
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
    most = limits[i] > most ? limits[i] : most;
  return most;
}

// As many of at most `most` blocks of even.h as give each an equal part of a tile, a `splits`-th,
// or for one split whole tiles; all of them where that is too many.
static unsigned blocks_tried(const struct even_work *work, unsigned splits, unsigned most) {
  const unsigned whole = (work->tiles + most - 1) / most;
  if (splits == 1)
    return (work->tiles + whole - 1) / whole;
  return splits <= MAX_SPLITS && splits * work->tiles <= most ? splits * work->tiles : most;
}

// Divides a product among at most `most` clusters of `cluster` blocks, each a block of even.h: as
// many as finish soonest, and of equals the most. Merges are one after the other where a tile has
// most pieces. Returns nanoseconds.
static uint64_t divide_evenly(unsigned most, unsigned cluster, const struct even_costs *costs,
                              struct even_work *work) {
  const unsigned all = work->tiles * work->steps;
  struct even_work tried = *work;
  uint64_t best = UINT64_MAX;
  for (unsigned splits = 1; splits <= MAX_SPLITS + 1; splits++) {
    tried.blocks = blocks_tried(work, splits, all < most ? all : most);
    const unsigned range = (all + tried.blocks - 1) / tried.blocks;
    const uint64_t time = h200.launch_ns + units_time(costs, range, tried.blocks * cluster) +
                          gpu_plan_merges(&tried) * costs->merge;
    if (time <= best) {
      best = time;
      *work = tried;
    }
  }
  return best;
}

// A cluster of `cluster` blocks for each tile, of which `room` run at a time.
static uint64_t divide_in_clusters(unsigned room, unsigned cluster, unsigned parts,
                                   const struct even_costs *costs, struct even_work *work) {
  const unsigned at_once = work->tiles < room ? work->tiles : room;
  work->blocks = work->tiles;
  return (work->tiles + room - 1) / room *
             (h200.launch_ns +
              units_time(costs, (work->steps + parts - 1) / parts, at_once * cluster)) +
         costs->parts;
}

static int rows_of_block(const struct plan_product *product) {
  return wgmma_tiles(product->slice, product->warp_columns) * WGMMA_ROWS * product->strips;
}

// Blocks beside each other ask L2 for activations once. The matrix unit takes two bytes of
// activations for each multiply-add, as E4M3 is multiplied twice as fast. Warpgroups side by side
// in the columns each convert all weights. The other sums of a merge: for each row one float per
// column; of parts: all of these but a block's own.
static struct even_costs even_costs_of(const struct plan_product *product) {
  const uint64_t rows = (uint64_t)rows_of_block(product), parts = (uint64_t)product->parts;
  const uint64_t weights = rows * WGMMA_STEP_BYTES;
  const uint64_t wider =
      gpu_element_bytes(product->activations) / gpu_element_bytes(product->weights);
  const uint64_t activations = (uint64_t)product->slice * WGMMA_STEP_BYTES * wider;
  const uint64_t converting = wider > 1 ? (uint64_t)(product->slice / product->warp_columns) : 0;
  const uint64_t sums = rows * sizeof(float) * (uint64_t)product->slice;
  return (struct even_costs){.weights = weights,
                             .cached = weights + activations / (uint64_t)product->beside,
                             .received = weights + activations,
                             .products = rows * activations / 2,
                             .converted = converting * weights,
                             .merge = h200.merge_ns + sums / h200.merge_bytes_per_ns,
                             .parts = h200.parts_ns +
                                      sums * (parts - 1) / parts / h200.network_bytes_per_ns};
}

// Divides a product whose columns and cluster are set. False if that is not possible.
static bool divide_wgmma(const struct plan *plan, struct plan_product *product, uint64_t *time) {
  const int tile = rows_of_block(product) / (product->gated ? 2 : 1) * product->beside;
  const int steps =
      ceiling(product->stride * (int)gpu_element_bytes(product->weights), WGMMA_STEP_BYTES);
  const unsigned splits = (unsigned)least(plan->device.tuning.matrix_splits, steps);
  struct even_work work = {.tiles = (unsigned)ceiling(product->rows, tile),
                           .steps = (unsigned)steps};
  const unsigned limit = UINT32_MAX / (work.tiles * work.steps); // even.h
  const int cluster = gpu_plan_cluster(product);
  const unsigned room = (unsigned)(room_for(plan, product->shared_bytes, 1) / cluster);
  const struct even_costs costs = even_costs_of(product);
  if (room == 0 || product->parts > steps ||
      (cluster > 1 && cluster > least(plan->device.clusters, MAX_CLUSTER)))
    return false;
  if (product->parts > 1) {
    *time = divide_in_clusters(room, (unsigned)cluster, (unsigned)product->parts, &costs, &work);
  } else {
    *time = divide_evenly(room < limit ? room : limit, (unsigned)cluster, &costs, &work);
    if (splits > 0)
      work.blocks = splits * work.tiles < limit ? splits * work.tiles : limit;
  }
  product->work = work;
  product->blocks = (int)work.blocks * cluster;
  return true;
}

// Tuning comes before time, as far as it is possible. Parts are another way to split a tile.
static uint64_t against_tuning(const struct gpu_tuning *tuning,
                               const struct plan_product *product) {
  const int parts = tuning->wgmma_parts == 0 && tuning->matrix_splits > 0 ? 1 : tuning->wgmma_parts;
  const int beside = tuning->wgmma_beside, strips = tuning->wgmma_strips;
  return (uint64_t)((beside > 0 && beside != product->beside) +
                    (strips > 0 && strips != product->strips) +
                    (parts > 0 && parts != product->parts))
         << 62;
}

// Blocks beside each other, in a cluster, share activations if that is chosen: on an H200 they are
// slower, by 12 to 27 % of a step at batch 64. Narrow tiles need as many activations as others, so
// they are for such blocks; and not for weights that must be converted, by each warpgroup all of
// them. Strips, too, share activations, and are not in clusters. Parts are a power of two unless
// tuned, and not of a prompt's products: nobody asks the device whether it holds their clusters.
static bool is_considered(const struct plan *plan, const struct plan_product *tried, bool narrow) {
  const bool even = (tried->parts & (tried->parts - 1)) == 0;
  return tried->beside <= chosen(plan->device.tuning.wgmma_beside, 1) &&
         (!narrow || (tried->beside > 1 && tried->weights == tried->activations)) &&
         (tried->strips == 1 || (!narrow && tried->beside * tried->parts == 1)) &&
         (even || tried->parts == plan->device.tuning.wgmma_parts) &&
         (tried->parts == 1 || !plan->prompt);
}

// The fastest of all ways. Of equals the first: narrow tiles, strips and clusters only where they
// are faster. Verification must run the kernels that are timed, but shortens the vocabulary, and
// with experts may leave out the dense layers: so these have neither narrow tiles nor strips.
static bool share_wgmma(const struct plan *plan, struct plan_product *product) {
  const struct plan_product like = *product;
  const bool may_change =
      product == &plan->product[PRODUCT_HEAD] || plan->request.shape.experts.count > 0;
  uint64_t best = UINT64_MAX;
  for (int way = 0; way < 2 * MAX_WGMMA_STRIPS * MAX_WGMMA_BESIDE * MAX_CLUSTER; way++) {
    struct plan_product tried = like;
    const bool narrow = way % 2;
    uint64_t time;
    tried.strips = 1 + way / 2 % MAX_WGMMA_STRIPS;
    tried.beside = 1 + way / 2 / MAX_WGMMA_STRIPS % MAX_WGMMA_BESIDE;
    tried.parts = 1 + way / 2 / MAX_WGMMA_STRIPS / MAX_WGMMA_BESIDE;
    if (((narrow || tried.strips > 1) && may_change) || !is_considered(plan, &tried, narrow) ||
        !choose_stages(plan, narrow, &tried) || !divide_wgmma(plan, &tried, &time))
      continue;
    time += against_tuning(&plan->device.tuning, &tried);
    if (time >= best)
      continue;
    best = time;
    *product = tried;
  }
  product->wgmma = true;
  if (gpu_element_bytes(product->weights) < gpu_element_bytes(product->activations)) // whole steps
    product->activation_stride = (int)round_up((size_t)product->stride, WGMMA_STEP_BYTES);
  product->splits = 1;
  return best < UINT64_MAX;
}

static bool share_registers(const struct plan *plan, struct plan_product *product) {
  if (!choose_slice(plan, product))
    return false;
  const int slice = product->slice;
  const bool is_whole = product->routed || product->by_head; // kernels of 16 or 64 columns, unsplit
  product->warp_columns = is_whole ? experts_warp_columns(slice) : least(slice, MATRIX_COLUMNS);
  if (lies_in_units(product->weights) && slice < MATRIX_COLUMNS)
    product->warp_columns = UNITS_COLUMNS;
  const int groups = slice / product->warp_columns;
  const int rows = MATRIX_ROWS * MATRIX_WARPS / groups / (product->gated ? 2 : 1);
  product->blocks = ceiling(product->rows, rows);
  const int chunks = ceiling(product->stride, MATRIX_CHUNK);
  const int most = product->warp_columns > PLAN_MIN_SLICE ? WIDE_BLOCKS : NARROW_BLOCKS;
  const int chunk_bytes = code_bytes(product->weights, MATRIX_CHUNK);
  const int merging = merging_of(product, chunk_bytes);
  const int own = division_splits(product->blocks, chunks, merging,
                                  room_for(plan, product->shared_bytes, most), MAX_SPLITS);
  product->splits = is_whole ? 1 : least(chosen(plan->device.tuning.matrix_splits, own), chunks);
  return true;
}

// By itself a dense model's step takes wgmma wherever the device has it: on an H200 it was faster
// at every batch measured, from 4 to 64. A prompt's products are left to the vendor's library.
static bool takes_wgmma(const struct plan *plan) {
  bool is_llama = true;
  for (int p = 0; p < PRODUCTS; p++)
    is_llama = is_llama && !product_is_of_family(&plan->request.shape, (enum product_name)p);
  const bool is_dense = plan->request.shape.experts.count == 0;
  const bool own = plan->device.wgmma && is_llama && is_dense && !plan->prompt;
  return chosen(plan->device.tuning.matrix, own ? MATRIX_WGMMA : MATRIX_REGISTERS) == MATRIX_WGMMA;
}

// Shares the product by wgmma, which a plan that has chosen it by itself can do without.
static bool share_by_wgmma(struct plan *plan, struct plan_product *product) {
  const struct plan_product before = *product;
  if (share_wgmma(plan, product))
    return true;
  *product = before;
  return plan->device.tuning.matrix != MATRIX_WGMMA && share_registers(plan, product);
}

static bool share_matrix(struct plan *plan) {
  const bool wgmma = takes_wgmma(plan);
  for (int p = 0; p < PRODUCTS; p++) {
    struct plan_product *product = &plan->product[p];
    if (product->rows == 0 || product->vector)
      continue;
    product->activation_stride = product->stride;
    const bool by_wgmma =
        wgmma && !product->routed && !product->by_head && !lies_in_units(product->weights);
    if (!(by_wgmma ? share_by_wgmma(plan, product) : share_registers(plan, product)))
      return false;
  }
  return true;
}

// The largest batch that the vector kernels take. Where wgmma is used, weights that must be
// converted are left to it sooner, since they leave the ordinary units less time
// (docs/gpu-model.md). A step in one launch has no other kernels.
static int vector_batch(const struct plan *plan) {
  const struct gpu_tuning *tuning = &plan->device.tuning;
  const bool is_short = plan->request.types.weights == ELEMENT_E4M3 && takes_wgmma(plan) &&
                        tuning->step != STEP_STREAMING;
  return is_short ? VECTOR_BATCH_SHORT : VECTOR_BATCH;
}

bool division_share_products(struct plan *plan) {
  const bool in_units = lies_in_units(plan->request.types.weights);
  plan->vector = (!in_units || has_vector_kernel(plan, &plan->product[PRODUCT_WO])) &&
                 plan->request.batch <= vector_batch(plan) && share_vector(plan);
  for (int p = 0; p < PRODUCTS; p++)
    plan->product[p].vector = plan->vector && has_vector_kernel(plan, &plan->product[p]);
  return share_matrix(plan);
}

static int attention_blocks(const struct plan *plan) {
  const bool is_light = plan->head_dim_padded <= 64 ||
                        (plan->head_dim_padded <= 128 && plan->request.types.kv == ELEMENT_E4M3);
  return is_light && !gpu_plan_copies_cache(plan) && !gpu_plan_is_latent(plan) ? ATTENTION_LIGHT
                                                                               : ATTENTION_HEAVY;
}

// Blocks of attention that run at a time. Those that copy the cache fill what is shared memory: two
// of an H200's multiprocessor, one of an A100's.
static int attention_room(const struct plan *plan) {
  const size_t bytes = gpu_plan_attention_shared_bytes(plan) + RESERVED_SHARED;
  const size_t fit =
      (plan->device.shared_bytes + RESERVED_SHARED) * (size_t)plan->carveout / 100 / bytes;
  const int most = plan->streaming ? 1 : attention_blocks(plan);
  return room_for(plan, bytes - RESERVED_SHARED,
                  gpu_plan_copies_cache(plan) && fit < (size_t)most ? (int)larger(fit, 1) : most);
}

// The splits of a layer that attends to the positions from `first` on.
static int splits_from(const struct plan *plan, int first) {
  const int blocks = plan->context_padded / VALUE_BLOCK - first / VALUE_BLOCK;
  const int most = blocks < ATTENTION_SPLITS ? blocks : ATTENTION_SPLITS;
  const int own =
      division_splits(gpu_plan_attention_rows(plan), blocks, 0, attention_room(plan), most);
  return least(chosen(plan->device.tuning.attention_splits, own), most);
}

void division_share_attention(struct plan *plan) {
  plan->attention_splits = splits_from(plan, 0);
  plan->window_splits =
      splits_from(plan, gpu_plan_window_first(&plan->request, plan->request.shape.window));
}
