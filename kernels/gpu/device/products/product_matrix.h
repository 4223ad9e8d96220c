// product_matrix: weights times a batch of activations, on the matrix tile: the kernels matrix_* of
// arguments/product.h.
//
// Each lane has its share of the warp's rows of weights on their way in a ring (lane_ring.h), a few
// steps ahead of their use; two row tiles share each column tile's bytes. The stream begins before
// wait_for_previous and is independent of the chunks of activations, which the block copies into
// shared memory ahead of their use, with one barrier each.
//
// Nothing here depends on the order in which blocks run: splits are summed in their own order.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_PRODUCT_MATRIX_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PRODUCTS_PRODUCT_MATRIX_H

#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/device/machine/lane_ring.h"
#include "kernels/gpu/device/machine/matrix_elements.h"
#include "kernels/gpu/device/products/family.h"

enum matrix_end { MATRIX_STORE, MATRIX_ADD, MATRIX_SWIGLU, MATRIX_BIASED, MATRIX_GATED };

template <matrix_end END>
constexpr bool MATRIX_FAMILY = END == MATRIX_BIASED || END == MATRIX_GATED;
template <matrix_end END> // of weights
constexpr int MATRIX_STREAMS = END == MATRIX_SWIGLU || END == MATRIX_GATED ? 2 : 1;

// Compile-time parameters of a matrix product.
template <class ELEMENTS_, matrix_end END_, int COLUMNS> struct matrix_kind {
  typedef ELEMENTS_ ELEMENTS;
  static constexpr matrix_end END = END_;
  static constexpr int TILES = MATRIX_ROWS / TILE_ROWS, COLUMN_TILES = COLUMNS / TILE_COLUMNS;
  static constexpr int STREAMS = MATRIX_STREAMS<END>;
  static constexpr int ROWS = MATRIX_ROWS / STREAMS; // of the output, per warp
  // Steps of weights on their way: for 8 warps of 32 lanes each is 16 KiB.
  static constexpr bool COPIED = LANE_RING_COPIES;
  static constexpr int DEPTH = COPIED ? MATRIX_DEPTH : TILE_PARTS == 4 ? 1 : COLUMNS == 16 ? 2 : 4;
  static constexpr int RING_BYTES = MATRIX_WARPS * lane_ring_bytes(DEPTH, TILES *TILE_PARTS);
  static_assert(RING_BYTES == (COPIED ? MATRIX_RING : 0), "which the plan leaves room for");
  static constexpr int BLOCKS = COLUMNS == 16 ? 2 : 1;           // blocks on a multiprocessor
  static constexpr int CHUNK = COPIED ? MATRIX_COPIED_CHUNK : 0; // 0: any
  DEVICE size_t row_bytes(int stride) {
    return (size_t)stride * ELEMENTS::A_BYTES;
  }
};

// One warp's share: `row` and `column` are the first of the output; the sums run over `steps` steps
// of the tile from element `first` of a row.
struct matrix_share {
  int row, column, first, steps;
};

// Elements of an activation row that are copied together. A power of two, so a chunk is a whole
// number of rounds of DEPTH steps, or a round a whole number of chunks.
template <class KIND> DEVICE int matrix_chunk(const struct product_arguments &a) {
  return KIND::CHUNK > 0 ? KIND::CHUNK : a.chunk;
}

// How many such chunks are in shared memory at a time.
template <class KIND> DEVICE int matrix_buffers(const struct product_arguments &a) {
  const bool is_short = KIND::COPIED && KIND::CHUNK < KIND::DEPTH * KIND::ELEMENTS::STEP;
  return is_short ? a.buffers : 2;
}

