// product_stream: weights times one to four vectors in a step in one launch: as product_vector, or
// with weights in units as pairs.h says, but the weights come out of the warp's stream, some of
// which have arrived while the block was waiting for its activations. One of the two headers by
// which such a step has its weights, of which platform.h names the device's; included by
// streaming.h:
//   void streaming_start(void): by all threads, before the first stage
//   void streaming_await(const float *from, int count): by all threads, where the stage would wait
//     for what others pass on to it: what can be done for weights meanwhile
//   void streaming_chosen(int products): by all threads, once a layer's experts are chosen, and
//     with them the weights of so many of the step's products
//   void streaming_take(struct streaming_place *): by one thread, as the block takes another item
//     of such a layer's product
//   streaming_product<WEIGHTS, ROUND, END, BATCH>(): the stage's product
//   streaming_units<BATCH>(): the same with weights in units, of the stage's element
//
// The weights that a warp uses in a step (stream.h) come through its ring (ring.h), which is filled
// from the beginning of the step on: at the end of a product with weights of the next one, which
// then arrive while the block waits for other blocks, rounds its activations or attends. But only a
// few of them are on their way at a time: on an H200, 48 KB to each multiprocessor read as fast as
// 192 KB, but what blocks pass on to each other takes 0.29 us behind the former and 1.6 us behind
// the latter (docs/gpu-model.md). So a warp requests another unit when it has used one, and
// whenever it looks for what has not been passed on yet. Memory is idle only when all rings are
// full, when nobody has looked for long, or when the rings have run dry before experts that are not
// chosen; and a warp waits for nothing but memory: it requests its own units, and nobody else uses
// them.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_PRODUCT_STREAM_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_PRODUCT_STREAM_H

#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/streaming.h"
#include "kernels/gpu/stream.h"
#include "kernels/gpu/units.h"
#include "kernels/gpu/device/machine/ring.h"

DEVICE void stream_meanwhile(void);

DEVICE void streaming_await(const float *from, int count) {
  float again = 0;
#pragma unroll 1
  do {
    if (lane_index() == 0) {
      again = stage_looks_again(from, count) ? 1 : 0;
    }
    again = shuffle(again, 0);
    if (RING_TELLS && again > 0) {
      stream_meanwhile();
    }
  } while (again > 0);
  warp_wait();
}
#undef await_passed
#define await_passed streaming_await

#include "kernels/gpu/device/products/pairs.h"

enum { STREAM_WARPS = VECTOR_THREADS / WARP };

struct stream_slot {
  int slot, turn; // which one, and how often it was waited for before, modulo 2
};

// What the lanes that request units know of them (ring.h): `next` is what the warp requests next,
// of products[product], of which `left` and what follows no longer count the units that are whole
// and end at `whole`; it goes to `to`, behind the `held` units that were requested and not used.
struct stream_state {
  struct stream_place next;
  int whole;
  int product, held;
  struct stream_slot to;
};

// The state as shared memory keeps it while no product uses it, without the number of the pair, of
// which requests know nothing: eight bytes more of each warp would cost an 8B model at batch 1 one
// of its six slots.
struct stream_kept {
  const unsigned char *row[2];
  int left, at, both, codes, beside, pair_bytes, product, held, slot, turn;
};

static_assert(sizeof(struct stream_kept) == STREAM_STATE, "which the plan leaves room for");

// Where a warp's things are in a block.
struct stream_block {
  const struct stream_product *products;
  int count;             // of these, whose weights are known
  int own, blocks, warp; // this block, out of how many; the warp of it
  int flying;            // units of a warp that may be on their way
  struct ring ring;      // of this warp
  struct stream_kept *kept;
};

