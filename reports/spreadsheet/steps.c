#include "reports/spreadsheet/steps.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/cost/evaluate.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"
#include "reports/spreadsheet/formula.h"
#include "reports/spreadsheet/names.h"
#include "reports/spreadsheet/step_numbers.h"

#include <stdio.h>
#include <string.h>

enum {
  MAX_STEPS = 200,     // per formula
  LONG_NAME = 45,      // a step of an item with a longer name is called pt_OPTION_step_N
  WIDEST_ROW = 99999,  // addresses are measured as if the sheet were this long
  WIDEST_COLUMN = 700, // and this wide: AAA
  GROUP = 13,          // operands of a long sum that are added up first: as many as fill a formula
  LONG_SUM = 3 * GROUP
};

// Of a step's name.
static const char widest_number[] = "_123";

struct splitter {
  struct sheet_graph *sheet;
  const struct scenario *scenario;
  const struct option *option;
  struct names *names;
  struct constants *constants;
  struct arena *arena;
  struct diagnostics *diagnostics;
  struct step_numbers *numbers; // of all options' steps
  const char *widest_id;        // as long as the longest of any option
  int capacity;                 // of declarations, names and states
  int *rows;                    // [capacity] the widest possible
  struct name **widest_names;   // [capacity] sheet->names as they would be with widest_id
  const struct declaration *of; // the item being broken up, as it was
  int item, steps;
};

static void make_room(struct splitter *splitter) {
  struct sheet_graph *sheet = splitter->sheet;
  struct model *model = &sheet->model;
  if (model->count < splitter->capacity)
    return;
  size_t old = (size_t)model->count, new = 2 * old + 16;
  struct arena *arena = splitter->arena;
  model->declarations =
      arena_grow(arena, model->declarations, old, new, sizeof *model->declarations);
  sheet->names = arena_grow(arena, sheet->names, old, new, sizeof(struct name *));
  splitter->widest_names =
      arena_grow(arena, splitter->widest_names, old, new, sizeof(struct name *));
  sheet->graph.state = arena_grow(arena, sheet->graph.state, old, new, sizeof *sheet->graph.state);
  sheet->graph.order = arena_grow(arena, sheet->graph.order, (size_t)sheet->graph.order_count, new,
                                  sizeof *sheet->graph.order);
  sheet->graph.formulas =
      arena_grow(arena, sheet->graph.formulas, old, new, sizeof(const struct node *));
  splitter->rows = arena_array(arena, new, sizeof *splitter->rows);
  for (size_t i = 0; i < new; i++)
    splitter->rows[i] = WIDEST_ROW;
  splitter->capacity = (int)new;
}

static struct node *copy_tree(const struct graph *graph, const struct node *node,
                              struct arena *arena) {
  node = graph_single(graph, node) ? node->arguments[0] : node;
  struct node *copy = arena_alloc(arena, sizeof *copy);
  *copy = *node;
  for (int i = 0; i < node->argument_count; i++)
    copy->arguments[i] = copy_tree(graph, node->arguments[i], arena);
  return copy;
}

static bool is_comparison(const struct node *node) {
  return node->kind >= NODE_EQUAL && node->kind <= NODE_GREATER_EQUAL;
}

static bool reads_time(const struct node *node) {
  if (node->kind == NODE_NAME)
    return node->declaration == T_NAME;
  for (int i = 0; i < node->argument_count; i++)
    if (reads_time(node->arguments[i]))
      return true;
  return false;
}

static bool is_series(const struct splitter *splitter, const struct node *node) {
  if (node->kind == NODE_NAME)
    return node->declaration == T_NAME ||
           splitter->sheet->model.declarations[node->declaration].kind == DECLARATION_SERIES;
  if (node_takes_series(node))
    return function_table[node->function].per_period;
  for (int i = 0; i < node->argument_count; i++)
    if (is_series(splitter, node->arguments[i]))
      return true;
  return false;
}

// A step is computed before its item, so it cannot read the item's own earlier periods.
static bool reads_own_past(const struct splitter *splitter, const struct node *node) {
  if (node_reads_past(node))
    return node->arguments[0]->declaration == splitter->item;
  for (int i = 0; i < node->argument_count; i++)
    if (reads_own_past(splitter, node->arguments[i]))
      return true;
  return false;
}

