// wgmma: the arguments of the products on the matrix unit of sm_90a, and of norms between them.
#ifndef PERTOKEN_KERNELS_GPU_ARGUMENTS_WGMMA_H
#define PERTOKEN_KERNELS_GPU_ARGUMENTS_WGMMA_H

#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/even.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

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
  // What is in shared memory: barriers, two for each stage, and two for each warp that multiplies;
  // and floats, what a norm finds for each column of the batch.
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

// Shared memory of a block, with barriers of 8 bytes, and room to align the first stage.
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

#endif
