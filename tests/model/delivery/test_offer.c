// Vendors' offers: what a file may contain, what is refused, and what a scenario takes from one.
// Run in the repository's root.
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

// Offers that replace the head.
#define OFFER "[offer]\nvendor = A\nreference = B\ndate = 2026-11-02\ncurrency = USD\n"
#define H100                                                                                       \
  OFFER                                                                                            \
  "accelerator = h100-sxm5-80\naccelerators = 64 gpu\n[guarantee chat]\n"                          \
  "model = llama-3.1-70b\nprecision = bf16\nbasis = serving\nscenario = server\n"                  \
  "tokens_per_s = 400 token/s/gpu\n"

static const char rate[] =
    "[guarantee chat]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n"
    "scenario = server\ntokens_per_s = 3900 token/s/gpu\n";

#define SERVED  "[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n"
#define LENGTHS "input_tokens = 1024 token\noutput_tokens = 256 token\n"

// A folder with two offers and a scenario that uses them.
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

// Each follows the head, or replaces it if it begins with its own.
static const struct {
  const char *text, *error;
} refused[] = {
    {"nodes = 0 node\n", "a whole number of nodes"},
    {"nodes = 7 node\n", "64 accelerators cannot be divided equally among 7 nodes"},
    {"valid_until = 2026-11-01\n", "valid until 2026-11-01, before its own date 2026-11-02"},
    {"valid_until = 2026-11\n", "a day such as 2026-10-01, not '2026-11'"},
    {"acelerators = 3\n", "did you mean 'accelerators'"},
    {"[prices]\naccelerators = 1 USD/gpu\n", "did you mean 'price'"},
    {"[price]\naccelerators = 27500 USD\n", "with its basis"},
    {"[price]\naccelerators = 27500 USD\n", "(USD/gpu or USD/node)"},
    {"[price]\naccelerators = 220000 USD/node\n", "a price per node needs 'nodes'"},
    {"[price]\nnetwork = 220000 USD/node\n", "wrong unit 'USD/node'"},
    {"[price]\naccelerators = 27500 EUR/gpu\n", "the offer is in USD but this is in EUR"},
    {"[price]\nduty = 2 %\n", "did you mean 'delivery'"},
    {"[price]\nmaintenance = 2 %/yr\n", "did you mean 'support'"},
    {"[price]\nsalary = 2 USD\n", "unknown key 'salary' in [price]\n"},
    {"[price]\naccelerators = -1 USD/gpu\n", "cannot be -1 USD/gpu"},
    {"[price]\naccelerators = 1 USD/gpu\ndiscount = 100 %\n", "cannot be 100 %"},
    {"[price]\nservers = 58000 USD/node\n", "a price per node needs 'nodes'"},
    {"[price]\nsupport = 9000 USD/yr\n", "is converted to a share of the hardware price"},
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
     "state the rate as token/s/gpu or token/s/node"},
    {"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n"
     "tokens_per_s = 1 token/s/gpu\npower = 5000 W/node\n",
     "one rate is per node and another per gpu"},
    {"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n"
     "tokens_per_s = 1 token/s/node\n",
     "a rate per node needs 'nodes'"},
    {"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\nbatch = 0\n"
     "tokens_per_s = 1 token/s/gpu\n",
     "a positive whole number, not '0'"},
    {"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n"
     "tokens_per_s = 0 token/s/gpu\n",
     "must be above 0"},
    {SERVED "ttft = 2 s\n", "expected a statistic and a time, as 'P99 2 s'"},
    {SERVED "ttft = P98 2 s\n", "mean, P50, P90, P95 or P99, not 'P98 2 s'"},
    {SERVED "ttft = P99 2 W\n", "wrong unit 'W'"},
    {SERVED "ttft = P99 0 s\n", "'ttft' must be above 0, not 0 s"},
    {SERVED "ttft = P99 2 s\n", "'ttft' depends on request length and load"},
    {SERVED LENGTHS "tpot = P99 50 ms\n", "'tpot' depends on request length and load"},
    {SERVED LENGTHS "ttfd = P99 2 s\n", "did you mean 'ttft'"},
    {SERVED LENGTHS "power = 500 W/gpu\n", "a guarantee needs 'tokens_per_s', 'ttft' or 'tpot'"},
    {SERVED LENGTHS "concurrency = 3.5 request\nttft = P99 2 s\n", "a whole number above 0"},
    {SERVED LENGTHS "request_rate = 0 request/s\nttft = P99 2 s\n", "a value above 0"},
    {SERVED LENGTHS "concurrency = 4 request\nrequest_rate = 8 request/s\nttft = P99 2 s\n",
     "'concurrency' beside 'request_rate': a load is either"},
    {SERVED LENGTHS "concurrency = 4 request\nbatch = 8\nttft = P99 2 s\n",
     "'concurrency' beside 'batch': both are the requests in flight"},
    {SERVED LENGTHS "context = 1024\nbatch = 8\nttft = P99 2 s\n",
     "'input_tokens' beside 'context': both are the tokens of a prompt"},
    {"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = decode\n"
     "tokens_per_s = 1 token/s/gpu\nttft = P99 2 s\n",
     "'ttft' applies to serving, and this guarantee is for decoding"},
    {"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = decode\n"
     "tokens_per_s = 1 token/s/gpu\nrequest_rate = 8 request/s\n",
     "'request_rate' applies to serving"},
    {"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = decode\nbatch = 4\n",
     "a guarantee needs 'tokens_per_s'"},
    {"[acceptance]\ntolerance = 120 %\n", "must be at least 0 % and below 100 %, not 120 %"},
    {"[acceptance]\ntolerance = 100 %\n", "must be at least 0 % and below 100 %"},
    {"[acceptance]\nconfidence = 100 %\n", "must be at least 0 % and below 100 %"},
    {"[acceptance]\nconfidence = 40 %\n", "is no better than chance"},
    {"[acceptance]\nremedy = 0 %\n", "above 0 %"},
    {"[acceptance]\nremedy = refund\n", "refund"},
    {"nodes = 8 node\n[acceptance]\nmay_fail = 8 node\n", "fewer than the 8 nodes"},
    {"[acceptance]\nremedy_limit = 10 %\n", "'remedy_limit' limits nothing without 'remedy'"},
    {"[terms]\ndelivery = 2026-11-01\n",
     "delivery by 2026-11-01, before the offer's own date 2026-11-02"},
    {"[acceptance]\nmay_fail = 0.5 node\n", "a whole number of nodes"},
    {OFFER "accelerator = h200-sxm-141\n", "an offer needs 'accelerators' in [offer]"},
    {"[offer]\nvendor = A\nreference = B\ndate = 2026-11-02\ncurrency = dollar\n"
     "accelerator = h200-sxm-141\naccelerators = 8\n",
     "a currency code such as USD"},
    {OFFER "accelerator = h20000\naccelerators = 8.5\n", "a whole number above 0"},
    {OFFER "accelerator = h20000\naccelerators = 8\n", "unknown accelerator 'h20000'"},
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

