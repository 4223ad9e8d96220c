// Which options are ranked, which is the cheapest, what is saved, what is a tie. Run in the
// repository's root.
#include "tests/support/scenario_fixture.h"

#include "model/scenario/ranking.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Rent only: an option's cost is its rent over its throughput, and eight accelerators of 1,000
// token/s serve 126,144 Mtok a year.
static const char common[] = "[scenario]\ntitle = T\ndate = 2026-11-01\nhorizon = 1 yr\n"
                             "[common]\naccelerators = 8\naccelerators_per_node = 8\n"
                             "utilization = 50 %\nrental_rate = 2 USD/gpu/h\n";

#define OPTION(id, keys) "[option " id "]\naccelerator = h100-sxm5-80\n" keys
#define SERVES(rate)     "throughput = " rate " token/s\n"
#define CHEAPER          SERVES("1250") "rental_rate = 1.6 USD/gpu/h\n"
#define DECODES(rate)    "decode_throughput = " rate " token/s\n"
#define FP8              "precision = fp8\n"
#define BF16             "precision = bf16\n"
#define DEMAND           "demand = 120000 Mtok/yr\n"

#define UNLIKE      "its workload differs from that of the baseline: precision: "
#define UPPER_BOUND "its throughput is decode only, an upper bound"
#define OF_AN_UPPER "the baseline's throughput is decode only, an upper bound"
#define NONE_UNLIKE "nobody: the throughputs are not comparable"
#define NONE_SERVES "nobody: fewer than two options serve the demand"
#define HALF_SERVED "at worst it serves 52.6 % of the demand"

// The verdict as text: for each option its id, * for the cheapest, the saving in % if it is
// compared with the baseline, and in brackets why it is not ranked. `how` is --mixed or the name of
// a case.
static const struct made {
  const char *what, *how, *options, *verdict;
} made[] = {
    {"the second is cheaper", "", OPTION("a", SERVES("1000")) OPTION("b", SERVES("1250")),
     "a, b* 20"},
    {"the baseline is cheaper", "", OPTION("a", SERVES("1000")) OPTION("b", SERVES("800")),
     "a*, b -25"},
    {"one option", "", OPTION("a", SERVES("1000")), "a; nobody: there is only one option"},
    {"an exact tie", "", OPTION("a", SERVES("1000")) OPTION("b", SERVES("1000")), "a*, b* 0"},
    {"a tie of two of three", "",
     OPTION("a", SERVES("1000")) OPTION("b", SERVES("1250")) OPTION("c", SERVES("1250")),
     "a, b* 20, c* 20"},
    {"a case that flips the winner", "dear",
     OPTION("a", SERVES("1000")) OPTION("b", SERVES("1250")) "[case dear]\nb.rental_rate = 4 "
                                                             "USD/gpu/h\n",
     "a*, b -60"},
    {"a case that makes a tie", "even",
     OPTION("a", SERVES("1000")) OPTION("b", SERVES("1250")) "[case even]\nb.rental_rate = 2.5 "
                                                             "USD/gpu/h\n",
     "a*, b* 0"},
    {"alike with --mixed", "--mixed",
     OPTION("a", SERVES("1000") FP8) OPTION("b", SERVES("1250") FP8), "a, b* 20"},
    {"two of mixed precision", "--mixed",
     OPTION("a", SERVES("1000") FP8) OPTION("b", SERVES("1250") BF16),
     "a, b 20 (" UNLIKE "fp8 and bf16); " NONE_UNLIKE},
    {"three of which the cheapest is unlike", "--mixed",
     OPTION("a", SERVES("1000") FP8) OPTION("b", SERVES("4000") BF16)
         OPTION("c", SERVES("800") FP8),
     "a*, b 75 (" UNLIKE "fp8 and bf16), c -25"},
    {"a baseline that is unlike all others", "--mixed",
     OPTION("a", SERVES("1000") BF16) OPTION("b", SERVES("1250") FP8)
         OPTION("c", SERVES("800") FP8),
     "a, b 20 (" UNLIKE "bf16 and fp8), c -25 (" UNLIKE "bf16 and fp8); " NONE_UNLIKE},
    {"a baseline that does not say, between two that are unlike", "",
     OPTION("a", SERVES("1000")) OPTION("b", SERVES("1250") FP8) OPTION("c", SERVES("2000") BF16)
         OPTION("d", SERVES("800")),
     "a*, b 20 (its workload differs from that of c: precision: bf16 and fp8), c 50 (its workload "
     "differs from that of b: precision: fp8 and bf16), d -25"},
    {"decoding alone beside serving", "--mixed",
     OPTION("a", SERVES("1000")) OPTION("b", DECODES("4000")),
     "a, b (" UPPER_BOUND "); " NONE_UNLIKE},
    {"decoding alone beside two that serve", "--mixed",
     OPTION("a", SERVES("1000")) OPTION("b", DECODES("4000")) OPTION("c", SERVES("1250")),
     "a, b (" UPPER_BOUND "), c* 20"},
    {"a baseline of decoding alone", "--mixed",
     OPTION("a", DECODES("1000")) OPTION("b", SERVES("1250")) OPTION("c", DECODES("800")),
     "a*, b (" OF_AN_UPPER "), c -25"},
    {"all of decoding alone", "", OPTION("a", DECODES("1000")) OPTION("b", DECODES("1250")),
     "a, b* 20"},
    {"tokens that nobody asked for are no merit", "",
     DEMAND OPTION("a", SERVES("1000")) OPTION("b", SERVES("1250")), "a*, b* 0"},
    {"all serve the demand", "", DEMAND OPTION("a", SERVES("1000")) OPTION("b", CHEAPER),
     "a, b* 20"},
    {"the cheapest of three does not serve the demand", "",
     DEMAND OPTION("a", SERVES("1000")) OPTION("b", SERVES("500") "rental_rate = 0.5 USD/gpu/h\n")
         OPTION("c", CHEAPER),
     "a, b 52.44 (" HALF_SERVED "), c* 20"},
    {"only the baseline serves the demand", "",
     DEMAND OPTION("a", SERVES("1000")) OPTION("b", SERVES("500")),
     "a, b -90.26 (" HALF_SERVED "); " NONE_SERVES},
    {"the baseline does not serve the demand", "",
     DEMAND OPTION("a", SERVES("500")) OPTION("b", SERVES("1000")) OPTION("c", CHEAPER),
     "a (" HALF_SERVED "), b 47.44, c* 57.95"},
    {"the demand is served exactly", "",
     "demand = 126144 Mtok/yr\n" OPTION("a", SERVES("1000")) OPTION("b", SERVES("1000")),
     "a*, b* 0"},
    {"nearly all of the demand", "",
     "demand = 126150 Mtok/yr\n" OPTION("a", SERVES("1000")) OPTION("b", SERVES("1250")),
     "a (at worst it serves 99.9 % of the demand), b 0.004756; " NONE_SERVES},
    {"a case with more demand", "more",
     DEMAND OPTION("a", SERVES("1000")) OPTION("b", SERVES("1250"))
         OPTION("c", CHEAPER) "[case more]\ndemand = 150000 Mtok/yr\n",
     "a (at worst it serves 84.1 % of the demand), b 15.9, c* 32.72"},
    {"unlike goes before unmet", "--mixed",
     DEMAND OPTION("a", SERVES("1000") FP8) OPTION("b", SERVES("500") BF16)
         OPTION("c", CHEAPER FP8),
     "a, b -90.26 (" UNLIKE "fp8 and bf16), c* 20"},
};

