#include "kernels/cpu/isa/rows_avx512.h"

#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/elementwise.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/rows.h"

#include <stdbool.h>
#include <stddef.h>

#if defined(__x86_64__)

// Entry 127 is NaN; the others, subnormals too, are exact.
const uint8_t e4m3_low_bytes[128] = {
    0x00, 0x00, 0x80, 0xC0, 0x00, 0x20, 0x40, 0x60, 0x80, 0x90, 0xA0, 0xB0, 0xC0, 0xD0, 0xE0, 0xF0,
    0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xA0, 0xB0, 0xC0, 0xD0, 0xE0, 0xF0,
    0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xA0, 0xB0, 0xC0, 0xD0, 0xE0, 0xF0,
    0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xA0, 0xB0, 0xC0, 0xD0, 0xE0, 0xF0,
    0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xA0, 0xB0, 0xC0, 0xD0, 0xE0, 0xF0,
    0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xA0, 0xB0, 0xC0, 0xD0, 0xE0, 0xF0,
    0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xA0, 0xB0, 0xC0, 0xD0, 0xE0, 0xF0,
    0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90, 0xA0, 0xB0, 0xC0, 0xD0, 0xE0, 0xC0};
const uint8_t e4m3_high_bytes[128] = {
    0x00, 0x3B, 0x3B, 0x3B, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C,
    0x3D, 0x3D, 0x3D, 0x3D, 0x3D, 0x3D, 0x3D, 0x3D, 0x3D, 0x3D, 0x3D, 0x3D, 0x3D, 0x3D, 0x3D, 0x3D,
    0x3E, 0x3E, 0x3E, 0x3E, 0x3E, 0x3E, 0x3E, 0x3E, 0x3E, 0x3E, 0x3E, 0x3E, 0x3E, 0x3E, 0x3E, 0x3E,
    0x3F, 0x3F, 0x3F, 0x3F, 0x3F, 0x3F, 0x3F, 0x3F, 0x3F, 0x3F, 0x3F, 0x3F, 0x3F, 0x3F, 0x3F, 0x3F,
    0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40,
    0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41,
    0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42, 0x42,
    0x43, 0x43, 0x43, 0x43, 0x43, 0x43, 0x43, 0x43, 0x43, 0x43, 0x43, 0x43, 0x43, 0x43, 0x43, 0x7F};

// Up to four vectors share each line read. Where the machine reads several streams well, four
// panels are read side by side, and the next four vectors then take them from the L1 cache;
// elsewhere one panel after the other, four lines at once.
enum { MAX_PANELS = 4, MAX_ROWS = 4, UNROLL = 4 };

// Vectors: word w (a float, two bf16 or four int8) of row b is at + b * row_bytes + w * word_bytes.
struct vectors {
  const uint8_t *at;
  size_t row_bytes, word_bytes;
};

INLINE int32_t word_of(const struct vectors *vectors, int row, size_t word) {
  int32_t bits;
  __builtin_memcpy(&bits,
                   vectors->at + (size_t)row * vectors->row_bytes + word * vectors->word_bytes,
                   sizeof bits);
  return bits;
}

// The product's vectors in their original order, from `row` on.
INLINE struct vectors rows_from(const struct product *product, size_t row) {
  const uint8_t *at = (const uint8_t *)product->in + row * product->in_stride;
  return (struct vectors){at, product->in_stride, sizeof(int32_t)};
}

// Sums are kept as bits: floats, or integers for int8.
INLINE __m512i add_line(__m512i sums, __m512i line, enum product_kind kind,
                        const struct vectors *vectors, int row, size_t index) {
  if (kind == INT8_INT8) {
    // Weights as unsigned bytes, 128 too large: `first_sums` corrects for that.
    __m512i shifted = _mm512_xor_si512(line, _mm512_set1_epi8(-0x80));
    return _mm512_dpbusd_epi32(sums, shifted, _mm512_set1_epi32(word_of(vectors, row, index)));
  }
  __m512 floats = _mm512_castsi512_ps(sums);
  if (kind == BF16_BF16) {
    __m512i pair = _mm512_set1_epi32(word_of(vectors, row, index));
    return _mm512_castps_si512(_mm512_dpbf16_ps(floats, (__m512bh)line, (__m512bh)pair));
  }
  __m512i first = _mm512_set1_epi32(word_of(vectors, row, 2 * index));
  __m512i second = _mm512_set1_epi32(word_of(vectors, row, 2 * index + 1));
  __m512 even = _mm512_castsi512_ps(_mm512_slli_epi32(line, 16));
  __m512 odd = _mm512_castsi512_ps(_mm512_and_si512(line, _mm512_set1_epi32((int)0xFFFF0000)));
  floats = _mm512_fmadd_ps(even, _mm512_castsi512_ps(first), floats);
  return _mm512_castps_si512(_mm512_fmadd_ps(odd, _mm512_castsi512_ps(second), floats));
}

