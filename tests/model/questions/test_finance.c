// The finance views compared with published worked examples, each with its source; horizons of 1 to
// 7 years, and periods shorter than a year. Run in the repository's root.
#include "tests/support/scenario_fixture.h"

#include "model/questions/comparison.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// An option that costs nothing but its capital expenditure: the price of one accelerator, appended
// to this text, and whatever a view needs.
static const char one_asset[] = "[scenario]\n"
                                "title = One asset\n"
                                "date = 2026-11-01\n"
                                "%s\n"
                                "[option a]\n"
                                "accelerator = h200-sxm-141\n"
                                "accelerators = 1\n"
                                "accelerators_per_node = 1\n"
                                "throughput = 1000 token/s\n"
                                "utilization = 50 %%\n"
                                "load_power = 700 W\n"
                                "pue = 1.2\n"
                                "electricity_price = 0 USD/kWh\n"
                                "%s\n";

static void start(struct scenario_fixture *fixture, const char *scenario, const char *option) {
  char text[4096];
  snprintf(text, sizeof text, one_asset, scenario, option);
  scenario_fixture_start(fixture, text, NULL, NULL);
  if (!fixture->scenario)
    fail_msg("%s", fixture_errors(&fixture->fixture));
}

// Published figures are rounded: the computed value must round to the same.
static void expect_rounded(double got, double published, int decimals, const char *what) {
  double half = 0.5 * pow(10, -decimals) * (1 + 1e-9);
  if (!(fabs(got - published) <= half))
    fail_msg("%s: published %.*f, computed %.6f", what, decimals, published, got);
}

// ---- worked examples of single figures

#define IE13                                                                                       \
  "horizon = 10 yr", "list_price = 400000 USD\nlease_rate = 5 %/yr\nlease_term = 10 "              \
                     "yr\nlease_payment = 50000 USD/yr"

