// Vendors' offers: what a file may say, what is refused, and what a scenario takes from one. Run in the
// repository's root.
#include "model/delivery/offer.h"
#include "tests/support/fixture.h"

#include "model/cost/units.h"
#include "model/scenario/reading/read.h"
#include "model/scenario/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char head[] = "[offer]\n"
                           "vendor = Example Compute\n"
                           "reference = Q-1\n"
                           "date = 2026-11-02\n"
                           "currency = USD\n"
                           "accelerator = h200-sxm-141\n"
                           "accelerators = 64 gpu\n";
static const char nodes[] = "nodes = 8 node\n";
static const char price[] = "[price]\naccelerators = 27500 USD/gpu\n";
static const char rate[] =
    "[guarantee chat]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n"
    "scenario = server\ntokens_per_s = 3900 token/s/gpu\n";

// A folder with an offer, another one, and a scenario that takes them.
struct world {
  struct fixture fixture;
  struct catalog catalog;
  char folder[32];
};

static void start(struct world *world) {
  fixture_start(&world->fixture);
  snprintf(world->folder, sizeof world->folder, "/tmp/pertoken-XXXXXX");
  assert_non_null(mkdtemp(world->folder));
  assert_int_equal(
      catalog_open(&world->catalog, "data", &world->fixture.arena, &world->fixture.diagnostics), 0);
}

static const char *path_of(struct world *world, const char *file) {
  return arena_printf(&world->fixture.arena, "%s/%s", world->folder, file);
}

static void end(struct world *world) {
  static const char *const files[] = {"offer.ini", "other.ini", "scenario.ini"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
    unlink(path_of(world, files[i]));
  rmdir(world->folder);
  fixture_end(&world->fixture);
}

static const struct offer *read_offer(struct world *world, const char *text) {
  fixture_write(&world->fixture, world->folder, "offer.ini", text);
  return offer_read(path_of(world, "offer.ini"), &world->catalog, &world->fixture.arena,
                    &world->fixture.diagnostics);
}

// Each stands behind the head, or in its place where it begins with one of its own.
static const struct {
  const char *text, *error;
} refused[] = {
    {"nodes = 0 node\n", "a whole number of nodes"},
    {"nodes = 7 node\n", "64 accelerators are no whole number for each of 7 nodes"},
    {"valid_until = 2026-11-01\n", "valid until 2026-11-01, before its own date 2026-11-02"},
    {"valid_until = 2026-11\n", "a day such as 2026-10-01, not '2026-11'"},
    {"acelerators = 3\n", "did you mean 'accelerators'"},
    {"[prices]\naccelerators = 1 USD/gpu\n", "did you mean 'price'"},
    {"[price]\naccelerators = 27500 USD\n", "which says per what"},
    {"[price]\naccelerators = 220000 USD/node\n", "wrong unit 'USD/node'"},
    {"[price]\naccelerators = 27500 EUR/gpu\n", "the offer is in USD, and this is in EUR"},
    {"[price]\naccelerators = -1 USD/gpu\n", "cannot be -1 USD/gpu"},
    {"[price]\naccelerators = 1 USD/gpu\ndiscount = 100 %\n", "cannot be 100 %"},
    {"[price]\nservers = 58000 USD/node\n", "a price per node needs 'nodes'"},
    {"[price]\nsupport = 9000 USD/yr\n", "the offer has no price for any"},
    {"[price]\nserver = 58000 USD/node\n", "did you mean 'servers'"},
    {"[terms]\nwarranty = 3\n", "'3' has no unit"},
    {"[terms]\nwarranty = 0 yr\n", "a time above 0"},
    {"[guarantee]\nmodel = llama-2-70b\n", "[guarantee] needs a name"},
    {"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\ntokens_per_s = 1 token/s/gpu\n",
     "a guarantee needs 'basis'"},
    {"[guarantee a]\nmodel = llama-2-71b\nprecision = fp8\nbasis = decode\n"
     "tokens_per_s = 1 token/s/gpu\n",
     "unknown model 'llama-2-71b'"},
    {"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n"
     "tokens_per_s = 1 token/s\n",
     "say per what: token/s/gpu or token/s/node"},
    {"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n"
     "tokens_per_s = 1 token/s/gpu\npower = 5000 W/node\n",
     "a rate per node beside one per gpu"},
    {"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n"
     "tokens_per_s = 1 token/s/node\n",
     "a rate per node needs 'nodes'"},
    {"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\nbatch = 0\n"
     "tokens_per_s = 1 token/s/gpu\n",
     "a positive whole number, not '0'"},
    {"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n"
     "tokens_per_s = 0 token/s/gpu\n",
     "must be above 0"},
    {"[acceptance]\ntolerance = 120 %\n", "must be at least 0 % and below 100 %, not 120 %"},
    {"[acceptance]\ntolerance = 100 %\n", "must be at least 0 % and below 100 %"},
    {"[acceptance]\nconfidence = 100 %\n", "must be at least 0 % and below 100 %"},
    {"[acceptance]\nconfidence = 40 %\n", "decides less than a coin does"},
    {"[acceptance]\nremedy = 0 %\n", "above 0 %"},
    {"[acceptance]\nremedy = refund\n", "refund"},
    {"nodes = 8 node\n[acceptance]\nmay_fail = 8 node\n", "fewer than the 8 nodes"},
    {"[acceptance]\nmay_fail = 0.5 node\n", "a whole number of nodes"},
    {"[offer]\nvendor = A\nreference = B\ndate = 2026-11-02\ncurrency = USD\n"
     "accelerator = h200-sxm-141\n",
     "an offer needs 'accelerators' in [offer]"},
    {"[offer]\nvendor = A\nreference = B\ndate = 2026-11-02\ncurrency = dollar\n"
     "accelerator = h200-sxm-141\naccelerators = 8\n",
     "the code of a currency"},
    {"[offer]\nvendor = A\nreference = B\ndate = 2026-11-02\ncurrency = USD\n"
     "accelerator = h20000\naccelerators = 8.5\n",
     "a whole number above 0"},
    {"[offer]\nvendor = A\nreference = B\ndate = 2026-11-02\ncurrency = USD\n"
     "accelerator = h20000\naccelerators = 8\n",
     "unknown accelerator 'h20000'"},
    {"[price]\naccelerators = 1 USD/gpu\n[offer]\nvendor = \n", "an offer needs 'reference'"},
};

static void test_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    struct world world;
    char text[1024];
    const char *more = refused[i].text;
    start(&world);
    snprintf(text, sizeof text, "%s%s", strstr(more, "[offer]") ? "" : head, more);
    assert_null(read_offer(&world, text));
    expect_error(&world.fixture, text, refused[i].error);
    end(&world);
  }
}

