// latent: attention whose keys and values are one short entry per position (latent attention of
// decode.h), of one new position of each batch row, or of a prompt's positions in their row's
// cache: the kernels latent_* of arguments/latent.h.
//
// A block takes units of LATENT_UNIT positions, for LATENT_HEADS columns: heads, or in a prompt
// pairs of a position and a head. For a unit
//   scores[position][head] = entries x queries: each warp takes every LATENT_WARPS-th step of the
//             entries, from memory straight into registers, and leaves its part of the sums in
//             shared memory
//   weights = exp(scores - largest so far), in BF16 and summed after rounding: a warp has whole
//             heads
//   sums[element][head] = sums * exp(largest before - largest so far) + values x weights: each warp
//             takes every LATENT_WARPS-th row tile of elements
// So an entry is read once, although positions are the rows of one product and the summed direction
// of the other: on their way through the registers, its first `rank` elements are also stored
// transposed in shared memory, [element][position], with positions p and p + 16 adjacent, in the
// order that both sides of the second product use. The 16 bytes of four neighboring octets of
// elements are permuted there, so that fewer lanes conflict in a bank.
//
// As in attention.h, the next unit's entries are in flight while this one's are processed, and the
// first loads start before wait_for_previous, except those of the unit with the new position, and
// in a prompt all of them.
//
// A prompt's block reads every entry up to its last position: with 128 heads, each position reads
// those before it 8 times, all of its blocks at about the same time, so mostly from L2.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_LATENT_H
#define PERTOKEN_KERNELS_GPU_DEVICE_LATENT_H

#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/latent.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/device/attention_merge.h"
#include "kernels/gpu/device/machine/matrix_elements.h"

// Below any score; exp(this - a score) is 0.
#define LATENT_NONE (-1e30f)

// Compile-time parameters. KV: the cache's elements, BF16 or E4M3.
template <enum element KV_> struct latent_kind {
  static constexpr enum element KV = KV_;
  static constexpr int BYTES = KV == ELEMENT_E4M3 ? 1 : 2;
  static constexpr int STEP = TILE_STEP_BYTES / BYTES; // elements of an entry
  static constexpr int OCTETS = 2 / BYTES;             // of BF16, that a lane's 16 bytes become
  static constexpr int STEPS =
      (LATENT_STRIDE / STEP + LATENT_WARPS - 1) / LATENT_WARPS; // of a warp
  static constexpr int HELD = TILE_PARTS == 4 ? 1 : STEPS;      // of these, in registers
  static constexpr int POSITION_TILES = LATENT_UNIT / TILE_ROWS;
  static constexpr int COLUMN_TILES = LATENT_HEADS / TILE_COLUMNS;
  static constexpr int PAIRS = LATENT_RANK / TILE_ROWS / LATENT_WARPS / 2; // row tiles per warp
  static constexpr int AT_ONCE = WARP / LATENT_UNIT;                  // heads of a warp's softmax
  static constexpr int TURNS = LATENT_HEADS / LATENT_WARPS / AT_ONCE; // that it takes
  static constexpr bool PROMPT = false; // for many positions of one row?
  DEVICE float scale(void) {
    return KV == ELEMENT_E4M3 ? E4M3_BF16_SCALE : 1;
  }
};

// The entries of all positions are in the cache.
template <enum element KV> struct latent_prompt : latent_kind<KV> {
  static constexpr bool PROMPT = true;
};

// What attention_merge.h needs to know of the partials.
struct latent_partials {
  static constexpr int PARTIAL = LATENT_RANK + ATTENTION_PARTIAL, COLUMNS = LATENT_HEADS;
  static constexpr int AT_ONCE = 16;
  static constexpr bool FAMILY = false, PROMPT = false;
};

// Where the entry of a batch row's position is.
template <class KIND>
DEVICE char *latent_slot(const struct latent_arguments &a, int row, int position) {
  const size_t entry = (size_t)row * (size_t)a.context_padded + (size_t)position;
  return static_cast<char *>(a.latents) + entry * (size_t)(a.stride * KIND::BYTES);
}

// What a block works on, and where its parts of shared memory are.
struct latent_share {
  int first, heads;    // column, of those of all rows, [batch][heads]; and how many
  int unit, end;       // units of positions: the split's first and its end
  int steps, tiles;    // of an entry; row tiles of its values
  int query_bytes;     // from column to column
  const char *entries; // of this row
  char *queries, *values, *weights;
  float *scores, *factors; // [LATENT_WARPS][LATENT_HEADS][LATENT_SCORES]; [3][LATENT_HEADS]
};

