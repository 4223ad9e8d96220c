// wgmma_ring: how weights and activations come to the products of product_wgmma.h: a block's share
// of the work, and the ring through which one thread brings it.
//
// One thread of an extra warpgroup, which leaves its registers to the others, copies weights and
// activations into a ring of stages, each a step of WGMMA_STEP_BYTES of every row, as far ahead as
// shared memory allows: 32 KiB of weights per stage, where an H200 needs 36 KiB in flight per
// multiprocessor (4.8 TB/s for about a microsecond, over 132). The first weights are in flight
// before wait_for_previous. Two warpgroups multiply; a stage is full when all its bytes have
// arrived, and empty when the eight warps are done with it.
//
// With two strips, a block multiplies as many rows again by the same activations, one stage after
// the other, so L2 is asked for these half as often. Activations then have a ring of their own:
// they come with the first strip's weights, and as many places as half the stages, and one more,
// are enough. Stage t of weights is brought when stage t - stages is empty. For the first strip of
// unit u, that is stage 2 u - stages or, since 2 slots > stages, the second strip of unit u - slots
// or a later one; and unit u - slots is the one whose place the activations of u take.
//
// Two blocks of a cluster that are beside each other have neighboring rows and the same units of
// the work (even.h), so they need the same activations at the same time: each brings half of them
// to both, and L2 is asked for them once. Hence a stage is empty when the warps of both blocks are
// done with it, and no block ends before its last stages are: the other's warps tell it so.
//
// The range is one stream to the copying thread, which goes on to the next tile's weights while the
// warps still store or merge this one's sums.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_WGMMA_RING_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_WGMMA_RING_H

#include "kernels/gpu/device/machine/matrix_wgmma.h"
#include "kernels/gpu/device/products/product_matrix.h"

// Compile-time parameters of a product; names shared with product_matrix.h mean the same.
template <class ELEMENTS_, matrix_end END_, int COLUMNS_, int STRIPS_ = 1> struct wgmma_kind {
  typedef ELEMENTS_ ELEMENTS;
  static constexpr matrix_end END = END_;
  static constexpr int COLUMNS = COLUMNS_, STRIPS = STRIPS_;
  static constexpr int TILES = WGMMA_TILES, COLUMN_TILES = COLUMNS / 8;
  static constexpr int STREAMS = MATRIX_STREAMS<END>;
  static constexpr int ROWS = WGMMA_ROWS * WGMMA_TILES / STREAMS; // of the output, per warpgroup
  static constexpr int BLOCKS_OF_B = ELEMENTS::B_BYTES / ELEMENTS::A_BYTES;
  typedef float sums[COLUMN_TILES][TILES][4]; // of a strip
};

template <class ELEMENTS> constexpr int RESIDUALS<wgmma_kind<ELEMENTS, MATRIX_ADD, 128>> = 4;
template <class ELEMENTS, int STRIPS>
constexpr int RESIDUALS<wgmma_kind<ELEMENTS, MATRIX_ADD, 64, STRIPS>> = STRIPS > 1 ? 16 : 32;

template <class ELEMENTS, matrix_end END, int COLUMNS, int STRIPS>
struct matrix_layout<wgmma_kind<ELEMENTS, END, COLUMNS, STRIPS>> {
  DEVICE struct matrix_place place(const struct matrix_share &share, int index) {
    struct matrix_place at;
    at.i = index % 4;
    at.n = index / 4 % WGMMA_TILES;
    at.tile = index / 4 / WGMMA_TILES;
    at.stream = MATRIX_STREAMS<END> == 2 ? at.n : 0;
    at.row = share.row + (at.n - at.stream) * WGMMA_ROWS + wgmma_row(at.i);
    at.column = share.column + at.tile * 8 + wgmma_column(at.i);
    return at;
  }
};

// The cluster's blocks beside each other, and its parts; strips are in no cluster.
template <class KIND> DEVICE int wgmma_beside(const struct wgmma_arguments &a) {
  return KIND::STRIPS > 1 ? 1 : a.beside;
}
template <class KIND> DEVICE int wgmma_parts(const struct wgmma_arguments &a) {
  return KIND::STRIPS > 1 ? 1 : a.parts;
}

// The block's range of the work, which it has with those beside it, and its ring.
struct wgmma_share {
  int part, rank;          // rank: among the blocks beside each other
  unsigned begin, end;     // units
  int tiles;               // of weights in a stage
  int rows;                // of the output in a strip
  int stage_bytes, stages; // of weights
  int slot_bytes, slots;   // of activations
  int activations;         // where their slots begin, from the ring on
  char *ring;
  uint64_t *full, *empty;  // barriers, one for each stage
  uint64_t *there, *taken; // one for each warp, arrived at by those that add up the same sums
  float *found;            // of each column: 1 / rms, if a norm precedes
};