// Finds them in the launch's shared memory, where arguments/streaming.h says.
DEVICE struct stream_block stream_block_of(void) {
  SHARED(unsigned char, shared);
  const struct streaming_place *place = streaming_place();
  const int slots = place->launch.slots, mine = warp_index() * slots;
  const int beside = place->launch.beside;
  unsigned char *ring = shared + place->launch.ring;
  unsigned char *besides = ring + STREAM_WARPS * slots * STREAM_SLOT;
  unsigned char *barriers = besides + STREAM_WARPS * slots * 2 * beside;
  unsigned char *kept = barriers + STREAM_WARPS * slots * 8;
  return {place->launch.products,
          place->launch.product_count,
          place->own,
          place->grid,
          warp_index(),
          place->launch.flying,
          {ring + mine * STREAM_SLOT, besides + mine * 2 * beside,
           reinterpret_cast<uint64_t *>(barriers) + mine, slots, beside},
          reinterpret_cast<struct stream_kept *>(kept) + warp_index()};
}

// As streaming_ahead: the list is of whole pieces of 32 bytes, as memory is read in.
DEVICE void stream_ahead(const struct stream_block &block, int product) {
  static_assert(sizeof(struct stream_product) == 32, "one of them is asked for");
  if (product < block.count) {
    load_ahead(block.products + product);
  }
}

DEVICE struct stream_product stream_product_at(const struct stream_block &block, int product) {
  stream_ahead(block, product + 2);
  const char *from = reinterpret_cast<const char *>(block.products + product);
  union {
    struct words4 words[2];
    struct stream_product product;
  } out = {{load_weights(from), load_weights(from + 16)}};
  static_assert(sizeof out.words >= sizeof out.product, "");
  if (out.product.item > 0) {
    stream_choose(&out.product, streaming_experts());
  }
  return out.product;
}

DEVICE void stream_to_next(const struct ring &ring, struct stream_slot *at) {
  if (++at->slot == ring.count) {
    at->slot = 0;
    at->turn ^= 1;
  }
}

// The slots of the units so many after it, and before it.
DEVICE struct stream_slot stream_slot_after(const struct ring &ring, struct stream_slot at,
                                            int after) {
  const int slot = at.slot + after;
  return slot < ring.count ? stream_slot{slot, at.turn}
                           : stream_slot{slot - ring.count, at.turn ^ 1};
}
DEVICE struct stream_slot stream_slot_before(const struct ring &ring, struct stream_slot at,
                                             int before) {
  const int slot = at.slot - before;
  return slot >= 0 ? stream_slot{slot, at.turn} : stream_slot{slot + ring.count, at.turn ^ 1};
}

// Requests the next unit, which is whole, into a slot whose contents all lanes have used.
DEVICE void stream_bring_whole(const struct stream_block &block, struct stream_state *state) {
  ring_bring(block.ring, state->to.slot, state->next, true);
  state->next.at += STREAM_BYTES;
  stream_to_next(block.ring, &state->to);
}

// Requests the next unit where no whole ones are known of; false if there is no further unit.
DEVICE bool stream_bring_next(const struct stream_block &block, struct stream_state *state) {
  struct stream_place *next = &state->next;
  if (next->at >= next->codes) {
    stream_next_pair(next);
  }
  while (next->left == 0) {
    if (state->product + 1 >= block.count) {
      next->at = state->whole = 0;
      return false;
    }
    const struct stream_product product = stream_product_at(block, ++state->product);
    *next = stream_begin(&product, streaming_block_index(), streaming_blocks(), warp_index(),
                         STREAM_WARPS);
  }
  const int units = RING_TELLS ? stream_whole_units(next) : 0; // all lanes copy any unit alike
  ring_bring(block.ring, state->to.slot, *next, false);
  stream_to_next(block.ring, &state->to);
  if (units == 0) {
    stream_advance(next);
    state->whole = next->at;
  } else {
    next->left -= units;
    state->whole = next->at + units * STREAM_BYTES;
    next->at += STREAM_BYTES;
  }
  return true;
}

// Puts the state into shared memory, between two products.
DEVICE void stream_keep(const struct stream_block &block, const struct stream_state &state) {
  const struct stream_place &next = state.next;
  const struct stream_slot oldest = stream_slot_before(block.ring, state.to, state.held);
  *block.kept = {{next.row[0], next.row[1]},
                 next.left + (state.whole - next.at) / STREAM_BYTES,
                 next.at,
                 next.both,
                 next.codes,
                 next.beside,
                 next.pair_bytes,
                 state.product,
                 state.held,
                 oldest.slot,
                 oldest.turn};
}

