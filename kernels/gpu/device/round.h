// round: float vectors made into what enters a product with weights (decode.h): BF16, or E4M3 with
// one scale per vector, as they are or after the RMS norm. The kernels round_* do it for the matrix
// products; the vector products do it for themselves, with the same functions.
//
// A thread takes quads, four neighbouring floats, a group of them at a time so that their loads are
// under way together; registers that hold weights leave few for this. What enters E4M3 is (x *
// norm) * inverse, in this order, so that the largest can be taken before the inverse of the root
// is known: rounding is monotone.
//
// Paired, pairs of elements are written in the order of wgmma_paired_word (arguments.h).
//
// The block's shared memory must have room for ROOM_BYTES.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_ROUND_H
#define PERTOKEN_KERNELS_GPU_DEVICE_ROUND_H

#include "kernels/decode.h"
#include "kernels/gpu/arguments.h"
#include "kernels/gpu/device/platform.h"

enum rounding { ROUND_ALONE, ROUND_NORM };

// Two values of each vector meet there, from each warp of a block one; then come each vector's
// factors.
enum {
  ROOM_WARPS = 16,
  ROOM_FACTORS = 2 * VECTOR_BATCH * ROOM_WARPS, // floats
  ROOM_BYTES = (ROOM_FACTORS + 4 * VECTOR_BATCH) * 4
};

template <enum rounding ROUND> constexpr int GROUP = ROUND == ROUND_NORM ? 1 : 4;
template <enum rounding ROUND> constexpr int NORM_AHEAD = ROUND == ROUND_NORM ? 2 : 0; // groups
template <enum element TO> constexpr int QUAD_WORDS = TO == ELEMENT_E4M3 ? 1 : 2;

struct quad {
  float v[4];
};

// Four floats from `at` on, zeros from `end` on. A vector whose length is no multiple of 4 may
// begin anywhere, and is read one by one.
template <bool IS_WEIGHTS> DEVICE struct quad load_quad(const float *from, int at, int end) {
  struct quad out = {{0, 0, 0, 0}};
  if (end % 4 == 0) {
    if (at < end) {
      const struct words4 words = IS_WEIGHTS ? load_weights(from + at) : load_published(from + at);
#pragma unroll
      for (int i = 0; i < 4; i++) {
        out.v[i] = float_of(words.word[i]);
      }
    }
    return out;
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if (at + i < end) {
      out.v[i] = load_published_float(from + at + i);
    }
  }
  return out;
}

// Where a thread's i-th quad of the group that begins at `first` lies.
template <int THREADS> DEVICE int quad_at(int first, int i) {
  return first + (i * THREADS + thread_index()) * 4;
}

template <bool IS_WEIGHTS, int THREADS, int COUNT>
DEVICE void load_group(const float *from, int first, int end, struct quad (&out)[COUNT]) {
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    out[i] = load_quad<IS_WEIGHTS>(from, quad_at<THREADS>(first, i), end);
  }
}

// A thread's first groups of the norm are fetched before wait_for_previous, where that is allowed;
// the others when their turn comes.
template <enum rounding ROUND> struct norm_ahead {
  struct quad group[NORM_AHEAD<ROUND> + 1][GROUP<ROUND>]; // one more, for there must be one
};

template <enum rounding ROUND, int THREADS>
DEVICE void load_norm_ahead(const float *norm, int columns, struct norm_ahead<ROUND> *out) {
#pragma unroll
  for (int i = 0; i < NORM_AHEAD<ROUND>; i++) {
    load_group<true, THREADS>(norm, i * GROUP<ROUND> * THREADS * 4, columns, out->group[i]);
  }
}

template <enum rounding ROUND, int THREADS>
DEVICE void norm_before_wait(const float *norm, int columns, struct norm_ahead<ROUND> *out) {
  if (columns % 4 == 0) {
    load_norm_ahead<ROUND, THREADS>(norm, columns, out);
  }
}

