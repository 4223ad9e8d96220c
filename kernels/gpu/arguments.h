// arguments: what the host passes to each kernel: plain C structs, one per kernel, passed by value.
//
// There is one source of kernels for CUDA, HIP and the host emulator (kernels.cu). The host side
// turns a request into a plan of launches (planner.h), and a driver carries them out (driver.h).
//
// Layouts in device memory, the last index fastest; `stride` is a count of elements:
//   a matrix of weights  [rows][stride], stride = columns rounded up to ROW_ALIGNMENT elements, the
//                        padding zero; E4M3 with one float scale per row. Narrower types, and
//                        INT8: rows as units.h says, stride = columns rounded up to UNIT
//   keys                 [batch][kv_heads][context_padded][head_stride], head_stride = head_dim
//                        rounded up to ROW_ALIGNMENT, the padding zero
//   values               [batch][kv_heads][context_padded / VALUE_BLOCK][head_dim][VALUE_BLOCK]:
//                        transposed in blocks, so that a run of positions is contiguous along the
//                        direction of the sum; positions past the context are zero
//   rounded activations  [batch_padded][stride], BF16 or E4M3, the padding zero, and a float scale
//                        per row for E4M3
//   everything else between stages: float, without padding; or, where the next product takes it
//                        rounded to BF16, that (enum passed)
// context_padded is context rounded up to VALUE_BLOCK. E4M3 bytes are stored in the device's own
// format (platform.h, e4m3_held).
//
// A kernel's name is made of its parts, in the order given at its struct; elements are "bf16",
// "e4m3" and, for weights, the names of units.h. Every kernel first calls let_next_start(), a
// vector product with its last loads; and then, after whatever it can fetch early (weights
// only: nothing that another kernel writes), wait_for_previous().
#ifndef PERTOKEN_KERNELS_GPU_ARGUMENTS_H
#define PERTOKEN_KERNELS_GPU_ARGUMENTS_H

#include "kernels/gpu/even.h"
#include "kernels/gpu/stream.h"
#include "kernels/gpu/units.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

enum {
  ROW_ALIGNMENT = 64, // elements: a step of a matrix tile in E4M3, two in BF16
  VALUE_BLOCK = 64,   // positions

  VECTOR_THREADS = 512, // of a vector product's block
  VECTOR_BATCH = 4,     // the most rows of the batch that it takes
  MATRIX_WARPS = 8,     // of a matrix product's block
  MATRIX_ROWS = 32,     // of weights, per warp
  MATRIX_COLUMNS = 64,  // the most columns of the batch, per warp
  MATRIX_CHUNK = 256,   // the most elements of an activation row that are copied together
  // Where weights are copied into shared memory: steps of them on their way to a warp; bytes of all
  // of a block's; elements of an activation row that are copied together.
  MATRIX_DEPTH = 4,
  MATRIX_RING = MATRIX_WARPS * MATRIX_ROWS * MATRIX_DEPTH * 64,
  MATRIX_COPIED_CHUNK = 128,
  ATTENTION_WARPS = 4,
  ATTENTION_MERGED = 128, // elements of a head that fit when 16 columns are merged
  ATTENTION_SPLITS = 128, // at most: what the merge has room for
  ATTENTION_PARTIAL = 4,  // floats before a partial result's sums
  // Where keys and values are copied: row tiles, of 1 KiB, that a warp copies together, and how
  // often, before it uses the first. With two blocks on a multiprocessor 128 KB are on their way;
  // an H200 needs 48 (docs/gpu-model.md).
  ATTENTION_COPIED_TILES = 4,
  ATTENTION_COPIED_BATCHES = 4,
  ATTENTION_RING = ATTENTION_WARPS * ATTENTION_COPIED_BATCHES * ATTENTION_COPIED_TILES * 1024,
  ROUND_THREADS = 512, // of a block that rounds a row: its time is added to every product
  SMALL_THREADS = 256, // of a block of every other kernel
  SAMPLE_BLOCKS = 64   // per row of the batch
};

static inline size_t gpu_round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// How a product's or attention's results are stored for the product that they go into:
enum passed {
  PASSED_FLOAT,
  PASSED_BF16,  // rounded, as that one takes its activations: of the vectors' length
  PASSED_PAIRED // the same in the order of wgmma_paired_word
};

