#include "model/delivery/acceptance.h"

#include "base/source.h"
#include "model/delivery/delivered.h"
#include "model/delivery/doubts.h"
#include "model/delivery/fleet_item.h"
#include "model/delivery/fleet_spread.h"
#include "model/delivery/guaranteed_workload.h"
#include "model/evidence/workload.h"
#include "model/records/serving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct judging {
  const struct acceptance_request *request;
  const struct guaranteed_among *among;
  const struct doubts *doubts;
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

// Whether the rule has such a clause. Single nodes are judged only by speed.
bool acceptance_has_clause(const struct offer_guarantee *guarantee,
                           const struct acceptance_rule *rule, enum clause_kind kind,
                           enum guaranteed what) {
  return !isnan(guaranteed(guarantee, what)) &&
         (kind == CLAUSE_MEAN || (!isnan(rule->node_tolerance) && what != GUARANTEED_WATTS));
}

// ---- what the offer leaves open

// The node's devices that were measured, alone or behind servers: these are the same devices, so
// the larger number counts.
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
  // Each device has one record, or each group of devices that hold a model together.
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

// Makes room for a verdict on each of a clause's nodes.
static struct accepted_node *add_nodes(struct acceptance *acceptance,
                                       const struct acceptance_clause *clause,
                                       struct arena *arena) {
  const size_t first = acceptance->node_count;
  acceptance->node_count += clause->sample.count;
  acceptance->nodes = arena_grow(arena, acceptance->nodes, first, acceptance->node_count + 1,
                                 sizeof *acceptance->nodes);
  return &acceptance->nodes[first];
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
                   .limit = quoted * (clause_is_ceiling(what) ? 1 + tolerance : 1 - tolerance),
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
    clause_judge_nodes(rule, clause, add_nodes(judging->acceptance, clause, judging->arena));
  else
    clause_judge_mean(rule, clause);
}

static void refuse_other(const struct judging *judging, const struct fleet_run *run,
                         const struct fleet_run *first, bool is_program, const char *how,
                         const char *instead) {
  diagnostics_error(judging->diagnostics, nowhere, "'%s' was measured %s (%s) than '%s' (%s): %s",
                    run->file, how, is_program ? run->program : run->tool, first->file,
                    is_program ? first->program : first->tool, instead);
}

// Two builds of a program count as two programs. Clients do not define a latency alike, so two of
// them count as two as well, but not two versions of one.
static void refuse_two_programs(const struct judging *judging, size_t workload) {
  const struct fleet *fleet = judging->request->fleet;
  const struct fleet_workload *at = &fleet->workloads[workload];
  const struct fleet_run *first = &fleet->runs[at->first_run];
  for (size_t r = 1; r < at->run_count; r++) {
    const struct fleet_run *run = &first[r];
    const bool is_program = strcmp(run->program, first->program) != 0;
    if (!is_program && !strcmp(run->tool, first->tool))
      continue;
    refuse_other(judging, run, first, is_program,
                 !is_program  ? "by another benchmark client"
                 : at->served ? "on another inference engine"
                              : "with other kernels of the probe",
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

static void judge_guarantee(const struct judging *judging,
                            const struct offer_guarantee *guarantee) {
  const long workload =
      guaranteed_workload(judging->among, guarantee, judging->diagnostics, judging->arena);
  if (workload >= 0) {
    refuse_two_programs(judging, (size_t)workload);
    note_days(judging, (size_t)workload);
    doubts_of_runs(judging->doubts, guarantee, (size_t)workload);
  }
  for (int kind = CLAUSE_MEAN; kind <= CLAUSE_NODES; kind++)
    for (int what = 0; what < GUARANTEED_MEASURES; what++)
      if (acceptance_has_clause(guarantee, &judging->acceptance->rule, (enum clause_kind)kind,
                                (enum guaranteed)what))
        judge_one(judging, guarantee, (enum clause_kind)kind, (enum guaranteed)what, workload);
}

// ---- what was delivered

// The accelerators behind the node's largest server.
static size_t most_served(const struct fleet *fleet, size_t node) {
  size_t most = 0;
  for (size_t d = 0; d < fleet->device_count; d++)
    if (fleet->devices[d].node == node && (size_t)fleet->devices[d].served > most)
      most = (size_t)fleet->devices[d].served;
  return most;
}

static void refuse_twice(const struct judging *judging) {
  const struct fleet *fleet = judging->request->fleet;
  for (size_t i = 0; i < fleet->warnings.count; i++)
    diagnostics_error(judging->diagnostics, nowhere, "%s: it would count twice",
                      fleet->warnings.list[i]);
  const size_t each = judging->acceptance->rule.per_node;
  for (size_t n = 0; n < fleet->node_count; n++) {
    const struct fleet_node *node = &fleet->nodes[n];
    if (devices_of(node) <= each)
      continue;
    const char *why =
        most_served(fleet, n) > each ? "a server on several nodes measures none of them"
        : node->served > each        ? "two nodes of one name, or one server under two addresses?"
                                     : "two nodes of one name?";
    diagnostics_error(judging->diagnostics, nowhere,
                      "node %s has %zu accelerators, and the offer's have %zu each: %s", node->name,
                      devices_of(node), each, why);
  }
}

static bool are_named(const struct fleet *fleet) {
  for (size_t d = 0; d < fleet->device_count; d++)
    if (!fleet->devices[d].is_named)
      return false;
  return true;
}

static void judge_delivered(const struct judging *judging) {
  const struct offer *offer = judging->request->offer;
  const struct delivered delivered = delivered_of(judging->among, judging->arena);
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
  } else if (delivered.right > wanted) {
    clause.verdict = VERDICT_OPEN; // others may have run instead of those that were delivered
    clause.why = arena_printf(
        judging->arena, "%zu were measured, and %zu are offered: %s", delivered.right, wanted,
        are_named(judging->request->fleet)
            ? "leave out the records that are not of this delivery"
            : "a record without a node's name counts as a node of its own: --node of import and "
              "of the probe names it");
  }
  add_clause(judging, clause);
}

// ---- the whole

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
    diagnostics_error(diagnostics, (struct place){.source = offer->source},
                      "no guarantee '%s' in the offer%s", request->guarantee,
                      name_hint(request->guarantee, names, offer->guarantee_count, arena));
  else
    return 0;
  return -1;
}

const struct acceptance *acceptance_of(const struct acceptance_request *request,
                                       struct arena *arena, struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  const struct offer *offer = request->offer;
  struct acceptance *acceptance = arena_alloc(arena, sizeof *acceptance);
  const struct guaranteed_among among = {offer, request->fleet, request->accelerators};
  const struct doubts doubts = {&among, &acceptance->warnings, arena};
  const struct judging judging = {request, &among, &doubts, acceptance, arena, diagnostics};
  if (acceptance_check(request, arena, diagnostics))
    return NULL;
  *acceptance = (struct acceptance){.offer = offer,
                                    .fleet = request->fleet,
                                    .rule = acceptance_rule_of(offer, request->fleet),
                                    .verdict = VERDICT_PASS,
                                    .first_day = "",
                                    .last_day = ""};
  // If the offer does not state the number of nodes, it is known only now.
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
  doubts_of_days(&doubts, acceptance->first_day, acceptance->last_day);
  doubts_of_strays(&doubts);
  return diagnostics->errors == errors ? acceptance : NULL;
}
