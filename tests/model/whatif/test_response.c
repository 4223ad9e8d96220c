// Responses compared with evaluations of every line item: the same items, over random scenarios and
// random variables.
#include "tests/support/scenario_fixture.h"

#include "model/cost/model_check.h"
#include "model/cost/model_read.h"
#include "model/whatif/response.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCENARIOS = 60, SEED = 20261121 };

// In the inputs' own units. Inputs that every option has are in the text itself.
static const struct {
  const char *name;
  double low, high;
  bool whole;
} inputs[] = {
    {"horizon", 0.5, 6, false},
    {"spares", 0, 12, false},
    {"discount", 0, 35, false},
    {"node_price", 20000, 250000, false},
    {"network_price", 500, 9000, false},
    {"installation", 1, 8, false},
    {"purchase_tax", 1, 12, false},
    {"build_price", 4000, 14000, false},
    {"facility_residual", 10, 80, false},
    {"residual_value", 3, 30, false},
    {"load_power", 450, 1500, false},
    {"idle_power", 60, 250, false},
    {"host_power", 50, 400, false},
    {"pue", 1, 2, false},
    {"cooling_share", 40, 100, false},
    {"electricity_price", 0.02, 0.3, false},
    {"electricity_escalation", -5, 9, false},
    {"demand_charge", 2, 25, false},
    {"water_use", 0.2, 3, false},
    {"water_price", 0.5, 9, false},
    {"support", 1, 12, false},
    {"software_licence", 200, 5000, false},
    {"engineers", 1, 12, false},
    {"engineer_cost", 90000, 400000, false},
    {"wage_growth", -2, 7, false},
    {"failure_rate", 1, 12, false},
    {"repair_cost", 10, 150, false},
    {"throughput", 600, 9000, false},
    {"decode_throughput", 800, 9000, false},
    {"prefill_throughput", 5000, 60000, false},
    {"input_tokens", 128, 9000, false},
    {"output_tokens", 64, 2048, false},
    {"utilization", 20, 95, false},
    {"availability", 90, 99.9, false},
    {"delivered", 50, 98, false},
    {"wacc", 2, 15, false},
    {"rental_rate", 1, 6, false},
    {"accelerators", 64, 1600, true},
    {"accelerators_per_node", 4, 16, true},
    {"demand", 1e6, 6e7, false},
    {"list_price", 12000, 48000, false},
};
enum { INPUTS = sizeof inputs / sizeof inputs[0] };

// Every function and operator of the formula language.
static const char own_items[] =
    "[item a]\nlabel = A\nunit = USD\ngroup = capex\n"
    "formula = if(pue > 1.5, ceil(accelerators / 7) * 100 USD, round(pue, 1) * 10 USD)\n"
    "[item b]\nlabel = B\nunit = USD/yr\ngroup = opex\n"
    "formula = min(3 %/yr * hardware_cost, 900000 USD/yr, 40 USD/yr * max(nodes, 12))\n"
    "[item c]\nlabel = C\nunit = USD\ngroup = opex\n"
    "formula = if(t = 2, 1 USD, 2 USD) * pue ^ 2 * (utilization <= 50 %) * 1.1 ^ t + 1 USD\n"
    "[item d]\nlabel = D\nunit = USD\ngroup = opex\n"
    "formula = 1 USD/kWh * prev(it_energy) * utilization ^ pue * (horizon <> 3 yr) * growth(wacc, "
    "horizon)\n"
    "[item e]\nlabel = E\nunit = USD\ngroup = capex\n"
    "formula = first(it_energy) * 1 USD/kWh + round(utilization, pue) * (pue < 1.7) * 5 USD\n";

static double within(double low, double high) {
  return low + (high - low) * (double)random() / (double)RAND_MAX;
}

static bool chance(int percent) {
  return random() % 100 < percent;
}

static size_t input_number(const char *name) {
  for (size_t i = 0; i < INPUTS; i++)
    if (!strcmp(inputs[i].name, name))
      return i;
  fail_msg("no input '%s'", name);
  return 0;
}

static const char *line(struct arena *arena, const struct model *model, const char *name) {
  size_t i = input_number(name);
  const struct unit *unit = &model->declarations[model_find(model, name)].unit;
  double value = within(inputs[i].low, inputs[i].high);
  value = inputs[i].whole ? floor(value) : value;
  return arena_printf(arena, "%s = %.6g %s\n", name, value, unit->counts ? "" : unit->text);
}