// Weights times activations, and what is done with the sums s[batch][rows]:
//   store   output[batch][row] = s
//   add     output[batch][row] += s, the residual stream; without_residual (vector): = s
//   swiglu  output[batch][row] = silu(s of weights, the gate) * (s of second, the up)
// And for families unlike a Llama, by the last fields, each of which may be NULL:
//   biased  output[batch][row] += s + bias, or without_residual = f(s + bias), where f is gelu if
//           `mlp` is MLP_GELU
//   gated   output[batch][row] = `mlp` applied to s + bias of weights and s + second_bias of
//           second
// What swiglu, gated and an up without a gate make is stored as `passed` says, by vector_* never
// paired.
//
// vector_WEIGHTS_ACTIVATIONS_PROLOGUE_EPILOGUE_BATCH, BATCH 1, 2 or 4: grid (any), block
// VECTOR_THREADS; each block takes an even share of adjacent rows, dealt to its warps one at a
// time, and rounds its own activations from `input` into shared memory:
//   norm    round(input / sqrt(mean(input^2) + epsilon) * norm)
//           with norm_bias (of families) round((input - mean(input)) / sqrt(variance(input) +
//           epsilon) * norm + norm_bias)
//   round   round(input), which has been done if `rounded`
// The combinations that exist: norm_store, round_add, norm_swiglu, and for families norm_biased,
// round_biased, norm_gated.
// Before a warp waits, it has requested its first window of weights (product_vector.h). The next
// kernel may start when the block's first warp has requested all of its weights.
//
// matrix_WEIGHTS_ACTIVATIONS_EPILOGUE_COLUMNS, COLUMNS 16, 32 or 64 per warp: grid (blocks of rows,
// splits), block MATRIX_WARPS warps of the device's width. `activations` are rounded beforehand (by
// round_*). batch_padded is batch rounded up to COLUMNS; warps form batch_padded / COLUMNS groups
// (1, 2 or 4), and a block covers MATRIX_ROWS * MATRIX_WARPS / groups rows. With swiglu half of
// MATRIX_ROWS are rows of the gate, and half the same rows of the up. Block y takes the y-th share
// of the columns, in whole chunks; with splits > 1 the sums go to `partials`, and the last block to
// arrive at counters[block x] adds them up in the order of the splits and resets the counter.
// Before a warp waits, it has requested the first steps of its rows. Weights in units take
// activations "bf16", COLUMNS 16 or 64, and with activation_scales also the activations' scales. Of
// an activation row, `buffers` times `chunk` elements are in shared memory. Where the device takes
// any chunk (gpu_device), it is a power of two, from a step of the tile, or a unit
// (matrix_least_chunk), to MATRIX_CHUNK, and there are 2 buffers. Otherwise weights are copied,
// except those in units, and chunk is MATRIX_COPIED_CHUNK, in 2 or, with E4M3, 3 buffers; with
// units it is MATRIX_CHUNK, in 2.
struct product_arguments {
  const void *weights, *second;        // [rows][stride]; second: up, otherwise NULL
  const float *scales, *second_scales; // [rows] for E4M3, INT8 and NVFP4, otherwise NULL
  int rows, columns, stride, batch;
  const float *input, *norm; // vector: [batch][input_stride]; [columns] with norm
  float epsilon;
  int rounded;                    // vector: `input` is BF16, a multiple of 8 in each vector
  const void *activations;        // matrix: [batch_padded][stride]
  const float *activation_scales; // [batch_padded] for E4M3; with units NULL if there are none
  int batch_padded, splits;
  float *partials;    // [splits][1, or 2 with swiglu: gate, up][batch_padded][rows]
  unsigned *counters; // [blocks of rows], zero before and after
  float *output;      // [batch][output_stride]
  int output_stride;
  int chunk;                       // matrix
  int without_residual;            // with several ranks: another rank adds the residual
  int mlp;                         // enum decode_mlp, for gate and up; otherwise 0
  int passed;                      // enum passed, of `output`
  const float *bias, *second_bias; // [rows]
  const float *norm_bias;          // vector: [columns]
  int input_stride;                // vector: `columns` or more
  int buffers;                     // matrix
  int expert_row_bytes; // of a step in one launch, if the weights are the first of experts'; or 0
};

// Shared memory of a vector product: the rounded activations, and room for the block's sums.
static inline size_t vector_shared_bytes(int stride, int batch, size_t element_bytes) {
  return gpu_round_up((size_t)stride * (size_t)batch * element_bytes, 16) + 1024;
}

// Of a matrix product: its chunks of activations, beside MATRIX_RING if its weights are copied;
// each column is padded by 16 bytes, so that adjacent columns are in different banks.
static inline size_t matrix_shared_bytes(int batch_padded, int chunk, int buffers,
                                         size_t element_bytes) {
  return (size_t)buffers * (size_t)batch_padded * ((size_t)chunk * element_bytes + 16);
}

// A step of the matrix tile: 64 bytes of a row of weights.
static inline int matrix_least_chunk(size_t weight_bytes) {
  return (int)(64 / weight_bytes);
}

// finish_EPILOGUE: processes the sums that the vendor's library has made from a prompt's
// activations and weights, as matrix_* does with its own, with all its epilogues. Grid (blocks of
// rows, batch), block SMALL_THREADS. It reads the fields of `product` that concern the sums:
// scales, biases, output.
struct finish_arguments {
  struct product_arguments product;
  const float *sums, *second_sums; // [batch][rows], of the codes of E4M3 as stored; of `second`
};

// A matrix in device memory as the copy engine of sm_90 brings it into shared memory: boxes of
// box_rows (at most 256) rows by WGMMA_STEP_BYTES bytes; what is beyond the matrix becomes zeros.
// launches/matrix.c says which matrix; gpu_driver.tensor_map (driver.h) turns it in place into what
// the kernel takes. `from` and row_bytes are multiples of 16.
struct tensor_map {
  union {
    struct {
      const void *from;
      uint64_t row_bytes;
      uint32_t rows, box_rows;
    } matrix;
    alignas(64) uint64_t encoded[16];
  };
};

