// Simulation: closed forms, correlation, coverage, convergence. Run in the repository's root.
#include "model/chance/distribution_text.h"
#include "model/scenario/reading/range.h"
#include "tests/support/scenario_fixture.h"

#include "model/simulate/sampler.h"
#include "model/simulate/simulate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The sanitizers slow this down by more than an order of magnitude.
#ifdef __SANITIZE_ADDRESS__
enum { SLOW = true };
#else
enum { SLOW = false };
#endif

// A cost model of six plain numbers, in which the test defines an option's cost.
#define INPUT(name, limits)                                                                        \
  "[input " name "]\nlabel = " name "\nunit = -\ngroup = g\ndefault = 0\n" limits
static const char small_model[] =
    "[group g]\nlabel = G\n"
    "[input horizon]\nlabel = H\nunit = yr\ngroup = g\ndefault = 3 yr\n"
    "[input throughput]\nlabel = T\nunit = token/s\ngroup = g\ndefault = 1 token/s\n" INPUT("a", "")
        INPUT("b", "") INPUT("c", "") INPUT("d", "") INPUT("e", "") INPUT("f", "")
            INPUT("n", "integer = yes\nmin = 0\n") INPUT("plus", "") INPUT(
                "times",
                "") "[item levelised_cost_per_mtok]\nlabel = L\nunit = -\ngroup = g\nformula = a\n"
                    "[item cost_per_mtok]\nlabel = C\nunit = -\ngroup = g\n";

// One option or, with `second`, two.
static void start(struct scenario_fixture *fixture, const char *formula, const char *ranges,
                  const char *second) {
  char model[4096], text[2048];
  snprintf(model, sizeof model, "%sformula = %s\n", small_model, formula);
  snprintf(text, sizeof text,
           "[scenario]\ntitle = T\ndate = 2026-11-01\n[common]\nthroughput = 1 token/s\n"
           "a = 1\nb = 1\nc = 1\nd = 1\ne = 1\nf = 1\nn = 1\n"
           "[option x]\naccelerator = h200-sxm-141\n%s%s",
           second, ranges);
  scenario_fixture_start(fixture, text, model, NULL);
  expect_error(&fixture->fixture, formula, "");
}

static void expect_within(double got, double expected, double margin, const char *what) {
  if (!(fabs(got - expected) <= margin))
    fail_msg("%s: expected %.9g within %.2g, got %.9g", what, expected, margin, got);
}

// z of the levels 5, 10, 25, 50, 75, 90, 95 %.
static const double normal_levels[SIMULATE_LEVELS] = {
    -1.6448536269514729, -1.2815515655446004, -0.6744897501960817, 0,
    0.6744897501960817,  1.2815515655446004,  1.6448536269514729};

static void test_sum_of_normals(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  for (int method = DRAW_SOBOL; method <= DRAW_RANDOM; method++) {
    start(&fixture, "a + 2 * b - c",
          "[range]\na = normal(10, 3)\nb = normal(20, 2)\nc = normal(5, 12)\n", "");
    struct simulate_request request = {.draws = 100000, .seed = 11, .method = method};
    const struct simulation *simulation = scenario_fixture_simulate(&fixture, &request);
    const struct outcome *outcome = &simulation->outcomes[0];
    double slack = method == DRAW_SOBOL ? 0.01 : 4 * 13 / sqrt(100000);
    expect_within(outcome->mean, 45, slack, "mean");
    expect_within(outcome->deviation, 13, 3 * slack, "deviation");
    for (int l = 0; l < SIMULATE_LEVELS; l++)
      expect_within(outcome->percentiles[l], 45 + 13 * normal_levels[l], 8 * slack, "percentile");
    expect_within(outcome->influences[0].first, 9. / 169, 0.01, "first of a");
    expect_within(outcome->influences[1].total, 16. / 169, 0.01, "total of b");
    expect_within(outcome->influences[2].first, 144. / 169, 0.02, "first of c");
    assert_true(outcome->rank_error < 1e-4);
    scenario_fixture_end(&fixture);
  }
}