// The share of the block's warp `warp`.
template <class KIND>
DEVICE struct matrix_share matrix_share_of(const struct product_arguments &a, int warp) {
  const int columns = KIND::COLUMN_TILES * TILE_COLUMNS, groups = a.batch_padded / columns;
  const int warps = MATRIX_WARPS / groups; // side by side in the rows
  const int chunk = matrix_chunk<KIND>(a), chunks = (a.stride + chunk - 1) / chunk;
  const int split = block_index(1);
  const int end = chunks * (split + 1) / a.splits * chunk;
  struct matrix_share share;
  share.row = (block_index(0) * warps + warp / groups) * KIND::ROWS;
  share.column = warp % groups * columns;
  share.first = chunks * split / a.splits * chunk;
  share.steps = ((end < a.stride ? end : a.stride) - share.first) / KIND::ELEMENTS::STEP;
  return share;
}

// This lane's pieces of the rows of the warp's tiles, at the stream's current step.
template <class KIND> struct matrix_stream { const char *piece[KIND::TILES][TILE_PARTS]; };

// Rows past the last read the last one.
template <class KIND>
DEVICE struct matrix_stream<KIND> matrix_stream_of(const struct product_arguments &a,
                                                   const struct matrix_share &share) {
  struct matrix_stream<KIND> stream;
  const size_t row_bytes = (size_t)a.stride * KIND::ELEMENTS::A_BYTES;
#pragma unroll
  for (int n = 0; n < KIND::TILES; n++) {
    const bool is_second = KIND::STREAMS == 2 && n == 1;
    const int first = share.row + (KIND::STREAMS == 2 ? 0 : n * TILE_ROWS);
    const char *matrix = static_cast<const char *>(is_second ? a.second : a.weights);
#pragma unroll
    for (int part = 0; part < TILE_PARTS; part++) {
      const int row = first + tile_part_row(lane_index(), part);
      stream.piece[n][part] = matrix + (size_t)(row < a.rows ? row : a.rows - 1) * row_bytes +
                              (size_t)share.first * KIND::ELEMENTS::A_BYTES +
                              tile_part_byte(lane_index(), part);
    }
  }
  return stream;
}

template <class KIND>
using matrix_ring = struct lane_ring<KIND::DEPTH, KIND::TILES * TILE_PARTS>;

// The step `ahead` steps after the stream's current one.
template <class KIND>
DEVICE void matrix_fetch(const struct matrix_stream<KIND> &stream, int ahead,
                         matrix_ring<KIND> &ring, int slot) {
#pragma unroll
  for (int n = 0; n < KIND::TILES; n++) {
#pragma unroll
    for (int part = 0; part < TILE_PARTS; part++) {
      lane_ring_bring(ring, slot, n * TILE_PARTS + part,
                      stream.piece[n][part] + ahead * TILE_STEP_BYTES);
    }
  }
}

template <class KIND>
DEVICE void matrix_take(const matrix_ring<KIND> &ring, int slot, struct tile_a (&to)[KIND::TILES]) {
#pragma unroll
  for (int n = 0; n < KIND::TILES; n++) {
#pragma unroll
    for (int part = 0; part < TILE_PARTS; part++) {
      to[n].part[part] = lane_ring_take(ring, slot, n * TILE_PARTS + part);
    }
  }
}

template <class KIND> DEVICE void matrix_advance(struct matrix_stream<KIND> &stream) {
#pragma unroll
  for (int n = 0; n < KIND::TILES; n++) {
#pragma unroll
    for (int part = 0; part < TILE_PARTS; part++) {
      stream.piece[n][part] += KIND::DEPTH * TILE_STEP_BYTES;
    }
  }
}

// Bytes from one column to the next in shared memory, such that neighbors are in different banks.
template <class KIND> DEVICE int matrix_column_bytes(const struct product_arguments &a) {
  return matrix_chunk<KIND>(a) * KIND::ELEMENTS::B_BYTES + 16;
}

// Where in shared memory a column of the chunk of this number, counted from the share's first, is.
template <class KIND>
DEVICE char *matrix_column(const struct product_arguments &a, int number, int column,
                           char *shared) {
  return shared + KIND::RING_BYTES +
         (number % matrix_buffers<KIND>(a) * a.batch_padded + column) *
             matrix_column_bytes<KIND>(a);
}