template <class KIND>
DEVICE struct wgmma_share wgmma_share_of(const struct wgmma_arguments &a, char *shared) {
  const struct product_arguments &p = a.product;
  struct wgmma_share share;
  const int blocks = wgmma_beside<KIND>(a) * wgmma_parts<KIND>(a),
            rank = blocks > 1 ? cluster_rank() : 0;
  const unsigned cluster = (unsigned)block_index(0) / (unsigned)blocks; // the block of even.h
  share.part = rank / wgmma_beside<KIND>(a);
  share.rank = rank % wgmma_beside<KIND>(a);
  const unsigned begin = even_begin(&a.work, cluster);
  const unsigned count = even_begin(&a.work, cluster + 1) - begin;
  share.begin = begin + count * (unsigned)share.part / (unsigned)wgmma_parts<KIND>(a);
  share.end = begin + count * ((unsigned)share.part + 1) / (unsigned)wgmma_parts<KIND>(a);
  share.tiles = WGMMA_GROUPS * WGMMA_TILES / (p.batch_padded / KIND::COLUMNS);
  share.rows = share.tiles / KIND::STREAMS * WGMMA_ROWS;
  share.stages = a.stages;
  share.stage_bytes = share.tiles * WGMMA_TILE_BYTES;
  share.slots = a.slots;
  share.slot_bytes = p.batch_padded * WGMMA_STEP_BYTES * KIND::BLOCKS_OF_B;
  share.ring = shared + (WGMMA_ALIGNMENT - 1 -
                         (shared_address(shared) + WGMMA_ALIGNMENT - 1) % WGMMA_ALIGNMENT);
  share.activations = share.stages * share.stage_bytes;
  share.full =
      reinterpret_cast<uint64_t *>(share.ring + share.activations + share.slots * share.slot_bytes);
  share.empty = share.full + MAX_WGMMA_STAGES;
  share.there = share.empty + MAX_WGMMA_STAGES;
  share.taken = share.there + WGMMA_GROUPS * 4;
  share.found = reinterpret_cast<float *>(share.taken + WGMMA_GROUPS * 4);
  return share;
}

// Which stage comes next, and which use of it; the activations' slot.
struct wgmma_turn {
  int stage, phase, slot;
};

DEVICE void wgmma_advance(const struct wgmma_share &share, struct wgmma_turn &turn) {
  if (++turn.stage == share.stages) {
    turn.stage = 0;
    turn.phase ^= 1;
  }
}

// The activations' slot: with one strip, the stage's own; otherwise it advances after a unit, with
// all its strips.
template <class KIND> DEVICE int wgmma_slot(const struct wgmma_turn &turn) {
  return KIND::STRIPS > 1 ? turn.slot : turn.stage;
}
DEVICE void wgmma_advance_slot(const struct wgmma_share &share, struct wgmma_turn &turn) {
  turn.slot = turn.slot + 1 == share.slots ? 0 : turn.slot + 1;
}

// The first row of the output in a strip of a tile of the work.
template <class KIND>
DEVICE int wgmma_first_row(const struct wgmma_arguments &a, const struct wgmma_share &share,
                           unsigned tile, int strip) {
  return (((int)tile * wgmma_beside<KIND>(a) + share.rank) * KIND::STRIPS + strip) * share.rows;
}

// ---- copying: one thread

template <class KIND>
DEVICE void wgmma_bring_weights(const struct wgmma_arguments &a, const struct wgmma_share &share,
                                unsigned unit, int strip, int stage) {
  char *to = share.ring + stage * share.stage_bytes;
  const int row = wgmma_first_row<KIND>(a, share, unit / a.work.steps, strip);
  const int byte = (int)(unit % a.work.steps) * WGMMA_STEP_BYTES;
  barrier_expect(share.full + stage, share.stage_bytes + (strip == 0 ? share.slot_bytes : 0));
#pragma unroll 1
  for (int tile = 0; tile < share.tiles; tile++) {
    const bool is_second = KIND::STREAMS == 2 && tile % 2 == 1;
    box_bring(to + tile * WGMMA_TILE_BYTES, is_second ? &a.second : &a.weights, byte,
              row + tile / KIND::STREAMS * WGMMA_ROWS, share.full + stage);
  }
}