DEVICE struct stream_state stream_state_of(const struct stream_block &block) {
  const struct stream_kept kept = *block.kept;
  struct stream_state state = {};
  state.next.row[0] = kept.row[0];
  state.next.row[1] = kept.row[1];
  state.next.left = kept.left;
  state.next.at = kept.at;
  state.next.both = kept.both;
  state.next.codes = kept.codes;
  state.next.beside = kept.beside;
  state.next.pair_bytes = kept.pair_bytes;
  state.whole = kept.at;
  state.product = kept.product;
  state.held = kept.held;
  state.to = stream_slot_after(block.ring, {kept.slot, kept.turn}, kept.held);
  return state;
}

// Whether a unit is there behind which only as many have been requested as may be on their way.
// They land in their order, or nearly.
DEVICE bool stream_landed(const struct stream_block &block, const struct stream_state &state) {
  const struct stream_slot at = stream_slot_before(block.ring, state.to, block.flying);
  return ring_landed(block.ring, at.slot, at.turn);
}

// Requests units as long as there is room, and any left.
DEVICE void stream_fill(const struct stream_block &block, struct stream_state *state) {
  while (state->held < block.ring.count) {
    if (RING_TELLS && state->held >= block.flying && !stream_landed(block, *state)) {
      return;
    }
    if (RING_TELLS && state->next.at != state->whole) {
      stream_bring_whole(block, state);
    } else if (!stream_bring_next(block, state)) {
      return;
    }
    state->held++;
  }
}

DEVICE void stream_meanwhile(void) {
  if (!ring_brings()) {
    return;
  }
  const struct stream_block block = stream_block_of();
  struct stream_state state = stream_state_of(block);
  const int held = state.held;
  stream_fill(block, &state);
  if (state.held > held) {
    stream_keep(block, state);
  }
}

DEVICE void streaming_start(void) {
  const struct stream_block block = stream_block_of();
  ring_make(block.ring);
  warp_wait();
  if (ring_brings()) {
    struct stream_state state = {};
    state.product = -1;
    stream_fill(block, &state);
    stream_keep(block, state);
  }
  warp_wait();
}

// Every block requests their weights before the others are there.
DEVICE void streaming_chosen(int products) {
  if (thread_index() == 0) {
    streaming_place()->launch.product_count = products;
  }
  block_wait();
  if (ring_brings()) {
    const struct stream_block block = stream_block_of();
    struct stream_state state = stream_state_of(block);
    stream_fill(block, &state);
    stream_keep(block, state);
  }
  warp_wait();
}

// The arguments are those of the item before, or of expert 0 and slot 0.
DEVICE void streaming_take(struct streaming_place *place) {
  const int *experts = streaming_experts();
  const int item = place->index[2];
  streaming_to_item(place->stage.arguments.product, item > 0 ? 1 : 0,
                    experts[item + 1] - (item > 0 ? experts[item] : 0));
}

// All lanes have used the oldest unit. The next one takes a slot, if it may be on its way.
DEVICE void stream_used(const struct stream_block &block, struct stream_state *state) {
  warp_wait();
  if (!ring_brings()) {
    return;
  }
  if (RING_TELLS && state->held > block.flying && !stream_landed(block, *state)) {
    state->held--;
  } else if (RING_TELLS && state->next.at != state->whole) {
    stream_bring_whole(block, state);
  } else if (!stream_bring_next(block, state)) {
    state->held--;
  }
}

// ---- BF16 and E4M3: two rows at a time, whatever the product

