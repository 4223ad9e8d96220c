// What a scenario takes from the offer that `quote` names, in an option and in a case. Run in the
// repository's root.
#include "base/texts.h"
#include "model/cost/units.h"
#include "model/scenario/resolution/read.h"
#include "model/scenario/scenario.h"
#include "tests/support/offer_folder.h"

#include <stdio.h>
#include <string.h>

#define H100                                                                                       \
  OFFER_OF_A                                                                                       \
  "accelerator = h100-sxm5-80\naccelerators = 64 gpu\n[guarantee chat]\n"                          \
  "model = llama-3.1-70b\nprecision = bf16\nbasis = serving\nscenario = server\n"                  \
  "tokens_per_s = 400 token/s/gpu\n"

static const char rate[] =
    "[guarantee chat]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n"
    "scenario = server\ntokens_per_s = 3900 token/s/gpu\n";

static const char common[] = "[scenario]\ndate = 2026-11-20\n"
                             "[workload]\nmodel = llama-2-70b\nprecision = fp8\n"
                             "scenario = server\nutilization = 70 %\n"
                             "[common]\npue = 1.25\nelectricity_price = 0.08 USD/kWh\n"
                             "discount = 14 %\nsupport = 4 %/yr\n";

struct taken {
  const char *offer, *other; // after the head
  const char *scenario;      // after the common part
  const char *setting;
  const char *input; // of option a
  double value;
  enum grade grade;
};

static const struct taken takes[] = {
    {OFFER_PRICE, "", "[option a]\nquote = offer.ini\n", NULL, "list_price", 27500, GRADE_QUOTED},
    {OFFER_PRICE, "", "[option a]\nquote = offer.ini\n", NULL, "accelerators", 64, GRADE_QUOTED},
    {OFFER_PRICE, "", "accelerators = 800\n[option a]\nquote = offer.ini\n", NULL, "accelerators",
     800, GRADE_ASSUMED},
    // A net price does not take [common]'s discount; an offered discount, or the option's own,
    // counts.
    {OFFER_PRICE, "", "[option a]\nquote = offer.ini\n", NULL, "discount", 0, GRADE_QUOTED},
    {"[price]\naccelerators = 27500 USD/gpu\ndiscount = 10 %\n", "",
     "[option a]\nquote = offer.ini\n", NULL, "discount", 10, GRADE_QUOTED},
    {OFFER_PRICE, "", "[option a]\nquote = offer.ini\ndiscount = 5 %\n", NULL, "discount", 5,
     GRADE_ASSUMED},
    {OFFER_PRICE, "", "[option a]\nlist_price = 9000 USD\nquote = offer.ini\n", NULL, "list_price",
     9000, GRADE_ASSUMED},
    {OFFER_PRICE, "", "[option a]\nquote = offer.ini\n", "a.list_price=9000 USD", "list_price",
     9000, GRADE_ASSUMED},
    {OFFER_PRICE, OFFER_PRICE, "[option a]\nquote = offer.ini\n", "a.support=1 %/yr", "support", 1,
     GRADE_ASSUMED},
    // What the offer does not contain comes from the scenario.
    {OFFER_PRICE, "", "[option a]\nquote = offer.ini\n", NULL, "support", 4, GRADE_ASSUMED},
    {"[price]\naccelerators = 27500 USD/gpu\nsupport = 3 %/yr\n", "",
     "[option a]\nquote = offer.ini\n", NULL, "support", 3, GRADE_QUOTED},
    // Another revision in a case, and none.
    {OFFER_PRICE, "[price]\naccelerators = 26000 USD/gpu\n",
     "[option a]\nquote = offer.ini\n[case later]\na.quote = other.ini\n", NULL, "list_price",
     27500, GRADE_QUOTED},
    // A guarantee for the workload ranks below what was typed, and above what is published.
    {rate, "", "[option a]\nlist_price = 9000 USD\nquote = offer.ini\n", NULL, "throughput", 3900,
     GRADE_QUOTED},
    {rate, "", "[option a]\nlist_price = 9000 USD\nquote = offer.ini\nthroughput = 4000 token/s\n",
     NULL, "throughput", 4000, GRADE_ASSUMED},
    {rate, "", "[option a]\nlist_price = 9000 USD\nquote = offer.ini\nevidence = tp0022\n", NULL,
     "throughput", 4274.23, GRADE_BENCHMARK},
    {"nodes = 8 node\n[guarantee chat]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n"
     "scenario = server\ntokens_per_s = 31200 token/s/node\npower = 9600 W/node\n",
     "", "host_power = 300 W\n[option a]\nlist_price = 9000 USD\nquote = offer.ini\n", NULL,
     "throughput", 3900, GRADE_QUOTED},
    {"[price]\naccelerators = 27500 USD/gpu\n[terms]\nwarranty = 30 month\n", "",
     "[option a]\nquote = offer.ini\n", NULL, "warranty", 2.5, GRADE_QUOTED},
    {"nodes = 16 node\n[price]\naccelerators = 27500 USD/gpu\n", "",
     "[option a]\nquote = offer.ini\n", NULL, "accelerators_per_node", 4, GRADE_QUOTED},
};

