// Weights of 4, 6 and 8 bits on the GPU kernels, run by the host emulator: their layout follows
// units.h and their bits equal quantised.h's, every code at every scale has the value given by the
// formats, products of integers and rows rounded after a norm are exact, and whole steps agree with
// the oracle.
// Deep: every batch size, all emulators, and nvcc's PTX.
// Seconds: 4, deep 80
#include "kernels/integers.h"
#include "tests/support/depth.h"
#include "tests/support/kernels/compared.h"
#include "tests/support/kernels/emulated.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/element.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/token.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/units.h"
#include "kernels/quantised.h"

static const enum element formats[] = {ELEMENT_INT8,       ELEMENT_MXFP4,      ELEMENT_NVFP4,
                                       ELEMENT_MXFP6_E2M3, ELEMENT_MXFP6_E3M2, ELEMENT_INT8_GROUP,
                                       ELEMENT_INT4_GROUP};
#define FORMATS (sizeof formats / sizeof formats[0])

static bool is_group(enum element element) {
  return element == ELEMENT_INT8_GROUP || element == ELEMENT_INT4_GROUP;
}

static int stride_of(int columns) {
  return (int)round_up((size_t)columns, UNIT);
}

// ---- where a row has its codes and scales, written from the text of units.h

struct bits {
  size_t word;
  int first, count;
};

struct code_bits {
  struct bits low, high; // high: only for 6 bits
};

static size_t words_of_codes(enum element element, int stride) {
  return (size_t)(stride / UNIT * unit_layout(element).code_bytes / 4);
}

static struct code_bits code_at(enum element element, int stride, int column) {
  const int unit = column / UNIT, octet = column % UNIT / 8, e = column % 8;
  const int piece = octet % 4, j = octet / 4, words = unit_layout(element).code_bytes / 4;
  const size_t codes = size(unit * words);
  const int spread = e / 2, other = 16 * (e % 2);
  if (element_format(element)->bits == 8) {
    const int word = j / 2 * 16 + piece * 4 + j % 2 * 2 + e / 4;
    return (struct code_bits){{codes + size(word), 8 * (e % 4), 8}, {0, 0, 0}};
  }
  const struct bits low = {codes + size(piece * 4 + j), 4 * spread + other, 4};
  if (element_format(element)->bits == 4)
    return (struct code_bits){low, {0, 0, 0}};
  const size_t beside = words_of_codes(element, stride) + size(unit * 9);
  const struct bits high = {beside + size(2 * piece + j / 2), 2 * spread + other + j % 2 * 8, 2};
  return (struct code_bits){low, high};
}

// The scale of the block that a column is in.
static struct bits scale_at(enum element element, int stride, int column) {
  const size_t beside = words_of_codes(element, stride);
  const int unit = column / UNIT, within = column % UNIT;
  switch (element) {
  case ELEMENT_MXFP4: return (struct bits){beside + size(unit), within / 32 * 8, 8};
  case ELEMENT_NVFP4:
    return (struct bits){beside + size(2 * unit + within / 16 % 2), within / 32 * 8, 8};
  case ELEMENT_MXFP6_E2M3:
  case ELEMENT_MXFP6_E3M2: return (struct bits){beside + size(9 * unit + 8), within / 32 * 8, 8};
  default: return (struct bits){beside + size(unit / 2), unit % 2 * 16, 16};
  }
}

static uint32_t bits_get(const uint32_t *row, struct bits at) {
  return at.count ? row[at.word] >> at.first & ((1u << at.count) - 1) : 0;
}

static void bits_put(uint32_t *row, struct bits at, uint32_t value) {
  if (at.count)
    row[at.word] |= (value & ((1u << at.count) - 1)) << at.first;
}

static uint8_t code_get(enum element element, const uint32_t *row, int stride, int column) {
  const struct code_bits at = code_at(element, stride, column);
  return (uint8_t)(bits_get(row, at.low) | bits_get(row, at.high) << 4);
}

static void code_put(enum element element, uint32_t *row, int stride, int column, uint8_t code) {
  const struct code_bits at = code_at(element, stride, column);
  bits_put(row, at.low, code);
  bits_put(row, at.high, code >> 4u);
}

// ---- every code at every scale, in rows of an embedding

