// element: the number formats of tensors: their sizes, and the value of each code.
//
// A code is the bit pattern of one value, in the lowest bits of a byte:
//   e2m1, e2m3, e3m2  sign, exponent, fraction; no infinities, no NaN: OCP Microscaling Formats
//                     (MX) Specification 1.0 (2023), sections 5.3.3 (FP4) and 5.3.2 (FP6)
//   INT8_GROUP        two's complement, as INT8
//   INT4_GROUP        value + 8, as GPTQ, AWQ and llama.cpp's Q4_0 hold it
// and a scale's code is
//   e8m0              2^(code - 127); 255 is NaN (the same specification, section 5.4.1)
//   e4m3, bf16        weights.h
#ifndef PERTOKEN_KERNELS_ELEMENT_H
#define PERTOKEN_KERNELS_ELEMENT_H

#include "kernels/decode.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum element_scale {
  SCALE_NONE,
  SCALE_ROW,  // a float for each row
  SCALE_E8M0, // for each block of a row, and so are the next two
  SCALE_E4M3, // and a float for the whole tensor
  SCALE_BF16,
};

struct element_format {
  const char *name; // in records: "mxfp6-e2m3"
  int bits;         // of a code
  int block;        // consecutive values of a row that share a scale; 0: no such blocks
  enum element_scale scale;
};

const struct element_format *element_format(enum element element);

// Whether its values are in blocks with a scale each.
bool element_has_blocks(enum element element);

// Blocks in a row; the last may be short.
size_t element_blocks(enum element element, size_t columns);

// Bytes of one block's scale; 0 without blocks.
size_t element_scale_bytes(enum element element);

// Bytes read for a row: the codes, rounded up to a byte, and its scales.
size_t element_row_bytes(enum element element, size_t columns);

// Bytes read for all rows, and for what belongs to the whole tensor.
uint64_t element_tensor_bytes(enum element element, uint64_t rows, size_t columns);

// The value of a code, before its scale, of an element with blocks or of INT8.
float element_value(enum element element, uint8_t code);

// The value of a block's scale.
float element_scale_value(enum element element, uint16_t code);

// The code nearest to a value, ties to even; values beyond the largest saturate. None of them is
// NaN.
uint8_t element_code(enum element element, float value);

// The code of the largest power of two not above `value` > 0, divided by 2^emax, where 2^emax is
// the element's largest power of two (section 6.3): a block's e8m0 scale, clamped to 0..254.
uint8_t element_shared_exponent(enum element element, float value);

// A row of an element with blocks, in plain order: the codes packed from the lowest bits of the
// first byte on, then the scales. It must be zeros before the first put.
void element_row_put(enum element element, uint8_t *row, size_t column, uint8_t code);
void element_row_put_scale(enum element element, uint8_t *row, size_t columns, size_t block,
                           uint16_t code);
// The values of such a row, including their blocks' scales and another factor.
void element_row_values(enum element element, const uint8_t *row, size_t columns, float factor,
                        float *out);

#endif
