// persistent: the kernels persistent_*: a whole decode step in one launch, upon the stages' own
// bodies. What these ask of where they are and of what to wait for is answered here for a block
// that takes a share of a stage: block_index and grid_blocks are the stage's, wait_for_previous
// waits until all blocks have finished the stage before. So the first weights of a stage are under
// way before that, as they are across two launches.
#ifndef PERTOKEN_GPU_PERSISTENT_H
#define PERTOKEN_GPU_PERSISTENT_H

#include "kernels/decode.h"
#include "kernels/gpu/arguments.h"
#include "kernels/gpu/platform.h"

// What a block is at.
struct persistent_place {
  struct persistent_stage stage;
  int index[3], blocks[3];
  const unsigned *arrived;
  unsigned wanted; // of them, before the stage begins
};

DEVICE struct persistent_place *persistent_place(void) {
  SHARED_STATIC(struct persistent_place, place);
  return place;
}

DEVICE int persistent_block(void) {
  return block_index(0);
}
DEVICE int persistent_blocks(void) {
  return grid_blocks(0);
}
DEVICE int stage_index(int axis) {
  return persistent_place()->index[axis];
}
DEVICE int stage_blocks(int axis) {
  return persistent_place()->blocks[axis];
}
DEVICE void stage_wait(void) {
  grid_wait(persistent_place()->arrived, persistent_place()->wanted);
}
DEVICE void stage_begins(void) {}

#define block_index       stage_index
#define grid_blocks       stage_blocks
#define wait_for_previous stage_wait
#define let_next_start    stage_begins

#include "kernels/gpu/attention.h"
#include "kernels/gpu/embedding.h"
#include "kernels/gpu/product_vector.h"
#include "kernels/gpu/sample.h"

// WEIGHTS, and the kind of attention.
template <enum element WEIGHTS_, class ATTENTION_> struct persistent_step {
  typedef ATTENTION_ ATTENTION;
  template <enum rounding ROUND, enum vector_end END>
  using product = vector_kind<WEIGHTS_, ELEMENT_BF16, ROUND, END, 1>;
  using head = vector_kind<ELEMENT_BF16, ELEMENT_BF16, ROUND_NORM, VECTOR_STORE, 1>;
};

// A function each, so that the registers of one are not the other's.
template <class KIND> APART void persistent_product(const struct product_arguments &a) {
  vector_product<KIND>(a);
}
template <class KIND> APART void persistent_attention(const struct attention_arguments &a) {
  attention<KIND>(a);
}
APART void persistent_embed(const struct embed_arguments &a) {
  embed_row<ELEMENT_BF16>(a);
}
APART void persistent_sample(const struct sample_arguments &a) {
  sample_row(a);
}

template <class STEP> DEVICE void persistent_body(const struct persistent_stage &stage) {
  switch (stage.kind) {
  case PERSISTENT_EMBED: return persistent_embed(stage.arguments.embed);
  case PERSISTENT_STORE:
    return persistent_product<typename STEP::template product<ROUND_NORM, VECTOR_STORE>>(
        stage.arguments.product);
  case PERSISTENT_ATTENTION:
    return persistent_attention<typename STEP::ATTENTION>(stage.arguments.attention);
  case PERSISTENT_ADD:
    return persistent_product<typename STEP::template product<ROUND_ALONE, VECTOR_ADD>>(
        stage.arguments.product);
  case PERSISTENT_SWIGLU:
    return persistent_product<typename STEP::template product<ROUND_NORM, VECTOR_SWIGLU>>(
        stage.arguments.product);
  case PERSISTENT_HEAD: return persistent_product<typename STEP::head>(stage.arguments.product);
  default: return persistent_sample(stage.arguments.sample);
  }
}

// The stage's arguments to the block's own memory, and what is to be waited for.
DEVICE void persistent_enter(const struct persistent_arguments &a, int number) {
  struct persistent_place *place = persistent_place();
  const struct words4 *from = reinterpret_cast<const struct words4 *>(a.stages + number);
  struct words4 *to = reinterpret_cast<struct words4 *>(&place->stage);
  for (int i = thread_index(); i < (int)(sizeof place->stage / 16); i += block_threads()) {
    to[i] = load_weights(from + i);
  }
  if (thread_index() == 0) {
    place->arrived = a.arrived;
    place->wanted = (unsigned)number * (unsigned)persistent_blocks();
  }
  block_wait();
}

// The next block of the stage that this one takes.
DEVICE void persistent_move(int block) {
  struct persistent_place *place = persistent_place();
  const int *grid = place->stage.grid;
  block_wait(); // the one before may be read still, and its shared memory
  if (thread_index() == 0) {
    const int plane = grid[0] * grid[1];
    place->index[0] = block % grid[0];
    place->index[1] = block / grid[0] % grid[1];
    place->index[2] = block / plane;
    place->blocks[0] = grid[0];
    place->blocks[1] = grid[1];
    place->blocks[2] = place->stage.blocks / plane;
  }
  block_wait();
}

template <class STEP> DEVICE void persistent(const struct persistent_arguments &a) {
  const struct persistent_stage &stage = persistent_place()->stage;
#pragma unroll 1
  for (int number = 0; number < a.count; number++) {
    persistent_enter(a, number);
#pragma unroll 1
    for (int block = persistent_block(); block < stage.blocks; block += persistent_blocks()) {
      persistent_move(block);
      persistent_body<STEP>(stage);
    }
    if (persistent_block() >= stage.blocks) {
      stage_wait(); // or one that has nothing to do would arrive for the stages of others
    }
    grid_arrive(a.arrived);
  }
  if (persistent_block() == 0) { // all the others have passed their last wait
    grid_wait(a.arrived, (unsigned)a.count * (unsigned)persistent_blocks());
    if (thread_index() == 0) {
      publish_int(reinterpret_cast<int *>(a.arrived), 0);
    }
  }
}

#endif
