// product_vector: weights times one to four vectors, by the ordinary arithmetic units: the kernels
// vector_* of arguments.h. All that counts is that the stream of weights never stops.
//
// A block takes an even share of neighbouring rows, dealt to its warps one at a time. A warp goes
// through its rows in windows of LOADS_IN_FLIGHT loads of 16 bytes a lane, and holds one window in
// registers: each load is renewed, from the window after, as soon as it has been used (settle tells
// compilers that would use up the window first), whether or not that window is in the next row. The
// first window is under way before wait_for_previous, and while the block makes its rounded
// activations. With swiglu half of the loads are of the gate, half of the same row of the up.
//
// Memory would rest from the last weights of one kernel until the next has its activations: some 3
// us, for which an H200 wants 100 KB to a multiprocessor under way, more than a window. So more are
// asked for into L2. And it is the loads under way at the kernel's end that count: what the next
// one asks for too early is there too early, at the cost of this one's own. So that one is let
// start with this one's last loads, not before.
//
// In shared memory an activation lies as its weights do, so that a warp reads 16 bytes a lane side
// by side. Only BF16 beside E4M3 takes two such reads a lane, 32 bytes apart from lane to lane, of
// which eight lanes would meet in four of the eight groups of banks: there the two halves of 32
// bytes change places in every other group of 128 bytes.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PRODUCT_VECTOR_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PRODUCT_VECTOR_H

#include "kernels/gpu/device/round.h"

enum {
  VECTOR_ROW_STEP = VECTOR_THREADS / WARP, // from one row of a warp to its next
  VECTOR_ZEROS = 32                        // bytes
};

enum vector_end { VECTOR_STORE, VECTOR_ADD, VECTOR_SWIGLU };

// What a vector product is made of, at compile time.
template <enum element WEIGHTS_, enum element ACTIVATIONS_, enum rounding ROUND_,
          enum vector_end END_, int BATCH_>
struct vector_kind {
  static constexpr enum element WEIGHTS = WEIGHTS_, ACTIVATIONS = ACTIVATIONS_;
  static constexpr enum rounding ROUND = ROUND_;
  static constexpr enum vector_end END = END_;
  static constexpr int BATCH = BATCH_;
  static constexpr int STREAMS = END == VECTOR_SWIGLU ? 2 : 1;
  // Four vectors in E4M3 leave registers for half, but not on gfx9, where a lane has 256.
  static constexpr bool HALF = WARP == 32 && ACTIVATIONS == ELEMENT_E4M3 && BATCH == 4;
  static constexpr int LOADS = (HALF ? 4 : LOADS_IN_FLIGHT) / STREAMS;
  static constexpr int WEIGHT_CHUNK = 16 / (WEIGHTS == ELEMENT_E4M3 ? 1 : 2); // elements
  static constexpr int ACTIVATION_BYTES = ACTIVATIONS == ELEMENT_E4M3 ? 1 : 2;
  static constexpr bool SWAPS = WEIGHTS == ELEMENT_E4M3 && ACTIVATIONS == ELEMENT_BF16;
};

// Which rows a warp goes through, and where it is: the window of `row` that begins with its chunk
// (16 bytes of weights) `chunk`.
struct vector_share {
  int first, end; // rows of the warp: first, first + warps of a block, and so on before end
  int chunks;     // to a row
};
struct vector_place {
  int row, chunk;
};

template <class KIND>
DEVICE struct vector_share vector_share_of(const struct product_arguments &a) {
  const long long block = block_index(0), blocks = grid_blocks(0);
  return {(int)(a.rows * block / blocks) + warp_index(), (int)(a.rows * (block + 1) / blocks),
          a.stride / KIND::WEIGHT_CHUNK};
}

template <class KIND>
DEVICE struct vector_place vector_next(const struct vector_share &share, struct vector_place at) {
  const int chunk = at.chunk + KIND::LOADS * WARP;
  if (chunk < share.chunks) {
    return {at.row, chunk};
  }
  return {at.row + VECTOR_ROW_STEP, 0};
}

// Into L2, what `ahead` says beyond the first window. The loop is also what keeps that one's loads
// before wait_for_previous: within one run of instructions ptxas moves them behind it.
template <class KIND>
DEVICE void vector_ask(const struct product_arguments &a, const struct vector_share &share) {
  struct vector_place at = {share.first, 0};
#pragma unroll 1
  for (int i = lane_index() == 0 ? 1 : a.ahead; i < a.ahead; i++) {
    at = vector_next<KIND>(share, at);
    if (at.row >= share.end) {
      return;
    }
    const int left = share.chunks - at.chunk, window = KIND::LOADS * WARP;
    const size_t chunk = (size_t)at.row * (size_t)share.chunks + (size_t)at.chunk;
#pragma unroll
    for (int s = 0; s < KIND::STREAMS; s++) {
      ask_for_weights(static_cast<const unsigned char *>(s ? a.second : a.weights) + chunk * 16,
                      16 * (left < window ? left : window));
    }
  }
}

