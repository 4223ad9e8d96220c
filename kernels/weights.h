// weights: the values that every backend fills a model with, bit for bit the same on host and
// device.
//
// A weight is an integer q in -127..127 drawn from a bell-shaped table by a counter-based hash,
// times a scale: the distribution is close to normal, and nothing is a zero that a device could
// skip.
//   q(tensor, index) = weights_bell[hash(key of seed, tensor and layer; index) & 255]
//   wanted value     = q * scale, scale = sigma / BELL_SIGMA rounded to float, with
//     sigma = 1 / sqrt(fan-in), and for the writers of the residual stream (wo, down of every kind)
//             1 / sqrt(fan-in * 2 * layers); 1 for the embedding and the cache
//             1/4 for biases of products and norms, those of writers over sqrt(2 * layers); 1/16
//             for the router's, so that no expert is strongly preferred; 2 for sinks, so that they
//             remain visible among many positions
//             with MLP_CLAMPED_SWIGLU 4 times that for gate and up, so that some reach the clamp,
//             and an eighth for down
// index runs over the tensor of one layer, row-major in the shape of decode.h. As stored:
//   BF16  q * scale, multiplied in float, then rounded to nearest even
//   INT8  q itself, and the scale as a float per row
//   E4M3  q rounded to nearest even (|q| > 16 loses bits), and the same scale as a float per row
//   in blocks with scales: kernels/quantised.h
//   norms 1 + q / 1024 as floats, exact
//   biases and sinks q * scale, multiplied in float
//   cache q / BELL_SIGMA in the type of the KV cache (exact in BF16), no scale
// Every row of a tensor has the same scale; a backend still holds and reads one per row, as it
// would for a trained model. All values of a tensor come from 256, so tables indexed by the hash
// suffice.
#ifndef PERTOKEN_KERNELS_WEIGHTS_H
#define PERTOKEN_KERNELS_WEIGHTS_H

#include "kernels/decode.h"

#include <stdbool.h>
#include <stdint.h>

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
  TENSOR_ATTENTION_NORM_BIAS,
  TENSOR_FFN_NORM_BIAS,
  TENSOR_FINAL_NORM_BIAS,
  TENSOR_Q_BIAS,
  TENSOR_K_BIAS,
  TENSOR_V_BIAS,
  TENSOR_O_BIAS,
  TENSOR_GATE_BIAS,
  TENSOR_UP_BIAS,
  TENSOR_DOWN_BIAS,
  TENSOR_Q_NORM,
  TENSOR_K_NORM,
  TENSOR_SINKS,
  TENSOR_ROUTER,
  TENSOR_ROUTER_BIAS,
  TENSOR_EXPERT_GATE, // [count][experts.hidden][H], and so on: an expert's index within its layer
  TENSOR_EXPERT_UP,
  TENSOR_EXPERT_DOWN,
  TENSOR_EXPERT_GATE_BIAS,
  TENSOR_EXPERT_UP_BIAS,
  TENSOR_EXPERT_DOWN_BIAS,
  TENSOR_SHARED_GATE,
  TENSOR_SHARED_UP,
  TENSOR_SHARED_DOWN,
  TENSOR_Q_A, // latent attention
  TENSOR_Q_A_NORM,
  TENSOR_Q_B,
  TENSOR_KV_A,
  TENSOR_KV_A_NORM,
  TENSOR_K_B,
  TENSOR_V_B,
  TENSOR_LATENTS, // cache, where keys and values are one
  TENSORS
};

#define BELL_SIGMA 32.0f

// A cheap, well-mixed 32-bit hash of a 64-bit counter (the finalizer of MurmurHash3, Appleby,
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

// The key of a tensor in a layer; layer 0 for what is outside the layers.
uint64_t weights_key(uint64_t seed, enum tensor tensor, int layer);

// 256 integers in -127..127, ascending, symmetric, no zero, standard deviation BELL_SIGMA within
// 1 %: the quantiles of a normal distribution.
extern const int8_t weights_bell[256];

static inline int8_t weights_q(uint64_t key, uint64_t index) {
  return weights_bell[weights_hash(key, index) & 255];
}

// The scale of a tensor's rows: value = q * scale, or 1 + q * scale for the weight of a norm.
float weights_scale(const struct decode_shape *shape, enum tensor tensor);
bool weights_is_norm(enum tensor tensor);

// The type that a tensor is stored in: F32 for norms, biases and sinks.
enum element weights_element(const struct decode_types *types, enum tensor tensor);

// To nearest even; subnormals are kept, and NaN stays NaN. bf16 overflows to infinity as float
// does; e4m3, which has none, saturates at +-448, infinity too. Converting back is exact.
uint16_t bf16_from_float(float value);
float float_from_bf16(uint16_t bits);
uint8_t e4m3_from_float(float value);
float float_from_e4m3(uint8_t bits);

#endif
