#include "kernels/cpu/isa/blocks.h"

#include "kernels/element.h"
#include "kernels/integers.h"

#include <stdint.h>
#include <string.h>

// Tables of 64 entries, so that a six-bit lookup also serves codes of four bits, whatever the upper
// two bits are.
#define FOUR_TIMES(...)                                                                            \
  { __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__ }

const uint16_t e2m1_values[64] =
    FOUR_TIMES(0x0000, 0x3F00, 0x3F80, 0x3FC0, 0x4000, 0x4040, 0x4080, 0x40C0, 0x8000, 0xBF00,
               0xBF80, 0xBFC0, 0xC000, 0xC040, 0xC080, 0xC0C0);
const uint16_t int4_values[64] =
    FOUR_TIMES(0xC100, 0xC0E0, 0xC0C0, 0xC0A0, 0xC080, 0xC040, 0xC000, 0xBF80, 0x0000, 0x3F80,
               0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0, 0x40E0);
const uint16_t e2m3_values[64] = {
    0x0000, 0x3E00, 0x3E80, 0x3EC0, 0x3F00, 0x3F20, 0x3F40, 0x3F60, 0x3F80, 0x3F90, 0x3FA0,
    0x3FB0, 0x3FC0, 0x3FD0, 0x3FE0, 0x3FF0, 0x4000, 0x4010, 0x4020, 0x4030, 0x4040, 0x4050,
    0x4060, 0x4070, 0x4080, 0x4090, 0x40A0, 0x40B0, 0x40C0, 0x40D0, 0x40E0, 0x40F0, 0x8000,
    0xBE00, 0xBE80, 0xBEC0, 0xBF00, 0xBF20, 0xBF40, 0xBF60, 0xBF80, 0xBF90, 0xBFA0, 0xBFB0,
    0xBFC0, 0xBFD0, 0xBFE0, 0xBFF0, 0xC000, 0xC010, 0xC020, 0xC030, 0xC040, 0xC050, 0xC060,
    0xC070, 0xC080, 0xC090, 0xC0A0, 0xC0B0, 0xC0C0, 0xC0D0, 0xC0E0, 0xC0F0,
};
const uint16_t e3m2_values[64] = {
    0x0000, 0x3D80, 0x3E00, 0x3E40, 0x3E80, 0x3EA0, 0x3EC0, 0x3EE0, 0x3F00, 0x3F20, 0x3F40,
    0x3F60, 0x3F80, 0x3FA0, 0x3FC0, 0x3FE0, 0x4000, 0x4020, 0x4040, 0x4060, 0x4080, 0x40A0,
    0x40C0, 0x40E0, 0x4100, 0x4120, 0x4140, 0x4160, 0x4180, 0x41A0, 0x41C0, 0x41E0, 0x8000,
    0xBD80, 0xBE00, 0xBE40, 0xBE80, 0xBEA0, 0xBEC0, 0xBEE0, 0xBF00, 0xBF20, 0xBF40, 0xBF60,
    0xBF80, 0xBFA0, 0xBFC0, 0xBFE0, 0xC000, 0xC020, 0xC040, 0xC060, 0xC080, 0xC0A0, 0xC0C0,
    0xC0E0, 0xC100, 0xC120, 0xC140, 0xC160, 0xC180, 0xC1A0, 0xC1C0, 0xC1E0,
};

static size_t code_bytes(const struct block_layout *layout, size_t columns) {
  return columns / layout->unit_columns * layout->unit_bytes;
}

size_t blocks_panel_bytes(enum element element, size_t columns) {
  const struct block_layout layout = block_layout(element);
  if (!element_has_blocks(element))
    return panel_bytes(element, columns);
  return round_up(columns, layout.chunk) / layout.chunk * LINE_BYTES + code_bytes(&layout, columns);
}

size_t blocks_unit_at(enum element element, size_t column) {
  const struct block_layout layout = block_layout(element);
  return (column / layout.chunk + 1) * LINE_BYTES + code_bytes(&layout, column);
}

size_t blocks_scale_at(enum element element, size_t row, size_t block) {
  const struct block_layout layout = block_layout(element);
  const size_t blocks = layout.chunk / layout.block, chunk = block / blocks;
  return chunk * (LINE_BYTES + code_bytes(&layout, layout.chunk)) +
         (block % blocks * PANEL_ROWS + row) * layout.scale_bytes;
}