static const char *some_lines(struct arena *arena, const struct model *model,
                              const char *const *names, size_t count, int percent) {
  const char *text = "";
  for (size_t i = 0; i < count; i++)
    if (chance(percent))
      text = arena_printf(arena, "%s%s", text, line(arena, model, names[i]));
  return text;
}

static const char *random_text(struct arena *arena, const struct model *model) {
  static const char *const must[] = {
      "accelerators_per_node", "load_power",  "idle_power",    "pue",
      "electricity_price",     "utilization", "engineer_cost", "horizon"};
  static const char *const may[] = {
      "spares",        "node_price", "network_price", "installation",
      "purchase_tax",  "host_power", "cooling_share", "electricity_escalation",
      "demand_charge", "support",    "wage_growth",   "availability",
      "delivered",     "wacc"};
  static const char *const own[] = {"discount", "residual_value", "software_licence", "engineers"};
  static const char *const decode[] = {"decode_throughput", "prefill_throughput", "input_tokens",
                                       "output_tokens"};
  // Of these, the second one has no effect without the first.
  static const char *const pairs[][2] = {{"build_price", "facility_residual"},
                                         {"water_use", "water_price"},
                                         {"failure_rate", "repair_cost"}};
  const char *text = arena_printf(arena, "[scenario]\ntitle = T\ndate = 2026-11-01\n[common]\n%s%s",
                                  some_lines(arena, model, must, sizeof must / sizeof must[0], 100),
                                  some_lines(arena, model, may, sizeof may / sizeof may[0], 60));
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    if (chance(60))
      text = arena_printf(arena, "%s%s", text, some_lines(arena, model, pairs[i], 2, 100));
  text = arena_printf(arena, "%s[option x]\naccelerator = h200-sxm-141\n%s%s%s%s", text,
                      line(arena, model, "list_price"), line(arena, model, "throughput"),
                      line(arena, model, "accelerators"), some_lines(arena, model, own, 4, 50));
  text = arena_printf(arena, "%s[option y]\naccelerator = mi325x-256\n%s%s%s%s", text,
                      line(arena, model, "list_price"), some_lines(arena, model, decode, 4, 100),
                      line(arena, model, "demand"), some_lines(arena, model, own, 4, 50));
  text = arena_printf(arena, "%s[option z]\naccelerator = h200-sxm-141\n%s%s%s", text,
                      line(arena, model, "rental_rate"), line(arena, model, "throughput"),
                      line(arena, model, "accelerators"));
  return chance(50) ? arena_printf(arena, "%s%s", text, own_items) : text;
}

struct comparison {
  const struct scenario *scenario;
  struct arena *arena;
  int *variables, variable_count;
  int *items;
  size_t item_count;
  double *values; // [variable_count][VECTOR_BLOCK]
  int periods;
};

static void choose_variables(struct comparison *comparison, int percent) {
  const struct scenario *scenario = comparison->scenario;
  size_t count = (size_t)scenario->model->count;
  comparison->variables =
      arena_array(comparison->arena, scenario->option_count * count, sizeof(int));
  comparison->values = arena_array(
      comparison->arena, scenario->option_count * INPUTS * VECTOR_BLOCK + 1, sizeof(double));
  for (size_t i = 0; i < scenario->option_count * count; i++)
    comparison->variables[i] = -1;
  for (size_t i = 0; i < INPUTS; i++) {
    int d = model_find(scenario->model, inputs[i].name);
    double factor = unit_factor(&scenario->model->declarations[d].unit);
    bool common = chance(50), chosen = chance(percent);
    for (size_t o = 0; o < scenario->option_count; o++) {
      if (!chosen || scenario->options[o].graph->state[d] != GRAPH_INPUT)
        continue;
      int *variable = &comparison->variables[o * count + (size_t)d];
      *variable = comparison->variable_count++;
      for (int k = 0; k < VECTOR_BLOCK; k++) {
        double value = within(inputs[i].low, inputs[i].high);
        comparison->values[*variable * VECTOR_BLOCK + k] =
            (inputs[i].whole ? floor(value) : value) * factor;
      }
      for (size_t p = o + 1; p < scenario->option_count && common; p++)
        comparison->variables[p * count + (size_t)d] = *variable;
      if (common)
        break;
    }
  }
}

