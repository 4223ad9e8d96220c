// Each of the GPU's kernels by itself, run by the host emulator on memory of exactly the size that
// arguments.h gives: products of whole numbers must come out exactly, what is rounded must be
// rounded as on the host, bit for bit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gpu/arguments.h"
#include "kernels/reference.h"
#include "tests/emulator/launch.h"
#include "tests/support/library.h"

static struct plugin {
  const char *name;
  int warp;
  bool fnuz;      // E4M3 as gfx942 holds it
  bool any_chunk; // driver.h
  bool wgmma;     // has those kernels
  void *library;
  emulator_launch_function *launch;
} plugins[] = {
#if !defined(__SANITIZE_ADDRESS__)
    {.name = "emulator32", .warp = 32, .any_chunk = true},
    {.name = "emulator64", .warp = 64, .any_chunk = true},
#endif
    {.name = "emulatormma", .warp = 32, .wgmma = true},
    {.name = "emulator64fnuz", .warp = 64, .fnuz = true, .any_chunk = true},
};
#define PLUGINS (sizeof plugins / sizeof plugins[0])

static const char *const element_names[] = {"f32", "bf16", "e4m3", "int8"};

// Weights and activations.
static const enum element kinds[][2] = {
    {ELEMENT_BF16, ELEMENT_BF16}, {ELEMENT_E4M3, ELEMENT_BF16}, {ELEMENT_E4M3, ELEMENT_E4M3}};
#define KINDS (sizeof kinds / sizeof kinds[0])

static int load(void **unused) {
  (void)unused;
  for (struct plugin *p = plugins; p < plugins + PLUGINS; p++) {
    p->library = library_open(p->name);
    *(void **)&p->launch = library_symbol(p->library, "emulator_launch_kernel");
    if (!p->launch) {
      return -1;
    }
  }
  return 0;
}

static int unload(void **unused) {
  (void)unused;
  for (size_t p = 0; p < PLUGINS; p++) {
    if (plugins[p].library) {
      dlclose(plugins[p].library);
    }
  }
  return 0;
}

// ---- memory

static size_t size(int count) {
  return (size_t)count;
}

static void *taken[32];
static size_t taken_count;

// Of exactly this size, all NaN, until give_back.
static void *take(size_t bytes) {
  assert_true(taken_count < sizeof taken / sizeof taken[0]);
  void *memory = malloc(bytes);
  assert_non_null(memory);
  memset(memory, 0xFF, bytes);
  return taken[taken_count++] = memory;
}

static void give_back(void) {
  while (taken_count) {
    free(taken[--taken_count]);
  }
}

static size_t element_bytes(enum element element) {
  return element == ELEMENT_F32 ? 4 : element == ELEMENT_BF16 ? 2 : 1;
}

static uint8_t held_of(const struct plugin *plugin, uint8_t code) {
  if (!plugin->fnuz) {
    return code;
  }
  return (code & 0x7F) == 0x7F ? 0x80 : code == 0x80 ? 0 : code;
}

static void put(const struct plugin *plugin, enum element element, void *array, size_t i,
                float value) {
  if (element == ELEMENT_F32) {
    ((float *)array)[i] = value;
  } else if (element == ELEMENT_BF16) {
    ((uint16_t *)array)[i] = bf16_from_float(value);
  } else {
    ((uint8_t *)array)[i] = held_of(plugin, e4m3_from_float(value));
  }
}

static float get(const struct plugin *plugin, enum element element, const void *array, size_t i) {
  if (element == ELEMENT_F32) {
    return ((const float *)array)[i];
  }
  if (element == ELEMENT_BF16) {
    return float_from_bf16(((const uint16_t *)array)[i]);
  }
  const uint8_t code = ((const uint8_t *)array)[i];
  return plugin->fnuz && code == 0x80 ? NAN : float_from_e4m3(code);
}

static void run(const struct plugin *plugin, const char *kernel, unsigned x, unsigned y, unsigned z,
                int block, size_t shared_bytes, const void *arguments, size_t argument_bytes) {
  static uint64_t seed;
  seed++;
  const struct emulator_launch launch = {.kernel = kernel,
                                         .grid = {x, y, z},
                                         .block = (unsigned)block,
                                         .shared_bytes = shared_bytes,
                                         .arguments = arguments,
                                         .argument_bytes = argument_bytes,
                                         .seed = seed};
  const char *error = plugin->launch(&launch);
  if (error) {
    fail_msg("%s: %s", plugin->name, error);
  }
}

// ---- products

enum end { STORE, ADD, SWIGLU };
static const char *const end_names[] = {"store", "add", "swiglu"};

struct product {
  const struct plugin *plugin;
  enum element weights, activations;
  enum end end;
  int rows, columns, batch, batch_padded;
  int stages; // of wgmma; 0: the other matrix products
};

// Whole numbers, so that every order of summing gives the same. A 7 in each vector makes its scale
// in E4M3 a power of two.
static float weight_at(int matrix, int row, int column) {
  return (float)((row * 7 + column * 5 + row * column + matrix * 3) % 7 - 3);
}
static float input_at(int vector, int column) {
  return (float)(column == vector % 2 ? 7 : (vector * 11 + column * 3 + vector * column) % 15 - 7);
}
static float norm_at(int column) {
  return (float)(column == 0 ? 7 : column * 5 % 7 + 1);
}
static float sign_at(int vector, int column) {
  return (vector * 5 + column * 3 + vector * column / 2) % 2 ? -1.0f : 1.0f;
}
static float row_scale(int matrix, int row) {
  return ldexpf(1, (row + matrix) % 4 - 6);
}
static float residual_at(int vector, int row) {
  return (float)(vector * 3 - row);
}

// What vector `vector` of the activations is worth.
static float activation_at(const struct product *p, int vector, int column) {
  return p->end == ADD ? input_at(vector, column) : sign_at(vector, column) * norm_at(column);
}

