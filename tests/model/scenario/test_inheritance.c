// Scenarios that inherit others: what they take back or state anew, with its source. Run in the
// repository's root.
#include "base/ini.h"
#include "tests/support/scenario_fixture.h"

#include <stdio.h>
#include <string.h>

static const char *const base = scenario_of_two;

// A file that inherits the fixture's, with more in it; NULL after errors.
static struct scenario *child_of(struct scenario_fixture *fixture, const char *more) {
  const char *text =
      arena_printf(&fixture->fixture.arena, "[scenario]\ninherits = test.ini\n%s", more);
  return scenario_fixture_another(fixture, "child.ini", text);
}

// An empty value removes an inherited one.
static void test_taken_back(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  char text[2048];
  snprintf(text, sizeof text,
           "%slist_price.quote = Q-118 2026-10-01\n[workload]\nmodel = llama-2-70b\n"
           "[option c]\naccelerator = h200-sxm-141\nprice = pr007\nevidence = tp0022\n"
           "discount = 10 %%\ndiscount.source = a friend\ndiscount.date = 2026\n",
           base);
  scenario_fixture_start(&fixture, text, NULL, NULL);
  struct scenario *scenario =
      child_of(&fixture, "[option b]\nlist_price = 7 USD\n"
                         "[option c]\nprice =\nlist_price = 5 USD\nevidence =\n"
                         "throughput = 4000 token/s\ndiscount.source =\ndiscount.date =\n");
  expect_error(&fixture.fixture, "taken back", "");
  const struct option *b = &scenario->options[1], *c = &scenario->options[2];
  assert_int_equal(b->price_grade, GRADE_ASSUMED);
  assert_int_equal(c->price_grade, GRADE_ASSUMED);
  assert_int_equal(c->throughput_grade, GRADE_ASSUMED);
  expect_near(scenario_item(scenario, "c.net_price", 1), 4.5, 1e-14, "net_price");
  const struct figure *discount =
      option_figure(scenario, c, 0, model_find(scenario->model, "discount"));
  assert_int_equal(discount->grade, GRADE_ASSUMED);
  assert_string_equal(discount->source, "");
  assert_string_equal(discount->date, "");
  scenario_fixture_end(&fixture);
}

// What an empty key says where there is nothing to take back; NULL: it takes something back.
static const struct {
  const char *parent, *child, *error;
} empties[] = {
    {"grid = DE\n", "[option b]\ngrid =\n", NULL},
    {"grid = DE\n[case x]\nb.grid = FR\n", "[case x]\nb.grid =\n", NULL},
    {"resale = 60, 40 %\n", "[option b]\nresale =\nresidual_value = 10 %\n", NULL},
    {"[range]\npue = uniform(1.2, 1.4)\n", "[range]\npue =\n", NULL},
    {"[case x]\npue = 1.3\n", "[case x]\npue =\nwacc = 9 %/yr\n", NULL},
    {"", "[option b]\nresale =\n", "expected a quantity"},
    {"evidence_spread = no\n", "[option b]\nevidence_spread =\n", NULL},
    {"", "[option a]\nlist_price = 9 USD/gpu\nprice =\n", NULL},
    {"",
     "[option d]\naccelerator = h200-sxm-141\nprice =\nlist_price = 9 USD/gpu\nevidence =\n"
     "throughput = 9 token/s\n",
     NULL},
    {"", "[option b]\ngrid =\n", "4:7: an empty 'grid' only removes"},
    {"", "[option b]\nlist_price.source =\n", "4:20: an empty 'list_price.source' only removes"},
    {"", "[option b]\nlist_price = 9 USD\nlist_price.quote =\n",
     "5:19: an empty 'list_price.quote'"},
    {"grid = DE\n", "[case x]\nb.grid =\n", "4:9: an empty 'grid' only removes"},
    {"grid = DE\n", "[case x]\nb.quote =\n", "4:10: an empty 'quote' only removes"},
    {"", "[option a]\nevidence =\n", "4:11: an empty 'evidence' only removes"},
    {"", "[case x]\nday_profile =\n", "4:14: an empty 'day_profile' only removes"},
};

static void test_empty(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof empties / sizeof empties[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(text, sizeof text, "%s%s", base, empties[i].parent);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    assert_int_equal(!child_of(&fixture, empties[i].child), !!empties[i].error);
    expect_error(&fixture.fixture, empties[i].child, empties[i].error ? empties[i].error : "");
    scenario_fixture_end(&fixture);
  }
}

