// The GPU's products, by vectors and on the matrix tile, run separately by the host emulator:
// products of integers must be exact. So must the rows of an embedding.
// Deep: all shapes, on all emulators, and as nvcc's PTX.
// Seconds: 4, deep 15
#include "tests/support/depth.h"
#include "tests/support/emulated.h"

#include <math.h>
#include <string.h>

enum end { STORE, ADD, SWIGLU };
static const char *const end_names[] = {"store", "add", "swiglu"};

struct product {
  const struct emulated *plugin;
  enum element weights, activations;
  enum end end;
  int rows, columns, batch, batch_padded;
  int stages;         // of wgmma; 0: the other matrix products
  enum passed passed; // of what SWIGLU makes
  bool rounded;       // what ADD takes, by vectors
};

// Integers, so that every order of summing gives the same result. A 7 in each vector makes its
// scale in E4M3 a power of two.
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

// The value of activation vector `vector`.
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

// An element of a vector of the output.
static double output_at(const struct product *p, const float *output, int vector, int element) {
  if (p->passed == PASSED_FLOAT) {
    return (double)output[vector + element];
  }
  const int at =
      p->passed == PASSED_PAIRED ? 2 * wgmma_paired_word(element / 2) + element % 2 : element;
  uint16_t code;
  memcpy(&code, (const char *)output + size(vector + at) * sizeof code, sizeof code);
  const uint32_t bits = (uint32_t)code << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

// Half of the last place of a BF16 near `value`.
static double half_place(double value) {
  int exponent;
  frexp(value, &exponent);
  return ldexp(1, exponent - 9);
}

static void check_output(const struct product *p, const char *kernel, const float *output,
                         int stride) {
  for (int b = 0; b < p->batch; b++) {
    for (int row = 0; row < p->rows; row++) {
      const double sum = expected_sum(p, 0, b, row);
      const double got = output_at(p, output, b * stride, row);
      double expected = sum, slack = 0;
      if (p->end == ADD) {
        expected += (double)residual_at(b, row);
      } else if (p->end == SWIGLU) {
        expected = sum / (1 + exp(-sum)) * expected_sum(p, 1, b, row);
        slack = 1e-5 * fabs(expected) + 1e-20;
        slack += p->passed == PASSED_FLOAT ? 0 : half_place(expected);
      }
      if (!(fabs(got - expected) <= slack)) {
        fail_msg("%s, %s, %d x %d, batch %d: vector %d, row %d: %g, not %g", p->plugin->name,
                 kernel, p->rows, p->columns, p->batch, b, row, got, expected);
      }
    }
    for (int row = p->rows; b + 1 < p->batch && row < stride; row++) {
      assert_true(isnan(output_at(p, output, b * stride, row)));
    }
  }
}

static const void *make_weights(const struct product *p, int matrix, int stride) {
  void *weights = emulated_take((size_t)p->rows * (size_t)stride * element_bytes(p->weights));
  for (int row = 0; row < p->rows; row++) {
    for (int c = 0; c < stride; c++) {
      element_put(p->plugin, p->weights, weights, (size_t)row * (size_t)stride + (size_t)c,
                  c < p->columns ? weight_at(matrix, row, c) : 0);
    }
  }
  return weights;
}

static const float *make_scales(const struct product *p, int matrix) {
  if (p->weights != ELEMENT_E4M3) {
    return NULL;
  }
  float *scales = emulated_take((size_t)p->rows * sizeof *scales);
  for (int row = 0; row < p->rows; row++) {
    scales[row] = row_scale(matrix, row);
  }
  return scales;
}

static int output_stride(const struct product *p) {
  return p->passed == PASSED_PAIRED ? (int)gpu_round_up((size_t)p->rows, WGMMA_STEP_BYTES)
                                    : p->rows + 3;
}

static float *make_output(const struct product *p, int stride) {
  const int last = p->passed == PASSED_PAIRED ? stride : p->rows;
  float *output = emulated_take(size((p->batch - 1) * stride + last) *
                                (p->passed == PASSED_FLOAT ? sizeof *output : sizeof(uint16_t)));
  for (int b = 0; b < p->batch && p->end == ADD; b++) {
    for (int row = 0; row < p->rows; row++) {
      output[b * stride + row] = residual_at(b, row);
    }
  }
  return output;
}

// What vector and matrix products share.
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
                                    .output_stride = output_stride(p),
                                    .output = make_output(p, output_stride(p)),
                                    .passed = p->passed};
}

