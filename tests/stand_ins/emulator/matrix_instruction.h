// matrix_instruction: the matrix instructions used by matrix_tile_mma.h and matrix_tile_mfma.h, on
// the host emulator, element by element according to their documented layouts, so that exactly the
// GPUs' tiles run there. For PERTOKEN_EMULATOR with TILE_MMA or TILE_MFMA; TILE_E4M3 as 0 or 1
// chooses the tile's way with E4M3, MFMA_BF16_WIDE that with BF16 (1: gfx950).
//
// Each lane supplies its registers; after a wait of the warp, each computes the elements of D that
// it has to hold. The places of the elements are written down here independently, from
//   mma   PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type" and "Matrix
//         Fragments for mma.m16n8k32" (9.7.14.5 in version 8.7)
//   mfma  AMD's matrix instruction calculator, --matrix-layout for v_mfma_f32_16x16x16_bf16 and
//         v_mfma_f32_16x16x32_fp8_fp8; it does not cover gfx950's v_mfma_f32_16x16x32_bf16, whose
//         layout is in AMD's composable_kernel (xdlops_gemm.hpp)
// It cannot show how the units round sums within an instruction, and whether they flush subnormals.
#ifndef PERTOKEN_MATRIX_INSTRUCTION_H
#define PERTOKEN_MATRIX_INSTRUCTION_H

#include "kernels/gpu/device/machine/platform.h"

// A register's contents, and the number of them in 32 bits.
enum instruction_element { INSTRUCTION_BF16, INSTRUCTION_F16, INSTRUCTION_E4M3 };

enum { INSTRUCTION_WORDS = 4 }; // maximum number of registers of A or B

struct instruction_registers {
  uint32_t a[INSTRUCTION_WORDS], b[INSTRUCTION_WORDS];
};

// The registers of all threads of the blocks that are resident at the same time.
struct instruction_block {
  const struct emulator_block *block;
  struct instruction_registers of[EMULATOR_MOST_THREADS];
};

static struct instruction_registers *instruction_registers_of_block(void) {
  static struct instruction_block blocks[EMULATOR_MOST_TOGETHER];
  for (struct instruction_block &b : blocks) {
    if (!b.block || b.block == emulator_self->block) {
      b.block = emulator_self->block;
      return b.of;
    }
  }
  emulator_fail("more blocks than matrix_instruction knows");
}

// F16 to float (IEEE 754 binary16); no infinity, no NaN.
DEVICE float instruction_half(uint32_t bits) {
  const float magnitude = float_of((bits & 0x7FFF) << 13) * 0x1p112f; // biases 15 and 127
  return bits & 0x8000 ? -magnitude : magnitude;
}

// Element i of the registers that hold it, as the matrix unit sees it: without the platform's
// factors.
DEVICE float instruction_value(enum instruction_element type, const uint32_t *words, int i) {
  if (type == INSTRUCTION_E4M3) {
    float low, high;
    e4m3_pair(words[i / 4] >> i % 4 / 2 * 16, &low, &high);
    return (i % 2 ? high : low) / sqrtf(E4M3_PRODUCT_SCALE);
  }
  const uint32_t bits = words[i / 2] >> i % 2 * 16 & 0xFFFF;
  return type == INSTRUCTION_F16 ? instruction_half(bits) : float_of(bits << 16);
}

// The place of an element of a matrix: the lane, and which of its elements.
struct instruction_place {
  int lane, i;
};

// The differences between the instructions: `per` elements in 32 bits, k in all.
struct instruction {
  enum instruction_element type;
  int k, words_a, words_b;
  struct instruction_place (*a)(int row, int k, int per);
  struct instruction_place (*b)(int k, int column, int per);
  int (*row)(int lane, int i);
  int (*column)(int lane, int i);
};

// ---- mma: with 32 / 8 = 4 lanes to a row of A, `per` neighbors in k together.
// m16n8k16: a0, a1: (g, 2t + {0, 1}); a2, a3: (g + 8, same); a4, a5: (g, 2t + 8 + {0, 1}); a6, a7:
// (g + 8, same). m16n8k32: the same with 4 for 2 and 16 for 8.
DEVICE struct instruction_place mma_place_a(int row, int k, int per) {
  const int group = row % 8, thread_in_group = k % (4 * per) / per;
  const int reg = row / 8 + k / (4 * per) * 2;
  return {group * 4 + thread_in_group, reg * per + k % per};
}
// b0, b1: (2t + {0, 1}, g); b2, b3: 8 more in k.
DEVICE struct instruction_place mma_place_b(int k, int column, int per) {
  const int thread_in_group = k % (4 * per) / per;
  return {column * 4 + thread_in_group, k / (4 * per) * per + k % per};
}
// c0, c1: (g, 2t + {0, 1}); c2, c3: (g + 8, same).
DEVICE int mma_row(int lane, int i) {
  return lane / 4 + (i >= 2 ? 8 : 0);
}
DEVICE int mma_column(int lane, int i) {
  return lane % 4 * 2 + i % 2;
}