INLINE __m512i first_sums(const struct product *product, enum product_kind kind, size_t row) {
  return kind == INT8_INT8 ? _mm512_set1_epi32(-128 * product->in_sums[row])
                           : _mm512_setzero_si512();
}

INLINE float *out_at(const struct product *product, size_t row, size_t panel) {
  return product->out + row * product->out_stride + panel * PANEL_ROWS;
}

// One line of a panel against `rows` vectors; E4M3 becomes two lines of BF16.
INLINE void add_to_rows(const uint8_t *at, enum product_kind kind, const struct vectors *vectors,
                        size_t index, int rows, const struct e4m3_tables *tables, __m512i *sums) {
  bool narrow = kind == E4M3_F32 || kind == E4M3_BF16;
  enum product_kind wide = kind == E4M3_F32 ? BF16_F32 : kind == E4M3_BF16 ? BF16_BF16 : kind;
  __m512i line = _mm512_load_si512(at), second = line;
  if (narrow)
    decode_e4m3(line, tables, &line, &second);
#pragma GCC unroll 16
  for (int b = 0; b < rows; b++) {
    sums[b] = add_line(sums[b], line, wide, vectors, b, narrow ? 2 * index : index);
    if (narrow)
      sums[b] = add_line(sums[b], second, wide, vectors, b, 2 * index + 1);
  }
}

// Adds lines first..last of `panels` panels and `rows` vectors to out.
INLINE void add_lines(const struct product *product, enum product_kind kind, size_t panel,
                      int panels, size_t row, int rows, size_t first, size_t last, size_t ahead) {
  __m512i sums[MAX_PANELS][MAX_ROWS];
  const struct e4m3_tables tables = e4m3_tables();
  const struct vectors vectors = rows_from(product, row);
  const uint8_t *lines = product->panels + panel * product->panel_stride;
#pragma GCC unroll 4
  for (int p = 0; p < panels; p++)
#pragma GCC unroll 4
    for (int b = 0; b < rows; b++)
      sums[p][b] = first ? _mm512_load_si512(out_at(product, row + (size_t)b, panel + (size_t)p))
                         : first_sums(product, kind, row + (size_t)b);

  for (size_t i = first; i < last; i++)
#pragma GCC unroll 4
    for (int p = 0; p < panels; p++) {
      const uint8_t *at = lines + (size_t)p * product->panel_stride + i * LINE_BYTES;
      if (ahead)
        _mm_prefetch((const char *)at + ahead, _MM_HINT_T0);
      add_to_rows(at, kind, &vectors, i, rows, &tables, sums[p]);
    }

#pragma GCC unroll 4
  for (int p = 0; p < panels; p++)
#pragma GCC unroll 4
    for (int b = 0; b < rows; b++)
      _mm512_store_si512(out_at(product, row + (size_t)b, panel + (size_t)p), sums[p][b]);
}

INLINE void add_rows(const struct product *product, enum product_kind kind, size_t panel,
                     int panels, size_t row, size_t first, size_t last, size_t ahead) {
  switch (product->batch - row) {
  case 1: add_lines(product, kind, panel, panels, row, 1, first, last, ahead); break;
  case 2: add_lines(product, kind, panel, panels, row, 2, first, last, ahead); break;
  case 3: add_lines(product, kind, panel, panels, row, 3, first, last, ahead); break;
  default: add_lines(product, kind, panel, panels, row, 4, first, last, ahead); break;
  }
}

