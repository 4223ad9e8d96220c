// The functions of elementwise.h, for inclusion by a file that defines ELEMENTWISE_TARGET, the
// attribute of its instruction set, and ELEMENTWISE_TABLE, the name of its table.
#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/elementwise.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/decode.h"
#include "kernels/weights.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline)) ELEMENTWISE_TARGET
#define ON_ISA static ELEMENTWISE_TARGET

INLINE float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

INLINE uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Adding and subtracting 1.5 * 2^23 rounds to the nearest even integer.
INLINE float nearest(float x) {
  return (x + 12582912.0f) - 12582912.0f;
}

// exp(x) = 2^n * exp(r) with |r| <= ln(2) / 2, where the series to r^6 is off by 1.2e-7.
INLINE float exponential(float x) {
  x = x < -87 ? -87 : x > 88 ? 88 : x;
  float n = nearest(x * 1.44269504f);
  float r = x - n * 0.693359375f + n * 2.12194440e-4f; // ln(2) in two parts
  float series = 1 + r * (1.0f / 6);
  series = 1 + r * (1.0f / 5) * series;
  series = 1 + r * (1.0f / 4) * series;
  series = 1 + r * (1.0f / 3) * series;
  series = 1 + r * (1.0f / 2) * series;
  series = 1 + r * series;
  return series * float_of((uint32_t)((int32_t)n + 127) << 23);
}

// The upper half of a float, rounded to nearest even.
INLINE uint32_t bf16_bits(float value) {
  uint32_t bits = bits_of(value);
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

ON_ISA void normalise(const float *x, const float *weight, size_t count, float epsilon,
                      float *out) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < count; i++)
    sum += x[i] * x[i];
  float factor = 1 / sqrtf(sum / (float)count + epsilon);
#pragma omp simd
  for (size_t i = 0; i < count; i++)
    out[i] = x[i] * factor * weight[i];
}

ON_ISA void layer_norm(const float *x, const float *weight, const float *bias, size_t count,
                       float epsilon, float *out) {
  float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < count; i++)
    sum += x[i];
  const float mean = sum / (float)count;
#pragma omp simd reduction(+ : squares)
  for (size_t i = 0; i < count; i++)
    squares += (x[i] - mean) * (x[i] - mean);
  const float factor = 1 / sqrtf(squares / (float)count + epsilon);
#pragma omp simd
  for (size_t i = 0; i < count; i++)
    out[i] = (x[i] - mean) * factor * weight[i] + bias[i];
}

ON_ISA void swiglu(const float *in, size_t blocks, float *out) {
  for (size_t b = 0; b < blocks; b++, in += 32, out += 16)
#pragma omp simd
    for (size_t i = 0; i < 16; i++)
      out[i] = in[i] / (1 + exponential(-in[i])) * in[16 + i];
}

ON_ISA void clamped_swiglu(const float *in, size_t blocks, float *out) {
  for (size_t b = 0; b < blocks; b++, in += 32, out += 16)
#pragma omp simd
    for (size_t i = 0; i < 16; i++) {
      float gate = in[i] < 7 ? in[i] : 7, up = in[16 + i] < 7 ? in[16 + i] : 7;
      up = up > -7 ? up : -7;
      out[i] = gate / (1 + exponential(-1.702f * gate)) * (up + 1);
    }
}

// erf of x >= 0 to 1.5e-7 (Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26).
INLINE float error_function(float x) {
  const float t = 1 / (1 + 0.3275911f * x);
  float series = 1.061405429f;
  series = series * t - 1.453152027f;
  series = series * t + 1.421413741f;
  series = series * t - 0.284496736f;
  series = series * t + 0.254829592f;
  return 1 - series * t * exponential(-x * x);
}

ON_ISA void gelu(const float *in, size_t blocks, float *out) {
#pragma omp simd
  for (size_t i = 0; i < 16 * blocks; i++) {
    const float half = 0.5f * fabsf(in[i]) * error_function(fabsf(in[i]) * 0.70710678f);
    out[i] = 0.5f * in[i] + half;
  }
}

