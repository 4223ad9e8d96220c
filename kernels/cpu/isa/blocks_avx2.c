#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/decode.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2   __attribute__((target("avx2,fma")))
#define INLINE static inline __attribute__((always_inline, target("avx2,fma")))

enum {
  MAX_ROWS = 2,
  PARTS = 2 // separate sums of one vector, so that additions need not wait for each other
};

struct sums {
  __m256i half[2]; // of eight rows
};

// The bytes of bf16 by magnitude: low and high bytes, of the first sixteen values and the last.
struct codebook {
  __m256i low[2], high[2];
};

INLINE __m256i bytes_of(const uint16_t *values, int shift) {
  const __m128i *at = (const __m128i *)(const void *)values, byte = _mm_set1_epi16(0xFF);
  const __m128i first = _mm_and_si128(_mm_srli_epi16(_mm_loadu_si128(at), shift), byte);
  const __m128i second = _mm_and_si128(_mm_srli_epi16(_mm_loadu_si128(at + 1), shift), byte);
  return _mm256_broadcastsi128_si256(_mm_packus_epi16(first, second));
}

INLINE struct codebook codebook_of(enum element weights) {
  const uint16_t *values = block_values(weights);
  return (struct codebook){{bytes_of(values, 0), bytes_of(values + 16, 0)},
                           {bytes_of(values, 8), bytes_of(values + 16, 8)}};
}

INLINE struct sums no_sums(void) {
  return (struct sums){{_mm256_setzero_si256(), _mm256_setzero_si256()}};
}

// Codes of 4 bits are unsigned bytes here, 8 too large.
INLINE struct sums first_sums(enum element weights, int32_t sum) {
  const __m256i first = _mm256_set1_epi32(weights == ELEMENT_INT4_GROUP ? -8 * sum : 0);
  return (struct sums){{first, first}};
}

// The two parts of the sums of looked-up weights hold different rows, two sums for each
// (make_words).
INLINE struct sums joined(const struct sums *sums, int rows, enum element input,
                          enum element weights) {
  (void)rows;
  struct sums all = sums[0];
  if (input == ELEMENT_INT8)
    return all;
#pragma GCC unroll 2
  for (size_t h = 0; h < 2; h++) {
    const __m256 first = _mm256_castsi256_ps(sums[0].half[h]);
    const __m256 second = _mm256_castsi256_ps(sums[1].half[h]);
    all.half[h] =
        _mm256_castps_si256(weights == ELEMENT_INT8_GROUP ? _mm256_add_ps(first, second)
                                                          : _mm256_hadd_ps(first, second));
  }
  return all;
}

// The scales of eight rows; e8m0 and e4m3 as in blocks_avx512.c.
INLINE __m256 scales_at(enum element weights, const uint8_t *at) {
  const __m128i *from = (const __m128i *)(const void *)at;
  if (weights == ELEMENT_INT8_GROUP || weights == ELEMENT_INT4_GROUP)
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_load_si128(from)), 16));
  const __m256i bits = _mm256_cvtepu8_epi32(_mm_loadl_epi64(from));
  if (weights != ELEMENT_NVFP4)
    return _mm256_castsi256_ps(_mm256_slli_epi32(bits, 23));
  return _mm256_mul_ps(_mm256_castsi256_ps(_mm256_slli_epi32(bits, 20)), _mm256_set1_ps(0x1p120f));
}

INLINE struct sums add_scaled(struct sums totals, struct sums sums, enum element input,
                              enum element weights, const uint8_t *scales) {
  const size_t half_bytes = PANEL_ROWS / 2 * block_layout(weights).scale_bytes;
#pragma GCC unroll 2
  for (size_t h = 0; h < 2; h++) {
    const __m256 floats = input == ELEMENT_INT8 ? _mm256_cvtepi32_ps(sums.half[h])
                                                : _mm256_castsi256_ps(sums.half[h]);
    totals.half[h] = _mm256_castps_si256(_mm256_fmadd_ps(
        floats, scales_at(weights, scales + h * half_bytes), _mm256_castsi256_ps(totals.half[h])));
  }
  return totals;
}

INLINE void store(struct sums totals, float *out) {
  _mm256_store_ps(out, _mm256_castsi256_ps(totals.half[0]));
  _mm256_store_ps(out + 8, _mm256_castsi256_ps(totals.half[1]));
}

INLINE __m256i half_line(const uint8_t *at, size_t half) {
  return _mm256_load_si256((const __m256i *)(const void *)at + half);
}

