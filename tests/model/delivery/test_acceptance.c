// Acceptance, tested on fleets whose truth is known: devices of a node that are alike, a few broken
// nodes, a shortfall or none. Each seed is a fleet; the stated confidence must hold over many of
// them.
//
// Seconds: 1, deep 35
// Deep: 2,000 fleets of each kind, and not 100.
#include "model/delivery/acceptance.h"
#include "tests/support/depth.h"
#include "tests/support/fixture.h"

#include "base/student.h"
#include "model/chance/distribution.h"
#include "model/delivery/acceptance_plan.h"
#include "model/delivery/fleet_spread.h"
#include "model/evidence/catalog.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 100, EACH = 4, MAX_RUNS = 3, MAY_FAIL = 2 };

static const double quoted = 1000, tolerance = 0.02, node_tolerance = 0.05, confidence = 0.95;

// ---- made-up fleets

struct made {
  struct fleet fleet;
  struct fleet_workload workload;
  double mean; // the truth, over all nodes
  bool broken[NODES];
};

// How much nodes, devices of a node and runs vary; how many are broken, and how badly.
struct kind {
  size_t measured, runs;
  double mean, nodes, devices, run, broken_share, broken;
  enum {
    OF_TOKENS,
    OF_WATTS,
    OF_TIMES
  } what; // times: the P99 of the TTFT, of a server on each device
};

static bool is_from_above(const struct kind *kind) {
  return kind->what != OF_TOKENS;
}

static double uniform(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state) {
  return sqrt(-2 * log(uniform(state))) * cos(2 * M_PI * uniform(state));
}

static const struct fleet_latencies *times_of(const struct kind *kind, double value,
                                              struct arena *arena) {
  struct fleet_latencies *times = arena_alloc(arena, sizeof *times);
  *times = (struct fleet_latencies){.ttft = {.p99_s = value}, .completed = 1000};
  return kind->what == OF_TIMES ? times : NULL;
}

static struct fleet_run run_of(const struct kind *kind, size_t device, double value,
                               struct arena *arena) {
  return (struct fleet_run){.device = device,
                            .latencies = times_of(kind, value, arena),
                            .tokens_per_s = value,
                            .power_w = kind->what == OF_WATTS ? value : NAN,
                            .clock_mhz = NAN,
                            .started = "2027-01-14T09:30:00Z",
                            .program = "",
                            .tool = "",
                            .tool_version = "",
                            .file = "",
                            .digest = "",
                            .doubts = ""};
}

// A device and its runs; `together` is what they have in common with the node's other devices.
static void make_runs(struct fleet *fleet, const struct kind *kind, double device,
                      const double *together, struct arena *arena) {
  struct fleet_device *at = &fleet->devices[fleet->device_count];
  *at = (struct fleet_device){.node = fleet->node_count - 1, .id = "", .position = ""};
  for (int s = 0; s < FLEET_SETTINGS; s++)
    at->settings[s] = "";
  for (size_t r = 0; r < kind->runs; r++)
    fleet->runs[fleet->run_count++] =
        run_of(kind, fleet->device_count, device + together[r], arena);
  fleet->device_count++;
}

// All nodes are delivered; the first `measured` have runs.
static void make_nodes(struct made *made, const struct kind *kind, uint64_t *state,
                       struct arena *arena) {
  struct fleet *fleet = &made->fleet;
  for (size_t n = 0; n < NODES; n++) {
    made->broken[n] = uniform(state) < kind->broken_share;
    const double level = quoted * kind->mean * (1 + kind->nodes * normal(state)) *
                         (made->broken[n] ? 1 - kind->broken : 1);
    double together[MAX_RUNS];
    for (size_t r = 0; r < kind->runs; r++)
      together[r] = kind->run * quoted * normal(state); // of the node: its air, its power
    fleet->nodes[fleet->node_count++] = (struct fleet_node){
        .name = arena_printf(arena, "n%03zu", n), .row = -1, .device_count = EACH};
    for (size_t d = 0; d < EACH; d++) {
      const double device = level * (1 + kind->devices * normal(state));
      made->mean += device / (NODES * EACH);
      if (n < kind->measured)
        make_runs(fleet, kind, device, together, arena);
    }
  }
  fleet->node_count = kind->measured;
}