// ---- what a product asks for. A vector product: each 16 bytes of the windows after its warps'
// first once, each of the beginning of the next product once, and nothing else

struct asked_matrix {
  const char *from;
  size_t bytes;
  unsigned char *left; // for each 16 bytes, how often they should still be asked for
};

static struct asked_matrix asked_matrix_of(const void *from, int rows, size_t row_bytes) {
  const size_t bytes = from ? size(rows) * row_bytes : 0;
  const struct asked_matrix matrix = {from, bytes, emulated_take(bytes / 16 + 1)};
  memset(matrix.left, 0, bytes / 16);
  return matrix;
}

static void want(const struct asked_matrix *matrix, int row, size_t row_bytes, size_t from,
                 size_t to) {
  for (size_t at = from; matrix->from && at < to && at < row_bytes; at += 16) {
    matrix->left[(size(row) * row_bytes + at) / 16]++;
  }
}

// The asks of a launch of `blocks` blocks.
struct vector_asks {
  const struct product_arguments *a;
  unsigned blocks;
  int warps;                // of a block
  bool rolls;               // asks for more than `ahead` windows, and for the next product
  size_t row_bytes, window; // of each matrix
  struct asked_matrix own[2], next[2];
};

static int first_row(const struct vector_asks *v, int rows, unsigned block) {
  return (int)(size(rows) * block / v->blocks);
}

static void want_of_warp(struct vector_asks *v, unsigned block, int warp) {
  const struct product_next *next = &v->a->next;
  const int first = first_row(v, v->a->rows, block) + warp,
            end = first_row(v, v->a->rows, block + 1);
  const size_t windows = (v->row_bytes + v->window - 1) / v->window; // to a row
  for (int row = first; row < end && v->a->ahead > 1; row += v->warps) {
    const size_t before = size((row - first) / v->warps) * windows;
    for (size_t w = row == first ? 1 : 0; w < windows; w++) {
      for (int s = 0; s < 2 && (v->rolls || before + w < size(v->a->ahead)); s++) {
        want(&v->own[s], row, v->row_bytes, w * v->window, (w + 1) * v->window);
      }
    }
  }
  const int from = first_row(v, next->rows, block) + warp, to = first_row(v, next->rows, block + 1);
  for (int turn = 0; v->rolls && turn < next->turns && first < end; turn++) {
    for (int s = 0; s < 2 && from + turn * v->warps < to; s++) {
      want(&v->next[s], from + turn * v->warps, size(next->row_bytes), 0, size(next->bytes));
    }
  }
}

static bool take_ask(const struct asked_matrix *matrix, const struct emulated_ask *ask) {
  const size_t at = (size_t)(ask->from - matrix->from);
  if (!matrix->from || at >= matrix->bytes || matrix->bytes - at < size(ask->bytes)) {
    return false;
  }
  for (size_t i = at; i < at + size(ask->bytes); i += 16) {
    if (matrix->left[i / 16]-- == 0) {
      return false;
    }
  }
  return true;
}

// Whether the last run asked for what is wanted of these matrices, and for nothing else.
static void check_taken(const struct product *p, const struct product_arguments *a,
                        const struct asked_matrix *matrices, int matrix_count) {
  size_t count;
  const struct emulated_ask *asks = emulated_asked(&count);
  for (size_t i = 0; i < count; i++) {
    int m = 0;
    while (m < matrix_count && !take_ask(&matrices[m], &asks[i])) {
      m++;
    }
    if (m == matrix_count) {
      fail_msg("%s, %d x %d, ahead %d: %d bytes are asked for that are not wanted, or twice",
               p->plugin->name, p->rows, p->columns, a->ahead, asks[i].bytes);
    }
  }
  for (int m = 0; m < matrix_count; m++) {
    for (size_t i = 0; i < matrices[m].bytes / 16; i++) {
      if (matrices[m].left[i] != 0) {
        fail_msg("%s, %d x %d, ahead %d: byte %zu of matrix %d is not asked for", p->plugin->name,
                 p->rows, p->columns, a->ahead, 16 * i, m);
      }
    }
  }
}

