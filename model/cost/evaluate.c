#include "model/cost/evaluate.h"

#include "model/cost/arithmetic.h"

#include <math.h>
#include <string.h>

// Deep enough for any formula that formula_parse accepts would be wasteful: scratch grows with the
// deepest formula of the graph.
static int node_depth(const struct node *node) {
  int deepest = 0;
  for (int i = 0; i < node->argument_count; i++) {
    int depth = node_depth(node->arguments[i]);
    deepest = depth > deepest ? depth : deepest;
  }
  return deepest + 1;
}

static size_t columns_of(const struct evaluation *evaluation, int declaration) {
  bool series = evaluation->graph->model->declarations[declaration].kind == DECLARATION_SERIES;
  return series ? (size_t)evaluation->periods : 1;
}

struct evaluation *evaluation_new(const struct graph *graph, int periods, size_t width,
                                  struct arena *arena) {
  struct evaluation *evaluation = arena_alloc(arena, sizeof *evaluation);
  *evaluation = (struct evaluation){.graph = graph, .periods = periods, .width = width};
  int count = graph->model->count, depth = 1;
  evaluation->values = arena_array(arena, (size_t)count, sizeof *evaluation->values);
  for (int d = 0; d < count; d++) {
    if (graph->state[d] == GRAPH_ABSENT)
      continue;
    evaluation->values[d] = arena_array(arena, columns_of(evaluation, d) * width, sizeof(double));
    if (graph->state[d] >= 0) {
      int own = node_depth(graph_formula(graph, d));
      depth = own > depth ? own : depth;
    }
  }
  evaluation->scratch =
      arena_array(arena, (size_t)depth * (MAX_ARGUMENTS - 1) * width, sizeof(double));
  return evaluation;
}

double *evaluation_at(const struct evaluation *evaluation, int declaration, int period) {
  bool series = evaluation->graph->model->declarations[declaration].kind == DECLARATION_SERIES;
  return evaluation->values[declaration] + (series ? (size_t)period * evaluation->width : 0);
}

static void apply_binary(enum node_kind kind, size_t width, double *restrict a,
                         const double *restrict b) {
#define EACH(expression)                                                                           \
  for (size_t i = 0; i < width; i++)                                                               \
    a[i] = (expression);                                                                           \
  break
  switch (kind) {
  case NODE_ADD: EACH(a[i] + b[i]);
  case NODE_SUBTRACT: EACH(a[i] - b[i]);
  case NODE_MULTIPLY: EACH(a[i] * b[i]);
  case NODE_DIVIDE: EACH(a[i] / b[i]);
  case NODE_POWER: EACH(pow(a[i], b[i]));
  case NODE_EQUAL: EACH(arithmetic_compare(a[i], b[i]) == 0);
  case NODE_UNEQUAL: EACH(arithmetic_compare(a[i], b[i]) != 0);
  case NODE_LESS: EACH(arithmetic_compare(a[i], b[i]) < 0);
  case NODE_LESS_EQUAL: EACH(arithmetic_compare(a[i], b[i]) <= 0);
  case NODE_GREATER: EACH(arithmetic_compare(a[i], b[i]) > 0);
  case NODE_GREATER_EQUAL: EACH(arithmetic_compare(a[i], b[i]) >= 0);
  default: break;
  }
}

static void evaluate_node(struct evaluation *evaluation, const struct node *node, int period,
                          double *out, double *scratch);

static void evaluate_series_call(struct evaluation *evaluation, const struct node *node, int period,
                                 double *out) {
  size_t width = evaluation->width;
  int series = node->arguments[0]->declaration;
  memset(out, 0, width * sizeof *out);
  if (node->function == FUNCTION_PREV) {
    if (period > 0)
      memcpy(out, evaluation_at(evaluation, series, period - 1), width * sizeof *out);
    return;
  }
  int last = node->function == FUNCTION_FIRST ? 1 : evaluation->periods;
  for (int t = 0; t < last; t++) {
    const double *column = evaluation_at(evaluation, series, t);
    for (size_t i = 0; i < width; i++)
      out[i] += column[i];
  }
}

static void apply_call(enum function function, int count, size_t width, double *restrict out,
                       const double *restrict rest) {
  const double *b = rest, *c = rest + width;
  switch (function) {
  case FUNCTION_IF:
    for (size_t i = 0; i < width; i++)
      out[i] = out[i] != 0 ? b[i] : c[i];
    break;
  case FUNCTION_MIN:
    for (int k = 0; k < count - 1; k++)
      for (size_t i = 0; i < width; i++)
        out[i] = fmin(out[i], rest[(size_t)k * width + i]);
    break;
  case FUNCTION_MAX:
    for (int k = 0; k < count - 1; k++)
      for (size_t i = 0; i < width; i++)
        out[i] = fmax(out[i], rest[(size_t)k * width + i]);
    break;
  case FUNCTION_ROUND:
    for (size_t i = 0; i < width; i++)
      out[i] = arithmetic_round(out[i], b[i]);
    break;
  case FUNCTION_CEIL:
    for (size_t i = 0; i < width; i++)
      out[i] = arithmetic_ceil(out[i]);
    break;
  case FUNCTION_GROWTH:
    for (size_t i = 0; i < width; i++)
      out[i] = pow(1 + out[i] * arithmetic_year_h, b[i] / arithmetic_year_h);
    break;
  default: break;
  }
}