static const char *verdict_text(const struct scenario *scenario, struct arena *arena) {
  const struct ranking *ranking = ranking_of(scenario, arena);
  const char *text = "";
  for (size_t o = 0; o < ranking->option_count; o++) {
    const struct standing *standing = &ranking->options[o];
    const bool saves = standing->compared && o != scenario->baseline;
    assert_int_equal(saves, !isnan(standing->saving));
    assert_int_equal(standing->ranked, standing->bar == RANK_FREE);
    text = arena_printf(arena, "%s%s%s%s", text, o ? ", " : "", scenario->options[o].id,
                        standing->cheapest ? "*" : "");
    if (saves)
      text = arena_printf(arena, "%s %.4g", text, 100 * standing->saving);
    if (!standing->ranked)
      text = arena_printf(arena, "%s (%s)", text, standing->why_not);
  }
  if (ranking->cheapest < 0)
    text = arena_printf(arena, "%s; nobody: %s", text, ranking->why_none);
  return text;
}

static void test_made_cases(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
    struct scenario_fixture fixture;
    char text[4096];
    snprintf(text, sizeof text, "%s%s", common, made[i].options);
    const bool mixed = !strcmp(made[i].how, "--mixed");
    scenario_fixture_request(
        &fixture, text,
        (struct scenario_request){.case_name = mixed || !*made[i].how ? NULL : made[i].how,
                                  .mixed = mixed});
    expect_error(&fixture.fixture, made[i].what, "");
    const char *verdict = verdict_text(fixture.scenario, &fixture.fixture.arena);
    if (strcmp(verdict, made[i].verdict) != 0)
      fail_msg("%s:\n  %s, expected\n  %s", made[i].what, verdict, made[i].verdict);
    scenario_fixture_end(&fixture);
  }
}

