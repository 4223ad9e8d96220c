// Scenarios: precedence, rent, evidence, cases, grades, and what is refused. Run in the
// repository's root.
#include "tests/support/scenario_fixture.h"

#include <stdio.h>
#include <string.h>

static const char *const base = scenario_of_two;

// One --set argument, or NULL.
static void start(struct scenario_fixture *fixture, const char *text, const char *case_name,
                  const char *const *setting) {
  scenario_fixture_request(fixture, text,
                           (struct scenario_request){.case_name = case_name,
                                                     .settings = setting,
                                                     .setting_count = *setting ? 1 : 0});
}

static const struct {
  const char *more, *case_name, *setting, *item;
  double value;
} precedence[] = {
    {"", NULL, NULL, "a.discount", 0},
    {"", NULL, NULL, "a.accelerators_per_node", 8},
    {"", NULL, NULL, "b.load_power", 1000},
    {"", NULL, NULL, "b.idle_power", 1000},
    {"load_power = 600 W\n", NULL, NULL, "b.load_power", 600},
    {"discount = 10 %\n[case c]\ndiscount = 20 %\n", "c", NULL, "b.discount", 10},
    {"discount = 10 %\n[case c]\nb.discount = 20 %\n", "c", NULL, "b.discount", 20},
    {"discount = 10 %\n[case c]\nb.discount = 20 %\n", NULL, NULL, "b.discount", 10},
    {"discount = 10 %\n[case c]\nb.discount = 20 %\n", "c", "b.discount=30 %", "b.discount", 30},
    {"[case c]\ndiscount = 20 %\n", "c", NULL, "b.discount", 20},
    {"[case c]\ndiscount = 20 %\n", "c", "discount=25 %", "b.discount", 25},
    {"[case c]\ndiscount = 20 %\n", "base", NULL, "b.discount", 0},
    // A list by year in one case, of an input that has its default in the others.
    {"engineer_cost = 100000 USD/FTE/yr\n[case c]\nb.engineers = 1, 2 FTE\n", "c", NULL,
     "b.engineering_total", 500000},
    {"engineer_cost = 100000 USD/FTE/yr\n[case c]\nb.engineers = 1, 2 FTE\n", "base", NULL,
     "b.engineering_total", 0},
    // Power is included where there is a rent that could include it.
    {"colo_rate = 9 USD/kW/month\ncolo_power = included\n", NULL, NULL, "b.power_total", 0},
    {"[case c]\ncolo_rate = 9 USD/kW/month\n", "c", "colo_power=included", "b.power_total", 0},
    {"[case c]\ncolo_rate = 9 USD/kW/month\n", "base", "colo_power=included", "b.power_total",
     800 * 1.0625 * 26280 * 0.08},
    {"[option c]\naccelerator = h200-sxm-141\nlist_price = 9 USD\nthroughput = 1 token/s\n"
     "colo_rate = 9 USD/kW/month\n",
     NULL, "colo_power=included", "b.power_total", 800 * 1.0625 * 26280 * 0.08},
    // What has no effect in this case or on this option may have one elsewhere.
    {"repair_cost = 50 %\n[case c]\nfailure_rate = 4 %/yr\n", NULL, NULL, "b.repair", 0},
    {"repair_cost = 50 %\n[case c]\nfailure_rate = 4 %/yr\n", "c", NULL, "b.repair", 320000},
    {"failure_rate = 0 %/yr\nrepair_cost = 50 %\n", NULL, NULL, "b.repair_cost", 50},
    {"failure_rate = 4 %/yr\n", NULL, "repair_cost=50 %", "a.repair", 0},
    {"failure_rate = 4 %/yr\n", NULL, "repair_cost=50 %", "b.repair", 320000},
    {"failure_rate = 4 %/yr\n[case c]\nrepair_cost = 50 %\n", "c", NULL, "b.repair", 320000},
    {"failure_rate = 4 %/yr\nrepair_cost = 25 %\n[case c]\nrepair_cost = 50 %\n", "c", NULL,
     "b.repair", 160000},
    // The options share a common value, also those on which it has no effect.
    {"failure_rate = 4 %/yr\n", NULL, "repair_cost=50 %", "a.repair_cost", 50},
    {"colo_rate = 9 USD/kW/month\n", NULL, "colo_escalation=3 %/yr", "a.colo_escalation", 3},
    {"build_price = 9 USD/W\n", NULL, "facility_residual=30 %", "a.facility_residual", 30},
    {"water_use = 1 L/kWh\n", NULL, "water_price=2 USD/m3", "a.water_price", 2},
    {"[case c]\nrepair_cost = 50 %\nb.failure_rate = 4 %/yr\n", "c", NULL, "a.repair_cost", 50},
    {"[option c]\naccelerator = h200-sxm-141\nrental_rate = 2 USD/h\nthroughput = 1 token/s\n",
     NULL, "support=10 %/yr", "c.support", 0},
    {"[option c]\naccelerator = h200-sxm-141\nrental_rate = 2 USD/h\nthroughput = 1 token/s\n",
     NULL, "support=10 %/yr", "b.support", 10},
    {"demand = 1 Mtok/yr\nburst_rate = 2 USD/h\nrent_decline = 10 %/yr\n", NULL, NULL,
     "b.rent_decline", 10},
    {"", NULL, "common.pue=1.5", "b.pue", 1.5},
    {"pue = 1.1\n", NULL, "pue=1.5", "b.pue", 1.1},
    {"pue = 1.1\n", NULL, "pue=1.5", "a.pue", 1.5},
    {"", NULL, "horizon=5 yr", "a.horizon", 5},
    {"", NULL, "scenario.horizon = 5 yr", "a.horizon", 5},
    {"[workload]\nutilization = 50 %\n", NULL, NULL, NULL, 0}, // twice: refused below
    {"rental_rate = 2 USD/gpu/h\n", NULL, NULL, NULL, 0},
    {"[option c]\naccelerator = h200-sxm-141\nprice = pr007\nevidence = tp0022\n", NULL,
     "c.throughput=5000 token/s", "c.throughput", 5000},
    {"[option c]\naccelerator = h200-sxm-141\nprice = pr007\nevidence = tp0022\n", NULL,
     "c.list_price=5000 USD", "c.net_price", 5000},
    {"[option c]\naccelerator = h200-sxm-141\nprice = pr007\nevidence = tp0022\n[case d]\n"
     "c.throughput = 5000 token/s\n",
     NULL, NULL, "c.throughput", 4274.23},
    {"[option c]\naccelerator = h200-sxm-141\nprice = pr007\nevidence = tp0022\n[case d]\n"
     "c.throughput = 5000 token/s\n",
     "d", NULL, "c.throughput", 5000},
};