static const struct {
  const char *source, *scenario, *option, *item;
  int period;
  double published;
  int decimals;
} examples[] = {
    {"Excel's PMT, example: 8 % a year, 10 months, 10,000", "period = 1 month",
     "list_price = 10000 USD\nloan_share = 100 %\nloan_rate = 8 %/yr\nloan_term = 10 month",
     "loan_instalment", 0, 1037.03, 2},
    {"Excel's IPMT, example: first month of 3 years at 10 %, 8,000", "period = 1 month",
     "list_price = 8000 USD\nloan_share = 100 %\nloan_rate = 10 %/yr\nloan_term = 3 yr",
     "loan_interest", 1, 66.67, 2},
    {"Excel's IPMT, example: last year of 3 at 10 %, 8,000", "",
     "list_price = 8000 USD\nloan_share = 100 %\nloan_rate = 10 %/yr\nloan_term = 3 yr",
     "loan_interest", 3, 292.45, 2},
    {"Excel's PPMT, example: first month of 2 years at 10 %, 2,000", "period = 1 month",
     "list_price = 2000 USD\nloan_share = 100 %\nloan_rate = 10 %/yr\nloan_term = 2 yr",
     "loan_principal", 1, 75.62, 2},
    {"Excel's PPMT, example: tenth year of 10 at 8 %, 200,000", "horizon = 10 yr",
     "list_price = 200000 USD\nloan_share = 100 %\nloan_rate = 8 %/yr\nloan_term = 10 yr",
     "loan_principal", 10, 27598.05, 2},
    {"Excel's SLN, example: 30,000 less a salvage of 7,500 over 10 years", "",
     "list_price = 22500 USD\nbook_life = 10 yr", "book_depreciation", 1, 2250, 2},
    {"IRS Publication 946, Table A-1, 5 years: year 1", "horizon = 6 yr",
     "list_price = 1000 USD\ntax_rate = 21 %", "tax_depreciation", 1, 200, 2},
    {"the same, year 2", "horizon = 6 yr", "list_price = 1000 USD\ntax_rate = 21 %",
     "tax_depreciation", 2, 320, 2},
    {"the same, year 3", "horizon = 6 yr", "list_price = 1000 USD\ntax_rate = 21 %",
     "tax_depreciation", 3, 192, 2},
    {"the same, year 4", "horizon = 6 yr", "list_price = 1000 USD\ntax_rate = 21 %",
     "tax_depreciation", 4, 115.2, 2},
    {"the same, year 5", "horizon = 6 yr", "list_price = 1000 USD\ntax_rate = 21 %",
     "tax_depreciation", 5, 115.2, 2},
    {"the same, year 6", "horizon = 6 yr", "list_price = 1000 USD\ntax_rate = 21 %",
     "tax_depreciation", 6, 57.6, 2},
    {"IFRS 16, Illustrative Example 13: present value of ten payments of 50,000 in advance at 5 %",
     IE13, "right_of_use", 0, 405391, 0},
    {"the same: liability after the first payment", IE13, "lease_liability", 0, 355391, 0},
    {"the same: interest of year 1", IE13, "lease_interest", 1, 17770, 0},
    {"the same: liability after the payment for year 2", IE13, "lease_liability", 1, 323161, 0},
    {"the same: interest of year 2", IE13, "lease_interest", 2, 16158, 0},
    {"the same: interest of year 3", IE13, "lease_interest", 3, 14466, 0},
    {"the same: liability after the payment for year 4", IE13, "lease_liability", 3, 253785, 0},
    {"the same: interest of year 4", IE13, "lease_interest", 4, 12689, 0},
    {"Ross, Westerfield, Jordan, Fundamentals of Corporate Finance, equivalent annual cost, "
     "machine A",
     "horizon = 2 yr", "list_price = 100 USD\nsupport = 10 %/yr\nwacc = 10 %/yr", "npv_cost", 0,
     117.36, 2},
    {"the same", "horizon = 2 yr", "list_price = 100 USD\nsupport = 10 %/yr\nwacc = 10 %/yr",
     "equivalent_annual_cost", 0, 67.62, 2},
    {"the same, machine B", "horizon = 3 yr",
     "list_price = 140 USD\nsoftware_licence = 8 USD/yr\nwacc = 10 %/yr", "npv_cost", 0, 159.89, 2},
    {"the same", "horizon = 3 yr",
     "list_price = 140 USD\nsoftware_licence = 8 USD/yr\nwacc = 10 %/yr", "equivalent_annual_cost",
     0, 64.30, 1},
};

static void test_published_figures(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
    struct scenario_fixture fixture;
    start(&fixture, examples[i].scenario, examples[i].option);
    expect_rounded(scenario_item(fixture.scenario, examples[i].item, examples[i].period),
                   examples[i].published, examples[i].decimals, examples[i].source);
    scenario_fixture_end(&fixture);
  }
}

// At 8 % a year: a loan that ends within a period is repaid in it, 1.08^(1/2) after half a year; a
// period cut short pays (1.08^(1/2) - 1) / 0.08 of an installment.
static void test_largest_installment(void **state) {
  (void)state;
  static const struct {
    const char *term;
    double installment;
  } loans[] = {
      {"6 month", 103.923}, {"1 yr", 108}, {"2 yr", 56.0769}, {"1 yr\nhorizon = 6 month", 52.961}};
  for (size_t i = 0; i < sizeof loans / sizeof loans[0]; i++) {
    struct scenario_fixture fixture;
    char option[128];
    snprintf(option, sizeof option,
             "list_price = 100 USD\nloan_share = 100 %%\nloan_rate = 8 %%/yr\nloan_term = %s",
             loans[i].term);
    start(&fixture, "", option);
    expect_rounded(scenario_item(fixture.scenario, "loan_instalment", 0), loans[i].installment, 3,
                   loans[i].term);
    scenario_fixture_end(&fixture);
  }
}

// ---- rates of return and payback

