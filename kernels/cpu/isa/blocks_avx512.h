// blocks_avx512: decodes blocks of weights with AVX-512, for the AVX-512 and AMX products. For
// blocks_avx512.c and blocks_amx.c only.
#ifndef PERTOKEN_KERNELS_CPU_ISA_BLOCKS_AVX512_H
#define PERTOKEN_KERNELS_CPU_ISA_BLOCKS_AVX512_H

#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/rows_avx512.h"
#include "kernels/decode.h"

#include <stdint.h>

#if defined(__x86_64__)
struct codebook {
  __m512i first, second;
};

INLINE struct codebook codebook_of(enum element weights) {
  const uint16_t *values = block_values(weights);
  return (struct codebook){_mm512_loadu_si512(values), _mm512_loadu_si512(values + 32)};
}

// The scales of sixteen rows. e8m0's 2^-127 becomes a float with exponent 0 and so counts as 0; the
// scales of weights.h are far from there.
INLINE __m512 scales_at(enum element weights, const uint8_t *at) {
  if (weights == ELEMENT_INT8_GROUP || weights == ELEMENT_INT4_GROUP) {
    const __m256i bits = _mm256_load_si256((const __m256i *)(const void *)at);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }
  const __m128i bytes = _mm_load_si128((const __m128i *)(const void *)at);
  const __m512i bits = _mm512_cvtepu8_epi32(bytes);
  if (weights != ELEMENT_NVFP4)
    return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 23));
  // An e4m3's exponent and fraction, moved to a float's, give 2^-120 of its value, subnormals too.
  return _mm512_mul_ps(_mm512_castsi512_ps(_mm512_slli_epi32(bits, 20)), _mm512_set1_ps(0x1p120f));
}

// The pairs of a unit of 4 or 6 bits, in bf16.
INLINE int decode_unit(const uint8_t *at, enum element weights, const struct codebook *codebook,
                       __m512i *pairs) {
  const __m512i a = _mm512_load_si512(at);
  if (weights != ELEMENT_MXFP6_E2M3 && weights != ELEMENT_MXFP6_E3M2) {
    pairs[0] = _mm512_permutexvar_epi16(a, codebook->first);
    pairs[1] = _mm512_permutexvar_epi16(_mm512_srli_epi16(a, 4), codebook->first);
    pairs[2] = _mm512_permutexvar_epi16(_mm512_srli_epi16(a, 8), codebook->first);
    pairs[3] = _mm512_permutexvar_epi16(_mm512_srli_epi16(a, 12), codebook->first);
    return 4;
  }
  const __m512i b = _mm512_load_si512(at + LINE_BYTES), c = _mm512_load_si512(at + 2 * LINE_BYTES);
  const __m512i top = _mm512_set1_epi16(0x30); // (c & top) | word
  const __m512i indices[8] = {
      a,
      _mm512_srli_epi16(a, 6),
      b,
      _mm512_srli_epi16(b, 6),
      c,
      _mm512_srli_epi16(c, 6),
      _mm512_ternarylogic_epi64(_mm512_srli_epi16(c, 8), top, _mm512_srli_epi16(a, 12), 0xEA),
      _mm512_ternarylogic_epi64(_mm512_srli_epi16(c, 10), top, _mm512_srli_epi16(b, 12), 0xEA)};
#pragma GCC unroll 8
  for (int k = 0; k < 8; k++)
    pairs[k] = _mm512_permutex2var_epi16(codebook->first, indices[k], codebook->second);
  return 8;
}

// Expands a line of 4-bit codes to two lines of bytes.
INLINE int split_line(const uint8_t *at, __m512i *bytes) {
  const __m512i line = _mm512_load_si512(at), low = _mm512_set1_epi8(15);
  bytes[0] = _mm512_and_si512(line, low);
  bytes[1] = _mm512_and_si512(_mm512_srli_epi16(line, 4), low);
  return 2;
}
#endif

#endif
