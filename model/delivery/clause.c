#include "model/delivery/clause.h"

#include "base/student.h"

#include <math.h>

const char *const verdict_names[] = {
    [VERDICT_PASS] = "pass", [VERDICT_FAIL] = "fail", [VERDICT_OPEN] = "not enough data"};

bool clause_is_ceiling(enum guaranteed what) {
  return what != GUARANTEED_TOKENS;
}

// How far a value is on the good side of its limit. Decimal figures are not exact in binary:
// without the slack, which is far below what is measured, a value at its limit would often fail.
static double better_by(const struct acceptance_clause *clause, double value) {
  const double slack = 1e-9 * clause->limit;
  return slack + (clause_is_ceiling(clause->what) ? clause->limit - value : value - clause->limit);
}

// Whether a distance from the limit is significant, given the error.
static bool shows(const struct acceptance_rule *rule, double distance, struct node_error error) {
  return error.freedom > 0 &&
         fabs(distance) >= student_quantile(rule->confidence, error.freedom) * error.error;
}

// The fewest additional nodes, or the fewest additional runs of all nodes, with which the mean
// found would have been decisive.
static void foresee(const struct acceptance_rule *rule, struct acceptance_clause *clause) {
  const struct node_sample *sample = &clause->sample;
  const double distance = sample->mean - clause->limit;
  const size_t runs = sample->count ? sample->run_count / sample->count : 1;
  if (sample->count < 2) {
    clause->more_nodes = rule->nodes > sample->count ? rule->nodes - sample->count : 0;
    clause->more_runs = clause->more_nodes ? 0 : 1;
    return;
  }
  for (size_t n = sample->count + 1; n <= rule->nodes && !clause->more_nodes; n++)
    if (shows(rule, distance, node_sample_foreseen(sample, n, rule->nodes, runs)))
      clause->more_nodes = n - sample->count;
  for (size_t r = runs + 1; r <= ACCEPTANCE_MOST_RUNS && !clause->more_runs; r++)
    if (shows(rule, distance, node_sample_foreseen(sample, sample->count, rule->nodes, r)))
      clause->more_runs = r - runs;
}

// The verdict on a value that is better than its limit by `better`, give or take `margin`; open if
// either is NAN.
static enum verdict verdict_within(double better, double margin) {
  if (better - margin >= 0)
    return VERDICT_PASS;
  return better + margin < 0 ? VERDICT_FAIL : VERDICT_OPEN;
}

void clause_judge_mean(const struct acceptance_rule *rule, struct acceptance_clause *clause) {
  const struct node_error error = node_sample_error(&clause->sample, rule->nodes);
  const double half = student_quantile(rule->confidence, error.freedom) * error.error;
  const double better = better_by(clause, clause->sample.mean);
  clause->found = clause->sample.mean;
  clause->low = isfinite(half) ? clause->found - half : NAN;
  clause->high = isfinite(half) ? clause->found + half : NAN;
  clause->verdict = verdict_within(better, isfinite(half) ? half : NAN);
  if (clause->verdict == VERDICT_OPEN)
    foresee(rule, clause);
}

// Simultaneous for all nodes: each is judged with enough certainty for the confidence to hold for
// all of them together.
double clause_node_margin(const struct acceptance_rule *rule, const struct node_sample *sample,
                          size_t runs) {
  const struct node_error error = node_sample_node_error(sample, runs);
  const double share = (1 - rule->confidence) / (double)rule->nodes;
  return error.error > 0 ? student_quantile(1 - share, error.freedom) * error.error : error.error;
}

static void judge_each_node(const struct acceptance_rule *rule, struct acceptance_clause *clause,
                            struct accepted_node *nodes) {
  size_t failing = 0, runs = 0;
  double margin = NAN;
  for (size_t n = 0; n < clause->sample.count; n++) {
    const struct node_value *node = &clause->sample.nodes[n];
    if (node->runs != runs)
      margin = clause_node_margin(rule, &clause->sample, node->runs);
    runs = node->runs;
    const enum verdict verdict = verdict_within(better_by(clause, node->value), margin);
    nodes[n] = (struct accepted_node){.guarantee = clause->guarantee,
                                      .what = clause->what,
                                      .node = node->node,
                                      .workload = (size_t)clause->workload,
                                      .value = node->value,
                                      .share = node->value / clause->quoted - 1,
                                      .runs = node->runs,
                                      .verdict = verdict};
    failing += verdict == VERDICT_FAIL;
    clause->open_nodes += verdict == VERDICT_OPEN;
  }
  clause->found = (double)failing;
}

// The number of further runs of the open nodes after which enough of them would be decided.
static size_t runs_for_nodes(const struct acceptance_rule *rule,
                             const struct acceptance_clause *clause) {
  const struct node_sample *sample = &clause->sample;
  if (isnan(sample->run_deviation))
    return 1;
  const size_t runs = sample->run_count / sample->count;
  for (size_t more = 1; more < ACCEPTANCE_MOST_RUNS; more++) {
    const double margin = clause_node_margin(rule, sample, runs + more);
    size_t failing = 0, open = 0;
    for (size_t n = 0; n < sample->count; n++) {
      const enum verdict verdict =
          verdict_within(better_by(clause, sample->nodes[n].value), margin);
      failing += verdict == VERDICT_FAIL;
      open += verdict == VERDICT_OPEN;
    }
    if (failing > rule->may_fail || failing + open <= rule->may_fail)
      return more;
  }
  return 0;
}

// Infers the nodes that were not measured from those that were.
static void judge_by_sample(const struct acceptance_rule *rule, struct acceptance_clause *clause) {
  const struct node_sample *sample = &clause->sample;
  const double share = 1 - (double)rule->may_fail / (double)rule->nodes;
  if (!rule->may_fail || sample->count < 2)
    return;
  const double count = (double)sample->count;
  const double side = clause_is_ceiling(clause->what) ? 1 : -1;
  const double worst =
      sample->mean + side * student_tolerance(count, share, rule->confidence) * sample->deviation;
  const double best = sample->mean + side * student_tolerance(count, share, 1 - rule->confidence) *
                                         sample->deviation;
  clause->low = fmin(worst, best);
  clause->high = fmax(worst, best);
  if (better_by(clause, worst) >= 0)
    clause->verdict = VERDICT_PASS;
  else if (better_by(clause, best) < 0)
    clause->verdict = VERDICT_FAIL;
}

void clause_judge_nodes(const struct acceptance_rule *rule, struct acceptance_clause *clause,
                        struct accepted_node *nodes) {
  clause->low = clause->high = NAN;
  judge_each_node(rule, clause, nodes);
  const size_t failing = (size_t)clause->found, measured = clause->sample.count;
  const size_t unmeasured = rule->nodes > measured ? rule->nodes - measured : 0;
  clause->verdict = VERDICT_OPEN;
  if (failing > rule->may_fail)
    clause->verdict = VERDICT_FAIL;
  else if (failing + clause->open_nodes + unmeasured <= rule->may_fail)
    clause->verdict = VERDICT_PASS;
  else if (unmeasured)
    judge_by_sample(rule, clause);
  if (clause->verdict != VERDICT_OPEN)
    return;
  clause->more_nodes = unmeasured;
  if (clause->open_nodes && failing + clause->open_nodes > rule->may_fail)
    clause->more_runs = runs_for_nodes(rule, clause);
}
