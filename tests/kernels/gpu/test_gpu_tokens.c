// The GPU's small kernels, run separately by the host emulator: rounding activations and choosing a
// token are bit-identical to the host.
// Deep: on all emulators, and as nvcc's PTX.
#include "kernels/integers.h"
#include "tests/support/kernels/emulated.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/token.h"
#include "kernels/reference/reference.h"

static float sign_at(int vector, int column) {
  return (vector * 5 + column * 3 + vector * column / 2) % 2 ? -1.0f : 1.0f;
}

// ---- rounding

// Spread over many binades, including ties.
static float any_value(uint32_t i) {
  const uint32_t hash = weights_hash(7, i);
  const float magnitude = ldexpf((float)(hash & 0x7FFF), -12 - (int)(hash >> 16 & 7));
  return hash >> 31 ? -magnitude : magnitude;
}

static float rounding_input(int batch_row, int columns, int c) {
  static const float units[] = {1, 0, 0x1p-100f, 0x1p-140f, 1e30f};
  return any_value((uint32_t)(batch_row * columns + c)) * units[batch_row % 5];
}

static void check_rounding(const struct emulated *plugin, enum element to, bool with_norm,
                           int columns) {
  enum { BATCH = 7, PADDED = 16 };
  const int stride = (int)round_up((size_t)columns, ROW_ALIGNMENT);
  const int apart = columns + (columns % 8 ? 0 : 4); // from a vector to the next
  float *input = emulated_take(size(BATCH * apart) * sizeof *input);
  float *norm = emulated_take((size_t)columns * sizeof *norm),
        *scales = emulated_take(PADDED * sizeof *scales);
  void *output = emulated_take(size(PADDED * stride) * element_bytes(to));
  for (int c = 0; c < columns; c++) {
    norm[c] = any_value((uint32_t)c + 5000);
    for (int b = 0; b < BATCH; b++) {
      input[b * apart + c] = with_norm ? sign_at(b, c) : rounding_input(b, columns, c);
    }
  }
  const struct round_arguments a = {
      input, with_norm ? norm : NULL, 0, columns, stride, BATCH, output, scales, NULL, apart, 0};
  char kernel[64];
  snprintf(kernel, sizeof kernel, "round_%s_%s", element_names[to], with_norm ? "norm" : "round");
  emulated_run(plugin, kernel, PADDED, 1, 1, ROUND_THREADS, 1024, &a, sizeof a);
  for (int b = 0; b < PADDED; b++) {
    float largest = 0;
    for (int c = 0; c < columns && b < BATCH; c++) {
      largest = fmaxf(largest, fabsf(input[b * apart + c] * (with_norm ? norm[c] : 1)));
    }
    const float scale = to == ELEMENT_E4M3 && largest > 0 ? largest / 448 : 1;
    const bool tiny = scale < FLT_MIN; // too small for exact quotients
    for (int c = 0; c < stride; c++) {
      const bool inside = b < BATCH && c < columns;
      const float x = inside ? input[b * apart + c] * (with_norm ? norm[c] : 1) / scale : 0;
      const float got = element_get(plugin, to, output, size(b * stride + c));
      uint16_t expected = 0;
      element_put(plugin, to, &expected, 0, x);
      if (!(tiny ? isfinite(got) : got == element_get(plugin, to, &expected, 0))) {
        fail_msg("%s, %s, %d columns: vector %d, element %d: %a is held as %a, not %a",
                 plugin->name, kernel, columns, b, c, (double)x, (double)got,
                 (double)element_get(plugin, to, &expected, 0));
      }
    }
    if (to == ELEMENT_E4M3) {
      assert_true(tiny ? isfinite(scales[b]) : scales[b] == scale);
    }
  }
  emulated_give_back();
}

static void test_rounding_is_the_hosts(void **unused) {
  static const int columns[] = {1, 8, 63, 64, 65, 1000, 4102};
  (void)unused;
  for (size_t p = 0; p < EMULATED; p++) {
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
      for (int with_norm = 0; with_norm < 2; with_norm++) {
        check_rounding(&emulated[p], ELEMENT_BF16, with_norm, columns[c]);
        check_rounding(&emulated[p], ELEMENT_E4M3, with_norm, columns[c]);
      }
    }
  }
}

