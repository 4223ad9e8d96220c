// The values that models are filled with, and the number formats that store them.
#include "tests/support/fixture.h"

#include "kernels/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_bell(void **state) {
  (void)state;
  double squares = 0;
  for (int i = 0; i < 256; i++) {
    int8_t q = weights_bell[i];
    assert_in_range(abs(q), 1, 127);
    assert_int_equal(q, -weights_bell[255 - i]);
    assert_true(i == 0 || q >= weights_bell[i - 1]);
    squares += q * q;
  }
  expect_near(sqrt(squares / 256), (double)BELL_SIGMA, 0.01, "sigma");
}

// The drawn values look normal and independent: moments, neighbors, rows and layers.
static void test_draws(void **state) {
  (void)state;
  enum { DRAWS = 1 << 18 };
  uint64_t key = weights_key(1, TENSOR_WQ, 3), other = weights_key(1, TENSOR_WQ, 4);
  double sum = 0, squares = 0, fourth = 0, neighbours = 0, rows = 0, layers = 0;
  for (uint64_t i = 0; i < DRAWS; i++) {
    double q = weights_q(key, i) / 32.006;
    sum += q;
    squares += q * q;
    fourth += q * q * q * q;
    neighbours += q * weights_q(key, i + 1) / 32.006;
    rows += q * weights_q(key, i + 4096) / 32.006;
    layers += q * weights_q(other, i) / 32.006;
  }
  double error = 5 / sqrt(DRAWS); // five standard errors
  expect_near(squares / DRAWS, 1, 2 * error, "variance");
  expect_near(fourth / DRAWS, 3, 0.1, "kurtosis");
  assert_true(fabs(sum / DRAWS) < error);
  assert_true(fabs(neighbours / DRAWS) < error);
  assert_true(fabs(rows / DRAWS) < error);
  assert_true(fabs(layers / DRAWS) < error);
}

static void test_keys_differ(void **state) {
  (void)state;
  enum { LAYERS = 128, KEYS = TENSORS * LAYERS };
  uint64_t keys[KEYS];
  for (int i = 0; i < KEYS; i++)
    keys[i] = weights_key(7, (enum tensor)(i % TENSORS), i / TENSORS);
  for (int i = 0; i < KEYS; i++)
    for (int j = 0; j < i; j++)
      assert_true(keys[i] != keys[j]);
  assert_true(weights_key(7, TENSOR_WQ, 0) != weights_key(8, TENSOR_WQ, 0));
}

// Other machines and compilers must draw exactly these numbers, since records are compared across
// them.
static void test_golden(void **state) {
  (void)state;
  static const int8_t first[] = {1, 92, 5, -19, -44, 8, 81, -29, -8, -40, 10, 29, -14, -24, 32, 16};
  uint64_t key = weights_key(42, TENSOR_GATE, 5);
  for (size_t i = 0; i < sizeof first; i++)
    assert_int_equal(weights_q(key, i), first[i]);

  uint64_t sum = UINT64_C(0xCBF29CE484222325); // FNV-1a
  for (int tensor = 0; tensor < TENSORS; tensor++) {
    for (uint64_t i = 0; i < 4096; i++) {
      uint64_t index = i << (i % 24); // beyond 32 bits too
      int8_t q = weights_q(weights_key(42, (enum tensor)tensor, tensor), index);
      sum = (sum ^ (uint8_t)q) * UINT64_C(0x100000001B3);
    }
    if (tensor == TENSOR_VALUES)
      assert_true(sum == UINT64_C(0x9E2253EE3D36707F));
  }
  if (sum != UINT64_C(0x84FB9F2DE120B10D))
    fail_msg("checksum 0x%016llx", (unsigned long long)sum);
}

static const struct decode_shape square = {
    .layers = 8,
    .hidden = 4096,
    .heads = 8,
    .kv_heads = 2,
    .head_dim = 128,
    .ffn_hidden = 16384,
    .latent = {.rank = 0, .query_rank = 1024},
    .experts = {.count = 4, .chosen = 2, .hidden = 256, .shared_hidden = 1024}};

