// quantised: the weights of weights.h as each element stores them, bit for bit the same on host and
// device.
//
// A block's codes depend on the wanted values v = q * scale (one product of floats) and on the
// largest of their magnitudes, m; since all v of a tensor are among 256 values, one table says what
// any block becomes. Everything below is in float, each operation rounded to nearest even:
//   MXFP4, MXFP6  scale 2^(floor(log2(m)) - emax), emax 2 for e2m1 and e2m3 and 4 for e3m2; code of
//                 v / that, which is exact (OCP MX specification 1.0, section 6.3)
//   NVFP4         tensor's scale t = M / 2688, M = BELL_LARGEST * scale being the largest that any
//                 block can have and 2688 = 448 * 6; block's scale s = e4m3 of (m / 6) / t; code of
//                 v / (s * t) (NVIDIA, Pretraining Large Language Models with NVFP4, arXiv
//                 2509.25149)
//   INT8_GROUP    scale s = bf16 of m / 127; code of v / s
//   INT4_GROUP    scale s = bf16 of m / 7; code of v / s
// Codes are the nearest, ties to even; values beyond the largest saturate. Blocks begin at a row's
// first column; m of a short last block is that of the elements it has.
#ifndef PERTOKEN_KERNELS_QUANTISED_H
#define PERTOKEN_KERNELS_QUANTISED_H

#include "kernels/decode.h"

#include <stddef.h>
#include <stdint.h>

#define BELL_LARGEST 92 // of weights_bell

enum { MAX_BLOCK = 128 }; // elements; no type has longer blocks

// A tensor's weights as an element stores them.
struct quantised {
  enum element element;
  float scale;         // of every row of INT8 and E4M3, of the tensor of NVFP4; otherwise 1
  uint16_t plain[256]; // without blocks: how each entry of weights_bell is stored, as bits
  // With blocks, by the largest |q| of the block:
  uint16_t scales[BELL_LARGEST + 1];
  uint8_t codes[BELL_LARGEST + 1][256];
  // The value, without its scale, of an entry of weights_bell, or with blocks of a code.
  double worth[256];
};

// The factor for a whole row of weights with scale `scale`, or for NVFP4 for the whole tensor:
// quantised.scale.
float quantised_scale(enum element element, float scale);

// Tells how an element other than F32 stores weights whose scale is `scale` (weights_scale).
void quantise(enum element element, float scale, struct quantised *out);

// The largest |q| among `count` entries of weights_bell.
int quantised_largest(const uint8_t *entries, size_t count);

// The values of `columns` elements of a row, whose first is entry `index` of the tensor.
void quantised_row(const struct quantised *quantised, uint64_t key, uint64_t index, size_t columns,
                   double *out);

#endif