// An RMS norm between two products by wgmma with BF16 activations. add also stores its output times
// the norm's gain, as the next product takes its activations, and for each column the sums of its
// output's squares over the rows of each warp; `rows` is a multiple of a step of these activations.
// The next product multiplies its sums by 1 / sqrt(mean square + epsilon).
struct wgmma_norm {
  const float *gain; // add: [rows]
  uint16_t *scaled;  // add: [batch_padded][rows], NULL: no norm follows
  float *squares;    // [batch_padded][sums]; NULL: there is no norm
  int sums;          // of a vector: wgmma_squares(its length)
  float epsilon;
};

// wgmma_WEIGHTS_ACTIVATIONS_EPILOGUE_COLUMNS, COLUMNS 16, 32, 64 or with BF16 weights 128 per
// warpgroup: computes what matrix_* does, on the matrix unit of sm_90a (product_wgmma.h). Grid
// (work.blocks * parts * beside), block WGMMA_THREADS, in clusters of parts * beside blocks. The
// warpgroups of a block are side by side in the rows, or with batch_padded = 2 COLUMNS in the
// columns; each covers WGMMA_TILES tiles of WGMMA_ROWS rows, with swiglu one of the gate and the
// same rows of the up. In a cluster, the blocks of rank part * beside and the next beside - 1 are
// side by side in the rows; together they are a tile of `work` (even.h), where a cluster counts as
// one block and takes an even range. A box of `activations` is the part of the batch_padded rows
// that one of these blocks brings to all of them. E4M3 x BF16 takes activations in the order of
// wgmma_paired_word, with rows padded to whole steps.
//
// wgmma_strips_WEIGHTS_ACTIVATIONS_EPILOGUE_64: the same for MAX_WGMMA_STRIPS times the rows: a
// tile of `work` is as many strips, each of them the rows above, one after the other. Its
// warpgroups are side by side in the rows, and it has neither parts nor blocks beside each other.
//
// With more than one part, a cluster's range is a whole tile (work.blocks = work.tiles, parts <=
// work.steps), and those of each part do a part of its steps. Otherwise, if clusters share tiles,
// `partials` is [2 work.blocks][beside][wgmma_partial_floats(COLUMNS, strips)], at a multiple of
// 16, and `counters` [work.blocks][beside][WGMMA_GROUPS * 4], a counter for each warp at each node,
// zero before and after. `splits` is not read.
struct wgmma_arguments {
  struct tensor_map weights, activations, second; // second only with swiglu
  struct product_arguments product;               // of all except `activations`
  struct even_work work;
  int stages; // of weights in shared memory, MIN_WGMMA_STAGES or more
  int slots;  // for a step's activations there: wgmma_slots
  int beside; // blocks of a cluster side by side in the rows, 1 or MAX_WGMMA_BESIDE
  int parts;  // of a tile's steps; parts * beside <= MAX_CLUSTER
  struct wgmma_norm norm;
};

enum {
  WGMMA_GROUPS = 2, // warpgroups of 4 warps that multiply
  // And one that fetches what they multiply, and leaves them its registers.
  WGMMA_THREADS = WGMMA_GROUPS * 128 + 128,
  WGMMA_TILES = 2,
  WGMMA_ROWS = 64,
  WGMMA_STEP_BYTES = 128, // of a row: the width of the widest swizzle
  MIN_WGMMA_STAGES = 3,
  MAX_WGMMA_STAGES = 9,
  MAX_WGMMA_STRIPS = 2,   // for the same activations: as many sums as registers hold
  MAX_WGMMA_BESIDE = 2,   // multiprocessors are in pairs in every part of a device
  MAX_CLUSTER = 8,        // blocks, on every device with clusters (CUDA C++ Programming Guide)
  WGMMA_ALIGNMENT = 1024, // of a stage: where the swizzle's pattern begins
  // In shared memory: two for each stage, and two for each warp that multiplies; and floats, what a
  // norm finds for each column of the batch.
  WGMMA_BARRIERS = 2 * MAX_WGMMA_STAGES + 2 * WGMMA_GROUPS * 4,
  WGMMA_FOUND = WGMMA_GROUPS * 128,
  WGMMA_NORM_COLUMNS = 64 // of add, at most, if a norm follows: a lane has no registers for more
};

// The most columns of the batch per warpgroup.
static inline int wgmma_max_columns(size_t weight_bytes) {
  return weight_bytes == 2 ? 128 : 64;
}

// The columns of wgmma_strips_*.
enum { WGMMA_STRIPS_COLUMNS = 64 };

// Tiles of weights in a stage: for each warpgroup its own, or shared by all if the batch is split
// across two.
static inline int wgmma_tiles(int batch_padded, int columns) {
  return batch_padded > columns ? WGMMA_TILES : WGMMA_GROUPS * WGMMA_TILES;
}

// The sums of a tile, or of a block's piece of one.
static inline size_t wgmma_partial_floats(int columns, int strips) {
  return (size_t)strips * WGMMA_GROUPS * WGMMA_TILES * WGMMA_ROWS * (size_t)columns;
}

