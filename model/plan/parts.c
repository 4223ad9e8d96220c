#include "model/plan/parts.h"

#include "base/arena.h"
#include "model/cost/evaluate.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"
#include "model/plan/actions.h"
#include "model/plan/fleet.h"
#include "model/plan/outcome.h"
#include "model/plan/quote.h"
#include "model/questions/route_pairs.h"
#include "model/scenario/option.h"

#include <stdbool.h>

enum { MAX_ITEMS = 64 };

struct items {
  int list[MAX_ITEMS + 1];
  size_t count;
  size_t at_once; // the number, from the start, that are due at the purchase only
};

// Lists the names whose sum a formula is.
static void add_terms(const struct node *node, struct items *items) {
  if (node->kind == NODE_ADD)
    for (int i = 0; i < 2; i++)
      add_terms(node->arguments[i], items);
  else if (node->kind == NODE_NAME && items->count < MAX_ITEMS)
    items->list[items->count++] = node->declaration;
}

static struct items items_of(const struct quoting *quoting, const struct option *option) {
  struct items items = {.count = 0};
  add_terms(graph_formula(option->graph, quote_item(quoting, "capex")), &items);
  items.at_once = items.count;
  add_terms(graph_formula(option->graph, quote_item(quoting, "opex")), &items);
  items.list[items.count++] = quote_item(quoting, "residual");
  return items;
}

// The workload whose nodes cost least in a period: the plan counts its cash.
static size_t cheapest(const struct evaluation *const *blocks, size_t count, int cash, int period) {
  size_t best = count;
  for (size_t w = 0; w < count; w++)
    if (blocks[w] && (best == count || quote_slope(blocks[w], 0, cash, period) <
                                           quote_slope(blocks[best], 0, cash, period)))
      best = w;
  return best;
}

// What the plan pays of an item in a period for an action's lots, and for spares beyond them; the
// second quote has one spare for each accelerator.
static double paid_of(const struct plan_answer *answer, size_t a, const struct evaluation *block,
                      int item, int period) {
  const struct fleet_option *option = &answer->problem->options[answer->problem->actions[a].option];
  const double nodes = answer->result.fleet.lots[a] * option->lot;
  const double spares = answer->result.fleet.spares[a] / option->accelerators;
  const double own = quote_slope(block, 0, item, period);
  return nodes * own + spares * (quote_slope(block, 1, item, period) - own);
}

struct plan_parts plan_parts_of(const struct plan_answer *answer, size_t a, struct arena *arena) {
  const struct fleet_problem *problem = answer->problem;
  const struct fleet_action *action = &problem->actions[a];
  const struct quoting quoting = {answer->terms, answer->portfolio, answer->scenario, NULL, arena};
  const struct quote *quotes = actions_quotes(&quoting, action->option, action, 1, arena);
  const size_t workloads = problem->workload_count;
  const struct evaluation **blocks =
      arena_array(arena, workloads, sizeof(const struct evaluation *));
  const struct items items = items_of(&quoting, &answer->scenario->options[action->option]);
  const int periods = action->last + 2 - action->first, cash = quote_item(&quoting, "cash");
  double *paid = arena_array(arena, items.count * (size_t)periods, sizeof *paid);
  int *list = arena_array(arena, items.count, sizeof *list);
  for (size_t w = 0; w < workloads; w++) {
    const struct option *option = answer->pairs[w * problem->option_count + action->option].option;
    blocks[w] = option ? quotes_evaluate(&quoting, option, &quotes[1], 2, arena) : NULL;
  }
  for (int t = 0; t < periods; t++) {
    const struct evaluation *block = blocks[cheapest(blocks, workloads, cash, t)];
    for (size_t i = 0; i < items.count; i++)
      paid[i * (size_t)periods + (size_t)t] =
          t && i < items.at_once ? 0 : paid_of(answer, a, block, items.list[i], t);
  }
  for (size_t i = 0; i < items.count; i++)
    list[i] = items.list[i];
  return (struct plan_parts){list, items.count, periods, paid};
}
