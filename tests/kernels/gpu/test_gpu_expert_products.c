// The GPU's products of experts, by vectors and on the matrix tile, run separately by the host
// emulator: the rows of all experts' matrices are those of one product of integers; the slots of
// each item must get exactly an expert's part of it.
// Deep: all shapes, on all emulators, and as nvcc's PTX.
// Seconds: 1, deep 3
#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/arguments/product.h"
#include "tests/support/depth.h"
#include "tests/support/kernels/emulated.h"
#include "tests/support/kernels/integer_product.h"

#include <math.h>
#include <stdio.h>

enum { EXPERTS = 3, EXPERT_ITEMS = 2, ITEM_VECTORS = 2 };
static const int expert_of_item[EXPERT_ITEMS] = {2, 0};

static void set_items(struct expert_arguments *a) {
  struct expert_item *items = emulated_take(EXPERT_ITEMS * sizeof *items);
  int *item_count = emulated_take(sizeof *item_count);
  for (int i = 0; i < EXPERT_ITEMS; i++) {
    items[i] = (struct expert_item){expert_of_item[i], i * ITEM_VECTORS, ITEM_VECTORS, 0};
  }
  *item_count = EXPERT_ITEMS;
  a->items = items;
  a->item_count = item_count;
}

// For a row of all experts' rows and a stream: halves, so that sums stay exact.
static double expert_bias_at(int stream, int row) {
  return 0.5 * ((row + 3 * stream) % 7) - 1;
}

static const float *take_biases(int stream, int rows) {
  float *biases = emulated_take(size(rows) * sizeof *biases);
  for (int r = 0; r < rows; r++) {
    biases[r] = (float)expert_bias_at(stream, r);
  }
  return biases;
}

// `all`: the product of all experts' rows; by vectors, all rows of the batch enter gate and up, and
// the first ones are the slots.
static void check_slots(const struct product *all, const char *kernel, bool by_vectors,
                        const struct product_arguments *a) {
  for (int slot = 0; slot < all->batch; slot++) {
    for (int row = 0; row < a->rows; row++) {
      const bool gated = all->end == SWIGLU;
      const int of_all = expert_of_item[slot / ITEM_VECTORS] * a->rows + row;
      const int vector = gated && by_vectors ? slot % ITEM_VECTORS : slot;
      const double sum = expected_sum(all, 0, vector, of_all) + expert_bias_at(0, of_all);
      const double second = gated ? expected_sum(all, 1, vector, of_all) : 0;
      const double wanted =
          gated ? sum / (1 + exp(-sum)) * (second + expert_bias_at(1, of_all)) : sum;
      const double got = (double)a->output[slot * a->output_stride + row];
      if (!(fabs(got - wanted) <= (gated ? 1e-5 * fabs(wanted) + 1e-20 : 0))) {
        fail_msg("%s, %s, %d x %d: slot %d, row %d: %g, not %g", all->plugin->name, kernel, a->rows,
                 a->columns, slot, row, got, wanted);
      }
    }
  }
}

// `rows` are an expert's; `columns` those of a warp of the matrix tile, or 0.
static void check_expert(const struct product *all, int rows, int columns) {
  const bool gated = all->end == SWIGLU;
  const size_t activation = element_bytes(all->activations);
  char kernel[64];
  struct expert_arguments a = {.product = make_arguments(all)};
  struct product_arguments *p = &a.product;
  float *input = emulated_take(size(all->batch * all->columns) * sizeof *input);
  float *norm = emulated_take((size_t)all->columns * sizeof *norm);
  for (int c = 0; c < all->columns; c++) {
    norm[c] = norm_at(c);
    for (int b = 0; b < all->batch; b++) {
      input[b * all->columns + c] = gated ? sign_at(b, c) : input_at(b, c);
    }
  }
  set_items(&a);
  set_activations(all, p->stride, p);
  p->input = input;
  p->input_stride = p->columns;
  p->norm = gated ? norm : NULL;
  p->rows = rows;
  p->batch_padded = columns;
  p->batch = ITEM_VECTORS; // of the batch, by vectors
  p->without_residual = 1;
  p->bias = take_biases(0, all->rows);
  p->second_bias = gated ? take_biases(1, all->rows) : NULL;
  const int block_rows = MATRIX_ROWS * MATRIX_WARPS / (gated ? 2 : 1);
  if (columns > 0) {
    const size_t shared =
        emulated_matrix_shared(all->plugin, all->weights, all->activations, MATRIX_CHUNK, p);
    snprintf(kernel, sizeof kernel, "expert_matrix_%s_%s_%s_%d", element_names[all->weights],
             element_names[all->activations], gated ? "gated" : "biased", columns);
    emulated_run(all->plugin, kernel, (unsigned)((rows + block_rows - 1) / block_rows), 1,
                 EXPERT_ITEMS + 1, MATRIX_WARPS * all->plugin->warp, shared, &a, sizeof a);
  } else {
    snprintf(kernel, sizeof kernel, "expert_vector_%s_%s_%s_%d", element_names[all->weights],
             element_names[all->activations], gated ? "norm_gated" : "round_biased", VECTOR_BATCH);
    emulated_run(all->plugin, kernel, 2, 1, EXPERT_ITEMS + 1, VECTOR_THREADS,
                 vector_shared_bytes(p->stride, VECTOR_BATCH, activation), &a, sizeof a);
  }
  check_slots(all, kernel, columns == 0, p);
  emulated_give_back();
}

static void test_products_of_experts_are_exact(void **unused) {
  static const struct {
    int rows, columns, tile;
  } shapes[] = {{37, 130, 0},   {3, 4300, 0}, {37, 65, 16},
                {150, 300, 64}, {5, 600, 0},  {20, 40, 16}};
  (void)unused;
  for (size_t i = 0; i < EMULATED * WEIGHT_KINDS; i++)
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      const struct product all = {.plugin = &emulated[i / WEIGHT_KINDS],
                                  .weights = weight_kinds[i % WEIGHT_KINDS][0],
                                  .activations = weight_kinds[i % WEIGHT_KINDS][1],
                                  .end = (i + s / 2) % 2 ? SWIGLU : ADD, // what ADD takes, stored
                                  .rows = shapes[s].rows * EXPERTS,
                                  .columns = shapes[s].columns,
                                  .batch = EXPERT_ITEMS * ITEM_VECTORS,
                                  .batch_padded = EXPERT_ITEMS * ITEM_VECTORS + shapes[s].tile};
      if (depth_is_full() || (i + s) % 2 == 0)
        check_expert(&all, shapes[s].rows, shapes[s].tile);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_products_of_experts_are_exact)};
  return cmocka_run_group_tests(tests, emulated_load, emulated_unload);
}
