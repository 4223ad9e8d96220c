// attention: one new position of each batch row against its cache, or the positions of a prompt
// against their row's cache, on the matrix tile: the kernels attention_* of arguments/attention.h.
// What matters is that the stream of keys and values never stops.
//
// A warp takes units of the cache, each one tile step of positions (32 in BF16, 64 in E4M3): every
// ATTENTION_WARPS-th unit of its block's share. For a unit
//   scores[position][head] = keys x queries, the queries scaled by 1 / sqrt(head_dim) beforehand
//   weights = exp(scores - largest so far), passed on in BF16 through shared memory, and summed
//             after rounding, so that they sum to 1
//   sums[element][head] = sums * exp(largest before - largest so far) + values x weights
// Keys and values are streamed in batches of row tiles, several on their way at a time: those of
// the next unit's keys while this unit's softmax runs. On NVIDIA they are copied into shared memory
// (lane_ring.h), as many as a multiprocessor should have on their way: a load into a register
// occupies the nearest cache meanwhile, and that is small where blocks share nearly all of it
// (docs/gpu-model.md). In a step in one launch, whose shared memory is full of weights, and
// elsewhere they are loaded into registers, two batches at a time. The first of them start before
// wait_for_previous: no kernel of a step writes to positions before the last, which is why they use
// load_weights. The unit with the new position is read after the block has written it, into
// registers by load_published.
//
// Warps are merged in shared memory, the elements of a wide head in two rounds, and splits in
// memory, always in the same order. A split may have no units.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_ATTENTION_H
#define PERTOKEN_KERNELS_GPU_DEVICE_ATTENTION_H

#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/device/attention_merge.h"
#include "kernels/gpu/device/attention_queries.h"
#include "kernels/gpu/device/attention_share.h"
#include "kernels/gpu/device/machine/matrix_elements.h"
#include "kernels/gpu/device/products/family.h"

// This lane's part of a row tile of keys: positions from `first` on, step `step` of head_dim. For a
// head_dim of 192 in a HEADDIM of 256 the last step is read again, against zeros in the queries.
template <class KIND>
DEVICE const char *attention_key(const struct attention_arguments &a,
                                 const struct attention_share &s, int first, int step, int part) {
  const int stride = KIND::HEADDIM <= 128 ? KIND::HEADDIM : a.head_stride;
  const int last = stride / KIND::UNIT - 1, row = first + tile_part_row(lane_index(), part);
  return s.keys + (size_t)row * (size_t)(stride * KIND::BYTES) +
         (step < last ? step : last) * TILE_STEP_BYTES + tile_part_byte(lane_index(), part);
}

// Where values are: elements of the head from `first` on; beyond the end, the last one again.
// Counted from the first block on, what differs between them is computed in each unit and takes no
// registers from one to the next; where the arguments are in shared memory, that would take more of
// them.
template <class KIND>
DEVICE const char *attention_value(const struct attention_arguments &a,
                                   const struct attention_share &s, int unit, int first, int part) {
  const int position = unit * KIND::UNIT, row = first + tile_part_row(lane_index(), part);
  size_t place;
  if constexpr (KIND::FOLLOWED) {
    const int element = row < a.head_dim ? row : a.head_dim - 1;
    place = (size_t)(position / VALUE_BLOCK) * (size_t)a.head_dim + (size_t)element;
  } else {
    const int before = position / VALUE_BLOCK * a.head_dim, last = before + a.head_dim - 1;
    place = (size_t)(before + row < last ? before + row : last);
  }
  return s.values + place * (VALUE_BLOCK * KIND::BYTES) + position % VALUE_BLOCK * KIND::BYTES +
         tile_part_byte(lane_index(), part);
}

// The batches of a warp that are on their way, each in a slot until it is used: in registers or, if
// COPIED, in shared memory, where each is a group of copies.
template <class KIND, bool COPIED = KIND::COPIED> struct attention_flow {
  struct tile_a slot[KIND::BUFFERS][KIND::BATCH];
};
template <class KIND> struct attention_flow<KIND, true> {
  struct lane_ring<KIND::BUFFERS, KIND::BATCH * TILE_PARTS> ring;
};

template <class KIND> DEVICE struct attention_flow<KIND> attention_flow_begin(char *ring) {
  struct attention_flow<KIND> flow;
  if constexpr (KIND::COPIED) {
    const int bytes = lane_ring_bytes(KIND::BUFFERS, KIND::BATCH * TILE_PARTS);
    flow.ring =
        lane_ring_make<KIND::BUFFERS, KIND::BATCH * TILE_PARTS>(ring + warp_index() * bytes);
  } else if constexpr (KIND::FOLLOWED) { // otherwise kept while the step's other stages run
#pragma unroll
    for (int i = 0; i < KIND::BUFFERS * KIND::BATCH; i++) {
      flow.slot[i / KIND::BATCH][i % KIND::BATCH] = {};
    }
  }
  return flow;
}

