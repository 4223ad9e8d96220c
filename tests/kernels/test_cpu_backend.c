// The CPU backend compared with the oracle: every instruction set of this machine, every mix of
// types, and shapes that are not multiples of a vector.
// Deep: two contexts for each mix and batch rather than one, and every batch with every format.
// Seconds: 12, deep 40
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/dispatch.h"
#include "kernels/element.h"
#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"
#include "kernels/reference/stages.h"
#include "tests/support/depth.h"

#define MAX_BATCH 17
#define MAX_VOCAB 1003

static const char *const isa_names[CPU_ISAS] = {"portable", "avx2", "avx512", "avx512-bf16", "amx"};

// hidden, head_dim, ffn and vocab are not multiples of 16; three query heads read one KV head.
static const struct decode_shape odd_shape = {.layers = 2,
                                              .hidden = 72,
                                              .heads = 6,
                                              .kv_heads = 2,
                                              .head_dim = 40,
                                              .ffn_hidden = 200,
                                              .vocab = MAX_VOCAB,
                                              .norm_epsilon = 1e-5f,
                                              .rope_theta = 1e4f};

// Weights, activations, KV, head, accumulation.
static const struct decode_types mixes[] = {
    {ELEMENT_BF16, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_F32, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_F32, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_E4M3, ELEMENT_INT8, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP4, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP4, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_MXFP4, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP4, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_NVFP4, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_NVFP4, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_NVFP4, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_NVFP4, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_NVFP4, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP6_E2M3, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP6_E2M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_MXFP6_E2M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP6_E2M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP6_E3M2, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_MXFP6_E3M2, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_MXFP6_E3M2, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_MXFP6_E3M2, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT8_GROUP, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT8_GROUP, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT8_GROUP, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_INT8_GROUP, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT4_GROUP, ELEMENT_F32, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT4_GROUP, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_INT4_GROUP, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_INT4_GROUP, ELEMENT_F32, ELEMENT_F32},
};
#define MIXES (sizeof mixes / sizeof mixes[0])

static struct decode_request request_of(const struct decode_types *types, int batch, int context,
                                        int threads) {
  return (struct decode_request){.shape = odd_shape,
                                 .types = *types,
                                 .batch = batch,
                                 .context = context,
                                 .seed = 20,
                                 .threads = threads};
}

static struct decode_state *make(const struct decode_request *request) {
  static enum decode_status status; // static: otherwise cppcheck thinks that the state points at it
  struct decode_state *state = cpu_backend.create(0, request, &status);
  if (!state)
    fail_msg("create: status %d, %s", status, cpu_backend.error());
  return state;
}

// One step of both, from the same tokens.
static void check_step(struct decode_state *state, struct reference *reference,
                       const struct decode_request *request, enum cpu_isa isa) {
  static float logits[MAX_BATCH * MAX_VOCAB];
  int tokens[MAX_BATCH];
  assert_int_equal(cpu_backend.tokens(state, tokens), DECODE_OK);
  assert_int_equal(reference_set_tokens(reference, tokens), 0);
  reference_step(reference);
  memset(logits, 0xFF, sizeof logits);
  assert_int_equal(cpu_backend.run(state, 1), DECODE_OK);
  assert_int_equal(cpu_backend.logits(state, logits), DECODE_OK);
  assert_int_equal(cpu_backend.tokens(state, tokens), DECODE_OK);
  const struct decode_types *types = &request->types;
  struct reference_verdict verdict =
      reference_check(reference, logits, tokens, reference_tolerance(types));
  if (!verdict.pass)
    fail_msg("%s, weights %s, activations %s, kv %s, head %s, batch %d, context %d, threads %d: "
             "error %g, shortfall %g%s",
             isa_names[isa], element_format(types->weights)->name,
             element_format(types->activations)->name, element_format(types->kv)->name,
             element_format(types->head)->name, request->batch, request->context, request->threads,
             verdict.error, verdict.shortfall, verdict.greedy ? "" : ", not the largest");
}