// Places for a step's activations beside so many stages of weights: one each, or with strips as
// many as product_wgmma.h says.
static inline int wgmma_slots(int stages, int strips) {
  return stages / strips + strips - 1;
}

// With barriers of 8 bytes, and room to align the first stage.
static inline size_t wgmma_shared_bytes(int batch_padded, int columns, size_t weight_bytes,
                                        size_t activation_bytes, int stages, int strips) {
  const size_t a = (size_t)wgmma_tiles(batch_padded, columns) * WGMMA_ROWS * (size_t)stages;
  const size_t b = (size_t)batch_padded * (activation_bytes / weight_bytes) *
                   (size_t)wgmma_slots(stages, strips);
  return WGMMA_ALIGNMENT + (a + b) * WGMMA_STEP_BYTES + (size_t)WGMMA_BARRIERS * 8 +
         (size_t)WGMMA_FOUND * sizeof(float);
}

// Sums of squares of a vector between two products: of each warp's rows.
static inline int wgmma_squares(int rows) {
  return (rows + WGMMA_TILES * WGMMA_ROWS - 1) / (WGMMA_TILES * WGMMA_ROWS) * 4;
}

// Where the pair of elements 2 word, 2 word + 1 of an activation row is stored, counted in pairs.
// With this order the 16 bytes of E4M3 weights that a lane reads at a time match what the matrix
// unit wants from it. word = 64 block + 8 (2 t + h) + 2 s + j: t the lane's place among the four of
// a row, s the instruction of half h of the step, j which half of its 16 elements.
static inline int wgmma_paired_word(int word) {
  const int chunk = word / 8 % 8;
  return word / 64 * 64 + chunk % 2 * 32 + word / 2 % 4 * 8 + word % 2 * 4 + chunk / 2;
}

// round_ACTIVATIONS_PROLOGUE (norm, layer or round; layer: the norm with norm_bias): does for a
// matrix product what the vector product does for itself. Grid (batch_padded, heads), block
// ROUND_THREADS: one row each; rows from `batch` on are written as zeros with scale 1. With more
// than one head, which have no scales, a row's parts go to one matrix each. ACTIVATIONS "paired":
// BF16 in the order of wgmma_paired_word, stride a multiple of 128; "e4m3_as_bf16" and
// "int8_as_bf16": rounded to those types and written as the values of the codes.
struct round_arguments {
  const float *input, *norm; // [batch][input_stride]; [columns] with norm
  float epsilon;
  int columns, stride, batch;
  void *output;           // [heads][batch_padded][stride]
  float *scales;          // [batch_padded]
  const float *norm_bias; // [columns] with layer
  int input_stride;       // `columns` or more
  int input_step;         // from one head to the next
};

// embed_HEAD: x[batch][hidden] = embedding[token] (times its scale, if any). Grid (batch), block
// SMALL_THREADS.
// SMALL_THREADS.
struct embed_arguments {
  const void *embedding; // [vocab][stride]
  const float *scales;   // [vocab] for E4M3, INT8 and NVFP4
  const int *tokens;     // [batch]
  int hidden, stride;
  float *x;
};

// A layer of experts is computed by `route`, by expert_* for gate and up and for down, and by
// `combine`; the router itself is a plain product. A batch row and an expert that it is routed to
// form a pair. What an expert's product reads or writes for a row is in a slot. Work is dealt out
// in items, an expert and `count` slots from `first` on:
//   vector kernels: an item for each expert touched, in their order; the i-th has the slots from
//     batch * i on, one for each batch row, whether the row goes to the expert or not
//   matrix kernels: the pairs, expert by expert and in the order of rows, have a slot each; an
//     expert has as many items as its pairs fill, of at most `columns` slots
struct expert_item {
  int expert, first, count, unused;
};

// route: grid (batch), block SMALL_THREADS, shared route_shared_bytes. The last block to arrive at
// counters[0] makes the list of items, adds the number of experts touched to `touched`, and adds
// one to `steps` if this is the last layer of experts. Of the batch, the rows behind the first
// `before` are `positions` of a prompt (kernels/routing.h), and then come further rows of the
// table.
struct route_arguments {
  const float *r, *bias; // [batch][count]; [count] or NULL
  const uint16_t *table; // forced: [ROUTING_STEPS][layers][table_batch][chosen], otherwise NULL
  int table_batch;
  int before, positions;
  int prompt, first; // the prompt's row of the table, and its first position here
  const int *step;   // [1], the number of the step, which `sample` advances
  int layer, layers, last;
  int batch, count, chosen;
  int router, groups, kept_groups; // enum decode_router; groups 0: all experts are one
  float scale;                     // of the weights
  int columns;                     // matrix: slots in an item; vector: 0
  int *experts;                    // [batch][chosen], largest weight first
  float *weights;                  // [batch][chosen]
  int *slots;                      // [batch][chosen]
  int *rows;                       // matrix: [batch * chosen], the row of each slot
  struct expert_item *items;
  int *item_count, *touched, *steps; // [1]
  unsigned *counters;
};

