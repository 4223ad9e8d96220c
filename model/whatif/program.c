#include "model/whatif/program.h"

#include "model/whatif/instruction.h"

#include <stdlib.h>

struct program {
  struct instruction *steps;
  size_t step_count;
  struct instruction *constants; // run once, when a workspace is made
  size_t constant_count;
  int vectors; // the variables' come first
  int variable_count;
  int *results;  // [option][item]: vectors
  bool *depends; // [option][item][variable]
  size_t item_count;
};

// From formulas to values.
struct translation {
  const struct program_request *request;
  const struct option *option;
  struct expressions *expressions;
  const int *variables; // of the option
  int *known;           // [declaration][period]: value or -1
};

static int translate_declaration(struct translation *translation, int declaration, int period);

static int translate_node(struct translation *translation, const struct node *node, int period);

static int translate_series_call(struct translation *translation, const struct node *node,
                                 int period) {
  struct expressions *expressions = translation->expressions;
  int series = node->arguments[0]->declaration;
  int zero = expression_constant(expressions, 0);
  if (node->function == FUNCTION_PREV)
    return period > 0 ? translate_declaration(translation, series, period - 1) : zero;
  int last = node->function == FUNCTION_FIRST ? 1 : translation->request->periods;
  int sum = zero;
  for (int t = 0; t < last; t++)
    sum = expression_add(expressions, sum, translate_declaration(translation, series, t), 1);
  return sum;
}

// (1 + rate * 1 yr) ^ (time / 1 yr)
static int growth(struct expressions *expressions, int rate, int time) {
  const double year_h = conversion_table[CONVERT_HOURS_PER_YEAR].value;
  int base = expression_add(expressions, expression_constant(expressions, 1), rate, year_h);
  int years = expression_divide(expressions, time, expression_constant(expressions, year_h));
  return expression_power(expressions, base, years);
}

static int translate_call(struct translation *translation, const struct node *node, int period) {
  struct expressions *expressions = translation->expressions;
  if (node->function == FUNCTION_SUM || node->function == FUNCTION_FIRST ||
      node->function == FUNCTION_PREV)
    return translate_series_call(translation, node, period);
  int arguments[MAX_ARGUMENTS] = {0};
  for (int i = 0; i < node->argument_count; i++)
    arguments[i] = translate_node(translation, node->arguments[i], period);
  int result = arguments[0];
  switch (node->function) {
  case FUNCTION_IF: return expression_if(expressions, arguments[0], arguments[1], arguments[2]);
  case FUNCTION_MIN:
    for (int i = 1; i < node->argument_count; i++)
      result = expression_min(expressions, result, arguments[i]);
    return result;
  case FUNCTION_MAX:
    for (int i = 1; i < node->argument_count; i++)
      result = expression_max(expressions, result, arguments[i]);
    return result;
  case FUNCTION_ROUND: return expression_round(expressions, arguments[0], arguments[1]);
  case FUNCTION_CEIL: return expression_ceil(expressions, arguments[0]);
  default: return growth(expressions, arguments[0], arguments[1]);
  }
}

static int translate_binary(struct expressions *expressions, enum node_kind kind, int a, int b) {
  switch (kind) {
  case NODE_ADD: return expression_add(expressions, a, b, 1);
  case NODE_SUBTRACT: return expression_add(expressions, a, b, -1);
  case NODE_MULTIPLY: return expression_multiply(expressions, a, b);
  case NODE_DIVIDE: return expression_divide(expressions, a, b);
  case NODE_POWER: return expression_power(expressions, a, b);
  default: return expression_compare(expressions, kind, a, b);
  }
}

static int translate_node(struct translation *translation, const struct node *node, int period) {
  struct expressions *expressions = translation->expressions;
  switch (node->kind) {
  case NODE_NUMBER: return expression_constant(expressions, node->value);
  case NODE_NAME:
    if (node->declaration == T_NAME)
      return expression_constant(expressions, period);
    return translate_declaration(translation, node->declaration, period);
  case NODE_CALL: return translate_call(translation, node, period);
  case NODE_NEGATE:
    return expression_add(expressions, expression_constant(expressions, 0),
                          translate_node(translation, node->arguments[0], period), -1);
  default: break;
  }
  int left = translate_node(translation, node->arguments[0], period);
  int right = translate_node(translation, node->arguments[1], period);
  return translate_binary(expressions, node->kind, left, right);
}

