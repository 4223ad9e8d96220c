// Reports in currencies other than USD: which amounts are converted, that only money changes, what
// replaces an input in USD, and what is refused. Run in the repository's root.
#include "model/scenario/reading/currency.h"
#include "model/scenario/reading/range.h"
#include "tests/support/scenario_fixture.h"

#include "model/questions/audit.h"
#include "model/questions/rent.h"
#include "model/questions/solve.h"
#include "model/questions/wait.h"
#include "model/scenario/resolution/published_bounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Line 16, the first that a test adds, is in option b.
static const char base[] = "[scenario]\n"
                           "title = A test\n"
                           "date = 2026-11-01\n"
                           "currency = EUR\n"
                           "exchange_rate = 1.25 USD/EUR\n"
                           "exchange_rate.source = the treasury's\n"
                           "exchange_rate.date = 2026-10-01\n"
                           "[common]\n"
                           "accelerators = 8\n"
                           "utilization = 50 %%\n"
                           "pue = 1.2\n"
                           "electricity_price = 0.10 USD/kWh\n"
                           "throughput = 1000 token/s\n"
                           "[option a]\n"
                           "accelerator = h200-sxm-141\n"
                           "list_price = 20000 EUR\n"
                           "[option b]\n"
                           "accelerator = mi325x-256\n"
                           "list_price = 25000 USD\n"
                           "%s\n";

static void start_case(struct scenario_fixture *fixture, const char *added, const char *case_name) {
  char text[2048];
  snprintf(text, sizeof text, base, added);
  scenario_fixture_start(fixture, text, NULL, case_name);
}

static void start(struct scenario_fixture *fixture, const char *added) {
  start_case(fixture, added, NULL);
  if (!fixture->scenario)
    fail_msg("%s: %s", added, fixture_errors(&fixture->fixture));
}

static char *replaced(const char *text, const char *from, const char *to, struct arena *arena) {
  const char *at = strstr(text, from);
  assert_non_null(at);
  return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

// ---- amounts

static const struct {
  const char *added, *case_name, *item;
  double expected;
} amounts[] = {
    {"", NULL, "a.list_price", 20000},
    {"", NULL, "b.list_price", 20000},
    {"", NULL, "b.list_price_usd", 25000},
    {"", NULL, "b.electricity_price", 0.08},
    {"node_price = 500 EUR", NULL, "b.node_price", 500},
    {"node_price = 500 USD/node", NULL, "b.node_price", 400},
    {"node_price_usd = 500 USD", NULL, "b.node_price", 400},
    {"node_price = 500 $/node", NULL, "b.node_price", 400},
    {"node_price = 500 US$", NULL, "b.node_price", 400},
    {"node_price = 500 \xE2\x82\xAC/node", NULL, "b.node_price", 500},
    {"migration_cost = 0 USD", NULL, "b.migration_cost", 0},
    // The option's own value takes precedence over the common one, whatever their currencies.
    {"electricity_price = 0.2 EUR/kWh", NULL, "b.electricity_price", 0.2},
    {"electricity_price_usd = 0.2 USD/kWh", NULL, "b.electricity_price", 0.16},
    // The catalogue's prices are in USD; a server's price includes the server.
    {"[option c]\naccelerator = h200-sxm-141\nprice = pr017", NULL, "c.list_price", 25600},
    {"[option c]\naccelerator = b200-sxm-180\nprice = pr027", NULL, "c.list_price", 51500},
    {"[option c]\naccelerator = b200-sxm-180\nprice = pr027", NULL, "c.node_price", 0},
    {"[option c]\naccelerator = h200-sxm-141\nrental_rate = 2 USD/gpu/h", NULL, "c.rental_rate",
     1.6},
    // Cases and their rates.
    {"[case weak]\nexchange_rate = 1 USD/EUR", "weak", "b.list_price", 25000},
    {"[case weak]\nexchange_rate = 1 USD/EUR", "weak", "a.list_price", 20000},
    {"[case moved]\nmigration_cost = 100 USD", "moved", "b.migration_cost", 80},
    {"[case moved]\nmigration_cost = 100 USD", NULL, "b.migration_cost", 0},
    {"[case moved]\nb.list_price = 10000 USD", "moved", "b.list_price", 8000},
    // A scenario's own line item may use USD.
    {"[item own]\nlabel = Own\nunit = EUR\ngroup = capex\nformula = 500 USD / exchange_rate", NULL,
     "b.own", 400},
    {"[free]\nb.migration_cost = 100 .. 300 USD", NULL, "b.migration_cost", 160},
};

static void test_amounts_in_usd_are_converted(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
    struct scenario_fixture fixture;
    start_case(&fixture, amounts[i].added, amounts[i].case_name);
    if (!fixture.scenario)
      fail_msg("%s: %s", amounts[i].added, fixture_errors(&fixture.fixture));
    expect_near(scenario_item(fixture.scenario, amounts[i].item, 0), amounts[i].expected, 1e-12,
                amounts[i].added);
    scenario_fixture_end(&fixture);
  }
}