static double expected_sum(const struct product *p, int matrix, int vector, int row) {
  double sum = 0;
  for (int c = 0; c < p->columns; c++) {
    sum += (double)weight_at(matrix, row, c) * (double)activation_at(p, vector, c);
  }
  return p->weights == ELEMENT_E4M3 ? sum * (double)row_scale(matrix, row) : sum;
}

static void check_output(const struct product *p, const char *kernel, const float *output,
                         int stride) {
  for (int b = 0; b < p->batch; b++) {
    for (int row = 0; row < p->rows; row++) {
      const double sum = expected_sum(p, 0, b, row);
      const double got = (double)output[b * stride + row];
      double expected = sum, slack = 0;
      if (p->end == ADD) {
        expected += (double)residual_at(b, row);
      } else if (p->end == SWIGLU) {
        expected = sum / (1 + exp(-sum)) * expected_sum(p, 1, b, row);
        slack = 1e-5 * fabs(expected) + 1e-20;
      }
      if (!(fabs(got - expected) <= slack)) {
        fail_msg("%s, %s, %d x %d, batch %d: vector %d, row %d: %g, not %g", p->plugin->name,
                 kernel, p->rows, p->columns, p->batch, b, row, got, expected);
      }
    }
    for (int row = p->rows; b + 1 < p->batch && row < stride; row++) {
      assert_true(isnan(output[b * stride + row]));
    }
  }
}

static const void *make_weights(const struct product *p, int matrix, int stride) {
  void *weights = take((size_t)p->rows * (size_t)stride * element_bytes(p->weights));
  for (int row = 0; row < p->rows; row++) {
    for (int c = 0; c < stride; c++) {
      put(p->plugin, p->weights, weights, (size_t)row * (size_t)stride + (size_t)c,
          c < p->columns ? weight_at(matrix, row, c) : 0);
    }
  }
  return weights;
}

static const float *make_scales(const struct product *p, int matrix) {
  if (p->weights != ELEMENT_E4M3) {
    return NULL;
  }
  float *scales = take((size_t)p->rows * sizeof *scales);
  for (int row = 0; row < p->rows; row++) {
    scales[row] = row_scale(matrix, row);
  }
  return scales;
}

static float *make_output(const struct product *p, int stride) {
  float *output = take(size((p->batch - 1) * stride + p->rows) * sizeof *output);
  for (int b = 0; b < p->batch && p->end == ADD; b++) {
    for (int row = 0; row < p->rows; row++) {
      output[b * stride + row] = residual_at(b, row);
    }
  }
  return output;
}

// What vector and matrix products have in common.
static struct product_arguments make_arguments(const struct product *p) {
  const int stride = (int)gpu_round_up((size_t)p->columns, ROW_ALIGNMENT);
  const bool gated = p->end == SWIGLU;
  return (struct product_arguments){.weights = make_weights(p, 0, stride),
                                    .second = gated ? make_weights(p, 1, stride) : NULL,
                                    .scales = make_scales(p, 0),
                                    .second_scales = gated ? make_scales(p, 1) : NULL,
                                    .rows = p->rows,
                                    .columns = p->columns,
                                    .stride = stride,
                                    .batch = p->batch,
                                    .batch_padded = p->batch_padded,
                                    .splits = 1,
                                    .output_stride = p->rows + 3,
                                    .output = make_output(p, p->rows + 3)};
}

static void check_vector(const struct product *p, unsigned blocks) {
  char kernel[64];
  struct product_arguments a = make_arguments(p);
  float *input = take(size(p->batch * p->columns) * sizeof *input);
  float *norm = take((size_t)p->columns * sizeof *norm);
  for (int c = 0; c < p->columns; c++) {
    norm[c] = norm_at(c);
    for (int b = 0; b < p->batch; b++) {
      input[b * p->columns + c] = p->end == ADD ? input_at(b, c) : sign_at(b, c);
    }
  }
  a.input = input;
  a.norm = p->end == ADD ? NULL : norm;
  a.ahead = 1 + p->columns % 5; // no sum depends on these
  a.start_before = p->batch % 2 ? 0 : p->rows;
  const int vectors = p->batch > 2 ? VECTOR_BATCH : p->batch;
  snprintf(kernel, sizeof kernel, "vector_%s_%s_%s_%s_%d", element_names[p->weights],
           element_names[p->activations], p->end == ADD ? "round" : "norm", end_names[p->end],
           vectors);
  run(p->plugin, kernel, blocks, 1, 1, VECTOR_THREADS,
      vector_shared_bytes(a.stride, vectors, element_bytes(p->activations)), &a, sizeof a);
  check_output(p, kernel, a.output, a.output_stride);
  give_back();
}

static void vector_products_are_exact(void **unused) {
  static const struct {
    int rows, columns;
    unsigned blocks;
  } shapes[] = {{1, 1, 1},     {3, 64, 2},   {40, 65, 1}, {37, 130, 3},
                {17, 1000, 2}, {3, 4300, 1}, {2, 8704, 1}};
  (void)unused;
  for (size_t i = 0; i < PLUGINS * KINDS; i++) {
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      for (int batch = 1; batch <= VECTOR_BATCH; batch++) {
        const struct product p = {.plugin = &plugins[i / KINDS],
                                  .weights = kinds[i % KINDS][0],
                                  .activations = kinds[i % KINDS][1],
                                  .end = (enum end)((i + s + (size_t)batch) % 3),
                                  .rows = shapes[s].rows,
                                  .columns = shapes[s].columns,
                                  .batch = batch};
        check_vector(&p, shapes[s].blocks);
      }
    }
  }
}

// `chunk` at most; where the kernels take but one length, MATRIX_CHUNK.
// Does the product take its activations as "paired"?
static bool is_paired(const struct product *p) {
  return p->stages > 0 && p->weights != p->activations;
}

