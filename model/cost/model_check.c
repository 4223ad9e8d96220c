#include "model/cost/model_check.h"

#include "base/arena.h"
#include "base/source.h"
#include "model/cost/formula.h"
#include "model/cost/units.h"
#include "model/cost/usable.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct checker {
  struct model *model;
  struct diagnostics *diagnostics;
  const struct declaration *item; // being checked
};

static void unknown_name(const struct checker *checker, const struct node *node) {
  const char *nearest = model_nearest(checker->model, node->name, false, checker->model->arena);
  if (nearest)
    diagnostics_error(checker->diagnostics, node->place, "unknown name '%s'; did you mean '%s'?",
                      node->name, nearest);
  else
    diagnostics_error(checker->diagnostics, node->place, "unknown name '%s'", node->name);
}

// Replaces own(group) with the sum of the user's items of that group, or zero.
static void expand_own(struct checker *checker, struct node *node) {
  struct model *model = checker->model;
  const char *group = node->arguments[0]->name;
  enum own_kind own = !strcmp(group, "capex")  ? OWN_CAPEX
                      : !strcmp(group, "opex") ? OWN_OPEX
                                               : OWN_NONE;
  if (own == OWN_NONE)
    diagnostics_error(checker->diagnostics, node->place, "own() takes capex or opex");
  struct place place = node->place;
  struct node *sum = NULL;
  for (int d = 0; d < model->count; d++) {
    if (model->declarations[d].own != own || own == OWN_NONE)
      continue;
    struct node *name = arena_alloc(model->arena, sizeof *name);
    *name = (struct node){.kind = NODE_NAME,
                          .place = place,
                          .name = model->declarations[d].name,
                          .declaration = UNRESOLVED};
    struct node *both = name;
    if (sum) {
      both = arena_alloc(model->arena, sizeof *both);
      *both = (struct node){
          .kind = NODE_ADD, .place = place, .argument_count = 2, .arguments = {sum, name}};
    }
    sum = both;
  }
  *node =
      sum ? *sum : (struct node){.kind = NODE_NUMBER, .place = place, .unit = checker->item->unit};
}

// Resolves a name. `by` reads other periods of it, or is NULL. An input that only some options give
// by year has no row in others.
static int resolve_name(struct checker *checker, struct node *node, const struct node *by) {
  const struct model *model = checker->model;
  bool in_series = declaration_is_series(checker->item);
  if (!strcmp(node->name, "t")) {
    node->declaration = T_NAME;
    if (in_series)
      return 0;
    diagnostics_error(checker->diagnostics, node->place, "t is defined only per period");
    return -1;
  }
  node->declaration = model_find(model, node->name);
  if (node->declaration < 0) {
    unknown_name(checker, node);
    return -1;
  }
  const struct declaration *target = &model->declarations[node->declaration];
  bool series = declaration_is_series(target);
  const bool takes_input =
      by && (node_calls(by, FUNCTION_FIRST) || node_calls(by, FUNCTION_HIGHEST));
  if (by && (!series || (target->kind == DECLARATION_INPUT && !takes_input))) {
    diagnostics_error(checker->diagnostics, node->place, "'%s' is %s, not a series", node->name,
                      series ? "an input" : "one number");
    return -1;
  }
  if (series && !by && !in_series && target->own == OWN_CAPEX)
    return -1; // model_check reports the item itself
  if (series && !by && !in_series) {
    diagnostics_error(
        checker->diagnostics, node->place, "'%s' has a value per period: write %s(%s) or first(%s)",
        node->name, target->kind == DECLARATION_INPUT ? "highest" : "sum", node->name, node->name);
    return -1;
  }
  node->dimension = target->unit.dimension;
  return 0;
}

// The formula with its numbers as written, instead of the inputs made from them.
static struct node *as_written(const struct checker *checker, const struct node *node) {
  struct arena *arena = checker->model->arena;
  struct node *copy = arena_alloc(arena, sizeof *copy);
  *copy = *node;
  const char *literal = node->kind == NODE_NAME && node->declaration >= 0
                            ? checker->model->declarations[node->declaration].literal
                            : NULL;
  if (literal)
    copy->name = literal;
  for (int i = 0; i < node->argument_count; i++)
    copy->arguments[i] = as_written(checker, node->arguments[i]);
  return copy;
}

static const char *describe(const struct checker *checker, const struct node *node) {
  struct arena *arena = checker->model->arena;
  const char *text = formula_text(as_written(checker, node), arena);
  const char *unit = dimension_text(node->dimension, arena);
  if (node->kind == NODE_NAME && node->declaration >= 0) {
    const struct declaration *named = &checker->model->declarations[node->declaration];
    unit = named->unit.text;
  }
  if (!strcmp(unit, "-") || !*unit)
    unit = "a plain number";
  return arena_printf(arena, "%s (%s)", text, unit);
}

