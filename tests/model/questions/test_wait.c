// Buy now or wait, compared with figures worked out by hand. Run in the repository's root.
//
// Eight accelerators `a` of 1,000 USD serve 800 token/s; four of `b` at 1,500 USD do the same;
// eight of `cloud` at 1 USD an hour as well. Power costs nothing and a node is one accelerator,
// unless a test says otherwise.
#include "tests/support/scenario_fixture.h"

#include "model/questions/delivery_slip.h"
#include "model/questions/question.h"
#include "model/questions/wait.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double H = 3 * 8760., month = 730;

static const char options[] =
    "[scenario]\ntitle = T\nhorizon = 3 yr\ndate = 2026-11-20\n"
    "[workload]\nutilization = 100 %%\n"
    "[common]\naccelerators = 8\naccelerators_per_node = 1\npue = 1\n"
    "electricity_price = %s\nload_power = 1000 W/gpu\n%s\n"
    "[option a]\naccelerator = h200-sxm-141\nlist_price = 1000 USD\nthroughput = 100 token/s\n"
    "[option b]\naccelerator = b200-sxm-180\nlist_price = 1500 USD\nthroughput = 200 token/s\n"
    "[option cloud]\naccelerator = h200-sxm-141\nrental_rate = 1 USD/gpu/h\n"
    "throughput = 100 token/s\n[wait a]\n%s";

static const struct wait_answer *ask(struct scenario_fixture *fixture, const char *electricity,
                                     const char *common, const char *wait) {
  char text[2048];
  snprintf(text, sizeof text, options, electricity, common, wait);
  scenario_fixture_start(fixture, text, NULL, NULL);
  expect_error(&fixture->fixture, wait, "");
  return wait_ask(fixture->scenario, question_section(fixture->scenario, "wait", "a"),
                  &fixture->fixture.arena, &fixture->fixture.diagnostics);
}

// Both costs if nothing is uncertain.
static void expect_costs(const char *electricity, const char *common, const char *wait, double now,
                         double later) {
  struct scenario_fixture fixture;
  const struct wait_answer *answer = ask(&fixture, electricity, common, wait);
  expect_error(&fixture.fixture, wait, "");
  assert_non_null(answer);
  assert_false(answer->uncertain);
  assert_int_equal(answer->draws, 1);
  expect_near(answer->rate, 800 * 3600., 1e-12, "rate");
  expect_near(answer->now.mean, now, 1e-10, wait);
  expect_near(answer->later.mean, later, 1e-10, wait);
  expect_near(answer->now.regret, fmax(0, now - later), 1e-9, "regret of now");
  expect_near(answer->later.regret, fmax(0, later - now), 1e-9, "regret of waiting");
  expect_near(answer->now.right + answer->later.right, 1, 1e-12, "one of them is right");
  scenario_fixture_end(&fixture);
}

static const char free_power[] = "0 USD/kWh";

static void test_by_hand(void **state) {
  (void)state;
  const double rent = 8 * 6 * month, used = 2.5 / 3;
  const char successor[] = "months = 6\nsuccessor = b\nmeanwhile = cloud\n";
  expect_costs(free_power, "", successor, 8000, rent + 6000 * used);
  expect_costs(free_power, "", "months = 0\nsuccessor = b\nmeanwhile = cloud\n", 8000, 6000);
  expect_costs(free_power, "", "months = 6\nmeanwhile = cloud\n", 8000, rent + 8000 * used);
  expect_costs(free_power, "", "months = 6\nmeanwhile = cloud\nslip = 3 month\n", 8000,
               8 * 9 * month + 8000 * 2.25 / 3);
  expect_costs(free_power, "",
               "months = 2\nmeanwhile = cloud\nslip = 3 month\navailable = 6 month\n", 8000,
               8 * 9 * month + 8000 * 2.25 / 3);
  expect_costs(free_power, "", "months = 6\nmeanwhile = cloud\nprice_decline = 2 %/month\n", 8000,
               rent + 8000 * pow(0.98, 6) * used);
  // Twice as fast for 1.2 times the price: four are enough.
  expect_costs(free_power, "", "months = 6\nmeanwhile = cloud\nthroughput = 2\nprice = 1.2\n", 8000,
               rent + 4 * 1200 * used);
  expect_costs(free_power, "", "months = 6\nmeanwhile = 0.5 USD/Mtok\n", 8000,
               0.5e-6 * 800 * 3600 * 6 * month + 8000 * used);
  // The delivery comes after the horizon: everything is rented.
  expect_costs(free_power, "", "months = 6\nmeanwhile = cloud\nslip = 60 month\n", 8000, 8 * H);
}