static void check_request(const struct decode_request *request, enum cpu_isa isa) {
  enum decode_status status;
  struct reference *reference = reference_create(request, &status);
  assert_non_null(reference);
  struct decode_state *state = make(request);
  check_step(state, reference, request, isa);
  check_step(state, reference, request, isa);
  cpu_backend.destroy(state);
  reference_destroy(reference);
}

// For weights with blocks and activations in E4M3, every third batch in turn, unless the run is
// deep. Sanitizers, which detect an access however often it is made, get half of each mix's
// batches, alternating with those of one row.
static bool is_turn(size_t mix, size_t batch) {
  if (SANITIZED)
    return (mix + batch) / 2 % 2 == 0;
  const bool often =
      !element_has_blocks(mixes[mix].weights) && mixes[mix].activations != ELEMENT_E4M3;
  return depth_is_full() || often || (mix + batch) % 3 == 0;
}

static void check_isa(enum cpu_isa isa) {
  static const int batches[] = {1, 2, 3, 5, 11, 16, 17, 4}, contexts[] = {1, 2, 37, 130};
  const size_t pairs = depth_is_full() && !SANITIZED ? 2 : 1; // of four, in turn
  if (!cpu_has(isa)) {
    print_message("this machine has no %s\n", isa_names[isa]);
    skip();
  }
  cpu_force_isa(isa);
  for (size_t m = 0; m < MIXES; m++)
    for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++)
      for (size_t c = m + b; c < m + b + pairs && is_turn(m, b); c++) {
        struct decode_request request =
            request_of(&mixes[m], batches[b], contexts[2 * c % 4 + m % 2], 1 + (int)b % 2);
        check_request(&request, isa);
      }
  // Long enough for several chunks; one KV head, which six query heads read and four threads share.
  for (size_t m = 0; m < MIXES; m++)
    for (int threads = 1; threads <= 4 && is_turn(m, 2); threads += 3) {
      struct decode_request request = request_of(&mixes[m], 1, 700, threads);
      request.shape.kv_heads = 1;
      check_request(&request, isa);
    }
  cpu_force_isa(CPU_ISAS);
}

static void test_portable(void **unused) {
  (void)unused;
  check_isa(CPU_PORTABLE);
}

static void test_avx2(void **unused) {
  (void)unused;
  check_isa(CPU_AVX2);
}

static void test_avx512(void **unused) {
  (void)unused;
  check_isa(CPU_AVX512);
}

static void test_avx512_bf16(void **unused) {
  (void)unused;
  check_isa(CPU_AVX512_BF16);
}

static void test_amx(void **unused) {
  (void)unused;
  check_isa(CPU_AMX);
}

// A row of the batch gives the same logits regardless of its neighbors.
static void test_rows_are_independent(void **unused) {
  (void)unused;
  static float alone[MAX_BATCH * MAX_VOCAB], among[MAX_BATCH * MAX_VOCAB];
  for (size_t m = 0; m < MIXES; m++) {
    struct decode_request request = request_of(&mixes[m], 6, 37, 2);
    struct decode_state *state = make(&request);
    int tokens[6] = {1, 2, 3, 4, 5, 6};
    assert_int_equal(cpu_backend.set_tokens(state, tokens), DECODE_OK);
    assert_int_equal(cpu_backend.run(state, 1), DECODE_OK);
    cpu_backend.logits(state, alone);
    for (int b = 0; b < 6; b++)
      tokens[b] = b == 2 ? 3 : 900 + b;
    assert_int_equal(cpu_backend.set_tokens(state, tokens), DECODE_OK);
    assert_int_equal(cpu_backend.run(state, 1), DECODE_OK);
    cpu_backend.logits(state, among);
    assert_memory_equal(alone + 2 * MAX_VOCAB, among + 2 * MAX_VOCAB, MAX_VOCAB * sizeof(float));
    assert_memory_not_equal(alone, among, MAX_VOCAB * sizeof(float));
    cpu_backend.destroy(state);
  }
}

