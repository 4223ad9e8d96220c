// Rent or own compared with sums done by hand. Run in the repository's root.
#include "tests/support/scenario_fixture.h"

#include "model/questions/rent.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Owning 8 at 10,000 USD, 1 kW each at 0.10 USD/kWh for 26,280 h: 80,000 + 21,024 USD. They produce
// 1,000 token/s half of the time: 378,432 Mtok. Used: 8 x 26,280 / 2 = 105,120 accelerator-hours.
static const char owned[] =
    "[scenario]\ntitle = T\ndate = 2026-11-01\nhorizon = 3 yr\n"
    "[common]\nutilization = 50 %\nelectricity_price = 0.1 USD/kWh\npue = 1\n"
    "[option own]\naccelerator = h200-sxm-141\naccelerators = 8\nlist_price = 10000 USD\n"
    "load_power = 1000 W\nthroughput = 1000 token/s\n";

static const double hour_s = 3600, month_h = 730;

struct expected {
  const char *more;                                     // of the option
  const char *section;                                  // [rent q]
  double accelerators, paid, beside, cost, utilization; // NAN: never
  double months;                                        // NAN: never
  double rate;
};

static const struct expected cases[] = {
    // Monthly 584 USD of power against 2,920 of rent: 80,000 / 2,336 months.
    {"", "on_demand = 1 USD/gpu/h", 8, 105120, 0, 105120, 0.5 * 101024 / 105120,
     80000. / (2920 - 584), 101024. / 105120},
    {"", "one_year = 0.6 USD/gpu/h", 8, 210240, 0, 126144, 0.5 * 101024 / 126144,
     80000. / (3504 - 584), 101024. / 210240},
    // 80,000 / (2,336 - 584) is beyond the 36th month. At a higher load than planned the same 8 are
    // rented, so no load makes up for it.
    {"", "three_years = 0.4 USD/gpu/h", 8, 210240, 0, 84096, NAN, NAN, 101024. / 210240},
    {"", "reserved = 1 USD/gpu/h", 8, 210240, 0, 210240, 0.5 * 101024 / 210240,
     80000. / (5840 - 584), 101024. / 210240},
    // A tenth of an engineer, licenses and a port are paid either way.
    {"engineers = 0.1 FTE\nengineer_cost = 100000 USD/yr\nmigration_cost = 500 USD\n"
     "software_licence = 100 USD/gpu/yr\n",
     "on_demand = 1 USD/gpu/h", 8, 105120, 32900, 138020, 0.5 * 101024 / 105120,
     80000. / (2920 - 584), 101024. / 105120},
    // Idle at 200 W: on average 400 W depend on the load, 8,409.60 USD of them.
    {"idle_power = 200 W\n", "on_demand = 1 USD/gpu/h", 8, 105120, 0, 105120,
     0.5 * (92614.4 - 8409.6) / (105120 - 8409.6), 80000. / (2920 - 12614.4 / 36),
     92614.4 / 105120},
    // Terms are paid to their end: two three-year terms for 1.5 years.
    {"horizon = 1.5 yr\n", "three_years = 0.4 USD/gpu/h", 8, 210240, 0, 84096, NAN, NAN,
     90512. / 210240},
    // A year of linear ramp costs half a year of tokens, and the rent for as many hours.
    {"ramp = 12 month\n", "on_demand = 1 USD/gpu/h", 8, 87600, 0, 87600, 0.5 * 101024 / 87600, NAN,
     101024. / 87600},
    // A demand of 80 % of what they could produce: a load of 40 %.
    {"demand = 100915.2 Mtok/yr\n", "on_demand = 1 USD/gpu/h", 8, 84096, 0, 84096,
     0.4 * 101024 / 84096, NAN, 101024. / 84096},
    {"demand = 100915.2 Mtok/yr\n", "one_year = 0.6 USD/gpu/h", 8, 210240, 0, 126144,
     0.4 * 101024 / 126144, 80000. / (3504 - 584), 101024. / 210240},
    // The load could still rise to 50 %, but not the number that is rented for it.
    {"demand = 100915.2 Mtok/yr\n", "one_year = 0.4 USD/gpu/h", 8, 210240, 0, 84096, NAN, NAN,
     101024. / 210240},
    // Of it, 6,727.68 USD depend on the load.
    {"demand = 100915.2 Mtok/yr\nidle_power = 200 W\n", "on_demand = 1 USD/gpu/h", 8, 84096, 0,
     84096, 0.4 * 84204.8 / (84096 - 6727.68), NAN, 90932.48 / 84096},
    // A remedy of 16,000 USD lowers the cost, but is no cash paid less.
    {"remedy = 1 %\nguaranteed_throughput = 1250 token/s\n", "on_demand = 1 USD/gpu/h", 8, 105120,
     0, 105120, 0.5 * 85024 / 105120, 80000. / (2920 - 584), 85024. / 105120},
    // Twice what they can produce: half is bought either way, 378,432 Mtok or 210,240 hours of it.
    {"demand = 252288 Mtok/yr\nburst_price = 0.5 USD/Mtok\n", "on_demand = 1 USD/gpu/h", 8, 105120,
     189216, 294336, 0.5 * 101024 / 105120, 80000. / (2920 - 584), 101024. / 105120},
    {"demand = 252288 Mtok/yr\nburst_rate = 2 USD/gpu/h\n", "on_demand = 1 USD/gpu/h", 8, 105120,
     420480, 525600, 0.5 * 101024 / 105120, 80000. / (2920 - 584), 101024. / 105120},
    {"demand = 252288 Mtok/yr\nburst_price = 0.5 USD/Mtok\n", "one_year = 0.6 USD/gpu/h", 8, 210240,
     189216, 315360, 0.5 * 101024 / 126144, 80000. / (3504 - 584), 101024. / 210240},
    // Only in the third year: 63,072, 126,144 and 252,288 Mtok; they can produce 126,144. On
    // average they produce 5/6 of that.
    {"demand = 63072 Mtok/yr\ndemand_growth = 100 %/yr\nburst_price = 0.5 USD/Mtok\n",
     "on_demand = 1 USD/gpu/h", 8, 87600, 63072, 150672, 0.5 * 5 / 6 * 101024 / 87600, NAN,
     101024. / 87600},
    // Nothing is, but would be at a lower load.
    {"demand = 100915.2 Mtok/yr\nburst_price = 0.5 USD/Mtok\n", "on_demand = 1 USD/gpu/h", 8, 84096,
     0, 84096, 0.4 * 101024 / 84096, NAN, 101024. / 84096},
    // Spot hours are repeated, a quarter of the useful ones.
    {"", "spot = 0.8 USD/gpu/h\ninterruption = 25 %", 8, 131400, 0, 105120, 0.5 * 101024 / 105120,
     80000. / (2920 - 584), 101024. / 131400},
    // Outages of accelerators in use are paid for.
    {"availability = 80 %\n", "on_demand = 1 USD/gpu/h", 8, 105120, 0, 105120,
     0.5 * 101024 / 105120, 80000. / (2920 - 584), 101024. / 105120},
};

