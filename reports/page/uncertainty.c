#include "reports/page/uncertainty.h"

#include "base/arena.h"
#include "model/chance/distribution.h"
#include "model/chance/draw.h"
#include "model/chance/sobol.h"
#include "model/cost/calculation.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/operation.h"
#include "model/cost/value.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/reading/range.h"
#include "model/simulate/sampler.h"
#include "model/simulate/simulation.h"
#include "reports/print/interval.h"
#include "reports/print/json_out.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static void put_number(json_t *object, const char *key, double value) {
  json_object_set_new(object, key, json_out_number(value));
}

// ---- what is drawn

static const char *const kinds[DISTRIBUTION_KINDS] = {
    [DISTRIBUTION_UNIFORM] = "uniform",     [DISTRIBUTION_TRIANGULAR] = "triangular",
    [DISTRIBUTION_PERT] = "pert",           [DISTRIBUTION_NORMAL] = "normal",
    [DISTRIBUTION_LOGNORMAL] = "lognormal", [DISTRIBUTION_DISCRETE] = "discrete",
    [DISTRIBUTION_MEASURED] = "measured"};

// Dimensions are numbered as the sampler assigns them to the ranges.
static json_t *directions_of(size_t range) {
  if (range >= DRAW_DIMENSIONS)
    return json_null();
  uint32_t directions[SOBOL_BITS];
  json_t *list = json_array();
  sobol_directions((int)range, directions);
  for (int k = 0; k < SOBOL_BITS; k++)
    json_array_append_new(list, json_integer(directions[k]));
  return list;
}

static json_t *atoms_of(const struct distribution *distribution) {
  json_t *atoms = json_array();
  for (size_t a = 0; a < distribution->atom_count; a++)
    json_array_append_new(atoms, json_pack("[oo]", json_out_number(distribution->atoms[a].value),
                                           json_out_number(distribution->atoms[a].upto)));
  return atoms;
}

static json_t *ranges_of(const struct scenario *scenario) {
  json_t *ranges = json_array();
  for (size_t r = 0; r < scenario->range_count; r++) {
    const struct range *range = &scenario->ranges[r];
    const struct distribution *distribution = &range->distribution;
    json_t *object = json_object();
    json_object_set_new(object, "key", json_out_text(range->key));
    json_object_set_new(object, "option", json_integer(range->option));
    json_object_set_new(object, "kind", json_out_text(kinds[distribution->kind]));
    put_number(object, "low", distribution->low);
    put_number(object, "high", distribution->high);
    put_number(object, "mode", distribution->mode);
    put_number(object, "mean", distribution->mean);
    put_number(object, "deviation", distribution->deviation);
    put_number(object, "spread", distribution->spread);
    json_object_set_new(object, "integer", json_boolean(distribution->integer));
    json_object_set_new(object, "atoms", atoms_of(distribution));
    json_object_set_new(object, "directions", directions_of(r));
    json_array_append_new(ranges, object);
  }
  return ranges;
}

static json_t *correlations_of(const struct scenario *scenario) {
  json_t *list = json_array();
  for (size_t c = 0; c < scenario->correlation_count; c++) {
    const struct correlation *correlation = &scenario->correlations[c];
    const double normals = correlation_of_normals(correlation->rank) * CORRELATION_SHRINK;
    json_array_append_new(list, json_pack("[IIo]", (json_int_t)correlation->a,
                                          (json_int_t)correlation->b, json_out_number(normals)));
  }
  return list;
}

// ---- what is computed

enum place_of_constant { NO_CONSTANT, CONSTANT_FIRST, CONSTANT_LAST };