static void make(struct made *made, const struct kind *kind, uint64_t seed, struct arena *arena) {
  uint64_t state = seed * 2654435761u + 12345;
  for (int i = 0; i < 8; i++)
    uniform(&state);
  struct fleet *fleet = &made->fleet;
  *made = (struct made){.workload = {.device = "NVIDIA H200",
                                     .model = "llama-2-70b",
                                     .precision = "fp8",
                                     .weights = "fp8",
                                     .activations = "bf16",
                                     .kv = "fp8",
                                     .head = "bf16",
                                     .batch = 64,
                                     .context = 4096,
                                     .together = 1,
                                     .ranks = 1,
                                     .words = "made up"}};
  fleet->nodes = arena_array(arena, NODES, sizeof *fleet->nodes);
  fleet->devices = arena_array(arena, NODES * EACH, sizeof *fleet->devices);
  fleet->runs = arena_array(arena, NODES * EACH * MAX_RUNS, sizeof *fleet->runs);
  make_nodes(made, kind, &state, arena);
  made->workload.run_count = fleet->run_count;
  if (kind->what == OF_TIMES) {
    made->workload.served = true;
    made->workload.device = "h200-sxm-141";
  }
  fleet->workloads = &made->workload;
  fleet->workload_count = 1;
}

// An offer of these nodes; guaranteed: tokens/s per accelerator.
static struct offer offer_of(struct offer_guarantee *guarantee, double guaranteed, int may_fail) {
  *guarantee = (struct offer_guarantee){.name = "decoding",
                                        .tokens_per_s = guaranteed,
                                        .power_w = NAN,
                                        .latencies = {{.seconds = NAN}, {.seconds = NAN}}};
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    guarantee->workload.values[key] = "";
  guarantee->workload.values[WORKLOAD_MODEL] = "llama-2-70b";
  guarantee->workload.values[WORKLOAD_PRECISION] = "fp8";
  guarantee->workload.values[WORKLOAD_BASIS] = "decode";
  return (struct offer){
      .accelerator = "h200-sxm-141",
      .accelerators = NODES * EACH,
      .nodes = NODES,
      .date = "2026-11-02",
      .valid_until = "",
      .guarantees = guarantee,
      .guarantee_count = 1,
      .acceptance = {confidence, tolerance, node_tolerance, may_fail, 0.01, 0.1, false}};
}

// The same number as an upper limit.
static void serve(struct offer_guarantee *guarantee) {
  guarantee->workload.values[WORKLOAD_BASIS] = "serving";
  guarantee->latencies[OFFER_TTFT] =
      (struct offer_latency){guarantee->tokens_per_s, LATENCY_P99, {NULL}};
  guarantee->tokens_per_s = NAN;
}

static void limit_watts(struct offer_guarantee *guarantee) {
  guarantee->power_w = guarantee->tokens_per_s;
  guarantee->tokens_per_s = NAN;
}

// Rules for single nodes.
struct rules {
  int may_fail;
  double node_tolerance;
};

static const struct rules usual = {MAY_FAIL, node_tolerance};

struct counts {
  size_t verdicts[3], node_verdicts[3]; // of the mean, and of single nodes
  size_t short_nodes[3],
      whole_nodes[3]; // the latter, for fleets with too many broken nodes, and for the others
  size_t broken, found, good, named; // nodes, by this clause
  size_t median_found, median_named; // the same by the fleet's median rule
};

static size_t broken_of(const struct made *made) {
  size_t broken = 0;
  for (size_t n = 0; n < NODES; n++)
    broken += made->broken[n];
  return broken;
}

