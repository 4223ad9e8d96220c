// product_vector: weights times one to four vectors, on the ordinary arithmetic units: the kernels
// vector_* of arguments/product.h. All that matters is that the stream of weights never stops.
//
// A block takes an even share of adjacent rows, dealt to its warps one at a time. A warp goes
// through its rows in windows of LOADS_IN_FLIGHT loads of 16 bytes per lane, and holds one window
// in registers: each load is reissued, for the following window, as soon as its result has been
// used, whether or not that window is in the next row (settle stops compilers that would use up the
// window first). Where rows are whole windows, nothing has to be clamped at their ends, in a loop
// of its own. The first window is in flight before wait_for_previous, and while the block rounds
// its activations. With swiglu half of the loads are of the gate, half of the same row of the up.
//
// Nothing is prefetched into L2. On an H200 that costs more than it hides: what is read by requests
// of its own arrives at 4.5 TB/s, what was prefetched before at 4.0. Bytes under way are what
// counts: two blocks of one vector on a multiprocessor, 128 KB, are much faster than one, although
// the next kernel's blocks then find room only when these end. So the next one may start with this
// one's last loads, not before: what it requests too early would slow these down.
//
// What an MLP's first product makes is passed on rounded, if the next takes BF16; that one's blocks
// then only copy it.
//
// In shared memory an activation has the same layout as its weights, so that a warp reads 16
// contiguous bytes per lane. Only BF16 with E4M3 takes two such reads per lane, 32 bytes apart from
// lane to lane, so that eight lanes would meet in four of the eight groups of banks: there the two
// halves of 32 bytes are swapped in every other group of 128 bytes.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_PRODUCT_VECTOR_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_PRODUCT_VECTOR_H

#include "kernels/gpu/device/products/family.h"
#include "kernels/gpu/device/products/round.h"
#include "kernels/gpu/units.h"

enum {
  VECTOR_ROW_STEP = VECTOR_THREADS / WARP, // from one row of a warp to its next
  VECTOR_ZEROS = 32                        // bytes
};

enum vector_end { VECTOR_STORE, VECTOR_ADD, VECTOR_SWIGLU, VECTOR_BIASED, VECTOR_GATED };

// Compile-time parameters of a vector product.
template <enum element WEIGHTS_, enum element ACTIVATIONS_, enum rounding ROUND_,
          enum vector_end END_, int BATCH_>
struct vector_kind {
  static constexpr enum element WEIGHTS = WEIGHTS_, ACTIVATIONS = ACTIVATIONS_;
  static constexpr enum rounding ROUND = ROUND_;
  static constexpr enum vector_end END = END_;
  static constexpr int BATCH = BATCH_;
  static constexpr bool FAMILY = END == VECTOR_BIASED || END == VECTOR_GATED;
  static constexpr int STREAMS = END == VECTOR_SWIGLU || END == VECTOR_GATED ? 2 : 1;
  // Four vectors in E4M3 leave registers for half of that, but not on gfx9, where a lane has 256.
  static constexpr bool HALF = WARP == 32 && ACTIVATIONS == ELEMENT_E4M3 && BATCH == 4;
  static constexpr int LOADS = (HALF ? 4 : LOADS_IN_FLIGHT) / STREAMS;
  static constexpr int WEIGHT_CHUNK = 16 / (WEIGHTS == ELEMENT_E4M3 ? 1 : 2); // elements
  static constexpr int ACTIVATION_BYTES = ACTIVATIONS == ELEMENT_E4M3 ? 1 : 2;
  // Whether rows of whole windows have a loop of their own. Biases leave too few registers for that
  // (ptxas 13.0, sm_90a).
  static constexpr bool PEELS = !FAMILY;
  // Quads of a vector that a thread holds for a norm. E4M3 leaves registers for no more than half
  // of HELD (ptxas 13.0, sm_100 and sm_120), gates of experts for one less.
  static constexpr int MOST = ACTIVATIONS == ELEMENT_E4M3 ? NORM_AHEAD
                              : END == VECTOR_GATED       ? HELD - 1
                                                          : HELD;
  // Where loads are counted, several vectors that are held leave no weights under way (clang 19,
  // gfx90a and gfx942).
  static constexpr bool HOLDS = ROUND == ROUND_NORM && (BATCH == 1 || !COUNTED_LOADS);
  // What sums of vector_multiply are multiplied by.
  static constexpr float WORTH = (WEIGHTS == ELEMENT_E4M3 ? E4M3_HELD_SCALE : 1) *
                                 (ACTIVATIONS == ELEMENT_E4M3 ? E4M3_HELD_SCALE : 1);
  static constexpr bool SWAPS = WEIGHTS == ELEMENT_E4M3 && ACTIVATIONS == ELEMENT_BF16;
  // The vectors alone, for the matrix tile (pairs.h): 16 bytes more after each unit, so that the
  // units that it reads together are in different banks.
  static constexpr bool IN_UNITS = WEIGHTS != ELEMENT_BF16 && WEIGHTS != ELEMENT_E4M3;
};

