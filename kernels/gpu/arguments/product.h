// product: the arguments of products by vectors and matrices, and of what rounds their activations.
#ifndef PERTOKEN_KERNELS_GPU_ARGUMENTS_PRODUCT_H
#define PERTOKEN_KERNELS_GPU_ARGUMENTS_PRODUCT_H

#include "kernels/integers.h"

#include <stddef.h>
#include <stdint.h>

enum {
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
  ROUND_THREADS = 512 // of a block that rounds a row: its time is added to every product
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
  return round_up((size_t)stride * (size_t)batch * element_bytes, 16) + 1024;
}

// Shared memory of a matrix product's chunks of activations, beside MATRIX_RING if its weights are
// copied; each column is padded by 16 bytes, so that adjacent columns are in different banks.
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

// heads_vector_bf16_bf16_round_store_BATCH, heads_matrix_bf16_bf16_store_COLUMNS, COLUMNS 16 or 64:
// compute what vector_* and matrix_* do, with a separate matrix for each head: grid (that of the
// plain kernel, 1, heads). The matrices are stored head by head; `product` describes head 0,
// without splits.
struct heads_arguments {
  struct product_arguments product;
  int input_step, output_step; // elements from one head to the next: vector; both
  uint64_t activations_step;   // bytes: matrix
};

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

#endif