static void test_precedence(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof precedence / sizeof precedence[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(text, sizeof text, "%s%s", base, precedence[i].more);
    start(&fixture, text, precedence[i].case_name, &precedence[i].setting);
    if (precedence[i].item) {
      expect_error(&fixture.fixture, precedence[i].more, "");
      expect_near(scenario_item(fixture.scenario, precedence[i].item, 1), precedence[i].value,
                  1e-14, precedence[i].more);
    } else
      assert_null(fixture.scenario);
    scenario_fixture_end(&fixture);
  }
}

static const char b200[] = "accelerator = b200-sxm-180\nthroughput = 1000 token/s\n"
                           "price = pr027\n";
static const char h200[] = "accelerator = h200-sxm-141\nevidence = tp0022\n";
static const char api[] = "api = ap001\ninput_tokens = 8 token\noutput_tokens = 8 token\n"
                          "demand = 1 Mtok/yr\ncache_hit = 10 %\n";

// A row that an option names is its own statement: a value for all options does not replace it.
static const struct {
  const char *common, *accelerator, *more, *case_name, *setting, *item;
  double value;
} named[] = {
    {"list_price = 30000 USD\n", b200, "", NULL, NULL, "a.net_price", 64375},
    {"list_price = 30000 USD\n", b200, "", NULL, NULL, "b.net_price", 30000},
    {"list_price = 1 USD\n", b200, "[case c]\nlist_price = 9 USD\n", "c", NULL, "a.net_price",
     64375},
    {"list_price = 1 USD\n", b200, "", NULL, "list_price=9 USD", "a.net_price", 64375},
    {"list_price = 1 USD\n", b200, "", NULL, "list_price=9 USD", "b.net_price", 9},
    {"list_price = 1 USD\n", b200, "", NULL, "a.list_price=9 USD", "a.net_price", 9},
    {"list_price = 1 USD\nthroughput = 1000 token/s\n", h200, "", NULL, NULL, "a.throughput",
     4274.23},
    {"list_price = 1 USD\ndecode_throughput = 1000 token/s\n", h200, "", NULL, NULL, "a.throughput",
     4274.23},
    {"list_price = 1 USD\n", h200, "[case c]\nthroughput = 1000 token/s\n", "c", NULL,
     "a.throughput", 4274.23},
    {"output_price = 9 USD/Mtok\n", api, "", NULL, NULL, "a.output_price", 0.55},
    {"cached_input_price = 9 USD/Mtok\n", api, "", NULL, NULL, "a.cached_input_price", 0.035},
};