static const struct rent_answer *answer_of(struct scenario_fixture *f, const char *text,
                                           const char *only) {
  scenario_fixture_start(f, text, NULL, NULL);
  expect_error(&f->fixture, text, "");
  const struct rent_answers *answers =
      rent_ask(f->scenario, only, &f->fixture.arena, &f->fixture.diagnostics);
  expect_error(&f->fixture, text, "");
  assert_non_null(answers);
  assert_int_equal(answers->count, 1);
  return &answers->list[0];
}

static void check_cost(const struct rent_cost *cost, const struct expected *expected) {
  const char *what = expected->section;
  expect_near(cost->accelerators, expected->accelerators, 1e-12, what);
  expect_near(cost->paid, expected->paid, 1e-12, what);
  if (expected->beside == 0)
    assert_true(cost->beside == 0);
  else
    expect_near(cost->beside, expected->beside, 1e-12, what);
  expect_near(cost->cost, expected->cost, 1e-12, what);
  if (isnan(expected->utilization))
    assert_true(isnan(cost->break_even_utilization));
  else
    expect_near(cost->break_even_utilization, expected->utilization, 1e-10, what);
  expect_near(cost->break_even_rate, expected->rate, 1e-12, what);
  if (isnan(expected->months))
    assert_true(isnan(cost->break_even_month));
  else
    expect_near(cost->break_even_month, expected->months * month_h, 1e-10, what);
  assert_int_equal(cost->owning_never, !(expected->utilization <= 1));
}