// Fetches batch `index` of a unit into a slot: first come its keys, then its values.
template <class KIND, bool FRESH>
DEVICE void attention_fetch(const struct attention_arguments &a, const struct attention_share &s,
                            int unit, int index, struct attention_flow<KIND> &flow, int slot) {
#pragma unroll
  for (int k = 0; k < KIND::BATCH; k++) {
    const int tile = index % KIND::BATCHES * KIND::BATCH + k;
#pragma unroll
    for (int part = 0; part < TILE_PARTS; part++) {
      const char *from =
          index < KIND::BATCHES
              ? attention_key<KIND>(a, s, unit * KIND::UNIT + tile % KIND::KEY_TILES * TILE_ROWS,
                                    tile / KIND::KEY_TILES, part)
              : attention_value<KIND>(a, s, unit, tile * TILE_ROWS, part);
      if constexpr (KIND::COPIED) { // from L2, where all that this block has written is
        lane_ring_bring(flow.ring, slot, k * TILE_PARTS + part, from);
      } else {
        flow.slot[slot][k].part[part] = FRESH ? load_published(from) : load_weights(from);
      }
    }
  }
}

// The first batches of the warp's units. FRESH: of those that the block has written to by now;
// otherwise of the others, of which it reads nothing that a kernel of this step writes.
template <class KIND, bool FRESH>
DEVICE void attention_fetch_first(const struct attention_arguments &a,
                                  const struct attention_share &s,
                                  struct attention_flow<KIND> &flow) {
  if constexpr (KIND::COPIED) {
#pragma unroll
    for (int i = 0; i < KIND::BUFFERS; i++) {
      const int unit = s.unit + i / (2 * KIND::BATCHES) * ATTENTION_WARPS;
      const bool any = unit < s.end;
      if (FRESH == (!any || attention_is_fresh<KIND>(a, unit))) {
        if (any) {
          attention_fetch<KIND, FRESH>(a, s, unit, i % (2 * KIND::BATCHES), flow, i);
        }
        lane_ring_end();
      }
    }
  } else if (s.unit < s.end && FRESH == attention_is_fresh<KIND>(a, s.unit)) { // all of one unit
#pragma unroll
    for (int i = 0; i < KIND::BUFFERS; i++) {
      attention_fetch<KIND, FRESH && (KIND::PROMPT || !COUNTED_LOADS)>(a, s, s.unit, i, flow, i);
    }
  }
}

// A later one, of `unit` or, if there is no such unit, none: counted loads need one, `other`'s.
template <class KIND>
DEVICE void attention_fetch_next(const struct attention_arguments &a,
                                 const struct attention_share &s, int unit, int other, int index,
                                 struct attention_flow<KIND> &flow, int slot) {
  const bool any = unit == other || unit < s.end;
  if constexpr (KIND::COPIED) {
    if (any) {
      attention_fetch<KIND, false>(a, s, unit, index, flow, slot);
    }
    lane_ring_end();
  } else if (!COUNTED_LOADS && !any) {
    return;
  } else if (KIND::PROMPT) { // which neighboring blocks read, too
    attention_fetch<KIND, true>(a, s, any ? unit : other, index, flow, slot);
  } else if (COUNTED_LOADS) { // written by this block: either kind of load sees it
    attention_fetch<KIND, false>(a, s, any ? unit : other, index, flow, slot);
  } else if (TILE_PARTS == 4 ||
             attention_is_fresh<KIND>(a, unit)) { // half the code where the code is long
    attention_fetch<KIND, true>(a, s, unit, index, flow, slot);
  } else {
    attention_fetch<KIND, false>(a, s, unit, index, flow, slot);
  }
}

// A warp's results so far, each lane for its own accumulators and columns.
template <class KIND> struct attention_state {
  float score[KIND::KEY_TILES / KIND::SCORES][KIND::SCORES][TILE_ACCUMULATORS];
  float sum[KIND::BATCHES][KIND::BATCH][TILE_ACCUMULATORS];
  float largest[TILE_LANE_COLUMNS]; // the same in all lanes of a column
  float total[TILE_LANE_COLUMNS];   // of this lane's rows only
  int own[TILE_LANE_COLUMNS];       // for a prompt, the column's position
};

