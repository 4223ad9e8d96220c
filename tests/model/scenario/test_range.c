// [range] and [correlate]: what is read, what is refused and where, and that nothing else changes.
// Run in the repository's root.
#include "model/scenario/reading/range.h"
#include "tests/support/drawn.h"
#include "tests/support/scenario_fixture.h"

#include "base/statistics.h"
#include "base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// 17 lines, so that what a test appends begins in line 18.
static const char base[] = SCENARIO_OF_TWO "pue = 1.4\n";

static const struct {
  const char *more, *error;
} refused[] = {
    {"[range]\npeu = uniform(1, 2)\n", "19:1: unknown key 'peu' in [range]; did you mean 'pue'?"},
    {"[range]\ncapex = uniform(1, 2) USD\n", "19:1: 'capex' is computed, not given"},
    {"[range]\nc.pue = uniform(1, 2)\n", "19:1: there is no option 'c'"},
    {"[range]\nb.accelerator = uniform(1, 2)\n",
     "19:1: only inputs have ranges: 'accelerator' is not an input"},
    {"[range]\npue = uniform(2, 1)\n", "19:18: the highest value (1) must be above the lowest (2)"},
    {"[range]\npue = unifrom(1, 2)\n",
     "19:7: unknown distribution 'unifrom'; did you mean 'uniform'"},
    {"[range]\ndiscount = pert(14, 18, 22)\n",
     "19:28: expected a unit after the bracket, such as %"},
    {"[range]\npue = 1.3\n", "19:7: expected a distribution such as triangular"},
    {"[range]\npue = uniform(1, 2)\npue = uniform(1, 3)\n", "20:1: key 'pue' was already given"},
    {"[range]\nlist_price = uniform(1, 2) USD\n",
     "19:1: no option uses a common 'list_price': name the option, a.list_price or b.list_pr"},
    {"[range]\nidle_power = uniform(100, 200) W\n",
     "19:1: a range on 'idle_power', which option 'a' otherwise computes: give it a value"},
    {"[range]\na.idle_power = uniform(100, 200) W\n",
     "19:1: a range on 'idle_power', which option 'a' otherwise computes"},
    {"[range]\na.demand = uniform(1, 2) Mtok/yr\n", "19:1: option 'a' has no 'demand'"},
    {"[range]\ndemand = uniform(1, 2) Mtok/yr\n", "19:1: no option uses a common 'demand'"},
    {"[range]\na.decode_throughput = uniform(1, 2) token/s\n",
     "19:1: option 'a' has no 'decode_throughput'"},
    {"[range]\npue = from measurement\n", "19:1: only OPTION.decode_throughput"},
    {"[range]\na.load_power = from measurement\n",
     "19:1: 'load_power' of option 'a' does not come from a probe record"},
    {"[range]\na.engineers = uniform(0, 2) FTE\n",
     "19:1: option 'a' may have 'engineers' and so needs 'engineer_cost'"},
    {"[range x]\n", "18:1: [range] takes no name"},
    {"[ranges]\n", "18:1: unknown section [ranges]; did you mean [range]?"},
    {"[option range]\naccelerator = h200-sxm-141\n", "'range' is a reserved word"},
    {"[option c]\naccelerator = h200-sxm-141\nthroughput = 1 token/s\nrental_rate = 2 USD/h\n"
     "[range]\nc.list_price = uniform(1, 2) USD\n",
     "23:1: 'list_price' is part of the rent of option 'c'"},
    {"[correlate]\na, pue = 0.3\n", "19:1: 'a' has no range to correlate"},
};

#define RANGES                                                                                     \
  "[range]\npue = uniform(1, 2)\nutilization = uniform(1, 9) %\na.discount = uniform(1, 9) %\n"