// A row's share, and a split's of its units.
DEVICE void latent_share_row(const struct latent_arguments &a, struct latent_share *s) {
  const int split = block_index(0), left = a.heads - block_index(1) * LATENT_HEADS;
  const int blocks = (a.context + VALUE_BLOCK - 1) / VALUE_BLOCK;
  const int units = (a.context + LATENT_UNIT - 1) / LATENT_UNIT;
  const int end = blocks * (split + 1) / a.splits * (VALUE_BLOCK / LATENT_UNIT);
  s->first = block_index(2) * a.heads + block_index(1) * LATENT_HEADS;
  s->heads = left < LATENT_HEADS ? left : LATENT_HEADS;
  s->unit = blocks * split / a.splits * (VALUE_BLOCK / LATENT_UNIT);
  s->end = end < units ? end : units;
}

// The most work first: the last positions.
DEVICE void latent_share_prompt(const struct latent_arguments &a, struct latent_share *s) {
  s->first = (grid_blocks(0) - 1 - block_index(0)) * LATENT_HEADS;
  const int left = a.batch * a.heads - s->first;
  s->heads = left < LATENT_HEADS ? left : LATENT_HEADS;
  s->unit = 0;
  s->end = (a.first + (s->first + s->heads - 1) / a.heads) / LATENT_UNIT + 1;
}

template <class KIND>
DEVICE struct latent_share latent_share_of(const struct latent_arguments &a, char *shared) {
  struct latent_share s;
  if constexpr (KIND::PROMPT) {
    latent_share_prompt(a, &s);
  } else {
    latent_share_row(a, &s);
  }
  s.steps = a.stride / KIND::STEP;
  s.tiles = (a.rank + TILE_ROWS - 1) / TILE_ROWS;
  s.query_bytes = a.stride * 2 + 16;
  s.entries = latent_slot<KIND>(a, KIND::PROMPT ? 0 : block_index(2), 0);
  s.queries = shared;
  s.values = s.queries + LATENT_HEADS * s.query_bytes;
  s.weights = s.values + s.tiles * (TILE_ROWS * LATENT_UNIT * 2);
  s.scores = reinterpret_cast<float *>(s.weights + LATENT_HEADS * LATENT_WEIGHT_BYTES);
  s.factors = s.scores + LATENT_WARPS * LATENT_HEADS * LATENT_SCORES;
  return s;
}

// ---- queries and the new entry

// The angles of a row's position: in a prompt its own, otherwise those of all rows.
template <class KIND> DEVICE const float *latent_angles(const struct latent_arguments &a, int row) {
  return a.angles + (KIND::PROMPT ? (size_t)row * (size_t)a.head_dim : 0);
}

// Element i of the part that rope rotates, by a row's angles.
DEVICE float latent_turned(const struct latent_arguments &a, const float *from, const float *angles,
                           int i) {
  const int half = a.rope_dim / 2, pair = a.interleaved ? i / 2 : i < half ? i : i - half;
  const int low = a.interleaved ? 2 * pair : pair, high = a.interleaved ? low + 1 : pair + half;
  const float x = load_published_float(from + low), y = load_published_float(from + high);
  const float cosine = angles[2 * pair], sine = angles[2 * pair + 1];
  return i == low ? x * cosine - y * sine : x * sine + y * cosine;
}

// Where element i of a query is stored: in the order that latent_octet gives to an entry's
// elements.
template <class KIND> DEVICE int latent_place(int i) {
  if (KIND::OCTETS == 1) {
    return i;
  }
  return i / 64 * 64 + i / 8 % 2 * 32 + i / 16 % 4 * 8 + i % 8;
}

