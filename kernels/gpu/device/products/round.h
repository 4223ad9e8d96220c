// round: rounds float vectors for products with weights (decode.h): to BF16, or to E4M3 with one
// scale per vector, unchanged or after the RMS norm. The kernels round_* do it for the matrix
// products; the vector products do it themselves, with the same functions.
//
// A thread takes quads, four adjacent floats. Everything waits for the input of an RMS norm, so a
// thread requests its quads of all vectors at once and holds them until they are rounded: up to
// HELD of each vector, 8192 elements of a block of 512 threads, or half of that. What lies beyond
// them, and vectors whose length is no multiple of 4, are read twice, as is what is rounded
// otherwise: a group of quads at a time so that their loads are in flight together; registers that
// hold weights leave few for this. E4M3 is made from (x * norm) * inverse, in this order, so that
// the largest can be found before the inverse root is known: rounding is monotone.
//
// "Paired" output has pairs of elements in the order of wgmma_paired_word (arguments/wgmma.h).
// Output as BF16 has the values of the INT8 or E4M3 codes, all of which BF16 holds.
//
// The block's shared memory must have room for ROOM_BYTES.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_ROUND_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_ROUND_H

#include "kernels/decode.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/device/machine/passed.h"
#include "kernels/gpu/device/machine/platform.h"

enum rounding { ROUND_ALONE, ROUND_NORM, ROUND_LAYER }; // LAYER: the norm with a mean and a bias
enum written { WRITTEN_PLAIN, WRITTEN_PAIRED, WRITTEN_AS_BF16 };

// Holds two values of each vector from each warp of a block; then each vector's factors, and with a
// layer norm its center.
enum {
  ROOM_WARPS = 16,
  ROOM_FACTORS = 2 * VECTOR_BATCH * ROOM_WARPS, // floats
  ROOM_CENTRES = ROOM_FACTORS + 4 * VECTOR_BATCH,
  ROOM_BYTES = (ROOM_CENTRES + 2 * VECTOR_BATCH) * 4
};

template <enum rounding ROUND> constexpr int GROUP = ROUND == ROUND_ALONE ? 4 : 1;
enum { HELD = 4, NORM_AHEAD = 2 }; // quads
// How many of the norm's quads are in registers when a thread has requested `COUNT` of each vector.
template <int COUNT> constexpr int NORM_HELD = COUNT <= NORM_AHEAD ? COUNT : 1;
template <enum element TO> constexpr bool HAS_SCALE = TO == ELEMENT_E4M3 || TO == ELEMENT_INT8;
template <enum element TO> constexpr int QUAD_WORDS = HAS_SCALE<TO> ? 1 : 2;
template <enum element TO> constexpr float LARGEST = TO == ELEMENT_INT8 ? 127 : 448;

struct quad {
  float v[4];
};

DEVICE struct quad quad_of(const struct words4 &words) {
  struct quad out;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    out.v[i] = float_of(words.word[i]);
  }
  return out;
}

// Four floats from `at` on, zeros from `end` on. A vector whose length is no multiple of 4 may
// begin anywhere, and is read element by element. As in passed.h, if they are no weights.
template <bool IS_WEIGHTS>
DEVICE struct quad load_quad(const float *from, int at, int end, struct passing *passing) {
  struct quad out = {{0, 0, 0, 0}};
  if (end % 4 == 0) {
    if (at < end) {
      out = quad_of(IS_WEIGHTS ? load_weights(from + at) : load_passed(from + at, 4, passing));
    }
    return out;
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if (at + i < end) {
      out.v[i] = IS_WEIGHTS ? load_published_float(from + at + i)
                            : load_passed_float(from + at + i, passing);
    }
  }
  return out;
}

// Where a thread's i-th quad of the group that begins at `first` is.
template <int THREADS> DEVICE int quad_at(int first, int i) {
  return first + (i * THREADS + thread_index()) * 4;
}