static const struct scenario *read_case(struct offer_folder *folder, const struct taken *taken,
                                        const char *case_name) {
  char text[2048];
  struct scenario_request request = {.path = offer_folder_path(folder, "scenario.ini"),
                                     .data_directory = "data",
                                     .case_name = case_name,
                                     .settings = &taken->setting,
                                     .setting_count = taken->setting ? 1 : 0};
  offer_folder_write(folder, "offer.ini", taken->offer);
  offer_folder_write(folder, "other.ini", taken->other);
  snprintf(text, sizeof text, "%s%s%s", common,
           strstr(taken->offer, "accelerators = 2") || strstr(taken->scenario, "accelerators =")
               ? ""
               : "accelerators = 64\n",
           taken->scenario);
  fixture_write(&folder->fixture, folder->path, "scenario.ini", text);
  return scenario_read(&request, &folder->fixture.arena, &folder->fixture.diagnostics);
}

static const struct scenario *read_scenario(struct offer_folder *folder,
                                            const struct taken *taken) {
  return read_case(folder, taken, NULL);
}

static void test_takes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof takes / sizeof takes[0]; i++) {
    struct offer_folder folder;
    offer_folder_start(&folder);
    const struct scenario *scenario = read_scenario(&folder, &takes[i]);
    expect_error(&folder.fixture, takes[i].scenario, "");
    const int d = model_find(scenario->model, takes[i].input);
    const struct figure *figure = option_figure(scenario, &scenario->options[0], 0, d);
    expect_near(figure->value / unit_factor(&scenario->model->declarations[d].unit), takes[i].value,
                1e-9, takes[i].input);
    assert_int_equal(figure->grade, takes[i].grade);
    offer_folder_end(&folder);
  }
}

#define LATER   "list_price = 9000 USD\nquote = offer.ini\n[case later]\na.quote = other.ini\n"
#define REVISED "[option a]\n" LATER

// What the case has from its own offer.
static const struct taken revised[] = {
    {OFFER_PRICE, "[price]\naccelerators = 26000 USD/gpu\n",
     "[option a]\nquote = offer.ini\n[case later]\na.quote = other.ini\n", NULL, "list_price",
     26000, GRADE_QUOTED},
    {OFFER_PRICE,
     OFFER_OF_A
     "accelerator = h200-sxm-141\naccelerators = 32 gpu\n[price]\naccelerators = 26000 USD/gpu\n",
     "[option a]\nquote = offer.ini\n[case later]\na.quote = other.ini\n", NULL, "accelerators", 32,
     GRADE_QUOTED},
    // The watts of a similar run replace the TDP, but not what is guaranteed in a case.
    {H100, H100 "power = 640 W/gpu\n",
     "[option a]\nmodel = llama-3.1-70b\nprecision = bf16\n" LATER, NULL, "load_power", 640,
     GRADE_QUOTED},
};

static void test_revision_in_a_case(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof revised / sizeof revised[0]; i++) {
    struct offer_folder folder;
    offer_folder_start(&folder);
    const struct scenario *scenario = read_scenario(&folder, &revised[i]);
    expect_error(&folder.fixture, revised[i].other, "");
    const int d = model_find(scenario->model, revised[i].input);
    const struct figure *figure = option_figure(scenario, &scenario->options[0], 1, d);
    expect_near(figure->value, revised[i].value, 1e-12, revised[i].input);
    assert_int_equal(figure->grade, revised[i].grade);
    offer_folder_end(&folder);
  }
}

