// attention: one new position of each row of the batch against its cache, on the matrix tile: the
// kernels attention_* of arguments.h. What counts is that the stream of keys and values never
// stops.
//
// A warp takes units of the cache, one step of the tile of positions each (32 in BF16, 64 in E4M3),
// every ATTENTION_WARPS-th of its block's share. For a unit
//   scores[position][head] = keys x queries, the queries scaled by 1 / sqrt(head_dim) beforehand
//   weights = exp(scores - largest so far), handed on in BF16 through shared memory, and added up
//             as rounded, so that they sum to 1
//   sums[element][head] = sums * exp(largest before - largest so far) + values x weights
// Keys and values are streamed from memory straight into registers in batches of row tiles, two
// under way at a time: those of the next unit's keys while this unit's softmax runs. The
// first of them begin before wait_for_previous: no kernel of a step writes to positions before the
// last, which is why they go through load_weights. The unit with the new position is read by
// load_published after the block has written it.
//
// Warps are merged in shared memory, the elements of a wide head in two rounds, and splits in
// memory, in their order. A split needs no unit.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_ATTENTION_H
#define PERTOKEN_KERNELS_GPU_DEVICE_ATTENTION_H

#include "kernels/gpu/arguments.h"
#include "kernels/gpu/device/matrix_elements.h"

// Below any score; e to the power of it less a score is 0.
#define ATTENTION_NONE (-1e30f)

// What attention is made of, at compile time. ELEMENTS: those of the cache beside BF16.
template <class ELEMENTS_, int HEADDIM_> struct attention_kind {
  typedef ELEMENTS_ ELEMENTS;
  static constexpr int HEADDIM = HEADDIM_, BYTES = ELEMENTS::A_BYTES, UNIT = ELEMENTS::STEP;
  static constexpr int KEY_TILES = UNIT / TILE_ROWS; // of row tiles, per step of head_dim
  static constexpr int TILES = HEADDIM / TILE_ROWS;  // of the keys and of the values of a unit
  static constexpr bool NARROW = TILE_PARTS == 2 && (HEADDIM > 128 || BYTES == 1);
  static constexpr int WIDE = TILE_PARTS == 2 || HEADDIM > 128 ? 8 : 16;
  static constexpr int LEAST = BYTES == 1 ? 4 : 2;                         // a step of the keys
  static constexpr int MOST = TILE_PARTS == 4 ? LEAST : NARROW ? 4 : WIDE; // as registers allow
  static constexpr int BATCH = TILES < MOST ? TILES : MOST;            // row tiles fetched together
  static constexpr int SCORES = BATCH < KEY_TILES ? BATCH : KEY_TILES; // row tiles scored together
  static constexpr int BATCHES = TILES / BATCH;                   // of the keys, and of the values
  static constexpr int BUFFERS = TILE_PARTS == 4 ? 1 : 2;         // batches under way
  static constexpr int BLOCKS = NARROW && HEADDIM <= 128 ? 3 : 2; // on a multiprocessor
  // Bytes from column to column in shared memory: neighbours lie in different banks.
  static constexpr int QUERY_BYTES = HEADDIM * 2 + 16, WEIGHT_BYTES = VALUE_BLOCK * 2 + 16;
  static constexpr int PARTIAL = HEADDIM + 2; // floats: largest, sum, weighted values
  static constexpr bool FOLLOWED = false;     // are there more warps than ATTENTION_WARPS?
  // Of a warp's results, what lies in shared memory at a time: attention_shared_bytes.
  static constexpr int ROUNDS = TILE_COLUMNS == 16 && HEADDIM > ATTENTION_MERGED ? 2 : 1;
  static constexpr int MERGED = HEADDIM / ROUNDS, HELD = MERGED + 2;
};

// In a block of more warps, which follow without units of their own, and with fewer registers.
template <class ELEMENTS, int HEADDIM, int BATCH_>
struct attention_narrow : attention_kind<ELEMENTS, HEADDIM> {
  typedef attention_kind<ELEMENTS, HEADDIM> WIDER;
  static constexpr int BATCH = BATCH_ < WIDER::BATCH ? BATCH_ : WIDER::BATCH;
  static constexpr int SCORES = BATCH < WIDER::KEY_TILES ? BATCH : WIDER::KEY_TILES;
  static constexpr int BATCHES = WIDER::TILES / BATCH;
  static constexpr bool FOLLOWED = true;
};