static void test_product_of_lognormals(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  start(&fixture, "a * b / c",
        "[range]\na = lognormal(4, 1.3)\nb = lognormal(3, 1.2)\nc = lognormal(6, 1.1)\n", "");
  struct simulate_request request = {.draws = 100000, .seed = 12};
  const struct outcome *outcome = scenario_fixture_simulate(&fixture, &request)->outcomes;
  double s = sqrt(pow(log(1.3), 2) + pow(log(1.2), 2) + pow(log(1.1), 2));
  for (int l = 0; l < SIMULATE_LEVELS; l++)
    expect_near(outcome->percentiles[l], 2 * exp(s * normal_levels[l]), 2e-3, "percentile");
  expect_near(outcome->mean, 2 * exp(s * s / 2), 1e-4, "mean");
  expect_near(outcome->deviation, 2 * exp(s * s / 2) * sqrt(exp(s * s) - 1), 2e-3, "deviation");
  scenario_fixture_end(&fixture);
}

static void test_pert_moments(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  start(&fixture, "a", "[range]\na = pert(2, 3, 8)\n", "");
  struct simulate_request request = {.draws = 65536, .seed = 13};
  const struct outcome *outcome = scenario_fixture_simulate(&fixture, &request)->outcomes;
  double mean = (2 + 4 * 3 + 8) / 6.;
  expect_near(outcome->mean, mean, 1e-5, "mean");
  expect_near(outcome->deviation, sqrt((mean - 2) * (8 - mean) / 7), 1e-4, "deviation");
  assert_true(outcome->lowest >= 2 && outcome->highest <= 8);
  scenario_fixture_end(&fixture);
}

// Ishigami's function has indices in closed form (Ishigami and Homma, 1990), but there is no sine
// here: a product has them, too. f = a b: S_a = V_a mu_b^2 / V, T_a = (V_a mu_b^2 + V_a V_b) / V.
static void test_influence_of_a_product(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  start(&fixture, "a * b + 0 * c",
        "[range]\na = uniform(0, 2)\nb = uniform(-1, 3)\nc = uniform(0, 1)\n", "");
  struct simulate_request request = {.draws = 50000, .seed = 14};
  const struct simulation *simulation = scenario_fixture_simulate(&fixture, &request);
  const struct influence *influences = simulation->outcomes[0].influences;
  double va = 4. / 12, vb = 16. / 12, all = va + vb + va * vb;
  expect_within(influences[0].first, va / all, 0.005, "first of a");
  expect_within(influences[0].total, (va + va * vb) / all, 0.005, "total of a");
  expect_within(influences[1].first, vb / all, 0.005, "first of b");
  expect_within(influences[1].total, (vb + va * vb) / all, 0.005, "total of b");
  assert_true(influences[2].first == 0 && influences[2].total == 0);
  assert_int_equal(simulation->influence_draws, MAX_INFLUENCE_DRAWS);
  scenario_fixture_end(&fixture);
}

// The requested rank correlation is found in the draws, within three standard errors.
static void test_correlation(void **state) {
  (void)state;
  enum { N = 65536 };
  static const double ranks[] = {-0.95, -0.3, 0, 0.6, 1};
  static double values[2 * VECTOR_BLOCK];
  for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
    struct scenario_fixture fixture;
    char text[256];
    snprintf(text, sizeof text,
             "[range]\na = uniform(0, 1)\nb = uniform(0, 1)\n[correlate]\nb, a = %g\n", ranks[i]);
    start(&fixture, "a + b", text, "");
    int item = model_cost_item(fixture.scenario->model);
    const struct sampler *sampler = sampler_new(
        &(struct sampler_request){fixture.scenario, DRAW_RANDOM, 15, 1, &item, 1, NULL, NULL},
        &fixture.fixture.arena, &fixture.fixture.diagnostics);
    assert_non_null(sampler);
    assert_int_equal(sampler->group_count, 1);
    // For uniforms, the correlation of ranks equals that of values.
    double sum = 0, a = 0, b = 0;
    for (uint64_t n = 0; n < N; n += VECTOR_BLOCK) {
      sampler_draw(sampler, SAMPLE_FIRST, 0, n, values);
      for (int k = 0; k < VECTOR_BLOCK; k++) {
        sum += (values[k] - 0.5) * (values[VECTOR_BLOCK + k] - 0.5);
        a += pow(values[k] - 0.5, 2);
        b += pow(values[VECTOR_BLOCK + k] - 0.5, 2);
      }
    }
    expect_within(sum / sqrt(a * b), ranks[i], 3 * (1 - ranks[i] * ranks[i]) / sqrt(N) + 1e-4,
                  text);
    expect_within(a / N, 1. / 12, 3 * sqrt(1. / 180 / N), "variance of a");
    expect_within(b / N, 1. / 12, 3 * sqrt(1. / 180 / N), "variance of b");
    scenario_fixture_end(&fixture);
  }
}