// Copies it to there, if the share has that many.
template <class KIND>
DEVICE void matrix_bring(const struct product_arguments &a, const struct matrix_share &share,
                         int number, char *shared) {
  const int bytes = KIND::ELEMENTS::B_BYTES, chunk = matrix_chunk<KIND>(a);
  const int pieces = chunk * bytes / 16, at_once = MATRIX_WARPS * WARP / pieces;
  const int column_bytes = matrix_column_bytes<KIND>(a);
  const int thread = thread_index_anew(), piece = thread % pieces * 16;
  const size_t row_bytes = (size_t)a.stride * bytes;
  const size_t from = ((size_t)share.first + (size_t)number * chunk) * bytes + piece;
  if (number * (chunk / KIND::ELEMENTS::STEP) >= share.steps || from >= row_bytes) {
    return;
  }
  const int column = thread / pieces;
  copy_to_shared(matrix_column<KIND>(a, number, column, shared) + piece, at_once * column_bytes,
                 static_cast<const char *>(a.activations) + (size_t)column * row_bytes + from,
                 at_once * row_bytes, (a.batch_padded - column + at_once - 1) / at_once);
}

// Brings the first chunks. With a ring, all of its groups are waited for this once.
template <class KIND>
DEVICE void matrix_begin(const struct product_arguments &a, const struct matrix_share &share,
                         char *shared) {
  for (int number = 0; number < matrix_buffers<KIND>(a) - 1; number++) {
    matrix_bring<KIND>(a, share, number, shared);
  }
  if (KIND::COPIED) {
    lane_ring_end();
    lane_ring_wait<0>();
  }
}

// Waits for this lane's part of the next chunk. With a ring it was brought as many steps before as
// the weights of the chunk's first step, so waiting for these is enough, unless shared memory holds
// only two shorter chunks.
template <class KIND> DEVICE void matrix_wait(const struct product_arguments &a) {
  constexpr int STEPS = KIND::COPIED ? KIND::CHUNK / KIND::ELEMENTS::STEP : KIND::DEPTH;
  if (!KIND::COPIED) {
    copies_wait();
  } else if (STEPS < KIND::DEPTH && a.buffers == 2) {
    lane_ring_wait<STEPS - 1>();
  } else {
    lane_ring_wait<KIND::DEPTH - 1>();
  }
}

// Waits for the chunk of this number, and starts copying the one that takes the place of the last.
// Returns the warp's first column of it in shared memory.
template <class KIND>
DEVICE const char *matrix_next(const struct product_arguments &a, const struct matrix_share &share,
                               int number, char *shared) {
  matrix_wait<KIND>(a);
  block_wait(); // this chunk is there, and nobody needs the one before
  matrix_bring<KIND>(a, share, number + matrix_buffers<KIND>(a) - 1, shared);
  return matrix_column<KIND>(a, number, share.column, shared);
}

// Adds `count` steps from the stream's current `step` on: those of a chunk, or of a round where the
// chunks are shorter. `number` is that of the next chunk. Keeps the ring filled.
template <class KIND>
DEVICE void matrix_chunk_sum(const struct product_arguments &a, const struct matrix_share &share,
                             struct matrix_stream<KIND> &stream, int step, int count, int &number,
                             char *shared, matrix_ring<KIND> &ring,
                             float (&sum)[KIND::COLUMN_TILES][KIND::TILES][TILE_ACCUMULATORS]) {
  const int left = share.steps - step, column_bytes = matrix_column_bytes<KIND>(a);
  const int chunk_steps = matrix_chunk<KIND>(a) / KIND::ELEMENTS::STEP;
  const char *b = matrix_next<KIND>(a, share, number++, shared);
#pragma unroll 1
  for (int first = 0; first < count; first += KIND::DEPTH) {
#pragma unroll
    for (int i = 0; i < KIND::DEPTH; i++) {
      if (first + i < count) {
        if (i > 0 && i % chunk_steps == 0) {
          b = matrix_next<KIND>(a, share, number++, shared);
        }
        struct tile_a rows[KIND::TILES];
        lane_ring_wait<KIND::DEPTH - 1>();
        matrix_take<KIND>(ring, i, rows);
#pragma unroll
        for (int t = 0; t < KIND::COLUMN_TILES; t++) {
          KIND::ELEMENTS::multiply(rows, b + t * TILE_COLUMNS * column_bytes, column_bytes, sum[t]);
        }
        stamp_product(sum[0][0][0]);
        b += KIND::ELEMENTS::B_STEP_BYTES;
        if (!COUNTED_LOADS && first + i + KIND::DEPTH < left) {
          matrix_fetch<KIND>(stream, i + KIND::DEPTH, ring, i);
        }
        lane_ring_end();
      }
      if (COUNTED_LOADS) { // the last step again where there are no more
        const int last = left - 1 - first;
        matrix_fetch<KIND>(stream, i + KIND::DEPTH < last ? i + KIND::DEPTH : last, ring, i);
      }
    }
    matrix_advance<KIND>(stream);
  }
}