// What a block works on.
struct attention_share {
  int row, kv_head;                 // of the batch; of the cache
  int head, heads;                  // first query head, and how many
  int unit, end;                    // units of positions: this warp's first, the split's last and 1
  const char *keys, *values;        // of this row and kv head
  const float *query, *key, *value; // in qkv
};

template <class KIND>
DEVICE struct attention_share attention_share_of(const struct attention_arguments &a) {
  struct attention_share s;
  const int heads = a.heads / a.kv_heads, group = block_index(1) % a.head_groups;
  s.row = block_index(2);
  s.kv_head = block_index(1) / a.head_groups;
  s.head = s.kv_head * heads + group * TILE_COLUMNS;
  s.heads =
      heads - group * TILE_COLUMNS < TILE_COLUMNS ? heads - group * TILE_COLUMNS : TILE_COLUMNS;

  const int blocks = (a.context + VALUE_BLOCK - 1) / VALUE_BLOCK, split = block_index(0);
  const int units = (a.context + KIND::UNIT - 1) / KIND::UNIT, per_block = VALUE_BLOCK / KIND::UNIT;
  const int end = blocks * (split + 1) / a.splits * per_block;
  s.unit = blocks * split / a.splits * per_block + warp_index();
  s.end = end < units ? end : units;
  if constexpr (KIND::FOLLOWED) {
    s.unit = warp_index() < ATTENTION_WARPS ? s.unit : s.end;
  }

  const size_t positions = (size_t)(s.row * a.kv_heads + s.kv_head) * (size_t)a.context_padded;
  s.keys = static_cast<const char *>(a.keys) + positions * (size_t)(a.head_stride * KIND::BYTES);
  s.values = static_cast<const char *>(a.values) + positions * (size_t)(a.head_dim * KIND::BYTES);
  s.query = a.qkv + (size_t)s.row * (size_t)((a.heads + 2 * a.kv_heads) * a.head_dim) +
            s.head * a.head_dim;
  s.key = s.query + (a.heads - s.head + s.kv_head) * a.head_dim;
  s.value = s.key + a.kv_heads * a.head_dim;
  return s;
}

// Is the new position in this unit?
template <class KIND>
DEVICE bool attention_is_fresh(const struct attention_arguments &a, int unit) {
  return (unit + 1) * KIND::UNIT >= a.context;
}

// Element i of a head after rope.
DEVICE float attention_turned(const float *head, const float *angles, int head_dim, int i) {
  const int half = head_dim / 2, pair = i < half ? i : i - half;
  const float x = load_published_float(head + pair), y = load_published_float(head + pair + half);
  const float cosine = angles[2 * pair], sine = angles[2 * pair + 1];
  return i < half ? x * cosine - y * sine : x * sine + y * cosine;
}

// The queries of the block into shared memory, zeros beyond its heads and their elements.
template <class KIND>
DEVICE void attention_queries(const struct attention_arguments &a, const struct attention_share &s,
                              char *queries) {
  const float scale = 1 / square_root((float)a.head_dim);
  for (int at = thread_index(); at < TILE_COLUMNS * KIND::HEADDIM; at += block_threads()) {
    const int column = at / KIND::HEADDIM, i = at % KIND::HEADDIM;
    float v = 0;
    if (column < s.heads && i < a.head_dim) {
      v = attention_turned(s.query + column * a.head_dim, a.angles, a.head_dim, i) * scale;
    }
    uint16_t *to = reinterpret_cast<uint16_t *>(queries + column * KIND::QUERY_BYTES) + i;
    *to = (uint16_t)bf16_pair(v, 0);
  }
}

template <class KIND> DEVICE void attention_publish(char *cache, size_t index, float v) {
  if (KIND::BYTES == 2) {
    publish_bits16(reinterpret_cast<uint16_t *>(cache) + index, (uint16_t)bf16_pair(v, 0));
  } else {
    publish_bits8(reinterpret_cast<uint8_t *>(cache) + index, e4m3_from(v));
  }
}

