// Scenarios: precedence, rent, evidence, cases, grades, and what is refused. Run in the
// repository's root.
#include "base/ini.h"
#include "model/scenario/reading/read.h"
#include "tests/support/fixture.h"

#include "model/scenario/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char base[] = "[scenario]\n"
                           "title = A test\n"
                           "date = 2026-11-01\n"
                           "[common]\n"
                           "accelerators = 800\n"
                           "utilization = 70 %\n"
                           "pue = 1.25\n"
                           "electricity_price = 0.08 USD/kWh\n"
                           "[option a]\n"
                           "accelerator = h200-sxm-141\n"
                           "list_price = 30000 USD\n"
                           "throughput = 4000 token/s\n"
                           "[option b]\n"
                           "accelerator = mi325x-256\n"
                           "list_price = 20000 USD\n"
                           "throughput = 3900 token/s\n";

struct run {
  struct fixture fixture;
  char folder[32], path[64];
  struct scenario *scenario;
};

static const char *write_file(struct run *run, const char *name, const char *text) {
  const char *path = arena_printf(&run->fixture.arena, "%s/%s", run->folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  return path;
}

static void read_text(struct run *run, const char *text, const char *case_name,
                      const char *const *settings, size_t setting_count) {
  fixture_start(&run->fixture);
  snprintf(run->folder, sizeof run->folder, "/tmp/pertoken-%s", "XXXXXX");
  assert_non_null(mkdtemp(run->folder));
  struct scenario_request request = {.path = write_file(run, "test.ini", text),
                                     .data_directory = "data",
                                     .case_name = case_name,
                                     .settings = settings,
                                     .setting_count = setting_count};
  run->scenario = scenario_read(&request, &run->fixture.arena, &run->fixture.diagnostics);
}

// Another file of the run, such as one that inherits the first; NULL after errors.
static struct scenario *read_again(struct run *run, const char *path) {
  const struct scenario_request request = {.path = path, .data_directory = "data"};
  return scenario_read(&request, &run->fixture.arena, &run->fixture.diagnostics);
}

static void end(struct run *run) {
  unlink(arena_printf(&run->fixture.arena, "%s/test.ini", run->folder));
  rmdir(run->folder);
  fixture_end(&run->fixture);
}

// The value of OPTION.ITEM in the item's own unit.
static double value_of(const struct scenario *scenario, const char *name) {
  const char *point = strchr(name, '.');
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    if (strlen(option->id) != (size_t)(point - name) ||
        strncmp(option->id, name, (size_t)(point - name)) != 0)
      continue;
    int d = model_find(scenario->model, point + 1);
    assert_true(d >= 0);
    return option_value(scenario, option, d, 1) /
           unit_factor(&scenario->model->declarations[d].unit);
  }
  fail_msg("no option in %s", name);
  return NAN;
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
    struct run run;
    char text[2048];
    snprintf(text, sizeof text, "%s%s", base, precedence[i].more);
    read_text(&run, text, precedence[i].case_name, &precedence[i].setting,
              precedence[i].setting ? 1 : 0);
    if (precedence[i].item) {
      expect_error(&run.fixture, precedence[i].more, "");
      expect_near(value_of(run.scenario, precedence[i].item), precedence[i].value, 1e-14,
                  precedence[i].more);
    } else
      assert_null(run.scenario);
    end(&run);
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
    struct run run;
    char text[2048];
    // An output_price for all options would make any option beside `a` a token API.
    const char *beside = named[i].accelerator == api ? ""
                                                     : "[option b]\naccelerator = h200-sxm-141\n"
                                                       "throughput = 4000 token/s\n";
    snprintf(text, sizeof text,
             "[scenario]\ndate = 2026-11-01\n[common]\naccelerators = 8\nutilization = 70 %%\n"
             "pue = 1.25\nelectricity_price = 0.08 USD/kWh\n%s%s[option a]\n%s%s",
             named[i].common, beside, named[i].accelerator, named[i].more);
    read_text(&run, text, named[i].case_name, &named[i].setting, named[i].setting ? 1 : 0);
    expect_error(&run.fixture, text, "");
    expect_near(value_of(run.scenario, named[i].item), named[i].value, 1e-12, text);
    end(&run);
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
    struct run run;
    char text[2048];
    snprintf(text, sizeof text, "%s%s", base, refused[i].more);
    read_text(&run, text, NULL, NULL, 0);
    assert_null(run.scenario);
    expect_error(&run.fixture, refused[i].more, refused[i].error);
    end(&run);
  }
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
    struct run run;
    read_text(&run, base, NULL, &cases[i].setting, 1);
    assert_null(run.scenario);
    expect_error(&run.fixture, cases[i].setting, cases[i].error);
    end(&run);
  }
}