static void check_asks(const struct product *p, const struct product_arguments *a,
                       unsigned blocks) {
  const bool half = p->plugin->warp == 32 && p->activations == ELEMENT_E4M3 && p->batch > 2;
  const size_t row_bytes = size(a->stride) * element_bytes(p->weights);
  const size_t next_bytes = size(a->next.row_bytes);
  struct vector_asks v = {.a = a,
                          .blocks = blocks,
                          .warps = VECTOR_THREADS / p->plugin->warp,
                          .rolls = p->activations != ELEMENT_E4M3 || p->end != ADD || p->batch > 1,
                          .row_bytes = row_bytes,
                          .window =
                              size((half ? 4 : 8) / (a->second ? 2 : 1) * p->plugin->warp * 16),
                          .own = {asked_matrix_of(a->weights, a->rows, row_bytes),
                                  asked_matrix_of(a->second, a->rows, row_bytes)},
                          .next = {asked_matrix_of(a->next.weights, a->next.rows, next_bytes),
                                   asked_matrix_of(a->next.second, a->next.rows, next_bytes)}};
  for (unsigned block = 0; block < blocks; block++) {
    for (int warp = 0; warp < v.warps; warp++) {
      want_of_warp(&v, block, warp);
    }
  }
  const struct asked_matrix matrices[] = {v.own[0], v.own[1], v.next[0], v.next[1]};
  check_taken(p, a, matrices, 4);
}

// A matrix product asks once for all of each split's part of a row, beyond what its warps begin
// with.
static void check_matrix_asks(const struct product *p, const struct product_arguments *a,
                              int columns) {
  const bool any = p->plugin->any_chunk;
  const int depth = !any ? MATRIX_DEPTH : p->plugin->warp == 32 ? 1 : columns == 16 ? 2 : 4;
  const size_t element = element_bytes(p->weights), row_bytes = size(a->stride) * element;
  const struct asked_matrix matrices[] = {asked_matrix_of(a->weights, a->rows, row_bytes),
                                          asked_matrix_of(a->second, a->rows, row_bytes)};
  const int chunks = (a->stride + a->chunk - 1) / a->chunk;
  for (int row = 0; row < a->rows && a->ahead > 0; row++) {
    for (int split = 0; split < a->splits; split++) {
      const int first = chunks * split / a->splits * a->chunk;
      const int end = chunks * (split + 1) / a->splits * a->chunk;
      const size_t begun = size(first) * element + size(depth) * 64;
      for (int m = 0; m < 2; m++) {
        want(&matrices[m], row, row_bytes, begun, size(end) * element);
      }
    }
  }
  check_taken(p, a, matrices, 2);
}

// Some product to follow; the results do not depend on it.
static struct product_next next_of(const struct product *p) {
  const int rows = 5 + 9 * p->batch, row_bytes = 64 * (1 + p->columns % 3);
  const bool gated = p->rows % 2;
  return (struct product_next){
      .weights = emulated_take(size(rows * row_bytes)),
      .second = gated ? emulated_take(size(rows * row_bytes)) : NULL,
      .rows = rows,
      .row_bytes = row_bytes,
      .bytes = row_bytes - (p->batch % 2 ? 16 : 0),
      .turns = p->columns % 4,
  };
}

static enum passed passed_of(enum end end, size_t number) {
  return end == SWIGLU ? (enum passed)(number % 3) : PASSED_FLOAT;
}

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
  a.ahead = 1 + p->columns % 5; // no sum depends on it
  a.next = next_of(p);
  const int vectors = p->batch > 2 ? VECTOR_BATCH : p->batch;
  snprintf(kernel, sizeof kernel, "vector_%s_%s_%s_%s_%d", element_names[p->weights],
           element_names[p->activations], p->end == ADD ? "round" : "norm", end_names[p->end],
           vectors);
  emulated_run(p->plugin, kernel, blocks, 1, 1, VECTOR_THREADS,
               vector_shared_bytes(a.stride, vectors, element_bytes(p->activations)), &a, sizeof a);
  check_output(p, kernel, a.output, a.output_stride);
  if (!p->plugin->ptx) {
    check_asks(p, &a, blocks);
  }
  emulated_give_back();
}