// Items that every option has, except checks, which are differences of equal numbers.
static void choose_items(struct comparison *comparison) {
  const struct scenario *scenario = comparison->scenario;
  comparison->items = arena_array(comparison->arena, (size_t)scenario->model->count, sizeof(int));
  for (int d = 0; d < scenario->model->count; d++) {
    const struct declaration *item = &scenario->model->declarations[d];
    bool wanted = item->kind == DECLARATION_SCALAR && item->role != ROLE_CHECK;
    for (size_t o = 0; o < scenario->option_count; o++)
      wanted &= option_has(&scenario->options[o], d);
    if (wanted)
      comparison->items[comparison->item_count++] = d;
  }
}

static void compare_option(const struct comparison *comparison, const struct response *response,
                           const double *workspace, size_t o, int seed) {
  const struct scenario *scenario = comparison->scenario;
  const struct option *option = &scenario->options[o];
  size_t count = (size_t)scenario->model->count;
  struct evaluation *evaluation =
      evaluation_new(option->graph, comparison->periods, VECTOR_BLOCK, comparison->arena);
  for (size_t d = 0; d < count; d++) {
    int variable = comparison->variables[o * count + d];
    for (int k = 0; k < VECTOR_BLOCK && option->graph->state[d] == GRAPH_INPUT; k++)
      evaluation_at(evaluation, (int)d, 0)[k] =
          variable >= 0 ? comparison->values[variable * VECTOR_BLOCK + k]
                        : option_figure(scenario, option, 0, (int)d)->value;
  }
  evaluate(evaluation);
  for (size_t i = 0; i < comparison->item_count; i++) {
    const double *got = response_item(response, workspace, o, i);
    const double *expected = evaluation_at(evaluation, comparison->items[i], 0);
    for (int k = 0; k < VECTOR_BLOCK; k++)
      if (!(fabs(got[k] - expected[k]) <= 1e-12 * fabs(expected[k])))
        fail_msg("seed %d, option %s, %s, draw %d: expected %.17g, got %.17g", seed, option->id,
                 scenario->model->declarations[comparison->items[i]].name, k, expected[k], got[k]);
  }
}

static void compare_with_evaluator(struct scenario_fixture *fixture, int percent, int seed) {
  struct comparison comparison = {
      .scenario = fixture->scenario, .arena = &fixture->fixture.arena, .periods = 9};
  choose_variables(&comparison, percent);
  choose_items(&comparison);
  const int variables = comparison.variable_count, late = seed % (variables + 1);
  struct response_request request = {.scenario = fixture->scenario,
                                     .periods = comparison.periods,
                                     .variables = comparison.variables,
                                     .variable_count = variables,
                                     .late_variables = late,
                                     .items = comparison.items,
                                     .item_count = comparison.item_count};
  const struct response *response =
      response_new(&request, &fixture->fixture.arena, &fixture->fixture.diagnostics);
  assert_non_null(response);
  double *workspace = response_workspace_new(response);
  // First run with the late variables' values exchanged: what a run leaves behind must not affect
  // reruns, and the other variables stay.
  for (int v = 0; v < variables; v++)
    for (int k = 0; k < VECTOR_BLOCK; k++)
      response_variable(workspace, v)[v < variables - late ? k : VECTOR_BLOCK - 1 - k] =
          comparison.values[v * VECTOR_BLOCK + k];
  response_run(response, workspace);
  for (int v = variables - late; v < variables; v++)
    memcpy(response_variable(workspace, v), comparison.values + v * VECTOR_BLOCK,
           VECTOR_BLOCK * sizeof(double));
  for (int run = 0; run < 2; run++)
    response_rerun(response, workspace);
  for (size_t o = 0; o < fixture->scenario->option_count; o++)
    compare_option(&comparison, response, workspace, o, seed);
  response_workspace_free(workspace);
}

static void test_same_as_evaluator(void **state) {
  (void)state;
  static const int shares[] = {0, 5, 30, 100};
  struct fixture builtin;
  fixture_start(&builtin);
  struct model *model = model_read(source_from_text("model", model_default_text, &builtin.arena),
                                   &builtin.arena, &builtin.diagnostics);
  print_message("seeds from %d\n", SEED);
  for (int i = 0; i < SCENARIOS; i++) {
    srandom((unsigned)(SEED + i));
    struct scenario_fixture fixture;
    const char *text = random_text(&builtin.arena, model);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    expect_error(&fixture.fixture, "random scenario", "");
    compare_with_evaluator(&fixture, shares[i % 4], SEED + i);
    scenario_fixture_end(&fixture);
  }
  fixture_end(&builtin);
}