// Will this part be rendered with an IF?
static bool has_if(const struct node *node, bool is_condition) {
  if (node_calls(node, FUNCTION_IF) || (is_comparison(node) && !is_condition))
    return true;
  for (int i = 0; i < node->argument_count; i++)
    if (has_if(node->arguments[i], false))
      return true;
  return false;
}

static bool nests_if(const struct node *node) {
  for (int i = 0; i < node->argument_count; i++) {
    bool is_condition = node_calls(node, FUNCTION_IF) && i == 0;
    if (node_calls(node, FUNCTION_IF) && has_if(node->arguments[i], is_condition))
      return true;
    if (is_comparison(node) && has_if(node->arguments[i], false))
      return true;
    if (nests_if(node->arguments[i]))
      return true;
  }
  return false;
}

// Measured as if the option had the longest id of all: equal formulas then have equal steps on
// every sheet.
static const char *measured(const struct splitter *splitter, const struct declaration *item,
                            const struct node *node) {
  const struct references references = {
      .model = &splitter->sheet->model,
      .names = splitter->widest_names,
      .rows = splitter->rows,
      .time_row = WIDEST_ROW,
      .first_period = WIDEST_COLUMN,
      .periods = splitter->scenario->periods,
      .constants = splitter->constants,
      .arena = splitter->arena,
  };
  return spreadsheet_formula(item, node, WIDEST_COLUMN, &references);
}

// Every part of a formula takes at least one character: a formula with as many parts as it may have
// characters does not fit, and need not be rendered to find out.
static int count_parts(const struct node *node, int most) {
  int count = 1;
  for (int i = 0; i < node->argument_count && count < most; i++)
    count += count_parts(node->arguments[i], most - count);
  return count;
}

static bool may_fit(const struct node *node) {
  const int most = FORMULA_MAX_LENGTH;
  return count_parts(node, most) < most;
}

static bool fits(const char *text) {
  return strlen(text) <= FORMULA_MAX_LENGTH;
}

static struct unit base_unit(const struct splitter *splitter, struct dimension dimension) {
  if (dimension_is_one(dimension))
    return (struct unit){.text = "-", .counts = true};
  return (struct unit){.text = dimension_text(dimension, splitter->arena), .dimension = dimension};
}

// Ways to shorten a formula, by effort: what may become a step. Names converted to base units come
// last; they leave fewer conversions to the formula that reads them.
enum effort { LIFT_PARTS, LIFT_NAMES, LIFT_CONDITIONS, LIFT_CONVERTED, EFFORTS };

// A step is in the unit of its item if possible, else in base units; a bare name keeps its own.
static struct unit step_unit(const struct splitter *splitter, const struct node *node,
                             enum effort effort) {
  if (node->kind == NODE_NAME && effort < LIFT_CONVERTED)
    return splitter->sheet->model.declarations[node->declaration].unit;
  if (effort == LIFT_CONVERTED)
    return base_unit(splitter, node->dimension);
  if (dimension_equal(node->dimension, splitter->of->unit.dimension) && !is_comparison(node))
    return splitter->of->unit;
  return base_unit(splitter, node->dimension);
}

struct candidate {
  struct node **place; // NULL: none
  size_t length;
  struct unit unit; // of the step
};

static bool has_long_name(const struct splitter *splitter) {
  return strlen("pt__") + strlen(splitter->widest_id) + strlen(splitter->of->name) > LONG_NAME;
}

// The beginning of the names of steps in an option with that id.
static const char *step_stem(const struct splitter *splitter, const char *id) {
  const char *item = has_long_name(splitter) ? "step" : splitter->of->name;
  return arena_printf(splitter->arena, "pt_%s_%s", id, item);
}

// A step for a bare name helps only if the step's own name is shorter.
static bool is_long_name(const struct splitter *splitter, const struct node *node) {
  if (node->declaration < 0 || is_series(splitter, node))
    return false;
  const struct name *name = splitter->widest_names[node->declaration];
  const char *stem = step_stem(splitter, splitter->widest_id);
  return strlen(name->text) > strlen(stem) + strlen(widest_number);
}

static bool is_converted_name(const struct splitter *splitter, const struct node *node) {
  if (node->kind != NODE_NAME || node->declaration < 0)
    return false;
  const struct declaration *target = &splitter->sheet->model.declarations[node->declaration];
  return !conversion_is_one(target->unit.conversion);
}