// These begin in line 22.
static const struct {
  const char *more, *error;
} uncorrelated[] = {
    {"[correlate]\npue = 0.3\n", "23:1: expected two ranged inputs and their rank correlation"},
    {"[correlate]\npue, utilization, a.discount = 0.3\n", "23:1: expected two ranged inputs"},
    {"[correlate]\npue, utilisation = 0.3\n",
     "23:6: 'utilisation' has no range to correlate; did you mean 'utilization'?"},
    {"[correlate]\npue, discount = 0.3\n", "23:6: 'discount' has no range to correlate"},
    {"[correlate]\npue, utilization = 1.2\n", "23:20: expected a rank correlation within -1 and 1"},
    {"[correlate]\npue, utilization = -1.01\n", "expected a rank correlation within -1 and 1"},
    {"[correlate]\npue, utilization = 30 %\n", "expected a rank correlation within -1 and 1"},
    {"[correlate]\npue, utilization = much\n", "expected a rank correlation within -1 and 1"},
    {"[correlate]\npue, pue = 1\n", "23:6: an input cannot be correlated with itself"},
    {"[correlate]\npue, utilization = 0.3\nutilization, pue = 0.4\n",
     "24:1: 'pue' and 'utilization' are correlated twice: 0.4 here and 0.3 in line 23"},
    {"[correlate]\npue, utilization = 0.5\nutilization, a.discount = 0.5\npue, a.discount = -0.9\n",
     "25:1: 'pue' and 'a.discount' cannot have the correlation -0.9 with the ones above"},
    {"[correlate]\npue, a.discount = 0.9\nutilization, a.discount = 0.9\n",
     "24:1: 'utilization' and 'a.discount' cannot have the correlation 0.9"},
    {"[correlate]\npue, a.discount = 1\nutilization, a.discount = 1\npue, utilization = 0.5\n",
     "24:1: 'utilization' and 'a.discount' cannot have the correlation 1 "},
    {"[correlate x]\n", "22:1: [correlate] takes no name"},
};

// Correlations that are only consistent as a whole are accepted, in any order; so is full
// correlation.
static const char *const accepted[] = {
    "[correlate]\npue, utilization = 0.9\nutilization, a.discount = 0.9\npue, a.discount = 0.9\n",
    "[correlate]\npue, utilization = 1\nutilization, a.discount = 1\npue, a.discount = 1\n",
    "[correlate]\npue, utilization = 1\nutilization, a.discount = -1\npue, a.discount = -1\n",
    "[correlate]\npue, utilization = 0.3\nutilization, pue = 0.3\n",
    "[correlate]\n",
};

static void test_accepted(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(text, sizeof text, "%s%s%s", base, RANGES, accepted[i]);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    expect_error(&fixture.fixture, accepted[i], "");
    scenario_fixture_end(&fixture);
  }
}

static void expect_refused(const char *more, const char *ranges, const char *error) {
  struct scenario_fixture fixture;
  char text[2048];
  snprintf(text, sizeof text, "%s%s%s", base, ranges, more);
  scenario_fixture_start(&fixture, text, NULL, NULL);
  assert_null(fixture.scenario);
  expect_error(&fixture.fixture, more, error);
  scenario_fixture_end(&fixture);
}

static void test_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
    expect_refused(refused[i].more, "", refused[i].error);
  for (size_t i = 0; i < sizeof uncorrelated / sizeof uncorrelated[0]; i++)
    expect_refused(uncorrelated[i].more, RANGES, uncorrelated[i].error);
}

static void test_all_errors_in_one_run(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  char text[2048];
  snprintf(text, sizeof text,
           "%s[range]\npue = uniform(2, 1)\nx.pue = uniform(1, 2)\nwacc = normal(8, 2)\n"
           "[correlate]\npue, wacc = 3\n[case c]\nwacc = five\n",
           base);
  scenario_fixture_start(&fixture, text, NULL, NULL);
  assert_null(fixture.scenario);
  if (fixture.fixture.diagnostics.errors != 5)
    fail_msg("expected 5 errors, got:\n%s", fixture_errors(&fixture.fixture));
  scenario_fixture_end(&fixture);
}