// A correlated sum of normals has a known deviation, and its inputs have one share together.
static void test_correlated_sum(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  start(&fixture, "a + b + c",
        "[range]\na = normal(0, 1)\nc = normal(0, 2)\nb = normal(0, 1)\n"
        "[correlate]\na, b = 0.5\n",
        "");
  struct simulate_request request = {.draws = 65536, .seed = 16};
  const struct simulation *simulation = scenario_fixture_simulate(&fixture, &request);
  double r = 2 * sin(3.14159265358979324 * 0.5 / 6), variance = 2 + 2 * r + 4;
  expect_near(simulation->outcomes[0].deviation, sqrt(variance), 1e-3, "deviation");
  assert_int_equal(simulation->group_count, 2);
  assert_string_equal(simulation->groups[0], "a, b");
  expect_within(simulation->outcomes[0].influences[0].first, (2 + 2 * r) / variance, 0.01,
                "share of a and b");
  expect_within(simulation->outcomes[0].influences[1].total, 4 / variance, 0.01, "share of c");
  scenario_fixture_end(&fixture);
}

// A common input moves together in all options; an option's own does not.
static void test_common_and_own(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  static const char two[] = "[option y]\naccelerator = h200-sxm-141\nb = 3\n";
  start(&fixture, "a * b", "[range]\na = uniform(1, 9)\n", two);
  struct simulate_request request = {.draws = 4096, .seed = 17};
  const struct simulation *simulation = scenario_fixture_simulate(&fixture, &request);
  assert_int_equal(simulation->outcome_count, 3);
  const struct outcome *saving = &simulation->outcomes[2];
  assert_int_equal(saving->kind, OUTCOME_SAVING);
  assert_int_equal(saving->option, 1);
  expect_near(saving->percentiles[0], -2, 1e-6, "lowest saving");
  expect_near(saving->percentiles[6], -2, 1e-6, "highest saving");
  assert_true(simulation->cheapest[0] == 1 && simulation->cheapest[1] == 0);
  scenario_fixture_end(&fixture);
  start(&fixture, "a * b", "[range]\nx.a = uniform(1, 9)\ny.a = uniform(1, 9)\n", two);
  simulation = scenario_fixture_simulate(&fixture, &request);
  // P(3 y < x) for x and y uniform on [1, 9].
  expect_within(simulation->cheapest[1], 6. * 2 / 2 / 64, 0.005, "y is cheapest");
  expect_within(simulation->cheapest[0] + simulation->cheapest[1], 1, 1e-12, "all");
  scenario_fixture_end(&fixture);
  // An option's own value stays if the range is of the common one, and vice versa.
  start(&fixture, "b", "[range]\nb = uniform(5, 9)\n", two);
  simulation = scenario_fixture_simulate(&fixture, &request);
  expect_near(simulation->outcomes[1].percentiles[0], 3, 1e-6, "y's own b");
  expect_within(simulation->outcomes[0].mean, 7, 0.01, "x's common b");
  scenario_fixture_end(&fixture);
  start(&fixture, "b", "[range]\nb = uniform(5, 9)\ny.b = uniform(50, 90)\n", two);
  simulation = scenario_fixture_simulate(&fixture, &request);
  expect_within(simulation->outcomes[1].mean, 70, 0.1, "y's own range");
  scenario_fixture_end(&fixture);
}

// Options with equal costs are all the cheapest; differences only in the last bits count as equal.
static void test_ties(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  struct simulate_request request = {.draws = 4096, .seed = 18};
  start(&fixture, "a * b", "[range]\na = uniform(1, 9)\n",
        "[option y]\naccelerator = h200-sxm-141\n"
        "[option z]\naccelerator = h200-sxm-141\nb = 1.000000000000001\n"
        "[option w]\naccelerator = h200-sxm-141\nb = 1.000001\n");
  const struct simulation *simulation = scenario_fixture_simulate(&fixture, &request);
  static const double shares[] = {1, 1, 1, 0};
  for (size_t o = 0; o < 4; o++)
    assert_true(simulation->cheapest[o] == shares[o] && simulation->ranked[o] == 1);
  assert_true(simulation->undecided == 0 && !*simulation->why_none);
  scenario_fixture_end(&fixture);
  start(&fixture, "a", "[range]\na = uniform(1, 9)\n", "");
  simulation = scenario_fixture_simulate(&fixture, &request);
  assert_true(isnan(simulation->cheapest[0]) && simulation->undecided == 1);
  assert_string_equal(simulation->why_none, "there is only one option");
  scenario_fixture_end(&fixture);
}