// The same product after a layer norm.
template <class KIND>
using vector_layer_kind =
    vector_kind<KIND::WEIGHTS, KIND::ACTIVATIONS, ROUND_LAYER, KIND::END, KIND::BATCH>;

// The rows that a warp goes through, and where it is: in the window of `row` that begins with its
// chunk `chunk` (16 bytes of weights).
struct vector_share {
  int first, end; // rows of the warp: first, first + warps of a block, and so on before end
  int chunks;     // to a row
};
struct vector_place {
  int row, chunk;
};

// A warp's share of the rows from `before` on.
template <class KIND>
DEVICE struct vector_share vector_share_of(const struct product_arguments &a, int before) {
  const long long block = block_index(0), blocks = grid_blocks(0);
  return {(int)((a.rows - before) * block / blocks) + before + warp_index(),
          (int)((a.rows - before) * (block + 1) / blocks) + before, a.stride / KIND::WEIGHT_CHUNK};
}

template <class KIND>
DEVICE struct vector_place vector_next(const struct vector_share &share, struct vector_place at) {
  const int chunk = at.chunk + KIND::LOADS * WARP;
  if (chunk < share.chunks) {
    return {at.row, chunk};
  }
  return {at.row + VECTOR_ROW_STEP, 0};
}

// Whether rows are whole windows: then all of a lane's loads are at fixed distances.
template <class KIND> DEVICE bool vector_is_full(const struct vector_share &share) {
  return KIND::PEELS && share.chunks % (KIND::LOADS * WARP) == 0;
}

// One lane's loads of a window, counted from the row's end: the first is `left` chunks before it,
// each further one WARP chunks later. If less than one is left, and past the last row, the last
// chunk is loaded instead of nothing: other lanes load it too, and a branch would cost more. With
// FULL windows all lanes load the beginning of the row before again, which is in L2.
template <class KIND> struct vector_window {
  const unsigned char *row_end[KIND::STREAMS];
  int left;
};

template <class KIND, bool FULL = false>
DEVICE struct vector_window<KIND> vector_window_at(const struct product_arguments &a,
                                                   const struct vector_share &share,
                                                   struct vector_place at) {
  struct vector_window<KIND> window;
  const bool is_inside = at.row < share.end;
  window.left = is_inside ? share.chunks - at.chunk - lane_index() : FULL ? share.chunks : 0;
  const int beyond = FULL ? at.row - VECTOR_ROW_STEP : a.rows - 1;
  const int row = (FULL ? is_inside : at.row < a.rows) ? at.row : beyond;
  const size_t end = ((size_t)row + 1) * (size_t)share.chunks * 16;
#pragma unroll
  for (int s = 0; s < KIND::STREAMS; s++) {
    window.row_end[s] = static_cast<const unsigned char *>(s ? a.second : a.weights) + end;
  }
  return window;
}

template <class KIND, bool FULL = false>
DEVICE struct words4 vector_load(const struct vector_window<KIND> &window, int stream, int i) {
  if (FULL) {
    return load_weights(window.row_end[stream] - (size_t)window.left * 16 + i * WARP * 16);
  }
  const int left = window.left - i * WARP > 1 ? window.left - i * WARP : 1;
  return load_weights(window.row_end[stream] - (size_t)left * 16);
}

// Where the index-th 16 bytes of an activation row are in shared memory.
template <class KIND> DEVICE int vector_slot(int index) {
  constexpr int UNIT_CHUNKS = UNIT * 2 / 16;
  return KIND::SWAPS      ? index ^ (index >> 3 & 1)
         : KIND::IN_UNITS ? index + index / UNIT_CHUNKS
                          : index;
}

