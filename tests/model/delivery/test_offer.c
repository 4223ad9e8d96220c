// Vendors' offers: what a file may contain, what is refused, and what an offer then says. Run in
// the repository's root.
#include "model/delivery/offer.h"
#include "model/delivery/offer_match.h"
#include "tests/support/offer_folder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct offer *read_offer(struct offer_folder *folder, const char *text) {
  offer_folder_write(folder, "offer.ini", text);
  return offer_read(offer_folder_path(folder, "offer.ini"), &folder->catalog,
                    &folder->fixture.arena, &folder->fixture.diagnostics);
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
    {OFFER_SERVED "ttft = 2 s\n", "expected a statistic and a time, as 'P99 2 s'"},
    {OFFER_SERVED "ttft = P98 2 s\n", "mean, P50, P90, P95 or P99, not 'P98 2 s'"},
    {OFFER_SERVED "ttft = P99 2 W\n", "wrong unit 'W'"},
    {OFFER_SERVED "ttft = P99 0 s\n", "'ttft' must be above 0, not 0 s"},
    {OFFER_SERVED "ttft = P99 2 s\n", "'ttft' depends on request length and load"},
    {OFFER_SERVED OFFER_LENGTHS "tpot = P99 50 ms\n", "'tpot' depends on request length and load"},
    {OFFER_SERVED OFFER_LENGTHS "ttfd = P99 2 s\n", "did you mean 'ttft'"},
    {OFFER_SERVED OFFER_LENGTHS "power = 500 W/gpu\n",
     "a guarantee needs 'tokens_per_s', 'ttft' or 'tpot'"},
    {OFFER_SERVED OFFER_LENGTHS "concurrency = 3.5 request\nttft = P99 2 s\n",
     "a whole number above 0"},
    {OFFER_SERVED OFFER_LENGTHS "request_rate = 0 request/s\nttft = P99 2 s\n", "a value above 0"},
    {OFFER_SERVED OFFER_LENGTHS
     "concurrency = 4 request\nrequest_rate = 8 request/s\nttft = P99 2 s\n",
     "'concurrency' beside 'request_rate': a load is either"},
    {OFFER_SERVED OFFER_LENGTHS "concurrency = 4 request\nbatch = 8\nttft = P99 2 s\n",
     "'concurrency' beside 'batch': both are the requests in flight"},
    {OFFER_SERVED OFFER_LENGTHS "context = 1024\nbatch = 8\nttft = P99 2 s\n",
     "'input_tokens' beside 'context': both are the tokens of a prompt"},
    {OFFER_SERVED OFFER_LENGTHS "request_rate = 8 request/s\ntokens_per_s = 2050 token/s/gpu\n",
     "8 requests/s of 256 tokens at each server are at most 2048 token/s/gpu"},
    {"nodes = 8 node\n" OFFER_SERVED OFFER_LENGTHS
     "request_rate = 8 request/s\ntokens_per_s = 16400 token/s/node\n",
     "at most 16384 token/s/node"},
    {OFFER_SERVED OFFER_LENGTHS
     "tokens = total\nrequest_rate = 8 request/s\ntokens_per_s = 10300 token/s/gpu\n",
     "8 requests/s of 1280 tokens at each server are at most 10240 token/s/gpu"},
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
    {"[terms]\ndelay_damages = 0.5 %/week\n", "wrong unit '%/week'"},
    {"[terms]\ndelay_damages = 0 %\n", "must be above 0 % and at most 100 %"},
    {"[terms]\ndelay_damages_limit = 5 %\n",
     "'delay_damages_limit' has no effect without 'delay_damages'"},
    {"[terms]\ndelay_grace = 0 week\ndelay_damages = 1 %\n", "a time above 0"},
    {"[acceptance]\nmay_fail = 0.5 node\n", "a whole number of nodes"},
    {OFFER_OF_A "accelerator = h200-sxm-141\n", "an offer needs 'accelerators' in [offer]"},
    {"[offer]\nvendor = A\nreference = B\ndate = 2026-11-02\ncurrency = dollar\n"
     "accelerator = h200-sxm-141\naccelerators = 8\n",
     "a currency code such as USD"},
    {OFFER_OF_A "accelerator = h20000\naccelerators = 8.5\n", "a whole number above 0"},
    {OFFER_OF_A "accelerator = h20000\naccelerators = 8\n", "unknown accelerator 'h20000'"},
    {"[price]\naccelerators = 1 USD/gpu\n[offer]\nvendor = \n", "an offer needs 'reference'"},
};