static const struct {
  const char *source;
  int count;
  double flows[6];
  double published; // %, NAN for none
  int decimals;
} rates[] = {
    {"Excel's IRR, example: after five years",
     6,
     {-70000, 12000, 15000, 18000, 21000, 26000},
     8.7,
     1},
    {"Excel's IRR, example: after four years, -2.1 %: nothing is earned",
     5,
     {-70000, 12000, 15000, 18000, 21000},
     NAN,
     0},
    {"Brealey, Myers, Allen, Principles of Corporate Finance: -4,000, +2,000, +4,000",
     3,
     {-4000, 2000, 4000},
     28,
     0},
    {"no outlay", 3, {10, -5, -4}, NAN, 0},
};

// Of years, in h.
static const double ends[6] = {0, 8760, 2 * 8760, 3 * 8760, 4 * 8760, 5 * 8760};

static void test_published_rates(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
    double rate = 100 * internal_rate(rates[i].flows, ends, rates[i].count);
    if (isnan(rates[i].published))
      assert_true(isnan(rate));
    else
      expect_rounded(rate, rates[i].published, rates[i].decimals, rates[i].source);
  }
}

// The days of Excel's example are those between its dates; a year of operation has 365, as there.
static void test_rates_of_uneven_times(void **state) {
  (void)state;
  static const struct {
    const char *source;
    int count;
    double days[5], flows[5];
    double published; // %
    int decimals;
  } uneven[] = {
      {"Excel's XIRR, example",
       5,
       {0, 60, 303, 411, 456},
       {-10000, 2750, 4250, 3250, 2750},
       37.34,
       2},
      {"a third earned in 8 months: 1.334^(12/8)", 2, {0, 730. / 3}, {-3, 4.002}, 54.08, 2},
      {"whole years", 3, {0, 365, 730}, {-100, 10, 110}, 10, 9}};
  for (size_t i = 0; i < sizeof uneven / sizeof uneven[0]; i++) {
    double times[5];
    for (int t = 0; t < uneven[i].count; t++)
      times[t] = 24 * uneven[i].days[t];
    expect_rounded(100 * internal_rate(uneven[i].flows, times, uneven[i].count),
                   uneven[i].published, uneven[i].decimals, uneven[i].source);
  }
}

static const struct {
  const char *source;
  int count;
  double flows[6];
  double published; // years, NAN for never
} paybacks[] = {
    {"Ross, Westerfield, Jordan: 500 earned back by 100, 200, 500", 4, {-500, 100, 200, 500}, 2.4},
    {"the same: 50,000 earned back by 30,000, 20,000, 10,000, 5,000",
     5,
     {-50000, 30000, 20000, 10000, 5000},
     2},
    {"never", 3, {-100, 40, 59}, NAN},
    {"nothing laid out", 2, {0, 10}, NAN},
    {"laid out later", 3, {0, -10, 20}, NAN},
    {"laid out again, and earned back for good", 5, {-100, 150, -80, 20, 40}, 3 + 10. / 40},
    {"laid out again, and not earned back", 4, {-100, 150, -80, 20}, NAN},
};

static void test_published_paybacks(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof paybacks / sizeof paybacks[0]; i++) {
    double time = payback_time(paybacks[i].flows, ends, paybacks[i].count) / 8760;
    if (isnan(paybacks[i].published))
      assert_true(isnan(time));
    else
      expect_near(time, paybacks[i].published, 1e-12, paybacks[i].source);
  }
}

