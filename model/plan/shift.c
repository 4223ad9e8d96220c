#include "model/plan/shift.h"

#include "base/arena.h"
#include "model/cost/evaluate.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"

#include <string.h>

int shift_carrier(const struct scenario *scenario) {
  return model_find(scenario->model, "lead_time");
}

// Whether it reads the year, or the steps of a list.
static bool reads_clock(const struct model *model, const struct node *node) {
  if (node->kind == NODE_NAME)
    return node->declaration >= 0 && declaration_is_clock(&model->declarations[node->declaration]);
  for (int i = 0; i < node->argument_count; i++)
    if (reads_clock(model, node->arguments[i]))
      return true;
  return false;
}

bool shift_matters(const struct scenario *scenario, const struct option *option) {
  static const char *const of_the_decline[] = {"net_price", "order_time"};
  const struct model *model = scenario->model;
  const struct graph *graph = option->graph;
  for (int i = 0; i < graph->order_count; i++) {
    const char *name = model->declarations[graph->order[i]].name;
    if (strcmp(name, of_the_decline[0]) != 0 && strcmp(name, of_the_decline[1]) != 0 &&
        reads_clock(model, graph_formula(graph, graph->order[i])))
      return true;
  }
  return false;
}

// A copy of the tree in which the carrier is added to `elapsed`.
static struct node *shifted(const struct node *node, int elapsed, int carrier,
                            struct arena *arena) {
  struct node *copy = arena_alloc(arena, sizeof *copy);
  *copy = *node;
  for (int i = 0; i < node->argument_count; i++)
    copy->arguments[i] = shifted(node->arguments[i], elapsed, carrier, arena);
  if (node->kind != NODE_NAME || node->declaration != elapsed)
    return copy;
  struct node *time = arena_alloc(arena, sizeof *time), *sum = arena_alloc(arena, sizeof *sum);
  *time = *node;
  time->declaration = carrier;
  *sum = *node;
  sum->kind = NODE_ADD;
  sum->argument_count = 2;
  sum->arguments[0] = copy;
  sum->arguments[1] = time;
  return sum;
}

static const struct graph *shifted_graph(const struct scenario *scenario, const struct graph *graph,
                                         struct arena *arena) {
  const struct model *model = scenario->model;
  const size_t count = (size_t)model->count;
  const int elapsed = model_find(model, "elapsed");
  const int carrier = shift_carrier(scenario);
  struct graph *copy = arena_alloc(arena, sizeof *copy);
  *copy = *graph;
  copy->state = arena_array(arena, count, sizeof *copy->state);
  copy->formulas = arena_array(arena, count, sizeof(const struct node *));
  memcpy(copy->state, graph->state, count * sizeof *copy->state);
  memcpy(copy->formulas, graph->formulas, count * sizeof(const struct node *));
  copy->state[carrier] = GRAPH_INPUT;
  for (int d = 0; d < model->count; d++)
    if (declaration_is_clock(&model->declarations[d]) && graph->formulas[d])
      copy->formulas[d] = shifted(graph->formulas[d], elapsed, carrier, arena);
  return copy;
}

struct evaluation *shift_block(const struct scenario *scenario, const struct option *option,
                               size_t width, struct arena *arena) {
  if (!shift_matters(scenario, option))
    return evaluation_like(option->evaluation, width, arena);
  return evaluation_new(shifted_graph(scenario, option->graph, arena), option->evaluation->periods,
                        width, arena);
}
