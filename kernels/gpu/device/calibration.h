// calibration: kernels that measure how fast the device is, and check whether its matrix unit works
// as assumed: read_*, rate_* and tile_check_* of arguments/calibration.h.
//
// Reads are measured alone, at full speed, as a reference for other kernels; they load as the
// products do, 16 bytes per lane. The rate is that of the matrix tile when nothing is fetched: a
// step of a warp is 2 row tiles by one column tile, 2 * 2 * 16 * TILE_COLUMNS * (32 or 64)
// operations, in the shared memory of tile_check. Where E4M3 is converted, the compiler converts
// once for all steps, so this is the rate of the instruction.
//
// tile_check verifies that the tile multiplies as matrix_tile.h says.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_CALIBRATION_H
#define PERTOKEN_KERNELS_GPU_DEVICE_CALIBRATION_H

#include "kernels/gpu/arguments/calibration.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/device/machine/matrix_elements.h"
#include "kernels/gpu/device/machine/platform.h"

// ---- reading

DEVICE uint32_t read_word(struct words4 v) {
  return (v.word[0] + v.word[1]) + (v.word[2] + v.word[3]);
}

DEVICE void read_done(const struct read_arguments &a, uint32_t sum) {
#pragma unroll
  for (int mask = WARP / 2; mask; mask >>= 1) {
    sum += shuffle_xor_bits(sum, mask);
  }
  if (lane_index() == 0) {
    const int warp = block_index(0) * (VECTOR_THREADS / WARP) + warp_index();
    publish_int(reinterpret_cast<int *>(a.sums + warp), (int)sum);
  }
}

// The body of read_0 and read_1: 16 bytes of every grid's stride, LOADS strides in flight.
template <int LOADS> DEVICE void read_strides(const struct read_arguments &a) {
  let_next_start();
  wait_for_previous();
  const unsigned char *from = static_cast<const unsigned char *>(a.from);
  const uint64_t step = (uint64_t)grid_blocks(0) * VECTOR_THREADS * 16;
  uint64_t at = ((uint64_t)block_index(0) * VECTOR_THREADS + (uint64_t)thread_index()) * 16;
  uint32_t sum = 0;
  for (; at + (LOADS - 1) * step < a.bytes; at += LOADS * step) {
    struct words4 v[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
      v[i] = load_weights(from + at + (uint64_t)i * step);
    }
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
      sum += read_word(v[i]);
    }
  }
  for (; at < a.bytes; at += step) {
    sum += read_word(load_weights(from + at));
  }
  read_done(a, sum);
}

// The body of read_2: one contiguous share per block, in windows of 64 KiB; each load is reissued
// as soon as its result has been used, as in the vector products.
DEVICE void read_shares(const struct read_arguments &a) {
  constexpr int LOADS = 8, STEP = VECTOR_THREADS * 16;
  let_next_start();
  wait_for_previous();
  const uint64_t windows = a.bytes / (LOADS * STEP), blocks = (uint64_t)grid_blocks(0);
  const uint64_t first = windows * (uint64_t)block_index(0) / blocks;
  const uint64_t end = windows * ((uint64_t)block_index(0) + 1) / blocks;
  const unsigned char *from =
      static_cast<const unsigned char *>(a.from) + first * (LOADS * STEP) + thread_index() * 16;
  struct words4 v[LOADS] = {};
  uint32_t sum = 0;
  for (uint64_t window = first; window <= end; window++, from += LOADS * STEP) {
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
      sum += read_word(v[i]);
      if (window < end) {
        v[i] = load_weights(from + i * STEP);
      }
    }
  }
  read_done(a, sum);
}

// ---- the matrix unit's rate

// Numbers of either sign and magnitude 1/2 to 1 (1/4 to 1/2 for E4M3 on gfx942), so that sums stay
// finite and all fraction bits toggle: the units' power depends on them.
template <int BYTES> DEVICE uint32_t rate_word(uint32_t index) {
  uint32_t hash = index * 2654435761u; // Knuth, The Art of Computer Programming, volume 3, 6.4
  hash ^= hash >> 15;
  return BYTES == 2 ? (hash & 0x807F807Fu) | 0x3F003F00u : (hash & 0x87878787u) | 0x30303030u;
}

template <int BYTES> DEVICE struct words4 rate_words(uint32_t index) {
  return {{rate_word<BYTES>(4 * index), rate_word<BYTES>(4 * index + 1),
           rate_word<BYTES>(4 * index + 2), rate_word<BYTES>(4 * index + 3)}};
}

template <class ELEMENTS> DEVICE void rate(const struct rate_arguments &a) {
  SHARED(char, shared);
  const int row_bytes = ELEMENTS::B_STEP_BYTES, column_bytes = row_bytes + 16;
  const uint32_t place = (uint32_t)(block_index(0) * block_threads() + thread_index());
  let_next_start();
  wait_for_previous();
  for (int at = thread_index(); at < TILE_COLUMNS * row_bytes / 16; at += block_threads()) {
    store_shared(shared + at * 16 / row_bytes * column_bytes + at * 16 % row_bytes,
                 rate_words<ELEMENTS::B_BYTES>((uint32_t)at));
  }
  block_wait();
  struct tile_a rows[2];
#pragma unroll
  for (int n = 0; n < 2; n++) {
#pragma unroll
    for (int part = 0; part < TILE_PARTS; part++) {
      rows[n].part[part] =
          rate_words<ELEMENTS::A_BYTES>((place * 2 + (uint32_t)n) * TILE_PARTS + (uint32_t)part);
    }
  }
  float sum[2][TILE_ACCUMULATORS] = {};
  for (int i = 0; i < a.repeats; i++) {
    ELEMENTS::multiply(rows, shared, column_bytes, sum);
  }
  float total = 0;
#pragma unroll
  for (int i = 0; i < TILE_ACCUMULATORS; i++) {
    total += sum[0][i] + sum[1][i];
  }
  publish(a.out + place, total);
}

#define RATE_KERNEL(elements)                                                                      \
  KERNEL_BOUNDS(rate_##elements, rate_arguments, MATRIX_WARPS *WARP, 2) {                          \
    rate<elements>(a);                                                                             \
  }
RATE_KERNEL(bf16_bf16)
RATE_KERNEL(e4m3_bf16)
RATE_KERNEL(e4m3_e4m3)

// ---- the tile's layout: one warp, one step; its shared memory is TILE_COLUMNS columns of 64
// elements plus 16 bytes each, at most 2304 bytes

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