INLINE void multiply_side_by_side(const struct product *product, enum product_kind kind) {
  size_t lines = product_lines(product, kind), panels;
  for (size_t panel = 0; panel < product->panel_count; panel += panels) {
    panels = panel + MAX_PANELS <= product->panel_count ? MAX_PANELS : 1;
    for (size_t first = 0; first < lines; first += AHEAD_LINES) {
      size_t last = first + AHEAD_LINES < lines ? first + AHEAD_LINES : lines;
      size_t ahead = product->one_stream ? 0 : prefetch_distance(product, panels, last, lines);
      for (size_t row = 0; row < product->batch; row += MAX_ROWS)
        if (panels == MAX_PANELS)
          add_rows(product, kind, panel, MAX_PANELS, row, first, last, row ? 0 : ahead);
        else
          add_rows(product, kind, panel, 1, row, first, last, row ? 0 : ahead);
    }
  }
}

INLINE __m512i add_sums(__m512i a, __m512i b, enum product_kind kind) {
  if (kind == INT8_INT8)
    return _mm512_add_epi32(a, b);
  return _mm512_castps_si512(_mm512_add_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)));
}

// A whole panel against up to four vectors, with separate sums for each of four lines.
INLINE void add_panel(const struct product *product, enum product_kind kind, size_t panel,
                      int rows) {
  __m512i sums[UNROLL][MAX_ROWS];
  const struct e4m3_tables tables = e4m3_tables();
  const struct vectors vectors = rows_from(product, 0);
  const uint8_t *at = product->panels + panel * product->panel_stride;
  size_t lines = product_lines(product, kind), i = 0;
#pragma GCC unroll 4
  for (int u = 0; u < UNROLL; u++)
#pragma GCC unroll 4
    for (int b = 0; b < rows; b++)
      sums[u][b] = u ? _mm512_setzero_si512() : first_sums(product, kind, (size_t)b);

  for (; i + UNROLL <= lines; i += UNROLL)
#pragma GCC unroll 4
    for (size_t u = 0; u < UNROLL; u++)
      add_to_rows(at + (i + u) * LINE_BYTES, kind, &vectors, i + u, rows, &tables, sums[u]);
  for (; i < lines; i++)
    add_to_rows(at + i * LINE_BYTES, kind, &vectors, i, rows, &tables, sums[0]);

#pragma GCC unroll 4
  for (int b = 0; b < rows; b++) {
    __m512i low = add_sums(sums[0][b], sums[1][b], kind);
    __m512i high = add_sums(sums[2][b], sums[3][b], kind);
    _mm512_store_si512(out_at(product, (size_t)b, panel), add_sums(low, high, kind));
  }
}

INLINE void multiply_one_stream(const struct product *product, enum product_kind kind) {
  for (size_t panel = 0; panel < product->panel_count; panel++)
    switch (product->batch) {
    case 1: add_panel(product, kind, panel, 1); break;
    case 2: add_panel(product, kind, panel, 2); break;
    case 3: add_panel(product, kind, panel, 3); break;
    default: add_panel(product, kind, panel, 4); break;
    }
}

// A whole panel against `rows` arranged vectors, the last of which may be padding.
INLINE void add_group(const struct product *product, enum product_kind kind, size_t panel,
                      size_t row, int rows, size_t ahead) {
  __m512i sums[ARRANGED_ROWS];
  const struct e4m3_tables tables = e4m3_tables();
  size_t lines = product_lines(product, kind), left = product->batch - row;
  const uint8_t *at = product->panels + panel * product->panel_stride;
  const struct vectors vectors = {(const uint8_t *)product->arranged + row * product->in_words * 4,
                                  sizeof(int32_t), ARRANGED_ROWS * sizeof(int32_t)};
#pragma GCC unroll 16
  for (int b = 0; b < rows; b++)
    sums[b] =
        (size_t)b < left ? first_sums(product, kind, row + (size_t)b) : _mm512_setzero_si512();
  for (size_t i = 0; i < lines; i++) {
    if (ahead)
      _mm_prefetch((const char *)at + i * LINE_BYTES + ahead, _MM_HINT_T0);
    add_to_rows(at + i * LINE_BYTES, kind, &vectors, i, rows, &tables, sums);
  }
#pragma GCC unroll 16
  for (int b = 0; b < rows; b++)
    if ((size_t)b < left)
      _mm512_store_si512(out_at(product, row + (size_t)b, panel), sums[b]);
}