static void test_case_without_use(void **state) {
  (void)state;
  struct run run;
  char text[2048];
  snprintf(text, sizeof text, "%s[case c]\nspot_share = 10 %%\npue = 1.3\n", base);
  read_text(&run, text, NULL, NULL, 0);
  expect_error(&run.fixture, "a case", "");
  assert_int_equal(run.scenario->warnings.count, 1);
  assert_string_equal(run.scenario->warnings.list[0],
                      "'spot_share' in case c has no effect: no option uses it, given its other "
                      "values");
  end(&run);
}

// Common values do not apply to a rented option; its own settings count.
static void test_rent(void **state) {
  (void)state;
  struct run run;
  char text[2048];
  snprintf(text, sizeof text,
           "%s[option c]\naccelerator = h200-sxm-141\nthroughput = 4000 token/s\n"
           "rental_rate = 2.5 USD/gpu/h\nsoftware_licence = 100 USD/yr\n",
           base);
  read_text(&run, text, NULL, NULL, 0);
  expect_error(&run.fixture, "rent", "");
  assert_true(run.scenario->options[2].rented);
  expect_near(value_of(run.scenario, "c.capex"), 0, 0, "capex");
  expect_near(value_of(run.scenario, "c.power_total"), 0, 0, "power_total");
  expect_near(value_of(run.scenario, "c.rental_total"), 800 * 2.5 * 26280, 1e-14, "rental_total");
  expect_near(value_of(run.scenario, "c.licence_total"), 800 * 300, 1e-14, "licence_total");
  end(&run);
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
    struct run run;
    char text[2048];
    snprintf(text, sizeof text,
             "%s[option c]\naccelerator = %s\nprice = %s\nthroughput = 1 token/s\n[case typed]\n"
             "c.list_price = 30000 USD\n",
             base, cases[i].accelerator, cases[i].price);
    read_text(&run, text, cases[i].case_name, &cases[i].setting, cases[i].setting ? 1 : 0);
    expect_error(&run.fixture, cases[i].price, "");
    assert_string_equal(run.scenario->options[2].not_included, cases[i].missing);
    expect_near(value_of(run.scenario, "c.network_cost"), 0, 0, "network_cost");
    end(&run);
  }
}

static const char decode[] = "[workload]\ninput_tokens = 8000 token\noutput_tokens = 1000 token\n"
                             "[option c]\naccelerator = h200-sxm-141\nlist_price = 30000 USD\n"
                             "decode_throughput = 9000 token/s\n";

// Decoding is not serving: a decode rate alone is never compared with a serving rate.
static void test_decode_is_not_serving(void **state) {
  (void)state;
  struct run run;
  char text[2048];
  snprintf(text, sizeof text, "%s%s", base, decode);
  read_text(&run, text, NULL, NULL, 0);
  assert_null(run.scenario);
  expect_error(&run.fixture, "decode beside serving",
               "are not comparable, basis: serving and decode");
  end(&run);
  snprintf(text, sizeof text, "%s%sprefill_throughput = 36000 token/s\n", base, decode);
  read_text(&run, text, NULL, NULL, 0);
  expect_error(&run.fixture, "decode with prefill", "");
  expect_near(value_of(run.scenario, "c.throughput"), 1000 / (8000. / 36000 + 1000. / 9000), 1e-14,
              "throughput");
  expect_near(value_of(run.scenario, "c.prefill_share"), 100 * (8. / 36) / (8. / 36 + 1. / 9),
              1e-14, "prefill_share");
  end(&run);
}