static int range_of(const struct scenario_fixture *fixture, size_t option, const char *input) {
  const struct scenario *scenario = fixture->scenario;
  return option_range(scenario, &scenario->options[option], model_find(scenario->model, input));
}

// Which range an option's input has: its own before the common one, which only goes with a common
// value; none if the case gives the value.
static void test_which_range(void **state) {
  (void)state;
  static const char ranges[] =
      "[range]\npue = uniform(1, 2)\ndiscount = uniform(1, 9) %\nb.discount = uniform(2, 8) %\n"
      "electricity_price = uniform(1, 2) USD/kWh\nwacc = uniform(1, 2) %/yr\n"
      "a.list_price = uniform(1, 2) USD\n"
      "[case c]\nelectricity_price = 0.2 USD/kWh\ndiscount = 4 %\n"
      "[case d]\nb.discount = 5 %\na.electricity_price = 3 USD/kWh\n"
      "[correlate]\nwacc, pue = -0.5\n";
  static const struct {
    const char *which, *input;
    int a, b;
  } cases[] = {
      {NULL, "pue", 0, -1},
      {NULL, "discount", 1, 2},
      {NULL, "electricity_price", 3, 3},
      {NULL, "wacc", 4, 4},
      {NULL, "list_price", 5, -1},
      {NULL, "support", -1, -1},
      {"c", "electricity_price", -1, -1},
      {"c", "discount", -1, -1},
      {"d", "discount", 1, -1},
      {"d", "electricity_price", -1, 3},
  };
  char text[2048];
  snprintf(text, sizeof text, "%s%s", base, ranges);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    scenario_fixture_start(&fixture, text, NULL, cases[i].which);
    expect_error(&fixture.fixture, "ranges", "");
    assert_int_equal(range_of(&fixture, 0, cases[i].input), cases[i].a);
    assert_int_equal(range_of(&fixture, 1, cases[i].input), cases[i].b);
    assert_int_equal(fixture.scenario->correlation_count, 1);
    assert_int_equal(fixture.scenario->correlations[0].a, 0);
    assert_int_equal(fixture.scenario->correlations[0].b, 4);
    scenario_fixture_end(&fixture);
  }
}

// What a case or --set gives is certain, also for one option, and beside a range in %. A --set for
// the only option with the common value leaves the common range as it is.
static void test_certain(void **state) {
  (void)state;
  static const char ranges[] =
      "[range]\npue = uniform(1, 2)\nelectricity_price = uniform(90, 110) %\n"
      "b.list_price = uniform(90, 110) %\n"
      "[case c]\nb.electricity_price = 0.2 USD/kWh\nb.list_price = 9000 USD\n";
  static const struct {
    const char *which, *setting, *input;
    int a, b;
  } cases[] = {
      {NULL, NULL, "pue", 0, -1},
      {NULL, "a.pue=1.3", "pue", -1, -1},
      {NULL, NULL, "electricity_price_scale", 1, 1},
      {NULL, "electricity_price=0.2 USD/kWh", "electricity_price_scale", -1, -1},
      {NULL, "b.electricity_price=0.2 USD/kWh", "electricity_price_scale", 1, -1},
      {"c", NULL, "electricity_price_scale", 1, -1},
      {NULL, NULL, "list_price_scale", -1, 2},
      {NULL, "b.list_price=9000 USD", "list_price_scale", -1, -1},
      {"c", NULL, "list_price_scale", -1, -1},
  };
  char text[2048];
  snprintf(text, sizeof text, "%s%s", base, ranges);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    scenario_fixture_request(&fixture, text,
                             (struct scenario_request){.case_name = cases[i].which,
                                                       .settings = &cases[i].setting,
                                                       .setting_count = cases[i].setting != NULL});
    expect_error(&fixture.fixture, cases[i].setting ? cases[i].setting : "stated", "");
    assert_int_equal(range_of(&fixture, 0, cases[i].input), cases[i].a);
    assert_int_equal(range_of(&fixture, 1, cases[i].input), cases[i].b);
    scenario_fixture_end(&fixture);
  }
}