// Rent only: 8 accelerators of 1,000 token/s serve 126,144 Mtok a year.
static const char rented[] =
    "[scenario]\ntitle = T\ndate = 2026-11-01\nhorizon = 1 yr\n[common]\naccelerators = 8\n"
    "accelerators_per_node = 8\nutilization = 50 %\nrental_rate = 2 USD/gpu/h\n";

// Which options are ranked, and the cheapest, in which share of the draws; -1: never.
static const struct judged {
  const char *what, *options;
  double ranked[3], cheapest[3], undecided;
  const char *why; // of the last option, or of all
} judged[] = {
    {"the dearer serves the demand always, the cheaper in half of the draws",
     "demand = 126144 Mtok/yr\n"
     "[option a]\naccelerator = h100-sxm5-80\nthroughput = 1000 token/s\n"
     "[option b]\naccelerator = h100-sxm5-80\nthroughput = 1000 token/s\n"
     "rental_rate = 1 USD/gpu/h\n"
     "[option c]\naccelerator = h100-sxm5-80\nthroughput = 900 token/s\n"
     "rental_rate = 0.1 USD/gpu/h\n"
     "[range]\nb.throughput = uniform(500, 1500) token/s\n",
     {1, 0.5, 0},
     {0, 0.5, -1},
     0.5,
     "it does not serve the demand in any draw"},
    {"one is unlike all others",
     "[option a]\naccelerator = h100-sxm5-80\nthroughput = 1000 token/s\nprecision = fp8\n"
     "[option b]\naccelerator = h100-sxm5-80\nthroughput = 1000 token/s\nprecision = fp8\n"
     "[option c]\naccelerator = h100-sxm5-80\nthroughput = 9000 token/s\nprecision = bf16\n"
     "[range]\nb.throughput = uniform(900, 1300) token/s\n",
     {1, 1, 0},
     {0.25, 0.75, -1},
     0,
     "its workload differs from that of the baseline: precision: fp8 and bf16"},
    {"nobody is like the baseline",
     "[option a]\naccelerator = h100-sxm5-80\nthroughput = 1000 token/s\n"
     "[option b]\naccelerator = h100-sxm5-80\ndecode_throughput = 1000 token/s\n"
     "[option c]\naccelerator = h100-sxm5-80\ndecode_throughput = 3000 token/s\n"
     "[range]\na.throughput = uniform(900, 1300) token/s\n",
     {1, 0, 0},
     {-1, -1, -1},
     1,
     "the throughputs are not comparable"},
};

static void test_who_is_ranked(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof judged / sizeof judged[0]; i++) {
    struct scenario_fixture fixture;
    char text[4096];
    snprintf(text, sizeof text, "%s%s", rented, judged[i].options);
    scenario_fixture_request(&fixture, text, (struct scenario_request){.mixed = true});
    expect_error(&fixture.fixture, judged[i].what, "");
    const struct simulation *simulation =
        scenario_fixture_simulate(&fixture, &(struct simulate_request){.draws = 65536, .seed = 3});
    for (size_t o = 0; o < 3; o++) {
      expect_within(simulation->ranked[o], judged[i].ranked[o], 1e-3, judged[i].what);
      if (judged[i].cheapest[o] < 0)
        assert_true(isnan(simulation->cheapest[o]));
      else
        expect_within(simulation->cheapest[o], judged[i].cheapest[o], 1e-3, judged[i].what);
    }
    expect_within(simulation->undecided, judged[i].undecided, 1e-3, judged[i].what);
    assert_string_equal(judged[i].undecided == 1 ? simulation->why_none : simulation->not_ranked[2],
                        judged[i].why);
    scenario_fixture_end(&fixture);
  }
}

// Counts are integers, and at least 0.
static void test_integers(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  start(&fixture, "n * (1 + (n <> round(n, 0)))", "[range]\nn = normal(1, 1)\n", "");
  struct simulate_request request = {.draws = 65536, .seed = 18, .method = DRAW_RANDOM};
  const struct outcome *outcome = scenario_fixture_simulate(&fixture, &request)->outcomes;
  assert_true(outcome->lowest == 0 && outcome->highest == round(outcome->highest));
  // Within the width of the sketch's bins.
  expect_within(outcome->percentiles[3], 1, 1e-4, "median");
  scenario_fixture_end(&fixture);
}