static void test_an_option_states_its_price_in_usd(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  start(&fixture, "list_price.quote = Q-7 2026-10-02");
  const struct scenario *scenario = fixture.scenario;
  const struct option *a = &scenario->options[0], *b = &scenario->options[1];
  const int price = model_find(scenario->model, "list_price");
  const int in_usd = model_find(scenario->model, "list_price_usd");
  const int rate = model_find(scenario->model, "exchange_rate");
  assert_int_equal(option_stated(a, price), price);
  assert_int_equal(option_stated(b, price), in_usd);
  assert_int_equal(option_figure(scenario, b, 0, in_usd)->grade, GRADE_QUOTED);
  assert_int_equal(b->price_grade, GRADE_QUOTED);
  assert_int_equal(option_figure(scenario, b, 0, rate)->grade, GRADE_ASSUMED);
  expect_near(option_exchange_rate(scenario, b), 1.25, 0, "the rate");
  scenario_fixture_end(&fixture);
}

static void test_an_old_rate_warns(void **state) {
  (void)state;
  static const struct {
    const char *date;
    bool warns;
  } rates[] = {{"2026-10-01", false}, {"2025-06-30", true}};
  for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
    struct scenario_fixture fixture;
    struct arena scratch = {NULL};
    char text[2048];
    snprintf(text, sizeof text, base, "");
    scenario_fixture_start(&fixture, replaced(text, "2026-10-01", rates[i].date, &scratch), NULL,
                           NULL);
    expect_error(&fixture.fixture, rates[i].date, "");
    const struct texts *warnings = &fixture.scenario->options[0].warnings;
    bool warned = false;
    for (size_t w = 0; w < warnings->count; w++)
      warned |= strstr(warnings->list[w], "the exchange rate is stale") != NULL;
    assert_int_equal(warned, rates[i].warns);
    scenario_fixture_end(&fixture);
    arena_free(&scratch);
  }
}

// ---- only money changes

static int power_of_money(const struct declaration *item) {
  return dimension_money(item->unit.dimension);
}

// Checks are differences of nearly equal amounts, flags and counts near zero.
static bool is_close(double got, double expected, bool is_check) {
  if (isnan(expected))
    return isnan(got);
  return fabs(got - expected) <= (is_check ? 1e-9 : 1e-12 * fabs(expected));
}

static void compare_item(const struct scenario *usd, const struct scenario *other, int d, int e,
                         size_t option, double rate) {
  const struct declaration *item = &usd->model->declarations[d];
  const double factor = pow(rate, -power_of_money(item));
  const struct evaluation *a = usd->options[option].evaluation;
  const struct evaluation *b = other->options[option].evaluation;
  const int periods = item->kind == DECLARATION_SERIES ? usd->periods : 1;
  for (int t = 0; t < periods; t++)
    for (size_t c = 0; c < usd->case_count; c++) {
      const double expected = evaluation_at(a, d, t)[c] * factor, got = evaluation_at(b, e, t)[c];
      if (!is_close(got, expected, item->role == ROLE_CHECK))
        fail_msg("%s %s.%s[%d] in case %s: %.17g, expected %.17g at %.17g", usd->path,
                 usd->options[option].id, item->name, t, usd->cases[c], got, expected, rate);
    }
}

