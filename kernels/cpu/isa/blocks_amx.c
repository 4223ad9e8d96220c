// Products on tiles with weights that have a scale per block: a tile of weights is decoded once and
// multiplied with up to four groups of vectors. Small floats times their scale are exact in bf16
// and are multiplied in that form; with groups of 128, whose scale is not exact, each group's sum
// is scaled.
#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/blocks_avx512.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/isa/rows_avx512.h"
#include "kernels/cpu/isa/tiles.h"
#include "kernels/decode.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)

#undef INLINE
#define INLINE static inline __attribute__((always_inline, target(AMX_TARGET)))

enum {
  GROUPS = 4, // of TILE_ROWS vectors
  // From this batch on, decoding into a tile pays; fewer vectors are multiplied as fast without
  // tiles.
  MIN_BATCH = 8
};

// The vectors from `row` on that are multiplied together.
struct vectors {
  size_t row, groups, last; // size of the last group
};

INLINE struct vectors vectors_from(size_t row, size_t batch) {
  const size_t left = batch - row;
  const size_t count = left < GROUPS * TILE_ROWS ? left : GROUPS * TILE_ROWS;
  const size_t groups = (count + TILE_ROWS - 1) / TILE_ROWS;
  return (struct vectors){row, groups, count - (groups - 1) * TILE_ROWS};
}

// Tiles 0-3: sums of a panel with each group of vectors, [vectors][16 rows]; 4: vectors of a full
// group; 5: those of the last group, [vectors][64 bytes]; 6: weights, 16 lines.
INLINE void configure(const struct vectors *vectors) {
  struct tile_config config = {.palette = 1};
  for (size_t i = 0; i < 7; i++) {
    const bool is_last = i == 5 || i + 1 == vectors->groups;
    config.row_bytes[i] = 64;
    config.rows[i] = (uint8_t)(is_last ? vectors->last : TILE_ROWS);
  }
  MEMORY_FENCE();
  _tile_loadconfig(&config);
}

INLINE void zero_sums(void) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

#define MULTIPLY(input, sums, vectors)                                                             \
  do {                                                                                             \
    if ((input) == ELEMENT_INT8)                                                                   \
      _tile_dpbssd(sums, vectors, 6);                                                              \
    else                                                                                           \
      _tile_dpbf16ps(sums, vectors, 6);                                                            \
  } while (0)

#define ADD_GROUP(group)                                                                           \
  do {                                                                                             \
    if (vectors->groups == (group) + 1) {                                                          \
      _tile_loadd(5, in + (group)*TILE_ROWS * stride, stride);                                     \
      MULTIPLY(input, group, 5);                                                                   \
    } else if (vectors->groups > (group)) {                                                        \
      _tile_loadd(4, in + (group)*TILE_ROWS * stride, stride);                                     \
      MULTIPLY(input, group, 4);                                                                   \
    }                                                                                              \
  } while (0)

// The weights at `lines` times 64 bytes of every vector; the first vector's bytes begin at `in`.
INLINE void add_tile(const struct vectors *vectors, enum element input, const uint8_t *lines,
                     const uint8_t *in, size_t stride) {
  _tile_loadd(6, lines, LINE_BYTES);
  ADD_GROUP(0);
  ADD_GROUP(1);
  ADD_GROUP(2);
  ADD_GROUP(3);
}

// [groups * 16][16 rows], `stride` bytes from one vector to the next.
INLINE void store_sums(const struct vectors *vectors, void *out, size_t stride) {
  uint8_t *at = out;
  _tile_stored(0, at, stride);
  if (vectors->groups > 1)
    _tile_stored(1, at + TILE_ROWS * stride, stride);
  if (vectors->groups > 2)
    _tile_stored(2, at + 2 * TILE_ROWS * stride, stride);
  if (vectors->groups > 3)
    _tile_stored(3, at + 3 * TILE_ROWS * stride, stride);
  MEMORY_FENCE();
}

// The read position within a panel.
struct place {
  const uint8_t *at, *scales;
  size_t ahead;
};

// Moves on to the unit at `column`.
INLINE void enter_unit(struct place *place, const struct block_layout *layout, size_t column) {
  if (column % layout->chunk == 0) {
    place->scales = place->at;
    place->at += LINE_BYTES;
  }
  for (size_t line = 0; place->ahead && line < layout->unit_bytes; line += LINE_BYTES)
    _mm_prefetch((const char *)place->at + line + place->ahead, _MM_HINT_T0);
}

INLINE __m512 block_scales(const struct place *place, enum element weights, size_t column) {
  const struct block_layout layout = block_layout(weights);
  return scales_at(weights, place->scales + column % layout.chunk / layout.block * PANEL_ROWS *
                                                layout.scale_bytes);
}

// A pair of columns in bf16 times the scales of their rows.
INLINE __m512i scaled(__m512i pair, __m512 scales) {
  const __m512i high = _mm512_set1_epi32((int)0xFFFF0000);
  const __m512 even = _mm512_castsi512_ps(_mm512_slli_epi32(pair, 16));
  const __m512 odd = _mm512_castsi512_ps(_mm512_and_si512(pair, high));
  const __m512i first = _mm512_castps_si512(_mm512_mul_ps(even, scales));
  const __m512i second = _mm512_castps_si512(_mm512_mul_ps(odd, scales));
  return _mm512_ternarylogic_epi32(high, second, _mm512_srli_epi32(first, 16), 0xCA); // by the mask
}