static bool may_lift(const struct splitter *splitter, const struct node *node, bool is_condition,
                     enum effort effort) {
  if (effort == LIFT_CONVERTED)
    return is_converted_name(splitter, node);
  if (node->kind == NODE_NUMBER || (is_condition && effort < LIFT_CONDITIONS))
    return false;
  if (node->kind == NODE_NAME && (effort < LIFT_NAMES || !is_long_name(splitter, node)))
    return false;
  return !nests_if(node) && !reads_own_past(splitter, node);
}

// Keeps the longest part of the tree that fits into a cell of its own; with `only_if`, only parts
// with an IF.
static void find_largest(const struct splitter *splitter, struct node **place, bool is_condition,
                         enum effort effort, bool only_if, struct candidate *best) {
  struct node *node = *place;
  if (may_fit(node) && may_lift(splitter, node, is_condition, effort) &&
      (!only_if || has_if(node, false))) {
    struct declaration step = *splitter->of;
    step.unit = step_unit(splitter, node, effort);
    const char *text = measured(splitter, &step, node);
    if (fits(text) && strlen(text) > best->length)
      *best = (struct candidate){place, strlen(text), step.unit};
  }
  if (node_takes_series(node))
    return;
  for (int i = 0; i < node->argument_count; i++)
    find_largest(splitter, &node->arguments[i], node_calls(node, FUNCTION_IF) && i == 0, effort,
                 only_if, best);
}

static int same_step(const struct splitter *splitter, const struct declaration *step) {
  const struct model *model = &splitter->sheet->model;
  const char *text = formula_text(step->alternatives[0].formula, splitter->arena);
  for (int d = splitter->scenario->model->count; d < model->count; d++) {
    const struct declaration *other = &model->declarations[d];
    if (other->kind == step->kind && !strcmp(other->unit.text, step->unit.text) &&
        !strcmp(formula_text(other->alternatives[0].formula, splitter->arena), text))
      return d;
  }
  return -1;
}

static int number_of(struct splitter *splitter, const struct declaration *step) {
  struct arena *arena = splitter->arena;
  const char *formula = formula_text(step->alternatives[0].formula, arena);
  const char *kind = step->kind == DECLARATION_SERIES ? "series" : "scalar";
  const char *what = arena_printf(arena, "%s %s %s", kind, step->unit.text, formula);
  return step_number(splitter->numbers, splitter->scenario->model, splitter->of->name, what, arena);
}

static void add_step_name(struct splitter *splitter, int d) {
  struct arena *arena = splitter->arena;
  const char *id = splitter->option->id;
  const char *key = splitter->sheet->model.declarations[d].name;
  struct name *widest = arena_alloc(arena, sizeof *widest);
  *widest = (struct name){
      .text = arena_printf(arena, "%s%s", step_stem(splitter, splitter->widest_id), widest_number)};
  splitter->widest_names[d] = widest;
  splitter->sheet->names[d] = names_add_numbered(splitter->names, step_stem(splitter, id),
                                                 arena_printf(arena, "'%s.%s'", id, key));
}

static int add_step(struct splitter *splitter, struct declaration step) {
  struct sheet_graph *sheet = splitter->sheet;
  const struct declaration *of = splitter->of;
  const int number = number_of(splitter, &step);
  splitter->steps++;
  step.name = arena_printf(splitter->arena, "%s_step_%d", of->name, number);
  step.label = arena_printf(splitter->arena, "%s, step %d", of->label, number);
  make_room(splitter);
  int d = sheet->model.count++;
  sheet->model.declarations[d] = step;
  sheet->graph.state[d] = 0;
  sheet->graph.formulas[d] = step.alternatives[0].formula;
  sheet->graph.order[sheet->graph.order_count++] = d;
  if (step.kind != DECLARATION_SERIES)
    add_step_name(splitter, d);
  return d;
}