// Loads the block's queries into shared memory, with zeros beyond its columns and their elements.
template <class KIND>
DEVICE void latent_queries(const struct latent_arguments &a, const struct latent_share &s) {
  const float scale = a.score_scale / square_root((float)a.head_dim);
  for (int column = warp_index(); column < LATENT_HEADS; column += LATENT_WARPS) {
    const int of = s.first + (column < s.heads ? column : 0);
    const int row = KIND::PROMPT ? of / a.heads : block_index(2);
    const float *absorbed = a.absorbed + (size_t)of * (size_t)a.rank;
    const float *turning = a.queries + (size_t)row * (size_t)a.query_stride +
                           (of - row * a.heads + 1) * a.head_dim - a.rope_dim - a.rank;
    const float *angles = latent_angles<KIND>(a, row);
    uint16_t *to = reinterpret_cast<uint16_t *>(s.queries + column * s.query_bytes);
#pragma unroll 4
    for (int i = lane_index(); i < a.stride; i += WARP) {
      float v = 0;
      if (column < s.heads && i < a.rank) {
        v = load_published_float(absorbed + i) * scale;
      } else if (column < s.heads && i < a.rank + a.rope_dim) {
        v = latent_turned(a, turning + a.rank, angles, i - a.rank) * scale;
      }
      to[latent_place<KIND>(i)] = (uint16_t)bf16_pair(v, 0);
    }
  }
}

// Writes a row's new entry to its slot.
template <class KIND>
DEVICE void latent_store(const struct latent_arguments &a, int row, char *slot) {
  const float *entry = a.entries + (size_t)row * (size_t)a.entry_stride;
  const float *angles = latent_angles<KIND>(a, row);
  float squares = 0;
  for (int i = lane_index(); i < a.rank; i += WARP) {
    const float x = load_published_float(entry + i);
    squares += x * x;
  }
  const float factor = 1 / square_root(warp_sum(squares) / (float)a.rank + a.epsilon);
  for (int i = thread_index(); i < a.rank + a.rope_dim; i += block_threads()) {
    const float v =
        i < a.rank ? load_published_float(entry + i) * factor * load_published_float(a.norm + i)
                   : latent_turned(a, entry + a.rank, angles, i - a.rank);
    if (KIND::BYTES == 2) {
      publish_bits16(reinterpret_cast<uint16_t *>(slot) + i, (uint16_t)bf16_pair(v, 0));
    } else {
      publish_bits8(reinterpret_cast<uint8_t *>(slot) + i, e4m3_from(v));
    }
  }
}

// ---- the stream of entries

template <class KIND> using latent_rows = struct tile_a (&)[KIND::POSITION_TILES];

// Whether a kernel of the step, or this block, has written to this unit.
template <class KIND> DEVICE bool latent_is_fresh(const struct latent_arguments &a, int unit) {
  return KIND::PROMPT || (unit + 1) * LATENT_UNIT >= a.context;
}

template <class KIND, bool FRESH>
DEVICE void latent_fetch(const struct latent_arguments &a, const struct latent_share &s, int unit,
                         int step, latent_rows<KIND> to) {
#pragma unroll
  for (int n = 0; n < KIND::POSITION_TILES; n++) {
#pragma unroll
    for (int part = 0; part < TILE_PARTS; part++) {
      const int position = unit * LATENT_UNIT + n * TILE_ROWS + tile_part_row(lane_index(), part);
      const char *from = s.entries + (size_t)position * (size_t)(a.stride * KIND::BYTES) +
                         step * TILE_STEP_BYTES + tile_part_byte(lane_index(), part);
      to[n].part[part] = FRESH ? load_published(from) : load_weights(from);
    }
  }
}

// The warp's step of this number in a unit. Where loads are counted, the last one is loaded again
// instead of none.
DEVICE int latent_step(int number) {
  return warp_index() + number * LATENT_WARPS;
}

template <class KIND>
DEVICE void latent_fetch_any(const struct latent_arguments &a, const struct latent_share &s,
                             int unit, int number, latent_rows<KIND> to) {
  const int step = latent_step(number);
  if (COUNTED_LOADS) { // written by this block: either kind of load sees it
    latent_fetch<KIND, KIND::PROMPT>(a, s, unit, step < s.steps ? step : s.steps - 1, to);
  } else if (step < s.steps) {
    if (TILE_PARTS == 4 || latent_is_fresh<KIND>(a, unit)) {
      latent_fetch<KIND, true>(a, s, unit, step, to);
    } else {
      latent_fetch<KIND, false>(a, s, unit, step, to);
    }
  }
}

// The first steps of the block's first unit.
template <class KIND, bool FRESH>
DEVICE void latent_fetch_first(const struct latent_arguments &a, const struct latent_share &s,
                               struct tile_a (&ring)[KIND::HELD][KIND::POSITION_TILES]) {
#pragma unroll
  for (int i = 0; i < KIND::HELD; i++) {
    const int step = latent_step(i);
    if (COUNTED_LOADS || step < s.steps) {
      latent_fetch<KIND, FRESH>(a, s, s.unit, step < s.steps ? step : s.steps - 1, ring[i]);
    }
  }
}