static inline size_t route_shared_bytes(int batch, int count, int chosen) {
  const size_t row = 3 * (size_t)count + 2 * (size_t)chosen;
  const size_t all = (size_t)count + ((size_t)batch * (size_t)chosen + 1) / 2;
  return gpu_round_up((row > all ? row : all) * 4, 16);
}

// gather: copies rounded activations row by row to the slots of the matrix kernels or of an expert
// that the vendor's library takes, with their scales. Grid (slots, plus as many as an item or the
// library may read beyond its own, which become zeros with scale 1), block SMALL_THREADS.
struct gather_arguments {
  const void *from;         // [batch][stride]
  const float *from_scales; // [batch] for what is rounded to E4M3 or INT8, otherwise NULL
  const int *rows;          // [slots]
  int slots, row_bytes;     // a multiple of 16
  void *to;
  float *to_scales;
};

// expert_vector_*: vector_* for an item's expert, in the combinations norm_gated and round_biased.
// expert_matrix_*: matrix_* for it, with the epilogues gated and biased, COLUMNS 16 or 64, without
// splits. Both are without_residual. Grid (that of the plain kernel, 1, items at most). Matrices,
// scales and biases are stored expert by expert; `product` describes expert 0 and slot 0, with
// batch_padded the most columns of an item. Input after a norm is [batch][columns]; other input,
// activations and output are [slots].
struct expert_arguments {
  struct product_arguments product;
  const struct expert_item *items; // or a run within the list, which the grid does not exceed
  const int *item_count;           // of the whole list
};

// combine: x[row] += the sum over the row's experts, in their order, of weight * sums[slot]; with
// without_residual, = that sum. Grid (blocks of hidden, batch), block SMALL_THREADS.
struct combine_arguments {
  const float *sums;    // [slots][hidden]
  const int *slots;     // [batch][chosen]
  const float *weights; // [batch][chosen]
  int chosen, hidden;
  int without_residual; // as of a product
  float *x;             // [batch][hidden]
};

// attention_KV_HEADDIM, HEADDIM 64, 128 or 256: the head_dim padded. Grid (splits, kv_heads *
// head_groups, batch), block ATTENTION_WARPS warps. A head group is at most TILE_COLUMNS
// (matrix_tile) of the heads / kv_heads query heads that read one kv head; head_groups is the
// number of groups that takes. `angles` rotate the queries and the new key. Keys and values of the
// new position, context - 1, are rounded and written to the cache by every block that reads them,
// all with the same bits. Each split takes a share of the blocks of VALUE_BLOCK positions; with
// splits > 1 the partial results go to `partials`, and the last block to arrive at
// counters[batch][kv head and group] merges them. Queries and softmax weights enter the products as
// BF16. The output is stored as `passed` says.
//
// attention_KV_family_HEADDIM: the same, with what only some families have: the last fields, each
// of which is 0 or NULL if a layer does not have it. It reads no block before the one with `first`.
struct attention_arguments {
  const float *qkv;    // [batch][heads * head_dim + 2 * kv_heads * head_dim]: q, k, v
  const float *angles; // [head_dim / 2][2]: cosine and sine at position context - 1
  void *keys, *values; // of this layer, as above
  int batch, heads, kv_heads, head_groups, head_dim, head_stride, context, context_padded, splits;
  float *partials; // [batch][kv_heads * head_groups][splits][TILE_COLUMNS][ATTENTION_PARTIAL +
                   // HEADDIM]: the largest score, the sum of exponentials, two unused, the weighted
                   // values
  unsigned *counters;
  float *output;                // [batch][heads * head_dim]
  const float *q_norm, *k_norm; // [head_dim], both or neither
  const float *sinks;           // [heads]
  float epsilon;                // of the norms
  float score_scale;            // 1 for none
  int first;                    // first position that is attended to
  int interleaved;              // whether adjacent elements form the rope pairs
  int window;                   // for a prompt: positions attended to, 1 or more
  int passed;                   // enum passed
};

// turn_KV: for a prompt's positions, rotates the new queries in place and the keys by their
// position's angles, each after its norm if there is one, and writes rounded keys and values to the
// row's cache. Grid (positions, blocks of heads of all three), block SMALL_THREADS, one warp per
// head.
//
// attention_KV_prompt_HEADDIM, run after it: computes what attention_KV_family_HEADDIM does, for
// the positions `first` to first + batch - 1 of one row: each attends to itself and those before,
// at most a window. Grid (blocks of columns, kv_heads), one split; a column is a position and one
// of the query heads of a kv head, TILE_COLUMNS per block. `context`, `angles` and norms are not
// read.
struct turn_arguments {
  float *qkv;                   // [positions][...] as attention's
  const float *angles;          // [positions][head_dim / 2][2]
  void *keys, *values;          // of this layer and row
  const float *q_norm, *k_norm; // [head_dim], both or neither
  float epsilon;
  int first; // position
  int heads, kv_heads, head_dim, head_stride, context_padded, interleaved;
};

// Shared memory of attention for a padded head_dim of at most ATTENTION_MERGED and a tile of that
// many columns.
static inline size_t attention_tile_shared_bytes(int head_dim_padded, int columns) {
  const size_t head_dim = (size_t)head_dim_padded;
  const size_t queries = head_dim * 2 + 16, weights = ATTENTION_WARPS * (VALUE_BLOCK * 2 + 16);
  const size_t merge = ATTENTION_WARPS * (head_dim + 2) * 4;
  return (size_t)columns * (queries + weights + merge);
}