// slack: the mean's limit is this share below the truth of each fleet; NAN: at `quoted`.
static void judge(struct counts *counts, const struct kind *kind, const struct rules *rules,
                  uint64_t seed, double slack, const struct table *accelerators) {
  struct arena arena = {NULL};
  struct diagnostics diagnostics = {.arena = &arena};
  struct made made;
  struct offer_guarantee guarantee;
  make(&made, kind, seed, &arena);
  const double limit = is_from_above(kind) ? 1 + tolerance : 1 - tolerance;
  struct offer offer = offer_of(&guarantee, isnan(slack) ? quoted : made.mean * (1 - slack) / limit,
                                rules->may_fail);
  offer.acceptance.node_tolerance = rules->node_tolerance;
  if (kind->what == OF_TIMES)
    serve(&guarantee);
  if (kind->what == OF_WATTS)
    limit_watts(&guarantee);
  const struct acceptance_request request = {&offer, &made.fleet, accelerators, NULL};
  const struct acceptance *acceptance = acceptance_of(&request, &arena, &diagnostics);
  assert_non_null(acceptance);
  counts->verdicts[acceptance->clauses[1].verdict]++;
  if (kind->what != OF_WATTS) { // no single node's watts are guaranteed
    counts->node_verdicts[acceptance->clauses[2].verdict]++;
    (broken_of(&made) > MAY_FAIL ? counts->short_nodes
                                 : counts->whole_nodes)[acceptance->clauses[2].verdict]++;
  }
  for (size_t i = 0; i < acceptance->node_count; i++) {
    const bool broken = made.broken[acceptance->nodes[i].node];
    const bool fails = acceptance->nodes[i].verdict == VERDICT_FAIL;
    counts->broken += broken;
    counts->good += !broken;
    counts->found += broken && fails;
    counts->named += !broken && fails;
  }
  const struct fleet_spread spread =
      fleet_spread_of(&made.fleet, 0, FLEET_TOKENS, FLEET_MARGIN, &arena);
  for (size_t n = 0; n < spread.node_count; n++) {
    counts->median_found += spread.nodes[n].stands_out && made.broken[spread.nodes[n].index];
    counts->median_named += spread.nodes[n].stands_out && !made.broken[spread.nodes[n].index];
  }
  arena_free(&arena);
}

static size_t fleets(void) {
  return depth_is_full() ? 2000 : 100;
}

static struct counts judge_many_by(const struct kind *kind, const struct rules *rules,
                                   double slack) {
  struct arena arena = {NULL};
  struct diagnostics diagnostics = {.arena = &arena};
  struct catalog catalog;
  struct counts counts = {0};
  assert_int_equal(catalog_open(&catalog, "data", &arena, &diagnostics), 0);
  const struct table *accelerators = catalog_table(&catalog, CATALOG_ACCELERATORS);
  for (size_t seed = 1; seed <= fleets(); seed++)
    judge(&counts, kind, rules, seed, slack, accelerators);
  arena_free(&arena);
  return counts;
}

static struct counts judge_many(const struct kind *kind, double slack) {
  return judge_many_by(kind, &usual, slack);
}

// Three standard errors of the simulation above the stated probability.
static size_t most_of(double share) {
  const double count = (double)fleets();
  return (size_t)(count * share + 3 * sqrt(count * share * (1 - share)) + 1);
}

// And below it, if repeated runs determine the error: a bound that is never wrong is too wide.
static size_t least_of(size_t runs) {
  const double count = (double)fleets(), share = 1 - confidence;
  return runs < 2 ? 0 : (size_t)fmax(0, count * share - 3.5 * sqrt(count * share * (1 - share)));
}

// ---- the stated confidence

