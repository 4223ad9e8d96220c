// Memory and curves: bytes counted by hand, what fits, and the batch that a rate per user allows.
// Run in the repository's root.
#include "tests/support/fixture.h"
#include "tests/support/tables.h"

#include "model/evidence/curve.h"
#include "model/evidence/fit.h"

#include <math.h>
#include <string.h>

static struct memory_model model_named(struct tables *tables, const char *id) {
  const struct table *models = tables_load(tables, CATALOG_MODELS);
  const long row = catalog_find(models, id);
  assert_true(row >= 0);
  return memory_model_of(models, (size_t)row);
}

static struct fit_device device_named(struct tables *tables, const char *id) {
  struct fit_device device;
  const struct table *accelerators = tables_load(tables, CATALOG_ACCELERATORS);
  assert_true(fit_device_of(accelerators, (size_t)catalog_find(accelerators, id), &device));
  return device;
}

static void test_bits(void **state) {
  (void)state;
  static const struct {
    const char *precision;
    double bits;
  } cases[] = {{"fp32", 32}, {"bf16", 16},    {"fp16", 16},    {"fp8", 8},
               {"int8", 8},  {"mxfp8", 8.25}, {"mxfp6", 6.25}, {"mxfp4", 4.25},
               {"fp4", 4.5}, {"int4", 4.125}, {"fp9", 0},      {"", 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_near(memory_bits(cases[i].precision), cases[i].bits, 1e-15, cases[i].precision);
}

// "70B in BF16 needs 140 GB, 148 GB left on 288 GB", as published: by the datasheet's GB, which are
// GiB for a driver.
static void test_published_headroom(void **state) {
  (void)state;
  struct tables tables;
  tables_open(&tables, "data");
  const struct memory_model model = memory_model_of_size(70e9, &tables.arena);
  struct fit_device device = device_named(&tables, "mi355x-288");
  const struct fit_terms terms = {4096, "bf16", MEMORY_SHARE, MEMORY_CHUNK, 0, 0};
  assert_true(device.memory == 309220868096.);
  device.memory = 288e9;
  const struct fit fit = fit_find(&model, "bf16", &device, &terms);
  assert_true(memory_weights(&model, "bf16") == 140e9);
  assert_int_equal(fit.accelerators, 1);
  assert_true(fit.weights == 140e9 && fit.left == 148e9);
  assert_true(isnan(fit.concurrency));
  arena_free(&tables.arena);
}

// One copy of a model, by hand, within what norms and biases take.
static void test_weights(void **state) {
  (void)state;
  static const struct {
    const char *model, *precision;
    double bytes;
  } cases[] = {
      {"llama-3.1-8b", "bf16", 2 * 8.030e9},
      {"llama-3.1-8b", "fp32", 4 * 8.030e9},
      // Embeddings and head of 128,256 x 4,096 each in 16 bits.
      {"llama-3.1-8b", "fp8", 6.9796e9 + 2 * 2 * 128256. * 4096},
      {"llama-3.1-8b", "int4", 6.9796e9 * 4.125 / 8 + 2 * 2 * 128256. * 4096},
      // Published with 24 x 32 experts of 3 x 2,880 x 2,880 in MXFP4, which a benchmark calls fp4.
      {"gpt-oss-20b", "mxfp4", 24 * 32 * 3 * 2880. * 2880 * 4.25 / 8 + 2 * 1.804e9},
      {"gpt-oss-20b", "fp4", 24 * 32 * 3 * 2880. * 2880 * 4.25 / 8 + 2 * 1.804e9},
      {"gpt-oss-20b", "bf16", 2 * 20.915e9},
      // One matrix for both ends.
      {"falcon-40b", "fp8", 41.303e9 + 65024. * 8192},
  };
  struct tables tables;
  tables_open(&tables, "data");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct memory_model model = model_named(&tables, cases[i].model);
    expect_near(memory_weights(&model, cases[i].precision), cases[i].bytes, 1e-3, cases[i].model);
  }
  arena_free(&tables.arena);
}

// Keys and values of a request, by hand: layers x 2 x KV heads x head dimension x bytes x tokens.
static void test_kv(void **state) {
  (void)state;
  static const struct {
    const char *model;
    double context, bits, bytes;
  } cases[] = {
      {"llama-3.1-8b", 1, 16, 32. * 2 * 8 * 128 * 2},
      {"llama-3.1-70b", 4096, 16, 4096. * 80 * 2 * 8 * 128 * 2},
      {"llama-3.1-70b", 4096, 8, 4096. * 80 * 2 * 8 * 128},
      // One latent of 512 and one rotary key of 64 per layer.
      {"deepseek-v3", 1000, 16, 1000. * 61 * (512 + 64) * 2},
      // Half of the layers see at most 128 tokens.
      {"gpt-oss-120b", 100, 16, 100. * 36 * 2 * 8 * 64 * 2},
      {"gpt-oss-120b", 1000, 16, (18 * 1000. + 18 * 128) * 2 * 8 * 64 * 2},
      // All layers see at most 4,096, and 2,048.
      {"mistral-7b", 4096, 16, 4096. * 32 * 2 * 8 * 128 * 2},
      {"mistral-7b", 32768, 16, 4096. * 32 * 2 * 8 * 128 * 2},
      {"phi-3-mini", 4096, 16, 2048. * 32 * 2 * 32 * 96 * 2},
  };
  struct tables tables;
  tables_open(&tables, "data");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct memory_model model = model_named(&tables, cases[i].model);
    assert_true(memory_kv(&model, cases[i].context, cases[i].bits) == cases[i].bytes);
  }
  arena_free(&tables.arena);
}

