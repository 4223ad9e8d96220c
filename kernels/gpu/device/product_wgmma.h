// product_wgmma: weights times a batch of activations on the matrix unit of sm_90a: the kernels
// wgmma_* of arguments.h. The weights are A, the batch is B.
//
// One thread of an extra warpgroup, which leaves its registers to the others, copies weights and
// activations into a ring of stages, each a step of WGMMA_STEP_BYTES of every row, as far ahead as
// shared memory allows: 32 KiB of weights per stage, where an H200 needs 36 KiB in flight per
// multiprocessor (4.8 TB/s for about a microsecond, over 132). The first weights are in flight
// before wait_for_previous. Two warpgroups multiply; a stage is full when all its bytes have
// arrived, and empty when the eight warps are done with it.
//
// BF16 x BF16 goes from shared memory straight into the matrix unit. In E4M3 x BF16 the weights
// pass through registers, where they become BF16; the activations are in an order for which a
// lane's 16 bytes of a row, even pieces first, are what the matrix unit wants from it, in other
// banks than its neighbors'. E4M3 x E4M3 is summed by the unit with about 14 bits (DeepSeek-V3
// technical report, arXiv 2412.19437, 3.5.2), so the sum starts again at each step, 128 elements,
// and is then added in float. Both take registers that 128 columns would need; hence their limit of
// 64.
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
// warps still store or merge this one's sums. A warp merges its own rows and columns of a tile with
// the same warp of other clusters, and waits for nothing but its loads; so whether and when other
// clusters run does not matter.
//
// Where a cluster has several parts, it does a whole tile, and nothing passes through L2: each warp
// puts its sums into its block's ring, no longer in use, and adds up and stores a part of the
// columns, which it reads from the rings of all parts. They are added in the order of even.h's
// tree, so as many pieces merged through L2 have the same sums. Warps wait for the same warp of the
// other parts twice: until it has put its sums there, and, so that no block ends whose ring is
// still read, until it has read. Nothing else is between its start and these two arrivals than its
// own block's work; so, as the blocks of a cluster run at the same time, none waits forever.
//
// An RMS norm between two products needs no kernel. As W (x gain / rms) = (W (x gain)) / rms, the
// product that adds to the residual stream passes on x gain, rounded, and sums of x^2; the next one
// finds 1 / rms from these while its weights are on their way, and multiplies its sums by it. A
// warp's rows of a column have one sum of squares, however the work is divided, and all of them are
// added up in one order. So every block finds the same 1 / rms.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PRODUCT_WGMMA_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PRODUCT_WGMMA_H

#include "kernels/gpu/device/machine/matrix_wgmma.h"
#include "kernels/gpu/device/product_matrix.h"

enum { WGMMA_LOADS = 16 }; // of 16 bytes a lane, under way together while sums are merged

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

// Whether a norm may follow the product, or precede it: E4M3 needs a whole vector for its scale.
template <class KIND> constexpr bool NORM_ROUNDS = KIND::ELEMENTS::B_SCALED == NOT_SCALED;
template <class KIND>
constexpr bool NORM_BEHIND = NORM_ROUNDS<KIND> && (KIND::END == MATRIX_ADD) &&
                             (KIND::COLUMNS <= WGMMA_NORM_COLUMNS);
template <class KIND> constexpr bool NORM_BEFORE = NORM_ROUNDS<KIND> && (KIND::END != MATRIX_ADD);

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

// Of the cluster; strips are in none.
template <class KIND> DEVICE int wgmma_beside(const struct wgmma_arguments &a) {
  return KIND::STRIPS > 1 ? 1 : a.beside;
}
template <class KIND> DEVICE int wgmma_parts(const struct wgmma_arguments &a) {
  return KIND::STRIPS > 1 ? 1 : a.parts;
}