static const struct kind kinds[] = {
    {NODES, 1, 1, 0.01, 0.006, 0.004, 0.01, 0.15, OF_TOKENS}, // all nodes, one run
    {NODES, 2, 1, 0.01, 0.006, 0.004, 0.01, 0.15, OF_TOKENS}, // all nodes, two runs
    {NODES, 3, 1, 0.01, 0.006, 0.012, 0.01, 0.15, OF_TOKENS}, // runs that differ more than nodes
    {40, 1, 1, 0.01, 0.006, 0.004, 0, 0, OF_TOKENS},          // some of the nodes
    {40, 2, 1, 0.01, 0.006, 0.004, 0, 0, OF_TOKENS},
    {8, 2, 1, 0.01, 0.006, 0.004, 0, 0, OF_TOKENS},
    {NODES, 1, 1, 0.01, 0.006, 0.004, 0, 0, OF_WATTS},
    {40, 2, 1, 0.01, 0.006, 0.004, 0, 0, OF_WATTS},
    {NODES, 2, 1, 0.01, 0.006, 0.004, 0, 0, OF_TIMES}, // servers, and a limit from above
    {40, 3, 1, 0.01, 0.006, 0.03, 0, 0, OF_TIMES},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

// Exactly at the limit, either verdict is wrong: each no more often than stated.
static void test_confidence_at_the_limit(void **state) {
  (void)state;
  for (size_t k = 0; k < KINDS; k++) {
    const struct counts counts = judge_many(&kinds[k], 0);
    print_message("kind %zu: of %zu fleets at the limit %zu pass, %zu fail, %zu open\n", k,
                  fleets(), counts.verdicts[VERDICT_PASS], counts.verdicts[VERDICT_FAIL],
                  counts.verdicts[VERDICT_OPEN]);
    assert_in_range(counts.verdicts[VERDICT_PASS], least_of(kinds[k].runs),
                    most_of(1 - confidence));
    assert_in_range(counts.verdicts[VERDICT_FAIL], least_of(kinds[k].runs),
                    most_of(1 - confidence));
  }
}

// A kind whose mean is as guaranteed, and the same 3 % worse, with a guarantee that has 2 %
// tolerance.
static void expect_verdicts(struct kind kind) {
  const struct counts good = judge_many(&kind, NAN);
  assert_int_equal(good.verdicts[VERDICT_FAIL], 0);
  assert_in_range(good.verdicts[VERDICT_PASS], (size_t)(0.99 * (double)fleets()), fleets());
  kind.mean = is_from_above(&kind) ? 1.03 : 0.97;
  const struct counts missing = judge_many(&kind, NAN);
  assert_int_equal(missing.verdicts[VERDICT_PASS], 0);
  assert_in_range(missing.verdicts[VERDICT_FAIL], (size_t)(0.99 * (double)fleets()), fleets());
}

static void test_verdicts_on_the_mean(void **state) {
  (void)state;
  static const double broken_shares[] = {0, 0.01};
  for (size_t i = 0; i < 2; i++) {
    struct kind kind = kinds[1];
    kind.broken_share = broken_shares[i];
    expect_verdicts(kind);
  }
}

static void test_verdicts_from_above(void **state) {
  (void)state;
  expect_verdicts((struct kind){NODES, 2, 1, 0.01, 0.006, 0.004, 0, 0, OF_TIMES});
  expect_verdicts((struct kind){NODES, 2, 1, 0.01, 0.006, 0.004, 0, 0, OF_WATTS});
}

// ---- single nodes

// Broken nodes are found, and no more than 1 % of good ones are named. With 30 % broken and one run
// each, the variation between runs is known too poorly for a verdict on all nodes; the median rule
// still names them.
static void test_broken_nodes(void **state) {
  (void)state;
  static const struct {
    double share;
    size_t runs;
    double mean;
  } cases[] = {{0.01, 1, 1}, {0.01, 2, 1}, {0.01, 2, 0.97}, {0.30, 1, 1}, {0.30, 2, 1}};
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    const struct kind kind = {NODES, cases[c].runs,  cases[c].mean, 0.01,     0.006,
                              0.004, cases[c].share, 0.15,          OF_TOKENS};
    const struct counts counts = judge_many(&kind, NAN);
    print_message("%g %% broken, %zu runs, %g %% short: %zu of %zu found, %zu of %zu good named; "
                  "by the median %zu and %zu\n",
                  100 * kind.broken_share, kind.runs, 100 * (1 - kind.mean), counts.found,
                  counts.broken, counts.named, counts.good, counts.median_found,
                  counts.median_named);
    assert_true((double)counts.median_found >= 0.95 * (double)counts.broken);
    assert_true((double)counts.median_named <= 0.01 * (double)counts.good);
    assert_true((double)counts.named <= 0.01 * (double)counts.good);
    if (kind.broken_share < 0.3 || kind.runs > 1)
      assert_true((double)counts.found >= 0.95 * (double)counts.broken);
  }
}

// All nodes measured: more than two broken ones fail the clause, fewer pass it.
static void test_verdicts_on_all_nodes(void **state) {
  (void)state;
  struct kind kind = kinds[1];
  kind.broken_share = 0.02; // so that both are common
  const struct counts counts = judge_many(&kind, NAN);
  const size_t *whole = counts.whole_nodes, *less = counts.short_nodes;
  const size_t wholes = whole[VERDICT_PASS] + whole[VERDICT_FAIL] + whole[VERDICT_OPEN];
  const size_t shorts = less[VERDICT_PASS] + less[VERDICT_FAIL] + less[VERDICT_OPEN];
  print_message("of all nodes: %zu of %zu fleets pass, %zu of %zu with too many broken ones fail\n",
                whole[VERDICT_PASS], wholes, less[VERDICT_FAIL], shorts);
  assert_true(wholes > fleets() / 5 && shorts > fleets() / 10);
  assert_int_equal(less[VERDICT_PASS], 0);
  assert_in_range(whole[VERDICT_FAIL], 0, most_of(1 - confidence));
  assert_true((double)whole[VERDICT_PASS] >= 0.95 * (double)wholes);
  assert_true((double)less[VERDICT_FAIL] >= 0.95 * (double)shorts);
}