static void test_offers(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture f;
    char text[2048];
    snprintf(text, sizeof text, "%s%s[rent q]\n%s\n", owned, cases[i].more, cases[i].section);
    const struct rent_answer *answer = answer_of(&f, text, NULL);
    assert_int_equal(answer->count, 1);
    check_cost(&answer->costs[0], &cases[i]);
    expect_near(answer->costs[0].saving, 1 - answer->tco / answer->costs[0].cost, 1e-12, "saving");
    scenario_fixture_end(&f);
  }
}

// Three years for half of that: a year's rent, half a year's, and the rest when the horizon ends.
static void test_levelised_term(void **state) {
  (void)state;
  struct scenario_fixture f;
  char text[2048];
  snprintf(text, sizeof text,
           "%shorizon = 1.5 yr\nwacc = 10 %%/yr\n[rent q]\nthree_years = 0.4 USD/gpu/h\n", owned);
  const struct rent_answer *answer = answer_of(&f, text, NULL);
  const double year_usd = 8 * 8760 * 0.4, year_tokens = 8 * 1000 * hour_s * 4380;
  const double first = 1 / 1.1, second = 1 / pow(1.1, 1.5);
  expect_near(answer->costs[0].levelised,
              (year_usd * first + 2 * year_usd * second) /
                  (year_tokens * first + year_tokens / 2 * second),
              1e-12, "levelised");
  // Owning: 80,000 USD at once, then 7,008 USD of power a year.
  const double owning = 80000 + 7008 * first + 3504 * second,
               hours = 8 * 8760 * (first + 2 * second);
  expect_near(answer->costs[0].break_even_levelised, owning / hours, 1e-12, "rate");
  scenario_fixture_end(&f);
}

// Half as fast: 16 for the same tokens, in nodes of 8; for the hours used, the same number of
// hours.
static void test_rented_option(void **state) {
  (void)state;
  struct scenario_fixture f;
  char text[2048];
  snprintf(text, sizeof text,
           "%s[option cloud]\naccelerator = h100-sxm5-80\naccelerators = 1\n"
           "rental_rate = 1 USD/gpu/h\nthroughput = 520 token/s\n",
           owned);
  const struct rent_answer *answer = answer_of(&f, text, NULL);
  assert_string_equal(answer->name, "own");
  assert_int_equal(answer->count, 2);
  assert_false(answer->costs[0].offer.hypothetical);
  assert_true(answer->costs[1].offer.hypothetical);
  expect_near(answer->costs[0].accelerators, 16, 1e-12, "whole nodes");
  expect_near(answer->costs[0].cost, 16 * 26280, 1e-12, "always");
  expect_near(answer->costs[1].cost, 105120. * 1000 / 520, 1e-12, "hours used");
  expect_near(answer->tokens, 8 * 1000 * hour_s * 13140, 1e-12, "tokens");
  scenario_fixture_end(&f);
}

// A rented option is sized for the owned one's tokens in every year, and so buys none elsewhere: 16
// produce 252,288 Mtok a year. The demand is met by what 8 owned ones
// serve and buy, or only half of it.
static void test_rented_option_of_demand(void **state) {
  (void)state;
  static const struct {
    const char *own, *cloud;
    double accelerators, paid;
  } demands[] = {
      {"demand = 63072 Mtok/yr\ndemand_growth = 100 %/yr\nburst_price = 1 USD/Mtok\n", "", 16,
       122640},
      {"demand = 252288 Mtok/yr\nburst_price = 0.5 USD/Mtok\n", "", 16, 210240},
      {"demand = 252288 Mtok/yr\n", "demand = 252288 Mtok/yr\nburst_price = 0.5 USD/Mtok\n", 8,
       105120},
  };
  for (size_t i = 0; i < sizeof demands / sizeof demands[0]; i++) {
    struct scenario_fixture f;
    char text[2048];
    snprintf(text, sizeof text,
             "%s%s[option cloud]\naccelerator = h200-sxm-141\naccelerators = 8\n%s"
             "rental_rate = 1 USD/gpu/h\nthroughput = 1000 token/s\n",
             owned, demands[i].own, demands[i].cloud);
    const struct rent_cost *costs = answer_of(&f, text, NULL)->costs;
    for (int j = 0; j < 2; j++)
      expect_near(costs[j].accelerators, demands[i].accelerators, 1e-12, demands[i].own);
    expect_near(costs[0].cost, demands[i].accelerators * 26280, 1e-12, demands[i].own);
    expect_near(costs[1].cost, demands[i].paid, 1e-12, demands[i].own);
    scenario_fixture_end(&f);
  }
}