// The new key and value into their slot.
template <class KIND>
DEVICE void attention_store(const struct attention_arguments &a, const struct attention_share &s) {
  const int slot = a.context - 1, block = slot / VALUE_BLOCK;
  for (int i = thread_index(); i < a.head_dim; i += block_threads()) {
    attention_publish<KIND>(const_cast<char *>(s.keys),
                            (size_t)slot * (size_t)a.head_stride + (size_t)i,
                            attention_turned(s.key, a.angles, a.head_dim, i));
    attention_publish<KIND>(const_cast<char *>(s.values),
                            (size_t)(block * a.head_dim + i) * VALUE_BLOCK +
                                (size_t)(slot % VALUE_BLOCK),
                            load_published_float(s.value + i));
  }
}

// This lane's part of a row tile of keys: positions `first` and on, step `step` of head_dim. For a
// head_dim of 192 in a HEADDIM of 256 the last step again, against zeros of the queries.
template <class KIND>
DEVICE const char *attention_key(const struct attention_arguments &a,
                                 const struct attention_share &s, int first, int step, int part) {
  const int stride = KIND::HEADDIM <= 128 ? KIND::HEADDIM : a.head_stride;
  const int last = stride / KIND::UNIT - 1, row = first + tile_part_row(lane_index(), part);
  return s.keys + (size_t)row * (size_t)(stride * KIND::BYTES) +
         (step < last ? step : last) * TILE_STEP_BYTES + tile_part_byte(lane_index(), part);
}

// Of values: elements `first` of the head and on, the last one again beyond.
template <class KIND>
DEVICE const char *attention_value(const struct attention_arguments &a,
                                   const struct attention_share &s, int unit, int first, int part) {
  const int position = unit * KIND::UNIT, row = first + tile_part_row(lane_index(), part);
  const int element = row < a.head_dim ? row : a.head_dim - 1;
  const size_t block = (size_t)(position / VALUE_BLOCK) * (size_t)a.head_dim;
  return s.values + (block + (size_t)element) * (VALUE_BLOCK * KIND::BYTES) +
         position % VALUE_BLOCK * KIND::BYTES + tile_part_byte(lane_index(), part);
}

// Fetches batch `index` of a unit: first those of its keys, then those of its values.
template <class KIND, bool FRESH>
DEVICE void attention_fetch(const struct attention_arguments &a, const struct attention_share &s,
                            int unit, int index, struct tile_a (&to)[KIND::BATCH]) {
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
      to[k].part[part] = FRESH ? load_published(from) : load_weights(from);
    }
  }
}

template <class KIND>
DEVICE void attention_fetch_any(const struct attention_arguments &a,
                                const struct attention_share &s, int unit, int index,
                                struct tile_a (&to)[KIND::BATCH]) {
  if (COUNTED_LOADS) { // of the block's own writing: loads of either sort see it
    attention_fetch<KIND, false>(a, s, unit, index, to);
  } else if (TILE_PARTS == 4 ||
             attention_is_fresh<KIND>(a, unit)) { // half the code where it is long
    attention_fetch<KIND, true>(a, s, unit, index, to);
  } else {
    attention_fetch<KIND, false>(a, s, unit, index, to);
  }
}

// The first batches of the warp's first unit.
template <class KIND, bool FRESH>
DEVICE void attention_fetch_first(const struct attention_arguments &a,
                                  const struct attention_share &s,
                                  struct tile_a (&buffer)[KIND::BUFFERS][KIND::BATCH]) {
#pragma unroll
  for (int i = 0; i < KIND::BUFFERS; i++) {
    attention_fetch<KIND, FRESH>(a, s, s.unit, i, buffer[i]);
  }
}

template <class KIND>
DEVICE void attention_clear_buffer(struct tile_a (&buffer)[KIND::BUFFERS][KIND::BATCH]) {
#pragma unroll
  for (int i = 0; i < KIND::BUFFERS; i++) {
#pragma unroll
    for (int k = 0; k < KIND::BATCH; k++) {
      buffer[i][k] = {};
    }
  }
}

// What a warp has come to, each lane for its own accumulators and columns.
template <class KIND> struct attention_state {
  float score[KIND::KEY_TILES / KIND::SCORES][KIND::SCORES][TILE_ACCUMULATORS];
  float sum[KIND::BATCHES][KIND::BATCH][TILE_ACCUMULATORS];
  float largest[TILE_LANE_COLUMNS]; // alike in all lanes of a column
  float total[TILE_LANE_COLUMNS];   // of this lane's rows alone
};