// Scales for which units.h's kernels promise exact results, and for e8m0 those that they are held
// to; for 16 bits, some with either sign of exponent.
static int scales_of(enum element element, uint16_t *out) {
  int count = 0;
  switch (element_format(element)->scale) {
  case SCALE_E8M0:
    for (int code = 30; code <= 160; code++)
      out[count++] = (uint16_t)code;
    break;
  case SCALE_E4M3:
    for (int code = 0; code < 0x7F; code++)
      out[count++] = (uint16_t)code;
    break;
  case SCALE_BF16:
    for (int code = 0x3000; code < 0x4400; code += 0x55)
      out[count++] = (uint16_t)code;
    break;
  default: out[count++] = 0;
  }
  return count;
}

// In row r, the block of column c has scale r + its number; column c has code c + r, so all codes
// occur.
static uint8_t test_code(enum element element, int row, int column) {
  const int bits = element_format(element)->bits;
  return (uint8_t)((column + row) & ((1 << bits) - 1));
}

static void check_codes(const struct emulated *plugin, enum element element, int hidden) {
  uint16_t scales[256];
  const int rows = scales_of(element, scales), stride = stride_of(hidden);
  const int block = element_format(element)->block;
  const size_t row_words = unit_row_bytes(element, stride) / 4;
  uint32_t *matrix = emulated_take(size(rows) * row_words * 4);
  float *row_scales = emulated_take(size(rows) * sizeof *row_scales);
  memset(matrix, 0, size(rows) * row_words * 4);
  for (int r = 0; r < rows; r++) {
    uint32_t *row = matrix + size(r) * row_words;
    row_scales[r] = ldexpf(3, r % 5 - 9);
    for (int c = 0; c < hidden; c++) {
      code_put(element, row, stride, c, test_code(element, r, c));
      if (block > 0 && c % block == 0) {
        const uint16_t scale = scales[(r + c / block) % rows];
        bits_put(row, scale_at(element, stride, c),
                 element == ELEMENT_NVFP4 ? element_held(plugin, (uint8_t)scale) : scale);
      }
    }
  }
  const bool scaled = element == ELEMENT_INT8 || element == ELEMENT_NVFP4;
  for (int first = 0; first < rows; first += 16) {
    const int batch = rows - first < 16 ? rows - first : 16;
    int tokens[16];
    float *x = malloc(size(batch * hidden) * sizeof *x);
    assert_non_null(x);
    for (int b = 0; b < batch; b++)
      tokens[b] = first + b;
    const struct embed_arguments a = {.embedding = matrix,
                                      .scales = scaled ? row_scales : NULL,
                                      .tokens = tokens,
                                      .hidden = hidden,
                                      .stride = stride,
                                      .x = x};
    char kernel[64];
    snprintf(kernel, sizeof kernel, "embed_%s", gpu_element_names[element]);
    emulated_run(plugin, kernel, (unsigned)batch, 1, 1, SMALL_THREADS, 0, &a, sizeof a);
    for (int i = 0; i < batch * hidden; i++) {
      const int r = first + i / hidden, c = i % hidden;
      const float block_scale =
          block > 0 ? element_scale_value(element, scales[(r + c / block) % rows]) : 1;
      const double expected = (double)element_value(element, test_code(element, r, c)) *
                              (double)block_scale * (double)(scaled ? row_scales[r] : 1);
      if ((double)x[i] != (double)(float)expected)
        fail_msg("%s, %s: row %d, column %d: %a, not %a", plugin->name, kernel, r, c, (double)x[i],
                 expected);
    }
    free(x);
  }
  emulated_give_back();
}

static void test_every_code_is_worth_what_it_says(void **unused) {
  (void)unused;
  for (size_t i = 0; i < EMULATED * FORMATS; i++) {
    check_codes(&emulated[i / FORMATS], formats[i % FORMATS], 130);
    if (depth_is_full())
      check_codes(&emulated[i / FORMATS], formats[i % FORMATS], 300);
  }
}

// ---- products of integers

enum end { STORE, ADD, SWIGLU };
static const char *const end_names[] = {"store", "add", "swiglu"};

struct product {
  const struct emulated *plugin;
  enum element weights;
  enum end end;
  int rows, columns, batch, warp_columns, groups, splits, chunk;
  bool scaled; // the activations
};

static uint8_t weight_code(const struct product *p, int matrix, int row, int column) {
  const int bits = element_format(p->weights)->bits;
  return (uint8_t)((row * 7 + column * 5 + row * column + matrix * 3) & ((1 << bits) - 1));
}