template <enum element WEIGHTS, enum rounding ROUND, enum vector_end END, int BATCH>
struct stream_kind : vector_kind<WEIGHTS, ELEMENT_BF16, ROUND, END, BATCH> {
  static constexpr int STREAMS = 2;
  static constexpr int SUMS = STREAMS * BATCH;                  // of a pair
  static constexpr int WIDER = WEIGHTS == ELEMENT_E4M3 ? 2 : 1; // an activation than a weight
  struct sums {
    float of[STREAMS][BATCH];
  };
  DEVICE bool has_scales(const struct product_arguments &) {
    return WEIGHTS == ELEMENT_E4M3;
  }
  DEVICE bool is_gated(const struct product_arguments &) {
    return END == VECTOR_SWIGLU;
  }
  DEVICE bool adds(const struct product_arguments &a) {
    return END == VECTOR_ADD && !a.without_residual;
  }
  DEVICE float own(const struct sums &sum, int row, int vector) {
    return sum.of[row][vector] * stream_kind::WORTH;
  }

  // Adds the products of a lane's 16 bytes of both rows, which lie `own` further on, to the sums.
  // `vectors` are those from a multiple of WARP chunks on, of which vector_slot need not know.
  DEVICE void multiply_chunk(const unsigned char *unit, const unsigned char *vectors, int own,
                             int vector_bytes, struct sums &sum) {
    const struct words4 weights[] = {load_shared(unit + own),
                                     load_shared(unit + STREAM_BYTES + own)};
    vector_multiply<stream_kind>(weights, own / 16, vectors, vector_bytes, sum.of);
  }

  // Adds the products of a unit to the sums.
  DEVICE void multiply(const struct stream_place &place, const struct ring &ring, int slot, int own,
                       const unsigned char *activations, int vector_bytes, struct sums &sum) {
    if (place.at + STREAM_BYTES <= place.codes) {
#pragma unroll
      for (int i = 0; i < STREAM_BYTES; i += WARP * 16) {
        multiply_chunk(ring_slot(ring, slot) + i, activations + (place.at + i) * WIDER, own,
                       vector_bytes, sum);
      }
      return;
    }
#pragma unroll 1
    for (int i = 0; place.at + i + own < place.codes; i += WARP * 16) {
      multiply_chunk(ring_slot(ring, slot) + i, activations + (place.at + i) * WIDER, own,
                     vector_bytes, sum);
    }
  }
};

// All units of the warp.
template <class KIND>
DEVICE void stream_units(const struct stream_product &product, const unsigned char *activations,
                         int vector_bytes) {
  const struct stream_block block = stream_block_of();
  const struct pair_block pairs = pair_block_of();
  struct stream_state state = stream_state_of(block);
  struct stream_slot slot = {block.kept->slot, block.kept->turn};
  struct stream_place place =
      stream_begin(&product, block.own, block.blocks, block.warp, STREAM_WARPS);
  typename KIND::sums sum = {};
  float *to = pair_first<KIND>(pairs, place);
  const int own = ring_own();
#pragma unroll 1
  while (place.left > 0) {
    const int units = stream_units_of_pair(&place), end = place.at + units * STREAM_BYTES;
    place.left -= units;
#pragma unroll 1
    do {
      ring_wait(block.ring, slot.slot, slot.turn, state.held == block.ring.count);
      KIND::multiply(place, block.ring, slot.slot, own, activations, vector_bytes, sum);
      stream_used(block, &state);
      stream_to_next(block.ring, &slot);
      place.at += STREAM_BYTES;
    } while (place.at < end);
    pair_leave<KIND>(sum, to);
    to = pairs.sums + (place.pair + 1) * KIND::SUMS;
    stream_next_pair(&place);
  }
  warp_wait();
  if (ring_brings()) {
    stream_keep(stream_block_of(), state);
  }
  warp_wait();
}

