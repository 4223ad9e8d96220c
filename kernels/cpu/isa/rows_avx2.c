#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/elementwise.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/rows.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define AVX2   __attribute__((target("avx2,fma")))
#define INLINE static inline __attribute__((always_inline, target("avx2,fma")))

// A line is two halves of eight rows. At batch 1 four panels are read side by side, which keeps
// more memory pages open; otherwise one panel serves up to four vectors.
enum { MAX_PANELS = 4, MAX_ROWS = 4, HALVES = 2 };

union sums {
  __m256 floats;
  __m256i integers;
};

INLINE __m256 broadcast(const uint8_t *in, size_t column) {
  return _mm256_broadcast_ss((const float *)(const void *)in + column);
}

// Two columns of eight rows, bf16 in the halves of 32 bits.
INLINE void add_pairs(__m256i pairs, const uint8_t *in, size_t column, union sums *sums) {
  __m256 even = _mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16));
  __m256 odd = _mm256_castsi256_ps(_mm256_and_si256(pairs, _mm256_set1_epi32((int)0xFFFF0000)));
  sums->floats = _mm256_fmadd_ps(even, broadcast(in, column), sums->floats);
  sums->floats = _mm256_fmadd_ps(odd, broadcast(in, column + 1), sums->floats);
}

// e4m3 to the two bytes of bf16: the exponent moves by 120; subnormals come from a table of 8.
INLINE void decode_e4m3(__m256i x, __m256i *low, __m256i *high) {
  const __m256i high_table = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 0x3B, 0x3B, 0x3B, 0x3C, 0x3C, 0x3C, 0x3C, 0, 0, 0, 0, 0, 0, 0, 0));
  const __m256i low_table = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 0, -0x80, -0x40, 0, 0x20, 0x40, 0x60, 0, 0, 0, 0, 0, 0, 0, 0));
  __m256i magnitude = _mm256_and_si256(x, _mm256_set1_epi8(0x7F));
  __m256i subnormal = _mm256_cmpgt_epi8(_mm256_set1_epi8(8), magnitude);
  __m256i nibble = _mm256_and_si256(_mm256_srli_epi16(magnitude, 4), _mm256_set1_epi8(0x0F));
  __m256i top = _mm256_add_epi8(nibble, _mm256_set1_epi8(0x3C));
  __m256i rest = _mm256_and_si256(_mm256_slli_epi16(x, 4), _mm256_set1_epi8(-0x10));
  top = _mm256_blendv_epi8(top, _mm256_shuffle_epi8(high_table, magnitude), subnormal);
  *low = _mm256_blendv_epi8(rest, _mm256_shuffle_epi8(low_table, magnitude), subnormal);
  *high = _mm256_or_si256(top, _mm256_andnot_si256(_mm256_set1_epi8(0x7F), x));
}