// Powers of two, so that sums of the products are exact in any order.
static uint16_t weight_scale(const struct product *p, int matrix, int row, int block) {
  const int power = (row + 2 * block + matrix) % 4 - 2;
  switch (element_format(p->weights)->scale) {
  case SCALE_E8M0: return (uint16_t)(127 + power);
  case SCALE_E4M3: return e4m3_from_float(ldexpf(1, power));
  default: return bf16_from_float(ldexpf(1, power));
  }
}

static float row_scale(const struct product *p, int matrix, int row) {
  const bool scaled = p->weights == ELEMENT_INT8 || p->weights == ELEMENT_NVFP4;
  return scaled ? ldexpf(1, (row + matrix) % 4 - 6) : 1;
}

static float weight_worth(const struct product *p, int matrix, int row, int column) {
  const int block = element_format(p->weights)->block;
  const float scale =
      block ? element_scale_value(p->weights, weight_scale(p, matrix, row, column / block)) : 1;
  return element_value(p->weights, weight_code(p, matrix, row, column)) * scale *
         row_scale(p, matrix, row);
}

static float input_at(int vector, int column) {
  return (float)((vector * 11 + column * 3 + vector * column) % 15 - 7);
}

static float vector_scale(const struct product *p, int vector) {
  return p->scaled ? ldexpf(1, vector % 3 - 2) : 1;
}

static const void *make_matrix(const struct product *p, int matrix) {
  const int stride = stride_of(p->columns), block = element_format(p->weights)->block;
  const size_t row_words = unit_row_bytes(p->weights, stride) / 4;
  uint32_t *rows = emulated_take(size(p->rows) * row_words * 4);
  memset(rows, 0, size(p->rows) * row_words * 4);
  for (int r = 0; r < p->rows; r++) {
    uint32_t *row = rows + size(r) * row_words;
    for (int c = 0; c < p->columns; c++) {
      code_put(p->weights, row, stride, c, weight_code(p, matrix, r, c));
      if (block && c % block == 0) {
        const uint16_t scale = weight_scale(p, matrix, r, c / block);
        bits_put(row, scale_at(p->weights, stride, c),
                 p->weights == ELEMENT_NVFP4 ? element_held(p->plugin, (uint8_t)scale) : scale);
      }
    }
  }
  return rows;
}

static const float *make_scales(const struct product *p, int matrix) {
  if (p->weights != ELEMENT_INT8 && p->weights != ELEMENT_NVFP4)
    return NULL;
  float *scales = emulated_take(size(p->rows) * sizeof *scales);
  for (int row = 0; row < p->rows; row++)
    scales[row] = row_scale(p, matrix, row);
  return scales;
}

static void set_activations(const struct product *p, struct product_arguments *a) {
  const size_t padded = size(a->batch_padded);
  uint16_t *activations = emulated_take(padded * size(a->stride) * sizeof *activations);
  float *scales = emulated_take(padded * sizeof *scales);
  memset(activations, 0, padded * size(a->stride) * sizeof *activations);
  for (int b = 0; b < a->batch_padded; b++) {
    scales[b] = b < p->batch ? vector_scale(p, b) : 1;
    for (int c = 0; c < p->columns && b < p->batch; c++)
      activations[size(b * a->stride + c)] = bf16_from_float(input_at(b, c));
  }
  a->activations = activations;
  a->activation_scales = p->scaled ? scales : NULL;
}

static double expected_sum(const struct product *p, int matrix, int vector, int row) {
  double sum = 0;
  for (int c = 0; c < p->columns; c++)
    sum += (double)weight_worth(p, matrix, row, c) * (double)input_at(vector, c);
  return sum * (double)vector_scale(p, vector);
}

static void check_output(const struct product *p, const char *kernel, const float *output,
                         int stride) {
  for (int b = 0; b < p->batch; b++)
    for (int row = 0; row < p->rows; row++) {
      const double sum = expected_sum(p, 0, b, row), got = (double)output[b * stride + row];
      double expected = p->end == ADD ? sum + row : sum, slack = 0;
      if (p->end == SWIGLU) {
        expected = sum / (1 + exp(-sum)) * expected_sum(p, 1, b, row);
        slack = 1e-5 * fabs(expected) + 1e-20;
      }
      if (!(fabs(got - expected) <= slack))
        fail_msg("%s, %s, %d x %d, batch %d: vector %d, row %d: %g, not %g", p->plugin->name,
                 kernel, p->rows, p->columns, p->batch, b, row, got, expected);
    }
}

