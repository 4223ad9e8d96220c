// An option resolved by a function: the result for another case or workload equals that of a
// scenario read with --case and --set, to the bit; and what cannot be resolved is an error, or a
// lack reported at the user's own text. Run in the repository's root.
#include "tests/support/scenario_fixture.h"

#include "base/ini.h"
#include "model/optimise/allocation.h"
#include "model/optimise/allocation_programme.h"
#include "model/questions/route.h"
#include "model/scenario/amendment.h"
#include "model/scenario/resolution/read.h"
#include "model/scenario/resolution/resolution.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const examples[] = {
    "examples/cloud.ini",          "examples/euro.ini",       "examples/finance-views.ini",
    "examples/interactive.ini",    "examples/wait.ini",       "examples/mi325x-vs-h200.ini",
    "examples/mi355x-vs-b200.ini", "examples/own-items.ini",  "examples/portfolio.ini",
    "examples/rent-or-own.ini",    "examples/uncertainty.ini"};

static void expect_texts(const struct texts *got, const struct texts *expected, const char *what) {
  if (got->count != expected->count)
    fail_msg("%s: %zu warnings, expected %zu", what, got->count, expected->count);
  for (size_t i = 0; i < got->count; i++)
    assert_string_equal(got->list[i], expected->list[i]);
}

static void expect_figure(const struct figure *got, const struct figure *expected,
                          const char *what) {
  if (got->origin != expected->origin || got->value != expected->value ||
      got->grade != expected->grade)
    fail_msg("%s: %.17g, expected %.17g", what, got->value, expected->value);
  assert_string_equal(got->source, expected->source);
}

static void expect_same(const struct scenario *a, const struct option *got,
                        const struct scenario *b, const struct option *expected) {
  const struct model *model = a->model;
  assert_int_equal(got->throughput_grade, expected->throughput_grade);
  assert_int_equal(got->power_grade, expected->power_grade);
  assert_int_equal(got->price_grade, expected->price_grade);
  assert_int_equal(got->headline_grade, expected->headline_grade);
  assert_int_equal(got->rented, expected->rented);
  assert_int_equal(got->decode_only, expected->decode_only);
  assert_string_equal(got->accelerator, expected->accelerator);
  for (int k = 0; k < WORKLOAD_KEYS; k++)
    assert_string_equal(got->workload.values[k], expected->workload.values[k]);
  for (int d = 0; d < model->count; d++) {
    const char *name = model->declarations[d].name;
    assert_int_equal(got->graph->state[d], expected->graph->state[d]);
    expect_figure(option_figure(a, got, a->selected, d), option_figure(b, expected, b->selected, d),
                  name);
    if (!option_has(got, d))
      continue;
    const double value = option_value(a, got, d, 0), wanted = option_value(b, expected, d, 0);
    if (value != wanted && !(isnan(value) && isnan(wanted)))
      fail_msg("%s: %.17g, expected %.17g", name, value, wanted);
  }
  expect_texts(&got->warnings, &expected->warnings, got->id);
}

static const struct scenario *read_again(struct scenario_fixture *fixture, const char *path,
                                         const char *case_name, const char *const *settings,
                                         size_t setting_count) {
  const struct scenario_request request = {.path = path,
                                           .data_directory = "data",
                                           .case_name = case_name,
                                           .settings = settings,
                                           .setting_count = setting_count,
                                           .mixed = true};
  const struct scenario *scenario =
      scenario_read(&request, &fixture->fixture.arena, &fixture->fixture.diagnostics);
  expect_error(&fixture->fixture, path, "");
  assert_non_null(scenario);
  return scenario;
}