// Squares throughout, so that the scales are exact: fan-in 4096 is sigma 1/64, 2 * layers is 16.
static void test_scales(void **state) {
  (void)state;
  static const struct {
    enum tensor tensor;
    float sigma, clamped;
  } cases[] = {
      {TENSOR_EMBEDDING, 1, 1},
      {TENSOR_KEYS, 1, 1},
      {TENSOR_LATENTS, 1, 1},
      {TENSOR_WQ, 1.0f / 64, 1},
      {TENSOR_WV, 1.0f / 64, 1},
      {TENSOR_Q_A, 1.0f / 64, 1},
      {TENSOR_KV_A, 1.0f / 64, 1},
      {TENSOR_ROUTER, 1.0f / 64, 1},
      {TENSOR_HEAD, 1.0f / 64, 1},
      {TENSOR_Q_B, 1.0f / 32, 1},
      {TENSOR_WO, 1.0f / 32 / 4, 1}, // fan-in heads * head_dim = 1024
      {TENSOR_GATE, 1.0f / 64, 4},
      {TENSOR_UP, 1.0f / 64, 4},
      {TENSOR_EXPERT_GATE, 1.0f / 64, 4},
      {TENSOR_SHARED_UP, 1.0f / 64, 4},
      {TENSOR_DOWN, 1.0f / 128 / 4, 0.125f},
      {TENSOR_EXPERT_DOWN, 1.0f / 16 / 4, 0.125f},
      {TENSOR_SHARED_DOWN, 1.0f / 32 / 4, 0.125f},
      {TENSOR_ATTENTION_NORM_BIAS, 0.25f, 1},
      {TENSOR_K_BIAS, 0.25f, 1},
      {TENSOR_EXPERT_UP_BIAS, 0.25f, 1},
      {TENSOR_O_BIAS, 0.25f / 4, 1},
      {TENSOR_EXPERT_DOWN_BIAS, 0.25f / 4, 1},
      {TENSOR_ROUTER_BIAS, 1.0f / 16, 1},
      {TENSOR_SINKS, 2, 1},
      {TENSOR_FINAL_NORM, BELL_SIGMA / 1024, 1},
      {TENSOR_Q_NORM, BELL_SIGMA / 1024, 1},
      {TENSOR_KV_A_NORM, BELL_SIGMA / 1024, 1},
  };
  struct decode_shape clamped = square;
  clamped.mlp = MLP_CLAMPED_SWIGLU;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const double sigma = (double)cases[i].sigma;
    expect_near((double)(weights_scale(&square, cases[i].tensor) * BELL_SIGMA), sigma, 0, "sigma");
    expect_near((double)(weights_scale(&clamped, cases[i].tensor) * BELL_SIGMA),
                sigma * (double)cases[i].clamped, 0, "sigma of the clamped");
  }
}

