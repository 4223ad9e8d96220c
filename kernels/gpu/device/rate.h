// rate: how fast the matrix tile can go when nothing is fetched: the kernels rate_* of arguments.h.
// A step of a warp is 2 row tiles by one column tile, 2 * 2 * 16 * TILE_COLUMNS * (32 or 64)
// operations. Shared memory: that of tile_check. Where E4M3 is converted, the compiler does so once
// for all steps: this is the rate of the instruction.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_RATE_H
#define PERTOKEN_KERNELS_GPU_DEVICE_RATE_H

#include "kernels/gpu/arguments.h"
#include "kernels/gpu/device/matrix_elements.h"

// Numbers of either sign and magnitude 1/2 to 1 (1/4 to 1/2 for E4M3 on gfx942), so that sums stay
// finite and all bits of the fractions take part: the units' power depends on them.
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

#endif