// More draws with the same seed begin with the same ones; adding another range after it changes
// nothing.
static void test_draws_belong_to_their_input(void **state) {
  (void)state;
  struct scenario_fixture one, two;
  static double a[2 * VECTOR_BLOCK], b[3 * VECTOR_BLOCK];
  for (int method = DRAW_SOBOL; method <= DRAW_RANDOM; method++) {
    start(&one, "a + b", "[range]\na = uniform(0, 1)\nb = pert(0, 1, 2)\n", "");
    start(&two, "a + b + c", "[range]\na = uniform(0, 1)\nb = pert(0, 1, 2)\nc = uniform(0, 1)\n",
          "");
    int item = model_cost_item(one.scenario->model);
    const struct sampler *first =
        sampler_new(&(struct sampler_request){one.scenario, method, 23, 2, &item, 1, NULL, NULL},
                    &one.fixture.arena, &one.fixture.diagnostics);
    const struct sampler *second =
        sampler_new(&(struct sampler_request){two.scenario, method, 23, 2, &item, 1, NULL, NULL},
                    &two.fixture.arena, &two.fixture.diagnostics);
    sampler_draw(first, SAMPLE_FIRST, 1, 1024, a);
    sampler_draw(second, SAMPLE_FIRST, 1, 1024, b);
    assert_memory_equal(a, b, 2 * VECTOR_BLOCK * sizeof *a);
    sampler_draw(second, SAMPLE_SECOND, 1, 1024, b);
    assert_memory_not_equal(a, b, VECTOR_BLOCK * sizeof *a);
    scenario_fixture_end(&one);
    scenario_fixture_end(&two);
  }
}

static void random_range(struct range *range, const struct declaration *input, struct arena *arena,
                         struct diagnostics *diagnostics) {
  static const char *const shapes[] = {"uniform(%g, %g)", "triangular(%g, %g, %g)",
                                       "pert(%g, %g, %g)"};
  char text[128];
  double low = (double)(random() % 90) + 10, high = low + (double)(random() % 100) + 1;
  double middle = low + (high - low) * (double)(random() % 11) / 10;
  size_t shape = (size_t)(random() % 3);
  snprintf(text, sizeof text, shapes[shape], low, shape ? middle : high, high);
  assert_int_equal(
      distribution_parse(text, range->place, input, &range->distribution, arena, diagnostics), 0);
}

// 1,000 problems: how often is a true value, drawn like the inputs, within P5 and P95?
static void test_coverage(void **state) {
  (void)state;
  int covered = 0, problems = SLOW ? 100 : 1000;
  struct scenario_fixture fixture;
  start(&fixture, "a * b + 30 * c - max(c, d) * 20",
        "[range]\na = uniform(0, 1)\nb = uniform(0, 1)\nc = uniform(0, 1)\nd = uniform(0, 1)\n",
        "");
  const struct model *model = fixture.scenario->model;
  srandom(24);
  for (int p = 0; p < problems; p++) {
    struct fixture each;
    fixture_start(&each);
    for (size_t r = 0; r < fixture.scenario->range_count; r++)
      random_range(&fixture.scenario->ranges[r],
                   &model->declarations[fixture.scenario->ranges[r].declaration], &each.arena,
                   &each.diagnostics);
    struct simulate_request request = {
        .scenario = fixture.scenario, .draws = 1023, .seed = (uint64_t)p, .threads = 1};
    const struct outcome *outcome =
        simulation_result(simulate(&request, &each.arena, &each.diagnostics), &each.arena,
                          &each.diagnostics)
            ->outcomes;
    request.draws = 1;
    request.seed = 1000000 + (uint64_t)p;
    request.method = DRAW_RANDOM;
    double truth = simulation_result(simulate(&request, &each.arena, &each.diagnostics),
                                     &each.arena, &each.diagnostics)
                       ->outcomes[0]
                       .mean;
    covered += truth >= outcome->percentiles[0] && truth <= outcome->percentiles[6];
    fixture_end(&each);
  }
  print_message("covered %d of %d\n", covered, problems);
  assert_in_range(covered, SLOW ? 80 : 880, SLOW ? 98 : 920);
  scenario_fixture_end(&fixture);
}

