// matrix_tile: the matrix unit, one file per instruction set: matrix_tile_mma.h (mma.sync, sm_80
// and later), matrix_tile_mfma.h (gfx90a, gfx942, gfx950), matrix_tile_scalar.h (no matrix unit:
// gfx11, gfx12, and the emulator).
//
// One warp multiplies 16 rows by TILE_COLUMNS columns (WARP / 4: 8 or 16) over one step of the
// summed direction: 64 bytes of a row of A, that is 32 elements of BF16 or 64 of E4M3. A is
// streamed from global memory straight into registers, 16 bytes per lane; B is in shared memory,
// each column contiguous. The order in which the elements of a step are summed is up to the tile:
// both sides use the same one, so that no data is rearranged.
//
//   struct tile_a { struct words4 part[TILE_PARTS]; }    a lane's share of 16 rows x 64 bytes
//   int tile_part_row(int lane, int part)                which row of the 16 a part is of
//   int tile_part_byte(int lane, int part)               where in the row's 64 bytes it begins
//   int tile_row(int lane, int i), tile_column(int lane, int i)
//                           where accumulator i of TILE_ACCUMULATORS (4) belongs: to the lane's
//                           row i / TILE_LANE_COLUMNS and column i % TILE_LANE_COLUMNS; those of
//                           the same column are summed over rows by shuffles over the lanes that
//                           differ in TILE_ROW_MASK (a mask of lane bits)
//   tile_multiply_bf16_bf16<N>(const tile_a (&a)[N], const void *b, int b_stride_bytes,
//                              float (&sum)[N][TILE_ACCUMULATORS])
//   tile_multiply_e4m3_bf16<N>, tile_multiply_e4m3_e4m3<N>
//                           sum[n] += a[n] x b for N tiles of rows; b points at the first element
//                           of the step in column 0. E4M3 x BF16 sums lack the factor
//                           E4M3_BF16_SCALE, E4M3 x E4M3 the factor E4M3_PRODUCT_SCALE.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_MATRIX_TILE_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_MATRIX_TILE_H

#include "kernels/gpu/device/machine/platform.h"

enum { TILE_ROWS = 16, TILE_COLUMNS = WARP / 4, TILE_ACCUMULATORS = 4, TILE_STEP_BYTES = 64 };

// Chosen by the device, or for the emulator by name.
#if !defined(PERTOKEN_EMULATOR) && !defined(__HIP__)
#define TILE_MMA
#elif defined(__HIP__) && defined(__GFX9__)
#define TILE_MFMA
#endif

// In addition to mma.sync, the full matrix unit of sm_90a (matrix_wgmma.h). It alone has products
// that take vectors in the order of wgmma_paired_word.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || (defined(PERTOKEN_EMULATOR) && defined(TILE_MMA))
#define TILE_WGMMA
enum { TILE_PAIRS = 1 };
#else
enum { TILE_PAIRS = 0 };
#endif

#if defined(TILE_MMA)
#include "kernels/gpu/device/machine/matrix_tile_mma.h"
#elif defined(TILE_MFMA)
#include "kernels/gpu/device/machine/matrix_tile_mfma.h"
#else
#include "kernels/gpu/device/machine/matrix_tile_scalar.h"
#endif

// Whether this lane is the first, or the only one, that holds its parts of a tile.
DEVICE bool tile_is_first(int lane) {
  return TILE_PARTS < 4 || lane < TILE_ROWS;
}

#endif