static void set_activations(const struct product *p, int stride, struct product_arguments *a) {
  const size_t element = element_bytes(p->activations), padded = (size_t)p->batch_padded;
  void *activations = take(padded * (size_t)stride * element);
  float *scales = take(padded * sizeof *scales);
  memset(activations, 0, padded * (size_t)stride * element);
  for (int b = 0; b < p->batch_padded; b++) {
    scales[b] = b < p->batch ? ldexpf(1, b % 3 - 2) : 1;
    const float scale = p->activations == ELEMENT_E4M3 ? scales[b] : 1;
    for (int c = 0; c < p->columns && b < p->batch; c++) {
      const int at = is_paired(p) ? 2 * wgmma_paired_word(c / 2) + c % 2 : c;
      put(p->plugin, p->activations, activations, size(b * stride + at),
          activation_at(p, b, c) / scale);
    }
  }
  a->activations = activations;
  a->activation_scales = p->activations == ELEMENT_E4M3 ? scales : NULL;
}

static void set_splits(const struct product *p, int splits, size_t blocks,
                       struct product_arguments *a) {
  const int gates = p->end == SWIGLU ? 2 : 1;
  a->splits = splits;
  a->partials = take(size(splits * gates * p->batch_padded * p->rows) * sizeof(float));
  a->counters = take(blocks * sizeof *a->counters);
  memset(a->counters, 0, blocks * sizeof *a->counters);
}

static void check_product(const struct product *p, const char *kernel, size_t blocks,
                          const struct product_arguments *a) {
  check_output(p, kernel, a->output, a->output_stride);
  for (size_t i = 0; i < blocks; i++) {
    assert_int_equal(a->counters[i], 0);
  }
  give_back();
}

static void check_matrix(const struct product *p, int columns, int splits, int chunk) {
  char kernel[64];
  struct product_arguments a = make_arguments(p);
  const int gates = p->end == SWIGLU ? 2 : 1, groups = p->batch_padded / columns;
  const int block_rows = MATRIX_ROWS * MATRIX_WARPS / groups / gates;
  const size_t blocks = size((p->rows + block_rows - 1) / block_rows);
  const int least =
      p->plugin->any_chunk ? matrix_least_chunk(element_bytes(p->weights)) : MATRIX_CHUNK;
  set_activations(p, a.stride, &a);
  set_splits(p, splits, blocks, &a);
  a.ahead = p->columns % 4; // no sum depends on it
  a.chunk = chunk > least ? chunk : least;
  snprintf(kernel, sizeof kernel, "matrix_%s_%s_%s_%d", element_names[p->weights],
           element_names[p->activations], end_names[p->end], columns);
  run(p->plugin, kernel, (unsigned)blocks, (unsigned)splits, 1, MATRIX_WARPS * p->plugin->warp,
      matrix_shared_bytes(p->batch_padded, a.chunk, element_bytes(p->activations)), &a, sizeof a);
  check_product(p, kernel, blocks, &a);
}

// As the emulator's driver makes them.
static struct tensor_map make_map(const void *from, size_t row_bytes, int rows, int box_rows) {
  struct tensor_map map = {.matrix = {from, row_bytes, (uint32_t)rows, (uint32_t)box_rows}};
  map.encoded[15] = EMULATOR_TENSOR_MAP;
  return map;
}

static void check_wgmma(const struct product *p, int columns, int splits) {
  char kernel[64];
  struct product_arguments a = make_arguments(p);
  const size_t weight = element_bytes(p->weights), activation = element_bytes(p->activations);
  const int gates = p->end == SWIGLU ? 2 : 1;
  const int block_rows = wgmma_tiles(p->batch_padded, columns) * WGMMA_ROWS / gates;
  const size_t blocks = size((p->rows + block_rows - 1) / block_rows);
  const size_t row = (size_t)a.stride * weight;
  const int stride =
      is_paired(p) ? (int)gpu_round_up((size_t)a.stride, WGMMA_STEP_BYTES) : a.stride;
  set_activations(p, stride, &a);
  set_splits(p, splits, blocks, &a);
  const struct wgmma_arguments arguments = {
      .weights = make_map(a.weights, row, p->rows, WGMMA_ROWS),
      .second = make_map(a.second, row, p->rows, WGMMA_ROWS),
      .activations =
          make_map(a.activations, (size_t)stride * activation, p->batch_padded, p->batch_padded),
      .product = a,
      .stages = p->stages};
  snprintf(kernel, sizeof kernel, "wgmma_%s_%s_%s_%d", element_names[p->weights],
           element_names[p->activations], end_names[p->end], columns);
  const size_t stage = wgmma_stage_bytes(p->batch_padded, columns, weight, activation);
  run(p->plugin, kernel, (unsigned)blocks, (unsigned)splits, 1, WGMMA_THREADS,
      wgmma_shared_bytes(stage, p->stages), &arguments, sizeof arguments);
  check_product(p, kernel, blocks, &a);
}