#define OTHER_GUARANTEE                                                                            \
  "[guarantee b]\nmodel = llama-3.1-70b\nprecision = fp8\nbasis = decode\n"                        \
  "tokens_per_s = 30 token/s/gpu\n"

// Gives every input that an offer can give, but those of its price lines.
static const char whole[] =
    "nodes = 8 node\n[price]\naccelerators = 27500 USD/gpu\n[terms]\nwarranty = 3 yr\n"
    "[guarantee chat]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n"
    "scenario = server\ntokens_per_s = 3900 token/s/gpu\npower = 640 W/gpu\n"
    "[acceptance]\ntolerance = 2 %\nremedy = 1 %\nremedy_limit = 10 %\n";

static const struct {
  struct taken taken;
  const char *warning;
} warned[] = {
    {{"valid_until = 2026-11-19\n[price]\naccelerators = 2 USD/gpu\n", "",
      "[option a]\nquote = offer.ini\n", NULL, "", 0, 0},
     "the offer Example Compute Q-1 expired on 2026-11-19, before 2026-11-20"},
    {{"[price]\naccelerators = 27500 USD/gpu\n", "", "[option a]\nquote = offer.ini\n", NULL, "", 0,
      0},
     "the offer Example Compute Q-1 has no line for: servers, network, installation, delivery, "
     "support, warranty, licence"},
    {{"[price]\naccelerators = 27500 USD/gpu\n[terms]\nwarranty = 3 yr\n", "",
      "[option a]\nquote = offer.ini\n", NULL, "", 0, 0},
     "delivery, support, licence"},
    {{"[price]\naccelerators = 27500 USD/gpu\n", "",
      "[option a]\nquote = offer.ini\nlist_price = 20000 USD\n", NULL, "", 0, 0},
     "not taken from the offer Example Compute Q-1: list_price"},
    {{whole, "",
      "[option a]\nquote = offer.ini\ndiscount = 20 %\nwarranty = 1 yr\n"
      "accelerators_per_node = 4 gpu/node\nthroughput = 3000 token/s\nload_power = 500 W\n"
      "guaranteed_throughput = 3500 token/s\nguarantee_tolerance = 5 %\nremedy = 2 %\n"
      "remedy_limit = 50 %\n",
      NULL, "", 0, 0},
     "not taken from the offer Example Compute Q-1: discount, warranty, accelerators_per_node, "
     "throughput, load_power, guaranteed_throughput, guarantee_tolerance, remedy, remedy_limit"},
    {{whole, "", "[option a]\nquote = offer.ini\n", "a.discount=20 %", "", 0, 0},
     "not taken from the offer Example Compute Q-1: discount"},
    {{whole, "", "[option a]\nquote = offer.ini\nevidence = tp0022\n", NULL, "", 0, 0},
     "not taken from the offer Example Compute Q-1: throughput, load_power"},
    {{whole, "", "[option a]\nquote = offer.ini\n", "workload.scenario=offline", "", 0, 0},
     "no guarantee of the offer Example Compute Q-1 is used, and its remedy does not count: chat "
     "(3900 token/s/gpu) is for scenario = server, not offline"},
    {{OFFER_SERVED "tokens_per_s = 3900 token/s/gpu\n" OTHER_GUARANTEE, "",
      "[option a]\nlist_price = 9000 USD\nquote = offer.ini\n", NULL, "", 0, 0},
     "no guarantee of the offer Example Compute Q-1 is used: a (3900 token/s/gpu) does not state "
     "scenario = server; b (30 token/s/gpu) is for model = llama-3.1-70b, not llama-2-70b"},
    // A rate that is stated needs no guarantee, but the remedy does.
    {{whole, "", "[option a]\nquote = offer.ini\nthroughput = 3000 token/s\n",
      "workload.scenario=offline", "", 0, 0},
     "the remedy of the offer Example Compute Q-1 does not count: none of its guarantees"},
    {{whole, "",
      "[option a]\nquote = offer.ini\nthroughput = 1950 token/s\nremedy = 3 %\n"
      "remedy_limit = 200 %\n",
      NULL, "", 0, 0},
     "the vendor's remedy is 150 % of the hardware price, and turns the total cost negative: "
     "'remedy_limit' caps it"},
    {{"[price]\naccelerators = 27500 USD/gpu\n", "",
      "accelerators = 800\n[option a]\nquote = offer.ini\n", NULL, "", 0, 0},
     "covers 64 accelerators; this option buys 800 at its prices"},
};

