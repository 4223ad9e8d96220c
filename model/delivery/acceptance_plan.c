#include "model/delivery/acceptance_plan.h"

#include "base/source.h"
#include "base/student.h"
#include "model/chance/distribution.h"
#include "model/delivery/clause.h"
#include "model/delivery/fleet_spread.h"
#include "model/delivery/guaranteed_workload.h"
#include "model/delivery/node_sample.h"
#include "model/delivery/offer.h"
#include "model/records/serving.h"

#include <math.h>
#include <string.h>

struct planning {
  const struct plan_request *request;
  struct acceptance_plan *plan;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// ---- what is known about the spread

// Requests per run: as many as the strictest guaranteed percentile needs.
static double requests_of(const struct offer_guarantee *guarantee) {
  double requests = PLAN_LEAST_REQUESTS;
  for (int l = 0; l < OFFER_LATENCIES; l++)
    if (!isnan(guarantee->latencies[l].seconds))
      requests = fmax(requests, serving_statistic_samples(guarantee->latencies[l].statistic));
  return requests;
}

// The relative standard error of a statistic of n requests whose latencies have an exponential
// tail: for a quantile p sqrt(p / ((1 - p) n)) / -log(1 - p), for the mean 1 / sqrt(n).
static double sampling_error(enum serving_statistic statistic, double n) {
  static const double shares[LATENCY_STATISTICS] = {
      [LATENCY_P50] = 0.5, [LATENCY_P90] = 0.9, [LATENCY_P95] = 0.95, [LATENCY_P99] = 0.99};
  const double p = shares[statistic];
  return statistic == LATENCY_MEAN ? 1 / sqrt(n) : sqrt(p / ((1 - p) * n)) / -log(1 - p);
}

// The spread that is assumed without measurements: that of a uniform distribution of +-share. The
// latencies of nodes differ as their speeds do; those of runs differ by the sample of requests.
static struct clause_spread assumed(const struct offer_guarantee *guarantee, enum guaranteed what) {
  const double share =
      (what == GUARANTEED_WATTS ? DISTRIBUTION_SPREAD_POWER : DISTRIBUTION_SPREAD_THROUGHPUT) /
      sqrt(3);
  if (what == GUARANTEED_TOKENS || what == GUARANTEED_WATTS)
    return (struct clause_spread){share, share, 0};
  const struct offer_latency *latency =
      &guarantee->latencies[what == GUARANTEED_TPOT ? OFFER_TPOT : OFFER_TTFT];
  return (struct clause_spread){share, sampling_error(latency->statistic, requests_of(guarantee)),
                                0};
}

static struct clause_spread spread_of(const struct planning *planning,
                                      const struct offer_guarantee *guarantee,
                                      enum guaranteed what) {
  const struct acceptance_request *of = &planning->request->of;
  const struct guaranteed_among among = {of->offer, of->fleet, of->accelerators};
  const struct clause_spread otherwise = assumed(guarantee, what);
  const long workload =
      !of->fleet ? -1
                 : guaranteed_workload(&among, guarantee, planning->diagnostics, planning->arena);
  if (workload < 0)
    return otherwise;
  const struct node_sample sample = acceptance_sample_of(
      of, &planning->plan->rule, (size_t)workload, guarantee, what, planning->arena);
  if (sample.count < FLEET_ENOUGH)
    return otherwise;
  const double nodes = pow(sample.deviation, 2) - sample.run_variance;
  if (isnan(nodes))
    return (struct clause_spread){sample.deviation / sample.mean, sample.deviation / sample.mean,
                                  sample.count};
  return (struct clause_spread){sqrt(fmax(0, nodes)) / sample.mean,
                                sample.run_deviation / sample.mean, sample.count};
}

// ---- chances

static struct plan_errors errors_of_mean(const struct acceptance_rule *rule,
                                         const struct clause_spread *spread, size_t nodes,
                                         size_t runs) {
  const double n = (double)nodes, r = (double)runs, share = fmin(1, n / (double)rule->nodes);
  const double between = pow(spread->between, 2), run = pow(spread->runs, 2);
  const double sampled = (1 - share) * between / n, variance = sampled + run / (n * r);
  struct plan_errors errors = {sqrt(variance), sqrt((between + run) / n), n - 1, NAN};
  if (runs > 1) {
    const double a = (1 - share) * (between + run / r) / n, b = share * run / (n * r);
    const double inverse = (a > 0 ? pow(a / (a + b), 2) / (n - 1) : 0) +
                           (b > 0 ? pow(b / (a + b), 2) / (n * (r - 1)) : 0);
    errors.estimate = sqrt(a + b);
    errors.freedom = inverse > 0 ? 1 / inverse : n * (r - 1);
  }
  errors.quantile = student_quantile(rule->confidence, errors.freedom);
  return errors;
}

// Simultaneous for all nodes, as clause_node_margin judges them.
static struct plan_errors errors_of_node(const struct acceptance_rule *rule,
                                         const struct clause_spread *spread, size_t nodes,
                                         size_t runs) {
  const double n = (double)nodes, r = (double)runs;
  const double between = pow(spread->between, 2), run = pow(spread->runs, 2);
  struct plan_errors errors = {sqrt(between + run / r), sqrt(run / r), n * (r - 1), NAN};
  if (runs < 2)
    errors = (struct plan_errors){sqrt(between + run), sqrt(between + run), n - 1, NAN};
  errors.quantile =
      student_quantile(1 - (1 - rule->confidence) / (double)rule->nodes, errors.freedom);
  return errors;
}

// The chance that a measured value is above its limit if the true value is `distance` above it; 0
// if the error is unknown.
static double chance(double distance, const struct plan_errors *errors) {
  return !(errors->freedom > 0) ? 0
                                : student_power(distance, errors->deviation, errors->estimate,
                                                errors->freedom, errors->quantile);
}

static struct plan_chances chances_of_mean(const struct acceptance_plan *plan,
                                           const struct plan_clause *clause, size_t nodes,
                                           size_t runs) {
  const struct acceptance_rule *rule = &plan->rule;
  const struct plan_errors errors = errors_of_mean(rule, &clause->spread, nodes, runs);
  const double short_by = plan->shortfall - rule->tolerance;
  return (struct plan_chances){chance(rule->tolerance, &errors), chance(short_by, &errors),
                               chance(-rule->tolerance, &errors), chance(-short_by, &errors)};
}

// The chances of the clause on single nodes for a delivery as guaranteed. One that falls short as a
// whole is for the mean to detect.
static struct plan_chances chances_of_nodes(const struct acceptance_plan *plan,
                                            const struct plan_clause *clause, size_t nodes,
                                            size_t runs) {
  const struct acceptance_rule *rule = &plan->rule;
  const struct plan_errors errors = errors_of_node(rule, &clause->spread, nodes, runs);
  const double fails = chance(-rule->node_tolerance, &errors);
  const double false_fail = 1 - student_at_most((unsigned)rule->may_fail, fails, (unsigned)nodes);
  if (nodes == rule->nodes) {
    const double stands = chance(rule->node_tolerance, &errors);
    return (struct plan_chances){
        student_at_most((unsigned)rule->may_fail, 1 - stands, (unsigned)nodes), NAN, false_fail,
        NAN};
  }
  if (!rule->may_fail)
    return (struct plan_chances){0, NAN, false_fail, NAN};
  const double n = (double)nodes, share = 1 - (double)rule->may_fail / (double)rule->nodes;
  const struct plan_errors of_sample = {errors.deviation / sqrt(n), errors.deviation, n - 1,
                                        student_tolerance(n, share, rule->confidence)};
  return (struct plan_chances){chance(rule->node_tolerance, &of_sample), NAN, false_fail, NAN};
}

static struct plan_chances chances_of(const struct acceptance_plan *plan,
                                      const struct plan_clause *clause, size_t nodes, size_t runs) {
  return clause->kind == CLAUSE_NODES ? chances_of_nodes(plan, clause, nodes, runs)
                                      : chances_of_mean(plan, clause, nodes, runs);
}

// The smallest shortfall of a single node with which it fails at the required power.
static double found_of_node(const struct acceptance_plan *plan, const struct plan_clause *clause,
                            size_t nodes, size_t runs) {
  enum { HALVINGS = 50 };
  const struct acceptance_rule *rule = &plan->rule;
  struct plan_errors errors = errors_of_node(rule, &clause->spread, nodes, runs);
  double low = rule->node_tolerance, high = 1;
  errors.deviation = clause->spread.runs / sqrt((double)runs);
  if (chance(high - rule->node_tolerance, &errors) < plan->power)
    return NAN;
  for (int i = 0; i < HALVINGS; i++) {
    const double middle = (low + high) / 2;
    if (chance(middle - rule->node_tolerance, &errors) < plan->power)
      low = middle;
    else
      high = middle;
  }
  return high;
}

// ---- choices

static struct plan_choice choice_of(const struct acceptance_plan *plan, size_t nodes, size_t runs) {
  struct plan_choice choice = {nodes, runs, 1, 1, 0, 0, false};
  for (size_t c = 0; c < plan->clause_count; c++) {
    const struct plan_chances chances = chances_of(plan, &plan->clauses[c], nodes, runs);
    choice.passes = fmin(choice.passes, chances.passes); // fmin and fmax ignore NAN
    choice.fails = fmin(choice.fails, chances.fails);
    choice.false_fail = fmax(choice.false_fail, chances.false_fail);
    choice.false_pass = fmax(choice.false_pass, chances.false_pass);
  }
  choice.decides = choice.passes >= plan->power && choice.fails >= plan->power;
  return choice;
}

static void add_choice(const struct planning *planning, struct plan_choice choice) {
  struct acceptance_plan *plan = planning->plan;
  plan->choices =
      arena_room(planning->arena, plan->choices, plan->choice_count, sizeof *plan->choices);
  plan->choices[plan->choice_count++] = choice;
}

// More nodes give more certainty, until all of them are measured.
static void choose_nodes(const struct planning *planning, size_t runs) {
  const struct acceptance_plan *plan = planning->plan;
  const size_t all = plan->rule.nodes;
  const struct plan_choice whole = choice_of(plan, all, runs);
  if (all > 2 && choice_of(plan, all - 1, runs).decides) {
    size_t low = 1, high = all - 1;
    while (high - low > 1) {
      const size_t middle = (low + high) / 2;
      if (choice_of(plan, middle, runs).decides)
        high = middle;
      else
        low = middle;
    }
    add_choice(planning, choice_of(plan, high, runs));
  }
  add_choice(planning, whole);
}

static void choose(const struct planning *planning) {
  struct acceptance_plan *plan = planning->plan;
  bool is_decided = false;
  for (size_t runs = 1; runs <= PLAN_MOST_RUNS && !(is_decided && runs > 3); runs++) {
    choose_nodes(planning, runs);
    is_decided |= plan->choices[plan->choice_count - 1].decides;
  }
  for (size_t i = 0; i < plan->choice_count; i++) {
    const struct plan_choice *choice = &plan->choices[i];
    if (choice->decides &&
        (!plan->chosen || choice->nodes * choice->runs < plan->chosen->nodes * plan->chosen->runs))
      plan->chosen = choice;
  }
}

// ---- the whole

static void add_clause(const struct planning *planning, const struct offer_guarantee *guarantee,
                       enum clause_kind kind, enum guaranteed what) {
  struct acceptance_plan *plan = planning->plan;
  plan->clauses =
      arena_room(planning->arena, plan->clauses, plan->clause_count, sizeof *plan->clauses);
  plan->clauses[plan->clause_count++] =
      (struct plan_clause){.kind = kind,
                           .guarantee = guarantee,
                           .what = what,
                           .spread = spread_of(planning, guarantee, what)};
}

static void add_guarantee(const struct planning *planning,
                          const struct offer_guarantee *guarantee) {
  for (int kind = CLAUSE_MEAN; kind <= CLAUSE_NODES; kind++)
    for (int what = 0; what < GUARANTEED_MEASURES; what++)
      if (acceptance_has_clause(guarantee, &planning->plan->rule, (enum clause_kind)kind,
                                (enum guaranteed)what) &&
          !(what == GUARANTEED_WATTS && planning->plan->offer->per_node))
        add_clause(planning, guarantee, (enum clause_kind)kind, (enum guaranteed)what);
}

static void fill_clauses(struct acceptance_plan *plan) {
  const struct plan_choice *choice =
      plan->chosen ? plan->chosen : &plan->choices[plan->choice_count - 1];
  const struct acceptance_rule *rule = &plan->rule;
  plan->shown = choice;
  for (size_t c = 0; c < plan->clause_count; c++) {
    struct plan_clause *clause = &plan->clauses[c];
    const bool of_node = clause->kind == CLAUSE_NODES;
    clause->chances = chances_of(plan, clause, choice->nodes, choice->runs);
    clause->errors = (of_node ? errors_of_node : errors_of_mean)(rule, &clause->spread,
                                                                 choice->nodes, choice->runs);
    clause->stands = of_node ? chance(rule->node_tolerance, &clause->errors) : NAN;
    clause->fails = of_node ? chance(-rule->node_tolerance, &clause->errors) : NAN;
    clause->found = of_node ? found_of_node(plan, clause, choice->nodes, choice->runs) : NAN;
  }
}

const struct acceptance_plan *acceptance_plan_of(const struct plan_request *request,
                                                 struct arena *arena,
                                                 struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  const struct offer *offer = request->of.offer;
  struct acceptance_plan *plan = arena_alloc(arena, sizeof *plan);
  const struct planning planning = {request, plan, arena, diagnostics};
  *plan = (struct acceptance_plan){.offer = offer,
                                   .rule = acceptance_rule_of(offer, request->of.fleet),
                                   .shortfall = request->shortfall,
                                   .power = request->power};
  if (acceptance_check(&request->of, arena, diagnostics))
    return NULL;
  if (isnan(plan->shortfall))
    plan->shortfall = fmax(2 * plan->rule.tolerance, PLAN_LEAST_SHORTFALL);
  if (plan->shortfall <= plan->rule.tolerance) {
    diagnostics_error(diagnostics, (struct place){.source = offer->source},
                      "a shortfall of %g %% is within the tolerance of %g %%, and no failure",
                      100 * plan->shortfall, 100 * plan->rule.tolerance);
    return NULL;
  }
  for (size_t g = 0; g < offer->guarantee_count; g++)
    if (!request->of.guarantee || !strcmp(request->of.guarantee, offer->guarantees[g].name))
      add_guarantee(&planning, &offer->guarantees[g]);
  if (!offer->nodes && !request->of.fleet)
    diagnostics_error(diagnostics, offer->count_place,
                      "nodes are what is sampled: a plan needs 'nodes' in [offer]");
  if (diagnostics->errors > errors)
    return NULL;
  choose(&planning);
  fill_clauses(plan);
  return plan;
}