// Ranges change no value: all items of the example with ranges equal those of the one without.
static void test_values_stay(void **state) {
  (void)state;
  struct scenario_fixture with, without;
  scenario_fixture_open(&with, "examples/uncertainty.ini");
  scenario_fixture_open(&without, "examples/mi325x-vs-h200.ini");
  assert_int_equal(with.scenario->range_count, 12);
  assert_int_equal(with.scenario->correlation_count, 2);
  assert_int_equal(without.scenario->range_count, 0);
  const struct model *model = with.scenario->model;
  for (size_t o = 0; o < 2; o++)
    for (int d = 0; d < model->count; d++) {
      const struct option *a = &with.scenario->options[o], *b = &without.scenario->options[o];
      int periods = model->declarations[d].kind == DECLARATION_SERIES ? with.scenario->periods : 1;
      for (int t = 0; t < periods && option_has(a, d); t++)
        assert_true(option_value(with.scenario, a, d, t) ==
                    option_value(without.scenario, b, d, t));
    }
  // And its range allows every value.
  for (size_t o = 0; o < 2; o++)
    for (int d = 0; d < model->count; d++) {
      const struct option *option = &with.scenario->options[o];
      int range = option_range(with.scenario, option, d);
      if (range < 0)
        continue;
      double value = option_value(with.scenario, option, d, 0);
      const struct distribution *distribution = &with.scenario->ranges[range].distribution;
      if (!(value >= distribution->low * (1 - 1e-12) && value <= distribution->high * (1 + 1e-12)))
        fail_msg("%s is outside its range", model->declarations[d].name);
    }
  scenario_fixture_end(&with);
  scenario_fixture_end(&without);
}

// Of a device like all others, 95 % of the draws are within the record's interval, whose
// samples follow each other. The draw's steps are of a tenth of a standard deviation.
static void expect_recorded_interval(const struct distribution *d,
                                     const struct measurement *record) {
  const size_t count = record->sample_count;
  double *sorted = calloc(count, sizeof *sorted), u[VECTOR_BLOCK], x[VECTOR_BLOCK];
  assert_non_null(sorted);
  assert_true(summarise(record->samples, count, sorted).independent < 0.8 * (double)count);
  free(sorted);
  struct distribution alike = *d;
  alike.spread = 0;
  const double low = d->mean * record->ci95_low / record->tokens_per_s;
  const double high = d->mean * record->ci95_high / record->tokens_per_s;
  const double step = 0.06 * (high - low) / (2 * 1.96);
  for (int k = 0; k < VECTOR_BLOCK; k++)
    u[k] = k % 2 ? 0.975 : 0.025;
  distribution_quantiles(&alike, u, x);
  expect_near(x[0], low, step / low, "2.5 % below");
  expect_near(x[1], high, step / high, "2.5 % above");
}

static void test_from_measurement(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  scenario_fixture_request(
      &fixture,
      "[scenario]\ntitle = T\ndate = 2026-11-21\n"
      "[workload]\nmodel = tinyllama-1.1b\nprecision = bf16\nbatch = 1\ncontext = 512\n"
      "[common]\nutilization = 50 %\npue = 1.2\nelectricity_price = 0.1 USD/kWh\n"
      "accelerators = 1\n"
      "[option here]\naccelerator = cpu\nlist_price = 5000 USD\nload_power = 200 W\n"
      "accelerators_per_node = 1\n"
      "[range]\nhere.decode_throughput = from measurement\n",
      (struct scenario_request){.measurements_directory = "data/measured"});
  expect_error(&fixture.fixture, "from measurement", "");
  const struct scenario *scenario = fixture.scenario;
  const struct distribution *d = &scenario->ranges[0].distribution;
  double figure = option_value(scenario, &scenario->options[0],
                               model_find(scenario->model, "decode_throughput"), 0);
  expect_near(distribution_mean(d), figure, 0.02, "mean");
  assert_true(d->low < figure * 0.98 && d->high > figure * 1.02);
  assert_true(drawn_from(d).variance > pow(0.02 * figure, 2) / 3);
  expect_recorded_interval(d, scenario->options[0].record);
  scenario_fixture_end(&fixture);
}