// Halves of the scale, which in double precision would not be halves, and a vector of the smallest
// floats.
static void test_int8_as_the_oracle(void **unused) {
  (void)unused;
  enum { COUNT = 200 };
  float x[COUNT];
  double expected[COUNT];
  int8_t q[COUNT];
  for (int isa = 0; isa < CPU_ISAS; isa++)
    for (int largest = 1; largest < 60; largest++) {
      if (!cpu_has((enum cpu_isa)isa))
        continue;
      cpu_force_isa((enum cpu_isa)isa);
      float unit = largest == 59 ? 3 * 0x1p-149f : 1, step = (float)largest * unit / 127.0f;
      for (int i = 0; i < COUNT; i++)
        x[i] = i ? ((float)(i - 100) + 0.5f) * step : (float)largest * unit;
      for (int i = 0; i < COUNT; i++)
        expected[i] = (double)(x[i] = fminf(fmaxf(x[i], -x[0]), x[0]));
      int32_t sum, total = 0;
      float scale = cpu_kernels_choose()->elementwise->to_int8(x, COUNT, q, &sum);
      reference_round(ELEMENT_INT8, expected, COUNT);
      for (int i = 0; i < COUNT; i++) {
        total += q[i];
        if ((double)q[i] * (double)scale != expected[i])
          fail_msg("%s: %a of %a: %d, not %g", isa_names[isa], (double)x[i], (double)x[0], q[i],
                   expected[i] / (double)scale);
      }
      assert_int_equal(sum, total);
    }
  cpu_force_isa(CPU_ISAS);
}

// All codes, all midpoints between two codes, halves that are ties and their neighbors; and the
// smallest floats, whose scale underflows.
static void test_e4m3_as_the_oracle(void **unused) {
  (void)unused;
  enum { COUNT = 3 * 254 + 1, SCALES = 5 };
  static const float largest[SCALES] = {448, 1, 0.3f, 1e30f, 300 * 0x1p-149f};
  float x[COUNT];
  double expected[COUNT];
  uint16_t codes[COUNT];
  for (int isa = 0; isa < CPU_ISAS; isa++)
    for (int s = 0; s < SCALES; s++) {
      if (!cpu_has((enum cpu_isa)isa))
        continue;
      cpu_force_isa((enum cpu_isa)isa);
      const float scale = largest[s] / 448.0f;
      x[COUNT - 1] = largest[s];
      for (int i = 0; i < COUNT - 1; i++) {
        const int code = i / 3 % 127;
        const float low = float_from_e4m3((uint8_t)code);
        const float high = float_from_e4m3((uint8_t)(code < 126 ? code + 1 : code));
        const float half = (low + high) / 2 * scale, sign = i < COUNT / 2 ? 1 : -1;
        x[i] = sign * (i % 3 == 0 ? half : nextafterf(half, i % 3 == 1 ? 0 : INFINITY));
      }
      for (int i = 0; i < COUNT; i++)
        expected[i] = (double)x[i];
      const float given = cpu_kernels_choose()->elementwise->to_e4m3(x, COUNT, codes);
      reference_round(ELEMENT_E4M3, expected, COUNT);
      for (int i = 0; i < COUNT; i++)
        if ((double)float_from_bf16(codes[i]) * (double)given != expected[i])
          fail_msg("%s: %a of %a: %g, not %g", isa_names[isa], (double)x[i], (double)largest[s],
                   (double)float_from_bf16(codes[i]), expected[i] / (double)given);
    }
  cpu_force_isa(CPU_ISAS);
}

#define PRODUCT_PANELS  5
#define PRODUCT_COLUMNS 192
#define PRODUCT_BATCH   67 // more than the four groups of 16 vectors that share a tile of weights

// Weights of -1, 0, 1 and inputs of -3..3, whose sums are exact in every type and order; the
// columns are not a whole number of chunks of blocks.
struct whole_product {
  _Alignas(64) uint8_t panels[PRODUCT_PANELS * PANEL_ROWS * PRODUCT_COLUMNS * 2];
  _Alignas(64) uint8_t in[PRODUCT_BATCH * (PRODUCT_COLUMNS + 2) * sizeof(float)];
  _Alignas(64) float out[PRODUCT_BATCH * PRODUCT_PANELS * PANEL_ROWS];
  int32_t arranged[5 * ARRANGED_ROWS * PRODUCT_COLUMNS];
  int32_t in_sums[PRODUCT_BATCH];
};

