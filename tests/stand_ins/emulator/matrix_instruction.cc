// The places of the elements are written down here independently, from
//   mma   PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type" and "Matrix
//         Fragments for mma.m16n8k32" (9.7.14.5 in version 8.7)
//   mfma  AMD's matrix instruction calculator, --matrix-layout for v_mfma_f32_16x16x16_bf16 and
//         v_mfma_f32_16x16x32_fp8_fp8; it does not cover gfx950's v_mfma_f32_16x16x32_bf16, whose
//         layout is in AMD's composable_kernel (xdlops_gemm.hpp)
#include "tests/stand_ins/emulator/matrix_instruction.h"

namespace {

enum {
  ROWS = 16, // of A, and at most so many columns of B
  MOST_K = 32,
  MOST_ELEMENTS = 16, // of A or B in a lane
  MAX_WARPS = EMULATOR_MOST_THREADS / WARP,
};

// The place of an element of a matrix: the lane, and which of its elements.
struct place {
  int lane, i;
};

// The differences between the instructions: `columns` of B, k elements to a sum, `per` elements in
// 32 bits.
struct instruction {
  const char *name;
  enum instruction_element type;
  int columns, k, per;
  struct place (*a)(int row, int k, int per);
  struct place (*b)(int k, int column, int per);
  int (*row)(int lane, int i);
  int (*column)(int lane, int i);
};

// F16 to float (IEEE 754 binary16); no infinity, no NaN.
float half_value(uint32_t bits) {
  const float magnitude = float_of((bits & 0x7FFF) << 13) * 0x1p112f; // biases 15 and 127
  return bits & 0x8000 ? -magnitude : magnitude;
}

// Values of E4M3 as the matrix unit sees them: without the platform's factors.
struct e4m3_values {
  float of[256];

  e4m3_values() {
    for (unsigned code = 0; code < 256; code++) {
      of[code] = emulator_e4m3(code) / sqrtf(E4M3_PRODUCT_SCALE);
    }
  }
};
const struct e4m3_values e4m3_values;

#if EMULATOR_WARP == 32

// ---- mma: with 32 / 8 = 4 lanes to a row of A, `per` neighbors in k together.
// m16n8k16: a0, a1: (g, 2t + {0, 1}); a2, a3: (g + 8, same); a4, a5: (g, 2t + 8 + {0, 1}); a6, a7:
// (g + 8, same). m16n8k32: the same with 4 for 2 and 16 for 8.
struct place mma_place_a(int row, int k, int per) {
  const int group = row % 8, thread_in_group = k % (4 * per) / per;
  const int reg = row / 8 + k / (4 * per) * 2;
  return {group * 4 + thread_in_group, reg * per + k % per};
}
// b0, b1: (2t + {0, 1}, g); b2, b3: 8 more in k.
struct place mma_place_b(int k, int column, int per) {
  const int thread_in_group = k % (4 * per) / per;
  return {column * 4 + thread_in_group, k / (4 * per) * per + k % per};
}
// c0, c1: (g, 2t + {0, 1}); c2, c3: (g + 8, same).
int mma_row(int lane, int i) {
  return lane / 4 + (i >= 2 ? 8 : 0);
}
int mma_column(int lane, int i) {
  return lane % 4 * 2 + i % 2;
}

#else

// ---- mfma: lane 16 floor(k / E) + row holds A[row][k], element k % E of its E = 32 * words / bits
// of an element; B the same with its column; D[row][column] is in lane 16 floor(row / 4) + column,
// register row % 4.
template <int E> struct place mfma_place_a(int row, int k, int) {
  return {16 * (k / E) + row, k % E};
}
template <int E> struct place mfma_place_b(int k, int column, int) {
  return {16 * (k / E) + column, k % E};
}
int mfma_row(int lane, int i) {
  return 4 * (lane / 16) + i;
}
int mfma_column(int lane, int) {
  return lane % 16;
}

#endif

const struct instruction instructions[INSTRUCTIONS] = {
#if EMULATOR_WARP == 32
    {"mma_bf16", INSTRUCTION_BF16, 8, 16, 2, mma_place_a, mma_place_b, mma_row, mma_column},
    {"mma_f16", INSTRUCTION_F16, 8, 16, 2, mma_place_a, mma_place_b, mma_row, mma_column},
    {"mma_e4m3", INSTRUCTION_E4M3, 8, 32, 4, mma_place_a, mma_place_b, mma_row, mma_column},
#else
    {"mfma_bf16", INSTRUCTION_BF16, 16, 16, 2, mfma_place_a<4>, mfma_place_b<4>, mfma_row,
     mfma_column},
    {"mfma_e4m3", INSTRUCTION_E4M3, 16, 32, 4, mfma_place_a<8>, mfma_place_b<8>, mfma_row,
     mfma_column},
    {"mfma_bf16_wide", INSTRUCTION_BF16, 16, 32, 2, mfma_place_a<8>, mfma_place_b<8>, mfma_row,
     mfma_column},
#endif
};

// The other way around: where the elements of a lane are, counted as in struct matrices.
struct layout {
  int elements_a, elements_b; // of a lane
  uint16_t a[WARP][MOST_ELEMENTS], b[WARP][MOST_ELEMENTS];
};

struct layouts {
  struct layout of[INSTRUCTIONS];