// Llama 3.1 8B: residual, norm and block output; queries and attention; keys, values; gate and up.
static void test_activations(void **state) {
  (void)state;
  struct tables tables;
  tables_open(&tables, "data");
  const struct memory_model model = model_named(&tables, "llama-3.1-8b");
  assert_true(memory_per_token(&model, 1) == 2 * (3 * 4096. + 2 * 4096 + 2 * 8 * 128 + 2 * 14336));
  assert_true(memory_per_token(&model, 4) ==
              2 * (3 * 4096. + (2 * 4096. + 2 * 8 * 128 + 2 * 14336) / 4));
  assert_true(memory_per_sequence(&model, 2) == 128256 * 4 / 2.);
  arena_free(&tables.arena);
}

static void test_sharing(void **state) {
  (void)state;
  static const struct {
    const char *model;
    int accelerators;
    bool divides;
    double share;
  } cases[] = {
      {"llama-3.1-70b", 1, true, 1},      {"llama-3.1-70b", 3, false, 1. / 3},
      {"llama-3.1-70b", 8, true, 1. / 8}, {"llama-3.1-70b", 16, true, 1. / 8},
      {"qwen2.5-7b", 8, false, 1. / 4},   {"smollm-135m", 3, true, 1. / 3},
      {"deepseek-v3", 8, true, 1},
  };
  struct tables tables;
  tables_open(&tables, "data");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct memory_model model = model_named(&tables, cases[i].model);
    assert_int_equal(memory_divides(&model, cases[i].accelerators), cases[i].divides);
    expect_near(memory_kv_share(&model, cases[i].accelerators), cases[i].share, 1e-15,
                cases[i].model);
  }
  arena_free(&tables.arena);
}

