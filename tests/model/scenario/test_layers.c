// Which of several statements about an input holds for an option in a case. Run in the repository's
// root.
#include "tests/support/scenario_fixture.h"

#include "base/source_file.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/resolution/read.h"
#include "model/scenario/resolution/resolution.h"

#include <stdio.h>
#include <string.h>

// Every pair of layers, and the one that holds.
static const struct {
  enum origin one, other, holds;
} pairs[] = {
    {ORIGIN_COMMON, ORIGIN_CASE, ORIGIN_CASE},
    {ORIGIN_COMMON, ORIGIN_SET, ORIGIN_SET},
    {ORIGIN_COMMON, ORIGIN_OPTION, ORIGIN_OPTION},
    {ORIGIN_COMMON, ORIGIN_CASE_OPTION, ORIGIN_CASE_OPTION},
    {ORIGIN_COMMON, ORIGIN_SET_OPTION, ORIGIN_SET_OPTION},
    {ORIGIN_CASE, ORIGIN_SET, ORIGIN_SET},
    {ORIGIN_CASE, ORIGIN_OPTION, ORIGIN_OPTION},
    {ORIGIN_CASE, ORIGIN_CASE_OPTION, ORIGIN_CASE_OPTION},
    {ORIGIN_CASE, ORIGIN_SET_OPTION, ORIGIN_SET_OPTION},
    {ORIGIN_SET, ORIGIN_OPTION, ORIGIN_OPTION},
    {ORIGIN_SET, ORIGIN_CASE_OPTION, ORIGIN_CASE_OPTION},
    {ORIGIN_SET, ORIGIN_SET_OPTION, ORIGIN_SET_OPTION},
    {ORIGIN_OPTION, ORIGIN_CASE_OPTION, ORIGIN_CASE_OPTION},
    {ORIGIN_OPTION, ORIGIN_SET_OPTION, ORIGIN_SET_OPTION},
    {ORIGIN_CASE_OPTION, ORIGIN_SET_OPTION, ORIGIN_SET_OPTION},
};

// An input, and what the two layers state of it: in one way, and in another.
static const struct {
  const char *input, *key, *value, *other_key, *other_value;
  const char *beneath; // a case cannot add an input without a default
} statements[] = {
    {"discount", "discount", "11 %", "discount", "12 %", ""},
    {"engineers", "engineers", "1 FTE", "engineers", "2, 3 FTE", ""},
    {"engineers", "engineers", "2, 3 FTE", "engineers", "1 FTE", ""},
    {"grid_intensity", "grid_intensity", "9 g/kWh", "grid", "FR", "grid = DE\n"},
    {"grid_intensity", "grid", "FR", "grid_intensity", "9 g/kWh", "grid = DE\n"},
    {"load_power", "load_power", "650 W", "load_power", "660 W", ""}, // also found in the catalogue
};

struct statement {
  enum origin origin;
  const char *key, *value;
};

// The line of a layer: of option b, or of all.
static const char *line_of(const struct statement *statement, enum origin at, struct arena *arena) {
  const struct origin_layer *layer = &origin_layers[at];
  if (statement->origin != at)
    return "";
  return arena_printf(arena, "%s%s%s%s%s", layer->of_option && at != ORIGIN_OPTION ? "b." : "",
                      statement->key, layer->is_set ? "=" : " = ", statement->value,
                      layer->is_set ? "" : "\n");
}

static const char *lines_of(const struct statement said[2], enum origin at, struct arena *arena) {
  return arena_printf(arena, "%s%s", line_of(&said[0], at, arena), line_of(&said[1], at, arena));
}