static void test_grades(void **state) {
  (void)state;
  struct run run;
  char text[2048];
  snprintf(text, sizeof text,
           "%slist_price.quote = Q-118 2026-10-01\n[workload]\nmodel = llama-2-70b\n"
           "precision = fp8\nscenario = server\n[option c]\naccelerator = mi325x-256\n"
           "list_price = 20000 USD\nlist_price.source = a friend\n",
           base);
  read_text(&run, text, NULL, NULL, 0);
  expect_error(&run.fixture, "grades", "");
  const struct option *b = &run.scenario->options[1], *c = &run.scenario->options[2];
  assert_int_equal(b->price_grade, GRADE_QUOTED);
  assert_int_equal(b->throughput_grade, GRADE_ASSUMED);
  assert_int_equal(b->power_grade, GRADE_PROJECTED);
  assert_int_equal(b->headline_grade, GRADE_ASSUMED);
  assert_int_equal(c->price_grade, GRADE_CLAIM);
  assert_int_equal(c->throughput_grade, GRADE_BENCHMARK);
  assert_int_equal(c->headline_grade, GRADE_CLAIM);
  // The lower median of the submitters' best audited server runs in fp8.
  expect_near(value_of(run.scenario, "c.throughput"), 3955.78, 1e-14, "throughput");
  end(&run);
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
    struct run run;
    char text[2048];
    snprintf(text, sizeof text,
             "%s[workload]\nmodel = llama-2-70b\nprecision = fp8\nscenario = server\n"
             "[option c]\naccelerator = mi325x-256\n%s",
             base, cases[i].price);
    read_text(&run, text, NULL, NULL, 0);
    expect_error(&run.fixture, cases[i].price, "");
    assert_int_equal(run.scenario->options[2].headline_grade, cases[i].headline);
    end(&run);
  }
}

// An empty value removes an inherited one.
static void test_taken_back(void **state) {
  (void)state;
  struct run run;
  char text[2048];
  snprintf(text, sizeof text,
           "%slist_price.quote = Q-118 2026-10-01\n[workload]\nmodel = llama-2-70b\n"
           "[option c]\naccelerator = h200-sxm-141\nprice = pr007\nevidence = tp0022\n"
           "discount = 10 %%\ndiscount.source = a friend\ndiscount.date = 2026\n",
           base);
  read_text(&run, text, NULL, NULL, 0);
  const char *child = write_file(&run, "child.ini",
                                 "[scenario]\ninherits = test.ini\n[option b]\nlist_price = 7 USD\n"
                                 "[option c]\nprice =\nlist_price = 5 USD\nevidence =\n"
                                 "throughput = 4000 token/s\ndiscount.source =\ndiscount.date =\n");
  struct scenario *scenario = read_again(&run, child);
  expect_error(&run.fixture, "taken back", "");
  const struct option *b = &scenario->options[1], *c = &scenario->options[2];
  assert_int_equal(b->price_grade, GRADE_ASSUMED);
  assert_int_equal(c->price_grade, GRADE_ASSUMED);
  assert_int_equal(c->throughput_grade, GRADE_ASSUMED);
  expect_near(value_of(scenario, "c.net_price"), 4.5, 1e-14, "net_price");
  const struct figure *discount =
      option_figure(scenario, c, 0, model_find(scenario->model, "discount"));
  assert_int_equal(discount->grade, GRADE_ASSUMED);
  assert_string_equal(discount->source, "");
  assert_string_equal(discount->date, "");
  unlink(child);
  end(&run);
}