static void test_inheritance(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  scenario_fixture_start(&fixture, base, NULL, NULL);
  struct scenario *scenario =
      child_of(&fixture, "[option b]\ndiscount = 10 %\nlist_price = 10000 USD\n");
  expect_error(&fixture.fixture, "child", "");
  expect_near(scenario_item(scenario, "b.net_price", 1), 9000, 1e-14, "net_price");
  expect_near(scenario_item(scenario, "b.throughput", 1), 3900, 1e-14, "throughput");
  assert_string_equal(scenario->title, "A test");
  assert_string_not_equal(scenario->digest, fixture.scenario->digest);
  assert_null(
      scenario_fixture_another(&fixture, "child.ini", "[scenario]\ninherits = missing.ini\n"));
  expect_error(&fixture.fixture, "missing", "2:12: cannot inherit from 'missing.ini'");
  fixture_write(&fixture.fixture, fixture.folder, "test.ini", "[scenario]\ninherits = child.ini\n");
  assert_null(child_of(&fixture, ""));
  expect_error(&fixture.fixture, "circle", "inherits from itself");
  scenario_fixture_end(&fixture);
}

#define ITEM                                                                                       \
  "[item alarm]\nlabel = Alarm\nunit = USD/yr\ngroup = opex\nformula = 10 USD/yr\n"                \
  "source = a friend\ndate = 2026\n"

// What a child states anew has the child's source, or none.
static const struct {
  const char *parent, *child, *item, *source;
  double value;
} restated[] = {
    {"pue.source = a friend\npue.date = 2026\n", "[common]\npue = 1.3\n", "a.pue", "", 1.3},
    {"pue.quote = Q-1 2026-10-01\n", "[common]\npue = 1.3\n", "a.pue", "", 1.3},
    {"pue.source = a friend\n", "[common]\npue = 1.3\npue.source = a plan\n", "a.pue", "a plan",
     1.3},
    {"pue.source = a friend\n", "[common]\npue.source = a plan\n", "a.pue", "a plan", 1.25},
    {"pue.source = a friend\n", "[common]\nwacc = 8 %/yr\n", "a.pue", "a friend", 1.25},
    {"[workload]\ndelivered = 90 %\ndelivered.source = a friend\n", "[common]\ndelivered = 80 %\n",
     "a.delivered", "", 80},
    {"[option c]\naccelerator = mi325x-256\nlist_price = 9 USD\nthroughput = 1 token/s\n"
     "list_price.source = a friend\n",
     "[option c]\nlist_price = 1 USD\n", "c.list_price", "", 1},
    {"[option c]\naccelerator = mi325x-256\nlist_price = 9 USD\nthroughput = 1 token/s\n"
     "list_price.source = a friend\n",
     "[common]\nlist_price = 1 USD\n", "c.list_price", "a friend", 9},
    {ITEM, "[item alarm]\nformula = 20 USD/yr\n", "a.alarm_1", "", 20},
    {ITEM, "[item alarm]\nlabel = An alarm\n", "a.alarm_1", "a friend", 10},
    {"grid = US-CAL-CISO\n", "[common]\ngrid_intensity = 111 g/kWh\n", "a.grid_intensity", "", 111},
    {"grid_intensity = 9 g/kWh\ngrid_intensity.quote = Q-1 2026-10-01\n", "[common]\ngrid = FR\n",
     "a.grid_intensity", "France (FR): Electricity Maps yearly 2025 (co2.js)", 31},
    // A list, volume tiers and a day's profile are stated anew with all their parts.
    {"engineer_cost = 1 USD/FTE/yr\nengineers = 1, 2 FTE\nengineers_year_2 = 9 FTE\n",
     "[common]\nengineers = 3, 4 FTE\n", "a.engineers_year_2", "", 4},
    {"engineer_cost = 1 USD/FTE/yr\nengineers = 1, 2 FTE\nengineers_scale = 110 %\n",
     "[common]\nengineers = 3, 4 FTE\n", "a.engineers_scale", "", 100},
    {"engineer_cost = 1 USD/FTE/yr\nengineers = 1, 2 FTE\nengineers_year_2 = 9 FTE\n",
     "[common]\nengineers = 3 FTE\n", "a.engineers", "", 3},
    {"engineer_cost = 1 USD/FTE/yr\nengineers = 1, 2 FTE\n", "[common]\nengineers_year_2 = 9 FTE\n",
     "a.engineers_year_1", "", 1},
    {"engineer_cost = 1 USD/FTE/yr\nengineers = 1, 2 FTE every 2 yr\nengineers_step_2 = 9 FTE\n",
     "[common]\nengineers = 3, 4 FTE every 2 yr\n", "a.engineers_step_2", "", 4},
    {"discount = 8 % from 100 gpu\ndiscount_tier_1 = 2 %\ndiscount_tier_1.source = a friend\n",
     "[common]\ndiscount = 9 % from 100 gpu\n", "a.discount_tier_1", "", 9},
    {"demand = 9 Mtok/yr\n[workload]\nday_share_3 = 50 %\n", "[common]\nday_profile = consumer\n",
     "a.day_share_3", "BurstGPT (Wang et al.), hourly means by I. Liu", 2.44},
    // The numbers of an item of one's own are no parts of an input, whatever the item is called.
    {"engineer_cost = 1 USD/FTE/yr\nengineers = 1 FTE\nengineers_scale_out_1 = 5 USD/yr\n"
     "[item engineers_scale_out]\nlabel = More\nunit = USD/yr\ngroup = opex\n"
     "formula = 10 USD/yr\n",
     "[common]\nengineers = 3 FTE\n", "a.engineers_scale_out_1", "", 5},
    {"demand_year_end_1 = 5 USD/yr\n[item demand_year_end]\nlabel = More\nunit = USD/yr\n"
     "group = opex\nformula = 10 USD/yr\n",
     "[common]\ndemand = 9 Mtok/yr\n", "a.demand_year_end_1", "", 5},
    // Another source or quote goes with the parent's value, not with its other provenance.
    {"pue.quote = Q-1 2026-10-01\n", "[common]\npue.source = a plan\n", "a.pue", "a plan", 1.25},
    {"pue.source = a friend\n", "[common]\npue.quote = Q-1 2026-10-01\n", "a.pue", "Q-1", 1.25},
    // The numbers of the parent's formula are not those of the child's.
    {"alarm_1 = 5 USD/yr\nalarm_1.source = a letter\n" ITEM, "[item alarm]\nformula = 20 USD/yr\n",
     "a.alarm_1", "", 20},
};