// A window's loads of one lane, counted from the row's end: the first is `left` chunks before it,
// the next WARP less. Where less than one is left, and behind the last row, the last chunk is
// loaded in place of nothing: other lanes load it too, and a branch would cost more.
template <class KIND> struct vector_window {
  const unsigned char *row_end[KIND::STREAMS];
  int left;
};

template <class KIND>
DEVICE struct vector_window<KIND> vector_window_at(const struct product_arguments &a,
                                                   const struct vector_share &share,
                                                   struct vector_place at) {
  struct vector_window<KIND> window;
  window.left = at.row < share.end ? share.chunks - at.chunk - lane_index() : 0;
  const int row = at.row < a.rows ? at.row : a.rows - 1;
  const size_t end = ((size_t)row + 1) * (size_t)share.chunks * 16;
#pragma unroll
  for (int s = 0; s < KIND::STREAMS; s++) {
    window.row_end[s] = static_cast<const unsigned char *>(s ? a.second : a.weights) + end;
  }
  return window;
}

template <class KIND>
DEVICE struct words4 vector_load(const struct vector_window<KIND> &window, int stream, int i) {
  const int left = window.left - i * WARP > 1 ? window.left - i * WARP : 1;
  return load_weights(window.row_end[stream] - (size_t)left * 16);
}

// Where 16 bytes of activations, the index-th of a row, lie in shared memory.
template <class KIND> DEVICE int vector_slot(int index) {
  return KIND::SWAPS ? index ^ (index >> 3 & 1) : index;
}

// A vector of activations, and the zeros behind it that meet what is loaded past a row's end.
template <class KIND> DEVICE int vector_row_bytes(int stride) {
  return stride * KIND::ACTIVATION_BYTES + VECTOR_ZEROS;
}

// Two elements in float: the i-th pair of 16 bytes.
template <enum element TYPE> DEVICE void unpack(const struct words4 &v, int i, float (&out)[2]) {
  if (TYPE == ELEMENT_BF16) {
    out[0] = bf16_low(v.word[i % 4]);
    out[1] = bf16_high(v.word[i % 4]);
  } else {
    e4m3_pair(v.word[i / 2], &out[0], &out[1], i % 2);
  }
}

template <class KIND> using vector_sums = float (&)[KIND::STREAMS][KIND::BATCH];

// Adds the products of a lane's chunk with the activations beside it; those of the vectors lie
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

// What is needed when a row's sums are done, fetched when it begins. Lane b has that of vector b.
template <class KIND> struct vector_row_end {
  float scale[KIND::STREAMS]; // of the row and, in E4M3, of the vector
  float residual;
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
      end.scale[s] =
          load_published_float((s ? a.second_scales : a.scales) + row) * activation_scale;
    }
  }
  if (KIND::END == VECTOR_ADD && !a.without_residual) {
    end.residual = load_published_float(a.output + (size_t)lane_index() * (size_t)a.output_stride +
                                        (size_t)row);
  }
  return end;
}

// Sums over the warp, writes the row's results and leaves the sums at zero.
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
  float *to = a.output + (size_t)lane_index() * (size_t)a.output_stride + (size_t)row;
  if (KIND::END == VECTOR_SWIGLU) {
    const float denominator = 1 + exponential(-mine[0]);
    const float silu = mine[0] * reciprocal(denominator < 0x1p100f ? denominator : 0x1p100f);
    publish(to, silu * mine[KIND::STREAMS - 1]);
  } else {
    publish(to, end.residual + mine[0]);
  }
}

// Puts a thread's rounded group of one vector where it belongs in shared memory.
template <class KIND>
DEVICE void
vector_store_group(unsigned char *row, int first, int stride,
                   const uint32_t (&group)[GROUP<KIND::ROUND>][QUAD_WORDS<KIND::ACTIVATIONS>]) {
#pragma unroll
  for (int i = 0; i < GROUP<KIND::ROUND>; i++) {
    const int at = quad_at<VECTOR_THREADS>(first, i), byte = at * KIND::ACTIVATION_BYTES;
    uint32_t *to =
        reinterpret_cast<uint32_t *>(row + vector_slot<KIND>(byte / 16) * 16 + byte % 16);
#pragma unroll
    for (int word = 0; word < QUAD_WORDS<KIND::ACTIVATIONS> && at < stride; word++) {
      to[word] = group[i][word];
    }
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
    vector_store_group<KIND>(activations + b * vector_row_bytes<KIND>(stride), first, stride, out);
  }
}

