// What follows from a result's samples, and what older records are given of it.
#include "base/arena.h"
#include "base/statistics.h"
#include "base/student.h"
#include "model/records/measurement.h"
#include "model/records/measurement_file.h"
#include "model/records/timing.h"
#include "tests/support/example_record.h"
#include "tests/support/fixture.h"
#include "tests/support/place_of_work.h"

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

// Eight steps, one of which takes three times as long: 8 steps in 10 s. A median would say 1 a
// second.
static const double disturbed[] = {1, 1, 1, 1, 1, 1, 1, 3};

static void test_tokens_over_time(void **state) {
  (void)state;
  struct arena arena = {NULL};
  struct measurement result = example_measurement;
  result.samples = disturbed;
  result.sample_count = 8;
  assert_true(timing_is_told(&result));
  timing_tell(&result, &arena);
  expect_near(result.tokens_per_s, 0.8 * result.batch, 1e-12, "tokens over time");
  expect_near(result.step_seconds, 1, 0, "the median step");
  assert_true(result.ci95_low < result.tokens_per_s && result.tokens_per_s < result.ci95_high);
  assert_true(result.ci95_high >= result.batch); // within a mean of 1.25 s +- t s / sqrt(8)
  assert_true(result.flags.unconverged);
  struct measurement_prefill prompt = {.positions = 40, .samples = disturbed, .sample_count = 8};
  timing_tell_prompt(&prompt, &arena);
  expect_near(prompt.tokens_per_s, 32, 1e-12, "a prompt's tokens over time");
  expect_near(prompt.seconds, 1, 0, "the median prompt");
  result.sample_count = MIN_INTERVAL_SAMPLES - 1;
  assert_false(timing_is_told(&result));
  arena_free(&arena);
}

// Samples that rise all the time are as good as two; with one that takes ten times as long as all
// others together, the interval would reach a time of 0. Neither tells an interval, but a rate.
static void test_no_interval(void **state) {
  (void)state;
  static const double rising[] = {1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7};
  static const double one_long[] = {1, 1, 1, 1, 1, 1, 1, 70};
  static const double *const samples[] = {rising, one_long};
  static const double means[] = {1.35, 77.0 / 8};
  struct arena arena = {NULL};
  for (size_t i = 0; i < 2; i++) {
    struct measurement result = example_measurement;
    result.samples = samples[i];
    result.sample_count = 8;
    timing_tell(&result, &arena);
    expect_near(result.tokens_per_s, result.batch / means[i], 1e-12, "rate");
    assert_true(isnan(result.ci95_low) && isnan(result.ci95_high) && result.flags.unconverged);
    expect_fragment(measurement_doubts(&result, &arena),
                    "unsteady, with too few independent samples for an interval");
    struct measurement_prefill prompt = {.positions = 40, .samples = samples[i], .sample_count = 8};
    timing_tell_prompt(&prompt, &arena);
    assert_true(isnan(prompt.ci95_low_s) && isnan(prompt.ci95_high_s));
    const struct measurement_slice slices[] = {
        {.layers = 1, .samples = disturbed, .sample_count = 8},
        {.layers = 2, .samples = samples[i], .sample_count = 8}};
    result.slices = slices;
    result.slice_count = 2;
    timing_tell(&result, &arena);
    assert_true(isfinite(result.tokens_per_s) && isnan(result.ci95_low) && isnan(result.p95_s));
    assert_true(isfinite(result.slices[0].ci95_low_s) && isnan(result.slices[1].ci95_low_s));
  }
  arena_free(&arena);
}

