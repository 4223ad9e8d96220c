#include "model/cost/usable.h"

#include "base/arena.h"
#include "model/cost/formula.h"

#include <stddef.h>
#include <string.h>

static void mention(struct model *model, int declaration) {
  const char *family = model->declarations[declaration].family;
  model->declarations[declaration].mentioned = true;
  for (int d = 0; d < model->count && family; d++)
    if (model->declarations[d].family && !strcmp(model->declarations[d].family, family))
      model->declarations[d].mentioned = true;
}

void model_mention(struct model *model, const char *key) {
  char *rest = arena_copy(model->arena, key), *word;
  while ((word = strsep(&rest, "."))) {
    const int found = model_named(model, model_find(model, word));
    if (found >= 0)
      mention(model, found);
    for (int d = 0; d < model->count && found < 0; d++)
      if (model->declarations[d].given_as && !strcmp(model->declarations[d].given_as, word))
        model->declarations[d].mentioned = true;
  }
}

// ---- what follows the year

struct following {
  const struct model *model;
  const int *state;
  bool *seen;
};

static int followed(const struct following *following, int declaration);

static int followed_in(const struct following *following, const struct node *node) {
  int clock = -1;
  if (node->kind == NODE_NAME)
    return followed(following, model_find(following->model, node->name));
  for (int i = 0; i < node->argument_count && clock < 0; i++)
    clock = followed_in(following, node->arguments[i]);
  return clock;
}

static int followed(const struct following *following, int declaration) {
  if (declaration < 0 || declaration_is_clock(&following->model->declarations[declaration]))
    return declaration;
  if (following->seen[declaration])
    return -1;
  following->seen[declaration] = true;
  const struct declaration *item = &following->model->declarations[declaration];
  int clock = -1;
  for (int a = 0; a < item->alternative_count && clock < 0; a++) {
    const struct alternative *alternative = &item->alternatives[a];
    const bool used =
        following->state ? following->state[declaration] == a : !alternative->left_out;
    if (used && alternative->formula)
      clock = followed_in(following, alternative->formula);
  }
  return clock;
}

int model_followed_clock(const struct model *model, const int *state, int declaration) {
  bool seen[model->count];
  memset(seen, 0, sizeof seen);
  const struct following following = {model, state, seen};
  return followed(&following, declaration);
}

bool model_follows_year(const struct model *model, const int *state, int declaration) {
  return model_followed_clock(model, state, declaration) >= 0;
}

// ---- what is left out

// Whether some option can have a value for the input, directly or as a consequence of what is
// given.
static bool is_within_reach(const struct model *model, int declaration) {
  const struct declaration *input = &model->declarations[declaration];
  if (input->when_varies >= 0)
    return (input->or_with >= 0 && model->declarations[input->or_with].mentioned) ||
           model_follows_year(model, NULL, input->when_varies);
  return !input->typed || input->mentioned;
}

// Leaving a formula out may put more inputs out of reach, and never brings any back.
void model_leave_out(struct model *model) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (int d = 0; d < model->count; d++)
      for (int a = 0; a < model->declarations[d].alternative_count; a++) {
        struct alternative *alternative = &model->declarations[d].alternatives[a];
        for (int n = 0; n < alternative->need_count && !alternative->left_out; n++)
          changed |= alternative->left_out = !is_within_reach(model, alternative->needs[n]);
      }
  }
}

// ---- what varies

// Whether an unchecked formula depends on the period, other than inside sum() and the like.
static bool is_per_period(const struct model *model, const struct node *node) {
  if (node->kind == NODE_NAME) {
    const int found = model_find(model, node->name);
    return !strcmp(node->name, "t") ||
           (found >= 0 && declaration_is_series(&model->declarations[found]));
  }
  if (node_takes_series(node))
    return function_table[node->function].per_period;
  for (int i = 0; i < node->argument_count; i++)
    if (is_per_period(model, node->arguments[i]))
      return true;
  return false;
}

static bool has_series_formula(const struct model *model, const struct declaration *item) {
  for (int a = 0; a < item->alternative_count; a++) {
    const struct alternative *alternative = &item->alternatives[a];
    if (!alternative->left_out && alternative->formula &&
        is_per_period(model, alternative->formula))
      return true;
  }
  return false;
}

// Items may come before the items that they are made of.
void model_settle_kinds(struct model *model) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (int d = 0; d < model->count; d++) {
      struct declaration *item = &model->declarations[d];
      if (!item->varies || item->kind != DECLARATION_SCALAR || !has_series_formula(model, item))
        continue;
      item->kind = DECLARATION_SERIES;
      changed = true;
    }
  }
}