static void test_the_first_of_the_largest_is_chosen(void **unused) {
  enum { BATCH = 6 };
  static const int vocabs[] = {1, 2, 300, 64 * 256, 40001};
  (void)unused;
  for (size_t i = 0; i < EMULATED * 5; i++) {
    const struct emulated *plugin = &emulated[i / 5];
    const int vocab = vocabs[i % 5], first = vocab / 3, second = vocab - 1;
    float *logits = emulated_take(size(BATCH * vocab) * sizeof *logits);
    for (int k = 0; k < BATCH * vocab; k++) {
      logits[k] = -1 - (float)(k * 7 % 13);
    }
    logits[first] = 3; // in row 0, twice
    logits[second] = 3;
    logits[vocab + second] = 3;                   // in row 1, at the very end
    for (int k = 2 * vocab; k < 3 * vocab; k++) { // in row 2, all equal
      logits[k] = -2;
    }
    for (int k = 3 * vocab; k < 4 * vocab; k++) { // in row 3, a single number among NaNs
      logits[k] = k == 3 * vocab + first ? -INFINITY : NAN;
    }
    logits[5 * vocab + first] = INFINITY;
    const struct sample_arguments a = {
        .logits = logits,
        .vocab = vocab,
        .best = emulated_take(BATCH * SAMPLE_BLOCKS * sizeof(float)),
        .best_index = emulated_take(BATCH * SAMPLE_BLOCKS * sizeof(int)),
        .counters = emulated_take(BATCH * sizeof(unsigned)),
        .tokens = emulated_take(BATCH * sizeof(int)),
    };
    memset(a.counters, 0, BATCH * sizeof(unsigned));
    emulated_run(plugin, "sample", SAMPLE_BLOCKS, BATCH, 1, SMALL_THREADS, 1024, &a, sizeof a);
    assert_int_equal(a.tokens[0], first);
    assert_int_equal(a.tokens[1], second);
    assert_int_equal(a.tokens[2], 0);
    assert_int_equal(a.tokens[3], first);
    assert_int_equal(a.tokens[5], first);
    for (int b = 0; b < BATCH; b++) {
      assert_int_equal(a.counters[b], 0);
    }
    emulated_give_back();
  }
}

// With ranks: keys are ordered like the best logits, the first of equal ones before the others, and
// are the same for both zeros; the token is that of the largest key, here of two ranks.
static void test_the_best_of_all_ranks_is_chosen(void **unused) {
  enum { VOCAB = 3, ROWS = 9, RANKS = 2 };
  static const float best[ROWS][RANKS] = {
      {1, 2},     {2, 1},        {2, 2},          {-1, -2},   {-2, -1},
      {-0.0f, 0}, {INFINITY, 3}, {-INFINITY, -9}, {NAN, NAN},
  };
  static const int tokens[ROWS] = {101, 1, 1, 1, 101, 1, 1, 101, 0};
  (void)unused;
  for (size_t i = 0; i < EMULATED; i++) {
    uint64_t *keys[RANKS];
    float *logits = emulated_take(sizeof(float[ROWS][VOCAB]));
    int *chosen = emulated_take(sizeof(int[ROWS]));
    unsigned *counters = emulated_take(sizeof(unsigned[ROWS]));
    memset(counters, 0, sizeof(unsigned[ROWS]));
    for (int rank = 0; rank < RANKS; rank++) {
      for (int k = 0; k < ROWS * VOCAB; k++) {
        logits[k] = k % VOCAB == 1 ? best[k / VOCAB][rank] : NAN;
      }
      keys[rank] = emulated_take(sizeof(uint64_t[ROWS]));
      const struct sample_arguments a = {
          .logits = logits,
          .vocab = VOCAB,
          .best = emulated_take(ROWS * SAMPLE_BLOCKS * sizeof(float)),
          .best_index = emulated_take(ROWS * SAMPLE_BLOCKS * sizeof(int)),
          .counters = counters,
          .first = 100 * rank,
          .keys = keys[rank],
      };
      emulated_run(&emulated[i], "sample", SAMPLE_BLOCKS, ROWS, 1, SMALL_THREADS, 1024, &a,
                   sizeof a);
    }
    for (int row = 0; row < ROWS; row++) {
      keys[0][row] = keys[1][row] > keys[0][row] ? keys[1][row] : keys[0][row];
    }
    const struct sample_key_arguments a = {keys[0], ROWS, chosen};
    emulated_run(&emulated[i], "sample_key", 1, 1, 1, SMALL_THREADS, 0, &a, sizeof a);
    assert_memory_equal(chosen, tokens, sizeof tokens);
    emulated_give_back();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rounding_is_the_hosts),
      cmocka_unit_test(test_the_first_of_the_largest_is_chosen),
      cmocka_unit_test(test_the_best_of_all_ranks_is_chosen),
  };
  return cmocka_run_group_tests(tests, emulated_load, emulated_unload);
}
