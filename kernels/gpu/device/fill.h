// fill: the kernels fill_*: the values of weights.h, made on the device, bit for bit alike. The
// padding is written too, as zeros. A thread makes 16 bytes at a time.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_FILL_H
#define PERTOKEN_KERNELS_GPU_DEVICE_FILL_H

#include "kernels/decode.h"
#include "kernels/gpu/arguments.h"
#include "kernels/gpu/device/platform.h"

// weights_hash of weights.h, a host function there.
DEVICE uint32_t fill_hash(uint64_t key, uint64_t counter) {
  uint64_t x = key ^ (counter * UINT64_C(0x9E3779B97F4A7C15));
  x ^= x >> 33;
  x *= UINT64_C(0xFF51AFD7ED558CCD);
  x ^= x >> 33;
  x *= UINT64_C(0xC4CEB9FE1A85EC53);
  x ^= x >> 33;
  return (uint32_t)x;
}

// weights_q of weights.h. The table is read by words, which is all that the platform reads.
DEVICE float fill_q(const struct fill_arguments &a, uint64_t index) {
  const uint32_t entry = fill_hash(a.key, index) & 255;
  const int *words = reinterpret_cast<const int *>(a.bell);
  const int word = load_published_int(words + entry / 4);
  return (float)(int8_t)((uint32_t)word >> entry % 4 * 8 & 0xFF);
}

// How many elements the destination has, padding included.
DEVICE uint64_t fill_count(const struct fill_arguments &a) {
  if (a.layout == FILL_MATRIX) {
    return (uint64_t)a.rows * (uint64_t)a.stride;
  }
  const int width = a.layout == FILL_KEYS ? a.stride : a.head_dim;
  const uint64_t vectors = (uint64_t)(a.rows / a.context) * (uint64_t)a.kv_heads;
  return vectors * (uint64_t)a.context_padded * (uint64_t)width;
}

// The index of weights.h of an element, whatever part of the tensor this is.
DEVICE uint64_t fill_index_of(const struct fill_arguments &a, uint64_t row, uint64_t column) {
  return a.first + row * ((uint64_t)a.columns + a.beside) + column;
}

// The same of one element of the cache; false in the padding.
DEVICE bool fill_cache_index(const struct fill_arguments &a, uint64_t vector, int position, int i,
                             uint64_t *index) {
  const uint64_t batch = vector / (uint64_t)a.kv_heads, head = vector % (uint64_t)a.kv_heads;
  const uint64_t row = batch * (uint64_t)a.context + (uint64_t)position;
  *index = fill_index_of(a, row, head * (uint64_t)a.head_dim + (uint64_t)i);
  return position < a.context && i < a.head_dim;
}

// The same of the element at `at` of the destination, in whatever layout.
DEVICE bool fill_index(const struct fill_arguments &a, uint64_t at, uint64_t *index) {
  const uint64_t padded = (uint64_t)a.context_padded;
  if (a.layout == FILL_MATRIX) {
    const uint64_t row = at / (uint64_t)a.stride, column = at % (uint64_t)a.stride;
    *index = fill_index_of(a, row, column);
    return column < (uint64_t)a.columns;
  }
  if (a.layout == FILL_KEYS) {
    const uint64_t line = at / (uint64_t)a.stride; // of one vector and position
    return fill_cache_index(a, line / padded, (int)(line % padded), (int)(at % (uint64_t)a.stride),
                            index);
  }
  const uint64_t line = at / VALUE_BLOCK; // of one vector, block of positions and element
  const uint64_t block = line / (uint64_t)a.head_dim, blocks = padded / VALUE_BLOCK;
  const int position = (int)(block % blocks) * VALUE_BLOCK + (int)(at % VALUE_BLOCK);
  return fill_cache_index(a, block / blocks, position, (int)(line % (uint64_t)a.head_dim), index);
}

// One element as it is held, in the lowest bits.
template <enum element TYPE>
DEVICE uint32_t fill_element(const struct fill_arguments &a, uint64_t at) {
  uint64_t index;
  if (!fill_index(a, at, &index)) {
    return 0;
  }
  const float q = fill_q(a, index);
  if (TYPE == ELEMENT_F32) {
    return bits_of(1 + q * a.scale);
  }
  if (TYPE == ELEMENT_BF16) {
    return bf16_pair(q * a.scale, 0) & 0xFFFF;
  }
  return e4m3_from(a.layout == FILL_MATRIX ? q : q * a.scale);
}

// The body of fill_*. A vector of floats need not be of whole pieces of 16 bytes; what is behind
// its last element is left alone.
template <enum element TYPE> DEVICE void fill_tensor(const struct fill_arguments &a) {
  constexpr int BITS = TYPE == ELEMENT_F32 ? 32 : TYPE == ELEMENT_BF16 ? 16 : 8;
  constexpr int PER_WORD = 32 / BITS, PER_PIECE = 4 * PER_WORD;
  let_next_start();
  wait_for_previous();
  const uint64_t count = fill_count(a);
  const uint64_t step = (uint64_t)grid_blocks(0) * (uint64_t)block_threads() * PER_PIECE;
  const uint64_t thread =
      (uint64_t)block_index(0) * (uint64_t)block_threads() + (uint64_t)thread_index();
  for (uint64_t at = thread * PER_PIECE; at < count; at += step) {
    struct words4 piece = {{0, 0, 0, 0}};
#pragma unroll 1
    for (int i = 0; i < PER_PIECE && at + (uint64_t)i < count; i++) {
      const uint32_t held = fill_element<TYPE>(a, at + (uint64_t)i) << i % PER_WORD * BITS;
#pragma unroll
      for (int word = 0; word < 4; word++) {
        piece.word[word] |= i / PER_WORD == word ? held : 0;
      }
    }
    if (at + PER_PIECE <= count) {
      publish_words(static_cast<unsigned char *>(a.destination) + at * (BITS / 8), piece);
      continue;
    }
#pragma unroll
    for (int word = 0; word < 4; word++) {
      if (at + (uint64_t)(word * PER_WORD) < count) {
        publish_int(static_cast<int *>(a.destination) + at / PER_WORD + word,
                    (int)piece.word[word]);
      }
    }
  }
}

// The body of fill_value.
DEVICE void fill_with_value(const struct fill_value_arguments &a) {
  let_next_start();
  wait_for_previous();
  const uint64_t step = (uint64_t)grid_blocks(0) * (uint64_t)block_threads();
  for (uint64_t at =
           (uint64_t)block_index(0) * (uint64_t)block_threads() + (uint64_t)thread_index();
       at < a.count; at += step) {
    publish(a.destination + at, a.value);
  }
}

#endif