ON_ISA void scale_rows(float *x, size_t blocks, const float *scales, size_t stride, float factor) {
  for (size_t b = 0; b < blocks; b++, x += 16, scales += stride)
#pragma omp simd
    for (size_t i = 0; i < 16; i++)
      x[i] *= scales[i] * factor;
}

ON_ISA void add(float *x, const float *y, size_t count) {
#pragma omp simd
  for (size_t i = 0; i < count; i++)
    x[i] += y[i];
}

ON_ISA void add_scaled(float *x, float factor, const float *y, size_t count) {
#pragma omp simd
  for (size_t i = 0; i < count; i++)
    x[i] += factor * y[i];
}

ON_ISA float largest(const float *x, size_t count) {
  float most = -INFINITY;
#pragma omp simd reduction(max : most)
  for (size_t i = 0; i < count; i++)
    most = x[i] > most ? x[i] : most;
  return most;
}

ON_ISA float exponentials(float *x, size_t count, float offset) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < count; i++) {
    x[i] = exponential(x[i] - offset);
    sum += x[i];
  }
  return sum;
}

ON_ISA void scale_add(float *x, float factor, const float *y, size_t count) {
#pragma omp simd
  for (size_t i = 0; i < count; i++)
    x[i] = x[i] * factor + y[i];
}

ON_ISA void to_bf16(const float *x, size_t count, uint16_t *out) {
#pragma omp simd
  for (size_t i = 0; i < count; i++)
    out[i] = (uint16_t)bf16_bits(x[i]);
}

ON_ISA void round_bf16(const float *x, size_t count, float *out) {
#pragma omp simd
  for (size_t i = 0; i < count; i++)
    out[i] = float_of(bf16_bits(x[i]) << 16);
}

INLINE float magnitude(const float *x, size_t count) {
  float most = 0;
#pragma omp simd reduction(max : most)
  for (size_t i = 0; i < count; i++)
    most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
  return most;
}

// Rounds x, from -448 to 448, to three bits of fraction; below 2^-6 to multiples of 2^-9.
INLINE float nearest_e4m3(float x) {
  const uint32_t bits = bits_of(x);
  const float normal = float_of((bits + 0x7FFFF + (bits >> 20 & 1)) & 0xFFF00000);
  const float subnormal = (x + 0x1.8p14f) - 0x1.8p14f;
  return fabsf(x) < 0x1p-6f ? subnormal : normal;
}

ON_ISA float to_e4m3(const float *x, size_t count, uint16_t *out) {
  const float scale = magnitude(x, count) / 448.0f, divisor = scale > 0 ? scale : INFINITY;
#pragma omp simd
  for (size_t i = 0; i < count; i++) {
    float quotient = x[i] / divisor;
    quotient = quotient < -448 ? -448 : quotient > 448 ? 448 : quotient;
    out[i] = (uint16_t)(bits_of(nearest_e4m3(quotient)) >> 16);
  }
  return scale;
}

ON_ISA float to_int8(const float *x, size_t count, int8_t *out, int32_t *sum) {
  float scale = magnitude(x, count) / 127.0f, divisor = scale > 0 ? scale : INFINITY, total = 0;
#pragma omp simd reduction(+ : total)
  for (size_t i = 0; i < count; i++) {
    float quotient = x[i] / divisor;
    quotient = quotient < -127 ? -127 : quotient > 127 ? 127 : quotient;
    float rounded = nearest(quotient);
    out[i] = (int8_t)rounded;
    total += rounded; // exact: at most 127 * 65536
  }
  *sum = (int32_t)total;
  return scale;
}

ON_ISA void hashes(uint64_t key, uint64_t first, size_t count, uint8_t *out) {
#pragma omp simd
  for (size_t i = 0; i < count; i++)
    out[i] = (uint8_t)weights_hash(key, first + i);
}

ON_ISA void unpack_bf16(const uint8_t *panel, size_t lines, uint8_t *out, size_t stride) {
  for (size_t i = 0; i < lines; i++)
    memcpy(out + i * stride, panel + i * LINE_BYTES, LINE_BYTES);
}