// A row's codes are two halves of 16-bit words: in one line, or in three.
static void pack_4_bits(const uint8_t *codes, uint16_t words[2]) {
  for (int half = 0; half < 2; half++)
    words[half] = (uint16_t)(codes[half] | codes[half + 2] << 4 | codes[half + 4] << 8 |
                             codes[half + 6] << 12);
}

static void unpack_4_bits(uint16_t words[2], uint8_t *codes) {
  for (int c = 0; c < 8; c++)
    codes[c] = words[c % 2] >> c / 2 * 4 & 15;
}

static void pack_6_bits(const uint8_t *codes, uint16_t words[3][2]) {
  for (int half = 0; half < 2; half++) {
    const int sixth = codes[half + 12], seventh = codes[half + 14];
    const int tops[3] = {sixth & 15, seventh & 15, sixth >> 4 | (seventh >> 4) << 2};
    for (int w = 0; w < 3; w++)
      words[w][half] =
          (uint16_t)(codes[half + 4 * w] | codes[half + 4 * w + 2] << 6 | tops[w] << 12);
  }
}

static void unpack_6_bits(uint16_t words[3][2], uint8_t *codes) {
  for (int half = 0; half < 2; half++) {
    const int top = words[2][half] >> 12;
    for (int w = 0; w < 3; w++) {
      codes[half + 4 * w] = words[w][half] & 63;
      codes[half + 4 * w + 2] = words[w][half] >> 6 & 63;
    }
    codes[half + 12] = (uint8_t)(words[0][half] >> 12 | (top & 3) << 4);
    codes[half + 14] = (uint8_t)(words[1][half] >> 12 | (top >> 2) << 4);
  }
}

enum { ROW_BYTES = 4 }; // of a row within a line

void blocks_pack(enum element element, const uint8_t *codes, size_t row, uint8_t *unit) {
  uint16_t words[3][2];
  uint8_t *at = unit + row * ROW_BYTES;
  switch (element_format(element)->bits) {
  case 8: memcpy(at, codes, ROW_BYTES); break;
  case 4:
    pack_4_bits(codes, words[0]);
    memcpy(at, words[0], ROW_BYTES);
    break;
  default:
    pack_6_bits(codes, words);
    for (size_t w = 0; w < 3; w++)
      memcpy(at + w * LINE_BYTES, words[w], ROW_BYTES);
    break;
  }
}

void blocks_unpack(enum element element, const uint8_t *unit, size_t row, uint8_t *codes) {
  uint16_t words[3][2];
  const uint8_t *at = unit + row * ROW_BYTES;
  switch (element_format(element)->bits) {
  case 8: memcpy(codes, at, ROW_BYTES); break;
  case 4:
    memcpy(words[0], at, ROW_BYTES);
    unpack_4_bits(words[0], codes);
    break;
  default:
    for (size_t w = 0; w < 3; w++)
      memcpy(words[w], at + w * LINE_BYTES, ROW_BYTES);
    unpack_6_bits(words, codes);
    break;
  }
}

size_t blocks_header_bytes(enum element weights, enum element rounded) {
  const bool has_header =
      element_format(weights)->scale == SCALE_ROW || weights == ELEMENT_NVFP4 || is_scaled(rounded);
  return has_header ? PANEL_ROWS * sizeof(float) : 0;
}

static bool has_sums(enum element weights, enum element input) {
  return input == ELEMENT_INT8 && element_has_blocks(weights);
}

size_t blocks_sum_bytes(enum element weights, enum element input, size_t padded) {
  return has_sums(weights, input) ? element_blocks(weights, padded) * sizeof(int32_t) : 0;
}

static void reorder_eight(int8_t *values) {
  static const uint8_t order[8] = {0, 4, 1, 5, 2, 6, 3, 7};
  int8_t copy[8];
  memcpy(copy, values, sizeof copy);
  for (int i = 0; i < 8; i++)
    values[i] = copy[order[i]];
}

void blocks_finish_int8(enum element weights, int8_t *vector, size_t padded) {
  const size_t block = block_layout(weights).block;
  for (size_t first = 0, group = 0; first < padded; first += block, group++) {
    const size_t left = padded - first, count = left < block ? left : block;
    int32_t sum = 0;
    for (size_t i = 0; i < count; i++)
      sum += vector[first + i];
    memcpy(vector + padded + group * sizeof sum, &sum, sizeof sum);
  }
  if (weights == ELEMENT_INT4_GROUP)
    for (size_t i = 0; i < padded; i += 8)
      reorder_eight(vector + i);
}
