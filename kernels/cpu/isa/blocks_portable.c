#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/decode.h"
#include "kernels/element.h"
#include "kernels/quantised.h"

#include <stdint.h>
#include <string.h>

// One row's block of a panel, before its scale; for INT4_GROUP with INT8, in the order of the
// vector.
struct block_row {
  float values[MAX_BLOCK];
};

static void decode_block(enum element weights, enum element input, const uint8_t *panel, size_t row,
                         size_t first, size_t columns, struct block_row *out) {
  const size_t step = block_layout(weights).unit_columns;
  const bool reordered = weights == ELEMENT_INT4_GROUP && input == ELEMENT_INT8;
  for (size_t c = 0; c < columns; c += step) {
    uint8_t codes[MAX_UNIT_COLUMNS];
    blocks_unpack(weights, panel + blocks_unit_at(weights, first + c), row, codes);
    for (size_t i = 0; i < step; i++)
      out->values[c + (reordered ? i % 4 * 2 + i / 4 : i)] = element_value(weights, codes[i]);
  }
}

static float block_scale(enum element weights, const uint8_t *panel, size_t row, size_t block) {
  uint16_t code = 0;
  memcpy(&code, panel + blocks_scale_at(weights, row, block), element_scale_bytes(weights));
  return element_scale_value(weights, code);
}

static float dot(const struct block_row *row, enum element input, const uint8_t *in, size_t first,
                 size_t columns) {
  float sum = 0;
  for (size_t c = 0; c < columns; c++) {
    float value = (float)(int8_t)in[first + c];
    if (input == ELEMENT_F32)
      memcpy(&value, in + (first + c) * sizeof value, sizeof value);
    sum += row->values[c] * value;
  }
  return sum;
}

static void one_row(const struct product *product, enum element weights, enum element input,
                    size_t p, size_t row) {
  const uint8_t *panel = product->panels + p * product->panel_stride;
  const size_t step = block_layout(weights).block;
  float *out = product->out + p * PANEL_ROWS + row;
  for (size_t b = 0; b < product->batch; b++)
    out[b * product->out_stride] = 0;
  for (size_t first = 0; first < product->columns; first += step) {
    const size_t left = product->columns - first, columns = left < step ? left : step;
    const float scale = block_scale(weights, panel, row, first / step);
    struct block_row block;
    decode_block(weights, input, panel, row, first, columns, &block);
    for (size_t b = 0; b < product->batch; b++) {
      const uint8_t *in = (const uint8_t *)product->in + b * product->in_stride;
      out[b * product->out_stride] += dot(&block, input, in, first, columns) * scale;
    }
  }
}

static void multiply(const struct product *product, enum element weights, enum element input) {
  for (size_t p = 0; p < product->panel_count; p++)
    for (size_t row = 0; row < PANEL_ROWS; row++)
      one_row(product, weights, input, p, row);
}

#define PRODUCT(isa, name, kind, weights, input)                                                   \
  void isa##_##name(const struct product *product) {                                               \
    multiply(product, weights, input);                                                             \
  }
BLOCK_PRODUCTS(PRODUCT, portable)