// Excel's NPV, second example: 8 % a year, 40,000 now, then 8,000, 9,200, 10,000, 12,000, 14,500:
// value 1,922.06. Here one option is the outlay and the other, the baseline, pays what is saved.
static void start_flows(struct scenario_fixture *fixture, const char *outlay, const char *fees) {
  char text[2048];
  snprintf(text, sizeof text,
           "[scenario]\ntitle = Outlay against fees\ndate = 2026-11-01\nhorizon = 5 yr\n"
           "baseline = fees\n"
           "[common]\naccelerators = 1\naccelerators_per_node = 1\nthroughput = 1000 token/s\n"
           "utilization = 50 %%\nwacc = 8 %%/yr\npue = 1.2\nelectricity_price = 0 USD/kWh\n"
           "load_power = 700 W\n"
           "[option outlay]\naccelerator = h200-sxm-141\nlist_price = 40000 USD\n%s"
           "[option fees]\naccelerator = h200-sxm-141\nlist_price = 0 USD\nmigration_cost = 0 USD\n"
           "engineers = 1 FTE\nengineer_cost = 1 USD/yr\n%s"
           "[item fee]\nlabel = Fee\nunit = USD\ngroup = opex\n"
           "formula = engineers * (8000 USD * (t = 1) + 9200 USD * (t = 2) + 10000 USD * (t = 3) + "
           "12000 USD * (t = 4) + 14500 USD * (t = 5) - 1 USD)\n",
           outlay, fees);
  scenario_fixture_start(fixture, text, NULL, NULL);
  expect_error(&fixture->fixture, "fees", "");
}

// The outlay against the fees, or the fees against the outlay.
static const struct comparison *ask(struct scenario_fixture *fixture, size_t baseline) {
  struct scenario *scenario = fixture->scenario;
  scenario->baseline = baseline;
  return comparison_ask(scenario, &scenario->options[1 - baseline], &fixture->fixture.arena);
}

static void test_difference_of_options(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  start_flows(&fixture, "", "");
  const struct comparison *comparison = ask(&fixture, 1);
  assert_non_null(comparison);
  assert_int_equal(comparison->direction, 1);
  expect_near(comparison->extra_outlay, 40000, 1e-12, "extra outlay");
  expect_rounded(comparison->npv_saved, 1922.06, 2, "Excel's NPV, second example");
  expect_near(comparison->saved_total, 13700, 1e-12, "saved");
  // The same seen from the other side.
  const struct comparison *other = ask(&fixture, 0);
  assert_int_equal(other->direction, -1);
  expect_near(other->irr, comparison->irr, 1e-12, "IRR from both sides");
  expect_near(other->npv_saved, -comparison->npv_saved, 1e-12, "NPV from both sides");
  expect_near(other->payback, comparison->payback, 1e-12, "payback from both sides");
  scenario_fixture_end(&fixture);
}

// Whatever the other option's rate: the difference is discounted at the baseline's.
static void test_one_discount_rate(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  start_flows(&fixture, "wacc = 30 %/yr\n", "");
  const struct comparison *comparison = ask(&fixture, 1);
  expect_rounded(comparison->npv_saved, 1922.06, 2, "Excel's NPV, second example");
  assert_int_equal(comparison->outlay, OUTLAY_PAYS);
  // An IRR of 9.7 % is above the one rate, below the other.
  assert_int_equal(ask(&fixture, 0)->outlay, OUTLAY_UNDISCOUNTED);
  scenario_fixture_end(&fixture);
}

// Periods end when the later horizon does.
static void test_horizons_differ(void **state) {
  (void)state;
  static const struct {
    const char *outlay, *fees;
  } horizons[] = {{"horizon = 5.5 yr\n", ""}, {"", "horizon = 5.5 yr\n"}};
  for (size_t i = 0; i < 2; i++) {
    struct scenario_fixture fixture;
    start_flows(&fixture, horizons[i].outlay, horizons[i].fees);
    const struct comparison *comparison = ask(&fixture, 1);
    expect_near(comparison->times[5], 5 * 8760, 1e-12, "the fifth period");
    expect_near(comparison->times[6], 5.5 * 8760, 1e-12, "the sixth period");
    scenario_fixture_end(&fixture);
  }
}

// ---- horizons and periods