static void test_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    struct offer_folder folder;
    offer_folder_start(&folder);
    assert_null(read_offer(&folder, refused[i].text));
    expect_error(&folder.fixture, refused[i].text, refused[i].error);
    offer_folder_end(&folder);
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
    struct offer_folder folder;
    char text[1024];
    offer_folder_start(&folder);
    snprintf(text, sizeof text,
             "[offer]\nvendor = V\nreference = R\ndate = 2026-11-02\ncurrency = %s\n"
             "accelerator = h200-sxm-141\naccelerators = 64 gpu\n[price]\n"
             "accelerators = 30000 EUR/gpu\ndelivery = 500 \xE2\x82\xAC\nsupport = 9 EUR/yr\n",
             cases[i].currency);
    const struct offer *offer = read_offer(&folder, text);
    if (folder.fixture.diagnostics.errors != cases[i].errors)
      fail_msg("%s: %s", cases[i].currency, fixture_errors(&folder.fixture));
    assert_true(!offer == (cases[i].errors > 0));
    if (offer)
      assert_string_equal(offer->currency, "EUR");
    offer_folder_end(&folder);
  }
}

// A line the way an input of the cost model reads it: a price or share, and a sum.
static const struct {
  const char *lines;
  enum offer_line line;
  const char *text, *sum;
} inputs[] = {
    {"", OFFER_ACCELERATORS, "27500 USD/gpu", NULL},
    {"", OFFER_SUPPORT, NULL, NULL},
    {"delivery = 22240 USD\n", OFFER_DELIVERY, NULL, "22240 USD"},
    {"delivery = 2 %\n", OFFER_DELIVERY, "2 %", NULL},
    {"support = 88960 USD/yr\n", OFFER_SUPPORT, NULL, "88960 USD/yr"},
    {"support = 4 %/yr\nwarranty = 1 %/yr\n", OFFER_SUPPORT, "5 %/yr", NULL},
    {"support = 4 %/yr\nwarranty = 1 %/yr\n", OFFER_WARRANTY, NULL, NULL},
    {"support = 9 USD/yr\nwarranty = 2 USD/yr\n", OFFER_SUPPORT, NULL, "11 USD/yr"},
    {"support = 9 USD/yr\nwarranty = 2 USD/yr\n", OFFER_WARRANTY, NULL, NULL},
    {"support = 4 %/yr\nwarranty = 2 USD/yr\n", OFFER_SUPPORT, "4 %/yr", NULL},
    {"support = 4 %/yr\nwarranty = 2 USD/yr\n", OFFER_WARRANTY, NULL, "2 USD/yr"},
    {"warranty = 22240 USD/yr\n", OFFER_WARRANTY, NULL, "22240 USD/yr"},
    {"discount = 10 %\ninstallation = 20480 USD\n", OFFER_INSTALLATION, NULL, "20480 USD"},
    {"network = 4247 USD per GPU\n", OFFER_NETWORK, "4247 USD per GPU",
     NULL}, // as the input reads it
    {"support = 4 pct/y\n", OFFER_SUPPORT, "4 pct/y", NULL},
    {"support = 4 pct/y\nwarranty = 1 % p.a.\n", OFFER_SUPPORT, "5 %/yr", NULL},
};

static void expect_text(const char *got, const char *wanted) {
  if (wanted)
    assert_string_equal(got, wanted);
  else
    assert_null(got);
}

