#include "kernels/quantised.h"

#include "kernels/element.h"
#include "kernels/weights.h"

#include <stdbool.h>
#include <string.h>

static uint16_t plain_bits(enum element element, float q, float scale) {
  switch (element) {
  case ELEMENT_BF16: return bf16_from_float(q * scale);
  case ELEMENT_E4M3: return e4m3_from_float(q);
  default: return (uint8_t)(int8_t)q;
  }
}

static double plain_worth(const struct quantised *quantised, uint16_t bits) {
  switch (quantised->element) {
  case ELEMENT_BF16: return (double)float_from_bf16(bits);
  case ELEMENT_E4M3: return (double)float_from_e4m3((uint8_t)bits) * (double)quantised->scale;
  default: return (double)(int8_t)bits * (double)quantised->scale;
  }
}

// The code of a block's scale, if its largest magnitude is m.
static uint16_t block_scale(enum element element, float m, float tensor_scale) {
  switch (element) {
  case ELEMENT_NVFP4: return e4m3_from_float(m / 6 / tensor_scale);
  case ELEMENT_INT8_GROUP: return bf16_from_float(m / 127);
  case ELEMENT_INT4_GROUP: return bf16_from_float(m / 7);
  default: return element_shared_exponent(element, m);
  }
}

static void quantise_block(struct quantised *out, int largest, float scale) {
  const enum element element = out->element;
  const uint16_t code = block_scale(element, (float)largest * scale, out->scale);
  const float divisor = element_scale_value(element, code) * out->scale;
  out->scales[largest] = code;
  for (int i = 0; i < 256; i++)
    out->codes[largest][i] = element_code(element, (float)weights_bell[i] * scale / divisor);
}

float quantised_scale(enum element element, float scale) {
  if (element == ELEMENT_NVFP4)
    return BELL_LARGEST * scale / 2688;
  return element_format(element)->scale == SCALE_ROW ? scale : 1;
}

void quantise(enum element element, float scale, struct quantised *out) {
  memset(out, 0, sizeof *out);
  out->element = element;
  out->scale = quantised_scale(element, scale);
  const bool blocks = element_has_blocks(element);
  for (int i = 0; i < 256; i++) {
    if (!blocks)
      out->plain[i] = plain_bits(element, weights_bell[i], scale);
    out->worth[i] =
        blocks ? (double)element_value(element, (uint8_t)i) : plain_worth(out, out->plain[i]);
  }
  for (int largest = 1; blocks && largest <= BELL_LARGEST; largest++)
    quantise_block(out, largest, scale);
}

int quantised_largest(const uint8_t *entries, size_t count) {
  int most = 0; // the table is symmetric: an entry's distance from the middle
  for (size_t i = 0; i < count; i++) {
    const int place = entries[i] < 128 ? 255 - entries[i] : entries[i];
    most = place > most ? place : most;
  }
  return weights_bell[most];
}

static void block_values(const struct quantised *quantised, const uint8_t *entries, size_t count,
                         double *out) {
  const int largest = quantised_largest(entries, count);
  const uint8_t *codes = quantised->codes[largest];
  const double scale = (double)element_scale_value(quantised->element, quantised->scales[largest]) *
                       (double)quantised->scale;
  for (size_t i = 0; i < count; i++)
    out[i] = quantised->worth[codes[entries[i]]] * scale;
}

void quantised_row(const struct quantised *quantised, uint64_t key, uint64_t index, size_t columns,
                   double *out) {
  const int block = element_format(quantised->element)->block;
  const size_t step = block ? (size_t)block : MAX_BLOCK;
  uint8_t entries[MAX_BLOCK];
  for (size_t first = 0; first < columns; first += step) {
    const size_t left = columns - first, count = left < step ? left : step;
    for (size_t i = 0; i < count; i++)
      entries[i] = (uint8_t)weights_hash(key, index + first + i);
    if (block)
      block_values(quantised, entries, count, out + first);
    else
      for (size_t i = 0; i < count; i++)
        out[first + i] = quantised->worth[entries[i]];
  }
}
