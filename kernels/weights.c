#include "kernels/weights.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

// round(32.05 * normal quantile of (i + 0.5) / 256), and 1 where that would be 0: sigma 32.006.
const int8_t weights_bell[256] = {
    -92, -81, -75, -71, -68, -65, -63, -61, -59, -57, -56, -54, -53, -52, -51, -50, -49, -48, -47,
    -46, -45, -44, -43, -43, -42, -41, -40, -40, -39, -38, -38, -37, -37, -36, -35, -35, -34, -34,
    -33, -33, -32, -32, -31, -31, -30, -30, -29, -29, -28, -28, -27, -27, -26, -26, -26, -25, -25,
    -24, -24, -23, -23, -23, -22, -22, -21, -21, -21, -20, -20, -19, -19, -19, -18, -18, -18, -17,
    -17, -17, -16, -16, -15, -15, -15, -14, -14, -14, -13, -13, -13, -12, -12, -12, -11, -11, -11,
    -10, -10, -10, -9,  -9,  -9,  -8,  -8,  -8,  -7,  -7,  -7,  -6,  -6,  -6,  -6,  -5,  -5,  -5,
    -4,  -4,  -4,  -3,  -3,  -3,  -2,  -2,  -2,  -1,  -1,  -1,  -1,  -1,  1,   1,   1,   1,   1,
    2,   2,   2,   3,   3,   3,   4,   4,   4,   5,   5,   5,   6,   6,   6,   6,   7,   7,   7,
    8,   8,   8,   9,   9,   9,   10,  10,  10,  11,  11,  11,  12,  12,  12,  13,  13,  13,  14,
    14,  14,  15,  15,  15,  16,  16,  17,  17,  17,  18,  18,  18,  19,  19,  19,  20,  20,  21,
    21,  21,  22,  22,  23,  23,  23,  24,  24,  25,  25,  26,  26,  26,  27,  27,  28,  28,  29,
    29,  30,  30,  31,  31,  32,  32,  33,  33,  34,  34,  35,  35,  36,  37,  37,  38,  38,  39,
    40,  40,  41,  42,  43,  43,  44,  45,  46,  47,  48,  49,  50,  51,  52,  53,  54,  56,  57,
    59,  61,  63,  65,  68,  71,  75,  81,  92};

uint64_t weights_key(uint64_t seed, enum tensor tensor, int layer) {
  uint64_t counter = ((uint64_t)layer << 8 | (uint64_t)tensor) + 1;
  uint64_t x = seed ^ (counter * UINT64_C(0x9E3779B97F4A7C15));
  x ^= x >> 33;
  x *= UINT64_C(0xFF51AFD7ED558CCD);
  x ^= x >> 33;
  x *= UINT64_C(0xC4CEB9FE1A85EC53);
  return x ^ x >> 33;
}

float weights_scale(const struct decode_shape *shape, enum tensor tensor) {
  double fan_in = 1, residual_writers = 1;
  switch (tensor) {
  case TENSOR_EMBEDDING:
  case TENSOR_KEYS:
  case TENSOR_VALUES:
  default: break;
  case TENSOR_ATTENTION_NORM:
  case TENSOR_FFN_NORM:
  case TENSOR_FINAL_NORM: return 1.0f / 1024;
  case TENSOR_WQ:
  case TENSOR_WK:
  case TENSOR_WV:
  case TENSOR_GATE:
  case TENSOR_UP:
  case TENSOR_HEAD: fan_in = shape->hidden; break;
  case TENSOR_WO:
    fan_in = (double)shape->heads * shape->head_dim;
    residual_writers = 2.0 * shape->layers;
    break;
  case TENSOR_DOWN:
    fan_in = shape->ffn_hidden;
    residual_writers = 2.0 * shape->layers;
    break;
  }
  return (float)(1 / ((double)BELL_SIGMA * sqrt(fan_in * residual_writers)));
}

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Drops the lowest `count` bits, to nearest even; a carry runs on into the exponent, as it should.
static uint32_t drop_bits(uint32_t bits, int count) {
  uint32_t odd = bits >> count & 1;
  return (bits + (UINT32_C(1) << (count - 1)) - 1 + odd) >> count;
}

uint16_t bf16_from_float(float value) {
  uint32_t bits = bits_of(value);
  if (isnan(value))
    return (uint16_t)(bits >> 16 | 0x40); // quiet; rounding could carry it into a number
  return (uint16_t)drop_bits(bits, 16);
}

float float_from_bf16(uint16_t bits) {
  return float_of((uint32_t)bits << 16);
}

#define E4M3_NAN     0x7F
#define E4M3_LARGEST 0x7E

uint8_t e4m3_from_float(float value) {
  uint8_t sign = signbit(value) ? 0x80 : 0;
  float magnitude = fabsf(value);
  if (isnan(value))
    return sign | E4M3_NAN;
  if (magnitude >= 448)
    return sign | E4M3_LARGEST;
  if (magnitude < 0x1p-6f) // subnormal: steps of 2^-9, of which 8 are the least normal number
    return (uint8_t)(sign | lrintf(magnitude * 512));
  uint32_t rebias = (127 - 7) * 8; // exponent biases of float and e4m3, above 3 bits of fraction
  return (uint8_t)(sign | (drop_bits(bits_of(magnitude), 20) - rebias));
}

float float_from_e4m3(uint8_t bits) {
  int exponent = bits >> 3 & 15;
  int fraction = bits & 7;
  float magnitude =
      exponent ? ldexpf((float)(8 + fraction), exponent - 10) : ldexpf((float)fraction, -9);
  if ((bits & 0x7F) == E4M3_NAN)
    magnitude = NAN;
  return bits & 0x80 ? -magnitude : magnitude;
}
