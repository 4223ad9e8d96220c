// sample: the kernel `sample`: the index of the largest logit, the lowest of equals. NaN is never
// chosen; where there is nothing else, the index is 0.
#ifndef PERTOKEN_GPU_SAMPLE_H
#define PERTOKEN_GPU_SAMPLE_H

#include "kernels/gpu/arguments.h"
#include "kernels/gpu/platform.h"

struct candidate {
  float value;
  int index;
};

enum { NO_INDEX = 0x7FFFFFFF };

// Of equals the lower, so that the order of comparing does not matter. Comparing with NaN is false.
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

// The best of a block, in all lanes of its first warp; `room` is shared memory of a candidate per
// warp.
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

// The body of sample.
DEVICE void sample_row(const struct sample_arguments &a) {
  SHARED(struct candidate, room);
  let_next_start();
  wait_for_previous();
  const int row = block_index(1);
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
  if (lane_index() == 0) {
    publish_int(a.tokens + row, chosen.index == NO_INDEX ? 0 : chosen.index);
  }
}

#endif