// A sign stands for its currency. Of an unknown one, only that is said: not that prices in euros
// are in another, nor that a sum has no hardware beside it.
static void test_currencies(void **state) {
  (void)state;
  static const struct {
    const char *currency;
    size_t errors;
  } cases[] = {{"EUR", 0}, {"\xE2\x82\xAC", 0}, {"Euro", 1}, {"$", 3}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct world world;
    char text[1024];
    start(&world);
    snprintf(text, sizeof text,
             "[offer]\nvendor = V\nreference = R\ndate = 2026-11-02\ncurrency = %s\n"
             "accelerator = h200-sxm-141\naccelerators = 64 gpu\n[price]\n"
             "accelerators = 30000 EUR/gpu\ndelivery = 500 \xE2\x82\xAC\nsupport = 9 EUR/yr\n",
             cases[i].currency);
    const struct offer *offer = read_offer(&world, text);
    if (world.fixture.diagnostics.errors != cases[i].errors)
      fail_msg("%s: %s", cases[i].currency, fixture_errors(&world.fixture));
    assert_true(!offer == (cases[i].errors > 0));
    if (offer)
      assert_string_equal(offer->currency, "EUR");
    end(&world);
  }
}

// A line the way an input of the cost model reads it: totals are shares of 64 x 27,500 + 8 x 58,000
// USD.
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

