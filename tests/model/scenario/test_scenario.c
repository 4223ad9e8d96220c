// Scenarios: rent, evidence, cases, grades, horizons, and what is refused. Run in the repository's
// root.
#include "tests/support/scenario_fixture.h"

#include <stdio.h>
#include <string.h>

static const char *const base = scenario_of_two;

// `more` is appended to the base text, so its first line is line 17, in [option b].
static const struct {
  const char *more, *error;
} refused[] = {
    {"discuont = 3 %\n", "17:1: unknown key 'discuont' in [option b]; did you mean 'discount'?"},
    {"capex = 3 USD\n", "17:1: 'capex' is computed, not given"},
    {"evidence = tp0090\n", "17:1: option 'b' states a throughput and also names evidence for one"},
    {"price = pr001\n", "17:1: option 'b' has both 'price' and 'list_price'"},
    {"rental_rate = 2 USD/h\n", "15:14: option 'b' has both 'list_price' and 'rental_rate'"},
    {"decode_throughput = 9 token/s\n", "16:14: option 'b' has both 'throughput' and 'decode_thr"},
    {"build_price = 9 USD/W\ncolo_rate = 150 USD/kW/month\n",
     "17:15: option 'b' has both 'build_price' and 'colo_rate'"},
    {"[common]\npue = 1.3\n", "section"},
    {"[workload]\nutilization = 50 %\n", "'utilization' is given twice"},
    {"[workload]\npue = 1.3\n", "18:1: 'pue' belongs in [common] or an option"},
    {"[workload]\nevidence = median\n", "18:1: 'evidence' belongs in an option"},
    {"[workload]\nprecision = fp9\n", "unknown precision 'fp9'; did you mean 'fp8'?"},
    {"[workload]\nmodel = llama-2-70bb\n",
     "unknown model 'llama-2-70bb'; did you mean 'llama-2-70b'"},
    {"[workload]\nbatch = 0\n", "expected a positive whole number"},
    {"pue = 0.9\n", "17:7: 'pue' must be at least 1, not 0.9"},
    {"discount = 120 %\n", "17:12: 'discount' must be at most 100 %, not 120 %"},
    {"pue = 1.2\npue.source = a friend\npue.quote = Q-1 2026-10-01\n",
     "19:1: both 'source' and 'quote' of one value are given: a quote has its own source and date"},
    {"pue = 1.2\npue.quote = Q-1 2026-10-01\npue.date = 2026\n",
     "19:1: both 'quote' and 'date' of one value are given"},
    {"load_power = -5 W\n", "17:14: 'load_power' must be above 0 W/gpu, not -5 W"},
    {"accelerators_per_node = 2.5\n", "must be a whole number"},
    {"colo_power = maybe\n", "expected metered or included, not 'maybe'"},
    {"colo_power = included\n", "17:14: 'colo_power' has no effect on option 'b' without 'colo_r"},
    {"colo_escalation = 3 %/yr\n", "'colo_escalation' has no effect on option 'b' without 'colo_r"},
    {"facility_residual = 3 %\n", "17:21: 'facility_residual' has no effect on option 'b' without"},
    {"repair_cost = 50 %\n", "'repair_cost' has no effect on option 'b' without 'failure_rate'"},
    {"water_price = 2 USD/m3\n", "'water_price' has no effect on option 'b' without 'water_use'"},
    {"[case c]\nrepair_cost = 50 %\n[case d]\nfailure_rate = 4 %/yr\n",
     "18:15: 'repair_cost' has no effect in case 'c' without 'failure_rate', which no option has "
     "th"},
    {"[case c]\nb.repair_cost = 50 %\n[case d]\nfailure_rate = 4 %/yr\n",
     "18:17: 'repair_cost' has no effect on option 'b' in case 'c' without 'failure_rate'"},
    {"[case c]\ncolo_power = included\n[case d]\nb.colo_rate = 9 USD/kW/month\n",
     "18:14: 'colo_power' has no effect in case 'c' without 'colo_rate', which no option has th"},
    {"demand = 1 Mtok/yr\nrent_decline = 10 %/yr\n", "'rent_decline' has no effect on option 'b'"},
    {"[wait b]\nmonth = 3\n", "18:1: unknown key 'month' in [wait b]; did you mean 'months'?"},
    {"[demand d]\nthruput.b = 1 token/s\n", "did you mean 'throughput.OPTION'?"},
    {"[rent b]\non_demnd = 1 USD/gpu/h\n", "did you mean 'on_demand'?"},
    {"[demand d]\nready = yes\n", "in [demand d]; did you mean 'ready.OPTION'?"},
    {"[demand d]\ntokens.b = 1 Mtok/yr\n", "in [demand d]; did you mean 'tokens'?"},
    {"[portfolio]\nminimum_share = 3 %\n", "did you mean 'minimum_share.VENDOR'?"},
    {"[demand d]\ncontext = 0\n", "18:11: expected a positive whole number, not '0'"},
    {"[demand d]\ntokens = 1e9\n", "18:10: '1e9' has no unit"},
    {"[demand d]\nready_from.b = 3 W\n", "18:18: wrong unit 'W'"},
    {"[portfolio]\nminimum_share.amd = 20\n", "18:21: '20' has no unit"},
    {"[supply b]\ndelay = 3 moths\n", "18:11: unknown unit 'moths'"},
    {"[plan]\ndraws = many\n", "18:9: expected a positive whole number, not 'many'"},
    {"[wait b]\nprice_decline = 3 %\n", "18:19: wrong unit '%'"},
    {"[fit]\nmemory_share = most\n", "18:16: expected a quantity such as"},
    {"[rent b]\nfoo.source = x\n", "18:1: unknown key 'foo.source' in [rent b]"},
    {"[case c]\ndiscuont = 3 %\n", "18:1: unknown key 'discuont' in [case c]; did you mean 'disc"},
    {"[case c]\nx.discount = 3 %\n", "18:1: there is no option 'x'"},
    {"[case c]\nb.evidence = tp0090\n",
     "18:1: a case changes inputs: 'evidence' belongs in an option"},
    {"[case c]\nb.model = x\n", "'model' belongs in an option or [workload]"},
    {"[case c]\nidle_power = 100 W\n", "'idle_power', which option 'a' otherwise computes"},
    {"[case c]\nb.rental_rate = 2 USD/h\n", "has both 'list_price' and 'rental_rate'"},
    {"[case base]\npue = 2\n", "'base' is a reserved word"},
    {"[case]\npue = 2\n", "[case] needs a name"},
    {"[scenario x]\n", "[scenario] takes no name"},
    {"[optoin c]\n", "17:1: unknown section [optoin]; did you mean [option]?"},
    {"[option A]\naccelerator = h200-sxm-141\n", "options 'a' and 'A' differ only in case"},
    {"[option c d]\n", "'c d' is not a name"},
    {"[option c]\n", "17:1: option 'c' needs 'accelerator'"},
    {"[option c]\naccelerator = h210\n", "18:15: unknown accelerator 'h210'"},
    {"[option c]\naccelerator = h200-sxm-142\n", "did you mean 'h200-sxm-141'?"},
    {"[option c]\naccelerator = h200-sxm-141\nthroughput = 1 token/s\n",
     "17:1: option 'c' needs 'list_price' (USD/gpu)"},
    {"[option c]\naccelerator = h200-sxm-141\nlist_price = 1 USD\n",
     "17:1: 'h200-sxm-141' has no throughput, and there is no [workload] model"},
    {"[option c]\naccelerator = h200-sxm-141\nrental_rate = 2 USD/h\nthroughput = 1 token/s\n"
     "node_price = 5 USD\n",
     "21:14: 'node_price' is part of the rent of option 'c'"},
    {"[option c]\naccelerator = h200-sxm-141\nrental_rate = 2 USD/h\nthroughput = 1 token/s\n"
     "support = 10 %/yr\n",
     "21:11: 'support' is part of the rent of option 'c'"},
    {"[option c]\naccelerator = h200-sxm-141\nrental_rate = 2 USD/h\nthroughput = 1 token/s\n"
     "purchase_tax = 8 %\n",
     "21:16: option 'c' is rented: 'purchase_tax' is a share of a purchase; if a tax on the "
     "rent is not recovered, add it as an [item] with a formula such as rental_cost * 8 %"},
    {"[option c]\naccelerator = h200-sxm-141\nrental_rate = 2 USD/h\nthroughput = 1 token/s\n"
     "purchase_unit = 8 gpu\n",
     "21:17: option 'c' is rented: 'purchase_unit' applies to a purchase; if it is rented in "
     "instances, give 'accelerators' in whole ones"},
    {"[option c]\naccelerator = h200-sxm-141\nprice = pr001\nthroughput = 1 token/s\n",
     "price 'pr001' is for 'mi325x-256', not for 'h200-sxm-141'"},
    {"[option c]\naccelerator = b200-sxm-180\nprice = pr027\nthroughput = 1 token/s\nnode_price = "
     "9 USD\n",
     "21:14: price 'pr027' of option 'c' is for a whole server, which includes 'node_price'"},
    {"[option c]\naccelerator = b200-sxm-180\nprice = pr027\nthroughput = 1 token/s\n[case dear]\n"
     "c.node_price = 9 USD\n",
     "22:16: price 'pr027' of option 'c' is for a whole server, which includes 'node_price'"},
    {"[option c]\naccelerator = h200-sxm-141\nprice = pr999\nthroughput = 1 token/s\n",
     "19:9: unknown price 'pr999'"},
    {"[option c]\naccelerator = h200-sxm-141\nprice = pr136\nthroughput = 1 token/s\n",
     "19:9: price 'pr136' is a rent per hour (on_demand), and 'price' is of a purchase: give it as "
     "'rental_rate', paid around the clock, or 'on_demand_rate'"},
    {"[option c]\naccelerator = h200-sxm-141\nlist_price = 1 USD\nevidence = tp9999\n",
     "20:12: no row 'tp9999' in the table of throughputs"},
    {"[option c]\naccelerator = h200-sxm-141\nlist_price = 1 USD\nevidence = tp0090\n",
     "evidence 'tp0090' is for 'mi325x-256', not for 'h200-sxm-141'"},
    {"engineers = 2\n", "17:13: option 'b' has 'engineers' and so needs 'engineer_cost'"},
    {"[option c]\naccelerator = h200-sxm-141\nprice = pr007\nthroughput = 1 token/s\n"
     "rental_rate = 2 USD/h\n",
     "19:1: option 'c' has both 'list_price' and 'rental_rate'"},
    {"discount.source = a friend\n", "17:1: 'discount.source' needs a 'discount'"},
    {"list_price.quote = Q-118\n", "expected a quote's reference and its date"},
    {"list_price.date = soon\n", "expected a date"},
    {"decode_throughput = 9 token/s\n", "has both"},
};