// Two adjacent columns of a row, as in a line of BF16.
INLINE uint32_t bf16_pair(float first, float second) {
  return bits_of(first) >> 16 | (bits_of(second) & 0xFFFF0000);
}

INLINE float int8_at(uint32_t word, unsigned byte) {
  return (float)((int32_t)(word << (24 - 8 * byte)) >> 24);
}

ON_ISA void unpack_int8(const uint8_t *panel, size_t lines, uint8_t *out, size_t stride) {
  for (size_t i = 0; i + 1 < lines; i += 2, panel += LINE_BYTES) {
    uint32_t words[PANEL_ROWS], first[PANEL_ROWS], second[PANEL_ROWS];
    memcpy(words, panel, sizeof words);
#pragma omp simd
    for (size_t r = 0; r < PANEL_ROWS; r++) {
      first[r] = bf16_pair(int8_at(words[r], 0), int8_at(words[r], 1));
      second[r] = bf16_pair(int8_at(words[r], 2), int8_at(words[r], 3));
    }
    memcpy(out + i * stride, first, sizeof first);
    memcpy(out + (i + 1) * stride, second, sizeof second);
  }
}

// Exponent and fraction are in a float's place; only the bias differs.
INLINE float e4m3_at(uint32_t word, unsigned byte) {
  uint32_t code = word >> (8 * byte);
  return float_of((code & 0x80) << 24 | bits_of(float_of((code & 0x7F) << 20) * 0x1p120f));
}

ON_ISA void unpack_e4m3(const uint8_t *panel, size_t lines, uint8_t *out, size_t stride) {
  for (size_t i = 0; i + 1 < lines; i += 2, panel += LINE_BYTES) {
    uint16_t pairs[2 * PANEL_ROWS];
    uint32_t words[2 * PANEL_ROWS];
    memcpy(pairs, panel, sizeof pairs);
#pragma omp simd
    for (size_t p = 0; p < 2 * PANEL_ROWS; p++)
      words[p] = bf16_pair(e4m3_at(pairs[p], 0), e4m3_at(pairs[p], 1));
    // Four rows of the first pair of columns, the same rows of the second, the next four rows
    for (size_t group = 0; group < 4; group++)
      for (size_t line = 0; line < 2; line++)
        memcpy(out + (i + line) * stride + group * 16, words + group * 8 + line * 4, 16);
  }
}

// ---- weights of 4 and 6 bits with a scale per block (blocks.h)

// The sixteen rows' codes of pair k of a unit's columns, one in each half of a row's word.
INLINE void codes_4_bits(const uint32_t *unit, int k, uint32_t *pairs) {
#pragma omp simd
  for (size_t r = 0; r < PANEL_ROWS; r++)
    pairs[r] = unit[r] >> 4 * k & 0x000F000F;
}

INLINE void codes_6_bits(const uint32_t *unit, int k, uint32_t *pairs) {
  const uint32_t *low = unit + (k < 6 ? k / 2 : k - 6) * PANEL_ROWS, *high = unit + 2 * PANEL_ROWS;
#pragma omp simd
  for (size_t r = 0; r < PANEL_ROWS; r++)
    pairs[r] = k < 6 ? low[r] >> 6 * (k % 2) & 0x003F003F
                     : (low[r] >> 12 & 0x000F000F) | (high[r] >> (2 * k) & 0x00030003) << 4;
}

// A small float with this many exponent and fraction bits, sign on top, as a multiple of its
// smallest step. The result is below 2^8.
INLINE float small_float(uint32_t code, int exponent_bits, int fraction_bits) {
  const uint32_t magnitude = code & ((1u << (exponent_bits + fraction_bits)) - 1);
  const uint32_t exponent = magnitude >> fraction_bits, whole = 1u << fraction_bits;
  const uint32_t number =
      exponent ? (whole | (magnitude & (whole - 1))) << (exponent - 1) : magnitude;
  return (code >> (exponent_bits + fraction_bits) & 1) ? -(float)number : (float)number;
}