// An octet of 16 bytes of an entry, in BF16.
template <class KIND> DEVICE struct words4 latent_octet(const struct words4 &from, int octet) {
  if (KIND::OCTETS == 1) {
    return from;
  }
  const uint32_t low = from.word[2 * octet], high = from.word[2 * octet + 1];
  return {
      {e4m3_pair_bf16(low), e4m3_pair_bf16(low, 1), e4m3_pair_bf16(high), e4m3_pair_bf16(high, 1)}};
}

// Stores a lane's octets of positions p and p + 16, elements from `first` on, to the unit's values.
DEVICE void latent_turn(const struct latent_share &s, int first, int position,
                        const struct words4 &low, const struct words4 &high) {
  if (first >= s.tiles * TILE_ROWS || !tile_is_first(lane_index())) {
    return;
  }
  const int piece = position / 4 ^ first / 8 % 4;
  uint32_t *to = reinterpret_cast<uint32_t *>(s.values + first * (LATENT_UNIT * 2) + piece * 16) +
                 position % 4;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    to[2 * i * (LATENT_UNIT / 2)] = (low.word[i] & 0xFFFF) | high.word[i] << 16;
    to[(2 * i + 1) * (LATENT_UNIT / 2)] = low.word[i] >> 16 | (high.word[i] & 0xFFFF0000u);
  }
}

// Adds a step of entries to the scores, and stores it among the values.
template <class KIND>
DEVICE void
latent_score(const struct latent_share &s, int step,
             const struct tile_a (&rows)[KIND::POSITION_TILES],
             float (&score)[KIND::COLUMN_TILES][KIND::POSITION_TILES][TILE_ACCUMULATORS]) {
#pragma unroll
  for (int octet = 0; octet < KIND::OCTETS; octet++) {
    struct tile_a wide[KIND::POSITION_TILES];
#pragma unroll
    for (int n = 0; n < KIND::POSITION_TILES; n++) {
#pragma unroll
      for (int part = 0; part < TILE_PARTS; part++) {
        wide[n].part[part] = latent_octet<KIND>(rows[n].part[part], octet);
      }
    }
    const char *query = s.queries + (step * KIND::OCTETS + octet) * TILE_STEP_BYTES;
#pragma unroll
    for (int t = 0; t < KIND::COLUMN_TILES; t++) {
      tile_multiply_bf16_bf16<KIND::POSITION_TILES>(wide, query + t * TILE_COLUMNS * s.query_bytes,
                                                    s.query_bytes, score[t]);
    }
#pragma unroll
    for (int part = 0; part < TILE_PARTS; part++) {
      const int byte = tile_part_byte(lane_index(), part);
      latent_turn(s, step * KIND::STEP + byte / KIND::BYTES + octet * 8,
                  tile_part_row(lane_index(), part), wide[0].part[part], wide[1].part[part]);
    }
  }
}

// Writes the warp's part of a unit's scores to shared memory.
template <class KIND>
DEVICE void latent_leave_scores(
    const struct latent_share &s,
    const float (&score)[KIND::COLUMN_TILES][KIND::POSITION_TILES][TILE_ACCUMULATORS]) {
  float *own = s.scores + warp_index() * (LATENT_HEADS * LATENT_SCORES);
#pragma unroll
  for (int t = 0; t < KIND::COLUMN_TILES; t++) {
#pragma unroll
    for (int n = 0; n < KIND::POSITION_TILES; n++) {
#pragma unroll
      for (int i = 0; i < TILE_ACCUMULATORS; i++) {
        const int column = t * TILE_COLUMNS + tile_column(lane_index(), i);
        own[column * LATENT_SCORES + n * TILE_ROWS + tile_row(lane_index(), i)] = score[t][n][i];
      }
    }
  }
}

// ---- softmax and values

// Lanes that differ only in the bits below LATENT_UNIT have positions of one head.
DEVICE float latent_largest(float v) {
#pragma unroll
  for (int mask = LATENT_UNIT / 2; mask; mask >>= 1) {
    const float other = shuffle_xor(v, mask);
    v = other > v ? other : v;
  }
  return v;
}
DEVICE float latent_sum(float v) {
#pragma unroll
  for (int mask = LATENT_UNIT / 2; mask; mask >>= 1) {
    v += shuffle_xor(v, mask);
  }
  return v;
}