// The block's range of the work, which it has with those beside it, and its ring.
struct wgmma_share {
  unsigned block;          // of even.h: the cluster
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
  share.block = (unsigned)block_index(0) / (unsigned)blocks;
  share.part = rank / wgmma_beside<KIND>(a);
  share.rank = rank % wgmma_beside<KIND>(a);
  const unsigned begin = even_begin(&a.work, share.block);
  const unsigned count = even_begin(&a.work, share.block + 1) - begin;
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

// With one strip, a stage's slot is its own. Otherwise it advances after a unit, with all its
// strips.
template <class KIND> DEVICE int wgmma_slot(const struct wgmma_turn &turn) {
  return KIND::STRIPS > 1 ? turn.slot : turn.stage;
}
DEVICE void wgmma_advance_slot(const struct wgmma_share &share, struct wgmma_turn &turn) {
  turn.slot = turn.slot + 1 == share.slots ? 0 : turn.slot + 1;
}

// Of the output, in a strip of a tile of the work.
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

// ---- multiplying: warpgroups. `a` is where the first tile of weights begins, `b` the warpgroup's
// columns; `b_bytes` from one block of B to the next.

// What differs between the element types: how a step's sums are added to `sum`.
template <class ELEMENTS> struct wgmma_multiply;

template <> struct wgmma_multiply<bf16_bf16> {
  template <class KIND>
  DEVICE void step(const char *a, const char *b, int, typename KIND::sums &sum) {
    const uint64_t first = wgmma_matrix(a), second = wgmma_matrix(a + WGMMA_TILE_BYTES);
    const uint64_t columns = wgmma_matrix(b);
    wgmma_begin(sum);
#pragma unroll
    for (int k = 0; k < WGMMA_STEP_BYTES / 32; k++) {
      typedef wgmma_instruction<KIND::COLUMNS> instruction;
      const uint64_t next = (uint64_t)(k * WGMMA_NEXT);
      instruction::template bf16<0>(sum, first + next, columns + next);
      instruction::template bf16<1>(sum, second + next, columns + next);
    }
    wgmma_wait(sum);
  }
};

// The two rows of a tile that a lane holds, as BF16 for the 4 instructions of half a step.
DEVICE void wgmma_convert(const char *tile, int half, uint32_t (&out)[4][4]) {
  const int row = wgmma_row(0), t = lane_index() % 4;
  const char *from = tile + wgmma_place(row, (2 * t + half) * 16);
  const struct words4 upper = load_shared(from);
  const struct words4 lower = load_shared(from + 8 * WGMMA_STEP_BYTES);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    out[i][0] = e4m3_pair_bf16(upper.word[i]);
    out[i][1] = e4m3_pair_bf16(lower.word[i]);
    out[i][2] = e4m3_pair_bf16(upper.word[i], 1);
    out[i][3] = e4m3_pair_bf16(lower.word[i], 1);
  }
}

// The next half is converted while this one is multiplied.
template <> struct wgmma_multiply<e4m3_bf16> {
  template <class KIND, int TILE>
  DEVICE void half(const char *a, const char *b, int b_bytes, typename KIND::sums &sum, int half) {
    uint32_t rows[4][4];
    wgmma_convert(a + TILE * WGMMA_TILE_BYTES, half, rows);
    wgmma_registers_set();
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const uint64_t columns = wgmma_matrix(b + half * b_bytes) + (uint64_t)(k * WGMMA_NEXT);
      wgmma_instruction<KIND::COLUMNS>::template bf16_registers<TILE>(sum, rows[k], columns);
    }
  }
  template <class KIND>
  DEVICE void step(const char *a, const char *b, int b_bytes, typename KIND::sums &sum) {
    wgmma_begin(sum);
    half<KIND, 0>(a, b, b_bytes, sum, 0);
    half<KIND, 0>(a, b, b_bytes, sum, 1);
    half<KIND, 1>(a, b, b_bytes, sum, 0);
    half<KIND, 1>(a, b, b_bytes, sum, 1);
    wgmma_wait(sum);
  }
};

