// read: the kernels read_*: reading alone, as fast as it goes, to measure other kernels against.
// All of them load as the products do, 16 bytes a lane.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_READ_H
#define PERTOKEN_KERNELS_GPU_DEVICE_READ_H

#include "kernels/gpu/arguments.h"
#include "kernels/gpu/device/platform.h"

DEVICE uint32_t read_word(struct words4 v) {
  return (v.word[0] ^ v.word[1]) ^ (v.word[2] ^ v.word[3]);
}

// Each warp writes its own sum, and one of them is what is left.
DEVICE void read_done(const struct read_arguments &a, uint32_t sum) {
#pragma unroll
  for (int mask = WARP / 2; mask; mask >>= 1) {
    sum ^= shuffle_xor_bits(sum, mask);
  }
  if (lane_index() == 0) {
    publish_int(reinterpret_cast<int *>(a.sum), (int)sum);
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
      sum ^= read_word(v[i]);
    }
  }
  for (; at < a.bytes; at += step) {
    sum ^= read_word(load_weights(from + at));
  }
  read_done(a, sum);
}

// The body of read_2: one contiguous share to a block, in windows of 64 KiB; each load is renewed
// as soon as it has been used, as the vector products do it.
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
      sum ^= read_word(v[i]);
      if (window < end) {
        v[i] = load_weights(from + i * STEP);
      }
    }
  }
  read_done(a, sum);
}

#endif