static void matrix_products_are_exact(void **unused) {
  static const struct {
    int rows, columns, batch, warp_columns, groups, splits, chunk;
  } shapes[] = {
      {1, 1, 1, 16, 1, 1, 256},      {37, 65, 7, 16, 1, 1, 64},     {300, 100, 16, 16, 1, 1, 256},
      {33, 600, 5, 16, 1, 3, 256},   {130, 300, 30, 32, 1, 2, 256}, {65, 520, 17, 16, 2, 2, 32},
      {40, 257, 64, 64, 1, 1, 256},  {200, 40, 50, 16, 4, 1, 256},  {40, 300, 100, 32, 4, 2, 64},
      {70, 520, 120, 64, 2, 3, 256}, {20, 70, 250, 64, 4, 1, 256},  {9, 1100, 3, 16, 1, 5, 128},
      {33, 601, 64, 64, 1, 2, 128},  {20, 325, 128, 64, 2, 1, 64},  {20, 710, 250, 64, 4, 2, 32},
      {70, 1000, 30, 32, 1, 1, 128}, {70, 1000, 30, 32, 1, 2, 32}};
  (void)unused;
  for (size_t i = 0; i < PLUGINS * KINDS; i++) {
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      const struct product p = {.plugin = &plugins[i / KINDS],
                                .weights = kinds[i % KINDS][0],
                                .activations = kinds[i % KINDS][1],
                                .end = (enum end)((i + s) % 3),
                                .rows = shapes[s].rows,
                                .columns = shapes[s].columns,
                                .batch = shapes[s].batch,
                                .batch_padded = shapes[s].warp_columns * shapes[s].groups};
      check_matrix(&p, shapes[s].warp_columns, shapes[s].splits, shapes[s].chunk);
    }
  }
}

// Rows that fill no tile, steps that are no whole ones, more steps than stages and fewer. `wide`:
// columns as many as a warpgroup takes, else 16.
static void wgmma_products_are_exact(void **unused) {
  static const struct {
    int rows, columns, batch, wide, groups, splits, stages;
  } shapes[] = {{1, 1, 1, 0, 1, 1, 3},      {37, 65, 7, 0, 1, 1, 6},   {300, 600, 16, 0, 1, 3, 3},
                {70, 1000, 17, 0, 2, 1, 3}, {40, 700, 50, 1, 1, 1, 4}, {65, 520, 120, 1, 2, 2, 3}};
  (void)unused;
  for (size_t i = 0; i < PLUGINS * KINDS; i++) {
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0] && plugins[i / KINDS].wgmma; s++) {
      const enum element weights = kinds[i % KINDS][0];
      const int columns = shapes[s].wide ? wgmma_most_columns(element_bytes(weights)) : 16;
      const struct product p = {.plugin = &plugins[i / KINDS],
                                .weights = weights,
                                .activations = kinds[i % KINDS][1],
                                .end = (enum end)((i + s) % 3),
                                .rows = shapes[s].rows,
                                .columns = shapes[s].columns,
                                .batch = shapes[s].batch,
                                .batch_padded = columns * shapes[s].groups,
                                .stages = shapes[s].stages};
      check_wgmma(&p, columns, shapes[s].splits);
    }
  }
}

static void tiles_lie_as_they_say(void **unused) {
  enum { ELEMENTS = 64 };
  (void)unused;
  for (size_t i = 0; i < PLUGINS * KINDS; i++) {
    const struct plugin *plugin = &plugins[i / KINDS];
    const enum element weights = kinds[i % KINDS][0], activations = kinds[i % KINDS][1];
    const int tile_columns = plugin->warp / 4, step = weights == ELEMENT_BF16 ? 32 : 64;
    char kernel[64];
    void *a = take(16 * ELEMENTS * element_bytes(weights));
    void *b = take((size_t)tile_columns * ELEMENTS * element_bytes(activations));
    float *c = take(16 * 16 * sizeof *c);
    for (int k = 0; k < 16 * ELEMENTS; k++) {
      put(plugin, weights, a, (size_t)k, weight_at(0, k / ELEMENTS, k % ELEMENTS));
    }
    for (int k = 0; k < tile_columns * ELEMENTS; k++) {
      put(plugin, activations, b, (size_t)k, input_at(k / ELEMENTS, k % ELEMENTS));
    }
    const struct tile_check_arguments arguments = {a, b, c};
    snprintf(kernel, sizeof kernel, "tile_check_%s_%s", element_names[weights],
             element_names[activations]);
    run(plugin, kernel, 1, 1, 1, plugin->warp, 2304, &arguments, sizeof arguments);
    for (int row = 0; row < 16; row++) {
      for (int column = 0; column < 16; column++) {
        float sum = 0;
        for (int k = 0; k < step && column < tile_columns; k++) {
          sum += weight_at(0, row, k) * input_at(column, k);
        }
        assert_true(c[row * 16 + column] == sum);
      }
    }
    give_back();
  }
}

// ---- rounding

// Spread over many binades, ties among them.
static float any_value(uint32_t i) {
  const uint32_t hash = weights_hash(7, i);
  const float magnitude = ldexpf((float)(hash & 0x7FFF), -12 - (int)(hash >> 16 & 7));
  return hash >> 31 ? -magnitude : magnitude;
}

static float rounding_input(int batch_row, int columns, int c) {
  static const float units[] = {1, 0, 0x1p-100f, 0x1p-140f, 1e30f};
  return any_value((uint32_t)(batch_row * columns + c)) * units[batch_row % 5];
}

