// matrix_instruction: the matrix instructions used by matrix_tile_mma.h and matrix_tile_mfma.h, on
// the host emulator, element by element according to their documented layouts, so that exactly the
// GPUs' tiles run there. For PERTOKEN_EMULATOR with TILE_MMA or TILE_MFMA; TILE_E4M3 as 0 or 1
// chooses the tile's way with E4M3, MFMA_BF16_WIDE that with BF16 (1: gfx950).
//
// Each lane supplies its registers; once all lanes of the warp have, each computes the elements of
// D that it has to hold. As a shuffle, that orders no accesses to shared memory. It cannot show how
// the units round sums within an instruction, and whether they flush subnormals.
#ifndef PERTOKEN_TESTS_STAND_INS_EMULATOR_MATRIX_INSTRUCTION_H
#define PERTOKEN_TESTS_STAND_INS_EMULATOR_MATRIX_INSTRUCTION_H

#include "kernels/gpu/device/machine/platform.h"

// What a register holds.
enum instruction_element { INSTRUCTION_BF16, INSTRUCTION_F16, INSTRUCTION_E4M3 };

// By value, so that a kernel keeps its sums in registers, which the race detector does not check.
struct instruction_sums {
  float of[4];
};

enum instruction_name {
#if EMULATOR_WARP == 32
  MMA_BF16,
  MMA_F16,
  MMA_E4M3,
#else
  MFMA_BF16,
  MFMA_E4M3,
  MFMA_BF16_OF_32,
#endif
  INSTRUCTIONS
};

// sum + A x B for one lane, in double, rounded once.
struct instruction_sums instruction_run(enum instruction_name name, struct words4 a,
                                        struct words4 b, struct instruction_sums sum);

// The elements that registers hold, as the matrix unit sees them: without the platform's factors.
void instruction_values(enum instruction_element type, const uint32_t *words, int count,
                        float *out);

DEVICE void instruction_add(enum instruction_name name, float (&sum)[4], struct words4 a,
                            struct words4 b) {
  const struct instruction_sums sums =
      instruction_run(name, a, b, {{sum[0], sum[1], sum[2], sum[3]}});
  sum[0] = sums.of[0];
  sum[1] = sums.of[1];
  sum[2] = sums.of[2];
  sum[3] = sums.of[3];
}

// ---- the names that the tiles use

#if defined(TILE_MMA)
DEVICE void mma_bf16(float (&sum)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                     uint32_t b0, uint32_t b1) {
  instruction_add(MMA_BF16, sum, {{a0, a1, a2, a3}}, {{b0, b1, 0, 0}});
}
DEVICE void mma_f16(float (&sum)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                    uint32_t b0, uint32_t b1) {
  instruction_add(MMA_F16, sum, {{a0, a1, a2, a3}}, {{b0, b1, 0, 0}});
}
DEVICE void mma_e4m3(float (&sum)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                     uint32_t b0, uint32_t b1) {
  instruction_add(MMA_E4M3, sum, {{a0, a1, a2, a3}}, {{b0, b1, 0, 0}});
}

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
DEVICE void mfma_bf16(float (&sum)[4], uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1) {
  instruction_add(MFMA_BF16, sum, {{a0, a1, 0, 0}}, {{b0, b1, 0, 0}});
}
DEVICE void mfma_e4m3(float (&sum)[4], uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1) {
  instruction_add(MFMA_E4M3, sum, {{a0, a1, 0, 0}}, {{b0, b1, 0, 0}});
}
DEVICE void mfma_bf16_wide(float (&sum)[4], struct words4 a, struct words4 b) {
  instruction_add(MFMA_BF16_OF_32, sum, a, b);
}
#endif

#endif
