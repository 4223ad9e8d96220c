// units: weights stored in units (kernels/gpu/units.h), as BF16 (unit_codes.h): as a row of the
// embedding, and times a batch of BF16 activations on the matrix tile: the kernels embed_* and
// matrix_WEIGHTS_bf16_* of arguments/product.h for such weights, with any batch.
//
// A warp streams its rows' codes, and what is stored beside them, from memory into registers, some
// units ahead of their use. The matrix unit multiplies even a batch of one: 32 codes of 4 bits in a
// lane's 16 bytes are more than the ordinary units could convert and multiply at memory speed.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_UNITS_H
#define PERTOKEN_KERNELS_GPU_DEVICE_UNITS_H

#include "kernels/gpu/device/embedding.h"
#include "kernels/gpu/device/machine/unit_codes.h"
#include "kernels/gpu/device/products/product_matrix.h"
#include "kernels/gpu/units.h"

// ---- a row of the embedding: like embed_row; a thread takes a piece of a unit, four octets
template <enum element TYPE> DEVICE void embed_units(const struct embed_arguments &a) {
  typedef unit_kind<TYPE> kind;
  let_next_start();
  wait_for_previous();
  const int units = a.stride / UNIT;
  const size_t token = (size_t)load_published_int(a.tokens + block_index(0));
  const unsigned char *row =
      static_cast<const unsigned char *>(a.embedding) + token * unit_row_size<TYPE>(units);
  const float row_scale = kind::HAS_ROW_SCALES ? load_published_float(a.scales + token) : 1;
  float *x = a.x + (size_t)block_index(0) * (size_t)a.hidden;
  for (int at = thread_index(); at < units * 4; at += block_threads()) {
    const int unit = at / 4, piece = at % 4;
    const struct unit_piece<TYPE> held = unit_load<TYPE>(row, units, unit, piece);
    const float group = kind::IS_GROUP ? unit_group_scale<TYPE>(held, unit) : 1;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const struct words4 octet = unit_octet<TYPE>(held, j);
#pragma unroll
      for (int word = 0; word < 4; word++) {
        embed_word<ELEMENT_BF16>(x, unit * UNIT + (4 * j + piece) * 8 + 2 * word, a.hidden,
                                 octet.word[word], row_scale * group * kind::WORTH);
      }
    }
  }
}

// ---- the product

// As the elements of matrix_elements.h, but with a stream of weights of its own.
template <enum element TYPE> struct unit_elements {
  enum { B_BYTES = 2, STEP = UNIT };
  static constexpr enum matrix_scales A_SCALED =
      unit_kind<TYPE>::HAS_ROW_SCALES ? SCALED : NOT_SCALED;
  static constexpr enum matrix_scales B_SCALED = SCALED_IF_GIVEN;
  DEVICE float scale(void) {
    return unit_kind<TYPE>::WORTH;
  }
};

// Compile-time parameters of a product; names shared with product_matrix.h mean the same.
template <enum element TYPE_, matrix_end END_, int COLUMNS> struct units_kind {
  static constexpr enum element TYPE = TYPE_;
  typedef unit_elements<TYPE> ELEMENTS;
  static constexpr matrix_end END = END_;
  static constexpr int TILES = MATRIX_ROWS / TILE_ROWS, COLUMN_TILES = COLUMNS / TILE_COLUMNS;
  static constexpr int STREAMS = MATRIX_STREAMS<END>;
  static constexpr int ROWS = MATRIX_ROWS / STREAMS;
  static constexpr int BLOCKS = COLUMNS == 16 ? 2 : 1;
  static constexpr bool COPIED = false;
  static constexpr int RING_BYTES = 0, CHUNK = TILE_PARTS == 2 ? MATRIX_CHUNK : 0;
  // Units of weights in registers: for 8 warps of 32 lanes 128 bytes of a row are 32 KiB in flight,
  // with two blocks of 16 columns twice that. There 6 bits leave registers for only half.
  static constexpr bool HALF = TILE_PARTS == 2 && COLUMNS == 16 && unit_kind<TYPE>::IS_SIX;
  static constexpr int DEPTH = TILE_PARTS == 4 || HALF ? 1 : 2 / unit_kind<TYPE>::STEPS;
  // Row tiles of a group that are summed at a time. Without a matrix unit a lane holds whole rows
  // of the unit: with 8 bits there are no registers left for two tiles' sums of 64 columns twice,
  // nor for the places of all columns.
  static constexpr bool SINGLY = TILE_PARTS == 4 && COLUMNS == 64 && unit_kind<TYPE>::STEPS == 2;
  static constexpr int TOGETHER = SINGLY ? 1 : TILES;
  DEVICE size_t row_bytes(int stride) {
    return unit_row_size<TYPE>(stride / UNIT);
  }
};

