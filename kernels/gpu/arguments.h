// arguments: what the host tells each kernel: plain C structs, one per kernel, passed by value.
//
// The kernels are one source for CUDA, HIP and the host emulator (kernels.cu); the host side makes
// a plan of launches from a request (plan.h) and a driver carries them out (driver.h).
//
// How things lie in device memory, the last index fastest; `stride` is a count of elements:
//   a matrix of weights  [rows][stride], stride = columns rounded up to ROW_ALIGNMENT elements, the
//                        padding zero; E4M3 with one float scale per row
//   keys                 [batch][kv_heads][context_padded][head_stride], head_stride = head_dim
//                        rounded up to ROW_ALIGNMENT, the padding zero
//   values               [batch][kv_heads][context_padded / VALUE_BLOCK][head_dim][VALUE_BLOCK]:
//                        transposed in blocks, so that a run of positions lies together, which is
//                        the direction that is summed; positions past the context are zero
//   rounded activations  [batch_padded][stride], BF16 or E4M3, the padding zero, and a float scale
//                        per row for E4M3
//   everything else between stages: float, without padding
// context_padded is context rounded up to VALUE_BLOCK. E4M3 bytes are held as the device wants them
// (platform.h, e4m3_held).
//
// A kernel's name is made of its parts, in the order given beside its struct; elements are "bf16"
// and "e4m3". Every kernel first calls let_next_start(), a vector product when `start_before` says
// so, and, after whatever it can fetch beforehand (weights only: nothing that another kernel
// writes), wait_for_previous().
#ifndef PERTOKEN_KERNELS_GPU_ARGUMENTS_H
#define PERTOKEN_KERNELS_GPU_ARGUMENTS_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

enum {
  ROW_ALIGNMENT = 64, // elements: a step of a matrix tile in E4M3, two in BF16
  VALUE_BLOCK = 64,   // positions

  VECTOR_THREADS = 512, // of a block of a vector product
  VECTOR_BATCH = 4,     // most rows of the batch that it takes
  MATRIX_WARPS = 8,     // of a block of a matrix product
  MATRIX_ROWS = 32,     // of weights per warp
  MATRIX_COLUMNS = 64,  // most columns of the batch per warp
  MATRIX_CHUNK = 256,   // most elements of a row of activations in shared memory at a time, twice
  ATTENTION_WARPS = 4,
  ATTENTION_MERGED = 128, // elements of a head for which there is room when 16 columns are merged
  ATTENTION_SPLITS = 128, // at most: what the merge has room for
  ROUND_THREADS = 512,    // of a block that rounds a row: what it takes adds to every product
  SMALL_THREADS = 256,    // of a block of every other kernel
  SAMPLE_BLOCKS = 64      // per row of the batch
};

static inline size_t gpu_round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Weights times activations, and what becomes of the sums s[batch][rows]:
//   store   output[batch][row] = s
//   add     output[batch][row] += s, the residual stream; without_residual (vector): = s
//   swiglu  output[batch][row] = silu(s of weights, the gate) * (s of second, the up)
//
// vector_WEIGHTS_ACTIVATIONS_PROLOGUE_EPILOGUE_BATCH, BATCH 1, 2 or 4: grid (any), block
// VECTOR_THREADS; each block takes an even share of neighbouring rows, dealt to its warps one at a
// time, and makes its own rounded activations in shared memory from `input`:
//   norm    round(input / sqrt(mean(input^2) + epsilon) * norm)
//   round   round(input)
// The combinations that exist: norm_store, round_add, norm_swiglu.
// Before it waits, a warp has asked for `ahead` windows of its weights (product_vector.h), the
// first into registers, the others into L2. The next kernel may start when the block's first warp
// has loaded all of its weights but those of its last `start_before` rows; with `rows`, at once.
//
// matrix_WEIGHTS_ACTIVATIONS_EPILOGUE_COLUMNS, COLUMNS 16, 32 or 64 per warp: grid (blocks of rows,
// splits), block MATRIX_WARPS warps of the device's width. `activations` are rounded beforehand (by
// round_*). batch_padded is batch rounded up to COLUMNS; warps form batch_padded / COLUMNS groups
// (1, 2 or 4), a block covers MATRIX_ROWS * MATRIX_WARPS / groups rows. With swiglu half of
// MATRIX_ROWS are rows of the gate, half the same rows of the up. Block y takes the y-th share of
// the columns, in whole chunks; with splits > 1 the sums go to `partials`, and the last block to
// arrive at counters[block x] adds them up in the order of the splits and resets the counter.
// Before it waits, a warp has asked for `ahead` times MATRIX_CHUNK elements of each of its rows
// into L2, beside the first of them in registers. `chunk`, the elements of a row of activations in
// shared memory at a time, is MATRIX_CHUNK, or where the device takes any (gpu_device) a smaller
// power of two, down to a step of the tile: matrix_least_chunk.
struct product_arguments {
  const void *weights, *second;        // [rows][stride]; second: up, else NULL
  const float *scales, *second_scales; // [rows] for E4M3, else NULL
  int rows, columns, stride, batch;
  const float *input, *norm; // vector: [batch][columns]; [columns] with norm
  float epsilon;
  const void *activations;        // matrix: [batch_padded][stride]
  const float *activation_scales; // [batch_padded] for E4M3
  int batch_padded, splits;
  float *partials;    // [splits][1, or 2 with swiglu: gate, up][batch_padded][rows]
  unsigned *counters; // [blocks of rows], zero before and after
  float *output;      // [batch][output_stride]
  int output_stride;
  int chunk;            // matrix
  int without_residual; // of one rank among several, whose parts are added up: another brings it
  int ahead;            // vector and matrix, each in its own measure
  int start_before;     // vector
};

