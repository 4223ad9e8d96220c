// A portfolio's numbers, worked out by hand: the input of the integer program, the split, and the
// cost of every constraint. test_allocation compares the program itself with enumeration. Run in
// the repository's root.
//
// A node of `x` (8 accelerators of 1,000 USD) serves 800 token/s of `big` and 1,600 of `small`, one
// of `y` (8 of 1,500 USD) 1,600 token/s of either; `y` needs an engineer at 2,000 USD a year.
#include "base/arena.h"
#include "model/optimise/allocation.h"
#include "model/optimise/allocation_programme.h"
#include "tests/support/fixture.h"
#include "tests/support/scenario_fixture.h"

#include "model/questions/route.h"

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double month_s = 730 * 3600., year = 8760;

static const char head[] =
    "[scenario]\ntitle = T\nhorizon = 3 yr\ndate = 2026-11-20\n"
    "[workload]\nmodel = llama-2-70b\nprecision = fp8\nutilization = 100 %\n"
    "[common]\naccelerators = 8\npue = 1\nelectricity_price = 0 USD/kWh\n"
    "engineer_cost = 2000 USD/FTE/yr\n"
    "[option x]\naccelerator = h200-sxm-141\nlist_price = 1000 USD\nthroughput = 1 token/s\n"
    "[option y]\naccelerator = mi325x-256\nlist_price = 1500 USD\nthroughput = 1 token/s\n"
    "engineers = 1 FTE\n";

// `big` and `small` ask for that many token/s; `more` is appended.
static const struct route_answer *ask(struct scenario_fixture *fixture, double big, double small,
                                      const char *more_big, const char *more_small,
                                      const char *rest) {
  char text[4096];
  snprintf(text, sizeof text,
           "%s[demand big]\ntokens = %.17g token/month\nthroughput.x = 100 token/s\n"
           "throughput.y = 200 token/s\n%s"
           "[demand small]\ntokens = %.17g token/month\nthroughput.x = 200 token/s\n"
           "throughput.y = 200 token/s\n%s%s",
           head, big * month_s, more_big, small * month_s, more_small, rest);
  scenario_fixture_start(fixture, text, NULL, NULL);
  expect_error(&fixture->fixture, rest, "");
  return route_ask(fixture->scenario, &fixture->fixture.arena, &fixture->fixture.diagnostics);
}

static double price_without(const struct route_answer *answer, const char *constraint) {
  for (size_t i = 0; i < answer->price_count; i++)
    if (!strcmp(answer->prices[i].constraint, constraint))
      return answer->prices[i].status == ALLOCATION_OPTIMAL ? answer->prices[i].cost : INFINITY;
  fail_msg("no price of '%s'", constraint);
  return NAN;
}

// 4,000 token/s of big and 1,600 of small. On x: 5 + 1 nodes, 48,000. On y: 2.5 + 1, so 4 nodes,
// 48,000 and the engineer's 6,000. Both: 2 nodes of y for 3,200 of big (24,000 + 6,000), and of x
// one for the rest of big and one for small (16,000): 46,000.
static void test_split(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  if (!allocation_available())
    skip();
  const struct route_answer *answer = ask(&fixture, 4000, 1600, "", "", "");
  expect_error(&fixture.fixture, "split", "");
  const struct route_pair *pair = route_pair_of(answer, 0, 1);
  expect_near(pair->node_cost, 12000, 1e-9, "a node of y");
  expect_near(pair->fixed_cost, 6000, 1e-6, "an engineer");
  expect_near(pair->capacity, 1600 * 3600., 1e-12, "what it serves");
  expect_near(route_unit_cost(answer, 0, 0), 8000 / (800 * 3600 * 3 * year), 1e-9, "unit cost");
  assert_int_equal(answer->split.status, ALLOCATION_OPTIMAL);
  expect_near(answer->split.cost, 46000, 1e-9, "cost");
  expect_near(answer->exact_cost, 46000, 1e-9, "cost by the model");
  expect_near(answer->split.capex, 40000, 1e-9, "capex");
  expect_near(answer->exact_capex, 40000, 1e-9, "capex by the model");
  expect_near(answer->split.nodes[0], 2, 1e-12, "nodes of x");
  expect_near(answer->split.nodes[1], 2, 1e-12, "nodes of y");
  expect_near(answer->sources[0].cost, 48000, 1e-9, "all from x");
  expect_near(answer->sources[1].cost, 54000, 1e-9, "all from y");
  assert_string_equal(answer->portfolio->vendors[0], "nvidia");
  assert_string_equal(answer->portfolio->vendors[1], "amd");
  scenario_fixture_end(&fixture);
}