static void test_restated(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof restated / sizeof restated[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    const char *first_option = strstr(base, "[option a]");
    const bool common = restated[i].parent[0] != '[';
    snprintf(text, sizeof text, "%.*s%s%s%s", (int)(first_option - base), base,
             common ? restated[i].parent : "", first_option, common ? "" : restated[i].parent);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    struct scenario *scenario = child_of(&fixture, restated[i].child);
    expect_error(&fixture.fixture, restated[i].child, "");
    const struct option *option = &scenario->options[*restated[i].item - 'a'];
    const int d = model_find(scenario->model, restated[i].item + 2);
    expect_near(scenario_item(scenario, restated[i].item, 1), restated[i].value, 1e-12,
                restated[i].child);
    assert_string_equal(option_figure(scenario, option, 0, d)->source, restated[i].source);
    scenario_fixture_end(&fixture);
  }
}

// The grandchild's figure counts, though it replaces one that stood before the parent's grid.
static void test_restated_last(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  scenario_fixture_start(&fixture, base, NULL, NULL);
  fixture_write(&fixture.fixture, fixture.folder, "parent.ini",
                "[scenario]\ninherits = test.ini\n[common]\ngrid_intensity = 400 g/kWh\n");
  fixture_write(&fixture.fixture, fixture.folder, "child.ini",
                "[scenario]\ninherits = parent.ini\n[common]\ngrid = US-CAL-CISO\n");
  struct scenario *scenario = scenario_fixture_another(
      &fixture, "grandchild.ini",
      "[scenario]\ninherits = child.ini\n[common]\ngrid_intensity = 111 g/kWh\n");
  expect_error(&fixture.fixture, "grandchild", "");
  expect_near(scenario_item(scenario, "a.grid_intensity", 1), 111, 1e-12, "grid_intensity");
  scenario_fixture_end(&fixture);
}

static void test_restated_claim(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  char text[2048];
  snprintf(text, sizeof text, "%s[claim dear]\nsays = a.tco = 1 USD\nsource = a friend\n", base);
  scenario_fixture_start(&fixture, text, NULL, NULL);
  static const struct {
    const char *line;
    bool kept;
  } children[] = {{"says = a.tco = 2 USD\n", false}, {"with.pue = 1.3\n", true}};
  for (size_t i = 0; i < sizeof children / sizeof children[0]; i++) {
    struct scenario *scenario = child_of(
        &fixture, arena_printf(&fixture.fixture.arena, "[claim dear]\n%s", children[i].line));
    expect_error(&fixture.fixture, children[i].line, "");
    assert_int_equal(scenario->question_count, 1);
    assert_int_equal(ini_find(&scenario->questions[0], "source") != NULL, children[i].kept);
  }
  scenario_fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_taken_back),    cmocka_unit_test(test_empty),
      cmocka_unit_test(test_inheritance),   cmocka_unit_test(test_restated),
      cmocka_unit_test(test_restated_last), cmocka_unit_test(test_restated_claim),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