// A fifth of the accelerators is left after three years, and of an own facility 60 %, if stated.
static void test_residual(void **state) {
  (void)state;
  // A fifth is left after three years: 2.5 of them use up 80 % x 2.5 / 3 of the price.
  expect_costs(free_power, "residual_value = 20 %", "months = 6\nmeanwhile = cloud\n", 8000 * 0.8,
               8 * 6 * month + 8000 * 0.8 * 2.5 / 3);
  // 8 kW at 500 USD.
  static const struct {
    const char *common;
    double facility_used;
  } cases[] = {{"build_price = 500 USD/kW\nresidual_value = 20 %", 4000},
               {"build_price = 500 USD/kW\nresidual_value = 20 %\nfacility_residual = 60 %", 1600},
               {"build_price = 500 USD/kW\nresale = 60, 40, 20 %\nfacility_residual = 60 %", 1600}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const double accelerators = 8000 * 0.8 * (i < 2 ? 2.5 / 3 : 1);
    expect_costs(free_power, cases[i].common, "months = 6\nmeanwhile = cloud\n",
                 8000 * 0.8 + cases[i].facility_used,
                 8 * 6 * month + accelerators + cases[i].facility_used * 2.5 / 3);
  }
}

// Eight nodes and a network for 50 and 25 USD more each lose value as the accelerators do, whether
// that is left to their common residual value or stated for each.
static void test_residual_of_parts(void **state) {
  (void)state;
  static const char *const stated[] = {
      "residual_value = 20 %\n",
      "residual_value = 20 %\nserver_residual = 20 %\nnetwork_residual = 20 %\n",
      "resale = 60, 40, 20 %\nserver_residual = 20 %\nnetwork_residual = 20 %\n",
  };
  const double all = 8 * (1000 + 50 + 25), used = 0.8 * 2.5 / 3;
  for (size_t i = 0; i < sizeof stated / sizeof stated[0]; i++) {
    char common[256];
    snprintf(common, sizeof common, "node_price = 50 USD\nnetwork_price = 25 USD/gpu\n%s",
             stated[i]);
    // Sold by age, accelerators of two and a half years are worth what three years leave.
    const double accelerators = i < 2 ? 8000 * used : 8000 * 0.8;
    expect_costs(free_power, common, "months = 6\nmeanwhile = cloud\n", all * 0.8,
                 8 * 6 * month + accelerators + 8 * 75 * used);
  }
}

static void test_present_value(void **state) {
  (void)state;
  const double d = 1.1;
  const double rent = 8 * 6 * month / pow(d, 0.5);
  expect_costs(free_power, "wacc = 10 %/yr", "months = 6\nmeanwhile = cloud\n", 8000,
               rent + (8000 - 8000 / 6. / pow(d, 2.5)) / pow(d, 0.5));
  expect_costs(free_power, "wacc = 10 %/yr", "months = 18\nmeanwhile = 0.5 USD/Mtok\n", 8000,
               1.44 * 8760 * (1 / d + 0.5 / pow(d, 1.5)) +
                   (8000 - 4000 / pow(d, 1.5)) / pow(d, 1.5));
}

// A price per token is paid at the end of each period, as a rent is: 8 USD an hour for 2.88 Mtok.
static void test_periods(void **state) {
  (void)state;
  static const char *const rents[] = {"cloud", "2.7777777777777777 USD/Mtok"};
  const double d = 1.1;
  double expected = (8000 - 8000 / 6. / pow(d, 2.5)) / sqrt(d);
  for (int m = 1; m <= 6; m++)
    expected += 8 * month / pow(d, m / 12.);
  for (size_t i = 0; i < sizeof rents / sizeof rents[0]; i++) {
    struct scenario_fixture fixture;
    char wait[128], text[2048], monthly[2048];
    snprintf(wait, sizeof wait, "months = 6\nmeanwhile = %s\n", rents[i]);
    snprintf(text, sizeof text, options, free_power, "wacc = 10 %/yr", wait);
    snprintf(monthly, sizeof monthly, "[scenario]\nperiod = 1 month%s", strchr(text, '\n'));
    scenario_fixture_start(&fixture, monthly, NULL, NULL);
    const struct wait_answer *answer =
        wait_ask(fixture.scenario, question_section(fixture.scenario, "wait", "a"),
                 &fixture.fixture.arena, &fixture.fixture.diagnostics);
    expect_error(&fixture.fixture, wait, "");
    expect_near(answer->later.mean, expected, 1e-12, rents[i]);
    scenario_fixture_end(&fixture);
  }
}

