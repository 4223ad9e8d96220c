#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/decode.h"

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2     __attribute__((target("avx2,fma")))
#define INLINE   static inline __attribute__((always_inline, target("avx2,fma")))
#define MAX_ROWS 2
#define PARTS    1 // a line is two halves, which are sums enough

struct sums {
  __m256i half[2]; // of eight rows
};

// The bytes of bf16 by magnitude: low and high, of the first sixteen and the last.
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

// Codes of 4 bits enter as unsigned bytes, 8 too large.
INLINE struct sums first_sums(enum element weights, int32_t sum) {
  const __m256i first = _mm256_set1_epi32(weights == ELEMENT_INT4_GROUP ? -8 * sum : 0);
  return (struct sums){{first, first}};
}

INLINE struct sums joined(const struct sums *sums, int rows, enum element input) {
  (void)rows, (void)input;
  return sums[0];
}

// The scales of eight rows; of e8m0 and e4m3 as in blocks_avx512.c.
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

// Two columns of eight rows in bf16.
INLINE __m256i add_pair(__m256i sums, __m256i pair, const uint8_t *vector, size_t column) {
  const __m256i odd = _mm256_and_si256(pair, _mm256_set1_epi32((int)0xFFFF0000));
  sums = multiply_add(sums, _mm256_castsi256_ps(_mm256_slli_epi32(pair, 16)), vector, column);
  return multiply_add(sums, _mm256_castsi256_ps(odd), vector, column + 1);
}

// Bytes of two codes in each word to the two pairs that they stand for.
INLINE void make_pairs(__m256i low, __m256i high, __m256i *first, __m256i *second) {
  const __m256i byte = _mm256_set1_epi16(0xFF);
  *first = _mm256_or_si256(_mm256_and_si256(low, byte), _mm256_slli_epi16(high, 8));
  *second = _mm256_or_si256(_mm256_srli_epi16(low, 8), _mm256_andnot_si256(byte, high));
}

INLINE int decode_4_bits(const uint8_t *at, size_t half, const struct codebook *codebook,
                         __m256i *pairs) {
  const __m256i line = half_line(at, half), mask = _mm256_set1_epi8(15);
#pragma GCC unroll 2
  for (int k = 0; k < 2; k++) {
    const __m256i codes = _mm256_and_si256(k ? _mm256_srli_epi16(line, 4) : line, mask);
    make_pairs(_mm256_shuffle_epi8(codebook->low[0], codes),
               _mm256_shuffle_epi8(codebook->high[0], codes), &pairs[k], &pairs[k + 2]);
  }
  return 4;
}

// Words of two codes, six bits in the lower byte and six in the upper one.
INLINE void decode_6_bits(__m256i codes, const struct codebook *codebook, __m256i *pairs) {
  const __m256i last = _mm256_slli_epi16(codes, 3); // the fifth bit of a byte becomes its sign
  const __m256i sign = _mm256_and_si256(_mm256_slli_epi16(codes, 2), _mm256_set1_epi8(-0x80));
  const __m256i low = _mm256_blendv_epi8(_mm256_shuffle_epi8(codebook->low[0], codes),
                                         _mm256_shuffle_epi8(codebook->low[1], codes), last);
  const __m256i high = _mm256_blendv_epi8(_mm256_shuffle_epi8(codebook->high[0], codes),
                                          _mm256_shuffle_epi8(codebook->high[1], codes), last);
  make_pairs(low, _mm256_or_si256(high, sign), &pairs[0], &pairs[1]);
}

INLINE __m256i two_codes(__m256i first, __m256i second) {
  const __m256i six = _mm256_set1_epi16(63);
  return _mm256_or_si256(_mm256_and_si256(first, six),
                         _mm256_slli_epi16(_mm256_and_si256(second, six), 8));
}

INLINE int decode_unit_of_6(const uint8_t *at, size_t half, const struct codebook *codebook,
                            __m256i *pairs) {
  const __m256i a = half_line(at, half), b = half_line(at + LINE_BYTES, half);
  const __m256i c = half_line(at + 2 * LINE_BYTES, half), top = _mm256_set1_epi16(0x30);
  const __m256i sixth =
      _mm256_or_si256(_mm256_srli_epi16(a, 12), _mm256_and_si256(_mm256_srli_epi16(c, 8), top));
  const __m256i seventh =
      _mm256_or_si256(_mm256_srli_epi16(b, 12), _mm256_and_si256(_mm256_srli_epi16(c, 10), top));
  decode_6_bits(two_codes(a, _mm256_srli_epi16(a, 6)), codebook, pairs);
  decode_6_bits(two_codes(b, _mm256_srli_epi16(b, 6)), codebook, pairs + 2);
  decode_6_bits(two_codes(c, _mm256_srli_epi16(c, 6)), codebook, pairs + 4);
  decode_6_bits(two_codes(sixth, seventh), codebook, pairs + 6);
  return 8;
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

INLINE __m256i add_bytes(__m256i sums, __m256i line, enum element input, const uint8_t *vector,
                         size_t column) {
  if (input == ELEMENT_INT8)
    return add_products(sums, _mm256_abs_epi8(line),
                        _mm256_sign_epi8(four_of(vector, column), line));
#pragma GCC unroll 4
  for (int c = 0; c < 4; c++) {
    const __m256i integers = _mm256_srai_epi32(_mm256_slli_epi32(line, 24 - 8 * c), 24);
    sums = multiply_add(sums, _mm256_cvtepi32_ps(integers), vector, column + (size_t)c);
  }
  return sums;
}

INLINE __m256i add_nibbles(__m256i sums, __m256i line, const uint8_t *vector, size_t column) {
  const __m256i mask = _mm256_set1_epi8(15);
  sums = add_products(sums, _mm256_and_si256(line, mask), four_of(vector, column));
  return add_products(sums, _mm256_and_si256(_mm256_srli_epi16(line, 4), mask),
                      four_of(vector, column + 4));
}

INLINE void add_half(const uint8_t *at, size_t half, enum element weights, enum element input,
                     const struct codebook *codebook, const uint8_t *in, size_t stride,
                     size_t column, int rows, struct sums sums[][PARTS]) {
  __m256i pairs[8];
  int count = 0;
  if (weights == ELEMENT_MXFP6_E2M3 || weights == ELEMENT_MXFP6_E3M2)
    count = decode_unit_of_6(at, half, codebook, pairs);
  else if (weights != ELEMENT_INT8_GROUP && input != ELEMENT_INT8)
    count = decode_4_bits(at, half, codebook, pairs);
#pragma GCC unroll 2
  for (int b = 0; b < rows; b++) {
    const uint8_t *vector = in + (size_t)b * stride;
    __m256i *sum = &sums[b][0].half[half];
    if (weights == ELEMENT_INT8_GROUP)
      *sum = add_bytes(*sum, half_line(at, half), input, vector, column);
    else if (input == ELEMENT_INT8)
      *sum = add_nibbles(*sum, half_line(at, half), vector, column);
#pragma GCC unroll 8
    for (int k = 0; k < count; k++)
      *sum = add_pair(*sum, pairs[k], vector, column + 2 * (size_t)k);
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