// P50 and P90 of both costs and the saving, over seeds: 16,384 Sobol draws are better than 50,000
// random ones.
static void test_convergence(void **state) {
  (void)state;
  enum { SEEDS = 30 };
  if (SLOW)
    skip();
  struct scenario_fixture fixture;
  scenario_fixture_open(&fixture, "examples/uncertainty.ini");
  static const uint64_t draws[] = {16384, 50000};
  double errors[2][3][2] = {{{0}}};
  struct simulate_request request = {.draws = 4000000, .seed = 424242};
  const struct simulation *truth = scenario_fixture_simulate(&fixture, &request);
  for (int method = DRAW_SOBOL; method <= DRAW_RANDOM; method++)
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
      struct scenario_fixture each;
      scenario_fixture_open(&each, "examples/uncertainty.ini");
      request = (struct simulate_request){.draws = draws[method], .seed = seed, .method = method};
      const struct simulation *simulation = scenario_fixture_simulate(&each, &request);
      for (size_t o = 0; o < 3; o++)
        for (int l = 0; l < 2; l++) {
          double off = simulation->outcomes[o].percentiles[3 + 2 * l] -
                       truth->outcomes[o].percentiles[3 + 2 * l];
          errors[method][o][l] += off * off / SEEDS;
        }
      scenario_fixture_end(&each);
    }
  for (size_t o = 0; o < 3; o++)
    for (int l = 0; l < 2; l++) {
      double ratio = sqrt(errors[DRAW_RANDOM][o][l] / errors[DRAW_SOBOL][o][l]);
      print_message("outcome %zu, P%d: sobol %.3g, random %.3g: worth %.0f random draws\n", o,
                    l ? 90 : 50, sqrt(errors[DRAW_SOBOL][o][l]), sqrt(errors[DRAW_RANDOM][o][l]),
                    50000 * ratio * ratio);
      assert_true(ratio > 1);
    }
  scenario_fixture_end(&fixture);
}

// The standard error is about right: the means of many seeds have that spread.
static void test_standard_error(void **state) {
  (void)state;
  enum { SEEDS = 100 };
  for (int method = DRAW_SOBOL; method <= DRAW_RANDOM; method++) {
    double sum = 0, squares = 0, said = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
      struct scenario_fixture fixture;
      start(&fixture, "a * b * c * d",
            "[range]\na = uniform(0, 1)\nb = uniform(0, 1)\nc = uniform(0, 1)\nd = uniform(0, 1)\n",
            "");
      struct simulate_request request = {.draws = 2048, .seed = seed, .method = method};
      const struct outcome *outcome = scenario_fixture_simulate(&fixture, &request)->outcomes;
      sum += outcome->mean;
      squares += outcome->mean * outcome->mean;
      said += outcome->standard_error * outcome->standard_error / SEEDS;
      scenario_fixture_end(&fixture);
    }
    double scatter = (squares - sum * sum / SEEDS) / (SEEDS - 1);
    expect_within(sqrt(said / scatter), 1, 0.3, method == DRAW_SOBOL ? "sobol" : "random");
  }
}

// A short run uses regression on ranks instead: it finds a monotone relation, however nonlinear.
static void test_few_draws(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  start(&fixture, "a ^ 9 + 0 * b + 0 * c",
        "[range]\na = uniform(1, 9)\nb = uniform(1, 9)\nc = uniform(1, 9)\n", "");
  struct simulate_request request = {.draws = 1000, .seed = 25};
  const struct simulation *simulation = scenario_fixture_simulate(&fixture, &request);
  assert_true(simulation->by_ranks);
  expect_within(simulation->outcomes[0].influences[0].first, 1, 1e-6, "a");
  expect_within(simulation->outcomes[0].influences[1].first, 0, 1e-6, "b");
  assert_true(isnan(simulation->outcomes[0].influences[0].total));
  request.draws = 2;
  simulation = scenario_fixture_simulate(&fixture, &request);
  assert_true(isnan(simulation->outcomes[0].influences[0].first));
  assert_int_equal(simulation->done, 2);
  scenario_fixture_end(&fixture);
}

// Four replicates tell a standard error, each with at least half of the draws that others have.
static void test_few_replicates(void **state) {
  (void)state;
  static const struct {
    uint64_t draws;
    enum draw_method method;
    bool known;
  } cases[] = {{256, DRAW_SOBOL, false}, {300, DRAW_SOBOL, false}, {800, DRAW_SOBOL, false},
               {900, DRAW_SOBOL, true},  {1024, DRAW_SOBOL, true}, {256, DRAW_RANDOM, true}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    start(&fixture, "a * b", "[range]\na = uniform(0, 1)\nb = uniform(0, 1)\n", "");
    struct simulate_request request = {
        .draws = cases[i].draws, .seed = 7, .method = cases[i].method};
    const struct outcome *outcome = scenario_fixture_simulate(&fixture, &request)->outcomes;
    if (isfinite(outcome->standard_error) != cases[i].known)
      fail_msg("%llu draws: expected %s standard error, found %g",
               (unsigned long long)cases[i].draws, cases[i].known ? "a" : "no",
               outcome->standard_error);
    scenario_fixture_end(&fixture);
  }
}

