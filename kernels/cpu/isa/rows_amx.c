#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/elementwise.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/isa/rows_avx512.h"
#include "kernels/cpu/isa/tiles.h"

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)

#undef INLINE
#define INLINE static inline __attribute__((always_inline, target(AMX_TARGET)))

enum { PANELS = 4 };

// Tiles 0-3: sums of four panels, [vectors][16 rows]; 4: the vectors, [vectors][64 bytes];
// 5, 6: 64 bytes worth of columns of a panel, 16 lines.
INLINE void configure(size_t vectors) {
  struct tile_config config = {.palette = 1};
  for (int i = 0; i < 7; i++) {
    config.row_bytes[i] = 64;
    config.rows[i] = (uint8_t)(i < 5 ? vectors : TILE_ROWS);
  }
  MEMORY_FENCE();
  _tile_loadconfig(&config);
}

// Where the tile to be loaded is: in the panel, or decoded to room.
INLINE const uint8_t *tile_at(const uint8_t *lines, enum product_kind kind, size_t tile,
                              const struct e4m3_tables *tables, uint8_t *room, size_t ahead) {
  size_t bytes = kind == E4M3_BF16 ? TILE_BYTES / 2 : TILE_BYTES;
  const uint8_t *at = lines + tile * bytes;
  const char *next = (const char *)at + ahead;
  __asm__("" : "+r"(next)); // without this the compiler keeps sixteen offsets in registers
  if (ahead)
#pragma GCC unroll 16
    for (size_t i = 0; i < bytes; i += LINE_BYTES)
      _mm_prefetch(next + i, _MM_HINT_T0);
  if (kind != E4M3_BF16)
    return at;
#pragma GCC unroll 8
  for (size_t i = 0; i < bytes; i += LINE_BYTES) {
    __m512i first, second;
    decode_e4m3(_mm512_load_si512(at + i), tables, &first, &second);
    _mm512_store_si512(room + 2 * i, first);
    _mm512_store_si512(room + 2 * i + LINE_BYTES, second);
  }
  MEMORY_FENCE();
  return room;
}

#define MULTIPLY(kind, sums, weights)                                                              \
  do {                                                                                             \
    if ((kind) == INT8_INT8)                                                                       \
      _tile_dpbssd(sums, 4, weights);                                                              \
    else                                                                                           \
      _tile_dpbf16ps(sums, 4, weights);                                                            \
  } while (0)

// Adds one tile of columns of `panels` panels to the sums.
INLINE void add_tile(const struct product *product, enum product_kind kind, const uint8_t *lines,
                     int panels, size_t tile, size_t ahead, const struct e4m3_tables *tables,
                     uint8_t room[PANELS][TILE_BYTES]) {
  size_t stride = product->panel_stride;
  _tile_loadd(5, tile_at(lines, kind, tile, tables, room[0], ahead), LINE_BYTES);
  MULTIPLY(kind, 0, 5);
  if (panels == 1)
    return;
  _tile_loadd(6, tile_at(lines + stride, kind, tile, tables, room[1], ahead), LINE_BYTES);
  MULTIPLY(kind, 1, 6);
  _tile_loadd(5, tile_at(lines + 2 * stride, kind, tile, tables, room[2], ahead), LINE_BYTES);
  MULTIPLY(kind, 2, 5);
  _tile_loadd(6, tile_at(lines + 3 * stride, kind, tile, tables, room[3], ahead), LINE_BYTES);
  MULTIPLY(kind, 3, 6);
}

INLINE void store_sums(const struct product *product, float *out, int panels) {
  size_t stride = product->out_stride * sizeof *out;
  _tile_stored(0, out, stride);
  if (panels == PANELS) {
    _tile_stored(1, out + PANEL_ROWS, stride);
    _tile_stored(2, out + 2 * PANEL_ROWS, stride);
    _tile_stored(3, out + 3 * PANEL_ROWS, stride);
  }
  MEMORY_FENCE();
}