static void test_named(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    // An output_price for all options would make any option beside `a` a token API.
    const char *beside = named[i].accelerator == api ? ""
                                                     : "[option b]\naccelerator = h200-sxm-141\n"
                                                       "throughput = 4000 token/s\n";
    snprintf(text, sizeof text,
             "[scenario]\ndate = 2026-11-01\n[common]\naccelerators = 8\nutilization = 70 %%\n"
             "pue = 1.25\nelectricity_price = 0.08 USD/kWh\n%s%s[option a]\n%s%s",
             named[i].common, beside, named[i].accelerator, named[i].more);
    start(&fixture, text, named[i].case_name, &named[i].setting);
    expect_error(&fixture.fixture, text, "");
    expect_near(scenario_item(fixture.scenario, named[i].item, 1), named[i].value, 1e-12, text);
    scenario_fixture_end(&fixture);
  }
}

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
    {"water_use = 1 L/kWh\n", "17:13: option 'b' has 'water_use' and so needs 'water_price' (USD/"},
    {"demand = 1 Mtok/yr\nrent_decline = 10 %/yr\n", "'rent_decline' has no effect on option 'b'"},
    {"[case c]\ndiscuont = 3 %\n", "18:1: unknown key 'discuont' in [case c]; did you mean 'disc"},
    {"[case c]\nx.discount = 3 %\n", "18:1: there is no option 'x'"},
    {"[case c]\nb.evidence = tp0090\n", "18:1: a case changes inputs: 'evidence'"},
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
     "price 'pr136' is not a purchase price"},
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

// A price from over a year before the scenario's day, or from after it.
static const struct {
  const char *date, *said; // NULL: no warning
} dated[] = {
    {"2025-11-01", NULL},
    {"2025-10",
     "the price is stale: list price per accelerator dates from 2025-10, over 12 months"},
    {"2026", NULL},
    {"2026-11", NULL},
    {"2026-11-02", NULL}, // where it is already tomorrow
    {"2026-11-03", "the price is dated ahead: list price per accelerator dates from 2026-11-03, "
                   "after 2026-11-01"},
    {"2027", "the price is dated ahead: list price per accelerator dates from 2027, after"},
};

static const char *dated_words(const struct option *option) {
  for (size_t w = 0; w < option->warnings.count; w++)
    if (!strncmp(option->warnings.list[w], "the price is", strlen("the price is")))
      return option->warnings.list[w];
  return NULL;
}

static void test_dated(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof dated / sizeof dated[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(text, sizeof text, "%slist_price.date = %s\n", base, dated[i].date);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    expect_error(&fixture.fixture, text, "");
    const char *said = dated_words(&fixture.scenario->options[1]);
    if (!said != !dated[i].said || (said && !strstr(said, dated[i].said)))
      fail_msg("%s: %s", dated[i].date, said ? said : "nothing");
    scenario_fixture_end(&fixture);
  }
}