static size_t compare_scenarios(const struct scenario *usd, const struct scenario *other,
                                double rate) {
  size_t compared = 0;
  assert_int_equal(usd->option_count, other->option_count);
  assert_int_equal(usd->case_count, other->case_count);
  for (int d = 0; d < usd->model->count; d++) {
    const int e = model_find(other->model, usd->model->declarations[d].name);
    assert_true(e >= 0);
    for (size_t o = 0; o < usd->option_count; o++) {
      if (option_has(&usd->options[o], d) != option_has(&other->options[o], e))
        fail_msg("%s %s.%s is there in one only", usd->path, usd->options[o].id,
                 usd->model->declarations[d].name);
      if (!option_has(&usd->options[o], d))
        continue;
      compare_item(usd, other, d, e, o, rate);
      compared++;
    }
  }
  return compared;
}

// The same scenario, with all its amounts in USD, as a report in another currency.
static void in_other_currency(const char *path, const char *currency, double rate) {
  char *whole = realpath(path, NULL), text[1024];
  assert_non_null(whole);
  struct scenario_fixture usd, other;
  snprintf(text, sizeof text,
           "[scenario]\ninherits = %s\ncurrency = %s\nexchange_rate = %.17g USD/%s\n"
           "exchange_rate.source = drawn\nexchange_rate.date = 2026-11-01\n",
           whole, currency, rate, currency);
  scenario_fixture_open(&usd, path);
  scenario_fixture_start(&other, text, NULL, NULL);
  expect_error(&other.fixture, path, "");
  const size_t compared = compare_scenarios(usd.scenario, other.scenario, rate);
  if (compared < 100)
    fail_msg("%s: only %zu figures compared", path, compared);
  scenario_fixture_end(&other);
  scenario_fixture_end(&usd);
  free(whole);
}

static void test_a_currency_divides_money_and_nothing_else(void **state) {
  (void)state;
  static const char *const examples[] = {"cloud",          "finance-views",  "finance-what-if",
                                         "h200-vs-b200",   "input-output",   "interactive",
                                         "mi325x-vs-h200", "mi355x-vs-b200", "portfolio",
                                         "rent-or-own",    "uncertainty"};
  unsigned seed = 20261121;
  print_message("seed %u\n", seed);
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
    char path[64];
    snprintf(path, sizeof path, "examples/%s.ini", examples[i]);
    in_other_currency(path, "EUR", 0.8 + 0.5 * rand_r(&seed) / RAND_MAX);
    in_other_currency(path, "JPY", 0.005 + 0.005 * rand_r(&seed) / RAND_MAX);
  }
}

// ---- questions

// A vendor's claim in USD holds in a report in EUR exactly if it holds in one in USD.
static const struct {
  const char *says;
  bool holds;
} claims[] = {
    {"b.list_price = 25000 USD +- 1 USD", true},
    {"b.list_price = 20000 EUR +- 1 EUR", true},
    {"b.list_price = 20000 USD +- 1 USD", false},
    {"a.list_price = 25000 USD +- 1 USD", true},
    {"a.list_price = 24000 .. 26000 USD", true},
    {"a.list_price <= 24000 USD", false},
    {"b.accelerators / b.list_price >= 0.00031 gpu/USD", true},
    {"b.accelerators / b.list_price >= 0.00033 gpu/USD", false},
    {"b.accelerators / b.list_price >= 0.00039 gpu/EUR", true},
    {"a.list_price / b.list_price = 1 +- 0.001", true},
    {"b.list_price = 30000 USD +- 1 USD\nwith.b.list_price = 30000 USD", true},
    {"b.list_price = 30000 USD +- 1 USD\nwith.exchange_rate = 1 USD/EUR", false},
    {"b.list_price = 25000 EUR +- 1 EUR\nwith.exchange_rate = 1 USD/EUR", true},
};

