// The protocol on a device whose speed is known and whose time is controlled by the test: what is
// reported, and what must not give a result.
#include "probe/measure/fit.h"
#include "probe/measure/result.h"
#include "tests/support/stand_in.h"

#include "probe/measure/calibration.h"
#include "probe/sessions/result_table.h"

#include <math.h>
#include <string.h>

static void test_steady(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  const struct measurement result = scene_measured(&scene);
  expect_near(result.step_seconds, 0.010, 1e-9, "step");
  expect_near(result.tokens_per_s, 300, 1e-9, "three rows");
  expect_near(result.ci95_low, 300, 1e-9, "interval");
  expect_near(result.layer_seconds, 0.010 / 8, 1e-9, "layer");
  expect_near(result.read_bandwidth, 1e12, 1e-9, "the best read kernel");
  expect_near(result.read_bandwidth_share, 0.8, 1e-6, "share");
  assert_in_range(result.sample_count, 30, 35);
  assert_int_equal(result.bytes_per_step, 8000001000);
  assert_int_equal(result.grade, GRADE_MEASURED);
  assert_true(result.whole_model);
  assert_true(isnan(result.load_power_w) && isnan(result.joules_per_token));
  assert_int_equal(result.readings.idle.count + result.readings.load.count, 0);
  assert_string_equal(result.energy_meter, "none: a test");
  const struct measurement_flags none = {0};
  assert_memory_equal(&result.flags, &none, sizeof none);
  assert_true(result.verification.max_error < 1e-6);
  assert_int_equal(strlen(result.verification.token_checksum), 64);
  scene_end(&scene);
}

// A quarter share is a step of its own; exchanges are added, two per layer and one more.
static void test_shard(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  scene.trial.model = (struct measurement_shape){.id = "tiny",
                                                 .layers = 8,
                                                 .hidden = 32,
                                                 .heads = 8,
                                                 .kv_heads = 2,
                                                 .head_dim = 8,
                                                 .ffn_hidden = 48,
                                                 .vocab = 64,
                                                 .norm_epsilon = 1e-5,
                                                 .rope_theta = 10000};
  scene.trial.shard = (struct measurement_shard){4, NAN, NAN, ""};
  const struct decode_shape share = trial_request(&scene.trial, 8).shape;
  assert_int_equal(share.heads, 2);
  assert_int_equal(share.kv_heads, 1); // two, each held by two ranks
  assert_int_equal(share.head_dim, 8);
  assert_int_equal(share.hidden, 32);
  assert_int_equal(share.ffn_hidden, 12);
  assert_int_equal(share.vocab, 16);
  const struct measurement bare = scene_measured(&scene);
  assert_false(bare.whole_model);
  assert_int_equal(bare.grade, GRADE_PROJECTED);
  expect_near(bare.shard.step_seconds, 0.010, 1e-9, "the share's step");
  scene.trial.shard = (struct measurement_shard){4, NAN, 100e-6, "a test"};
  const struct measurement whole = scene_measured(&scene);
  assert_true(whole.whole_model);
  assert_int_equal(whole.grade, GRADE_PROJECTED);
  expect_near(whole.shard.step_seconds, 0.010, 1e-9, "the share's step");
  expect_near(whole.step_seconds, 0.010 + 17 * 100e-6, 1e-9, "with 17 exchanges");
  expect_near(whole.tokens_per_s, 3 / 0.0117, 1e-9, "of all four devices");
  expect_near(whole.ci95_low, 3 / 0.0117, 1e-6, "its interval");
  scene_end(&scene);
}

// Two speeds, 4 % apart: the median's interval never narrows, and the time limit ends the run.
static void test_jitter(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  stand_in.jitter = 0.04;
  const struct measurement result = scene_measured(&scene);
  assert_true(result.flags.unconverged);
  assert_false(result.flags.noisy);
  assert_in_range(result.sample_count, 100, 300);
  expect_near(result.p95_s / result.p5_s, 1.04, 1e-6, "spread");
  scene_end(&scene);
}

