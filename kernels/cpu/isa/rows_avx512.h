// rows_avx512: what the AVX-512 and AMX kernels share. For rows_avx512.c and rows_amx.c only.
#ifndef PERTOKEN_KERNELS_CPU_ISA_ROWS_AVX512_H
#define PERTOKEN_KERNELS_CPU_ISA_ROWS_AVX512_H

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdint.h>

#define AVX512_TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vnni,avx512bf16"
#define AVX512        __attribute__((target(AVX512_TARGET)))
#define INLINE        static inline __attribute__((always_inline, target(AVX512_TARGET)))

// The two bytes of a bf16 for each of the 128 magnitudes of an e4m3.
struct e4m3_tables {
  __m512i low[2], high[2];
};

extern const uint8_t e4m3_low_bytes[128], e4m3_high_bytes[128];

INLINE struct e4m3_tables e4m3_tables(void) {
  return (struct e4m3_tables){
      .low = {_mm512_loadu_si512(e4m3_low_bytes), _mm512_loadu_si512(e4m3_low_bytes + 64)},
      .high = {_mm512_loadu_si512(e4m3_high_bytes), _mm512_loadu_si512(e4m3_high_bytes + 64)},
  };
}

// Decodes a line of E4M3 to two lines of BF16.
INLINE void decode_e4m3(__m512i line, const struct e4m3_tables *tables, __m512i *first,
                        __m512i *second) {
  __m512i low = _mm512_permutex2var_epi8(tables->low[0], line, tables->low[1]);
  __m512i high = _mm512_permutex2var_epi8(tables->high[0], line, tables->high[1]);
  __m512i sign = _mm512_set1_epi8(-0x80);
  high = _mm512_ternarylogic_epi64(high, line, sign, 0xF8); // high | (line & sign)
  *first = _mm512_unpacklo_epi8(low, high);
  *second = _mm512_unpackhi_epi8(low, high);
}
#endif

#endif