// Exactly at the limit for single nodes, all nodes are good, and no more fleets fail than stated.
static void test_all_nodes_at_the_limit(void **state) {
  (void)state;
  for (size_t runs = 1; runs <= MAX_RUNS; runs++) {
    const struct kind kind = {NODES, runs, 1 - node_tolerance, 0, 0, 0.004, 0, 0, OF_TOKENS};
    const struct counts counts = judge_many_by(&kind, &(struct rules){0, node_tolerance}, NAN);
    print_message("all nodes at the limit, %zu runs: %zu pass, %zu fail\n", runs,
                  counts.node_verdicts[VERDICT_PASS], counts.node_verdicts[VERDICT_FAIL]);
    assert_in_range(counts.node_verdicts[VERDICT_PASS], 0, most_of(1 - confidence));
    assert_in_range(counts.node_verdicts[VERDICT_FAIL], least_of(runs), most_of(1 - confidence));
  }
}

// Two of a hundred may fail: with 40 measured, the verdict also covers the others.
static void test_tolerance_interval(void **state) {
  (void)state;
  // Places the quantile of 98 % of the nodes at the nodes' limit: deviation 1 %, of node and run.
  const double z = 2.053748910631823;
  const struct kind kind = {40, 1,        (1 - node_tolerance) / (1 - z * 0.01), 0.01, 0, 0, 0,
                            0,  OF_TOKENS};
  const struct counts counts = judge_many(&kind, NAN);
  print_message("at the limit of single nodes: %zu pass, %zu fail\n",
                counts.node_verdicts[VERDICT_PASS], counts.node_verdicts[VERDICT_FAIL]);
  assert_in_range(counts.node_verdicts[VERDICT_PASS], 0, most_of(1 - confidence));
  assert_in_range(counts.node_verdicts[VERDICT_FAIL], 0, most_of(1 - confidence));
}

// ---- the basis of the verdicts

// Published to three decimals: t for 95 % (any table), and k of normal tolerance limits for 95 % of
// the nodes with 95 % confidence (ISO 16269-6).
static void test_known_quantiles(void **state) {
  (void)state;
  static const double t[][2] = {{1, 6.314}, {4, 2.132}, {10, 1.812}, {30, 1.697}};
  static const double k[][2] = {{5, 4.203}, {10, 2.911}, {20, 2.396}, {50, 2.065}};
  for (size_t i = 0; i < 4; i++) {
    assert_true(fabs(student_quantile(0.95, t[i][0]) - t[i][1]) < 6e-4);
    assert_true(fabs(student_tolerance(k[i][0], 0.95, 0.95) - k[i][1]) < 6e-4);
  }
}

// A noncentral t with no distance is a t: the quantile's own probability.
static void test_power_without_distance(void **state) {
  (void)state;
  static const double freedoms[] = {1, 2.5, 7, 40, 1000, 50000};
  for (size_t i = 0; i < sizeof freedoms / sizeof freedoms[0]; i++)
    expect_near(student_power(0, 0.3, 0.3, freedoms[i], student_quantile(0.95, freedoms[i])), 0.05,
                1e-6, "chance beyond its 95 % quantile");
}

static const struct plan_choice *choice_with(const struct acceptance_plan *plan, size_t nodes,
                                             size_t runs) {
  size_t i = 0;
  while (i < plan->choice_count &&
         (plan->choices[i].nodes != nodes || plan->choices[i].runs != runs))
    i++;
  assert_true(i < plan->choice_count);
  return &plan->choices[i];
}