static void check_rounding(const struct plugin *plugin, enum element to, bool with_norm,
                           int columns) {
  enum { BATCH = 7, PADDED = 16 };
  const int stride = (int)gpu_round_up((size_t)columns, ROW_ALIGNMENT);
  float *input = take(size(BATCH * columns) * sizeof *input);
  float *norm = take((size_t)columns * sizeof *norm), *scales = take(PADDED * sizeof *scales);
  void *output = take(size(PADDED * stride) * element_bytes(to));
  for (int c = 0; c < columns; c++) {
    norm[c] = any_value((uint32_t)c + 5000);
    for (int b = 0; b < BATCH; b++) {
      input[b * columns + c] = with_norm ? sign_at(b, c) : rounding_input(b, columns, c);
    }
  }
  const struct round_arguments a = {
      input, with_norm ? norm : NULL, 0, columns, stride, BATCH, output, scales};
  char kernel[64];
  snprintf(kernel, sizeof kernel, "round_%s_%s", element_names[to], with_norm ? "norm" : "round");
  run(plugin, kernel, PADDED, 1, 1, ROUND_THREADS, 1024, &a, sizeof a);
  for (int b = 0; b < PADDED; b++) {
    float largest = 0;
    for (int c = 0; c < columns && b < BATCH; c++) {
      largest = fmaxf(largest, fabsf(input[b * columns + c] * (with_norm ? norm[c] : 1)));
    }
    const float scale = to == ELEMENT_E4M3 && largest > 0 ? largest / 448 : 1;
    const bool tiny = scale < FLT_MIN; // beyond what the quotients are exact in
    for (int c = 0; c < stride; c++) {
      const bool inside = b < BATCH && c < columns;
      const float x = inside ? input[b * columns + c] * (with_norm ? norm[c] : 1) / scale : 0;
      const float got = get(plugin, to, output, size(b * stride + c));
      uint16_t expected = 0;
      put(plugin, to, &expected, 0, x);
      if (!(tiny ? isfinite(got) : got == get(plugin, to, &expected, 0))) {
        fail_msg("%s, %s, %d columns: vector %d, element %d: %a is held as %a, not %a",
                 plugin->name, kernel, columns, b, c, (double)x, (double)got,
                 (double)get(plugin, to, &expected, 0));
      }
    }
    if (to == ELEMENT_E4M3) {
      assert_true(tiny ? isfinite(scales[b]) : scales[b] == scale);
    }
  }
  give_back();
}

static void rounding_is_the_hosts(void **unused) {
  static const int columns[] = {1, 8, 63, 64, 65, 1000, 4102};
  (void)unused;
  for (size_t p = 0; p < PLUGINS; p++) {
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
      for (int with_norm = 0; with_norm < 2; with_norm++) {
        check_rounding(&plugins[p], ELEMENT_BF16, with_norm, columns[c]);
        check_rounding(&plugins[p], ELEMENT_E4M3, with_norm, columns[c]);
      }
    }
  }
}

// ---- embedding and sampling

static void embedding_is_exact(void **unused) {
  enum { VOCAB = 5, BATCH = 4 };
  static const int hidden[] = {1, 7, 64, 65, 4500};
  (void)unused;
  for (size_t i = 0; i < PLUGINS * 2 * 5; i++) {
    const struct plugin *plugin = &plugins[i / 10];
    const enum element type = i % 2 ? ELEMENT_E4M3 : ELEMENT_BF16;
    const int h = hidden[i / 2 % 5];
    const struct product like = {
        .plugin = plugin, .weights = type, .rows = VOCAB, .columns = h, .batch = BATCH};
    const int stride = (int)gpu_round_up((size_t)h, ROW_ALIGNMENT);
    int *tokens = take(BATCH * sizeof *tokens);
    for (int b = 0; b < BATCH; b++) {
      tokens[b] = (b * 3 + 1) % VOCAB;
    }
    const struct embed_arguments a = {
        .embedding = make_weights(&like, 0, stride),
        .scales = make_scales(&like, 0),
        .tokens = tokens,
        .hidden = h,
        .stride = stride,
        .x = take(size(BATCH * h) * sizeof(float)),
    };
    run(plugin, type == ELEMENT_E4M3 ? "embed_e4m3" : "embed_bf16", BATCH, 1, 1, SMALL_THREADS, 0,
        &a, sizeof a);
    for (int k = 0; k < BATCH * h; k++) {
      const int token = tokens[k / h];
      const float scale = type == ELEMENT_E4M3 ? row_scale(0, token) : 1;
      assert_true(a.x[k] == weight_at(0, token, k % h) * scale);
    }
    give_back();
  }
}

static void the_first_of_the_largest_is_chosen(void **unused) {
  enum { BATCH = 6 };
  static const int vocabs[] = {1, 2, 300, 64 * 256, 40001};
  (void)unused;
  for (size_t i = 0; i < PLUGINS * 5; i++) {
    const struct plugin *plugin = &plugins[i / 5];
    const int vocab = vocabs[i % 5], first = vocab / 3, second = vocab - 1;
    float *logits = take(size(BATCH * vocab) * sizeof *logits);
    for (int k = 0; k < BATCH * vocab; k++) {
      logits[k] = -1 - (float)(k * 7 % 13);
    }
    logits[first] = 3; // in row 0, twice
    logits[second] = 3;
    logits[vocab + second] = 3;                   // in row 1, at the very end
    for (int k = 2 * vocab; k < 3 * vocab; k++) { // in row 2, all alike
      logits[k] = -2;
    }
    for (int k = 3 * vocab; k < 4 * vocab; k++) { // in row 3, no number but one
      logits[k] = k == 3 * vocab + first ? -INFINITY : NAN;
    }
    logits[5 * vocab + first] = INFINITY;
    const struct sample_arguments a = {
        .logits = logits,
        .vocab = vocab,
        .best = take(BATCH * SAMPLE_BLOCKS * sizeof(float)),
        .best_index = take(BATCH * SAMPLE_BLOCKS * sizeof(int)),
        .counters = take(BATCH * sizeof(unsigned)),
        .tokens = take(BATCH * sizeof(int)),
    };
    memset(a.counters, 0, BATCH * sizeof(unsigned));
    run(plugin, "sample", SAMPLE_BLOCKS, BATCH, 1, SMALL_THREADS, 1024, &a, sizeof a);
    assert_int_equal(a.tokens[0], first);
    assert_int_equal(a.tokens[1], second);
    assert_int_equal(a.tokens[2], 0);
    assert_int_equal(a.tokens[3], first);
    assert_int_equal(a.tokens[5], first);
    for (int b = 0; b < BATCH; b++) {
      assert_int_equal(a.counters[b], 0);
    }
    give_back();
  }
}

