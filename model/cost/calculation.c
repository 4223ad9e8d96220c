#include "model/cost/calculation.h"

#include "base/arena.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/operation.h"
#include "model/cost/units.h"
#include "model/cost/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct calculation_step {
  operation_kernel *run;
  int out, operands[VALUE_OPERANDS]; // numbers of vectors; out may be one of the operands
  double k;
};

// ---- from formulas to values

struct translation {
  struct value_table *values;
  const struct calculation_graph *graph;
  int periods;
  int *known; // [declaration][period]: value, or -1
};

static struct translation translation_of(const struct calculation_graph *graph, int periods,
                                         struct value_table *values) {
  const size_t cells = (size_t)graph->graph->model->count * (size_t)periods;
  struct translation translation = {values, graph, periods,
                                    arena_array(values->arena, cells, sizeof(int))};
  memset(translation.known, -1, cells * sizeof(int));
  return translation;
}

static int translate_item(struct translation *translation, int declaration, int period);
static int translate(struct translation *translation, const struct node *node, int period);

// The sum over the last `count` earlier periods, added one after another, so that it equals a total
// carried forward.
static int translate_recent(struct translation *translation, int series, int count, int period) {
  struct value_table *values = translation->values;
  const int nothing = value_constant(values, 0);
  int all = nothing;
  for (int t = 0; t < period; t++) {
    const int within =
        value_of(values, OPERATION_LESS_EQUAL, value_constant(values, period - t), count, -1);
    const int there = translate_item(translation, series, t);
    all = value_of(values, OPERATION_ADD, all,
                   value_of(values, OPERATION_IF, within, there, nothing), -1);
  }
  return all;
}

static int translate_series_call(struct translation *translation, const struct node *node,
                                 int period) {
  const int series = node->arguments[0]->declaration;
  const int nothing = value_constant(translation->values, 0);
  if (node->function == FUNCTION_PREV)
    return period > 0 ? translate_item(translation, series, period - 1) : nothing;
  if (node->function == FUNCTION_NEXT)
    return period + 1 < translation->periods ? translate_item(translation, series, period + 1)
                                             : nothing;
  if (node->function == FUNCTION_RECENT)
    return translate_recent(translation, series, translate(translation, node->arguments[1], period),
                            period);
  if (node->function == FUNCTION_FIRST)
    return translate_item(translation, series, 0);
  const bool is_sum = node->function == FUNCTION_SUM;
  int all = is_sum ? nothing : translate_item(translation, series, 0);
  for (int t = is_sum ? 0 : 1; t < translation->periods; t++)
    all = value_of(translation->values, is_sum ? OPERATION_ADD : OPERATION_MAX, all,
                   translate_item(translation, series, t), -1);
  return all;
}

// The value of (1 + rate * 1 yr) ^ (time / 1 yr).
static int growth(struct value_table *values, int rate, int time) {
  const int year = value_constant(values, HOURS_PER_YEAR);
  const int change = value_of(values, OPERATION_MULTIPLY, rate, year, -1);
  const int base = value_of(values, OPERATION_ADD, value_constant(values, 1), change, -1);
  return value_of(values, OPERATION_POWER, base, value_of(values, OPERATION_DIVIDE, time, year, -1),
                  -1);
}

static int translate_call(struct translation *translation, const struct node *node, int period) {
  struct value_table *values = translation->values;
  if (node_takes_series(node))
    return translate_series_call(translation, node, period);
  int arguments[MAX_ARGUMENTS] = {0};
  for (int i = 0; i < node->argument_count; i++)
    arguments[i] = translate(translation, node->arguments[i], period);
  int result = arguments[0];
  switch (node->function) {
  case FUNCTION_IF: return value_of(values, OPERATION_IF, arguments[0], arguments[1], arguments[2]);
  case FUNCTION_MIN:
  case FUNCTION_MAX:
    for (int i = 1; i < node->argument_count; i++)
      result = value_of(values, node->function == FUNCTION_MIN ? OPERATION_MIN : OPERATION_MAX,
                        result, arguments[i], -1);
    return result;
  case FUNCTION_ROUND: return value_round(values, arguments[0], arguments[1]);
  case FUNCTION_CEIL: return value_ceil(values, arguments[0]);
  case FUNCTION_FLOOR: return value_floor(values, arguments[0]);
  default: return growth(values, arguments[0], arguments[1]);
  }
}