static void test_cases(void **state) {
  (void)state;
  size_t cases = 0;
  for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
    struct scenario_fixture fixture;
    scenario_fixture_open(&fixture, examples[i]);
    const struct scenario *base = fixture.scenario;
    for (size_t c = 0; c < base->case_count; c++, cases++) {
      const struct scenario *got =
          scenario_in_case(base, c, &fixture.fixture.arena, &fixture.fixture.diagnostics);
      const struct scenario *expected = read_again(&fixture, examples[i], base->cases[c], NULL, 0);
      assert_non_null(got);
      assert_int_equal(got->selected, expected->selected);
      expect_texts(&got->warnings, &expected->warnings, examples[i]);
      for (size_t o = 0; o < base->option_count; o++)
        expect_same(got, &got->options[o], expected, &expected->options[o]);
    }
    scenario_fixture_end(&fixture);
  }
  assert_true(cases > 20);
}

// Keys of a demand, and the same given with --set.
static const struct {
  const char *path, *option, *workload[2], *own[2], *settings[2];
} amendments[] = {
    {"examples/portfolio.ini", "h200", {NULL}, {NULL}, {NULL}},
    {"examples/portfolio.ini",
     "h200",
     {"model", "llama-3.1-405b"},
     {"evidence", "tp0191"},
     {"workload.model=llama-3.1-405b", "h200.evidence=tp0191"}},
    {"examples/portfolio.ini",
     "mi325x",
     {"scenario", "interactive"},
     {"evidence", "tp0149"},
     {"workload.scenario=interactive", "mi325x.evidence=tp0149"}},
    {"examples/portfolio.ini",
     "mi300x",
     {NULL},
     {"load_power", "600 W"},
     {"mi300x.load_power=600 W", NULL}},
    {"examples/rent-or-own.ini",
     "h100",
     {NULL},
     {"throughput", "900 token/s"},
     {"h100.throughput=900 token/s", NULL}},
    {"examples/interactive.ini",
     "mi300x",
     {"interactivity", "20 token/s"},
     {NULL},
     {"workload.interactivity=20 token/s", NULL}},
};

static struct ini_key key_of(const char *const pair[2]) {
  return (struct ini_key){.name = pair[0], .value = pair[1]};
}

static void test_amendments(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof amendments / sizeof amendments[0]; i++) {
    struct scenario_fixture fixture;
    scenario_fixture_open(&fixture, amendments[i].path);
    struct arena *arena = &fixture.fixture.arena;
    struct diagnostics *diagnostics = &fixture.fixture.diagnostics;
    const int number = scenario_option(fixture.scenario, amendments[i].option);
    struct amendment *amendment = amendment_new(fixture.scenario, arena);
    const struct ini_key workload = key_of(amendments[i].workload), own = key_of(amendments[i].own);
    size_t count = 0;
    if (workload.name)
      amendment_take_workload(amendment, workload.name, &workload, diagnostics);
    if (own.name)
      amendment_take_option(amendment, own.name, &own, diagnostics);
    while (count < 2 && amendments[i].settings[count])
      count++;
    struct lack lack;
    if (number < 0)
      fail_msg("no option %s in %s", amendments[i].option, amendments[i].path);
    const struct option *got =
        option_resolve(fixture.scenario, (size_t)number, amendment, &lack, arena, diagnostics);
    expect_error(&fixture.fixture, amendments[i].option, "");
    if (!got)
      fail_msg("%s: %s", amendments[i].option, lack.why);
    const char *settings[16];
    memcpy(settings, amendments[i].settings, count * sizeof *settings);
    // The options that are not of interest also need a throughput in the reading.
    for (size_t o = 0; o < fixture.scenario->option_count; o++)
      if (o != (size_t)number)
        settings[count++] =
            arena_printf(arena, "%s.throughput=1 token/s", fixture.scenario->options[o].id);
    const struct scenario *expected =
        read_again(&fixture, amendments[i].path, NULL, settings, count);
    expect_same(fixture.scenario, got, expected, &expected->options[number]);
    scenario_fixture_end(&fixture);
  }
}