template <class KIND>
using units_pieces = struct unit_piece<KIND::TYPE> (&)[KIND::TILES][TILE_PARTS];
template <class KIND>
using units_sums = float (&)[KIND::COLUMN_TILES][KIND::TILES][TILE_ACCUMULATORS];

// The rows of the warp's tiles of which this lane has pieces; rows past the last read the last.
template <class KIND> struct units_rows {
  const unsigned char *row[KIND::TILES][TILE_PARTS];
  int units;
};

template <class KIND>
DEVICE struct units_rows<KIND> units_rows_of(const struct product_arguments &a,
                                             const struct matrix_share &share) {
  struct units_rows<KIND> rows;
  rows.units = a.stride / UNIT;
#pragma unroll
  for (int n = 0; n < KIND::TILES; n++) {
    const bool is_second = KIND::STREAMS == 2 && n == 1;
    const int first = share.row + (KIND::STREAMS == 2 ? 0 : n * TILE_ROWS);
    const void *matrix = is_second ? a.second : a.weights;
#pragma unroll
    for (int part = 0; part < TILE_PARTS; part++) {
      const int row = first + tile_part_row(lane_index(), part);
      rows.row[n][part] =
          static_cast<const unsigned char *>(matrix) +
          (size_t)(row < a.rows ? row : a.rows - 1) * unit_row_size<KIND::TYPE>(rows.units);
    }
  }
  return rows;
}

template <class KIND>
DEVICE void units_fetch(const struct units_rows<KIND> &rows, int unit, units_pieces<KIND> to) {
#pragma unroll
  for (int n = 0; n < KIND::TILES; n++) {
#pragma unroll
    for (int part = 0; part < TILE_PARTS; part++) {
      to[n][part] = unit_load<KIND::TYPE>(rows.row[n][part], rows.units, unit,
                                          tile_part_byte(lane_index(), part) / 16);
    }
  }
}

// Adds the products of a unit of that many row tiles, from tile `first`, to `sum`; `b` is where its
// columns of activations begin.
template <class KIND, int TILES>
DEVICE void units_add(units_pieces<KIND> pieces, int first, const char *b, int column_bytes,
                      float (&sum)[KIND::COLUMN_TILES][TILES][TILE_ACCUMULATORS]) {
#pragma unroll
  for (int j = 0; j < 4; j++) {
    struct tile_a rows[TILES];
#pragma unroll
    for (int n = 0; n < TILES; n++) {
#pragma unroll
      for (int part = 0; part < TILE_PARTS; part++) {
        rows[n].part[part] = unit_octet<KIND::TYPE>(pieces[first + n][part], j);
      }
    }
    const int stride = KIND::SINGLY ? warp_alike_anew(column_bytes) : column_bytes;
#pragma unroll
    for (int t = 0; t < KIND::COLUMN_TILES; t++) {
      tile_multiply_bf16_bf16<TILES>(rows, b + t * TILE_COLUMNS * stride + j * TILE_STEP_BYTES,
                                     stride, sum[t]);
    }
  }
}

// The scale of accumulator i's row: from the lane's own part or, where a lane's accumulators are of
// other rows than its part, from the lane that has that row.
DEVICE float units_row_scale(const float (&scale)[TILE_PARTS], int i) {
  if (TILE_PARTS == 1) {
    return shuffle(scale[0], tile_row(lane_index(), i));
  }
  return scale[TILE_PARTS == 2 ? i / 2 : 0];
}

// Adds a unit with a scale per group: each group's sum separately, times its scale.
template <class KIND>
DEVICE void units_add_group(units_pieces<KIND> pieces, int unit, const char *b, int column_bytes,
                            units_sums<KIND> sum) {
#pragma unroll
  for (int first = 0; first < KIND::TILES; first += KIND::TOGETHER) {
    float part_sum[KIND::COLUMN_TILES][KIND::TOGETHER][TILE_ACCUMULATORS] = {};
    units_add<KIND, KIND::TOGETHER>(pieces, first, b, column_bytes, part_sum);
#pragma unroll
    for (int n = 0; n < KIND::TOGETHER; n++) {
      float scale[TILE_PARTS];
#pragma unroll
      for (int part = 0; part < TILE_PARTS; part++) {
        scale[part] = unit_group_scale<KIND::TYPE>(pieces[first + n][part], unit);
      }
#pragma unroll
      for (int i = 0; i < TILE_ACCUMULATORS; i++) {
        const float of_row = units_row_scale(scale, i);
#pragma unroll
        for (int t = 0; t < KIND::COLUMN_TILES; t++) {
          sum[t][first + n][i] += part_sum[t][n][i] * of_row;
        }
      }
    }
  }
}