// Of ranks: keys are ordered as the best logits are, the first of equals before the others, and are
// the same for both zeros; the token is that of the largest key, here of two ranks.
static void the_best_of_all_ranks_is_chosen(void **unused) {
  enum { VOCAB = 3, ROWS = 9, RANKS = 2 };
  static const float best[ROWS][RANKS] = {
      {1, 2},     {2, 1},        {2, 2},          {-1, -2},   {-2, -1},
      {-0.0f, 0}, {INFINITY, 3}, {-INFINITY, -9}, {NAN, NAN},
  };
  static const int tokens[ROWS] = {101, 1, 1, 1, 101, 1, 1, 101, 0};
  (void)unused;
  for (size_t i = 0; i < PLUGINS; i++) {
    uint64_t *keys[RANKS];
    float *logits = take(sizeof(float[ROWS][VOCAB]));
    int *chosen = take(sizeof(int[ROWS]));
    unsigned *counters = take(sizeof(unsigned[ROWS]));
    memset(counters, 0, sizeof(unsigned[ROWS]));
    for (int rank = 0; rank < RANKS; rank++) {
      for (int k = 0; k < ROWS * VOCAB; k++) {
        logits[k] = k % VOCAB == 1 ? best[k / VOCAB][rank] : NAN;
      }
      keys[rank] = take(sizeof(uint64_t[ROWS]));
      const struct sample_arguments a = {
          .logits = logits,
          .vocab = VOCAB,
          .best = take(ROWS * SAMPLE_BLOCKS * sizeof(float)),
          .best_index = take(ROWS * SAMPLE_BLOCKS * sizeof(int)),
          .counters = counters,
          .first = 100 * rank,
          .keys = keys[rank],
      };
      run(&plugins[i], "sample", SAMPLE_BLOCKS, ROWS, 1, SMALL_THREADS, 1024, &a, sizeof a);
    }
    for (int row = 0; row < ROWS; row++) {
      keys[0][row] = keys[1][row] > keys[0][row] ? keys[1][row] : keys[0][row];
    }
    const struct sample_key_arguments a = {keys[0], ROWS, chosen};
    run(&plugins[i], "sample_key", 1, 1, 1, SMALL_THREADS, 0, &a, sizeof a);
    assert_memory_equal(chosen, tokens, sizeof tokens);
    give_back();
  }
}

// ---- fill

static int8_t *make_bell(void) {
  int8_t *bell = take(sizeof weights_bell);
  memcpy(bell, weights_bell, sizeof weights_bell);
  return bell;
}

static void check_fill(const struct plugin *plugin, enum element type, int rows, int columns) {
  const float scale = 0.3f;
  const uint64_t key = weights_key(99, TENSOR_WQ, 3);
  const int stride =
      type == ELEMENT_F32 ? columns : (int)gpu_round_up((size_t)columns, ROW_ALIGNMENT);
  struct fill_arguments a = {.destination = take(size(rows * stride) * element_bytes(type)),
                             .layout = FILL_MATRIX,
                             .rows = rows,
                             .columns = columns,
                             .stride = stride,
                             .key = key,
                             .scale = scale,
                             .bell = make_bell()};
  char kernel[32];
  snprintf(kernel, sizeof kernel, "fill_%s", element_names[type]);
  run(plugin, kernel, 2, 1, 1, SMALL_THREADS, 0, &a, sizeof a);
  for (int i = 0; i < rows * stride; i++) {
    const float q = (float)weights_q(key, size(i / stride * columns + i % stride));
    const float value = type == ELEMENT_F32 ? 1 + q * scale : type == ELEMENT_E4M3 ? q : q * scale;
    uint32_t expected = 0, got = 0;
    put(plugin, type, &expected, 0, i % stride < columns ? value : 0);
    memcpy(&got, (char *)a.destination + (size_t)i * element_bytes(type), element_bytes(type));
    if (got != expected) {
      fail_msg("%s, %s, %d x %d: element %d is %#x, not %#x", plugin->name, kernel, rows, columns,
               i, got, expected);
    }
  }
  give_back();
}

static const struct cache {
  int batch, kv_heads, head_dim, context;
} caches[] = {{1, 1, 2, 1}, {2, 3, 40, 63}, {1, 2, 64, 64}, {2, 1, 80, 65}, {1, 2, 128, 200}};
#define CACHES (sizeof caches / sizeof caches[0])

static int padded_context(const struct cache *c) {
  return (int)gpu_round_up((size_t)c->context, VALUE_BLOCK);
}
static int head_stride(const struct cache *c) {
  return (int)gpu_round_up((size_t)c->head_dim, ROW_ALIGNMENT);
}
static size_t key_count(const struct cache *c) {
  return size(c->batch * c->kv_heads * padded_context(c) * head_stride(c));
}
static size_t value_count(const struct cache *c) {
  return size(c->batch * c->kv_heads * padded_context(c) * c->head_dim);
}
static size_t key_place(const struct cache *c, int b, int head, int position, int d) {
  return size(((b * c->kv_heads + head) * padded_context(c) + position) * head_stride(c) + d);
}
static size_t value_place(const struct cache *c, int b, int head, int position, int d) {
  const int blocks = padded_context(c) / VALUE_BLOCK;
  const int block = (b * c->kv_heads + head) * blocks + position / VALUE_BLOCK;
  return size((block * c->head_dim + d) * VALUE_BLOCK + position % VALUE_BLOCK);
}