// An abbreviation keeps its capitals within a sentence.
static void test_dated_api(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  scenario_fixture_start(&fixture,
                         "[scenario]\ndate = 2026-11-01\n[option a]\napi = ap004\n"
                         "input_tokens = 8 token\noutput_tokens = 8 token\ndemand = 1 Mtok/yr\n",
                         NULL, NULL);
  expect_error(&fixture.fixture, "an API", "");
  const char *said = dated_words(&fixture.scenario->options[0]);
  assert_non_null(said);
  assert_non_null(strstr(said, "stale: API price of"));
  scenario_fixture_end(&fixture);
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
      {"list_price=1 USD", "1:12: every option sets its own 'list_price': a.list_price, b.list_"},
      {"rental_rate=2 USD/gpu/h", "1:13: 'rental_rate' has no effect: no option uses it, given"},
      {"decode_throughput=2 token/s", "1:19: 'decode_throughput' has no effect: no option"},
      {"spot_share=10 %", "1:12: 'spot_share' has no effect: no option uses it"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    start(&fixture, base, NULL, &cases[i].setting);
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

// The energy of a rent is without what its price includes, unless it is stated.
static void test_energy_of_a_rent(void **state) {
  (void)state;
  static const struct {
    const char *owned, *rented, *said; // NULL: nothing
  } cases[] = {
      {"", "", "leave out cooling, and assume the TDP: state 'pue' before comparing them"},
      {"", "pue = 1.2\n", NULL},
      {"", "load_power = 600 W\n", "leave out cooling: state 'pue' before comparing them"},
      {"host_power = 300 W\n", "",
       "cooling and hosts, and assume the TDP: state 'pue' and 'host_p"},
      {"host_power = 300 W\n", "pue = 1.2\n", "hosts, and assume the TDP: state 'host_power' be"},
      {"host_power = 300 W\n", "pue = 1.2\nhost_power = 0 W\n", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    char text[1024];
    snprintf(text, sizeof text,
             "[scenario]\ntitle = t\n[common]\naccelerators = 8\nutilization = 70 %%\n"
             "electricity_price = 0.1 USD/kWh\n"
             "throughput = 4000 token/s\n"
             "[option a]\naccelerator = h200-sxm-141\nlist_price = 3e4 USD\npue = 1.2\n%s"
             "[option b]\naccelerator = h200-sxm-141\nrental_rate = 2 USD/gpu/h\n%s",
             cases[i].owned, cases[i].rented);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    expect_error(&fixture.fixture, "rent", "");
    const struct texts *warnings = &fixture.scenario->options[1].warnings;
    const char *said = NULL;
    for (size_t w = 0; w < warnings->count; w++)
      if (strstr(warnings->list[w], "energy and carbon"))
        said = warnings->list[w];
    if (!said != !cases[i].said || (said && !strstr(said, cases[i].said)))
      fail_msg("%zu: %s", i, said ? said : "nothing");
    scenario_fixture_end(&fixture);
  }
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

// What a server's or a rack's price includes is not reported as missing; what it does not include
// is, and so is what a price may not include that replaces it.
static void test_not_included(void **state) {
  (void)state;
  static const struct {
    const char *accelerator, *price, *case_name, *setting, *missing;
  } cases[] = {
      {"b200-sxm-180", "pr027", NULL, NULL, "network, host power"},
      {"gb200-nvl72", "pr047", NULL, NULL, "host power"},
      {"h200-sxm-141", "pr007", NULL, NULL, "server, network, host power"},
      {"b200-sxm-180", "pr027", NULL, "c.list_price=30000 USD", "server, network, host power"},
      {"b200-sxm-180", "pr027", "typed", NULL, "server, network, host power"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(text, sizeof text,
             "%s[option c]\naccelerator = %s\nprice = %s\nthroughput = 1 token/s\n[case typed]\n"
             "c.list_price = 30000 USD\n",
             base, cases[i].accelerator, cases[i].price);
    start(&fixture, text, cases[i].case_name, &cases[i].setting);
    expect_error(&fixture.fixture, cases[i].price, "");
    assert_string_equal(fixture.scenario->options[2].not_included, cases[i].missing);
    expect_near(scenario_item(fixture.scenario, "c.network_cost", 1), 0, 0, "network_cost");
    scenario_fixture_end(&fixture);
  }
}

// A zero that has a source is included elsewhere: of a list in each of its years, in a case where
// that says so.
static void test_zeros_with_a_source(void **state) {
  (void)state;
  static const char in_price[] =
      "node_price = 0 USD\nnode_price.source = included in the rack price\n";
  static const struct {
    const char *keys, *more, *case_name, *setting, *missing;
  } cases[] = {
      {"node_price = 0 USD\n", "", NULL, NULL, "server, network, host power"},
      {in_price, "", NULL, NULL, "network, host power"},
      {in_price, "", NULL, "c.node_price=0 USD", "server, network, host power"},
      {"network_price = 0 USD\nnetwork_price.quote = Q-1 2026-10-01\n", "", NULL, NULL,
       "server, host power"},
      {in_price, "[case bare]\nc.node_price = 0 USD\n", "bare", NULL,
       "server, network, host power"},
      {"node_price = 9 USD\n", "[case rack]\nc.node_price = 0 USD\nc.node_price.source = in it\n",
       "rack", NULL, "network, host power"},
      {"electricity_price = 0, 0 USD/kWh\n", "", NULL, NULL,
       "server, network, host power, electricity"},
      {"electricity_price = 0, 0.1 USD/kWh\n", "", NULL, NULL, "server, network, host power"},
      {"electricity_price = 0, 0 USD/kWh\nelectricity_price.source = free\n", "", NULL, NULL,
       "server, network, host power"},
      {"electricity_price = 0, 0 USD/kWh\nelectricity_price.source = free\n", "", NULL,
       "c.electricity_price_year_2=0 USD/kWh", "server, network, host power, electricity"},
      {"electricity_price = 0 USD/kWh\n", "[case later]\nc.electricity_price = 0, 0.1 USD/kWh\n",
       NULL, NULL, "server, network, host power, electricity"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(text, sizeof text,
             "%s[option c]\naccelerator = h200-sxm-141\nlist_price = 30000 USD\n"
             "throughput = 1 token/s\n%s%s",
             base, cases[i].keys, cases[i].more);
    start(&fixture, text, cases[i].case_name, &cases[i].setting);
    expect_error(&fixture.fixture, cases[i].keys, "");
    assert_string_equal(fixture.scenario->options[2].not_included, cases[i].missing);
    scenario_fixture_end(&fixture);
  }
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
    start(&fixture, base, NULL, settings);
    expect_error(&fixture.fixture, setting, "");
    const struct option *option = &fixture.scenario->options[0];
    assert_int_equal(option_periods(fixture.scenario, option, 0), cases[i].periods);
    int period = model_find(fixture.scenario->model, "period");
    expect_near(option_value(fixture.scenario, option, period, cases[i].periods) / 8760,
                cases[i].last, 1e-12, cases[i].horizon);
    scenario_fixture_end(&fixture);
  }
}

// 800 accelerators of 4000 token/s, 70 % in use, serve 70.6e6 Mtok a year.
static void test_warned_of_time(void **state) {
  (void)state;
  static const char ramp[] = "during a ramp, the capacity is averaged over each period of ";
#define SMALL      "demand = 20e6 Mtok/yr\nramp = 6 month\n"
#define LARGE      "demand = 1e9 Mtok/yr\nramp = 6 month\n"
#define FOUR_HOURS "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 20, 20, 20, 20 %"
#define FEE(unit, formula)                                                                         \
  "[item fee]\nlabel = Fee\nunit = " unit "\ngroup = opex\nformula = " formula "\n"
  static const struct {
    const char *head, *more, *warning; // NULL: none
  } cases[] = {
      {"", SMALL, ramp},
      {"period = 3 month\n", SMALL, "averaged over each period of 3 month, which hides demand"},
      {"period = 1 month\n", SMALL, NULL},
      {"", LARGE, NULL},
      // Reached within the first month, in which a month hides it as well.
      {"", "demand = 1e6 Mtok/yr\nramp = 6 month\n", NULL},
      // Two years of ramp: half of the capacity is there after the first, all after the second.
      {"", "demand = 50e6 Mtok/yr\nramp = 24 month\n", ramp},
      {"horizon = 1 yr\n", "demand = 50e6 Mtok/yr\nramp = 24 month\n", NULL},
      {"horizon = 2 yr\n", "demand = 50e6, 30e6 Mtok/yr\nramp = 24 month\n", NULL},
      {"horizon = 2 yr\n", "demand = 50e6, 40e6 Mtok/yr\nramp = 24 month\n", ramp},
      // Four hours ask for 4.8 times the mean, the others for 0.24 times it.
      {"horizon = 1 yr\n", "demand = 100e6 Mtok/yr\nramp = 6 month\nday_profile = " FOUR_HOURS "\n",
       ramp},
      {"horizon = 1 yr\n", "demand = 1e9 Mtok/yr\nramp = 6 month\nday_profile = " FOUR_HOURS "\n",
       NULL},
      {"", "ramp = 6 month\n", NULL},
      {"", FEE("USD", "9 USD"), NULL},
      {"horizon = 30 month\n", FEE("USD", "9 USD"),
       "Fee, in USD, is charged in full in the last period, which the horizon cuts short"},
      {"horizon = 30 month\n", FEE("USD", "if(year = 2, 9 USD, 0 USD)"), "charged in full"},
      {"horizon = 30 month\n", FEE("USD", "if(year = 0, 9 USD, 0 USD)"), NULL},
      {"horizon = 30 month\n", FEE("USD", "engineers * 9 USD/FTE"), NULL},
      {"horizon = 30 month\n",
       "engineers = 1, 1, 2 FTE\nengineer_cost = 9 USD/FTE/yr\n" FEE("USD",
                                                                     "engineers * 9 USD/FTE"),
       "charged in full"},
      {"horizon = 30 month\n", FEE("USD", "1 % * power_cost"), NULL},
      {"period = 6 month\n", FEE("USD", "if(year = 0, 9 USD, 0 USD)"), "in every period of 6"},
      {"horizon = 1 yr\nperiod = 1 yr\n", FEE("USD", "9 USD"), NULL},
      {"period = 1 month\n", FEE("USD", "9 USD * accelerators"),
       "Fee, in USD, is charged in every period of 1 month: an item in USD/yr is charged by time"},
      {"period = 6 month\n", FEE("USD", "9, 8 USD"), "charged in every period of 6 month"},
      {"period = 6 month\n", FEE("USD", "1 % * sum(power_cost)"), "charged in every period of 6"},
      {"period = 6 month\n", FEE("USD", "1 % * power_cost"), NULL},
      {"period = 6 month\n", FEE("USD", "9 USD * (t = 1)"), NULL},
      {"period = 6 month\n", FEE("USD/yr", "9 USD/yr"), NULL},
      {"", "wacc = 8 %/yr\n", "different discount rates; finance discounts their difference at"},
      {"", "horizon = 4 yr\n", "the options have different horizons"},
  };
  const char *rest = strstr(base, "[common]");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(text, sizeof text, "%.*s%s%s%s", (int)(rest - base), base, cases[i].head, rest,
             cases[i].more);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    expect_error(&fixture.fixture, text, "");
    const struct texts *warnings = &fixture.scenario->warnings;
    if (warnings->count != (cases[i].warning != NULL) ||
        (cases[i].warning && !strstr(warnings->list[0], cases[i].warning)))
      fail_msg("%s: %zu warnings: %s", text, warnings->count,
               warnings->count ? warnings->list[0] : "");
    scenario_fixture_end(&fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_precedence),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_named),
      cmocka_unit_test(test_dated),
      cmocka_unit_test(test_dated_api),
      cmocka_unit_test(test_one_error),
      cmocka_unit_test(test_bad_settings),
      cmocka_unit_test(test_case_without_use),
      cmocka_unit_test(test_rent),
      cmocka_unit_test(test_energy_of_a_rent),
      cmocka_unit_test(test_not_included),
      cmocka_unit_test(test_zeros_with_a_source),
      cmocka_unit_test(test_decode_is_not_serving),
      cmocka_unit_test(test_grades),
      cmocka_unit_test(test_prices_of_zero),
      cmocka_unit_test(test_all_errors_in_one_run),
      cmocka_unit_test(test_horizons),
      cmocka_unit_test(test_warned_of_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
