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
#include "reports/spreadsheet/powers.h"
#include "reports/spreadsheet/step_numbers.h"
#include "reports/spreadsheet/trees.h"

#include <stdio.h>
#include <string.h>

enum {
  MAX_STEPS = 200,    // per formula
  LONG_NAME = 45,     // a step of an item with a longer name is called pt_OPTION_step_N
  WIDEST_ROW = 99999, // addresses are measured as if the sheet were this long
  WIDEST_COLUMN = 700 // and this wide: AAA
};

// The longest number at the end of a step's name.
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

// A formula's text as it is measured, as if the option had the longest id of all: equal formulas
// then have equal steps on every sheet.
static const char *measured(const struct splitter *splitter, const struct declaration *item,
                            const struct node *node) {
  const struct formula_references references = {
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

static bool fits(const char *text) {
  return strlen(text) <= FORMULA_MAX_LENGTH;
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
    return tree_base_unit(node->dimension, splitter->arena);
  if (dimension_equal(node->dimension, splitter->of->unit.dimension) && !node_is_comparison(node))
    return splitter->of->unit;
  return tree_base_unit(node->dimension, splitter->arena);
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
  return !tree_nests_if(node) && !reads_own_past(splitter, node);
}

// Keeps the longest part of the tree that fits into a cell of its own; with `only_if`, only parts
// with an IF.
static void find_largest(const struct splitter *splitter, struct node **place, bool is_condition,
                         enum effort effort, bool only_if, struct candidate *best) {
  struct node *node = *place;
  if (tree_may_fit(node, FORMULA_MAX_LENGTH) && may_lift(splitter, node, is_condition, effort) &&
      (!only_if || tree_has_if(node, false))) {
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
                             .none_without = -1,
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
  return !tree_nests_if(root) && tree_may_fit(root, FORMULA_MAX_LENGTH) &&
         fits(measured(splitter, splitter->of, root));
}

// Makes one step of the formula. Returns 1, 0 if the formula is short enough, -1 if nothing helps.
static int shorten(struct splitter *splitter, struct node **root) {
  struct node **decision = tree_find_time_if(root, true);
  if (decision) {
    lift(splitter, decision, step_unit(splitter, *decision, LIFT_PARTS));
    return 1;
  }
  if (is_short(splitter, *root))
    return 0;
  struct candidate best = largest_part(splitter, *root, tree_nests_if(*root));
  if (best.place)
    lift(splitter, best.place, best.unit);
  return best.place || tree_nest_extremes(*root, splitter->arena) ? 1 : -1;
}

// The name that decides whether the user's own item counts at all, or NULL.
static const struct node *limit_of(const struct splitter *splitter, const struct node *root) {
  const bool limited = splitter->of->item && node_calls(root, FUNCTION_IF) &&
                       root->arguments[0]->kind == NODE_NAME && tree_is_flag(root->arguments[2]);
  return limited ? root->arguments[0] : NULL;
}

static int split(struct splitter *splitter, int d) {
  struct model *model = &splitter->sheet->model;
  struct declaration *copy = arena_alloc(splitter->arena, sizeof *copy);
  *copy = model->declarations[d];
  int state = splitter->sheet->graph.state[d];
  struct node *root = tree_copy(&splitter->sheet->graph, graph_formula(&splitter->sheet->graph, d),
                                splitter->arena);
  root =
      powers_guarded(&splitter->sheet->graph, tree_grouped(root, splitter->arena), splitter->arena);
  if (copy->role == ROLE_CHECK && dimension_is_one(copy->unit.dimension))
    root = tree_rounded(root, splitter->arena);
  splitter->of = copy;
  splitter->item = d;
  splitter->steps = 0;
  const struct node *limit = limit_of(splitter, root);
  if (limit && !is_short(splitter, root))
    tree_guard_divisors(root->arguments[1], limit, splitter->arena);
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
