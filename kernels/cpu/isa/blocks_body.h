// Products with weights that have a scale per block. Included by the file of an instruction set,
// which defines INLINE, MAX_ROWS and PARTS, and, with sixteen lanes, one per row of a panel:
//   struct sums                                              floats or integers
//   struct codebook, codebook_of(weights)                    what decoding needs
//   no_sums(), first_sums(weights, sum of the vector's group)  of integers where there is one
//   add_unit(...)                                            a unit of codes times the vectors
//   add_scaled(totals, sums, input, weights, scales)         totals += sums * a block's scales
//   joined(sums, rows, input, weights)                       the parts of a vector's sums as one
//   store(totals, out)
#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/rows.h"

#include <stddef.h>
#include <stdint.h>

// A panel times `rows` vectors from `row` on.
INLINE void multiply_rows(const struct product *product, enum element weights, enum element input,
                          size_t panel, size_t row, int rows, size_t ahead) {
  const struct block_layout layout = block_layout(weights);
  const struct codebook codebook = codebook_of(weights);
  const uint8_t *in = (const uint8_t *)product->in + row * product->in_stride;
  const uint8_t *at = product->panels + panel * product->panel_stride, *scales = at;
  struct sums totals[MAX_ROWS];
#pragma GCC unroll 8
  for (int b = 0; b < rows; b++)
    totals[b] = no_sums();

  for (size_t first = 0; first < product->columns; first += layout.block) {
    const size_t left = product->columns - first;
    // Blocks of fewer than PANEL_COLUMNS columns are always whole.
    const size_t columns =
        layout.block <= PANEL_COLUMNS || left >= layout.block ? layout.block : left;
    if (first % layout.chunk == 0) {
      scales = at;
      at += LINE_BYTES;
    }
    struct sums sums[MAX_ROWS][PARTS];
#pragma GCC unroll 8
    for (int b = 0; b < rows; b++) {
      const uint8_t *vector = in + (size_t)b * product->in_stride;
      for (int part = 0; part < PARTS; part++)
        sums[b][part] = no_sums();
      if (input == ELEMENT_INT8)
        sums[b][0] =
            first_sums(weights, blocks_sums(vector, product->columns)[first / layout.block]);
    }
#pragma GCC unroll 4
    for (size_t c = 0; c < columns; c += layout.unit_columns, at += layout.unit_bytes) {
      if (ahead)
        for (size_t line = 0; line < layout.unit_bytes; line += LINE_BYTES)
          _mm_prefetch((const char *)at + line + ahead, _MM_HINT_T0);
      add_unit(at, weights, input, &codebook, in, product->in_stride, first + c, rows, sums);
    }
    const uint8_t *scale =
        scales + first % layout.chunk / layout.block * PANEL_ROWS * layout.scale_bytes;
#pragma GCC unroll 8
    for (int b = 0; b < rows; b++) {
      totals[b] =
          add_scaled(totals[b], joined(sums[b], rows, input, weights), input, weights, scale);
    }
  }

#pragma GCC unroll 8
  for (int b = 0; b < rows; b++)
    store(totals[b], product->out + (row + (size_t)b) * product->out_stride + panel * PANEL_ROWS);
}

// A panel is read from memory once, by the first vectors; the rest find it in the cache.
INLINE void multiply(const struct product *product, enum element weights, enum element input) {
  const size_t batch = product->batch;
  for (size_t panel = 0; panel < product->panel_count; panel++) {
    size_t row = 0, ahead = DECODE_AHEAD;
    for (; MAX_ROWS >= 8 && row + 8 <= batch; row += 8, ahead = 0)
      multiply_rows(product, weights, input, panel, row, MAX_ROWS >= 8 ? 8 : 1, ahead);
    for (; MAX_ROWS >= 4 && row + 4 <= batch; row += 4, ahead = 0)
      multiply_rows(product, weights, input, panel, row, MAX_ROWS >= 4 ? 4 : 1, ahead);
    for (; row + 2 <= batch; row += 2, ahead = 0)
      multiply_rows(product, weights, input, panel, row, 2, ahead);
    if (row < batch)
      multiply_rows(product, weights, input, panel, row, 1, ahead);
  }
}