template <> struct wgmma_multiply<e4m3_e4m3> {
  template <class KIND, int TILE>
  DEVICE void tile(const char *a, const char *b, typename KIND::sums &sum) {
    typedef wgmma_instruction<KIND::COLUMNS> instruction;
    const uint64_t rows = wgmma_matrix(a), columns = wgmma_matrix(b);
    float part[KIND::COLUMN_TILES][1][4] = {};
    wgmma_begin(part);
    instruction::template e4m3<0, false>(part, rows, columns);
#pragma unroll
    for (int k = 1; k < WGMMA_STEP_BYTES / 32; k++) {
      const uint64_t next = (uint64_t)(k * WGMMA_NEXT);
      instruction::template e4m3<0, true>(part, rows + next, columns + next);
    }
    wgmma_wait(part);
#pragma unroll
    for (int i = 0; i < KIND::COLUMN_TILES * 4; i++) {
      sum[i / 4][TILE][i % 4] += part[i / 4][0][i % 4];
    }
  }
  template <class KIND>
  DEVICE void step(const char *a, const char *b, int, typename KIND::sums &sum) {
    tile<KIND, 0>(a, b, sum);
    tile<KIND, 1>(a + WGMMA_TILE_BYTES, b, sum);
  }
};

// A warp is done with a stage: tells all blocks that bring something into it.
template <class KIND>
DEVICE void wgmma_release(const struct wgmma_arguments &a, const struct wgmma_share &share,
                          uint64_t *empty) {
  warp_wait();
  if (wgmma_beside<KIND>(a) > 1) {
    if (lane_index() < MAX_WGMMA_BESIDE) {
      barrier_arrive_at(empty, share.part * MAX_WGMMA_BESIDE + lane_index());
    }
  } else if (lane_index() == 0) {
    barrier_arrive(empty);
  }
}

template <class KIND>
DEVICE void wgmma_sum(const struct wgmma_arguments &a, const struct wgmma_share &share,
                      int rows_group, int columns_group, int steps, struct wgmma_turn &turn,
                      typename KIND::sums (&sum)[KIND::STRIPS]) {
  const int b_bytes = a.product.batch_padded * WGMMA_STEP_BYTES;
  const int weights = rows_group * WGMMA_TILES * WGMMA_TILE_BYTES;
  const int activations = share.activations + columns_group * KIND::COLUMNS * WGMMA_STEP_BYTES;
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    const char *columns = share.ring + activations + wgmma_slot<KIND>(turn) * share.slot_bytes;
#pragma unroll
    for (int strip = 0; strip < KIND::STRIPS; strip++) {
      const char *at = share.ring + turn.stage * share.stage_bytes + weights;
      barrier_wait(share.full + turn.stage, turn.phase);
      wgmma_multiply<typename KIND::ELEMENTS>::template step<KIND>(at, columns, b_bytes,
                                                                   sum[strip]);
      stamp_product(sum[strip][0][0][0]);
      wgmma_release<KIND>(a, share, share.empty + turn.stage);
      wgmma_advance(share, turn);
    }
    wgmma_advance_slot(share, turn);
  }
}

// ---- a norm before the product: what is found before the first step

// Columns whose sums are under way together, and loads of each.
enum { NORM_LOADS = 8, NORM_PIECES = 2 };

// The squares of the vectors from `column` on, as far as the batch has these.
template <int COUNT>
DEVICE void wgmma_squares_of(const struct wgmma_norm &norm, const struct product_arguments &a,
                             int column, float (&sum)[COUNT]) {
#pragma unroll 1
  for (int first = lane_index() * 4; first < norm.sums; first += NORM_PIECES * WARP * 4) {
    struct words4 words[COUNT][NORM_PIECES] = {};
#pragma unroll
    for (int i = 0; i < COUNT * NORM_PIECES; i++) {
      const int at = first + i % NORM_PIECES * WARP * 4, of = column + i / NORM_PIECES;
      if (at < norm.sums && of < a.batch) {
        words[i / NORM_PIECES][i % NORM_PIECES] =
            load_published(norm.squares + of * norm.sums + at);
      }
    }
#pragma unroll
    for (int i = 0; i < COUNT * NORM_PIECES * 4; i++) {
      sum[i / 4 / NORM_PIECES] +=
          float_of(words[i / 4 / NORM_PIECES][i / 4 % NORM_PIECES].word[i % 4]);
    }
  }
}

