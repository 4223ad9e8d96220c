// fill: the arguments of what fills weights and cache.
#ifndef PERTOKEN_KERNELS_GPU_ARGUMENTS_FILL_H
#define PERTOKEN_KERNELS_GPU_ARGUMENTS_FILL_H

#include <stdint.h>

// fill_ELEMENT: the values of weights.h. Grid (any), block SMALL_THREADS; elements are dealt out in
// grid strides. ELEMENT is bf16, e4m3 or f32 (base + q * scale: base 1 for norms, 0 for biases and
// sinks).
//   FILL_MATRIX  destination [rows][stride], index = row * columns + column
//   FILL_TURNED  the same, for matrices [columns][head_dim] transposed, one after another
//   FILL_KEYS, FILL_VALUES: destination as above; rows = batch * context, columns = kv_heads *
//                head_dim, index = row * columns + column; no scale is held: value = q * scale
// For a rank's part of a tensor (share.h), index = first + row * (columns + beside) + column.
// E4M3 weights store q itself, rounded; keys and values in E4M3 store q * scale, rounded.
enum fill_layout { FILL_MATRIX, FILL_TURNED, FILL_KEYS, FILL_VALUES };
struct fill_arguments {
  void *destination;
  int layout, rows, columns, stride;
  int context, context_padded, kv_heads, head_dim; // of the cache; the last also for FILL_TURNED
  uint64_t first, beside;                          // 0 for a whole tensor
  uint64_t key;                                    // weights_key
  float scale, base;
  const int8_t *bell; // weights_bell on the device [256]
};

// fill_units: the same for rows of units. Grid (any), block SMALL_THREADS; words are dealt out in
// grid strides.
enum { FILL_LARGEST = 92 }; // of weights_bell
struct fill_table {         // quantised.h; for INT8 the row of largest 0 has its codes
  uint8_t codes[FILL_LARGEST + 1][256];
  uint16_t scales[FILL_LARGEST + 1];
  uint16_t padding;
};
struct fill_units_arguments {
  void *destination;
  int element, block; // enum element; consecutive elements with a scale, or 0
  int rows, columns, stride;
  int code_bytes, beside_bytes; // of a unit
  uint64_t first, beside, key;  // as above
  const struct fill_table *table;
  const int8_t *bell;
};

// fill_value: `count` floats of `value`: scales per row. Grid (any), block SMALL_THREADS.
struct fill_value_arguments {
  float *destination;
  uint64_t count;
  float value;
};

#endif
