// Audits of generated claims whose truth is known without a search, and the search on functions
// with known extremes. PERTOKEN_SEED selects other problems.
// Deep: 100 of each kind rather than 25.
// Seconds: 4, deep 15
#include "tests/support/depth.h"
#include "tests/support/scenario_fixture.h"

#include "model/questions/audit.h"
#include "model/scenario/reading/free.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The sanitizers slow this down by more than an order of magnitude.
static uint64_t problems_wanted(void) {
  return SANITIZED ? 12 : depth_is_full() ? 100 : 25;
}

enum { YEARS = 3, TEXT = 4096 };
static const double year_h = 8760, watt_hours = 1000; // per kWh

static uint64_t first_seed(void) {
  const char *text = getenv("PERTOKEN_SEED");
  return text ? strtoull(text, NULL, 10) : 20261121;
}

// Splitmix64: G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014.
static double uniform(uint64_t *state, double low, double high) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  z ^= z >> 31;
  return low + (high - low) * ((double)(z >> 11) * 0x1p-53);
}

static double pick(uint64_t *state, const double *values, size_t count) {
  return values[(size_t)uniform(state, 0, (double)count)];
}

// ---- three claims on four free quantities, with the truth in closed form

// Option b's engineers F add F / C_b to 1 - saving, whatever the throughputs are: with a share w of
// hardware H_b in C_b that is w F / H_b. So the saving after engineers is at most
// 1 - (1 - s - t)(1 + w_low F / H_high), and at least the same with the other ends.
struct problem {
  double accelerators, price_a, price_low, price_high, support, watts, pue, power_high;
  double engineers, engineer_cost;
  double saving, saving_tolerance, share, share_tolerance, after, after_tolerance;
  double lowest, highest; // of the saving after engineers, if the other claims hold
  double gap;             // by which the claim misses that, or is inside
};

static double hardware(const struct problem *problem, double price) {
  return problem->accelerators * price;
}

// The electricity price at which option b's hardware has that share of the cost; USD/kWh.
static double power_price(const struct problem *problem, double price, double share) {
  const double energy =
      problem->accelerators * problem->watts * problem->pue * year_h * YEARS / watt_hours;
  return hardware(problem, price) * (1 / share - 1 - problem->support * YEARS) / energy;
}

static void find_truth(struct problem *problem) {
  const double staff = problem->engineers * problem->engineer_cost * YEARS;
  const double low_share = problem->share - problem->share_tolerance;
  const double high_share = problem->share + problem->share_tolerance;
  problem->highest = 1 - (1 - problem->saving - problem->saving_tolerance) *
                             (1 + low_share * staff / hardware(problem, problem->price_high));
  problem->lowest = 1 - (1 - problem->saving + problem->saving_tolerance) *
                            (1 + high_share * staff / hardware(problem, problem->price_low));
  // Both ends must be within the electricity's range.
  problem->power_high = 2 * power_price(problem, problem->price_high, low_share);
}

static struct problem new_problem(uint64_t *state, bool possible) {
  static const double tolerances[] = {0, 0.0025, 0.005, 0.01};
  static const double gaps[] = {0.005, 0.005, 0.01, 0.02, 0.05};
  struct problem problem = {.accelerators = 8 * floor(uniform(state, 10, 200)),
                            .price_a = uniform(state, 20000, 40000),
                            .support = uniform(state, 0, 0.06),
                            .watts = uniform(state, 500, 1400),
                            .pue = uniform(state, 1, 1.6),
                            .engineers = uniform(state, 0.5, 10),
                            .engineer_cost = uniform(state, 100e3, 400e3),
                            .saving = uniform(state, -0.2, 0.5),
                            .share = uniform(state, 0.45, 0.75),
                            .gap = pick(state, gaps, 5)};
  problem.price_low = uniform(state, 10000, 30000);
  problem.price_high = problem.price_low * uniform(state, 1.05, 2);
  problem.saving_tolerance = pick(state, tolerances, 4);
  problem.share_tolerance = pick(state, tolerances, 4);
  problem.after_tolerance = pick(state, tolerances, 4);
  find_truth(&problem);
  const bool above = uniform(state, 0, 1) < 0.5;
  const double sign = (above ? 1 : -1) * (possible ? -1 : 1);
  // Never outside at the other end: an interval narrower than the gap would be.
  const double width = problem.highest - problem.lowest + 2 * problem.after_tolerance;
  const double gap = possible ? fmin(problem.gap, width / 2) : problem.gap;
  problem.gap = gap;
  problem.after = (above ? problem.highest + problem.after_tolerance
                         : problem.lowest - problem.after_tolerance) +
                  sign * gap;
  return problem;
}

