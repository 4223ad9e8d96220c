// Number formats of 4 to 8 bits and their scales: every code compared with the specification's
// values, and the weights that models are filled with, as stored in those formats.
#include "tests/support/fixture.h"

#include "kernels/element.h"
#include "kernels/quantised.h"
#include "kernels/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// OCP Microscaling Formats (MX) Specification 1.0, sections 5.3.2 and 5.3.3: bits and bias of each
// element, its largest value, and its smallest normal and subnormal numbers.
static const struct small_float {
  enum element element;
  int exponent_bits, fraction_bits, bias;
  double largest, least_normal, largest_subnormal, least_subnormal;
} small_floats[] = {
    {ELEMENT_MXFP4, 2, 1, 1, 6, 1, 0.5, 0.5},
    {ELEMENT_NVFP4, 2, 1, 1, 6, 1, 0.5, 0.5},
    {ELEMENT_MXFP6_E2M3, 2, 3, 1, 7.5, 1, 0.875, 0.125},
    {ELEMENT_MXFP6_E3M2, 3, 2, 3, 28, 0.25, 0.1875, 0.0625},
};
#define SMALL_FLOATS (sizeof small_floats / sizeof small_floats[0])

// (-1)^S * 2^(E - bias) * (1 + M / 2^m), and for E = 0 (-1)^S * 2^(1 - bias) * M / 2^m: section
// 5.3.
static double specified(const struct small_float *format, int code) {
  const int m = format->fraction_bits, e = format->exponent_bits;
  const double fraction = (code & ((1 << m) - 1)) / pow(2, m);
  const int exponent = (code >> m) % (1 << e);
  const double magnitude = exponent ? pow(2, exponent - format->bias) * (1 + fraction)
                                    : pow(2, 1 - format->bias) * fraction;
  return code >> (m + e) ? -magnitude : magnitude;
}

static void test_codes(void **state) {
  (void)state;
  for (size_t f = 0; f < SMALL_FLOATS; f++) {
    const struct small_float *format = &small_floats[f];
    const int m = format->fraction_bits, bits = 1 + format->exponent_bits + m;
    assert_int_equal(element_format(format->element)->bits, bits);
    for (int code = 0; code < 1 << bits; code++) {
      const float value = element_value(format->element, (uint8_t)code);
      if ((double)value != specified(format, code) || element_code(format->element, value) != code)
        fail_msg("%s: 0x%02x is %g, and comes back as 0x%02x",
                 element_format(format->element)->name, code, (double)value,
                 element_code(format->element, value));
    }
    const int largest = (1 << (bits - 1)) - 1;
    assert_true((double)element_value(format->element, (uint8_t)largest) == format->largest);
    assert_true((double)element_value(format->element, (uint8_t)(1 << m)) == format->least_normal);
    assert_true((double)element_value(format->element, (uint8_t)((1 << m) - 1)) ==
                format->largest_subnormal);
    assert_true((double)element_value(format->element, 1) == format->least_subnormal);
  }
}

