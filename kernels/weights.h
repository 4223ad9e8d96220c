// weights: the values that every backend fills a model with, bit for bit alike on host and device.
//
// A weight is an integer q in -127..127 drawn from a bell-shaped table by a counter-based hash,
// times a scale: the distribution is close to normal, and nothing is a zero that a device could
// skip.
//   q(tensor, index) = bell[hash(seed, tensor, index) & 255]        sigma of q is BELL_SIGMA
//   wanted value     = q * (sigma / BELL_SIGMA), sigma = 1/sqrt(fan-in), and 1/sqrt(2 * layers) of
//   that
//                      for the writers of the residual stream (wo, down)
//   BF16 holds it rounded to nearest even; INT8 holds q with the row's scale; E4M3 holds q rounded
//   to the nearest even e4m3 value with the row's scale. Norms are 1 + q/1024. The cache holds
//   q/BELL_SIGMA rounded.
#ifndef PERTOKEN_WEIGHTS_H
#define PERTOKEN_WEIGHTS_H

#include "kernels/decode.h"

enum tensor {
  TENSOR_EMBEDDING,
  TENSOR_ATTENTION_NORM,
  TENSOR_WQ,
  TENSOR_WK,
  TENSOR_WV,
  TENSOR_WO,
  TENSOR_FFN_NORM,
  TENSOR_GATE,
  TENSOR_UP,
  TENSOR_DOWN,
  TENSOR_FINAL_NORM,
  TENSOR_HEAD,
  TENSOR_KEYS, // cache: index within [batch][context][K] of the layer
  TENSOR_VALUES,
  TENSORS
};

#define BELL_SIGMA 32.0f

// A cheap, well-mixed 32-bit hash of a 64-bit counter (the finaliser of MurmurHash3, Appleby,
// public domain).
static inline uint32_t weights_hash(uint64_t key, uint64_t counter) {
  uint64_t x = key ^ (counter * UINT64_C(0x9E3779B97F4A7C15));
  x ^= x >> 33;
  x *= UINT64_C(0xFF51AFD7ED558CCD);
  x ^= x >> 33;
  x *= UINT64_C(0xC4CEB9FE1A85EC53);
  x ^= x >> 33;
  return (uint32_t)x;
}

// The key of a tensor in a layer; layer 0 for what stands outside the layers.
uint64_t weights_key(uint64_t seed, enum tensor tensor, int layer);

// 256 integers in -127..127, symmetric, no zero, standard deviation BELL_SIGMA within 1 %.
extern const int8_t weights_bell[256];

static inline int8_t weights_q(uint64_t key, uint64_t index) {
  return weights_bell[weights_hash(key, index) & 255];
}

// The scale of a tensor's rows: value = q * scale.
float weights_scale(const struct decode_shape *shape, enum tensor tensor);

uint16_t bf16_from_float(float value); // to nearest even
float float_from_bf16(uint16_t bits);
uint8_t e4m3_from_float(float value); // to nearest even, clamped to +-448
float float_from_e4m3(uint8_t bits);

#endif
