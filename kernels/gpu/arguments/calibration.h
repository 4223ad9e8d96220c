// calibration: the arguments of what measures and checks a device: reads, matrix instructions.
#ifndef PERTOKEN_KERNELS_GPU_ARGUMENTS_CALIBRATION_H
#define PERTOKEN_KERNELS_GPU_ARGUMENTS_CALIBRATION_H

#include <stdint.h>

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