static void test_power(void **state) {
  (void)state;
  // 8 kW at 0.1 USD/kWh, 10 % more every year; half as much is drawn by the successor.
  const double year = 8 * 8760 * 0.1, from_half = pow(1.1, 0.5);
  expect_costs("0.1 USD/kWh", "electricity_escalation = 10 %/yr",
               "months = 6\nmeanwhile = cloud\npower = 0.5\n", 8000 + year * (1 + 1.1 + 1.21),
               8 * 6 * month + 8000 * 2.5 / 3 + year / 2 * from_half * (1 + 1.1 + 0.5 * 1.21));
}

// Renting costs 0.36 USD an hour: the delivery pays until 6,000 + 0.36 L - 6,000 L / H = 8,000.
static void test_latest_delivery(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  const char wait[] = "months = 0\nsuccessor = b\nmeanwhile = 0.125 USD/Mtok\n"
                      "slip = uniform(0, 24) month\nseed = 3\n";
  const double latest = 2000 / (0.36 - 6000 / H);
  const struct wait_answer *answer = ask(&fixture, free_power, "", wait);
  expect_error(&fixture.fixture, wait, "");
  expect_near(answer->latest_delivery, latest, 1e-6, "latest delivery");
  assert_int_equal(answer->draws, 4096);
  expect_near(answer->later.right, latest / (24 * month), 2e-3, "share in which waiting is right");
  expect_near(answer->later.mean, 6000 + 12 * month * (0.36 - 6000 / H), 1e-5, "expected cost");
  // Regret: half the width of the part beyond, times its share.
  const double slope = 0.36 - 6000 / H, beyond = 24 * month - latest;
  expect_near(answer->later.regret, slope * beyond * beyond / 2 / (24 * month), 5e-3, "regret");
  expect_near(answer->now.regret, slope * latest * latest / 2 / (24 * month), 5e-3,
              "regret of now");
  assert_int_equal(answer->pays_from, 0);
  scenario_fixture_end(&fixture);
}

// The scenario's ranges count with their means: a price of `a` of 1,500 USD, not its base value of
// 1,000, and 8 accelerators, not 8.25, as they are whole.
static void test_latest_delivery_at_means(void **state) {
  (void)state;
  static const char *const ranges[] = {
      "a.list_price = uniform(1000, 2000) USD\n",
      "a.list_price = triangular(1000, 1000, 2500) USD\na.accelerators = "
      "discrete(7: 1, 8: 2, 10: 1) gpu\n",
  };
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
    struct scenario_fixture fixture;
    char wait[256];
    snprintf(wait, sizeof wait, "months = 0\nsuccessor = b\nmeanwhile = 0.5 USD/Mtok\n[range]\n%s",
             ranges[i]);
    const struct wait_answer *answer = ask(&fixture, free_power, "", wait);
    expect_error(&fixture.fixture, wait, "");
    // 1.44 USD an hour is rented until 6,000 + 1.44 L - 6,000 L / H = 8 x 1,500.
    expect_near(answer->latest_delivery, 6000 / (1.44 - 6000 / H), 1e-6, ranges[i]);
    scenario_fixture_end(&fixture);
  }
}

// A price that falls by 5 % a month, and hardly any rent: waiting pays later and later.
static void test_month_at_which_it_pays(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  const char wait[] =
      "months = 6\nmeanwhile = 1 USD/Mtok\nprice_decline = 5 %/month\nprice = 1.2\n";
  const struct wait_answer *answer = ask(&fixture, free_power, "", wait);
  long from = -1, best = 0;
  double costs[13];
  for (int m = 0; m <= 12; m++) {
    costs[m] = 2.88 * m * month + 9600 * pow(0.95, m) * (36 - m) / 36;
    from = from < 0 && costs[m] < 8000 ? m : from;
    best = costs[m] < costs[best] ? m : best;
  }
  assert_int_equal(answer->count, 13);
  for (size_t m = 0; m < answer->count; m++)
    expect_near(answer->list[m].cost, costs[m], 1e-10, "month");
  assert_int_equal(answer->pays_from, from);
  assert_int_equal(answer->best, from < 0 ? -1 : best);
  scenario_fixture_end(&fixture);
}