static void check_product(const struct product *p) {
  char kernel[64];
  const bool gated = p->end == SWIGLU;
  const int block_rows = MATRIX_ROWS * MATRIX_WARPS / p->groups / (gated ? 2 : 1);
  const size_t blocks = size((p->rows + block_rows - 1) / block_rows);
  struct product_arguments a = {.weights = make_matrix(p, 0),
                                .second = gated ? make_matrix(p, 1) : NULL,
                                .scales = make_scales(p, 0),
                                .second_scales = gated ? make_scales(p, 1) : NULL,
                                .rows = p->rows,
                                .columns = p->columns,
                                .stride = stride_of(p->columns),
                                .batch = p->batch,
                                .batch_padded = p->warp_columns * p->groups,
                                .splits = p->splits,
                                .output_stride = p->rows};
  const size_t shared = emulated_matrix_shared(p->plugin, p->weights, ELEMENT_BF16, p->chunk, &a);
  set_activations(p, &a);
  float *output = emulated_take(size(p->batch * p->rows) * sizeof *output);
  for (int i = 0; i < p->batch * p->rows && p->end == ADD; i++)
    output[i] = (float)(i % p->rows);
  a.output = output;
  a.partials =
      emulated_take(size(p->splits * (gated ? 2 : 1) * a.batch_padded * p->rows) * sizeof(float));
  a.counters = emulated_take(blocks * sizeof *a.counters);
  memset(a.counters, 0, blocks * sizeof *a.counters);
  snprintf(kernel, sizeof kernel, "matrix_%s_bf16_%s_%d", gpu_element_names[p->weights],
           end_names[p->end], p->warp_columns);
  emulated_run(p->plugin, kernel, (unsigned)blocks, (unsigned)p->splits, 1,
               MATRIX_WARPS * p->plugin->warp, shared, &a, sizeof a);
  check_output(p, kernel, output, a.output_stride);
  emulated_give_back();
}

// 64 columns to a warp: in the emulators for two formats, in PTX for all.
static bool has_columns(const struct emulated *plugin, enum element weights, int columns) {
  return columns == 16 || plugin->ptx || weights == ELEMENT_MXFP4 || weights == ELEMENT_INT4_GROUP;
}

// Rows that do not fill a tile, incomplete units, fewer and more units than are fetched ahead,
// groups that end in an odd unit.
static void test_products_are_exact(void **unused) {
  static const struct {
    int rows, columns, batch, warp_columns, groups, splits, chunk;
  } shapes[] = {{1, 1, 1, 16, 1, 1, 256},     {37, 130, 3, 16, 1, 1, 128},
                {40, 700, 17, 16, 2, 2, 256}, {70, 257, 5, 16, 1, 1, 256},
                {33, 520, 40, 64, 1, 2, 128}, {19, 385, 70, 64, 2, 1, 256}};
  const size_t count = sizeof shapes / sizeof shapes[0];
  (void)unused;
  for (size_t i = 0; i < EMULATED * FORMATS; i++)
    for (size_t s = 0; s < count; s++) {
      const struct product p = {.plugin = &emulated[i / FORMATS],
                                .weights = formats[i % FORMATS],
                                .end = (enum end)((i + i / FORMATS + s) % 3),
                                .rows = shapes[s].rows,
                                .columns = shapes[s].columns,
                                .batch = shapes[s].batch,
                                .warp_columns = shapes[s].warp_columns,
                                .groups = shapes[s].groups,
                                .splits = shapes[s].splits,
                                .chunk = shapes[s].chunk,
                                .scaled = (i + s) % 2};
      if (has_columns(p.plugin, p.weights, p.warp_columns) && (depth_is_full() || (i + s) % 2 == 0))
        check_product(&p);
    }
}

// ---- whole steps, and the memory they start from

static const struct decode_shape odd_shape = {.layers = 2,
                                              .hidden = 168,
                                              .heads = 6,
                                              .kv_heads = 2,
                                              .head_dim = 40,
                                              .ffn_hidden = 301,
                                              .vocab = 203,
                                              .norm_epsilon = 1e-5f,
                                              .rope_theta = 1e4f};