// A vector of activations, followed by zeros that meet what is loaded past a row's end.
template <class KIND> DEVICE int vector_row_bytes(int stride) {
  return stride * KIND::ACTIVATION_BYTES + (KIND::IN_UNITS ? stride / UNIT * 16 : 0) + VECTOR_ZEROS;
}

// Two elements in float, E4M3 as held (platform.h): the i-th pair of 16 bytes.
template <enum element TYPE> DEVICE void unpack(const struct words4 &v, int i, float (&out)[2]) {
  if (TYPE == ELEMENT_BF16) {
    out[0] = bf16_low(v.word[i % 4]);
    out[1] = bf16_high(v.word[i % 4]);
  } else {
    e4m3_pair_held(v.word[i / 2], &out[0], &out[1], i % 2);
  }
}

template <class KIND> using vector_sums = float (&)[KIND::STREAMS][KIND::BATCH];

// Adds the products of a lane's chunk with the matching activations; the vectors' are
// `vector_bytes` apart.
template <class KIND>
DEVICE void vector_multiply(const struct words4 (&weights)[KIND::STREAMS], int chunk,
                            const unsigned char *activations, int vector_bytes,
                            vector_sums<KIND> sum) {
  constexpr int PAIRS = KIND::WEIGHT_CHUNK / 2, PAIRS_LOADED = 8 / KIND::ACTIVATION_BYTES;
  struct words4 loaded[KIND::BATCH];
#pragma unroll
  for (int pair = 0; pair < PAIRS; pair++) {
    float w[KIND::STREAMS][2];
#pragma unroll
    for (int s = 0; s < KIND::STREAMS; s++) {
      unpack<KIND::WEIGHTS>(weights[s], pair, w[s]);
    }
    const int slot = vector_slot<KIND>(chunk * (PAIRS / PAIRS_LOADED) + pair / PAIRS_LOADED);
#pragma unroll
    for (int b = 0; b < KIND::BATCH; b++) {
      if (pair % PAIRS_LOADED == 0) {
        loaded[b] = load_shared(activations + b * vector_bytes + slot * 16);
      }
      float x[2];
      unpack<KIND::ACTIVATIONS>(loaded[b], pair % PAIRS_LOADED, x);
#pragma unroll
      for (int s = 0; s < KIND::STREAMS; s++) {
        sum[s][b] += w[s][0] * x[0];
        sum[s][b] += w[s][1] * x[1];
      }
    }
  }
}

// What is needed when a row's sums are complete, fetched at the row's start. Lane b has vector b's.
template <class KIND> struct vector_row_end {
  float scale[KIND::STREAMS]; // of the row and, in E4M3, of the vector
  float added[KIND::STREAMS]; // to the sums: biases of families, the residual
};

template <class KIND>
DEVICE struct vector_row_end<KIND> vector_row_begin(const struct product_arguments &a, int row,
                                                    float activation_scale) {
  struct vector_row_end<KIND> end = {};
  if (lane_index() >= a.batch) {
    return end;
  }
  if (KIND::WEIGHTS == ELEMENT_E4M3) {
#pragma unroll
    for (int s = 0; s < KIND::STREAMS; s++) {
      end.scale[s] = load_published_float((s ? a.second_scales : a.scales) + row) *
                     activation_scale * KIND::WORTH;
    }
  }
  if constexpr (KIND::FAMILY) {
#pragma unroll
    for (int s = 0; s < KIND::STREAMS; s++) {
      end.added[s] = family_bias(s ? a.second_bias : a.bias, row);
    }
  }
  if ((KIND::END == VECTOR_ADD || KIND::END == VECTOR_BIASED) && !a.without_residual) {
    end.added[0] +=
        load_passed_known(a.output + (size_t)lane_index() * (size_t)a.output_stride + (size_t)row);
  }
  return end;
}

// silu(gate) * up
DEVICE float
vector_gated(float gate, float up) {
  const float denominator = 1 + exponential(-gate);
  return gate * reciprocal(denominator < 0x1p100f ? denominator : 0x1p100f) * up;
}