static void test_lines(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
    struct offer_folder folder;
    char text[1024];
    offer_folder_start(&folder);
    snprintf(text, sizeof text, "nodes = 8 node\n" OFFER_PRICE "servers = 58000 USD/node\n%s",
             inputs[i].lines);
    const struct offer *offer = read_offer(&folder, text);
    expect_error(&folder.fixture, text, "");
    struct arena *arena = &folder.fixture.arena;
    expect_text(offer_line_input(offer, inputs[i].line, false, arena).text, inputs[i].text);
    expect_text(offer_line_input(offer, inputs[i].line, true, arena).text, inputs[i].sum);
    offer_folder_end(&folder);
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
      {OFFER_SERVED OFFER_LENGTHS "request_rate = 8 request/s\nttft = P99 2 s\ntpot = p90 50 ms\n",
       1024, 0, 8, "", "1024"},
      {OFFER_SERVED OFFER_LENGTHS "concurrency = 64 request\nttft = P99 2 s\ntpot = p90 50 ms\n",
       1024, 64, 0, "64", "1024"},
      {OFFER_SERVED "context = 512\nbatch = 4\noutput_tokens = 256 token\nttft = P99 2000 ms\n"
                    "tpot = P90 0.05 s\n",
       512, 4, 0, "4", "512"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct offer_folder folder;
    offer_folder_start(&folder);
    const struct offer *offer = read_offer(&folder, cases[i].text);
    expect_error(&folder.fixture, cases[i].text, "");
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
    offer_folder_end(&folder);
  }
}

// A workload's times choose among guarantees: those that are no longer, and the closest of several.
static void test_times_choose(void **state) {
  (void)state;
#define AT(name, tokens, times)                                                                    \
  "[guarantee " name "]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n" OFFER_LENGTHS    \
  "request_rate = 16 request/s\ntokens_per_s = " tokens " token/s/gpu\n" times "\n"
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
  struct offer_folder folder;
  offer_folder_start(&folder);
  const struct offer *offer = read_offer(&folder, guarantees);
  expect_error(&folder.fixture, guarantees, "");
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
  offer_folder_end(&folder);
}

// What a guarantee leaves open fits what a throughput was measured on, but not what is asked for.
// The first difference is named, what is asked for before what was measured.
static void test_conditions(void **state) {
  (void)state;
  static const struct {
    enum workload_key key;
    const char *value;
    double output_tokens;
    bool is_asked;
    const char *difference; // after the guarantee's name and rate; "" for none
  } cases[] = {
      {WORKLOAD_KV, "fp8", 0, false, ""},
      {WORKLOAD_KV, "fp8", 0, true, "does not state kv = fp8"},
      {WORKLOAD_BATCH, "64", 0, false, ""},
      {WORKLOAD_BATCH, "64", 0, true, "does not state batch = 64"},
      {WORKLOAD_PRECISION, "bf16", 0, false, "is for precision = fp8, not bf16"},
      {WORKLOAD_PRECISION, "bf16", 1024, false, "is for output_tokens = 256, not 1024"},
      {WORKLOAD_PRECISION, "bf16", 1024, true, "is for precision = fp8, not bf16"},
      {WORKLOAD_CONTEXT, "1000", 0, true, ""}, // within REQUEST_LENGTHS
      {WORKLOAD_CONTEXT, "1500", 0, false, "is for context = 1024, not 1500"},
      {WORKLOAD_TPOT, "20 ms", 0, true, "does not guarantee tpot = 20 ms at P90 or higher"},
      {WORKLOAD_PRECISION, "fp8", 250, true, ""},
      {WORKLOAD_PRECISION, "fp8", 1024, true, "is for output_tokens = 256, not 1024"},
  };
  struct offer_folder folder;
  static const char text[] = OFFER_SERVED OFFER_LENGTHS "tokens_per_s = 3900 token/s/gpu\n";
  offer_folder_start(&folder);
  const struct offer *offer = read_offer(&folder, text);
  expect_error(&folder.fixture, text, "");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct workload workload = {.output_tokens = cases[i].output_tokens};
    size_t others;
    for (int key = 0; key < WORKLOAD_KEYS; key++)
      workload.values[key] = "";
    workload.values[cases[i].key] = cases[i].value;
    workload.places[cases[i].key].source = cases[i].is_asked ? offer->source : NULL;
    const struct texts mismatches = offer_mismatches(offer, &workload, &folder.fixture.arena);
    assert_int_equal(mismatches.count, !offer_guarantee_for(offer, &workload, &others));
    assert_int_equal(mismatches.count, *cases[i].difference != 0);
    if (mismatches.count)
      expect_text(mismatches.list[0], arena_printf(&folder.fixture.arena, "a (3900 token/s/gpu) %s",
                                                   cases[i].difference));
  }
  offer_folder_end(&folder);
}

