#include "reports/spreadsheet/powers.h"

#include "base/arena.h"
#include "model/cost/formula.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "reports/spreadsheet/trees.h"

#include <stdbool.h>

// What is known of a number, whatever the inputs are.
enum sign { SIGN_ANY, SIGN_NOT_NEGATIVE, SIGN_POSITIVE };

static enum sign lesser(enum sign a, enum sign b) {
  return a < b ? a : b;
}

static enum sign greater(enum sign a, enum sign b) {
  return a > b ? a : b;
}

static enum sign sign_of(const struct model *model, const struct node *node);

static enum sign sign_of_bound(const struct declaration *input) {
  if (!input->has_min || input->min < 0)
    return SIGN_ANY;
  return input->min > 0 || input->min_exclusive ? SIGN_POSITIVE : SIGN_NOT_NEGATIVE;
}

static enum sign sign_of_name(const struct model *model, int declaration) {
  if (declaration < 0) // t
    return SIGN_NOT_NEGATIVE;
  const struct declaration *named = &model->declarations[declaration];
  if (named->kind == DECLARATION_INPUT)
    return sign_of_bound(named);
  enum sign sign = SIGN_POSITIVE;
  for (int a = 0; a < named->alternative_count; a++)
    if (!named->alternatives[a].left_out)
      sign = lesser(sign, sign_of(model, named->alternatives[a].formula));
  return sign;
}

// Whether 1 + rate * 1 yr is above zero.
static bool grows(const struct model *model, const struct node *rate) {
  if (sign_of(model, rate) != SIGN_ANY)
    return true;
  if (rate->kind != NODE_NAME || rate->declaration < 0)
    return false;
  const struct declaration *input = &model->declarations[rate->declaration];
  const double least = 1 + input->min * HOURS_PER_YEAR, rounding = 1e-9;
  return input->kind == DECLARATION_INPUT && input->has_min &&
         least > (input->min_exclusive ? -rounding : rounding);
}

static enum sign sign_of_call(const struct model *model, const struct node *call) {
  if (call->function == FUNCTION_GROWTH)
    return grows(model, call->arguments[0]) ? SIGN_POSITIVE : SIGN_ANY;
  if (call->function != FUNCTION_MIN && call->function != FUNCTION_MAX)
    return SIGN_ANY;
  enum sign sign = sign_of(model, call->arguments[0]);
  for (int i = 1; i < call->argument_count; i++) {
    const enum sign other = sign_of(model, call->arguments[i]);
    sign = call->function == FUNCTION_MIN ? lesser(sign, other) : greater(sign, other);
  }
  return sign;
}

static enum sign sign_of(const struct model *model, const struct node *node) {
  switch (node->kind) {
  case NODE_NUMBER:
    return node->value > 0 ? SIGN_POSITIVE : node->value < 0 ? SIGN_ANY : SIGN_NOT_NEGATIVE;
  case NODE_NAME: return sign_of_name(model, node->declaration);
  case NODE_CALL: return sign_of_call(model, node);
  case NODE_POWER: return sign_of(model, node->arguments[0]);
  case NODE_ADD:
  case NODE_MULTIPLY:
  case NODE_DIVIDE: break;
  default: return SIGN_ANY;
  }
  const enum sign left = sign_of(model, node->arguments[0]);
  const enum sign right = sign_of(model, node->arguments[1]);
  const bool sums = node->kind == NODE_ADD && left != SIGN_ANY && right != SIGN_ANY;
  return sums ? greater(left, right) : lesser(left, right);
}

static bool may_be_one(const struct model *model, const struct node *node) {
  if (node->kind != NODE_POWER && !node_calls(node, FUNCTION_GROWTH))
    return false;
  const bool is_positive = node->kind == NODE_POWER
                               ? sign_of(model, node->arguments[0]) == SIGN_POSITIVE
                               : grows(model, node->arguments[0]);
  return !is_positive && sign_of(model, node->arguments[1]) != SIGN_POSITIVE;
}

static struct node *number(double value, const struct node *like, struct arena *arena) {
  struct node *node = arena_alloc(arena, sizeof *node);
  *node = (struct node){.kind = NODE_NUMBER,
                        .place = like->place,
                        .value = value,
                        .unit = {.text = "", .counts = true},
                        .dimension = like->dimension};
  return node;
}

// IF(b = 0, 1, a ^ b)
static struct node *guarded(const struct graph *graph, struct node *power, struct arena *arena) {
  struct node *exponent = tree_copy(graph, power->arguments[1], arena);
  struct node *is_zero = arena_alloc(arena, sizeof *is_zero);
  *is_zero = (struct node){.kind = NODE_EQUAL,
                           .place = power->place,
                           .argument_count = 2,
                           .arguments = {exponent, number(0, exponent, arena)}};
  struct node *choice = arena_alloc(arena, sizeof *choice);
  *choice = (struct node){.kind = NODE_CALL,
                          .function = FUNCTION_IF,
                          .place = power->place,
                          .argument_count = 3,
                          .arguments = {is_zero, number(1, power, arena), power},
                          .dimension = power->dimension};
  return choice;
}

struct node *powers_guarded(const struct graph *graph, struct node *root, struct arena *arena) {
  for (int i = 0; i < root->argument_count && !node_takes_series(root); i++)
    root->arguments[i] = powers_guarded(graph, root->arguments[i], arena);
  return may_be_one(graph->model, root) ? guarded(graph, root, arena) : root;
}