// By the whole block, of which the warps that multiply find 1 / rms, each for a part of the
// columns; or 1 where the activations come after their norm.
template <class KIND>
DEVICE void wgmma_find(const struct wgmma_norm &norm, const struct product_arguments &a,
                       float *found) {
  constexpr int WARPS = WGMMA_GROUPS * 4, MOST = KIND::COLUMNS / WARPS;
  constexpr int COUNT = MOST < NORM_LOADS ? MOST : NORM_LOADS;
  const int columns = warp_index() < WARPS ? a.batch_padded / WARPS : 0;
  const int begin = warp_index() * columns;
#pragma unroll 1
  for (int column = begin; column < begin + columns; column += COUNT) {
    float sum[COUNT] = {};
    if (norm.squares) {
      wgmma_squares_of<COUNT>(norm, a, column, sum);
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      const float count = (float)a.columns, squares = warp_sum(sum[i]);
      if (lane_index() == 0) {
        found[column + i] =
            norm.squares ? square_root(count * reciprocal(squares + count * norm.epsilon)) : 1;
      }
    }
  }
  block_wait();
}

// ---- a norm before the product or behind it: the epilogue

template <class ELEMENTS, matrix_end END, int COLUMNS, int STRIPS>
struct matrix_norm<wgmma_kind<ELEMENTS, END, COLUMNS, STRIPS>> {
  typedef wgmma_kind<ELEMENTS, END, COLUMNS, STRIPS> kind;
  static constexpr bool PAIRED = ELEMENTS::A_BYTES < ELEMENTS::B_BYTES;
  static constexpr int ROWS = WGMMA_TILES * 2, TILE = WGMMA_TILES * 4; // of a lane; of its sums
  static constexpr int NEXT_64 = PAIRED ? 4 : 64, NEXT_8 = PAIRED ? 32 : 8; // rows, as stored

  const struct wgmma_norm *of; // NULL: there is none
  const float *found;          // 1 / rms of each column
  float factor[2];             // of these, those of the lane's columns of a tile of columns
  float squares[2];            // of the outputs in these
  float gain[ROWS];            // of its rows, which are the same in all tiles
  int place;                   // of the first of these in a vector

  DEVICE bool follows(const matrix_norm &norm) {
    return NORM_BEHIND<kind> && norm.of && norm.of->scaled;
  }
  // The lanes of a column, whose lane % 4 is the same, add up its squares.
  DEVICE void put(const struct product_arguments &a, const struct matrix_share &share, int tile,
                  const matrix_norm &norm) {
    const unsigned thread = (unsigned)thread_index_anew(), row = (unsigned)share.row;
    const unsigned at = row / (WGMMA_TILES * WGMMA_ROWS) * 4 + thread / WARP % 4;
    float sum[2] = {norm.squares[0], norm.squares[1]};
#pragma unroll
    for (int mask = 4; mask < WARP; mask *= 2) {
      sum[0] += shuffle_xor(sum[0], mask);
      sum[1] += shuffle_xor(sum[1], mask);
    }
    const bool second = thread % WARP >= 4;
    const int column = matrix_layout<kind>::place(share, tile * TILE).column + second;
    if (thread % WARP < 8 && column < a.batch && share.row < a.rows) {
      publish(norm.of->squares + (unsigned)(column * norm.of->sums) + at, second ? sum[1] : sum[0]);
    }
  }
  // While a tile's residuals are on their way, there is time for the squares of the one before.
  DEVICE void next(const struct product_arguments &a, const struct matrix_share &share, int first,
                   matrix_norm &norm) {
    if (follows(norm) && first > 0) {
      put(a, share, first / TILE - 1, norm);
    }
#pragma unroll
    for (int i = 0; i < 2 && NORM_BEFORE<kind>; i++) {
      norm.factor[i] = norm.found[matrix_layout<kind>::place(share, first + i).column];
    }
  }
  DEVICE float times(const matrix_norm &norm, const struct matrix_place &at, float sum) {
    return NORM_BEFORE<kind> ? sum * norm.factor[at.i % 2] : sum;
  }
  // Of 64 rows: a lane's two in both of its columns.
  DEVICE void pass_64(const struct product_arguments &a, int column, const float *x,
                      const float *gain, uint16_t *to, float (&squares)[2]) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const float upper = x[i], lower = x[i + 2];
      const uint32_t scaled = bf16_pair(upper * gain[0], lower * gain[1]);
      squares[i] += upper * upper + lower * lower;
      if (column + i < a.batch) {
        publish_bits16(to + i * a.rows, (uint16_t)scaled);
        publish_bits16(to + i * a.rows + NEXT_8, (uint16_t)(scaled >> 16));
      }
    }
  }
  // Of a tile's rows, all 64 are there or none.
  DEVICE void wrote(const struct product_arguments &a, const struct matrix_share &share, int first,
                    const float *x, matrix_norm &norm) {
    norm.squares[0] = norm.squares[1] = 0;
    if (!follows(norm)) {
      return;
    }
    const int column = matrix_layout<kind>::place(share, first).column, rows = a.rows;
    uint16_t *to = norm.of->scaled + (unsigned)(column * rows + norm.place);
#pragma unroll
    for (int n = 0; n < WGMMA_TILES; n++) {
      if (share.row + n * WGMMA_ROWS < rows) {
        pass_64(a, column, &x[4 * n], &norm.gain[2 * n], to + n * NEXT_64, norm.squares);
      }
    }
  }
  DEVICE void end(const struct product_arguments &a, const struct matrix_share &share,
                  const matrix_norm &norm) {
    if (follows(norm)) {
      put(a, share, COLUMNS / 8 - 1, norm);
    }
  }
  // So that the compiler does not have the addresses of all tiles in registers at once.
  DEVICE struct matrix_share anew(struct matrix_share share) {
    if (NORM_BEHIND<kind>) {
      share.column = warp_alike_anew(share.column);
    }
    return share;
  }
};