static int weight_at(size_t row, size_t column) {
  return (int)((row * 7 + column * 5 + row * column) % 3) - 1;
}

static int input_at(size_t row, size_t column) {
  return (int)((row * 11 + column * 3 + row * column / 4) % 7) - 3;
}

static void put_input(enum element element, int value, uint8_t *at) {
  float number = (float)value;
  uint16_t bits = bf16_from_float(number);
  int8_t byte = (int8_t)value;
  if (element == ELEMENT_F32)
    memcpy(at, &number, sizeof number);
  else if (element == ELEMENT_BF16)
    memcpy(at, &bits, sizeof bits);
  else
    memcpy(at, &byte, sizeof byte);
}

static void put_weight(enum element element, int value, uint8_t *at) {
  if (element == ELEMENT_E4M3)
    *at = e4m3_from_float((float)value);
  else
    put_input(element, value, at);
}

// Blocks' scales are powers of two, which leave the sums exact.
static float scale_at(size_t row, size_t block) {
  return ldexpf(1, (int)((row + block) % 5) - 2);
}

static uint16_t scale_code(enum element element, float scale) {
  switch (element_format(element)->scale) {
  case SCALE_E4M3: return e4m3_from_float(scale);
  case SCALE_BF16: return bf16_from_float(scale);
  default: return (uint16_t)(127 + (int)log2f(scale));
  }
}

static void put_blocks(enum element element, size_t row, uint8_t *panel) {
  const struct block_layout layout = block_layout(element);
  uint8_t codes[MAX_UNIT_COLUMNS];
  for (size_t c = 0; c < PRODUCT_COLUMNS; c += layout.unit_columns) {
    for (size_t i = 0; i < layout.unit_columns; i++)
      codes[i] = element_code(element, (float)weight_at(row, c + i));
    blocks_pack(element, codes, row % PANEL_ROWS, panel + blocks_unit_at(element, c));
  }
  for (size_t block = 0; block < element_blocks(element, PRODUCT_COLUMNS); block++) {
    const uint16_t code = scale_code(element, scale_at(row, block));
    memcpy(panel + blocks_scale_at(element, row % PANEL_ROWS, block), &code, layout.scale_bytes);
  }
}

static void put_row(enum element element, size_t row, uint8_t *panel) {
  if (element_has_blocks(element))
    put_blocks(element, row, panel);
  else
    for (size_t c = 0; c < PRODUCT_COLUMNS; c++)
      put_weight(element, weight_at(row, c), panel + panel_offset(element, row % PANEL_ROWS, c));
}

// Every code at every power of two that a block of the models' weights may have, and beyond, and at
// every scale in E4M3.
static void check_unpacked(enum element element, const struct elementwise *elementwise,
                           const char *what) {
  enum { COLUMNS = 192 };
  const struct block_layout layout = block_layout(element);
  const int bits = element_format(element)->bits, count = element == ELEMENT_NVFP4 ? 0x7F : 200;
  static uint8_t panel[PANEL_ROWS * COLUMNS * 2], lines[COLUMNS / 2 * 3 * LINE_BYTES];
  for (int first = 0; first < count; first += 7) {
    memset(panel, 0, sizeof panel);
    for (size_t row = 0; row < PANEL_ROWS; row++) {
      for (size_t c = 0; c < COLUMNS; c += layout.unit_columns) {
        uint8_t codes[MAX_UNIT_COLUMNS];
        for (size_t i = 0; i < layout.unit_columns; i++)
          codes[i] = (uint8_t)((row + c + i) & ((1u << bits) - 1));
        blocks_pack(element, codes, row, panel + blocks_unit_at(element, c));
      }
      for (size_t block = 0; block < COLUMNS / layout.block; block++)
        panel[blocks_scale_at(element, row, block)] =
            (uint8_t)((element == ELEMENT_NVFP4 ? 0 : 20) +
                      (first + (int)(row + block) % 7) % count);
    }
    elementwise->unpack[element](panel, COLUMNS / 2, lines, (size_t)3 * LINE_BYTES);
    for (size_t row = 0; row < PANEL_ROWS; row++)
      for (size_t c = 0; c < COLUMNS; c++) {
        uint16_t found;
        memcpy(&found, lines + c / 2 * 3 * LINE_BYTES + row * 4 + c % 2 * 2, sizeof found);
        const uint8_t scale = panel[blocks_scale_at(element, row, c / layout.block)];
        const float value = element_value(element, (uint8_t)((row + c) & ((1u << bits) - 1))) *
                            element_scale_value(element, scale);
        if (float_from_bf16(found) != value)
          fail_msg("%s, row %zu, column %zu, scale %d: %a, not %a", what, row, c, scale,
                   (double)float_from_bf16(found), (double)value);
      }
  }
}