// The scenario's own ranges count: the price of `a` decides, uniform between 500 and 1,500 USD.
static void test_ranges_of_the_scenario(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  const char wait[] = "months = 0\nsuccessor = b\nmeanwhile = cloud\n"
                      "[range]\na.list_price = uniform(500, 1500) USD\n";
  const struct wait_answer *answer = ask(&fixture, free_power, "", wait);
  expect_error(&fixture.fixture, wait, "");
  expect_near(answer->now.mean, 8000, 1e-4, "expected cost of now");
  expect_near(answer->later.right, 0.75, 1e-3, "now costs more than 6,000 in three of four draws");
  expect_near(answer->now.low, 8 * 550, 5e-3, "5th percentile");
  scenario_fixture_end(&fixture);
}

static void test_bad_input(void **state) {
  (void)state;
  static const struct {
    const char *wait, *message;
  } cases[] = {
      {"meanwhile = cloud\n", "needs 'months'"},
      {"months = -1\nmeanwhile = cloud\n",
       "whole number of months, as an order cannot be in the past, not '-1'"},
      {"months = 36\nmeanwhile = cloud\n", "the horizon ends after 36 months"},
      {"months = 1.5\nmeanwhile = cloud\n", "expected a whole number of months"},
      {"months = 6 yr\nmeanwhile = cloud\n", "expected a whole number of months"},
      {"months = 0x6 month\nmeanwhile = cloud\n", "expected a whole number of months"},
      {"months = 6\n", "needs 'meanwhile'"},
      {"months = 6\nmeanwhile = b\n", "'b' is bought, not rented"},
      {"months = 6\nmeanwhile = clout\n", "'clout' is neither an option nor a price"},
      {"months = 6\nmeanwhile = -1 USD/Mtok\n", "meanwhile cannot be negative"},
      {"months = 6\nmeanwhile = cloud\nsuccessor = mi500\n",
       "there are no data for the successor 'mi500': add an [option mi500]"},
      {"months = 6\nmeanwhile = cloud\nsuccessor = cloud\n", "the successor 'cloud' is rented"},
      {"months = 6\nmeanwhile = cloud\nthroughput = 0\n", "throughput must be above zero"},
      {"months = 6\nmeanwhile = cloud\nslip = -1 month\n", "slip cannot be negative"},
      {"months = 6\nmeanwhile = cloud\nslip = triangular(0, 9, 8) month\n",
       "must lie within 0 and 8"},
      {"months = 6\nmeanwhile = cloud\nslip = from measurement\n", "no record measures slip"},
      {"months = 6\nmeanwhile = cloud\ndraws = 0\n", "expected a whole number from 1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    assert_null(ask(&fixture, free_power, "", cases[i].wait));
    expect_error(&fixture.fixture, cases[i].wait, cases[i].message);
    scenario_fixture_end(&fixture);
  }
}

// 800 token/s are served however large the demand is, and half of them if no more is asked for.
static void test_demands(void **state) {
  (void)state;
  static const struct {
    const char *demand;
    double rate, unmet, later; // token/s; USD, for an order of the same in 0 months
  } cases[] = {{"50457.6 Mtok/yr", 800, 800, 8000}, {"12614.4 Mtok/yr", 400, 0, 4000}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    char common[128];
    snprintf(common, sizeof common, "demand = %s", cases[i].demand);
    const struct wait_answer *answer =
        ask(&fixture, free_power, common, "months = 0\nmeanwhile = cloud\n");
    expect_near(answer->rate, cases[i].rate * 3600, 1e-12, "rate");
    expect_near(answer->unmet, cases[i].unmet * 3600, 1e-12, "unmet");
    expect_near(answer->now.mean, 8000, 1e-12, "now");
    expect_near(answer->later.mean, cases[i].later, 1e-12, cases[i].demand);
    scenario_fixture_end(&fixture);
  }
}

// Half of 1,600 token/s is bought elsewhere, whether the rest is served by what is bought now, what
// is ordered or what is rented. An option without such a price serves all of them itself.
static void test_bought_elsewhere(void **state) {
  (void)state;
  static const char price[] = "demand = 50457.6 Mtok/yr\nburst_price = 0.1 USD/Mtok";
  static const char rate[] = "demand = 50457.6 Mtok/yr\nburst_rate = 0.036 USD/gpu/h";
  static const char b[] = "months = 0\nsuccessor = b\nmeanwhile = cloud\n";
  const double elsewhere = 0.1 * 2.88 * H; // 800 token/s are 2.88 Mtok/h, or 8 accelerators
  const struct {
    const char *common, *wait;
    double later; // without what is bought elsewhere by an option or its successor
    const char *set;
  } cases[] = {
      {price, "months = 0\nmeanwhile = cloud\n", 8000, NULL},
      {rate, "months = 0\nmeanwhile = cloud\n", 8000, NULL},
      {price, b, 6000, NULL},
      {price, "months = 6\nmeanwhile = cloud\n", 8 * 6 * month + 8000 * 2.5 / 3, NULL},
      {price, "months = 6\nmeanwhile = 0.5 USD/Mtok\n", 0.5 * 2.88 * 6 * month + 8000 * 2.5 / 3,
       NULL},
      {price, b, 12000 - elsewhere, "b.burst_price=0 USD/Mtok"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(text, sizeof text, options, free_power, cases[i].common, cases[i].wait);
    scenario_fixture_set(&fixture, text, NULL, &cases[i].set);
    const struct wait_answer *answer =
        wait_ask(fixture.scenario, question_section(fixture.scenario, "wait", "a"),
                 &fixture.fixture.arena, &fixture.fixture.diagnostics);
    expect_error(&fixture.fixture, cases[i].wait, "");
    expect_near(answer->rate, 1600 * 3600, 1e-12, "rate");
    expect_near(answer->bought, 800 * 3600, 1e-12, "bought");
    expect_near(answer->now.mean, 8000 + elsewhere, 1e-10, "now");
    expect_near(answer->later.mean, cases[i].later + elsewhere, 1e-10, cases[i].wait);
    scenario_fixture_end(&fixture);
  }
}

// Costs that are the same are a tie, right for both: of the order itself, and of its months.
static void test_ties(void **state) {
  (void)state;
  static const struct {
    const char *wait;
    enum wait_verdict verdict;
    double now_right, later_right;
  } cases[] = {
      {"months = 0\nmeanwhile = cloud\n", WAIT_TIE, 1, 1},
      {"months = 0\nmeanwhile = cloud\nprice = 0.7\nthroughput = 0.7\n", WAIT_NOW, 1, 0},
      {"months = 0\nmeanwhile = cloud\nprice = 0.99999\n", WAIT_LATER, 0, 1},
      {"months = 3\nmeanwhile = 0 USD/Mtok\nprice = 1.0909090909090908\n", WAIT_TIE, 1, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    const struct wait_answer *answer = ask(&fixture, free_power, "", cases[i].wait);
    expect_error(&fixture.fixture, cases[i].wait, "");
    assert_int_equal(answer->verdict, cases[i].verdict);
    expect_near(answer->now.right, cases[i].now_right, 1e-12, cases[i].wait);
    expect_near(answer->later.right, cases[i].later_right, 1e-12, cases[i].wait);
    expect_near(answer->list[(size_t)answer->months].right, cases[i].later_right, 1e-12, "month");
    scenario_fixture_end(&fixture);
  }
}

// One horizon and one discount rate, in every draw; what is rented ends at the delivery anyway.
static void test_common_terms(void **state) {
  (void)state;
  static const char successor[] = "months = 6\nmeanwhile = cloud\nsuccessor = b\n";
  static const char half[] = "months = 6\nmeanwhile = 0.5 USD/Mtok\nsuccessor = b\n";
  static const struct {
    const char *wait, *set, *message;
  } cases[] = {
      {successor, "b.horizon=5 yr", "options 'a' and 'b' differ in 'horizon'"},
      {successor, "b.wacc=8 %/yr", "options 'a' and 'b' differ in 'wacc'"},
      {successor, "cloud.wacc=8 %/yr", "options 'a' and 'cloud' differ in 'wacc'"},
      {successor, "cloud.horizon=5 yr", ""},
      {half, "cloud.wacc=8 %/yr", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(text, sizeof text, options, free_power, "", cases[i].wait);
    scenario_fixture_set(&fixture, text, NULL, &cases[i].set);
    expect_error(&fixture.fixture, cases[i].set, "");
    const struct wait_answer *answer =
        wait_ask(fixture.scenario, question_section(fixture.scenario, "wait", "a"),
                 &fixture.fixture.arena, &fixture.fixture.diagnostics);
    expect_error(&fixture.fixture, cases[i].set, cases[i].message);
    assert_int_equal(answer == NULL, *cases[i].message != '\0');
    scenario_fixture_end(&fixture);
  }
  struct scenario_fixture fixture;
  char wait[256];
  snprintf(wait, sizeof wait, "%s[range]\nb.wacc = uniform(0, 9) %%/yr\n", successor);
  assert_null(ask(&fixture, free_power, "", wait));
  expect_error(&fixture.fixture, wait, "options 'a' and 'b' differ in the range of 'wacc'");
  scenario_fixture_end(&fixture);
}

// Served in full from the first day, by every option that takes part, at costs that do not follow
// the year.
static void test_ramps(void **state) {
  (void)state;
  static const struct {
    const char *common, *wait, *message;
  } cases[] = {
      {"ramp = 6 month", "months = 6\nmeanwhile = cloud\n", "option 'a' has a 'ramp'"},
      {"inflation = 3 %/yr", "months = 6\nmeanwhile = cloud\n",
       "option 'a' has costs by year, from 'inflation', which are not defined for a later "
       "purchase"},
      {"", "months = 6\nmeanwhile = cloud\nsuccessor = b\n[case late]\nb.ramp = 6 month\n", ""},
      {"", "months = 6\nmeanwhile = cloud\nsuccessor = b\n[range]\nb.ramp = uniform(0, 6) month\n",
       "option 'b' has a 'ramp'"},
      {"", "months = 6\nmeanwhile = cloud\n[range]\ncloud.ramp = uniform(0, 6) month\n",
       "option 'cloud' has a 'ramp'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    const struct wait_answer *answer = ask(&fixture, free_power, cases[i].common, cases[i].wait);
    expect_error(&fixture.fixture, cases[i].wait, cases[i].message);
    assert_int_equal(answer == NULL, *cases[i].message != '\0');
    scenario_fixture_end(&fixture);
  }
}

static void test_spans(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double middle, end; // months after the start of 2024; NAN: none
  } cases[] = {{"2024-Q2", 4.5, 6},   {"2024-Q4", 10.5, 12},  {"H2 2024", 9, 12},
               {"2024-10", 9.5, 10},  {"2024", 6, 12},        {"mid-2024", 6, 7},
               {"late 2024", NAN, 0}, {"2024-Q5", NAN, 0},    {"2024-13", NAN, 0},
               {"2024-00", NAN, 0},   {"2024-10-10", NAN, 0}, {"", NAN, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double middle, end;
    const bool found = slip_span(cases[i].text, &middle, &end);
    if (found == isnan(cases[i].middle))
      fail_msg("'%s' is %s", cases[i].text, found ? "read" : "not read");
    if (!found)
      continue;
    expect_near(middle, 2024 * 12 + cases[i].middle, 1e-12, cases[i].text);
    expect_near(end, 2024 * 12 + cases[i].end, 1e-12, cases[i].text);
  }
}

// Claims 51 (October 2023, fourth quarter of 2024), 65 (two quarters) and 67 (none).
static void test_slip_from_data(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  const char wait[] = "months = 1\nmeanwhile = cloud\nslip = from data\n";
  const struct wait_answer *answer = ask(&fixture, free_power, "", wait);
  expect_error(&fixture.fixture, wait, "");
  expect_near(answer->slip, (13 + 6 + 0) / 3. * month, 1e-12, "expected slip");
  assert_non_null(strstr(answer->slip_words, "51 (13 months), 65 (6 months), 67 (0 months)"));
  scenario_fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_hand),
      cmocka_unit_test(test_residual),
      cmocka_unit_test(test_residual_of_parts),
      cmocka_unit_test(test_present_value),
      cmocka_unit_test(test_periods),
      cmocka_unit_test(test_power),
      cmocka_unit_test(test_latest_delivery),
      cmocka_unit_test(test_latest_delivery_at_means),
      cmocka_unit_test(test_month_at_which_it_pays),
      cmocka_unit_test(test_ranges_of_the_scenario),
      cmocka_unit_test(test_bad_input),
      cmocka_unit_test(test_demands),
      cmocka_unit_test(test_bought_elsewhere),
      cmocka_unit_test(test_ties),
      cmocka_unit_test(test_common_terms),
      cmocka_unit_test(test_ramps),
      cmocka_unit_test(test_spans),
      cmocka_unit_test(test_slip_from_data),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
