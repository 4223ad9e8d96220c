// What a scenario warns of, and what it says is not included. Run in the repository's root.
#include "tests/support/scenario_fixture.h"

#include "base/texts.h"

#include <stdio.h>
#include <string.h>

static const char *const base = scenario_of_two;

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
      fail_msg("%s: expected %s, found %s", dated[i].date,
               dated[i].said ? dated[i].said : "nothing", said ? said : "nothing");
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

// The energy of a rent is without what its price includes, unless it is stated.
static void test_energy_of_a_rent(void **state) {
// Another accelerator and workload, of which there are watts of a similar run.
#define SIMILAR                                                                                    \
  "accelerator = h100-sxm5-80\nmodel = llama-3.1-70b\nprecision = bf16\nthroughput = 1700 "        \
  "token/s\n"
  (void)state;
  static const struct {
    const char *owned, *rented, *said; // NULL: nothing
  } cases[] = {
      {"", "", "leave out cooling, and assume the TDP: state 'pue' before comparing them"},
      {"", "pue = 1.2\n", "power under load is the TDP, 700 W/gpu"},
      {"", "load_power = 600 W\n", "leave out cooling: state 'pue' before comparing them"},
      {"", SIMILAR, "leave out cooling: state 'pue' before"},
      {"", SIMILAR "pue = 1.2\n", "W/gpu, is from a similar run, tp"},
      {"host_power = 300 W\n", "",
       "cooling and hosts, and assume the TDP: state 'pue' and 'host_p"},
      {"host_power = 300 W\n", "pue = 1.2\n", "hosts, and assume the TDP: state 'host_power' be"},
      {"host_power = 300 W\n", "pue = 1.2\nhost_power = 0 W\nload_power = 600 W\n", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    char text[1024];
    snprintf(text, sizeof text,
             "[scenario]\ntitle = t\n[common]\naccelerators = 8\nutilization = 70 %%\n"
             "electricity_price = 0.1 USD/kWh\n"
             "throughput = 4000 token/s\n"
             "[option a]\naccelerator = h200-sxm-141\nlist_price = 3e4 USD\npue = 1.2\n%s"
             "[option b]\n%srental_rate = 2 USD/gpu/h\n%s",
             cases[i].owned,
             strstr(cases[i].rented, "accelerator") ? "" : "accelerator = h200-sxm-141\n",
             cases[i].rented);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    expect_error(&fixture.fixture, "rent", "");
    const struct texts *warnings = &fixture.scenario->options[1].warnings;
    const char *said = NULL;
    for (size_t w = 0; w < warnings->count; w++)
      if (strstr(warnings->list[w], "energy and carbon") ||
          (!said && strstr(warnings->list[w], "power under load")))
        said = warnings->list[w];
    if (!said != !cases[i].said || (said && !strstr(said, cases[i].said)))
      fail_msg("case %zu: expected %s, found %s", i, cases[i].said ? cases[i].said : "nothing",
               said ? said : "nothing");
    scenario_fixture_end(&fixture);
  }
}

// Warnings of an option of 8 H200 over three years: those that contain `said`, none with `unsaid`;
// "": nothing.
static void expect_of_one(const char *keys, const char *said, const char *unsaid) {
  struct scenario_fixture fixture;
  char text[1024];
  snprintf(text, sizeof text,
           "[scenario]\nhorizon = 3 yr\n[common]\naccelerators = 8\nutilization = 70 %%\n"
           "electricity_price = 0.1 USD/kWh\npue = 1.2\nthroughput = 4000 token/s\n"
           "[option a]\naccelerator = h200-sxm-141\n%s",
           keys);
  scenario_fixture_start(&fixture, text, NULL, NULL);
  expect_error(&fixture.fixture, keys, "");
  const char *found =
      texts_joined_by(&fixture.scenario->options[0].warnings, "\n", &fixture.fixture.arena);
  if (!strstr(found, said) || (*unsaid && strstr(found, unsaid)))
    fail_msg("%s: %s", keys, found);
  scenario_fixture_end(&fixture);
}

// Eight of 4,000 token/s serve 1,009,152 Mtok a year at most.
static void test_idleness(void **state) {
  (void)state;
#define OWNED "list_price = 3e4 USD\n"
#define IDLE  "nearly all of its cost is for idle accelerators"
#define DRAWS "no idle_power is given"
#define STOPS "that takes accelerators which start and stop with every request"
  static const struct {
    const char *keys, *said, *unsaid; // "": nothing
  } cases[] = {
      {OWNED "demand = 109.5 Mtok/yr\n",
       "in use 0.0109 % of the time: " IDLE ", whose power counts as that under load: " DRAWS,
       STOPS},
      {OWNED "demand = 109.5 Mtok/yr\nidle_power = 90 W\n", IDLE, DRAWS},
      {OWNED "demand = 1 token/yr\n", "in use less than 0.0001 % of the time: " IDLE, ""},
      {OWNED "demand = 110000 Mtok/yr\n",
       DRAWS ": it counts as drawing its power under load all the time, though it is in use 10.9 % "
             "of it",
       IDLE},
      {OWNED "demand = 110000 Mtok/yr\nidle_power = 90 W\n", "", DRAWS},
      {OWNED "demand = 600000 Mtok/yr\n", "", DRAWS},
      {OWNED, "", DRAWS},
      {"rental_rate = 2 USD/gpu/h\ndemand = 109.5 Mtok/yr\n", IDLE, DRAWS},
      {"on_demand_rate = 2 USD/gpu/h\ndemand = 109.5 Mtok/yr\n",
       "rented for 0.0109 % of the hours: " STOPS, IDLE},
      {"on_demand_rate = 2 USD/gpu/h\nrental_rate = 1 USD/gpu/h\nreserved_share = 50 %\n"
       "demand = 109.5 Mtok/yr\n",
       IDLE, STOPS},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_of_one(cases[i].keys, cases[i].said, cases[i].unsaid);
}

// After a lease's term its hardware serves on, and nothing is counted for it.
static void test_short_lease(void **state) {
  (void)state;
  static const struct {
    const char *term, *said; // "": nothing
  } cases[] = {
      {"lease_term = 3 yr\n", ""},
      {"lease_term = 24 month\n", "ends after 2 yr, but its hardware serves for 3 yr"},
      {"lease_term = 2 yr\nlife = 2 yr\n", ""},
      {"lease_term = 1 yr\nlife = 2 yr\n", "ends after 1 yr, but its hardware serves for 2 yr"},
      {"lease_term = 2 yr\nlife = 31 month\n", ""}, // retired after two whole years
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char keys[256];
    snprintf(keys, sizeof keys, "list_price = 3e4 USD\nlease_rate = 6 %%/yr\n%s", cases[i].term);
    expect_of_one(keys, cases[i].said, *cases[i].said ? "" : "the lease ends");
  }
}

// Hardware is retired at the end of a period.
static void test_life(void **state) {
  (void)state;
  static const struct {
    const char *keys, *said; // "": nothing
  } cases[] = {
      {"life = 30 month\n", "life counts as 2 yr: [scenario] period = 1 month shows it"},
      {"life = 2 yr\n", ""},
      {"life = 42 month\n", ""}, // beyond the horizon
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char keys[256];
    snprintf(keys, sizeof keys, "list_price = 3e4 USD\n%s", cases[i].keys);
    expect_of_one(keys, cases[i].said, *cases[i].said ? "" : "life counts");
  }
}

// The first count of a list that is not a number of whole servers of eight.
static void test_units(void **state) {
  (void)state;
  static const struct {
    const char *count, *said; // "": nothing
  } cases[] = {
      {"60 gpu", "the costs are of 60 accelerators, sold in units of 8: 64 must be"},
      {"64 gpu", ""},
      {"60, 64 gpu", "the costs are of 60 accelerators in year 1, sold in units of 8"},
      {"64, 68, 70 gpu", "68 accelerators in year 2, sold in units of 8: 72 must be"},
      {"56, 64 gpu", ""},
      {"64, 68, 70 gpu every 2 yr", "68 accelerators after 2 yr, sold in units of 8: 72 must be"},
      {"60, 64 gpu every 2 yr", "60 accelerators at the outset, sold in units of 8: 64 must be"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char keys[256];
    snprintf(keys, sizeof keys, "list_price = 3e4 USD\naccelerators = %s\n", cases[i].count);
    expect_of_one(keys, cases[i].said, *cases[i].said ? "" : "are sold in units");
  }
}

// Beside a bought option at its TDP, 32,207 USD each with power; the rent is 26,280 h at its rate.
#define RENT(rate) "[option b]\naccelerator = h200-sxm-141\nrental_rate = " rate " USD/gpu/h\n"
#define OTHER      "[option b]\naccelerator = mi325x-256\nlist_price = 3e4 USD\n"
#define PAID_LATER                                                                                 \
  "wacc = 10 %/yr\n[item grant]\nlabel = Grant\noptions = b\nunit = USD\ngroup = capex\n"          \
  "formula = -3e6 USD\n[item fee]\nlabel = Fee\noptions = b\nunit = USD/yr\ngroup = opex\n"        \
  "formula = 1.05e6 USD/yr\n"
#define LATE  "delivery_delay = 1 week\ndelay_damages = 20 %\n"      // as much as for what is short
#define SHORT "remedy = 1 %\nguaranteed_throughput = 5000 token/s\n" // 6000 USD each is owed
static const struct {
  const char *keys, *other, *said, *unsaid; // "": nothing
} uneven[] = {
    {"wacc = 9 %/yr\n", RENT("1.3"), "a costs least undiscounted, but by levelized cost b does, ",
     "TDP for"},
    {"wacc = 10 %/yr\n", OTHER PAID_LATER, "by levelized cost b does, less than nothing", ""},
    {"wacc = 9 %/yr\n", RENT("1.2"), "", "undiscounted"},
    {"wacc = 9 %/yr\n", RENT("1.6"), "", "undiscounted"},
    {"", RENT("1.3"), "", "undiscounted"},
    {SHORT, RENT("1.1"),
     "only with what its vendor owes for slow accelerators; without any "
     "remedy, b does, 10.2 % less than a",
     "undiscounted"},
    {SHORT, RENT("1.1"),
     "20 % of the hardware price, is counted as received: the throughput is "
     "20 % below its guarantee",
     "caps it"},
    {LATE, RENT("1.1"), "only with what its vendor owes for a delay; without any damages, b does, ",
     "slow"},
    {LATE SHORT, RENT("0.95"),
     "for slow accelerators and a delay; without any remedy or damages, b does, ", "undiscounted"},
    {LATE, RENT("1.3"), "", "only with"},
    {SHORT, RENT("1.3"), "", "only with"},
    {SHORT, RENT("0.9"), "", "only with"},
    {SHORT "guarantee_tolerance = 20 %\n", RENT("1.1"), "", "remedy"},
    {"", OTHER, "", "TDP for"},
    {"", OTHER "load_power = 800 W\n", "the TDP for a but not for b: compare", ""},
    {"load_power = 600 W\n", OTHER, "the TDP for b but not for a: compare", ""},
    {"load_power = 600 W\n", OTHER "load_power = 800 W\n", "", "TDP for"},
    {"resale = 60, 40, 20 %\n", "", "", "resale"},
    {"resale = 60, 40, 0 %\n", "", "", "resale"},
    {"resale = 0 %\n", "", "", "resale"},
    {"resale = 60, 40 %\n", "", "resale ends with an age of 2 yr, so hardware sold at 3 yr", ""},
    {"resale = 60, 40 %\nlife = 2 yr\n", "", "", "resale"},
    {"resale = 60 %\nlife = 30 month\n", "", "sold at 2 yr is worth nothing", ""},
    {"resale = 60, 40 %\nhorizon = 27 month\n", "",
     "sold at 2.25 yr is worth nothing: add values up to 3 yr", ""},
    {"resale = 60 %\nlife = 18 month\n", "", "", "resale"}, // kept for one whole period
};

static void test_uneven_comparisons(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof uneven / sizeof uneven[0]; i++) {
    struct scenario_fixture fixture;
    char text[1024];
    snprintf(text, sizeof text,
             "[scenario]\n[common]\naccelerators = 8\nutilization = 70 %%\n"
             "electricity_price = 0.1 USD/kWh\npue = 1.2\nthroughput = 4000 token/s\n"
             "[option a]\naccelerator = h200-sxm-141\nlist_price = 3e4 USD\n%s%s",
             uneven[i].keys, uneven[i].other);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    expect_error(&fixture.fixture, uneven[i].keys, "");
    const char *said = arena_printf(
        &fixture.fixture.arena, "%s\n%s",
        texts_joined_by(&fixture.scenario->warnings, "\n", &fixture.fixture.arena),
        texts_joined_by(&fixture.scenario->options[0].warnings, "\n", &fixture.fixture.arena));
    if (!strstr(said, uneven[i].said) || (*uneven[i].unsaid && strstr(said, uneven[i].unsaid)))
      fail_msg("case %zu: expected '%s', not '%s', in %s", i, uneven[i].said, uneven[i].unsaid,
               said);
    scenario_fixture_end(&fixture);
  }
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
    scenario_fixture_set(&fixture, text, cases[i].case_name, &cases[i].setting);
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
    scenario_fixture_set(&fixture, text, cases[i].case_name, &cases[i].setting);
    expect_error(&fixture.fixture, cases[i].keys, "");
    assert_string_equal(fixture.scenario->options[2].not_included, cases[i].missing);
    scenario_fixture_end(&fixture);
  }
}

// Of the scenario with `head` before [common] and `more` after it; NULL: none.
static void expect_warning(const char *head, const char *more, const char *warning) {
  struct scenario_fixture fixture;
  char text[2048];
  const char *rest = strstr(base, "[common]");
  snprintf(text, sizeof text, "%.*s%s%s%s", (int)(rest - base), base, head, rest, more);
  scenario_fixture_start(&fixture, text, NULL, NULL);
  expect_error(&fixture.fixture, text, "");
  const struct texts *warnings = &fixture.scenario->warnings;
  if (warnings->count != (warning != NULL) || (warning && !strstr(warnings->list[0], warning)))
    fail_msg("%s: %zu warnings: %s", text, warnings->count,
             warnings->count ? warnings->list[0] : "");
  scenario_fixture_end(&fixture);
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
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_warning(cases[i].head, cases[i].more, cases[i].warning);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dated),
      cmocka_unit_test(test_dated_api),
      cmocka_unit_test(test_energy_of_a_rent),
      cmocka_unit_test(test_idleness),
      cmocka_unit_test(test_short_lease),
      cmocka_unit_test(test_life),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_uneven_comparisons),
      cmocka_unit_test(test_not_included),
      cmocka_unit_test(test_zeros_with_a_source),
      cmocka_unit_test(test_warned_of_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