static void test_warnings(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof warned / sizeof warned[0]; i++) {
    struct offer_folder folder;
    offer_folder_start(&folder);
    const struct scenario *scenario = read_scenario(&folder, &warned[i].taken);
    expect_error(&folder.fixture, warned[i].warning, "");
    expect_fragment(texts_joined_by(&scenario->options[0].warnings, "\n", &folder.fixture.arena),
                    warned[i].warning);
    offer_folder_end(&folder);
  }
}

// The TDP stands in for watts in the cases whose offer guarantees none, and only there it is warned
// of.
static void test_watts_of_one_offer(void **state) {
  static const char warning[] = "power under load is the TDP, 700 W/gpu";
  static const char silent[] =
      "[guarantee chat]\nmodel = llama-2-70b\nprecision = fp8\n"
      "basis = serving\nscenario = server\ntokens_per_s = 3900 token/s/gpu\n";
  static const char scenario_text[] =
      "[option a]\nlist_price = 9000 USD\nquote = offer.ini\n[case later]\na.quote = other.ini\n";
  char guaranteed[512];
  (void)state;
  snprintf(guaranteed, sizeof guaranteed, "%spower = 640 W/gpu\n", silent);
  for (int is_later = 0; is_later < 2; is_later++)
    for (int silent_later = 0; silent_later < 2; silent_later++) {
      struct offer_folder folder;
      const struct taken taken = {.offer = silent_later ? guaranteed : silent,
                                  .other = silent_later ? silent : guaranteed,
                                  .scenario = scenario_text};
      offer_folder_start(&folder);
      const struct scenario *scenario = read_case(&folder, &taken, is_later ? "later" : NULL);
      expect_error(&folder.fixture, warning, "");
      const char *warnings =
          texts_joined_by(&scenario->options[0].warnings, "\n", &folder.fixture.arena);
      assert_int_equal(strstr(warnings, warning) != NULL, is_later == silent_later);
      offer_folder_end(&folder);
    }
}

static void test_nothing_differs(void **state) {
  (void)state;
  struct offer_folder folder;
  static const struct taken taken = {whole, "", "[option a]\nquote = offer.ini\n", NULL, "", 0, 0};
  offer_folder_start(&folder);
  const struct scenario *scenario = read_scenario(&folder, &taken);
  expect_error(&folder.fixture, "an offer as it is", "");
  const char *warnings = texts_joined(&scenario->options[0].warnings, &folder.fixture.arena);
  assert_null(strstr(warnings, "not taken from the offer"));
  assert_null(strstr(warnings, "is used"));
  offer_folder_end(&folder);
}

