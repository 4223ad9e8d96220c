#include "model/questions/difference.h"

#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/evidence/workload.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/tiers.h"

#include <math.h>
#include <string.h>

static bool is_input(struct side side) {
  return side.option->graph->state[side.input] == GRAPH_INPUT;
}

static const struct figure *figure_of(struct side side) {
  return option_figure(side.scenario, side.option, side.scenario->selected, side.input);
}

struct side difference_side(const struct difference *difference, size_t pair, int input,
                            bool second) {
  const struct pair *both = &difference->pairs[pair];
  return second ? (struct side){difference->b, both->b, difference->in_b[input]}
                : (struct side){difference->a, both->a, input};
}

// Whether the input was given by the user or found in the catalogue, rather than left at a default.
static bool is_given(struct side side) {
  return is_input(side) && figure_of(side)->origin != ORIGIN_DEFAULT;
}

// An input that a rented option does not pay for is set to zero, but nobody stated it.
bool difference_is_stated(struct side side) {
  return is_given(side) && figure_of(side)->origin != ORIGIN_RENT;
}

static double value_of(struct side side) {
  return option_value(side.scenario, side.option, side.input, 0);
}

bool difference_in_value(const struct difference *difference, size_t pair, int input) {
  const struct side a = difference_side(difference, pair, input, false);
  const struct side b = difference_side(difference, pair, input, true);
  const bool in_a = is_input(a), in_b = is_input(b);
  const bool companion = difference->a->model->declarations[input].only_with >= 0;
  if (companion && in_a != in_b) // one left at its default states nothing itself
    return is_given(in_a ? a : b);
  if (!in_a || !in_b)
    return in_a != in_b;
  return value_of(a) != value_of(b);
}

bool difference_in_grade(const struct difference *difference, size_t pair, int input) {
  const struct side a = difference_side(difference, pair, input, false);
  const struct side b = difference_side(difference, pair, input, true);
  return difference_is_stated(a) && difference_is_stated(b) &&
         figure_of(a)->grade != figure_of(b)->grade;
}

bool difference_in_workload(const struct difference *difference, size_t pair,
                            enum workload_key key) {
  const struct workload *a = &difference->pairs[pair].a->workload;
  const struct workload *b = &difference->pairs[pair].b->workload;
  const bool in_a = *a->values[key], in_b = *b->values[key];
  if (in_a && in_b)
    return strcmp(a->values[key], b->values[key]) != 0;
  return (in_a && a->places[key].source) || (in_b && b->places[key].source);
}

const char *difference_unlike(const struct difference *difference, size_t pair,
                              struct arena *arena) {
  const struct pair *both = &difference->pairs[pair];
  return workload_difference(&both->a->workload, &both->b->workload, arena);
}

static void match_options(struct difference *difference, struct arena *arena) {
  const struct scenario *a = difference->a, *b = difference->b;
  difference->pairs = arena_array(arena, a->option_count, sizeof *difference->pairs);
  difference->only_a = arena_array(arena, a->option_count, sizeof *difference->only_a);
  difference->only_b = arena_array(arena, b->option_count, sizeof *difference->only_b);
  for (size_t i = 0; i < a->option_count; i++) {
    const int other = scenario_option(b, a->options[i].id);
    if (other >= 0)
      difference->pairs[difference->pair_count++] =
          (struct pair){&a->options[i], &b->options[other]};
    else
      difference->only_a[difference->only_a_count++] = a->options[i].id;
  }
  for (size_t i = 0; i < b->option_count; i++)
    if (scenario_option(a, b->options[i].id) < 0)
      difference->only_b[difference->only_b_count++] = b->options[i].id;
}

static bool has_same_item(const struct model *model, const struct declaration *item) {
  const int found = model_find(model, item->name);
  if (found < 0)
    return false;
  const struct declaration *other = &model->declarations[found];
  bool same = item->alternative_count == other->alternative_count;
  for (int a = 0; a < item->alternative_count && same; a++)
    same = !strcmp(item->alternatives[a].text, other->alternatives[a].text);
  return same && !strcmp(item->unit.text, other->unit.text) && item->own == other->own;
}

