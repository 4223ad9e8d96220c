// sample: the kernels `sample` and `sample_key`: the index of the largest logit, the lowest of
// equals. NaN is never chosen; if there is nothing else, the index is 0.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_SAMPLE_H
#define PERTOKEN_KERNELS_GPU_DEVICE_SAMPLE_H

#include "kernels/gpu/arguments/token.h"
#include "kernels/gpu/device/machine/platform.h"

struct candidate {
  float value;
  int index;
};

enum { NO_INDEX = 0x7FFFFFFF };

// The larger value, or of equals the lower index, so that the order of comparisons does not matter.
// Comparing with NaN is false.
DEVICE struct candidate better(struct candidate a, struct candidate b) {
  return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}

DEVICE struct candidate no_candidate(void) {
  return {float_of(0xFF800000), NO_INDEX}; // minus infinity
}

DEVICE struct candidate warp_best(struct candidate best) {
#pragma unroll
  for (int mask = WARP / 2; mask; mask >>= 1) {
    const float value = shuffle_xor(best.value, mask);
    const uint32_t index = shuffle_xor_bits((uint32_t)best.index, mask);
    best = better(best, {value, (int)index});
  }
  return best;
}

// The best of a block, in all lanes of its first warp; `room` is shared memory for one candidate
// per warp.
DEVICE struct candidate block_best(struct candidate best, struct candidate *room) {
  const int warps = block_threads() / WARP;
  best = warp_best(best);
  if (lane_index() == 0) {
    room[warp_index()] = best;
  }
  block_wait();
  return warp_best(lane_index() < warps ? room[lane_index()] : no_candidate());
}

// One thread's share of a row of logits.
DEVICE struct candidate share_best(const float *logits, int vocab) {
  const int threads = SAMPLE_BLOCKS * block_threads();
  struct candidate best = no_candidate();
#pragma unroll 8
  for (int i = block_index(0) * block_threads() + thread_index(); i < vocab; i += threads) {
    best = better(best, {load_published_float(logits + i), i});
  }
  return best;
}

DEVICE struct candidate blocks_best(const float *best, const int *best_index) {
  struct candidate found = no_candidate();
  for (int i = lane_index(); i < SAMPLE_BLOCKS; i += WARP) {
    found = better(found, {load_published_float(best + i), load_published_int(best_index + i)});
  }
  return warp_best(found);
}

// A candidate's key as arguments/token.h says: half 0 is the low one. Both zeros are equal.
DEVICE uint32_t key_half(struct candidate c, int half) {
  const uint32_t bits = c.value == 0 ? 0 : bits_of(c.value);
  if (c.index == NO_INDEX) {
    return 0;
  }
  return half == 0 ? ~(uint32_t)c.index : bits >> 31 ? ~bits : bits | 0x80000000;
}

// The body of sample_key. A key is stored low half first.
DEVICE void sample_keys(const struct sample_key_arguments &a) {
  let_next_start();
  wait_for_previous();
  for (int row = thread_index(); row < a.batch; row += block_threads()) {
    const int *key = reinterpret_cast<const int *>(a.keys + row);
    const int low = load_published_int(key), high = load_published_int(key + 1);
    publish_int(a.tokens + row, low || high ? ~low : 0);
  }
}

// The body of sample.
DEVICE void sample_row(const struct sample_arguments &a) {
  SHARED(struct candidate, room);
  let_next_start();
  wait_for_previous();
  const int row = block_index(1);
  if (a.step && row == 0 && block_index(0) == 0 && thread_index() == 0) {
    publish_int(a.step, load_published_int(a.step) + 1);
  }
  float *best = a.best + row * SAMPLE_BLOCKS;
  int *best_index = a.best_index + row * SAMPLE_BLOCKS;
  const struct candidate mine =
      block_best(share_best(a.logits + (size_t)row * (size_t)a.vocab, a.vocab), room);
  if (thread_index() == 0) {
    publish(best + block_index(0), mine.value);
    publish_int(best_index + block_index(0), mine.index);
  }
  if (!arrive_last(a.counters + row, SAMPLE_BLOCKS) || warp_index() > 0) {
    return;
  }
  const struct candidate chosen = blocks_best(best, best_index);
  if (lane_index() == 0 && !a.keys) {
    publish_int(a.tokens + row, chosen.index == NO_INDEX ? 0 : chosen.index);
  }
  if (lane_index() < 2 && a.keys) {
    const int index = chosen.index == NO_INDEX ? NO_INDEX : a.first + chosen.index;
    publish_int(reinterpret_cast<int *>(a.keys + row) + lane_index(),
                (int)key_half({chosen.value, index}, lane_index()));
  }
}

#endif
