// fill: the kernels fill_*: the values of weights.h, made on the device, bit for bit the same. The
// padding is written too, as zeros. A thread makes 16 bytes at a time.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_FILL_H
#define PERTOKEN_KERNELS_GPU_DEVICE_FILL_H

#include "kernels/decode.h"
#include "kernels/gpu/arguments/fill.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/device/machine/platform.h"
#include "kernels/gpu/units.h"

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

// A byte of a table, read by words: the platform has no narrower read.
DEVICE uint32_t fill_byte(const void *table, uint32_t at) {
  const int word = load_published_int(static_cast<const int *>(table) + at / 4);
  return (uint32_t)word >> at % 4 * 8 & 0xFF;
}

// weights_q of weights.h.
DEVICE float fill_q(const struct fill_arguments &a, uint64_t index) {
  return (float)(int8_t)fill_byte(a.bell, fill_hash(a.key, index) & 255);
}

// How many elements the destination has, padding included.
DEVICE uint64_t fill_count(const struct fill_arguments &a) {
  if (a.layout <= FILL_TURNED) {
    return (uint64_t)a.rows * (uint64_t)a.stride;
  }
  const int width = a.layout == FILL_KEYS ? a.stride : a.head_dim;
  const uint64_t vectors = (uint64_t)(a.rows / a.context) * (uint64_t)a.kv_heads;
  return vectors * (uint64_t)a.context_padded * (uint64_t)width;
}

// An element's index in weights.h, whatever part of the tensor this is.
DEVICE uint64_t fill_index_of(const struct fill_arguments &a, uint64_t row, uint64_t column) {
  return a.first + row * ((uint64_t)a.columns + a.beside) + column;
}

// The index in weights.h of one element of the cache; false in the padding.
DEVICE bool fill_cache_index(const struct fill_arguments &a, uint64_t vector, int position, int i,
                             uint64_t *index) {
  const uint64_t batch = vector / (uint64_t)a.kv_heads, head = vector % (uint64_t)a.kv_heads;
  const uint64_t row = batch * (uint64_t)a.context + (uint64_t)position;
  *index = fill_index_of(a, row, head * (uint64_t)a.head_dim + (uint64_t)i);
  return position < a.context && i < a.head_dim;
}