// For a padded head_dim. Where keys and values are copied, the tile has 8 columns, and warps merge
// where their copies were. Otherwise for the widest tile (16 columns), whose warps merge a head of
// 256 in two rounds; narrower tiles fit in the same room in one round.
static inline size_t attention_shared_bytes(int head_dim_padded, int copied) {
  const int merged = head_dim_padded < ATTENTION_MERGED ? head_dim_padded : ATTENTION_MERGED;
  const size_t beyond = 16 * 2 * (size_t)(head_dim_padded - merged); // of the queries
  const size_t queries = (size_t)head_dim_padded * 2 + 16;
  const size_t weights = ATTENTION_WARPS * (VALUE_BLOCK * 2 + 16);
  return copied ? 8 * (queries + weights) + ATTENTION_RING
                : attention_tile_shared_bytes(merged, 16) + beyond;
}

// heads_vector_bf16_bf16_round_store_BATCH, heads_matrix_bf16_bf16_store_COLUMNS, COLUMNS 16 or 64:
// compute what vector_* and matrix_* do, with a separate matrix for each head: grid (that of the
// plain kernel, 1, heads). The matrices are stored head by head; `product` describes head 0,
// without splits.
struct heads_arguments {
  struct product_arguments product;
  int input_step, output_step; // elements from one head to the next: vector; both
  uint64_t activations_step;   // bytes: matrix
};

// latent_KV: latent attention, between k_b and v_b. Grid (splits, head_groups, batch), block
// LATENT_WARPS warps. A position's entry is `rank` elements that are both keys and values and
// rope_dim elements that are keys only, the same for all heads; a head group is at most
// LATENT_HEADS of these. The entry of position context - 1 is normalized, rotated, rounded and
// written by every block that reads it, all with the same bits. Splits are divided and merged like
// those of attention_*.
//
// latent_KV_entries: for the positions `first` to first + batch - 1 of a prompt, writes their
// entries to the row's cache. Grid (positions), block SMALL_THREADS.
//
// latent_KV_prompt, run after it: computes what latent_KV does for these positions: each attends to
// itself and those before. Grid (blocks of columns), block LATENT_WARPS warps; a column is a
// position and a head, LATENT_HEADS per block, each of which reads the cache up to the last of its
// positions. For both `latents` begins at the row, `batch` counts positions, and each has its own
// angles, [head_dim] apart; context, splits, partials and counters are not read.
//
// latents: [batch][context_padded][stride], stride = rank + rope_dim rounded up to ROW_ALIGNMENT,
// at most LATENT_STRIDE, and rank at most LATENT_RANK; the padding zero.
struct latent_arguments {
  const float *queries;  // [batch][query_stride], head_dim per head; the last elements are rotated
  const float *absorbed; // [batch][heads][rank]: k_b times the first elements
  const float *entries;  // [batch][entry_stride], the new ones
  const float *norm;     // [rank], of these
  const float *angles;   // [rope_dim / 2][2]: cosine and sine at position context - 1
  void *latents;         // of this layer
  int query_stride, entry_stride, heads, head_groups, head_dim, rank, rope_dim, stride;
  int context, context_padded, splits, interleaved;
  float epsilon;     // of the norm
  float score_scale; // 1 for none
  float *partials;   // [batch][head_groups][splits][LATENT_HEADS][ATTENTION_PARTIAL + LATENT_RANK],
                     // as in attention
  unsigned *counters;
  float *output;    // [batch][heads][rank]
  int batch, first; // of a prompt
};

enum {
  LATENT_WARPS = 4,
  LATENT_HEADS = 16,
  LATENT_UNIT = 32, // positions
  LATENT_RANK = 512,
  LATENT_STRIDE = 576,
  LATENT_SCORES = 40,      // floats between heads' scores in shared memory: for the banks
  LATENT_WEIGHT_BYTES = 80 // between heads' weights: likewise
};

static inline size_t latent_query_bytes(int stride) {
  return (size_t)stride * 2 + 16;
}
static inline size_t latent_value_bytes(int rank) {
  return gpu_round_up((size_t)rank, 16) * LATENT_UNIT * 2;
}

// Queries, a unit's values, each warp's part of its scores, their weights, and three floats per
// head; merging the splits needs less.
static inline size_t latent_shared_bytes(int stride, int rank) {
  const size_t heads = LATENT_HEADS, scores = LATENT_WARPS * heads * LATENT_SCORES * 4;
  return heads * latent_query_bytes(stride) + latent_value_bytes(rank) + scores +
         heads * LATENT_WEIGHT_BYTES + heads * 3 * 4;
}