static void write_problem(const struct problem *problem, char text[TEXT]) {
  snprintf(text, TEXT,
           "[scenario]\ntitle = T\ndate = 2026-11-01\nbaseline = a\n[workload]\n"
           "utilization = 70 %%\n[common]\naccelerators = %g\nsupport = %.17g %%/yr\n"
           "pue = %.17g\nengineer_cost = %.17g USD/FTE/yr\n"
           "[option a]\naccelerator = h200-sxm-141\nlist_price = %.17g USD\n"
           "[option b]\naccelerator = mi325x-256\nload_power = %.17g W\n"
           "[free]\na.throughput = 1 .. 100000 token/s\nb.throughput = 1 .. 100000 token/s\n"
           "electricity_price = 0 .. %.17g USD/kWh\nb.list_price = %.17g .. %.17g USD\n"
           "[claim saving]\nsays = saving of b over a = %.17g %% +- %.17g %%\n"
           "[claim share]\nsays = b.hardware_cost / b.tco = %.17g %% +- %.17g %%\n"
           "[claim after]\nsays = saving of b over a = %.17g %% +- %.17g %%\n"
           "with.b.engineers = %.17g FTE\n",
           problem->accelerators, 100 * problem->support, problem->pue, problem->engineer_cost,
           problem->price_a, problem->watts, problem->power_high, problem->price_low,
           problem->price_high, 100 * problem->saving, 100 * problem->saving_tolerance,
           100 * problem->share, 100 * problem->share_tolerance, 100 * problem->after,
           100 * problem->after_tolerance, problem->engineers);
}

static const struct audit *audit_text(struct scenario_fixture *fixture, const char *text) {
  scenario_fixture_start(fixture, text, NULL, NULL);
  expect_error(&fixture->fixture, text, "");
  const struct audit *audit =
      audit_ask(fixture->scenario, &fixture->fixture.arena, &fixture->fixture.diagnostics);
  expect_error(&fixture->fixture, text, "");
  assert_non_null(audit);
  return audit;
}

static void check_impossible(const struct audit *audit, const struct problem *problem,
                             const char *text) {
  const struct audit_claim *after = &audit->list[2];
  const double truth = problem->after > problem->highest ? problem->highest : problem->lowest;
  if (audit->holds || audit->margin <= 0)
    fail_msg("found possible, but misses by %g points:\n%s", 100 * problem->gap, text);
  if (!after->conflict_size || fabs(after->nearest - truth) > 1e-6)
    fail_msg("nearest %.9g instead of %.9g:\n%s", after->nearest, truth, text);
}

static void check_possible(const struct audit *audit, const struct problem *problem,
                           const char *text) {
  const struct audit_claim *after = &audit->list[2];
  const double low = fmax(problem->lowest, problem->after - problem->after_tolerance);
  const double high = fmin(problem->highest, problem->after + problem->after_tolerance);
  if (!audit->holds)
    fail_msg("found impossible by %g points, but has %g of room:\n%s", 100 * audit->margin,
             100 * problem->gap, text);
  if (fabs(after->together.low - low) > 1e-5 || fabs(after->together.high - high) > 1e-5)
    fail_msg("range %.9g .. %.9g instead of %.9g .. %.9g:\n%s", after->together.low,
             after->together.high, low, high, text);
}

static void check_problems(bool possible) {
  char text[TEXT];
  const uint64_t seed = first_seed() + possible, problems = problems_wanted();
  print_message("seed %llu, %d problems\n", (unsigned long long)seed, (int)problems);
  for (uint64_t i = 0; i < problems; i++) {
    uint64_t state = seed + i * 1000003;
    struct scenario_fixture fixture;
    const struct problem problem = new_problem(&state, possible);
    write_problem(&problem, text);
    const struct audit *audit = audit_text(&fixture, text);
    if (possible)
      check_possible(audit, &problem, text);
    else
      check_impossible(audit, &problem, text);
    scenario_fixture_end(&fixture);
  }
}

static void test_impossible(void **state) {
  (void)state;
  check_problems(false);
}

static void test_possible(void **state) {
  (void)state;
  check_problems(true);
}