// The name of an operation in the script; `constant`: whether its constant is the first or the last
// operand.
static const struct {
  const char *name;
  enum place_of_constant constant;
} operations[OPERATIONS] = {
    [OPERATION_ADD] = {"add", NO_CONSTANT},
    [OPERATION_SUBTRACT] = {"subtract", NO_CONSTANT},
    [OPERATION_MULTIPLY] = {"multiply", NO_CONSTANT},
    [OPERATION_DIVIDE] = {"divide", NO_CONSTANT},
    [OPERATION_ADD_CONSTANT] = {"add", CONSTANT_LAST},
    [OPERATION_SUBTRACT_FROM] = {"subtract", CONSTANT_FIRST},
    [OPERATION_MULTIPLY_BY] = {"multiply", CONSTANT_LAST},
    [OPERATION_DIVIDE_BY] = {"divide", CONSTANT_LAST},
    [OPERATION_INVERT] = {"divide", CONSTANT_FIRST},
    [OPERATION_POWER] = {"power", NO_CONSTANT},
    [OPERATION_MIN] = {"smaller", NO_CONSTANT},
    [OPERATION_MAX] = {"larger", NO_CONSTANT},
    [OPERATION_IF] = {"choose", NO_CONSTANT},
    [OPERATION_ROUND] = {"round_scaled", CONSTANT_LAST},
    [OPERATION_ROUND_TO] = {"round", NO_CONSTANT},
    [OPERATION_CEIL] = {"ceil", NO_CONSTANT},
    [OPERATION_FLOOR] = {"floor", NO_CONSTANT},
    [OPERATION_EQUAL] = {"equal", NO_CONSTANT},
    [OPERATION_UNEQUAL] = {"unequal", NO_CONSTANT},
    [OPERATION_LESS] = {"less", NO_CONSTANT},
    [OPERATION_LESS_EQUAL] = {"less_equal", NO_CONSTANT},
    [OPERATION_GREATER] = {"greater", NO_CONSTANT},
    [OPERATION_GREATER_EQUAL] = {"greater_equal", NO_CONSTANT},
};

static json_t *operation_names(void) {
  json_t *names = json_array();
  for (int operation = 0; operation < OPERATIONS; operation++)
    json_array_append_new(
        names, operations[operation].name ? json_string(operations[operation].name) : json_null());
  return names;
}

// The items that simulate computes for an option, if its graph has them: the latter two for what a
// contract pays for a delay.
static const char *const base_items[] = {"cost_per_mtok", "damages_total", "tokens_total"};
enum { BASE_ITEMS = sizeof base_items / sizeof base_items[0], WITHOUT_DAMAGES = 1 };
enum { ALL_ITEMS = BASE_ITEMS + RANKING_AMOUNTS };

// The values that a graph's items are computed from, with their numbers in the script.
struct steps {
  const struct value_table *values;
  int *operands; // [value] -1: not needed, or not yet numbered
  int inputs, constants, steps;
  json_t *input_names, *constant_list, *step_list;
  const struct model *model;
};

enum { NEEDED = -2 };

static void mark_needed(struct steps *steps, int value) {
  const struct value *v = &steps->values->list[value];
  if (steps->operands[value] == NEEDED)
    return;
  steps->operands[value] = NEEDED;
  for (int i = 0; i < operation_operands(v->operation); i++)
    mark_needed(steps, v->operands[i]);
}

// Inputs come first, then constants, including those of operations, which are separate values in
// the script.
static void number_inputs(struct steps *steps) {
  for (int v = 0; v < steps->values->count; v++) {
    const struct value *value = &steps->values->list[v];
    if (steps->operands[v] != NEEDED || value->operation != OPERATION_VARIABLE)
      continue;
    steps->operands[v] = steps->inputs++;
    json_array_append_new(steps->input_names,
                          json_out_text(steps->model->declarations[value->operands[0]].name));
  }
}

static int add_constant(struct steps *steps, double k) {
  json_array_append_new(steps->constant_list, json_out_number(k));
  return steps->inputs + steps->constants++;
}

// The operand number of each operation's own constant, by value.
static int *number_constants(struct steps *steps, struct arena *arena) {
  int *own = arena_array(arena, (size_t)steps->values->count, sizeof *own);
  for (int v = 0; v < steps->values->count; v++) {
    const struct value *value = &steps->values->list[v];
    if (steps->operands[v] != NEEDED)
      continue;
    if (value->operation == OPERATION_CONSTANT)
      steps->operands[v] = add_constant(steps, value->k);
    else if (operations[value->operation].constant != NO_CONSTANT)
      own[v] = add_constant(steps, value->k);
  }
  return own;
}

static void append(json_t *list, int number) {
  json_array_append_new(list, json_integer(number));
}

// The operands of a value come before it.
static void number_steps(struct steps *steps, const int *own) {
  for (int v = 0; v < steps->values->count; v++) {
    const struct value *value = &steps->values->list[v];
    if (steps->operands[v] != NEEDED)
      continue;
    const enum place_of_constant end = operations[value->operation].constant;
    append(steps->step_list, (int)value->operation);
    if (end == CONSTANT_FIRST)
      append(steps->step_list, own[v]);
    for (int i = 0; i < operation_operands(value->operation); i++)
      append(steps->step_list, steps->operands[value->operands[i]]);
    if (end == CONSTANT_LAST)
      append(steps->step_list, own[v]);
    steps->operands[v] = steps->inputs + steps->constants + steps->steps++;
  }
}