// A block's results so far, each lane for its own accumulators, and for the heads of its softmax.
template <class KIND> struct latent_state {
  float sum[KIND::COLUMN_TILES][KIND::PAIRS][2][TILE_ACCUMULATORS];
  float largest[KIND::TURNS]; // the same in all lanes of a head
  float total[KIND::TURNS];   // of this lane's positions only
  int last[KIND::TURNS];      // in a prompt, position that the head attends to
};

template <class KIND> DEVICE int latent_column(int turn) {
  return (warp_index() * KIND::TURNS + turn) * KIND::AT_ONCE + lane_index() / LATENT_UNIT;
}

// Turns scores into rounded weights; the factors that rescale the sums go to s.factors.
template <class KIND>
DEVICE void latent_softmax(const struct latent_arguments &a, const struct latent_share &s, int unit,
                           struct latent_state<KIND> &state) {
  const int position = lane_index() % LATENT_UNIT;
#pragma unroll
  for (int turn = 0; turn < KIND::TURNS; turn++) {
    const int column = latent_column<KIND>(turn);
    float score = 0;
#pragma unroll
    for (int warp = 0; warp < LATENT_WARPS; warp++) {
      score += s.scores[(warp * LATENT_HEADS + column) * LATENT_SCORES + position];
    }
    const int last = KIND::PROMPT ? state.last[turn] : a.context - 1;
    const bool is_seen = unit * LATENT_UNIT + position <= last;
    score = is_seen ? score * KIND::scale() : LATENT_NONE;
    const float found = latent_largest(score);
    const float largest = found > state.largest[turn] ? found : state.largest[turn];
    const float factor = exponential(state.largest[turn] - largest);
    const uint32_t weight = bf16_pair(exponential(score - largest), 0);
    char *to = s.weights + column * LATENT_WEIGHT_BYTES;
    reinterpret_cast<uint16_t *>(to)[position % TILE_ROWS * 2 + position / TILE_ROWS] =
        (uint16_t)weight;
    state.largest[turn] = largest;
    state.total[turn] = state.total[turn] * factor + bf16_low(weight);
    if (position == 0) {
      s.factors[column] = factor;
    }
  }
}

// Two row tiles of values, this pair of the warp's; past the last, the first again.
template <class KIND>
DEVICE void latent_values(const struct latent_share &s, int tile, struct tile_a (&to)[2]) {
#pragma unroll
  for (int n = 0; n < 2; n++) {
    const int own = tile + n * LATENT_WARPS < s.tiles ? tile + n * LATENT_WARPS : tile;
#pragma unroll
    for (int part = 0; part < TILE_PARTS; part++) {
      const int element = own * TILE_ROWS + tile_part_row(lane_index(), part);
      const int piece = tile_part_byte(lane_index(), part) / 16 ^ element / 8 % 4;
      to[n].part[part] = load_shared(s.values + element * (LATENT_UNIT * 2) + piece * 16);
    }
  }
}

// Rescales the sums and adds a unit's values times their weights.
template <class KIND>
DEVICE void latent_add(const struct latent_share &s, struct latent_state<KIND> &state) {
#pragma unroll
  for (int pair = 0; pair < KIND::PAIRS; pair++) {
    const int tile = warp_index() + 2 * pair * LATENT_WARPS;
    if (tile < s.tiles) {
      struct tile_a rows[2];
      latent_values<KIND>(s, tile, rows);
#pragma unroll
      for (int t = 0; t < KIND::COLUMN_TILES; t++) {
#pragma unroll
        for (int i = 0; i < TILE_ACCUMULATORS; i++) {
          const float factor = s.factors[t * TILE_COLUMNS + tile_column(lane_index(), i)];
          state.sum[t][pair][0][i] *= factor;
          state.sum[t][pair][1][i] *= factor;
        }
        tile_multiply_bf16_bf16<2>(rows, s.weights + t * TILE_COLUMNS * LATENT_WEIGHT_BYTES,
                                   LATENT_WEIGHT_BYTES, state.sum[t][pair]);
      }
    }
  }
}