// Every line is read once for a group of up to sixteen vectors.
INLINE void multiply_arranged(const struct product *product, enum product_kind kind) {
  for (size_t panel = 0; panel < product->panel_count; panel++)
    for (size_t row = 0; row < product->batch; row += ARRANGED_ROWS) {
      size_t ahead = row ? 0 : AHEAD_BYTES;
      switch ((product->batch - row - 1) / MAX_ROWS) {
      case 0: add_group(product, kind, panel, row, 4, ahead); break;
      case 1: add_group(product, kind, panel, row, 8, ahead); break;
      case 2: add_group(product, kind, panel, row, 12, ahead); break;
      default: add_group(product, kind, panel, row, 16, ahead); break;
      }
    }
}

INLINE void to_floats(const struct product *product) {
  for (size_t b = 0; b < product->batch; b++)
    for (size_t p = 0; p < product->panel_count; p++) {
      float *at = out_at(product, b, p);
      _mm512_store_ps(at, _mm512_cvtepi32_ps(_mm512_load_si512(at)));
    }
}

INLINE void multiply(const struct product *product, enum product_kind kind) {
  if (product->arranged)
    multiply_arranged(product, kind);
  else if (product->one_stream && product->batch <= MAX_ROWS)
    multiply_one_stream(product, kind);
  else
    multiply_side_by_side(product, kind);
  if (kind == INT8_INT8)
    to_floats(product);
}

// Each kind is compiled separately.
#define PRODUCT(name, kind)                                                                        \
  AVX512 static void name(const struct product *product) {                                         \
    multiply(product, kind);                                                                       \
  }
PRODUCT(bf16_f32, BF16_F32)
PRODUCT(e4m3_f32, E4M3_F32)
PRODUCT(bf16_bf16, BF16_BF16)
PRODUCT(e4m3_bf16, E4M3_BF16)
PRODUCT(int8_int8, INT8_INT8)

AVX512 static uint32_t read_avx512(const uint8_t *from, size_t bytes, int streams, size_t ahead) {
  size_t part = bytes / (size_t)streams, step = 4 / (size_t)streams * LINE_BYTES;
  __m512i sums[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                     _mm512_setzero_si512()};
  const uint8_t *starts[4]; // of the four lines read in each round
  for (int j = 0; j < 4; j++)
    starts[j] = from + (size_t)(j % streams) * part + (size_t)(j / streams) * LINE_BYTES;
  for (size_t i = 0; i < part; i += step)
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
      if (ahead)
        _mm_prefetch((const char *)starts[j] + i + ahead, _MM_HINT_T0);
      sums[j] = _mm512_add_epi64(sums[j], _mm512_load_si512(starts[j] + i));
    }
  __m512i sum =
      _mm512_add_epi64(_mm512_add_epi64(sums[0], sums[1]), _mm512_add_epi64(sums[2], sums[3]));
  uint64_t lanes[8], total = 0; // unsigned: the sum may wrap
  _mm512_storeu_si512(lanes, sum);
  for (int j = 0; j < 8; j++)
    total += lanes[j];
  return (uint32_t)(total ^ total >> 32);
}

const struct cpu_kernels cpu_kernels_avx512 = {
    .isa = CPU_AVX512,
    .name = "AVX-512 with VNNI and VBMI",
    .product = {[BF16_F32] = bf16_f32,
                [E4M3_F32] = e4m3_f32,
                [INT8_INT8] = int8_int8,
                BLOCK_PRODUCTS(BLOCK_PRODUCT_ENTRY, avx512)},
    .takes_arranged = true,
    .elementwise = &elementwise_avx512,
    .read = read_avx512,
};

const struct cpu_kernels cpu_kernels_avx512_bf16 = {
    .isa = CPU_AVX512_BF16,
    .name = "AVX-512 with BF16, VNNI and VBMI",
    .product = {[BF16_F32] = bf16_f32,
                [E4M3_F32] = e4m3_f32,
                [BF16_BF16] = bf16_bf16,
                [E4M3_BF16] = e4m3_bf16,
                [INT8_INT8] = int8_int8,
                ALL_BLOCK_PRODUCTS(BLOCK_PRODUCT_ENTRY, avx512)},
    .takes_arranged = true,
    .elementwise = &elementwise_avx512,
    .read = read_avx512,
};
#else
extern int rows_avx512_is_for_x86;
#endif
