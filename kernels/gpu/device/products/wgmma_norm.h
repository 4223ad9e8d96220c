// wgmma_norm: an RMS norm between two products of product_wgmma.h, which needs no kernel. As W (x
// gain / rms) = (W (x gain)) / rms, the product that adds to the residual stream passes on x gain,
// rounded, and sums of x^2; the next one finds 1 / rms from these while its weights are on their
// way, and multiplies its sums by it. A warp's rows of a column have one sum of squares, however
// the work is divided, and all of them are added up in one order. So every block finds the same 1 /
// rms.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_WGMMA_NORM_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_WGMMA_NORM_H

#include "kernels/gpu/device/products/product_matrix.h"
#include "kernels/gpu/device/products/wgmma_ring.h"

// Whether a norm may follow the product, or precede it: E4M3 needs a whole vector for its scale.
template <class KIND> constexpr bool NORM_ROUNDS = KIND::ELEMENTS::B_SCALED == NOT_SCALED;
template <class KIND>
constexpr bool NORM_BEHIND = NORM_ROUNDS<KIND> && (KIND::END == MATRIX_ADD) &&
                             (KIND::COLUMNS <= WGMMA_NORM_COLUMNS);
template <class KIND> constexpr bool NORM_BEFORE = NORM_ROUNDS<KIND> && (KIND::END != MATRIX_ADD);

// ---- a norm before the product: what is found before the first step

// Columns whose sums are under way together, and loads of each.
enum { NORM_LOADS = 8, NORM_PIECES = 2 };

// The squares of the vectors from `column` on, as far as the batch has these.
template <int COUNT>
DEVICE void wgmma_squares_of(const struct wgmma_norm &norm, const struct product_arguments &a,
                             int column, float (&sum)[COUNT]) {
#pragma unroll 1
  for (int first = lane_index() * 4; first < norm.sums; first += NORM_PIECES * WARP * 4) {
    struct words4 words[COUNT][NORM_PIECES] = {};
#pragma unroll
    for (int i = 0; i < COUNT * NORM_PIECES; i++) {
      const int at = first + i % NORM_PIECES * WARP * 4, of = column + i / NORM_PIECES;
      if (at < norm.sums && of < a.batch) {
        words[i / NORM_PIECES][i % NORM_PIECES] =
            load_published(norm.squares + of * norm.sums + at);
      }
    }
#pragma unroll
    for (int i = 0; i < COUNT * NORM_PIECES * 4; i++) {
      sum[i / 4 / NORM_PIECES] +=
          float_of(words[i / 4 / NORM_PIECES][i / 4 % NORM_PIECES].word[i % 4]);
    }
  }
}

// Called by the whole block, of which the warps that multiply find 1 / rms, each for a part of the
// columns; or 1 where the activations come after their norm.
template <class KIND>
DEVICE void wgmma_find(const struct wgmma_norm &norm, const struct product_arguments &a,
                       float *found) {
  constexpr int WARPS = WGMMA_GROUPS * 4, MOST = KIND::COLUMNS / WARPS;
  constexpr int COUNT = MOST < NORM_LOADS ? MOST : NORM_LOADS;
  const int columns = warp_index() < WARPS ? a.batch_padded / WARPS : 0;
  const int begin = warp_index() * columns;
#pragma unroll 1
  for (int column = begin; column < begin + columns; column += COUNT) {
    float sum[COUNT] = {};
    if (norm.squares) {
      wgmma_squares_of<COUNT>(norm, a, column, sum);
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      const float count = (float)a.columns, squares = warp_sum(sum[i]);
      if (lane_index() == 0) {
        found[column + i] =
            norm.squares ? square_root(count * reciprocal(squares + count * norm.epsilon)) : 1;
      }
    }
  }
  block_wait();
}

// ---- a norm before the product or behind it: the epilogue

template <class ELEMENTS, matrix_end END, int COLUMNS, int STRIPS>
struct matrix_norm<wgmma_kind<ELEMENTS, END, COLUMNS, STRIPS>> {
  typedef wgmma_kind<ELEMENTS, END, COLUMNS, STRIPS> kind;
  static constexpr bool PAIRED = ELEMENTS::A_BYTES < ELEMENTS::B_BYTES;
  static constexpr int ROWS = WGMMA_TILES * 2, TILE = WGMMA_TILES * 4; // of a lane; of its sums
  static constexpr int NEXT_64 = PAIRED ? 4 : 64, NEXT_8 = PAIRED ? 32 : 8; // rows, as stored

  const struct wgmma_norm *of; // NULL: there is none
  const float *found;          // 1 / rms of each column
  float factor[2];             // of these, those of the lane's columns of a tile of columns
  float squares[2];            // of the outputs in these
  float gain[ROWS];            // of its rows, which are the same in all tiles
  int place;                   // of the first of these in a vector