static const char all_views[] = "list_price = 40000 USD\nwacc = 0 %/yr\nsupport = 4 %/yr\n"
                                "software_licence = 300 USD/yr\nresidual_value = 10 %\n"
                                "node_price = 9000 USD\nmigration_cost = 5000 USD\n"
                                "book_life = 4 yr\ntax_rate = 25 %\nbonus_depreciation = 40 %\n"
                                "loan_share = 70 %\nloan_rate = 0 %/yr\nloan_term = 5 yr\n"
                                "lease_rate = 6 %/yr\nlease_term = 4 yr\n";

static const char *const checks[] = {"check_categories", "check_tokens", "check_energy",
                                     "check_periods",    "check_book",   "check_tax",
                                     "check_loan",       "check_lease"};

static void expect_checks(const struct scenario *scenario, const char *what) {
  for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
    if (!(fabs(scenario_item(scenario, checks[i], 0)) < 1e-12))
      fail_msg("%s: %s is %g", what, checks[i], scenario_item(scenario, checks[i], 0));
}

// Nothing that grows, ramps or is discounted: a year's months add up to its year.
static const char *const sums[] = {
    "cash",           "tokens",    "book_depreciation", "tax_depreciation", "tax_shield",
    "loan_principal", "it_energy", "support_cost",      "after_tax_cash"};

static double year_of(const struct scenario *scenario, const char *name, int year, int per_year) {
  double sum = 0;
  for (int t = (year - 1) * per_year + 1; t <= year * per_year; t++)
    sum += scenario_item(scenario, name, t);
  return sum;
}

static void test_periods_add_up(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int per_year;
  } periods[] = {{"1 month", 12}, {"2 month", 6}, {"3 month", 4}, {"4 month", 3}, {"6 month", 2}};
  for (int horizon = 1; horizon <= 7; horizon++) {
    struct scenario_fixture yearly;
    char text[64];
    snprintf(text, sizeof text, "horizon = %d yr", horizon);
    start(&yearly, text, all_views);
    expect_checks(yearly.scenario, text);
    for (size_t p = 0; p < sizeof periods / sizeof periods[0]; p++) {
      struct scenario_fixture finer;
      snprintf(text, sizeof text, "horizon = %d yr\nperiod = %s", horizon, periods[p].text);
      start(&finer, text, all_views);
      expect_checks(finer.scenario, text);
      assert_int_equal(finer.scenario->periods, 1 + 7 * periods[p].per_year);
      for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        for (int year = 1; year <= horizon; year++)
          assert_true(fabs(year_of(finer.scenario, sums[i], year, periods[p].per_year) -
                           scenario_item(yearly.scenario, sums[i], year)) <=
                      1e-9 * fabs(scenario_item(yearly.scenario, "capex", 0)) +
                          1e-9 * fabs(scenario_item(yearly.scenario, sums[i], year)));
      scenario_fixture_end(&finer);
    }
    scenario_fixture_end(&yearly);
  }
}

// With a ramp of a year, the first year serves half, whatever the periods.
static void test_ramp_serves_its_share(void **state) {
  (void)state;
  static const char *const periods[] = {"1 yr", "3 month", "1 month"};
  static const int per_year[] = {1, 4, 12};
  char option[1024];
  snprintf(option, sizeof option, "%sramp = 12 month\nidle_power = 100 W\n", all_views);
  for (size_t p = 0; p < 3; p++) {
    struct scenario_fixture fixture;
    char text[64];
    snprintf(text, sizeof text, "period = %s", periods[p]);
    start(&fixture, text, option);
    const struct scenario *scenario = fixture.scenario;
    double full = year_of(scenario, "tokens", 2, per_year[p]);
    expect_near(year_of(scenario, "tokens", 1, per_year[p]), full / 2, 1e-12, text);
    // (700 W - 100 W) x 50 % at full use, half of it over the first year.
    expect_near(year_of(scenario, "it_energy", 1, per_year[p]), 8.76 * (100 + 150), 1e-12, text);
    expect_near(year_of(scenario, "it_energy", 2, per_year[p]), 8.76 * (100 + 300), 1e-12, text);
    expect_checks(scenario, text);
    scenario_fixture_end(&fixture);
  }
}