// ---- anything that a scenario gives can be claimed of it

static const char *const quantities[] = {
    "saving of b over a",
    "saving of b over a in levelised_cost_per_mtok",
    "b.tco / a.tco",
    "b.opex_total / b.tco",
    "b.power_total / b.capex",
    "b.cost_per_gpu_hour / a.cost_per_gpu_hour",
    "b.energy_per_token / a.energy_per_token",
    "b.throughput / b.net_price * a.net_price / a.throughput",
    "b.it_power / a.it_power",
};
static const struct {
  const char *key, *unit;
  double low, high;
} inputs[] = {
    {"a.throughput", "token/s", 1000, 8000},
    {"b.throughput", "token/s", 1000, 8000},
    {"electricity_price", "USD/kWh", 0, 0.5},
    {"b.discount", "%", 0, 40},
    {"b.engineers", "FTE", 0, 5},
    {"wacc", "%/yr", 0, 15},
    {"b.load_power", "W", 400, 1500},
    {"utilization", "%", 20, 100},
    {"support", "%/yr", 0, 10},
};
enum { QUANTITIES = sizeof quantities / sizeof quantities[0] };
enum { INPUTS = sizeof inputs / sizeof inputs[0] };

static const char witness_head[] =
    "[scenario]\ntitle = T\ndate = 2026-11-01\nbaseline = a\n[option a]\n"
    "accelerator = h200-sxm-141\nlist_price = 30000 USD\naccelerators = 64\npue = 1.2\n"
    "engineer_cost = 200000 USD/yr\n[option b]\naccelerator = mi325x-256\nlist_price = 20000 USD\n"
    "accelerators = 64\npue = 1.2\nengineer_cost = 200000 USD/yr\n";

// Every input stated, as a case of its own, so that cost items come from plain evaluation.
static void append_values(char *text, const double *values) {
  size_t length = strlen(text);
  length += (size_t)snprintf(text + length, TEXT - length, "[common]\n");
  for (int i = 0; i < INPUTS; i++)
    if (!strchr(inputs[i].key, '.'))
      length += (size_t)snprintf(text + length, TEXT - length, "%s = %.17g %s\n", inputs[i].key,
                                 values[i], inputs[i].unit);
  for (int option = 'a'; option <= 'b'; option++) {
    char *section = strstr(text, option == 'a' ? "[option a]\n" : "[option b]\n") + 11;
    for (int i = 0; i < INPUTS; i++) {
      char line[96];
      if (inputs[i].key[0] != option || inputs[i].key[1] != '.')
        continue;
      const int size = snprintf(line, sizeof line, "%s = %.17g %s\n", inputs[i].key + 2, values[i],
                                inputs[i].unit);
      memmove(section + size, section, strlen(section) + 1);
      memcpy(section, line, (size_t)size);
    }
  }
}

static double given(const struct scenario *scenario, int option, const char *item) {
  return option_value(scenario, &scenario->options[option], model_find(scenario->model, item), 0);
}

static double quantity_given(const struct scenario *scenario, int which) {
  static const char *const items[][2] = {
      {"tco", "tco"}, {"opex_total", "tco"}, {"power_total", "capex"}};
  switch (which) {
  case 0: return option_saving(scenario, &scenario->options[1], "cost_per_mtok");
  case 1: return option_saving(scenario, &scenario->options[1], "levelised_cost_per_mtok");
  case 2: return given(scenario, 1, "tco") / given(scenario, 0, "tco");
  case 3:
  case 4: return given(scenario, 1, items[which - 2][0]) / given(scenario, 1, items[which - 2][1]);
  case 5: return given(scenario, 1, "cost_per_gpu_hour") / given(scenario, 0, "cost_per_gpu_hour");
  case 6: return given(scenario, 1, "energy_per_token") / given(scenario, 0, "energy_per_token");
  case 7:
    return given(scenario, 1, "throughput") / given(scenario, 1, "net_price") *
           given(scenario, 0, "net_price") / given(scenario, 0, "throughput");
  default: return given(scenario, 1, "it_power") / given(scenario, 0, "it_power");
  }
}

