// Distributions: their text, their quantiles compared with independent ones, their moments.
#include "model/chance/distribution_text.h"
#include "model/cost/model_read.h"
#include "tests/support/drawn.h"
#include "tests/support/fixture.h"

#include "base/vector.h"
#include "model/chance/distribution.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct model *builtin(struct fixture *fixture) {
  return model_read(source_from_text("model", model_default_text, &fixture->arena), &fixture->arena,
                    &fixture->diagnostics);
}

// The text begins in line 1, column 1.
static int parse(struct fixture *fixture, const char *input, const char *text,
                 struct distribution *out) {
  const struct model *model = builtin(fixture);
  int d = model_find(model, input);
  assert_true(d >= 0);
  const struct source *source = source_from_text("text", text, &fixture->arena);
  return distribution_parse(text, (struct place){source, 1, 1}, &model->declarations[d], out,
                            &fixture->arena, &fixture->diagnostics);
}

static const struct {
  const char *input, *text, *error;
} refused[] = {
    {"pue", "", "1:1: expected a distribution such as triangular(LOW, MODE, HIGH)"},
    {"pue", "1.2", "1:1: expected a distribution"},
    {"pue", "triangle(1, 2, 3)", "1:1: unknown distribution 'triangle'; did you mean 'triangular'"},
    {"pue", "Uniform(1, 2)", "1:1: unknown distribution 'Uniform'; did you mean 'uniform'"},
    {"pue", "uniform", "1:8: expected uniform(LOW, HIGH)"},
    {"pue", "uniform(1.1)", "1:1: too few parameters: expected uniform(LOW, HIGH)"},
    {"pue", "uniform(1.1, 1.2, 1.3)", "1:18: too many parameters"},
    {"pue", "uniform(1.1, 1.2", "1:17: expected ',' or ')'"},
    {"pue", "uniform(1.1, x)", "1:14: expected a number"},
    {"pue", "uniform(1.1, inf)", "1:14: expected a number"},
    {"pue", "uniform(1.3, 1.2)", "1:14: the highest value (1.2) must be above the lowest (1.3)"},
    {"pue", "uniform(1.2, 1.2)", "1:14: the highest value"},
    {"pue", "uniform(0.9, 1.2)", "1:9: 'pue' must be at least 1, not 0.9"},
    {"pue", "triangular(1.1, 1.4, 1.3)", "1:17: the most likely value (1.4) must lie within"},
    {"pue", "pert(1.1, 1.05, 1.3)", "1:11: the most likely value (1.05) must lie within"},
    {"pue", "normal(1.2, -0.1)", "1:13: a standard deviation must be above zero, not -0.1"},
    {"pue", "normal(1.2, 0)", "1:13: a standard deviation must be above zero"},
    {"pue", "normal(1.2, 0.1, 1.1)", "1:1: too few parameters: expected normal(MEAN, DEVIATION)"},
    {"pue", "normal(1.2, 0.1, 1.3, 1.5)", "1:8: the mean (1.2) must lie within 1.3 and 1.5"},
    {"pue", "normal(0.8, 0.1)", "1:8: 'pue' must be at least 1"},
    {"pue", "lognormal(0, 1.1)", "1:11: a lognormal's median must be above zero"},
    {"pue", "lognormal(1.2, 0.5)", "1:16: a lognormal's factor must be above 1"},
    {"pue", "discrete(1.1: 0.5, 1.2: 0)", "1:25: a weight must be above zero, not 0"},
    {"pue", "discrete(1.1: -1)", "1:15: a weight must be above zero, not -1"},
    {"pue", "discrete(1.1, 1.2)", "1:13: expected ':' and the weight of the value"},
    {"pue", "discrete(0.5: 1)", "1:10: 'pue' must be at least 1"},
    {"discount", "uniform(5, 120) %", "1:12: 'discount' must be at most 100 %, not 120 %"},
    {"discount", "uniform(5, 20)", "1:15: expected a unit after the bracket, such as %"},
    {"discount", "uniform(5, 20) USD", "1:16: wrong unit 'USD': expected"},
    {"discount", "uniform(5, 20) gpu", "1:16: wrong unit 'gpu': expected"},
    {"electricity_price", "uniform(5, 20) USD/kW", "1:16: wrong unit 'USD/kW'"},
    {"electricity_price", "uniform(0.1, 0.2) USD/kwh",
     "1:23: unknown unit 'kwh'; did you mean 'kWh'"},
    {"load_power", "uniform(0, 200) W", "1:9: 'load_power' must be above 0 W/gpu"},
    {"colo_power", "uniform(0, 1)", "1:1: 'colo_power' is a choice: expected discrete(metered: 1"},
    {"colo_power", "discrete(maybe: 1)", "1:10: expected metered or included, not 'maybe'"},
    {"colo_power", "discrete(metered: 1) -", "1:22: expected nothing after the bracket"},
    {"accelerators", "discrete(8.5: 1)", "1:10: 'accelerators' must be a whole number"},
    // Ranges that overflow, or that are a single number to sixteen digits.
    {"list_price", "uniform(0, 1e300) USD", "1:12: a range's values must be zero or from 1e-30 to"},
    {"list_price", "uniform(0, 1e-300) USD", "1:12: a range's values must be zero or from 1e-30"},
    {"list_price", "triangular(1, 2, 1e300) USD", "1:18: a range's values must be zero or from"},
    {"list_price", "pert(1, 2, 1.7e308) USD", "1:12: a range's values must be zero or from 1e-30"},
    {"list_price", "pert(2e4, 2e4, 2.00000000001e4) USD", "1:16: a range must be wider than a"},
    {"list_price", "normal(1e300, 1e300) USD", "1:8: a range's values must be zero or from 1e-30"},
    {"list_price", "normal(2e4, 1e-9) USD", "1:13: a range must be wider than a billionth"},
    {"list_price", "lognormal(1e300, 2) USD", "1:11: a range's values must be zero or from 1e-30"},
    {"list_price", "lognormal(2e4, 1e10) USD", "1:16: a lognormal's factor must be at most 1e+06"},
    {"list_price", "lognormal(2e4, 1.0000000000001) USD", "1:16: a range must be wider than a"},
    {"list_price", "discrete(1: 1, 1e300: 1) USD", "1:16: a range's values must be zero or from"},
    {"list_price", "discrete(1: 1e308, 2: 1e308) USD", "1:13: a weight must be from 1e-9 to 1e9"},
    {"list_price", "discrete(1: 1, 2: 1e-300) USD", "1:19: a weight must be from 1e-9 to 1e9"},
    {"demand", "uniform(1, 1e30) Mtok/yr", "1:12: a range's values must be zero or from 1e-30"},
    {"pue", "from measurement of it", "1:1: unknown distribution"},
    {"pue", "from measurement (2)", "1:17: expected nothing after 'from measurement'"},
};