template <class KIND>
DEVICE void attention_begin(const struct attention_arguments &a, const struct attention_share &s,
                            struct attention_state<KIND> &state) {
#pragma unroll
  for (int tile = 0; tile < KIND::TILES; tile++) {
#pragma unroll
    for (int i = 0; i < TILE_ACCUMULATORS; i++) {
      state.sum[tile / KIND::BATCH][tile % KIND::BATCH][i] = 0;
    }
  }
#pragma unroll
  for (int c = 0; c < TILE_LANE_COLUMNS; c++) {
    state.largest[c] = ATTENTION_NONE;
    state.total[c] = 0;
    state.own[c] = a.first + attention_column_of<KIND>(a, s, tile_column(lane_index(), c)).row;
  }
}

// The rows of a tile are in lanes that differ in the bits of TILE_ROW_MASK.
DEVICE float attention_rows_largest(float v) {
#pragma unroll
  for (int mask = 1; mask < WARP; mask *= 2) {
    if (TILE_ROW_MASK & mask) {
      const float other = shuffle_xor(v, mask);
      v = other > v ? other : v;
    }
  }
  return v;
}
DEVICE float attention_rows_sum(float v) {
#pragma unroll
  for (int mask = 1; mask < WARP; mask *= 2) {
    if (TILE_ROW_MASK & mask) {
      v += shuffle_xor(v, mask);
    }
  }
  return v;
}

// Whether the lane's column attends to a position: not to those past the context or, in a prompt,
// past its own, whatever they contain, nor to those before a window.
template <class KIND>
DEVICE bool attention_is_seen(const struct attention_arguments &a,
                              const struct attention_state<KIND> &state, int c, int position) {
  if (KIND::PROMPT) {
    return position <= state.own[c] && position > state.own[c] - a.window;
  }
  return position < a.context && (!KIND::FAMILY || position >= a.first);
}

// Scales the scores, masks positions that are not attended to, and finds the new largest.
template <class KIND>
DEVICE void attention_largest(const struct attention_arguments &a, int unit,
                              struct attention_state<KIND> &state,
                              float (&largest)[TILE_LANE_COLUMNS]) {
#pragma unroll
  for (int c = 0; c < TILE_LANE_COLUMNS; c++) {
    largest[c] = state.largest[c];
  }
#pragma unroll
  for (int n = 0; n < KIND::KEY_TILES; n++) {
#pragma unroll
    for (int i = 0; i < TILE_ACCUMULATORS; i++) {
      const int position = unit * KIND::UNIT + n * TILE_ROWS + tile_row(lane_index(), i);
      float &score = state.score[n / KIND::SCORES][n % KIND::SCORES][i];
      float &most = largest[i % TILE_LANE_COLUMNS];
      const bool is_seen = attention_is_seen<KIND>(a, state, i % TILE_LANE_COLUMNS, position);
      score = is_seen ? score * KIND::ELEMENTS::scale() : ATTENTION_NONE;
      most = score > most ? score : most;
    }
  }
#pragma unroll
  for (int c = 0; c < TILE_LANE_COLUMNS; c++) {
    largest[c] = attention_rows_largest(largest[c]);
  }
}

// Turns scores into rounded weights in shared memory, and rescales earlier sums to the new largest.
template <class KIND>
DEVICE void attention_softmax(const struct attention_arguments &a, int unit,
                              struct attention_state<KIND> &state, char *weights) {
  float largest[TILE_LANE_COLUMNS], factor[TILE_LANE_COLUMNS];
  attention_largest<KIND>(a, unit, state, largest);
#pragma unroll
  for (int c = 0; c < TILE_LANE_COLUMNS; c++) {
    factor[c] = exponential(state.largest[c] - largest[c]);
    state.largest[c] = largest[c];
    state.total[c] *= factor[c];
  }
  warp_wait(); // all lanes have read the previous unit's weights
#pragma unroll
  for (int n = 0; n < KIND::KEY_TILES; n++) {
#pragma unroll
    for (int i = 0; i < TILE_ACCUMULATORS; i++) {
      const int c = i % TILE_LANE_COLUMNS;
      const float score = state.score[n / KIND::SCORES][n % KIND::SCORES][i];
      const uint32_t weight = bf16_pair(exponential(score - largest[c]), 0);
      char *column = weights + tile_column(lane_index(), i) * KIND::WEIGHT_BYTES;
      reinterpret_cast<uint16_t *>(column)[n * TILE_ROWS + tile_row(lane_index(), i)] =
          (uint16_t)weight;
      state.total[c] += bf16_low(weight);
    }
  }
  warp_wait();
#pragma unroll
  for (int tile = 0; tile < KIND::TILES; tile++) {
#pragma unroll
    for (int i = 0; i < TILE_ACCUMULATORS; i++) {
      state.sum[tile / KIND::BATCH][tile % KIND::BATCH][i] *= factor[i % TILE_LANE_COLUMNS];
    }
  }
}