// Shared memory of a vector product: the rounded activations, and room for the block's sums.
static inline size_t vector_shared_bytes(int stride, int batch, size_t element_bytes) {
  return gpu_round_up((size_t)stride * (size_t)batch * element_bytes, 16) + 1024;
}

// Of a matrix product: two chunks of activations; each column is 16 bytes longer than its chunk, so
// that neighbouring columns lie in different banks.
static inline size_t matrix_shared_bytes(int batch_padded, int chunk, size_t element_bytes) {
  return 2 * (size_t)batch_padded * ((size_t)chunk * element_bytes + 16);
}

// A step of the matrix tile: 64 bytes of a row of weights.
static inline int matrix_least_chunk(size_t weight_bytes) {
  return (int)(64 / weight_bytes);
}

// A matrix in device memory as the copy engine of sm_90 brings it into shared memory: boxes of
// box_rows (at most 256) rows by WGMMA_STEP_BYTES bytes, what lies beyond the matrix as zeros.
// launches.c says which matrix; gpu_driver.tensor_map (driver.h) makes what the kernel takes of it,
// in place. `from` and row_bytes are multiples of 16.
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

// wgmma_WEIGHTS_ACTIVATIONS_EPILOGUE_COLUMNS, COLUMNS 16, 32, 64 or with BF16 weights 128 per
// warpgroup: what matrix_* computes, on the matrix unit of sm_90a (product_wgmma.h). Grid (blocks
// of rows, splits), block WGMMA_THREADS. The warpgroups of a block lie side by side in the rows, or
// with batch_padded = 2 COLUMNS in the columns; each covers WGMMA_TILES tiles of WGMMA_ROWS rows,
// with swiglu one of the gate and the same rows of the up. Block y takes the y-th share of the
// steps, of WGMMA_STEP_BYTES of a row of weights each. E4M3 x BF16 takes activations in the order
// of wgmma_paired_word, their rows padded to whole steps.
struct wgmma_arguments {
  struct tensor_map weights, activations, second; // second only with swiglu
  struct product_arguments product;               // all but `activations`
  int stages;                                     // of shared memory, MIN_WGMMA_STAGES or more
};

enum {
  WGMMA_GROUPS = 2,                        // warpgroups of 4 warps that multiply
  WGMMA_THREADS = WGMMA_GROUPS * 128 + 32, // and a warp that brings what they multiply
  WGMMA_TILES = 2,
  WGMMA_ROWS = 64,
  WGMMA_STEP_BYTES = 128, // of a row, the width of the widest swizzle
  MIN_WGMMA_STAGES = 3,
  MAX_WGMMA_STAGES = 6,
  WGMMA_ALIGNMENT = 1024 // of a stage: where the swizzle's pattern begins
};

// Most columns of the batch per warpgroup.
static inline int wgmma_max_columns(size_t weight_bytes) {
  return weight_bytes == 2 ? 128 : 64;
}

// Tiles of weights in a stage: of every warpgroup, or of all of them where the batch takes two side
// by side.
static inline int wgmma_tiles(int batch_padded, int columns) {
  return batch_padded > columns ? WGMMA_TILES : WGMMA_GROUPS * WGMMA_TILES;
}

static inline size_t wgmma_stage_bytes(int batch_padded, int columns, size_t weight_bytes,
                                       size_t activation_bytes) {
  const size_t a = (size_t)wgmma_tiles(batch_padded, columns) * WGMMA_ROWS;
  const size_t b = (size_t)batch_padded * (activation_bytes / weight_bytes);
  return (a + b) * WGMMA_STEP_BYTES;
}