static void test_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    struct fixture fixture;
    struct distribution distribution;
    fixture_start(&fixture);
    assert_int_equal(parse(&fixture, refused[i].input, refused[i].text, &distribution), -1);
    expect_error(&fixture, refused[i].text, refused[i].error);
    assert_int_equal(fixture.diagnostics.errors, 1);
    fixture_end(&fixture);
  }
}

// Closed forms by hand, in base units; the inputs' units are base units or %.
static const struct {
  const char *input, *text;
  double mean, variance;
} moments[] = {
    {"pue", "uniform(1, 4)", 2.5, 0.75},
    {"pue", "triangular(1, 2, 6)", 3, (1. * 1 + 1 * 4 + 4 * 4) / 18},
    {"discount", "triangular(0, 0, 6) %", 0.02, 36e-4 / 18},
    {"pue", "pert(1, 2, 6)", 2.5, (2.5 - 1) * (6 - 2.5) / 7},
    {"discount", "pert(10, 10, 40) %", 0.15, 0.05 * 0.25 / 7},
    {"pue", "discrete(1: 1, 2: 2, 5: 1)", 2.5, 2.25},
    {"wacc", "normal(5, 1) %/yr", 0.05 / 8760, 1e-4 / 8760 / 8760},
    // Truncated on one side at the mean: half-normal.
    {"discount", "normal(0, 10) %", 0.0797884560802865, 0.01 * (1 - 2 / 3.14159265358979324)},
    {"node_price", "lognormal(1000, 1.2)", 1016.7594838557545, 34948.9},
    {"colo_power", "discrete(metered: 3, included: 1)", 0.75, 0.1875},
};