static const char head[] = "[scenario]\ntitle = T\nhorizon = 3 yr\ndate = 2026-11-20\n"
                           "[common]\naccelerators = 8\npue = 1\nelectricity_price = 0.1 USD/kWh\n"
                           "utilization = 70 %\n"
                           "[option x]\naccelerator = h200-sxm-141\nlist_price = 1000 USD\n";

// Portfolios that are valid by themselves and fail for a demand; the caret's place.
static const struct {
  const char *text, *at, *message;
} failures[] = {
    {"throughput = 1 token/s\n[demand d]\ntokens = 1 token/month\nmodel = llama-2-71b\n",
     "llama-2-71b", "demand 'd': unknown model 'llama-2-71b'; did you mean"},
    {"throughput = 1 token/s\n[demand d]\ntokens = 1 token/month\nprecision = fp7\n", "fp7",
     "demand 'd': unknown precision 'fp7'"},
    {"throughput = 1 token/s\n[demand d]\ntokens = 1 token/month\nbatch = many\n", "many",
     "demand 'd': expected a positive whole number"},
    {"throughput = 1 token/s\n[demand d]\ntokens = 1 token/month\ninteractivity = fast\n", "fast",
     "demand 'd': expected a quantity such as"},
    {"throughput = 1 token/s\n[demand d]\ntokens = 1 token/month\ninteractivity = -3 token/s\n",
     "-3 token/s", "demand 'd': interactivity must be above 0 token/s"},
    {"throughput = 1 token/s\n[demand d]\ntokens = 1 token/month\nthroughput.x = 5 GB\n", "GB",
     "demand 'd': wrong unit"},
    {"throughput = 1 token/s\n[demand d]\ntokens = 1 token/month\nthroughput.x = -5 token/s\n",
     "-5 token/s", "demand 'd': 'throughput' must be above 0"},
    {"throughput = 1 token/s\n[demand d]\ntokens = 1 token/month\nload_power.x = 700\n", "700",
     "demand 'd': '700' has no unit"},
    {"throughput = 1 token/s\n[demand d]\ntokens = 1 token/month\nevidence.x = tp0022\n",
     "evidence.x = tp0022", "demand 'd': option 'x' states a throughput and also names evidence"},
    {"evidence = tp0022\n[demand d]\ntokens = 1 token/month\nevidence.x = tp9999\n", "tp9999",
     "demand 'd': no row 'tp9999'"},
    {"evidence = tp0022\n[demand d]\ntokens = 1 token/month\nevidence.x = tp0090\n", "tp0090",
     "demand 'd': evidence 'tp0090' is for 'mi325x-256', not for 'h200-sxm-141'"},
    {"evidence = tp0022\n[demand d]\ntokens = 1 token/month\nmodel = mixtral-8x7b\n"
     "evidence.x = tp0022\n",
     "tp0022", "demand 'd': evidence 'tp0022' has model = llama-2-70b"},
    {"evidence = tp0022\n[demand d]\ntokens = 1 token/month\nrecord.x = no.json\n", "record.x",
     "demand 'd': option 'x' names both evidence and a record"},
    {"evidence = tp0022\n[workload]\ninteractivity = fast\n", "fast",
     "expected a quantity such as"},
    {"decode_throughput = 9 token/s\n[case c]\nx.prefill_throughput = 3 token/s\n[demand d]\n"
     "tokens = 1 token/month\n",
     "3 token/s", "case 'c' gives 'prefill_throughput'"},
    {"evidence = tp0022\n[option y]\naccelerator = mi325x-256\nlist_price = 1 USD\n"
     "evidence = tp0090\n[demand d]\ntokens = 1 token/month\nevidence.x = tp0021\n",
     "[option y]", "demand 'd': the throughputs of 'x' and 'y' are not comparable, scenario"},
};

// The text that a place points at, in a file and never in a text that nobody typed.
static const char *text_at(const struct scenario_fixture *fixture, struct place place) {
  const char *start;
  size_t length;
  if (!place.source)
    fail_msg("an error without a place");
  if (!strstr(place.source->name, fixture->folder))
    fail_msg("an error in '%s'", place.source->name);
  assert_true(source_line(place.source, place.line, &start, &length));
  assert_true((size_t)place.column <= length);
  return start + place.column - 1;
}