// Sums over the warp, writes the row's results and resets the sums to zero.
template <class KIND>
DEVICE void vector_row_finish(const struct product_arguments &a, int row,
                              const struct vector_row_end<KIND> &end, vector_sums<KIND> sum) {
  float mine[KIND::STREAMS] = {};
#pragma unroll
  for (int s = 0; s < KIND::STREAMS; s++) {
#pragma unroll
    for (int b = 0; b < KIND::BATCH; b++) {
      const float total = warp_sum(sum[s][b]);
      mine[s] = lane_index() == b ? total : mine[s];
      sum[s][b] = 0;
    }
    if (KIND::WEIGHTS == ELEMENT_E4M3) {
      mine[s] *= end.scale[s];
    }
  }
  if (lane_index() >= a.batch) {
    return;
  }
  const size_t vector = (size_t)lane_index() * (size_t)a.output_stride;
  const float last = mine[KIND::STREAMS - 1];
  if constexpr (KIND::FAMILY) {
    const float made = family_made<KIND::STREAMS>(a.mlp, mine[0] + end.added[0],
                                                  last + end.added[KIND::STREAMS - 1]);
    pass_on<false>(a.passed, a.output, vector, row, made);
  } else if constexpr (KIND::END == VECTOR_SWIGLU) {
    pass_on<false>(a.passed, a.output, vector, row, vector_gated(mine[0], last));
  } else {
    pass(a.output + vector + row, mine[0] + end.added[0]);
  }
}

// Stores a rounded quad of one vector at its place in shared memory.
template <class KIND>
DEVICE void vector_store(unsigned char *row, int at, int stride,
                         const uint32_t (&quad)[QUAD_WORDS<KIND::ACTIVATIONS>]) {
  const int byte = at * KIND::ACTIVATION_BYTES;
  uint32_t *to = reinterpret_cast<uint32_t *>(row + vector_slot<KIND>(byte / 16) * 16 + byte % 16);
#pragma unroll
  for (int word = 0; word < QUAD_WORDS<KIND::ACTIVATIONS> && at < stride; word++) {
    to[word] = quad[word];
  }
}

template <class KIND>
DEVICE void vector_round_group(const struct vectors &v, int first, int stride,
                               const struct quad (&weight)[GROUP<KIND::ROUND>],
                               unsigned char *activations, const float *room) {
#pragma unroll 1
  for (int b = 0; b < v.batch; b++) {
    uint32_t out[GROUP<KIND::ROUND>][QUAD_WORDS<KIND::ACTIVATIONS>];
    round_group<KIND::ROUND, KIND::ACTIVATIONS, VECTOR_THREADS>(v, b, first, weight, room, out);
#pragma unroll
    for (int i = 0; i < GROUP<KIND::ROUND>; i++) {
      vector_store<KIND>(activations + b * vector_row_bytes<KIND>(stride),
                         quad_at<VECTOR_THREADS>(first, i), stride, out[i]);
    }
  }
}

// The beginning of the vectors, COUNT quads a thread, after the norm.
template <class KIND, int COUNT>
DEVICE void vector_round_held(const struct vectors &v, int stride, const struct norm_ahead &ahead,
                              unsigned char *activations, float *room) {
  struct quad x[KIND::BATCH][COUNT];
  find_held_factors<KIND::ACTIVATIONS, VECTOR_THREADS, KIND::BATCH, COUNT, KIND::MOST>(v, ahead, x,
                                                                                       room);
#pragma unroll
  for (int b = 0; b < KIND::BATCH; b++) {
    const struct factors factors = room_factors(room, b < v.batch ? b : 0);
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      uint32_t out[QUAD_WORDS<KIND::ACTIVATIONS>];
      round_held<KIND::ACTIVATIONS>(factors, x[b][i], out);
      vector_store<KIND>(activations + b * vector_row_bytes<KIND>(stride),
                         quad_at<VECTOR_THREADS>(0, i), stride, out);
    }
  }
}

// What loads past a row's end meet, after which the block's activations are complete.
template <class KIND> DEVICE void vector_zeros(int stride, unsigned char *activations) {
  uint32_t *zeros =
      reinterpret_cast<uint32_t *>(activations + vector_row_bytes<KIND>(stride) - VECTOR_ZEROS);
  if (thread_index() < VECTOR_ZEROS / 4) {
    for (int b = 0; b < KIND::BATCH; b++) {
      zeros[thread_index() + b * vector_row_bytes<KIND>(stride) / 4] = 0;
    }
  }
  block_wait();
}