template <bool IS_WEIGHTS, int THREADS, int COUNT>
DEVICE void load_group(const float *from, int first, int end, struct quad (&out)[COUNT]) {
  struct passing passing;
  do {
    passing = passing_begins();
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      out[i] = load_quad<IS_WEIGHTS>(from, quad_at<THREADS>(first, i), end, &passing);
    }
  } while (!IS_WEIGHTS && passed_again(passing));
}

// A thread's first quads of the norm are fetched before wait_for_previous, the others when they are
// needed.
struct norm_ahead {
  struct quad quad[NORM_AHEAD];
};

template <enum rounding ROUND, int THREADS>
DEVICE void norm_before_wait(const float *norm, int columns, struct norm_ahead *out) {
  if (ROUND == ROUND_NORM && columns % 4 == 0) {
    load_group<true, THREADS>(norm, 0, columns, out->quad);
  }
}

// The larger of two magnitudes by their bits, which order like the values, with NaN above all of
// them.
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

// Vectors [batch][stride]; a block rounds the first `columns` of each.
struct vectors {
  const float *input, *norm;
  float epsilon;
  int columns, batch;
  const float *norm_bias; // of ROUND_LAYER
  int stride;             // from a vector to the next
};

DEVICE const float *vector_of(const struct vectors &v, int b) {
  return v.input + (size_t)b * (size_t)v.stride;
}

// How a vector's elements are rounded. They are multiplied by `multiplier`: the inverse root mean
// square, or 1 without a norm; with E4M3 they are then divided by `divisor`, the scale. If the
// scale is very small, both are multiplied by a power of two, so that the quotient below is exact.
struct factors {
  float multiplier, divisor, reciprocal, scale;
};

// 1 / v of a normal positive number below 2^126, to the last place or two, by Newton's method from
// a guess within an eighth: exponent and fraction negated together. A division would call a
// function for its rare cases, and registers that hold weights would have to be moved for the call.
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