static void test_inheritance(void **state) {
  (void)state;
  struct run run;
  read_text(&run, base, NULL, NULL, 0);
  const char *child = write_file(&run, "child.ini",
                                 "[scenario]\ninherits = test.ini\n[option b]\ndiscount = 10 %\n"
                                 "list_price = 10000 USD\n");
  struct scenario *scenario = read_again(&run, child);
  expect_error(&run.fixture, "child", "");
  expect_near(value_of(scenario, "b.net_price"), 9000, 1e-14, "net_price");
  expect_near(value_of(scenario, "b.throughput"), 3900, 1e-14, "throughput");
  assert_string_equal(scenario->title, "A test");
  assert_string_not_equal(scenario->digest, run.scenario->digest);
  write_file(&run, "child.ini", "[scenario]\ninherits = missing.ini\n");
  assert_null(read_again(&run, child));
  expect_error(&run.fixture, "missing", "2:12: cannot inherit from 'missing.ini'");
  write_file(&run, "test.ini", "[scenario]\ninherits = child.ini\n");
  write_file(&run, "child.ini", "[scenario]\ninherits = test.ini\n");
  assert_null(read_again(&run, child));
  expect_error(&run.fixture, "circle", "inherits from itself");
  unlink(child);
  end(&run);
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
    struct run run;
    char text[2048];
    const char *first_option = strstr(base, "[option a]");
    const bool common = restated[i].parent[0] != '[';
    snprintf(text, sizeof text, "%.*s%s%s%s", (int)(first_option - base), base,
             common ? restated[i].parent : "", first_option, common ? "" : restated[i].parent);
    read_text(&run, text, NULL, NULL, 0);
    const char *child = write_file(
        &run, "child.ini",
        arena_printf(&run.fixture.arena, "[scenario]\ninherits = test.ini\n%s", restated[i].child));
    struct scenario *scenario = read_again(&run, child);
    expect_error(&run.fixture, restated[i].child, "");
    const struct option *option = &scenario->options[*restated[i].item - 'a'];
    const int d = model_find(scenario->model, restated[i].item + 2);
    expect_near(value_of(scenario, restated[i].item), restated[i].value, 1e-12, restated[i].child);
    assert_string_equal(option_figure(scenario, option, 0, d)->source, restated[i].source);
    unlink(child);
    end(&run);
  }
}

// The grandchild's figure counts, though it replaces one that stood before the parent's grid.
static void test_restated_last(void **state) {
  (void)state;
  struct run run;
  read_text(&run, base, NULL, NULL, 0);
  const char *parent =
      write_file(&run, "parent.ini",
                 "[scenario]\ninherits = test.ini\n[common]\ngrid_intensity = 400 g/kWh\n");
  const char *child = write_file(&run, "child.ini",
                                 "[scenario]\ninherits = parent.ini\n[common]\n"
                                 "grid = US-CAL-CISO\n");
  const char *grandchild = write_file(&run, "grandchild.ini",
                                      "[scenario]\ninherits = child.ini\n[common]\n"
                                      "grid_intensity = 111 g/kWh\n");
  struct scenario *scenario = read_again(&run, grandchild);
  expect_error(&run.fixture, "grandchild", "");
  expect_near(value_of(scenario, "a.grid_intensity"), 111, 1e-12, "grid_intensity");
  unlink(parent);
  unlink(child);
  unlink(grandchild);
  end(&run);
}

static void test_restated_claim(void **state) {
  (void)state;
  struct run run;
  char text[2048];
  snprintf(text, sizeof text, "%s[claim dear]\nsays = a.tco = 1 USD\nsource = a friend\n", base);
  read_text(&run, text, NULL, NULL, 0);
  static const struct {
    const char *line;
    bool kept;
  } children[] = {{"says = a.tco = 2 USD\n", false}, {"with.pue = 1.3\n", true}};
  for (size_t i = 0; i < sizeof children / sizeof children[0]; i++) {
    const char *child = write_file(&run, "child.ini",
                                   arena_printf(&run.fixture.arena,
                                                "[scenario]\ninherits = test.ini\n[claim dear]\n%s",
                                                children[i].line));
    struct scenario *scenario = read_again(&run, child);
    expect_error(&run.fixture, children[i].line, "");
    assert_int_equal(scenario->question_count, 1);
    assert_int_equal(ini_find(&scenario->questions[0], "source") != NULL, children[i].kept);
    unlink(child);
  }
  end(&run);
}