// Replaces a part of a formula with the name of a step that computes it.
static void lift(struct splitter *splitter, struct node **place, struct unit unit) {
  struct node *part = *place;
  struct declaration step = {.place = splitter->of->place,
                             .unit = unit,
                             .group = splitter->of->group,
                             .conflicts = -1,
                             .needed_with = -1,
                             .only_with = -1,
                             .idle_without = -1,
                             .none_below = -1,
                             .absent_with = -1,
                             .unless = -1,
                             .alternative_count = 1};
  step.kind = is_series(splitter, part) ? DECLARATION_SERIES : DECLARATION_SCALAR;
  step.alternatives[0] = (struct alternative){.text = "", .place = part->place, .formula = part};
  int d = same_step(splitter, &step);
  if (d < 0)
    d = add_step(splitter, step);
  struct node *name = arena_alloc(splitter->arena, sizeof *name);
  *name = (struct node){.kind = NODE_NAME,
                        .place = part->place,
                        .name = splitter->sheet->model.declarations[d].name,
                        .declaration = d,
                        .dimension = part->dimension};
  *place = name;
}

static bool is_flag(const struct node *node) {
  return node->kind == NODE_NUMBER && (node->value == 0 || node->value == 1);
}

static bool is_flag_if(const struct node *node) {
  return is_comparison(node) || (node_calls(node, FUNCTION_IF) && is_flag(node->arguments[1]) &&
                                 is_flag(node->arguments[2]));
}

// The place of a decision by period that should be a flag of its own, or NULL.
static struct node **find_time_if(struct node **place, bool is_root) {
  struct node *node = *place;
  if (is_flag_if(node))
    return is_root || !reads_time(node) ? NULL : place;
  if (node_calls(node, FUNCTION_IF) && reads_time(node->arguments[0]))
    return &node->arguments[0];
  for (int i = 0; i < node->argument_count; i++) {
    struct node **found = find_time_if(&node->arguments[i], false);
    if (found)
      return found;
  }
  return NULL;
}

// Rewrites min(a, b, c) as min(min(a, b), c), wherever there are more than two arguments.
static bool nest_extremes(const struct splitter *splitter, struct node *node) {
  bool changed = false;
  for (int i = 0; i < node->argument_count; i++)
    changed |= nest_extremes(splitter, node->arguments[i]);
  bool extreme = node_calls(node, FUNCTION_MIN) || node_calls(node, FUNCTION_MAX);
  if (!extreme || node->argument_count <= 2)
    return changed;
  struct node *first = node->arguments[0];
  for (int i = 1; i < node->argument_count - 1; i++) {
    struct node *pair = arena_alloc(splitter->arena, sizeof *pair);
    *pair = *node;
    pair->argument_count = 2;
    pair->arguments[0] = first;
    pair->arguments[1] = node->arguments[i];
    first = pair;
  }
  node->arguments[1] = node->arguments[node->argument_count - 1];
  node->arguments[0] = first;
  node->argument_count = 2;
  return true;
}

static struct candidate largest_part(const struct splitter *splitter, struct node *root,
                                     bool only_if) {
  struct candidate best = {.place = NULL};
  for (int effort = 0; effort < EFFORTS && !best.place; effort++)
    for (int i = 0; i < root->argument_count && !node_takes_series(root); i++)
      find_largest(splitter, &root->arguments[i], node_calls(root, FUNCTION_IF) && i == 0,
                   (enum effort)effort, only_if, &best);
  return best;
}

static bool is_short(const struct splitter *splitter, const struct node *root) {
  return !nests_if(root) && may_fit(root) && fits(measured(splitter, splitter->of, root));
}

// Makes one step of the formula. Returns 1, 0 if the formula is short enough, -1 if nothing helps.
static int shorten(struct splitter *splitter, struct node **root) {
  struct node **decision = find_time_if(root, true);
  if (decision) {
    lift(splitter, decision, step_unit(splitter, *decision, LIFT_PARTS));
    return 1;
  }
  if (is_short(splitter, *root))
    return 0;
  struct candidate best = largest_part(splitter, *root, nests_if(*root));
  if (best.place)
    lift(splitter, best.place, best.unit);
  return best.place || nest_extremes(splitter, *root) ? 1 : -1;
}

// The last bits of a difference that should be zero vary between programs.
static struct node *rounded(const struct splitter *splitter, struct node *difference) {
  struct node *digits = arena_alloc(splitter->arena, sizeof *digits);
  *digits = (struct node){.kind = NODE_NUMBER,
                          .place = difference->place,
                          .value = CEIL_DECIMALS,
                          .unit = {.text = "", .counts = true}};
  struct node *call = arena_alloc(splitter->arena, sizeof *call);
  *call = (struct node){.kind = NODE_CALL,
                        .function = FUNCTION_ROUND,
                        .place = difference->place,
                        .argument_count = 2,
                        .arguments = {difference, digits}};
  return call;
}