template <class KIND>
DEVICE void latent_begin(const struct latent_arguments &a, const struct latent_share &s,
                         struct latent_state<KIND> &state) {
#pragma unroll
  for (int index = 0; index < KIND::COLUMN_TILES * KIND::PAIRS * 2 * TILE_ACCUMULATORS; index++) {
    const int i = index % TILE_ACCUMULATORS, tile = index / TILE_ACCUMULATORS;
    state.sum[tile / 2 / KIND::PAIRS][tile / 2 % KIND::PAIRS][tile % 2][i] = 0;
  }
#pragma unroll
  for (int turn = 0; turn < KIND::TURNS; turn++) {
    state.largest[turn] = LATENT_NONE;
    state.total[turn] = 0;
    state.last[turn] = a.first + (s.first + latent_column<KIND>(turn)) / a.heads;
  }
}

// All units of the block; the first HELD steps of the first unit are in flight.
template <class KIND>
DEVICE void latent_units(const struct latent_arguments &a, const struct latent_share &s,
                         struct tile_a (&ring)[KIND::HELD][KIND::POSITION_TILES],
                         struct latent_state<KIND> &state) {
#pragma unroll 1
  for (int unit = s.unit; unit < s.end; unit++) {
    float score[KIND::COLUMN_TILES][KIND::POSITION_TILES][TILE_ACCUMULATORS] = {};
    const int after = unit + 1 < s.end ? unit + 1 : unit;
#pragma unroll
    for (int i = 0; i < KIND::STEPS; i++) {
      struct tile_a(&now)[KIND::POSITION_TILES] = ring[i % KIND::HELD];
      if (latent_step(i) < s.steps) {
        latent_score<KIND>(s, latent_step(i), now, score);
      }
      const int next = i + KIND::HELD;
      if (next < KIND::STEPS) {
        latent_fetch_any<KIND>(a, s, unit, next, now);
      } else if (COUNTED_LOADS || after > unit) { // this one again when it is the last
        latent_fetch_any<KIND>(a, s, after, next - KIND::STEPS, now);
      }
    }
    latent_leave_scores<KIND>(s, score);
    block_wait(); // the whole unit is there
    latent_softmax<KIND>(a, s, unit, state);
    block_wait();
    latent_add<KIND>(s, state);
    block_wait(); // nobody needs its values any more
  }
}

// ---- results

// Writes each head's largest score and total to shared memory, where all warps find them.
template <class KIND>
DEVICE void latent_leave_totals(const struct latent_share &s, struct latent_state<KIND> &state) {
#pragma unroll
  for (int turn = 0; turn < KIND::TURNS; turn++) {
    const float total = latent_sum(state.total[turn]);
    if (lane_index() % LATENT_UNIT == 0) {
      s.factors[LATENT_HEADS + latent_column<KIND>(turn)] = state.largest[turn];
      s.factors[2 * LATENT_HEADS + latent_column<KIND>(turn)] = total;
    }
  }
  block_wait();
}

// Writes the output or, with several splits, this one's partials.
template <class KIND>
DEVICE void latent_leave_sums(const struct latent_arguments &a, const struct latent_share &s,
                              const struct latent_state<KIND> &state, float *partial) {
  float *output = a.output + (size_t)s.first * (size_t)a.rank;
  const float *total = s.factors + 2 * LATENT_HEADS;
#pragma unroll
  for (int index = 0; index < KIND::COLUMN_TILES * KIND::PAIRS * 2 * TILE_ACCUMULATORS; index++) {
    const int i = index % TILE_ACCUMULATORS, at = index / TILE_ACCUMULATORS;
    const int t = at / 2 / KIND::PAIRS, pair = at / 2 % KIND::PAIRS, n = at % 2;
    const int column = t * TILE_COLUMNS + tile_column(lane_index(), i);
    const int tile = warp_index() + (2 * pair + n) * LATENT_WARPS;
    const int element = tile * TILE_ROWS + tile_row(lane_index(), i);
    const float sum = state.sum[t][pair][n][i] * KIND::scale();
    if (column >= s.heads || element >= a.rank) {
      continue;
    }
    if (KIND::PROMPT || a.splits == 1) {
      publish(output + column * a.rank + element, sum / total[column]);
    } else {
      publish(partial + column * latent_partials::PARTIAL + ATTENTION_PARTIAL + element, sum);
    }
  }
  if (!KIND::PROMPT && a.splits > 1 && thread_index() < s.heads) {
    const int column = thread_index();
    publish(partial + column * latent_partials::PARTIAL, s.factors[LATENT_HEADS + column]);
    publish(partial + column * latent_partials::PARTIAL + 1, total[column]);
  }
}