// With two barriers of 8 bytes for each stage, and room to align the first.
static inline size_t wgmma_shared_bytes(size_t stage_bytes, int stages) {
  return WGMMA_ALIGNMENT + (size_t)stages * stage_bytes + (size_t)MAX_WGMMA_STAGES * 2 * 8;
}

// Where the pair of elements 2 word, 2 word + 1 of a row of activations lies, in pairs: so that the
// 16 bytes of E4M3 weights that a lane reads at a time are those that the matrix unit wants of it.
// With word = 64 block + 8 (2 t + h) + 2 s + j: t the lane's place among the four of a row, s the
// instruction of half h of the step, j which half of its 16 elements.
static inline int wgmma_paired_word(int word) {
  const int chunk = word / 8 % 8;
  return word / 64 * 64 + chunk % 2 * 32 + word / 2 % 4 * 8 + word % 2 * 4 + chunk / 2;
}

// round_ACTIVATIONS_PROLOGUE (norm or round): grid (batch_padded), block ROUND_THREADS: one row
// each; rows from `batch` on are written as zeros with scale 1. What the vector product does for
// itself. ACTIVATIONS "paired": BF16 in the order of wgmma_paired_word, stride a multiple of 128.
struct round_arguments {
  const float *input, *norm; // [batch][columns]; [columns] with norm
  float epsilon;
  int columns, stride, batch;
  void *output;  // [batch_padded][stride]
  float *scales; // [batch_padded]
};

// embed_HEAD: x[batch][hidden] = embedding[token] (times its scale for E4M3). Grid (batch), block
// SMALL_THREADS.
struct embed_arguments {
  const void *embedding; // [vocab][stride]
  const float *scales;   // [vocab] for E4M3
  const int *tokens;     // [batch]
  int hidden, stride;
  float *x;
};

// attention_KV_HEADDIM, HEADDIM 64, 128 or 256: the head_dim padded. Grid (splits, kv_heads *
// head_groups, batch), block ATTENTION_WARPS warps. A head group is at most TILE_COLUMNS
// (matrix_tile) of the heads / kv_heads query heads that read one kv head; head_groups = their
// number rounded up. Queries and the new key are turned by `angles`; keys and values of the new
// position, context - 1, are rounded and written to the cache by every block that reads them, all
// the same bits. Each split takes a share of the blocks of VALUE_BLOCK positions; with splits > 1
// the partial results go to `partials`, and the last block to arrive at counters[batch][kv head and
// group] merges them. Queries and softmax weights enter the products as BF16.
struct attention_arguments {
  const float *qkv;    // [batch][heads * head_dim + 2 * kv_heads * head_dim]: q, k, v
  const float *angles; // [head_dim / 2][2]: cosine and sine at position context - 1
  void *keys, *values; // of this layer, as above
  int batch, heads, kv_heads, head_groups, head_dim, head_stride, context, context_padded, splits;
  float *partials; // [batch][kv_heads * head_groups][splits][TILE_COLUMNS][HEADDIM + 2]: the
                   // largest score, the sum of exponentials, the weighted values
  unsigned *counters;
  float *output; // [batch][heads * head_dim]
};

// Shared memory of attention for a padded head_dim, with room for the widest tile (16 columns),
// whose warps merge a head of 256 in two rounds; narrower tiles need no more in one.
static inline size_t attention_shared_bytes(int head_dim_padded) {
  const int merged = head_dim_padded < ATTENTION_MERGED ? head_dim_padded : ATTENTION_MERGED;
  const size_t columns = 16, warps = ATTENTION_WARPS;
  const size_t queries = columns * ((size_t)head_dim_padded * 2 + 16);
  const size_t weights = warps * columns * (VALUE_BLOCK * 2 + 16);
  const size_t merge = warps * columns * ((size_t)merged + 2) * 4;
  return queries + weights + merge;
}

// sample: tokens[row] = index of the largest logit, the lowest of equals. Grid (SAMPLE_BLOCKS,
// batch), block SMALL_THREADS; the last block to arrive at counters[row] decides and resets it.
// With `keys`, of a rank that has logits from index `first` on, it writes instead of the token the
// key of 64 bits that is the larger the better the candidate: in the high half the logit's bits,
// made so that they are ordered as numbers without sign are, in the low one ~index; 0 where no
// logit is a number. The largest key of all ranks is of the token.
struct sample_arguments {
  const float *logits; // [batch][vocab]
  int vocab;
  float *best;        // [batch][SAMPLE_BLOCKS]
  int *best_index;    // [batch][SAMPLE_BLOCKS]
  unsigned *counters; // [batch]
  int *tokens;
  int first;
  uint64_t *keys; // [batch], or NULL
};

