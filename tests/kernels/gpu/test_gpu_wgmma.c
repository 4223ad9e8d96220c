// The GPU's products by sm_90's wgmma, run separately by the host emulator: products of integers
// must be exact.
// Deep: kernels of every number of columns, as nvcc's PTX.
// Seconds: 10, deep 30
#include "kernels/integers.h"
#include "tests/support/depth.h"
#include "tests/support/kernels/emulated.h"
#include "tests/support/kernels/integer_product.h"

#include <math.h>
#include <stdio.h>

#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/weights.h"

// As the emulator's driver makes it.
static struct tensor_map make_map(const void *from, size_t row_bytes, int rows, int box_rows) {
  struct tensor_map map = {.matrix = {from, row_bytes, (uint32_t)rows, (uint32_t)box_rows}};
  map.encoded[15] = EMULATOR_TENSOR_MAP;
  return map;
}

// How blocks share the work: clusters of `beside` times `parts`; with one part, `blocks` of even.h
// at most, no more than there are units of work; 0: one for each tile.
struct sharing {
  unsigned blocks;
  int beside, parts;
  bool normed; // there is a norm before the product or behind it
};

// ---- norms between products

// The norm before the product: its activations are as many times larger, by powers of two, as their
// squares say.
static struct wgmma_norm norm_before(const struct product *p, int stride,
                                     const struct product_arguments *a) {
  const int sums = wgmma_squares(p->columns);
  struct wgmma_norm norm = {.squares = emulated_take(size(p->batch * sums) * sizeof(float)),
                            .sums = sums,
                            .epsilon = 0.5f};
  void *activations = (void *)(uintptr_t)a->activations;
  for (int b = 0; b < p->batch; b++) {
    const float times = ldexpf(1, b % 3);
    for (int i = 0; i < sums; i++) {
      norm.squares[b * sums + i] = (times * times - norm.epsilon) * (float)p->columns / (float)sums;
    }
    for (int i = b * stride; i < (b + 1) * stride; i++) {
      const float was = element_get(p->plugin, p->activations, activations, size(i));
      element_put(p->plugin, p->activations, activations, size(i), times * was);
    }
  }
  return norm;
}

static struct wgmma_norm norm_behind(const struct product *p) {
  const int sums = wgmma_squares(p->rows);
  float *gain = emulated_take(size(p->rows) * sizeof *gain);
  for (int row = 0; row < p->rows; row++) {
    gain[row] = norm_at(row) / 4;
  }
  return (struct wgmma_norm){.gain = gain,
                             .scaled =
                                 emulated_take(size(p->batch_padded * p->rows) * sizeof(uint16_t)),
                             .squares = emulated_take(size(p->batch_padded * sums) * sizeof(float)),
                             .sums = sums};
}

// Rows of a vector whose squares are added up first: those of a warp, 16 of each tile.
static double squares_of(const struct product *p, const float *x, int sum) {
  double squares = 0;
  for (int i = 0; i < WGMMA_TILES * 16; i++) {
    const int row =
        sum / 4 * WGMMA_TILES * WGMMA_ROWS + i / 16 * WGMMA_ROWS + sum % 4 * 16 + i % 16;
    squares += row < p->rows ? (double)x[row] * (double)x[row] : 0;
  }
  return squares;
}

static void check_passed_on(const struct product *p, const char *kernel,
                            const struct wgmma_norm *norm, const struct product_arguments *a) {
  for (int b = 0; b < p->batch_padded; b++) {
    const float *x = a->output + b * a->output_stride;
    for (int row = 0; row < p->rows; row++) {
      const int at = is_paired(p) ? 2 * wgmma_paired_word(row / 2) + row % 2 : row;
      const uint16_t got = norm->scaled[b * p->rows + at];
      if (got != (b < p->batch ? bf16_from_float(x[row] * norm->gain[row]) : 0xFFFF)) {
        fail_msg("%s, %s: vector %d, row %d passed on as %04x", p->plugin->name, kernel, b, row,
                 got);
      }
    }
    for (int i = 0; i < norm->sums; i++) {
      const float got = norm->squares[b * norm->sums + i];
      if (b >= p->batch ? !isnan(got) : !(fabs(got / squares_of(p, x, i) - 1) < 1e-6)) {
        fail_msg("%s, %s: vector %d, sum %d of squares: %g", p->plugin->name, kernel, b, i,
                 (double)got);
      }
    }
  }
}

