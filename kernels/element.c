#include "kernels/element.h"

#include "kernels/weights.h"

#include <math.h>
#include <string.h>

static const struct element_format formats[ELEMENTS] = {
    [ELEMENT_F32] = {"f32", 32, 0, SCALE_NONE},
    [ELEMENT_BF16] = {"bf16", 16, 0, SCALE_NONE},
    [ELEMENT_E4M3] = {"e4m3", 8, 0, SCALE_ROW},
    [ELEMENT_INT8] = {"int8", 8, 0, SCALE_ROW},
    [ELEMENT_MXFP4] = {"mxfp4", 4, 32, SCALE_E8M0},
    [ELEMENT_NVFP4] = {"nvfp4", 4, 16, SCALE_E4M3},
    [ELEMENT_MXFP6_E2M3] = {"mxfp6-e2m3", 6, 32, SCALE_E8M0},
    [ELEMENT_MXFP6_E3M2] = {"mxfp6-e3m2", 6, 32, SCALE_E8M0},
    [ELEMENT_INT8_GROUP] = {"int8-group", 8, 128, SCALE_BF16},
    [ELEMENT_INT4_GROUP] = {"int4-group", 4, 128, SCALE_BF16},
};

// A small float; exponent 0 means subnormal.
struct small_float {
  int exponent_bits, fraction_bits, bias, largest_exponent;
  float largest;
};

// MX specification, tables of sections 5.3.2 and 5.3.3.
static const struct small_float small_floats[ELEMENTS] = {
    [ELEMENT_MXFP4] = {2, 1, 1, 2, 6},
    [ELEMENT_NVFP4] = {2, 1, 1, 2, 6},
    [ELEMENT_MXFP6_E2M3] = {2, 3, 1, 2, 7.5f},
    [ELEMENT_MXFP6_E3M2] = {3, 2, 3, 4, 28},
};

#define INT4_OFFSET 8

const struct element_format *element_format(enum element element) {
  return &formats[element];
}

bool element_has_blocks(enum element element) {
  return formats[element].block > 0;
}

size_t element_blocks(enum element element, size_t columns) {
  const size_t block = (size_t)formats[element].block;
  return block ? (columns + block - 1) / block : 0;
}

size_t element_scale_bytes(enum element element) {
  static const size_t bytes[] = {[SCALE_E8M0] = 1, [SCALE_E4M3] = 1, [SCALE_BF16] = 2};
  return element_has_blocks(element) ? bytes[formats[element].scale] : 0;
}

static size_t code_bytes(enum element element, size_t columns) {
  return (columns * (size_t)formats[element].bits + 7) / 8;
}

size_t element_row_bytes(enum element element, size_t columns) {
  const size_t row_scale = formats[element].scale == SCALE_ROW ? sizeof(float) : 0;
  return code_bytes(element, columns) + row_scale +
         element_blocks(element, columns) * element_scale_bytes(element);
}

uint64_t element_tensor_bytes(enum element element, uint64_t rows, size_t columns) {
  const uint64_t tensor_scale = formats[element].scale == SCALE_E4M3 ? sizeof(float) : 0;
  return rows * element_row_bytes(element, columns) + tensor_scale;
}

static float small_float_value(const struct small_float *format, uint8_t code) {
  const int magnitude_bits = format->exponent_bits + format->fraction_bits;
  const int ones = 1 << format->fraction_bits;
  const int exponent = code >> format->fraction_bits & ((1 << format->exponent_bits) - 1);
  const int fraction = code & (ones - 1);
  const int least = 1 - format->bias - format->fraction_bits;
  const float magnitude = exponent ? ldexpf((float)(ones + fraction), least + exponent - 1)
                                   : ldexpf((float)fraction, least);
  return code >> magnitude_bits & 1 ? -magnitude : magnitude;
}

