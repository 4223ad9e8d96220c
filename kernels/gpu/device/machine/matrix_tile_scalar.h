// matrix_tile_scalar: the matrix tile (matrix_tile.h) without a matrix unit: for gfx11, gfx12 and
// the emulator. 16 x 8 by 32 lanes, 16 x 16 by 64.
//
// A lane holds the whole step of row lane % 16, and four columns from 4 (lane / 16) on. Lanes of
// one row fetch the same bytes in the same instruction, so that memory is read once.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_MATRIX_TILE_SCALAR_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_MATRIX_TILE_SCALAR_H

#define TILE_E4M3 0

enum { TILE_PARTS = 4, TILE_LANE_COLUMNS = 4, TILE_ROW_MASK = 0xF };

struct tile_a {
  struct words4 part[TILE_PARTS];
};

DEVICE int tile_part_row(int lane, int) {
  return lane % 16;
}
DEVICE int tile_part_byte(int, int part) {
  return 16 * part;
}
DEVICE int tile_row(int lane, int) {
  return lane % 16;
}
DEVICE int tile_column(int lane, int i) {
  return lane / 16 * 4 + i;
}

// Loops over the parts of A are not unrolled, to save registers and code size: the part multiplied
// is always part 0, and then the parts move up.
template <int N> DEVICE void tile_scalar_move_up(tile_a (&a)[N]) {
#pragma unroll
  for (int n = 0; n < N; n++) {
#pragma unroll
    for (int part = 1; part < TILE_PARTS; part++) {
      a[n].part[part - 1] = a[n].part[part];
    }
  }
}
template <int N> DEVICE void tile_scalar_copy(const tile_a (&from)[N], tile_a (&to)[N]) {
#pragma unroll
  for (int n = 0; n < N; n++) {
    to[n] = from[n];
  }
}

// 16 bytes of each of this lane's four columns of B, from byte `byte` of the step. The compiler
// must not see that the stride is constant, or it would keep every address in registers.
DEVICE void tile_scalar_columns(const void *b, int b_stride_bytes, int byte,
                                struct words4 (&column)[4]) {
  const int stride = warp_alike_anew(b_stride_bytes);
  const char *first = static_cast<const char *>(b) + tile_column(lane_index(), 0) * stride;
#pragma unroll
  for (int c = 0; c < 4; c++) {
    column[c] = load_shared(first + c * stride + byte);
  }
}

// sum[n][c] += row n x column c, two elements each. The work on the next two must not start
// earlier: all of it at once would need more registers than there are.
template <int N>
DEVICE void tile_scalar_add(const float (&row_low)[N], const float (&row_high)[N],
                            const float (&low)[4], const float (&high)[4],
                            float (&sum)[N][TILE_ACCUMULATORS]) {
#pragma unroll
  for (int n = 0; n < N; n++) {
#pragma unroll
    for (int c = 0; c < 4; c++) {
      sum[n][c] += row_low[n] * low[c];
      sum[n][c] += row_high[n] * high[c];
    }
  }
#if defined(__HIP__)
  __builtin_amdgcn_sched_barrier(0);
#endif
}

// Adds a word of each row times one of each column, pairs of elements in BF16.
template <int N>
DEVICE void tile_scalar_bf16(const uint32_t (&row)[N], const struct words4 (&column)[4], int word,
                             float (&sum)[N][TILE_ACCUMULATORS]) {
  float row_low[N], row_high[N], low[4], high[4];
#pragma unroll
  for (int n = 0; n < N; n++) {
    row_low[n] = bf16_low(row[n]);
    row_high[n] = bf16_high(row[n]);
  }
#pragma unroll
  for (int c = 0; c < 4; c++) {
    low[c] = bf16_low(column[c].word[word]);
    high[c] = bf16_high(column[c].word[word]);
  }
  tile_scalar_add<N>(row_low, row_high, low, high, sum);
}

// Adds pairs of elements in E4M3; the sum lacks the product's factor.
template <int N>
DEVICE void tile_scalar_e4m3(const uint32_t (&row)[N], const uint32_t (&column)[4],
                             float (&sum)[N][TILE_ACCUMULATORS]) {
  float row_low[N], row_high[N], low[4], high[4];
#pragma unroll
  for (int n = 0; n < N; n++) {
    e4m3_pair(row[n], &row_low[n], &row_high[n]);
    row_low[n] *= 1 / E4M3_PRODUCT_SCALE;
    row_high[n] *= 1 / E4M3_PRODUCT_SCALE;
  }
#pragma unroll
  for (int c = 0; c < 4; c++) {
    e4m3_pair(column[c], &low[c], &high[c]);
  }
  tile_scalar_add<N>(row_low, row_high, low, high, sum);
}

template <int N>
DEVICE void tile_multiply_bf16_bf16(const tile_a (&a)[N], const void *b, int b_stride_bytes,
                                    float (&sum)[N][TILE_ACCUMULATORS]) {
  tile_a left[N];
  tile_scalar_copy<N>(a, left);
#pragma unroll 1
  for (int part = 0; part < TILE_PARTS; part++) {
    struct words4 column[4];
    tile_scalar_columns(b, b_stride_bytes, 16 * part, column);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t row[N];
#pragma unroll
      for (int n = 0; n < N; n++) {
        row[n] = left[n].part[0].word[i];
      }
      tile_scalar_bf16<N>(row, column, i, sum);
    }
    tile_scalar_move_up<N>(left);
  }
}

template <int N>
DEVICE void tile_multiply_e4m3_bf16(const tile_a (&a)[N], const void *b, int b_stride_bytes,
                                    float (&sum)[N][TILE_ACCUMULATORS]) {
  tile_a left[N];
  tile_scalar_copy<N>(a, left);
#pragma unroll 1
  for (int part = 0; part < TILE_PARTS; part++) {
    struct words4 column[4];
#pragma unroll
    for (int i = 0; i < 8; i++) { // two elements at a time, 16 bytes of B every fourth time
      if (i % 4 == 0) {
        tile_scalar_columns(b, b_stride_bytes, 32 * part + 4 * i, column);
      }
      uint32_t row[N];
#pragma unroll
      for (int n = 0; n < N; n++) {
        row[n] = e4m3_pair_bf16(left[n].part[0].word[i / 2] >> i % 2 * 16);
      }
      tile_scalar_bf16<N>(row, column, i % 4, sum);
    }
    tile_scalar_move_up<N>(left);
  }
}

template <int N>
DEVICE void tile_multiply_e4m3_e4m3(const tile_a (&a)[N], const void *b, int b_stride_bytes,
                                    float (&sum)[N][TILE_ACCUMULATORS]) {
  tile_a left[N];
  tile_scalar_copy<N>(a, left);
#pragma unroll 1
  for (int part = 0; part < TILE_PARTS; part++) {
    struct words4 column[4];
    tile_scalar_columns(b, b_stride_bytes, 16 * part, column);
#pragma unroll
    for (int i = 0; i < 8; i++) {
      uint32_t row[N], codes[4];
#pragma unroll
      for (int n = 0; n < N; n++) {
        row[n] = left[n].part[0].word[i / 2] >> i % 2 * 16;
      }
#pragma unroll
      for (int c = 0; c < 4; c++) {
        codes[c] = column[c].word[i / 2] >> i % 2 * 16;
      }
      tile_scalar_e4m3<N>(row, codes, sum);
    }
    tile_scalar_move_up<N>(left);
  }
}

#endif
