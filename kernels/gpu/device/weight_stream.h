// weight_stream: the weights that a warp uses in a step (stream.h), on their way through its ring
// (ring.h). The ring is filled at the beginning of the step, and again with each unit that has been
// used: at the end of a product with weights of the next one, which then arrive while the block
// waits for other blocks, rounds its activations or attends. So memory is idle only when all rings
// are full, and a warp waits for nothing but memory: it requests its own units, and nobody else
// uses them.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_WEIGHT_STREAM_H
#define PERTOKEN_KERNELS_GPU_DEVICE_WEIGHT_STREAM_H

#include "kernels/gpu/arguments.h"
#include "kernels/gpu/device/machine/ring.h"

enum { STREAM_WARPS = VECTOR_THREADS / WARP };

// `next` is what the warp requests next, of products[product]; the oldest of the `held` units that
// were requested and not used is in `slot`, waited for the turn-th time.
struct stream_state {
  struct stream_place next;
  int product, held, slot, turn;
};

static_assert(sizeof(struct stream_state) == STREAM_STATE, "which the plan leaves room for");

// Where a warp's things are in a block.
struct stream_block {
  const struct stream_product *products; // [count]
  int count;
  int own, blocks, warp;     // this block, out of how many; the warp of it
  struct ring ring;          // of this warp
  float *sums;               // of products: product_stream.h
  int pairs;                 // of them
  struct stream_state *kept; // in shared memory, while no product uses it
};

DEVICE struct stream_block stream_block_of(void); // product_stream.h

DEVICE struct stream_product stream_product_at(const struct stream_block &block, int product) {
  const char *from = reinterpret_cast<const char *>(block.products + product);
  union {
    struct words4 words[2];
    struct stream_product product;
  } out = {{load_weights(from), load_weights(from + 16)}};
  static_assert(sizeof out.words >= sizeof out.product, "");
  return out.product;
}

// Requests the next unit into a slot whose contents all lanes have used.
DEVICE void stream_request(const struct stream_block &block, struct stream_state *state, int slot) {
  while (state->next.left == 0) {
    if (state->product + 1 >= block.count) {
      return;
    }
    const struct stream_product product = stream_product_at(block, ++state->product);
    state->next = stream_begin(&product, block.own, block.blocks, block.warp, STREAM_WARPS);
  }
  ring_bring(block.ring, slot, state->next.row[0] + state->next.at, stream_second(&state->next),
             stream_bytes(&state->next));
  stream_advance(&state->next);
  state->held++;
}

// Between two products.
DEVICE void stream_keep(const struct stream_block &block, const struct stream_state &state) {
  warp_wait(); // all lanes have read what was there
  if (lane_index() == 0) {
    *block.kept = state;
  }
  warp_wait();
}

// Fills the ring at the beginning of the step.
DEVICE void stream_start(const struct stream_block &block) {
  struct stream_state state = {};
  ring_make(block.ring);
  warp_wait();
  state.product = -1;
#pragma unroll 1
  for (int slot = 0; slot < block.ring.count; slot++) {
    stream_request(block, &state, slot);
  }
  stream_keep(block, state);
}

// The oldest unit, when it has arrived.
DEVICE const unsigned char *stream_take(const struct stream_block &block,
                                        const struct stream_state &state) {
  ring_wait(block.ring, state.slot, state.turn, state.held == block.ring.count);
  return ring_slot(block.ring, state.slot);
}

// All lanes have used it: its slot takes the next.
DEVICE void stream_used(const struct stream_block &block, struct stream_state *state) {
  warp_wait();
  state->held--;
  stream_request(block, state, state->slot);
  if (++state->slot == block.ring.count) {
    state->slot = 0;
    state->turn++;
  }
}

#endif