// The index of the element at `at` of the destination, in any layout; false in the padding.
DEVICE bool fill_index(const struct fill_arguments &a, uint64_t at, uint64_t *index) {
  const uint64_t padded = (uint64_t)a.context_padded;
  if (a.layout <= FILL_TURNED) {
    const uint64_t row = at / (uint64_t)a.stride, column = at % (uint64_t)a.stride;
    const uint64_t width = (uint64_t)a.head_dim;
    *index = a.layout == FILL_MATRIX
                 ? fill_index_of(a, row, column)
                 : a.first + (row / width * (uint64_t)a.columns + column) * width + row % width;
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

// One element as stored, in the lowest bits.
template <enum element TYPE>
DEVICE uint32_t fill_element(const struct fill_arguments &a, uint64_t at) {
  uint64_t index;
  if (!fill_index(a, at, &index)) {
    return 0;
  }
  const float q = fill_q(a, index);
  if (TYPE == ELEMENT_F32) {
    return bits_of(a.base + q * a.scale);
  }
  if (TYPE == ELEMENT_BF16) {
    return bf16_pair(q * a.scale, 0) & 0xFFFF;
  }
  return e4m3_from(a.layout <= FILL_TURNED ? q : q * a.scale);
}

// The body of fill_*. A vector of floats need not be a multiple of 16 bytes, nor begin at one; what
// follows its last element is left alone.
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
    const bool is_aligned = TYPE != ELEMENT_F32 || (uintptr_t)a.destination % 16 == 0;
    if (is_aligned && at + PER_PIECE <= count) {
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

// ---- rows of units: word by word; each finds its block's largest value again

// A row that is being filled, and a unit of it.
struct fill_unit {
  uint64_t row;
  int unit;
};

DEVICE uint32_t fill_entry(const struct fill_units_arguments &a, uint64_t row, int column) {
  const uint64_t index = a.first + row * ((uint64_t)a.columns + a.beside) + (uint64_t)column;
  return fill_hash(a.key, index) & 255;
}

// quantised_largest of quantised.h, of the block of a column; 0 past the row's end, and for INT8.
DEVICE uint32_t fill_largest(const struct fill_units_arguments &a, uint64_t row, int column) {
  uint32_t most = 0;
  const int first = a.block > 0 ? column / a.block * a.block : a.columns;
  for (int c = first; c < first + a.block && c < a.columns; c++) {
    const uint32_t entry = fill_entry(a, row, c);
    const uint32_t place = entry < 128 ? 255 - entry : entry;
    most = place > most ? place : most;
  }
  return most == 0 ? 0 : fill_byte(a.bell, most);
}

DEVICE uint32_t fill_code(const struct fill_units_arguments &a, uint64_t row, int column,
                          uint32_t largest) {
  if (column >= a.columns) {
    return 0;
  }
  return fill_byte(a.table->codes, largest * 256 + fill_entry(a, row, column));
}

// `count` bits, from bit `from` on, of the codes of an octet, spread as units.h says.
DEVICE uint32_t fill_octet(const struct fill_units_arguments &a, const struct fill_unit &at,
                           int octet, int from, int count) {
  const int first = at.unit * UNIT + octet * 8;
  const uint32_t largest = fill_largest(a, at.row, first);
  uint32_t word = 0;
#pragma unroll 1
  for (int e = 0; e < 8; e++) {
    const uint32_t bits = fill_code(a, at.row, first + e, largest) >> from & ((1u << count) - 1);
    word |= bits << (count * (e / 2) + e % 2 * 16);
  }
  return word;
}

// Four codes of 8 bits: half an octet.
DEVICE uint32_t fill_bytes(const struct fill_units_arguments &a, const struct fill_unit &at,
                           int octet, int half) {
  const int first = at.unit * UNIT + octet * 8 + half * 4;
  const uint32_t largest = fill_largest(a, at.row, first);
  uint32_t word = 0;
#pragma unroll 1
  for (int e = 0; e < 4; e++) {
    word |= fill_code(a, at.row, first + e, largest) << 8 * e;
  }
  return word;
}

// The `word`-th word of a unit's codes.
DEVICE uint32_t fill_codes(const struct fill_units_arguments &a, const struct fill_unit &at,
                           int word) {
  const int step = word / 16, piece = word / 4 % 4, i = word % 4;
  if (a.code_bytes == UNIT) {
    return fill_bytes(a, at, 8 * step + i / 2 * 4 + piece, i % 2);
  }
  return fill_octet(a, at, 4 * i + piece, 0, 4);
}

// The scale of a column's block, as stored.
DEVICE uint32_t fill_scale(const struct fill_units_arguments &a, uint64_t row, int column) {
  if (column >= a.columns) {
    return 0;
  }
  const uint32_t at = fill_largest(a, row, column) * 2;
  const uint32_t code = fill_byte(a.table->scales, at) | fill_byte(a.table->scales, at + 1) << 8;
  return a.element == ELEMENT_NVFP4 ? e4m3_held((uint8_t)code) : code;
}

// Four scales, of columns 32 apart.
DEVICE uint32_t fill_scales(const struct fill_units_arguments &a, uint64_t row, int column) {
  uint32_t word = 0;
#pragma unroll 1
  for (int j = 0; j < 4; j++) {
    word |= fill_scale(a, row, column + 32 * j) << 8 * j;
  }
  return word;
}

// The `word`-th word of what is stored beside a row's codes.
DEVICE uint32_t fill_beside(const struct fill_units_arguments &a, uint64_t row, int word) {
  if (a.beside_bytes == 2) {
    return fill_scale(a, row, 2 * word * UNIT) | fill_scale(a, row, (2 * word + 1) * UNIT) << 16;
  }
  const int words = a.beside_bytes / 4, i = word % words;
  const struct fill_unit at = {row, word / words};
  if (words < 9) {
    return fill_scales(a, row, at.unit * UNIT + 16 * i);
  }
  if (i == 8) {
    return fill_scales(a, row, at.unit * UNIT);
  }
  const int octet = 8 * (i % 2) + i / 2;
  return fill_octet(a, at, octet, 4, 2) | fill_octet(a, at, octet + 4, 4, 2) << 8;
}

// The body of fill_units.
DEVICE void fill_rows_of_units(const struct fill_units_arguments &a) {
  let_next_start();
  wait_for_previous();
  const int units = a.stride / UNIT, code_words = units * a.code_bytes / 4;
  const int row_words = code_words + (units * a.beside_bytes + 15) / 16 * 4;
  const uint64_t count = (uint64_t)a.rows * (uint64_t)row_words;
  const uint64_t step = (uint64_t)grid_blocks(0) * (uint64_t)block_threads();
  for (uint64_t at =
           (uint64_t)block_index(0) * (uint64_t)block_threads() + (uint64_t)thread_index();
       at < count; at += step) {
    const uint64_t row = at / (uint64_t)row_words;
    const int word = (int)(at % (uint64_t)row_words), unit_words = a.code_bytes / 4;
    const struct fill_unit unit = {row, word / unit_words};
    const uint32_t held = word < code_words ? fill_codes(a, unit, word % unit_words)
                          : a.beside_bytes  ? fill_beside(a, row, word - code_words)
                                            : 0;
    publish_int(static_cast<int *>(a.destination) + at, (int)held);
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