// 2^(code - 127), except for codes 0 and 255, which only occur at the ends of a float's range.
INLINE float e8m0_at(uint8_t code) {
  return float_of((uint32_t)code << 23);
}

// The scales of a block for sixteen rows, times the value of a code's smallest step.
INLINE void block_scales(enum element element, const uint8_t *codes, float last, float *scales) {
#pragma omp simd
  for (size_t r = 0; r < PANEL_ROWS; r++)
    scales[r] = (element == ELEMENT_NVFP4 ? e4m3_at(codes[r], 0) : e8m0_at(codes[r])) * last;
}

INLINE void unpack_blocks(enum element element, int exponent_bits, int fraction_bits, float last,
                          const uint8_t *panel, size_t lines, uint8_t *out, size_t stride) {
  const struct block_layout layout = block_layout(element);
  const uint8_t *at = panel, *codes = panel;
  float scales[PANEL_ROWS];
  for (size_t column = 0; column < 2 * lines; column += layout.unit_columns) {
    uint32_t unit[3 * PANEL_ROWS], pairs[PANEL_ROWS], words[PANEL_ROWS];
    if (column % layout.chunk == 0) {
      codes = at;
      at += LINE_BYTES;
    }
    if (column % layout.block == 0)
      block_scales(element, codes + column % layout.chunk / layout.block * PANEL_ROWS, last,
                   scales);
    memcpy(unit, at, layout.unit_bytes);
    at += layout.unit_bytes;
    for (int k = 0; k < (int)layout.unit_columns / 2; k++) {
      if (layout.unit_columns == 8)
        codes_4_bits(unit, k, pairs);
      else
        codes_6_bits(unit, k, pairs);
#pragma omp simd
      for (size_t r = 0; r < PANEL_ROWS; r++)
        words[r] =
            bf16_pair(small_float(pairs[r] & 0xFFFF, exponent_bits, fraction_bits) * scales[r],
                      small_float(pairs[r] >> 16, exponent_bits, fraction_bits) * scales[r]);
      memcpy(out + (column / 2 + (size_t)k) * stride, words, sizeof words);
    }
  }
}

#define UNPACK_BLOCKS(name, ELEMENT, exponent_bits, fraction_bits, last)                           \
  ON_ISA void unpack_##name(const uint8_t *panel, size_t lines, uint8_t *out, size_t stride) {     \
    unpack_blocks(ELEMENT_##ELEMENT, exponent_bits, fraction_bits, last, panel, lines, out,        \
                  stride);                                                                         \
  }
UNPACK_BLOCKS(mxfp4, MXFP4, 2, 1, 0x1p-1f)
UNPACK_BLOCKS(nvfp4, NVFP4, 2, 1, 0x1p-1f)
UNPACK_BLOCKS(mxfp6_e2m3, MXFP6_E2M3, 2, 3, 0x1p-3f)
UNPACK_BLOCKS(mxfp6_e3m2, MXFP6_E3M2, 3, 2, 0x1p-4f)

const struct elementwise ELEMENTWISE_TABLE = {
    .normalise = normalise,
    .layer_norm = layer_norm,
    .activate = {[MLP_SWIGLU] = swiglu, [MLP_CLAMPED_SWIGLU] = clamped_swiglu, [MLP_GELU] = gelu},
    .scale_rows = scale_rows,
    .add = add,
    .add_scaled = add_scaled,
    .largest = largest,
    .exponentials = exponentials,
    .scale_add = scale_add,
    .to_bf16 = to_bf16,
    .hashes = hashes,
    .round_bf16 = round_bf16,
    .to_e4m3 = to_e4m3,
    .to_int8 = to_int8,
    .unpack = {[ELEMENT_BF16] = unpack_bf16,
               [ELEMENT_INT8] = unpack_int8,
               [ELEMENT_E4M3] = unpack_e4m3,
               [ELEMENT_MXFP4] = unpack_mxfp4,
               [ELEMENT_NVFP4] = unpack_nvfp4,
               [ELEMENT_MXFP6_E2M3] = unpack_mxfp6_e2m3,
               [ELEMENT_MXFP6_E3M2] = unpack_mxfp6_e3m2},
};