static void vector_products_are_exact(void **unused) {
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
static void rounded_vectors_are_taken(void **unused) {
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

// Does the product take its activations as "paired"?
static bool is_paired(const struct product *p) {
  return p->stages > 0 && p->weights != p->activations;
}

static void set_activations(const struct product *p, int stride, struct product_arguments *a) {
  const size_t element = element_bytes(p->activations), padded = (size_t)p->batch_padded;
  void *activations = emulated_take(padded * (size_t)stride * element);
  float *scales = emulated_take(padded * sizeof *scales);
  memset(activations, 0, padded * (size_t)stride * element);
  for (int b = 0; b < p->batch_padded; b++) {
    scales[b] = b < p->batch ? ldexpf(1, b % 3 - 2) : 1;
    const float scale = p->activations == ELEMENT_E4M3 ? scales[b] : 1;
    for (int c = 0; c < p->columns && b < p->batch; c++) {
      const int at = is_paired(p) ? 2 * wgmma_paired_word(c / 2) + c % 2 : c;
      element_put(p->plugin, p->activations, activations, size(b * stride + at),
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
  a->partials = emulated_take(size(splits * gates * p->batch_padded * p->rows) * sizeof(float));
  a->counters = emulated_take(blocks * sizeof *a->counters);
  memset(a->counters, 0, blocks * sizeof *a->counters);
}

static void check_product(const struct product *p, const char *kernel, size_t blocks,
                          const struct product_arguments *a) {
  check_output(p, kernel, a->output, a->output_stride);
  for (size_t i = 0; i < blocks; i++) {
    assert_int_equal(a->counters[i], 0);
  }
  emulated_give_back();
}

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
  a.ahead = p->columns % 4; // no sum depends on it
  const size_t shared = emulated_matrix_shared(p->plugin, p->weights, p->activations,
                                               chunk > least ? chunk : least, &a);
  snprintf(kernel, sizeof kernel, "matrix_%s_%s_%s_%d", element_names[p->weights],
           element_names[p->activations], end_names[p->end], columns);
  emulated_run(p->plugin, kernel, (unsigned)blocks, (unsigned)splits, 1,
               MATRIX_WARPS * p->plugin->warp, shared, &a, sizeof a);
  if (!p->plugin->ptx) {
    check_matrix_asks(p, &a, columns);
  }
  check_product(p, kernel, blocks, &a);
}

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
};

static void check_wgmma(const struct product *p, int columns, struct sharing sharing) {
  char kernel[64];
  struct product_arguments a = make_arguments(p);
  const size_t weight = element_bytes(p->weights), activation = element_bytes(p->activations);
  const int gates = p->end == SWIGLU ? 2 : 1;
  const size_t beside = (size_t)sharing.beside;
  const int rows = wgmma_tiles(p->batch_padded, columns) * WGMMA_ROWS / gates * sharing.beside;
  const size_t row = (size_t)a.stride * weight;
  const int stride =
      is_paired(p) ? (int)gpu_round_up((size_t)a.stride, WGMMA_STEP_BYTES) : a.stride;
  struct even_work work = {.tiles = (unsigned)((p->rows + rows - 1) / rows),
                           .steps = (unsigned)(row + WGMMA_STEP_BYTES - 1) / WGMMA_STEP_BYTES};
  const unsigned units = work.tiles * work.steps, blocks = sharing.parts > 1 ? 0 : sharing.blocks;
  const int parts = sharing.parts < (int)work.steps ? sharing.parts : (int)work.steps;
  const unsigned cluster = (unsigned)(sharing.beside * parts);
  work.blocks = blocks == 0 ? work.tiles : blocks < units ? blocks : units;
  const size_t counters = (size_t)work.blocks * beside * WGMMA_GROUPS * 4;
  set_activations(p, stride, &a);
  set_splits(p, 0, counters, &a);
  a.partials =
      emulated_take(2 * work.blocks * beside * wgmma_partial_floats(columns) * sizeof(float));
  const struct wgmma_arguments arguments = {
      .weights = make_map(a.weights, row, p->rows, WGMMA_ROWS),
      .second = make_map(a.second, row, p->rows, WGMMA_ROWS),
      .activations = make_map(a.activations, (size_t)stride * activation, p->batch_padded,
                              p->batch_padded / sharing.beside),
      .product = a,
      .work = work,
      .stages = p->stages,
      .beside = sharing.beside,
      .parts = parts};
  snprintf(kernel, sizeof kernel, "wgmma_%s_%s_%s_%d", element_names[p->weights],
           element_names[p->activations], end_names[p->end], columns);
  const size_t stage = wgmma_stage_bytes(p->batch_padded, columns, weight, activation);
  emulated_run_clusters(p->plugin, kernel, work.blocks * cluster, cluster, WGMMA_THREADS,
                        wgmma_shared_bytes(stage, p->stages), &arguments, sizeof arguments);
  check_product(p, kernel, counters, &a);
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

// Rows that do not fill a tile, incomplete steps, more and fewer steps than stages; a block for each
// tile, for several, for parts of two, and for each unit of work, whose pieces meet in many orders;
// and the same in clusters, some of which have rows for one of their blocks only. `wide`: as many
// columns as a warpgroup takes, else 16.
static void wgmma_products_are_exact(void **unused) {
  static const struct {
    int rows, columns, batch, wide, groups, stages;
    unsigned blocks, times;
  } shapes[] = {{1, 1, 1, 0, 1, 3, 0, 1},       {37, 65, 7, 0, 1, 6, 9, 1},
                {300, 600, 16, 0, 1, 3, 7, 1},  {200, 1000, 17, 0, 2, 3, 1, 3},
                {40, 700, 50, 1, 1, 4, 5, 1},   {265, 200, 120, 1, 2, 3, 2, 1},
                {1, 1000, 1, 0, 1, 3, 9999, 12}};
  (void)unused;
  for (size_t i = 0; i < EMULATED * WEIGHT_KINDS; i++) {
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0] && emulated[i / WEIGHT_KINDS].wgmma;
         s++) {
      const enum element weights = weight_kinds[i % WEIGHT_KINDS][0];
      const int columns = shapes[s].wide ? wgmma_max_columns(element_bytes(weights)) : 16;
      const struct product p = {.plugin = &emulated[i / WEIGHT_KINDS],
                                .weights = weights,
                                .activations = weight_kinds[i % WEIGHT_KINDS][1],
                                .end = (enum end)((i + s) % 3),
                                .rows = shapes[s].rows,
                                .columns = shapes[s].columns,
                                .batch = shapes[s].batch,
                                .batch_padded = columns * shapes[s].groups,
                                .stages = shapes[s].stages,
                                .passed = passed_of((enum end)((i + s) % 3), s / 3 + 1)};
      for (unsigned time = 0; time < shapes[s].times * MAX_WGMMA_BESIDE; time++) {
        check_wgmma(&p, columns,
                    (struct sharing){shapes[s].blocks, 1 + (int)time % MAX_WGMMA_BESIDE, 1});
      }
    }
  }
}

// The same with a tile's steps divided among the blocks of a cluster: by any number of them, more
// than there are tiles of columns or not, alone or beside each other, with more and fewer steps
// than stages. No block may end before others have read its sums.
static void parts_of_wgmma_are_exact(void **unused) {
  static const struct {
    int rows, columns, batch, wide, groups, stages;
    struct sharing sharing;
  } shapes[] = {{1, 520, 1, 0, 1, 3, {0, 1, 8}},     {300, 300, 16, 0, 1, 3, {0, 1, 2}},
                {200, 1100, 17, 0, 2, 4, {0, 2, 4}}, {40, 700, 50, 1, 1, 4, {0, 1, 5}},
                {265, 450, 120, 1, 2, 3, {0, 2, 3}}, {37, 1030, 7, 0, 1, 6, {0, 1, 7}},
                {600, 130, 16, 0, 1, 3, {0, 2, 2}}};
  (void)unused;
  for (size_t i = 0; i < EMULATED * WEIGHT_KINDS; i++) {
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0] && emulated[i / WEIGHT_KINDS].wgmma;
         s++) {
      const enum element weights = weight_kinds[i % WEIGHT_KINDS][0];
      const int columns = shapes[s].wide ? wgmma_max_columns(element_bytes(weights)) : 16;
      const struct product p = {.plugin = &emulated[i / WEIGHT_KINDS],
                                .weights = weights,
                                .activations = weight_kinds[i % WEIGHT_KINDS][1],
                                .end = (enum end)((i + s) % 3),
                                .rows = shapes[s].rows,
                                .columns = shapes[s].columns,
                                .batch = shapes[s].batch,
                                .batch_padded = columns * shapes[s].groups,
                                .stages = shapes[s].stages};
      check_wgmma(&p, columns, shapes[s].sharing);
    }
  }
}