static void test_case_makes_certain(void **state) {
  (void)state;
  static const char text[] =
      "[scenario]\ntitle = T\ndate = 2026-11-01\n[common]\naccelerators = 8\nutilization = 70 %\n"
      "pue = 1.2\nelectricity_price = 0.08 USD/kWh\n"
      "[option a]\naccelerator = h200-sxm-141\nlist_price = 30000 USD\nthroughput = 4000 token/s\n"
      "[case dear]\nelectricity_price = 0.2 USD/kWh\n"
      "[range]\npue = uniform(1.1, 1.5)\nelectricity_price = uniform(0.05, 0.1) USD/kWh\n";
  struct scenario_fixture fixture;
  scenario_fixture_start(&fixture, text, NULL, "dear");
  expect_error(&fixture.fixture, "case", "");
  struct simulate_request request = {.draws = 2000, .seed = 26};
  const struct simulation *simulation = scenario_fixture_simulate(&fixture, &request);
  assert_int_equal(simulation->group_count, 1);
  assert_int_equal(simulation->note_count, 1);
  assert_string_equal(
      simulation->notes[0],
      "the range of 'electricity_price' has no effect: a case or --set gives its value");
  scenario_fixture_end(&fixture);
}

// A horizon may be uncertain, and longer than any in the scenario.
static void test_horizon(void **state) {
  (void)state;
  static const char text[] =
      "[scenario]\ntitle = T\ndate = 2026-11-01\nhorizon = 3 yr\n"
      "[option a]\naccelerator = h200-sxm-141\nrental_rate = 2 USD/h\nthroughput = 4000 token/s\n"
      "accelerators = 8\nutilization = 70 %\n"
      "[range]\nhorizon = uniform(1, 12.5) yr\n";
  struct scenario_fixture fixture;
  scenario_fixture_start(&fixture, text, NULL, NULL);
  expect_error(&fixture.fixture, "horizon", "");
  struct simulate_request request = {.draws = 4096, .seed = 27, .item = "tco"};
  const struct simulation *simulation = scenario_fixture_simulate(&fixture, &request);
  expect_near(simulation->outcomes[0].mean, 8 * 2 * 8760 * 6.75, 1e-3, "mean rent");
  expect_near(simulation->outcomes[0].highest, 8 * 2 * 8760 * 12.5, 1e-3, "highest rent");
  assert_string_equal(simulation->unit, "USD");
  scenario_fixture_end(&fixture);
}

static void test_many_inputs(void **state) {
  (void)state;
  char text[16384] = "[scenario]\ntitle = T\ndate = 2026-11-01\n[common]\nthroughput = 1 token/s\n"
                     "a = 1\nb = 1\nc = 1\n",
       model[4096];
  for (int o = 0; o < 30; o++)
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "[option o%d]\naccelerator = h200-sxm-141\n", o);
  strcat(text, "[range]\n");
  for (int o = 0; o < 30; o++)
    for (const char *name = "abc"; *name; name++)
      snprintf(text + strlen(text), sizeof text - strlen(text), "o%d.%c = uniform(%d, %d)\n", o,
               *name, o + 1, o + 2);
  snprintf(model, sizeof model, "%sformula = a + b + c\n", small_model);
  struct scenario_fixture fixture;
  scenario_fixture_start(&fixture, text, model, NULL);
  expect_error(&fixture.fixture, "many inputs", "");
  struct simulate_request request = {.draws = 2048, .seed = 28};
  const struct simulation *simulation = scenario_fixture_simulate(&fixture, &request);
  assert_int_equal(simulation->group_count, 90);
  assert_string_equal(
      simulation->notes[0],
      "the Sobol sequence covers the first 64 ranges; the remaining 26 are drawn at random");
  expect_within(simulation->outcomes[29].mean, 91.5, 0.05, "the last option's cost");
  scenario_fixture_end(&fixture);
}