template <enum rounding ROUND, int THREADS>
DEVICE void norm_after_wait(const float *norm, int columns, struct norm_ahead<ROUND> *out) {
  if (columns % 4 != 0) {
    load_norm_ahead<ROUND, THREADS>(norm, columns, out);
  }
}

// Of a magnitude's bits: their order is that of the values, and NaN is above all of them.
DEVICE uint32_t larger_bits(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

DEVICE uint32_t warp_largest_bits(uint32_t v) {
#pragma unroll
  for (int mask = WARP / 2; mask; mask >>= 1) {
    v = larger_bits(v, shuffle_xor_bits(v, mask));
  }
  return v;
}

// Vectors [batch][columns] that a block rounds.
struct vectors {
  const float *input, *norm;
  float epsilon;
  int columns, batch;
};

DEVICE const float *vector_of(const struct vectors &v, int b) {
  return v.input + (size_t)b * (size_t)v.columns;
}

// What becomes of a vector's elements. They are multiplied by `multiplier`: the inverse of the root
// mean square, or 1 without a norm; with E4M3 then divided by `divisor`. That is the scale, where
// it is very small with both multiplied by a power of two: then the quotient below is exact.
struct factors {
  float multiplier, divisor, reciprocal, scale;
};

// 1 / v of a normal positive number below 2^126, to the last place or two, by Newton's method from
// a guess within an eighth: exponent and fraction negated together. A division would do, but calls
// a function for its rare cases, for which registers that hold weights have to move.
DEVICE float reciprocal(float v) {
  float r = float_of(0x7EF311C7 - bits_of(v));
#pragma unroll
  for (int i = 0; i < 4; i++) {
    r = __builtin_fmaf(r, __builtin_fmaf(-v, r, 1), r);
  }
  return r;
}

// x / divisor to nearest even, as a division gives it, without its rare cases: the remainder of a
// first guess is exact (Markstein, "Computation of elementary functions on the IBM RISC System/6000
// processor", 1990).
DEVICE float quotient(float x, float divisor, float inverse) {
  const float guess = x * inverse;
  const float remainder = __builtin_fmaf(-guess, divisor, x);
  return __builtin_fmaf(remainder, inverse, guess);
}

DEVICE struct factors factors_of(float inverse, float largest) {
  const float most = largest * inverse, scale = most == 0 ? 1 : quotient(most, 448, 1 / 448.0f);
  if (scale == 0) { // too small for one: zeros, as in decode.h
    return {0, 1, 1, 0};
  }
  const float lift = scale < 0x1p-60f ? 0x1p64f : 1, divisor = scale * lift;
  return {inverse * lift, divisor, reciprocal(divisor), scale};
}

DEVICE struct factors room_factors(const float *room, int b) {
  const struct words4 v = load_shared(room + ROOM_FACTORS + 4 * b);
  return {float_of(v.word[0]), float_of(v.word[1]), float_of(v.word[2]), float_of(v.word[3])};
}

DEVICE void set_room_factors(float *room, int b, const struct factors &f) {
  store_shared(room + ROOM_FACTORS + 4 * b, {{bits_of(f.multiplier), bits_of(f.divisor),
                                              bits_of(f.reciprocal), bits_of(f.scale)}});
}

// Sum of squares and largest magnitude of one thread's share of a vector.
struct measured {
  float squares;
  uint32_t largest;
};

template <enum rounding ROUND, int THREADS>
DEVICE void measure_group(const float *input, int first, int columns,
                          const struct quad (&weight)[GROUP<ROUND>], struct measured *out) {
  struct quad x[GROUP<ROUND>];
  load_group<false, THREADS>(input, first, columns, x);
#pragma unroll
  for (int i = 0; i < GROUP<ROUND> * 4; i++) {
    const float value = x[i / 4].v[i % 4];
    const float entering = ROUND == ROUND_NORM ? value * weight[i / 4].v[i % 4] : value;
    out->squares += value * value;
    out->largest = larger_bits(out->largest, bits_of(entering) & 0x7FFFFFFF);
  }
}

template <enum rounding ROUND, enum element TO, int THREADS>
DEVICE struct measured measure(const struct vectors &v, int b,
                               const struct norm_ahead<ROUND> &ahead) {
  constexpr int STEP = GROUP<ROUND> * THREADS * 4;
  const float *input = vector_of(v, b);
  struct measured out = {0, 0};
#pragma unroll
  for (int i = 0; i < NORM_AHEAD<ROUND>; i++) {
    measure_group<ROUND, THREADS>(input, i * STEP, v.columns, ahead.group[i], &out);
  }
  for (int first = NORM_AHEAD<ROUND> * STEP; first < v.columns; first += STEP) {
    struct quad weight[GROUP<ROUND>] = {};
    if (ROUND == ROUND_NORM && TO == ELEMENT_E4M3) {
      load_group<true, THREADS>(v.norm, first, v.columns, weight);
    }
    measure_group<ROUND, THREADS>(input, first, v.columns, weight, &out);
  }
  return out;
}

// Finds the vectors' factors and leaves them in `room`. The b-th warp brings together what the
// warps of a block of THREADS measured of vector b.
template <enum rounding ROUND, enum element TO, int THREADS>
DEVICE void find_factors(const struct vectors &v, const struct norm_ahead<ROUND> &ahead,
                         float *room) {
#pragma unroll 1
  for (int b = 0; b < v.batch; b++) {
    const struct measured mine = measure<ROUND, TO, THREADS>(v, b, ahead);
    const float squares = ROUND == ROUND_NORM ? warp_sum(mine.squares) : 0;
    const uint32_t largest = TO == ELEMENT_E4M3 ? warp_largest_bits(mine.largest) : 0;
    if (lane_index() == 0) {
      room[2 * b * ROOM_WARPS + warp_index()] = squares;
      room[(2 * b + 1) * ROOM_WARPS + warp_index()] = float_of(largest);
    }
  }
  block_wait();
  if (warp_index() < v.batch) {
    const float *mine = room + 2 * warp_index() * ROOM_WARPS + lane_index();
    const bool has = lane_index() < THREADS / WARP;
    const float squares = warp_sum(has ? mine[0] : 0);
    const float largest = float_of(warp_largest_bits(has ? bits_of(mine[ROOM_WARPS]) : 0));
    const float columns = (float)v.columns;
    const float inverse =
        ROUND == ROUND_NORM ? square_root(columns * reciprocal(squares + columns * v.epsilon)) : 1;
    if (lane_index() == 0) {
      set_room_factors(room, warp_index(), factors_of(inverse, largest));
    }
  }
  block_wait();
}

template <enum element TO>
DEVICE void round_quad(const struct quad &x, const struct factors &factors,
                       uint32_t (&out)[QUAD_WORDS<TO>]) {
  if (TO == ELEMENT_BF16) {
    out[0] = bf16_pair(x.v[0], x.v[1]);
    out[QUAD_WORDS<TO> - 1] = bf16_pair(x.v[2], x.v[3]);
    return;
  }
  out[0] = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const float q = quotient(x.v[i], factors.divisor, factors.reciprocal);
    out[0] |= (uint32_t)e4m3_from(q) << 8 * i;
  }
}