static void test_moments(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++) {
    struct fixture fixture;
    struct distribution d;
    fixture_start(&fixture);
    bool dollars = !strcmp(moments[i].input, "node_price");
    const char *text =
        dollars ? arena_printf(&fixture.arena, "%s USD", moments[i].text) : moments[i].text;
    assert_int_equal(parse(&fixture, moments[i].input, text, &d), 0);
    assert_int_equal(distribution_prepare(&d, nowhere, &fixture.arena, &fixture.diagnostics), 0);
    double s = log(1.2);
    double variance = dollars ? 1e6 * (exp(2 * s * s) - exp(s * s)) : moments[i].variance;
    expect_near(distribution_mean(&d), dollars ? 1000 * exp(s * s / 2) : moments[i].mean, 1e-9,
                text);
    const struct drawn drawn = drawn_from(&d);
    expect_near(drawn.mean, distribution_mean(&d), 1e-5, text);
    expect_near(drawn.variance, variance, 1e-4, text);
    fixture_end(&fixture);
  }
}

// Shares from one end to the other, dense near both.
static void fill_shares(double *u) {
  for (int k = 0; k < VECTOR_BLOCK / 2; k++) {
    u[k] = pow(2, -0.5 - k * 0.31);
    u[VECTOR_BLOCK - 1 - k] = 1 - u[k] > 0.5 ? 1 - u[k] : 1 - pow(2, -1.1 - k * 0.4);
  }
  for (int k = 0; k < VECTOR_BLOCK; k++)
    u[k] = fmin(fmax(u[k], 1e-300), 1 - 0x1p-53);
}

static void test_normal(void **state) {
  (void)state;
  double u[VECTOR_BLOCK], z[VECTOR_BLOCK], back[VECTOR_BLOCK];
  fill_shares(u);
  normal_quantiles(u, z);
  for (int k = 0; k < VECTOR_BLOCK; k++)
    if (!(fabs(z[k] - gsl_cdf_ugaussian_Pinv(u[k])) <= 1e-14 * fmax(1, fabs(z[k]))))
      fail_msg("u = %g: expected %.17g, got %.17g", u[k], gsl_cdf_ugaussian_Pinv(u[k]), z[k]);
  normal_shares(z, back);
  for (int k = 0; k < VECTOR_BLOCK; k++)
    if (!(fabs(back[k] - gsl_cdf_ugaussian_P(z[k])) <= 1e-14))
      fail_msg("z = %g: expected %.17g, got %.17g", z[k], gsl_cdf_ugaussian_P(z[k]), back[k]);
}

