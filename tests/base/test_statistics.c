// Statistics compared with values worked out by hand, and what holds for any samples.
#include "tests/support/fixture.h"

#include "base/statistics.h"
#include "base/student.h"

#include <math.h>

// k such that the k-th smallest to k-th largest of n values contain the median with 95 %
// confidence: tables of the sign test, one below its two-sided critical value at 5 %.
static const struct {
  size_t count, rank;
} ranks[] = {
    {1, 0},  {5, 0},  {6, 1},  {8, 1},   {9, 2},   {11, 2},  {12, 3},   {15, 4},
    {17, 5}, {20, 6}, {25, 8}, {30, 10}, {40, 14}, {50, 18}, {100, 40},
};

static void test_rank(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
    assert_int_equal(median_interval_rank(ranks[i].count), ranks[i].rank);
  // For large n the normal approximation holds: n/2 - 1.96 sqrt(n)/2.
  assert_in_range(median_interval_rank(10000), 4901, 4903);
}

static void test_quantile(void **state) {
  (void)state;
  const double values[] = {1, 2, 3, 4, 10};
  const struct {
    double q, expected;
  } cases[] = {{0, 1}, {0.25, 2}, {0.5, 3}, {0.625, 3.5}, {0.9, 7.6}, {1, 10}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_near(quantile(values, 5, cases[i].q), cases[i].expected, 1e-15, "quantile");
  expect_near(quantile(values, 1, 0.3), 1, 0, "of one value");
  expect_near(quantile(values, 2, 0.5), 1.5, 1e-15, "of two values");
}

static void test_summary(void **state) {
  (void)state;
  const double samples[] = {9, 1, 8, 2, 7, 3, 10, 4, 11, 5, 12, 6}; // neighbors are unlike
  double sorted[12];
  const struct summary summary = summarise(samples, 12, sorted);
  expect_near(summary.median, 6.5, 0, "median");
  expect_near(summary.low, 3, 0, "third smallest");
  expect_near(summary.high, 10, 0, "third largest");
  expect_near(summary.p5, 1.55, 1e-15, "5th percentile");
  expect_near(summary.p95, 11.45, 1e-15, "95th percentile");
  expect_near(summary.mean, 6.5, 1e-12, "mean");
  assert_true(samples[0] == 9);
  const struct summary few = summarise(samples, 5, sorted);
  assert_true(isinf(few.high) && isinf(few.mean_high));
  assert_false(is_settled(&few, 0.5));
}

static void test_stopping_rule(void **state) {
  (void)state;
  const struct summary narrow = {.mean = 100, .mean_low = 99.6, .mean_high = 100.4};
  const struct summary edge = {.mean = 100, .mean_low = 99.5, .mean_high = 100.5};
  const struct summary wide = {.mean = 100, .mean_low = 99.4, .mean_high = 100.5};
  assert_true(is_settled(&narrow, 0.005));
  assert_true(is_settled(&edge, 0.005));
  assert_false(is_settled(&wide, 0.005));
}

static const struct {
  double samples[9];
  bool noisy;
} drifts[] = {
    {{1, 1, 1, 1, 1, 1, 1, 1, 1}, false},
    {{1, 1, 1, 1, 1, 1, 1.006, 1.006, 1.006}, true},
    {{1.006, 1.006, 1.006, 1, 1, 1, 1, 1, 1}, true},
    {{1, 1, 1, 1.2, 1.2, 1.2, 1.004, 1.004, 1.004}, false}, // a hump that ends where it began
    {{1, 1, 9, 1, 1, 1, 1, 9, 1}, false},                   // outliers do not move the median
};

static void test_noisy(void **state) {
  (void)state;
  double sorted[9];
  for (size_t i = 0; i < sizeof drifts / sizeof drifts[0]; i++)
    assert_int_equal(is_noisy(drifts[i].samples, 9, 0.005, sorted), drifts[i].noisy);
  assert_false(is_noisy(drifts[1].samples, 2, 0.005, sorted));
}

// x 4, 8, 12 and t 10, 18, 28: b = 9/4, a = 2/3; residuals 1/3, -2/3, 1/3, so the deviation about
// the line is sqrt(2/3) and at 32, 24 from the mean, sqrt(2/3) sqrt(1/3 + 576/32).
static void test_line(void **state) {
  (void)state;
  const double x[] = {4, 8, 12}, t[] = {10, 18, 28};
  const struct fitted_line line = fit_line(x, t, 3);
  expect_near(line.b, 2.25, 1e-12, "slope");
  expect_near(line.a, 2.0 / 3, 1e-12, "intercept");
  expect_near(line.error, sqrt(2.0 / 3), 1e-12, "deviation");
  expect_near(line_at(&line, 32), 72 + 2.0 / 3, 1e-12, "extrapolated");
  expect_near(line_error_at(&line, 32), sqrt(2.0 / 3) * sqrt(1.0 / 3 + 18), 1e-12, "its error");
}

static void test_line_of_two(void **state) {
  (void)state;
  const double x[] = {4, 8}, t[] = {9, 17};
  const struct fitted_line line = fit_line(x, t, 2);
  expect_near(line_at(&line, 32), 65, 1e-12, "extrapolated");
  assert_true(isnan(line_error_at(&line, 32)));
  // 32 is six steps beyond 8: 7 times the second point less 6 times the first.
  expect_near(line_weight(&line, 32, 8), 7, 1e-12, "weight of the second");
  expect_near(line_weight(&line, 32, 4), -6, 1e-12, "weight of the first");
}

// ---- whatever the samples are

enum { MOST = 101, DRAWS = 4000 };

// Uniform in (0, 1): splitmix64, so that every run draws the same.
static double draw(uint64_t *seed) {
  uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

// Steps of 1 and upwards with a long tail, as on a machine that others use: exponential.
static void draw_steps(double *samples, size_t count, uint64_t *seed) {
  for (size_t i = 0; i < count; i++)
    samples[i] = 1 - log(draw(seed));
}

static void expect_alike(const struct summary *a, const struct summary *b, double factor) {
  expect_near(factor * a->mean, b->mean, 1e-12, "mean");
  expect_near(factor * a->mean_low, b->mean_low, 1e-9, "low");
  expect_near(factor * a->mean_high, b->mean_high, 1e-9, "high");
  expect_near(factor * a->median, b->median, 1e-12, "median");
  expect_near(a->independent, b->independent, 1e-9, "independent");
  expect_near(factor * a->p5, b->p5, 1e-12, "p5");
  expect_near(factor * a->p95, b->p95, 1e-12, "p95");
}

// They may be read backwards, their unit only multiplies, and one that is absurd, as when the
// machine was suspended, moves the median no further than to the sample beside it.
static void test_any_samples(void **state) {
  (void)state;
  uint64_t seed = 5;
  for (size_t i = 0; i < DRAWS; i++) {
    double samples[MOST], others[MOST], sorted[MOST];
    const size_t count =
        MIN_INTERVAL_SAMPLES + (size_t)(draw(&seed) * (MOST - MIN_INTERVAL_SAMPLES));
    draw_steps(samples, count, &seed);
    const struct summary summary = summarise(samples, count, sorted);
    assert_true(summary.low <= summary.median && summary.median <= summary.high);
    assert_true(summary.mean_low <= summary.mean && summary.mean <= summary.mean_high);
    assert_true(summary.independent >= 2 && summary.independent <= (double)count);
    assert_true(isinf(summary.high)
                    ? summary.independent < MIN_INTERVAL_SAMPLES
                    : sorted[0] <= summary.low && summary.high <= sorted[count - 1]);
    assert_true(summary.p5 <= summary.median && summary.median <= summary.p95);
    const double below = sorted[(count - 1) / 2 - 1], above = sorted[count / 2 + 1];
    for (size_t k = 0; k < count; k++)
      others[k] = 1e-6 * samples[count - 1 - k];
    const struct summary scaled = summarise(others, count, sorted);
    expect_alike(&summary, &scaled, 1e-6);
    samples[(size_t)(draw(&seed) * (double)count)] = i % 2 ? 1e9 : 1e-9;
    const double moved = summarise(samples, count, sorted).median;
    assert_true(moved >= below && moved <= above);
  }
}

// The interval contains the true median at least 95 times in 100, however few samples there are.
static void test_coverage(void **state) {
  (void)state;
  static const size_t counts[] = {6, 7, 10, 25, 100};
  uint64_t seed = 7;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    size_t covered = 0;
    for (size_t k = 0; k < DRAWS; k++) {
      double samples[MOST], sorted[MOST];
      draw_steps(samples, counts[i], &seed);
      const struct summary summary = summarise(samples, counts[i], sorted);
      covered += summary.low <= 1 + log(2) && 1 + log(2) <= summary.high;
    }
    assert_true((double)covered / DRAWS > 0.95 - 3 * sqrt(0.95 * 0.05 / DRAWS));
  }
}

// By Box and Muller.
static double draw_normal(uint64_t *seed) {
  return sqrt(-2 * log(draw(seed))) * cos(2 * M_PI * draw(seed));
}

// Each sample keeps the share rho of what disturbed the one before it, AR(1), as on a machine that
// others use: the shipped records have correlations up to 0.93. Intervals that take the samples to
// be independent hold 68 times in 100 at 0.7, and 37 at 0.93.
static void test_coverage_of_neighbors(void **state) {
  (void)state;
  static const struct {
    double rho;
    size_t count;
    double least;        // coverage
    double widest_times; // the mean's interval, over that of independent samples
  } cases[] = {
      {0, 10, 0.95, 3},   {0, 119, 0.94, 1.1}, {0.5, 119, 0.93, 2},
      {0.7, 60, 0.91, 4}, {0.7, 119, 0.92, 3}, {0.93, 119, 0.9, 20},
  };
  uint64_t seed = 13;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const double rho = cases[i].rho, n = (double)cases[i].count;
    size_t mean_covered = 0, median_covered = 0;
    double width = 0;
    for (size_t k = 0; k < DRAWS; k++) {
      double samples[128], sorted[128], z = draw_normal(&seed);
      for (size_t s = 0; s < cases[i].count; s++) {
        samples[s] = 100 + z;
        z = rho * z + sqrt(1 - rho * rho) * draw_normal(&seed);
      }
      const struct summary summary = summarise(samples, cases[i].count, sorted);
      mean_covered += summary.mean_low <= 100 && 100 <= summary.mean_high;
      median_covered += summary.low <= 100 && 100 <= summary.high;
      width += (summary.mean_high - summary.mean_low) / 2 / DRAWS;
    }
    assert_true((double)mean_covered / DRAWS > cases[i].least);
    assert_true((double)median_covered / DRAWS > cases[i].least);
    assert_true(width < cases[i].widest_times * 1.96 / sqrt(n));
  }
}