// Merges the splits' partials into the output as attention's are: its heads have `rank` elements.
DEVICE void latent_merge(const struct latent_arguments &a, const struct latent_share &s,
                         const float *partials, float *held) {
  struct attention_arguments merged = {};
  merged.heads = a.heads;
  merged.head_dim = a.rank;
  merged.splits = a.splits;
  merged.output = a.output;
  struct attention_share columns = {};
  columns.head = s.first; // of those of all rows
  columns.heads = s.heads;
  attention_merge_splits<latent_partials>(merged, columns, partials, held);
}

// All units, from queries in shared memory to each head's totals there and sums in `state`.
template <class KIND>
DEVICE void latent_stream(const struct latent_arguments &a, const struct latent_share &s,
                          struct tile_a (&ring)[KIND::HELD][KIND::POSITION_TILES],
                          struct latent_state<KIND> &state) {
  latent_begin<KIND>(a, s, state);
  latent_units<KIND>(a, s, ring, state);
  latent_leave_totals<KIND>(s, state);
}

template <class KIND> DEVICE void latent_attention(const struct latent_arguments &a) {
  SHARED(char, shared);
  let_next_start();
  const struct latent_share s = latent_share_of<KIND>(a, shared);
  const bool fresh = latent_is_fresh<KIND>(a, s.unit);
  struct tile_a ring[KIND::HELD][KIND::POSITION_TILES];
  if (!fresh) {
    latent_fetch_first<KIND, false>(a, s, ring);
  }
  wait_for_previous();
  latent_queries<KIND>(a, s);
  if (block_index(0) == a.splits - 1) { // the last split has the last position
    latent_store<KIND>(a, block_index(2), latent_slot<KIND>(a, block_index(2), a.context - 1));
  }
  block_wait();
  if (fresh) {
    latent_fetch_first<KIND, !COUNTED_LOADS>(a, s, ring);
  }
  struct latent_state<KIND> state;
  latent_stream<KIND>(a, s, ring, state);
  const size_t group = (size_t)(block_index(2) * a.head_groups + block_index(1));
  constexpr size_t floats = (size_t)LATENT_HEADS * latent_partials::PARTIAL;
  float *partials = a.partials + group * (size_t)a.splits * floats;
  latent_leave_sums<KIND>(a, s, state, partials + (size_t)block_index(0) * floats);
  if (a.splits > 1 && arrive_last(a.counters + group, (unsigned)a.splits)) {
    latent_merge(a, s, partials, reinterpret_cast<float *>(shared));
  }
}

// ---- a prompt

// The body of latent_*_entries.
template <class KIND> DEVICE void latent_entries(const struct latent_arguments &a) {
  const int row = block_index(0);
  let_next_start();
  wait_for_previous();
  latent_store<KIND>(a, row, latent_slot<KIND>(a, 0, a.first + row));
}

// The body of latent_*_prompt.
template <class KIND> DEVICE void latent_positions(const struct latent_arguments &a) {
  SHARED(char, shared);
  let_next_start();
  const struct latent_share s = latent_share_of<KIND>(a, shared);
  struct tile_a ring[KIND::HELD][KIND::POSITION_TILES];
  wait_for_previous();
  latent_fetch_first<KIND, true>(a, s, ring);
  latent_queries<KIND>(a, s);
  block_wait();
  struct latent_state<KIND> state;
  latent_stream<KIND>(a, s, ring, state);
  latent_leave_sums<KIND>(a, s, state, a.partials);
}

#define LATENT_KERNEL(kv, KV)                                                                      \
  KERNEL_BOUNDS(latent_##kv, latent_arguments, LATENT_WARPS *WARP, 2) {                            \
    latent_attention<latent_kind<ELEMENT_##KV>>(a);                                                \
  }                                                                                                \
  KERNEL_BOUNDS(latent_##kv##_entries, latent_arguments, SMALL_THREADS, 2) {                       \
    latent_entries<latent_prompt<ELEMENT_##KV>>(a);                                                \
  }                                                                                                \
  KERNEL_BOUNDS(latent_##kv##_prompt, latent_arguments, LATENT_WARPS *WARP, 2) {                   \
    latent_positions<latent_prompt<ELEMENT_##KV>>(a);                                              \
  }

#endif
