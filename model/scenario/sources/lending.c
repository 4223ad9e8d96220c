#include "model/scenario/sources/lending.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"

#include <stddef.h>
#include <string.h>

bool tokens_are_lent(const struct resolving *resolving) {
  return selection_of(&resolving->selections, SELECT_TOKENS_OF) != NULL;
}

// Marks a declaration and everything in a graph that it is computed from or needs.
static void mark(const struct graph *graph, int declaration, bool *marked);

static void mark_named(const struct graph *graph, const struct node *node, bool *marked) {
  if (node->kind == NODE_NAME && node->declaration >= 0)
    mark(graph, node->declaration, marked);
  for (int i = 0; i < node->argument_count; i++)
    mark_named(graph, node->arguments[i], marked);
}

static void mark(const struct graph *graph, int declaration, bool *marked) {
  if (marked[declaration])
    return;
  marked[declaration] = true;
  if (graph->state[declaration] >= 0)
    mark_named(graph, graph_formula(graph, declaration), marked);
  const int only_with = graph->model->declarations[declaration].only_with;
  if (only_with >= 0)
    mark(graph, only_with, marked);
}

static int refuse(const struct resolving *resolving, const char *why) {
  const struct ini_key *key = selection_of(&resolving->selections, SELECT_TOKENS_OF);
  diagnostics_error(resolving->diagnostics, key->value_place,
                    "option '%s' uses the tokens of '%s': %s", resolving->option->id, key->value,
                    why);
  return -1;
}

// The lending option, or -1 after an error.
static int lender_of(const struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  const struct ini_key *key = selection_of(&resolving->selections, SELECT_TOKENS_OF);
  const struct model *model = scenario->model;
  const int demand = model_require(model, "demand", resolving->diagnostics);
  const int purchase = model_find(model, "purchase");
  const int number = scenario_option(scenario, key->value);
  if (demand < 0)
    return -1;
  if (number < 0) {
    scenario_unknown_option(scenario, key->value, key->value_place, resolving->diagnostics);
    return -1;
  }
  const struct option *lender = &scenario->options[number];
  if (!resolving->option->provider)
    return refuse(resolving, "only a token API can, as it has no accelerators of its own");
  if (lender->provider || selection_of(&scenario->selections[1 + number], SELECT_TOKENS_OF))
    return refuse(resolving, "that is also a token API; give both a 'demand'");
  if (resolving_has(resolving, demand))
    return refuse(resolving, "it also has a 'demand'; give only one");
  if (!lender->graph) // it had errors of its own
    return -1;
  if (lender->graph->state[demand] == GRAPH_ABSENT && purchase >= 0 &&
      lender->graph->state[purchase] == GRAPH_INPUT)
    return refuse(
        resolving,
        "its accelerators change from year to year, or are renewed; give both a 'demand'");
  return number;
}

// An input of its own from which the other's tokens also follow must have the same value in both.
static int check_same(const struct resolving *resolving, const struct option *lender, int input) {
  for (size_t c = 0; c < resolving->scenario->case_count; c++)
    if (resolving_figures(resolving, c)[input]->value !=
        option_figure(resolving->scenario, lender, c, input)->value)
      return refuse(resolving, arena_printf(resolving->arena, "its '%s' must be the same in both",
                                            resolving->scenario->model->declarations[input].name));
  return 0;
}

// Takes hardware, and whatever defines a demand; the option states everything else itself.
static int take(const struct resolving *resolving, const struct option *lender, int input,
                bool by_demand, bool *lent) {
  const struct model *model = resolving->scenario->model;
  const bool is_hardware = model->declarations[input].absent_with >= 0;
  if (!is_hardware && (!by_demand || resolving_has(resolving, input)))
    return check_same(resolving, lender, input);
  lent[input] = true;
  for (size_t c = 0; c < resolving->scenario->case_count; c++)
    resolving_figures(resolving, c)[input] = option_figure(resolving->scenario, lender, c, input);
  return 0;
}

int tokens_lend(struct resolving *resolving) {
  const struct model *model = resolving->scenario->model;
  const int number = lender_of(resolving);
  if (number < 0)
    return -1;
  const struct option *lender = &resolving->scenario->options[number];
  const bool by_demand = lender->graph->state[model_find(model, "demand")] != GRAPH_ABSENT;
  const int tokens =
      model_require(model, by_demand ? "demanded" : "tokens", resolving->diagnostics);
  if (tokens < 0)
    return -1;
  bool *marked = arena_array(resolving->arena, (size_t)model->count, sizeof *marked);
  bool *lent = arena_array(resolving->arena, (size_t)model->count, sizeof *lent);
  mark(lender->graph, tokens, marked);
  for (int d = 0; d < model->count; d++)
    if (marked[d] && model->declarations[d].kind == DECLARATION_INPUT &&
        take(resolving, lender, d, by_demand, lent))
      return -1;
  resolving->option->lender = (size_t)number;
  resolving->option->lent = lent;
  return 0;
}

void tokens_hide(const struct resolving *resolving) {
  const struct model *model = resolving->scenario->model;
  const struct option *option = resolving->option;
  enum given *given = arena_array(resolving->arena, (size_t)model->count, sizeof *given);
  memcpy(given, option->given, (size_t)model->count * sizeof *given);
  given[model_find(model, "demand")] = GIVEN_VALUE;
  const struct graph *without = graph_try(model, option->id, given, NULL, resolving->arena);
  for (int d = 0; d < model->count && without; d++)
    option->lent[d] |= without->state[d] == GRAPH_ABSENT && option->graph->state[d] != GRAPH_ABSENT;
}