// Adds a batch of keys to the scores.
template <class KIND>
DEVICE void attention_score(const struct tile_a (&keys)[KIND::BATCH], int index,
                            const char *queries, struct attention_state<KIND> &state) {
#pragma unroll
  for (int first = 0; first < KIND::BATCH; first += KIND::SCORES) {
    const int tile = index * KIND::BATCH + first, step = tile / KIND::KEY_TILES;
    struct tile_a tiles[KIND::SCORES];
#pragma unroll
    for (int n = 0; n < KIND::SCORES; n++) {
      tiles[n] = keys[first + n];
    }
    KIND::ELEMENTS::multiply(tiles, queries + step * KIND::ELEMENTS::B_STEP_BYTES,
                             KIND::QUERY_BYTES, state.score[tile % KIND::KEY_TILES / KIND::SCORES]);
  }
}

template <class KIND> DEVICE void attention_clear_scores(struct attention_state<KIND> &state) {
#pragma unroll
  for (int n = 0; n < KIND::KEY_TILES; n++) {
#pragma unroll
    for (int i = 0; i < TILE_ACCUMULATORS; i++) {
      state.score[n / KIND::SCORES][n % KIND::SCORES][i] = 0;
    }
  }
}

// Multiplies batch `index` of a unit.
template <class KIND>
DEVICE void attention_use(const struct tile_a (&batch)[KIND::BATCH], int index, const char *queries,
                          const char *weights, struct attention_state<KIND> &state) {
  if (index < KIND::BATCHES) {
    attention_score<KIND>(batch, index, queries, state);
    stamp_product(state.score[0][0][0]);
  } else {
    KIND::ELEMENTS::multiply(batch, weights, KIND::WEIGHT_BYTES, state.sum[index - KIND::BATCHES]);
  }
}

// The same for the oldest batch on its way.
template <class KIND>
DEVICE void attention_take(const struct attention_flow<KIND> &flow, int slot, int index,
                           const char *queries, const char *weights,
                           struct attention_state<KIND> &state) {
  if constexpr (KIND::COPIED) {
    struct tile_a batch[KIND::BATCH];
    lane_ring_wait<KIND::BUFFERS - 1>();
#pragma unroll
    for (int i = 0; i < KIND::BATCH * TILE_PARTS; i++) {
      batch[i / TILE_PARTS].part[i % TILE_PARTS] = lane_ring_take(flow.ring, slot, i);
    }
    attention_use<KIND>(batch, index, queries, weights, state);
  } else {
    attention_use<KIND>(flow.slot[slot], index, queries, weights, state);
  }
}

// All units of the warp; the first BUFFERS batches are on their way.
template <class KIND>
DEVICE void attention_units(const struct attention_arguments &a, const struct attention_share &s,
                            const char *queries, char *weights, struct attention_flow<KIND> &flow,
                            struct attention_state<KIND> &state) {
  constexpr int BATCHES = 2 * KIND::BATCHES; // of a unit
  constexpr bool SAME = BATCHES % KIND::BUFFERS == 0;
  int first = 0; // slot of a unit's first batch, the same for all if SAME
#pragma unroll 1
  for (int unit = s.unit; unit < s.end; unit += ATTENTION_WARPS) {
    attention_clear_scores<KIND>(state);
#pragma unroll
    for (int i = 0; i < BATCHES; i++) {
      const int slot = (SAME ? i : first + i) % KIND::BUFFERS, next = i + KIND::BUFFERS;
      if (i == KIND::BATCHES) {
        attention_softmax<KIND>(a, unit, state, weights);
      }
      attention_take<KIND>(flow, slot, i, queries, weights, state);
      attention_fetch_next<KIND>(a, s, unit + next / BATCHES * ATTENTION_WARPS, unit,
                                 next % BATCHES, flow, slot);
    }
    first = (first + BATCHES) % KIND::BUFFERS;
  }
}