// Llama 3.1 70B in bf16 with 4,096 tokens in bf16 on two H200: 0.9 x 282e9 less 141,107,412,992
// bytes of weights and 8,192 rows of a step, divided by 1.342e9 plus a request's logits.
static void test_concurrency(void **state) {
  (void)state;
  struct tables tables;
  tables_open(&tables, "data");
  const struct memory_model model = model_named(&tables, "llama-3.1-70b");
  const struct fit_device device = device_named(&tables, "h200-sxm-141");
  struct fit_terms terms = {4096, "bf16", MEMORY_SHARE, MEMORY_CHUNK, 0, 0};
  const double step = 8192. * 2 * 2 * (3 * 8192. + (2 * 8192. + 2 * 8 * 128 + 2 * 28672) / 2);
  const double request = 4096. * 327680 + 128256. * 4;
  const double expected = floor((0.9 * 2 * 150754820096. - 141107412992. - step) / request);
  const struct fit fit = fit_find(&model, "bf16", &device, &terms);
  assert_int_equal(fit.accelerators, 2);
  assert_true(fit.weights == 141107412992. && fit.concurrency == expected && expected == 95);
  terms.accelerators = 1;
  assert_int_equal(fit_find(&model, "bf16", &device, &terms).accelerators, 0);
  assert_true(fit_concurrency(&model, "bf16", &device, 3, &terms) == 0); // 64 heads by three
  terms.chunk = 16; // more requests than the chunk has tokens: each adds its row
  terms.context = 512;
  const double each =
      512 * 327680. + 128256. * 4 + 2 * 2 * (3 * 8192. + (2 * 8192. + 2 * 8 * 128 + 2 * 28672) / 2);
  assert_true(fit_concurrency(&model, "bf16", &device, 2, &terms) ==
              floor((0.9 * 2 * 150754820096. - 141107412992.) / each));
  arena_free(&tables.arena);
}

// DeepSeek V3 in fp8 on eight H200, by hand: each holds 32 of 256 experts in 58 layers, all else
// once, its own step and its own requests, each with the whole latent and its logits.
static void test_attention_data_parallel(void **state) {
  (void)state;
  struct tables tables;
  tables_open(&tables, "data");
  const struct memory_model model = model_named(&tables, "deepseek-v3");
  const struct fit_device device = device_named(&tables, "h200-sxm-141");
  const struct fit_terms terms = {4096, "bf16", MEMORY_SHARE, MEMORY_CHUNK, 0, 0};
  const double expert = 58 * 3. * 7168 * 2048;
  const double rest = model.parameters - 256 * expert + 2. * 129280 * 7168; // head, embeddings
  const double step = 8192. * 2 * (3 * 7168. + 2 * 128 * 192. + 2 * 2048. * 9);
  const double room = 0.9 * device.memory - rest - 32 * expert - step;
  const struct fit fit = fit_find(&model, "fp8", &device, &terms);
  assert_true(fit.split == SPLIT_ATTENTION && fit.accelerators == 8 && fit.ranks == 8);
  assert_true(fit.concurrency == 8 * floor(room / (4096. * 61 * 576 * 2 + 4 * 129280.)));
  assert_true(fit.weights == 8 * (rest + 32 * expert));
  arena_free(&tables.arena);
}

// Longer requests, a wider cache and less memory never make room for more.
static void test_concurrency_is_monotone(void **state) {
  (void)state;
  struct tables tables;
  tables_open(&tables, "data");
  const struct table *models = tables_load(&tables, CATALOG_MODELS);
  struct fit_device device = device_named(&tables, "mi300x-192");
  for (size_t row = 0; row < models->rows; row++) {
    const struct memory_model model = memory_model_of(models, row);
    for (int n = 1; n <= 8; n *= 2) {
      double last = INFINITY;
      for (double context = 256; context < 1e6; context *= 1.7) {
        const struct fit_terms terms = {context, "fp8", 0.9, 8192, 0, 0},
                               wide = {context, "bf16", 0.9, 8192, 0, 0};
        const double fits = fit_concurrency(&model, "fp8", &device, n, &terms);
        assert_true(fits <= last && fits >= fit_concurrency(&model, "fp8", &device, n, &wide));
        assert_true(fits >= fit_concurrency(&model, "bf16", &device, n, &terms));
        last = fits;
      }
    }
  }
  arena_free(&tables.arena);
}