// A random scenario with every input stated; and three of its quantities as claims.
static void write_witness(uint64_t *state, bool exact, char text[TEXT]) {
  double values[INPUTS];
  struct scenario_fixture fixture;
  snprintf(text, TEXT, "%s", witness_head);
  for (int i = 0; i < INPUTS; i++)
    values[i] = uniform(state, inputs[i].low, inputs[i].high);
  append_values(text, values);
  scenario_fixture_start(&fixture, text, NULL, NULL);
  expect_error(&fixture.fixture, text, "");
  size_t length = strlen(text);
  const int first = (int)uniform(state, 0, QUANTITIES), stride = 1 + (int)uniform(state, 0, 2);
  for (int k = 0; k < 3; k++) {
    const int which = (first + k * stride) % QUANTITIES;
    const double tolerance = exact ? 0 : uniform(state, 0, 0.01);
    const double off = uniform(state, -tolerance, tolerance);
    length += (size_t)snprintf(
        text + length, TEXT - length, "[claim c%d]\nsays = %s = %.17g %% +- %.17g %%\n", k,
        quantities[which], 100 * (quantity_given(fixture.scenario, which) + off), 100 * tolerance);
  }
  scenario_fixture_end(&fixture);
}

// With four of its inputs free, the scenario itself is a witness that the claims can be true.
static void check_witness(uint64_t state, bool exact) {
  char text[TEXT];
  struct scenario_fixture fixture;
  write_witness(&state, exact, text);
  size_t length = strlen(text);
  length += (size_t)snprintf(text + length, TEXT - length, "[free]\n");
  const int from = (int)uniform(&state, 0, INPUTS);
  for (int k = 0; k < 4; k++) {
    const int i = (from + 2 * k) % INPUTS;
    length += (size_t)snprintf(text + length, TEXT - length, "%s = %g .. %g %s\n", inputs[i].key,
                               inputs[i].low, inputs[i].high, inputs[i].unit);
  }
  const struct audit *audit = audit_text(&fixture, text);
  if (!audit->holds)
    fail_msg("found impossible by %g points, but was taken from a scenario:\n%s",
             100 * audit->margin, text);
  for (int i = 0; i < audit->free_count; i++)
    if (!(audit->frees[i].holds.low <= audit->frees[i].holds.high))
      fail_msg("no range of %s:\n%s", audit->frees[i].quantity->key, text);
  scenario_fixture_end(&fixture);
}

static void test_witness(void **state) {
  (void)state;
  const uint64_t seed = first_seed() + 2, problems = problems_wanted();
  print_message("seed %llu, %d problems\n", (unsigned long long)seed, (int)problems);
  for (uint64_t i = 0; i < problems; i++)
    check_witness(seed + i * 1000003, i % 2);
}

// ---- the worked claim, and plain checks

static void test_scorecard(void **state) {
  (void)state;
  static const struct {
    const char *path;
    double cost_ratio, as_stated, throughput_ratio, after, engineers;
  } readings[] = {
      {"examples/claims/scorecard-31-19.ini", .629, .371, .911, .233, 3.1},
      {"examples/claims/scorecard-own-opex.ini", .629, .371, .911, .264, 5.2},
      {"examples/claims/scorecard-h200-opex.ini", .806, .194, 1.168, .274, 6.7},
      {"examples/claims/scorecard-true-power.ini", .949, .051, 1.375, .280, 7.9},
  };
  for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
    struct scenario_fixture fixture;
    scenario_fixture_open(&fixture, readings[i].path);
    const struct audit *audit =
        audit_ask(fixture.scenario, &fixture.fixture.arena, &fixture.fixture.diagnostics);
    assert_non_null(audit);
    assert_false(audit->holds);
    assert_int_equal(audit->worst->conflict_size, 2);
    const struct audit_alone *alone = audit->alone; // saving: cost_ratio, throughput_ratio
    const double got[] = {alone[0].span.low, audit->list[0].stands, alone[1].span.low,
                          audit->list[1].nearest_said};
    const double expected[] = {readings[i].cost_ratio, readings[i].as_stated,
                               readings[i].throughput_ratio, readings[i].after};
    for (int k = 0; k < 4; k++)
      assert_float_equal(got[k], expected[k], 0.0005);
    assert_float_equal(alone[1].span.high, alone[1].span.low, 1e-6);
    assert_float_equal(audit->needs[0].exact.low, readings[i].engineers, 0.05);
    assert_float_equal(audit->needs[0].exact.high, audit->needs[0].exact.low, 1e-4);
    scenario_fixture_end(&fixture);
  }
}