// Writes a warp's results as partials to shared memory, [TILE_COLUMNS][HELD]: those of one round.
template <class KIND, int ROUND>
DEVICE void attention_leave(struct attention_state<KIND> &state, float *partial) {
  if constexpr (KIND::FOLLOWED) {
    if (warp_index() >= ATTENTION_WARPS) {
      return;
    }
  }
#pragma unroll
  for (int c = 0; c < TILE_LANE_COLUMNS; c++) {
    const float total = attention_rows_sum(state.total[c]);
    float *column = partial + tile_column(lane_index(), c) * KIND::HELD;
    if ((lane_index() & TILE_ROW_MASK) == 0) {
      column[0] = state.largest[c];
      column[1] = total;
    }
  }
#pragma unroll
  for (int row = 0; row < KIND::MERGED; row += TILE_ROWS) {
    const int tile = ROUND * KIND::MERGED / TILE_ROWS + row / TILE_ROWS;
#pragma unroll
    for (int i = 0; i < TILE_ACCUMULATORS; i++) {
      float *column = partial + tile_column(lane_index(), i) * KIND::HELD;
      column[2 + row + tile_row(lane_index(), i)] =
          state.sum[tile / KIND::BATCH][tile % KIND::BATCH][i] * KIND::ELEMENTS::scale();
    }
  }
}

// Whether the block merges the group's splits: the one that is done last or, if it can wait for
// what the others pass on, that of the last split. Others of a lower number never wait for it,
// whichever blocks of a step in one launch take them, and in what order.
template <class KIND>
DEVICE bool attention_is_last(const struct attention_arguments &a, int group) {
  if constexpr (KIND::FOLLOWED) {
    block_wait(); // until the warps' results are no longer in shared memory
    return block_index(0) == a.splits - 1;
  }
  return arrive_last(a.counters + group, (unsigned)attention_splits<KIND>(a));
}

// Merges the results of all warps.
template <class KIND>
DEVICE void attention_merge(const struct attention_arguments &a, const struct attention_share &s,
                            struct attention_state<KIND> &state, float *held) {
  const int groups = a.kv_heads * a.head_groups, group = s.row * groups + block_index(1);
  const size_t split_floats = TILE_COLUMNS * KIND::PARTIAL;
  float *partials = a.partials + (size_t)(group * attention_splits<KIND>(a)) * split_floats;
  float *own = held + warp_index() * TILE_COLUMNS * KIND::HELD;
  float *out = partials + (size_t)block_index(0) * split_floats;
  if constexpr (KIND::COPIED) {
    block_wait(); // until the warps have used what was copied to where they merge
  }
  attention_leave<KIND, 0>(state, own);
  block_wait();
  attention_merge_warps<KIND, 0>(a, s, held, out);
  if (KIND::ROUNDS == 2) {
    block_wait();
    attention_leave<KIND, KIND::ROUNDS - 1>(state, own);
    block_wait();
    attention_merge_warps<KIND, KIND::ROUNDS - 1>(a, s, held, out);
  }
  if (attention_splits<KIND>(a) > 1 && attention_is_last<KIND>(a, group)) {
    attention_merge_splits<KIND>(a, s, partials, held);
  }
}

template <class KIND> DEVICE void attention(const struct attention_arguments &a) {
  SHARED(char, shared);
  char *weights = shared + TILE_COLUMNS * KIND::QUERY_BYTES;
  char *rest = weights + ATTENTION_WARPS * TILE_COLUMNS * KIND::WEIGHT_BYTES;
  let_next_start();
  const struct attention_share s = attention_share_of<KIND>(a);
  struct attention_flow<KIND> flow = attention_flow_begin<KIND>(rest);
  attention_fetch_first<KIND, false>(a, s, flow);
  wait_for_previous();
  await_passed(s.query, s.heads * a.head_dim);
  float *factors = reinterpret_cast<float *>(weights); // of norms: there are no weights yet
  if constexpr (KIND::FAMILY && !KIND::PROMPT) {
    attention_norm_factors(a, s.query, s.heads, s.key, TILE_COLUMNS, factors);
  }
  const bool newest = !KIND::PROMPT && block_index(0) == a.splits - 1;
  attention_queries<KIND>(a, s, factors, shared, newest); // the last split has the last position
  block_wait();
  attention_fetch_first<KIND, true>(a, s, flow);
  struct attention_state<KIND> state;
  attention_begin<KIND>(a, s, state);
  attention_units<KIND>(a, s, shared, weights + warp_index() * TILE_COLUMNS * KIND::WEIGHT_BYTES,
                        flow, state);
  // Recomputed where registers are too few to keep it.
  attention_merge<KIND>(a, KIND::FOLLOWED || KIND::PROMPT ? attention_share_of<KIND>(a) : s, state,
                        reinterpret_cast<float *>(rest));
}

#endif