// The amount per period of an opex item: it may grow in only one of the two.
static bool has_same_amount(const struct model *model, const struct model *other,
                            const struct declaration *item, struct arena *arena) {
  const int amount = model_find(model, arena_printf(arena, "%s_cost", item->name));
  const bool is_opex = amount >= 0 && model->declarations[amount].own == OWN_OPEX;
  return !is_opex || has_same_item(other, &model->declarations[amount]);
}

static void add_items(struct difference *difference, const struct model *model,
                      const struct model *other, bool shared_too, struct arena *arena) {
  for (int d = 0; d < model->count; d++) {
    const struct declaration *item = &model->declarations[d];
    const bool shared = model_find(other, item->name) >= 0;
    const bool own = item->item && item->kind != DECLARATION_INPUT;
    if ((!own && strcmp(item->name, "period_length") != 0) || (shared && !shared_too) ||
        (has_same_item(other, item) && has_same_amount(model, other, item, arena)))
      continue;
    difference->items[difference->item_count++] = item->name;
  }
}

static void match_items(struct difference *difference, struct arena *arena) {
  const struct model *a = difference->a->model, *b = difference->b->model;
  difference->items =
      arena_array(arena, (size_t)a->count + (size_t)b->count, sizeof *difference->items);
  add_items(difference, a, b, true, arena);
  add_items(difference, b, a, false, arena);
}

// Inputs of an option that is bought in one scenario and rented in the other change together.
static bool belongs_to_rent(const struct difference *difference, size_t pair, int whole) {
  if (difference->pairs[pair].a->rented == difference->pairs[pair].b->rented)
    return false;
  const struct declaration *declaration = &difference->a->model->declarations[whole];
  return declaration->in_rent || declaration->has_rent_default ||
         model_excludes(difference->a->model, whole,
                        model_find(difference->a->model, "list_price"));
}

// Whether the host's watts are in what was measured of the pair's node, in one of the scenarios:
// what is part of the node's watts then changes along with them.
static bool belongs_to_node(const struct difference *difference, size_t pair, int whole) {
  const struct model *model = difference->a->model;
  const int host = model_find(model, "host_power"), load = model_find(model, "load_power");
  if (host < 0 || load < 0 || (whole != host && whole != load) || difference->in_b[host] < 0 ||
      difference->in_b[load] < 0)
    return false;
  for (int second = 0; second < 2; second++) {
    const struct side side = difference_side(difference, pair, host, second);
    if (is_input(side) && figure_of(side)->contained)
      return true;
  }
  return false;
}

// Whether the price of power is part of the pair's colocation rent in one of the scenarios: the
// rent and what it includes then change together.
static bool belongs_to_colocation(const struct difference *difference, size_t pair, int whole) {
  static const char *const names[] = {"electricity_price", "colo_power", "colo_rate"};
  const struct model *model = difference->a->model;
  const int price = model_find(model, names[0]);
  bool is_of_it = false;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    is_of_it |= !strcmp(model->declarations[whole].name, names[i]);
  if (!is_of_it || price < 0 || difference->in_b[price] < 0)
    return false;
  for (int second = 0; second < 2; second++) {
    const struct side side = difference_side(difference, pair, price, second);
    const char *within = is_input(side) ? figure_of(side)->part_of : NULL;
    if (within && !strcmp(within, names[1]))
      return true;
  }
  return false;
}

// The inputs that change together with an input of a pair.
enum scope { SCOPE_ITS_PARTS, SCOPE_RENT, SCOPE_NODE, SCOPE_COLOCATION };

static enum scope scope_of(const struct difference *difference, size_t pair, int whole) {
  if (belongs_to_rent(difference, pair, whole))
    return SCOPE_RENT;
  return belongs_to_node(difference, pair, whole)         ? SCOPE_NODE
         : belongs_to_colocation(difference, pair, whole) ? SCOPE_COLOCATION
                                                          : SCOPE_ITS_PARTS;
}

// A change that is being put together.
struct collection {
  int *inputs;
  size_t count;
  bool *differs, *matters;
};

static struct collection collection_of(size_t inputs, size_t pairs, struct arena *arena) {
  return (struct collection){.inputs = arena_array(arena, inputs, sizeof(int)),
                             .differs = arena_array(arena, pairs, sizeof(bool)),
                             .matters = arena_array(arena, pairs, sizeof(bool))};
}