static int count_operands(const struct node *sum) {
  int count = 1;
  for (; sum->kind == NODE_ADD; sum = sum->arguments[0])
    count++;
  return count;
}

static struct node *add_up(const struct node *like, struct node *const *operands, int count,
                           struct arena *arena) {
  struct node *sum = operands[0];
  for (int i = 1; i < count; i++) {
    struct node *both = arena_alloc(arena, sizeof *both);
    *both = *like;
    both->arguments[0] = sum;
    both->arguments[1] = operands[i];
    sum = both;
  }
  return sum;
}

// A long sum as a sum of sums, so that only a few steps depend on each operand, rather than all
// that follow it.
static struct node *grouped(struct node *sum, struct arena *arena) {
  int count = count_operands(sum);
  if (count < LONG_SUM)
    return sum;
  struct node **operands = arena_array(arena, (size_t)count, sizeof(struct node *)), *rest = sum;
  for (int i = count - 1; i > 0; i--, rest = rest->arguments[0])
    operands[i] = rest->arguments[1];
  operands[0] = rest;
  while (count > GROUP) {
    int groups = 0;
    for (int i = 0; i < count; i += GROUP)
      operands[groups++] = add_up(sum, operands + i, count - i < GROUP ? count - i : GROUP, arena);
    count = groups;
  }
  return add_up(sum, operands, count, arena);
}

// The name that decides whether the user's own item counts at all, or NULL.
static const struct node *limit_of(const struct splitter *splitter, const struct node *root) {
  const bool limited = splitter->of->item && node_calls(root, FUNCTION_IF) &&
                       root->arguments[0]->kind == NODE_NAME && is_flag(root->arguments[2]);
  return limited ? root->arguments[0] : NULL;
}

// Replaces a part with IF(limit, part, 1).
static void guard(const struct splitter *splitter, struct node **place, const struct node *limit) {
  struct node *node = *place;
  if (node->kind == NODE_NUMBER)
    return;
  struct node *condition = arena_alloc(splitter->arena, sizeof *condition);
  struct node *one = arena_alloc(splitter->arena, sizeof *one);
  struct node *choice = arena_alloc(splitter->arena, sizeof *choice);
  *condition = *limit;
  *one = (struct node){.kind = NODE_NUMBER,
                       .place = node->place,
                       .value = 1,
                       .unit = base_unit(splitter, node->dimension),
                       .dimension = node->dimension};
  *choice = (struct node){.kind = NODE_CALL,
                          .function = FUNCTION_IF,
                          .place = node->place,
                          .dimension = node->dimension,
                          .argument_count = 3,
                          .arguments = {condition, node, one}};
  *place = choice;
}

// A step is computed even if its item does not count, and must not divide by zero then.
static void guard_divisors(const struct splitter *splitter, struct node *node,
                           const struct node *limit) {
  for (int i = 0; i < node->argument_count && !node_takes_series(node); i++)
    guard_divisors(splitter, node->arguments[i], limit);
  if (node->kind == NODE_DIVIDE)
    guard(splitter, &node->arguments[1], limit);
  else if (node->kind == NODE_POWER)
    guard(splitter, &node->arguments[0], limit);
}

static int split(struct splitter *splitter, int d) {
  struct model *model = &splitter->sheet->model;
  struct declaration *copy = arena_alloc(splitter->arena, sizeof *copy);
  *copy = model->declarations[d];
  int state = splitter->sheet->graph.state[d];
  struct node *root = copy_tree(&splitter->sheet->graph, graph_formula(&splitter->sheet->graph, d),
                                splitter->arena);
  root = grouped(root, splitter->arena);
  if (copy->role == ROLE_CHECK && dimension_is_one(copy->unit.dimension))
    root = rounded(splitter, root);
  splitter->of = copy;
  splitter->item = d;
  splitter->steps = 0;
  const struct node *limit = limit_of(splitter, root);
  if (limit && !is_short(splitter, root))
    guard_divisors(splitter, root->arguments[1], limit);
  int more;
  while ((more = shorten(splitter, &root)) > 0 && splitter->steps < MAX_STEPS)
    ;
  model->declarations[d].alternatives[state].formula = root;
  splitter->sheet->graph.formulas[d] = root;
  if (more == 0)
    return 0;
  diagnostics_error(splitter->diagnostics, copy->alternatives[state].place,
                    "the formula of '%s' cannot be broken up into spreadsheet formulas of at most "
                    "%d characters: shorten names or units",
                    copy->name, FORMULA_MAX_LENGTH);
  return -1;
}