static int same_dimension(const struct checker *checker, const struct node *node, int a, int b) {
  const struct node *left = node->arguments[a], *right = node->arguments[b];
  if (dimension_equal(left->dimension, right->dimension))
    return 0;
  diagnostics_error(checker->diagnostics, node->place, "units do not match: %s and %s",
                    describe(checker, left), describe(checker, right));
  return -1;
}

static int want_dimension(const struct checker *checker, const struct node *node,
                          struct dimension wanted, const char *what) {
  if (dimension_equal(node->dimension, wanted))
    return 0;
  diagnostics_error(checker->diagnostics, node->place, "%s must be %s, not %s", what,
                    dimension_text(wanted, checker->model->arena), describe(checker, node));
  return -1;
}

// Powers in a unit's dimension are small integers, so products of products need a limit.
static int check_dimension(const struct checker *checker, const struct node *node) {
  for (int i = 0; i < BASE_UNITS; i++)
    if (abs(node->dimension.power[i]) > MAX_UNIT_POWER) {
      diagnostics_error(checker->diagnostics, node->place,
                        "a unit's power must be at most %d, not %s", MAX_UNIT_POWER,
                        dimension_text(node->dimension, checker->model->arena));
      return -1;
    }
  return 0;
}

static int check_power(const struct checker *checker, struct node *node) {
  static const struct dimension one;
  const struct node *base = node->arguments[0], *exponent = node->arguments[1];
  if (want_dimension(checker, exponent, one, "an exponent"))
    return -1;
  if (dimension_is_one(base->dimension))
    return 0;
  if (exponent->kind != NODE_NUMBER || (exponent->value != 2 && exponent->value != 3)) {
    diagnostics_error(checker->diagnostics, node->place,
                      "%s can only be raised to the power 2 or 3", describe(checker, base));
    return -1;
  }
  for (int k = 0; k < (int)exponent->value; k++)
    node->dimension = dimension_multiply(node->dimension, base->dimension, 1);
  return check_dimension(checker, node);
}

// Zero is zero in any unit.
static void adopt_unit(struct node *zero, const struct node *other) {
  if (zero->kind == NODE_NUMBER && zero->value == 0 && !*zero->unit.text)
    zero->dimension = other->dimension;
}

static int check_call(const struct checker *checker, struct node *node) {
  static const struct dimension one, time = {{[BASE_H] = 1}}, per_time = {{[BASE_H] = -1}};
  struct node **arguments = node->arguments;
  int bad = 0;
  switch (node->function) {
  case FUNCTION_IF:
    adopt_unit(arguments[1], arguments[2]);
    adopt_unit(arguments[2], arguments[1]);
    bad = want_dimension(checker, arguments[0], one, "a condition") |
          same_dimension(checker, node, 1, 2);
    node->dimension = arguments[1]->dimension;
    return bad;
  case FUNCTION_MIN:
  case FUNCTION_MAX:
    for (int i = 1; i < node->argument_count; i++)
      bad |= same_dimension(checker, node, 0, i);
    break;
  case FUNCTION_ROUND:
    bad = want_dimension(checker, arguments[0], one, "what is rounded") |
          want_dimension(checker, arguments[1], one, "the number of digits");
    break;
  case FUNCTION_CEIL: bad = want_dimension(checker, arguments[0], one, "what is rounded up"); break;
  case FUNCTION_FLOOR:
    bad = want_dimension(checker, arguments[0], one, "what is rounded down");
    break;
  case FUNCTION_RECENT:
    bad = want_dimension(checker, arguments[1], one, "the number of periods");
    break;
  case FUNCTION_GROWTH:
    bad = want_dimension(checker, arguments[0], per_time, "a growth rate") |
          want_dimension(checker, arguments[1], time, "the time of growth");
    return bad;
  default: break;
  }
  node->dimension = arguments[0]->dimension;
  return bad;
}

static int check_operator(const struct checker *checker, struct node *node) {
  struct dimension left = node->arguments[0]->dimension;
  switch (node->kind) {
  case NODE_NEGATE: node->dimension = left; return 0;
  case NODE_ADD:
  case NODE_SUBTRACT: node->dimension = left; return same_dimension(checker, node, 0, 1);
  case NODE_MULTIPLY:
  case NODE_DIVIDE:
    node->dimension = dimension_multiply(left, node->arguments[1]->dimension,
                                         node->kind == NODE_MULTIPLY ? 1 : -1);
    return check_dimension(checker, node);
  case NODE_POWER: return check_power(checker, node);
  default: return same_dimension(checker, node, 0, 1);
  }
}

// Whether the node is first() or highest() of something with only one value.
static bool is_all_of_one(const struct checker *checker, const struct node *node) {
  if (!node_calls(node, FUNCTION_FIRST) && !node_calls(node, FUNCTION_HIGHEST))
    return false;
  const int found = model_find(checker->model, node->arguments[0]->name);
  return found >= 0 && !declaration_is_series(&checker->model->declarations[found]);
}