static void check_fill_cache(const struct plugin *plugin, enum element type, const struct cache *c,
                             enum fill_layout layout) {
  const uint64_t key = weights_key(5, TENSOR_KEYS, 1);
  const bool keys = layout == FILL_KEYS;
  const size_t count = keys ? key_count(c) : value_count(c);
  const int columns = c->kv_heads * c->head_dim, width = keys ? head_stride(c) : c->head_dim;
  const struct fill_arguments a = {.destination = take(count * element_bytes(type)),
                                   .layout = (int)layout,
                                   .rows = c->batch * c->context,
                                   .columns = columns,
                                   .stride = head_stride(c),
                                   .context = c->context,
                                   .context_padded = padded_context(c),
                                   .kv_heads = c->kv_heads,
                                   .head_dim = c->head_dim,
                                   .key = key,
                                   .scale = 1 / BELL_SIGMA,
                                   .bell = make_bell()};
  run(plugin, type == ELEMENT_BF16 ? "fill_bf16" : "fill_e4m3", 3, 1, 1, SMALL_THREADS, 0, &a,
      sizeof a);
  for (int b = 0; b < c->batch; b++) {
    for (int head = 0; head < c->kv_heads; head++) {
      for (int i = 0; i < padded_context(c) * width; i++) {
        const int position = i / width, d = i % width;
        const uint64_t index = size((b * c->context + position) * columns + head * c->head_dim + d);
        const bool inside = position < c->context && d < c->head_dim;
        const float value = inside ? (float)weights_q(key, index) / BELL_SIGMA : 0;
        uint16_t expected = 0, got = 0;
        put(plugin, type, &expected, 0, value);
        const size_t place =
            keys ? key_place(c, b, head, position, d) : value_place(c, b, head, position, d);
        memcpy(&got, (char *)a.destination + place * element_bytes(type), element_bytes(type));
        if (got != expected) {
          fail_msg("%s, %s of %s: batch %d, head %d, position %d, element %d: %#x, not %#x",
                   plugin->name, keys ? "keys" : "values", element_names[type], b, head, position,
                   d, got, expected);
        }
      }
    }
  }
  give_back();
}

static void filling_is_the_hosts(void **unused) {
  static const int shapes[][2] = {{1, 1}, {3, 64}, {5, 65}, {7, 200}, {1, 4099}};
  (void)unused;
  for (size_t p = 0; p < PLUGINS; p++) {
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      check_fill(&plugins[p], ELEMENT_BF16, shapes[s][0], shapes[s][1]);
      check_fill(&plugins[p], ELEMENT_E4M3, shapes[s][0], shapes[s][1]);
      check_fill(&plugins[p], ELEMENT_F32, 1, shapes[s][1]);
    }
    for (size_t c = 0; c < CACHES; c++) {
      for (int e4m3 = 0; e4m3 < 2; e4m3++) {
        const enum element type = e4m3 ? ELEMENT_E4M3 : ELEMENT_BF16;
        check_fill_cache(&plugins[p], type, &caches[c], FILL_KEYS);
        check_fill_cache(&plugins[p], type, &caches[c], FILL_VALUES);
      }
    }
  }
}

// ---- attention

struct attended {
  const struct plugin *plugin;
  enum element type;
  struct cache cache;
  int group; // query heads to a KV head
  int splits;
};

static float cache_value(int which, int b, int head, int position, int d) {
  const uint64_t index = size(((b * 8 + head) * 1024 + position) * 256 + d);
  return (float)weights_q((uint64_t)which, index) / BELL_SIGMA;
}

static float qkv_value(int b, int i) {
  return (float)weights_q(3, size(b * 65536 + i)) / BELL_SIGMA * 1.37f;
}

static void make_cache(const struct attended *t, void *keys, void *values) {
  const struct cache *c = &t->cache;
  memset(keys, 0, key_count(c) * element_bytes(t->type));
  memset(values, 0, value_count(c) * element_bytes(t->type));
  for (int b = 0; b < c->batch; b++) {
    for (int head = 0; head < c->kv_heads; head++) {
      for (int position = 0; position < c->context; position++) {
        for (int d = 0; d < c->head_dim; d++) {
          const bool held = position < c->context - 1; // the new position is the kernel's to write
          put(t->plugin, t->type, keys, key_place(c, b, head, position, d),
              held ? cache_value(1, b, head, position, d) : NAN);
          put(t->plugin, t->type, values, value_place(c, b, head, position, d),
              held ? cache_value(2, b, head, position, d) : NAN);
        }
      }
    }
  }
}

// The new position's key and value are those of qkv, turned and rounded; the key's sums may fall on
// the other side of a rounding boundary. Then the outputs, from the cache as it is now.
static double check_attended(const struct attended *t, const struct attention_arguments *a,
                             double theta) {
  const struct cache *c = &t->cache;
  const int heads = c->kv_heads * t->group, width = c->kv_heads * c->head_dim;
  const int q_width = heads * c->head_dim, last = c->context - 1;
  const struct decode_shape shape = {
      .heads = heads, .kv_heads = c->kv_heads, .head_dim = c->head_dim};
  double *query = take((size_t)q_width * sizeof *query), *out = take((size_t)q_width * sizeof *out);
  double *scores = take((size_t)c->context * sizeof *scores);
  double *key = take((size_t)c->head_dim * sizeof *key), difference = 0, norm = 0;
  float *keys = take(size(c->context * width) * sizeof *keys);
  float *values = take(size(c->context * width) * sizeof *values);
  for (int b = 0; b < c->batch; b++) {
    for (int head = 0; head < c->kv_heads; head++) {
      for (int d = 0; d < c->head_dim; d++) {
        key[d] = (double)qkv_value(b, q_width + head * c->head_dim + d);
      }
      reference_rope(key, c->head_dim, last, theta);
      for (int d = 0; d < c->head_dim; d++) {
        float value = 0;
        put(t->plugin, t->type, &value, 0, qkv_value(b, q_width + width + head * c->head_dim + d));
        assert_true(get(t->plugin, t->type, a->values, value_place(c, b, head, last, d)) ==
                    get(t->plugin, t->type, &value, 0));
        const double got = (double)get(t->plugin, t->type, a->keys, key_place(c, b, head, last, d));
        const double step = t->type == ELEMENT_BF16 ? 0x1p-8 : 0x1p-4;
        assert_true(fabs(got - key[d]) <= fmax(step * fabs(key[d]) * 1.001, 0x1p-9));
      }
      for (int i = 0; i < c->context * c->head_dim; i++) {
        const int position = i / c->head_dim, d = i % c->head_dim;
        const int to = position * width + head * c->head_dim + d;
        keys[to] = get(t->plugin, t->type, a->keys, key_place(c, b, head, position, d));
        values[to] = get(t->plugin, t->type, a->values, value_place(c, b, head, position, d));
      }
    }
    for (int i = 0; i < q_width; i++) {
      query[i] = (double)qkv_value(b, i);
    }
    for (int head = 0; head < heads; head++) {
      reference_rope(query + head * c->head_dim, c->head_dim, last, theta);
    }
    reference_attention(&shape, c->context, query, keys, values, scores, out);
    for (int i = 0; i < q_width; i++) {
      const double got = (double)a->output[b * q_width + i];
      difference += (got - out[i]) * (got - out[i]);
      norm += out[i] * out[i];
    }
  }
  return sqrt(difference / norm);
}

