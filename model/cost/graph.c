#include "model/cost/graph.h"

#include "model/cost/usable.h"

#include <math.h>
#include <string.h>

const struct node *graph_formula(const struct graph *graph, int declaration) {
  return graph->formulas[declaration];
}

const char *graph_formula_text(const struct graph *graph, int declaration, struct arena *arena) {
  const struct alternative *alternative =
      &graph->model->declarations[declaration].alternatives[graph->state[declaration]];
  const struct node *formula = graph_formula(graph, declaration);
  return formula == alternative->formula ? alternative->text : formula_text(formula, arena);
}

int graph_stated(const struct graph *graph, int declaration) {
  const int in_usd = declaration < 0 ? -1 : graph->model->declarations[declaration].in_usd;
  return in_usd >= 0 && graph->state[in_usd] == GRAPH_INPUT ? in_usd : declaration;
}

bool graph_is_series(const struct graph *graph, int declaration) {
  return declaration_is_series(&graph->model->declarations[declaration]) &&
         graph->state[declaration] != GRAPH_INPUT;
}

// ---- whole numbers

static bool is_whole(const struct node *node, const bool *whole);

static bool are_whole(const struct node *node, int first, const bool *whole) {
  for (int i = first; i < node->argument_count; i++)
    if (!is_whole(node->arguments[i], whole))
      return false;
  return true;
}

static bool is_whole_call(const struct node *node, const bool *whole) {
  switch (node->function) {
  case FUNCTION_CEIL:
  case FUNCTION_FLOOR: return true;
  case FUNCTION_IF: return are_whole(node, 1, whole);
  case FUNCTION_RECENT: return is_whole(node->arguments[0], whole);
  case FUNCTION_ROUND:
    return node->arguments[1]->kind == NODE_NUMBER && node->arguments[1]->value <= 0;
  case FUNCTION_GROWTH:
  case FUNCTION_OWN: return false;
  default: return are_whole(node, 0, whole);
  }
}

static bool is_whole(const struct node *node, const bool *whole) {
  switch (node->kind) {
  case NODE_NUMBER: return node->value == floor(node->value);
  case NODE_NAME: return node->declaration == T_NAME || whole[node->declaration];
  case NODE_NEGATE:
  case NODE_ADD:
  case NODE_SUBTRACT:
  case NODE_MULTIPLY: return are_whole(node, 0, whole);
  case NODE_DIVIDE:
  case NODE_POWER: return false;
  case NODE_CALL: return is_whole_call(node, whole);
  default: return true; // a comparison
  }
}

// A series may read itself, so everything computed is taken for whole until its formula denies it.
void graph_find_whole(const struct graph *graph, bool *whole) {
  const struct model *model = graph->model;
  for (int d = 0; d < model->count; d++)
    whole[d] =
        graph->state[d] == GRAPH_INPUT ? model->declarations[d].integer : graph->state[d] >= 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < graph->order_count; i++) {
      const int d = graph->order[i];
      if (!whole[d] || is_whole(graph->formulas[d], whole))
        continue;
      whole[d] = false;
      changed = true;
    }
  }
}

bool graph_single(const struct graph *graph, const struct node *node) {
  return (node_calls(node, FUNCTION_FIRST) || node_calls(node, FUNCTION_HIGHEST)) &&
         !graph_is_series(graph, node->arguments[0]->declaration);
}

bool graph_equal(const struct graph *a, const struct graph *b) {
  return a == b || (a->model == b->model &&
                    !memcmp(a->state, b->state, (size_t)a->model->count * sizeof *a->state));
}

const struct graph *graph_given(const struct graph *graph, int input, struct arena *arena) {
  const size_t count = (size_t)graph->model->count;
  if (graph->state[input] < 0)
    return graph;
  struct graph *copy = arena_alloc(arena, sizeof *copy);
  *copy = *graph;
  copy->state = arena_array(arena, count, sizeof *copy->state);
  copy->order = arena_array(arena, count, sizeof *copy->order);
  copy->order_count = 0;
  memcpy(copy->state, graph->state, count * sizeof *copy->state);
  copy->state[input] = GRAPH_INPUT;
  for (int i = 0; i < graph->order_count; i++)
    if (graph->order[i] != input)
      copy->order[copy->order_count++] = graph->order[i];
  return copy;
}

struct builder {
  struct graph *graph;
  const enum given *given;
  const bool *lent; // or NULL
  bool *placed;     // [model->count]
  bool leaves_out;  // an input, because another one is given
  struct arena *arena;
  struct place place;
  struct diagnostics *diagnostics; // NULL: nothing is reported
  int gaps;                        // the number of missing things
};