  DEVICE bool follows(const matrix_norm &norm) {
    return NORM_BEHIND<kind> && norm.of && norm.of->scaled;
  }
  // The lanes of a column, whose lane % 4 is the same, add up its squares.
  DEVICE void put(const struct product_arguments &a, const struct matrix_share &share, int tile,
                  const matrix_norm &norm) {
    const unsigned thread = (unsigned)thread_index_anew(), row = (unsigned)share.row;
    const unsigned at = row / (WGMMA_TILES * WGMMA_ROWS) * 4 + thread / WARP % 4;
    float sum[2] = {norm.squares[0], norm.squares[1]};
#pragma unroll
    for (int mask = 4; mask < WARP; mask *= 2) {
      sum[0] += shuffle_xor(sum[0], mask);
      sum[1] += shuffle_xor(sum[1], mask);
    }
    const bool second = thread % WARP >= 4;
    const int column = matrix_layout<kind>::place(share, tile * TILE).column + second;
    if (thread % WARP < 8 && column < a.batch && share.row < a.rows) {
      publish(norm.of->squares + (unsigned)(column * norm.of->sums) + at, second ? sum[1] : sum[0]);
    }
  }
  // While a tile's residuals are on their way, there is time for the squares of the one before.
  DEVICE void next(const struct product_arguments &a, const struct matrix_share &share, int first,
                   matrix_norm &norm) {
    if (follows(norm) && first > 0) {
      put(a, share, first / TILE - 1, norm);
    }
#pragma unroll
    for (int i = 0; i < 2 && NORM_BEFORE<kind>; i++) {
      norm.factor[i] = norm.found[matrix_layout<kind>::place(share, first + i).column];
    }
  }
  DEVICE float times(const matrix_norm &norm, const struct matrix_place &at, float sum) {
    return NORM_BEFORE<kind> ? sum * norm.factor[at.i % 2] : sum;
  }
  // Passes on 64 rows: a lane's two in both of its columns.
  DEVICE void pass_64(const struct product_arguments &a, int column, const float *x,
                      const float *gain, uint16_t *to, float (&squares)[2]) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const float upper = x[i], lower = x[i + 2];
      const uint32_t scaled = bf16_pair(upper * gain[0], lower * gain[1]);
      squares[i] += upper * upper + lower * lower;
      if (column + i < a.batch) {
        publish_bits16(to + i * a.rows, (uint16_t)scaled);
        publish_bits16(to + i * a.rows + NEXT_8, (uint16_t)(scaled >> 16));
      }
    }
  }
  // Of a tile's rows, all 64 are there or none.
  DEVICE void wrote(const struct product_arguments &a, const struct matrix_share &share, int first,
                    const float *x, matrix_norm &norm) {
    norm.squares[0] = norm.squares[1] = 0;
    if (!follows(norm)) {
      return;
    }
    const int column = matrix_layout<kind>::place(share, first).column, rows = a.rows;
    uint16_t *to = norm.of->scaled + (unsigned)(column * rows + norm.place);
#pragma unroll
    for (int n = 0; n < WGMMA_TILES; n++) {
      if (share.row + n * WGMMA_ROWS < rows) {
        pass_64(a, column, &x[4 * n], &norm.gain[2 * n], to + n * NEXT_64, norm.squares);
      }
    }
  }
  DEVICE void end(const struct product_arguments &a, const struct matrix_share &share,
                  const matrix_norm &norm) {
    if (follows(norm)) {
      put(a, share, COLUMNS / 8 - 1, norm);
    }
  }
  // So that the compiler does not have the addresses of all tiles in registers at once.
  DEVICE struct matrix_share anew(struct matrix_share share) {
    if (NORM_BEHIND<kind>) {
      share.column = warp_alike_anew(share.column);
    }
    return share;
  }
};

template <class KIND>
DEVICE struct matrix_norm<KIND>
wgmma_norm_of(const struct wgmma_norm &of, const struct product_arguments &a,
              const struct matrix_share &share, const float *found) {
  struct matrix_norm<KIND> norm = {};
  norm.of = &of;
  norm.found = found;
#pragma unroll
  for (int i = 0; NORM_BEHIND<KIND> && i < matrix_norm<KIND>::ROWS; i++) {
    const int row = matrix_layout<KIND>::place(share, i * 2).row;
    if (of.scaled && row < a.rows) {
      norm.gain[i] = load_published_float(of.gain + row);
    }
  }
  const int first = matrix_layout<KIND>::place(share, 0).row;
  norm.place = matrix_norm<KIND>::PAIRED ? 2 * paired_word(first / 2) + first % 2 : first;
  return norm;
}

// OF: whose columns these are, or some of them.
template <class KIND, class OF = KIND>
DEVICE void wgmma_finish(const struct wgmma_arguments &a, const struct wgmma_share &share,
                         const struct matrix_share &of_tile, typename KIND::sums &sum) {
  if constexpr (NORM_BEFORE<OF> || NORM_BEHIND<OF>) {
    matrix_finish<KIND>(a.product, of_tile, sum,
                        wgmma_norm_of<KIND>(a.norm, a.product, of_tile, share.found));
  } else {
    matrix_finish<KIND>(a.product, of_tile, sum);
  }
}

#endif