// Every one of these kernels, as PTX: the emulator has only those with the fewest and the most
// columns.
static void wgmma_of_every_width_is_exact(void **unused) {
  (void)unused;
  for (size_t i = 0; i < EMULATED * WEIGHT_KINDS * 3; i++) {
    const struct emulated *plugin = &emulated[i / 3 / WEIGHT_KINDS];
    const enum element *kind = weight_kinds[i / 3 % WEIGHT_KINDS];
    const int most = wgmma_max_columns(element_bytes(kind[0]));
    for (int columns = 16; plugin->wgmma && plugin->ptx && columns <= most; columns *= 2) {
      const struct product p = {.plugin = plugin,
                                .weights = kind[0],
                                .activations = kind[1],
                                .end = (enum end)(i % 3),
                                .rows = 150,
                                .columns = 300,
                                .batch = columns - 3,
                                .batch_padded = columns,
                                .stages = 3};
      check_wgmma(&p, columns, (struct sharing){3, 1 + (int)i % MAX_WGMMA_BESIDE, 1});
      check_wgmma(&p, columns, (struct sharing){0, 1 + (int)i % MAX_WGMMA_BESIDE, 4});
    }
  }
}

// ---- of experts: the rows of all experts' matrices are those of one product; the slots of each
// item get an expert's part of it

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
  p->ahead = 2;
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