template <class KIND> DEVICE void attention_begin(struct attention_state<KIND> &state) {
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
  }
}

// The rows of a tile lie in lanes that differ in the bits of TILE_ROW_MASK.
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

// Gives the scores their factor, hides positions past the context, whatever is in them, and finds
// the new largest.
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
      score = position < a.context ? score * KIND::ELEMENTS::scale() : ATTENTION_NONE;
      most = score > most ? score : most;
    }
  }
#pragma unroll
  for (int c = 0; c < TILE_LANE_COLUMNS; c++) {
    largest[c] = attention_rows_largest(largest[c]);
  }
}

// Scores to weights, rounded, in shared memory; what was summed before is put on the new scale.
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
  warp_wait(); // all lanes have read the weights of the unit before
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

// All units of the warp; the first BUFFERS batches of the first are under way.
template <class KIND>
DEVICE void attention_units(const struct attention_arguments &a, const struct attention_share &s,
                            const char *queries, char *weights,
                            struct tile_a (&buffer)[KIND::BUFFERS][KIND::BATCH],
                            struct attention_state<KIND> &state) {
#pragma unroll 1
  for (int unit = s.unit; unit < s.end; unit += ATTENTION_WARPS) {
    attention_clear_scores<KIND>(state);
#pragma unroll
    for (int i = 0; i < 2 * KIND::BATCHES; i++) {
      struct tile_a(&now)[KIND::BATCH] = buffer[i % KIND::BUFFERS];
      if (i == KIND::BATCHES) {
        attention_softmax<KIND>(a, unit, state, weights);
      }
      if (i < KIND::BATCHES) {
        attention_score<KIND>(now, i, queries, state);
      } else {
        KIND::ELEMENTS::multiply(now, weights, KIND::WEIGHT_BYTES, state.sum[i - KIND::BATCHES]);
      }
      const int next = i + KIND::BUFFERS, after = unit + ATTENTION_WARPS;
      if (next < 2 * KIND::BATCHES) {
        attention_fetch_any<KIND>(a, s, unit, next, now);
      } else if (COUNTED_LOADS || after < s.end) { // this one again when it is the last
        attention_fetch_any<KIND>(a, s, after < s.end ? after : unit, next - 2 * KIND::BATCHES,
                                  now);
      }
    }
  }
}

// A warp's results as partials in shared memory, [TILE_COLUMNS][HELD], those of one round.
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

DEVICE void attention_output(const struct attention_arguments &a, const struct attention_share &s,
                             int column, int i, float v) {
  publish(a.output + (size_t)(s.row * a.heads + s.head + column) * (size_t)a.head_dim + i, v);
}

// Merges the warps' partials of a round: into the output, or into this split's partials.
template <class KIND, int ROUND>
DEVICE void attention_merge_warps(const struct attention_arguments &a,
                                  const struct attention_share &s, const float *partials,
                                  float *out) {
  const int before = ROUND * KIND::MERGED, rest = a.head_dim - before;
  const int width = KIND::ROUNDS == 1 || rest < KIND::MERGED ? rest : KIND::MERGED;
  for (int at = thread_index(); at < s.heads * width; at += block_threads()) {
    const int column = at / width, i = at % width;
    const float *first = partials + column * KIND::HELD;
    float largest = ATTENTION_NONE, total = 0, sum = 0;
    for (int warp = 0; warp < ATTENTION_WARPS; warp++) {
      const float v = first[warp * TILE_COLUMNS * KIND::HELD];
      largest = v > largest ? v : largest;
    }
    for (int warp = 0; warp < ATTENTION_WARPS; warp++) {
      const float *from = first + warp * TILE_COLUMNS * KIND::HELD;
      const float factor = exponential(from[0] - largest);
      total += factor * from[1];
      sum += factor * from[2 + i];
    }
    if (a.splits == 1) {
      attention_output(a, s, column, before + i, sum / total);
      continue;
    }
    publish(out + column * KIND::PARTIAL + 2 + before + i, sum);
    if (before + i == 0) {
      publish(out + column * KIND::PARTIAL, largest);
      publish(out + column * KIND::PARTIAL + 1, total);
    }
  }
}