// The sums of the share, [column tiles][row tiles][accumulators].
template <class KIND>
DEVICE void matrix_sum(const struct product_arguments &a, const struct matrix_share &share,
                       char *shared,
                       float (&sum)[KIND::COLUMN_TILES][KIND::TILES][TILE_ACCUMULATORS]) {
  struct matrix_stream<KIND> stream = matrix_stream_of<KIND>(a, share);
  matrix_ring<KIND> ring = lane_ring_make<KIND::DEPTH, KIND::TILES * TILE_PARTS>(
      shared + warp_index() * (KIND::RING_BYTES / MATRIX_WARPS));
#pragma unroll
  for (int i = 0; i < KIND::DEPTH; i++) {
    if (COUNTED_LOADS || i < share.steps) {
      matrix_fetch<KIND>(stream, COUNTED_LOADS && i >= share.steps ? share.steps - 1 : i, ring, i);
    }
    lane_ring_end();
  }
  wait_for_previous();
  matrix_begin<KIND>(a, share, shared);

  const int chunk_steps = matrix_chunk<KIND>(a) / KIND::ELEMENTS::STEP;
  const int most = chunk_steps > KIND::DEPTH ? chunk_steps : KIND::DEPTH;
#pragma unroll 1
  for (int step = 0, number = 0; step < share.steps; step += most) {
    const int left = share.steps - step;
    matrix_chunk_sum<KIND>(a, share, stream, step, left < most ? left : most, number, shared, ring,
                           sum);
  }
}

// Accumulator `index` of all: where it is held, and where in the output it belongs.
struct matrix_place {
  int tile, n, i;          // sum[tile][n][i]
  int stream, row, column; // 0, or with swiglu 1: the second
};

// Places of sums in the tile's layout; that of product_wgmma.h has as many rows in four
// accumulators.
template <class KIND> struct matrix_layout {
  DEVICE struct matrix_place place(const struct matrix_share &share, int index) {
    struct matrix_place at;
    at.i = index % TILE_ACCUMULATORS;
    at.n = index / TILE_ACCUMULATORS % KIND::TILES;
    at.tile = index / TILE_ACCUMULATORS / KIND::TILES;
    at.stream = KIND::STREAMS == 2 ? at.n : 0;
    at.row = share.row + (at.n - at.stream) * TILE_ROWS + tile_row(lane_index(), at.i);
    at.column = share.column + at.tile * TILE_COLUMNS + tile_column(lane_index(), at.i);
    return at;
  }
};

template <class KIND>
DEVICE size_t matrix_partial(const struct product_arguments &a, int split,
                             const struct matrix_place &at) {
  const int column = (split * KIND::STREAMS + at.stream) * a.batch_padded + at.column;
  return (size_t)column * (size_t)a.rows + (size_t)at.row;
}