static int translate_declaration(struct translation *translation, int declaration, int period) {
  const struct program_request *request = translation->request;
  const struct scenario *scenario = request->scenario;
  bool series = scenario->model->declarations[declaration].kind == DECLARATION_SERIES;
  period = series ? period : 0;
  int *known = &translation->known[declaration * request->periods + period];
  if (*known >= 0)
    return *known;
  int variable = translation->variables[declaration];
  if (translation->option->graph->state[declaration] != GRAPH_INPUT)
    *known =
        translate_node(translation, graph_formula(translation->option->graph, declaration), period);
  else if (variable >= 0)
    *known = expression_variable(translation->expressions, variable);
  else
    *known = expression_constant(
        translation->expressions,
        option_figure(scenario, translation->option, scenario->selected, declaration)->value);
  return *known;
}

static int translate_option(struct expressions *expressions, const struct program_request *request,
                            size_t which, int *results, struct diagnostics *diagnostics) {
  const struct scenario *scenario = request->scenario;
  const struct option *option = &scenario->options[which];
  size_t cells = (size_t)scenario->model->count * (size_t)request->periods;
  struct translation translation = {
      .request = request,
      .option = option,
      .expressions = expressions,
      .variables = request->variables + which * (size_t)scenario->model->count,
      .known = arena_array(expressions->arena, cells, sizeof(int)),
  };
  for (size_t i = 0; i < cells; i++)
    translation.known[i] = -1;
  for (size_t i = 0; i < request->item_count; i++) {
    if (request->wanted && !request->wanted[which * request->item_count + i]) {
      results[i] = expression_constant(expressions, 0);
      continue;
    }
    if (!option_has(option, request->items[i])) {
      diagnostics_error(diagnostics, option->place, "option '%s' has no '%s'", option->id,
                        scenario->model->declarations[request->items[i]].name);
      return -1;
    }
    results[i] = translate_declaration(&translation, request->items[i], 0);
  }
  return 0;
}

// From values to steps.
struct schedule {
  const struct expressions *expressions;
  struct program *program;
  struct arena *arena;
  int *uses;   // [value] by values that are needed, and as a result
  int *vector; // [value] where it stands, or -1
  int *free;   // [free_count] vectors that may be used again
  int free_count;
  size_t capacity;
};

static void count_uses(struct schedule *schedule, int value) {
  const struct value *v = &schedule->expressions->values[value];
  if (schedule->uses[value]++ > 0)
    return;
  for (int i = 0; i < value_operand_count(v->kind); i++)
    count_uses(schedule, v->operands[i]);
  for (int i = 0; i < v->term_count; i++)
    count_uses(schedule, v->terms[i].value);
}

static int take_vector(struct schedule *schedule) {
  if (schedule->free_count > 0)
    return schedule->free[--schedule->free_count];
  return schedule->program->vectors++;
}

// Variables and constants keep their vectors.
static void release(struct schedule *schedule, int value) {
  enum value_kind kind = schedule->expressions->values[value].kind;
  if (--schedule->uses[value] == 0 && kind != VALUE_VARIABLE && kind != VALUE_CONSTANT)
    schedule->free[schedule->free_count++] = schedule->vector[value];
}

static struct instruction *next_step(struct schedule *schedule) {
  struct program *program = schedule->program;
  if (program->step_count == schedule->capacity) {
    schedule->capacity = schedule->capacity ? 2 * schedule->capacity : 64;
    program->steps = arena_grow(schedule->arena, program->steps, program->step_count,
                                schedule->capacity, sizeof *program->steps);
  }
  return &program->steps[program->step_count++];
}

// A product that only this sum needs is computed within the sum's step.
static bool is_inlined(const struct schedule *schedule, int value) {
  return schedule->expressions->values[value].kind == VALUE_MULTIPLY &&
         schedule->uses[value] == 1 && schedule->vector[value] < 0;
}

static void place_value(struct schedule *schedule, int value);

static void place_operands(struct schedule *schedule, int value) {
  const struct value *v = &schedule->expressions->values[value];
  for (int i = 0; i < value_operand_count(v->kind); i++)
    place_value(schedule, v->operands[i]);
  for (int i = 0; i < v->term_count; i++) {
    if (is_inlined(schedule, v->terms[i].value))
      place_operands(schedule, v->terms[i].value);
    else
      place_value(schedule, v->terms[i].value);
  }
}