// A lease without a given payment repays the hardware, whatever its term and the periods.
static void test_lease_repays_the_hardware(void **state) {
  (void)state;
  static const char *const terms[] = {"1 month", "7 month", "1 yr", "3.5 yr", "50 month", "9 yr"};
  static const char *const periods[] = {"1 yr", "6 month", "1 month"};
  for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
    for (size_t p = 0; p < sizeof periods / sizeof periods[0]; p++) {
      struct scenario_fixture fixture;
      char text[128], option[256];
      snprintf(text, sizeof text, "horizon = 2.5 yr\nperiod = %s", periods[p]);
      snprintf(option, sizeof option,
               "list_price = 40000 USD\nlease_rate = 6 %%/yr\nlease_term = %s\nwacc = 6 %%/yr",
               terms[i]);
      start(&fixture, text, option);
      expect_near(scenario_item(fixture.scenario, "right_of_use", 0), 40000, 1e-12, option);
      // At the lease's own rate, it costs the same as the purchase.
      expect_near(scenario_item(fixture.scenario, "lease_npv", 0),
                  scenario_item(fixture.scenario, "npv_cost", 0), 1e-9, option);
      assert_true(fabs(scenario_item(fixture.scenario, "check_lease", 0)) < 1e-12);
      scenario_fixture_end(&fixture);
    }
}

// ---- what is refused

static const struct {
  const char *scenario, *option, *error;
} refused[] = {
    {"period = 5 month", "list_price = 1 USD", "a year must be a whole number of periods"},
    {"period = 2 yr", "list_price = 1 USD", "a year must be a whole number of periods"},
    {"period = 1 h", "list_price = 1 USD", "a year must be a whole number of periods"},
    {"period = 3 USD", "list_price = 1 USD", "USD"},
    {"", "list_price = 1 USD\nperiod = 1 month", "'period' is computed, not given"},
    {"", "list_price = 1 USD\nbonus_depreciation = 40 %",
     "'bonus_depreciation' has no effect on option 'a' without 'tax_rate'"},
    {"[common]\nloan_rate = 4 %/yr", "list_price = 1 USD",
     "'loan_rate' has no effect without 'loan_share', which no option has"},
    {"", "list_price = 1 USD\nloan_share = 10 %\nloan_rate = 5 %/yr",
     "option 'a' needs 'loan_term' (yr)"},
    {"", "list_price = 1 USD\nlease_term = 3 yr",
     "'lease_term' has no effect on option 'a' without 'lease_rate'"},
    {"", "list_price = 1 USD\nlease_rate = 0 %/yr\nlease_term = 3 yr",
     "'lease_rate' must be above 0 %/yr"},
    {"", "rental_rate = 1 USD/h\nlease_rate = 3 %/yr\nlease_term = 3 yr",
     "'lease_rate' is part of the rent of option 'a'"},
    {"", "list_price = 1 USD\ntax_rate = 100 %", "'tax_rate' must be at most 99 %"},
    {"", "list_price = 1 USD\ntax_rate = 20 %\ntax_schedule = sums", "expected macrs or straight"},
};

static void test_refusals(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    struct scenario_fixture fixture;
    char text[4096];
    snprintf(text, sizeof text, one_asset, refused[i].scenario, refused[i].option);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    assert_null(fixture.scenario);
    expect_error(&fixture.fixture, refused[i].option, refused[i].error);
    scenario_fixture_end(&fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_published_figures),
      cmocka_unit_test(test_largest_installment),
      cmocka_unit_test(test_published_rates),
      cmocka_unit_test(test_rates_of_uneven_times),
      cmocka_unit_test(test_published_paybacks),
      cmocka_unit_test(test_difference_of_options),
      cmocka_unit_test(test_one_discount_rate),
      cmocka_unit_test(test_horizons_differ),
      cmocka_unit_test(test_periods_add_up),
      cmocka_unit_test(test_ramp_serves_its_share),
      cmocka_unit_test(test_lease_repays_the_hardware),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