// Passes this split's sums to the last block to arrive, where they become the sums of all splits.
// False in the other blocks.
template <class KIND>
DEVICE bool matrix_merge(const struct product_arguments &a, const struct matrix_share &share,
                         float (&sum)[KIND::COLUMN_TILES][KIND::TILES][TILE_ACCUMULATORS]) {
  constexpr int COUNT = KIND::COLUMN_TILES * KIND::TILES * TILE_ACCUMULATORS;
#pragma unroll
  for (int index = 0; index < COUNT; index++) {
    const struct matrix_place at = matrix_layout<KIND>::place(share, index);
    if (at.row < a.rows) {
      publish(a.partials + matrix_partial<KIND>(a, block_index(1), at), sum[at.tile][at.n][at.i]);
      sum[at.tile][at.n][at.i] = 0;
    }
  }
  if (!arrive_last(a.counters + block_index(0), (unsigned)a.splits)) {
    return false;
  }
  for (int split = 0; split < a.splits; split++) {
#pragma unroll
    for (int index = 0; index < COUNT; index++) {
      const struct matrix_place at = matrix_layout<KIND>::place(share, index);
      if (at.row < a.rows) {
        sum[at.tile][at.n][at.i] +=
            load_published_float(a.partials + matrix_partial<KIND>(a, split, at));
      }
    }
  }
  return true;
}

// ---- the epilogue: what is done with the sums

DEVICE float matrix_silu(float v) {
  return v / (1 + exponential(-v));
}

// What the sums of its streams, complete with factors and biases, become before the residual is
// added.
template <matrix_end END>
DEVICE float matrix_made(int mlp, const float (&sum)[MATRIX_STREAMS<END>]) {
  const float first = sum[0], last = sum[MATRIX_STREAMS<END> - 1];
  if constexpr (MATRIX_FAMILY<END>) {
    return family_made<MATRIX_STREAMS<END>>(mlp, first, last);
  }
  return END == MATRIX_SWIGLU ? matrix_silu(first) * last : first;
}

// Whether it is added.
template <matrix_end END> DEVICE bool matrix_adds(const struct product_arguments &a) {
  return END == MATRIX_ADD || (END == MATRIX_BIASED && !a.without_residual);
}

template <matrix_end END>
DEVICE void matrix_write(const struct product_arguments &a, int row, int column, float v) {
  const size_t vector = (size_t)column * (size_t)a.output_stride;
  if constexpr (END == MATRIX_STORE || END == MATRIX_ADD) {
    publish(a.output + vector + row, v);
  } else {
    pass_on(a.passed, a.output, vector, row, v);
  }
}

constexpr int LANE_ROWS = TILE_ACCUMULATORS / TILE_LANE_COLUMNS; // of a tile

// The factors of a lane's rows, which are the same in all tiles of columns, and of its columns; for
// families also the rows' biases.
template <class KIND> struct matrix_lane {
  float row[KIND::TILES * LANE_ROWS], bias[KIND::TILES * LANE_ROWS];
  float column[KIND::COLUMN_TILES * TILE_LANE_COLUMNS];
};

// All together, and before the first store: one by one, each load would be waited for behind a
// store.
template <class KIND>
DEVICE struct matrix_lane<KIND> matrix_lane_of(const struct product_arguments &a,
                                               const struct matrix_share &share) {
  typedef typename KIND::ELEMENTS elements;
  const bool given = elements::B_SCALED == SCALED_IF_GIVEN && a.activation_scales;
  struct matrix_lane<KIND> lane = {};
#pragma unroll
  for (int i = 0; i < KIND::TILES * LANE_ROWS; i++) {
    const struct matrix_place at = matrix_layout<KIND>::place(share, i * TILE_LANE_COLUMNS);
    lane.row[i] = elements::scale();
    if (elements::A_SCALED == SCALED && at.row < a.rows) {
      lane.row[i] *= load_published_float((at.stream ? a.second_scales : a.scales) + at.row);
    }
    if (MATRIX_FAMILY<KIND::END> && at.row < a.rows) {
      lane.bias[i] = family_bias(at.stream ? a.second_bias : a.bias, at.row);
    }
  }
#pragma unroll
  for (int i = 0; i < KIND::COLUMN_TILES * TILE_LANE_COLUMNS; i++) {
    const int first = i / TILE_LANE_COLUMNS * KIND::TILES * TILE_ACCUMULATORS;
    const int column = matrix_layout<KIND>::place(share, first + i % TILE_LANE_COLUMNS).column;
    lane.column[i] = elements::B_SCALED == SCALED || given
                         ? load_published_float(a.activation_scales + column)
                         : 1;
  }
  return lane;
}

