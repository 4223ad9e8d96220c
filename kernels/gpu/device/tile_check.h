// tile_check: does the matrix tile multiply as matrix_tile.h says? The kernels tile_check_* of
// arguments.h: one warp, one step of the tile, 16 x TILE_COLUMNS x 32 or 64. Shared memory:
// TILE_COLUMNS columns of 64 elements and 16 bytes each, at most 2304 bytes.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_TILE_CHECK_H
#define PERTOKEN_KERNELS_GPU_DEVICE_TILE_CHECK_H

#include "kernels/gpu/arguments.h"
#include "kernels/gpu/device/matrix_elements.h"

enum { TILE_CHECK_ELEMENTS = 64 }; // of a row in memory

template <class ELEMENTS> DEVICE void tile_check(const struct tile_check_arguments &a) {
  SHARED(char, shared);
  const int row_bytes = TILE_CHECK_ELEMENTS * ELEMENTS::B_BYTES, column_bytes = row_bytes + 16;
  let_next_start();
  wait_for_previous();
  for (int at = thread_index(); at < TILE_COLUMNS * row_bytes / 16; at += block_threads()) {
    const int column = at * 16 / row_bytes, byte = at * 16 % row_bytes;
    store_shared(shared + column * column_bytes + byte,
                 load_published(static_cast<const char *>(a.b) + at * 16));
  }
  for (int at = thread_index(); at < TILE_ROWS * 16; at += block_threads()) {
    publish(a.c + at, 0);
  }
  struct tile_a rows[1];
#pragma unroll
  for (int part = 0; part < TILE_PARTS; part++) {
    const int at = tile_part_row(lane_index(), part) * TILE_CHECK_ELEMENTS * ELEMENTS::A_BYTES;
    rows[0].part[part] =
        load_published(static_cast<const char *>(a.a) + at + tile_part_byte(lane_index(), part));
  }
  block_wait();
  float sum[1][TILE_ACCUMULATORS] = {};
  ELEMENTS::multiply(rows, shared, column_bytes, sum);
#pragma unroll
  for (int i = 0; i < TILE_ACCUMULATORS; i++) {
    publish(a.c + tile_row(lane_index(), i) * 16 + tile_column(lane_index(), i),
            sum[0][i] * ELEMENTS::scale());
  }
}

#define TILE_CHECK_KERNEL(elements)                                                                \
  KERNEL_BOUNDS(tile_check_##elements, tile_check_arguments, WARP, 1) {                            \
    tile_check<elements>(a);                                                                       \
  }
TILE_CHECK_KERNEL(bf16_bf16)
TILE_CHECK_KERNEL(e4m3_bf16)
TILE_CHECK_KERNEL(e4m3_e4m3)

#endif
