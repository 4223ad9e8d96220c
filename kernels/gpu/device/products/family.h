// family: what the kernels of model families do beyond those of a Llama, each at a place where it
// does not slow the stream of weights or of the cache.
//   In attention with KIND::FAMILY true: head norms and rope pairs of adjacent elements, before
//   the stream; sinks after it. Within it a window costs one comparison.
//   In products that end in "biased" and "gated": biases, GELU, clamped SwiGLU, once for each row
//   of the output.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_FAMILY_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_FAMILY_H

#include "kernels/decode.h"
#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/device/products/round.h"

// ---- attention

// 1 / the root mean square of each head: factors[0..heads) for `heads` queries, which are
// contiguous, and factors[key_at] for the key. Ends with the block's barrier; without norms it does
// nothing.
DEVICE void attention_norm_factors(const struct attention_arguments &a, const float *query,
                                   int heads, const float *key, int key_at, float *factors) {
  if (!a.q_norm) {
    return;
  }
  for (int head = warp_index(); head <= heads; head += ATTENTION_WARPS) {
    const float *from = head < heads ? query + head * a.head_dim : key;
    float squares = 0;
    for (int i = lane_index(); i < a.head_dim; i += WARP) {
      const float x = load_published_float(from + i);
      squares += x * x;
    }
    squares = warp_sum(squares);
    if (lane_index() == 0) {
      factors[head < heads ? head : key_at] =
          1 / square_root(squares / (float)a.head_dim + a.epsilon);
    }
  }
  block_wait();
}

// ---- products

DEVICE float family_bias(const float *bias, int row) {
  return bias ? load_published_float(bias + row) : 0;
}

// erfc(z) of z >= 0 to a relative 3e-6: t exp(p(t) - z^2) with t = 1 / (1 + z/2), a form of
// Hastings (Approximations for Digital Computers, 1955); p is a least-squares fit of degree 7 at
// Chebyshev's points for z up to 10, where exp(-z^2) is below what a float can add to 1.
DEVICE float family_erfc(float z) {
  constexpr float p[] = {-1.2654779f, 0.99857694f, 0.39417261f, -0.040865868f,
                         0.35287324f, -1.0049527f, 0.75412422f, -0.18845126f};
  const float t = reciprocal(1 + 0.5f * z);
  float sum = p[7];
#pragma unroll
  for (int i = 6; i >= 0; i--) {
    sum = sum * t + p[i];
  }
  return t * exponential(sum - z * z);
}

// x (1 + erf(x / sqrt(2))) / 2, without cancellation on either side.
DEVICE float family_gelu(float x) {
  const float magnitude = x < 0 ? -x : x, limited = magnitude < 14 ? magnitude : 14;
  const float half = 0.5f * family_erfc(limited * 0.70710678f);
  return x < 0 ? x * half : x - x * half;
}

// gate * sigmoid(steepness * gate)
DEVICE float family_silu(float gate, float steepness) {
  const float denominator = 1 + exponential(-steepness * gate);
  return gate * reciprocal(denominator < 0x1p100f ? denominator : 0x1p100f);
}

// For one stream of weights or for two, the gate first, both with their biases. The constants of
// clamped SwiGLU are those of decode.h.
template <int STREAMS> DEVICE float family_made(int mlp, float first, float second) {
  if (STREAMS == 1) {
    return mlp == MLP_GELU ? family_gelu(first) : first;
  }
  if (mlp != MLP_CLAMPED_SWIGLU) {
    return family_silu(first, 1) * second;
  }
  const float gate = first < 7 ? first : 7;
  const float up = second < -7 ? -7 : second < 7 ? second : 7;
  return family_silu(gate, 1.702f) * (up + 1);
}

#endif
