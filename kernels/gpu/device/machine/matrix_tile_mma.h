// matrix_tile_mma: the matrix tile (matrix_tile.h) on mma.sync, sm_80 and later: 16 x 8.
//
// The layouts are those of the PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point
// type" and "Matrix Fragments for mma.m16n8k32" (9.7.14.5 in version 8.7). With g = lane / 4, t =
// lane % 4 and k the index within the instruction, in BF16 and F16 (in E4M3 4t .. 4t + 3 and 16
// more):
//   A  words 0, 1: rows g, g + 8 at k = 2t, 2t + 1; words 2, 3: the same rows, k 8 more
//   B  words 0, 1: column g at k = 2t, 2t + 1, and 8 more
//   D  0, 1: row g, columns 2t, 2t + 1; 2, 3: row g + 8, the same columns
// A lane's 16 bytes of a row are used in memory order, 8 to an instruction: which k they count as
// does not change the sum, as long as a column's bytes are counted the same way.
//
// Columns are assigned so that shared memory serves 8 lanes, two columns, at once: the
// instruction's columns 2t and 2t + 1 are t and t + 4 here, which are 64 bytes apart modulo 128 if
// a column is 16 bytes longer than a multiple of 128. Of the 32 bytes of BF16 that go with 16 of
// E4M3, lanes with t >= 2 take the second half first, for the same reason.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_MATRIX_TILE_MMA_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_MATRIX_TILE_MMA_H

enum { TILE_PARTS = 2, TILE_LANE_COLUMNS = 2, TILE_ROW_MASK = 0x1C };

struct tile_a {
  struct words4 part[TILE_PARTS];
};

#if defined(PERTOKEN_EMULATOR)
#include "tests/stand_ins/emulator/matrix_instruction.h"
#else

// Whether E4M3 has an instruction. On sm_90, 100 and 103 ptxas turns mma.sync for E4M3 into
// conversions and the F16 instruction; converting here takes fewer registers.
#if __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200
#define TILE_E4M3 1
#else
#define TILE_E4M3 0
#endif

// sum += a x b, for one lane.
#define MMA_INSTRUCTION(name, shape)                                                               \
  DEVICE void name(float(&sum)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,             \
                   uint32_t b0, uint32_t b1) {                                                     \
    asm("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "                \
        "{%0, %1, %2, %3};"                                                                        \
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])                                   \
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));                                   \
  }
MMA_INSTRUCTION(mma_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
#if TILE_E4M3
MMA_INSTRUCTION(mma_e4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32")
#else
MMA_INSTRUCTION(mma_f16, "m16n8k16.row.col.f32.f16.f16.f32")
DEVICE uint32_t e4m3_pair_f16(uint32_t w, int half) {
  return cuda_e4m3_halves(w, half);
}
#endif
#endif

DEVICE int tile_part_row(int lane, int part) {
  return lane / 4 + 8 * part;
}
DEVICE int tile_part_byte(int lane, int) {
  return lane % 4 * 16;
}
DEVICE int tile_row(int lane, int i) {
  return lane / 4 + i / 2 * 8;
}
DEVICE int tile_column(int lane, int i) {
  return lane % 4 + i % 2 * 4;
}

// Where the column whose elements this lane loads begins: the instruction's column g.
DEVICE const char *tile_lane_column(const void *b, int b_stride_bytes) {
  const int g = lane_index() / 4;
  return static_cast<const char *>(b) + (g / 2 + g % 2 * 4) * b_stride_bytes;
}

template <int N>
DEVICE void tile_multiply_bf16_bf16(const tile_a (&a)[N], const void *b, int b_stride_bytes,
                                    float (&sum)[N][TILE_ACCUMULATORS]) {
  const int byte = tile_part_byte(lane_index(), 0);
  const struct words4 w = load_shared(tile_lane_column(b, b_stride_bytes) + byte);
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
#pragma unroll
    for (int n = 0; n < N; n++) {
      const struct words4 &upper = a[n].part[0], &lower = a[n].part[1];
      mma_bf16(sum[n], upper.word[i], lower.word[i], upper.word[i + 1], lower.word[i + 1],
               w.word[i], w.word[i + 1]);
    }
  }
}

template <int N>
DEVICE void tile_multiply_e4m3_bf16(const tile_a (&a)[N], const void *b, int b_stride_bytes,
                                    float (&sum)[N][TILE_ACCUMULATORS]) {
  const int byte = 2 * tile_part_byte(lane_index(), 0);
  const bool second_first = lane_index() % 4 >= 2;
  const char *column = tile_lane_column(b, b_stride_bytes) + byte;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const struct words4 w = load_shared(column + (second_first != (half == 1) ? 16 : 0));
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
      for (int n = 0; n < N; n++) {
        const struct words4 &upper = a[n].part[0], &lower = a[n].part[1];
        const int now = 2 * half + i, other = 2 - 2 * half + i;
        const uint32_t u = second_first ? upper.word[other] : upper.word[now];
        const uint32_t l = second_first ? lower.word[other] : lower.word[now];
        mma_bf16(sum[n], e4m3_pair_bf16(u), e4m3_pair_bf16(l), e4m3_pair_bf16(u, 1),
                 e4m3_pair_bf16(l, 1), w.word[2 * i], w.word[2 * i + 1]);
      }
    }
  }
}

#if TILE_E4M3
template <int N>
DEVICE void tile_multiply_e4m3_e4m3(const tile_a (&a)[N], const void *b, int b_stride_bytes,
                                    float (&sum)[N][TILE_ACCUMULATORS]) {
  const int byte = tile_part_byte(lane_index(), 0);
  const struct words4 w = load_shared(tile_lane_column(b, b_stride_bytes) + byte);
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
#pragma unroll
    for (int n = 0; n < N; n++) {
      const struct words4 &upper = a[n].part[0], &lower = a[n].part[1];
      mma_e4m3(sum[n], upper.word[i], lower.word[i], upper.word[i + 1], lower.word[i + 1],
               w.word[i], w.word[i + 1]);
    }
  }
}
#else
// F16 holds every E4M3 value, and the products are exact in float.
template <int N>
DEVICE void tile_multiply_e4m3_e4m3(const tile_a (&a)[N], const void *b, int b_stride_bytes,
                                    float (&sum)[N][TILE_ACCUMULATORS]) {
  const int byte = tile_part_byte(lane_index(), 0);
  const struct words4 w = load_shared(tile_lane_column(b, b_stride_bytes) + byte);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const uint32_t low = e4m3_pair_f16(w.word[i], 0), high = e4m3_pair_f16(w.word[i], 1);
#pragma unroll
    for (int n = 0; n < N; n++) {
      const uint32_t u = a[n].part[0].word[i], l = a[n].part[1].word[i];
      mma_f16(sum[n], e4m3_pair_f16(u, 0), e4m3_pair_f16(l, 0), e4m3_pair_f16(u, 1),
              e4m3_pair_f16(l, 1), low, high);
    }
  }
}
#endif

#endif