// A sum of a stream with its factors and, of families, its bias.
template <class KIND>
DEVICE float matrix_complete(const struct matrix_lane<KIND> &lane, const struct matrix_place &at,
                             int stream, float sum) {
  const int row = (at.n + stream) * LANE_ROWS + at.i / TILE_LANE_COLUMNS;
  const int column = at.tile * TILE_LANE_COLUMNS + at.i % TILE_LANE_COLUMNS;
  const float complete = sum * (lane.row[row] * lane.column[column]);
  return MATRIX_FAMILY<KIND::END> ? complete + lane.bias[row] : complete;
}

// What the output holds where sums from `first` on belong: as many as registers allow are asked for
// together. Where nothing belongs it is something else: predicates would take more registers.
template <class KIND> constexpr int RESIDUALS = KIND::TILES *TILE_ACCUMULATORS;

template <class KIND>
DEVICE void matrix_residual(const struct product_arguments &a, const struct matrix_share &share,
                            int first, float (&residual)[RESIDUALS<KIND>]) {
#pragma unroll
  for (int i = 0; i < RESIDUALS<KIND>; i++) {
    const struct matrix_place at = matrix_layout<KIND>::place(share, first + i);
    const int row = at.row < a.rows ? at.row : a.rows - 1;
    const int column = at.column < a.batch ? at.column : a.batch - 1;
    residual[i] = load_published_float(a.output + (size_t)column * (size_t)a.output_stride + row);
  }
}

// What the epilogue does for a norm before or behind the product, before, with and after the sums
// from `first` on, and at the end: nothing here (product_wgmma.h).
template <class KIND> struct matrix_norm {
  DEVICE void next(const struct product_arguments &, const struct matrix_share &, int,
                   matrix_norm &) {}
  DEVICE const struct matrix_share &anew(const struct matrix_share &share) {
    return share;
  }
  DEVICE float times(const matrix_norm &, const struct matrix_place &, float sum) {
    return sum;
  }
  DEVICE void wrote(const struct product_arguments &, const struct matrix_share &, int,
                    const float *, matrix_norm &) {}
  DEVICE void end(const struct product_arguments &, const struct matrix_share &, matrix_norm &) {}
};

// One sum of the first stream, and of the others what belongs to it. Returns what is written.
template <class KIND>
DEVICE float matrix_finish_one(const struct product_arguments &a, const struct matrix_place &at,
                               const struct matrix_lane<KIND> &lane, float residual,
                               const struct matrix_norm<KIND> &norm,
                               float (&sum)[KIND::COLUMN_TILES][KIND::TILES][TILE_ACCUMULATORS]) {
  float complete[KIND::STREAMS];
#pragma unroll
  for (int s = 0; s < KIND::STREAMS; s++) {
    const float own = matrix_norm<KIND>::times(norm, at, sum[at.tile][at.n + s][at.i]);
    complete[s] = matrix_complete<KIND>(lane, at, s, own);
  }
  const float made = matrix_made<KIND::END>(a.mlp, complete);
  const float v = matrix_adds<KIND::END>(a) ? made + residual : made;
  matrix_write<KIND::END>(a, at.row, at.column, v);
  return v;
}