static void test_pert(void **state) {
  (void)state;
  static const double modes[] = {0, 1, 10, 50, 77.7, 100};
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    struct fixture fixture;
    struct distribution d;
    double u[VECTOR_BLOCK], x[VECTOR_BLOCK];
    fixture_start(&fixture);
    const char *text = arena_printf(&fixture.arena, "pert(0, %g, 100) %%", modes[i]);
    assert_int_equal(parse(&fixture, "discount", text, &d), 0);
    distribution_prepare(&d, nowhere, &fixture.arena, &fixture.diagnostics);
    double a = 1 + 4 * modes[i] / 100, b = 6 - a, worst = 0;
    for (int round = 0; round < 32; round++) {
      if (round == 0)
        fill_shares(u);
      for (int k = 0; k < VECTOR_BLOCK && round; k++)
        u[k] = (k * 31 + round - 0.6) / (VECTOR_BLOCK * 31.);
      distribution_quantiles(&d, u, x);
      // Without GSL's inverse: the share of the resulting quantile must equal the given share.
      for (int k = 0; k < VECTOR_BLOCK; k++) {
        double low = gsl_cdf_beta_P(fmax(x[k] - 1e-6, 0), a, b);
        double high = gsl_cdf_beta_P(fmin(x[k] + 1e-6, 1), a, b);
        if (!(low <= u[k] && u[k] <= high))
          fail_msg("%s at %.17g: %.17g is over 1e-6 off", text, u[k], x[k]);
        worst = fmax(worst, fabs(gsl_cdf_beta_P(x[k], a, b) - u[k]));
      }
    }
    if (worst > 2e-6)
      fail_msg("%s: share off by %g", text, worst);
    fixture_end(&fixture);
  }
}

static void test_quantiles(void **state) {
  (void)state;
  static const struct {
    const char *input, *text;
    double u, x;
  } cases[] = {
      {"pue", "uniform(1, 3)", 0.25, 1.5},
      {"pue", "triangular(1, 2, 5)", 0.25, 2},
      {"pue", "triangular(1, 2, 5)", 0.0625, 1.5},
      {"pue", "triangular(1, 2, 5)", 1 - 1. / 12, 4},
      {"pue", "triangular(1, 1, 3)", 0.75, 2},
      {"pue", "triangular(1, 3, 3)", 0.25, 2},
      {"pue", "pert(1, 2, 3)", 0.5, 2},
      {"pue", "normal(2, 0.1)", 0.5, 2},
      {"pue", "normal(2, 0.1)", 0.841344746068543, 2.1},
      // Truncated at the input's own limit, 1, which is the mean: the upper half remains.
      {"pue", "normal(1, 0.1)", 0.5, 1 + 0.1 * 0.674489750196082},
      {"pue", "normal(2, 0.5, 1.5, 2.5)", 0.5, 2},
      {"engineers", "lognormal(2, 1.5)", 0.5, 2},
      {"engineers", "lognormal(100, 1.5)", 0.841344746068543, 150},
      {"pue", "discrete(3: 1, 1: 1, 2: 2)", 0.2, 1},
      {"pue", "discrete(3: 1, 1: 1, 2: 2)", 0.3, 2},
      {"pue", "discrete(3: 1, 1: 1, 2: 2)", 0.8, 3},
      {"accelerators", "uniform(1, 10)", 0.5, 6},
      {"accelerators", "uniform(1.2, 9.9)", 0.999, 9},
      {"accelerators", "normal(2, 4)", 0.001, 1},
      {"engineers", "uniform(1, 2) FTE", 0.5, 1.5},
      {"electricity_price", "uniform(60, 80) USD/MWh", 0.5, 7e-5},
      {"electricity_escalation", "uniform(-4, 2) %/yr", 0.5, -0.01 / 8760},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture fixture;
    struct distribution d;
    double u[VECTOR_BLOCK], x[VECTOR_BLOCK];
    fixture_start(&fixture);
    assert_int_equal(parse(&fixture, cases[i].input, cases[i].text, &d), 0);
    distribution_prepare(&d, nowhere, &fixture.arena, &fixture.diagnostics);
    for (int k = 0; k < VECTOR_BLOCK; k++)
      u[k] = cases[i].u;
    distribution_quantiles(&d, u, x);
    expect_near(x[VECTOR_BLOCK - 1], cases[i].x, 1e-9, cases[i].text);
    fixture_end(&fixture);
  }
}

// The step's cells are a tenth of a standard deviation wide: no quantile is off by more than half.
static void expect_quantile(const struct distribution *d, double share, double wanted) {
  double u[VECTOR_BLOCK], x[VECTOR_BLOCK];
  for (int k = 0; k < VECTOR_BLOCK; k++)
    u[k] = share;
  distribution_quantiles(d, u, x);
  if (!(fabs(x[0] - wanted) <= 0.06 * d->mean * 0.1 / 1.96))
    fail_msg("share %g: %g, not %g", share, x[0], wanted);
}