template <class KIND>
DEVICE struct matrix_norm<KIND>
wgmma_norm_of(const struct wgmma_norm &of, const struct product_arguments &a,
              const struct matrix_share &share, const float *found) {
  struct matrix_norm<KIND> norm = {};
  norm.of = &of;
  norm.found = found;
#pragma unroll
  for (int i = 0; NORM_BEHIND<KIND> && i < matrix_norm<KIND>::ROWS; i++) {
    const int row = matrix_layout<KIND>::place(share, i * 2).row;
    if (of.scaled && row < a.rows) {
      norm.gain[i] = load_published_float(of.gain + row);
    }
  }
  const int first = matrix_layout<KIND>::place(share, 0).row;
  norm.place = matrix_norm<KIND>::PAIRED ? 2 * paired_word(first / 2) + first % 2 : first;
  return norm;
}

// OF: whose columns these are, or some of them.
template <class KIND, class OF = KIND>
DEVICE void wgmma_finish(const struct wgmma_arguments &a, const struct wgmma_share &share,
                         const struct matrix_share &of_tile, typename KIND::sums &sum) {
  if constexpr (NORM_BEFORE<OF> || NORM_BEHIND<OF>) {
    matrix_finish<KIND>(a.product, of_tile, sum,
                        wgmma_norm_of<KIND>(a.norm, a.product, of_tile, share.found));
  } else {
    matrix_finish<KIND>(a.product, of_tile, sum);
  }
}

// ---- merging: a warp with the same warp of other clusters

// This lane's words of a piece in the workspace, its strips one after the other; WARP words further
// are its next.
template <class KIND>
DEVICE char *wgmma_partial(const struct wgmma_arguments &a, const struct wgmma_share &share,
                           unsigned tile, unsigned block) {
  const size_t place =
      (size_t)even_place(&a.work, tile, block) * (size_t)wgmma_beside<KIND>(a) + (size_t)share.rank;
  const size_t words = (size_t)KIND::STRIPS * KIND::COLUMN_TILES * KIND::TILES * WARP; // of a warp
  return reinterpret_cast<char *>(a.product.partials) +
         ((place * WGMMA_GROUPS * 4 + (size_t)warp_index()) * words + (size_t)lane_index()) *
             sizeof(struct words4);
}