// Table of e2m1 in section 5.3.3, written out.
static void test_e2m1(void **state) {
  (void)state;
  static const float values[16] = {0,     0.5f,  1,  1.5f,  2,  3,  4,  6,
                                   -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
  for (int code = 0; code < 16; code++) {
    const float value = element_value(ELEMENT_MXFP4, (uint8_t)code);
    assert_memory_equal(&value, &values[code], sizeof value); // the sign of zero too
  }
}

static void test_integers(void **state) {
  (void)state;
  for (int code = 0; code < 256; code++)
    assert_true(element_value(ELEMENT_INT8_GROUP, (uint8_t)code) == (float)(int8_t)code);
  for (int code = 0; code < 16; code++)
    assert_true(element_value(ELEMENT_INT4_GROUP, (uint8_t)code) == (float)(code - 8));
  static const struct {
    enum element element;
    float value;
    int expected;
  } cases[] = {{ELEMENT_INT8_GROUP, 2.5f, 2},    {ELEMENT_INT8_GROUP, 3.5f, 4},
               {ELEMENT_INT8_GROUP, -300, -127}, {ELEMENT_INT4_GROUP, 0.5f, 0},
               {ELEMENT_INT4_GROUP, -1.5f, -2},  {ELEMENT_INT4_GROUP, 7.6f, 7},
               {ELEMENT_INT4_GROUP, -8, -7}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_true(element_value(cases[i].element, element_code(cases[i].element, cases[i].value)) ==
                (float)cases[i].expected);
}

// Among all codes of that sign, the nearest, or the even one of two that are equally near.
static int nearest_code(const struct small_float *format, double value) {
  const int half = 1 << (format->exponent_bits + format->fraction_bits);
  int best = 0;
  for (int code = 0; code < half; code++) {
    const double distance = fabs(fabs(value) - specified(format, code));
    const double least = fabs(fabs(value) - specified(format, best));
    if (distance < least || (distance == least && code % 2 == 0))
      best = code;
  }
  return signbit(value) ? best | half : best;
}

// The midpoints between neighboring codes, numbers next to them, and a fine grid from below the
// smallest to above the largest.
static void test_nearest(void **state) {
  (void)state;
  for (size_t f = 0; f < SMALL_FLOATS; f++) {
    const struct small_float *format = &small_floats[f];
    for (int i = 0; i <= 32 * 512; i++)
      for (int side = -1; side <= 1; side++) {
        const float on = (float)i / 512;
        const float value = side ? nextafterf(on, side > 0 ? INFINITY : -INFINITY) : on;
        for (int sign = -1; sign <= 1; sign += 2) {
          const float with_sign = (float)sign * value;
          const int code = element_code(format->element, with_sign);
          if (code != nearest_code(format, (double)with_sign))
            fail_msg("%s: %a became 0x%02x, not 0x%02x", element_format(format->element)->name,
                     (double)with_sign, code, nearest_code(format, (double)with_sign));
        }
      }
    assert_true((double)element_value(format->element, element_code(format->element, 1e30f)) ==
                format->largest);
    assert_true((double)element_value(format->element, element_code(format->element, -INFINITY)) ==
                -format->largest);
  }
}

// Section 5.4.1: 2^-127 to 2^127, and NaN.
static void test_e8m0(void **state) {
  (void)state;
  for (int code = 0; code < 255; code++) {
    assert_true((double)element_scale_value(ELEMENT_MXFP4, (uint16_t)code) == pow(2, code - 127));
    // floor(log2) is that of any value from this power up to the next.
    if (code >= 3 && code < 253) {
      const float power = ldexpf(1, code - 127 + 2), next = nextafterf(2 * power, 0);
      assert_int_equal(element_shared_exponent(ELEMENT_MXFP4, power), code);
      assert_int_equal(element_shared_exponent(ELEMENT_MXFP6_E2M3, next), code);
      assert_int_equal(element_shared_exponent(ELEMENT_MXFP4, nextafterf(power, 0)), code - 1);
    }
  }
  assert_true(isnan(element_scale_value(ELEMENT_MXFP6_E3M2, 255)));
  assert_int_equal(element_shared_exponent(ELEMENT_MXFP6_E3M2, 16), 127);
  assert_int_equal(element_shared_exponent(ELEMENT_MXFP4, 0x1p-140f), 0);
}

static void test_other_scales(void **state) {
  (void)state;
  for (unsigned code = 0; code < 0x7F; code++)
    assert_true(element_scale_value(ELEMENT_NVFP4, (uint16_t)code) ==
                float_from_e4m3((uint8_t)code));
  for (unsigned code = 0; code < 0x7F80; code++)
    assert_true(element_scale_value(ELEMENT_INT4_GROUP, (uint16_t)code) ==
                float_from_bf16((uint16_t)code));
}

// By hand: 4 bits and a byte per 32 values are 4.25 bits a value, per 16 values 4.5; 6.25; 8.125;
// 4.125.
static void test_bytes(void **state) {
  (void)state;
  static const struct {
    enum element element;
    size_t columns, bytes;
  } rows[] = {
      {ELEMENT_F32, 3, 12},           {ELEMENT_BF16, 256, 512},
      {ELEMENT_E4M3, 256, 260},       {ELEMENT_INT8, 256, 260},
      {ELEMENT_MXFP4, 256, 136},      {ELEMENT_NVFP4, 256, 144},
      {ELEMENT_MXFP6_E2M3, 256, 200}, {ELEMENT_MXFP6_E3M2, 256, 200},
      {ELEMENT_INT8_GROUP, 256, 260}, {ELEMENT_INT4_GROUP, 256, 132},
      {ELEMENT_MXFP4, 33, 17 + 2},    {ELEMENT_INT4_GROUP, 130, 65 + 4},
      {ELEMENT_MXFP6_E2M3, 5, 4 + 1}, // 30 bits
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (element_row_bytes(rows[i].element, rows[i].columns) != rows[i].bytes)
      fail_msg("%s, %zu columns: %zu bytes", element_format(rows[i].element)->name, rows[i].columns,
               element_row_bytes(rows[i].element, rows[i].columns));
  assert_int_equal(element_tensor_bytes(ELEMENT_NVFP4, 10, 256), 10 * 144 + 4);
  assert_int_equal(element_tensor_bytes(ELEMENT_MXFP4, 10, 256), 10 * 136);
}

static const enum element with_blocks[] = {ELEMENT_MXFP4,      ELEMENT_NVFP4,
                                           ELEMENT_MXFP6_E2M3, ELEMENT_MXFP6_E3M2,
                                           ELEMENT_INT8_GROUP, ELEMENT_INT4_GROUP};
#define WITH_BLOCKS (sizeof with_blocks / sizeof with_blocks[0])

// Codes and scales of a row do not overlap, whatever its length.
static void test_packed_rows(void **state) {
  (void)state;
  enum { MOST = 300 };
  for (size_t e = 0; e < WITH_BLOCKS; e++)
    for (size_t columns = 1; columns <= MOST; columns += 23) {
      const enum element element = with_blocks[e];
      const size_t block = (size_t)element_format(element)->block;
      const unsigned codes = 1U << element_format(element)->bits;
      uint8_t *row = calloc(1, element_row_bytes(element, columns));
      assert_non_null(row);
      for (size_t c = 0; c < columns; c++)
        element_row_put(element, row, c, (uint8_t)(c * 37 % codes));
      for (size_t b = 0; b < element_blocks(element, columns); b++)
        element_row_put_scale(element, row, columns, b, (uint16_t)(100 + b % 11));
      float values[MOST];
      element_row_values(element, row, columns, 2, values);
      for (size_t c = 0; c < columns; c++)
        assert_true(values[c] ==
                    2 * element_value(element, (uint8_t)(c * 37 % codes)) *
                        element_scale_value(element, (uint16_t)(100 + c / block % 11)));
      free(row);
    }
}

static void test_largest(void **state) {
  (void)state;
  int most = 0;
  for (int i = 0; i < 256; i++)
    most = abs(weights_bell[i]) > most ? abs(weights_bell[i]) : most;
  assert_int_equal(most, BELL_LARGEST);
  for (int i = 0; i < 256; i++)
    for (int j = 0; j < 256; j++) {
      const uint8_t entries[] = {(uint8_t)i, (uint8_t)j};
      const int a = abs(weights_bell[i]), b = abs(weights_bell[j]);
      assert_int_equal(quantised_largest(entries, 2), a > b ? a : b);
    }
}

// A block's values are as close to the wanted ones as its scale allows: within half a step at the
// largest power of two, except for values beyond the largest code.
static void test_quantised_blocks(void **state) {
  (void)state;
  static struct quantised quantised;
  static const float scales[] = {1.0f / 2048, 0.000488f, 0.0123f, 1.0f / 32};
  // The largest error over the block's largest magnitude, by format.
  static const double bounds[] = {0.26, 0.19, 0.07, 0.13, 0.005, 0.076};
  for (size_t e = 0; e < WITH_BLOCKS; e++)
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
      const enum element element = with_blocks[e];
      quantise(element, scales[s], &quantised);
      for (int largest = 1; largest <= BELL_LARGEST; largest++)
        for (int i = 0; i < 256; i++) {
          const int q = +weights_bell[i];
          if (abs(q) > largest)
            continue;
          const double wanted = (double)((float)q * scales[s]);
          const double held = (double)element_value(element, quantised.codes[largest][i]) *
                              (double)element_scale_value(element, quantised.scales[largest]) *
                              (double)quantised.scale;
          if (!(fabs(held - wanted) <= bounds[e] * largest * (double)scales[s]))
            fail_msg("%s, %g: %d of %d is held as %g, not %g", element_format(element)->name,
                     (double)scales[s], q, largest, held, wanted);
        }
    }
}

// Quantized by hand: scale 2^-11, and a block whose largest value is 92, 92/2048 = 0.0449 = 1.44 *
// 2^-5.
static void test_quantised_by_hand(void **state) {
  (void)state;
  static struct quantised quantised;
  quantise(ELEMENT_MXFP4, 0x1p-11f, &quantised);
  assert_int_equal(quantised.scales[92], 127 - 5 - 2);
  assert_int_equal(quantised.codes[92][255], 0x7); // 5.75 to 6
  quantise(ELEMENT_MXFP6_E3M2, 0x1p-11f, &quantised);
  assert_int_equal(quantised.scales[92], 127 - 5 - 4);
  quantise(ELEMENT_NVFP4, 0x1p-11f, &quantised);
  assert_true(quantised.scale == 92 * 0x1p-11f / 2688);
  assert_int_equal(quantised.scales[92], 0x7E); // 448
  assert_int_equal(quantised.codes[92][0], 0xF);
  quantise(ELEMENT_INT8_GROUP, 0x1p-11f, &quantised);
  assert_int_equal(quantised.scales[92], bf16_from_float(92 * 0x1p-11f / 127));
  quantise(ELEMENT_INT4_GROUP, 0x1p-11f, &quantised);
  assert_int_equal(quantised.codes[92][255], 7 + 8);
  assert_true(quantised.scale == 1);
}

// A row consists of its blocks, including a short last one, and does not depend on its neighbors.
static void test_quantised_row(void **state) {
  (void)state;
  enum { COLUMNS = 300 };
  static struct quantised quantised;
  const uint64_t key = weights_key(5, TENSOR_UP, 1);
  double row[COLUMNS], piece[COLUMNS];
  for (size_t e = 0; e < WITH_BLOCKS; e++) {
    const size_t block = (size_t)element_format(with_blocks[e])->block;
    quantise(with_blocks[e], 0x1p-11f, &quantised);
    quantised_row(&quantised, key, 7 * COLUMNS, COLUMNS, row);
    for (size_t first = 0; first < COLUMNS; first += block) {
      const size_t count = COLUMNS - first < block ? COLUMNS - first : block;
      int largest = 0;
      for (size_t i = 0; i < count; i++) {
        const int q = abs(weights_q(key, 7 * COLUMNS + first + i));
        largest = q > largest ? q : largest;
      }
      quantised_row(&quantised, key, 7 * COLUMNS + first, count, piece);
      assert_memory_equal(piece, row + first, count * sizeof *row);
      const double scale = (double)element_scale_value(with_blocks[e], quantised.scales[largest]) *
                           (double)quantised.scale;
      for (size_t i = 0; i < count; i++) {
        const uint32_t entry = weights_hash(key, 7 * COLUMNS + first + i) & 255;
        assert_true(row[first + i] ==
                    (double)element_value(with_blocks[e], quantised.codes[largest][entry]) * scale);
      }
    }
  }
  quantise(ELEMENT_INT8, 0x1p-11f, &quantised);
  quantised_row(&quantised, key, 0, COLUMNS, row);
  for (size_t i = 0; i < COLUMNS; i++)
    assert_true(row[i] == weights_q(key, i) * 0x1p-11);
}

// Every device must use exactly these codes, since records are compared across devices.
static void test_golden(void **state) {
  (void)state;
  static struct quantised quantised;
  uint64_t sum = UINT64_C(0xCBF29CE484222325); // FNV-1a
  for (size_t e = 0; e < WITH_BLOCKS; e++) {
    quantise(with_blocks[e], 0.000488f, &quantised);
    for (int largest = 1; largest <= BELL_LARGEST; largest++) {
      sum = (sum ^ quantised.scales[largest]) * UINT64_C(0x100000001B3);
      for (int i = 0; i < 256; i++)
        sum = (sum ^ quantised.codes[largest][i]) * UINT64_C(0x100000001B3);
    }
  }
  if (sum != UINT64_C(0xCC53EAC17F30E36C))
    fail_msg("expected 0xCC53EAC17F30E36C, found 0x%016llX: codes have changed, so that records of "
             "other versions are not comparable",
             (unsigned long long)sum);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_codes),
      cmocka_unit_test(test_e2m1),
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_nearest),
      cmocka_unit_test(test_e8m0),
      cmocka_unit_test(test_other_scales),
      cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_packed_rows),
      cmocka_unit_test(test_largest),
      cmocka_unit_test(test_quantised_blocks),
      cmocka_unit_test(test_quantised_by_hand),
      cmocka_unit_test(test_quantised_row),
      cmocka_unit_test(test_golden),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