static void test_all_errors_in_one_run(void **state) {
  (void)state;
  struct run run;
  char text[2048];
  snprintf(text, sizeof text,
           "%sdiscount = 300 %%\nsuport = 1 %%/yr\npue = one\n[case c]\nwacc = 5\n[oops]\n", base);
  read_text(&run, text, NULL, NULL, 0);
  assert_null(run.scenario);
  if (run.fixture.diagnostics.errors != 5)
    fail_msg("expected 5 errors, got:\n%s", fixture_errors(&run.fixture));
  end(&run);
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
    struct run run;
    char setting[64];
    const char *settings[] = {setting};
    snprintf(setting, sizeof setting, "horizon=%s", cases[i].horizon);
    read_text(&run, base, NULL, settings, 1);
    expect_error(&run.fixture, setting, "");
    const struct option *option = &run.scenario->options[0];
    assert_int_equal(option_periods(run.scenario, option, 0), cases[i].periods);
    int period = model_find(run.scenario->model, "period");
    expect_near(option_value(run.scenario, option, period, cases[i].periods) / 8760, cases[i].last,
                1e-12, cases[i].horizon);
    end(&run);
  }
}

// 800 accelerators of 4000 token/s, 70 % in use, serve 70.6e6 Mtok a year.
static void test_warned_of_time(void **state) {
  (void)state;
  static const char ramp[] = "during a ramp, the capacity is averaged over each period of ";
#define SMALL "demand = 1e6 Mtok/yr\nramp = 6 month\n"
#define LARGE "demand = 1e9 Mtok/yr\nramp = 6 month\n"
#define FEE(unit, formula)                                                                         \
  "[item fee]\nlabel = Fee\nunit = " unit "\ngroup = opex\nformula = " formula "\n"
  static const struct {
    const char *head, *more, *warning; // NULL: none
  } cases[] = {
      {"", SMALL, ramp},
      {"period = 3 month\n", SMALL, "averaged over each period of 3 month, which hides demand"},
      {"period = 1 month\n", SMALL, NULL},
      {"", LARGE, NULL},
      {"", "ramp = 6 month\n", NULL},
      {"", FEE("USD", "9 USD"), NULL},
      {"horizon = 30 month\n", FEE("USD", "9 USD"),
       "Fee, in USD, is charged in full in the last period, which the horizon cuts short"},
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
    struct run run;
    char text[2048];
    snprintf(text, sizeof text, "%.*s%s%s%s", (int)(rest - base), base, cases[i].head, rest,
             cases[i].more);
    read_text(&run, text, NULL, NULL, 0);
    expect_error(&run.fixture, text, "");
    const struct texts *warnings = &run.scenario->warnings;
    if (warnings->count != (cases[i].warning != NULL) ||
        (cases[i].warning && !strstr(warnings->list[0], cases[i].warning)))
      fail_msg("%s: %zu warnings: %s", text, warnings->count,
               warnings->count ? warnings->list[0] : "");
    end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_precedence),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_named),
      cmocka_unit_test(test_bad_settings),
      cmocka_unit_test(test_case_without_use),
      cmocka_unit_test(test_rent),
      cmocka_unit_test(test_not_included),
      cmocka_unit_test(test_decode_is_not_serving),
      cmocka_unit_test(test_grades),
      cmocka_unit_test(test_prices_of_zero),
      cmocka_unit_test(test_taken_back),
      cmocka_unit_test(test_inheritance),
      cmocka_unit_test(test_restated),
      cmocka_unit_test(test_restated_last),
      cmocka_unit_test(test_restated_claim),
      cmocka_unit_test(test_all_errors_in_one_run),
      cmocka_unit_test(test_horizons),
      cmocka_unit_test(test_warned_of_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