// Makes the block's rounded activations.
template <class KIND>
DEVICE void vector_activations(const struct vectors &v, int stride,
                               const struct norm_ahead<KIND::ROUND> &ahead,
                               unsigned char *activations, float *room) {
  constexpr int STEP = GROUP<KIND::ROUND> * VECTOR_THREADS * 4;
  if (KIND::ROUND == ROUND_NORM || KIND::ACTIVATIONS == ELEMENT_E4M3) {
    find_factors<KIND::ROUND, KIND::ACTIVATIONS, VECTOR_THREADS>(v, ahead, room);
  }
#pragma unroll
  for (int i = 0; i < NORM_AHEAD<KIND::ROUND>; i++) {
    vector_round_group<KIND>(v, i * STEP, stride, ahead.group[i], activations, room);
  }
  for (int first = NORM_AHEAD<KIND::ROUND> * STEP; first < stride; first += STEP) {
    struct quad weight[GROUP<KIND::ROUND>];
    if (KIND::ROUND == ROUND_NORM) {
      load_group<true, VECTOR_THREADS>(v.norm, first, v.columns, weight);
    }
    vector_round_group<KIND>(v, first, stride, weight, activations, room);
  }
  uint32_t *zeros = reinterpret_cast<uint32_t *>(activations + stride * KIND::ACTIVATION_BYTES);
  if (thread_index() < VECTOR_ZEROS / 4) {
    for (int b = 0; b < KIND::BATCH; b++) {
      zeros[thread_index() + b * vector_row_bytes<KIND>(stride) / 4] = 0;
    }
  }
  block_wait();
}

template <class KIND> using vector_registers = struct words4 (&)[KIND::STREAMS][KIND::LOADS];

// Uses up a window of which `left` chunks of the row are left, this lane's first included, and
// loads the next.
template <class KIND>
DEVICE void vector_step(const struct vector_share &share, int left,
                        const struct vector_window<KIND> &next, const unsigned char *activations,
                        int vector_bytes, vector_registers<KIND> loaded, vector_sums<KIND> sum) {
#pragma unroll
  for (int i = 0; i < KIND::LOADS; i++) {
    const int from_end = left - i * WARP > 0 ? left - i * WARP : 0; // there lie zeros
    struct words4 weights[KIND::STREAMS];
#pragma unroll
    for (int s = 0; s < KIND::STREAMS; s++) {
      weights[s] = loaded[s][i];
    }
    vector_multiply<KIND>(weights, share.chunks - from_end, activations, vector_bytes, sum);
#pragma unroll
    for (int n = 0; n < KIND::STREAMS * KIND::BATCH; n++) {
      settle(sum[n / KIND::BATCH][n % KIND::BATCH]);
    }
#pragma unroll
    for (int s = 0; s < KIND::STREAMS; s++) {
      loaded[s][i] = vector_load<KIND>(next, s, i);
    }
  }
}

// All rows of the warp; the first window has been loaded.
template <class KIND>
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
    if (at.row + a.start_before >= share.end && thread_index_anew() < WARP) {
      let_next_start();
    }
    const struct vector_window<KIND> next = vector_window_at<KIND>(a, share, at);
    vector_step<KIND>(share, left, next, activations, vector_bytes, loaded, sum);
    if (at.chunk == 0) {
      vector_row_finish<KIND>(a, at.row - VECTOR_ROW_STEP, end, sum);
      if (at.row < share.end) {
        end = vector_row_begin<KIND>(a, at.row, activation_scale);
      }
    }
    left = next.left;
  } while (at.row < share.end);
}

// The body of vector_*.
template <class KIND> DEVICE void vector_product(const struct product_arguments &a) {
  SHARED(unsigned char, shared);
  if (a.start_before >= a.rows) {
    let_next_start();
  }
  const struct vector_share share = vector_share_of<KIND>(a);
  struct words4 loaded[KIND::STREAMS][KIND::LOADS];
  const struct vector_window<KIND> first =
      vector_window_at<KIND>(a, share, vector_place{share.first, 0});
#pragma unroll
  for (int i = 0; i < KIND::LOADS; i++) {
#pragma unroll
    for (int s = 0; s < KIND::STREAMS; s++) {
      loaded[s][i] = vector_load<KIND>(first, s, i);
    }
  }
  struct norm_ahead<KIND::ROUND> ahead = {}; // on every path: persistent.h
  norm_before_wait<KIND::ROUND, VECTOR_THREADS>(a.norm, a.columns, &ahead);
  vector_ask<KIND>(a, share);
  wait_for_previous();
  norm_after_wait<KIND::ROUND, VECTOR_THREADS>(a.norm, a.columns, &ahead);

  float *room = reinterpret_cast<float *>(shared + vector_row_bytes<KIND>(a.stride) * KIND::BATCH);
  const int batch = KIND::BATCH == 1 ? 1 : a.batch;
  vector_activations<KIND>({a.input, a.norm, a.epsilon, a.columns, batch}, a.stride, ahead, shared,
                           room);
  float activation_scale = 1;
  if (KIND::ACTIVATIONS == ELEMENT_E4M3 && lane_index() < a.batch) {
    activation_scale = room_factors(room, lane_index()).scale;
  }
  vector_rows<KIND>(a, share, shared, activation_scale, loaded);
}

#endif