// Merges the splits' partials into the output; `held` is room for [splits][TILE_COLUMNS][2].
template <class KIND>
DEVICE void attention_merge_splits(const struct attention_arguments &a,
                                   const struct attention_share &s, const float *partials,
                                   float *held) {
  const int count = a.splits * TILE_COLUMNS;
  for (int at = thread_index(); at < count; at += block_threads()) {
    if (at % TILE_COLUMNS < s.heads) {
      held[2 * at] = load_published_float(partials + at * KIND::PARTIAL);
      held[2 * at + 1] = load_published_float(partials + at * KIND::PARTIAL + 1);
    }
  }
  block_wait();
  for (int at = thread_index(); at < s.heads * a.head_dim; at += block_threads()) {
    const int column = at / a.head_dim, i = at % a.head_dim;
    float largest = ATTENTION_NONE, total = 0, sum = 0;
    for (int k = column; k < count; k += TILE_COLUMNS) {
      largest = held[2 * k] > largest ? held[2 * k] : largest;
    }
#pragma unroll 4
    for (int k = column; k < count; k += TILE_COLUMNS) {
      const float factor = exponential(held[2 * k] - largest);
      total += factor * held[2 * k + 1];
      sum += factor * load_published_float(partials + k * KIND::PARTIAL + 2 + i);
    }
    attention_output(a, s, column, i, sum / total);
  }
}

// What all warps have come to.
template <class KIND>
DEVICE void attention_merge(const struct attention_arguments &a, const struct attention_share &s,
                            struct attention_state<KIND> &state, float *held) {
  const int groups = a.kv_heads * a.head_groups, group = s.row * groups + block_index(1);
  const size_t split_floats = TILE_COLUMNS * KIND::PARTIAL;
  float *partials = a.partials + (size_t)(group * a.splits) * split_floats;
  float *own = held + warp_index() * TILE_COLUMNS * KIND::HELD;
  float *out = partials + (size_t)block_index(0) * split_floats;
  attention_leave<KIND, 0>(state, own);
  block_wait();
  attention_merge_warps<KIND, 0>(a, s, held, out);
  if (KIND::ROUNDS == 2) {
    block_wait();
    attention_leave<KIND, KIND::ROUNDS - 1>(state, own);
    block_wait();
    attention_merge_warps<KIND, KIND::ROUNDS - 1>(a, s, held, out);
  }
  if (a.splits > 1 && arrive_last(a.counters + group, (unsigned)a.splits)) {
    attention_merge_splits<KIND>(a, s, partials, held);
  }
}

template <class KIND> DEVICE void attention(const struct attention_arguments &a) {
  SHARED(char, shared);
  char *weights = shared + TILE_COLUMNS * KIND::QUERY_BYTES;
  char *merge = weights + ATTENTION_WARPS * TILE_COLUMNS * KIND::WEIGHT_BYTES;
  float *partials = reinterpret_cast<float *>(merge);
  let_next_start();
  const struct attention_share s = attention_share_of<KIND>(a);
  const bool any = s.unit < s.end, fresh = attention_is_fresh<KIND>(a, s.unit);
  struct tile_a buffer[KIND::BUFFERS][KIND::BATCH];
  if constexpr (KIND::FOLLOWED) { // or it would be kept while the step's other stages run
    attention_clear_buffer<KIND>(buffer);
  }
  if (any && !fresh) {
    attention_fetch_first<KIND, false>(a, s, buffer);
  }
  wait_for_previous();
  attention_queries<KIND>(a, s, shared);
  if (block_index(0) == a.splits - 1) { // the last split has the last position
    attention_store<KIND>(a, s);
  }
  block_wait();
  if (any && fresh) {
    attention_fetch_first<KIND, !COUNTED_LOADS>(a, s, buffer);
  }
  struct attention_state<KIND> state;
  attention_begin<KIND>(state);
  attention_units<KIND>(a, s, shared, weights + warp_index() * TILE_COLUMNS * KIND::WEIGHT_BYTES,
                        buffer, state);
  // Found anew, where registers are too few to keep it.
  attention_merge<KIND>(a, KIND::FOLLOWED ? attention_share_of<KIND>(a) : s, state, partials);
}

#endif