// Of devices that are alike, 95 % of the draws are within the interval of the record's mean step,
// here +- 10 %, and half are below the figure.
static void test_measured(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  struct distribution d = {.kind = DISTRIBUTION_MEASURED};
  distribution_measure(&d, 20, 0.1, 0, &fixture.arena);
  expect_quantile(&d, 0.025, 20 / 1.1);
  expect_quantile(&d, 0.5, 20);
  expect_quantile(&d, 0.975, 20 / 0.9);
  const double step = pow(0.1 / 1.959964, 2), variance = 400 * step * (1 + 8 * step);
  const struct drawn drawn = drawn_from(&d);
  expect_near(drawn.mean, 20 * (1 + step + 3 * step * step), 1e-4, "mean of the rates");
  expect_near(drawn.variance, variance, 0.005, "variance of the rates");
  distribution_measure(&d, 20, 0.1, 0.02, &fixture.arena);
  expect_near(drawn_from(&d).variance, variance + (variance + 400) * 0.02 * 0.02 / 3, 0.005,
              "variance with spread");
  // An interval nearly down to a step of 0 leaves every rate finite.
  distribution_measure(&d, 20, 0.99, 0.02, &fixture.arena);
  assert_true(d.low > 0 && d.high < 20 * 12);
  fixture_end(&fixture);
}

// With the spread between devices the distribution is continuous; quantiles then invert the shares.
static void test_measured_quantiles(void **state) {
  (void)state;
  struct fixture fixture;
  double u[VECTOR_BLOCK], x[VECTOR_BLOCK], drawn = 0;
  fixture_start(&fixture);
  struct distribution d = {.kind = DISTRIBUTION_MEASURED};
  distribution_measure(&d, 20, 0.1, 0.02, &fixture.arena);
  for (int k = 0; k < VECTOR_BLOCK; k++)
    u[k] = (k + 0.5) / VECTOR_BLOCK;
  distribution_quantiles(&d, u, x);
  for (int k = 0; k < VECTOR_BLOCK; k++) {
    assert_true(k == 0 || x[k] > x[k - 1]);
    assert_true(x[k] >= d.low && x[k] <= d.high);
    drawn += x[k] / VECTOR_BLOCK;
  }
  expect_near(drawn, distribution_mean(&d), 1e-4, "mean of what is drawn");
  // Watts have no interval: only the spread.
  distribution_measure(&d, 300, 0, DISTRIBUTION_SPREAD_POWER, &fixture.arena);
  distribution_quantiles(&d, u, x);
  expect_near(x[0], 285 + 30 * 0.5 / VECTOR_BLOCK, 1e-12, "lowest power");
  fixture_end(&fixture);
}

// The elementary functions of vector.h, compared with the C library's.
static void test_elementary(void **state) {
  (void)state;
  for (double x = 1e-300; x < 1e300; x *= 1.37) {
    double error = fabs(vector_log(x) - log(x));
    assert_true(error <= 4e-16 * fmax(1, fabs(log(x))));
  }
  for (double x = 0.5; x < 2; x += 0.001)
    assert_true(fabs(vector_log(x) - log(x)) <= 3e-16);
  for (double x = -700; x < 700; x += 0.37)
    assert_true(fabs(vector_exp(x) / exp(x) - 1) <= 1e-15);
  assert_true(vector_exp(-1000) >= 0 && vector_exp(-1000) < 1e-300);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_moments),
      cmocka_unit_test(test_normal),
      cmocka_unit_test(test_pert),
      cmocka_unit_test(test_quantiles),
      cmocka_unit_test(test_measured),
      cmocka_unit_test(test_measured_quantiles),
      cmocka_unit_test(test_elementary),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