// A line as an input of the cost model reads it: sums are shares of 64 x 27,500 + 8 x 58,000 USD.
static const struct {
  const char *lines;
  enum offer_line line;
  const char *text;
} inputs[] = {
    {"", OFFER_ACCELERATORS, "27500 USD/gpu"},
    {"", OFFER_SUPPORT, NULL},
    {"delivery = 22240 USD\n", OFFER_DELIVERY, "1 %"},
    {"delivery = 2 %\n", OFFER_DELIVERY, "2 %"},
    {"support = 88960 USD/yr\n", OFFER_SUPPORT, "4 %/yr"},
    {"support = 4 %/yr\nwarranty = 1 %/yr\n", OFFER_SUPPORT, "5 %/yr"},
    {"support = 4 %/yr\nwarranty = 1 %/yr\n", OFFER_WARRANTY, NULL},
    {"warranty = 22240 USD/yr\n", OFFER_WARRANTY, "1 %/yr"},
    {"discount = 10 %\ninstallation = 20480 USD\n", OFFER_INSTALLATION, "1 %"},
};

static void test_lines(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
    struct world world;
    char text[1024];
    start(&world);
    snprintf(text, sizeof text, "%s%s%sservers = 58000 USD/node\n%s", head, nodes, price,
             inputs[i].lines);
    const struct offer *offer = read_offer(&world, text);
    expect_error(&world.fixture, text, "");
    const char *got = offer_input_text(offer, inputs[i].line, &world.fixture.arena);
    if (inputs[i].text)
      assert_string_equal(got, inputs[i].text);
    else
      assert_null(got);
    end(&world);
  }
}

static void test_other_currency(void **state) {
  (void)state;
  struct world world;
  start(&world);
  const struct offer *offer =
      read_offer(&world, "[offer]\nvendor = A\nreference = B\ndate = 2026-11-02\ncurrency = EUR\n"
                         "accelerator = h200-sxm-141\naccelerators = 8\n"
                         "[price]\naccelerators = 25000 EUR/gpu\ninstallation = 2000 EUR\n");
  expect_error(&world.fixture, "an offer in EUR", "");
  assert_string_equal(offer_input_text(offer, OFFER_INSTALLATION, &world.fixture.arena), "1 %");
  end(&world);
}