static int translate(struct translation *translation, const struct node *node, int period) {
  static const enum operation binary[NODE_KINDS] = {[NODE_ADD] = OPERATION_ADD,
                                                    [NODE_SUBTRACT] = OPERATION_SUBTRACT,
                                                    [NODE_MULTIPLY] = OPERATION_MULTIPLY,
                                                    [NODE_DIVIDE] = OPERATION_DIVIDE,
                                                    [NODE_POWER] = OPERATION_POWER,
                                                    [NODE_EQUAL] = OPERATION_EQUAL,
                                                    [NODE_UNEQUAL] = OPERATION_UNEQUAL,
                                                    [NODE_LESS] = OPERATION_LESS,
                                                    [NODE_LESS_EQUAL] = OPERATION_LESS_EQUAL,
                                                    [NODE_GREATER] = OPERATION_GREATER,
                                                    [NODE_GREATER_EQUAL] = OPERATION_GREATER_EQUAL};
  struct value_table *values = translation->values;
  switch (node->kind) {
  case NODE_NUMBER: return value_constant(values, node->value);
  case NODE_NAME:
    return node->declaration == T_NAME ? value_constant(values, period)
                                       : translate_item(translation, node->declaration, period);
  case NODE_CALL: return translate_call(translation, node, period);
  case NODE_NEGATE:
    return value_of(values, OPERATION_MULTIPLY, translate(translation, node->arguments[0], period),
                    value_constant(values, -1), -1);
  default: break;
  }
  const int left = translate(translation, node->arguments[0], period);
  const int right = translate(translation, node->arguments[1], period);
  return value_of(values, binary[node->kind], left, right, -1);
}

static int translate_item(struct translation *translation, int declaration, int period) {
  const struct graph *graph = translation->graph->graph;
  period = graph_is_series(graph, declaration) ? period : 0;
  int *known = &translation->known[declaration * translation->periods + period];
  if (*known >= 0)
    return *known;
  const struct calculation_input *input = &translation->graph->inputs[declaration];
  if (graph->state[declaration] != GRAPH_INPUT)
    *known = translate(translation, graph_formula(graph, declaration), period);
  else if (input->variable >= 0)
    *known = value_variable(translation->values, input->variable);
  else
    *known = value_constant(translation->values, input->constant);
  return *known;
}

double calculation_value(const struct calculation_graph *graph, int periods,
                         const struct node *node, int period) {
  struct arena scratch = {NULL};
  struct value_table *values = values_new(false, &scratch);
  struct translation translation = translation_of(graph, periods, values);
  const int value = translate(&translation, node, period);
  const double result = values->list[value].k;
  arena_free(&scratch);
  return result;
}

const struct value_table *calculation_values(const struct calculation_request *request, int *items,
                                             struct arena *arena) {
  struct value_table *values = values_new(request->products, arena);
  struct translation *translations = arena_array(arena, request->graph_count, sizeof *translations);
  for (size_t g = 0; g < request->graph_count; g++)
    translations[g] = translation_of(&request->graphs[g], request->periods, values);
  for (size_t i = 0; i < request->item_count; i++)
    items[i] = translate_item(&translations[request->items[i].graph], request->items[i].declaration,
                              request->items[i].period);
  return values;
}

// ---- from values to steps

struct schedule {
  const struct value_table *values;
  struct calculation *calculation;
  struct calculation_step *steps, *constants; // one array, from its beginning and to its end
  int *uses;   // [value] how many needed values use it, plus one if it is an item
  int *vector; // [value] its vector, or -1
  int *free;   // [free_count] vectors that can be reused
  int free_count;
  bool *late, *kept; // [value] depends on a late variable; is kept for reruns
};

static int operand_count(const struct value *value) {
  return operation_operands(value->operation);
}

static void count_uses(struct schedule *schedule, int value) {
  const struct value *v = &schedule->values->list[value];
  if (schedule->uses[value]++ > 0)
    return;
  for (int i = 0; i < operand_count(v); i++)
    count_uses(schedule, v->operands[i]);
}

// Variables and constants keep their vectors.
static void release(struct schedule *schedule, int value) {
  if (--schedule->uses[value] == 0 && schedule->values->list[value].operation > OPERATION_CONSTANT)
    schedule->free[schedule->free_count++] = schedule->vector[value];
}

// A constant's vector is never reused by a step: it would be overwritten from the second run on.
static void place_constant(struct schedule *schedule, int value) {
  struct calculation *calculation = schedule->calculation;
  schedule->vector[value] = calculation->vectors++;
  calculation->constant_count++;
  *--schedule->constants = (struct calculation_step){.run = operation_of(OPERATION_CONSTANT),
                                                     .out = schedule->vector[value],
                                                     .k = schedule->values->list[value].k};
}