static void evaluate_call(struct evaluation *evaluation, const struct node *node, int period,
                          double *out, double *scratch) {
  if (node->function == FUNCTION_SUM || node->function == FUNCTION_FIRST ||
      node->function == FUNCTION_PREV) {
    evaluate_series_call(evaluation, node, period, out);
    return;
  }
  size_t width = evaluation->width;
  double *next = scratch + (MAX_ARGUMENTS - 1) * width;
  evaluate_node(evaluation, node->arguments[0], period, out, next);
  for (int i = 1; i < node->argument_count; i++)
    evaluate_node(evaluation, node->arguments[i], period, scratch + (size_t)(i - 1) * width, next);
  apply_call(node->function, node->argument_count, width, out, scratch);
}

static void evaluate_name(struct evaluation *evaluation, const struct node *node, int period,
                          double *out) {
  size_t width = evaluation->width;
  if (node->declaration == T_NAME) {
    for (size_t i = 0; i < width; i++)
      out[i] = period;
    return;
  }
  memcpy(out, evaluation_at(evaluation, node->declaration, period), width * sizeof *out);
}

static void evaluate_node(struct evaluation *evaluation, const struct node *node, int period,
                          double *out, double *scratch) {
  size_t width = evaluation->width;
  double *next = scratch + (MAX_ARGUMENTS - 1) * width;
  switch (node->kind) {
  case NODE_NUMBER:
    for (size_t i = 0; i < width; i++)
      out[i] = node->value;
    break;
  case NODE_NAME: evaluate_name(evaluation, node, period, out); break;
  case NODE_CALL: evaluate_call(evaluation, node, period, out, scratch); break;
  case NODE_NEGATE:
    evaluate_node(evaluation, node->arguments[0], period, out, scratch);
    for (size_t i = 0; i < width; i++)
      out[i] = -out[i];
    break;
  default:
    evaluate_node(evaluation, node->arguments[0], period, out, next);
    evaluate_node(evaluation, node->arguments[1], period, scratch, next);
    apply_binary(node->kind, width, out, scratch);
  }
}

void evaluate(struct evaluation *evaluation) {
  const struct graph *graph = evaluation->graph;
  for (int i = 0; i < graph->order_count; i++) {
    int declaration = graph->order[i];
    const struct node *formula = graph_formula(graph, declaration);
    int columns = (int)columns_of(evaluation, declaration);
    for (int t = 0; t < columns; t++)
      evaluate_node(evaluation, formula, t, evaluation_at(evaluation, declaration, t),
                    evaluation->scratch);
  }
}

// The innermost division whose divisor is zero in a case, or NULL.
static const struct node *zero_divisor(struct evaluation *evaluation, const struct node *node,
                                       int period, size_t which) {
  for (int i = 0; i < node->argument_count; i++) {
    const struct node *inner = zero_divisor(evaluation, node->arguments[i], period, which);
    if (inner)
      return inner;
  }
  if (node->kind != NODE_DIVIDE)
    return NULL;
  double values[evaluation->width];
  evaluate_node(evaluation, node->arguments[1], period, values, evaluation->scratch);
  return values[which] == 0 ? node->arguments[1] : NULL;
}

static void report_failure(const struct evaluation *evaluation, int declaration, int period,
                           size_t which, const char *what, struct diagnostics *diagnostics) {
  const struct graph *graph = evaluation->graph;
  const struct declaration *item = &graph->model->declarations[declaration];
  struct evaluation copy = *evaluation;
  const struct node *divisor =
      zero_divisor(&copy, graph_formula(graph, declaration), period, which);
  struct place place =
      graph->model->declarations[declaration].alternatives[graph->state[declaration]].place;
  if (divisor)
    diagnostics_error(diagnostics, divisor->place, "division by zero in '%s' of %s: '%s' is 0",
                      item->name, what, formula_text(divisor, diagnostics->arena));
  else
    diagnostics_error(diagnostics, place, "'%s' of %s has no finite value", item->name, what);
}

int evaluation_check(const struct evaluation *evaluation, size_t which, const char *what,
                     struct diagnostics *diagnostics) {
  const struct graph *graph = evaluation->graph;
  for (int i = 0; i < graph->order_count; i++) {
    int declaration = graph->order[i];
    int columns = (int)columns_of(evaluation, declaration);
    for (int t = 0; t < columns; t++) {
      if (isfinite(evaluation_at(evaluation, declaration, t)[which]))
        continue;
      report_failure(evaluation, declaration, t, which, what, diagnostics);
      return -1;
    }
  }
  return 0;
}