// Every shipped record's results follow from its own samples, whatever formulas wrote it: falcon's
// interval, with the line's error at one degree of freedom, llama's power, which had settled.
static void test_shipped_records(void **state) {
  (void)state;
  static const struct {
    const char *path;
    size_t result;
    double tokens_per_s; // over the mean of the samples, by hand; 0: of slices
    bool unsettled;
  } shipped[] = {
      {"data/measured/falcon-40b-cpu-d21d94f9.json", 0, 0, false},
      {"data/measured/falcon-40b-cpu-d21d94f9.json", 1, 0, false},
      {"data/measured/llama-3.1-8b-cuda-c11128fa.json", 0, 257.5, false},
      {"data/measured/tinyllama-1.1b-decode-67500151.json", 1, 34.5, false},
      {"data/measured/tinyllama-1.1b-decode-67500151.json", 3, 157.5, false},
      {"data/measured/gpt-oss-20b-cpu-42ff36e7.json", 1, 8.45, false},
  };
  for (size_t i = 0; i < sizeof shipped / sizeof shipped[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    const struct measurement_record *record =
        measurement_read(shipped[i].path, &fixture.arena, &fixture.diagnostics);
    assert_non_null(record);
    const struct measurement *result = &record->results[shipped[i].result];
    const double high_s = result->batch / result->ci95_low;
    const double half_s = (high_s - result->batch / result->ci95_high) / 2;
    if (shipped[i].tokens_per_s > 0)
      expect_near(result->tokens_per_s, shipped[i].tokens_per_s, 2e-3, shipped[i].path);
    else
      assert_true(half_s >= 0.999 * result->step_seconds ||
                  half_s >= student_quantile(0.975, 1) * result->slice_error_s);
    assert_int_equal(result->flags.thermal_unsettled, shipped[i].unsettled);
    assert_int_equal(result->flags.thermal_unsettled,
                     fabs(result->power_slope_w_per_s) * result->energy_window_s >
                         MAX_POWER_CHANGE * result->load_power_w);
    if (isfinite(result->load_power_w))
      expect_near(result->joules_per_token, result->load_power_w / measurement_rate(result), 1e-12,
                  "joules per token");
    fixture_end(&fixture);
  }
}

// An older record whose samples cannot be its own keeps what it states.
static void test_samples_without_a_rate(void **state) {
  (void)state;
  static const char *const samples[] = {"[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]", "[]", "[0.25]"};
  struct place_of_work work;
  place_of_work_start(&work);
  for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
    json_t *record = json_load_file("data/measured/tinyllama-1.1b-cpu-e1a364d8.json", 0, NULL);
    place_of_work_write(&work,
                        place_of_work_edited(&work, record, "results", 0, "samples", samples[i]));
    const struct measurement_record *read =
        measurement_read(work.path, &work.fixture.arena, &work.fixture.diagnostics);
    assert_non_null(read);
    expect_near(read->results[0].tokens_per_s, 16.943461836405458, 1e-12, samples[i]);
  }
  place_of_work_end(&work);
}

// Readings of watts that rise by 2 W/s. Of a counter's the first is too low and the last too high.
static void test_slope(void **state) {
  (void)state;
  static const double end_s[] = {1, 2, 3, 4, 5, 6};
  static const double even[] = {100, 102, 104, 106, 108, 110};
  static const double edges[] = {60, 102, 104, 106, 108, 150};
  static const double gap[] = {100, 102, NAN, 106, 108, 110};
  static const struct {
    struct measurement_window window;
    double slope; // NAN: too few
  } cases[] = {
      {{true, end_s, even, 6, 6}, 2},   {{false, end_s, even, 6, 6}, 2},
      {{false, end_s, edges, 6, 6}, 2}, {{true, end_s, gap, 6, 6}, 2},
      {{true, end_s, even, 1, 1}, NAN}, {{true, NULL, NULL, 0, 0}, NAN},
  };
  struct arena arena = {NULL};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const double slope = measurement_window_slope(&cases[i].window, &arena);
    if (isnan(cases[i].slope))
      assert_true(isnan(slope));
    else
      expect_near(slope, cases[i].slope, 1e-9, "W/s");
  }
  arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tokens_over_time),
      cmocka_unit_test(test_no_interval),
      cmocka_unit_test(test_shipped_records),
      cmocka_unit_test(test_samples_without_a_rate),
      cmocka_unit_test(test_slope),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
