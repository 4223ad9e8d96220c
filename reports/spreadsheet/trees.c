#include "reports/spreadsheet/trees.h"

#include "model/cost/formula.h"

#include <stddef.h>

enum {
  GROUP = 13, // operands of a long sum that are added up first: as many as fill a formula
  LONG_SUM = 3 * GROUP
};

struct node *tree_copy(const struct graph *graph, const struct node *node, struct arena *arena) {
  node = graph_single(graph, node) ? node->arguments[0] : node;
  struct node *copy = arena_alloc(arena, sizeof *copy);
  *copy = *node;
  for (int i = 0; i < node->argument_count; i++)
    copy->arguments[i] = tree_copy(graph, node->arguments[i], arena);
  return copy;
}

static bool reads_time(const struct node *node) {
  if (node->kind == NODE_NAME)
    return node->declaration == T_NAME;
  for (int i = 0; i < node->argument_count; i++)
    if (reads_time(node->arguments[i]))
      return true;
  return false;
}

bool tree_has_if(const struct node *node, bool is_condition) {
  if (node_calls(node, FUNCTION_IF) || (node_is_comparison(node) && !is_condition))
    return true;
  for (int i = 0; i < node->argument_count; i++)
    if (tree_has_if(node->arguments[i], false))
      return true;
  return false;
}

bool tree_nests_if(const struct node *node) {
  for (int i = 0; i < node->argument_count; i++) {
    bool is_condition = node_calls(node, FUNCTION_IF) && i == 0;
    if (node_calls(node, FUNCTION_IF) && tree_has_if(node->arguments[i], is_condition))
      return true;
    if (node_is_comparison(node) && tree_has_if(node->arguments[i], false))
      return true;
    if (tree_nests_if(node->arguments[i]))
      return true;
  }
  return false;
}

static int count_parts(const struct node *node, int most) {
  int count = 1;
  for (int i = 0; i < node->argument_count && count < most; i++)
    count += count_parts(node->arguments[i], most - count);
  return count;
}

bool tree_may_fit(const struct node *node, int most) {
  return count_parts(node, most) < most;
}

struct unit tree_base_unit(struct dimension dimension, struct arena *arena) {
  if (dimension_is_one(dimension))
    return (struct unit){.text = "-", .counts = true};
  return (struct unit){.text = dimension_text(dimension, arena), .dimension = dimension};
}

bool tree_is_flag(const struct node *node) {
  return node->kind == NODE_NUMBER && (node->value == 0 || node->value == 1);
}

static bool is_flag_if(const struct node *node) {
  return node_is_comparison(node) ||
         (node_calls(node, FUNCTION_IF) && tree_is_flag(node->arguments[1]) &&
          tree_is_flag(node->arguments[2]));
}

struct node **tree_find_time_if(struct node **place, bool is_root) {
  struct node *node = *place;
  if (is_flag_if(node))
    return is_root || !reads_time(node) ? NULL : place;
  if (node_calls(node, FUNCTION_IF) && reads_time(node->arguments[0]))
    return &node->arguments[0];
  for (int i = 0; i < node->argument_count; i++) {
    struct node **found = tree_find_time_if(&node->arguments[i], false);
    if (found)
      return found;
  }
  return NULL;
}

bool tree_nest_extremes(struct node *node, struct arena *arena) {
  bool changed = false;
  for (int i = 0; i < node->argument_count; i++)
    changed |= tree_nest_extremes(node->arguments[i], arena);
  bool extreme = node_calls(node, FUNCTION_MIN) || node_calls(node, FUNCTION_MAX);
  if (!extreme || node->argument_count <= 2)
    return changed;
  struct node *first = node->arguments[0];
  for (int i = 1; i < node->argument_count - 1; i++) {
    struct node *pair = arena_alloc(arena, sizeof *pair);
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

struct node *tree_rounded(struct node *difference, struct arena *arena) {
  struct node *digits = arena_alloc(arena, sizeof *digits);
  *digits = (struct node){.kind = NODE_NUMBER,
                          .place = difference->place,
                          .value = CEIL_DECIMALS,
                          .unit = {.text = "", .counts = true}};
  struct node *call = arena_alloc(arena, sizeof *call);
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

struct node *tree_grouped(struct node *sum, struct arena *arena) {
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

// Replaces a part with IF(limit, part, 1).
static void guard(struct node **place, const struct node *limit, struct arena *arena) {
  struct node *node = *place;
  if (node->kind == NODE_NUMBER)
    return;
  struct node *condition = arena_alloc(arena, sizeof *condition);
  struct node *one = arena_alloc(arena, sizeof *one);
  struct node *choice = arena_alloc(arena, sizeof *choice);
  *condition = *limit;
  *one = (struct node){.kind = NODE_NUMBER,
                       .place = node->place,
                       .value = 1,
                       .unit = tree_base_unit(node->dimension, arena),
                       .dimension = node->dimension};
  *choice = (struct node){.kind = NODE_CALL,
                          .function = FUNCTION_IF,
                          .place = node->place,
                          .dimension = node->dimension,
                          .argument_count = 3,
                          .arguments = {condition, node, one}};
  *place = choice;
}

void tree_guard_divisors(struct node *node, const struct node *limit, struct arena *arena) {
  for (int i = 0; i < node->argument_count && !node_takes_series(node); i++)
    tree_guard_divisors(node->arguments[i], limit, arena);
  if (node->kind == NODE_DIVIDE)
    guard(&node->arguments[1], limit, arena);
  else if (node->kind == NODE_POWER)
    guard(&node->arguments[0], limit, arena);
}
