// elementwise: what a step does to vectors besides multiplying them with matrices. One source,
// compiled once for each instruction set.
#ifndef PERTOKEN_KERNELS_CPU_ISA_ELEMENTWISE_H
#define PERTOKEN_KERNELS_CPU_ISA_ELEMENTWISE_H

#include "kernels/decode.h"

#include <stddef.h>
#include <stdint.h>

#define MLP_KINDS (MLP_GELU + 1)

struct elementwise {
  // out = x / sqrt(mean(x^2) + epsilon) * weight
  void (*normalise)(const float *x, const float *weight, size_t count, float epsilon, float *out);
  // out = (x - mean(x)) / sqrt(variance(x) + epsilon) * weight + bias
  void (*layer_norm)(const float *x, const float *weight, const float *bias, size_t count,
                     float epsilon, float *out);
  // By enum decode_mlp: what is between up and down, out[blocks][16]; of in[blocks][gate, up][16],
  // or of in[blocks][16] where there is no gate.
  void (*activate[MLP_KINDS])(const float *in, size_t blocks, float *out);
  // x[blocks][16] = x * scales * factor; the scales of two blocks are `stride` floats apart.
  void (*scale_rows)(float *x, size_t blocks, const float *scales, size_t stride, float factor);
  // x += y
  void (*add)(float *x, const float *y, size_t count);
  // x += factor * y
  void (*add_scaled)(float *x, float factor, const float *y, size_t count);
  float (*largest)(const float *x, size_t count);
  // x = exp(x - offset); returns the sum.
  float (*exponentials)(float *x, size_t count, float offset);
  // x = x * factor + y
  void (*scale_add)(float *x, float factor, const float *y, size_t count);
  void (*to_bf16)(const float *x, size_t count, uint16_t *out);
  // The lowest byte of weights_hash(key, first + i): which entry of weights_bell a weight is.
  void (*hashes)(uint64_t key, uint64_t first, size_t count, uint8_t *out);
  // Rounds to what bf16 holds; out may be x.
  void (*round_bf16)(const float *x, size_t count, float *out);
  // out = x / scale to nearest even with scale = max|x| / 127, which is returned; *sum of out. All
  // in float, as decode.h says.
  float (*to_int8)(const float *x, size_t count, int8_t *out, int32_t *sum);
  // By element: a panel of weights as lines of BF16 (panel.h), without the scales of its rows;
  // `lines` of them, each `stride` bytes after the one before. NULL: there is no such function.
  void (*unpack[ELEMENTS])(const uint8_t *panel, size_t lines, uint8_t *out, size_t stride);
};

extern const struct elementwise elementwise_portable;
#if defined(__x86_64__)
extern const struct elementwise elementwise_avx2, elementwise_avx512;
#endif

#endif