static void check_wgmma(const struct product *p, int columns, int strips, struct sharing sharing) {
  char kernel[64];
  struct product_arguments a = make_arguments(p);
  const size_t weight = element_bytes(p->weights), activation = element_bytes(p->activations);
  const int gates = p->end == SWIGLU ? 2 : 1;
  const size_t beside = (size_t)sharing.beside;
  const int rows =
      wgmma_tiles(p->batch_padded, columns) * WGMMA_ROWS / gates * sharing.beside * strips;
  const size_t row = (size_t)a.stride * weight;
  const int stride = is_paired(p) ? (int)round_up((size_t)a.stride, WGMMA_STEP_BYTES) : a.stride;
  struct even_work work = {.tiles = (unsigned)((p->rows + rows - 1) / rows),
                           .steps = (unsigned)(row + WGMMA_STEP_BYTES - 1) / WGMMA_STEP_BYTES};
  const unsigned units = work.tiles * work.steps, blocks = sharing.parts > 1 ? 0 : sharing.blocks;
  const int parts = sharing.parts < (int)work.steps ? sharing.parts : (int)work.steps;
  const unsigned cluster = (unsigned)(sharing.beside * parts);
  work.blocks = blocks == 0 ? work.tiles : blocks < units ? blocks : units;
  const size_t counters = (size_t)work.blocks * beside * WGMMA_GROUPS * 4;
  set_activations(p, stride, &a);
  set_splits(p, 0, counters, &a);
  a.partials = emulated_take(2 * work.blocks * beside * wgmma_partial_floats(columns, strips) *
                             sizeof(float));
  struct wgmma_norm norm = {0};
  if (sharing.normed)
    norm = p->end == ADD ? norm_behind(p) : norm_before(p, stride, &a);
  const struct wgmma_arguments arguments = {
      .weights = make_map(a.weights, row, p->rows, WGMMA_ROWS),
      .second = make_map(a.second, row, p->rows, WGMMA_ROWS),
      .activations = make_map(a.activations, (size_t)stride * activation, p->batch_padded,
                              p->batch_padded / sharing.beside),
      .product = a,
      .work = work,
      .stages = p->stages,
      .slots = wgmma_slots(p->stages, strips),
      .beside = sharing.beside,
      .parts = parts,
      .norm = norm};
  snprintf(kernel, sizeof kernel, "wgmma%s_%s_%s_%s_%d", strips > 1 ? "_strips" : "",
           element_names[p->weights], element_names[p->activations], end_names[p->end], columns);
  emulated_run_clusters(
      p->plugin, kernel, work.blocks * cluster, cluster, WGMMA_THREADS,
      wgmma_shared_bytes(p->batch_padded, columns, weight, activation, p->stages, strips),
      &arguments, sizeof arguments);
  if (norm.scaled) {
    check_passed_on(p, kernel, &norm, &a);
  }
  check_product(p, kernel, counters, &a);
}