template <enum element TO> DEVICE struct factors factors_of(float inverse, float largest) {
  const float most = largest * inverse;
  const float scale = most == 0 ? 1 : quotient(most, LARGEST<TO>, 1 / LARGEST<TO>);
  if (scale == 0) { // too small for a scale: zeros, as in decode.h
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

// The b-th vector's share from `first` on.
template <enum rounding ROUND, enum element TO, int THREADS>
DEVICE void measure(const struct vectors &v, int b, int first, struct measured *out) {
  for (; first < v.columns; first += GROUP<ROUND> * THREADS * 4) {
    struct quad weight[GROUP<ROUND>] = {};
    if (ROUND == ROUND_NORM && HAS_SCALE<TO>) {
      load_group<true, THREADS>(v.norm, first, v.columns, weight);
    }
    measure_group<ROUND, THREADS>(vector_of(v, b), first, v.columns, weight, out);
  }
}

// ---- the layer norm: the mean is found before the variance, since a large mean would cancel all
// its digits; with E4M3 the largest result after both

struct centre {
  float mean, inverse; // inverse: 1 / the root of the variance
};
DEVICE struct centre room_centre(const float *room, int b) {
  return {room[ROOM_CENTRES + 2 * b], room[ROOM_CENTRES + 2 * b + 1]};
}

enum layer_pass { LAYER_MEAN, LAYER_VARIANCE, LAYER_LARGEST };

template <int THREADS>
DEVICE void layer_group(const struct vectors &v, int b, int first, const struct centre &centre,
                        struct quad (&x)[1]) {
  struct quad weight[1], bias[1];
  load_group<false, THREADS>(vector_of(v, b), first, v.columns, x);
  load_group<true, THREADS>(v.norm, first, v.columns, weight);
  load_group<true, THREADS>(v.norm_bias, first, v.columns, bias);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const float normed = (x[0].v[i] - centre.mean) * centre.inverse * weight[0].v[i] + bias[0].v[i];
    x[0].v[i] = quad_at<THREADS>(first, 0) + i < v.columns ? normed : 0;
  }
}

// One thread's share of a sum, or of the largest magnitude.
template <enum layer_pass PASS, int THREADS>
DEVICE float layer_share(const struct vectors &v, int b, const float *room) {
  const struct centre centre = room_centre(room, b); // not read before it is known
  float out = 0;
  for (int first = 0; first < v.columns; first += THREADS * 4) {
    struct quad x[1];
    if (PASS == LAYER_LARGEST) {
      layer_group<THREADS>(v, b, first, centre, x);
    } else {
      load_group<false, THREADS>(vector_of(v, b), first, v.columns, x);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const bool is_inside = quad_at<THREADS>(first, 0) + i < v.columns;
      const float value = x[0].v[i], off = is_inside ? value - centre.mean : 0;
      out = PASS == LAYER_MEAN ? out + value
            : PASS == LAYER_VARIANCE
                ? out + off * off
                : float_of(larger_bits(bits_of(out), bits_of(value) & 0x7FFFFFFF));
    }
  }
  return out;
}

template <enum layer_pass PASS> DEVICE float layer_warp(float v) {
  return PASS == LAYER_LARGEST ? float_of(warp_largest_bits(bits_of(v))) : warp_sum(v);
}

// One pass over all vectors, reduced as find_measured_factors does.
template <enum layer_pass PASS, enum element TO, int THREADS>
DEVICE void layer_find(const struct vectors &v, float *room) {
#pragma unroll 1
  for (int b = 0; b < v.batch; b++) {
    const float mine = layer_warp<PASS>(layer_share<PASS, THREADS>(v, b, room));
    if (lane_index() == 0) {
      room[b * ROOM_WARPS + warp_index()] = mine;
    }
  }
  block_wait();
  if (warp_index() < v.batch) {
    const bool has = lane_index() < THREADS / WARP;
    const float all = layer_warp<PASS>(has ? room[warp_index() * ROOM_WARPS + lane_index()] : 0);
    const float columns = (float)v.columns;
    float *centre = room + ROOM_CENTRES + 2 * warp_index();
    if (lane_index() == 0 && PASS == LAYER_MEAN) {
      centre[0] = all * reciprocal(columns);
    } else if (lane_index() == 0 && PASS == LAYER_VARIANCE) {
      centre[1] = square_root(columns * reciprocal(all + columns * v.epsilon));
    } else if (lane_index() == 0) {
      set_room_factors(room, warp_index(), factors_of<TO>(1, all));
    }
  }
  block_wait();
}

template <enum element TO, int THREADS>
DEVICE void find_layer_factors(const struct vectors &v, float *room) {
  layer_find<LAYER_MEAN, TO, THREADS>(v, room);
  layer_find<LAYER_VARIANCE, TO, THREADS>(v, room);
  if constexpr (HAS_SCALE<TO>) {
    layer_find<LAYER_LARGEST, TO, THREADS>(v, room);
  }
}

// ---- factors without a norm, or after one

// What a warp measured of vector b, where combine_measured looks for it.
template <enum rounding ROUND, enum element TO>
DEVICE void leave_measured(const struct measured &mine, int b, float *room) {
  const float squares = ROUND == ROUND_NORM ? warp_sum(mine.squares) : 0;
  const uint32_t largest = HAS_SCALE<TO> ? warp_largest_bits(mine.largest) : 0;
  if (lane_index() == 0) {
    room[2 * b * ROOM_WARPS + warp_index()] = squares;
    room[(2 * b + 1) * ROOM_WARPS + warp_index()] = float_of(largest);
  }
}

// The b-th warp combines what the warps of a block of THREADS measured of vector b, and leaves its
// factors in `room`.
template <enum rounding ROUND, enum element TO, int THREADS>
DEVICE void combine_measured(const struct vectors &v, float *room) {
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
      set_room_factors(room, warp_index(), factors_of<TO>(inverse, largest));
    }
  }
  block_wait();
}

// Finds the vectors' factors and leaves them in `room`.
template <enum rounding ROUND, enum element TO, int THREADS>
DEVICE void find_factors(const struct vectors &v, float *room) {
  if constexpr (ROUND == ROUND_LAYER) {
    find_layer_factors<TO, THREADS>(v, room);
  } else {
#pragma unroll 1
    for (int b = 0; b < v.batch; b++) {
      struct measured mine = {0, 0};
      measure<ROUND, TO, THREADS>(v, b, 0, &mine);
      leave_measured<ROUND, TO>(mine, b, room);
    }
    combine_measured<ROUND, TO, THREADS>(v, room);
  }
}