// Servers priced with their accelerators cost nothing more, unless they have a price of their own.
static void test_whole_servers(void **state) {
  (void)state;
  static const struct {
    const char *servers, *node_price;
    double delivery; // of the hardware
    size_t missing;  // things that are not offered
  } cases[] = {{"", "0 EUR/node", 0.01, 5},
               {"servers = 40000 EUR/node\n", "40000 EUR/node", 0.008, 5}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct offer_folder folder;
    char text[1024];
    offer_folder_start(&folder);
    snprintf(text, sizeof text,
             "[offer]\nvendor = A\nreference = B\ndate = 2026-11-02\ncurrency = EUR\n"
             "accelerator = h200-sxm-141\naccelerators = 16\nnodes = 2\n[price]\n"
             "accelerators = 200000 EUR/node\ndiscount = 20 %%\ndelivery = 3200 EUR\n%s",
             cases[i].servers);
    struct arena *arena = &folder.fixture.arena;
    const struct offer *offer = read_offer(&folder, text);
    expect_error(&folder.fixture, text, "");
    struct offer_input taken[OFFER_INPUTS];
    const size_t count = offer_inputs(offer, taken, arena);
    const char *node_price = NULL;
    for (size_t t = 0; t < count; t++)
      if (!strcmp(taken[t].name, "node_price"))
        node_price = taken[t].text;
    expect_text(offer_line_input(offer, OFFER_ACCELERATORS, false, arena).text, "25000 EUR/gpu");
    assert_true(fabs(offer->prices[OFFER_DELIVERY].value - cases[i].delivery) < 1e-12);
    assert_non_null(node_price);
    assert_string_equal(node_price, cases[i].node_price);
    assert_int_equal(offer_not_included(offer, arena).count, cases[i].missing);
    offer_folder_end(&folder);
  }
}

// Its price per node is not reported as well.
static void test_unreadable_nodes(void **state) {
  (void)state;
  struct offer_folder folder;
  static const char text[] = "nodes = 8 noodles\n" OFFER_PRICE "servers = 58000 USD/node\n";
  offer_folder_start(&folder);
  assert_null(read_offer(&folder, text));
  assert_int_equal(folder.fixture.diagnostics.errors, 1);
  expect_error(&folder.fixture, text, "unknown unit 'noodles'");
  offer_folder_end(&folder);
}

static void test_other_currency(void **state) {
  (void)state;
  struct offer_folder folder;
  offer_folder_start(&folder);
  const struct offer *offer =
      read_offer(&folder, "[offer]\nvendor = A\nreference = B\ndate = 2026-11-02\ncurrency = EUR\n"
                          "accelerator = h200-sxm-141\naccelerators = 8\n"
                          "[price]\naccelerators = 25000 EUR/gpu\ninstallation = 2000 EUR\n");
  expect_error(&folder.fixture, "an offer in EUR", "");
  struct arena *arena = &folder.fixture.arena;
  expect_text(offer_line_input(offer, OFFER_INSTALLATION, true, arena).text, "2000 EUR");
  offer_folder_end(&folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),        cmocka_unit_test(test_currencies),
      cmocka_unit_test(test_lines),          cmocka_unit_test(test_times_choose),
      cmocka_unit_test(test_conditions),     cmocka_unit_test(test_served),
      cmocka_unit_test(test_whole_servers),  cmocka_unit_test(test_unreadable_nodes),
      cmocka_unit_test(test_other_currency),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