static void test_unpacked_blocks(void **unused) {
  (void)unused;
  for (int isa = 0; isa < CPU_ISAS; isa++)
    for (int e = 0; e < ELEMENTS && cpu_has((enum cpu_isa)isa); e++) {
      cpu_force_isa((enum cpu_isa)isa);
      const struct elementwise *elementwise = cpu_kernels_choose()->elementwise;
      char what[64];
      snprintf(what, sizeof what, "%s, %s", isa_names[isa], element_format((enum element)e)->name);
      if (element_has_blocks((enum element)e) && elementwise->unpack[e])
        check_unpacked((enum element)e, elementwise, what);
    }
  cpu_force_isa(CPU_ISAS);
}

static struct product fill_product(struct whole_product *whole, enum product_kind kind,
                                   size_t batch) {
  enum element panel = product_types[kind].weights, input = product_types[kind].input;
  size_t stride = blocks_panel_bytes(panel, PRODUCT_COLUMNS);
  memset(whole->panels, 0, sizeof whole->panels);
  for (size_t row = 0; row < PRODUCT_PANELS * PANEL_ROWS; row++)
    put_row(panel, row, whole->panels + row / PANEL_ROWS * stride);
  size_t bytes = PRODUCT_COLUMNS * element_bytes(input);
  size_t in_stride = bytes + blocks_sum_bytes(panel, input, PRODUCT_COLUMNS);
  for (size_t b = 0; b < batch; b++) {
    uint8_t *in = whole->in + b * in_stride;
    whole->in_sums[b] = 0;
    for (size_t c = 0; c < PRODUCT_COLUMNS; c++) {
      put_input(input, input_at(b, c), in + c * element_bytes(input));
      whole->in_sums[b] += input_at(b, c);
    }
    if (in_stride > bytes)
      blocks_finish_int8(panel, (int8_t *)in, PRODUCT_COLUMNS);
  }
  return (struct product){.panels = whole->panels,
                          .panel_stride = stride,
                          .panel_count = PRODUCT_PANELS,
                          .columns = PRODUCT_COLUMNS,
                          .in = whole->in,
                          .in_stride = in_stride,
                          .in_sums = whole->in_sums,
                          .batch = batch,
                          .in_words = bytes / sizeof(int32_t),
                          .out = whole->out,
                          .out_stride = PRODUCT_PANELS * PANEL_ROWS};
}

static void check_product(const struct product *product, enum element element, const char *what) {
  const size_t block = (size_t)element_format(element)->block;
  for (size_t b = 0; b < product->batch; b++)
    for (size_t row = 0; row < PRODUCT_PANELS * PANEL_ROWS; row++) {
      float expected = 0;
      for (size_t c = 0; c < PRODUCT_COLUMNS; c++)
        expected +=
            (float)(weight_at(row, c) * input_at(b, c)) * (block ? scale_at(row, c / block) : 1);
      if (product->out[b * product->out_stride + row] != expected)
        fail_msg("%s, batch %zu, vector %zu, row %zu: %g, not %g", what, product->batch, b, row,
                 (double)product->out[b * product->out_stride + row], (double)expected);
    }
}