static void expect_held(const struct statement said[2], const char *input, const char *beneath,
                        enum origin holds) {
  struct arena arena = {NULL};
  const char *const settings[] = {lines_of(said, ORIGIN_SET, &arena),
                                  lines_of(said, ORIGIN_SET_OPTION, &arena)};
  const size_t first = !*settings[0], count = (size_t)(*settings[0] != 0) + (*settings[1] != 0);
  const char *first_option = strstr(scenario_of_two, "[option a]");
  const bool bare = said[0].origin == ORIGIN_COMMON;
  const char *text = arena_printf(
      &arena, "%.*sengineer_cost = 9 USD/FTE/yr\n%s%s%s%s[case c]\npue = 1.2\n%s%s",
      (int)(first_option - scenario_of_two), scenario_of_two, bare ? "" : beneath,
      lines_of(said, ORIGIN_COMMON, &arena), first_option, lines_of(said, ORIGIN_OPTION, &arena),
      lines_of(said, ORIGIN_CASE, &arena), lines_of(said, ORIGIN_CASE_OPTION, &arena));
  const char *what = arena_printf(&arena, "%s%s\n%s\n", text, settings[0], settings[1]);
  struct scenario_fixture fixture;
  scenario_fixture_request(&fixture, text,
                           (struct scenario_request){.case_name = "c",
                                                     .settings = settings + first,
                                                     .setting_count = count});
  expect_error(&fixture.fixture, what, "");
  const struct scenario *scenario = fixture.scenario;
  const struct figure *figure = option_figure(scenario, &scenario->options[1], scenario->selected,
                                              model_find(scenario->model, input));
  if (figure->origin != holds)
    fail_msg("%s is of %s, not of %s:\n%s", input, origin_layers[figure->origin].name,
             origin_layers[holds].name, what);
  scenario_fixture_end(&fixture);
  arena_free(&arena);
}

static void test_pairs(void **state) {
  (void)state;
  const size_t layers = ORIGINS - ORIGIN_COMMON;
  assert_int_equal(sizeof pairs / sizeof pairs[0], layers * (layers - 1) / 2);
  for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++)
    for (size_t s = 0; s < sizeof statements / sizeof statements[0]; s++) {
      const struct statement said[2] = {
          {pairs[p].one, statements[s].key, statements[s].value},
          {pairs[p].other, statements[s].other_key, statements[s].other_value}};
      expect_held(said, statements[s].input, statements[s].beneath, pairs[p].holds);
    }
}

// The documentation lists the layers in the same order, the one that holds first.
static void test_documented(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  const struct source *page =
      source_read("docs/scenario-file.md", &fixture.arena, &fixture.diagnostics);
  assert_non_null(page);
  const char *at = strstr(page->text, "\n## Precedence\n");
  for (int origin = ORIGINS - 1; origin >= ORIGIN_COMMON; origin--) {
    const char *row = arena_printf(&fixture.arena, "\n| `%s` |", origin_layers[origin].written);
    at = at ? strstr(at, row) : NULL;
    if (!at)
      fail_msg("docs/scenario-file.md does not have %s there", row);
  }
  fixture_end(&fixture);
}

#define HEAD                                                                                       \
  "[scenario]\ndate = 2026-11-01\n[workload]\nmodel = llama-2-70b\nprecision = fp8\n"              \
  "scenario = server\n[common]\naccelerators = 8\nutilization = 70 %\npue = 1.25\n"                \
  "electricity_price = 0.08 USD/kWh\n"
#define OPTION "[option a]\naccelerator = h200-sxm-141\n"
#define API                                                                                        \
  "[option a]\nmodel = deepseek-v3\napi = ap003\ninput_tokens = 8 token\noutput_tokens = 8 "       \
  "token\ndemand = 1 Mtok/yr\n"

static const char *const offers[] = {"one.ini", "two.ini"};
static const char offer_text[] =
    "[offer]\nvendor = V\nreference = %s\ndate = 2026-10-02\ncurrency = USD\n"
    "accelerator = h200-sxm-141\naccelerators = 64 gpu\n[price]\naccelerators = %d USD/gpu\n"
    "[guarantee g]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\nscenario = server\n"
    "tokens_per_s = 3700 token/s/gpu\n";