// ---- what a scenario takes from an offer

static const char common[] = "[scenario]\ndate = 2026-11-20\n"
                             "[workload]\nmodel = llama-2-70b\nprecision = fp8\n"
                             "scenario = server\nutilization = 70 %\n"
                             "[common]\npue = 1.25\nelectricity_price = 0.08 USD/kWh\n"
                             "discount = 14 %\nsupport = 4 %/yr\n";

struct taken {
  const char *offer, *other; // behind the head
  const char *scenario;      // behind the common part
  const char *setting;
  const char *input; // of the option a
  double value;
  enum grade grade;
};

static const struct taken takes[] = {
    {price, "", "[option a]\nquote = offer.ini\n", NULL, "list_price", 27500, GRADE_QUOTED},
    {price, "", "[option a]\nquote = offer.ini\n", NULL, "accelerators", 64, GRADE_QUOTED},
    {price, "", "accelerators = 800\n[option a]\nquote = offer.ini\n", NULL, "accelerators", 800,
     GRADE_ASSUMED},
    // A net price takes no discount of [common]; one that is offered, or the option's own, counts.
    {price, "", "[option a]\nquote = offer.ini\n", NULL, "discount", 0, GRADE_QUOTED},
    {"[price]\naccelerators = 27500 USD/gpu\ndiscount = 10 %\n", "",
     "[option a]\nquote = offer.ini\n", NULL, "discount", 10, GRADE_QUOTED},
    {price, "", "[option a]\nquote = offer.ini\ndiscount = 5 %\n", NULL, "discount", 5,
     GRADE_ASSUMED},
    {price, "", "[option a]\nlist_price = 9000 USD\nquote = offer.ini\n", NULL, "list_price", 9000,
     GRADE_ASSUMED},
    {price, "", "[option a]\nquote = offer.ini\n", "a.list_price=9000 USD", "list_price", 9000,
     GRADE_ASSUMED},
    {price, price, "[option a]\nquote = offer.ini\n", "a.support=1 %/yr", "support", 1,
     GRADE_ASSUMED},
    // What is not offered is the scenario's.
    {price, "", "[option a]\nquote = offer.ini\n", NULL, "support", 4, GRADE_ASSUMED},
    {"[price]\naccelerators = 27500 USD/gpu\nsupport = 3 %/yr\n", "",
     "[option a]\nquote = offer.ini\n", NULL, "support", 3, GRADE_QUOTED},
    // Another revision in a case, and none at all.
    {price, "[price]\naccelerators = 26000 USD/gpu\n",
     "[option a]\nquote = offer.ini\n[case later]\na.quote = other.ini\n", NULL, "list_price",
     27500, GRADE_QUOTED},
    // A guarantee of the workload is below what was typed, and above what is published.
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

static const struct scenario *read_scenario(struct world *world, const struct taken *taken) {
  char text[2048];
  struct scenario_request request = {.path = path_of(world, "scenario.ini"),
                                     .data_directory = "data",
                                     .settings = &taken->setting,
                                     .setting_count = taken->setting ? 1 : 0};
  snprintf(text, sizeof text, "%s%s", head, taken->offer);
  fixture_write(&world->fixture, world->folder, "offer.ini", text);
  snprintf(text, sizeof text, "%s%s", head, taken->other);
  fixture_write(&world->fixture, world->folder, "other.ini", text);
  snprintf(text, sizeof text, "%s%s%s", common,
           strstr(taken->offer, "accelerators = 2") || strstr(taken->scenario, "accelerators =")
               ? ""
               : "accelerators = 64\n",
           taken->scenario);
  fixture_write(&world->fixture, world->folder, "scenario.ini", text);
  return scenario_read(&request, &world->fixture.arena, &world->fixture.diagnostics);
}

static void test_takes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof takes / sizeof takes[0]; i++) {
    struct world world;
    start(&world);
    const struct scenario *scenario = read_scenario(&world, &takes[i]);
    expect_error(&world.fixture, takes[i].scenario, "");
    const int d = model_find(scenario->model, takes[i].input);
    const struct figure *figure = option_figure(scenario, &scenario->options[0], 0, d);
    expect_near(figure->value / unit_factor(&scenario->model->declarations[d].unit), takes[i].value,
                1e-9, takes[i].input);
    assert_int_equal(figure->grade, takes[i].grade);
    end(&world);
  }
}

