// product_matrix: weights times a batch of activations, on the matrix tile: the kernels matrix_* of
// arguments.h.
//
// A warp streams its rows of the weights from memory straight into registers, MATRIX_DEPTH steps
// ahead of their use; two row tiles share each column tile's bytes. The stream begins before
// wait_for_previous and is independent of the chunks of activations, which the block copies into
// shared memory one ahead of their use, with one barrier each.
//
// Nothing here depends on the order in which blocks run: splits are summed in their own order.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PRODUCT_MATRIX_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PRODUCT_MATRIX_H

#include "kernels/gpu/arguments.h"
#include "kernels/gpu/device/family.h"
#include "kernels/gpu/device/machine/matrix_elements.h"

enum matrix_end { MATRIX_STORE, MATRIX_ADD, MATRIX_SWIGLU, MATRIX_BIASED, MATRIX_GATED };

// Compile-time parameters of a matrix product.
template <class ELEMENTS_, matrix_end END_, int COLUMNS> struct matrix_kind {
  typedef ELEMENTS_ ELEMENTS;
  static constexpr matrix_end END = END_;
  static constexpr int TILES = MATRIX_ROWS / TILE_ROWS, COLUMN_TILES = COLUMNS / TILE_COLUMNS;
  static constexpr int STREAMS = END == MATRIX_SWIGLU || END == MATRIX_GATED ? 2 : 1; // of weights
  static constexpr int ROWS = MATRIX_ROWS / STREAMS; // of the output, per warp
  // Steps of weights in registers: for 8 warps of 32 lanes each step is 16 KiB in flight. Where
  // nothing is converted, ptxas uses the registers that four steps would take to fetch columns
  // ahead.
  static constexpr bool TIGHT = COLUMNS == 64 && TILE_PARTS == 2 && ELEMENTS::AS_THEY_LIE;
  static constexpr int DEPTH = TILE_PARTS == 4 ? 1 : COLUMNS == 16 || TIGHT ? 2 : 4;
  static constexpr int BLOCKS = COLUMNS == 16 ? 2 : 1; // blocks on a multiprocessor
  // Only AMD has too little shared memory for a chunk of MATRIX_CHUNK; elsewhere the compiler
  // should know its length.
  static constexpr bool ANY_CHUNK = TILE_PARTS != 2;
  DEVICE size_t row_bytes(int stride) {
    return (size_t)stride * ELEMENTS::A_BYTES;
  }
};

// One warp's share: `row` and `column` are the first of the output; the sums run over `steps` steps
// of the tile from element `first` of a row.
struct matrix_share {
  int row, column, first, steps;
};

// Elements of an activation row in shared memory at a time, twice. A power of two, so a chunk is a
// whole number of rounds of DEPTH steps, or a round a whole number of chunks.
template <class KIND> DEVICE int matrix_chunk(const struct product_arguments &a) {
  return KIND::ANY_CHUNK ? a.chunk : MATRIX_CHUNK;
}

