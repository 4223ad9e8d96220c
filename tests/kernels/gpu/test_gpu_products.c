// The GPU's products by vectors, run separately by the host emulator: products of integers must be
// exact, and so must the rows of an embedding.
// Deep: on all emulators, and as nvcc's PTX.
// Seconds: 1, deep 4
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/token.h"
#include "kernels/integers.h"
#include "tests/support/kernels/emulated.h"
#include "tests/support/kernels/integer_product.h"

#include <stdio.h>

// What ADD takes, as the product before passes it on.
static void *take_rounded(const struct product *p, int apart) {
  void *rounded = emulated_take(size(p->batch * apart) * sizeof(uint16_t));
  for (int b = 0; b < p->batch; b++) {
    for (int c = 0; c < p->columns; c++) {
      element_put(p->plugin, ELEMENT_BF16, rounded, size(b * apart + c), input_at(b, c));
    }
  }
  return rounded;
}

static void check_vector(const struct product *p, unsigned blocks) {
  char kernel[64];
  struct product_arguments a = make_arguments(p);
  const int apart = p->columns + (p->batch == 3 ? 8 : 0); // from a vector to the next
  float *input = emulated_take(size(p->batch * apart) * sizeof *input);
  float *norm = emulated_take((size_t)p->columns * sizeof *norm);
  for (int c = 0; c < p->columns; c++) {
    norm[c] = norm_at(c);
    for (int b = 0; b < p->batch; b++) {
      input[b * apart + c] = p->end == ADD ? input_at(b, c) : sign_at(b, c);
    }
  }
  a.input = p->rounded ? take_rounded(p, apart) : input;
  a.rounded = p->rounded;
  a.input_stride = apart;
  a.norm = p->end == ADD ? NULL : norm;
  const int vectors = p->batch > 2 ? VECTOR_BATCH : p->batch;
  snprintf(kernel, sizeof kernel, "vector_%s_%s_%s_%s_%d", element_names[p->weights],
           element_names[p->activations], p->end == ADD ? "round" : "norm", end_names[p->end],
           vectors);
  emulated_run(p->plugin, kernel, blocks, 1, 1, VECTOR_THREADS,
               vector_shared_bytes(a.stride, vectors, element_bytes(p->activations)), &a, sizeof a);
  check_output(p, kernel, a.output, a.output_stride);
  emulated_give_back();
}

static void test_vector_products_are_exact(void **unused) {
  static const struct {
    int rows, columns;
    unsigned blocks;
  } shapes[] = {
      {1, 1, 1},    {3, 64, 2},   {40, 65, 1},   {37, 130, 3}, {17, 1000, 2},
      {3, 4300, 1}, {2, 8704, 1}, {37, 4096, 1}, {18, 8192, 1}}; // the last: whole windows
  (void)unused;
  for (size_t i = 0; i < EMULATED * WEIGHT_KINDS; i++) {
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      for (int batch = 1; batch <= VECTOR_BATCH; batch++) {
        const struct product p = {.plugin = &emulated[i / WEIGHT_KINDS],
                                  .weights = weight_kinds[i % WEIGHT_KINDS][0],
                                  .activations = weight_kinds[i % WEIGHT_KINDS][1],
                                  .end = (enum end)((i + s + (size_t)batch) % 3),
                                  .rows = shapes[s].rows,
                                  .columns = shapes[s].columns,
                                  .batch = batch,
                                  .passed = passed_of((enum end)((i + s + (size_t)batch) % 3),
                                                      (s + (size_t)batch / 2) % 2)};
        check_vector(&p, shapes[s].blocks);
      }
    }
  }
}

// Fewer than the threads' loads at a time, and more.
static void test_rounded_vectors_are_taken(void **unused) {
  static const int columns[] = {64, 4160, 16448};
  (void)unused;
  for (size_t i = 0; i < EMULATED * WEIGHT_KINDS; i++) {
    for (size_t s = 0; s < sizeof columns / sizeof columns[0]; s++) {
      const struct product p = {.plugin = &emulated[i / WEIGHT_KINDS],
                                .weights = weight_kinds[i % WEIGHT_KINDS][0],
                                .activations = weight_kinds[i % WEIGHT_KINDS][1],
                                .end = ADD,
                                .rows = 3,
                                .columns = columns[s],
                                .batch = 1 + (int)(i + s) % VECTOR_BATCH,
                                .rounded = true};
      if (p.activations == ELEMENT_BF16)
        check_vector(&p, 1);
    }
  }
}

static void test_embedding_is_exact(void **unused) {
  enum { VOCAB = 5, BATCH = 4 };
  static const int hidden[] = {1, 7, 64, 65, 4500};
  (void)unused;
  for (size_t i = 0; i < EMULATED * 2 * 5; i++) {
    const struct emulated *plugin = &emulated[i / 10];
    const enum element type = i % 2 ? ELEMENT_E4M3 : ELEMENT_BF16;
    const int h = hidden[i / 2 % 5];
    const struct product like = {
        .plugin = plugin, .weights = type, .rows = VOCAB, .columns = h, .batch = BATCH};
    const int stride = (int)round_up((size_t)h, ROW_ALIGNMENT);
    int *tokens = emulated_take(BATCH * sizeof *tokens);
    for (int b = 0; b < BATCH; b++) {
      tokens[b] = (b * 3 + 1) % VOCAB;
    }
    const struct embed_arguments a = {
        .embedding = make_weights(&like, 0, stride),
        .scales = make_scales(&like, 0),
        .tokens = tokens,
        .hidden = h,
        .stride = stride,
        .x = emulated_take(size(BATCH * h) * sizeof(float)),
    };
    emulated_run(plugin, type == ELEMENT_E4M3 ? "embed_e4m3" : "embed_bf16", BATCH, 1, 1,
                 SMALL_THREADS, 0, &a, sizeof a);
    for (int k = 0; k < BATCH * h; k++) {
      const int token = tokens[k / h];
      const float scale = type == ELEMENT_E4M3 ? row_scale(0, token) : 1;
      assert_true(a.x[k] == weight_at(0, token, k % h) * scale);
    }
    emulated_give_back();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vector_products_are_exact),
      cmocka_unit_test(test_rounded_vectors_are_taken),
      cmocka_unit_test(test_embedding_is_exact),
  };
  return cmocka_run_group_tests(tests, emulated_load, emulated_unload);
}