INLINE void add_int8(__m256i weights, const uint8_t *in, size_t column, union sums *sums) {
  int32_t four;
  __builtin_memcpy(&four, in + column, sizeof four);
  __m256i vector = _mm256_sign_epi8(_mm256_set1_epi32(four), weights);
  // Pairs of products are at most 2 * 127 * 127 and do not saturate.
  __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(weights), vector);
  sums->integers = _mm256_add_epi32(sums->integers, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

// Half a line against `rows` vectors; `in` points at the first.
INLINE void add_half(const uint8_t *at, enum product_kind kind, const struct product *product,
                     const uint8_t *in, size_t line, int rows, union sums *sums) {
  __m256i x = _mm256_load_si256((const __m256i *)(const void *)at), low = x, high = x;
  if (kind == E4M3_F32)
    decode_e4m3(x, &low, &high);
#pragma GCC unroll 4
  for (int b = 0; b < rows; b++) {
    const uint8_t *vector = in + (size_t)b * product->in_stride;
    union sums *sum = &sums[b * HALVES];
    if (kind == BF16_F32)
      add_pairs(x, vector, 2 * line, sum);
    if (kind == INT8_INT8)
      add_int8(x, vector, 4 * line, sum);
    if (kind == E4M3_F32) {
      add_pairs(_mm256_unpacklo_epi8(low, high), vector, 4 * line, sum);
      add_pairs(_mm256_unpackhi_epi8(low, high), vector, 4 * line + 2, sum);
    }
  }
}

INLINE float *out_at(const struct product *product, size_t b, size_t panel, int half) {
  return product->out + b * product->out_stride + panel * PANEL_ROWS + half * 8;
}

// Adds lines first..last of `panels` panels and `rows` vectors to out.
INLINE void add_lines(const struct product *product, enum product_kind kind, size_t panel,
                      int panels, size_t row, int rows, size_t first, size_t last, size_t ahead) {
  union sums sums[MAX_PANELS][MAX_ROWS][HALVES];
  const uint8_t *in = (const uint8_t *)product->in + row * product->in_stride;
  const uint8_t *lines = product->panels + panel * product->panel_stride;
#pragma GCC unroll 4
  for (int p = 0; p < panels; p++)
#pragma GCC unroll 8
    for (int i = 0; i < rows * HALVES; i++)
      sums[p][i / HALVES][i % HALVES].floats =
          first ? _mm256_load_ps(
                      out_at(product, row + (size_t)(i / HALVES), panel + (size_t)p, i % HALVES))
                : _mm256_setzero_ps();

  for (size_t line = first; line < last; line++)
#pragma GCC unroll 4
    for (int p = 0; p < panels; p++) {
      const uint8_t *at = lines + (size_t)p * product->panel_stride + line * LINE_BYTES;
      if (ahead)
        _mm_prefetch((const char *)at + ahead, _MM_HINT_T0);
      add_half(at, kind, product, in, line, rows, &sums[p][0][0]);
      add_half(at + LINE_BYTES / 2, kind, product, in, line, rows, &sums[p][0][1]);
    }

#pragma GCC unroll 4
  for (int p = 0; p < panels; p++)
#pragma GCC unroll 8
    for (int i = 0; i < rows * HALVES; i++)
      _mm256_store_ps(out_at(product, row + (size_t)(i / HALVES), panel + (size_t)p, i % HALVES),
                      sums[p][i / HALVES][i % HALVES].floats);
}

INLINE void add_piece(const struct product *product, enum product_kind kind, size_t panel,
                      size_t panels, size_t first, size_t last) {
  size_t ahead = product->one_stream
                     ? 0
                     : prefetch_distance(product, panels, last, product_lines(product, kind));
  size_t row = 0;
  if (panels == MAX_PANELS) {
    add_lines(product, kind, panel, MAX_PANELS, 0, 1, first, last, ahead);
    return;
  }
  for (; row + MAX_ROWS <= product->batch; row += MAX_ROWS)
    add_lines(product, kind, panel, 1, row, MAX_ROWS, first, last, row ? 0 : ahead);
  for (; row + 2 <= product->batch; row += 2)
    add_lines(product, kind, panel, 1, row, 2, first, last, row ? 0 : ahead);
  if (row < product->batch)
    add_lines(product, kind, panel, 1, row, 1, first, last, row ? 0 : ahead);
}

AVX2 static void to_floats(const struct product *product, size_t panel, size_t panels) {
  for (size_t b = 0; b < product->batch; b++)
    for (size_t i = 0; i < panels * HALVES; i++) {
      float *at = out_at(product, b, panel, 0) + 8 * i;
      _mm256_store_ps(at, _mm256_cvtepi32_ps(_mm256_load_si256((__m256i *)(void *)at)));
    }
}

INLINE void multiply(const struct product *product, enum product_kind kind) {
  size_t lines = product_lines(product, kind), panels;
  for (size_t panel = 0; panel < product->panel_count; panel += panels) {
    panels = product->batch == 1 && panel + MAX_PANELS <= product->panel_count ? MAX_PANELS : 1;
    for (size_t first = 0; first < lines; first += AHEAD_LINES)
      add_piece(product, kind, panel, panels, first,
                first + AHEAD_LINES < lines ? first + AHEAD_LINES : lines);
    if (kind == INT8_INT8)
      to_floats(product, panel, panels);
  }
}

AVX2 static void bf16_f32(const struct product *product) {
  multiply(product, BF16_F32);
}

AVX2 static void e4m3_f32(const struct product *product) {
  multiply(product, E4M3_F32);
}

AVX2 static void int8_int8(const struct product *product) {
  multiply(product, INT8_INT8);
}

AVX2 static uint32_t read_avx2(const uint8_t *from, size_t bytes, int streams, size_t ahead) {
  size_t part = bytes / (size_t)streams;
  __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  for (size_t i = 0; i < part; i += LINE_BYTES)
    for (int s = 0; s < streams; s++) {
      const uint8_t *at = from + (size_t)s * part + i;
      if (ahead)
        _mm_prefetch((const char *)at + ahead, _MM_HINT_T0);
      sum[0] = _mm256_add_epi64(sum[0], _mm256_load_si256((const __m256i *)(const void *)at));
      sum[1] = _mm256_add_epi64(sum[1], _mm256_load_si256((const __m256i *)(const void *)at + 1));
    }
  uint32_t words[8], total = 0;
  _mm256_storeu_si256((__m256i *)(void *)words, _mm256_add_epi64(sum[0], sum[1]));
  for (int i = 0; i < 8; i++)
    total ^= words[i];
  return total;
}

const struct cpu_kernels cpu_kernels_avx2 = {
    .isa = CPU_AVX2,
    .name = "AVX2",
    .product = {[BF16_F32] = bf16_f32,
                [E4M3_F32] = e4m3_f32,
                [INT8_INT8] = int8_int8,
                BLOCK_PRODUCTS(BLOCK_PRODUCT_ENTRY, avx2)},
    .elementwise = &elementwise_avx2,
    .read = read_avx2,
};
#else
extern int rows_avx2_is_for_x86;
#endif