// What a server is guaranteed to do; a workload's batch and context also mean requests in flight
// and prompts.
static void test_served(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double input, concurrency, rate;
    const char *batch, *context;
  } cases[] = {
      {SERVED LENGTHS "request_rate = 8 request/s\nttft = P99 2 s\ntpot = p90 50 ms\n", 1024, 0, 8,
       "", "1024"},
      {SERVED LENGTHS "concurrency = 64 request\nttft = P99 2 s\ntpot = p90 50 ms\n", 1024, 64, 0,
       "64", "1024"},
      {SERVED "context = 512\nbatch = 4\noutput_tokens = 256 token\nttft = P99 2000 ms\n"
              "tpot = P90 0.05 s\n",
       512, 4, 0, "4", "512"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct world world;
    char text[1024];
    start(&world);
    snprintf(text, sizeof text, "%s%s", head, cases[i].text);
    const struct offer *offer = read_offer(&world, text);
    expect_error(&world.fixture, text, "");
    const struct offer_guarantee *guarantee = &offer->guarantees[0];
    assert_true(isnan(guarantee->tokens_per_s));
    expect_near(guarantee->latencies[OFFER_TTFT].seconds, 2, 1e-12, "ttft");
    assert_int_equal(guarantee->latencies[OFFER_TTFT].statistic, LATENCY_P99);
    expect_near(guarantee->latencies[OFFER_TPOT].seconds, 0.05, 1e-12, "tpot");
    assert_int_equal(guarantee->latencies[OFFER_TPOT].statistic, LATENCY_P90);
    assert_true(guarantee->input_tokens == cases[i].input && guarantee->output_tokens == 256);
    assert_true(guarantee->concurrency == cases[i].concurrency);
    expect_near(guarantee->request_rate, cases[i].rate, 1e-12, "request_rate");
    assert_string_equal(guarantee->workload.values[WORKLOAD_BATCH], cases[i].batch);
    assert_string_equal(guarantee->workload.values[WORKLOAD_CONTEXT], cases[i].context);
    size_t others;
    assert_null(offer_guarantee_for(offer, &guarantee->workload, &others)); // no tokens/s
    end(&world);
  }
}

// A workload's times choose among guarantees: those that are no longer, and the closest of several.
static void test_times_choose(void **state) {
  (void)state;
#define AT(name, tokens, times)                                                                    \
  "[guarantee " name "]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n" LENGTHS          \
  "request_rate = 8 request/s\ntokens_per_s = " tokens " token/s/gpu\n" times "\n"
  static const char guarantees[] = AT("quick", "2000", "ttft = P99 1 s\ntpot = P99 30 ms")
      AT("usual", "3000", "ttft = P95 2 s\ntpot = P90 50 ms") AT("late", "3900", "ttft = P90 5 s")
          AT("mean", "4000", "ttft = mean 1.5 s")
              AT("other", "2500", "ttft = P99 2 s\ntpot = P99 40 ms");
  static const struct {
    const char *ttft, *tpot, *interactivity, *name;
    size_t others;
  } cases[] = {
      {"2 s", "50 ms", "", "usual", 0},   {"2 s", "", "", "usual", 1},
      {"1.9 s", "", "", "quick", 0},      {"0.5 s", "", "", "", 0},
      {"10 s", "", "", "late", 0},        {"2 s", "40 ms", "", "other", 0},
      {"", "45 ms", "", "other", 0},      {"", "", "25 token/s", "other", 0},
      {"", "", "30 token/s", "quick", 0}, {"", "", "", "quick", 4},
      {"", "20 ms", "", "", 0},
  };
  struct world world;
  char text[2048];
  start(&world);
  snprintf(text, sizeof text, "%s%s%s", head, nodes, guarantees);
  const struct offer *offer = read_offer(&world, text);
  expect_error(&world.fixture, text, "");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct workload workload = {.shipped_precision = ""};
    size_t others;
    for (int key = 0; key < WORKLOAD_KEYS; key++)
      workload.values[key] = "";
    workload.values[WORKLOAD_TTFT] = cases[i].ttft;
    workload.values[WORKLOAD_TPOT] = cases[i].tpot;
    workload.values[WORKLOAD_INTERACTIVITY] = cases[i].interactivity;
    const struct offer_guarantee *found = offer_guarantee_for(offer, &workload, &others);
    assert_string_equal(found ? found->name : "", cases[i].name);
    assert_int_equal(others, cases[i].others);
  }
  end(&world);
}

