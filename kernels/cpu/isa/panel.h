// panel: how matrices are laid out in memory. Sixteen rows of a matrix are one panel, and a panel
// is stored column by column, so that one pass over contiguous memory yields sixteen dot products
// without sums across lanes. The same order feeds plain vector units, dot-product instructions and
// AMX tiles, and serves weights, keys (rows = positions, columns = head_dim) and values (rows =
// head_dim, columns = positions).
//
// A line is 64 bytes:
//   BF16  [16 rows][2 columns]
//   INT8  [16 rows][4 columns]
//   E4M3  [4 groups of 4 rows][2 pairs of columns][4 rows][2 columns]: what an interleave of the
//         decoded low and high bytes turns into two lines of BF16
#ifndef PERTOKEN_KERNELS_CPU_ISA_PANEL_H
#define PERTOKEN_KERNELS_CPU_ISA_PANEL_H

#include "kernels/decode.h"

#include <stdbool.h>
#include <stddef.h>

enum {
  PANEL_ROWS = 16,
  PANEL_COLUMNS = 64, // weights are padded with zeros to a multiple of this many columns
  LINE_BYTES = 64
};

static inline size_t element_bytes(enum element element) {
  return element == ELEMENT_F32 ? 4 : element == ELEMENT_BF16 ? 2 : 1;
}

// Types with a scale per row.
static inline bool is_scaled(enum element element) {
  return element == ELEMENT_INT8 || element == ELEMENT_E4M3;
}

// Columns are a multiple of 4.
static inline size_t panel_bytes(enum element element, size_t columns) {
  return PANEL_ROWS * columns * element_bytes(element);
}

// Where an element is, in bytes from the panel's start.
static inline size_t panel_offset(enum element element, size_t row, size_t column) {
  switch (element) {
  case ELEMENT_BF16: return column / 2 * LINE_BYTES + row * 4 + column % 2 * 2;
  case ELEMENT_INT8: return column / 4 * LINE_BYTES + row * 4 + column % 4;
  case ELEMENT_E4M3:
    return column / 4 * LINE_BYTES + row / 4 * 16 + column / 2 % 2 * 8 + row % 4 * 2 + column % 2;
  default: break;
  }
  return column * LINE_BYTES + row * 4;
}

#endif