static void test_prices(void **state) {
  (void)state;
  static const struct {
    const char *big, *small, *rest, *constraint;
    double cost, without;
  } cases[] = {
      // One node of y and four of x would cost 50,000: six of x.
      {"", "", "[supply y]\nstock = 8 gpu\n", "stock of y", 48000, 46000},
      {"", "", "[supply y]\nstock = 15 gpu\n", "stock of y", 48000, 46000},
      {"", "", "[supply y]\nstock = 16 gpu\n", "stock of y", 46000, 46000},
      // 3,920 of 5,600 token/s on x: more than two of its nodes serve.
      {"", "", "[portfolio]\nminimum_share.nvidia = 70 %\n", "minimum share of nvidia", 48000,
       46000},
      {"", "", "[portfolio]\nminimum_share.nvidia = 40 %\n", "minimum share of nvidia", 46000,
       46000},
      {"", "", "[portfolio]\nminimum_share.AMD = 50 %\nshare_of = accelerators\n",
       "minimum share of amd", 46000, 46000},
      // x has 16,000 USD of 46,000, less than 40 %.
      {"", "", "[portfolio]\nminimum_share.nvidia = 40 %\nshare_of = cost\n",
       "minimum share of nvidia", 48000, 46000},
      {"ready.y = no\n", "ready.y = no\n", "", "software readiness", 48000, 46000},
      // y serves no more of big than x does, for a higher price.
      {"ready.y = 50 %\n", "", "", "software readiness", 48000, 46000},
      // big on y alone takes three nodes, small the rest of them and one of x: 50,000.
      {"split = no\n", "", "", "workloads on one option", 48000, 46000},
      {"", "", "[portfolio]\ncapex_budget = 40000 USD\n", "capex budget", 46000, 46000},
      // 2.5 + 1 nodes of y at 12,000 and the engineer, or parts of x: big on y, small on x.
      {"", "", "", "whole purchase units", 46000, 2.5 * 12000 + 6000 + 8000},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0] && allocation_available(); i++) {
    struct scenario_fixture fixture;
    const struct route_answer *answer =
        ask(&fixture, 4000, 1600, cases[i].big, cases[i].small, cases[i].rest);
    expect_error(&fixture.fixture, cases[i].rest, "");
    expect_near(answer->split.cost, cases[i].cost, 1e-9, cases[i].constraint);
    expect_near(price_without(answer, cases[i].constraint), cases[i].without, 1e-9,
                cases[i].constraint);
    scenario_fixture_end(&fixture);
  }
}