// What a guarantee leaves open fits what a throughput was measured on, but not what is asked for.
static void test_conditions(void **state) {
  (void)state;
  static const struct {
    enum workload_key key;
    const char *value;
    double output_tokens;
    bool is_asked, fits;
  } cases[] = {
      {WORKLOAD_KV, "fp8", 0, false, true},
      {WORKLOAD_KV, "fp8", 0, true, false},
      {WORKLOAD_BATCH, "64", 0, false, true},
      {WORKLOAD_BATCH, "64", 0, true, false},
      {WORKLOAD_PRECISION, "bf16", 0, false, false},
      {WORKLOAD_CONTEXT, "1000", 0, true, true}, // within REQUEST_LENGTHS
      {WORKLOAD_CONTEXT, "1500", 0, false, false},
      {WORKLOAD_PRECISION, "fp8", 250, true, true},
      {WORKLOAD_PRECISION, "fp8", 1024, true, false},
  };
  struct world world;
  char text[512];
  start(&world);
  snprintf(text, sizeof text, "%s%s", head, SERVED LENGTHS "tokens_per_s = 3900 token/s/gpu\n");
  const struct offer *offer = read_offer(&world, text);
  expect_error(&world.fixture, text, "");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct workload workload = {.output_tokens = cases[i].output_tokens};
    size_t others;
    for (int key = 0; key < WORKLOAD_KEYS; key++)
      workload.values[key] = "";
    workload.values[cases[i].key] = cases[i].value;
    workload.places[cases[i].key].source = cases[i].is_asked ? offer->source : NULL;
    if (cases[i].fits != !!offer_guarantee_for(offer, &workload, &others))
      fail_msg("%s = %s, %g", workload_key_names[cases[i].key], cases[i].value,
               cases[i].output_tokens);
  }
  end(&world);
}

// Servers priced with their accelerators cost nothing more, unless they have a price of their own.
static void test_whole_servers(void **state) {
  (void)state;
  static const struct {
    const char *servers, *node_price, *delivery;
    size_t missing; // things that are not offered
  } cases[] = {{"", "0 EUR/node", "1 %", 5},
               {"servers = 40000 EUR/node\n", "40000 EUR/node", "0.8 %", 5}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct world world;
    char text[1024];
    start(&world);
    snprintf(text, sizeof text,
             "[offer]\nvendor = A\nreference = B\ndate = 2026-11-02\ncurrency = EUR\n"
             "accelerator = h200-sxm-141\naccelerators = 16\nnodes = 2\n[price]\n"
             "accelerators = 200000 EUR/node\ndiscount = 20 %%\ndelivery = 3200 EUR\n%s",
             cases[i].servers);
    struct arena *arena = &world.fixture.arena;
    const struct offer *offer = read_offer(&world, text);
    expect_error(&world.fixture, text, "");
    struct offer_input taken[OFFER_INPUTS];
    const size_t count = offer_inputs(offer, taken, arena);
    const char *node_price = NULL;
    for (size_t t = 0; t < count; t++)
      if (!strcmp(taken[t].name, "node_price"))
        node_price = taken[t].text;
    assert_string_equal(offer_input_text(offer, OFFER_ACCELERATORS, arena), "25000 EUR/gpu");
    assert_string_equal(offer_input_text(offer, OFFER_DELIVERY, arena), cases[i].delivery);
    assert_non_null(node_price);
    assert_string_equal(node_price, cases[i].node_price);
    assert_int_equal(offer_not_included(offer, arena).count, cases[i].missing);
    end(&world);
  }
}

// Its price per node is not reported as well.
static void test_unreadable_nodes(void **state) {
  (void)state;
  struct world world;
  char text[1024];
  start(&world);
  snprintf(text, sizeof text, "%snodes = 8 noodles\n%sservers = 58000 USD/node\n", head, price);
  assert_null(read_offer(&world, text));
  assert_int_equal(world.fixture.diagnostics.errors, 1);
  expect_error(&world.fixture, text, "unknown unit 'noodles'");
  end(&world);
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
  const char *offer, *other; // after the head
  const char *scenario;      // after the common part
  const char *setting;
  const char *input; // of option a
  double value;
  enum grade grade;
};