// The block's activations, which come rounded: a thread has TAKEN loads of 16 bytes under way.
template <class KIND>
DEVICE void vector_take(const struct product_arguments &a, int batch, unsigned char *activations) {
  constexpr int TAKEN = 4;
  const int pieces = a.stride * KIND::ACTIVATION_BYTES / 16;
#pragma unroll 1
  for (int b = 0; b < batch; b++) {
    const char *from = reinterpret_cast<const char *>(a.input) +
                       (size_t)b * (size_t)a.input_stride * KIND::ACTIVATION_BYTES;
    unsigned char *to = activations + b * vector_row_bytes<KIND>(a.stride);
#pragma unroll 1
    for (int first = thread_index(); first < pieces; first += TAKEN * VECTOR_THREADS) {
      struct words4 taken[TAKEN];
#pragma unroll
      for (int i = 0; i < TAKEN; i++) {
        const int piece = first + i * VECTOR_THREADS;
        taken[i] = load_published(from + (piece < pieces ? piece : first) * 16);
      }
#pragma unroll
      for (int i = 0; i < TAKEN; i++) {
        const int piece = first + i * VECTOR_THREADS;
        if (piece < pieces) {
          store_shared(to + vector_slot<KIND>(piece) * 16, taken[i]);
        }
      }
    }
  }
  vector_zeros<KIND>(a.stride, activations);
}

// Makes the block's rounded activations.
template <class KIND>
DEVICE void vector_activations(const struct vectors &v, int stride, const struct norm_ahead &ahead,
                               unsigned char *activations, float *room) {
  constexpr int STEP = GROUP<KIND::ROUND> * VECTOR_THREADS * 4;
  int first = 0;
  if constexpr (KIND::HOLDS) {
    if (KIND::MOST == NORM_AHEAD || held_few<VECTOR_THREADS>(v)) {
      vector_round_held<KIND, NORM_AHEAD>(v, stride, ahead, activations, room);
    } else {
      vector_round_held<KIND, KIND::MOST>(v, stride, ahead, activations, room);
    }
    first = held_end<VECTOR_THREADS, KIND::MOST>(v);
  } else if constexpr (KIND::ROUND != ROUND_ALONE || KIND::ACTIVATIONS == ELEMENT_E4M3) {
    find_factors<KIND::ROUND, KIND::ACTIVATIONS, VECTOR_THREADS>(v, room);
  }
  for (; first < stride; first += STEP) {
    struct quad weight[GROUP<KIND::ROUND>];
    if (KIND::ROUND == ROUND_NORM) {
      load_group<true, VECTOR_THREADS>(v.norm, first, v.columns, weight);
    }
    vector_round_group<KIND>(v, first, stride, weight, activations, room);
  }
  vector_zeros<KIND>(stride, activations);
}

// Puts the activations into shared memory, as the product's arguments say, whatever its input.
template <class KIND>
DEVICE void vector_input(const struct product_arguments &a, const struct norm_ahead &ahead,
                         unsigned char *activations, float *room) {
  const int batch = KIND::BATCH == 1 ? 1 : a.batch;
  const struct vectors v = {a.input, a.norm,      a.epsilon,     a.columns,
                            batch,   a.norm_bias, a.input_stride};
  if constexpr (KIND::FAMILY && KIND::ROUND == ROUND_NORM) {
    if (a.norm_bias) {
      vector_activations<vector_layer_kind<KIND>>(v, a.stride, {}, activations, room);
      return;
    }
  }
  if constexpr (KIND::ROUND == ROUND_ALONE && KIND::ACTIVATIONS == ELEMENT_BF16) {
    if (a.rounded) {
      vector_take<KIND>(a, batch, activations);
      return;
    }
  }
  vector_activations<KIND>(v, a.stride, ahead, activations, room);
}

template <class KIND> using vector_registers = struct words4 (&)[KIND::STREAMS][KIND::LOADS];