static void products_of_experts_are_exact(void **unused) {
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

static void tiles_lie_as_they_say(void **unused) {
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

static void embedding_is_exact(void **unused) {
  enum { VOCAB = 5, BATCH = 4 };
  static const int hidden[] = {1, 7, 64, 65, 4500};
  (void)unused;
  for (size_t i = 0; i < EMULATED * 2 * 5; i++) {
    const struct emulated *plugin = &emulated[i / 10];
    const enum element type = i % 2 ? ELEMENT_E4M3 : ELEMENT_BF16;
    const int h = hidden[i / 2 % 5];
    const struct product like = {
        .plugin = plugin, .weights = type, .rows = VOCAB, .columns = h, .batch = BATCH};
    const int stride = (int)gpu_round_up((size_t)h, ROW_ALIGNMENT);
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
      cmocka_unit_test(vector_products_are_exact), cmocka_unit_test(rounded_vectors_are_taken),
      cmocka_unit_test(matrix_products_are_exact), cmocka_unit_test(wgmma_products_are_exact),
      cmocka_unit_test(parts_of_wgmma_are_exact),  cmocka_unit_test(products_of_experts_are_exact),
      cmocka_unit_test(tiles_lie_as_they_say),     cmocka_unit_test(embedding_is_exact),
  };
  const struct CMUnitTest deep[] = {cmocka_unit_test(wgmma_of_every_width_is_exact)};
  if (emulated_load(NULL)) {
    return 1;
  }
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  failed += depth_is_full() ? cmocka_run_group_tests(deep, NULL, NULL) : 0;
  return emulated_unload(NULL) + failed;
}