// Whether the option has a value for an input of that family.
static bool has_family(const struct builder *builder, const char *family) {
  const struct model *model = builder->graph->model;
  for (int d = 0; d < model->count; d++) {
    const char *other = model->declarations[d].family;
    if (builder->given[d] >= GIVEN_VALUE && other && !strcmp(other, family))
      return true;
  }
  return false;
}

// Whether the option has a value for an input, in the report's currency or in USD, or for one of
// its family.
static bool is_given(const struct builder *builder, int input) {
  const struct declaration *declaration = &builder->graph->model->declarations[input];
  const int in_usd = declaration->in_usd;
  if (declaration->family)
    return has_family(builder, declaration->family);
  return builder->given[input] >= GIVEN_VALUE ||
         (in_usd >= 0 && builder->given[in_usd] >= GIVEN_VALUE);
}

static bool needs_met(const struct builder *builder, const struct alternative *alternative) {
  if (alternative->left_out)
    return false;
  for (int i = 0; i < alternative->need_count; i++)
    if (!is_given(builder, alternative->needs[i]))
      return false;
  return true;
}

static int first_usable(const struct builder *builder, const struct declaration *declaration) {
  for (int a = 0; a < declaration->alternative_count; a++)
    if (needs_met(builder, &declaration->alternatives[a]))
      return a;
  return GRAPH_ABSENT;
}

static void report_missing(struct builder *builder, const struct declaration *input) {
  builder->gaps++;
  if (!builder->diagnostics)
    return;
  const struct model *model = builder->graph->model;
  const char *instead = "";
  for (int a = 0; a < input->alternative_count; a++) {
    const struct alternative *alternative = &input->alternatives[a];
    const char *name =
        alternative->need_count ? model->declarations[alternative->needs[0]].name : "";
    if (*name && !strstr(instead, name))
      instead = arena_printf(model->arena, "%s, or '%s'", instead, name);
  }
  diagnostics_error(builder->diagnostics, builder->place, "option '%s' needs '%s' (%s)%s",
                    builder->graph->option, input->name, input->unit.text, instead);
}

static int choose_state(struct builder *builder, int d) {
  const struct declaration *declaration = &builder->graph->model->declarations[d];
  bool input = declaration->kind == DECLARATION_INPUT;
  int only_with = declaration->only_with, absent_with = declaration->absent_with;
  const bool lent = builder->lent && builder->lent[d];
  if (absent_with >= 0 && !lent && is_given(builder, absent_with)) {
    builder->leaves_out = true;
    return GRAPH_ABSENT;
  }
  if (only_with >= 0 && !is_given(builder, only_with))
    return GRAPH_ABSENT;
  if (declaration->when_varies >= 0 && builder->given[d] < GIVEN_VALUE)
    return GRAPH_ABSENT;
  if (declaration->family && !has_family(builder, declaration->family))
    return GRAPH_ABSENT;
  if (input && builder->given[d] != GIVEN_NOT && builder->given[d] != GIVEN_LIST)
    return GRAPH_INPUT;
  int usable = first_usable(builder, declaration);
  if (usable != GRAPH_ABSENT)
    return usable;
  if (input && declaration->has_default)
    return GRAPH_INPUT;
  if (input && (declaration->required || (only_with >= 0 && !declaration->typed)))
    report_missing(builder, declaration);
  return GRAPH_ABSENT;
}

static bool names_something(const struct node *node) {
  if (node->kind == NODE_NAME)
    return true;
  for (int i = 0; i < node->argument_count; i++)
    if (names_something(node->arguments[i]))
      return true;
  return false;
}

static bool is_there(struct builder *builder, int declaration);

// The formula without the terms that the option does not have; NULL if nothing is left. What is
// left of a sum counts if it is more than a number; so does, of those present, that of a difference
// without what is subtracted.
static const struct node *what_is_left(struct builder *builder, const struct node *node,
                                       bool of_those_present) {
  const struct node *left[MAX_ARGUMENTS];
  int count = 0;
  bool whole = true, first = false;
  if (node->kind == NODE_NAME && node->declaration >= 0)
    return is_there(builder, node->declaration) ? node : NULL;
  for (int i = 0; i < node->argument_count; i++) {
    const struct node *argument = what_is_left(builder, node->arguments[i], of_those_present);
    whole &= argument == node->arguments[i];
    first |= argument && i == 0;
    if (argument)
      left[count++] = argument;
  }
  if (whole)
    return node;
  if (count < node->argument_count)
    return count == 1 && names_something(left[0]) &&
                   (node->kind == NODE_ADD ||
                    (node->kind == NODE_SUBTRACT && first && of_those_present))
               ? left[0]
               : NULL;
  struct node *copy = arena_alloc(builder->arena, sizeof *copy);
  *copy = *node;
  for (int i = 0; i < count; i++)
    copy->arguments[i] = (struct node *)left[i];
  return copy;
}