// With an item that is not affine in the load, the root is found by search: tco at u is 101,024 +
// 40,000 u^2, the rent 210,240 u. 40,000 u^2 - 210,240 u + 101,024 = 0.
static void test_searched_utilization(void **state) {
  (void)state;
  // The second: of a demand that is met at a load of 40 %.
  static const char *const demands[] = {"", "demand = 100915.2 Mtok/yr\n"};
  for (size_t i = 0; i < sizeof demands / sizeof demands[0]; i++) {
    struct scenario_fixture f;
    char text[2048];
    snprintf(text, sizeof text,
             "%s%s[item wear]\nlabel = Wear\nunit = USD\ngroup = capex\n"
             "formula = 40000 USD * utilization * utilization\n"
             "[rent q]\non_demand = 1 USD/gpu/h\n",
             owned, demands[i]);
    const struct rent_answer *answer = answer_of(&f, text, "q");
    const struct rent_cost *cost = &answer->costs[0];
    // The renter pays the item as well, unchanged: 10,000 USD.
    const double b = 210240, c = 101024 - 10000;
    assert_false(cost->is_closed);
    expect_near(cost->beside, 10000, 1e-9, "the item, rented too");
    expect_near(cost->break_even_utilization, (b - sqrt(b * b - 4 * 40000 * c)) / (2 * 40000), 1e-9,
                "root");
    scenario_fixture_end(&f);
  }
}

// An item limited to the owned option is not paid by its renter, unless the rented one has it too.
static void test_limited_items(void **state) {
  (void)state;
  static const struct {
    const char *options, *left_out;
    double twin, cloud; // beside the rent
  } items[] = {{"", "", 10000, 10000},
               {"options = own\n", "Rack", 0, 0},
               {"options = own cloud\n", "Rack", 0, 10000}};
  for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
    struct scenario_fixture f;
    char text[2048];
    snprintf(text, sizeof text,
             "%s[option cloud]\naccelerator = h200-sxm-141\naccelerators = 8\n"
             "on_demand_rate = 1 USD/gpu/h\nthroughput = 1000 token/s\n"
             "[item rack]\nlabel = Rack\nunit = USD\ngroup = capex\n%sformula = 10000 USD\n"
             "[rent q]\nown = own\non_demand = 1 USD/gpu/h\ncloud = cloud\n",
             owned, items[i].options);
    scenario_fixture_start(&f, text, NULL, NULL);
    expect_error(&f.fixture, text, "");
    const struct rent_answers *answers =
        rent_ask(f.scenario, NULL, &f.fixture.arena, &f.fixture.diagnostics);
    expect_error(&f.fixture, text, "");
    const struct rent_answer *answer = &answers->list[0];
    expect_near(answer->tco, 111024, 1e-12, "owning");
    assert_string_equal(answer->left_out, items[i].left_out);
    expect_near(answer->costs[0].cost, 105120 + items[i].twin, 1e-12, "twin");
    expect_near(answer->costs[1].cost, 105120 + items[i].cloud, 1e-12, "cloud");
    scenario_fixture_end(&f);
  }
}