// ---- the quads of vectors before an RMS norm that a thread holds

template <int BATCH, int COUNT> using held_quads = struct quad (&)[BATCH][COUNT];

// Where the vectors' elements begin that are not held by threads that hold COUNT quads.
template <int THREADS, int COUNT> DEVICE int held_end(const struct vectors &v) {
  return v.columns % 4 == 0 ? COUNT * THREADS * 4 : 0;
}

// Whether NORM_AHEAD quads are all: then all of the norm is in registers too.
template <int THREADS> DEVICE bool held_few(const struct vectors &v) {
  return v.columns % 4 == 0 && v.columns <= NORM_AHEAD * THREADS * 4;
}

template <int THREADS, int BATCH, int COUNT>
DEVICE void load_held(const struct vectors &v, held_quads<BATCH, COUNT> x) {
  const int end = held_end<THREADS, COUNT>(v) ? v.columns : 0;
  struct passing passing;
  do {
    passing = passing_begins();
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      const float *from = vector_of(v, b) + quad_at<THREADS>(0, 0);
#pragma unroll
      for (int i = 0; i < COUNT; i++) {
        struct words4 words = {{0, 0, 0, 0}};
        if (b < v.batch && quad_at<THREADS>(0, i) < end) {
          words = load_passed(from + i * THREADS * 4, 4, &passing);
        }
        x[b][i] = quad_of(words);
      }
    }
  } while (passed_again(passing));
}

// One held quad of each vector is measured, and multiplied by the norm's.
template <int BATCH, int COUNT>
DEVICE void measure_quad(const struct quad &norm, int i, held_quads<BATCH, COUNT> x,
                         struct measured (&out)[BATCH]) {
#pragma unroll
  for (int b = 0; b < BATCH; b++) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      float &value = x[b][i].v[j];
      out[b].squares += value * value;
      value *= norm.v[j];
      out[b].largest = larger_bits(out[b].largest, bits_of(value) & 0x7FFFFFFF);
    }
  }
}

// A branch, so that ptxas does not move what uses the first quad before the last one's load.
template <int THREADS, int BATCH, int COUNT>
DEVICE void measure_held(const struct vectors &v, const struct norm_ahead &ahead,
                         held_quads<BATCH, COUNT> x, struct measured (&out)[BATCH]) {
  if (held_end<THREADS, COUNT>(v) == 0) {
    return;
  }
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    const struct quad norm = i < NORM_HELD<COUNT>
                                 ? ahead.quad[i % NORM_AHEAD]
                                 : load_quad<true>(v.norm, quad_at<THREADS>(0, i), v.columns, NULL);
    measure_quad<BATCH, COUNT>(norm, i, x, out);
  }
}

// As find_factors, for an RMS norm; what is held has then been multiplied by it. With less than
// MOST there is nothing beyond it.
template <enum element TO, int THREADS, int BATCH, int COUNT, int MOST>
DEVICE void find_held_factors(const struct vectors &v, const struct norm_ahead &ahead,
                              held_quads<BATCH, COUNT> x, float *room) {
  struct measured mine[BATCH] = {};
#pragma unroll
  for (int b = 0; b < BATCH; b++) {
    if (COUNT == MOST && b < v.batch) {
      measure<ROUND_NORM, TO, THREADS>(v, b, held_end<THREADS, COUNT>(v), &mine[b]);
    }
  }
  load_held<THREADS, BATCH, COUNT>(v, x);
  measure_held<THREADS, BATCH, COUNT>(v, ahead, x, mine);
#pragma unroll
  for (int b = 0; b < BATCH; b++) {
    if (b < v.batch) {
      leave_measured<ROUND_NORM, TO>(mine[b], b, room);
    }
  }
  combine_measured<ROUND_NORM, TO, THREADS>(v, room);
}