INLINE void add_panels(const struct product *product, enum product_kind kind, size_t panel,
                       int panels, size_t row) {
  const struct e4m3_tables tables = e4m3_tables();
  _Alignas(64) uint8_t room[PANELS][TILE_BYTES];
  const uint8_t *lines = product->panels + panel * product->panel_stride;
  const uint8_t *in = (const uint8_t *)product->in + row * product->in_stride;
  size_t tile_lines = kind == E4M3_BF16 ? TILE_ROWS / 2 : TILE_ROWS;
  size_t line_count = product_lines(product, kind), tiles = line_count / tile_lines;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (size_t tile = 0; tile < tiles; tile++) {
    size_t ahead = prefetch_distance(product, (size_t)panels, (tile + 1) * tile_lines, line_count);
    _tile_loadd(4, in + tile * LINE_BYTES, product->in_stride);
    add_tile(product, kind, lines, panels, tile, row ? 0 : ahead, &tables, room);
  }
  store_sums(product, product->out + row * product->out_stride + panel * PANEL_ROWS, panels);
}

INLINE void to_floats(const struct product *product) {
  for (size_t b = 0; b < product->batch; b++)
    for (size_t p = 0; p < product->panel_count; p++) {
      float *at = product->out + b * product->out_stride + p * PANEL_ROWS;
      _mm512_store_ps(at, _mm512_cvtepi32_ps(_mm512_load_si512(at)));
    }
}

INLINE void multiply(const struct product *product, enum product_kind kind) {
  MEMORY_FENCE();
  size_t panels;
  for (size_t panel = 0; panel < product->panel_count; panel += panels) {
    panels = panel + PANELS <= product->panel_count ? PANELS : 1;
    for (size_t row = 0; row < product->batch; row += TILE_ROWS) {
      size_t left = product->batch - row;
      configure(left < TILE_ROWS ? left : TILE_ROWS);
      if (panels == PANELS)
        add_panels(product, kind, panel, PANELS, row);
      else
        add_panels(product, kind, panel, 1, row);
    }
  }
  _tile_release();
  if (kind == INT8_INT8)
    to_floats(product);
}

// Each kind is compiled separately. A small batch would leave the tiles mostly empty; vector
// instructions are then as fast.
#define PRODUCT(name, kind)                                                                        \
  AMX static void name(const struct product *product) {                                            \
    if (product->batch < MIN_AMX_BATCH)                                                            \
      cpu_kernels_avx512_bf16.product[kind](product);                                              \
    else                                                                                           \
      multiply(product, kind);                                                                     \
  }
PRODUCT(bf16_bf16, BF16_BF16)
PRODUCT(e4m3_bf16, E4M3_BF16)
PRODUCT(int8_int8, INT8_INT8)

static void bf16_f32(const struct product *product) {
  cpu_kernels_avx512_bf16.product[BF16_F32](product);
}

static void e4m3_f32(const struct product *product) {
  cpu_kernels_avx512_bf16.product[E4M3_F32](product);
}

static uint32_t read_memory(const uint8_t *from, size_t bytes, int streams, size_t ahead) {
  return cpu_kernels_avx512_bf16.read(from, bytes, streams, ahead);
}

const struct cpu_kernels cpu_kernels_amx = {
    .isa = CPU_AMX,
    .name = "AMX and AVX-512",
    .product = {[BF16_F32] = bf16_f32,
                [E4M3_F32] = e4m3_f32,
                [BF16_BF16] = bf16_bf16,
                [E4M3_BF16] = e4m3_bf16,
                [INT8_INT8] = int8_int8,
                BLOCK_PRODUCTS_F32(BLOCK_PRODUCT_ENTRY, avx512)
                    BLOCK_PRODUCTS_TILES(BLOCK_PRODUCT_ENTRY, amx)},
    .elementwise = &elementwise_avx512,
    .read = read_memory,
};
#else
extern int rows_amx_is_for_x86;
#endif