// An input's number in the other model, or -1. The numbers of two different line items with the
// same name are not the same inputs.
static int same_input(const struct model *model, int input, const struct model *other) {
  const struct declaration *of = &model->declarations[input];
  const int item = of->item ? model_find(model, of->item) : -1;
  if (of->kind != DECLARATION_INPUT ||
      (item >= 0 && !has_same_item(other, &model->declarations[item])))
    return -1;
  const int found = model_find(other, of->name);
  return found >= 0 && other->declarations[found].kind == DECLARATION_INPUT ? found : -1;
}

static void match_inputs(struct difference *difference, struct arena *arena) {
  const struct model *a = difference->a->model;
  int *in_b = arena_array(arena, (size_t)a->count, sizeof *in_b);
  for (int d = 0; d < a->count; d++)
    in_b[d] = same_input(a, d, difference->b->model);
  difference->in_b = in_b;
}

// The input that an amount in USD, a year or the scale of a list is part of; else the input itself.
static int whole_of(const struct model *model, int input) {
  const struct declaration *declarations = model->declarations;
  input = model_named(model, input);
  input = declarations[input].year_of >= 0 ? declarations[input].year_of : input;
  return declarations[input].scale_of >= 0 ? declarations[input].scale_of : input;
}

// The input of which each input is a part [model->count]; -1 for those that one scenario lacks.
static const int *find_wholes(const struct difference *difference, struct arena *arena) {
  const struct model *model = difference->a->model;
  int *wholes = arena_array(arena, (size_t)model->count, sizeof *wholes);
  for (int d = 0; d < model->count; d++)
    wholes[d] = difference->in_b[d] >= 0 ? whole_of(model, d) : -1;
  for (int d = 0; d < model->count; d++) {
    int tiers[TIERS_INPUTS];
    if (!model->declarations[d].tiers)
      continue;
    tiers_inputs(model, d, tiers, arena);
    for (size_t i = 0; i < TIERS_INPUTS; i++)
      if (tiers[i] >= 0)
        wholes[tiers[i]] = d;
  }
  return wholes;
}

// Adds an input to the collection if it differs in the pairs in which its whole has that scope.
static void collect(struct collection *collection, const struct difference *difference, int input,
                    int whole, enum scope scope) {
  bool any = false;
  for (size_t p = 0; p < difference->pair_count; p++) {
    if (scope_of(difference, p, whole) != scope)
      continue;
    const bool in_value = difference_in_value(difference, p, input);
    const bool differs = in_value || difference_in_grade(difference, p, input);
    collection->matters[p] |= in_value;
    collection->differs[p] |= differs;
    any |= differs;
  }
  if (any)
    collection->inputs[collection->count++] = input;
}

static void add_change(struct difference *difference, int input, struct collection collection) {
  if (collection.count)
    difference->changes[difference->change_count++] = (struct change){
        input, collection.inputs, collection.count, collection.differs, collection.matters};
}

static size_t part_count(const int *wholes, int count, int whole) {
  size_t parts = 0;
  for (int d = 0; d < count; d++)
    parts += wholes[d] == whole;
  return parts;
}

// Collects all inputs of a scope, which are one change.
static struct collection collect_scope(const struct difference *difference, const int *wholes,
                                       enum scope scope, struct arena *arena) {
  const int count = difference->a->model->count;
  struct collection all = collection_of((size_t)count, difference->pair_count, arena);
  for (int d = 0; d < count; d++)
    if (wholes[d] >= 0)
      collect(&all, difference, d, wholes[d], scope);
  return all;
}

// An input and its parts are one change: one part alone may contradict the others.
static void find_changes(struct difference *difference, struct arena *arena) {
  const int count = difference->a->model->count, *wholes = find_wholes(difference, arena);
  const size_t pairs = difference->pair_count;
  static const struct {
    enum scope scope;
    const char *named; // after this input, if there are several
  } scopes[] = {{SCOPE_NODE, "host_power"}, {SCOPE_COLOCATION, "colo_power"}};
  difference->changes = arena_array(arena, (size_t)count + 3, sizeof *difference->changes);
  add_change(difference, -1, collect_scope(difference, wholes, SCOPE_RENT, arena));
  for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++) {
    const struct collection all = collect_scope(difference, wholes, scopes[i].scope, arena);
    const int named = model_find(difference->a->model, scopes[i].named);
    add_change(difference, all.count == 1 ? all.inputs[0] : named, all);
  }
  for (int whole = 0; whole < count; whole++) {
    const size_t parts = part_count(wholes, count, whole);
    if (!parts)
      continue;
    struct collection alone = collection_of(parts, pairs, arena);
    for (int d = 0; d < count; d++)
      if (wholes[d] == whole)
        collect(&alone, difference, d, whole, SCOPE_ITS_PARTS);
    add_change(difference, alone.count == 1 ? alone.inputs[0] : whole, alone);
  }
}

