#include "tests/support/timing/timing_stage.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/even.h"
#include "kernels/gpu/launches/operands.h"
#include "kernels/gpu/plan/cost.h"
#include "kernels/gpu/plan/division.h"
#include "kernels/gpu/stream.h"
#include "kernels/integers.h"
#include "tests/support/timing/timing_attention.h"
#include "tests/support/timing/timing_flow.h"

// From the kernels' sources (kernels/gpu/device), and lengths of instruction sequences.
#define LOAD_BYTES     512 // of a warp's load of 16 bytes a lane
#define VECTOR_LOADS   8   // product_vector.h: LOADS_IN_FLIGHT, per warp
#define CLAMPS         85  // instructions in a vector's window: the review of the machine code
#define NORM_COLUMNS   (VECTOR_THREADS * 4) // read by a block at a time: round.h, GROUP
#define NORM_HELD      4                    // of these a thread holds with P3, except
#define NORM_HELD_E4M3 2 // of a vector product's input in E4M3; of the norm itself, too
#define ROUND_COLUMNS  (VECTOR_THREADS * 4 * 4) // the same without a norm
#define NORM_CYCLES    400                      // two barriers and two reductions over a block
#define PASS_CYCLES    180                      // a tile's instructions to pass on its norm
#define FOUND_CYCLES   200 // the other product's: one barrier and one reduction over a block
#define FINISH_CYCLES  600 // a row's sums over a warp, SwiGLU, the store; the block's exit
#define MATRIX_STEP    (MATRIX_WARPS * MATRIX_ROWS * 64) // bytes of a step of all warps
#define FIRST_SPLITS   8                                 // the most, in the first kernels
#define RESIDUALS      8                                 // with P11: product_matrix.h
#define MERGE_BYTES    (256 * 64 * 4) // sums of a block of 256 threads, of one split
#define UNIT_CYCLES    86 // issued for a streaming step's unit of weights besides its arithmetic,
#define PAIR_CYCLES    97 // and for a pair of rows: the longest in streaming_1 of sm_90a
#define SHARED_BYTES   128.0 // of shared memory, a cycle: 32 banks of 4
// What the kernels without P10 ask L2 for before they wait: windows of a vector, what they have in
// registers included; more of wo, if attention's cache of a layer is less than a part of L2; and
// bytes of each row of a matrix, for all blocks of a multiprocessor.
#define VECTOR_AHEAD  2
#define AHEAD_OF_WO   4
#define SHORT_CACHE   4 // of L2: less than a quarter
#define MATRIX_AHEAD  512
#define NARROW_BLOCKS 2 // of a multiprocessor, with 16 columns for a warp; otherwise one

enum { VECTOR_WARPS = VECTOR_THREADS / 32 };