// sample: tokens[row] = index of the largest logit, the lowest of equals. Grid (SAMPLE_BLOCKS,
// batch), block SMALL_THREADS; the last block to arrive at counters[row] decides and resets it.
// With `keys`, on a rank whose logits begin at index `first`, it writes a 64-bit key instead of the
// token; the better the candidate, the larger the key. Its high half is the logit's bits, mapped so
// that they order as unsigned numbers, its low half ~index; 0 if no logit is a number. The largest
// key of all ranks determines the token. With `step`, adds one to it.
struct sample_arguments {
  const float *logits; // [batch][vocab]
  int vocab;
  float *best;        // [batch][SAMPLE_BLOCKS]
  int *best_index;    // [batch][SAMPLE_BLOCKS]
  unsigned *counters; // [batch]
  int *tokens;
  int first;
  uint64_t *keys; // [batch], or NULL
  int *step;      // [1], or NULL
};

// sample_key: tokens[row] = the index in keys[row], or 0 for none. Grid (1), block SMALL_THREADS.
struct sample_key_arguments {
  const uint64_t *keys; // [batch]
  int batch;
  int *tokens;
};

// all_reduce_sum (floats) and all_reduce_max (unsigned 64-bit numbers): not kernels of ours, but
// launches that a driver passes to the collective library: `memory` of each rank becomes, element
// by element, the sum or the maximum over all ranks. Grid and block are not used.
#define ALL_REDUCE_SUM "all_reduce_sum"
#define ALL_REDUCE_MAX "all_reduce_max"
struct all_reduce_arguments {
  void *memory; // [count]
  uint64_t count;
};

// streaming_BATCH, BATCH 1, 2 or 4: a whole step in one launch, for at most that many batch rows,
// with activations and head in BF16, heads of up to 128 and any weights, or without slots some
// (units.h). Grid (as many blocks as are resident at a time), block VECTOR_THREADS.
// The blocks run the stages one after another, each as its own kernel would. The grid of a stage is
// dealt out to them. Between two stages they wait for each other at `arrived`, which is zero before
// and after, or each for those floats that it needs, by their marks (device/machine/passed.h).
// With slots weights do not wait: each warp has `slots` slots of shared memory, where the units
// that stream.h gives it of each of the `products` in turn arrive while it does something else; and
// a product's grid has as many blocks as there are. So has one with weights in units without slots,
// too, unless of experts: its warps divide it likewise. A product of experts has a grid for each
// item that there can be. The grids of those that there are, are dealt out to the blocks; with
// slots each block takes its share of every item. Arguments are those of expert 0 and slot 0;
// expert_row_bytes are its matrices', and 0 for other products. With slots its weights are under
// way once `route` has been done, by every block for itself. Besides the shared memory of its
// launch, a block takes at most STREAMING_SHARED bytes.
enum streaming_kind {
  STREAMING_CLEAR, // of what stages pass on: the first, after which all blocks wait for each other
  STREAMING_EMBED,
  STREAMING_STORE_BF16, // a product, named by the element of its weights
  STREAMING_STORE_E4M3,
  STREAMING_ADD_BF16,
  STREAMING_ADD_E4M3,
  STREAMING_SWIGLU_BF16,
  STREAMING_SWIGLU_E4M3,
#define STREAMING_OF(name, ELEMENT, code_bytes, beside_bytes) STREAMING_##ELEMENT,
  GPU_UNIT_ELEMENTS(STREAMING_OF) // likewise, of any kind
#undef STREAMING_OF
  STREAMING_ATTENTION_BF16_64, // named by the element of the cache, and the longest heads
  STREAMING_ATTENTION_E4M3_64,
  STREAMING_ATTENTION_BF16_128,
  STREAMING_ATTENTION_E4M3_128,
  STREAMING_ROUTE,
  STREAMING_COMBINE,
  STREAMING_SAMPLE
};
enum streaming_mark { MARK_ZERO, MARK_ONE, MARK_NONE }; // a float's lowest bit, or not marked
enum { STREAMING_SHARED = 352 };
struct streaming_clear {
  void *passed; // [pieces] of 16 bytes
  int pieces;
};
struct streaming_route {
  struct route_arguments route;
  int products; // of the step, as far as this choice lets their weights be known
};
// Short, so that shared memory has room for as many slots as possible.
struct streaming_stage {
  short kind;
  short grid[2];  // axis 2: blocks / grid[0] / grid[1]
  short barriers; // begins after all blocks have arrived so many times; 0: without waiting for that
  short arrivals; // of a block, the one at the stage's end included; 0: there it does not arrive
  signed char awaits, marks; // of the floats it is passed, and of those it passes on
  int blocks;
  union {
    struct product_arguments product;
    struct embed_arguments embed;
    struct attention_arguments attention;
    struct streaming_route route;
    struct combine_arguments combine;
    struct sample_arguments sample;
    struct streaming_clear clear;
    unsigned char bytes[208]; // a multiple of 16
  } arguments;
};
struct streaming_arguments {
  const struct streaming_stage *stages;  // [count]
  unsigned *arrived;                     // [1]
  const struct stream_product *products; // in the order of the stages, of experts one for each item
  int count;
  int product_count; // of these, the ones before the first of experts
  // Where in the launch's shared memory sums begin, with room for those of `pairs` pairs of rows
  // and of one more for each warp; where the slots do, followed, for each of them, by what belongs
  // to its codes, `beside` bytes for each of two rows, then by 8 bytes for each, and by
  // STREAM_STATE for each warp; and where the number of a layer's items does, followed by their
  // experts.
  int sums, pairs, ring, experts;
  short slots, beside;
  short flying; // of a warp's slots, the most whose units are on their way, where that can be told
};