// Sampling that ends because the mean is sure within 0.5 % does so after enough samples to know it,
// though what disturbs one lasts into the next: 17 samples, taken to be independent, are sure of a
// wrong figure 4 times in 10.
static void test_disturbances_that_last(void **state) {
  (void)state;
  enum { RUNS = 100 };
  const double deviation = 0.01, true_s = 0.010 * exp(deviation * deviation / 2);
  int settled = 0, right = 0;
  for (int i = 0; i < RUNS; i++) {
    struct scene scene;
    scene_start(&scene);
    stand_in.disturbance = deviation;
    stand_in.seed = (uint64_t)i;
    const struct measurement result = scene_measured(&scene);
    const double rate = result.batch / true_s;
    settled += !result.flags.unconverged;
    right += result.ci95_low <= rate && rate <= result.ci95_high;
    scene_end(&scene);
  }
  assert_in_range(settled, 80, RUNS);
  assert_in_range(right, 85, RUNS);
}

static void test_drift(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  stand_in.drift = 0.002;
  const struct measurement result = scene_measured(&scene);
  assert_true(result.flags.noisy);
  scene_end(&scene);
}

// A device that launches its steps in a slower form than requested: recorded, and shown.
static void test_step_form(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  struct measurement result = scene_measured(&scene);
  assert_string_equal(result.step_form.form, "recorded graph");
  assert_string_equal(result.step_form.fallback, "");
  assert_string_equal(result.step_form.arithmetic, "native bf16");
  assert_null(strstr(result_remarks(&result, &scene.fixture.arena), "launches"));
  stand_in.fallback = "it cannot";
  result = scene_measured(&scene);
  assert_string_equal(result.step_form.form, "single launches");
  assert_string_equal(result.step_form.fallback, "it cannot");
  assert_non_null(strstr(result_remarks(&result, &scene.fixture.arena), "single launches"));
  assert_int_equal(result.grade, GRADE_MEASURED);
  scene_end(&scene);
}

