// elementwise: what a step does to vectors apart from multiplying them with matrices. One source,
// compiled once for each instruction set.
#ifndef PERTOKEN_KERNELS_CPU_ISA_ELEMENTWISE_H
#define PERTOKEN_KERNELS_CPU_ISA_ELEMENTWISE_H

#include "kernels/decode.h"

#include <stddef.h>
#include <stdint.h>

enum { MLP_KINDS = MLP_GELU + 1 };

struct elementwise {
  // out = x / sqrt(mean(x^2) + epsilon) * weight
  void (*normalise)(const float *x, const float *weight, size_t count, float epsilon, float *out);
  // out = (x - mean(x)) / sqrt(variance(x) + epsilon) * weight + bias
  void (*layer_norm)(const float *x, const float *weight, const float *bias, size_t count,
                     float epsilon, float *out);
  // Indexed by enum decode_mlp: the activation between up and down, out[blocks][16], from
  // in[blocks][gate, up][16], or in[blocks][16] if there is no gate.
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
  // The lowest byte of weights_hash(key, first + i): the index of a weight's entry in weights_bell.
  void (*hashes)(uint64_t key, uint64_t first, size_t count, uint8_t *out);
  // Rounds to bf16 values; out may be x.
  void (*round_bf16)(const float *x, size_t count, float *out);
  // Quantizes x / scale to E4M3 with scale = max|x| / 448, which is returned; out gets the values
  // of the codes in bf16, which holds them exactly. All in float, as decode.h says.
  float (*to_e4m3)(const float *x, size_t count, uint16_t *out);
  // out = x / scale to nearest even with scale = max|x| / 127, which is returned; *sum = sum of
  // out. All in float too.
  float (*to_int8)(const float *x, size_t count, int8_t *out, int32_t *sum);
  // Indexed by element: expands a panel of weights to lines of BF16 (panel.h), with the scales of
  // blocks but not of rows; `lines` of them, `stride` bytes apart. NULL: no such function, as for
  // groups, whose codes times their scale are not exact in BF16.
  void (*unpack[ELEMENTS])(const uint8_t *panel, size_t lines, uint8_t *out, size_t stride);
};

extern const struct elementwise elementwise_portable;
#if defined(__x86_64__)
extern const struct elementwise elementwise_avx2, elementwise_avx512;
#endif

#endif