// One thread's group of vector b, rounded, from `first` on; zeros past the vector's end.
template <enum rounding ROUND, enum element TO, int THREADS>
DEVICE void round_group(const struct vectors &v, int b, int first,
                        const struct quad (&weight)[GROUP<ROUND>], const float *room,
                        uint32_t (&out)[GROUP<ROUND>][QUAD_WORDS<TO>]) {
  struct factors factors = {1, 1, 1, 1};
  if (ROUND == ROUND_NORM || TO == ELEMENT_E4M3) {
    factors = room_factors(room, b);
  }
  struct quad x[GROUP<ROUND>];
  load_group<false, THREADS>(vector_of(v, b), first, v.columns, x);
#pragma unroll
  for (int i = 0; i < GROUP<ROUND>; i++) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const float weighted = ROUND == ROUND_NORM ? x[i].v[j] * weight[i].v[j] : x[i].v[j];
      x[i].v[j] = weighted * factors.multiplier;
    }
    round_quad<TO>(x[i], factors, out[i]);
  }
}

// wgmma_paired_word of arguments.h, which is the host's.
DEVICE int paired_word(int word) {
  const int chunk = word / 8 % 8;
  return word / 64 * 64 + chunk % 2 * 32 + word / 2 % 4 * 8 + word % 2 * 4 + chunk / 2;
}