// ---- rounding

// The code nearest to a value of at most 127, ties to even: the last place of 2^23 + 2^22 is 1.
DEVICE uint32_t int8_from(float value) {
  return bits_of(value + 0x1.8p23f) & 0xFF;
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
    out[0] |= (TO == ELEMENT_INT8 ? int8_from(q) : (uint32_t)e4m3_from(q)) << 8 * i;
  }
}

// One that is held, after the norm.
template <enum element TO>
DEVICE void round_held(const struct factors &factors, struct quad x,
                       uint32_t (&out)[QUAD_WORDS<TO>]) {
#pragma unroll
  for (int j = 0; j < 4; j++) {
    x.v[j] *= factors.multiplier;
  }
  round_quad<TO>(x, factors, out);
}

// A quad of codes as four BF16 values.
template <enum element TO> DEVICE void widen_quad(uint32_t codes, uint32_t (&out)[2]) {
#pragma unroll
  for (int i = 0; i < 2; i++) {
    float low = (float)(int8_t)(codes >> 16 * i & 0xFF);
    float high = (float)(int8_t)(codes >> (16 * i + 8) & 0xFF);
    if (TO == ELEMENT_E4M3) {
      e4m3_pair(codes, &low, &high, i);
    }
    out[i] = bf16_pair(low, high);
  }
}

// One thread's group of vector b, rounded, from `first` on; zeros past the vector's end.
template <enum rounding ROUND, enum element TO, int THREADS>
DEVICE void round_group(const struct vectors &v, int b, int first,
                        const struct quad (&weight)[GROUP<ROUND>], const float *room,
                        uint32_t (&out)[GROUP<ROUND>][QUAD_WORDS<TO>]) {
  struct factors factors = {1, 1, 1, 1};
  if (ROUND == ROUND_NORM || HAS_SCALE<TO>) {
    factors = room_factors(room, b);
  }
  struct quad x[GROUP<ROUND>];
  if constexpr (ROUND == ROUND_LAYER) {
    layer_group<THREADS>(v, b, first, room_centre(room, b), x);
  } else {
    load_group<false, THREADS>(vector_of(v, b), first, v.columns, x);
  }
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

// ---- what is written

// wgmma_paired_word of arguments/wgmma.h, which is a host function.
DEVICE int paired_word(int word) {
  const int chunk = word / 8 % 8;
  return word / 64 * 64 + chunk % 2 * 32 + word / 2 % 4 * 8 + word % 2 * 4 + chunk / 2;
}

// An element of the vector that begins `vector` elements into the output, as `passed` says. Rounded
// by its maker it is half the bytes, and nobody else has to. PAIRS: may be PASSED_PAIRED.
template <bool PAIRS = true>
DEVICE void pass_on(int passed, float *output, size_t vector, int element, float v) {
  if (passed == PASSED_FLOAT) {
    pass(output + vector + element, v);
    return;
  }
  int at = element;
  if (PAIRS && passed == PASSED_PAIRED) {
    at = 2 * paired_word(element / 2) + element % 2;
  }
  publish_bits16(reinterpret_cast<uint16_t *>(output) + vector + at, (uint16_t)bf16_pair(v, 0));
}

// Writes a rounded quad of a row of round_* as words of the output.
template <enum element TO, enum written AS>
DEVICE void round_write(const uint32_t (&quad)[QUAD_WORDS<TO>], int at, int stride, int *output) {
  if (at >= stride) {
    return;
  }
  if constexpr (AS == WRITTEN_AS_BF16) {
    uint32_t wide[2];
    widen_quad<TO>(quad[0], wide);
    publish_int(output + at / 2, (int)wide[0]);
    publish_int(output + at / 2 + 1, (int)wide[1]);
  } else {
#pragma unroll
    for (int word = 0; word < QUAD_WORDS<TO>; word++) {
      const int place = at / 4 * QUAD_WORDS<TO> + word;
      publish_int(output + (AS == WRITTEN_PAIRED ? paired_word(place) : place), (int)quad[word]);
    }
  }
}

template <enum rounding ROUND, enum element TO, enum written AS>
DEVICE void round_row_group(const struct vectors &v, int first, int stride,
                            const struct quad (&weight)[GROUP<ROUND>], const float *room,
                            int *output) {
  uint32_t out[GROUP<ROUND>][QUAD_WORDS<TO>];
  round_group<ROUND, TO, ROUND_THREADS>(v, 0, first, weight, room, out);
#pragma unroll
  for (int i = 0; i < GROUP<ROUND>; i++) {
    round_write<TO, AS>(out[i], quad_at<ROUND_THREADS>(first, i), stride, output);
  }
}

// The beginning of a row, COUNT quads a thread, after the norm.
template <enum element TO, enum written AS, int COUNT>
DEVICE void round_row_held(const struct vectors &v, int stride, const struct norm_ahead &ahead,
                           float *room, int *output) {
  struct quad x[1][COUNT];
  find_held_factors<TO, ROUND_THREADS, 1, COUNT, HELD>(v, ahead, x, room);
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    uint32_t out[QUAD_WORDS<TO>];
    round_held<TO>(room_factors(room, 0), x[0][i], out);
    round_write<TO, AS>(out, quad_at<ROUND_THREADS>(0, i), stride, output);
  }
}