// The fastest of the variants is measured, if it computes the same and is faster by a percent.
static void test_fastest_variant(void **state) {
  (void)state;
  static const struct {
    struct stand_in_variant variants[4];
    const char *used, *warning;
  } cases[] = {
      {{{"step=a", 0.9, false, false}, {"step=b", 0.85, false, false}}, "step=b", ""},
      {{{"step=a", 1.2, false, false}}, "", ""},
      {{{"step=a", 0.995, false, false}}, "", ""},
      {{{"step=a", 0.98, false, false}}, "step=a", ""},
      {{{"step=a", 0.5, true, false}, {"step=b", 0.9, false, false}},
       "step=b",
       "step=a: its results differ from those of the kernels' own choice: 0.1, 0.02 is allowed"},
      {{{"step=a", 0.5, false, true}}, "", ""},
      {{{NULL, 0, false, false}}, "", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scene scene;
    scene_start(&scene);
    memcpy(stand_in.variants, cases[i].variants, sizeof stand_in.variants);
    scene.trial.fastest = true;
    struct measurement result;
    assert_int_equal(result_measure(&scene.protocol, &scene.trial, &result), PROTOCOL_DONE);
    expect_error(&scene.fixture, "fastest", "");
    assert_int_equal(scene.fixture.diagnostics.count, *cases[i].warning ? 1 : 0);
    if (*cases[i].warning)
      expect_fragment(scene.fixture.diagnostics.list[0].message, cases[i].warning);
    assert_string_equal(result.step_form.variant, cases[i].used);
    assert_null(scene.trial.variant);
    double slower = 1;
    size_t count = 0;
    for (; count < 4 && cases[i].variants[count].name; count++) {
      const struct stand_in_variant *variant = &cases[i].variants[count];
      const struct measurement_variant *tried = &result.variants[count + 1];
      assert_string_equal(tried->variant, variant->name);
      if (variant->wrong || variant->refused)
        assert_true(isnan(tried->step_seconds) && *tried->refused);
      else
        expect_near(tried->step_seconds, 0.010 * variant->slower, 1e-9, variant->name);
      slower = !strcmp(variant->name, cases[i].used) ? variant->slower : slower;
    }
    assert_int_equal(result.variant_count, count ? count + 1 : 0);
    expect_near(result.step_seconds, 0.010 * slower, 1e-9, "the fastest's step");
    scene_end(&scene);
  }
}

// One that is asked for is measured as it is, and one that the device does not know refused.
static void test_variant(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  stand_in.variants[0] = (struct stand_in_variant){"step=a", 1.5, false, false};
  scene.trial.variant = "step=a";
  const struct measurement result = scene_measured(&scene);
  assert_string_equal(result.step_form.variant, "step=a");
  assert_int_equal(result.variant_count, 0);
  assert_non_null(strstr(result_remarks(&result, &scene.fixture.arena), "step=a"));
  expect_near(result.step_seconds, 0.015, 1e-9, "its step");
  scene.trial.variant = "step=b";
  struct measurement none;
  assert_int_equal(result_measure(&scene.protocol, &scene.trial, &none), PROTOCOL_FAILED);
  expect_error(&scene.fixture, "unknown", "cannot be verified");
  scene_end(&scene);
}

// Ctrl-C at any moment before the end leaves no result, and nothing behind.
static void test_fastest_stopped(void **state) {
  (void)state;
  enum protocol_outcome outcome = PROTOCOL_STOPPED;
  int runs = 0;
  while (outcome == PROTOCOL_STOPPED) {
    struct scene scene;
    struct measurement result;
    scene_start(&scene);
    stand_in.variants[0] = (struct stand_in_variant){"step=a", 0.8, false, false};
    stand_in.stop_after = ++runs;
    scene.trial.fastest = true;
    outcome = result_measure(&scene.protocol, &scene.trial, &result);
    scene_end(&scene);
  }
  assert_int_equal(outcome, PROTOCOL_DONE);
  assert_true(runs > 50);
}

static void test_memory_drift(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  stand_in.read_drift = 0.1;
  const struct measurement result = scene_measured(&scene);
  assert_true(result.flags.drift);
  scene_end(&scene);
}

// A virtual machine, where memory is slower by up to a fifth at times, for reads and steps alike:
// pairing them cancels that.
static void test_share_of_unsteady_memory(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  stand_in.sway = 0.2;
  const struct measurement result = scene_measured(&scene);
  assert_true(result.flags.drift && !result.flags.bandwidth_void);
  expect_near(result.read_bandwidth_share, 0.8, 0.03, "the median of the pairs");
  assert_true(result.share_p5 <= 0.8 && 0.8 <= result.share_p95);
  assert_true(isnan(result.share_ci95_low)); // few pairs are as good as independent
  assert_string_equal(result_remarks(&result, &scene.fixture.arena), "unsteady");
  assert_int_equal(scene.fixture.diagnostics.count, 0);
  scene_end(&scene);
}

static void expect_no_share(struct scene *scene, const struct measurement *result,
                            const char *remarks) {
  assert_true(result->flags.bandwidth_void);
  assert_true(isnan(result->read_bandwidth) && isnan(result->read_bandwidth_after));
  assert_true(isnan(result->read_bandwidth_share) && isnan(result->share_p5));
  assert_true(isnan(result->share_ci95_low) && isnan(result->share_ci95_high));
  assert_string_equal(result_remarks(result, &scene->fixture.arena), remarks);
  assert_int_equal(scene->fixture.diagnostics.count, 1);
  const char *warning = scene->fixture.diagnostics.list[0].message;
  expect_fragment(warning, "114 % of the measured memory speed");
  expect_fragment(warning, "measure again on a quiet machine");
}

// Before and after are compared over the same number of bytes: reads of the whole footprint are
// faster or slower than those of the buffer, which is not drift.
static void test_footprint_is_no_drift(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  stand_in.large_gain = 0.05;
  struct calibration calibration;
  double after = 0;
  assert_int_equal(calibrate(&stand_in_backend, 0, 1, 3 * CALIBRATION_BYTES, 4 * CALIBRATION_BYTES,
                             NULL, &calibration),
                   DECODE_OK);
  assert_int_equal(calibration_repeat(&calibration, &after), DECODE_OK);
  expect_near(calibration.bytes_per_s, 1.05 * stand_in.bytes_per_s, 1e-9, "the footprint's speed");
  expect_near(calibration.buffer_bytes_per_s, after, 1e-9, "the buffer's speed");
  stand_in_backend.calibration_end();
  scene_end(&scene);
}

// The overhead of a read: determined from two sizes and subtracted from every read, if there is
// memory for both; if it may be noise, or reads are long, there is none.
static void test_overhead_of_reads(void **state) {
  (void)state;
  static const struct {
    double overhead_s, bytes_per_s;
    uint64_t room;
    double taken_off_s;
  } cases[] = {
      {8e-6, 4e12, 4 * CALIBRATION_BYTES, 8e-6},  {8e-6, 4e12, 2 * CALIBRATION_BYTES, 8e-6},
      {8e-6, 4e12, 2 * CALIBRATION_BYTES - 1, 0}, // memory is short
      {8e-6, 4e12, CALIBRATION_BYTES / 2, 0},     {0, 4e12, 4 * CALIBRATION_BYTES, 0},
      {8e-5, 4e12, 4 * CALIBRATION_BYTES, 0}, // more than any launch takes
      {8e-6, 5e10, 4 * CALIBRATION_BYTES, 0}, // a read of 86 ms
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scene scene;
    struct calibration calibration;
    double after = 0, read_s = 0;
    scene_start(&scene);
    stand_in.read_overhead_s = cases[i].overhead_s;
    stand_in.bytes_per_s = cases[i].bytes_per_s;
    assert_int_equal(calibrate(&stand_in_backend, 0, 1, 0, cases[i].room, NULL, &calibration),
                     DECODE_OK);
    assert_int_equal(calibration_repeat(&calibration, &after), DECODE_OK);
    assert_int_equal(calibration_read(&calibration, &read_s), DECODE_OK);
    const double bytes = (double)calibration.bytes;
    const double expected_s =
        bytes / cases[i].bytes_per_s + cases[i].overhead_s - cases[i].taken_off_s;
    assert_int_equal(calibration.variant, 1);
    expect_near(calibration.bytes_per_s, bytes / expected_s, 1e-9, "the bandwidth");
    expect_near(after, bytes / expected_s, 1e-9, "the bandwidth again");
    expect_near(read_s, expected_s, 1e-9, "one read");
    stand_in_backend.calibration_end();
    scene_end(&scene);
  }
}

// A step faster than its bytes can be read: the reads were not a ceiling.
static void test_void(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  stand_in.bytes_per_s = 7e11;
  const struct measurement result = scene_measured(&scene);
  expect_no_share(&scene, &result, "no valid % read");
  assert_int_equal(result.grade, GRADE_MEASURED);
  scene_end(&scene);
}

// The same if the reads drift, and for slices, whose share comes from the line through them.
static void test_void_of_drift_and_slices(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  stand_in.bytes_per_s = 7e11;
  stand_in.sway = 0.01;
  stand_in.read_drift = 0.1;
  const struct measurement drifting = scene_measured(&scene);
  assert_true(drifting.flags.drift && drifting.flags.bandwidth_void);
  assert_true(isnan(drifting.read_bandwidth_share) && isnan(drifting.read_bandwidth));
  scene_end(&scene);
  scene_start(&scene);
  stand_in.bytes_per_s = 7e11;
  scene.trial.layers[0] = 2;
  scene.trial.layers[1] = 4;
  scene.trial.layers[2] = 6;
  scene.trial.layer_count = 3;
  const struct measurement sliced = scene_measured(&scene);
  expect_no_share(&scene, &sliced, "extrapolated, no valid % read");
  scene_end(&scene);
}

static void test_cache_resident(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  scene.device.described.cache_bytes = 1100000000; // 8 GB is less than 8 times that
  const struct measurement result = scene_measured(&scene);
  assert_true(result.flags.cache_resident);
  assert_int_equal(result.grade, GRADE_PROJECTED);
  scene_end(&scene);
}

static void test_slices(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  scene.trial.layers[0] = 2;
  scene.trial.layers[1] = 4;
  scene.trial.layers[2] = 6;
  scene.trial.layer_count = 3;
  const struct measurement result = scene_measured(&scene);
  expect_near(result.step_seconds, 0.010, 1e-9, "extrapolated step");
  expect_near(result.layer_seconds, 0.001, 1e-9, "layer");
  assert_true(result.slice_error_s < 1e-9);
  assert_int_equal(result.slice_count, 3);
  assert_int_equal(result.slices[1].layers, 4);
  expect_near(result.slices[1].step_seconds, 0.006, 1e-9, "second depth");
  assert_int_equal(result.bytes_per_step, 8000001000);
  expect_near(result.read_bandwidth_share, 0.8, 1e-6, "share of the whole");
  assert_int_equal(result.layers_measured, 6);
  assert_true(result.whole_model);
  assert_int_equal(result.grade, GRADE_PROJECTED);
  scene.trial.layer_count = 2;
  const struct measurement two = scene_measured(&scene);
  expect_near(two.tokens_per_s, 300, 1e-9, "from two depths");
  assert_true(isnan(two.slice_error_s));
  scene_end(&scene);
}

// Three depths have one more than a line needs, and so one degree of freedom: the 95 % interval of
// what is extrapolated extends 12.7 standard errors, not 1.96, which would cover 70 % of them.
static void test_interval_of_slices(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  stand_in.disturbance = 0.02;
  scene.trial.layers[0] = 2;
  scene.trial.layers[1] = 3;
  scene.trial.layers[2] = 6;
  scene.trial.layer_count = 3;
  const struct measurement result = scene_measured(&scene);
  const double half_s = 3 / result.ci95_low - result.step_seconds;
  assert_true(result.slice_error_s > 1e-6);
  assert_true(half_s > 12.706 * result.slice_error_s && half_s < 0.5 * result.step_seconds);
  scene_end(&scene);
}

// A line that falls still has a value at the model's depth; but no layer takes less than no time.
static void test_falling_slices(void **state) {
  (void)state;
  static const double layers_s[] = {-1e-4, -1e-3};
  for (size_t i = 0; i < sizeof layers_s / sizeof layers_s[0]; i++) {
    struct scene scene;
    struct measurement result;
    scene_start(&scene);
    stand_in.step_s = 0.02;
    stand_in.layer_s = layers_s[i];
    scene.trial.layers[0] = 2;
    scene.trial.layers[1] = 4;
    scene.trial.layer_count = 2;
    assert_int_equal(result_measure(&scene.protocol, &scene.trial, &result), PROTOCOL_FAILED);
    expect_error(&scene.fixture, "falling", "deeper slices take no longer");
    assert_true(scene.fixture.diagnostics.machine_failed);
    scene_end(&scene);
  }
}

static void test_part(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  scene.trial.layers[0] = 3;
  const struct measurement result = scene_measured(&scene);
  assert_false(result.whole_model);
  assert_int_equal(result.grade, GRADE_PROJECTED);
  expect_near(result.step_seconds, 0.005, 1e-9, "three layers");
  scene_end(&scene);
}

static void test_failing_device(void **state) {
  (void)state;
  struct scene scene;
  struct measurement result;
  scene_start(&scene);
  stand_in.fails = true;
  assert_int_equal(result_measure(&scene.protocol, &scene.trial, &result), PROTOCOL_FAILED);
  expect_error(&scene.fixture, "failing", "the device failed: the fan fell off");
  scene_end(&scene);
}

static void test_stop(void **state) {
  (void)state;
  for (int after = 1; after < 30; after += 3) {
    struct scene scene;
    struct measurement result;
    scene_start(&scene);
    stand_in.jitter = 0.04;
    stand_in.stop_after = after;
    assert_int_equal(result_measure(&scene.protocol, &scene.trial, &result), PROTOCOL_STOPPED);
    expect_error(&scene.fixture, "stopped", "");
    assert_in_range(stand_in.runs, after, after + 1);
    scene_end(&scene);
  }
}

// Reading gigabytes takes long: it ends after the read in progress.
static void test_stop_reading(void **state) {
  (void)state;
  for (int after = 1; after < 30; after++) {
    struct scene scene;
    struct measurement result;
    scene_start(&scene);
    stand_in.stop_after_reads = after;
    assert_int_equal(result_measure(&scene.protocol, &scene.trial, &result), PROTOCOL_STOPPED);
    expect_error(&scene.fixture, "stopped", "");
    assert_int_equal(stand_in.reads, after);
    scene_end(&scene);
  }
}

static void test_too_large(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  stand_in.memory_bytes = UINT64_C(7000000000);
  assert_int_equal(fit_check(&scene.protocol, &scene.trial), -1);
  expect_error(&scene.fixture, "too large",
               "needs 8.00 GB (8000000000 bytes), but only 7.00 GB (7000000000 bytes) is free; "
               "--layers 2,4,6 measures slices");
  scene_end(&scene);
}

// Whole repetitions of the model's pattern, with layers of each kind; one depth where only one
// fits, and for prompts.
static void test_suggested_depths(void **state) {
  (void)state;
  static const struct {
    int fitting, full_every, dense_layers;
    size_t prefills;
    const char *words;
  } cases[] = {
      {7, 0, 0, 0, "free; --layers 2,4,7 measures slices of it and extrapolates"},
      {7, 2, 0, 0, "free; --layers 2,4,6 measures slices of it and extrapolates"},
      {7, 3, 0, 0, "free; --layers 3,6 measures slices of it and extrapolates"},
      {7, 0, 3, 0, "free; --layers 4,7 measures slices of it and extrapolates"},
      {4, 0, 3, 0, "free; --layers 4 measures a slice of it"},
      {7, 2, 0, 1, "free; --layers 6 measures a slice of it"},
      {2, 0, 0, 0, "free; --layers 1,2 measures slices of it and extrapolates"},
      {3, 0, 3, 0, "is free"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scene scene;
    scene_start(&scene);
    stand_in.memory_bytes = UINT64_C(1000000000) * (uint64_t)cases[i].fitting + 700000000;
    struct measurement_shape *model = &scene.trial.model;
    model->layer.window = cases[i].full_every ? 4 : 0;
    model->layer.full_every = cases[i].full_every;
    model->experts = (struct measurement_experts){
        .count = 4, .chosen = 2, .hidden = 16, .dense_layers = cases[i].dense_layers};
    scene.trial.prefill_count = cases[i].prefills;
    scene.trial.prefills = (int[]){8};
    assert_int_equal(fit_check(&scene.protocol, &scene.trial), -1);
    const char *error = scene.fixture.diagnostics.list[0].message;
    if (strcmp(error + strlen(error) - strlen(cases[i].words), cases[i].words) != 0)
      fail_msg("'%s' does not end in '%s'", error, cases[i].words);
    scene_end(&scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steady),
      cmocka_unit_test(test_shard),
      cmocka_unit_test(test_jitter),
      cmocka_unit_test(test_disturbances_that_last),
      cmocka_unit_test(test_drift),
      cmocka_unit_test(test_footprint_is_no_drift),
      cmocka_unit_test(test_step_form),
      cmocka_unit_test(test_fastest_variant),
      cmocka_unit_test(test_variant),
      cmocka_unit_test(test_fastest_stopped),
      cmocka_unit_test(test_memory_drift),
      cmocka_unit_test(test_share_of_unsteady_memory),
      cmocka_unit_test(test_void_of_drift_and_slices),
      cmocka_unit_test(test_overhead_of_reads),
      cmocka_unit_test(test_void),
      cmocka_unit_test(test_cache_resident),
      cmocka_unit_test(test_slices),
      cmocka_unit_test(test_interval_of_slices),
      cmocka_unit_test(test_falling_slices),
      cmocka_unit_test(test_part),
      cmocka_unit_test(test_failing_device),
      cmocka_unit_test(test_stop),
      cmocka_unit_test(test_stop_reading),
      cmocka_unit_test(test_too_large),
      cmocka_unit_test(test_suggested_depths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