static void test_claims_in_usd_hold_at_the_rate(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
    struct scenario_fixture fixture;
    char added[256];
    snprintf(added, sizeof added, "[claim said]\nsays = %s", claims[i].says);
    start(&fixture, added);
    struct arena *arena = &fixture.fixture.arena;
    const struct audit *audit = audit_ask(fixture.scenario, arena, &fixture.fixture.diagnostics);
    expect_error(&fixture.fixture, claims[i].says, "");
    if (audit->holds != claims[i].holds)
      fail_msg("'%s': expected that it %s", claims[i].says, claims[i].holds ? "holds" : "fails");
    scenario_fixture_end(&fixture);
  }
}

// Published prices in USD are shown beside an amount in that amount's own currency.
static void test_published_prices_are_in_the_inputs_currency(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  start(&fixture, "");
  const struct scenario *scenario = fixture.scenario;
  struct published own, in_usd;
  assert_true(published_input(scenario, 0, model_find(scenario->model, "list_price"),
                              GRADE_PUBLISHED, &own));
  assert_true(published_input(scenario, 0, model_find(scenario->model, "list_price_usd"),
                              GRADE_PUBLISHED, &in_usd));
  assert_true(own.count > 0 && own.count == in_usd.count);
  expect_near(own.low, in_usd.low / 1.25, 1e-12, "lowest");
  expect_near(own.high, in_usd.high / 1.25, 1e-12, "highest");
  scenario_fixture_end(&fixture);
}

// A walk-away price is in the currency in which the vendor states the price.
static void test_prices_are_solved_for_in_their_currency(void **state) {
  (void)state;
  static const struct {
    const char *option, *input, *target, *name;
    double root;
  } asked[] = {
      {"b", "list_price", NULL, "b.list_price_usd", 25000},
      {"a", "list_price", NULL, "a.list_price", 20000},
      {"b", "exchange_rate", NULL, "exchange_rate", 1.25},
  };
  for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
    struct scenario_fixture fixture;
    start(&fixture, "load_power = 700 W");
    struct arena *arena = &fixture.fixture.arena;
    const struct solve_question question = {.option = asked[i].option,
                                            .input = asked[i].input,
                                            .match = *asked[i].option == 'a' ? "b" : "a"};
    const struct solve_answer *answer =
        solve_ask(fixture.scenario, &question, arena, &fixture.fixture.diagnostics);
    expect_error(&fixture.fixture, asked[i].input, "");
    assert_string_equal(answer->name, asked[i].name);
    assert_int_equal(answer->count, 1);
    expect_near(answer->roots[0], asked[i].root, 1e-9, asked[i].name);
    scenario_fixture_end(&fixture);
  }
}

static void test_a_target_in_usd_follows_the_rate(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  start(&fixture, "");
  const double wanted = scenario_item(fixture.scenario, "b.cost_per_mtok", 0) * 1.5;
  struct arena *arena = &fixture.fixture.arena;
  const struct solve_question question = {.option = "b",
                                          .input = "exchange_rate",
                                          .target = arena_printf(arena, "%.17g USD/Mtok", wanted)};
  const struct solve_answer *answer =
      solve_ask(fixture.scenario, &question, arena, &fixture.fixture.diagnostics);
  expect_error(&fixture.fixture, "a target in USD", "");
  assert_int_equal(answer->count, 0); // all of b is in USD: no rate changes its cost in USD
  scenario_fixture_end(&fixture);
}