static const struct taken takes[] = {
    {price, "", "[option a]\nquote = offer.ini\n", NULL, "list_price", 27500, GRADE_QUOTED},
    {price, "", "[option a]\nquote = offer.ini\n", NULL, "accelerators", 64, GRADE_QUOTED},
    {price, "", "accelerators = 800\n[option a]\nquote = offer.ini\n", NULL, "accelerators", 800,
     GRADE_ASSUMED},
    // A net price does not take [common]'s discount; an offered discount, or the option's own,
    // counts.
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
    // What the offer does not contain comes from the scenario.
    {price, "", "[option a]\nquote = offer.ini\n", NULL, "support", 4, GRADE_ASSUMED},
    {"[price]\naccelerators = 27500 USD/gpu\nsupport = 3 %/yr\n", "",
     "[option a]\nquote = offer.ini\n", NULL, "support", 3, GRADE_QUOTED},
    // Another revision in a case, and none.
    {price, "[price]\naccelerators = 26000 USD/gpu\n",
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

static const struct scenario *read_case(struct world *world, const struct taken *taken,
                                        const char *case_name) {
  char text[2048];
  struct scenario_request request = {.path = path_of(world, "scenario.ini"),
                                     .data_directory = "data",
                                     .case_name = case_name,
                                     .settings = &taken->setting,
                                     .setting_count = taken->setting ? 1 : 0};
  snprintf(text, sizeof text, "%s%s", strstr(taken->offer, "[offer]") ? "" : head, taken->offer);
  fixture_write(&world->fixture, world->folder, "offer.ini", text);
  snprintf(text, sizeof text, "%s%s", strstr(taken->other, "[offer]") ? "" : head, taken->other);
  fixture_write(&world->fixture, world->folder, "other.ini", text);
  snprintf(text, sizeof text, "%s%s%s", common,
           strstr(taken->offer, "accelerators = 2") || strstr(taken->scenario, "accelerators =")
               ? ""
               : "accelerators = 64\n",
           taken->scenario);
  fixture_write(&world->fixture, world->folder, "scenario.ini", text);
  return scenario_read(&request, &world->fixture.arena, &world->fixture.diagnostics);
}

static const struct scenario *read_scenario(struct world *world, const struct taken *taken) {
  return read_case(world, taken, NULL);
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

#define LATER   "list_price = 9000 USD\nquote = offer.ini\n[case later]\na.quote = other.ini\n"
#define REVISED "[option a]\n" LATER

// What the case has from its own offer.
static const struct taken revised[] = {
    {price, "[price]\naccelerators = 26000 USD/gpu\n",
     "[option a]\nquote = offer.ini\n[case later]\na.quote = other.ini\n", NULL, "list_price",
     26000, GRADE_QUOTED},
    {price,
     OFFER
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
    struct world world;
    start(&world);
    const struct scenario *scenario = read_scenario(&world, &revised[i]);
    expect_error(&world.fixture, revised[i].other, "");
    const int d = model_find(scenario->model, revised[i].input);
    const struct figure *figure = option_figure(scenario, &scenario->options[0], 1, d);
    expect_near(figure->value, revised[i].value, 1e-12, revised[i].input);
    assert_int_equal(figure->grade, revised[i].grade);
    end(&world);
  }
}

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
     "the remedy of the offer Example Compute Q-1 does not count: none of its guarantees"},
    {{whole, "",
      "[option a]\nquote = offer.ini\nthroughput = 1950 token/s\nremedy = 3 %\n"
      "remedy_limit = 200 %\n",
      NULL, "", 0, 0},
     "the vendor's remedy is 150 % of the hardware price, and turns the total cost negative: "
     "'remedy_limit' caps it"},
    {{"[price]\naccelerators = 27500 USD/gpu\n", "",
      "accelerators = 800\n[option a]\nquote = offer.ini\n", NULL, "", 0, 0},
     "covers 64 accelerators; this option has 800 at its prices"},
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
      struct world world;
      const struct taken taken = {.offer = silent_later ? guaranteed : silent,
                                  .other = silent_later ? silent : guaranteed,
                                  .scenario = scenario_text};
      start(&world);
      const struct scenario *scenario = read_case(&world, &taken, is_later ? "later" : NULL);
      expect_error(&world.fixture, warning, "");
      const char *warnings =
          texts_joined_by(&scenario->options[0].warnings, "\n", &world.fixture.arena);
      assert_int_equal(strstr(warnings, warning) != NULL, is_later == silent_later);
      end(&world);
    }
}