// Rows that do not fill a tile, incomplete steps, more and fewer steps than stages.
static const struct shape {
  int rows, columns, batch; // 0: nearly all that it could be
  bool is_wide;             // as many columns as a warpgroup takes, else 16
  int groups, stages;
  struct sharing sharing; // beside 0: each number of blocks in turn
  int times;              // schedules for each
} shapes[] = {
    // A block for each tile, for several, for parts of two, and for each unit of work, whose pieces
    // meet in many orders; and the same in clusters, some of which have rows for one of their
    // blocks only.
    {1, 1, 1, false, 1, 3, {0, 0, 1, false}, 1},
    {37, 65, 7, false, 1, 6, {9, 0, 1, false}, 1},
    {300, 600, 16, false, 1, 3, {7, 0, 1, false}, 1},
    {200, 1000, 17, false, 2, 3, {1, 0, 1, false}, 3},
    {40, 700, 0, true, 1, 4, {5, 0, 1, false}, 1},
    {265, 200, 120, true, 2, 3, {2, 0, 1, false}, 1},
    {1, 1000, 1, false, 1, 3, {9999, 0, 1, false}, 12},
    // A tile's steps divided among the blocks of a cluster: by any number of them, more than there
    // are tiles of columns or not, alone or beside each other. No block may end before others have
    // read its sums.
    {1, 520, 1, false, 1, 3, {0, 1, 8, false}, 1},
    {300, 300, 16, false, 1, 3, {0, 1, 2, false}, 1},
    {200, 1100, 17, false, 2, 4, {0, 2, 4, false}, 1},
    {40, 700, 50, true, 1, 4, {0, 1, 5, false}, 1},
    {265, 450, 120, true, 2, 3, {0, 2, 3, false}, 1},
    {37, 1030, 7, false, 1, 6, {0, 1, 7, false}, 1},
    {600, 130, 16, false, 1, 3, {0, 2, 2, false}, 1},
};

static void check_shape(const struct shape *shape, const struct product *p, int columns) {
  const struct sharing *sharing = &shape->sharing;
  const int turns = sharing->beside > 0 ? 1 : MAX_WGMMA_BESIDE;
  for (int turn = 0; turn < shape->times * turns; turn++) {
    const int beside = sharing->beside > 0 ? sharing->beside : 1 + turn % MAX_WGMMA_BESIDE;
    check_wgmma(p, columns, 1, (struct sharing){sharing->blocks, beside, sharing->parts, false});
  }
}

static void check_shapes(bool in_parts) {
  for (size_t i = 0; i < EMULATED * WEIGHT_KINDS; i++) {
    const struct emulated *plugin = &emulated[i / WEIGHT_KINDS];
    const enum element *kind = weight_kinds[i % WEIGHT_KINDS];
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      const struct shape *shape = &shapes[s];
      const int columns = shape->is_wide ? wgmma_max_columns(element_bytes(kind[0])) : 16;
      const enum end end = (enum end)((i + s) % 3);
      const struct product p = {.plugin = plugin,
                                .weights = kind[0],
                                .activations = kind[1],
                                .end = end,
                                .rows = shape->rows,
                                .columns = shape->columns,
                                .batch = shape->batch > 0 ? shape->batch : columns - 3,
                                .batch_padded = columns * shape->groups,
                                .stages = shape->stages,
                                .passed = passed_of(end, s / 3 + 1)};
      if (plugin->wgmma && (shape->sharing.parts > 1) == in_parts) {
        check_shape(shape, &p, columns);
      }
    }
  }
}

static void test_products_are_exact(void **unused) {
  (void)unused;
  check_shapes(false);
}

static void test_parts_are_exact(void **unused) {
  (void)unused;
  check_shapes(true);
}

// Two strips of rows for the same activations, which have fewer places than weights have stages:
// incomplete second strips and none, pieces that meet, and ranges that end within a tile or do not.
static void test_strips_are_exact(void **unused) {
  (void)unused;
  static const struct {
    int rows, columns, batch, stages;
    unsigned blocks;
    int times;
  } cases[] = {{300, 390, 50, 5, 0, 1},
               {1, 65, 64, 4, 0, 1},
               {300, 520, 33, 4, 3, 2},
               {520, 130, 64, 6, 3, 1},
               {257, 390, 1, 5, 5, 1}};
  for (size_t i = 0; i < EMULATED * WEIGHT_KINDS * 3; i++) {
    const struct emulated *plugin = &emulated[i / 3 / WEIGHT_KINDS];
    const enum element *kind = weight_kinds[i / 3 % WEIGHT_KINDS];
    const enum end end = (enum end)(i % 3);
    const bool now = plugin->wgmma && (depth_is_full() || i / 3 % 3 == i % 3); // else one of each
    for (size_t c = depth_is_full() ? 0 : 2; now && c < sizeof cases / sizeof cases[0]; c++) {
      const struct product p = {.plugin = plugin,
                                .weights = kind[0],
                                .activations = kind[1],
                                .end = end,
                                .rows = cases[c].rows,
                                .columns = cases[c].columns,
                                .batch = cases[c].batch,
                                .batch_padded = WGMMA_STRIPS_COLUMNS,
                                .stages = cases[c].stages,
                                .passed = passed_of(end, c)};
      for (int turn = 0; turn < cases[c].times; turn++) {
        check_wgmma(&p, WGMMA_STRIPS_COLUMNS, MAX_WGMMA_STRIPS,
                    (struct sharing){cases[c].blocks, 1, 1, false});
      }
    }
  }
}