static void test_consistent_pair(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  scenario_fixture_open(&fixture, "examples/claims/scorecard-31-26.ini");
  const struct audit *audit =
      audit_ask(fixture.scenario, &fixture.fixture.arena, &fixture.fixture.diagnostics);
  assert_non_null(audit);
  assert_true(audit->holds);
  assert_float_equal(audit->shown[1].best, 0.911, 0.0005);
  assert_true(audit->shown[1].together.low < 0.911 && audit->shown[1].together.high > 0.911);
  scenario_fixture_end(&fixture);
}

// ---- bad input

#define HEAD                                                                                       \
  "[scenario]\ntitle = T\ndate = 2026-11-01\n[common]\naccelerators = 8\npue = 1\n"                \
  "electricity_price = 0.1 USD/kWh\nutilization = 70 %\n[option a]\n"                              \
  "accelerator = h200-sxm-141\nlist_price = 30000 USD\nthroughput = 4000 token/s\n[option b]\n"    \
  "accelerator = mi325x-256\nlist_price = 20000 USD\nthroughput = 4000 token/s\n"
#define MEASURED_NODE                                                                              \
  "[workload]\nmodel = llama-2-70b\nprecision = fp8\nscenario = server\n[option c]\n"              \
  "accelerator = h200-sxm-141\nlist_price = 30000 USD\nevidence = tp0609\n"
#define CLAIM "[claim c]\nsays = saving of b over a = 30 % +- 1 %\n"