// The terms of one step of a sum: `products` and `vectors` are indices into the sum's terms.
struct portion {
  int products[SUM_PRODUCTS], vectors[SUM_VECTORS];
  int product_count, vector_count;
};

static void take_portion(const struct schedule *schedule, const struct value *sum, bool *done,
                         bool continued, struct portion *portion) {
  int room = SUM_VECTORS - (continued ? 1 : 0);
  *portion = (struct portion){.product_count = 0};
  for (int i = 0; i < sum->term_count; i++) {
    if (done[i])
      continue;
    if (is_inlined(schedule, sum->terms[i].value)) {
      if (portion->product_count < SUM_PRODUCTS)
        portion->products[portion->product_count++] = i;
      else
        continue;
    } else if (portion->vector_count < room)
      portion->vectors[portion->vector_count++] = i;
    else
      continue;
    done[i] = true;
  }
}

static struct instruction portion_step(const struct schedule *schedule, const struct value *sum,
                                       const struct portion *portion, bool continued, int out) {
  int products = portion->product_count, vectors = portion->vector_count, operand = 0, factor = 1;
  struct instruction step = {.run = instruction_sum(products, vectors + (continued ? 1 : 0)),
                             .out = out,
                             .constants = {continued ? 0 : sum->constant}};
  for (int p = 0; p < products; p++) {
    const struct term *term = &sum->terms[portion->products[p]];
    const struct value *product = &schedule->expressions->values[term->value];
    step.constants[factor++] = term->factor;
    step.operands[operand++] = schedule->vector[product->operands[0]];
    step.operands[operand++] = schedule->vector[product->operands[1]];
  }
  for (int v = 0; v < vectors; v++) {
    step.constants[factor++] = sum->terms[portion->vectors[v]].factor;
    step.operands[operand++] = schedule->vector[sum->terms[portion->vectors[v]].value];
  }
  if (continued) {
    step.constants[factor] = 1;
    step.operands[operand] = out;
  }
  return step;
}

static void release_portion(struct schedule *schedule, const struct value *sum,
                            const struct portion *portion) {
  for (int p = 0; p < portion->product_count; p++) {
    int product = sum->terms[portion->products[p]].value;
    const struct value *v = &schedule->expressions->values[product];
    schedule->uses[product] = 0;
    release(schedule, v->operands[0]);
    release(schedule, v->operands[1]);
  }
  for (int v = 0; v < portion->vector_count; v++)
    release(schedule, sum->terms[portion->vectors[v]].value);
}

// The operands of a portion are given free once it is computed, so that the next portions' results
// may stand there; the sum itself has its vector from the first on.
static void place_sum(struct schedule *schedule, int value) {
  const struct value *sum = &schedule->expressions->values[value];
  bool *done = arena_array(schedule->arena, (size_t)sum->term_count, sizeof *done);
  int out = take_vector(schedule);
  struct portion portion;
  take_portion(schedule, sum, done, false, &portion);
  for (bool continued = false; portion.product_count + portion.vector_count > 0;
       continued = true, take_portion(schedule, sum, done, true, &portion)) {
    *next_step(schedule) = portion_step(schedule, sum, &portion, continued, out);
    release_portion(schedule, sum, &portion);
  }
  schedule->vector[value] = out;
}

static void place_constant(struct schedule *schedule, int value) {
  struct program *program = schedule->program;
  program->constants = arena_grow(schedule->arena, program->constants, program->constant_count,
                                  program->constant_count + 1, sizeof *program->constants);
  // Never a vector that a step has used: it would be overwritten from the second run on.
  schedule->vector[value] = program->vectors++;
  program->constants[program->constant_count++] =
      (struct instruction){.run = instruction_of(VALUE_CONSTANT),
                           .out = schedule->vector[value],
                           .constants = {schedule->expressions->values[value].constant}};
}

static void place_value(struct schedule *schedule, int value) {
  const struct value *v = &schedule->expressions->values[value];
  if (schedule->vector[value] >= 0)
    return;
  if (v->kind == VALUE_CONSTANT) {
    place_constant(schedule, value);
    return;
  }
  place_operands(schedule, value);
  if (v->kind == VALUE_SUM) {
    place_sum(schedule, value);
    return;
  }
  struct instruction step = {.run = instruction_of(v->kind), .constants = {v->constant}};
  int count = value_operand_count(v->kind);
  for (int i = 0; i < count; i++)
    step.operands[i] = schedule->vector[v->operands[i]];
  for (int i = 0; i < count; i++)
    release(schedule, v->operands[i]);
  step.out = schedule->vector[value] = take_vector(schedule);
  *next_step(schedule) = step;
}