static void test_rents_in_usd_are_converted(void **state) {
  (void)state;
  static const struct {
    const char *rate;
    double expected;
  } rents[] = {{"2.00 EUR/gpu/h", 2}, {"2.00 USD/gpu/h", 1.6}, {"pr138", 2.56}};
  for (size_t i = 0; i < sizeof rents / sizeof rents[0]; i++) {
    struct scenario_fixture fixture;
    char added[256];
    snprintf(added, sizeof added,
             "[option c]\naccelerator = h100-sxm5-80\nlist_price = 1 EUR\n"
             "[rent q]\nown = c\non_demand = %s",
             rents[i].rate);
    start(&fixture, added);
    const struct rent_answers *answers =
        rent_ask(fixture.scenario, NULL, &fixture.fixture.arena, &fixture.fixture.diagnostics);
    expect_error(&fixture.fixture, rents[i].rate, "");
    expect_near(answers->list[0].costs[0].offer.rate, rents[i].expected, 1e-12, rents[i].rate);
    scenario_fixture_end(&fixture);
  }
}

// An option's rent is the same offer in either currency: 8 accelerators, half of 26,280 h.
static void test_rented_options_may_state_usd(void **state) {
  (void)state;
  static const struct {
    const char *rent, *price, *typed;
    double cost;
  } rents[] = {
      {"rental_rate = 2 EUR/gpu/h", "rental_rate", "2 EUR/gpu/h", 420480},
      {"rental_rate = 2.5 USD/gpu/h", "rental_rate", "2.5 USD/gpu/h", 420480},
      {"on_demand_rate = 2 EUR/gpu/h", "on_demand_rate", "2 EUR/gpu/h", 210240},
      {"on_demand_rate = 2.5 USD/gpu/h", "on_demand_rate", "2.5 USD/gpu/h", 210240},
      {"rental_rate = 2.5 USD/gpu/h\nreserved_share = 50 %\non_demand_rate = 3 EUR/gpu/h",
       "rental_rate", NULL, 0},
  };
  for (size_t i = 0; i < sizeof rents / sizeof rents[0]; i++) {
    struct scenario_fixture fixture;
    char added[512];
    snprintf(added, sizeof added, "[option c]\naccelerator = h200-sxm-141\n%s\n%s", rents[i].rent,
             rents[i].typed ? "[rent q]\nown = a\ncloud = c" : "");
    start(&fixture, added);
    const struct scenario *scenario = fixture.scenario;
    assert_int_equal(option_price(scenario, &scenario->options[2]),
                     model_find(scenario->model, rents[i].price));
    if (rents[i].typed) {
      const struct rent_answers *answers =
          rent_ask(scenario, NULL, &fixture.fixture.arena, &fixture.fixture.diagnostics);
      expect_error(&fixture.fixture, rents[i].rent, "");
      const struct rent_cost *cost = &answers->list[0].costs[0];
      assert_string_equal(cost->offer.typed, rents[i].typed);
      expect_near(cost->offer.rate, 2, 1e-12, rents[i].rent);
      expect_near(cost->cost, rents[i].cost, 1e-12, rents[i].rent);
      assert_true(cost->beside == 0);
    }
    scenario_fixture_end(&fixture);
  }
}

// Prices in USD fall and grow like those in the report's currency.
static void test_waiting_costs_the_same_in_another_currency(void **state) {
  (void)state;
  char *whole = realpath("examples/wait.ini", NULL), text[1024];
  assert_non_null(whole);
  struct scenario_fixture usd, eur;
  snprintf(text, sizeof text,
           "[scenario]\ninherits = %s\ncurrency = EUR\nexchange_rate = 1.25 USD/EUR\n"
           "exchange_rate.source = drawn\nexchange_rate.date = 2026-11-01\n"
           "[wait b200]\nmeanwhile = 0.1176 EUR/Mtok\n",
           whole);
  scenario_fixture_open(&usd, "examples/wait.ini");
  scenario_fixture_start(&eur, text, NULL, NULL);
  expect_error(&eur.fixture, "wait", "");
  const struct wait_answer *a = wait_ask(usd.scenario, &usd.scenario->questions[0],
                                         &usd.fixture.arena, &usd.fixture.diagnostics);
  const struct wait_answer *b = wait_ask(eur.scenario, &eur.scenario->questions[0],
                                         &eur.fixture.arena, &eur.fixture.diagnostics);
  expect_error(&eur.fixture, "wait", "");
  expect_near(b->now.mean, a->now.mean / 1.25, 1e-9, "buying now");
  expect_near(b->later.mean, a->later.mean / 1.25, 1e-9, "waiting");
  assert_int_equal(b->best, a->best);
  scenario_fixture_end(&eur);
  scenario_fixture_end(&usd);
  free(whole);
}