struct difference *difference_of(const struct scenario *a, const struct scenario *b,
                                 struct arena *arena) {
  struct difference *difference = arena_alloc(arena, sizeof *difference);
  *difference = (struct difference){.a = a, .b = b};
  match_options(difference, arena);
  match_items(difference, arena);
  match_inputs(difference, arena);
  find_changes(difference, arena);
  return difference;
}

bool difference_is_empty(const struct difference *difference) {
  for (size_t i = 0; i < difference->pair_count; i++)
    if (difference_in_pair(difference, i))
      return false;
  return !difference->only_a_count && !difference->only_b_count;
}

bool difference_in_pair(const struct difference *difference, size_t pair) {
  const struct pair *both = &difference->pairs[pair];
  if (difference->item_count || strcmp(both->a->accelerator, both->b->accelerator) != 0)
    return true;
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    if (difference_in_workload(difference, pair, (enum workload_key)key))
      return true;
  for (size_t i = 0; i < difference->change_count; i++)
    if (difference->changes[i].differs[pair])
      return true;
  return false;
}

bool difference_has_parts(const struct difference *difference, size_t pair) {
  size_t parts = difference->item_count > 0;
  for (size_t c = 0; c < difference->change_count; c++)
    parts += difference->changes[c].matters[pair];
  return parts > 1;
}

// A list itself has no value that could differ: it goes with its years.
static bool is_changed(const struct model *model, const struct change *changes, size_t count,
                       size_t pair, int input) {
  for (size_t c = 0; c < count; c++)
    for (size_t i = 0; i < changes[c].input_count && changes[c].matters[pair]; i++)
      if (changes[c].inputs[i] == input || whole_of(model, changes[c].inputs[i]) == input)
        return true;
  return false;
}

// The side from which the what-if takes an input.
static struct side side_of(const struct difference *difference, size_t pair,
                           const struct change *changes, size_t count, int input) {
  const struct model *model = difference->a->model;
  const int with = model->declarations[input].only_with;
  const bool changed = is_changed(model, changes, count, pair, input) ||
                       (with >= 0 && is_changed(model, changes, count, pair, with));
  return difference_side(difference, pair, input, changed);
}

static double input_value(const struct declaration *declaration, struct side side) {
  const struct figure *figure = figure_of(side);
  return figure->origin == ORIGIN_NONE ? declaration->default_value : figure->value;
}

bool difference_cost(const struct difference *difference, size_t pair, const struct change *changes,
                     size_t count, struct arena *arena, double *cost) {
  const struct model *model = difference->a->model;
  const struct option *option = difference->pairs[pair].a;
  enum given *given = arena_array(arena, (size_t)model->count, sizeof *given);
  for (int d = 0; d < model->count; d++) {
    const struct side side = side_of(difference, pair, changes, count, d);
    given[d] = side.option->given[side.input];
  }
  const struct graph *graph = graph_try(model, option->id, given, option->lent, arena);
  if (!graph)
    return false;

  const struct scenario *a = difference->a, *b = difference->b;
  const double longest = fmax((a->periods - 1) * a->period_h, (b->periods - 1) * b->period_h);
  const int periods = scenario_columns(a, longest);
  struct evaluation *evaluation = evaluation_new(graph, periods, 1, arena);
  for (int d = 0; d < model->count; d++)
    if (graph->state[d] == GRAPH_INPUT)
      *evaluation_at(evaluation, d, 0) =
          input_value(&model->declarations[d], side_of(difference, pair, changes, count, d));
  evaluate(evaluation);
  *cost = *evaluation_at(evaluation, model_cost_item(model), 0);
  return isfinite(*cost);
}