static int add_names(struct splitter *splitter) {
  const struct scenario *scenario = splitter->scenario;
  const struct option *option = splitter->option;
  size_t errors = splitter->diagnostics->errors;
  for (int d = 0; d < scenario->model->count; d++) {
    const struct declaration *declaration = &scenario->model->declarations[d];
    if (option->graph->state[d] == GRAPH_ABSENT || graph_is_series(option->graph, d))
      continue;
    const char *text = arena_printf(splitter->arena, "pt_%s_%s", option->id, declaration->name);
    const char *meaning = arena_printf(splitter->arena, "'%s.%s'", option->id, declaration->name);
    struct name *name = names_add(splitter->names, text, meaning);
    struct name *widest = arena_alloc(splitter->arena, sizeof *widest);
    *widest = (struct name){
        .text = arena_printf(splitter->arena, "pt_%s_%s", splitter->widest_id, declaration->name)};
    splitter->sheet->names[d] = name;
    splitter->widest_names[d] = widest;
    if (strcmp(name->meaning, meaning) != 0)
      diagnostics_error(splitter->diagnostics, option->place,
                        "a workbook cannot tell %s from %s (both would be named %s): rename one",
                        meaning, name->meaning, text);
  }
  return splitter->diagnostics->errors == errors ? 0 : -1;
}

// The engine's values of everything that the sheet shows.
static struct evaluation *evaluate_steps(const struct splitter *splitter) {
  const struct scenario *scenario = splitter->scenario;
  const struct sheet_graph *sheet = splitter->sheet;
  struct evaluation *given = splitter->option->evaluation;
  struct evaluation *evaluation =
      evaluation_new(&sheet->graph, given->periods, given->width, splitter->arena);
  for (int d = 0; d < scenario->model->count; d++)
    if (sheet->graph.state[d] == GRAPH_INPUT)
      memcpy(evaluation_at(evaluation, d, 0), evaluation_at(given, d, 0),
             given->width * sizeof(double));
  evaluate(evaluation);
  return evaluation;
}

static const char *widest_id(const struct scenario *scenario, const struct option *option) {
  const char *widest = option->id;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (strlen(scenario->options[o].id) > strlen(widest))
      widest = scenario->options[o].id;
  return widest;
}

int sheet_graph_build(struct sheet_graph *sheet, const struct scenario *scenario,
                      const struct option *option, struct names *names, struct constants *constants,
                      struct step_numbers *numbers, struct arena *arena,
                      struct diagnostics *diagnostics) {
  const struct graph *graph = option->graph;
  size_t count = (size_t)scenario->model->count;
  *sheet = (struct sheet_graph){.model = *scenario->model, .graph = *graph};
  struct splitter splitter = {.sheet = sheet,
                              .scenario = scenario,
                              .option = option,
                              .names = names,
                              .constants = constants,
                              .numbers = numbers,
                              .widest_id = widest_id(scenario, option),
                              .arena = arena,
                              .diagnostics = diagnostics};
  sheet->names = arena_array(arena, count, sizeof(struct name *));
  splitter.widest_names = arena_array(arena, count, sizeof(struct name *));
  sheet->graph.order_count = 0;
  make_room(&splitter);
  sheet->graph.model = &sheet->model;
  // On the sheet, a list by year is an ordinary row.
  for (size_t d = 0; d < count; d++)
    if (graph_is_series(graph, (int)d))
      sheet->model.declarations[d].kind = DECLARATION_SERIES;
  if (add_names(&splitter))
    return -1;
  size_t errors = diagnostics->errors;
  for (int i = 0; i < graph->order_count; i++) {
    int d = graph->order[i];
    split(&splitter, d);
    make_room(&splitter);
    sheet->graph.order[sheet->graph.order_count++] = d;
  }
  sheet->evaluation = evaluate_steps(&splitter);
  return diagnostics->errors == errors ? 0 : -1;
}