// The tile's lines from `first` on: the columns that match 64 bytes of a vector.
INLINE void decode_tile(struct place *place, enum element weights, enum element input,
                        const struct codebook *codebook, size_t first, uint8_t *lines) {
  const struct block_layout layout = block_layout(weights);
  const size_t columns = input == ELEMENT_INT8 ? 64 : 32;
  const bool is_group = weights == ELEMENT_INT8_GROUP || weights == ELEMENT_INT4_GROUP;
#pragma GCC unroll 16
  for (size_t c = 0; c < columns; c += layout.unit_columns, place->at += layout.unit_bytes) {
    __m512i decoded[8];
    int count = 1;
    enter_unit(place, &layout, first + c);
    if (weights == ELEMENT_INT8_GROUP)
      decoded[0] = _mm512_load_si512(place->at);
    else if (input == ELEMENT_INT8)
      count = split_line(place->at, decoded);
    else
      count = decode_unit(place->at, weights, codebook, decoded);
#pragma GCC unroll 8
    for (int k = 0; k < count; k++, lines += LINE_BYTES) {
      if (!is_group)
        decoded[k] = scaled(decoded[k], block_scales(place, weights, first + c));
      else if (weights == ELEMENT_INT4_GROUP && input == ELEMENT_INT8)
        decoded[k] = _mm512_sub_epi8(decoded[k], _mm512_set1_epi8(8));
      _mm512_store_si512(lines, decoded[k]);
    }
  }
  MEMORY_FENCE();
}

// Adds the sums of a group of columns, times its scales, to those of earlier groups.
INLINE void add_group(const struct vectors *vectors, enum element input, __m512 scales, float *out,
                      size_t out_stride) {
  _Alignas(64) uint8_t sums[GROUPS * TILE_BYTES];
  const size_t count = (vectors->groups - 1) * TILE_ROWS + vectors->last;
  store_sums(vectors, sums, LINE_BYTES);
  for (size_t v = 0; v < count; v++) {
    const __m512i bits = _mm512_load_si512(sums + v * LINE_BYTES);
    const __m512 of_group =
        input == ELEMENT_INT8 ? _mm512_cvtepi32_ps(bits) : _mm512_castsi512_ps(bits);
    float *at = out + v * out_stride;
    _mm512_store_ps(at, _mm512_fmadd_ps(of_group, scales, _mm512_load_ps(at)));
  }
}

INLINE void multiply_panel(const struct product *product, enum element weights, enum element input,
                           size_t panel, const struct vectors *vectors) {
  const struct block_layout layout = block_layout(weights);
  const bool is_group = weights == ELEMENT_INT8_GROUP || weights == ELEMENT_INT4_GROUP;
  const size_t columns = input == ELEMENT_INT8 ? 64 : 32;
  const struct codebook codebook = codebook_of(weights);
  const uint8_t *in = (const uint8_t *)product->in + vectors->row * product->in_stride;
  float *out = product->out + vectors->row * product->out_stride + panel * PANEL_ROWS;
  const size_t count = (vectors->groups - 1) * TILE_ROWS + vectors->last;
  _Alignas(64) uint8_t lines[TILE_BYTES];
  struct place place = {.at = product->panels + panel * product->panel_stride,
                        .ahead = vectors->row == 0 ? DECODE_AHEAD : 0};
  for (size_t v = 0; is_group && v < count; v++)
    _mm512_store_ps(out + v * product->out_stride, _mm512_setzero_ps());
  zero_sums();
  for (size_t c = 0; c < product->columns; c += columns) {
    decode_tile(&place, weights, input, &codebook, c, lines);
    add_tile(vectors, input, lines, in + c / columns * LINE_BYTES, product->in_stride);
    const bool ends = (c + columns) % layout.block == 0 || c + columns == product->columns;
    if (is_group && ends) {
      add_group(vectors, input, block_scales(&place, weights, c), out, product->out_stride);
      zero_sums();
    }
  }
  if (!is_group)
    store_sums(vectors, out, product->out_stride * sizeof *out);
}

INLINE void multiply(const struct product *product, enum element weights, enum element input) {
  MEMORY_FENCE();
  for (size_t panel = 0; panel < product->panel_count; panel++)
    for (size_t row = 0; row < product->batch; row += GROUPS * TILE_ROWS) {
      const struct vectors vectors = vectors_from(row, product->batch);
      configure(&vectors);
      multiply_panel(product, weights, input, panel, &vectors);
    }
  _tile_release();
}

#define PRODUCT(isa, name, kind, weights, input)                                                   \
  AMX void isa##_##name(const struct product *product) {                                           \
    if (product->batch < MIN_BATCH)                                                                \
      avx512_##name(product);                                                                      \
    else                                                                                           \
      multiply(product, weights, input);                                                           \
  }
BLOCK_PRODUCTS_TILES(PRODUCT, amx)
#else
extern int blocks_amx_is_for_x86;
#endif