// Rounds a group of a row of round_* into the words of the output.
template <enum rounding ROUND, enum element TO, bool PAIRED>
DEVICE void round_row_group(const struct vectors &v, int first, int stride,
                            const struct quad (&weight)[GROUP<ROUND>], const float *room,
                            int *output) {
  uint32_t out[GROUP<ROUND>][QUAD_WORDS<TO>];
  round_group<ROUND, TO, ROUND_THREADS>(v, 0, first, weight, room, out);
#pragma unroll
  for (int i = 0; i < GROUP<ROUND>; i++) {
    const int at = quad_at<ROUND_THREADS>(first, i);
#pragma unroll
    for (int word = 0; word < QUAD_WORDS<TO>; word++) {
      if (at < stride) {
        const int place = at / 4 * QUAD_WORDS<TO> + word;
        publish_int(output + (PAIRED ? paired_word(place) : place), (int)out[i][word]);
      }
    }
  }
}

template <enum element TO> DEVICE void round_padding(const struct round_arguments &a, int *output) {
  for (int word = thread_index(); word < a.stride / 4 * QUAD_WORDS<TO>; word += ROUND_THREADS) {
    publish_int(output + word, 0);
  }
  if (TO == ELEMENT_E4M3 && thread_index() == 0) {
    publish(a.scales + block_index(0), 1);
  }
}

// The body of round_*.
template <enum element TO, enum rounding ROUND, bool PAIRED = false>
DEVICE void round_vector(const struct round_arguments &a) {
  constexpr int STEP = GROUP<ROUND> * ROUND_THREADS * 4;
  SHARED(float, room);
  let_next_start();
  struct norm_ahead<ROUND> ahead;
  norm_before_wait<ROUND, ROUND_THREADS>(a.norm, a.columns, &ahead);
  wait_for_previous();
  norm_after_wait<ROUND, ROUND_THREADS>(a.norm, a.columns, &ahead);
  const size_t row = (size_t)block_index(0);
  int *output = static_cast<int *>(a.output) + row * (size_t)(a.stride / 4 * QUAD_WORDS<TO>);
  if (block_index(0) >= a.batch) {
    round_padding<TO>(a, output);
    return;
  }
  const struct vectors v = {a.input + row * (size_t)a.columns, a.norm, a.epsilon, a.columns, 1};
  if (ROUND == ROUND_NORM || TO == ELEMENT_E4M3) {
    find_factors<ROUND, TO, ROUND_THREADS>(v, ahead, room);
  }
#pragma unroll
  for (int i = 0; i < NORM_AHEAD<ROUND>; i++) {
    round_row_group<ROUND, TO, PAIRED>(v, i * STEP, a.stride, ahead.group[i], room, output);
  }
  for (int first = NORM_AHEAD<ROUND> * STEP; first < a.stride; first += STEP) {
    struct quad weight[GROUP<ROUND>];
    if (ROUND == ROUND_NORM) {
      load_group<true, ROUND_THREADS>(v.norm, first, v.columns, weight);
    }
    round_row_group<ROUND, TO, PAIRED>(v, first, a.stride, weight, room, output);
  }
  if (TO == ELEMENT_E4M3 && thread_index() == 0) {
    publish(a.scales + row, room_factors(room, 0).scale);
  }
}

#endif