// Two options that differ only in one's tax on profits.
static void open_alike(struct scenario_fixture *fixture) {
  scenario_fixture_start(fixture,
                         "[scenario]\ntitle = T\ndate = 2026-11-01\n[common]\naccelerators = 8\n"
                         "pue = 1\nelectricity_price = 0.1 USD/kWh\nutilization = 70 %\n"
                         "throughput = 4000 token/s\nlist_price = 30000 USD\n[option a]\n"
                         "accelerator = h200-sxm-141\n[option b]\naccelerator = h200-sxm-141\n"
                         "tax_rate = 25 %\n",
                         NULL, NULL);
  expect_error(&fixture->fixture, "the scenario", "");
}

static int *no_variables(const struct scenario *scenario, struct arena *arena) {
  const size_t count = scenario->option_count * (size_t)scenario->model->count;
  int *variables = arena_array(arena, count, sizeof *variables);
  memset(variables, -1, count * sizeof *variables);
  return variables;
}

// Constant parts are folded, unneeded parts are left out, and parts that options share are computed
// once.
static void test_size(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  open_alike(&fixture);
  const struct scenario *scenario = fixture.scenario;
  struct arena *arena = &fixture.fixture.arena;
  int *variables = no_variables(scenario, arena);
  const int items[] = {model_cost_item(scenario->model),
                       model_find(scenario->model, "cooling_power")};
  const int pue = model_find(scenario->model, "pue");
  struct response_request request = {scenario, scenario->periods, variables, 0, 0, items, 1, NULL};
  const struct response *response = response_new(&request, arena, &fixture.fixture.diagnostics);
  assert_int_equal(response_steps(response), 0);
  request.variable_count = 1;
  variables[pue] = 0;
  const size_t one = response_steps(response_new(&request, arena, &fixture.fixture.diagnostics));
  assert_in_range(one, 2, 20);
  variables[scenario->model->count + pue] = 0;
  const size_t both = response_steps(response_new(&request, arena, &fixture.fixture.diagnostics));
  assert_int_equal(one, both);
  request.items = items + 1;
  response = response_new(&request, arena, &fixture.fixture.diagnostics);
  assert_int_equal(response_steps(response), 3); // it_power * (pue - 1) * cooling_share
  scenario_fixture_end(&fixture);
}

static void test_missing_item(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  scenario_fixture_open(&fixture, "examples/mi325x-vs-h200.ini");
  struct arena *arena = &fixture.fixture.arena;
  const int *variables = no_variables(fixture.scenario, arena);
  int item = model_find(fixture.scenario->model, "coverage");
  struct response_request request = {fixture.scenario, 8, variables, 0, 0, &item, 1, NULL};
  assert_null(response_new(&request, arena, &fixture.fixture.diagnostics));
  expect_error(&fixture.fixture, "coverage", "option 'h200' has no 'coverage'");
  scenario_fixture_end(&fixture);
}

// An item of one option, computed for that option only.
static void test_wanted(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  open_alike(&fixture);
  struct arena *arena = &fixture.fixture.arena;
  const struct scenario *scenario = fixture.scenario;
  const int *variables = no_variables(scenario, arena);
  const int item = model_find(scenario->model, "after_tax_total");
  const bool wanted[] = {false, true};
  struct response_request request = {scenario, scenario->periods, variables, 0, 0, &item, 1,
                                     wanted};
  const struct response *response = response_new(&request, arena, &fixture.fixture.diagnostics);
  assert_non_null(response);
  double *workspace = response_workspace_new(response);
  response_run(response, workspace);
  assert_null(response_item(response, workspace, 0, 0));
  const double expected = option_value(scenario, &scenario->options[1], item, 0);
  assert_true(expected > 0);
  assert_true(fabs(response_item(response, workspace, 1, 0)[0] / expected - 1) < 1e-12);
  response_workspace_free(workspace);
  request.wanted = NULL;
  assert_null(response_new(&request, arena, &fixture.fixture.diagnostics));
  expect_error(&fixture.fixture, "both", "option 'a' has no 'after_tax_total'");
  scenario_fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_as_evaluator),
      cmocka_unit_test(test_size),
      cmocka_unit_test(test_missing_item),
      cmocka_unit_test(test_wanted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