static void test_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(text, sizeof text, "%s%s", base, refused[i].more);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    assert_null(fixture.scenario);
    expect_error(&fixture.fixture, refused[i].more, refused[i].error);
    scenario_fixture_end(&fixture);
  }
}

// An error that another one only seems to cause is not reported.
static void test_one_error(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  scenario_fixture_start(&fixture,
                         "[scenario]\ntitle = T\ndate = 2026-11-01\n[common]\naccelerators = 8\n"
                         "pue = 1\nelectricity_price = 0.1 USD/kWh\nutilization = 70 %\n"
                         "colo_escalation = 3 %/yr\n[option a]\naccelerator = h200-sxm-141\n"
                         "list_price = 3 USD\nthroughput = 1 token/s\ncolo_rate = 9 USD/kW/month\n"
                         "build_price = 9 USD/W\n[option b]\naccelerator = h200-sxm-141\n"
                         "list_price = 3 USD\nthroughput = 1 token/s\n",
                         NULL, NULL);
  assert_int_equal(fixture.fixture.diagnostics.errors, 1);
  expect_error(&fixture.fixture, "both", "option 'a' has both 'build_price' and 'colo_rate'");
  scenario_fixture_end(&fixture);
}

static void test_bad_settings(void **state) {
  (void)state;
  static const struct {
    const char *setting, *error;
  } cases[] = {
      {"pue", "1:1: expected KEY=VALUE"},
      {"pue=0.5", "1:5: 'pue' must be at least 1"},
      {"peu=1.5", "unknown key 'peu' in --set; did you mean 'pue'?"},
      {"aa.pue=1.5", "there is no option 'aa'; did you mean 'a'?"},
      {"a.accelerator=h200-sxm-14", "unknown accelerator 'h200-sxm-14'"},
      {"a.quote=", "1:9: an empty 'quote' only removes what a file inherits: --set needs"},
      {"grid=", "1:6: an empty 'grid' only"},
      {"list_price=1 USD", "1:12: every option sets its own 'list_price': a.list_price, b.list_"},
      {"rental_rate=2 USD/gpu/h", "1:13: 'rental_rate' has no effect: no option uses it, given"},
      {"decode_throughput=2 token/s", "1:19: 'decode_throughput' has no effect: no option"},
      {"spot_share=10 %", "1:12: 'spot_share' has no effect: no option uses it"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    scenario_fixture_set(&fixture, base, NULL, &cases[i].setting);
    assert_null(fixture.scenario);
    expect_error(&fixture.fixture, cases[i].setting, cases[i].error);
    scenario_fixture_end(&fixture);
  }
}

static void test_case_without_use(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  char text[2048];
  snprintf(text, sizeof text, "%s[case c]\nspot_share = 10 %%\npue = 1.3\n", base);
  scenario_fixture_start(&fixture, text, NULL, NULL);
  expect_error(&fixture.fixture, "a case", "");
  assert_int_equal(fixture.scenario->warnings.count, 1);
  assert_string_equal(fixture.scenario->warnings.list[0],
                      "'spot_share' in case c has no effect: no option uses it, given its other "
                      "values");
  scenario_fixture_end(&fixture);
}

static void test_case_replaced(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  const char *setting = "pue=1.2";
  char text[2048];
  snprintf(text, sizeof text, "%s[case c]\npue = 1.3\n", base);
  scenario_fixture_set(&fixture, text, NULL, &setting);
  expect_error(&fixture.fixture, "a case", "");
  assert_int_equal(fixture.scenario->warnings.count, 1);
  assert_string_equal(fixture.scenario->warnings.list[0],
                      "'pue' in case c has no effect: --set replaces it");
  scenario_fixture_end(&fixture);
}

// Common values do not apply to a rented option; its own settings count.
static void test_rent(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  char text[2048];
  snprintf(text, sizeof text,
           "%s[option c]\naccelerator = h200-sxm-141\nthroughput = 4000 token/s\n"
           "rental_rate = 2.5 USD/gpu/h\nsoftware_licence = 100 USD/yr\n",
           base);
  scenario_fixture_start(&fixture, text, NULL, NULL);
  expect_error(&fixture.fixture, "rent", "");
  assert_true(fixture.scenario->options[2].rented);
  expect_near(scenario_item(fixture.scenario, "c.capex", 1), 0, 0, "capex");
  expect_near(scenario_item(fixture.scenario, "c.power_total", 1), 0, 0, "power_total");
  expect_near(scenario_item(fixture.scenario, "c.rental_total", 1), 800 * 2.5 * 26280, 1e-14,
              "rental_total");
  expect_near(scenario_item(fixture.scenario, "c.licence_total", 1), 800 * 300, 1e-14,
              "licence_total");
  scenario_fixture_end(&fixture);
}

static const char decode[] = "[workload]\ninput_tokens = 8000 token\noutput_tokens = 1000 token\n"
                             "[option c]\naccelerator = h200-sxm-141\nlist_price = 30000 USD\n"
                             "decode_throughput = 9000 token/s\n";

// Decoding is not serving: a decode rate alone is never compared with a serving rate.
static void test_decode_is_not_serving(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  char text[2048];
  snprintf(text, sizeof text, "%s%s", base, decode);
  scenario_fixture_start(&fixture, text, NULL, NULL);
  assert_null(fixture.scenario);
  expect_error(&fixture.fixture, "decode beside serving",
               "are not comparable, basis: serving and decode");
  scenario_fixture_end(&fixture);
  snprintf(text, sizeof text, "%s%sprefill_throughput = 36000 token/s\n", base, decode);
  scenario_fixture_start(&fixture, text, NULL, NULL);
  expect_error(&fixture.fixture, "decode with prefill", "");
  expect_near(scenario_item(fixture.scenario, "c.throughput", 1),
              1000 / (8000. / 36000 + 1000. / 9000), 1e-14, "throughput");
  expect_near(scenario_item(fixture.scenario, "c.prefill_share", 1),
              100 * (8. / 36) / (8. / 36 + 1. / 9), 1e-14, "prefill_share");
  scenario_fixture_end(&fixture);
}

static void test_grades(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  char text[2048];
  snprintf(text, sizeof text,
           "%slist_price.quote = Q-118 2026-10-01\n[workload]\nmodel = llama-2-70b\n"
           "precision = fp8\nscenario = server\n[option c]\naccelerator = mi325x-256\n"
           "list_price = 20000 USD\nlist_price.source = a friend\n",
           base);
  scenario_fixture_start(&fixture, text, NULL, NULL);
  expect_error(&fixture.fixture, "grades", "");
  const struct option *b = &fixture.scenario->options[1], *c = &fixture.scenario->options[2];
  assert_int_equal(b->price_grade, GRADE_QUOTED);
  assert_int_equal(b->throughput_grade, GRADE_ASSUMED);
  assert_int_equal(b->power_grade, GRADE_PROJECTED);
  assert_int_equal(b->headline_grade, GRADE_ASSUMED);
  assert_int_equal(c->price_grade, GRADE_CLAIM);
  assert_int_equal(c->throughput_grade, GRADE_BENCHMARK);
  assert_int_equal(c->headline_grade, GRADE_CLAIM);
  // The lower median of the submitters' best audited server runs in fp8.
  expect_near(scenario_item(fixture.scenario, "c.throughput", 1), 3955.78, 1e-14, "throughput");
  scenario_fixture_end(&fixture);
}

// A tenth of 0 moves nothing, but any other price would. The weakest beside it is the power.
static void test_prices_of_zero(void **state) {
  (void)state;
  static const struct {
    const char *price;
    enum grade headline;
  } cases[] = {
      {"list_price = 0 USD\nlist_price.source = a friend\n", GRADE_CLAIM},
      {"list_price = 0 USD\nlist_price.quote = Q-118 2026-10-01\n", GRADE_PROJECTED},
      {"list_price = 0 USD\n", GRADE_ASSUMED},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(text, sizeof text,
             "%s[workload]\nmodel = llama-2-70b\nprecision = fp8\nscenario = server\n"
             "[option c]\naccelerator = mi325x-256\n%s",
             base, cases[i].price);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    expect_error(&fixture.fixture, cases[i].price, "");
    assert_int_equal(fixture.scenario->options[2].headline_grade, cases[i].headline);
    scenario_fixture_end(&fixture);
  }
}

static void test_all_errors_in_one_run(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  char text[2048];
  snprintf(text, sizeof text,
           "%sdiscount = 300 %%\nsuport = 1 %%/yr\npue = one\n[case c]\nwacc = 5\n[oops]\n", base);
  scenario_fixture_start(&fixture, text, NULL, NULL);
  assert_null(fixture.scenario);
  if (fixture.fixture.diagnostics.errors != 5)
    fail_msg("expected 5 errors, got:\n%s", fixture_errors(&fixture.fixture));
  scenario_fixture_end(&fixture);
}

// A horizon that is not a whole number of years ends in a shorter period.
static void test_horizons(void **state) {
  (void)state;
  static const struct {
    const char *horizon;
    int periods;
    double last;
  } cases[] = {{"1 yr", 1, 1},         {"2.5 yr", 3, 0.5},    {"7 yr", 7, 1},
               {"11.25 yr", 12, 0.25}, {"18 months", 2, 0.5}, {"1 month", 1, 1. / 12}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    char setting[64];
    const char *settings[] = {setting};
    snprintf(setting, sizeof setting, "horizon=%s", cases[i].horizon);
    scenario_fixture_set(&fixture, base, NULL, settings);
    expect_error(&fixture.fixture, setting, "");
    const struct option *option = &fixture.scenario->options[0];
    assert_int_equal(option_periods(fixture.scenario, option, 0), cases[i].periods);
    int period = model_find(fixture.scenario->model, "period");
    expect_near(option_value(fixture.scenario, option, period, cases[i].periods) / 8760,
                cases[i].last, 1e-12, cases[i].horizon);
    scenario_fixture_end(&fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_one_error),
      cmocka_unit_test(test_bad_settings),
      cmocka_unit_test(test_case_without_use),
      cmocka_unit_test(test_case_replaced),
      cmocka_unit_test(test_rent),
      cmocka_unit_test(test_decode_is_not_serving),
      cmocka_unit_test(test_grades),
      cmocka_unit_test(test_prices_of_zero),
      cmocka_unit_test(test_all_errors_in_one_run),
      cmocka_unit_test(test_horizons),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
