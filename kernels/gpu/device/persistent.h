// persistent: the kernels persistent_*: a whole decode step in one launch, built on the stages' own
// bodies. Their questions about position and waiting are answered here for a block that takes a
// share of a stage: block_index and grid_blocks are the stage's, and wait_for_previous waits until
// all blocks have finished the previous stage. So a stage's first weights are in flight before
// that, as they are between two launches.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PERSISTENT_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PERSISTENT_H

#include "kernels/decode.h"
#include "kernels/gpu/arguments.h"
#include "kernels/gpu/device/machine/platform.h"

// A block's state. In shared memory, so that no registers hold it while a stage runs; aligned for
// the 16-byte pieces in which the stage is copied.
struct alignas(16) persistent_place {
  struct persistent_stage stage;       // a copy, unless it comes by scalar loads
  const struct persistent_stage *from; // of which
  struct persistent_arguments launch;
  int own, grid;           // this block of the launch, and how many there are
  unsigned wanted;         // arrivals before the stage begins
  int number, block;       // the stage; the block of it that is taken
  int index[3], blocks[3]; // which one that is, out of how many
  int first;               // thread of a block: 0, but no compiler knows that
};
static_assert(sizeof(struct persistent_place) + 16 <= PERSISTENT_SHARED, "and arrive_last's");

DEVICE struct persistent_place *persistent_place(void) {
  SHARED_STATIC(struct persistent_place, place);
  return place;
}

DEVICE const struct persistent_stage &persistent_held(void) {
  const struct persistent_place *place = persistent_place();
  return SCALAR_LOADS ? *constant_of_launch(place->from) : place->stage;
}

DEVICE int persistent_block(void) {
  return warp_alike(persistent_place()->own);
}
DEVICE int persistent_blocks(void) {
  return warp_alike(persistent_place()->grid);
}

DEVICE void persistent_begin(const struct persistent_arguments &a) {
  struct persistent_place *place = persistent_place();
  if (thread_index() == 0) {
    place->launch = a;
    place->own = block_index(0);
    place->grid = grid_blocks(0);
    place->first = thread_index_anew();
  }
  block_wait();
}

// Read again in each stage, so that nothing derived from them is kept in registers through all of
// them.
DEVICE int stage_thread(void) {
  return thread_index() + persistent_place()->first;
}
DEVICE int stage_threads(void) {
  return VECTOR_THREADS;
}
DEVICE int stage_lane(void) {
  return (int)((unsigned)stage_thread() % WARP);
}
DEVICE int stage_warp(void) {
  return warp_alike((int)((unsigned)stage_thread() / WARP));
}
DEVICE int stage_index(int axis) {
  return warp_alike(persistent_place()->index[axis]);
}
DEVICE int stage_blocks(int axis) {
  return warp_alike(persistent_place()->blocks[axis]);
}
DEVICE void stage_wait(void) {
  grid_wait(persistent_place()->launch.arrived, persistent_place()->wanted);
}
DEVICE void stage_begins(void) {}

#define thread_index      stage_thread
#define block_threads     stage_threads
#define lane_index        stage_lane
#define warp_index        stage_warp
#define block_index       stage_index
#define grid_blocks       stage_blocks
#define wait_for_previous stage_wait
#define let_next_start    stage_begins

#include "kernels/gpu/device/attention.h"
#include "kernels/gpu/device/embedding.h"
#include "kernels/gpu/device/product_vector.h"
#include "kernels/gpu/device/sample.h"

// Only attention is a function where calls are cheap: it takes the most registers.
template <enum element WEIGHTS, enum rounding ROUND, enum vector_end END, int BATCH>
DEVICE void persistent_product(void) {
  vector_product<vector_kind<WEIGHTS, ELEMENT_BF16, ROUND, END, BATCH>>(
      persistent_held().arguments.product);
}
template <class ELEMENTS> APART void persistent_attention(void) {
  attention<attention_narrow<ELEMENTS, 128, PERSISTENT_TILES>>(
      persistent_held().arguments.attention);
}
DEVICE void persistent_embed(void) {
  embed_row<ELEMENT_BF16>(persistent_held().arguments.embed);
}
DEVICE void persistent_sample(void) {
  sample_row(persistent_held().arguments.sample);
}