// ---- the batch at a rate per user

static struct curve curve_of(const double *batches, const double *tokens_per_s, size_t count,
                             double accelerators, struct arena *arena) {
  struct curve curve = {.accelerators = accelerators};
  for (size_t i = count; i-- > 0;) // in any order
    assert_true(curve_add(&curve, batches[i], tokens_per_s[i], 100 + batches[i], "", arena));
  return curve;
}

static void test_batch_at_rate(void **state) {
  (void)state;
  static const double batches[] = {1, 4, 16, 64}, rates[] = {100, 320, 960, 1920};
  // Per user: 100, 80, 60, 30.
  static const struct {
    double target, accelerators;
    int batch;
    bool measured;
    const char *error;
  } cases[] = {
      {100, 1, 1, true, ""},
      {80, 1, 4, true, ""},
      {60, 1, 16, true, ""},
      {30, 1, 64, true, ""},
      {240, 8, 64, true, ""},
      {45, 1, 0, false, ""},
      {100.1, 1, 0, false,
       "100.1 token/s per user on average is above the measured range: 100 at batch 1"},
      {29.9, 1, 0, false, "below the measured range: 100 at batch 1 down to 30 at batch 64"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture fixture;
    struct curve_choice choice = {0};
    fixture_start(&fixture);
    const struct curve curve = curve_of(batches, rates, 4, cases[i].accelerators, &fixture.arena);
    const struct curve_limits limits = {cases[i].target, INFINITY, INFINITY};
    const char *why = curve_choose(&curve, &limits, &choice, &fixture.arena);
    expect_why("rate", why, cases[i].error);
    if (!why)
      assert_true(choice.interactivity >= cases[i].target * (1 - 1e-9));
    if (cases[i].batch) {
      assert_int_equal(choice.batch, cases[i].batch);
      assert_int_equal(choice.is_measured, cases[i].measured);
      expect_near(choice.load_power, 100 + choice.batch, 1e-12, "watts");
    } else if (!why) {
      // Between 16 and 64, and one more user would be too many.
      assert_true(choice.batch > 16 && choice.batch < 64 && !choice.is_measured);
      const double next =
          curve_interpolate(curve.batch, curve.tokens_per_s, curve.count, choice.batch + 1);
      assert_true(next / (choice.batch + 1) < cases[i].target);
    }
    fixture_end(&fixture);
  }
}

// At a point without watts, those of the points around it.
static void test_watts_around(void **state) {
  (void)state;
  static const double watts[] = {100, NAN, 140};
  static const struct {
    int batch;
    double watts;
    bool own;
  } expected[] = {{10, 100, true}, {20, 120, false}, {25, 130, false}, {30, 140, true}};
  struct fixture fixture;
  fixture_start(&fixture);
  struct curve curve = {.accelerators = 1};
  for (size_t i = 0; i < sizeof watts / sizeof watts[0]; i++)
    assert_true(curve_add(&curve, 10 * (double)(i + 1), 100, watts[i], "", &fixture.arena));
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    struct curve_choice choice;
    assert_int_equal(curve_at(&curve, expected[i].batch, &choice), 0);
    expect_near(choice.load_power, expected[i].watts, 1e-12, "watts");
    assert_int_equal(choice.has_own_watts, expected[i].own);
  }
  fixture_end(&fixture);
}

// Two points make a straight line.
static void test_straight_line(void **state) {
  (void)state;
  static const double batches[] = {10, 30}, rates[] = {120, 240}; // 60 + 6 b
  struct fixture fixture;
  struct curve_choice choice;
  fixture_start(&fixture);
  const struct curve curve = curve_of(batches, rates, 2, 1, &fixture.arena);
  // (60 + 6 b) / b >= 9 up to b = 20.
  const struct curve_limits limits = {9, INFINITY, INFINITY};
  assert_null(curve_choose(&curve, &limits, &choice, &fixture.arena));
  assert_int_equal(choice.batch, 20);
  expect_near(choice.tokens_per_s, 180, 1e-12, "throughput");
  fixture_end(&fixture);
}