template <class KIND>
DEVICE struct matrix_share matrix_share_of(const struct product_arguments &a) {
  const int columns = KIND::COLUMN_TILES * TILE_COLUMNS, groups = a.batch_padded / columns;
  const int warps = MATRIX_WARPS / groups; // side by side in the rows
  const int chunk = matrix_chunk<KIND>(a), chunks = (a.stride + chunk - 1) / chunk;
  const int split = block_index(1);
  const int end = chunks * (split + 1) / a.splits * chunk;
  struct matrix_share share;
  share.row = (block_index(0) * warps + warp_index() / groups) * KIND::ROWS;
  share.column = warp_index() % groups * columns;
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

// The step `ahead` steps after the stream's current one.
template <class KIND>
DEVICE void matrix_fetch(const struct matrix_stream<KIND> &stream, int ahead,
                         struct tile_a (&to)[KIND::TILES]) {
#pragma unroll
  for (int n = 0; n < KIND::TILES; n++) {
#pragma unroll
    for (int part = 0; part < TILE_PARTS; part++) {
      to[n].part[part] = load_weights(stream.piece[n][part] + ahead * TILE_STEP_BYTES);
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

// Copies the chunk of this number, counted from the share's first, into its half of shared memory.
template <class KIND>
DEVICE void matrix_bring(const struct product_arguments &a, const struct matrix_share &share,
                         int number, char *shared) {
  const int bytes = KIND::ELEMENTS::B_BYTES, chunk = matrix_chunk<KIND>(a);
  const int pieces = chunk * bytes / 16, at_once = MATRIX_WARPS * WARP / pieces;
  const int column_bytes = matrix_column_bytes<KIND>(a);
  const int thread = thread_index_anew(), piece = thread % pieces * 16;
  const size_t row_bytes = (size_t)a.stride * bytes;
  const size_t from = ((size_t)share.first + (size_t)number * chunk) * bytes + piece;
  if (from >= row_bytes) {
    return;
  }
  const int column = thread / pieces;
  copy_to_shared(shared + (number % 2 * a.batch_padded + column) * column_bytes + piece,
                 at_once * column_bytes,
                 static_cast<const char *>(a.activations) + (size_t)column * row_bytes + from,
                 at_once * row_bytes, (a.batch_padded - column + at_once - 1) / at_once);
}

// Waits for the chunk of this number, which begins at `step`, and starts copying the next. Returns
// the warp's first column of it in shared memory.
template <class KIND>
DEVICE const char *matrix_next(const struct product_arguments &a, const struct matrix_share &share,
                               int step, int number, char *shared) {
  copies_wait();
  block_wait(); // this chunk is there, and nobody needs the one before
  if (step + matrix_chunk<KIND>(a) / KIND::ELEMENTS::STEP < share.steps) {
    matrix_bring<KIND>(a, share, number + 1, shared);
  }
  return shared + (number % 2 * a.batch_padded + share.column) * matrix_column_bytes<KIND>(a);
}

// Adds `count` steps from the stream's current `step` on: those of a chunk, or of a round where the
// chunks are shorter. `number` is that of the next chunk. Keeps the ring filled.
template <class KIND>
DEVICE void matrix_chunk_sum(const struct product_arguments &a, const struct matrix_share &share,
                             struct matrix_stream<KIND> &stream, int step, int count, int &number,
                             char *shared, struct tile_a (&ring)[KIND::DEPTH][KIND::TILES],
                             float (&sum)[KIND::COLUMN_TILES][KIND::TILES][TILE_ACCUMULATORS]) {
  const int left = share.steps - step, column_bytes = matrix_column_bytes<KIND>(a);
  const int chunk_steps = matrix_chunk<KIND>(a) / KIND::ELEMENTS::STEP;
  const char *b = matrix_next<KIND>(a, share, step, number++, shared);
#pragma unroll 1
  for (int first = 0; first < count; first += KIND::DEPTH) {
#pragma unroll
    for (int i = 0; i < KIND::DEPTH; i++) {
      if (first + i < count) {
        if (KIND::ANY_CHUNK && i > 0 && i % chunk_steps == 0) {
          b = matrix_next<KIND>(a, share, step + i, number++, shared);
        }
#pragma unroll
        for (int t = 0; t < KIND::COLUMN_TILES; t++) {
          KIND::ELEMENTS::multiply(ring[i], b + t * TILE_COLUMNS * column_bytes, column_bytes,
                                   sum[t]);
        }
        stamp_product(sum[0][0][0]);
        b += KIND::ELEMENTS::B_STEP_BYTES;
        if (!COUNTED_LOADS && first + i + KIND::DEPTH < left) {
          matrix_fetch<KIND>(stream, i + KIND::DEPTH, ring[i]);
        }
      }
      if (COUNTED_LOADS) { // the last step again where there are no more
        const int last = left - 1 - first;
        matrix_fetch<KIND>(stream, i + KIND::DEPTH < last ? i + KIND::DEPTH : last, ring[i]);
      }
    }
    matrix_advance<KIND>(stream);
  }
}

// Prefetches into L2 what `ahead` asks for beyond the steps in registers: one lane per row. The
// branch also keeps those loads before wait_for_previous: in straight-line code ptxas moves them
// behind it.
template <class KIND>
DEVICE void matrix_ask(const struct product_arguments &a, const struct matrix_share &share) {
  const int step = KIND::ELEMENTS::STEP, begun = KIND::DEPTH * step;
  const int second = KIND::STREAMS == 2 ? lane_index() / TILE_ROWS : 0;
  const int row = share.row + lane_index() - second * TILE_ROWS;
  const int wanted = a.ahead * MATRIX_CHUNK, left = share.steps * step - begun;
  const int count = wanted < left ? wanted : left;
  if (lane_index() >= MATRIX_ROWS || row >= a.rows || count <= 0) {
    return;
  }
  const size_t at = (size_t)row * (size_t)a.stride + (size_t)(share.first + begun);
  ask_for_weights(static_cast<const char *>(second ? a.second : a.weights) +
                      at * KIND::ELEMENTS::A_BYTES,
                  count * KIND::ELEMENTS::A_BYTES);
}

// The sums of the share, [column tiles][row tiles][accumulators].
template <class KIND>
DEVICE void matrix_sum(const struct product_arguments &a, const struct matrix_share &share,
                       char *shared,
                       float (&sum)[KIND::COLUMN_TILES][KIND::TILES][TILE_ACCUMULATORS]) {
  struct matrix_stream<KIND> stream = matrix_stream_of<KIND>(a, share);
  struct tile_a ring[KIND::DEPTH][KIND::TILES];
#pragma unroll
  for (int i = 0; i < KIND::DEPTH; i++) {
    if (COUNTED_LOADS || i < share.steps) {
      matrix_fetch<KIND>(stream, COUNTED_LOADS && i >= share.steps ? share.steps - 1 : i, ring[i]);
    }
  }
  matrix_ask<KIND>(a, share);
  wait_for_previous();
  matrix_bring<KIND>(a, share, 0, shared);

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

// In the tile's layout; product_wgmma.h has another.
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

// The factor for the sum of a row of a stream and a column of the batch.
template <class KIND>
DEVICE float matrix_factor(const struct product_arguments &a, int stream, int row, int column) {
  float factor = KIND::ELEMENTS::scale();
  if (KIND::ELEMENTS::A_SCALED == SCALED) {
    factor *= (stream ? a.second_scales : a.scales)[row];
  }
  if (KIND::ELEMENTS::B_SCALED == SCALED ||
      (KIND::ELEMENTS::B_SCALED == SCALED_IF_GIVEN && a.activation_scales)) {
    factor *= load_published_float(a.activation_scales + column);
  }
  return factor;
}

DEVICE float matrix_silu(float v) {
  return v / (1 + exponential(-v));
}

// For families: adds the residual and the biases, and applies the MLP's nonlinearity. `second` is 0
// with one stream.
template <class KIND>
DEVICE float matrix_family(const struct product_arguments &a, int row, const float *output,
                           float first, float second) {
  const float made = family_made<KIND::STREAMS>(a.mlp, first + family_bias(a.bias, row),
                                                second + family_bias(a.second_bias, row));
  return a.without_residual ? made : made + load_published_float(output);
}

// The epilogue: what is done with the sums.
template <class KIND>
DEVICE void matrix_finish(const struct product_arguments &a, const struct matrix_share &share,
                          float (&sum)[KIND::COLUMN_TILES][KIND::TILES][TILE_ACCUMULATORS]) {
#pragma unroll
  for (int index = 0; index < KIND::COLUMN_TILES * KIND::TILES * TILE_ACCUMULATORS; index++) {
    const struct matrix_place at = matrix_layout<KIND>::place(share, index);
    if (at.stream == 0 && at.row < a.rows && at.column < a.batch) {
      float *output = a.output + (size_t)at.column * (size_t)a.output_stride + at.row;
      float v = sum[at.tile][at.n][at.i] * matrix_factor<KIND>(a, 0, at.row, at.column);
      if (KIND::END == MATRIX_ADD) {
        v += load_published_float(output);
      }
      if (KIND::END == MATRIX_SWIGLU) {
        v = matrix_silu(v) * sum[at.tile][KIND::TILES - 1][at.i] *
            matrix_factor<KIND>(a, 1, at.row, at.column);
      }
      if constexpr (KIND::END == MATRIX_BIASED) {
        v = matrix_family<KIND>(a, at.row, output, v, 0);
      }
      if constexpr (KIND::END == MATRIX_GATED) {
        v = matrix_family<KIND>(a, at.row, output, v,
                                sum[at.tile][KIND::TILES - 1][at.i] *
                                    matrix_factor<KIND>(a, 1, at.row, at.column));
      }
      if constexpr (KIND::END == MATRIX_STORE || KIND::END == MATRIX_ADD) {
        publish(output, v);
      } else {
        pass_on(a.passed, a.output, (size_t)at.column * (size_t)a.output_stride, at.row, v);
      }
    }
  }
}

template <class KIND> DEVICE void matrix_product(const struct product_arguments &a) {
  SHARED(char, shared);
  let_next_start();
  const struct matrix_share share = matrix_share_of<KIND>(a);
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