template <int BATCH> DEVICE void persistent_body(void) {
  switch (persistent_held().kind) {
  case PERSISTENT_EMBED: return persistent_embed();
  case PERSISTENT_STORE_BF16:
    return persistent_product<ELEMENT_BF16, ROUND_NORM, VECTOR_STORE, BATCH>();
  case PERSISTENT_STORE_E4M3:
    return persistent_product<ELEMENT_E4M3, ROUND_NORM, VECTOR_STORE, BATCH>();
  case PERSISTENT_ADD_BF16:
    return persistent_product<ELEMENT_BF16, ROUND_ALONE, VECTOR_ADD, BATCH>();
  case PERSISTENT_ADD_E4M3:
    return persistent_product<ELEMENT_E4M3, ROUND_ALONE, VECTOR_ADD, BATCH>();
  case PERSISTENT_SWIGLU_BF16:
    return persistent_product<ELEMENT_BF16, ROUND_NORM, VECTOR_SWIGLU, BATCH>();
  case PERSISTENT_SWIGLU_E4M3:
    return persistent_product<ELEMENT_E4M3, ROUND_NORM, VECTOR_SWIGLU, BATCH>();
  case PERSISTENT_ATTENTION_BF16: return persistent_attention<bf16_bf16>();
  case PERSISTENT_ATTENTION_E4M3: return persistent_attention<e4m3_bf16>();
  default: return persistent_sample();
  }
}

// Copies a stage's arguments to where they are kept, and sets what to wait for.
DEVICE void persistent_enter(int number) {
  struct persistent_place *place = persistent_place();
  const struct persistent_stage *from = place->launch.stages + number;
  struct words4 *to = reinterpret_cast<struct words4 *>(&place->stage);
  const int count = SCALAR_LOADS ? 0 : (int)(sizeof place->stage / 16);
  for (int i = thread_index(); i < count; i += block_threads()) {
    to[i] = load_weights(reinterpret_cast<const struct words4 *>(from) + i);
  }
  if (thread_index() == 0) {
    place->from = from;
    place->wanted = (unsigned)number * (unsigned)persistent_blocks();
    place->number = number;
  }
  block_wait();
}

// The next block of the stage that this one takes.
DEVICE void persistent_move(int block) {
  struct persistent_place *place = persistent_place();
  const struct persistent_stage &stage = persistent_held();
  block_wait(); // the one before, and its shared memory, may still be in use
  if (thread_index() == 0) {
    const int plane = stage.grid[0] * stage.grid[1];
    place->block = block;
    place->index[0] = block % stage.grid[0];
    place->index[1] = block / stage.grid[0] % stage.grid[1];
    place->index[2] = block / plane;
    place->blocks[0] = stage.grid[0];
    place->blocks[1] = stage.grid[1];
    place->blocks[2] = stage.blocks / plane;
  }
  block_wait();
}

// The block's share of a stage that has been entered.
template <int BATCH> DEVICE void persistent_share(void) {
  int block = persistent_block();
  if (block >= persistent_held().blocks) {
    stage_wait(); // otherwise a block with nothing to do would arrive for the stages of others
    return;
  }
#pragma unroll 1
  do {
    persistent_move(block);
    persistent_body<BATCH>();
    block = warp_alike(persistent_place()->block) + persistent_blocks();
  } while (block < persistent_held().blocks);
}

template <int BATCH> DEVICE void persistent(const struct persistent_arguments &a) {
  struct persistent_place *place = persistent_place();
  int number = 0;
  persistent_begin(a);
#pragma unroll 1
  do {
    persistent_enter(number);
    persistent_share<BATCH>();
    number = warp_alike(place->number) + 1; // before any thread enters the next
    grid_arrive(place->launch.arrived);
  } while (number < warp_alike(place->launch.count));
  if (persistent_block() == 0) { // all the others have passed their last wait
    grid_wait(place->launch.arrived, (unsigned)number * (unsigned)persistent_blocks());
    if (thread_index() == 0) {
      publish_int(reinterpret_cast<int *>(place->launch.arrived), 0);
    }
  }
}

#endif