// What an option names, and offers, against what is typed: one holds 26,000 USD, two 27,000.
static const struct {
  const char *common, *option, *more, *setting, *item;
  double value;
} named[] = {
    // A row is a value of the place that names it.
    {"list_price = 1 USD\n", OPTION "price = pr007\nthroughput = 1 token/s\n", "", NULL,
     "list_price", 29500},
    {"", OPTION "price = pr007\nthroughput = 1 token/s\n", "a.list_price = 2 USD\n", NULL,
     "list_price", 2},
    {"", OPTION "list_price = 1 USD\nthroughput = 1 token/s\n", "", "a.price=pr007", "list_price",
     29500},
    {"", OPTION "list_price = 1 USD\nthroughput = 1 token/s\n", "a.list_price = 2 USD\n",
     "a.price=pr007", "list_price", 29500},
    {"", OPTION "list_price = 1 USD\nevidence = tp0022\n", "a.throughput = 2 token/s\n", NULL,
     "throughput", 2},
    {"", OPTION "list_price = 1 USD\nthroughput = 1 token/s\n", "", "a.evidence=tp0022",
     "throughput", 4274.23},
    {"", OPTION "list_price = 1 USD\nthroughput = 1 token/s\n", "a.throughput = 2 token/s\n",
     "a.evidence=tp0022", "throughput", 4274.23},
    {"", API, "a.output_price = 2 USD/Mtok\n", NULL, "output_price", 2},
    {"", API, "a.output_price = 2 USD/Mtok\n", "a.api=ap004", "output_price", 8},
    {"", API, "a.cached_input_price = 2 USD/Mtok\n", "a.api=ap004", "cached_input_price",
     0}, // the row has none
    // An offer ranks below what is typed in the same place, and above what is typed below it.
    {"list_price = 1 USD\n", OPTION "quote = one.ini\n", "", NULL, "list_price", 26000},
    {"", OPTION "quote = one.ini\n", "list_price = 2 USD\n", NULL, "list_price", 26000},
    {"", OPTION "quote = one.ini\nlist_price = 3 USD\n", "", NULL, "list_price", 3},
    {"", OPTION "list_price = 3 USD\nthroughput = 1 token/s\n", "a.quote = two.ini\n", NULL,
     "list_price", 27000},
    {"", OPTION "quote = one.ini\nlist_price = 3 USD\n", "a.quote = two.ini\n", NULL, "list_price",
     27000},
    {"", OPTION "quote = one.ini\n", "a.quote = two.ini\na.list_price = 4 USD\n", NULL,
     "list_price", 4},
    {"", OPTION "quote = one.ini\n", "a.quote = two.ini\n", "a.list_price=5 USD", "list_price", 5},
    {"", OPTION "quote = one.ini\nprice = pr007\n", "", NULL, "list_price", 29500},
    {"", OPTION "quote = one.ini\n", "", "a.price=pr007", "list_price", 29500},
    {"", OPTION "quote = one.ini\nprice = pr007\n", "a.quote = two.ini\n", NULL, "list_price",
     27000},
    // Its guarantee counts as found: whatever is typed holds.
    {"", OPTION "quote = one.ini\n", "", NULL, "throughput", 3700},
    {"throughput = 1 token/s\n", OPTION "quote = one.ini\n", "", NULL, "throughput", 1},
    {"", OPTION "quote = one.ini\nthroughput = 3 token/s\n", "a.quote = two.ini\n", NULL,
     "throughput", 3},
};

static void start_with_offers(struct scenario_fixture *fixture, const char *text,
                              const char *const *setting) {
  scenario_fixture_start(fixture, "", NULL, NULL); // for its folder
  for (size_t i = 0; i < sizeof offers / sizeof offers[0]; i++)
    fixture_write(
        &fixture->fixture, fixture->folder, offers[i],
        arena_printf(&fixture->fixture.arena, offer_text, offers[i], 26000 + 1000 * (int)i));
  fixture->fixture.diagnostics = (struct diagnostics){.arena = &fixture->fixture.arena};
  fixture_write(&fixture->fixture, fixture->folder, "layers.ini", text);
  fixture->scenario =
      scenario_read(&(struct scenario_request){.path = scenario_fixture_path(fixture, "layers.ini"),
                                               .data_directory = "data",
                                               .case_name = "c",
                                               .settings = setting,
                                               .setting_count = *setting ? 1 : 0,
                                               .mixed = true},
                    &fixture->fixture.arena, &fixture->fixture.diagnostics);
}

static void test_named(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(text, sizeof text,
             "%s%s%s[option b]\naccelerator = h200-sxm-141\nthroughput = 9 token/s\n"
             "list_price = 9 USD\n[case c]\npue = 1.2\n%s",
             HEAD, named[i].common, named[i].option, named[i].more);
    start_with_offers(&fixture, text, &named[i].setting);
    expect_error(&fixture.fixture, text, "");
    const struct scenario *scenario = fixture.scenario;
    const int d = model_find(scenario->model, named[i].item);
    expect_near(option_figure(scenario, &scenario->options[0], scenario->selected, d)->value /
                    unit_factor(&scenario->model->declarations[d].unit),
                named[i].value, 1e-12, text);
    scenario_fixture_end(&fixture);
  }
}