float element_value(enum element element, uint8_t code) {
  switch (element) {
  case ELEMENT_INT8:
  case ELEMENT_INT8_GROUP: return (float)(int8_t)code;
  case ELEMENT_INT4_GROUP: return (float)((code & 15) - INT4_OFFSET);
  default: return small_float_value(&small_floats[element], code);
  }
}

float element_scale_value(enum element element, uint16_t code) {
  switch (formats[element].scale) {
  case SCALE_E8M0: return code == 255 ? NAN : ldexpf(1, code - 127);
  case SCALE_E4M3: return float_from_e4m3((uint8_t)code);
  case SCALE_BF16: return float_from_bf16(code);
  default: return 1;
  }
}

// Counts steps of the value's power of two, or of the subnormals; rounding up to the next power of
// two correctly carries into the exponent.
static uint8_t small_float_code(const struct small_float *format, float value) {
  const float magnitude = fminf(fabsf(value), format->largest);
  const int magnitude_bits = format->exponent_bits + format->fraction_bits;
  const int sign = signbit(value) ? 1 << magnitude_bits : 0, least = 1 - format->bias;
  int exponent;
  frexpf(magnitude, &exponent);
  exponent = magnitude == 0 || exponent - 1 < least ? least : exponent - 1;
  const int steps = (int)lrintf(ldexpf(magnitude, format->fraction_bits - exponent));
  return (uint8_t)(sign | (((exponent - least) << format->fraction_bits) + steps));
}

static int nearest_integer(float value, int largest) {
  return (int)fmaxf((float)-largest, fminf(nearbyintf(value), (float)largest));
}

uint8_t element_code(enum element element, float value) {
  switch (element) {
  case ELEMENT_INT8:
  case ELEMENT_INT8_GROUP: return (uint8_t)(int8_t)nearest_integer(value, 127);
  case ELEMENT_INT4_GROUP: return (uint8_t)(nearest_integer(value, 7) + INT4_OFFSET);
  default: return small_float_code(&small_floats[element], value);
  }
}

uint8_t element_shared_exponent(enum element element, float value) {
  int exponent;
  frexpf(value, &exponent);
  const int code = exponent - 1 - small_floats[element].largest_exponent + 127;
  return (uint8_t)(code < 0 ? 0 : code > 254 ? 254 : code);
}

void element_row_put(enum element element, uint8_t *row, size_t column, uint8_t code) {
  const size_t bit = column * (size_t)formats[element].bits;
  const unsigned bits = (unsigned)code << bit % 8;
  row[bit / 8] |= (uint8_t)bits;
  if (bits >> 8)
    row[bit / 8 + 1] |= (uint8_t)(bits >> 8);
}

void element_row_put_scale(enum element element, uint8_t *row, size_t columns, size_t block,
                           uint16_t code) {
  const size_t size = element_scale_bytes(element);
  memcpy(row + code_bytes(element, columns) + block * size, &code, size); // little-endian
}

static uint8_t row_code(const uint8_t *row, size_t bits, size_t column) {
  const size_t bit = column * bits;
  unsigned code = row[bit / 8];
  if (bit % 8 + bits > 8)
    code |= (unsigned)row[bit / 8 + 1] << 8;
  return (uint8_t)(code >> bit % 8 & ((1U << bits) - 1));
}

void element_row_values(enum element element, const uint8_t *row, size_t columns, float factor,
                        float *out) {
  const size_t bits = (size_t)formats[element].bits, block = (size_t)formats[element].block;
  const size_t size = element_scale_bytes(element), scales = code_bytes(element, columns);
  float values[256], scale = 1;
  for (unsigned code = 0; code < 1U << bits; code++)
    values[code] = element_value(element, (uint8_t)code);
  for (size_t c = 0; c < columns; c++) {
    uint16_t code = 0;
    if (c % block == 0) {
      memcpy(&code, row + scales + c / block * size, size);
      scale = element_scale_value(element, code) * factor;
    }
    out[c] = values[row_code(row, bits, c)] * scale;
  }
}