template <class KIND>
DEVICE void wgmma_put(char *to, const typename KIND::sums (&sum)[KIND::STRIPS]) {
  constexpr int COUNT = KIND::COLUMN_TILES * KIND::TILES; // of a strip
#pragma unroll
  for (int i = 0; i < KIND::STRIPS * COUNT; i++) {
    const float(&from)[4] = sum[i / COUNT][i % COUNT / KIND::TILES][i % KIND::TILES];
    publish_words(to + (size_t)i * WARP * sizeof(struct words4),
                  {{bits_of(from[0]), bits_of(from[1]), bits_of(from[2]), bits_of(from[3])}});
  }
}

// WGMMA_LOADS are under way together.
template <class KIND>
DEVICE void wgmma_add(const char *from, typename KIND::sums (&sum)[KIND::STRIPS]) {
  constexpr int COUNT = KIND::COLUMN_TILES * KIND::TILES; // of a strip
  constexpr int LOADS = COUNT < WGMMA_LOADS ? COUNT : WGMMA_LOADS;
#pragma unroll
  for (int first = 0; first < KIND::STRIPS * COUNT; first += LOADS) {
    struct words4 words[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
      words[i] = load_published(from + (size_t)(first + i) * WARP * sizeof(struct words4));
    }
#pragma unroll
    for (int i = 0; i < LOADS * 4; i++) {
      const int index = first + i / 4;
      sum[index / COUNT][index % COUNT / KIND::TILES][index % KIND::TILES][i % 4] +=
          float_of(words[i / 4].word[i % 4]);
    }
  }
}

// Adds the sums of the tile's other pieces. False if another cluster goes on with these.
template <class KIND>
DEVICE bool wgmma_merge(const struct wgmma_arguments &a, const struct wgmma_share &share,
                        unsigned tile, typename KIND::sums (&sum)[KIND::STRIPS]) {
  const struct even_pieces pieces = even_pieces(&a.work, tile);
  unsigned at = share.block - pieces.first;
#pragma unroll 1
  for (unsigned step = 1; step < pieces.count; step *= 2) {
    const unsigned other = even_other(at, step);
    if (other >= pieces.count) {
      continue;
    }
    const unsigned node =
        (pieces.first + (at | step)) * (unsigned)wgmma_beside<KIND>(a) + (unsigned)share.rank;
    unsigned *counter = a.product.counters + node * WGMMA_GROUPS * 4 + (unsigned)warp_index();
    if (!warp_arrived(counter)) {
      wgmma_put<KIND>(wgmma_partial<KIND>(a, share, tile, pieces.first + at), sum);
      if (!warp_arrives(counter)) {
        return false;
      }
    }
    wgmma_add<KIND>(wgmma_partial<KIND>(a, share, tile, pieces.first + other), sum);
    at &= ~step;
  }
  return true;
}

// ---- adding up parts: a warp with the same warp of the blocks that have the same rows

// This lane's words of the warp's sums in its block's ring; WARP words further are its next. The
// fewest stages are longer.
template <class KIND> DEVICE char *wgmma_put_at(const struct wgmma_share &share) {
  const int words = KIND::COLUMN_TILES * KIND::TILES * WARP; // of a warp
  return share.ring + (warp_index() * words + lane_index()) * (int)sizeof(struct words4);
}

// By all warps of the block, the copying one, too: then all that was brought into the ring has been
// used.
DEVICE void wgmma_leave_ring(void) {
  block_wait();
}

// Tells the same warp of all parts, and waits for it there. Arrivals of both kinds at one barrier
// would not do: one part could arrive a second time before another has for the first time.
DEVICE void wgmma_meet(const struct wgmma_arguments &a, const struct wgmma_share &share,
                       uint64_t *barriers) {
  uint64_t *barrier = barriers + warp_index();
  warp_wait();
  if (lane_index() < a.parts) {
    barrier_arrive_at(barrier, lane_index() * a.beside + share.rank);
  }
  barrier_wait_cluster(barrier, 0);
}