// A norm before each product, or behind it, of vectors that are whole steps but not whole tiles:
// for the epilogue after sums that are all a block's, merged, and added up in a cluster.
static void test_norms_are_exact(void **unused) {
  static const struct {
    int rows, columns, batch, wide, groups;
    struct sharing sharing;
    int strips;
  } cases[] = {
      {384, 256, 13, 16, 1, {0, 1, 1, true}, 1},  {640, 512, 16, 16, 1, {7, 1, 1, true}, 1},
      {384, 1024, 61, 64, 1, {5, 2, 1, true}, 1}, {128, 256, 25, 16, 2, {0, 2, 2, true}, 1},
      {384, 512, 90, 64, 2, {0, 1, 3, true}, 1},  {640, 256, 50, 64, 1, {3, 1, 1, true}, 2}};
  (void)unused;
  for (size_t i = 0; i < EMULATED * 2 * 3; i++) {
    const struct emulated *plugin = &emulated[i / 6];
    const enum element *kind = weight_kinds[i / 3 % 2];
    for (size_t c = 0; plugin->wgmma && c < sizeof cases / sizeof cases[0]; c++) {
      const struct product p = {.plugin = plugin,
                                .weights = kind[0],
                                .activations = kind[1],
                                .end = (enum end)(i % 3),
                                .rows = cases[c].rows,
                                .columns = cases[c].columns,
                                .batch = cases[c].batch,
                                .batch_padded = cases[c].wide * cases[c].groups,
                                .stages = 2 + cases[c].strips};
      check_wgmma(&p, cases[c].wide, cases[c].strips, cases[c].sharing);
    }
  }
}

// Every one of these kernels.
static void test_every_width_is_exact(void **unused) {
  (void)unused;
  for (size_t i = 0; i < EMULATED * WEIGHT_KINDS * 3; i++) {
    const struct emulated *plugin = &emulated[i / 3 / WEIGHT_KINDS];
    const enum element *kind = weight_kinds[i / 3 % WEIGHT_KINDS];
    const int most = wgmma_max_columns(element_bytes(kind[0]));
    for (int columns = 16; plugin->wgmma && columns <= most; columns *= 2) {
      const struct product p = {.plugin = plugin,
                                .weights = kind[0],
                                .activations = kind[1],
                                .end = (enum end)(i % 3),
                                .rows = 150,
                                .columns = 300,
                                .batch = columns - 3,
                                .batch_padded = columns,
                                .stages = 3};
      check_wgmma(&p, columns, 1, (struct sharing){3, 1 + (int)i % MAX_WGMMA_BESIDE, 1, false});
      check_wgmma(&p, columns, 1, (struct sharing){0, 1 + (int)i % MAX_WGMMA_BESIDE, 4, false});
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_products_are_exact),
      cmocka_unit_test(test_parts_are_exact),
      cmocka_unit_test(test_strips_are_exact),
      cmocka_unit_test(test_norms_are_exact),
  };
  const struct CMUnitTest deep[] = {cmocka_unit_test(test_every_width_is_exact)};
  if (emulated_load(NULL)) {
    return 1;
  }
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  failed += depth_is_full() ? cmocka_run_group_tests(deep, NULL, NULL) : 0;
  return emulated_unload(NULL) + failed;
}
