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

bool weights_is_norm(enum tensor tensor) {
  static const bool norms[TENSORS] = {
      [TENSOR_ATTENTION_NORM] = true, [TENSOR_FFN_NORM] = true, [TENSOR_FINAL_NORM] = true,
      [TENSOR_Q_NORM] = true,         [TENSOR_K_NORM] = true,   [TENSOR_Q_A_NORM] = true,
      [TENSOR_KV_A_NORM] = true,
  };
  return norms[tensor];
}

enum element weights_element(const struct decode_types *types, enum tensor tensor) {
  const enum element experts = types->experts == ELEMENT_F32 ? types->weights : types->experts;
  const enum element elements[TENSORS] = {
      [TENSOR_EMBEDDING] = types->head,      [TENSOR_HEAD] = types->head,
      [TENSOR_WQ] = types->weights,          [TENSOR_WK] = types->weights,
      [TENSOR_WV] = types->weights,          [TENSOR_WO] = types->weights,
      [TENSOR_GATE] = types->weights,        [TENSOR_UP] = types->weights,
      [TENSOR_DOWN] = types->weights,        [TENSOR_EXPERT_GATE] = experts,
      [TENSOR_EXPERT_UP] = experts,          [TENSOR_EXPERT_DOWN] = experts,
      [TENSOR_SHARED_GATE] = types->weights, [TENSOR_SHARED_UP] = types->weights,
      [TENSOR_SHARED_DOWN] = types->weights, [TENSOR_Q_A] = types->weights,
      [TENSOR_Q_B] = types->weights,         [TENSOR_KV_A] = types->weights,
      [TENSOR_ROUTER] = ELEMENT_BF16,        [TENSOR_K_B] = ELEMENT_BF16,
      [TENSOR_V_B] = ELEMENT_BF16,           [TENSOR_KEYS] = types->kv,
      [TENSOR_VALUES] = types->kv,           [TENSOR_LATENTS] = types->kv,
  };
  return elements[tensor];
}

// 1 / sigma^2 of every tensor but the norms; 0 stands for 1.
static double inverse_variance(const struct decode_shape *shape, enum tensor tensor) {
  const struct decode_latent *latent = &shape->latent;
  const double hidden = shape->hidden, writers = 2.0 * shape->layers;
  const double attended =
      (double)shape->heads * (latent->rank > 0 ? latent->value_dim : shape->head_dim);
  const bool clamped = shape->mlp == MLP_CLAMPED_SWIGLU;
  const double into = hidden / (clamped ? 16 : 1), out_of = writers * (clamped ? 64 : 1);
  const double variances[TENSORS] = {
      [TENSOR_WQ] = hidden,
      [TENSOR_WK] = hidden,
      [TENSOR_WV] = hidden,
      [TENSOR_WO] = attended * writers,
      [TENSOR_GATE] = into,
      [TENSOR_UP] = into,
      [TENSOR_DOWN] = shape->ffn_hidden * out_of,
      [TENSOR_HEAD] = hidden,
      [TENSOR_ATTENTION_NORM_BIAS] = 16,
      [TENSOR_FFN_NORM_BIAS] = 16,
      [TENSOR_FINAL_NORM_BIAS] = 16,
      [TENSOR_Q_BIAS] = 16,
      [TENSOR_K_BIAS] = 16,
      [TENSOR_V_BIAS] = 16,
      [TENSOR_O_BIAS] = 16 * writers,
      [TENSOR_GATE_BIAS] = 16,
      [TENSOR_UP_BIAS] = 16,
      [TENSOR_DOWN_BIAS] = 16 * writers,
      [TENSOR_SINKS] = 0.25,
      [TENSOR_ROUTER] = hidden,
      [TENSOR_ROUTER_BIAS] = 256,
      [TENSOR_EXPERT_GATE] = into,
      [TENSOR_EXPERT_UP] = into,
      [TENSOR_EXPERT_DOWN] = shape->experts.hidden * out_of,
      [TENSOR_EXPERT_GATE_BIAS] = 16,
      [TENSOR_EXPERT_UP_BIAS] = 16,
      [TENSOR_EXPERT_DOWN_BIAS] = 16 * writers,
      [TENSOR_SHARED_GATE] = into,
      [TENSOR_SHARED_UP] = into,
      [TENSOR_SHARED_DOWN] = shape->experts.shared_hidden * out_of,
      [TENSOR_Q_A] = hidden,
      [TENSOR_Q_B] = latent->query_rank,
      [TENSOR_KV_A] = hidden,
      [TENSOR_K_B] = latent->rank,
      [TENSOR_V_B] = latent->rank,
  };
  return variances[tensor] > 0 ? variances[tensor] : 1;
}

float weights_scale(const struct decode_shape *shape, enum tensor tensor) {
  if (weights_is_norm(tensor))
    return 1.0f / 1024;
  return (float)(1 / ((double)BELL_SIGMA * sqrt(inverse_variance(shape, tensor))));
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

// Drops the lowest `count` bits, to nearest even; a carry correctly propagates into the exponent.
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
  if (magnitude < 0x1p-6f) // subnormal: steps of 2^-9, 8 of which make the smallest normal number
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