static void test_bad_requests(void **state) {
  (void)state;
  static const struct {
    const char *ranges;
    struct simulate_request request;
    const char *error;
  } cases[] = {
      {"[range]\na = uniform(0, 1)\n", {.draws = 0}, "expected 1 to 4000000000 draws, not 0"},
      {"[range]\na = uniform(0, 1)\n", {.draws = 1000000000000}, "draws, not 1000000000000"},
      {"[range]\na = uniform(0, 1)\n", {.draws = 9, .shard = 2, .shards = 2}, "no shard 2 of 2"},
      {"[range]\na = uniform(0, 1)\n",
       {.draws = 9, .item = "cost_per_mtk"},
       "unknown item 'cost_per_mtk'; did you mean 'cost_per_mtok'?"},
      {"", {.draws = 9}, "there is no [range]: there is nothing to draw"},
      {"[range]\na = discrete(0: 1, 2: 20000)\nb = uniform(5, 6)\n",
       {.draws = 90000, .seed = 29},
       "'cost_per_mtok' of option 'x' has no finite value in draw "},
      {"[range]\na = discrete(0: 1, 2: 3)\nb = uniform(5, 6)\n",
       {.draws = 900, .seed = 29},
       ": a = 0, b = 5."},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    start(&fixture, "b / a", cases[i].ranges, "");
    struct simulate_request request = cases[i].request;
    request.scenario = fixture.scenario;
    assert_null(simulate(&request, &fixture.fixture.arena, &fixture.fixture.diagnostics));
    expect_error(&fixture.fixture, cases[i].ranges, cases[i].error);
    scenario_fixture_end(&fixture);
  }
}

static const char *bad_draw_with(int threads, uint64_t seed) {
  static char message[512];
  struct scenario_fixture fixture;
  start(&fixture, "b / a", "[range]\na = discrete(0: 1, 2: 6000)\nb = uniform(5, 6)\n", "");
  struct simulate_request request = {
      .scenario = fixture.scenario, .draws = 200000, .seed = seed, .threads = threads};
  assert_null(simulate(&request, &fixture.fixture.arena, &fixture.fixture.diagnostics));
  snprintf(message, sizeof message, "%s", fixture_errors(&fixture.fixture));
  scenario_fixture_end(&fixture);
  return message;
}

// The first bad draw is reported, whichever thread found one first.
static void test_first_bad_draw(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    char one[512];
    snprintf(one, sizeof one, "%s", bad_draw_with(1, seed));
    for (int i = 0; i < 5; i++)
      assert_string_equal(one, bad_draw_with(8, seed));
  }
}

static volatile sig_atomic_t stop_now;

static void stop_after_first_round(void *data, uint64_t done, uint64_t all) {
  uint64_t *calls = data;
  (*calls)++;
  stop_now = done < all;
}

static void test_stop(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  start(&fixture, "a", "[range]\na = uniform(1, 2)\n", "");
  uint64_t calls = 0;
  stop_now = 0;
  struct simulate_request request = {.draws = 10000000,
                                     .seed = 31,
                                     .stop = &stop_now,
                                     .progress = stop_after_first_round,
                                     .progress_data = &calls};
  const struct simulation *simulation = scenario_fixture_simulate(&fixture, &request);
  assert_true(simulation->partial && calls == 1);
  assert_true(simulation->done > 1000 && simulation->done < simulation->draws);
  expect_within(simulation->outcomes[0].mean, 1.5, 0.01, "mean of what was drawn");
  assert_int_equal(simulation->influence_draws, 0);
  stop_now = 1;
  request.scenario = fixture.scenario;
  struct simulation_part *part =
      simulate(&request, &fixture.fixture.arena, &fixture.fixture.diagnostics);
  assert_null(simulation_result(part, &fixture.fixture.arena, &fixture.fixture.diagnostics));
  expect_error(&fixture.fixture, "stopped", "stopped before its first draw");
  scenario_fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sum_of_normals),
      cmocka_unit_test(test_product_of_lognormals),
      cmocka_unit_test(test_pert_moments),
      cmocka_unit_test(test_influence_of_a_product),
      cmocka_unit_test(test_correlation),
      cmocka_unit_test(test_correlated_sum),
      cmocka_unit_test(test_common_and_own),
      cmocka_unit_test(test_ties),
      cmocka_unit_test(test_who_is_ranked),
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_draws_belong_to_their_input),
      cmocka_unit_test(test_coverage),
      cmocka_unit_test(test_convergence),
      cmocka_unit_test(test_standard_error),
      cmocka_unit_test(test_few_draws),
      cmocka_unit_test(test_few_replicates),
      cmocka_unit_test(test_case_makes_certain),
      cmocka_unit_test(test_horizon),
      cmocka_unit_test(test_many_inputs),
      cmocka_unit_test(test_bad_requests),
      cmocka_unit_test(test_first_bad_draw),
      cmocka_unit_test(test_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