// A tile of columns, of all parts, as even.h adds them up. Parts that are not there count as 0.
template <class KIND>
DEVICE void wgmma_add_parts(const struct wgmma_arguments &a, const struct wgmma_share &share,
                            const char *from, float (&sum)[1][KIND::TILES][4]) {
  struct words4 words[MAX_CLUSTER][KIND::TILES] = {};
  float part[MAX_CLUSTER];
#pragma unroll
  for (int p = 0; p < MAX_CLUSTER; p++) {
#pragma unroll
    for (int n = 0; n < KIND::TILES && p < a.parts; n++) {
      words[p][n] =
          load_from_block(from + n * WARP * (int)sizeof(struct words4), p * a.beside + share.rank);
    }
  }
#pragma unroll
  for (int i = 0; i < KIND::TILES * 4; i++) {
#pragma unroll
    for (int p = 0; p < MAX_CLUSTER; p++) {
      part[p] = float_of(words[p][i / 4].word[i % 4]);
    }
#pragma unroll
    for (int step = 1; step < MAX_CLUSTER; step *= 2) {
#pragma unroll
      for (int p = 0; p < MAX_CLUSTER; p += 2 * step) {
        part[p] += part[p + step];
      }
    }
    sum[0][i / 4][i % 4] = part[0];
  }
}

template <class KIND>
DEVICE void wgmma_finish_parts(const struct wgmma_arguments &a, const struct wgmma_share &share,
                               const struct matrix_share &of_tile, const typename KIND::sums &sum) {
  typedef wgmma_kind<typename KIND::ELEMENTS, KIND::END, 8> one; // tile of columns
  char *own = wgmma_put_at<KIND>(share);
  wgmma_leave_ring();
#pragma unroll
  for (int i = 0; i < KIND::COLUMN_TILES * KIND::TILES; i++) {
    const float(&from)[4] = sum[i / KIND::TILES][i % KIND::TILES];
    store_shared(own + i * WARP * (int)sizeof(struct words4),
                 {{bits_of(from[0]), bits_of(from[1]), bits_of(from[2]), bits_of(from[3])}});
  }
  wgmma_meet(a, share, share.there);
#pragma unroll 1
  for (int tile = share.part; tile < KIND::COLUMN_TILES; tile += a.parts) {
    const struct matrix_share columns = {of_tile.row, of_tile.column + tile * 8, 0, 0};
    typename one::sums all;
    wgmma_add_parts<one>(a, share, own + tile * KIND::TILES * WARP * (int)sizeof(struct words4),
                         all);
    wgmma_finish<one, KIND>(a, share, columns, all);
  }
  wgmma_meet(a, share, share.taken);
}

template <class KIND>
DEVICE void wgmma_tiles_of(const struct wgmma_arguments &a, const struct wgmma_share &share) {
  const struct product_arguments &p = a.product;
  const int group = warp_index() / 4;
  const bool side_by_side = p.batch_padded > KIND::COLUMNS; // in the columns
  const int rows_group = side_by_side ? 0 : group, columns_group = side_by_side ? group : 0;
  struct wgmma_turn turn = {0, 0, 0};
#pragma unroll 1
  for (unsigned unit = share.begin; unit < share.end;) {
    const unsigned tile = unit / a.work.steps, next = (tile + 1) * a.work.steps;
    const unsigned stop = next < share.end ? next : share.end;
    typename KIND::sums sum[KIND::STRIPS] = {};
    wgmma_sum<KIND>(a, share, rows_group, columns_group, (int)(stop - unit), turn, sum);
    const bool in_parts = wgmma_parts<KIND>(a) > 1;
    const bool is_whole = in_parts || wgmma_merge<KIND>(a, share, tile, sum);
#pragma unroll
    for (int strip = 0; strip < KIND::STRIPS; strip++) {
      const int row = wgmma_first_row<KIND>(a, share, tile, strip) + rows_group * KIND::ROWS;
      const struct matrix_share of_strip = {row, columns_group * KIND::COLUMNS, 0, 0};
      if (in_parts) {
        wgmma_finish_parts<KIND>(a, share, of_strip, sum[strip]);
      } else if (is_whole) {
        wgmma_finish<KIND>(a, share, of_strip, sum[strip]);
      }
    }
    unit = stop;
  }
}

