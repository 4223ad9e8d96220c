// matrix_tile_mfma: the matrix tile (matrix_tile.h) on the MFMA instructions of gfx90a, gfx942 and
// gfx950, for waves of 64: 16 x 16.
//
// The layouts are those of AMD's matrix instruction calculator
// (ROCm/amd_matrix_instruction_calculator, --register-layout; CDNA 2 and 3) and of "AMD Instinct
// MI300 Instruction Set Architecture", chapter 7; that of gfx950's own instruction is from AMD's
// composable_kernel (xdlops_gemm.hpp, mfma_f32_16x16x32bf16). With q = lane / 16 and k the index
// within the instruction:
//   A  row lane % 16, k = Eq .. Eq + E - 1, E elements together: 4 of BF16 (16x16x16), 8 of E4M3
//      (16x16x32) or of BF16 on gfx950 (16x16x32)
//   B  column lane % 16, the same k
//   D  i: row 4q + i, column lane % 16
// A lane's 16 bytes of a row are used in memory order, E elements to an instruction: which k they
// count as does not change the sum, as long as a column's bytes are counted the same way.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_MATRIX_TILE_MFMA_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_MATRIX_TILE_MFMA_H

enum { TILE_PARTS = 1, TILE_LANE_COLUMNS = 1, TILE_ROW_MASK = 0x30 };

struct tile_a {
  struct words4 part[TILE_PARTS];
};

// sum += a x b, for one lane: mfma_bf16_wide takes 4 words of BF16 on each side, mfma_bf16 2, and
// mfma_e4m3 2 of E4M3.
#if defined(PERTOKEN_EMULATOR)
#include "tests/stand_ins/emulator/matrix_instruction.h"
#else

// Whether E4M3 has an instruction, and BF16 the wide one.
#if defined(__gfx942__) || defined(__gfx950__)
#define TILE_E4M3 1
#else
#define TILE_E4M3 0
#endif
#if defined(__gfx950__)
#define MFMA_BF16_WIDE 1
#else
#define MFMA_BF16_WIDE 0
#endif

typedef float mfma_sum __attribute__((ext_vector_type(4)));
typedef short mfma_shorts __attribute__((ext_vector_type(4)));

DEVICE mfma_sum mfma_load(const float (&sum)[4]) {
  return mfma_sum{sum[0], sum[1], sum[2], sum[3]};
}
DEVICE void mfma_store(float (&sum)[4], mfma_sum v) {
  sum[0] = v.x;
  sum[1] = v.y;
  sum[2] = v.z;
  sum[3] = v.w;
}
DEVICE uint64_t mfma_words(uint32_t low, uint32_t high) {
  return (uint64_t)high << 32 | low;
}

#if MFMA_BF16_WIDE
typedef __bf16 mfma_bf16x8 __attribute__((ext_vector_type(8)));
DEVICE void mfma_bf16_wide(float (&sum)[4], struct words4 a, struct words4 b) {
  mfma_store(sum, __builtin_amdgcn_mfma_f32_16x16x32_bf16(__builtin_bit_cast(mfma_bf16x8, a),
                                                          __builtin_bit_cast(mfma_bf16x8, b),
                                                          mfma_load(sum), 0, 0, 0));
}
#else
DEVICE void mfma_bf16(float (&sum)[4], uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1) {
  const mfma_shorts a = __builtin_bit_cast(mfma_shorts, mfma_words(a0, a1));
  const mfma_shorts b = __builtin_bit_cast(mfma_shorts, mfma_words(b0, b1));
  mfma_store(sum, __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, mfma_load(sum), 0, 0, 0));
}
#endif
#if TILE_E4M3
DEVICE void mfma_e4m3(float (&sum)[4], uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1) {
  mfma_store(sum, __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(
                      (long)mfma_words(a0, a1), (long)mfma_words(b0, b1), mfma_load(sum), 0, 0, 0));
}
#endif
#endif

DEVICE int tile_part_row(int lane, int) {
  return lane % 16;
}
DEVICE int tile_part_byte(int lane, int) {
  return lane / 16 * 16;
}
DEVICE int tile_row(int lane, int i) {
  return lane / 16 * 4 + i;
}
DEVICE int tile_column(int lane, int) {
  return lane % 16;
}

// Where the column whose elements this lane loads begins.
DEVICE const char *tile_lane_column(const void *b, int b_stride_bytes) {
  return static_cast<const char *>(b) + lane_index() % 16 * b_stride_bytes;
}

// sum += a x b for 8 elements of BF16 of each lane.
DEVICE void tile_mfma_bf16(float (&sum)[4], struct words4 a, struct words4 b) {
#if MFMA_BF16_WIDE
  mfma_bf16_wide(sum, a, b);
#else
  mfma_bf16(sum, a.word[0], a.word[1], b.word[0], b.word[1]);
  mfma_bf16(sum, a.word[2], a.word[3], b.word[2], b.word[3]);
#endif
}

template <int N>
DEVICE void tile_multiply_bf16_bf16(const tile_a (&a)[N], const void *b, int b_stride_bytes,
                                    float (&sum)[N][TILE_ACCUMULATORS]) {
  const int byte = tile_part_byte(lane_index(), 0);
  const struct words4 w = load_shared(tile_lane_column(b, b_stride_bytes) + byte);
#pragma unroll
  for (int n = 0; n < N; n++) {
    tile_mfma_bf16(sum[n], a[n].part[0], w);
  }
}

template <int N>
DEVICE void tile_multiply_e4m3_bf16(const tile_a (&a)[N], const void *b, int b_stride_bytes,
                                    float (&sum)[N][TILE_ACCUMULATORS]) {
  const int byte = 2 * tile_part_byte(lane_index(), 0);
  const char *column = tile_lane_column(b, b_stride_bytes) + byte;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const struct words4 w = load_shared(column + 16 * half);
#pragma unroll
    for (int n = 0; n < N; n++) {
      const uint32_t u = a[n].part[0].word[2 * half], v = a[n].part[0].word[2 * half + 1];
      const struct words4 wide = {
          {e4m3_pair_bf16(u), e4m3_pair_bf16(u >> 16), e4m3_pair_bf16(v), e4m3_pair_bf16(v >> 16)}};
      tile_mfma_bf16(sum[n], wide, w);
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
      const struct words4 &part = a[n].part[0];
      mfma_e4m3(sum[n], part.word[i], part.word[i + 1], w.word[i], w.word[i + 1]);
    }
  }
}
#else
// Four E4M3 as their values in BF16, which holds them, so truncation is exact.
DEVICE void tile_widen(uint32_t w, uint32_t (&wide)[2]) {
#pragma unroll
  for (int i = 0; i < 2; i++) {
    float low, high;
    e4m3_pair(w >> 16 * i, &low, &high);
    wide[i] = bits_of(low) >> 16 | (bits_of(high) & 0xFFFF0000u);
  }
}

template <int N>
DEVICE void tile_multiply_e4m3_e4m3(const tile_a (&a)[N], const void *b, int b_stride_bytes,
                                    float (&sum)[N][TILE_ACCUMULATORS]) {
  const int byte = tile_part_byte(lane_index(), 0);
  const struct words4 w = load_shared(tile_lane_column(b, b_stride_bytes) + byte);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    uint32_t columns[2];
    tile_widen(w.word[i], columns);
#pragma unroll
    for (int n = 0; n < N; n++) {
      uint32_t rows[2];
      tile_widen(a[n].part[0].word[i], rows);
      mfma_bf16(sum[n], rows[0], rows[1], columns[0], columns[1]);
    }
  }
}
#endif

#endif