// For every way in which a kernel can read: side by side, in one stream, or with the vectors
// arranged.
static void test_products(void **unused) {
  (void)unused;
  static struct whole_product whole;
  static const char *const ways[] = {"side by side", "one stream", "arranged"};
  char what[64];
  for (int isa = 0; isa < CPU_ISAS; isa++)
    for (int kind = 0; kind < PRODUCT_KINDS; kind++)
      for (size_t batch = 1; batch <= PRODUCT_BATCH; batch += batch < MAX_BATCH ? 1
                                                              : batch < 39      ? 22
                                                                                : 28)
        for (int way = 0; way < 3; way++) {
          cpu_force_isa((enum cpu_isa)isa);
          const struct cpu_kernels *kernels = cpu_kernels_choose();
          if (!cpu_has((enum cpu_isa)isa) || !kernels->product[kind] ||
              (way == 2 && !kernels->takes_arranged))
            continue;
          struct product product = fill_product(&whole, (enum product_kind)kind, batch);
          memset(whole.out, 0xFF, sizeof whole.out);
          memset(whole.arranged, 0xFF, sizeof whole.arranged);
          product.one_stream = way == 1;
          if (way == 2) {
            cpu_arrange(product.in, product.in_stride, batch, product.in_words, whole.arranged);
            product.arranged = whole.arranged;
          }
          kernels->product[kind](&product);
          const struct product_types *types = &product_types[kind];
          snprintf(what, sizeof what, "%s, %s x %s, %s", isa_names[isa],
                   element_format(types->weights)->name, element_format(types->input)->name,
                   ways[way]);
          check_product(&product, types->weights, what);
        }
  cpu_force_isa(CPU_ISAS);
}

static void run_five(const struct decode_types *types, int threads, int *out) {
  struct decode_request request = request_of(types, 3, 130, threads);
  struct decode_state *state = make(&request);
  assert_int_equal(cpu_backend.run(state, 5), DECODE_OK);
  assert_int_equal(cpu_backend.tokens(state, out), DECODE_OK);
  cpu_backend.destroy(state);
}

static void test_threads_agree(void **unused) {
  (void)unused;
  for (size_t m = 0; m < MIXES; m++) {
    int one[3], two[3];
    run_five(&mixes[m], 1, one);
    run_five(&mixes[m], 2, two);
    assert_memory_equal(one, two, sizeof one);
  }
}

static int count_threads(void) {
  DIR *directory = opendir("/proc/self/task");
  assert_non_null(directory);
  int count = 0;
  while (readdir(directory))
    count++;
  closedir(directory);
  return count - 2; // . and ..
}

static void test_no_thread_stays(void **unused) {
  (void)unused;
  struct decode_request request = request_of(&mixes[0], 1, 2, 4);
  int before = count_threads();
  struct decode_state *state = make(&request);
  assert_int_equal(cpu_backend.run(state, 2), DECODE_OK);
  cpu_backend.destroy(state);
  assert_int_equal(count_threads(), before);
}