// Uses up a window with `left` chunks of the row left, this lane's first included, and loads the
// next.
template <class KIND, bool FULL>
DEVICE void vector_step(const struct vector_share &share, int left,
                        const struct vector_window<KIND> &next, const unsigned char *activations,
                        int vector_bytes, vector_registers<KIND> loaded, vector_sums<KIND> sum) {
#pragma unroll
  for (int i = 0; i < KIND::LOADS; i++) {
    const int from_end = FULL ? left : left - i * WARP > 0 ? left - i * WARP : 0; // there lie zeros
    const int further = FULL ? i * WARP * KIND::WEIGHT_CHUNK * KIND::ACTIVATION_BYTES : 0;
    struct words4 weights[KIND::STREAMS];
#pragma unroll
    for (int s = 0; s < KIND::STREAMS; s++) {
      weights[s] = loaded[s][i];
    }
    vector_multiply<KIND>(weights, share.chunks - from_end, activations + further, vector_bytes,
                          sum);
#pragma unroll
    for (int n = 0; n < KIND::STREAMS * KIND::BATCH; n++) {
      settle(sum[n / KIND::BATCH][n % KIND::BATCH]);
    }
#pragma unroll
    for (int s = 0; s < KIND::STREAMS; s++) {
      loaded[s][i] = vector_load<KIND, FULL>(next, s, i);
    }
  }
}

// All rows of the warp; the first window has been loaded.
template <class KIND, bool FULL>
DEVICE void vector_rows(const struct product_arguments &a, const struct vector_share &share,
                        const unsigned char *activations, float activation_scale,
                        vector_registers<KIND> loaded) {
  const int vector_bytes = vector_row_bytes<KIND>(a.stride);
  float sum[KIND::STREAMS][KIND::BATCH] = {};
  struct vector_place at = {share.first, 0};
  if (at.row >= share.end) {
    return;
  }
  struct vector_row_end<KIND> end = vector_row_begin<KIND>(a, at.row, activation_scale);
  int left = share.chunks - lane_index();
  do {
    at = vector_next<KIND>(share, at);
    if (at.row >= share.end && thread_index_anew() < WARP) {
      let_next_start();
    }
    const struct vector_window<KIND> next = vector_window_at<KIND, FULL>(a, share, at);
    vector_step<KIND, FULL>(share, left, next, activations, vector_bytes, loaded, sum);
    stamp_product(sum[0][0]);
    if (at.chunk == 0) {
      vector_row_finish<KIND>(a, at.row - VECTOR_ROW_STEP, end, sum);
      if (at.row < share.end) {
        end = vector_row_begin<KIND>(a, at.row, activation_scale);
      }
    }
    left = next.left;
  } while (at.row < share.end);
}

// The body of vector_*, of the matrix's rows from `before` on.
template <class KIND>
DEVICE void vector_product(const struct product_arguments &a, int before = 0) {
  SHARED(unsigned char, shared);
  const struct vector_share share = vector_share_of<KIND>(a, before);
  struct words4 loaded[KIND::STREAMS][KIND::LOADS];
  // The branch keeps these loads before wait_for_previous: in straight-line code ptxas moves them
  // behind it.
  if (COUNTED_LOADS || share.first < share.end) {
    const struct vector_window<KIND> first =
        vector_window_at<KIND>(a, share, vector_place{share.first, 0});
#pragma unroll
    for (int i = 0; i < KIND::LOADS; i++) {
#pragma unroll
      for (int s = 0; s < KIND::STREAMS; s++) {
        loaded[s][i] = vector_load<KIND>(first, s, i);
      }
    }
  }
  struct norm_ahead ahead = {};
  norm_before_wait<KIND::ROUND, VECTOR_THREADS>(a.norm, a.columns, &ahead);
  wait_for_previous();
  await_passed(a.input, a.columns);

  float *room = reinterpret_cast<float *>(shared + vector_row_bytes<KIND>(a.stride) * KIND::BATCH);
  vector_input<KIND>(a, ahead, shared, room);
  float activation_scale = 1;
  if (KIND::ACTIVATIONS == ELEMENT_E4M3 && lane_index() < a.batch) {
    activation_scale = room_factors(room, lane_index()).scale;
  }
  if (vector_is_full<KIND>(share)) {
    vector_rows<KIND, true>(a, share, shared, activation_scale, loaded);
  } else {
    vector_rows<KIND, false>(a, share, shared, activation_scale, loaded);
  }
}

#endif
