#include "kernels/cpu/isa/blocks_avx512.h"
#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/isa/rows_avx512.h"
#include "kernels/decode.h"

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)

enum {
  MAX_ROWS = 8,
  PARTS = 4 // separate sums of one vector, so that additions need not wait for each other
};

struct sums {
  __m512i lanes;
};

INLINE struct sums no_sums(void) {
  return (struct sums){_mm512_setzero_si512()};
}

// Codes are unsigned bytes here, 8 or 128 too large.
INLINE struct sums first_sums(enum element weights, int32_t sum) {
  return (struct sums){_mm512_set1_epi32((weights == ELEMENT_INT4_GROUP ? -8 : -128) * sum)};
}

INLINE __m512i add(__m512i a, __m512i b, enum element input) {
  if (input == ELEMENT_INT8)
    return _mm512_add_epi32(a, b);
  return _mm512_castps_si512(_mm512_add_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)));
}

INLINE struct sums joined(const struct sums *sums, int rows, enum element input,
                          enum element weights) {
  (void)weights;
  if (rows > 1)
    return sums[0];
  const __m512i low = add(sums[0].lanes, sums[1].lanes, input);
  return (struct sums){add(low, add(sums[2].lanes, sums[3].lanes, input), input)};
}

INLINE struct sums add_scaled(struct sums totals, struct sums sums, enum element input,
                              enum element weights, const uint8_t *scales) {
  const __m512 floats =
      input == ELEMENT_INT8 ? _mm512_cvtepi32_ps(sums.lanes) : _mm512_castsi512_ps(sums.lanes);
  return (struct sums){_mm512_castps_si512(
      _mm512_fmadd_ps(floats, scales_at(weights, scales), _mm512_castsi512_ps(totals.lanes)))};
}

INLINE void store(struct sums totals, float *out) {
  _mm512_store_si512(out, totals.lanes);
}

// Broadcasts a 4-byte word of a vector: a float, two bf16 or four int8.
INLINE __m512i word_at(const uint8_t *vector, size_t word) {
  int32_t bits;
  __builtin_memcpy(&bits, vector + word * sizeof bits, sizeof bits);
  return _mm512_set1_epi32(bits);
}

INLINE __m512i multiply_add(__m512i sums, __m512i floats, const uint8_t *vector, size_t column) {
  return _mm512_castps_si512(_mm512_fmadd_ps(_mm512_castsi512_ps(floats),
                                             _mm512_castsi512_ps(word_at(vector, column)),
                                             _mm512_castsi512_ps(sums)));
}

// Two columns of sixteen rows in bf16.
INLINE __m512i add_pair(__m512i sums, __m512i pair, enum element input, const uint8_t *vector,
                        size_t column) {
  if (input == ELEMENT_BF16)
    return _mm512_castps_si512(_mm512_dpbf16_ps(_mm512_castsi512_ps(sums), (__m512bh)pair,
                                                (__m512bh)word_at(vector, column / 2)));
  const __m512i odd = _mm512_and_si512(pair, _mm512_set1_epi32((int)0xFFFF0000));
  sums = multiply_add(sums, _mm512_slli_epi32(pair, 16), vector, column);
  return multiply_add(sums, odd, vector, column + 1);
}

// A line of 8-bit integers: four columns.
INLINE void add_bytes(__m512i line, enum element input, const uint8_t *vector, size_t column,
                      int parts, struct sums *sums) {
  if (input == ELEMENT_INT8) {
    const __m512i shifted = _mm512_xor_si512(line, _mm512_set1_epi8(-0x80));
    sums->lanes = _mm512_dpbusd_epi32(sums->lanes, shifted, word_at(vector, column / 4));
    return;
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; c++) {
    const __m512i integers = _mm512_srai_epi32(_mm512_slli_epi32(line, (unsigned)(24 - 8 * c)), 24);
    struct sums *sum = &sums[c % parts];
    sum->lanes = multiply_add(sum->lanes, _mm512_castps_si512(_mm512_cvtepi32_ps(integers)), vector,
                              column + (size_t)c);
  }
}

INLINE void add_unit(const uint8_t *at, enum element weights, enum element input,
                     const struct codebook *codebook, const uint8_t *in, size_t stride,
                     size_t column, int rows, struct sums sums[][PARTS]) {
  const int parts = rows == 1 ? PARTS : 1;
  if (weights == ELEMENT_INT8_GROUP) {
#pragma GCC unroll 8
    for (int b = 0; b < rows; b++)
      add_bytes(_mm512_load_si512(at), input, in + (size_t)b * stride, column, parts, sums[b]);
    return;
  }
  __m512i pairs[8];
  const int count =
      input == ELEMENT_INT8 ? split_line(at, pairs) : decode_unit(at, weights, codebook, pairs);
#pragma GCC unroll 8
  for (int k = 0; k < count; k++)
#pragma GCC unroll 8
    for (int b = 0; b < rows; b++) {
      const uint8_t *vector = in + (size_t)b * stride;
      __m512i *sum = &sums[b][k % parts].lanes;
      if (input == ELEMENT_INT8)
        *sum = _mm512_dpbusd_epi32(*sum, pairs[k], word_at(vector, column / 4 + (size_t)k));
      else
        *sum = add_pair(*sum, pairs[k], input, vector, column + 2 * (size_t)k);
    }
}

#include "kernels/cpu/isa/blocks_body.h"

#define PRODUCT(isa, name, kind, weights, input)                                                   \
  AVX512 void isa##_##name(const struct product *product) {                                        \
    multiply(product, weights, input);                                                             \
  }
BLOCK_PRODUCTS(PRODUCT, avx512)
BLOCK_PRODUCTS_BF16(PRODUCT, avx512)
#else
extern int blocks_avx512_is_for_x86;
#endif
