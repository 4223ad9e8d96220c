#include "model/cost/evaluate.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/cost/calculation.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static int columns_of(const struct graph *graph, int periods, int declaration) {
  return graph_is_series(graph, declaration) ? periods : 1;
}

// Every input is a variable, and everything is wanted: the inputs, then the items in order.
static const struct calculation *calculate_all(const struct graph *graph, int periods,
                                               struct calculation_item *items, size_t *count,
                                               struct arena *arena) {
  struct arena scratch = {NULL};
  const size_t declarations = (size_t)graph->model->count;
  struct calculation_input *inputs = arena_array(&scratch, declarations, sizeof *inputs);
  const struct calculation_graph whole = {graph, inputs};
  struct calculation_request request = {
      .graphs = &whole, .graph_count = 1, .periods = periods, .items = items};
  for (int d = 0; d < graph->model->count; d++)
    if (graph->state[d] == GRAPH_INPUT) {
      inputs[d].variable = request.variable_count++;
      items[request.item_count++] = (struct calculation_item){.declaration = d};
    }
  for (int i = 0; i < graph->order_count; i++)
    for (int t = 0; t < columns_of(graph, periods, graph->order[i]); t++)
      items[request.item_count++] =
          (struct calculation_item){.declaration = graph->order[i], .period = t};
  const struct calculation *calculation = calculation_new(&request, arena);
  *count = request.item_count;
  arena_free(&scratch);
  return calculation;
}

struct evaluation *evaluation_like(const struct evaluation *evaluation, size_t width,
                                   struct arena *arena) {
  struct evaluation *like = arena_alloc(arena, sizeof *like);
  *like = *evaluation;
  like->width = width;
  like->workspace = arena_array(arena, (size_t)like->calculation->vectors * width, sizeof(double));
  calculation_prepare(like->calculation, like->workspace, width);
  return like;
}

struct evaluation *evaluation_new(const struct graph *graph, int periods, size_t width,
                                  struct arena *arena) {
  struct arena scratch = {NULL};
  const size_t cells = (size_t)graph->model->count * (size_t)periods;
  struct calculation_item *items = arena_array(&scratch, cells, sizeof *items);
  int *vectors = arena_array(arena, cells, sizeof *vectors);
  size_t count;
  const struct evaluation evaluation = {.graph = graph,
                                        .periods = periods,
                                        .calculation =
                                            calculate_all(graph, periods, items, &count, arena),
                                        .vectors = vectors};
  memset(vectors, -1, cells * sizeof *vectors);
  for (size_t i = 0; i < count; i++)
    vectors[items[i].declaration * periods + items[i].period] = evaluation.calculation->items[i];
  arena_free(&scratch);
  return evaluation_like(&evaluation, width, arena);
}

double *evaluation_at(const struct evaluation *evaluation, int declaration, int period) {
  const bool series = graph_is_series(evaluation->graph, declaration);
  const int vector = evaluation->vectors[declaration * evaluation->periods + (series ? period : 0)];
  return vector < 0 ? NULL : evaluation->workspace + (size_t)vector * evaluation->width;
}

double *evaluation_input(const struct evaluation *evaluation, const char *name) {
  const struct graph *graph = evaluation->graph;
  const int d = graph_stated(graph, model_find(graph->model, name));
  return d >= 0 && graph->state[d] == GRAPH_INPUT ? evaluation_at(evaluation, d, 0) : NULL;
}

void evaluate(struct evaluation *evaluation) {
  calculation_run(evaluation->calculation, evaluation->workspace, evaluation->width);
}

// The innermost division whose divisor is zero when the inputs are constants, or NULL; not one that
// a condition leaves out.
static const struct node *zero_divisor(const struct calculation_graph *graph, int periods,
                                       const struct node *node, int period) {
  const bool decides = node_calls(node, FUNCTION_IF);
  const bool otherwise =
      decides && calculation_value(graph, periods, node->arguments[0], period) == 0;
  for (int i = 0; i < node->argument_count; i++) {
    if (decides && i == (otherwise ? 1 : 2))
      continue;
    const struct node *inner = zero_divisor(graph, periods, node->arguments[i], period);
    if (inner)
      return inner;
  }
  if (node->kind != NODE_DIVIDE)
    return NULL;
  return calculation_value(graph, periods, node->arguments[1], period) == 0 ? node->arguments[1]
                                                                            : NULL;
}

static void mark_sources(const struct graph *graph, const struct node *node, bool *sources) {
  const int d = node->kind == NODE_NAME ? node->declaration : -1;
  if (d >= 0 && !sources[d]) {
    sources[d] = true;
    if (graph->state[d] >= 0)
      mark_sources(graph, graph_formula(graph, d), sources);
  }
  for (int i = 0; i < node->argument_count; i++)
    mark_sources(graph, node->arguments[i], sources);
}

static void report_failure(const struct evaluation *evaluation, int declaration, int period,
                           size_t which, const char *what, bool *sources,
                           struct diagnostics *diagnostics) {
  const struct graph *graph = evaluation->graph;
  const struct declaration *item = &graph->model->declarations[declaration];
  struct calculation_input *inputs =
      arena_array(diagnostics->arena, (size_t)graph->model->count, sizeof *inputs);
  for (int d = 0; d < graph->model->count; d++)
    if (graph->state[d] == GRAPH_INPUT)
      inputs[d] = (struct calculation_input){-1, evaluation_at(evaluation, d, 0)[which]};
  const struct node *divisor =
      zero_divisor(&(struct calculation_graph){graph, inputs}, evaluation->periods,
                   graph_formula(graph, declaration), period);
  mark_sources(graph, divisor ? divisor : graph_formula(graph, declaration), sources);
  if (divisor)
    diagnostics_error(diagnostics, divisor->place, "division by zero in '%s' of %s: '%s' is 0",
                      item->name, what, formula_text(divisor, diagnostics->arena));
  else
    diagnostics_error(diagnostics, item->alternatives[graph->state[declaration]].place,
                      "'%s' of %s has no finite value", item->name, what);
}

int evaluation_check(const struct evaluation *evaluation, size_t which, const char *what,
                     bool *sources, struct diagnostics *diagnostics) {
  const struct graph *graph = evaluation->graph;
  for (int i = 0; i < graph->order_count; i++) {
    const int declaration = graph->order[i];
    for (int t = 0; t < columns_of(graph, evaluation->periods, declaration); t++) {
      if (isfinite(evaluation_at(evaluation, declaration, t)[which]))
        continue;
      report_failure(evaluation, declaration, t, which, what, sources, diagnostics);
      return -1;
    }
  }
  return 0;
}