static const struct {
  const char *text, *error;
} refusals[] = {
    {"[rent q]\n", "has nothing to compare owning with"},
    {"[rent q]\nown = owm\non_demand = 1 USD/gpu/h\n", "no option 'owm'; did you mean 'own'?"},
    {"[rent q]\non_demand = 1\n", "has no unit"},
    {"[rent q]\non_demand = 0 USD/gpu/h\n", "on_demand must be above 0"},
    {"[rent q]\non_demand = -2 USD/gpu/h\n", "on_demand must be above 0"},
    {"[rent q]\non_demand = 1e308 USD/gpu/h\n", "'1e308 USD/gpu/h' is too large to add up"},
    {"[rent q]\non_demand = 1 USD/node/h\n", "wrong unit"},
    {"[rent q]\non_demand = pr138\n",
     "price 'pr138' is for 'h100-sxm5-80', not for 'h200-sxm-141'"},
    {"[rent q]\non_demand = pr117\n",
     "price 'pr117' (spot) is not an hourly rent for on_demand: state it as 'spot'"},
    {"[rent q]\nspot = pr136\n", "price 'pr136' (on_demand) is not an hourly rent for spot"},
    {"[rent q]\non_demand = 1 USD/gpu/h\ninterruption = 5 %\n",
     "'interruption' needs 'spot' beside it"},
    {"[rent q]\nspot = 1 USD/gpu/h\ninterruption = -5 %\n",
     "interruption must be at least 0 %, not -5 %"},
    {"[rent q]\none_year = pr136\n",
     "price 'pr136' (on_demand) is not an hourly rent for one_year"},
    {"[rent q]\non_demand = pr002\n", "(purchase) is not an hourly rent"},
    {"[rent q]\ncloud = own\n",
     "option 'own' is owned: 'cloud' must name an option rented at a single rate"},
    {"[rent q]\nown = cloud\non_demand = 1 USD/gpu/h\n[option cloud]\naccelerator = h100-sxm5-80\n"
     "accelerators = 8\nrental_rate = 1 USD/gpu/h\nthroughput = 1 token/s\n",
     "option 'cloud' is rented: 'own' must name an owned option"},
    {"[rent q]\non_demand = 1 USD/gpu/h\n[option two]\naccelerator = h100-sxm5-80\n"
     "accelerators = 8\nlist_price = 1 USD\nthroughput = 1 token/s\n",
     "[rent q] needs 'own = ID'"},
    {"[rent q]\ncloud = cloud\n[option cloud]\naccelerator = h100-sxm5-80\nhorizon = 2 yr\n"
     "accelerators = 8\nrental_rate = 1 USD/gpu/h\nthroughput = 1 token/s\n",
     "options 'own' and 'cloud' differ in 'horizon'"},
    {"life = 2 yr\n[rent q]\non_demand = 1 USD/gpu/h\n",
     "option 'own' changes when its hardware is renewed (see its 'life')"},
};

static void test_refusals(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    struct scenario_fixture f;
    char text[2048];
    snprintf(text, sizeof text, "%s%s", owned, refusals[i].text);
    scenario_fixture_start(&f, text, NULL, NULL);
    expect_error(&f.fixture, text, "");
    assert_null(rent_ask(f.scenario, NULL, &f.fixture.arena, &f.fixture.diagnostics));
    expect_error(&f.fixture, text, refusals[i].error);
    scenario_fixture_end(&f);
  }
}

static void test_asked(void **state) {
  (void)state;
  static const struct {
    const char *more;
    bool asked;
  } whether[] = {
      {"", false},
      {"[rent q]\non_demand = 1 USD/gpu/h\n", true},
      {"[option cloud]\naccelerator = h100-sxm5-80\naccelerators = 8\nrental_rate = 1 USD/gpu/h\n"
       "throughput = 1 token/s\n",
       true},
  };
  for (size_t i = 0; i < sizeof whether / sizeof whether[0]; i++) {
    struct scenario_fixture f;
    char text[2048];
    snprintf(text, sizeof text, "%s%s", owned, whether[i].more);
    scenario_fixture_start(&f, text, NULL, NULL);
    expect_error(&f.fixture, text, "");
    assert_int_equal(rent_is_asked(f.scenario), whether[i].asked);
    scenario_fixture_end(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_offers),
      cmocka_unit_test(test_levelised_term),
      cmocka_unit_test(test_rented_option),
      cmocka_unit_test(test_rented_option_of_demand),
      cmocka_unit_test(test_searched_utilization),
      cmocka_unit_test(test_limited_items),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_asked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