static void test_revision_in_a_case(void **state) {
  (void)state;
  struct world world;
  static const struct taken taken = {
      price,
      "[price]\naccelerators = 26000 USD/gpu\n",
      "[option a]\nquote = offer.ini\n[case later]\na.quote = other.ini\n",
      NULL,
      "",
      0,
      0};
  start(&world);
  const struct scenario *scenario = read_scenario(&world, &taken);
  expect_error(&world.fixture, "a revision in a case", "");
  const struct figure *figure =
      option_figure(scenario, &scenario->options[0], 1, model_find(scenario->model, "list_price"));
  expect_near(figure->value, 26000, 1e-12, "list_price of the case");
  assert_int_equal(figure->grade, GRADE_QUOTED);
  end(&world);
}

static const struct {
  struct taken taken;
  const char *warning;
} warned[] = {
    {{"valid_until = 2026-11-19\n[price]\naccelerators = 2 USD/gpu\n", "",
      "[option a]\nquote = offer.ini\n", NULL, "", 0, 0},
     "the offer Example Compute Q-1 expired on 2026-11-19, before 2026-11-20"},
    {{"[price]\naccelerators = 27500 USD/gpu\n", "", "[option a]\nquote = offer.ini\n", NULL, "", 0,
      0},
     "not included in the offer Example Compute Q-1: servers, network, installation, delivery, "
     "support, warranty, licence"},
    {{"[price]\naccelerators = 27500 USD/gpu\n[terms]\nwarranty = 3 yr\n", "",
      "[option a]\nquote = offer.ini\n", NULL, "", 0, 0},
     "delivery, support, licence"},
    {{"[price]\naccelerators = 27500 USD/gpu\n", "",
      "[option a]\nquote = offer.ini\nlist_price = 20000 USD\n", NULL, "", 0, 0},
     "not as the offer Example Compute Q-1 has it: list_price"},
    {{"[price]\naccelerators = 27500 USD/gpu\n", "",
      "accelerators = 800\n[option a]\nquote = offer.ini\n", NULL, "", 0, 0},
     "is of 64 accelerators, and this is of 800 at its prices"},
};

static void test_warnings(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof warned / sizeof warned[0]; i++) {
    struct world world;
    start(&world);
    const struct scenario *scenario = read_scenario(&world, &warned[i].taken);
    expect_error(&world.fixture, warned[i].warning, "");
    expect_fragment(texts_joined_by(&scenario->options[0].warnings, "\n", &world.fixture.arena),
                    warned[i].warning);
    end(&world);
  }
}

static const struct {
  struct taken taken;
  const char *error;
} quarrels[] = {
    {{price, "", "[option a]\nquote = nowhere.ini\n", NULL, "", 0, 0}, "cannot be opened"},
    {{price, "", "quote = offer.ini\n[option a]\n", NULL, "", 0, 0}, "an offer is of one option"},
    {{price, "", "[option a]\naccelerator = mi325x-256\nquote = offer.ini\n", NULL, "", 0, 0},
     "is of 'h200-sxm-141', and option 'a' is of 'mi325x-256'"},
    {{price, "", "[option a]\nrental_rate = 2 USD/gpu/h\nquote = offer.ini\n", NULL, "", 0, 0},
     "has both"},
    {{"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\nscenario = server\n"
      "batch = 8\ntokens_per_s = 1000 token/s/gpu\n[guarantee b]\nmodel = llama-2-70b\n"
      "precision = fp8\nbasis = serving\nscenario = server\nbatch = 16\n"
      "tokens_per_s = 2000 token/s/gpu\n",
      "", "[option a]\nlist_price = 9000 USD\nquote = offer.ini\n", NULL, "", 0, 0},
     "guarantees 2 rates that fit the workload of option 'a'"},
};

static void test_quarrels(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof quarrels / sizeof quarrels[0]; i++) {
    struct world world;
    start(&world);
    assert_null(read_scenario(&world, &quarrels[i].taken));
    expect_error(&world.fixture, quarrels[i].taken.scenario, quarrels[i].error);
    end(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_lines),
      cmocka_unit_test(test_other_currency),
      cmocka_unit_test(test_takes),
      cmocka_unit_test(test_revision_in_a_case),
      cmocka_unit_test(test_warnings),
      cmocka_unit_test(test_quarrels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