static enum element narrow(enum element weights) {
  return element_format(weights)->bits == 8 || is_group(weights) ? ELEMENT_INT8 : ELEMENT_E4M3;
}

static struct decode_request request_of(size_t format, bool is_narrow, bool own_head, int batch) {
  const enum element weights = formats[format];
  return (struct decode_request){
      .shape = odd_shape,
      .types = {.weights = weights,
                .activations = is_narrow ? narrow(weights) : ELEMENT_BF16,
                .kv = format % 2 ? ELEMENT_E4M3 : ELEMENT_BF16,
                .head = own_head ? weights : ELEMENT_BF16},
      .batch = batch,
      .context = 66,
      .seed = 7 + (uint64_t)batch};
}

static void check_step(const struct emulated *plugin, const struct decode_request *r) {
  char what[128];
  snprintf(what, sizeof what, "%s, %s with %s, head %s", plugin->name,
           element_format(r->types.weights)->name, element_format(r->types.activations)->name,
           element_format(r->types.head)->name);
  compared_steps(plugin->backend, r, r, what, 1);
}

// Whole steps are for the emulators: the PTX interpreter, whose entries come last, lacks
// instructions that filling these formats needs.
static size_t stepping(void) {
  size_t count = 0;
  while (count < EMULATED && !emulated[count].ptx)
    count++;
  return count;
}

static void test_steps_agree_with_the_oracle(void **unused) {
  static const int batches[] = {1, 3, 17, 33, 65, 130};
  (void)unused;
  for (size_t i = 0; i < FORMATS * 4; i++) {
    const size_t format = i / 4;
    for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++) {
      const struct emulated *plugin = &emulated[(i + b) / 2 % stepping()];
      const struct decode_request r = request_of(format, i % 2, i / 2 % 2, batches[b]);
      const bool quick = i / 2 % 2 == (format + i) % 2 && b == (format + i % 2) % 3;
      if ((quick || (depth_is_full() && !SANITIZED && (i + b) % 2 == 0)) &&
          has_columns(plugin, r.types.weights, batches[b] > 32 ? 64 : 16))
        check_step(plugin, &r);
    }
  }
}

// The values of a matrix row in device memory: codes, scales, padding.
static void check_row(const struct emulated *plugin, const struct quantised *quantised,
                      const uint32_t *row, const double *expected, int columns, float row_scale) {
  const enum element element = quantised->element;
  const int stride = stride_of(columns), block = element_format(element)->block;
  for (int c = 0; c < stride; c++) {
    const uint8_t code = code_get(element, row, stride, c);
    double worth = (double)element_value(element, code) * (double)row_scale;
    if (c >= columns) {
      assert_int_equal(code, 0);
      continue;
    }
    if (block > 0) {
      const uint32_t held = bits_get(row, scale_at(element, stride, c));
      const float scale = element_scale_value(element, (uint16_t)held);
      worth *= (double)scale; // no block's scale is 0 or NaN, the only ones stored differently
    }
    if (worth != expected[c])
      fail_msg("%s, %s: column %d is %a, not %a", plugin->name, element_format(element)->name, c,
               worth, expected[c]);
  }
}

static void check_matrix(const struct emulated *plugin, const struct plan *plan,
                         const unsigned char *memory, enum plan_region region, enum tensor tensor,
                         int layer, int first, int rows, int columns) {
  const struct decode_types *types = &plan->request.types;
  const enum element element = weights_element(types, tensor);
  const struct plan_extent *extent = &plan->region[region];
  const unsigned char *matrix = memory + extent->offset + size(layer) * extent->layer_bytes;
  struct quantised quantised;
  double expected[512];
  quantise(element, weights_scale(&plan->request.shape, tensor), &quantised);
  for (int r = 0; r < rows; r++) {
    float scale = 1;
    if (extent->scales)
      memcpy(&scale, matrix + extent->scales + size(first + r) * sizeof scale, sizeof scale);
    quantised_row(&quantised, weights_key(plan->request.seed, tensor, layer), size(r * columns),
                  size(columns), expected);
    if (element == ELEMENT_INT8 || element == ELEMENT_NVFP4)
      assert_true(scale == quantised.scale);
    check_row(
        plugin, &quantised,
        (const uint32_t *)(const void *)(matrix + size(first + r) *
                                                      unit_row_bytes(element, stride_of(columns))),
        expected, columns, scale);
  }
}