// Shared memory of these sums, and of slots and states, for `warps` warps and at most `rows` batch
// rows.
static inline size_t streaming_sums_bytes(int pairs, int warps, int rows) {
  return gpu_round_up(2 * sizeof(float) * (size_t)(pairs + warps) * (size_t)rows, 128);
}
// Of the experts of so many items, and of their number.
static inline size_t streaming_experts_bytes(int items) {
  return items > 0 ? gpu_round_up(sizeof(int) * ((size_t)items + 1), 128) : 0;
}
static inline size_t streaming_ring_bytes(int slots, int warps, int beside) {
  return (size_t)warps * ((size_t)slots * (STREAM_SLOT + 2 * (size_t)beside + 8) + STREAM_STATE);
}

// Of the activations of a product with weights in units: each padded by 16 bytes, and as many as
// the columns of the device's tiles, which a quarter of its warp is. A tile takes so many units of
// a row, or as many as stream.h's unit has.
static inline size_t streaming_units_bytes(int stride, int batch, int warp, int code_bytes) {
  const int columns = warp / 4, own = STREAM_BYTES / code_bytes;
  const int side = own < columns ? own : columns;
  const int units = (int)gpu_round_up((size_t)(stride / UNIT), (size_t)side) + columns - side;
  return vector_shared_bytes(units * UNIT, batch, 2) + (size_t)(units * batch) * 16;
}

// fill_ELEMENT: the values of weights.h. Grid (any), block SMALL_THREADS; elements are dealt out in
// grid strides. ELEMENT is bf16, e4m3 or f32 (base + q * scale: base 1 for norms, 0 for biases and
// sinks).
//   FILL_MATRIX  destination [rows][stride], index = row * columns + column
//   FILL_TURNED  the same, for matrices [columns][head_dim] transposed, one after another
//   FILL_KEYS, FILL_VALUES: destination as above; rows = batch * context, columns = kv_heads *
//                head_dim, index = row * columns + column; no scale is held: value = q * scale
// For a rank's part of a tensor (share.h), index = first + row * (columns + beside) + column.
// E4M3 weights store q itself, rounded; keys and values in E4M3 store q * scale, rounded.
enum fill_layout { FILL_MATRIX, FILL_TURNED, FILL_KEYS, FILL_VALUES };
struct fill_arguments {
  void *destination;
  int layout, rows, columns, stride;
  int context, context_padded, kv_heads, head_dim; // of the cache; the last also for FILL_TURNED
  uint64_t first, beside;                          // 0 for a whole tensor
  uint64_t key;                                    // weights_key
  float scale, base;
  const int8_t *bell; // weights_bell on the device [256]
};

// fill_units: the same for rows of units. Grid (any), block SMALL_THREADS; words are dealt out in
// grid strides.
enum { FILL_LARGEST = 92 }; // of weights_bell
struct fill_table {         // quantised.h; for INT8 the row of largest 0 has its codes
  uint8_t codes[FILL_LARGEST + 1][256];
  uint16_t scales[FILL_LARGEST + 1];
  uint16_t padding;
};
struct fill_units_arguments {
  void *destination;
  int element, block; // enum element; consecutive elements with a scale, or 0
  int rows, columns, stride;
  int code_bytes, beside_bytes; // of a unit
  uint64_t first, beside, key;  // as above
  const struct fill_table *table;
  const int8_t *bell;
};

// fill_value: `count` floats of `value`: scales per row. Grid (any), block SMALL_THREADS.
struct fill_value_arguments {
  float *destination;
  uint64_t count;
  float value;
};

// read_VARIANT (0: a grid's stride of 16 bytes, four in flight; 1: eight in flight; 2: one
// contiguous share per block): reads `bytes`, a multiple of 64 KiB, once. Each warp writes the sum
// of the words it read, so that the reads cannot be optimized away. Grid (any), block
// VECTOR_THREADS, as many blocks as READ_VARIANT_BLOCKS fit a multiprocessor: more would run in two
// waves.
enum { READ_0_BLOCKS = 3, READ_1_BLOCKS = 2, READ_2_BLOCKS = 2 };
struct read_arguments {
  const void *from;
  uint64_t bytes;
  uint32_t *sums; // [warps of the grid]
};

// rate_WEIGHTS_ACTIVATIONS: `repeats` tile steps per warp on values in registers and shared memory,
// two row tiles against one column tile each. Grid (any), block MATRIX_WARPS warps.
struct rate_arguments {
  int repeats;
  float *out; // [grid * block], so that the work cannot be optimized away
};

// tile_check_WEIGHTS_ACTIVATIONS: one warp multiplies a[16][step] by b[TILE_COLUMNS][step], one
// step of the matrix tile, and writes c[16][16], with columns from TILE_COLUMNS on as zero, to the
// row and column that the tile gives for each accumulator. Small integers make every sum exact.
struct tile_check_arguments {
  const void *a, *b; // rows of 64 elements in memory; BF16 x BF16 uses 32
  float *c;
};

#endif