// ---- mfma: lane 16 floor(k / E) + row holds A[row][k], element k % E of its E = 32 * words / bits
// of an element; B the same with its column; D[row][column] is in lane 16 floor(row / 4) + column,
// register row % 4.
template <int E> DEVICE struct instruction_place mfma_place_a(int row, int k, int) {
  return {16 * (k / E) + row, k % E};
}
template <int E> DEVICE struct instruction_place mfma_place_b(int k, int column, int) {
  return {16 * (k / E) + column, k % E};
}
DEVICE int mfma_row(int lane, int i) {
  return 4 * (lane / 16) + i;
}
DEVICE int mfma_column(int lane, int) {
  return lane % 16;
}

// sum += A x B for one lane, in double, rounded once.
DEVICE void instruction_run(const struct instruction &it, const uint32_t *a, const uint32_t *b,
                            float (&sum)[4]) {
  struct instruction_registers *warp =
      instruction_registers_of_block() + thread_index() - lane_index();
  memcpy(warp[lane_index()].a, a, (size_t)it.words_a * sizeof *a);
  memcpy(warp[lane_index()].b, b, (size_t)it.words_b * sizeof *b);
  warp_wait();
  const int per = it.type == INSTRUCTION_E4M3 ? 4 : 2;
  for (int i = 0; i < 4; i++) {
    double total = (double)sum[i];
    for (int k = 0; k < it.k; k++) {
      const struct instruction_place at = it.a(it.row(lane_index(), i), k, per);
      const struct instruction_place bt = it.b(k, it.column(lane_index(), i), per);
      total += (double)instruction_value(it.type, warp[at.lane].a, at.i) *
               (double)instruction_value(it.type, warp[bt.lane].b, bt.i);
    }
    sum[i] = (float)total;
  }
  warp_wait(); // before a lane supplies the next registers
}

// ---- the names that the tiles use

#if defined(TILE_MMA)
#define INSTRUCTION_MMA(name, type, k)                                                             \
  DEVICE void name(float(&sum)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,             \
                   uint32_t b0, uint32_t b1) {                                                     \
    const struct instruction it = {type, k, 4, 2, mma_place_a, mma_place_b, mma_row, mma_column};  \
    const uint32_t a[4] = {a0, a1, a2, a3}, b[2] = {b0, b1};                                       \
    instruction_run(it, a, b, sum);                                                                \
  }
INSTRUCTION_MMA(mma_bf16, INSTRUCTION_BF16, 16)
INSTRUCTION_MMA(mma_f16, INSTRUCTION_F16, 16)
INSTRUCTION_MMA(mma_e4m3, INSTRUCTION_E4M3, 32)

// An f16 can hold every E4M3: sign, 4 bits of exponent and 3 of fraction moved into place give the
// value times 2^-8 (biases 7 and 15), for subnormals too; here as real values.
DEVICE uint32_t instruction_half_of(uint32_t code) {
  const float magnitude = float_of((code & 0x7F) << 20) * 0x1p120f;
  const uint32_t bits = bits_of(magnitude * 0x1p-112f) >> 13;
  return bits | (code & 0x80) << 8;
}
DEVICE uint32_t e4m3_pair_f16(uint32_t w, int half) {
  const uint32_t codes = w >> 16 * half;
  return instruction_half_of(codes & 0xFF) | instruction_half_of(codes >> 8 & 0xFF) << 16;
}
#endif

#if defined(TILE_MFMA)
#define INSTRUCTION_MFMA(name, type, k, e)                                                         \
  DEVICE void name(float(&sum)[4], uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1) {           \
    const struct instruction it = {type,     k,          2, 2, mfma_place_a<e>, mfma_place_b<e>,   \
                                   mfma_row, mfma_column};                                         \
    const uint32_t a[2] = {a0, a1}, b[2] = {b0, b1};                                               \
    instruction_run(it, a, b, sum);                                                                \
  }
INSTRUCTION_MFMA(mfma_bf16, INSTRUCTION_BF16, 16, 4)
INSTRUCTION_MFMA(mfma_e4m3, INSTRUCTION_E4M3, 32, 8)
DEVICE void mfma_bf16_wide(float (&sum)[4], struct words4 a, struct words4 b) {
  const struct instruction it = {INSTRUCTION_BF16, 32,       4,          4, mfma_place_a<8>,
                                 mfma_place_b<8>,  mfma_row, mfma_column};
  instruction_run(it, a.word, b.word, sum);
}
#endif

#endif