static void test_nothing_differs(void **state) {
  (void)state;
  struct world world;
  static const struct taken taken = {whole, "", "[option a]\nquote = offer.ini\n", NULL, "", 0, 0};
  start(&world);
  const struct scenario *scenario = read_scenario(&world, &taken);
  expect_error(&world.fixture, "an offer as it is", "");
  assert_null(strstr(texts_joined(&scenario->options[0].warnings, &world.fixture.arena),
                     "not taken from the offer"));
  end(&world);
}

static const struct {
  struct taken taken;
  const char *error;
} quarrels[] = {
    {{price, "", "[option a]\nquote = nowhere.ini\n", NULL, "", 0, 0}, "cannot be opened"},
    {{price, "", "quote = offer.ini\n[option a]\n", NULL, "", 0, 0},
     "an offer applies to one option"},
    {{price, "", "[option a]\naccelerator = mi325x-256\nquote = offer.ini\n", NULL, "", 0, 0},
     "is for 'h200-sxm-141', but option 'a' has 'mi325x-256'"},
    {{price, "", "[option a]\nrental_rate = 2 USD/gpu/h\nquote = offer.ini\n", NULL, "", 0, 0},
     "has both"},
    {{"[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\nscenario = server\n"
      "batch = 8\ntokens_per_s = 1000 token/s/gpu\n[guarantee b]\nmodel = llama-2-70b\n"
      "precision = fp8\nbasis = serving\nscenario = server\nbatch = 16\n"
      "tokens_per_s = 2000 token/s/gpu\n",
      "", "[option a]\nlist_price = 9000 USD\nquote = offer.ini\n", NULL, "", 0, 0},
     "guarantees 2 rates that match the workload of option 'a'"},
    // Rates guaranteed for other conditions are not comparable.
    {{SERVED "scenario = server\nconcurrency = 16 request\ntokens_per_s = 1000 token/s/gpu\n",
      SERVED "scenario = server\nconcurrency = 64 request\ntokens_per_s = 2000 token/s/gpu\n",
      "[option a]\nlist_price = 9000 USD\nquote = offer.ini\n"
      "[option b]\nlist_price = 9000 USD\nquote = other.ini\n",
      NULL, "", 0, 0},
     "not comparable, batch: 16 and 64"},
    {{SERVED LENGTHS "scenario = server\ntokens_per_s = 1000 token/s/gpu\n",
      SERVED "scenario = server\noutput_tokens = 1024 token\ntokens_per_s = 2000 token/s/gpu\n",
      "[option a]\nlist_price = 9000 USD\nquote = offer.ini\n"
      "[option b]\nlist_price = 9000 USD\nquote = other.ini\n",
      NULL, "", 0, 0},
     "not comparable, output_tokens: 256 and 1024"},
    // The same in a case, whose offer must suit the option as that of the base case does.
    {{price,
      OFFER "accelerator = mi325x-256\naccelerators = 64 gpu\n[price]\naccelerators = 9 USD/gpu\n",
      "[option a]\nquote = offer.ini\n[case other]\na.quote = other.ini\n", NULL, "", 0, 0},
     "the offer B is for 'mi325x-256', but option 'a' has 'h200-sxm-141'"},
    {{rate, price, REVISED, NULL, "", 0, 0},
     "the offer Q-1, unlike that of the base case, guarantees no 'throughput' for the workload of "
     "option 'a' under the same conditions: give 'a.throughput' in case 'later'"},
    {{SERVED "scenario = server\nbatch = 16\ntokens_per_s = 1000 token/s/gpu\n",
      SERVED "scenario = server\nbatch = 64\ntokens_per_s = 2000 token/s/gpu\n", REVISED, NULL, "",
      0, 0},
     "under the same conditions: give 'a.throughput' in case 'later'"},
    {{price, rate, REVISED, NULL, "", 0, 0},
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
      cmocka_unit_test(test_currencies),
      cmocka_unit_test(test_lines),
      cmocka_unit_test(test_times_choose),
      cmocka_unit_test(test_conditions),
      cmocka_unit_test(test_served),
      cmocka_unit_test(test_whole_servers),
      cmocka_unit_test(test_unreadable_nodes),
      cmocka_unit_test(test_other_currency),
      cmocka_unit_test(test_takes),
      cmocka_unit_test(test_revision_in_a_case),
      cmocka_unit_test(test_warnings),
      cmocka_unit_test(test_watts_of_one_offer),
      cmocka_unit_test(test_nothing_differs),
      cmocka_unit_test(test_quarrels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