// Nothing serves all of it; one constraint is in the way, and leaving out others does not help.
static void test_infeasible(void **state) {
  (void)state;
  static const struct {
    const char *big, *rest, *culprit;
    double without;
    bool alone; // nothing else helps, apart from fractional nodes
  } cases[] = {
      {"", "[portfolio]\nbudget = 45999 USD\n", "budget", 46000, true},
      {"", "[portfolio]\ncapex_budget = 39999 USD\n", "capex budget", 46000, true},
      {"ready.x = no\n", "[supply y]\nstock = 16 gpu\n", "stock of y", 50000, false},
      {"ready.x = no\nready.y = no\n", "", "software readiness", 46000, true},
      {"context = 50000000\n", "", "memory", 46000, true},
      {"ready.x = no\n", "[portfolio]\nminimum_share.nvidia = 50 %\n", "minimum share of nvidia",
       50000, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0] && allocation_available(); i++) {
    struct scenario_fixture fixture;
    const struct route_answer *answer = ask(&fixture, 4000, 1600, cases[i].big, "", cases[i].rest);
    expect_error(&fixture.fixture, cases[i].rest, "");
    assert_int_equal(answer->split.status, ALLOCATION_INFEASIBLE);
    expect_near(price_without(answer, cases[i].culprit), cases[i].without, 1e-9, cases[i].culprit);
    for (size_t p = 0; p < answer->price_count; p++)
      if (strcmp(answer->prices[p].constraint, cases[i].culprit) != 0 &&
          strcmp(answer->prices[p].constraint, "whole purchase units") != 0 && cases[i].alone &&
          answer->prices[p].status != ALLOCATION_INFEASIBLE)
        fail_msg("%s: '%s' would help as well", cases[i].culprit, answer->prices[p].constraint);
    scenario_fixture_end(&fixture);
  }
}

static void test_barriers(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  if (!allocation_available())
    skip();
  const struct route_answer *answer =
      ask(&fixture, 4000, 1600, "ready.x = no\n", "context = 50000000\n",
          "[demand other]\ntokens = "
          "1e9 token/month\nmodel = mixtral-8x7b\n[demand same]\ntokens = 1e9 token/month\n");
  expect_error(&fixture.fixture, "barriers", "");
  assert_int_equal(route_pair_of(answer, 0, 0)->barriers, ROUTE_NOT_READY);
  assert_int_equal(route_pair_of(answer, 0, 1)->barriers, 0);
  assert_int_equal(route_pair_of(answer, 1, 0)->barriers, ROUTE_TOO_LARGE);
  // A throughput typed for the scenario's own model says nothing about another model.
  assert_int_equal(route_pair_of(answer, 2, 0)->barriers, ROUTE_NO_THROUGHPUT);
  assert_int_equal(route_pair_of(answer, 3, 0)->barriers, 0);
  assert_non_null(strstr(route_pair_of(answer, 1, 0)->why, "does not fit in 8 with 150.8 GB"));
  scenario_fixture_end(&fixture);
}

static void test_bad_input(void **state) {
  (void)state;
  static const struct {
    const char *big, *rest, *message;
  } cases[] = {
      {"throughput.z = 1 token/s\n", "", "there is no option 'z'"},
      {"ready.y = perhaps\n", "", "expected yes, no or a share"},
      {"ready.y = 120 %\n", "", "at most 100 %"},
      {"split = 2\n", "", "expected yes or no"},
      {"kv = fp7\n", "", "unknown precision 'fp7'"},
      {"", "[demand none]\ntokens = 0 token/month\n", "a demand must be above zero tokens"},
      {"", "[demand less]\ntokens = -1 token/month\n", "tokens cannot be negative"},
      {"", "[demand what]\nmodel = llama-2-70b\n", "needs 'tokens'"},
      {"", "[supply y]\nstock = 0 gpu\n", "a stock of zero serves nothing"},
      {"", "[supply y]\nstock = -8 gpu\n", "stock cannot be negative"},
      {"", "[supply y]\nstock = 7 gpu\n", "less than one purchase unit of 8"},
      {"", "[supply z]\nstock = 7 gpu\n", "there is no option 'z'"},
      {"", "[portfolio]\nbudget = 0 USD\n", "a budget must be above zero"},
      {"", "[portfolio]\nbudget = -1 USD\n", "budget cannot be negative"},
      {"", "[portfolio]\nminimum_share.intel = 20 %\n", "no option belongs to vendor 'intel'"},
      {"", "[portfolio]\nminimum_share.amd = 120 %\n", "from 0 % to 100 %"},
      {"", "[portfolio]\nminimum_share.amd = 60 %\nminimum_share.nvidia = 50 %\n",
       "add up to 110 %"},
      {"", "[portfolio]\nshare_of = watts\n", "expected tokens, accelerators or cost"},
      {"model = llama-2-71b\n", "", "demand 'big': unknown model 'llama-2-71b'; did you mean"},
      {"precision = fp7\n", "", "demand 'big': unknown precision 'fp7'"},
      {"evidence.x = tp0022\n", "", "has both 'throughput.x' and 'evidence.x'"},
      {"", "[demand d]\ntokens = 1 token/month\nevidence.x = tp0090\n",
       "demand 'd': option 'x' states a throughput and also names evidence"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0] && allocation_available(); i++) {
    struct scenario_fixture fixture;
    assert_null(ask(&fixture, 4000, 1600, cases[i].big, "", cases[i].rest));
    expect_error(&fixture.fixture,
                 arena_printf(&fixture.fixture.arena, "%s%s", cases[i].big, cases[i].rest),
                 cases[i].message);
    scenario_fixture_end(&fixture);
  }
}