// No share of a cost is saved by what costs less than nothing.
static void test_below_nothing(void **state) {
  (void)state;
  static const struct {
    const char *limit;
    double saving; // NAN: none
  } limits[] = {{"50 %", 0.5}, {"100 %", 1}, {"101 %", NAN}};
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    struct scenario_fixture fixture;
    char text[2048];
    snprintf(
        text, sizeof text,
        "[scenario]\ntitle = T\ndate = 2026-11-01\n[common]\naccelerators = 8\n"
        "list_price = 30000 USD\nthroughput = 1000 token/s\nelectricity_price = 0 USD/kWh\n"
        "pue = 1\nutilization = 50 %%\nload_power = 700 W\n" OPTION("a", "") OPTION(
            "b", "remedy = 4 %%\n") "guaranteed_throughput = 2000 token/s\nremedy_limit = %s\n",
        limits[i].limit);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    expect_error(&fixture.fixture, limits[i].limit, "");
    const struct ranking *ranking = ranking_of(fixture.scenario, &fixture.fixture.arena);
    assert_int_equal(ranking->cheapest, 1);
    assert_int_equal(ranking->against, 0);
    if (isnan(limits[i].saving) != isnan(ranking->saving) ||
        fabs(ranking->saving - limits[i].saving) > 1e-12)
      fail_msg("%s: expected %g, found %g", limits[i].limit, limits[i].saving, ranking->saving);
    scenario_fixture_end(&fixture);
  }
}

static void test_contender(void **state) {
  (void)state;
  static const struct {
    const char *what, *options;
    size_t contender;
  } cases[] = {
      {"a single option", OPTION("a", SERVES("1000")), 0},
      {"the cheapest of all is the last",
       OPTION("a", SERVES("1000")) OPTION("b", SERVES("900")) OPTION("c", SERVES("1250")), 2},
      {"the baseline is cheaper",
       OPTION("a", SERVES("1000")) OPTION("b", SERVES("800")) OPTION("c", SERVES("900")), 2},
      {"a tie", OPTION("a", SERVES("1000")) OPTION("b", SERVES("900")) OPTION("c", SERVES("900")),
       1},
      {"the cheapest is not ranked",
       OPTION("a", SERVES("1000") FP8) OPTION("b", SERVES("1250") BF16)
           OPTION("c", SERVES("900") FP8),
       2},
      {"none is ranked, one is compared",
       OPTION("a", SERVES("1000") FP8) OPTION("b", DECODES("4000") FP8)
           OPTION("c", SERVES("900") BF16),
       2},
      {"none is compared", OPTION("a", SERVES("1000")) OPTION("b", DECODES("4000")), 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scenario_fixture fixture;
    char text[4096];
    snprintf(text, sizeof text, "%s%s", common, cases[i].options);
    scenario_fixture_request(&fixture, text, (struct scenario_request){.mixed = true});
    expect_error(&fixture.fixture, cases[i].what, "");
    const size_t contender = ranking_contender(fixture.scenario);
    if (contender != cases[i].contender)
      fail_msg("%s: %zu, expected %zu", cases[i].what, contender, cases[i].contender);
    scenario_fixture_end(&fixture);
  }
}

// What --mixed allows is refused without it, so that it is never ranked by accident.
static void test_refused_without_mixed(void **state) {
  (void)state;
  static const char *const unlike[] = {
      OPTION("a", SERVES("1000") FP8) OPTION("b", SERVES("1250") BF16),
      OPTION("a", SERVES("1000")) OPTION("b", DECODES("4000")),
  };
  for (size_t i = 0; i < sizeof unlike / sizeof unlike[0]; i++) {
    struct scenario_fixture fixture;
    char text[4096];
    snprintf(text, sizeof text, "%s%s", common, unlike[i]);
    scenario_fixture_start(&fixture, text, NULL, NULL);
    expect_error(&fixture.fixture, unlike[i], "are not comparable");
    scenario_fixture_end(&fixture);
  }
}

// Costs that differ only in the last bits are equal, wherever the options are listed; larger
// differences count.
static void test_ties(void **state) {
  (void)state;
  static const struct {
    const char *ranked;
    double costs[4];
    const char *cheapest;
  } cases[] = {
      {"yyyy", {2, 1, 3, 1}, "-*-*"},
      {"yyyy", {1 + 0x1p-52, 1, 1 - 0x1p-53, 1 + 0x1p-47}, "***-"},
      {"yyyy", {1, 1 + 0x1p-49, 1 + 0x1p-40, 2}, "**--"},
      {"ynyy", {2, 1, 3, 2}, "*--*"},
      {"ynny", {2, 1, 1, 3}, "*---"},
      {"nnyn", {2, 1, 3, 1}, "----"},
      {"nnnn", {1, 1, 1, 1}, "----"},
      {"nyyy", {NAN, 5, 5, 6}, "-**-"},
      {"yyyy", {-1, -2, 0, 1}, "-*--"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    bool ranked[4], cheapest[4];
    size_t stars = 0;
    for (size_t o = 0; o < 4; o++) {
      ranked[o] = cases[i].ranked[o] == 'y';
      stars += cases[i].cheapest[o] == '*';
    }
    assert_int_equal(ranking_mark(cases[i].costs, ranked, 4, cheapest), stars);
    for (size_t o = 0; o < 4; o++)
      if (cheapest[o] != (cases[i].cheapest[o] == '*'))
        fail_msg("row %zu, option %zu: %d", i, o, cheapest[o]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_made_cases), cmocka_unit_test(test_below_nothing),
      cmocka_unit_test(test_contender),  cmocka_unit_test(test_refused_without_mixed),
      cmocka_unit_test(test_ties),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