template <class KIND>
DEVICE void matrix_finish(const struct product_arguments &a, const struct matrix_share &share,
                          float (&sum)[KIND::COLUMN_TILES][KIND::TILES][TILE_ACCUMULATORS],
                          struct matrix_norm<KIND> norm = {}) {
  constexpr int TILE = KIND::TILES * TILE_ACCUMULATORS, SUMS = KIND::COLUMN_TILES * TILE;
  constexpr int TOGETHER = RESIDUALS<KIND>, PART = TOGETHER < TILE ? TOGETHER : TILE;
  const struct matrix_lane<KIND> lane = matrix_lane_of<KIND>(a, share);
  float residual[TOGETHER] = {};
#pragma unroll
  for (int first = 0; first < SUMS; first += PART) {
    const struct matrix_share here = matrix_norm<KIND>::anew(share);
    float *x = residual + first % TOGETHER;
    if (matrix_adds<KIND::END>(a) && first % TOGETHER == 0) {
      matrix_residual<KIND>(a, here, first, residual);
    }
    matrix_norm<KIND>::next(a, here, first, norm);
#pragma unroll
    for (int i = 0; i < PART; i++) {
      const struct matrix_place at = matrix_layout<KIND>::place(here, first + i);
      if (at.stream == 0 && at.row < a.rows && at.column < a.batch) {
        x[i] = matrix_finish_one<KIND>(a, at, lane, x[i], norm, sum);
      }
    }
    matrix_norm<KIND>::wrote(a, here, first, x, norm);
  }
  matrix_norm<KIND>::end(a, share, norm);
}

template <class KIND> DEVICE void matrix_product(const struct product_arguments &a) {
  SHARED(char, shared);
  let_next_start();
  const struct matrix_share share = matrix_share_of<KIND>(a, warp_index());
  float sum[KIND::COLUMN_TILES][KIND::TILES][TILE_ACCUMULATORS] = {};
  matrix_sum<KIND>(a, share, shared, sum);
  if (a.splits > 1 && !matrix_merge<KIND>(a, share, sum)) {
    return;
  }
  matrix_finish<KIND>(a, share, sum);
}

#define MATRIX_KERNEL(elements, end, END, columns)                                                 \
  KERNEL_BOUNDS(matrix_##elements##_##end##_##columns, product_arguments, MATRIX_WARPS *WARP,      \
                (matrix_kind<elements, END, columns>::BLOCKS)) {                                   \
    matrix_product<matrix_kind<elements, END, columns>>(a);                                        \
  }
#define MATRIX_KERNELS(elements, end, END)                                                         \
  MATRIX_KERNEL(elements, end, END, 16)                                                            \
  MATRIX_KERNEL(elements, end, END, 32)                                                            \
  MATRIX_KERNEL(elements, end, END, 64)

MATRIX_KERNELS(bf16_bf16, store, MATRIX_STORE)
MATRIX_KERNELS(bf16_bf16, add, MATRIX_ADD)
MATRIX_KERNELS(bf16_bf16, swiglu, MATRIX_SWIGLU)
MATRIX_KERNELS(bf16_bf16, biased, MATRIX_BIASED)
MATRIX_KERNELS(bf16_bf16, gated, MATRIX_GATED)
MATRIX_KERNELS(e4m3_bf16, store, MATRIX_STORE)
MATRIX_KERNELS(e4m3_bf16, add, MATRIX_ADD)
MATRIX_KERNELS(e4m3_bf16, swiglu, MATRIX_SWIGLU)
MATRIX_KERNELS(e4m3_bf16, biased, MATRIX_BIASED)
MATRIX_KERNELS(e4m3_bf16, gated, MATRIX_GATED)
MATRIX_KERNELS(e4m3_e4m3, store, MATRIX_STORE)
MATRIX_KERNELS(e4m3_e4m3, add, MATRIX_ADD)
MATRIX_KERNELS(e4m3_e4m3, swiglu, MATRIX_SWIGLU)
MATRIX_KERNELS(e4m3_e4m3, biased, MATRIX_BIASED)
MATRIX_KERNELS(e4m3_e4m3, gated, MATRIX_GATED)

#endif
