// Which of several statements about an input holds for an option in a case. Run in the repository's
// root.
#include "tests/support/scenario_fixture.h"

#include "base/source_file.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/reading/read.h"
#include "model/scenario/reading/resolution.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pairs),          cmocka_unit_test(test_documented),
      cmocka_unit_test(test_named),          cmocka_unit_test(test_ranged),
      cmocka_unit_test(test_range_of_found), cmocka_unit_test(test_repeated),
      cmocka_unit_test(test_emptied),        cmocka_unit_test(test_workload),
      cmocka_unit_test(test_offered_source), cmocka_unit_test(test_companions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