// What is extrapolated from three depths is within the interval that its one degree of freedom
// allows as often as the interval says.
static void test_line_coverage(void **state) {
  (void)state;
  static const double x[] = {4, 8, 12};
  uint64_t seed = 11;
  size_t covered = 0, naive = 0;
  for (size_t k = 0; k < DRAWS; k++) {
    double t[3];
    for (size_t i = 0; i < 3; i++)
      t[i] = 2 + 3 * x[i] + draw_normal(&seed);
    const struct fitted_line line = fit_line(x, t, 3);
    const double off = fabs(line_at(&line, 32) - 98) / line_error_at(&line, 32);
    covered += off <= student_quantile(0.975, 1);
    naive += off <= 1.96;
  }
  assert_true(fabs((double)covered / DRAWS - 0.95) < 3 * sqrt(0.95 * 0.05 / DRAWS));
  assert_true((double)naive / DRAWS < 0.73);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rank),          cmocka_unit_test(test_quantile),
      cmocka_unit_test(test_summary),       cmocka_unit_test(test_stopping_rule),
      cmocka_unit_test(test_noisy),         cmocka_unit_test(test_line),
      cmocka_unit_test(test_line_of_two),   cmocka_unit_test(test_any_samples),
      cmocka_unit_test(test_coverage),      cmocka_unit_test(test_coverage_of_neighbors),
      cmocka_unit_test(test_line_coverage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