  layouts() : of() {
    for (int name = 0; name < INSTRUCTIONS; name++) {
      const struct instruction &it = instructions[name];
      struct layout &layout = of[name];
      layout.elements_a = ROWS * it.k / WARP;
      layout.elements_b = it.columns * it.k / WARP;
      for (int k = 0; k < it.k; k++) {
        for (int row = 0; row < ROWS; row++) {
          const struct place at = it.a(row, k, it.per);
          layout.a[at.lane][at.i] = static_cast<uint16_t>(row * MOST_K + k);
        }
        for (int column = 0; column < it.columns; column++) {
          const struct place at = it.b(k, column, it.per);
          layout.b[at.lane][at.i] = static_cast<uint16_t>(column * MOST_K + k);
        }
      }
    }
  }
};
const struct layouts layouts;

// What the lanes of a warp have supplied.
struct matrices {
  float a[ROWS][MOST_K], b[ROWS][MOST_K]; // B by columns
};

// A fast lane may supply the next before a slow one has computed with the last, hence two.
struct matrices supplied[EMULATOR_MOST_TOGETHER][MAX_WARPS][2];

void supply(enum instruction_element type, const struct words4 &words, int count,
            const uint16_t *places, float *matrix) {
  float values[MOST_ELEMENTS];
  instruction_values(type, words.word, count, values);
  for (int i = 0; i < count; i++) {
    matrix[places[i]] = values[i];
  }
}

} // namespace

void instruction_values(enum instruction_element type, const uint32_t *words, int count,
                        float *out) {
  switch (type) { // outside of the loops
  case INSTRUCTION_E4M3:
    for (int i = 0; i < count; i++) {
      out[i] = e4m3_values.of[words[i / 4] >> i % 4 * 8 & 0xFF];
    }
    break;
  case INSTRUCTION_F16:
    for (int i = 0; i < count; i++) {
      out[i] = half_value(words[i / 2] >> i % 2 * 16 & 0xFFFF);
    }
    break;
  case INSTRUCTION_BF16:
    for (int i = 0; i < count; i++) {
      out[i] = float_of(words[i / 2] >> i % 2 * 16 << 16);
    }
    break;
  }
}

struct instruction_sums instruction_run(enum instruction_name name, struct words4 a,
                                        struct words4 b, struct instruction_sums sum) {
  const struct instruction &it = instructions[name];
  const struct layout &layout = layouts.of[name];
  const int lane = lane_index();
  struct matrices &matrices =
      supplied[emulator_self->block->place][warp_index()][emulator_warp_turn()];
  supply(it.type, a, layout.elements_a, layout.a[lane], matrices.a[0]);
  supply(it.type, b, layout.elements_b, layout.b[lane], matrices.b[0]);
  emulator_exchange(0, 0, {it.name, __FILE__, __LINE__});
  for (int i = 0; i < 4; i++) {
    const float *row = matrices.a[it.row(lane, i)], *column = matrices.b[it.column(lane, i)];
    double total = static_cast<double>(sum.of[i]);
    for (int k = 0; k < it.k; k++) {
      total += static_cast<double>(row[k]) * static_cast<double>(column[k]);
    }
    sum.of[i] = static_cast<float>(total);
  }
  return sum;
}