// Times to first token of 0.1, 0.2, 0.4 and 2 s.
static void test_batch_within_times(void **state) {
  (void)state;
  static const double batches[] = {1, 4, 16, 64}, rates[] = {100, 320, 960, 1920};
  static const double ttft_s[] = {0.1, 0.2, 0.4, 2}, tpot_s[] = {0.01, 0.012, 0.016, 0.03};
  static const struct {
    struct curve_limits limits;
    int least, most; // the batch
    const char *error;
  } cases[] = {
      {{0, 0.4, INFINITY}, 16, 16, ""},
      {{0, 1, INFINITY}, 17, 63, ""},
      {{0, 5, INFINITY}, 64, 64, ""},
      {{0, INFINITY, 0.012}, 4, 4, ""},
      {{80, 5, INFINITY}, 4, 4, ""},
      {{80, 0.1, INFINITY}, 1, 1, ""},
      {{0, 0.09, INFINITY}, 0, 0, "P99 is 0.1 s to the first token"},
      {{101, 5, 5}, 0, 0, "no measured point meets it"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture fixture;
    struct curve_choice choice = {0};
    fixture_start(&fixture);
    struct curve curve = curve_of(batches, rates, 4, 1, &fixture.arena);
    expect_why("times that are not told",
               curve_choose(&curve, &cases[i].limits, &choice, &fixture.arena), "give no P90");
    curve.percentile = 99;
    memcpy(curve.ttft_s, ttft_s, sizeof ttft_s);
    memcpy(curve.tpot_s, tpot_s, sizeof tpot_s);
    expect_why("times", curve_choose(&curve, &cases[i].limits, &choice, &fixture.arena),
               cases[i].error);
    assert_in_range(choice.batch, cases[i].least, cases[i].most);
    if (choice.batch)
      assert_true(choice.ttft_s <= cases[i].limits.ttft_s * (1 + 1e-9));
    fixture_end(&fixture);
  }
}

static void test_curve_keeps_one_point_a_batch(void **state) {
  (void)state;
  enum { MANY = 70 };
  struct fixture fixture;
  fixture_start(&fixture);
  struct curve curve = {.accelerators = 1};
  assert_true(curve_add(&curve, 4, 1, NAN, "a", &fixture.arena));
  assert_false(curve_add(&curve, 4, 2, NAN, "b", &fixture.arena));
  for (int i = MANY; i > 0; i--)
    assert_true(curve_add(&curve, 100 + i, i, NAN, "", &fixture.arena));
  assert_int_equal(curve.count, 1 + MANY);
  assert_string_equal(curve.ids[0], "a");
  for (int i = 1; i <= MANY; i++)
    assert_true(curve.batch[i] == 100 + i && curve.tokens_per_s[i] == i);
  expect_near(curve_interpolate(curve.batch, curve.tokens_per_s, curve.count, 169.5), 69.5, 1e-12,
              "near the last");
  fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bits),
      cmocka_unit_test(test_published_headroom),
      cmocka_unit_test(test_weights),
      cmocka_unit_test(test_kv),
      cmocka_unit_test(test_activations),
      cmocka_unit_test(test_sharing),
      cmocka_unit_test(test_concurrency),
      cmocka_unit_test(test_attention_data_parallel),
      cmocka_unit_test(test_concurrency_is_monotone),
      cmocka_unit_test(test_batch_at_rate),
      cmocka_unit_test(test_straight_line),
      cmocka_unit_test(test_watts_around),
      cmocka_unit_test(test_batch_within_times),
      cmocka_unit_test(test_curve_keeps_one_point_a_batch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