static void check_attention(const struct attended *t) {
  const struct cache *c = &t->cache;
  const double theta = 1e4;
  const int heads = c->kv_heads * t->group, tile_columns = t->plugin->warp / 4;
  const int padded = c->head_dim <= 64 ? 64 : c->head_dim <= 128 ? 128 : 256;
  const int head_groups = (t->group + tile_columns - 1) / tile_columns;
  const int width = (heads + 2 * c->kv_heads) * c->head_dim;
  const size_t counters = size(c->batch * c->kv_heads * head_groups);
  float *qkv = take(size(c->batch * width) * sizeof *qkv);
  float *angles = take((size_t)c->head_dim * sizeof *angles);
  for (int i = 0; i < c->batch * width; i++) {
    qkv[i] = qkv_value(i / width, i % width);
  }
  for (int i = 0; i < c->head_dim / 2; i++) {
    const double angle = (c->context - 1) / pow(theta, 2.0 * i / c->head_dim);
    angles[2 * i] = (float)cos(angle);
    angles[2 * i + 1] = (float)sin(angle);
  }
  const struct attention_arguments a = {
      .qkv = qkv,
      .angles = angles,
      .keys = take(key_count(c) * element_bytes(t->type)),
      .values = take(value_count(c) * element_bytes(t->type)),
      .batch = c->batch,
      .heads = heads,
      .kv_heads = c->kv_heads,
      .head_groups = head_groups,
      .head_dim = c->head_dim,
      .head_stride = head_stride(c),
      .context = c->context,
      .context_padded = padded_context(c),
      .splits = t->splits,
      .partials = take(counters * size(t->splits * tile_columns * (padded + 2)) * sizeof(float)),
      .counters = take(counters * sizeof(unsigned)),
      .output = take(size(c->batch * heads * c->head_dim) * sizeof(float)),
  };
  memset(a.counters, 0, counters * sizeof(unsigned));
  make_cache(t, a.keys, a.values);
  char kernel[32];
  snprintf(kernel, sizeof kernel, "attention_%s_%d", element_names[t->type], padded);
  run(t->plugin, kernel, (unsigned)t->splits, (unsigned)(c->kv_heads * head_groups),
      (unsigned)c->batch, ATTENTION_WARPS * t->plugin->warp, attention_shared_bytes(padded), &a,
      sizeof a);
  const double error = check_attended(t, &a, theta);
  if (!(error < 4e-3)) { // queries and softmax weights in bf16 alone: 2e-3
    fail_msg("%s, %s, batch %d, kv heads %d x %d of %d, context %d, splits %d: error %g",
             t->plugin->name, kernel, c->batch, c->kv_heads, t->group, c->head_dim, c->context,
             t->splits, error);
  }
  for (size_t i = 0; i < counters; i++) {
    assert_int_equal(a.counters[i], 0);
  }
  give_back();
}

static void attention_is_the_oracles(void **unused) {
  static const int groups[] = {1, 7, 12}, splits[] = {1, 2, 3, 5};
  (void)unused;
  for (size_t p = 0; p < PLUGINS; p++) {
    for (size_t i = 0; i < CACHES * 2; i++) {
      for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        struct attended t = {.plugin = &plugins[p],
                             .type = i % 2 ? ELEMENT_E4M3 : ELEMENT_BF16,
                             .cache = caches[i / 2],
                             .group = groups[g]};
        const int blocks = padded_context(&t.cache) / VALUE_BLOCK, wanted = splits[(i + g) % 4];
        t.splits = wanted < blocks ? wanted : blocks;
        check_attention(&t);
      }
    }
    // More positions than the warps of a block take at a time; as many blocks as a head has groups.
    for (int i = 0; i < 4; i++) {
      const struct attended t = {.plugin = &plugins[p],
                                 .type = i % 2 ? ELEMENT_E4M3 : ELEMENT_BF16,
                                 .cache = {1, 1, i < 2 ? 256 : 48, 601},
                                 .group = i < 2 ? 17 : 3,
                                 .splits = i < 2 ? 5 : 1};
      check_attention(&t);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vector_products_are_exact),
      cmocka_unit_test(matrix_products_are_exact),
      cmocka_unit_test(wgmma_products_are_exact),
      cmocka_unit_test(tiles_lie_as_they_say),
      cmocka_unit_test(rounding_is_the_hosts),
      cmocka_unit_test(embedding_is_exact),
      cmocka_unit_test(the_first_of_the_largest_is_chosen),
      cmocka_unit_test(the_best_of_all_ranks_is_chosen),
      cmocka_unit_test(filling_is_the_hosts),
      cmocka_unit_test(attention_is_the_oracles),
  };
  return cmocka_run_group_tests(tests, load, unload);
}
