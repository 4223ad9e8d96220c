// embedding: the kernels embed_*: a token's row of the embedding becomes the residual stream.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_EMBEDDING_H
#define PERTOKEN_KERNELS_GPU_DEVICE_EMBEDDING_H

#include "kernels/decode.h"
#include "kernels/gpu/arguments/token.h"
#include "kernels/gpu/device/machine/passed.h"
#include "kernels/gpu/device/machine/platform.h"

// Writes the elements of one word, two of BF16 or four of E4M3, to x[at] and on, none from `end`
// on.
template <enum element TYPE>
DEVICE void embed_word(float *x, int at, int end, uint32_t word, float scale) {
  constexpr int COUNT = TYPE == ELEMENT_E4M3 ? 4 : 2;
  float v[4] = {};
  if (TYPE == ELEMENT_E4M3) {
    e4m3_pair(word, &v[0], &v[1]);
    e4m3_pair(word >> 16, &v[2], &v[3]);
  } else {
    v[0] = bf16_low(word);
    v[1] = bf16_high(word);
  }
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    if (at + i < end) {
      pass(x + at + i, v[i] * scale);
    }
  }
}

// The body of embed_*.
template <enum element TYPE> DEVICE void embed_row(const struct embed_arguments &a) {
  constexpr int COUNT = TYPE == ELEMENT_E4M3 ? 16 : 8, ELEMENT_BYTES = 16 / COUNT;
  let_next_start();
  wait_for_previous();
  const int row = block_index(0);
  const size_t token = (size_t)load_published_int(a.tokens + row);
  const unsigned char *from =
      static_cast<const unsigned char *>(a.embedding) + token * (size_t)a.stride * ELEMENT_BYTES;
  const float scale = TYPE == ELEMENT_E4M3 ? load_published_float(a.scales + token) : 1;
  float *x = a.x + (size_t)row * (size_t)a.hidden;
  for (int at = thread_index() * COUNT; at < a.hidden; at += block_threads() * COUNT) {
    const struct words4 v = load_weights(from + at * ELEMENT_BYTES);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      embed_word<TYPE>(x, at + i * COUNT / 4, a.hidden, v.word[i], scale);
    }
  }
}

#endif