// With 28 devices that differ, the made-up ones of examples/fleet, the figure is their mean. Its
// standard deviation for 8 accelerators is s * sqrt(1/28 + 1/8), times 1.7033 / 1.6449 to have the
// 95th percentile of Student's t with 27 degrees of freedom; for idle watts nothing is known.
static void test_measured_devices(void **state) {
  (void)state;
  static const struct {
    const char *input;
    double between_devices;
  } ranges[] = {{"decode_throughput", 0.0221036}, {"load_power", 0.00800098}, {"idle_power", 0}};
  struct scenario_fixture fixture;
  scenario_fixture_request(
      &fixture,
      "[scenario]\ntitle = T\ndate = 2026-11-21\n"
      "[workload]\nmodel = llama-2-70b\nprecision = fp8\nbatch = 64\ncontext = 4096\n"
      "basis = decode\n"
      "[common]\nutilization = 50 %\npue = 1.2\nelectricity_price = 0.1 USD/kWh\n"
      "accelerators = 8\n"
      "[option here]\naccelerator = h200-sxm-141\nlist_price = 5000 USD\n"
      "[range]\nhere.decode_throughput = from measurement\nhere.load_power = from measurement\n"
      "here.idle_power = from measurement\n",
      (struct scenario_request){.measurements_directory = "examples/fleet/records"});
  expect_error(&fixture.fixture, "28 devices", "");
  const struct option *option = &fixture.scenario->options[0];
  const int decode = model_find(fixture.scenario->model, "decode_throughput");
  expect_near(option_value(fixture.scenario, option, decode, 0), rate_per_hour(1147.2608825927239),
              1e-9, "their mean");
  expect_fragment(option_figure(fixture.scenario, option, 0, decode)->source,
                  "the mean of 28 devices of 7 nodes from 1046.2 to 1179.5 token/s");
  for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
    const struct distribution *d = &fixture.scenario->ranges[r].distribution;
    if (ranges[r].between_devices > 0)
      expect_near(d->deviation / d->mean,
                  ranges[r].between_devices * sqrt(1 / 28.0 + 1 / 8.0) * 1.703288 / 1.644854, 1e-5,
                  ranges[r].input);
    else
      expect_near(d->spread, DISTRIBUTION_SPREAD_POWER, 1e-12, ranges[r].input);
  }
  scenario_fixture_end(&fixture);
}

// A child changes one range of its parent, adds another and contradicts a correlation.
static void test_inheritance(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  char text[1024], root[512];
  assert_non_null(getcwd(root, sizeof root));
  snprintf(text, sizeof text,
           "[scenario]\ninherits = %s/examples/uncertainty.ini\n[range]\n"
           "pue = uniform(1.1, 1.3)\nwacc = uniform(6, 10) %%/yr\n[correlate]\n"
           "h200.discount, mi325x.discount = 0.2\n",
           root);
  scenario_fixture_start(&fixture, text, NULL, NULL);
  expect_error(&fixture.fixture, "child", "");
  assert_int_equal(fixture.scenario->range_count, 13);
  assert_string_equal(fixture.scenario->ranges[1].key, "pue");
  assert_int_equal(fixture.scenario->ranges[1].distribution.kind, DISTRIBUTION_UNIFORM);
  assert_string_equal(fixture.scenario->ranges[12].key, "wacc");
  assert_int_equal(fixture.scenario->correlation_count, 2);
  assert_true(fixture.scenario->correlations[0].rank == 0.2);
  scenario_fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_accepted),
      cmocka_unit_test(test_all_errors_in_one_run),
      cmocka_unit_test(test_which_range),
      cmocka_unit_test(test_certain),
      cmocka_unit_test(test_values_stay),
      cmocka_unit_test(test_from_measurement),
      cmocka_unit_test(test_measured_devices),
      cmocka_unit_test(test_inheritance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