INLINE __m256i multiply_add(__m256i sums, __m256 weights, const uint8_t *vector, size_t column) {
  const __m256 in = _mm256_broadcast_ss((const float *)(const void *)vector + column);
  return _mm256_castps_si256(_mm256_fmadd_ps(weights, in, _mm256_castsi256_ps(sums)));
}

// Two adjacent columns, the first one even, for each of four rows.
INLINE __m256i multiply_add_two(__m256i sums, __m256i weights, const uint8_t *vector,
                                size_t column) {
  int64_t two;
  __builtin_memcpy(&two, vector + column * sizeof(float), sizeof two);
  return _mm256_castps_si256(_mm256_fmadd_ps(_mm256_castsi256_ps(weights),
                                             _mm256_castsi256_ps(_mm256_set1_epi64x(two)),
                                             _mm256_castsi256_ps(sums)));
}

// Interleaves the bytes of bf16 to words: rows 0, 1, 4 and 5 of the eight for the first part of the
// sums, the others for the second; each row twice.
INLINE void make_words(__m256i low, __m256i high, __m256i words[PARTS]) {
  words[0] = _mm256_unpacklo_epi8(low, high);
  words[1] = _mm256_unpackhi_epi8(low, high);
}

// Codes of 4 bits, two in the bytes of each word: the lower ones for k = 0, or the upper ones.
INLINE void decode_4_bits(const uint8_t *at, size_t half, int k, const struct codebook *codebook,
                          __m256i words[PARTS]) {
  const __m256i line = half_line(at, half);
  const __m256i codes =
      _mm256_and_si256(k ? _mm256_srli_epi16(line, 4) : line, _mm256_set1_epi8(15));
  make_words(_mm256_shuffle_epi8(codebook->low[0], codes),
             _mm256_shuffle_epi8(codebook->high[0], codes), words);
}

INLINE __m256i two_codes(__m256i first, __m256i second) {
  const __m256i six = _mm256_set1_epi16(63);
  return _mm256_or_si256(_mm256_and_si256(first, six),
                         _mm256_slli_epi16(_mm256_and_si256(second, six), 8));
}

// Codes of 6 bits likewise: those of the k-th line, or for k = 3 those in the lines' highest bits.
INLINE __m256i codes_of_6(const uint8_t *at, size_t half, int k) {
  if (k < 3) {
    const __m256i line = half_line(at + k * LINE_BYTES, half);
    return two_codes(line, _mm256_srli_epi16(line, 6));
  }
  const __m256i a = half_line(at, half), b = half_line(at + LINE_BYTES, half);
  const __m256i c = half_line(at + 2 * LINE_BYTES, half), top = _mm256_set1_epi16(0x30);
  return two_codes(
      _mm256_or_si256(_mm256_srli_epi16(a, 12), _mm256_and_si256(_mm256_srli_epi16(c, 8), top)),
      _mm256_or_si256(_mm256_srli_epi16(b, 12), _mm256_and_si256(_mm256_srli_epi16(c, 10), top)));
}

INLINE void decode_6_bits(__m256i codes, const struct codebook *codebook, __m256i words[PARTS]) {
  const __m256i last = _mm256_slli_epi16(codes, 3); // bit 5 of a byte becomes its sign
  const __m256i sign = _mm256_and_si256(_mm256_slli_epi16(codes, 2), _mm256_set1_epi8(-0x80));
  const __m256i low = _mm256_blendv_epi8(_mm256_shuffle_epi8(codebook->low[0], codes),
                                         _mm256_shuffle_epi8(codebook->low[1], codes), last);
  const __m256i high = _mm256_blendv_epi8(_mm256_shuffle_epi8(codebook->high[0], codes),
                                          _mm256_shuffle_epi8(codebook->high[1], codes), last);
  make_words(low, _mm256_or_si256(high, sign), words);
}

INLINE __m256i four_of(const uint8_t *vector, size_t column) {
  int32_t four;
  __builtin_memcpy(&four, vector + column, sizeof four);
  return _mm256_set1_epi32(four);
}