static void test_a_range_goes_where_the_amount_is(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  start(&fixture, "[range]\nexchange_rate = uniform(1.1, 1.3) USD/EUR\n"
                  "b.list_price = uniform(20000, 30000) USD\n"
                  "a.list_price = uniform(18000, 22000) EUR\n"
                  "electricity_price = uniform(0.08, 0.12) USD/kWh");
  static const char *const inputs[] = {"exchange_rate", "list_price_usd", "list_price",
                                       "electricity_price_usd"};
  const struct scenario *scenario = fixture.scenario;
  assert_int_equal(scenario->range_count, 4);
  for (int r = 0; r < 4; r++) {
    const struct option *option = &scenario->options[r == 2 ? 0 : 1];
    assert_int_equal(option_range(scenario, option, model_find(scenario->model, inputs[r])), r);
  }
  scenario_fixture_end(&fixture);
}

// ---- refused

static const struct {
  const char *from, *to, *expected; // in `base`; from NULL: `to` follows it
} refused[] = {
    {"currency = EUR", "currency = ERU", "4:12: unknown currency 'ERU'"},
    {"currency = EUR", "currency = eur", "did you mean 'EUR'?"},
    {"currency = EUR", "currency = euro", "4:12: unknown currency 'euro'"},
    {"currency = EUR\n", "", "4:1: the report is in USD: 'exchange_rate' has no effect without"},
    {"currency = EUR\n", "",
     "amounts here are in USD, not EUR: convert them first, or set 'currency = EUR' in [scenario]"},
    {"currency = EUR", "currency = USD", "5:1: the report is in USD"},
    {"exchange_rate = 1.25 USD/EUR\nexchange_rate.source = the treasury's\n"
     "exchange_rate.date = 2026-10-01\n",
     "", "4:1: a report in EUR needs an exchange rate"},
    {"exchange_rate.source = the treasury's\n", "", "5:17: an exchange rate needs its source"},
    {"exchange_rate.date = 2026-10-01\n", "", "5:17: an exchange rate needs its source and date"},
    {"1.25 USD/EUR", "0 USD/EUR", "5:17: 'exchange_rate' must be above 0 USD/EUR"},
    {"1.25 USD/EUR", "-1.25 USD/EUR", "must be above 0 USD/EUR"},
    {"1.25 USD/EUR", "0.80 EUR/USD", "5:22: wrong unit 'EUR/USD'"},
    {"1.25 USD/EUR", "1.25 USD/GBP", "wrong unit 'USD/GBP'"},
    {"1.25 USD/EUR", "1.25", "5:17: '1.25' has no unit"},
    {"list_price = 25000 USD", "quote = none.ini", "19:9: the offer 'none.ini' cannot be opened"},
    {"list_price = 20000 EUR", "quote = none.ini", "16:9: the offer 'none.ini' cannot be opened"},
    {"20000 EUR", "20000 GBP", "16:20: amounts here are in EUR, not GBP"},
    {"20000 EUR", "20000 EUR, 19000 USD",
     "16:25: a list is in one currency: give all of its amounts in EUR, or all in USD"},
    {"20000 EUR", "20000 USD, 19000 GBP", "16:25: a list is in one currency"},
    {"20000 EUR", "20000, 19000 GBP", "16:20: amounts here are in EUR, not GBP"},
    {"20000 EUR", "20000", "expected a quantity such as '100 EUR/gpu'"},
    {NULL, "list_price_usd = 20000 USD", "20:1: both 'list_price' and 'list_price_usd' are given"},
    {NULL, "node_price_usd = 20000 EUR",
     "20:18: 'node_price_usd' is in USD: write 'node_price = 20000 EUR'"},
    {NULL, "[case c]\nb.list_price = 20000 EUR",
     "21:16: case 'c' gives 'list_price' of option 'b' in a different currency than case 'base'"},
    {NULL, "[case c]\na.list_price = 20000 USD", "in a different currency than case 'base'"},
    {NULL, "[item own]\nlabel = Own\nunit = USD\ngroup = capex\nformula = 5 USD",
     "22:8: a capex item is in EUR, not USD: divide amounts in USD by exchange_rate"},
    {NULL, "[item own]\nlabel = Own\nunit = EUR/yr\ngroup = opex\nformula = 5 USD/yr",
     "the formula of 'own' is in USD/h, but its unit is EUR/yr"},
    {NULL, "[item own]\nlabel = Own\nunit = EUR\ngroup = capex\nformula = 5 USD + 5 EUR",
     "units do not match: 5 USD (USD) and 5 EUR (EUR)"},
    {NULL, "[range]\nb.list_price = uniform(1, 2) EUR", "option 'b' otherwise computes"},
    {NULL, "[range]\na.list_price = uniform(1, 2) USD", "option 'a' has no 'list_price_usd'"},
};