template <class KIND> DEVICE void wgmma_product(const struct wgmma_arguments &a) {
  SHARED(char, shared);
  let_next_start();
  const struct wgmma_share share = wgmma_share_of<KIND>(a, shared);
  if (thread_index() == 0) {
#pragma unroll 1
    for (int stage = 0; stage < share.stages; stage++) {
      barrier_make(share.full + stage, 1);
      barrier_make(share.empty + stage, WGMMA_GROUPS * 4 * wgmma_beside<KIND>(a));
    }
#pragma unroll 1
    for (int warp = 0; warp < WGMMA_GROUPS * 4; warp++) {
      barrier_make(share.there + warp, wgmma_parts<KIND>(a));
      barrier_make(share.taken + warp, wgmma_parts<KIND>(a));
    }
    barriers_made();
  }
  block_wait();
  const bool in_cluster = wgmma_beside<KIND>(a) * wgmma_parts<KIND>(a) > 1;
  if (in_cluster) {
    cluster_arrive();
  }
  const bool copies = thread_index() == WGMMA_GROUPS * 128;
  if (copies) {
    wgmma_bring_first<KIND>(a, share);
  }
  wait_for_previous();
  if (in_cluster) {
    cluster_wait(); // all have made their barriers
  }
  if (copies) {
    wgmma_bring_second<KIND>(a, share);
  }
  if constexpr (NORM_BEFORE<KIND>) {
    wgmma_find<KIND>(a.norm, a.product, share.found);
  }
  if (warp_index() < WGMMA_GROUPS * 4) {
    wgmma_take_registers();
    wgmma_tiles_of<KIND>(a, share);
    return;
  }
  wgmma_leave_registers();
  if (copies) {
    wgmma_bring_rest<KIND>(a, share);
  }
  if (wgmma_parts<KIND>(a) > 1) {
    wgmma_leave_ring();
  }
}

#define WGMMA_KERNEL(elements, end, END, columns)                                                  \
  KERNEL_BOUNDS(wgmma_##elements##_##end##_##columns, wgmma_arguments, WGMMA_THREADS, 1) {         \
    wgmma_product<wgmma_kind<elements, END, columns>>(a);                                          \
  }
#define WGMMA_STRIPS_KERNEL(elements, end, END, columns)                                           \
  KERNEL_BOUNDS(wgmma_strips_##elements##_##end##_##columns, wgmma_arguments, WGMMA_THREADS, 1) {  \
    wgmma_product<wgmma_kind<elements, END, columns, MAX_WGMMA_STRIPS>>(a);                        \
  }
#define WGMMA_KERNELS(elements, columns)                                                           \
  WGMMA_KERNEL(elements, store, MATRIX_STORE, columns)                                             \
  WGMMA_KERNEL(elements, add, MATRIX_ADD, columns)                                                 \
  WGMMA_KERNEL(elements, swiglu, MATRIX_SWIGLU, columns)

#define WGMMA_STRIPS_KERNELS(elements, columns)                                                    \
  WGMMA_STRIPS_KERNEL(elements, store, MATRIX_STORE, columns)                                      \
  WGMMA_STRIPS_KERNEL(elements, add, MATRIX_ADD, columns)                                          \
  WGMMA_STRIPS_KERNEL(elements, swiglu, MATRIX_SWIGLU, columns)

WGMMA_STRIPS_KERNELS(bf16_bf16, 64)
WGMMA_STRIPS_KERNELS(e4m3_bf16, 64)
WGMMA_STRIPS_KERNELS(e4m3_e4m3, 64)
WGMMA_KERNELS(bf16_bf16, 16)
WGMMA_KERNELS(bf16_bf16, 32)
WGMMA_KERNELS(bf16_bf16, 64)
WGMMA_KERNELS(bf16_bf16, 128)
WGMMA_KERNELS(e4m3_bf16, 16)
WGMMA_KERNELS(e4m3_bf16, 32)
WGMMA_KERNELS(e4m3_bf16, 64)
WGMMA_KERNELS(e4m3_e4m3, 16)
WGMMA_KERNELS(e4m3_e4m3, 32)
WGMMA_KERNELS(e4m3_e4m3, 64)

#endif