// Words of a quad as written.
template <enum element TO, enum written AS>
constexpr int WRITTEN_WORDS = AS == WRITTEN_AS_BF16 ? 2 : QUAD_WORDS<TO>;

template <enum element TO, enum written AS>
DEVICE void round_padding(const struct round_arguments &a, int *output) {
  for (int word = thread_index(); word < a.stride / 4 * WRITTEN_WORDS<TO, AS>;
       word += ROUND_THREADS) {
    publish_int(output + word, 0);
  }
  if (HAS_SCALE<TO> && thread_index() == 0) {
    publish(a.scales + block_index(0), 1);
  }
}

// The body of round_*.
template <enum element TO, enum rounding ROUND, enum written AS = WRITTEN_PLAIN>
DEVICE void round_vector(const struct round_arguments &a) {
  constexpr int STEP = GROUP<ROUND> * ROUND_THREADS * 4;
  SHARED(float, room);
  let_next_start();
  struct norm_ahead ahead = {};
  norm_before_wait<ROUND, ROUND_THREADS>(a.norm, a.columns, &ahead);
  wait_for_previous();
  const size_t row = (size_t)block_index(0), head = (size_t)block_index(1);
  int *output = static_cast<int *>(a.output) + (head * (size_t)grid_blocks(0) + row) *
                                                   (size_t)(a.stride / 4 * WRITTEN_WORDS<TO, AS>);
  if (block_index(0) >= a.batch) {
    round_padding<TO, AS>(a, output);
    return;
  }
  const float *input = a.input + row * (size_t)a.input_stride + head * (size_t)a.input_step;
  const struct vectors v = {input, a.norm, a.epsilon, a.columns, 1, a.norm_bias, 0};
  int first = 0;
  if constexpr (ROUND == ROUND_NORM) {
    if (held_few<ROUND_THREADS>(v)) {
      round_row_held<TO, AS, NORM_AHEAD>(v, a.stride, ahead, room, output);
    } else {
      round_row_held<TO, AS, HELD>(v, a.stride, ahead, room, output);
    }
    first = held_end<ROUND_THREADS, HELD>(v);
  } else if constexpr (ROUND == ROUND_LAYER || HAS_SCALE<TO>) {
    find_factors<ROUND, TO, ROUND_THREADS>(v, room);
  }
  for (; first < a.stride; first += STEP) {
    struct quad weight[GROUP<ROUND>];
    if (ROUND == ROUND_NORM) {
      load_group<true, ROUND_THREADS>(v.norm, first, v.columns, weight);
    }
    round_row_group<ROUND, TO, AS>(v, first, a.stride, weight, room, output);
  }
  if (HAS_SCALE<TO> && thread_index() == 0) {
    publish(a.scales + row, room_factors(room, 0).scale);
  }
}

#endif