static void schedule_results(struct schedule *schedule, const int *values, size_t count) {
  struct program *program = schedule->program;
  const struct expressions *expressions = schedule->expressions;
  size_t all = (size_t)expressions->count;
  schedule->uses = arena_array(schedule->arena, all, sizeof *schedule->uses);
  schedule->vector = arena_array(schedule->arena, all, sizeof *schedule->vector);
  schedule->free = arena_array(schedule->arena, all, sizeof *schedule->free);
  for (size_t v = 0; v < all; v++)
    schedule->vector[v] =
        expressions->values[v].kind == VALUE_VARIABLE ? expressions->values[v].operands[0] : -1;
  // Results are used once more than by the steps, so that nothing is written over them.
  for (size_t i = 0; i < count; i++)
    count_uses(schedule, values[i]);
  for (size_t i = 0; i < count; i++) {
    place_value(schedule, values[i]);
    program->results[i] = schedule->vector[values[i]];
  }
}

static void find_dependence(const struct expressions *expressions, int value, bool *seen,
                            bool *depends) {
  const struct value *v = &expressions->values[value];
  if (seen[value])
    return;
  seen[value] = true;
  if (v->kind == VALUE_VARIABLE)
    depends[v->operands[0]] = true;
  for (int i = 0; i < value_operand_count(v->kind); i++)
    find_dependence(expressions, v->operands[i], seen, depends);
  for (int i = 0; i < v->term_count; i++)
    find_dependence(expressions, v->terms[i].value, seen, depends);
}

struct program *program_build(const struct program_request *request, struct arena *arena,
                              struct diagnostics *diagnostics) {
  size_t options = request->scenario->option_count, count = options * request->item_count;
  size_t variables = (size_t)request->variable_count;
  struct program *program = arena_alloc(arena, sizeof *program);
  *program = (struct program){.vectors = request->variable_count,
                              .variable_count = request->variable_count,
                              .results = arena_array(arena, count + 1, sizeof *program->results),
                              .depends = arena_array(arena, count * variables + 1, sizeof(bool)),
                              .item_count = request->item_count};
  struct expressions *expressions = expressions_new(arena);
  int *values = arena_array(arena, count + 1, sizeof *values);
  for (size_t o = 0; o < options; o++)
    if (translate_option(expressions, request, o, values + o * request->item_count, diagnostics))
      return NULL;
  struct schedule schedule = {.expressions = expressions, .program = program, .arena = arena};
  schedule_results(&schedule, values, count);
  for (size_t i = 0; i < count; i++)
    find_dependence(expressions, values[i],
                    arena_array(arena, (size_t)expressions->count, sizeof(bool)),
                    program->depends + i * variables);
  return program;
}

double *program_workspace_new(const struct program *program) {
  size_t size = (size_t)program->vectors * VECTOR_BLOCK * sizeof(double);
  double *workspace = aligned_alloc(VECTOR_ALIGNMENT, size ? size : VECTOR_ALIGNMENT);
  if (!workspace)
    return NULL;
  memset(workspace, 0, size);
  for (size_t i = 0; i < program->constant_count; i++)
    program->constants[i].run(workspace, &program->constants[i]);
  return workspace;
}

void program_workspace_free(double *workspace) {
  free(workspace);
}

double *program_variable(const struct program *program, double *workspace, int variable) {
  (void)program;
  return workspace + (size_t)variable * VECTOR_BLOCK;
}

void program_run(const struct program *program, double *workspace) {
  for (size_t i = 0; i < program->step_count; i++)
    program->steps[i].run(workspace, &program->steps[i]);
}

const double *program_result(const struct program *program, const double *workspace, size_t option,
                             size_t item) {
  return workspace + (size_t)program->results[option * program->item_count + item] * VECTOR_BLOCK;
}

bool program_depends(const struct program *program, size_t option, size_t item, int variable) {
  return program->depends[(option * program->item_count + item) * (size_t)program->variable_count +
                          (size_t)variable];
}

size_t program_steps(const struct program *program) {
  return program->step_count;
}