// Ranges of all options, and whether the one option's input is drawn from them.
static const struct {
  const char *common, *option, *range;
  bool drawn;
} ranged[] = {
    {"list_price = 9 USD\n", OPTION "throughput = 1 token/s\n", "list_price = uniform(8, 9) USD",
     true},
    {"list_price = 9 USD\n", OPTION "throughput = 1 token/s\nlist_price = 8 USD\n",
     "list_price = uniform(8, 9) USD", false},
    {"list_price = 9 USD\n", OPTION "throughput = 1 token/s\nprice = pr007\n",
     "list_price = uniform(8, 9) USD", false},
    {"list_price = 9 USD\n", OPTION "throughput = 1 token/s\nquote = one.ini\n",
     "list_price = uniform(8, 9) USD", false},
    {"list_price = 9 USD\n", OPTION "throughput = 1 token/s\nprice = pr007\n",
     "a.list_price = uniform(8, 9) USD", true},
    {"list_price = 9 USD\nthroughput = 2 token/s\n", OPTION "evidence = tp0022\n",
     "throughput = uniform(1, 2) token/s", false},
};

static void test_ranged(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof ranged / sizeof ranged[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(text, sizeof text,
             "%s%s%s[option b]\naccelerator = h200-sxm-141\n%s[range]\n%s\n[case c]\n"
             "pue = 1.2\n",
             HEAD, ranged[i].common, ranged[i].option,
             strstr(ranged[i].common, "throughput") ? "" : "throughput = 1 token/s\n",
             ranged[i].range);
    start_with_offers(&fixture, text, &(const char *){NULL});
    expect_error(&fixture.fixture, text, "");
    const struct scenario *scenario = fixture.scenario;
    const struct range *range = &scenario->ranges[0];
    const bool drawn = option_range(scenario, &scenario->options[0], range->declaration) >= 0;
    if (drawn != ranged[i].drawn)
      fail_msg("%s drawn:\n%s", drawn ? "is" : "is not", text);
    scenario_fixture_end(&fixture);
  }
}

// A common range does not reach what every option found.
static void test_range_of_found(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  char text[2048];
  snprintf(text, sizeof text, "%s[range]\nload_power = uniform(600, 700) W\n", scenario_of_two);
  scenario_fixture_start(&fixture, text, NULL, NULL);
  expect_error(&fixture.fixture, text,
               "no option uses a common 'load_power': name the option, a.load_power or b.load");
  scenario_fixture_end(&fixture);
}

// Of two settings of one thing the last holds, and the other one is named in a warning.
static const struct {
  const char *settings[2];
  bool warned;
} repeated[] = {
    {{"pue=1.3", "pue=1.4"}, true},
    {{"pue=1.3", "common.pue=1.4"}, true},
    {{"grid=FR", "grid_intensity=9 g/kWh"}, true},
    {{"grid_intensity=9 g/kWh", "grid=FR"}, true},
    {{"b.pue=1.3", "b.pue=1.4"}, true},
    {{"workload.model=llama-3.1-8b", "workload.model=llama-2-70b"}, true},
    {{"pue=1.3", "b.pue=1.4"}, false},
    {{"a.discount=1 %", "b.discount=2 %"}, false},
    {{"b.pue=1.3", "b.pue.source=a plan"}, false},
};

static void test_repeated(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof repeated / sizeof repeated[0]; i++) {
    struct scenario_fixture fixture;
    const char *const *settings = repeated[i].settings;
    scenario_fixture_request(
        &fixture, scenario_of_two,
        (struct scenario_request){.settings = settings, .setting_count = 2, .mixed = true});
    expect_error(&fixture.fixture, settings[1], "");
    const struct scenario *scenario =
        scenario_in_case(fixture.scenario, 0, &fixture.fixture.arena, &fixture.fixture.diagnostics);
    const char *expected =
        arena_printf(&fixture.fixture.arena, "--set %s has no effect: --set %s comes after it",
                     settings[0], settings[1]);
    const char *said = scenario->warnings.count ? scenario->warnings.list[0] : "";
    if (!strcmp(said, expected) != repeated[i].warned)
      fail_msg("%s, %s: '%s'", settings[0], settings[1], said);
    if (!strcmp(settings[1], "pue=1.4"))
      expect_near(scenario_item(scenario, "a.pue", 1), 1.4, 1e-14, "the last");
    scenario_fixture_end(&fixture);
  }
}

// --set cannot take back what stands for inputs.
static void test_emptied(void **state) {
  (void)state;
  static const char *const settings[] = {"b.grid=", "b.quote="};
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(text, sizeof text, "%sgrid = FR\n", scenario_of_two);
    scenario_fixture_request(
        &fixture, text, (struct scenario_request){.settings = &settings[i], .setting_count = 1});
    expect_error(&fixture.fixture, settings[i],
                 "only removes what a file inherits: --set needs a value");
    scenario_fixture_end(&fixture);
  }
}