// Computed by hand for one layer of the smallest model.
static void test_cost(void **unused) {
  (void)unused;
  struct decode_request request = {
      .shape = {.layers = 1,
                .hidden = 4,
                .heads = 2,
                .kv_heads = 1,
                .head_dim = 2,
                .ffn_hidden = 8,
                .vocab = 10,
                .norm_epsilon = 1e-5f,
                .rope_theta = 1e4f},
      .types = {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
      .batch = 3,
      .context = 5,
      .threads = 1,
  };
  struct decode_cost cost;
  assert_int_equal(cpu_backend.cost(&request, &cost), DECODE_OK);
  // q, k, v, o, gate, up, down; a scale of 4 bytes for each row; three norms; head, 3 embeddings.
  uint64_t weights = 16 + 8 + 8 + 16 + 32 + 32 + 32;
  uint64_t scales = 4 * (4 + 2 + 2 + 4 + 8 + 8 + 4);
  assert_int_equal(cost.weight_bytes, weights + scales + 3 * 4 * 4 + (10 + 3) * 4 * 2);
  assert_int_equal(cost.kv_bytes, 3 * (5 + 1) * 2 * 2 * 2);
  assert_int_equal(cost.operations, 2 * 3 * (weights + 40) + 3 * 5 * 2 * 2 * 4);
  assert_true(cost.resident_bytes >= cost.weight_bytes + cost.kv_bytes);
}

// Each differs from a request that runs in one field, which the words name.
static void test_limits(void **unused) {
  (void)unused;
#define REFUSED(field, value, fragment)                                                            \
  do {                                                                                             \
    struct decode_request request = request_of(&mixes[1], 1, 8, 1);                                \
    struct decode_cost cost;                                                                       \
    request.field = (value);                                                                       \
    assert_int_equal(cpu_backend.cost(&request, &cost), DECODE_UNSUPPORTED);                       \
    if (!strstr(cpu_backend.error(), fragment))                                                    \
      fail_msg(#field " = " #value ": '%s'", cpu_backend.error());                                 \
  } while (0)
  REFUSED(batch, 4097, "need a batch of 1 to 4096, not 4097");
  REFUSED(batch, 0, "a batch of 1 to 4096, not 0");
  REFUSED(context, 0, "a context of 1 to ");
  REFUSED(threads, 1025, "a number of threads of 0 to 1024");
  REFUSED(chunk, 9, "a chunk of a prompt of 0 to 8, not 9");
  REFUSED(ranks, 2, "only GPUs do tensor parallelism");
  REFUSED(routing, ROUTING_UNIFORM, "no such model is possible");
  REFUSED(shape.layers, 4097, "a number of layers of 1 to 4096");
  REFUSED(shape.hidden, 65537, "a hidden size of 1 to 65536");
  REFUSED(shape.vocab, 0, "a vocabulary of 1 to ");
  REFUSED(shape.head_dim, 41, "heads of an even width");
  REFUSED(shape.head_dim, 100000, "a width of a head of 2 to ");
  REFUSED(shape.heads, 65538, "a number of heads of 1 to 65536");
  REFUSED(shape.kv_heads, 0, "query heads are not a multiple of the KV heads");
  REFUSED(shape.kv_heads, 4, "query heads are not a multiple of the KV heads");
  REFUSED(shape.ffn_hidden, 0, "a width of the MLP of 1 to 65536, not 0");
  REFUSED(shape.rope_theta, 0, "rope's theta is not positive");
  REFUSED(shape.experts.count, 8, "no such model is possible: no expert per token");
  REFUSED(shape.window, -1, "no such model is possible: a negative window");
  REFUSED(types.weights, ELEMENT_F32, "hold weights in 16 bits or fewer");
  REFUSED(types.experts, ELEMENTS, "hold weights in 16 bits or fewer");
  REFUSED(types.activations, ELEMENT_INT8, "weights in bf16 by activations in int8");
  REFUSED(types.experts, ELEMENT_INT8, "weights in int8 by activations in bf16");
  REFUSED(types.kv, ELEMENT_INT8, "a KV cache in bf16 or e4m3");
  REFUSED(types.head, ELEMENT_E4M3, "a head in bf16 or in the weights' type");
  REFUSED(types.accumulation, ELEMENT_BF16, "accumulate in f32");
#undef REFUSED
}

static void test_refusals(void **unused) {
  (void)unused;
  struct decode_request request = request_of(&mixes[1], 1, 8, 1);
  enum decode_status status;
  struct decode_request huge = request;
  huge.shape.layers = 4000;
  huge.shape.hidden = huge.shape.ffn_hidden = 65536;
  assert_null(cpu_backend.create(0, &huge, &status));
  assert_int_equal(status, DECODE_NO_MEMORY);
  assert_non_null(strstr(cpu_backend.error(), "the model needs "));
  assert_non_null(strstr(cpu_backend.error(), " GB is free"));
  assert_null(cpu_backend.create(1, &request, &status));
  assert_int_equal(status, DECODE_NO_DEVICE);

  struct decode_state *state = make(&request);
  int token = MAX_VOCAB;
  assert_int_equal(cpu_backend.set_tokens(state, &token), DECODE_FAILED);
  cpu_backend.destroy(state);
}

static void test_calibration(void **unused) {
  (void)unused;
  double seconds, rate;
  int variant = 0;
  while (cpu_backend.read_memory(0, 8 << 20, 2, variant, &seconds) == DECODE_OK) {
    assert_true(seconds > 0);
    variant++;
  }
  assert_true(variant >= 4);
  assert_int_equal(cpu_backend.read_memory(0, 8 << 20, 2, variant, &seconds), DECODE_UNSUPPORTED);
  cpu_backend.calibration_end();
  for (size_t m = 0; m < MIXES; m++) {
    assert_int_equal(cpu_backend.matrix_rate(0, &mixes[m], 1, &rate), DECODE_OK);
    assert_true(rate > 0);
  }
}

static void test_describe(void **unused) {
  (void)unused;
  struct decode_device device;
  assert_int_equal(cpu_backend.device_count(), 1);
  assert_int_equal(cpu_backend.describe(0, &device), DECODE_OK);
  assert_true(device.units >= 1);
  assert_string_not_equal(device.name, "");
  assert_int_equal(cpu_backend.describe(1, &device), DECODE_NO_DEVICE);
}

// What each instruction set multiplies directly, and what it converts first.
static void test_arithmetic(void **unused) {
  (void)unused;
  static const struct {
    enum cpu_isa isa;
    enum element weights, activations;
    const char *words;
  } cases[] = {
      {CPU_PORTABLE, ELEMENT_BF16, ELEMENT_BF16, "converted bf16 to f32"},
      {CPU_PORTABLE, ELEMENT_INT8, ELEMENT_INT8, "native int8; converted bf16 to f32"},
      {CPU_AVX2, ELEMENT_MXFP4, ELEMENT_BF16, "converted mxfp4 to f32, bf16 to f32"},
      {CPU_AVX2, ELEMENT_E4M3, ELEMENT_F32, "native f32; converted e4m3 to f32, bf16 to f32"},
      {CPU_AVX512, ELEMENT_INT4_GROUP, ELEMENT_INT8,
       "native int8; converted int4-group to int8, bf16 to f32"},
      {CPU_AVX512_BF16, ELEMENT_BF16, ELEMENT_BF16, "native bf16"},
      {CPU_AVX512_BF16, ELEMENT_MXFP6_E2M3, ELEMENT_BF16,
       "native bf16; converted mxfp6-e2m3 to bf16"},
      {CPU_AVX512_BF16, ELEMENT_E4M3, ELEMENT_E4M3, "native bf16; converted e4m3 to bf16"},
      {CPU_AVX2, ELEMENT_MXFP4, ELEMENT_E4M3, "converted mxfp4 to f32, e4m3 to f32, bf16 to f32"},
      {CPU_AVX512_BF16, ELEMENT_INT8_GROUP, ELEMENT_INT8, "native int8-group, int8, bf16"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct decode_request request = {.shape = odd_shape, .batch = 1, .context = 4, .threads = 1};
    request.types = (struct decode_types){cases[i].weights, cases[i].activations, ELEMENT_BF16,
                                          ELEMENT_BF16,     ELEMENT_F32,          ELEMENT_F32};
    if (!cpu_has(cases[i].isa))
      continue;
    cpu_force_isa(cases[i].isa);
    enum decode_status status;
    struct decode_state *state = cpu_backend.create(0, &request, &status);
    cpu_force_isa(CPU_ISAS);
    assert_non_null(state);
    struct decode_step_form form;
    cpu_backend.step_form(state, &form);
    cpu_backend.destroy(state);
    assert_string_equal(form.arithmetic, cases[i].words);
    assert_string_equal(form.form, "");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_portable),
      cmocka_unit_test(test_avx2),
      cmocka_unit_test(test_avx512),
      cmocka_unit_test(test_avx512_bf16),
      cmocka_unit_test(test_amx),
      cmocka_unit_test(test_rows_are_independent),
      cmocka_unit_test(test_products),
      cmocka_unit_test(test_int8_as_the_oracle),
      cmocka_unit_test(test_unpacked_blocks),
      cmocka_unit_test(test_e4m3_as_the_oracle),
      cmocka_unit_test(test_threads_agree),
      cmocka_unit_test(test_no_thread_stays),
      cmocka_unit_test(test_arithmetic),
      cmocka_unit_test(test_cost),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_calibration),
      cmocka_unit_test(test_describe),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