// Latent attention: wo's fan-in is heads * value_dim, k_b's and v_b's the rank.
static void test_latent_scales(void **state) {
  (void)state;
  struct decode_shape shape = square;
  shape.latent.rank = 64;
  shape.latent.value_dim = 32;
  static const struct {
    enum tensor tensor;
    float sigma;
  } cases[] = {{TENSOR_WO, 1.0f / 16 / 4}, {TENSOR_K_B, 1.0f / 8}, {TENSOR_V_B, 1.0f / 8}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_near((double)(weights_scale(&shape, cases[i].tensor) * BELL_SIGMA),
                (double)cases[i].sigma, 0, "sigma");
}

// The format of every tensor, with experts in a format of their own and in the common one.
static void test_elements(void **state) {
  (void)state;
  struct decode_types types = {.weights = ELEMENT_INT8,
                               .activations = ELEMENT_BF16,
                               .kv = ELEMENT_E4M3,
                               .head = ELEMENT_BF16,
                               .experts = ELEMENT_MXFP4};
  static const enum tensor of_weights[] = {TENSOR_WQ,   TENSOR_DOWN, TENSOR_SHARED_UP,
                                           TENSOR_KV_A, TENSOR_Q_B,  TENSOR_WO};
  static const enum tensor of_experts[] = {TENSOR_EXPERT_GATE, TENSOR_EXPERT_UP,
                                           TENSOR_EXPERT_DOWN};
  static const enum tensor floats[] = {TENSOR_ATTENTION_NORM, TENSOR_Q_NORM,
                                       TENSOR_FFN_NORM_BIAS,  TENSOR_EXPERT_DOWN_BIAS,
                                       TENSOR_ROUTER_BIAS,    TENSOR_SINKS};
  static const enum tensor bf16s[] = {TENSOR_EMBEDDING, TENSOR_HEAD, TENSOR_ROUTER, TENSOR_K_B,
                                      TENSOR_V_B};
  static const enum tensor caches[] = {TENSOR_KEYS, TENSOR_VALUES, TENSOR_LATENTS};
#define ALL(tensors, element)                                                                      \
  for (size_t i = 0; i < sizeof(tensors) / sizeof(tensors)[0]; i++)                                \
  assert_int_equal(weights_element(&types, (tensors)[i]), element)
  ALL(of_weights, ELEMENT_INT8);
  ALL(of_experts, ELEMENT_MXFP4);
  ALL(floats, ELEMENT_F32);
  ALL(bf16s, ELEMENT_BF16);
  ALL(caches, ELEMENT_E4M3);
  types.experts = ELEMENT_F32;
  ALL(of_experts, ELEMENT_INT8);
}

// A generator unrelated to the code under test, so that the random inputs are independent of it.
static uint32_t next_random(uint32_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void test_bf16_patterns(void **state) {
  (void)state;
  for (uint32_t bits = 0; bits < 65536; bits++) {
    float value = float_from_bf16((uint16_t)bits);
    uint16_t back = bf16_from_float(value);
    bool quieted = isnan(value) && back == (bits | 0x40);
    if (back != bits && !quieted)
      fail_msg("0x%04x came back as 0x%04x", (unsigned)bits, back);
  }
  assert_true(isnan(float_from_bf16(bf16_from_float(float_of(0x7F800001)))));
  assert_true(isnan(float_from_bf16(bf16_from_float(float_of(0xFFFFFFFF)))));
}

// The next bf16 after the largest would be 2^128: values halfway to it and beyond become infinite.
static double bf16_value(uint32_t magnitude) {
  return magnitude == 0x7F80 ? 0x1p128 : (double)float_from_bf16((uint16_t)magnitude);
}

// Of the two bf16 around a number, the nearer or, if equally near, the one with an even bit
// pattern.
static uint32_t nearest_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint32_t below = bits >> 16 & 0x7FFF, above = below + 1, sign = bits >> 31 << 15;
  double magnitude = fabs((double)value);
  double down = magnitude - bf16_value(below), up = bf16_value(above) - magnitude;
  bool upwards = up < down || (up == down && above % 2 == 0);
  return sign | (upwards ? above : below);
}

static void test_bf16_nearest(void **state) {
  (void)state;
  uint32_t random = 1;
  for (int i = 0; i < 2000000; i++) {
    uint32_t bits = next_random(&random);
    if (i % 4 == 0) // halfway, and next to it
      bits = (bits & 0xFFFF0000) + 0x7FFF + bits % 3;
    float value = float_of(bits);
    if (isfinite(value) && bf16_from_float(value) != nearest_bf16(value))
      fail_msg("%a became 0x%04x", (double)value, bf16_from_float(value));
  }
}

static void test_e4m3_codes(void **state) {
  (void)state;
  static const struct {
    uint8_t code;
    float value;
  } known[] = {{0x00, 0},    {0x01, 0x1p-9f}, {0x07, 7 * 0x1p-9f}, {0x08, 0x1p-6f}, {0x38, 1},
               {0x3C, 1.5f}, {0x40, 2},       {0x78, 256},         {0x7E, 448},     {0x80, -0.0f},
               {0xFE, -448}, {0xB8, -1},      {0x0F, 15 * 0x1p-9f}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    assert_true(float_from_e4m3(known[i].code) == known[i].value);
    assert_int_equal(e4m3_from_float(known[i].value), known[i].code);
  }
  for (int code = 0; code < 256; code++) {
    float value = float_from_e4m3((uint8_t)code);
    assert_int_equal(isnan(value) != 0, (code & 0x7F) == 0x7F);
    assert_int_equal(e4m3_from_float(value), code);
    if ((code & 0x7F) < 0x7E)
      assert_true(fabsf(float_from_e4m3((uint8_t)(code + 1))) > fabsf(value));
  }
}

// Among all codes, the nearest or, if equally near, the even one. Above 448 only 448 is left.
static int nearest_e4m3(float value) {
  int best = 0;
  for (int code = 0; code <= 0x7E; code++) {
    double distance = fabs(fabs((double)value) - (double)float_from_e4m3((uint8_t)code));
    double least = fabs(fabs((double)value) - (double)float_from_e4m3((uint8_t)best));
    if (distance < least || (distance == least && code % 2 == 0))
      best = code;
  }
  return signbit(value) ? best | 0x80 : best;
}

static void expect_nearest_e4m3(float value) {
  if (e4m3_from_float(value) != nearest_e4m3(value))
    fail_msg("%a became 0x%02x instead of 0x%02x", (double)value, e4m3_from_float(value),
             (unsigned)nearest_e4m3(value));
}

static void test_e4m3_nearest(void **state) {
  (void)state;
  uint32_t random = 2;
  for (int i = 0; i < 50000; i++) { // 2^-14 to 2^10: subnormals, ties to zero and beyond the end
    uint32_t bits = next_random(&random);
    uint32_t exponent = 127 - 14 + bits % 25;
    expect_nearest_e4m3(float_of((bits & 0x807FFFFF) | exponent << 23));
  }
  for (int code = 0; code < 0x7E; code++) { // halfway between two, and next to it
    float half = (float_from_e4m3((uint8_t)code) + float_from_e4m3((uint8_t)(code + 1))) / 2;
    expect_nearest_e4m3(half);
    expect_nearest_e4m3(-nextafterf(half, 0));
    expect_nearest_e4m3(nextafterf(half, INFINITY));
  }
  assert_int_equal(e4m3_from_float(INFINITY), 0x7E);
  assert_int_equal(e4m3_from_float(-1e30f), 0xFE);
  assert_int_equal(e4m3_from_float(-1e-30f), 0x80);
  assert_int_equal(e4m3_from_float(-NAN) & 0x7F, 0x7F);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bell),         cmocka_unit_test(test_draws),
      cmocka_unit_test(test_keys_differ),  cmocka_unit_test(test_golden),
      cmocka_unit_test(test_scales),       cmocka_unit_test(test_latent_scales),
      cmocka_unit_test(test_elements),     cmocka_unit_test(test_bf16_patterns),
      cmocka_unit_test(test_bf16_nearest), cmocka_unit_test(test_e4m3_codes),
      cmocka_unit_test(test_e4m3_nearest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
