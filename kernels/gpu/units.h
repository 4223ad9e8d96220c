// units: how narrow weights, and INT8, are stored in device memory, so that the kernels matrix_* of
// arguments/product.h turn them into BF16 on their way into the matrix unit.
//
// A row's elements are taken in units of UNIT, the last one padded; a unit is 16 octets of 8
// adjacent elements. A row first has the codes of each unit, in steps of 64 bytes as the matrix
// tile takes them, four pieces of four words each; then, after the codes of all units, what is
// stored beside each unit's codes, padded to 16 bytes. Piece p of a unit is octets p, 4 + p, 8 + p,
// 12 + p, so that its j-th octet is the one that BF16 activations have in piece p of their j-th
// step.
//   4 bits  word j of piece p is octet 4j + p, whose element e is at bit 4 (e / 2) +
//           16 (e % 2): a pair of neighbors is as far apart as a pair of BF16
//   6 bits  the lowest four bits likewise; the highest two are stored beside
//   8 bits  two steps: words 2i and 2i + 1 of piece p of step s are octet 8s + 4i + p
// What is stored beside the codes of a unit:
//   MXFP4   a word: byte j is the scale of elements 32j and on
//   NVFP4   two words: byte j of word h is the scale of elements 32j + 16h and on; e4m3 as the
//           device holds it
//   MXFP6   nine words: word 2p + h has the highest bits of octets 8h + p, element e's at bit
//           2 (e / 2) + 16 (e % 2), and of 8h + 4 + p, 8 bits higher; the last is as MXFP4's
//   groups  half a word: the scale, in BF16
// Factors of a whole row, INT8's scale and NVFP4's tensor scale, are a float per row, as for E4M3.
#ifndef PERTOKEN_KERNELS_GPU_UNITS_H
#define PERTOKEN_KERNELS_GPU_UNITS_H

#include "kernels/decode.h"

#include <stdbool.h>
#include <stddef.h>

enum { UNIT = 128 }; // elements

// X(name in kernels, ELEMENT, bytes of a unit's codes, bytes beside them)
#define GPU_UNIT_ELEMENTS(X)                                                                       \
  X(int8, INT8, 128, 0)                                                                            \
  X(mxfp4, MXFP4, 64, 4)                                                                           \
  X(nvfp4, NVFP4, 64, 8)                                                                           \
  X(mxfp6_e2m3, MXFP6_E2M3, 64, 36)                                                                \
  X(mxfp6_e3m2, MXFP6_E3M2, 64, 36)                                                                \
  X(int8_group, INT8_GROUP, 128, 2)                                                                \
  X(int4_group, INT4_GROUP, 64, 2)

// Those that a step in one launch takes on gfx9, where it holds them in registers: with more
// formats in its kernels clang 19 keeps their windows in memory.
#define GPU_UNIT_ELEMENTS_HELD(X) X(mxfp4, MXFP4, 64, 4) X(int4_group, INT4_GROUP, 64, 2)

struct unit_layout {
  int code_bytes, beside_bytes; // of a unit
};

// Zeros for an element that is not stored in units.
static inline struct unit_layout unit_layout(enum element element) {
  struct unit_layout layout = {0, 0};
#define UNIT_LAYOUT(name, ELEMENT, code, beside)                                                   \
  if (element == ELEMENT_##ELEMENT) {                                                              \
    layout.code_bytes = code;                                                                      \
    layout.beside_bytes = beside;                                                                  \
  }
  GPU_UNIT_ELEMENTS(UNIT_LAYOUT)
#undef UNIT_LAYOUT
  return layout;
}

static inline bool lies_in_units(enum element element) {
  return unit_layout(element).code_bytes > 0;
}

static inline bool units_are_held(enum element element) {
#define UNITS_ARE_HELD(name, ELEMENT, code, beside)                                                \
  if (element == ELEMENT_##ELEMENT)                                                                \
    return true;
  GPU_UNIT_ELEMENTS_HELD(UNITS_ARE_HELD)
#undef UNITS_ARE_HELD
  return false;
}

// Bytes of a row of `stride` elements, a multiple of UNIT.
static inline size_t unit_row_bytes(enum element element, int stride) {
  const struct unit_layout layout = unit_layout(element);
  const size_t units = (size_t)(stride / UNIT);
  return units * (size_t)layout.code_bytes + (units * (size_t)layout.beside_bytes + 15) / 16 * 16;
}

#endif
