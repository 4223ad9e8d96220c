#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/elementwise.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/decode.h"
#include "kernels/weights.h"

#include <stdint.h>
#include <string.h>

// A piece of a panel is decoded to floats once and used for the whole batch.
enum { PIECE_COLUMNS = 64 };

struct decoded_columns {
  float values[PIECE_COLUMNS][PANEL_ROWS];
};

static float decoded(enum element element, const uint8_t *at, const float *table) {
  uint16_t bits;
  if (element == ELEMENT_INT8)
    return (float)(int8_t)*at;
  if (element == ELEMENT_E4M3)
    return table[*at];
  memcpy(&bits, at, sizeof bits);
  return float_from_bf16(bits);
}

static void decode(enum element element, const uint8_t *panel, size_t first, size_t columns,
                   const float *table, struct decoded_columns *piece) {
  for (size_t c = 0; c < columns; c++)
    for (size_t r = 0; r < PANEL_ROWS; r++)
      piece->values[c][r] = decoded(element, panel + panel_offset(element, r, first + c), table);
}

static void add_f32(const struct decoded_columns *piece, const float *in, size_t columns,
                    float *out) {
  float sums[PANEL_ROWS];
  memcpy(sums, out, sizeof sums);
  for (size_t c = 0; c < columns; c++)
    for (size_t r = 0; r < PANEL_ROWS; r++)
      sums[r] += piece->values[c][r] * in[c];
  memcpy(out, sums, sizeof sums);
}

// Exact: a piece sums to at most 64 * 127 * 127.
static void add_int8(const struct decoded_columns *piece, const int8_t *in, size_t columns,
                     float *out) {
  for (size_t c = 0; c < columns; c++)
    for (size_t r = 0; r < PANEL_ROWS; r++)
      out[r] += piece->values[c][r] * (float)in[c];
}

static void one_panel(const struct product *product, enum element element, size_t p,
                      const float *table) {
  const uint8_t *panel = product->panels + p * product->panel_stride;
  struct decoded_columns piece;
  for (size_t b = 0; b < product->batch; b++)
    memset(product->out + b * product->out_stride + p * PANEL_ROWS, 0, sizeof piece.values[0]);
  for (size_t first = 0; first < product->columns; first += PIECE_COLUMNS) {
    size_t left = product->columns - first, columns = left < PIECE_COLUMNS ? left : PIECE_COLUMNS;
    decode(element, panel, first, columns, table, &piece);
    for (size_t b = 0; b < product->batch; b++) {
      const uint8_t *in = (const uint8_t *)product->in + b * product->in_stride;
      float *out = product->out + b * product->out_stride + p * PANEL_ROWS;
      if (element == ELEMENT_INT8)
        add_int8(&piece, (const int8_t *)in + first, columns, out);
      else
        add_f32(&piece, (const float *)(const void *)in + first, columns, out);
    }
  }
}

static void bf16_f32(const struct product *product) {
  for (size_t p = 0; p < product->panel_count; p++)
    one_panel(product, ELEMENT_BF16, p, NULL);
}

static void e4m3_f32(const struct product *product) {
  float table[256];
  for (int i = 0; i < 256; i++)
    table[i] = float_from_e4m3((uint8_t)i);
  for (size_t p = 0; p < product->panel_count; p++)
    one_panel(product, ELEMENT_E4M3, p, table);
}

static void int8_int8(const struct product *product) {
  for (size_t p = 0; p < product->panel_count; p++)
    one_panel(product, ELEMENT_INT8, p, NULL);
}

static uint32_t read_portable(const uint8_t *from, size_t bytes, int streams, size_t ahead) {
  size_t words = bytes / 8 / (size_t)streams;
  const uint64_t *at[4];
  uint64_t sums[8] = {0};
  for (int s = 0; s < streams; s++)
    at[s] = (const uint64_t *)(const void *)from + (size_t)s * words;
  for (size_t i = 0; i < words; i += 8)
    for (int s = 0; s < streams; s++) {
      if (ahead)
        __builtin_prefetch((const uint8_t *)(at[s] + i) + ahead);
      for (size_t j = 0; j < 8; j++)
        sums[j] += at[s][i + j];
    }
  uint64_t sum = 0;
  for (size_t j = 0; j < 8; j++)
    sum += sums[j];
  return (uint32_t)(sum ^ sum >> 32);
}

const struct cpu_kernels cpu_kernels_portable = {
    .isa = CPU_PORTABLE,
    .name = "portable C",
    .product = {[BF16_F32] = bf16_f32,
                [E4M3_F32] = e4m3_f32,
                [INT8_INT8] = int8_int8,
                BLOCK_PRODUCTS(BLOCK_PRODUCT_ENTRY, portable)},
    .elementwise = &elementwise_portable,
    .read = read_portable,
};