static void test_bad_input(void **state) {
  (void)state;
  static const struct {
    const char *text, *error;
  } cases[] = {
      {"[claim c]\nsource = x\n", "claim 'c' needs either says or shows"},
      {"[claim c]\nsays = saving of b over a = 30 %\n", "needs a tolerance, as in"},
      {"[claim c]\nsays = saving of b over a\n", "expected QUANTITY = VALUE"},
      {"[claim c]\nsays = saving of b = 30 % +- 1 %\n", "expected 'saving of OPTION over OPTION'"},
      {"[claim c]\nsays = saving of bb over a = 30 % +- 1 %\n", "2:18: no option 'bb'"},
      {"[claim c]\nsays = b.tcp = 3 USD +- 1 USD\n", "unknown line item 'tcp'; did you mean 'tco'"},
      {"[claim c]\nsays = b.opex = 3 USD +- 1 USD\n", "'opex' is an amount per period"},
      {"[claim c]\nsays = b.tco = 3 W +- 1 W\n", "USD"},
      {"[claim c]\nsays = b.tco = 3 USD +- -1 USD\n", "is below zero"},
      {"[claim c]\nshows = b.tco\n", "nothing to audit"},
      {"[claim c]\nsays = b.concurrency / a.concurrency = 1.6 +- 0.1\n", "needs [workload] model"},
      {"[claim together]\nsays = b.tco >= 3 USD\n", "cannot be a claim's name"},
      {CLAIM "sezs = b\n", "unknown key 'sezs' in a claim"},
      {CLAIM "with.b.discont = 3 %\n", "unknown input 'discont'; did you mean 'discount'?"},
      {CLAIM "with.b.discount = 120 %\n", "'120 %' is outside the allowed range of 'b.discount'"},
      {CLAIM "with.b.engineers = 2 FTE\n", "has no meaning without 'engineer_cost'"},
      {CLAIM "with.electricity_price = 0.2 USD/kWh\nwith.a.electricity_price = 0.3 USD/kWh\n",
       "contradicts 'with.electricity_price = 0.2 USD/kWh' in line 3: both apply to 'a'"},
      {CLAIM "with.b.throughput = 9000 token/s\n[free]\nb.throughput = 1 .. 8000 token/s\n",
       "contradicts the free range in line 5"},
      {CLAIM "with.b.discount = times -1\n", "must not be below zero"},
      {CLAIM "needs = b.tco\n", "is computed"},
      {CLAIM "[free]\nb.throughput = 2000 .. token/s\n",
       "expected a quantity such as '100 token/s/gpu', not 'token/s'"},
      {CLAIM "[free]\nb.throughput = .. 2000 token/s\n",
       "expected a quantity such as '100 token/s/gpu', not '"},
      {CLAIM "[free]\nb.throughput = 2000 token/s\n", "expected LOW .. HIGH"},
      {CLAIM "[free]\nb.throughput = 2000 .. inf token/s\n",
       "expected a quantity such as '100 token/s/gpu', not 'inf token/s'"},
      {CLAIM "[free]\nb.throughput = 3000 .. 2000 token/s\n", "is not below its high end"},
      {CLAIM "[free]\nb.throughput = 2000 .. 3000 W\n", "token/s"},
      {CLAIM "[free]\nb.discount = 0 .. 140 %\n", "exceeds the limits of 'discount'"},
      {CLAIM "[free]\nc.discount = 0 .. 40 %\n", "there is no option 'c'"},
      {CLAIM "[free]\nb.discont = 0 .. 40 %\n", "unknown key 'discont' in [free]"},
      {CLAIM "[free]\naccelerators = 8 .. 80 gpu\n", "is a whole number, which cannot be free"},
      {CLAIM "[free]\ncolo_power = 0 .. 1\n", "is a choice, which cannot be free"},
      {CLAIM "[free]\nthroughput = 2000 .. 3000 token/s\n", "every option sets its own"},
      {CLAIM "[free]\nc.host_power = 100 .. 500 W\n" MEASURED_NODE, "power of the whole node"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    char text[TEXT];
    snprintf(text, sizeof text, "%s%s", cases[i].text, HEAD);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    if (fixture.scenario)
      assert_null(
          audit_ask(fixture.scenario, &fixture.fixture.arena, &fixture.fixture.diagnostics));
    expect_error(&fixture.fixture, cases[i].text, cases[i].error);
    scenario_fixture_end(&fixture);
  }
}

// The saving is 31 % at both the lower and the higher electricity price if power is free and, far
// from there, if it is expensive: the way between leads over a ridge.
static void test_two_valleys(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  const struct audit *audit = audit_text(
      &fixture, "[scenario]\ntitle = T\ndate = 2026-11-01\n[common]\naccelerators = 800\n"
                "pue = 1\nutilization = 70 %\ndiscount = 14 %\n[option a]\n"
                "accelerator = h200-sxm-141\n"
                "list_price = 35000 USD\n[option b]\naccelerator = mi325x-256\n"
                "list_price = 22000 USD\nload_power = 750 W\n[free]\n"
                "a.throughput = 1000 .. 16000 token/s\nb.throughput = 1000 .. 16000 token/s\n"
                "electricity_price = 0 .. 5 USD/kWh\n[claim cheaper]\n"
                "says = saving of b over a = 31 % +- 0.5 %\n"
                "with.electricity_price = times 0.8\n[claim dearer]\n"
                "says = saving of b over a = 31 % +- 0.5 %\n"
                "with.electricity_price = times 1.2\n");
  assert_true(audit->holds);
  assert_float_equal(audit->margin, -0.005, 1e-6);
  scenario_fixture_end(&fixture);
}

static void test_nothing_free(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool holds;
    double stands;
  } cases[] = {
      {"[claim c]\nsays = b.list_price / a.list_price = 66.67 % +- 0.01 %\n", true, 2. / 3},
      {"[claim c]\nsays = b.list_price = 19000 USD +- 1000 USD\n", true, 20000},
      {"[claim c]\nsays = b.list_price = 19000 USD +- 5 %\n", false, 20000},
      {"[claim c]\nsays = b.list_price = 18000 .. 20000 USD\n", true, 20000},
      {"[claim c]\nsays = b.list_price <= 19999 USD\n", false, 20000},
      {"[claim c]\nsays = b.list_price >= 19999 USD\n", true, 20000},
      {"[claim c]\nsays = b.list_price = 30000 USD +- 0 USD\nwith.b.list_price = 30000 USD\n", true,
       30000},
      {"[claim c]\nsays = b.list_price = 10000 USD \u00b1 1 USD\nwith.b.list_price = times 0.5\n",
       true, 10000},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    char text[TEXT];
    snprintf(text, sizeof text, "%s%s", cases[i].text, HEAD);
    const struct audit *audit = audit_text(&fixture, text);
    if (audit->holds != cases[i].holds)
      fail_msg("%s: expected %d, found %d", cases[i].text, cases[i].holds, audit->holds);
    expect_near(audit->list[0].stands, cases[i].stands, 1e-12, cases[i].text);
    assert_int_equal(audit->free_count, 0);
    scenario_fixture_end(&fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scorecard),  cmocka_unit_test(test_consistent_pair),
      cmocka_unit_test(test_impossible), cmocka_unit_test(test_possible),
      cmocka_unit_test(test_witness),    cmocka_unit_test(test_two_valleys),
      cmocka_unit_test(test_bad_input),  cmocka_unit_test(test_nothing_free)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