// Determines whether a declaration exists here, and its formula. One that refers to itself, in an
// earlier period, does.
static bool is_there(struct builder *builder, int declaration) {
  struct graph *graph = builder->graph;
  if (graph->state[declaration] < 0 || graph->formulas[declaration])
    return graph->state[declaration] != GRAPH_ABSENT;
  const struct alternative *alternative =
      &graph->model->declarations[declaration].alternatives[graph->state[declaration]];
  const bool of_those_present = graph->model->declarations[declaration].of_those_present;
  graph->formulas[declaration] = alternative->formula;
  if (!builder->leaves_out && !of_those_present)
    return true;
  const struct node *left = what_is_left(builder, alternative->formula, of_those_present);
  if (!left)
    graph->state[declaration] = GRAPH_ABSENT;
  graph->formulas[declaration] = left;
  return left != NULL;
}

static int place_item(struct builder *builder, int declaration);

static int place_needed(struct builder *builder, const struct node *node, int for_item) {
  const struct model *model = builder->graph->model;
  if (node->kind == NODE_NAME && node->declaration >= 0 && node->declaration != for_item) {
    if (builder->graph->state[node->declaration] != GRAPH_ABSENT)
      return place_item(builder, node->declaration);
    builder->gaps++;
    if (builder->diagnostics)
      diagnostics_error(builder->diagnostics, node->place,
                        "'%s' of option '%s' needs '%s', which the option does not have",
                        model->declarations[for_item].name, builder->graph->option, node->name);
    return -1;
  }
  for (int i = 0; i < node->argument_count; i++)
    if (place_needed(builder, node->arguments[i], for_item))
      return -1;
  return 0;
}

static int place_item(struct builder *builder, int declaration) {
  struct graph *graph = builder->graph;
  if (builder->placed[declaration] || graph->state[declaration] < 0)
    return 0;
  builder->placed[declaration] = true;
  if (place_needed(builder, graph_formula(graph, declaration), declaration))
    return -1;
  graph->order[graph->order_count++] = declaration;
  return 0;
}

// The given inputs, plus those that exist only if something follows the year, as judged by the
// formulas in use without those inputs.
static const enum given *given_in_all(struct graph *graph, const enum given *given,
                                      struct arena *arena) {
  const struct model *model = graph->model;
  const size_t count = (size_t)model->count;
  enum given *all = arena_array(arena, count, sizeof *all);
  memcpy(all, given, count * sizeof *all);
  for (int d = 0; d < model->count; d++)
    if (model->declarations[d].when_varies >= 0)
      all[d] = GIVEN_NOT;
  struct builder builder = {.graph = graph, .given = all};
  for (int d = 0; d < model->count; d++)
    graph->state[d] = choose_state(&builder, d);
  for (int d = 0; d < model->count; d++) {
    const int varying = model->declarations[d].when_varies, with = model->declarations[d].or_with;
    if ((with >= 0 && is_given(&builder, with)) ||
        (varying >= 0 && model_follows_year(model, graph->state, varying)))
      all[d] = GIVEN_VALUE;
  }
  return all;
}

static struct graph *build(const struct model *model, const char *option, struct place place,
                           const enum given *given, const bool *lent, struct arena *arena,
                           struct diagnostics *diagnostics) {
  const size_t count = (size_t)model->count;
  struct graph *graph = arena_alloc(arena, sizeof *graph);
  *graph = (struct graph){.model = model, .option = option};
  graph->state = arena_array(arena, count, sizeof *graph->state);
  graph->order = arena_array(arena, count, sizeof *graph->order);
  graph->formulas = arena_array(arena, count, sizeof(const struct node *));
  struct builder builder = {.graph = graph,
                            .given = given_in_all(graph, given, arena),
                            .lent = lent,
                            .placed = arena_alloc(arena, count),
                            .place = place,
                            .arena = arena,
                            .diagnostics = diagnostics};
  for (int d = 0; d < model->count; d++)
    graph->state[d] = choose_state(&builder, d);
  for (int d = 0; d < model->count && !builder.gaps; d++)
    is_there(&builder, d);
  for (int d = 0; d < model->count && !builder.gaps; d++)
    place_item(&builder, d);
  return builder.gaps ? NULL : graph;
}

struct graph *graph_build_lent(const struct model *model, const char *option, struct place place,
                               const enum given *given, const bool *lent, struct arena *arena,
                               struct diagnostics *diagnostics) {
  return build(model, option, place, given, lent, arena, diagnostics);
}

struct graph *graph_build(const struct model *model, const char *option, struct place place,
                          const enum given *given, struct arena *arena,
                          struct diagnostics *diagnostics) {
  return build(model, option, place, given, NULL, arena, diagnostics);
}

struct graph *graph_try(const struct model *model, const char *option, const enum given *given,
                        const bool *lent, struct arena *arena) {
  return build(model, option, nowhere, given, lent, arena, NULL);
}