static const struct acceptance_plan *plan_for(struct fixture *fixture, const struct offer *offer,
                                              double shortfall) {
  const struct plan_request request = {{offer, NULL, NULL, NULL}, shortfall, 0.5};
  const struct acceptance_plan *plan =
      acceptance_plan_of(&request, &fixture->arena, &fixture->diagnostics);
  assert_non_null(plan);
  return plan;
}

static void expect_chance(const char *what, double foreseen, size_t happened) {
  const double share = (double)happened / (double)fleets();
  print_message("%s: %.3f foreseen, %.3f happened\n", what, foreseen, share);
  assert_true(foreseen > 0.05 && foreseen < 0.95); // otherwise the test says nothing
  assert_true(fabs(foreseen - share) < 4 * sqrt(foreseen * (1 - foreseen) / (double)fleets()));
}

// The plan's prediction comes true: for all nodes, twice, if they differ only in their runs.
static void test_plan_against_fleets(void **state) {
  struct fixture *fixture = *state;
  static const double deviation = DISTRIBUTION_SPREAD_THROUGHPUT / 1.7320508075688772;
  const struct kind kind = {NODES, 2, 1 - 0.0175, 0, 0, deviation, 0, 0, OF_TOKENS};
  struct offer_guarantee guarantee;
  struct offer offer = offer_of(&guarantee, quoted, MAY_FAIL);
  offer.acceptance.tolerance = 0.0175 + 0.0025; // a short delivery is 0.25 % above the limit
  const struct acceptance_plan *plan = plan_for(fixture, &offer, 0.0225);
  assert_non_null(plan->chosen);
  expect_chance("tokens/s", choice_with(plan, NODES, 2)->fails,
                judge_many(&kind, NAN).verdicts[VERDICT_PASS]);
}

// The same for watts, which fall short by being higher, and for whose runs a larger spread is
// assumed.
static void test_plan_of_watts(void **state) {
  struct fixture *fixture = *state;
  static const double deviation = DISTRIBUTION_SPREAD_POWER / 1.7320508075688772, above = 0.005;
  const struct kind kind = {NODES, 2, 1 + tolerance - above, 0, 0, deviation, 0, 0, OF_WATTS};
  struct offer_guarantee guarantee;
  const struct offer offer = offer_of(&guarantee, quoted, MAY_FAIL);
  limit_watts(&guarantee);
  const struct acceptance_plan *plan = plan_for(fixture, &offer, tolerance + above);
  expect_chance("watts", choice_with(plan, NODES, 2)->fails,
                judge_many(&kind, NAN).verdicts[VERDICT_PASS]);
}

// With all nodes as guaranteed, the probability that no more than two fail is binomial.
static void test_plan_of_single_nodes(void **state) {
  struct fixture *fixture = *state;
  static const double deviation = DISTRIBUTION_SPREAD_THROUGHPUT / 1.7320508075688772;
  static const double node_tolerances[] = {[2] = 0.057, [3] = 0.051};
  for (size_t runs = 2; runs <= MAX_RUNS; runs++) {
    struct offer_guarantee guarantee;
    struct offer offer = offer_of(&guarantee, quoted, MAY_FAIL);
    const struct kind kind = {NODES, runs, 1, deviation, 0, deviation, 0, 0, OF_TOKENS};
    offer.acceptance.node_tolerance = node_tolerances[runs];
    const struct acceptance_plan *plan = plan_for(fixture, &offer, NAN);
    const struct rules rules = {MAY_FAIL, node_tolerances[runs]};
    expect_chance("single nodes", choice_with(plan, NODES, runs)->passes,
                  judge_many_by(&kind, &rules, NAN).node_verdicts[VERDICT_PASS]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_confidence_at_the_limit),
      cmocka_unit_test(test_verdicts_on_the_mean),
      cmocka_unit_test(test_verdicts_from_above),
      cmocka_unit_test(test_broken_nodes),
      cmocka_unit_test(test_verdicts_on_all_nodes),
      cmocka_unit_test(test_all_nodes_at_the_limit),
      FIXTURE_TEST(test_plan_of_watts),
      FIXTURE_TEST(test_plan_of_single_nodes),
      cmocka_unit_test(test_tolerance_interval),
      cmocka_unit_test(test_known_quantiles),
      cmocka_unit_test(test_power_without_distance),
      FIXTURE_TEST(test_plan_against_fleets),
  };
  return cmocka_run_group_tests_name("acceptance", tests, NULL, NULL);
}
