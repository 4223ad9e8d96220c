#include "model/delivery/settlement.h"

#include "base/statistics.h"
#include "model/cost/lone_item.h"
#include "model/delivery/clause.h"
#include "model/delivery/fleet.h"
#include "model/delivery/node_sample.h"
#include "model/delivery/offer.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct settling {
  const struct acceptance *acceptance;
  const struct offer_acceptance *said;
  const struct lone_item *share; // remedy_share of the cost model; NULL: not loaded yet
  struct settlement result;
  struct arena *arena;
};

// The share of the guaranteed value by which it is missed; below 0 if it is not missed.
static double missed_by(enum guaranteed what, double share) {
  return clause_is_ceiling(what) ? share : -share;
}

// ---- money

static double price_owed(struct settling *settling, double price, double shortfall) {
  const struct offer_acceptance *said = settling->said;
  if (!settling->share)
    settling->share = lone_item_new("remedy_share", settling->arena);
  const struct lone_value values[] = {
      {"shortfall", shortfall}, {"remedy", said->remedy}, {"remedy_limit", said->remedy_limit}};
  const size_t count = isnan(said->remedy_limit) ? 2 : 3;
  const double share = lone_item_value(settling->share, values, count);
  settling->result.limited |= share < lone_item_value(settling->share, values, 2);
  return price * share;
}

// Whether the clause on single nodes fails that this node was judged for.
static bool clause_fails(const struct acceptance *acceptance, const struct accepted_node *node) {
  for (size_t c = 0; c < acceptance->clause_count; c++) {
    const struct acceptance_clause *clause = &acceptance->clauses[c];
    if (clause->kind == CLAUSE_NODES && clause->guarantee == node->guarantee &&
        clause->what == node->what)
      return clause->verdict == VERDICT_FAIL;
  }
  return false;
}

// The worst failure of each node: the share by which it misses the guarantee. Nodes that fail count
// only where their clause fails: if it passes, the offer tolerates them.
static const double *worst_failures(const struct settling *settling) {
  const struct acceptance *acceptance = settling->acceptance;
  double *worst = arena_array(settling->arena, acceptance->fleet->node_count + 1, sizeof *worst);
  for (size_t n = 0; n < acceptance->node_count; n++) {
    const struct accepted_node *node = &acceptance->nodes[n];
    if (node->verdict == VERDICT_FAIL && clause_fails(acceptance, node))
      worst[node->node] = fmax(worst[node->node], missed_by(node->what, node->share));
  }
  return worst;
}

static size_t failing_nodes(const struct settling *settling) {
  const struct acceptance *acceptance = settling->acceptance;
  bool *fails = arena_array(settling->arena, acceptance->fleet->node_count + 1, sizeof *fails);
  size_t count = 0;
  for (size_t n = 0; n < acceptance->node_count; n++) {
    const struct accepted_node *node = &acceptance->nodes[n];
    count += node->verdict == VERDICT_FAIL && !fails[node->node];
    fails[node->node] |= node->verdict == VERDICT_FAIL;
  }
  return count;
}

static double node_price(const struct settling *settling) {
  return settling->result.price / (double)settling->acceptance->rule.nodes;
}

static void settle_nodes(struct settling *settling, const double *worst) {
  for (size_t n = 0; n < settling->acceptance->fleet->node_count; n++)
    if (worst[n] > 0)
      settling->result.owed += price_owed(settling, node_price(settling), worst[n]);
}

// ---- replacement

struct miss {
  size_t node;
  double missed; // share of the guaranteed value; below 0: it is better
};

static int most_first(const void *a, const void *b) {
  const struct miss *left = a, *right = b;
  const int order = number_order(right->missed, left->missed);
  return order ? order : (left->node > right->node) - (left->node < right->node);
}

// Why each node is replaced; NULL: it is not.
static const struct acceptance_clause by_itself;

// Marks the fewest further nodes, worst first, after whose replacement the mean is at the clause's
// limit. Nodes that are better than guaranteed stay.
static void mark_for_mean(const struct settling *settling, const struct acceptance_clause *clause,
                          const struct acceptance_clause **marks) {
  const struct node_sample *sample = &clause->sample;
  const double count = (double)sample->count, slack = 1e-9;
  const double allowed = missed_by(clause->what, clause->limit / clause->quoted - 1) + slack;
  struct miss *misses = arena_array(settling->arena, sample->count + 1, sizeof *misses);
  double sum = 0;
  for (size_t n = 0; n < sample->count; n++) {
    const struct node_value *node = &sample->nodes[n];
    const double missed = missed_by(clause->what, node->value / clause->quoted - 1);
    misses[n] = (struct miss){node->node, marks[node->node] ? 0 : missed};
    sum += misses[n].missed;
  }
  qsort(misses, sample->count, sizeof *misses, most_first);
  for (size_t n = 0; n < sample->count && misses[n].missed > 0 && sum > count * allowed; n++) {
    marks[misses[n].node] = clause;
    sum -= misses[n].missed;
  }
}

static void settle_replacement(struct settling *settling, const double *worst) {
  const struct acceptance *acceptance = settling->acceptance;
  struct settlement *result = &settling->result;
  const struct offer *offer = acceptance->offer;
  const size_t nodes = acceptance->fleet->node_count;
  const struct acceptance_clause **marks =
      arena_array(settling->arena, nodes + 1, sizeof(const struct acceptance_clause *));
  for (size_t n = 0; n < nodes; n++)
    marks[n] = worst[n] > 0 ? &by_itself : NULL;
  for (size_t c = 0; c < acceptance->clause_count; c++) {
    const struct acceptance_clause *clause = &acceptance->clauses[c];
    if (clause->kind == CLAUSE_MEAN && clause->verdict == VERDICT_FAIL &&
        clause->what != GUARANTEED_WATTS)
      mark_for_mean(settling, clause, marks);
  }
  result->replaced = arena_array(settling->arena, nodes + 1, sizeof *result->replaced);
  for (size_t n = 0; n < nodes; n++)
    if (marks[n])
      result->replaced[result->replaced_count++] =
          (struct replaced_node){n, marks[n] == &by_itself ? NULL : marks[n]};
  result->replaced_price = (double)result->replaced_count * node_price(settling);
  result->replaced_delivery = result->replaced_price * (offer->prices[OFFER_DELIVERY].value +
                                                        offer->prices[OFFER_INSTALLATION].value);
}

struct settlement settlement_of(const struct acceptance *acceptance, struct arena *arena) {
  const struct offer *offer = acceptance->offer;
  struct settling settling = {.acceptance = acceptance,
                              .said = &offer->acceptance,
                              .result = {.acceptance = acceptance, .price = offer_hardware(offer)},
                              .arena = arena};
  struct settlement *result = &settling.result;
  for (size_t c = 0; c < acceptance->clause_count; c++) {
    const struct acceptance_clause *clause = &acceptance->clauses[c];
    if (clause->verdict == VERDICT_FAIL && clause->kind == CLAUSE_MEAN &&
        clause->what != GUARANTEED_WATTS)
      result->shortfall =
          fmax(result->shortfall, missed_by(clause->what, clause->found / clause->quoted - 1));
  }
  const bool is_money = !isnan(offer->acceptance.remedy);
  const double *worst = worst_failures(&settling);
  result->failing = failing_nodes(&settling);
  if (is_money && result->shortfall > 0)
    result->owed = price_owed(&settling, result->price, result->shortfall);
  else if (is_money)
    settle_nodes(&settling, worst);
  if (offer->acceptance.replacement)
    settle_replacement(&settling, worst);
  if (!is_money)
    result->owed = NAN;
  return *result;
}