// The sums of the share, like matrix_sum.
template <class KIND>
DEVICE void units_sum(const struct product_arguments &a, const struct matrix_share &share,
                      char *shared, units_sums<KIND> sum) {
  const struct units_rows<KIND> rows = units_rows_of<KIND>(a, share);
  const int first = share.first / UNIT, last = share.steps - 1;
  const int column_bytes = matrix_column_bytes<KIND>(a);
  const int chunk_units = matrix_chunk<KIND>(a) / UNIT;
  struct unit_piece<KIND::TYPE> ring[KIND::DEPTH][KIND::TILES][TILE_PARTS];
  // The branch keeps these loads before wait_for_previous: in straight-line code ptxas moves them
  // behind it.
  if (COUNTED_LOADS || share.steps > 0) {
#pragma unroll
    for (int i = 0; i < KIND::DEPTH; i++) { // the last one again if there are fewer
      units_fetch<KIND>(rows, first + (i < last ? i : last), ring[i]);
    }
  }
  wait_for_previous();
  matrix_begin<KIND>(a, share, shared);
  const char *b = shared;
#pragma unroll 1
  for (int step = 0; step <= last; step += KIND::DEPTH) {
#pragma unroll
    for (int i = 0; i < KIND::DEPTH; i++) {
      const int unit = step + i, next = unit + KIND::DEPTH;
      if (unit <= last) {
        if (unit % chunk_units == 0) {
          b = matrix_next<KIND>(a, share, unit / chunk_units, shared);
        }
        if (unit_kind<KIND::TYPE>::IS_GROUP) {
          units_add_group<KIND>(ring[i], first + unit, b, column_bytes, sum);
        } else {
          units_add<KIND, KIND::TILES>(ring[i], 0, b, column_bytes, sum);
        }
        b += UNIT * KIND::ELEMENTS::B_BYTES;
      }
      if (COUNTED_LOADS || next <= last) {
        units_fetch<KIND>(rows, first + (next < last ? next : last), ring[i]);
      }
    }
  }
}

template <class KIND> DEVICE void units_product(const struct product_arguments &a) {
  SHARED(char, shared);
  let_next_start();
  float sum[KIND::COLUMN_TILES][KIND::TILES][TILE_ACCUMULATORS] = {};
  units_sum<KIND>(a, matrix_share_of<KIND>(a, warp_index()), shared, sum);
  // Found anew, since ptxas has no register to keep it in through the stream of weights.
  const struct matrix_share share =
      matrix_share_of<KIND>(a, warp_alike(thread_index_anew() / WARP));
  if (a.splits > 1 && !matrix_merge<KIND>(a, share, sum)) {
    return;
  }
  matrix_finish<KIND>(a, share, sum);
}

#define UNITS_KERNEL(name, ELEMENT, end, END, columns)                                             \
  KERNEL_BOUNDS(matrix_##name##_bf16_##end##_##columns, product_arguments, MATRIX_WARPS *WARP,     \
                (units_kind<ELEMENT_##ELEMENT, END, columns>::BLOCKS)) {                           \
    units_product<units_kind<ELEMENT_##ELEMENT, END, columns>>(a);                                 \
  }
#define UNITS_KERNELS(name, ELEMENT, columns)                                                      \
  UNITS_KERNEL(name, ELEMENT, store, MATRIX_STORE, columns)                                        \
  UNITS_KERNEL(name, ELEMENT, add, MATRIX_ADD, columns)                                            \
  UNITS_KERNEL(name, ELEMENT, swiglu, MATRIX_SWIGLU, columns)                                      \
  UNITS_KERNEL(name, ELEMENT, biased, MATRIX_BIASED, columns)                                      \
  UNITS_KERNEL(name, ELEMENT, gated, MATRIX_GATED, columns)
#define UNITS_KERNELS_16(name, ELEMENT, code_bytes, beside_bytes) UNITS_KERNELS(name, ELEMENT, 16)
#define UNITS_KERNELS_64(name, ELEMENT, code_bytes, beside_bytes) UNITS_KERNELS(name, ELEMENT, 64)

// Those that have kernels of 64 columns: all, except on the emulator, where most of them run the
// same code and fewer compile sooner.
#if defined(PERTOKEN_EMULATOR)
#define WIDE_UNIT_ELEMENTS(X) X(mxfp4, MXFP4, 64, 4) X(int4_group, INT4_GROUP, 64, 2)
#else
#define WIDE_UNIT_ELEMENTS(X) GPU_UNIT_ELEMENTS(X)
#endif

GPU_UNIT_ELEMENTS(UNITS_KERNELS_16)
WIDE_UNIT_ELEMENTS(UNITS_KERNELS_64)

#endif