static void test_mistakes_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    struct scenario_fixture fixture;
    struct arena scratch = {NULL};
    char text[2048];
    snprintf(text, sizeof text, base, refused[i].from ? "" : refused[i].to);
    const char *wrong =
        refused[i].from ? replaced(text, refused[i].from, refused[i].to, &scratch) : text;
    scenario_fixture_start(&fixture, wrong, NULL, NULL);
    expect_error(&fixture.fixture, wrong, refused[i].expected);
    assert_null(fixture.scenario);
    scenario_fixture_end(&fixture);
    arena_free(&scratch);
  }
}

// Another rate for the same currency is a what-if; a new currency is not.
static void test_an_inherited_rate_is_replaced(void **state) {
  (void)state;
  static const struct {
    const char *lines, *expected;
  } cases[] = {{"exchange_rate = 1.25 USD/EUR\n", ""},
               {"currency = GBP\nexchange_rate = 1.25 USD/GBP\n",
                "4:17: an exchange rate needs its source and date"}};
  char *whole = realpath("examples/euro.ini", NULL), text[1024];
  assert_non_null(whole);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    snprintf(text, sizeof text, "[scenario]\ninherits = %s\n%s", whole, cases[i].lines);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    expect_error(&fixture.fixture, cases[i].lines, cases[i].expected);
    if (!*cases[i].expected) {
      const struct figure *rate =
          option_figure(fixture.scenario, &fixture.scenario->options[0], 0,
                        model_find(fixture.scenario->model, "exchange_rate"));
      assert_int_equal(rate->value == 1.25, 1);
      assert_string_equal(rate->source, "");
    }
    scenario_fixture_end(&fixture);
  }
  free(whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_amounts_in_usd_are_converted),
      cmocka_unit_test(test_an_option_states_its_price_in_usd),
      cmocka_unit_test(test_an_old_rate_warns),
      cmocka_unit_test(test_a_currency_divides_money_and_nothing_else),
      cmocka_unit_test(test_claims_in_usd_hold_at_the_rate),
      cmocka_unit_test(test_published_prices_are_in_the_inputs_currency),
      cmocka_unit_test(test_prices_are_solved_for_in_their_currency),
      cmocka_unit_test(test_a_target_in_usd_follows_the_rate),
      cmocka_unit_test(test_rents_in_usd_are_converted),
      cmocka_unit_test(test_rented_options_may_state_usd),
      cmocka_unit_test(test_waiting_costs_the_same_in_another_currency),
      cmocka_unit_test(test_a_range_goes_where_the_amount_is),
      cmocka_unit_test(test_an_inherited_rate_is_replaced),
      cmocka_unit_test(test_mistakes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