static int check_node(struct checker *checker, struct node *node) {
  if (node->kind == NODE_CALL && node->function == FUNCTION_OWN)
    expand_own(checker, node);
  if (node->kind == NODE_NUMBER) {
    node->dimension = node->unit.dimension;
    return 0;
  }
  if (is_all_of_one(checker, node))
    *node = *node->arguments[0];
  if (node->kind == NODE_NAME)
    return resolve_name(checker, node, NULL);
  const bool whole = node_takes_series(node);
  if (whole && function_table[node->function].per_period && !declaration_is_series(checker->item)) {
    diagnostics_error(checker->diagnostics, node->place, "%s() is defined only per period",
                      function_table[node->function].name);
    return -1;
  }
  int bad = 0;
  for (int i = 0; i < node->argument_count; i++)
    bad |= whole && i == 0 ? resolve_name(checker, node->arguments[i], node)
                           : check_node(checker, node->arguments[i]);
  if (bad)
    return -1;
  return node->kind == NODE_CALL ? check_call(checker, node) : check_operator(checker, node);
}

static void check_formula(struct checker *checker, struct alternative *alternative) {
  if (alternative->left_out || check_node(checker, alternative->formula))
    return;
  const struct declaration *item = checker->item;
  if (dimension_equal(alternative->formula->dimension, item->unit.dimension))
    return;
  diagnostics_error(checker->diagnostics, alternative->place,
                    "the formula of '%s' is in %s, but its unit is %s", item->name,
                    dimension_text(alternative->formula->dimension, checker->model->arena),
                    item->unit.text);
}

// Depth-first search for a path back to the start. What a formula `needs` is given where the
// formula is in use, and leads no further.
struct cycle_search {
  const struct model *model;
  struct diagnostics *diagnostics;
  char *colour; // 0 unseen, 1 on the path, 2 done
  int *path, length;
  const struct alternative *alternative; // the one being searched
};

static int report_cycle(const struct cycle_search *search, int again) {
  struct arena *arena = search->model->arena;
  const struct declaration *declarations = search->model->declarations;
  int start = 0;
  while (search->path[start] != again)
    start++;
  const char *text = "";
  for (int i = start; i < search->length; i++)
    text = arena_printf(arena, "%s%s -> ", text, declarations[search->path[i]].name);
  const struct declaration *last = &declarations[search->path[search->length - 1]];
  diagnostics_error(search->diagnostics, last->alternatives[0].place,
                    "circular reference in formulas: %s%s", text, declarations[again].name);
  return -1;
}

static int search_from(struct cycle_search *search, int declaration);

static bool is_needed(const struct alternative *alternative, int declaration) {
  for (int i = 0; i < alternative->need_count; i++)
    if (alternative->needs[i] == declaration)
      return true;
  return false;
}

static int search_node(struct cycle_search *search, const struct node *node, int self) {
  const bool own_past = node_reads_past(node) && node->arguments[0]->declaration == self;
  if (node->kind == NODE_NAME && node->declaration >= 0)
    return is_needed(search->alternative, node->declaration)
               ? 0
               : search_from(search, node->declaration);
  for (int i = own_past ? 1 : 0; i < node->argument_count; i++)
    if (search_node(search, node->arguments[i], self))
      return -1;
  return 0;
}

static int search_from(struct cycle_search *search, int declaration) {
  if (search->colour[declaration] == 1)
    return report_cycle(search, declaration);
  if (search->colour[declaration] == 2)
    return 0;
  search->colour[declaration] = 1;
  search->path[search->length++] = declaration;
  const struct declaration *item = &search->model->declarations[declaration];
  int bad = 0;
  const struct alternative *before = search->alternative;
  for (int a = 0; a < item->alternative_count && !bad; a++) {
    search->alternative = &item->alternatives[a];
    if (!item->alternatives[a].left_out)
      bad = search_node(search, item->alternatives[a].formula, declaration);
  }
  search->alternative = before;
  search->length--;
  search->colour[declaration] = 2;
  return bad;
}

int model_check(struct model *model, struct diagnostics *diagnostics) {
  struct checker checker = {.model = model, .diagnostics = diagnostics};
  size_t errors = diagnostics->errors;
  model_settle_kinds(model);
  for (int d = 0; d < model->count; d++) {
    checker.item = &model->declarations[d];
    if (checker.item->own == OWN_CAPEX && checker.item->kind == DECLARATION_SERIES)
      diagnostics_error(diagnostics, checker.item->alternatives[0].place,
                        "a capex item is paid once: it cannot depend on a period");
    for (int a = 0; a < checker.item->alternative_count; a++)
      check_formula(&checker, &model->declarations[d].alternatives[a]);
  }
  if (diagnostics->errors != errors)
    return -1;
  struct cycle_search search = {.model = model, .diagnostics = diagnostics};
  search.colour = arena_alloc(model->arena, (size_t)model->count);
  search.path = arena_array(model->arena, (size_t)model->count, sizeof *search.path);
  for (int d = 0; d < model->count && diagnostics->errors == errors; d++)
    search_from(&search, d);
  return diagnostics->errors == errors ? 0 : -1;
}