// A workload set for all options does not reach one that has its own.
static void test_workload(void **state) {
  (void)state;
  static const char *const setting = "workload.model=llama-2-70b";
  for (int both = 0; both <= 1; both++) {
    struct scenario_fixture fixture;
    char text[2048];
    const char *second = strstr(scenario_of_two, "[option b]");
    snprintf(text, sizeof text, "%.*s%s%smodel = llama-3.1-8b\n", (int)(second - scenario_of_two),
             scenario_of_two, both ? "model = llama-3.1-8b\n" : "", second);
    scenario_fixture_request(
        &fixture, text,
        (struct scenario_request){.settings = &setting, .setting_count = 1, .mixed = true});
    expect_error(&fixture.fixture, text,
                 both ? "1:16: every option sets its own 'model': a.model, b.model" : "");
    if (!both)
      assert_string_equal(fixture.scenario->warnings.list[0],
                          "--set model does not affect options that set their own: b.model");
    scenario_fixture_end(&fixture);
  }
}

// An offer's price has the offer's source.
static void test_offered_source(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  start_with_offers(&fixture,
                    HEAD OPTION "throughput = 1 token/s\nquote = one.ini\n"
                                "list_price.source = a letter\n[case c]\npue = 1.2\n",
                    &(const char *){NULL});
  expect_error(&fixture.fixture, "source", "'list_price.source' needs a 'list_price'");
  scenario_fixture_end(&fixture);
}

// An input that needs another one, which is only drawn.
static const struct {
  const char *common, *more, *error;
} companions[] = {
    {"repair_cost = 50 %\n", "[range]\nfailure_rate = uniform(2, 4) %/yr\n", ""},
    {"repair_cost = 50 %\n", "[range]\nb.failure_rate = uniform(2, 4) %/yr\n", ""},
    {"", "repair_cost = 50 %\n[range]\nb.failure_rate = uniform(2, 4) %/yr\n", ""},
    {"", "repair_cost = 50 %\n[range]\na.failure_rate = uniform(2, 4) %/yr\n",
     "'repair_cost' has no effect on option 'b' without 'failure_rate'"},
    {"", "[range]\nfailure_rate = uniform(2, 4) %/yr\n[case c]\nrepair_cost = 50 %\n", ""},
    {"demand_growth = 2 %/yr\n", "[range]\ndemand = uniform(1, 2) Mtok/yr\n",
     "'demand_growth' has no effect without 'demand'"},
};

static void test_companions(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof companions / sizeof companions[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    const char *first = strstr(scenario_of_two, "[option a]");
    snprintf(text, sizeof text, "%.*s%s%s%s", (int)(first - scenario_of_two), scenario_of_two,
             companions[i].common, first, companions[i].more);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    expect_error(&fixture.fixture, text, companions[i].error);
    scenario_fixture_end(&fixture);
  }
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
    snprintf(text, sizeof text, "%s%s", scenario_of_two, precedence[i].more);
    scenario_fixture_set(&fixture, text, precedence[i].case_name, &precedence[i].setting);
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
} rows[] = {
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

static void test_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    // An output_price for all options would make any option beside `a` a token API.
    const char *beside = rows[i].accelerator == api ? ""
                                                    : "[option b]\naccelerator = h200-sxm-141\n"
                                                      "throughput = 4000 token/s\n";
    snprintf(text, sizeof text,
             "[scenario]\ndate = 2026-11-01\n[common]\naccelerators = 8\nutilization = 70 %%\n"
             "pue = 1.25\nelectricity_price = 0.08 USD/kWh\n%s%s[option a]\n%s%s",
             rows[i].common, beside, rows[i].accelerator, rows[i].more);
    scenario_fixture_set(&fixture, text, rows[i].case_name, &rows[i].setting);
    expect_error(&fixture.fixture, text, "");
    expect_near(scenario_item(fixture.scenario, rows[i].item, 1), rows[i].value, 1e-12, text);
    scenario_fixture_end(&fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pairs),          cmocka_unit_test(test_documented),
      cmocka_unit_test(test_named),          cmocka_unit_test(test_ranged),
      cmocka_unit_test(test_range_of_found), cmocka_unit_test(test_repeated),
      cmocka_unit_test(test_emptied),        cmocka_unit_test(test_workload),
      cmocka_unit_test(test_offered_source), cmocka_unit_test(test_companions),
      cmocka_unit_test(test_precedence),     cmocka_unit_test(test_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