// This block's share of them, to the same place in all blocks beside each other; they arrive with a
// stage of weights.
template <class KIND>
DEVICE void wgmma_bring_activations(const struct wgmma_arguments &a,
                                    const struct wgmma_share &share, unsigned unit, int slot,
                                    int stage) {
  const int bytes = a.product.batch_padded * WGMMA_STEP_BYTES;
  const int step = (int)(unit % a.work.steps);
  const int row = a.product.batch_padded / wgmma_beside<KIND>(a) * share.rank;
  char *to = share.ring + share.activations + slot * share.slot_bytes + row * WGMMA_STEP_BYTES;
#pragma unroll
  for (int block = 0; block < KIND::BLOCKS_OF_B; block++) {
    const int byte = (step * KIND::BLOCKS_OF_B + block) * WGMMA_STEP_BYTES;
    if (wgmma_beside<KIND>(a) > 1) {
      box_bring_to(to + block * bytes, &a.activations, byte, row, share.full + stage,
                   ((1 << MAX_WGMMA_BESIDE) - 1) << share.part * MAX_WGMMA_BESIDE);
    } else {
      box_bring(to + block * bytes, &a.activations, byte, row, share.full + stage);
    }
  }
}

// The copy engine finds its maps in memory, once for each launch. The activations' is asked for
// with the others, or it would be waited for after what precedes the launch, with nothing else
// under way.
template <class KIND> DEVICE void wgmma_maps_ahead(const struct wgmma_arguments &a) {
  map_ahead(&a.weights);
  if (KIND::STREAMS == 2) {
    map_ahead(&a.second);
  }
  map_ahead(&a.activations);
}

// Stages of weights, of all units and of those before the wait for the preceding kernel.
template <class KIND> DEVICE int wgmma_count(const struct wgmma_share &share) {
  return (int)(share.end - share.begin) * KIND::STRIPS;
}
template <class KIND> DEVICE int wgmma_ahead(const struct wgmma_share &share) {
  return wgmma_count<KIND>(share) < share.stages ? wgmma_count<KIND>(share) : share.stages;
}

template <class KIND>
DEVICE void wgmma_bring_first(const struct wgmma_arguments &a, const struct wgmma_share &share) {
#pragma unroll 1
  for (int i = 0; i < wgmma_ahead<KIND>(share); i++) {
    wgmma_bring_weights<KIND>(a, share, share.begin + (unsigned)(i / KIND::STRIPS),
                              i % KIND::STRIPS, i);
  }
}

template <class KIND>
DEVICE void wgmma_wait_empty(const struct wgmma_arguments &a, const struct wgmma_share &share,
                             const struct wgmma_turn &turn) {
  if (wgmma_beside<KIND>(a) > 1) {
    barrier_wait_cluster(share.empty + turn.stage, turn.phase);
  } else {
    barrier_wait(share.empty + turn.stage, turn.phase);
  }
}

// The activations that belong to these.
template <class KIND>
DEVICE void wgmma_bring_second(const struct wgmma_arguments &a, const struct wgmma_share &share) {
  published_for_copies();
#pragma unroll 1
  for (int i = 0; i < wgmma_ahead<KIND>(share); i += KIND::STRIPS) {
    const int unit = i / KIND::STRIPS; // and its slot
    wgmma_bring_activations<KIND>(a, share, share.begin + (unsigned)unit, unit, i);
  }
}

template <class KIND>
DEVICE void wgmma_bring_rest(const struct wgmma_arguments &a, const struct wgmma_share &share) {
  const int ahead = wgmma_ahead<KIND>(share), count = wgmma_count<KIND>(share);
  struct wgmma_turn turn = {0, 0, (ahead + KIND::STRIPS - 1) / KIND::STRIPS % share.slots};
#pragma unroll 1
  for (int i = ahead; i < count; i++) {
    const unsigned unit = share.begin + (unsigned)(i / KIND::STRIPS);
    wgmma_wait_empty<KIND>(a, share, turn);
    wgmma_bring_weights<KIND>(a, share, unit, i % KIND::STRIPS, turn.stage);
    if (i % KIND::STRIPS == 0) {
      wgmma_bring_activations<KIND>(a, share, unit, wgmma_slot<KIND>(turn), turn.stage);
      wgmma_advance_slot(share, turn);
    }
    wgmma_advance(share, turn);
  }
#pragma unroll 1
  for (int i = 0; i < ahead && wgmma_beside<KIND>(a) > 1;
       i++) { // the other block still arrives here
    wgmma_wait_empty<KIND>(a, share, turn);
    wgmma_advance(share, turn);
  }
}

#endif