template <enum element WEIGHTS, enum rounding ROUND, enum vector_end END, int BATCH>
DEVICE void streaming_product(void) {
  typedef stream_kind<WEIGHTS, ROUND, END, BATCH> KIND;
  SHARED(unsigned char, shared);
  const struct product_arguments &a = streaming_held().arguments.product;
  constexpr int ALIGNED = ROW_ALIGNMENT * (WEIGHTS == ELEMENT_E4M3 ? 1 : 2); // bytes
  const struct stream_product product =
      stream_product_of(a.weights, a.second, a.rows, a.stride / ROW_ALIGNMENT, ALIGNED, 0);
  struct norm_ahead ahead = {};
  norm_before_wait<ROUND, VECTOR_THREADS>(a.norm, a.columns, &ahead);
  wait_for_previous();
  await_passed(a.input, a.columns);
  const int vector_bytes = vector_row_bytes<KIND>(a.stride);
  const int batch = BATCH == 1 ? 1 : a.batch;
  const struct vectors v = {a.input, a.norm, a.epsilon, a.columns, batch, NULL, a.input_stride};
  vector_activations<KIND>(v, a.stride, ahead, shared,
                           reinterpret_cast<float *>(shared + vector_bytes * BATCH));
  const struct pair_end<KIND> end = pair_end_early<KIND>(a, product);
  stream_units<KIND>(product, shared, vector_bytes);
  block_wait();
  pair_finish<KIND>(a, product, end);
}

// ---- weights in units

template <enum element TYPE, int BATCH> struct stream_unit_kind : unit_pair_kind<TYPE, BATCH> {
  typedef unit_pair_kind<TYPE, BATCH> PAIRS;
  DEVICE void multiply(const struct stream_place &place, const struct ring &ring, int slot, int,
                       const unsigned char *activations, int vector_bytes,
                       struct PAIRS::sums &sum) {
    const unsigned char *unit = ring_slot(ring, slot), *beside = ring_beside(ring, slot);
    const bool both = stream_has_second(&place); // otherwise the first again: a number, not used
    const unsigned char *second = both ? unit + STREAM_BYTES : unit;
    const unsigned char *second_beside = both ? beside + ring.beside : beside;
    const int units = stream_bytes(&place) / PAIRS::CODES;
    warp_wait(); // for what other lanes copied
#pragma unroll
    for (int turn = 0; turn < PAIRS::TURNS; turn++) {
      if (turn * PAIRS::SIDE < units) {
        const struct unit_pieces<PAIRS> pieces = unit_pieces_of<PAIRS, unit_in_shared>(
            {unit, second}, {beside, second_beside}, turn, units);
        unit_pair_multiply<PAIRS>(pieces, place, turn, activations, vector_bytes, sum);
      }
    }
  }
};

// Products of all elements are the same but for these loops.
template <int BATCH> DEVICE void stream_units_of_any(const struct product_arguments &a) {
  SHARED(unsigned char, shared);
  switch (streaming_held().kind) {
#define STREAM_UNITS(name, ELEMENT, code_bytes, beside_bytes)                                      \
  case STREAMING_##ELEMENT:                                                                        \
    return stream_units<stream_unit_kind<ELEMENT_##ELEMENT, BATCH>>(                               \
        unit_product_of<unit_pair_kind<ELEMENT_##ELEMENT, BATCH>>(a), shared,                      \
        unit_vector_bytes<unit_pair_kind<ELEMENT_##ELEMENT, BATCH>>(a));
    GPU_UNIT_ELEMENTS(STREAM_UNITS)
#undef STREAM_UNITS
  default: return;
  }
}

// Rows and pairs do not depend on the element; units only on its codes' bytes.
template <int BATCH>
DEVICE struct stream_product stream_product_of_any(const struct product_arguments &a) {
  typedef unit_pair_kind<ELEMENT_MXFP4, BATCH> FOUR_BITS;
  typedef unit_pair_kind<ELEMENT_INT8, BATCH> EIGHT_BITS;
  const int kind = streaming_held().kind;
  const bool is_eight = kind == STREAMING_INT8 || kind == STREAMING_INT8_GROUP;
  return is_eight ? unit_product_of<EIGHT_BITS>(a) : unit_product_of<FOUR_BITS>(a);
}

template <int BATCH> DEVICE void streaming_units(void) {
  typedef unit_pair_kind<ELEMENT_MXFP4, BATCH> ANY;
  const struct product_arguments &a = streaming_held().arguments.product;
  unit_activations<ANY>(a);
  const struct pair_end<ANY> end = pair_end_early<ANY>(a, stream_product_of_any<BATCH>(a));
  stream_units_of_any<BATCH>(a);
  block_wait();
  pair_finish<ANY>(a, stream_product_of_any<BATCH>(a), end);
}

#endif