static const struct {
  struct taken taken;
  const char *error;
} quarrels[] = {
    {{OFFER_PRICE, "", "[option a]\nquote = nowhere.ini\n", NULL, "", 0, 0}, "cannot be opened"},
    {{OFFER_PRICE, "", "quote = offer.ini\n[option a]\n", NULL, "", 0, 0},
     "an offer applies to one option"},
    {{OFFER_PRICE, "", "[option a]\naccelerator = mi325x-256\nquote = offer.ini\n", NULL, "", 0, 0},
     "is for 'h200-sxm-141', but option 'a' has 'mi325x-256'"},
    {{OFFER_PRICE, "", "[option a]\nrental_rate = 2 USD/gpu/h\nquote = offer.ini\n", NULL, "", 0,
      0},
     "has both"},
    {{"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\nscenario = server\n"
      "batch = 8\ntokens_per_s = 1000 token/s/gpu\n[guarantee b]\nmodel = llama-2-70b\n"
      "precision = fp8\nbasis = serving\nscenario = server\nbatch = 16\n"
      "tokens_per_s = 2000 token/s/gpu\n",
      "", "[option a]\nlist_price = 9000 USD\nquote = offer.ini\n", NULL, "", 0, 0},
     "guarantees 2 rates that match the workload of option 'a'"},
    // What was asked for is named, and what the guarantees lack of it.
    {{rate, "", "[option a]\nlist_price = 9000 USD\nquote = offer.ini\ntpot = 45 ms\n",
      "workload.ttft=2 s", "", 0, 0},
     "no guarantee of the offer Example Compute Q-1 is used: chat (3900 token/s/gpu) does not "
     "guarantee ttft = 2 s and tpot = 45 ms at P90 or higher; no source has throughputs of "
     "'h200-sxm-141' at several batches for this workload, to choose one by ttft and tpot"},
    // Rates guaranteed for other conditions are not comparable.
    {{OFFER_SERVED "scenario = server\nconcurrency = 16 request\ntokens_per_s = 1000 token/s/gpu\n",
      OFFER_SERVED "scenario = server\nconcurrency = 64 request\ntokens_per_s = 2000 token/s/gpu\n",
      "[option a]\nlist_price = 9000 USD\nquote = offer.ini\n"
      "[option b]\nlist_price = 9000 USD\nquote = other.ini\n",
      NULL, "", 0, 0},
     "not comparable, batch: 16 and 64"},
    {{OFFER_SERVED OFFER_LENGTHS "scenario = server\ntokens_per_s = 1000 token/s/gpu\n",
      OFFER_SERVED
      "scenario = server\noutput_tokens = 1024 token\ntokens_per_s = 2000 token/s/gpu\n",
      "[option a]\nlist_price = 9000 USD\nquote = offer.ini\n"
      "[option b]\nlist_price = 9000 USD\nquote = other.ini\n",
      NULL, "", 0, 0},
     "not comparable, output_tokens: 256 and 1024"},
    // The same in a case, whose offer must suit the option as that of the base case does.
    {{OFFER_PRICE,
      OFFER_OF_A
      "accelerator = mi325x-256\naccelerators = 64 gpu\n[price]\naccelerators = 9 USD/gpu\n",
      "[option a]\nquote = offer.ini\n[case other]\na.quote = other.ini\n", NULL, "", 0, 0},
     "the offer B is for 'mi325x-256', but option 'a' has 'h200-sxm-141'"},
    {{rate, OFFER_PRICE, REVISED, NULL, "", 0, 0},
     "the offer Q-1, unlike that of the base case, guarantees no 'throughput' for the workload of "
     "option 'a' under the same conditions: give 'a.throughput' in case 'later'"},
    {{OFFER_SERVED "scenario = server\nbatch = 16\ntokens_per_s = 1000 token/s/gpu\n",
      OFFER_SERVED "scenario = server\nbatch = 64\ntokens_per_s = 2000 token/s/gpu\n", REVISED,
      NULL, "", 0, 0},
     "under the same conditions: give 'a.throughput' in case 'later'"},
    {{OFFER_PRICE, rate, REVISED, NULL, "", 0, 0},
     "the offer Q-1 guarantees a 'throughput' in case 'later', but option 'a' otherwise has none: "
     "give 'throughput' or evidence for it in the option"},
    {{rate,
      "[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\nscenario = server\n"
      "batch = 8\ntokens_per_s = 1000 token/s/gpu\n[guarantee b]\nmodel = llama-2-70b\n"
      "precision = fp8\nbasis = serving\nscenario = server\nbatch = 16\n"
      "tokens_per_s = 2000 token/s/gpu\n",
      REVISED, NULL, "", 0, 0},
     "guarantees 2 rates that match the workload of option 'a'"},
};

static void test_quarrels(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof quarrels / sizeof quarrels[0]; i++) {
    struct offer_folder folder;
    offer_folder_start(&folder);
    assert_null(read_scenario(&folder, &quarrels[i].taken));
    expect_error(&folder.fixture, quarrels[i].taken.scenario, quarrels[i].error);
    offer_folder_end(&folder);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_takes),           cmocka_unit_test(test_revision_in_a_case),
      cmocka_unit_test(test_warnings),        cmocka_unit_test(test_watts_of_one_offer),
      cmocka_unit_test(test_nothing_differs), cmocka_unit_test(test_quarrels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