static bool begins(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

// ---- norms and rounding

// Reads of a norm's input that wait for each other, of `groups`: once to measure it and, except for
// the last of two groups, again to round it. With P3 those held come together, but what of the norm
// is not held comes one by one.
static int norm_trips(const struct timing_context *context, int groups, int held) {
  if (!timing_has(context, TIMING_P3))
    return groups + (groups > 2 ? groups - 1 : 1);
  const int within = least(groups, held), beyond = groups - within;
  return 2 * beyond + (within > 2 ? within : 1);
}

// The input of a product comes from L2 in reads that wait for each other.
static double rounding_us(const struct timing_context *context, enum product_name which,
                          int readers, int held) {
  const struct timing_machine *machine = context->machine;
  const struct plan_product *product = &context->plan->product[which];
  const bool norm = strcmp(operands_of(context->plan, which).prologue, "norm") == 0;
  const bool narrow =
      timing_has(context, TIMING_P8) && gpu_plan_passed(context->plan, which) != PASSED_FLOAT;
  const double bytes = product->columns * (narrow ? 2.0 : 4.0);
  const double all_us = bytes * readers / machine->l2;
  const int groups = ceiling(product->columns, norm ? NORM_COLUMNS : ROUND_COLUMNS);
  if (!norm) {
    const int trips = narrow ? ceiling(groups, 2) : groups;
    return fmax(trips * timing_trip_us(context), timing_trip_us(context) + all_us);
  }
  const bool once = timing_has(context, TIMING_P3) && groups <= held;
  const int trips = norm_trips(context, groups, held);
  return fmax(trips * timing_trip_us(context), timing_trip_us(context) + (once ? 1 : 2) * all_us) +
         timing_cycles_us(context, NORM_CYCLES);
}

static struct timing_stage round_stage(const struct timing_context *context,
                                       enum product_name which) {
  struct timing_stage stage = {.passes_on = true};
  stage.gap[TIMING_RELEASE] = context->machine->release_us;
  stage.gap[TIMING_ROUNDING] =
      rounding_us(context, which, context->plan->batch_padded, NORM_HELD) + timing_trip_us(context);
  return stage;
}

// ---- products

static void end(const struct timing_context *context, const struct timing_flow *flow,
                struct timing_stage *stage) {
  const int loads = flow->counted ? flow->loads : 1;
  stage->finish_us = flow->use_us / flow->loads + timing_trip_us(context) +
                     timing_cycles_us(context, FINISH_CYCLES);
  stage->tail[TIMING_TAIL] = context->machine->latency_us / 2 + flow->use_us / loads +
                             timing_trip_us(context) + timing_cycles_us(context, FINISH_CYCLES);
}

// The part of `asked` bytes that comes from L2 afterwards, while the memory is idle; and the time
// until it restarts.
static void drain(const struct timing_context *context, double asked, double held,
                  struct timing_stage *stage) {
  const struct timing_machine *machine = context->machine;
  stage->gap[TIMING_DRAIN] += fmax(0, asked - held) / machine->l2;
  if (stage->bytes > asked)
    stage->gap[TIMING_DRAIN] += machine->latency_us / 2;
}

// Whether a vector's loads are clamped: with P9 those of rows that end within a window.
static bool clamped(const struct timing_context *context, const struct plan_product *product) {
  const size_t window = (size_t)VECTOR_LOADS * LOAD_BYTES / (product->gated ? 2 : 1);
  return !timing_has(context, TIMING_P9) || gpu_plan_row_bytes(product) % window != 0;
}

// The first kernels have one block on a multiprocessor. A plan of one vector has two, as P10.
static int vector_blocks(const struct timing_context *context, int planned) {
  return timing_has(context, TIMING_P10) ? planned : least(planned, timing_units(context));
}

// Instructions for 16 bytes of a lane, including those for conversion, in a streaming step, where
// two rows meet each activation. Beside them, what a warp issues for a unit was counted on the way
// through the machine code that asks whether another may be requested, and requests it; for a pair,
// from there to the next one, and where the requests come to one (check_unit in tests/checks holds
// the former).
static double streamed_cycles(const struct timing_context *context,
                              const struct plan_product *product) {
  const int elements = product->weights == ELEMENT_BF16 ? 8 : 16;
  const double converted = product->weights == ELEMENT_BF16 ? 8 : 8 + 16;
  const double row_bytes = (double)gpu_plan_row_bytes(product);
  const double of_unit = UNIT_CYCLES + PAIR_CYCLES * STREAM_BYTES / row_bytes;
  return converted + 1 + context->plan->vector_rows * (elements + (elements + elements / 8.0) / 2) +
         of_unit * LOAD_BYTES / STREAM_SLOT;
}

// The same in a vector's window (product_vector.h).
static double load_cycles(const struct timing_context *context,
                          const struct plan_product *product) {
  if (context->plan->streaming)
    return streamed_cycles(context, product);
  const int elements = product->weights == ELEMENT_BF16 ? 8 : 16;
  const double clamps = clamped(context, product) ? (double)CLAMPS / VECTOR_LOADS : 0;
  const double unpacked = product->weights == ELEMENT_BF16 ? 8 : 8 + 16;
  return unpacked + context->plan->vector_rows * (2.0 * elements + elements / 8.0) + 3 + clamps;
}

// The same for shared memory: the activations, and a streaming step's weights, written and read.
static double load_shared_cycles(const struct timing_context *context,
                                 const struct plan_product *product) {
  const double wider =
      (double)gpu_element_bytes(product->activations) / (double)gpu_element_bytes(product->weights);
  const int weights = context->plan->streaming ? 2 : 0;
  const double met = context->plan->streaming ? 0.5 : 1; // by one row of weights
  return (context->plan->vector_rows * wider * met + weights) * LOAD_BYTES /
         (SHARED_BYTES / SCHEDULERS);
}

// Windows that a warp has asked for before it waits.
static int vector_ahead(const struct timing_context *context, enum product_name which) {
  const struct plan *plan = context->plan;
  const uint64_t cache = gpu_plan_cache_bytes(plan) / (uint64_t)plan->request.shape.layers;
  if (timing_has(context, TIMING_P10))
    return 1;
  return which == PRODUCT_WO && cache < plan->device.described.cache_bytes / SHORT_CACHE
             ? AHEAD_OF_WO
             : VECTOR_AHEAD;
}

// Of bytes that take `asked_us`, those that flow before the stage begins: if only a part of the
// multiprocessors has room for its blocks beside those of the preceding launch, the others ask for
// nothing until that has ended.
static double asked_before_us(const struct timing_context *context, double room, double asked_us) {
  const struct timing_machine *machine = context->machine;
  return room * asked_us + (1 - room) * fmin(asked_us, machine->release_us - machine->start_us);
}

static struct timing_stage vector_stage(const struct timing_context *context,
                                        const struct gpu_launch *launch, enum product_name which) {
  const struct timing_machine *machine = context->machine;
  const struct plan_product *product = &context->plan->product[which];
  const int blocks = vector_blocks(context, (int)launch->grid[0]);
  const int on_one = ceiling(blocks, timing_units(context));
  const double window = VECTOR_LOADS * LOAD_BYTES;
  const double issued = load_cycles(context, product);
  const double shared = load_shared_cycles(context, product);
  struct timing_stage stage = {.bytes = (double)gpu_plan_product_bytes(context->plan, which) /
                                        product->layers};
  const struct timing_flow flow = {
      .warps = on_one * VECTOR_WARPS / SCHEDULERS,
      .loads = VECTOR_LOADS,
      .window = window,
      .use_us = timing_cycles_us(context, VECTOR_LOADS * fmax(issued, shared)),
      .used = issued < shared ? TIMING_SHARED : TIMING_ISSUE,
      .most = 1,
      .waves = on_one * ceiling(product->rows, blocks),
      .whole = (double)product->rows / timing_units(context)};
  timing_flow_time(context, &flow, &stage);
  const double held = window * VECTOR_WARPS * blocks;
  const double asked = fmin(stage.bytes, vector_ahead(context, which) * held);
  stage.gap[TIMING_RELEASE] = machine->release_us;
  stage.gap[TIMING_ROUNDING] = rounding_us(
      context, which, blocks, product->activations == ELEMENT_E4M3 ? NORM_HELD_E4M3 : NORM_HELD);
  drain(context, asked, fmin(asked, held), &stage);
  // Two blocks leave no room for the next launch's.
  const double room = on_one > 1 ? fmax(0, 1 - (double)context->before / blocks) : 1;
  stage.asked_us = asked_before_us(context, room, asked / stage.rate);
  end(context, &flow, &stage);
  return stage;
}

// An instruction of wgmma with 64 rows of 32 bytes takes half a cycle for each column, but reads
// the rows and the columns from shared memory; the rows not if they were converted.
static double narrow_wgmma(const struct plan_product *product) {
  const double columns = product->warp_columns;
  const double rows = product->weights == product->activations ? 64 : 0;
  return product->wgmma ? fmax(1, (rows + columns) * 32 / SHARED_BYTES / (columns / 2)) : 1;
}

// Of a window of mma.sync's weights: the activations that the block writes and the warp reads, and
// with P1m the weights, written and read.
static double shared_us(const struct timing_context *context, const struct plan_product *product,
                        double window) {
  const double wider =
      (double)gpu_element_bytes(product->activations) / (double)gpu_element_bytes(product->weights);
  const double groups = (double)product->slice / product->warp_columns;
  const double written = product->slice * wider * groups / (MATRIX_ROWS * MATRIX_WARPS);
  const double read = product->warp_columns * wider / MATRIX_ROWS;
  const int weights = timing_has(context, TIMING_P1_MATRIX) ? 2 : 0;
  return timing_cycles_us(context,
                          window * (written + read + weights) / (SHARED_BYTES / SCHEDULERS));
}

static struct timing_flow matrix_flow(const struct timing_context *context,
                                      const struct plan_product *product, int schedulers,
                                      double window, double multiply_adds) {
  const bool narrow = product->weights == ELEMENT_E4M3;
  const double elements = window / (narrow ? 1 : 2);
  const double twice = product->wgmma && narrow && product->activations == ELEMENT_E4M3 ? 2 : 1;
  const double matrix_us =
      elements * product->slice / (twice * multiply_adds / schedulers) * narrow_wgmma(product);
  const int copies = product->wgmma ? product->slice / product->warp_columns : 1;
  const double converted_us =
      narrow && product->activations == ELEMENT_BF16
          ? timing_conversion_us(context, elements * copies * schedulers / SCHEDULERS)
          : 0;
  struct timing_flow flow = {.window = window,
                             .use_us = fmax(matrix_us, converted_us),
                             .used = matrix_us > converted_us ? TIMING_MATRIX : TIMING_CONVERSION,
                             .most = 1};
  if (!product->wgmma && shared_us(context, product, window) > flow.use_us) {
    flow.use_us = shared_us(context, product, window);
    flow.used = TIMING_SHARED;
  }
  return flow;
}

// How a matrix product's blocks are divided: for wgmma without P6 into splits of whole tiles, like
// the first kernels.
struct divided {
  int tiles, blocks;    // tiles of the rows
  int idle;             // multiprocessors without a block
  double longest, even; // the others' share of the work, in blocks or units of even.h
  int merges;           // one after the other
  int merged, early;    // pieces added to others; of these, those put aside while weights flow
};

static struct divided divided_in(const struct timing_context *context, int tiles, int splits) {
  const int blocks = tiles * splits;
  return (struct divided){.tiles = tiles,
                          .blocks = blocks,
                          .longest = ceiling(blocks, timing_units(context)),
                          .even = (double)blocks / timing_units(context),
                          .merges = splits > 1 ? splits : 0};
}

static int idle_beside(const struct timing_context *context, int blocks) {
  return timing_units(context) - least(blocks, timing_units(context));
}

// Each part of a cluster has its part of a tile.
static struct divided divided_in_parts(const struct timing_context *context,
                                       const struct plan_product *product) {
  const struct even_work *work = &product->work;
  const int cluster = gpu_plan_cluster(product), room = timing_units(context) / cluster;
  const int idle = idle_beside(context, least((int)work->tiles, room) * cluster);
  return (struct divided){
      .tiles = (int)work->tiles * product->beside,
      .blocks = (int)work->tiles * cluster,
      .idle = idle,
      .longest = ceiling((int)work->steps, product->parts) * ceiling((int)work->tiles, room),
      .even = (double)work->tiles * work->steps * product->beside / (timing_units(context) - idle)};
}

// The blocks of a cluster have the same units; their pieces are each other's likes.
static struct divided divided_evenly(const struct timing_context *context,
                                     const struct plan_product *product) {
  const struct even_work *work = &product->work;
  const int all = (int)(work->tiles * work->steps), clusters = (int)work->blocks;
  const int of_one = product->beside, room = timing_units(context) / of_one;
  const int idle = idle_beside(context, clusters * of_one);
  struct divided divided = {.tiles = (int)work->tiles * of_one,
                            .blocks = clusters * of_one,
                            .idle = idle,
                            .longest = ceiling(all, clusters) * ceiling(clusters, room),
                            .even = (double)all * of_one / (timing_units(context) - idle),
                            .merges = (int)gpu_plan_merges(work)};
  for (unsigned tile = 0; tile < work->tiles; tile++) {
    const struct even_pieces pieces = even_pieces(work, tile);
    const unsigned last = pieces.first + pieces.count - 1;
    const bool early = pieces.count > 1 && even_begin(work, last + 1) > (tile + 1) * work->steps;
    divided.merged += ((int)pieces.count - 1) * of_one;
    divided.early += early ? of_one : 0;
  }
  return divided;
}

static struct divided divided_as(const struct timing_context *context,
                                 const struct gpu_launch *launch,
                                 const struct plan_product *product) {
  const struct even_work *work = &product->work;
  if (!product->wgmma)
    return divided_in(context, (int)launch->grid[0], (int)launch->grid[1]);
  if (product->parts > 1)
    return divided_in_parts(context, product);
  if (timing_has(context, TIMING_P6))
    return divided_evenly(context, product);
  const int tuned = context->plan->device.tuning.matrix_splits;
  const int tiles = (int)work->tiles * product->beside;
  const int merging = ceiling(2 * (int)sizeof(float) * product->slice, WGMMA_STEP_BYTES);
  const int own =
      division_splits(tiles, (int)work->steps, merging, timing_units(context), FIRST_SPLITS);
  return divided_in(context, tiles, least(tuned > 0 ? tuned : own, (int)work->steps));
}

// Of the sums of a block's tile.
static double partial_bytes(const struct plan_product *product) {
  return product->wgmma
             ? (double)wgmma_partial_floats(product->warp_columns, product->strips) * sizeof(float)
             : MERGE_BYTES;
}

static double port_us(const struct timing_context *context, double bytes) {
  return bytes / context->machine->port / context->machine->clock;
}

// The last block of a row of blocks reads the sums of all splits, one after the other.
static double read_splits_us(const struct timing_context *context,
                             const struct plan_product *product, const struct divided *divided) {
  const struct timing_machine *machine = context->machine;
  return machine->arrive_us +
         divided->merges * (timing_trip_us(context) + port_us(context, partial_bytes(product)));
}

// With P6 blocks merge in pairs and all at the same time at the end, so L2 may limit them: each
// piece is written, if it was not early, and read.
static double merge_pairs_us(const struct timing_context *context,
                             const struct plan_product *product, const struct divided *divided) {
  const struct timing_machine *machine = context->machine;
  const double bytes = partial_bytes(product);
  const double all_us = (2.0 * divided->merged - divided->early) * bytes / machine->l2;
  return divided->merges * (machine->arrive_us + timing_trip_us(context)) +
         fmax(divided->merges * port_us(context, bytes), all_us);
}

// Blocks put their sums into their shared memory, tell the others, and read their share of the
// sums of all.
static double add_parts_us(const struct timing_context *context, const struct plan_product *product,
                           int blocks) {
  const struct timing_machine *machine = context->machine;
  const double bytes = partial_bytes(product);
  const double others = bytes * (product->parts - 1) / product->parts;
  return timing_cycles_us(context, 2 * bytes / SHARED_BYTES) + 2 * machine->network_us +
         others * blocks / machine->network;
}

// While a block puts aside what its range began with, the ring fills for `ring_us`.
static void merge_sums(const struct timing_context *context, const struct plan_product *product,
                       const struct divided *divided, double ring_us, struct timing_stage *stage) {
  const struct timing_machine *machine = context->machine;
  const double piece_us = port_us(context, partial_bytes(product));
  if (product->wgmma && product->parts > 1)
    stage->tail[TIMING_MERGE] = add_parts_us(context, product, divided->blocks);
  if (divided->merges == 0)
    return;
  stage->tail[TIMING_MERGE] = product->wgmma && timing_has(context, TIMING_P6)
                                  ? merge_pairs_us(context, product, divided)
                                  : read_splits_us(context, product, divided);
  if (divided->early > 0)
    stage->slower[TIMING_MERGE] = fmax(0, machine->arrive_us + piece_us - ring_us);
}

// Of a lane's residuals, those that it asks for together, as registers allow: product_matrix.h and
// product_wgmma.h.
static int residuals_together(const struct timing_context *context,
                              const struct plan_product *product) {
  if (!timing_has(context, TIMING_P11))
    return 1;
  if (!product->wgmma || product->warp_columns < MATRIX_COLUMNS)
    return RESIDUALS;
  if (product->warp_columns > MATRIX_COLUMNS)
    return RESIDUALS / 2;
  return product->strips > 1 ? 2 * RESIDUALS : 4 * RESIDUALS;
}

// In rounds of so many.
static double residuals_us(const struct timing_context *context, const struct plan_product *product,
                           enum product_name which) {
  const int rows = product->wgmma ? WGMMA_ROWS * WGMMA_TILES / 4 * product->strips : MATRIX_ROWS;
  const int values = product->warp_columns * rows / 32;
  return strcmp(operands_of(context->plan, which).epilogue, "add") == 0
             ? context->machine->residual_us * ceiling(values, residuals_together(context, product))
             : 0;
}

// Bytes between L2 and multiprocessors for each byte of weights: activations for every tile, which
// the blocks of a cluster share, and early pieces.
static double beside_weights(const struct plan_product *product, const struct divided *divided,
                             double bytes) {
  const double activations = (double)product->slice * product->stride *
                             (double)gpu_element_bytes(product->activations) * divided->tiles /
                             (product->wgmma ? product->beside : 1);
  return (activations + divided->early * partial_bytes(product)) / bytes;
}

// Steps of weights that a warp has on their way; in registers, fewer where nothing is converted.
static int steps_held(const struct timing_context *context, const struct plan_product *product) {
  const bool tight = product->warp_columns == 16 || product->weights == product->activations;
  return tight && !timing_has(context, TIMING_P1_MATRIX) ? 2 : MATRIX_DEPTH;
}

// Bytes of a row that a block has asked for, beyond those that its warps hold.
static double matrix_ahead(const struct timing_context *context,
                           const struct plan_product *product) {
  const int chunk_bytes = MATRIX_CHUNK * (int)gpu_element_bytes(product->weights);
  const int blocks = product->warp_columns == PLAN_MIN_SLICE ? NARROW_BLOCKS : 1;
  return timing_has(context, TIMING_P10) ? 0 : MATRIX_AHEAD / chunk_bytes / blocks * chunk_bytes;
}

// The launch's, if the plan's kernels compute one between two products.
static struct wgmma_norm norm_of(const struct gpu_launch *launch) {
  const struct wgmma_arguments *arguments = launch->arguments;
  return begins(launch->kernel, "wgmma_") ? arguments->norm : (struct wgmma_norm){0};
}

// With P12 every block of the product behind a norm reads all sums of squares.
static void pass_norm(const struct timing_context *context, const struct gpu_launch *launch,
                      const struct plan_product *product, struct timing_stage *stage) {
  const struct wgmma_norm norm = norm_of(launch);
  const double bytes = (double)norm.sums * product->slice * sizeof(float) * launch->grid[0];
  if (!timing_has(context, TIMING_P12) || !norm.squares)
    return;
  if (norm.scaled)
    stage->tail[TIMING_ROUNDING] =
        timing_cycles_us(context, PASS_CYCLES * product->warp_columns / 8.0);
  else
    stage->gap[TIMING_ROUNDING] +=
        bytes / context->machine->l2 + timing_cycles_us(context, FOUND_CYCLES);
}

static struct timing_stage matrix_stage(const struct timing_context *context,
                                        const struct gpu_launch *launch, enum product_name which) {
  const struct timing_machine *machine = context->machine;
  const struct plan_product *product = &context->plan->product[which];
  const bool wgmma = product->wgmma;
  const struct divided divided = divided_as(context, launch, product);
  const int depth = wgmma ? product->stages : steps_held(context, product);
  const double held = wgmma ? wgmma_tiles(product->slice, product->warp_columns) * WGMMA_ROWS *
                                  (double)WGMMA_STEP_BYTES * depth
                            : (double)MATRIX_STEP * depth;
  struct timing_stage stage = {.bytes = (double)gpu_plan_product_bytes(context->plan, which) /
                                        product->layers};
  // All of a multiprocessor uses a wgmma stage at the same time; SCHEDULERS of them side by side
  // correspond to as many quarters.
  struct timing_flow flow =
      wgmma ? matrix_flow(context, product, 1, held / depth, machine->wgmma)
            : matrix_flow(context, product, SCHEDULERS, held / MATRIX_WARPS, machine->matrix);
  flow.warps = wgmma ? depth : MATRIX_WARPS / SCHEDULERS;
  flow.loads = wgmma ? 1 : depth;
  flow.counted = timing_has(context, TIMING_P1_MATRIX);
  flow.window = wgmma ? flow.window / SCHEDULERS : flow.window;
  flow.beside = beside_weights(product, &divided, stage.bytes);
  flow.whole = divided.even;
  flow.waves = divided.longest;
  flow.idle = divided.idle;
  const bool slow = timing_flow_time(context, &flow, &stage);
  const int busy = least(divided.blocks, timing_units(context));
  // What is in L2 helps only if there would be a wait for memory.
  const double rows_ahead =
      wgmma || slow ? 0 : matrix_ahead(context, product) * MATRIX_WARPS * MATRIX_ROWS;
  const double asked = fmin(stage.bytes, (held + rows_ahead) * busy);
  stage.gap[TIMING_RELEASE] = machine->release_us;
  stage.gap[TIMING_ROUNDING] = timing_trip_us(context); // for the first of the activations
  if (!slow)
    drain(context, asked, held * busy, &stage);
  const bool beside = wgmma && timing_has(context, TIMING_P7);
  const double room = beside ? 1 : fmax(0, 1 - (double)context->before / timing_units(context));
  stage.asked_us = asked_before_us(context, room, asked / stage.rate);
  end(context, &flow, &stage);
  merge_sums(context, product, &divided, held * busy / stage.rate - machine->latency_us, &stage);
  stage.tail[TIMING_RESIDUAL] = residuals_us(context, product, which);
  pass_norm(context, launch, product, &stage);
  return stage;
}

// ---- everything else

static struct timing_stage small_stage(const struct timing_context *context, bool counted) {
  struct timing_stage stage = {.passes_on = true};
  stage.gap[TIMING_RELEASE] = context->machine->release_us;
  stage.gap[TIMING_TAIL] =
      2 * timing_trip_us(context) + (counted ? context->machine->arrive_us : 0);
  return stage;
}

// PRODUCTS if it is another stage.
static enum product_name product_of(const struct timing_context *context, const char *stage) {
  int p = 0;
  while (p < PRODUCTS &&
         (context->plan->product[p].rows == 0 ||
          strcmp(operands_of(context->plan, (enum product_name)p).stage, stage) != 0))
    p++;
  return (enum product_name)p;
}

bool timing_round_before(const struct timing_context *context, const struct gpu_launch *launch,
                         const char *stage, struct timing_stage *out) {
  const enum product_name which = product_of(context, stage);
  if (which == PRODUCTS || context->plan->product[which].vector || begins(launch->kernel, "round_"))
    return false;
  const struct wgmma_norm norm = norm_of(launch);
  const bool normed = norm.squares && !norm.scaled;
  if ((timing_has(context, TIMING_P8) || gpu_plan_passed(context->plan, which) == PASSED_FLOAT) &&
      (timing_has(context, TIMING_P12) || !normed))
    return false;
  *out = round_stage(context, which);
  return true;
}

// For a rounding kernel, the product that it serves comes next.
struct timing_stage timing_stage_of(const struct timing_context *context,
                                    const struct gpu_launch *launch, const char *stage) {
  if (begins(launch->kernel, "attention_"))
    return timing_attention(context, launch);
  const enum product_name which = product_of(context, stage);
  if (which == PRODUCTS)
    return small_stage(context, begins(launch->kernel, "sample"));
  if (begins(launch->kernel, "round_"))
    return round_stage(context, which);
  return begins(launch->kernel, "vector_") ? vector_stage(context, launch, which)
                                           : matrix_stage(context, launch, which);
}
