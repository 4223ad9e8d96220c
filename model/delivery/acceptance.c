#include "model/delivery/acceptance.h"

#include "base/source.h"
#include "model/chance/student.h"
#include "model/delivery/fleet_item.h"
#include "model/delivery/fleet_spread.h"
#include "model/delivery/guaranteed_workload.h"
#include "model/evidence/workload.h"
#include "model/records/serving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const verdict_names[] = {
    [VERDICT_PASS] = "pass", [VERDICT_FAIL] = "fail", [VERDICT_OPEN] = "not enough data"};

struct judging {
  const struct acceptance_request *request;
  struct guaranteed_among among;
  struct acceptance *acceptance;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// ---- what is guaranteed

// The guaranteed value: per accelerator, or per node if the offer counts by nodes; latencies in
// seconds. NAN: nothing is guaranteed.
static double guaranteed(const struct offer_guarantee *guarantee, enum guaranteed what) {
  switch (what) {
  case GUARANTEED_TOKENS: return guarantee->tokens_per_s;
  case GUARANTEED_WATTS: return guarantee->power_w;
  case GUARANTEED_TTFT: return guarantee->latencies[OFFER_TTFT].seconds;
  case GUARANTEED_TPOT: return guarantee->latencies[OFFER_TPOT].seconds;
  default: return NAN;
  }
}

bool acceptance_is_ceiling(enum guaranteed what) {
  return what != GUARANTEED_TOKENS;
}

// Single nodes are judged only by speed.
bool acceptance_has_clause(const struct offer_guarantee *guarantee,
                           const struct acceptance_rule *rule, enum clause_kind kind,
                           enum guaranteed what) {
  return !isnan(guaranteed(guarantee, what)) &&
         (kind == CLAUSE_MEAN || (!isnan(rule->node_tolerance) && what != GUARANTEED_WATTS));
}

// How much better than its limit a value is. Decimal figures are not exact in binary: without the
// slack, which is far below what is measured, a value at its limit would often fail.
static double better_by(const struct acceptance_clause *clause, double value) {
  const double slack = 1e-9 * clause->limit;
  return slack +
         (acceptance_is_ceiling(clause->what) ? clause->limit - value : value - clause->limit);
}

// ---- what the offer leaves open

// Measured alone or behind servers: these are the same devices.
static size_t devices_of(const struct fleet_node *node) {
  return node->device_count > node->served ? node->device_count : node->served;
}

static size_t most_devices(const struct fleet *fleet) {
  size_t most = 1;
  for (size_t n = 0; fleet && n < fleet->node_count; n++)
    if (devices_of(&fleet->nodes[n]) > most)
      most = devices_of(&fleet->nodes[n]);
  return most;
}

struct acceptance_rule acceptance_rule_of(const struct offer *offer, const struct fleet *fleet) {
  const struct offer_acceptance *said = &offer->acceptance;
  const size_t accelerators = (size_t)offer->accelerators;
  struct acceptance_rule rule = {
      .confidence = isnan(said->confidence) ? ACCEPTANCE_CONFIDENCE : said->confidence,
      .tolerance = isnan(said->tolerance) ? 0 : said->tolerance,
      .node_tolerance = isnan(said->node_tolerance) && said->may_fail >= 0 ? said->tolerance
                                                                           : said->node_tolerance,
      .per_node = offer->nodes ? (size_t)offer_accelerators_per_node(offer) : most_devices(fleet),
  };
  if (isnan(rule.node_tolerance) && said->may_fail >= 0)
    rule.node_tolerance = 0;
  rule.nodes =
      offer->nodes ? (size_t)offer->nodes : (accelerators + rule.per_node - 1) / rule.per_node;
  rule.may_fail = said->may_fail >= 0 ? (size_t)said->may_fail
                                      : (size_t)(ACCEPTANCE_MAY_FAIL * (double)rule.nodes);
  return rule;
}

// ---- clauses

static struct acceptance_clause *add_clause(const struct judging *judging,
                                            struct acceptance_clause clause) {
  struct acceptance *acceptance = judging->acceptance;
  acceptance->clauses = arena_room(judging->arena, acceptance->clauses, acceptance->clause_count,
                                   sizeof *acceptance->clauses);
  if (!clause.why)
    clause.why = "";
  acceptance->clauses[acceptance->clause_count++] = clause;
  return &acceptance->clauses[acceptance->clause_count - 1];
}

// Whether a distance from the limit is significant, given the error.
static bool shows(const struct acceptance_rule *rule, double distance, struct node_error error) {
  return error.freedom > 0 &&
         fabs(distance) >= student_quantile(rule->confidence, error.freedom) * error.error;
}

// The fewest additional nodes, or the fewest additional runs of all nodes, with which the mean
// found would have been decisive.
static void foresee(const struct judging *judging, struct acceptance_clause *clause) {
  const struct acceptance_rule *rule = &judging->acceptance->rule;
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

// For a value that is better than its limit by `better`, give or take `margin`; NAN: unknown.
static enum verdict verdict_within(double better, double margin) {
  if (better - margin >= 0)
    return VERDICT_PASS;
  return better + margin < 0 ? VERDICT_FAIL : VERDICT_OPEN;
}

static void judge_mean(const struct judging *judging, struct acceptance_clause *clause) {
  const struct acceptance_rule *rule = &judging->acceptance->rule;
  const struct node_error error = node_sample_error(&clause->sample, rule->nodes);
  const double half = student_quantile(rule->confidence, error.freedom) * error.error;
  const double better = better_by(clause, clause->sample.mean);
  clause->found = clause->sample.mean;
  clause->low = isfinite(half) ? clause->found - half : NAN;
  clause->high = isfinite(half) ? clause->found + half : NAN;
  clause->verdict = verdict_within(better, isfinite(half) ? half : NAN);
  if (clause->verdict == VERDICT_OPEN)
    foresee(judging, clause);
}

// ---- single nodes

// Simultaneous for all nodes: each is judged with enough certainty for the confidence to hold for
// all of them together.
double acceptance_node_margin(const struct acceptance_rule *rule, const struct node_sample *sample,
                              size_t runs) {
  const struct node_error error = node_sample_node_error(sample, runs);
  const double share = (1 - rule->confidence) / (double)rule->nodes;
  return error.error > 0 ? student_quantile(1 - share, error.freedom) * error.error : error.error;
}

static void judge_each_node(const struct judging *judging, struct acceptance_clause *clause) {
  struct acceptance *acceptance = judging->acceptance;
  size_t failing = 0;
  acceptance->nodes =
      arena_grow(judging->arena, acceptance->nodes, acceptance->node_count,
                 acceptance->node_count + clause->sample.count + 1, sizeof *acceptance->nodes);
  size_t runs = 0;
  double margin = NAN;
  for (size_t n = 0; n < clause->sample.count; n++) {
    const struct node_value *node = &clause->sample.nodes[n];
    if (node->runs != runs)
      margin = acceptance_node_margin(&acceptance->rule, &clause->sample, node->runs);
    runs = node->runs;
    const enum verdict verdict = verdict_within(better_by(clause, node->value), margin);
    acceptance->nodes[acceptance->node_count++] =
        (struct accepted_node){.guarantee = clause->guarantee,
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

// How many more runs of the open nodes would decide for enough of them on which side of the limit
// they are.
static size_t runs_for_nodes(const struct judging *judging,
                             const struct acceptance_clause *clause) {
  const struct acceptance_rule *rule = &judging->acceptance->rule;
  const struct node_sample *sample = &clause->sample;
  if (isnan(sample->run_deviation))
    return 1;
  const size_t runs = sample->run_count / sample->count;
  for (size_t more = 1; more < ACCEPTANCE_MOST_RUNS; more++) {
    const double margin = acceptance_node_margin(rule, sample, runs + more);
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
static void judge_by_sample(const struct judging *judging, struct acceptance_clause *clause) {
  const struct acceptance_rule *rule = &judging->acceptance->rule;
  const struct node_sample *sample = &clause->sample;
  const double share = 1 - (double)rule->may_fail / (double)rule->nodes;
  if (!rule->may_fail || sample->count < 2)
    return;
  const double count = (double)sample->count;
  const double side = acceptance_is_ceiling(clause->what) ? 1 : -1;
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

static void judge_nodes(const struct judging *judging, struct acceptance_clause *clause) {
  const struct acceptance_rule *rule = &judging->acceptance->rule;
  clause->low = clause->high = NAN;
  judge_each_node(judging, clause);
  const size_t failing = (size_t)clause->found, measured = clause->sample.count;
  const size_t unmeasured = rule->nodes > measured ? rule->nodes - measured : 0;
  clause->verdict = VERDICT_OPEN;
  if (failing > rule->may_fail)
    clause->verdict = VERDICT_FAIL;
  else if (failing + clause->open_nodes + unmeasured <= rule->may_fail)
    clause->verdict = VERDICT_PASS;
  else if (unmeasured)
    judge_by_sample(judging, clause);
  if (clause->verdict != VERDICT_OPEN)
    return;
  clause->more_nodes = unmeasured;
  if (clause->open_nodes && failing + clause->open_nodes > rule->may_fail)
    clause->more_runs = runs_for_nodes(judging, clause);
}

// ---- a guarantee

static const char *why_not_measured(const struct offer_guarantee *guarantee) {
  return strcmp(guarantee->workload.values[WORKLOAD_BASIS], "decode") != 0
             ? "no record has a server with this accelerator, model and precision, with these "
               "requests at this load"
             : "no record has this accelerator, model, precision, batch and context";
}

// An offer's value per node, converted to one per accelerator.
static double quoted_of(const struct judging *judging, const struct offer_guarantee *guarantee,
                        enum guaranteed what) {
  const bool per_node =
      judging->request->offer->per_node && (what == GUARANTEED_TOKENS || what == GUARANTEED_WATTS);
  return guaranteed(guarantee, what) / (per_node ? (double)judging->acceptance->rule.per_node : 1);
}

// The watts of a whole node include its host's: they are compared with the wall's.
static struct node_measure measure_of(const struct offer *offer,
                                      const struct offer_guarantee *guarantee,
                                      enum guaranteed what) {
  static const enum fleet_measure measures[GUARANTEED_MEASURES] = {[GUARANTEED_TOKENS] =
                                                                       FLEET_TOKENS,
                                                                   [GUARANTEED_WATTS] = FLEET_WATTS,
                                                                   [GUARANTEED_TTFT] = FLEET_TTFT,
                                                                   [GUARANTEED_TPOT] = FLEET_TPOT};
  if (what == GUARANTEED_WATTS && offer->per_node)
    return (struct node_measure){FLEET_WALL, LATENCY_MEAN};
  return (struct node_measure){
      measures[what],
      guarantee->latencies[what == GUARANTEED_TPOT ? OFFER_TPOT : OFFER_TTFT].statistic};
}

struct node_sample acceptance_sample_of(const struct acceptance_request *request,
                                        const struct acceptance_rule *rule, size_t workload,
                                        const struct offer_guarantee *guarantee,
                                        enum guaranteed what, struct arena *arena) {
  const struct fleet_workload *at = &request->fleet->workloads[workload];
  const struct node_measure measure = measure_of(request->offer, guarantee, what);
  const size_t ranks = at->ranks > 1 ? (size_t)at->ranks : 1;
  const size_t loaded = at->together > 1 ? (size_t)at->together : ranks;
  if (measure.measure == FLEET_WALL && loaded != rule->per_node)
    return (struct node_sample){.nodes = NULL};
  // One record for each device, or for each group that holds a model together.
  return node_sample_of(request->fleet, workload, measure,
                        rule->per_node >= ranks ? rule->per_node / ranks : 1, arena);
}

static bool is_latency(enum guaranteed what) {
  return what == GUARANTEED_TTFT || what == GUARANTEED_TPOT;
}

bool acceptance_judges_times(const struct acceptance *acceptance) {
  for (size_t c = 0; c < acceptance->clause_count; c++)
    if (is_latency(acceptance->clauses[c].what))
      return true;
  return false;
}

static const char *why_no_node(struct node_measure measure, struct arena *arena) {
  switch (measure.measure) {
  case FLEET_WATTS: return "no node has watts of all of its accelerators";
  case FLEET_WALL: return "no node has wall power with all of its accelerators running";
  case FLEET_TTFT:
  case FLEET_TPOT:
    return arena_printf(arena,
                        "no node has loads on all of its accelerators with the %d requests that "
                        "%s needs",
                        serving_statistic_samples(measure.statistic),
                        serving_statistic_names[measure.statistic]);
  default: return "no node has results of all of its accelerators";
  }
}

static void judge_one(const struct judging *judging, const struct offer_guarantee *guarantee,
                      enum clause_kind kind, enum guaranteed what, long workload) {
  const struct acceptance_rule *rule = &judging->acceptance->rule;
  const double quoted = quoted_of(judging, guarantee, what);
  const double tolerance = kind == CLAUSE_NODES ? rule->node_tolerance : rule->tolerance;
  struct acceptance_clause *clause = add_clause(
      judging, (struct acceptance_clause){
                   .kind = kind,
                   .guarantee = guarantee,
                   .what = what,
                   .workload = workload,
                   .verdict = VERDICT_OPEN,
                   .quoted = quoted,
                   .limit = quoted * (acceptance_is_ceiling(what) ? 1 + tolerance : 1 - tolerance),
                   .found = NAN,
                   .low = NAN,
                   .high = NAN});
  if (workload < 0) {
    clause->why = why_not_measured(guarantee);
    return;
  }
  clause->sample = acceptance_sample_of(judging->request, rule, (size_t)workload, guarantee, what,
                                        judging->arena);
  if (!clause->sample.count) {
    clause->why = why_no_node(measure_of(judging->request->offer, guarantee, what), judging->arena);
    if (!is_latency(what))
      clause->more_nodes = rule->nodes;
    else if (kind == CLAUSE_MEAN)
      clause->more_runs = 1;
  } else if (kind == CLAUSE_NODES)
    judge_nodes(judging, clause);
  else
    judge_mean(judging, clause);
}

// Two builds of a program count as two programs.
static void refuse_two_programs(const struct judging *judging, size_t workload) {
  const struct fleet *fleet = judging->request->fleet;
  const struct fleet_workload *at = &fleet->workloads[workload];
  const struct fleet_run *first = &fleet->runs[at->first_run];
  for (size_t r = 1; r < at->run_count; r++) {
    const struct fleet_run *run = &first[r];
    if (!strcmp(run->program, first->program))
      continue;
    diagnostics_error(
        judging->diagnostics, (struct place){0}, "'%s' %s (%s) than '%s' (%s): %s", run->file,
        at->served ? "was measured on another inference engine"
                   : "was measured with other kernels of the probe",
        run->program, first->file, first->program,
        at->served ? "measure all nodes with one" : "measure all nodes with one build");
    return;
  }
}

static void note_days(const struct judging *judging, size_t workload) {
  struct acceptance *acceptance = judging->acceptance;
  const struct fleet *fleet = judging->request->fleet;
  const struct fleet_workload *at = &fleet->workloads[workload];
  for (size_t r = 0; r < at->run_count; r++) {
    const char *day = fleet->runs[at->first_run + r].started;
    if (!*acceptance->first_day || strcmp(day, acceptance->first_day) < 0)
      acceptance->first_day = day;
    if (strcmp(day, acceptance->last_day) > 0)
      acceptance->last_day = day;
  }
}

static void warn_of_doubts(const struct judging *judging, size_t workload) {
  const struct fleet *fleet = judging->request->fleet;
  const struct fleet_workload *at = &fleet->workloads[workload];
  const struct fleet_run *first = NULL;
  size_t count = 0;
  for (size_t r = 0; r < at->run_count; r++) {
    const struct fleet_run *run = &fleet->runs[at->first_run + r];
    count += *run->doubts != 0;
    first = !first && *run->doubts ? run : first;
  }
  if (first)
    texts_add(&judging->acceptance->warnings, judging->arena,
              "%zu of the %zu results used %s in doubt: on node %s, %s", count, at->run_count,
              count == 1 ? "is" : "are", fleet->nodes[fleet->devices[first->device].node].name,
              first->doubts);
}

// Warns of runs with too few requests for the guaranteed percentile.
static void warn_of_few_requests(const struct judging *judging,
                                 const struct offer_guarantee *guarantee, size_t workload) {
  const struct fleet *fleet = judging->request->fleet;
  const struct fleet_workload *at = &fleet->workloads[workload];
  int needed = 1;
  for (int l = 0; l < OFFER_LATENCIES; l++)
    if (!isnan(guarantee->latencies[l].seconds) &&
        serving_statistic_samples(guarantee->latencies[l].statistic) > needed)
      needed = serving_statistic_samples(guarantee->latencies[l].statistic);
  size_t few = 0;
  double most = 0;
  for (size_t r = 0; r < at->run_count && at->served; r++) {
    const double completed = fleet->runs[at->first_run + r].latencies->completed;
    few += completed < needed;
    most = completed < needed ? fmax(most, completed) : most;
  }
  if (few)
    texts_add(&judging->acceptance->warnings, judging->arena,
              "%s: %zu of %zu runs had fewer requests than the %d that its percentile needs, %.0f "
              "at most: measure with a longer --time",
              guarantee->name, few, at->run_count, needed, most);
}

// What the servers' records do not state is assumed to be as guaranteed.
static void warn_of_unsaid(const struct judging *judging, const struct offer_guarantee *guarantee,
                           size_t workload) {
  const struct fleet_workload *at = &judging->request->fleet->workloads[workload];
  const char *unsaid = guaranteed_unsaid(guarantee, at);
  if (*unsaid)
    texts_add(&judging->acceptance->warnings, judging->arena,
              "%s: the offer names %s, and the servers' records do not say theirs: taken as "
              "guaranteed, and not checked; 'probe serving' writes down --activations and --kv",
              guarantee->name, unsaid);
}

static void judge_guarantee(const struct judging *judging,
                            const struct offer_guarantee *guarantee) {
  const long workload =
      guaranteed_workload(&judging->among, guarantee, judging->diagnostics, judging->arena);
  if (workload >= 0) {
    refuse_two_programs(judging, (size_t)workload);
    note_days(judging, (size_t)workload);
    warn_of_doubts(judging, (size_t)workload);
    warn_of_few_requests(judging, guarantee, (size_t)workload);
    warn_of_unsaid(judging, guarantee, (size_t)workload);
  }
  for (int kind = CLAUSE_MEAN; kind <= CLAUSE_NODES; kind++)
    for (int what = 0; what < GUARANTEED_MEASURES; what++)
      if (acceptance_has_clause(guarantee, &judging->acceptance->rule, (enum clause_kind)kind,
                                (enum guaranteed)what))
        judge_one(judging, guarantee, (enum clause_kind)kind, (enum guaranteed)what, workload);
}

// ---- what was delivered

static void refuse_twice(const struct judging *judging) {
  const struct fleet *fleet = judging->request->fleet;
  for (size_t i = 0; i < fleet->warnings.count; i++)
    diagnostics_error(judging->diagnostics, (struct place){0}, "%s: it would count twice",
                      fleet->warnings.list[i]);
  for (size_t n = 0; n < fleet->node_count; n++)
    if (devices_of(&fleet->nodes[n]) > judging->acceptance->rule.per_node)
      diagnostics_error(
          judging->diagnostics, (struct place){0},
          "node %s has %zu accelerators, and the offer's have %zu each: two nodes of one name%s?",
          fleet->nodes[n].name, devices_of(&fleet->nodes[n]), judging->acceptance->rule.per_node,
          fleet->nodes[n].served > judging->acceptance->rule.per_node
              ? ", or one server under two addresses"
              : "");
}

struct delivered {
  size_t right, wrong;       // accelerators
  const char *device, *node; // the first of the wrong ones
};

// A device that ran several workloads is one device; one that held a model together with others
// counts for all of them, and a server for the devices that it is on.
static void count_device(const struct judging *judging, struct delivered *delivered,
                         const struct fleet_workload *workload, const struct fleet_device *device,
                         int *ranks) {
  const int count = workload->ranks > 1 ? workload->ranks : 1;
  const bool offered = guaranteed_is_offered(&judging->among, workload);
  const size_t more = count > *ranks ? (size_t)(count - *ranks) : 0;
  if (!more)
    return;
  *(offered ? &delivered->right : &delivered->wrong) += more;
  *ranks = count;
  if (!offered && !delivered->device) {
    delivered->device = workload->device;
    delivered->node = judging->request->fleet->nodes[device->node].name;
  }
}

// If a node was measured alone and through its servers, the same accelerators count once: those
// behind servers, if they are more.
static struct delivered count_delivered(const struct judging *judging) {
  const struct fleet *fleet = judging->request->fleet;
  int *ranks = arena_array(judging->arena, fleet->device_count + 1, sizeof *ranks);
  struct delivered delivered = {0};
  for (size_t w = 0; w < fleet->workload_count; w++) {
    const struct fleet_workload *workload = &fleet->workloads[w];
    for (size_t r = 0; r < workload->run_count; r++) {
      const size_t index = fleet->runs[workload->first_run + r].device;
      const struct fleet_device *device = &fleet->devices[index];
      const struct fleet_node *node = &fleet->nodes[device->node];
      if ((device->served > 0) == (node->served > node->device_count))
        count_device(judging, &delivered, workload, device, &ranks[index]);
    }
  }
  return delivered;
}

static void judge_delivered(const struct judging *judging) {
  const struct offer *offer = judging->request->offer;
  const struct delivered delivered = count_delivered(judging);
  const size_t wanted = (size_t)offer->accelerators;
  struct acceptance_clause clause = {.kind = CLAUSE_DELIVERED,
                                     .workload = -1,
                                     .verdict = VERDICT_PASS,
                                     .quoted = (double)wanted,
                                     .limit = (double)wanted,
                                     .found = (double)delivered.right,
                                     .low = NAN,
                                     .high = NAN};
  if (delivered.wrong) {
    clause.verdict = VERDICT_FAIL;
    clause.why = arena_printf(judging->arena, "%zu of those measured %s not %s: %s in node %s",
                              delivered.wrong, delivered.wrong == 1 ? "is" : "are",
                              offer->accelerator, delivered.device, delivered.node);
  } else if (delivered.right < wanted) {
    const size_t missing = wanted - delivered.right, each = judging->acceptance->rule.per_node;
    clause.verdict = VERDICT_OPEN;
    clause.why = arena_printf(judging->arena, "no record of %s",
                              text_counted(missing, "accelerator", judging->arena));
    clause.more_nodes = (missing + each - 1) / each;
  } else if (delivered.right > wanted)
    texts_add(&judging->acceptance->warnings, judging->arena,
              "%zu accelerators were measured, and %zu are offered: are these records of this "
              "delivery alone?",
              delivered.right, wanted);
  add_clause(judging, clause);
}

// ---- the whole

static void warn_of_days(const struct judging *judging) {
  struct acceptance *acceptance = judging->acceptance;
  const struct offer *offer = judging->request->offer;
  if (*acceptance->first_day &&
      strncmp(acceptance->first_day, offer->date, strlen(offer->date)) < 0)
    texts_add(&acceptance->warnings, judging->arena,
              "the first run dates from %.10s, before the offer's own date %s",
              acceptance->first_day, offer->date);
  if (*acceptance->last_day &&
      offer_has_expired(offer, arena_copy_n(judging->arena, acceptance->last_day, 10)))
    texts_add(&acceptance->warnings, judging->arena,
              "the offer was valid until %s, and the last run dates from %.10s: is this the offer "
              "that was ordered?",
              offer->valid_until, acceptance->last_day);
}

static bool is_of_a_guarantee(const struct judging *judging, size_t workload) {
  const struct offer *offer = judging->request->offer;
  for (size_t g = 0; g < offer->guarantee_count; g++)
    if (guaranteed_fits(&judging->among, &offer->guarantees[g],
                        &judging->request->fleet->workloads[workload]))
      return true;
  return false;
}

// Whether each device with a run of one workload also has a run of the other; both are ordered by
// device.
static bool has_all_devices(const struct fleet *fleet, const struct fleet_workload *of,
                            const struct fleet_workload *in) {
  size_t at = 0;
  for (size_t r = 0; r < of->run_count; r++) {
    const size_t device = fleet->runs[of->first_run + r].device;
    while (at < in->run_count && fleet->runs[in->first_run + at].device < device)
      at++;
    if (at == in->run_count || fleet->runs[in->first_run + at].device != device)
      return false;
  }
  return true;
}

// A ladder has other loads besides the guaranteed one, but then each of its servers was also
// measured at that one.
static bool is_beside_one(const struct judging *judging, size_t workload) {
  const struct fleet *fleet = judging->request->fleet;
  const struct fleet_workload *stray = &fleet->workloads[workload];
  for (size_t w = 0; w < fleet->workload_count; w++)
    if (guaranteed_same_ladder(&fleet->workloads[w], stray) && is_of_a_guarantee(judging, w) &&
        has_all_devices(fleet, stray, &fleet->workloads[w]))
      return true;
  return false;
}

static void warn_of_strays(const struct judging *judging) {
  struct acceptance *acceptance = judging->acceptance;
  const struct fleet *fleet = judging->request->fleet;
  for (size_t w = 0; w < fleet->workload_count; w++)
    if (!is_of_a_guarantee(judging, w) && !is_beside_one(judging, w))
      texts_add(&acceptance->warnings, judging->arena,
                "not covered by a guarantee, and left out: %s", fleet->workloads[w].words);
  for (size_t i = 0; i < fleet->refused.count; i++)
    texts_add(&acceptance->warnings, judging->arena, "%s", fleet->refused.list[i]);
  for (size_t i = 0; i < fleet->unlike.count; i++)
    texts_add(&acceptance->warnings, judging->arena, "%s", fleet->unlike.list[i]);
}

static const struct offer_guarantee *guarantee_named(const struct offer *offer, const char *name) {
  for (size_t g = 0; g < offer->guarantee_count; g++)
    if (!strcmp(offer->guarantees[g].name, name))
      return &offer->guarantees[g];
  return NULL;
}

int acceptance_check(const struct acceptance_request *request, struct arena *arena,
                     struct diagnostics *diagnostics) {
  const struct offer *offer = request->offer;
  const char **names = arena_array(arena, offer->guarantee_count + 1, sizeof *names);
  for (size_t g = 0; g < offer->guarantee_count; g++)
    names[g] = offer->guarantees[g].name;
  if (!offer->guarantee_count)
    diagnostics_error(diagnostics, (struct place){.source = offer->source},
                      "the offer guarantees nothing: it needs a section [guarantee NAME]");
  else if (request->guarantee && !guarantee_named(offer, request->guarantee))
    diagnostics_error(
        diagnostics, (struct place){.source = offer->source}, "no guarantee '%s' in the offer%s",
        request->guarantee,
        did_you_mean(nearest_name(request->guarantee, names, offer->guarantee_count), arena));
  else
    return 0;
  return -1;
}

const struct acceptance *acceptance_of(const struct acceptance_request *request,
                                       struct arena *arena, struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  const struct offer *offer = request->offer;
  struct acceptance *acceptance = arena_alloc(arena, sizeof *acceptance);
  const struct judging judging = {
      request, {offer, request->fleet, request->accelerators}, acceptance, arena, diagnostics};
  if (acceptance_check(request, arena, diagnostics))
    return NULL;
  *acceptance = (struct acceptance){.offer = offer,
                                    .fleet = request->fleet,
                                    .rule = acceptance_rule_of(offer, request->fleet),
                                    .verdict = VERDICT_PASS,
                                    .first_day = "",
                                    .last_day = ""};
  // Of an offer that does not state nodes, their number is known only now.
  if (acceptance->rule.may_fail >= acceptance->rule.nodes)
    diagnostics_error(diagnostics, offer->may_fail_place,
                      "'may_fail' must be fewer than the %zu nodes", acceptance->rule.nodes);
  refuse_twice(&judging);
  judge_delivered(&judging);
  for (size_t g = 0; g < offer->guarantee_count; g++)
    if (!request->guarantee || !strcmp(request->guarantee, offer->guarantees[g].name))
      judge_guarantee(&judging, &offer->guarantees[g]);
  for (size_t c = 0; c < acceptance->clause_count; c++) {
    const enum verdict verdict = acceptance->clauses[c].verdict;
    if (verdict == VERDICT_FAIL || acceptance->verdict == VERDICT_PASS)
      acceptance->verdict = verdict;
  }
  warn_of_days(&judging);
  warn_of_strays(&judging);
  return diagnostics->errors == errors ? acceptance : NULL;
}