// Pairs of products are at most 2 * 127 * 127 and do not saturate.
INLINE __m256i add_products(__m256i sums, __m256i magnitudes, __m256i in) {
  const __m256i pairs = _mm256_maddubs_epi16(magnitudes, in);
  return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

// Eight-bit integers of eight rows: four columns.
INLINE void add_bytes(__m256i line, enum element input, const uint8_t *vector, size_t column,
                      int parts, size_t half, struct sums sums[PARTS]) {
  if (input == ELEMENT_INT8) {
    sums[0].half[half] = add_products(sums[0].half[half], _mm256_abs_epi8(line),
                                      _mm256_sign_epi8(four_of(vector, column), line));
    return;
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; c++) {
    const __m256i integers = _mm256_srai_epi32(_mm256_slli_epi32(line, 24 - 8 * c), 24);
    __m256i *sum = &sums[c % parts].half[half];
    *sum = multiply_add(*sum, _mm256_cvtepi32_ps(integers), vector, column + (size_t)c);
  }
}

INLINE __m256i add_nibbles(__m256i sums, __m256i line, const uint8_t *vector, size_t column) {
  const __m256i mask = _mm256_set1_epi8(15);
  sums = add_products(sums, _mm256_and_si256(line, mask), four_of(vector, column));
  return add_products(sums, _mm256_and_si256(_mm256_srli_epi16(line, 4), mask),
                      four_of(vector, column + 4));
}

// Words hold two columns from `even` on in their lower halves, and from `odd` on in their upper
// ones.
INLINE void add_words(const __m256i words[PARTS], size_t half, const uint8_t *in, size_t stride,
                      size_t even, size_t odd, int rows, struct sums sums[][PARTS]) {
#pragma GCC unroll 2
  for (int part = 0; part < PARTS; part++) {
    const __m256i lower = _mm256_slli_epi32(words[part], 16);
    const __m256i upper = _mm256_and_si256(words[part], _mm256_set1_epi32((int)0xFFFF0000));
#pragma GCC unroll 2
    for (int b = 0; b < rows; b++) {
      const uint8_t *vector = in + (size_t)b * stride;
      __m256i *sum = &sums[b][part].half[half];
      *sum = multiply_add_two(*sum, lower, vector, even);
      *sum = multiply_add_two(*sum, upper, vector, odd);
    }
  }
}

// Half a unit of codes that are looked up.
INLINE void add_looked_up(const uint8_t *at, size_t half, enum element weights,
                          const struct codebook *codebook, const uint8_t *in, size_t stride,
                          size_t column, int rows, struct sums sums[][PARTS]) {
  const bool is_six = weights == ELEMENT_MXFP6_E2M3 || weights == ELEMENT_MXFP6_E3M2;
  const int count = is_six ? 4 : 2;
#pragma GCC unroll 4
  for (int k = 0; k < count; k++) {
    __m256i words[PARTS];
    if (is_six)
      decode_6_bits(codes_of_6(at, half, k), codebook, words);
    else
      decode_4_bits(at, half, k, codebook, words);
    const size_t even = column + (size_t)(is_six ? 4 * k : 2 * k);
    add_words(words, half, in, stride, even, even + (is_six ? 2 : 4), rows, sums);
  }
}

INLINE void add_half(const uint8_t *at, size_t half, enum element weights, enum element input,
                     const struct codebook *codebook, const uint8_t *in, size_t stride,
                     size_t column, int rows, struct sums sums[][PARTS]) {
  if (weights != ELEMENT_INT8_GROUP && input != ELEMENT_INT8) {
    add_looked_up(at, half, weights, codebook, in, stride, column, rows, sums);
    return;
  }
  const __m256i line = half_line(at, half);
#pragma GCC unroll 2
  for (int b = 0; b < rows; b++) {
    const uint8_t *vector = in + (size_t)b * stride;
    if (weights == ELEMENT_INT8_GROUP)
      add_bytes(line, input, vector, column, rows == 1 ? PARTS : 1, half, sums[b]);
    else
      sums[b][0].half[half] = add_nibbles(sums[b][0].half[half], line, vector, column);
  }
}

INLINE void add_unit(const uint8_t *at, enum element weights, enum element input,
                     const struct codebook *codebook, const uint8_t *in, size_t stride,
                     size_t column, int rows, struct sums sums[][PARTS]) {
  add_half(at, 0, weights, input, codebook, in, stride, column, rows, sums);
  add_half(at, 1, weights, input, codebook, in, stride, column, rows, sums);
}

#include "kernels/cpu/isa/blocks_body.h"

#define PRODUCT(isa, name, kind, weights, input)                                                   \
  AVX2 void isa##_##name(const struct product *product) {                                          \
    multiply(product, weights, input);                                                             \
  }
BLOCK_PRODUCTS(PRODUCT, avx2)
#else
extern int blocks_avx2_is_for_x86;
#endif