static void place(struct schedule *schedule, int value) {
  const struct value *v = &schedule->values->list[value];
  if (schedule->vector[value] >= 0)
    return;
  if (v->operation == OPERATION_CONSTANT) {
    place_constant(schedule, value);
    return;
  }
  const int count = operand_count(v);
  struct calculation_step step = {.run = operation_of(v->operation), .k = v->k};
  for (int i = 0; i < count; i++)
    place(schedule, v->operands[i]);
  for (int i = 0; i < count; i++)
    step.operands[i] = schedule->vector[v->operands[i]];
  for (int i = 0; i < count; i++)
    release(schedule, v->operands[i]);
  step.out = schedule->vector[value] = schedule->free_count ? schedule->free[--schedule->free_count]
                                                            : schedule->calculation->vectors++;
  schedule->steps[schedule->calculation->step_count++] = step;
}

// Operands come before the values made of them.
static void find_late(const struct schedule *schedule, int first_late) {
  for (int v = 0; v < schedule->values->count; v++) {
    const struct value *value = &schedule->values->list[v];
    schedule->late[v] = value->operation == OPERATION_VARIABLE && value->operands[0] >= first_late;
    for (int i = 0; i < operand_count(value); i++)
      schedule->late[v] |= schedule->late[value->operands[i]];
  }
}

// Values that late values use but that are not late themselves come first. They get one extra use,
// so that their vectors are never overwritten and a rerun finds them.
static void place_early(struct schedule *schedule, int value) {
  const struct value *v = &schedule->values->list[value];
  if (schedule->kept[value])
    return;
  schedule->kept[value] = true;
  if (schedule->late[value])
    for (int i = 0; i < operand_count(v); i++)
      place_early(schedule, v->operands[i]);
  else {
    schedule->uses[value]++;
    place(schedule, value);
  }
}

// Items get one extra use, so that their vectors are never overwritten.
static void place_items(struct calculation *calculation, const struct value_table *values,
                        const int *items, int first_late, struct arena *arena) {
  struct arena *scratch = values->arena;
  const size_t count = (size_t)values->count;
  struct schedule schedule = {.values = values,
                              .calculation = calculation,
                              .steps = arena_array(scratch, count, sizeof *schedule.steps),
                              .uses = arena_array(scratch, count, sizeof(int)),
                              .vector = arena_array(scratch, count, sizeof(int)),
                              .free = arena_array(scratch, count, sizeof(int)),
                              .late = arena_array(scratch, count, sizeof(bool)),
                              .kept = arena_array(scratch, count, sizeof(bool))};
  schedule.constants = schedule.steps + count;
  for (size_t v = 0; v < count; v++)
    schedule.vector[v] =
        values->list[v].operation == OPERATION_VARIABLE ? values->list[v].operands[0] : -1;
  for (size_t i = 0; i < calculation->item_count; i++)
    count_uses(&schedule, items[i]);
  find_late(&schedule, first_late);
  for (size_t i = 0; i < calculation->item_count; i++)
    place_early(&schedule, items[i]);
  calculation->late_from = calculation->step_count;
  int *vectors = arena_array(arena, calculation->item_count, sizeof *vectors);
  for (size_t i = 0; i < calculation->item_count; i++) {
    place(&schedule, items[i]);
    vectors[i] = schedule.vector[items[i]];
  }
  calculation->items = vectors;
  calculation->steps = arena_grow(arena, schedule.steps, calculation->step_count,
                                  calculation->step_count, sizeof *schedule.steps);
  calculation->constants = arena_grow(arena, schedule.constants, calculation->constant_count,
                                      calculation->constant_count, sizeof *schedule.constants);
}

const struct calculation *calculation_new(const struct calculation_request *request,
                                          struct arena *arena) {
  struct arena scratch = {NULL};
  int *items = arena_array(&scratch, request->item_count, sizeof *items);
  const struct value_table *values = calculation_values(request, items, &scratch);
  struct calculation *calculation = arena_alloc(arena, sizeof *calculation);
  *calculation =
      (struct calculation){.vectors = request->variable_count, .item_count = request->item_count};
  place_items(calculation, values, items, request->variable_count - request->late_variables, arena);
  arena_free(&scratch);
  return calculation;
}

// ---- running

static void run(const struct calculation_step *steps, size_t count, double *workspace,
                size_t width) {
  for (size_t i = 0; i < count; i++) {
    const struct calculation_step *step = &steps[i];
    step->run(width, workspace + (size_t)step->out * width,
              workspace + (size_t)step->operands[0] * width,
              workspace + (size_t)step->operands[1] * width,
              workspace + (size_t)step->operands[2] * width, step->k);
  }
}

void calculation_prepare(const struct calculation *calculation, double *workspace, size_t width) {
  run(calculation->constants, calculation->constant_count, workspace, width);
}

void calculation_run(const struct calculation *calculation, double *workspace, size_t width) {
  run(calculation->steps, calculation->step_count, workspace, width);
}

void calculation_rerun(const struct calculation *calculation, double *workspace, size_t width) {
  run(calculation->steps + calculation->late_from, calculation->step_count - calculation->late_from,
      workspace, width);
}