static void test_places(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof failures / sizeof failures[0] && allocation_available(); i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(text, sizeof text, "%s%s", head, failures[i].text);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    struct diagnostics *diagnostics = &fixture.fixture.diagnostics;
    if (fixture.scenario)
      assert_null(route_ask(fixture.scenario, &fixture.fixture.arena, diagnostics));
    expect_error(&fixture.fixture, failures[i].text, failures[i].message);
    assert_int_equal(diagnostics->count, 1); // one mistake, one message
    for (size_t e = 0; e < diagnostics->count; e++) {
      const char *at = text_at(&fixture, diagnostics->list[e].place);
      if (strncmp(at, failures[i].at, strlen(failures[i].at)) != 0)
        fail_msg("%s: the caret is at '%.30s'", failures[i].message, at);
      assert_null(strstr(diagnostics->list[e].message, "--set"));
    }
    scenario_fixture_end(&fixture);
  }
}

// If an option has no throughput for a workload, that is not an error: the reason is returned.
static const struct {
  const char *name, *value;
  enum lack_kind kind;
  const char *why;
} lacks[] = {
    {"model", "mixtral-8x7b", LACK_EVIDENCE, "evidence 'tp0022' has model = llama-2-70b"},
    {"interactivity", "5000 token/s", LACK_EVIDENCE, "covers one batch alone"},
    {"batch", "7", LACK_EVIDENCE, "evidence 'tp0022' has batch ="},
};

static void test_lacks(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  char text[2048];
  snprintf(text, sizeof text, "%s%s", head, "evidence = tp0022\n");
  scenario_fixture_start(&fixture, text, NULL, NULL);
  expect_error(&fixture.fixture, text, "");
  for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++) {
    struct amendment *amendment = amendment_new(fixture.scenario, &fixture.fixture.arena);
    const struct ini_key key = {.name = lacks[i].name, .value = lacks[i].value};
    struct lack lack;
    amendment_take_workload(amendment, key.name, &key, &fixture.fixture.diagnostics);
    assert_null(option_resolve(fixture.scenario, 0, amendment, &lack, &fixture.fixture.arena,
                               &fixture.fixture.diagnostics));
    expect_error(&fixture.fixture, lacks[i].name, "");
    assert_int_equal(lack.kind, lacks[i].kind);
    expect_fragment(lack.why, lacks[i].why);
    expect_fragment(text_at(&fixture, lack.place), lack.kind == LACK_RATE ? "" : "tp0022");
  }
  // The scenario itself is unchanged.
  assert_string_equal(fixture.scenario->options[0].workload.values[WORKLOAD_MODEL], "llama-2-70b");
  scenario_fixture_end(&fixture);
}

// Out of reach for every batch: the rate is to blame, not the evidence.
static void test_rate(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  scenario_fixture_open(&fixture, "examples/interactive.ini");
  struct amendment *amendment = amendment_new(fixture.scenario, &fixture.fixture.arena);
  const struct ini_key key = {.name = "interactivity", .value = "5000 token/s"};
  struct lack lack;
  amendment_take_workload(amendment, key.name, &key, &fixture.fixture.diagnostics);
  assert_null(option_resolve(fixture.scenario, 0, amendment, &lack, &fixture.fixture.arena,
                             &fixture.fixture.diagnostics));
  expect_error(&fixture.fixture, "5000 token/s", "");
  assert_int_equal(lack.kind, LACK_RATE);
  expect_fragment(lack.why, "5000 token/s per user on average is above the measured range");
  scenario_fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cases),  cmocka_unit_test(test_amendments),
      cmocka_unit_test(test_places), cmocka_unit_test(test_lacks),
      cmocka_unit_test(test_rate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
