// Each of the CPU's kernels by itself, in every instruction set of this machine: conversions of
// activations, blocks unpacked, and products whose sums are exact.
// Seconds: 4
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/dispatch.h"
#include "kernels/element.h"
#include "kernels/reference/stages.h"
#include "kernels/weights.h"
#include "tests/support/kernels/isa.h"

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
      for (size_t batch = 1; batch <= PRODUCT_BATCH; batch += batch < 17 ? 1 : batch < 39 ? 22 : 28)
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_int8_as_the_oracle),
      cmocka_unit_test(test_e4m3_as_the_oracle),
      cmocka_unit_test(test_unpacked_blocks),
      cmocka_unit_test(test_products),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