// Lists the items of a graph that simulate computes.
static size_t items_of(const struct graph *graph, struct calculation_item *items) {
  const int damages = model_find(graph->model, "damages_total");
  const bool pays = damages >= 0 && graph->state[damages] != GRAPH_ABSENT;
  size_t count = 0;
  for (size_t i = 0; i < ALL_ITEMS; i++) {
    if (!pays && i >= WITHOUT_DAMAGES && i < BASE_ITEMS)
      continue;
    const int d = model_find(graph->model,
                             i < BASE_ITEMS ? base_items[i] : ranking_amounts[i - BASE_ITEMS].item);
    if (d >= 0 && graph->state[d] != GRAPH_ABSENT)
      items[count++] = (struct calculation_item){0, d, 0};
  }
  return count;
}

// Every input is a variable: the script finds out which stay constant.
static json_t *steps_of(const struct graph *graph, int periods) {
  struct arena scratch = {NULL};
  const size_t declarations = (size_t)graph->model->count;
  struct calculation_input *inputs = arena_array(&scratch, declarations, sizeof *inputs);
  struct calculation_item items[ALL_ITEMS];
  int values[ALL_ITEMS];
  for (size_t d = 0; d < declarations; d++)
    inputs[d].variable = (int)d;
  const struct calculation_graph one = {graph, inputs};
  const struct calculation_request request = {.graphs = &one,
                                              .graph_count = 1,
                                              .periods = periods,
                                              .variable_count = (int)declarations,
                                              .items = items,
                                              .item_count = items_of(graph, items),
                                              .products = true};
  struct steps steps = {.values = calculation_values(&request, values, &scratch),
                        .input_names = json_array(),
                        .constant_list = json_array(),
                        .step_list = json_array(),
                        .model = graph->model};
  steps.operands = arena_array(&scratch, (size_t)steps.values->count, sizeof *steps.operands);
  memset(steps.operands, -1, (size_t)steps.values->count * sizeof *steps.operands);
  for (size_t i = 0; i < request.item_count; i++)
    mark_needed(&steps, values[i]);
  number_inputs(&steps);
  number_steps(&steps, number_constants(&steps, &scratch));
  json_t *places = json_object();
  for (size_t i = 0; i < request.item_count; i++)
    json_object_set_new(places, graph->model->declarations[items[i].declaration].name,
                        json_integer(steps.operands[values[i]]));
  arena_free(&scratch);
  return json_pack("{s:o,s:o,s:o,s:o}", "inputs", steps.input_names, "constants",
                   steps.constant_list, "steps", steps.step_list, "items", places);
}

json_t *uncertainty_of(const struct scenario *scenario, const struct page_graphs *graphs) {
  if (!scenario->range_count)
    return json_null();
  json_t *object = json_object(), *list = json_array(), *levels = json_array();
  for (size_t g = 0; g < graphs->count; g++)
    json_array_append_new(list, steps_of(graphs->graphs[g], sampler_periods(scenario)));
  for (int l = 0; l < SIMULATE_LEVELS; l++)
    json_array_append_new(levels, json_out_number(simulate_levels[l]));
  json_object_set_new(object, "draws", json_integer(UNCERTAINTY_DRAWS));
  json_object_set_new(object, "seed", json_integer(INTERVAL_SEED));
  json_object_set_new(object, "levels", levels);
  json_object_set_new(object, "ranges", ranges_of(scenario));
  json_object_set_new(object, "correlations", correlations_of(scenario));
  json_object_set_new(object, "graphs", list);
  json_object_set_new(object, "operations", operation_names());
  return object;
}

// ---- of a case

static json_t *draws_of(const struct scenario *scenario, const struct option *option) {
  json_t *draws = json_object();
  for (int d = 0; d < scenario->model->count; d++) {
    const int range = option_range(scenario, option, d);
    if (range >= 0)
      json_object_set_new(draws, scenario->model->declarations[d].name, json_integer(range));
  }
  for (int d = 0; d < scenario->model->count; d++) { // as in model/simulate/sampler.c
    const int next = option_follower(scenario, option, d);
    json_t *range = json_object_get(draws, scenario->model->declarations[d].name);
    if (next >= 0 && range && option_range(scenario, option, next) < 0)
      json_object_set(draws, scenario->model->declarations[next].name, range);
  }
  return draws;
}

json_t *uncertainty_of_case(const struct scenario *scenario) {
  json_t *options = json_array();
  for (size_t o = 0; o < scenario->option_count; o++)
    json_array_append_new(options, draws_of(scenario, &scenario->options[o]));
  return json_pack("{s:o}", "options", options);
}