// Requests of a workload's own lengths: x reads 1,000 and writes 100 token/s, so 100 tokens take
// 2 s after 1,000 of input and 5 s after 4,000. A throughput that was stated is for other requests,
// and those of 4 million tokens do not fit. y has a throughput for each.
static void test_lengths(void **state) {
  (void)state;
  static const char text[] =
      "[scenario]\ntitle = T\ndate = 2026-11-20\n"
      "[workload]\nmodel = llama-2-70b\nprecision = fp8\nutilization = 100 %\n"
      "input_tokens = 1000 token\noutput_tokens = 100 token\n"
      "[common]\naccelerators = 8\npue = 1\nelectricity_price = 0 USD/kWh\n"
      "[option x]\naccelerator = h200-sxm-141\nlist_price = 1000 USD\n"
      "prefill_throughput = 1000 token/s\ndecode_throughput = 100 token/s\n"
      "[option y]\naccelerator = mi325x-256\nlist_price = 1500 USD\nthroughput = 1 token/s\n"
      "[demand own]\ntokens = 1e6 token/month\n"
      "[demand rag]\ntokens = 1e6 token/month\ninput_tokens = 4000 token\n"
      "[demand chat]\ntokens = 1e6 token/month\ninput_tokens = 1010 token\n"
      "[demand book]\ntokens = 1e6 token/month\ninput_tokens = 4e6 token\n"
      "output_tokens = 100 token\nthroughput.y = 0.2 token/s\n";
  static const struct {
    double x, y; // token/s; 0: it cannot serve
    unsigned barriers_x;
  } cases[] = {{50, 1, 0}, {20, 0, 0}, {100 / 2.01, 1, 0}, {0, 0.2, ROUTE_TOO_LARGE}};
  struct scenario_fixture fixture;
  if (!allocation_available())
    skip();
  scenario_fixture_start(&fixture, text, NULL, NULL);
  const struct route_answer *answer =
      route_ask(fixture.scenario, &fixture.fixture.arena, &fixture.fixture.diagnostics);
  expect_error(&fixture.fixture, "lengths", "");
  for (size_t w = 0; w < sizeof cases / sizeof cases[0]; w++) {
    const struct route_pair *x = route_pair_of(answer, w, 0), *y = route_pair_of(answer, w, 1);
    assert_int_equal(x->barriers, cases[w].barriers_x);
    assert_int_equal(y->barriers & ROUTE_NO_THROUGHPUT, cases[w].y > 0 ? 0 : ROUTE_NO_THROUGHPUT);
    if (cases[w].x > 0)
      expect_near(x->throughput, cases[w].x * 3600, 1e-9, "x");
    if (cases[w].y > 0)
      expect_near(y->throughput, cases[w].y * 3600, 1e-9, "y");
  }
  scenario_fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_split),    cmocka_unit_test(test_lengths),
      cmocka_unit_test(test_prices),   cmocka_unit_test(test_infeasible),
      cmocka_unit_test(test_barriers), cmocka_unit_test(test_bad_input),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
