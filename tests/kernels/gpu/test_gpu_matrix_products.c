// The GPU's products on the matrix tile, run separately by the host emulator: products of integers
// must be exact. So must a tile by itself.
// Deep: all shapes, on all emulators, and as nvcc's PTX.
// Seconds: 1, deep 5
#include "kernels/gpu/arguments/calibration.h"
#include "kernels/gpu/arguments/product.h"
#include "tests/support/depth.h"
#include "tests/support/kernels/emulated.h"
#include "tests/support/kernels/integer_product.h"

#include <stdio.h>

// Chunks of at most `chunk`, where the kernels take any.
static void check_matrix(const struct product *p, int columns, int splits, int chunk) {
  char kernel[64];
  struct product_arguments a = make_arguments(p);
  const int gates = p->end == SWIGLU ? 2 : 1, groups = p->batch_padded / columns;
  const int block_rows = MATRIX_ROWS * MATRIX_WARPS / groups / gates;
  const size_t blocks = size((p->rows + block_rows - 1) / block_rows);
  const int least = matrix_least_chunk(element_bytes(p->weights));
  set_activations(p, a.stride, &a);
  set_splits(p, splits, blocks, &a);
  const size_t shared = emulated_matrix_shared(p->plugin, p->weights, p->activations,
                                               chunk > least ? chunk : least, &a);
  snprintf(kernel, sizeof kernel, "matrix_%s_%s_%s_%d", element_names[p->weights],
           element_names[p->activations], end_names[p->end], columns);
  emulated_run(p->plugin, kernel, (unsigned)blocks, (unsigned)splits, 1,
               MATRIX_WARPS * p->plugin->warp, shared, &a, sizeof a);
  check_product(p, kernel, blocks, &a);
}

static void test_matrix_products_are_exact(void **unused) {
  static const struct {
    int rows, columns, batch, warp_columns, groups, splits, chunk;
  } shapes[] = {
      {1, 1, 1, 16, 1, 1, 256},      {37, 65, 7, 16, 1, 1, 64},     {300, 100, 16, 16, 1, 1, 256},
      {33, 600, 5, 16, 1, 3, 256},   {130, 300, 30, 32, 1, 2, 256}, {65, 520, 17, 16, 2, 2, 32},
      {40, 257, 64, 64, 1, 1, 256},  {200, 40, 50, 16, 4, 1, 256},  {40, 300, 100, 32, 4, 2, 64},
      {70, 520, 120, 64, 2, 3, 256}, {20, 70, 250, 64, 4, 1, 256},  {9, 1100, 3, 16, 1, 5, 128},
      {33, 601, 64, 64, 1, 2, 128},  {20, 325, 128, 64, 2, 1, 64},  {20, 710, 250, 64, 4, 2, 32},
      {70, 1000, 30, 32, 1, 1, 128}, {70, 1000, 30, 32, 1, 2, 32}};
  const size_t every = depth_is_full() ? 1 : 2; // shapes of each kind of weights
  (void)unused;
  for (size_t i = 0; i < EMULATED * WEIGHT_KINDS; i++) {
    for (size_t s = i % every; s < sizeof shapes / sizeof shapes[0]; s += every) {
      const struct product p = {.plugin = &emulated[i / WEIGHT_KINDS],
                                .weights = weight_kinds[i % WEIGHT_KINDS][0],
                                .activations = weight_kinds[i % WEIGHT_KINDS][1],
                                .end = (enum end)((i + s) % 3),
                                .rows = shapes[s].rows,
                                .columns = shapes[s].columns,
                                .batch = shapes[s].batch,
                                .batch_padded = shapes[s].warp_columns * shapes[s].groups,
                                .passed = passed_of((enum end)((i + s) % 3), s / 3)};
      check_matrix(&p, shapes[s].warp_columns, shapes[s].splits, shapes[s].chunk);
    }
  }
}

static void test_tiles_lie_as_they_say(void **unused) {
  enum { ELEMENTS = 64 };
  (void)unused;
  for (size_t i = 0; i < EMULATED * WEIGHT_KINDS; i++) {
    const struct emulated *plugin = &emulated[i / WEIGHT_KINDS];
    const enum element weights = weight_kinds[i % WEIGHT_KINDS][0],
                       activations = weight_kinds[i % WEIGHT_KINDS][1];
    const int tile_columns = plugin->warp / 4, step = weights == ELEMENT_BF16 ? 32 : 64;
    char kernel[64];
    void *a = emulated_take(16 * ELEMENTS * element_bytes(weights));
    void *b = emulated_take((size_t)tile_columns * ELEMENTS * element_bytes(activations));
    float *c = emulated_take(16 * 16 * sizeof *c);
    for (int k = 0; k < 16 * ELEMENTS; k++) {
      element_put(plugin, weights, a, (size_t)k, weight_at(0, k / ELEMENTS, k % ELEMENTS));
    }
    for (int k = 0; k < tile_columns * ELEMENTS; k++) {
      element_put(plugin, activations, b, (size_t)k, input_at(k / ELEMENTS, k % ELEMENTS));
    }
    const struct tile_check_arguments arguments = {a, b, c};
    snprintf(kernel, sizeof kernel, "tile_check_%s_%s", element_names[weights],
             element_names[activations]);
    emulated_run(plugin, kernel, 1, 1, 1, plugin->warp, 2304, &arguments, sizeof arguments);
    for (int row = 0; row < 16; row++) {
      for (int column = 0; column < 16; column++) {
        float sum = 0;
        for (int k = 0; k < step && column < tile_columns; k++) {
          sum += weight_at(0, row, k) * input_at(column, k);
        }
        assert_true(c[row * 16 + column] == sum);
      }
    }
    emulated_give_back();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_matrix_products_are_exact),
      cmocka_unit_test(test_tiles_lie_as_they_say),
  };
  return cmocka_run_group_tests(tests, emulated_load, emulated_unload);
}