static void test_weights_are_everyones(void **unused) {
  (void)unused;
  for (size_t i = 0; i < FORMATS; i++) {
    const struct emulated *plugin = &emulated[i % stepping()];
    const struct decode_request r = request_of(i, false, true, 1);
    const struct decode_shape *s = &r.shape;
    const struct plan plan = emulated_plan(plugin, &r);
    struct decode_state *state = compared_state(plugin->backend, &r, plugin->name);
    const unsigned char *at = emulated_memory(plugin);
    check_matrix(plugin, &plan, at, REGION_EMBEDDING, TENSOR_EMBEDDING, 0, 0, s->vocab, s->hidden);
    check_matrix(plugin, &plan, at, REGION_QKV, TENSOR_WK, 1, s->heads * s->head_dim,
                 s->kv_heads * s->head_dim, s->hidden);
    check_matrix(plugin, &plan, at, REGION_DOWN, TENSOR_DOWN, 1, 0, s->hidden, s->ffn_hidden);
    plugin->backend->destroy(state);
  }
}

// ---- rows rounded for the matrix products after an RMS norm

static float sign_of(int row, int column) {
  return (row + column * 3 + row * column / 2) % 2 ? -1.0f : 1.0f;
}
static float norm_at(int column) {
  return (float)(column == 0 ? 7 : column * 5 % 7 + 1);
}

// Of ones with either sign the root mean square is 1, and the 7 makes the scale of E4M3 1/64.
static void check_norm(const struct emulated *plugin, enum element type, int columns) {
  enum { BATCH = 2, PADDED = 3 };
  const int stride = stride_of(columns), apart = columns + 4;
  float *input = emulated_take((size_t)(BATCH * apart) * sizeof *input);
  float *norm = emulated_take((size_t)columns * sizeof *norm);
  for (int c = 0; c < columns; c++) {
    norm[c] = norm_at(c);
    for (int b = 0; b < BATCH; b++)
      input[b * apart + c] = sign_of(b, c);
  }
  const struct round_arguments a = {
      .input = input,
      .norm = norm,
      .columns = columns,
      .stride = stride,
      .batch = BATCH,
      .output = emulated_take((size_t)(PADDED * stride) * element_bytes(type)),
      .scales = emulated_take(PADDED * sizeof(float)),
      .input_stride = apart};
  emulated_run(plugin, type == ELEMENT_E4M3 ? "round_e4m3_norm" : "round_bf16_norm", PADDED, 1, 1,
               ROUND_THREADS, 1024, &a, sizeof a);
  for (int i = 0; i < PADDED * stride; i++) {
    const int row = i / stride, c = i % stride;
    const bool is_padding = row >= BATCH || c >= columns;
    const float scale = type == ELEMENT_E4M3 && row < BATCH ? 1 / 64.0f : 1;
    const float got = element_get(plugin, type, a.output, (size_t)i) * scale;
    const float wanted = is_padding ? 0 : sign_of(row, c) * norm_at(c);
    if (got != wanted || (type == ELEMENT_E4M3 && a.scales[row] != scale))
      fail_msg("%s, %s, %d columns: row %d, column %d: %g, not %g", plugin->name,
               element_names[type], columns, row, c, (double)got, (double)wanted);
  }
  emulated_give_back();
}

// Fewer elements than a block holds, as many, and more; and a length that is no multiple of 4.
static void test_norms_are_rounded_exactly(void **unused) {
  static const int columns[] = {63, 1000, 4096, 4300, 8704};
  (void)unused;
  for (size_t i = 0; i < EMULATED * 2; i++)
    for (size_t s = 0; s < sizeof columns / sizeof columns[0]; s++)
      check_norm(&emulated[i / 2], i % 2 ? ELEMENT_E4M3 : ELEMENT_BF16, columns[s]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_code_is_worth_what_it_says),
                                     cmocka_unit_test(test_products_are_exact),
                                     cmocka_unit_test(test_norms_are_rounded_exactly),
                                     cmocka_unit_test(test_steps_agree_with_the_oracle),
                                     cmocka_unit_test(test_weights_are_everyones)};
  if (emulated_load(NULL)) {
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return emulated_unload(NULL) + failed;
}