// sample_key: tokens[row] = the index in keys[row], 0 for none. Grid (1), block SMALL_THREADS.
struct sample_key_arguments {
  const uint64_t *keys; // [batch]
  int batch;
  int *tokens;
};

// all_reduce_sum (floats) and all_reduce_max (numbers of 64 bits without sign): no kernels of ours,
// but launches that a driver hands to the collective library: `memory` of each of the ranks becomes
// the sum, or the largest, of all of theirs, element by element. Grid and block are not used.
#define ALL_REDUCE_SUM "all_reduce_sum"
#define ALL_REDUCE_MAX "all_reduce_max"
struct all_reduce_arguments {
  void *memory; // [count]
  uint64_t count;
};

// persistent_BATCH, BATCH 1, 2 or 4: a whole step in one launch, of as many rows of the batch at
// most, with activations and head in BF16 and heads of 65 to 128. Grid (as many blocks as are
// resident at a time), block VECTOR_THREADS. The blocks take each stage in turn, as what its own
// kernel does; between two they wait for each other at `arrived`, which is zero before and after. A
// stage's grid is dealt out to the blocks. Beside the shared memory of its launch a block takes
// PERSISTENT_SHARED bytes at most.
enum persistent_kind {
  PERSISTENT_EMBED,
  PERSISTENT_STORE_BF16, // a product, by the element of its weights
  PERSISTENT_STORE_E4M3,
  PERSISTENT_ADD_BF16,
  PERSISTENT_ADD_E4M3,
  PERSISTENT_SWIGLU_BF16,
  PERSISTENT_SWIGLU_E4M3,
  PERSISTENT_ATTENTION_BF16, // by the element of the cache
  PERSISTENT_ATTENTION_E4M3,
  PERSISTENT_SAMPLE
};
enum { PERSISTENT_SHARED = 288 };
struct persistent_stage {
  int kind, blocks;
  int grid[2]; // axis 2: blocks / grid[0] / grid[1]
  union {
    struct product_arguments product;
    struct embed_arguments embed;
    struct attention_arguments attention;
    struct sample_arguments sample;
    unsigned char bytes[176]; // a multiple of 16
  } arguments;
};
struct persistent_arguments {
  const struct persistent_stage *stages;
  unsigned *arrived; // [1]
  int count;
};

// fill_ELEMENT: the values of weights.h. Grid (any), block SMALL_THREADS; elements dealt out in
// strides of the grid. ELEMENT is bf16, e4m3 or f32 (norms: 1 + q * scale).
//   FILL_MATRIX  destination [rows][stride], index = row * columns + column
//   FILL_KEYS, FILL_VALUES: destination as above; rows = batch * context, columns = kv_heads *
//                head_dim, index = row * columns + column; no scale is held: value = q * scale
// Of a rank's part of a tensor (share.h) index = first + row * (columns + beside) + column.
// E4M3 weights hold q itself rounded; keys and values in E4M3 hold q * scale rounded.
enum fill_layout { FILL_MATRIX, FILL_KEYS, FILL_VALUES };
struct fill_arguments {
  void *destination;
  int layout, rows, columns, stride;
  int context, context_padded, kv_heads, head_dim; // of the cache
  uint64_t first, beside;                          // 0 for a whole tensor
  uint64_t key;                                    // weights_key
  float scale;
  const int8_t *bell; // weights_bell on the device [256]
};

// fill_value: count floats of `value`: scales per row. Grid (any), block SMALL_THREADS.
struct fill_value_arguments {
  float *destination;
  uint64_t count;
  float value;
};

// read_VARIANT (0: a grid's stride of 16 bytes, four in flight; 1: eight in flight; 2: one
// contiguous share per block): reads `bytes`, a multiple of 64 KiB, once, and writes a sum of what
// it read, so that the reading cannot be left out. Grid (any), block VECTOR_THREADS.
struct read_arguments {
  const void *from;
  uint64_t bytes;
  uint32_t *sum; // [1]
};

// rate_WEIGHTS_ACTIVATIONS: `repeats` tile steps per warp on values in registers and shared memory,
// two row tiles against one column tile each. Grid (any), block MATRIX_WARPS warps.
struct rate_arguments {
  int repeats;
  float *out; // [grid * block], so that it cannot be left out
};

// tile_check_WEIGHTS_ACTIVATIONS: one warp multiplies a[16][step] by b[TILE_COLUMNS][step], a step
// of the matrix tile, and writes c[16][16], columns beyond TILE_COLUMNS as zero, through the tile's
// own row and column of each accumulator. Small integers make every sum exact.
struct tile_check_arguments {
  const void *a, *b; // rows of 64 elements in memory, of which BF16 x BF16 uses 32
  float *c;
};

#endif
