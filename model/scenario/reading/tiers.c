#include "model/scenario/reading/tiers.h"

#include "base/diagnostics.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"

#include <string.h>

enum { VALUE, NUMBER, PARTS };

// A word of the model's `tiers`: one of two stems, or a name.
static const char *word_of(const struct model *model, int declaration, size_t number,
                           struct arena *arena) {
  const char *word = model->declarations[declaration].tiers;
  for (; number > 0; number--)
    word += strcspn(word, " ") + 1;
  return arena_copy_n(arena, word, strcspn(word, " "));
}

const char *tiers_input(const struct model *model, int declaration, size_t tier, size_t part,
                        struct arena *arena) {
  return arena_printf(arena, "%s_%zu", word_of(model, declaration, part, arena), tier + 1);
}

void tiers_inputs(const struct model *model, int declaration, int inputs[TIERS_INPUTS],
                  struct arena *arena) {
  size_t count = 0;
  for (size_t i = 0; i < MAX_TIERS; i++)
    for (size_t part = 0; part < PARTS; part++)
      inputs[count++] = model_find(model, tiers_input(model, declaration, i, part, arena));
  inputs[count] = model_find(model, word_of(model, declaration, PARTS, arena));
}

// The input of one part of a tier, counted from 0; -1 beyond the last.
static int find_input(const struct model *model, int declaration, size_t tier, size_t part) {
  struct arena scratch = {NULL};
  const int found = model_find(model, tiers_input(model, declaration, tier, part, &scratch));
  arena_free(&scratch);
  return found;
}

bool tiers_beside(const struct model *model, int declaration, int *before, int *after) {
  for (int d = 0; d < model->count; d++)
    for (size_t i = 0; model->declarations[d].tiers && i < MAX_TIERS * PARTS; i++) {
      const size_t tier = i / PARTS, part = i % PARTS;
      if (find_input(model, d, tier, part) != declaration)
        continue;
      *before = tier ? find_input(model, d, tier - 1, part) : -1;
      *after = find_input(model, d, tier + 1, part);
      return true;
    }
  return false;
}

static int input_of(const struct resolving *resolving, int declaration, size_t tier, size_t part) {
  return find_input(resolving->scenario->model, declaration, tier, part);
}

// The most tiers that the option has in any case; 0: none.
static size_t most_tiers(const struct resolving *resolving, int declaration) {
  size_t most = 0;
  for (size_t c = 0; c < resolving->scenario->case_count; c++) {
    const size_t count = resolving_figures(resolving, c)[declaration]->tier_count;
    most = count > most ? count : most;
  }
  return most;
}

static void put(const struct resolving *resolving, const struct figure **figures, int declaration,
                const struct figure *whole, const struct list_figure *value) {
  if (figures[declaration]->origin >= whole->origin && figures[declaration]->origin != ORIGIN_NONE)
    return;
  struct figure figure = *whole;
  figure.value = value->value;
  figure.text = value->text;
  figure.place = value->place;
  figure.tiers = NULL;
  figure.tier_count = 0;
  figures[declaration] = resolving_keep(resolving, figure);
}

static void put_tiers(const struct resolving *resolving, const struct figure **figures,
                      int declaration, size_t count) {
  const struct figure *whole = figures[declaration];
  const bool unsaid = whole->origin == ORIGIN_NONE;
  const struct list_figure one[PARTS] = {{whole->value, unsaid ? "0 %" : whole->text, whole->place},
                                         {1, "1 gpu", whole->place}};
  struct figure neutral = *whole;
  if (unsaid)
    neutral = (struct figure){.origin = ORIGIN_COMMON, .source = "default", .date = ""};
  const size_t own = whole->tier_count ? whole->tier_count : 1;
  for (size_t i = 0; i < count; i++)
    for (size_t part = 0; part < PARTS; part++) {
      const int d = input_of(resolving, declaration, i, part);
      const struct figure *before =
          i < own ? NULL : figures[input_of(resolving, declaration, i - 1, part)];
      const struct list_figure last =
          before ? (struct list_figure){before->value, before->text, before->place}
                 : (whole->tier_count ? whole->tiers + PARTS * i : one)[part];
      put(resolving, figures, d, &neutral, &last);
    }
  figures[declaration] = &figure_none;
}

// Tiers beyond a case's own are copies of its last one.
static void check_rising(const struct resolving *resolving, const struct figure **figures,
                         int declaration, size_t count, size_t own) {
  static const char *const wrong[PARTS] = {
      "falls from %s to %s in volume tier %zu: a larger order cannot have a smaller discount",
      "has a volume tier from %s and another from %s as tier %zu: each must begin after the one "
      "before"};
  for (size_t i = 1; i < count && i < own; i++)
    for (size_t part = 0; part < PARTS; part++) {
      const int d = input_of(resolving, declaration, i, part);
      const struct figure *before = figures[input_of(resolving, declaration, i - 1, part)];
      const struct figure *figure = figures[d];
      if (part == VALUE ? figure->value >= before->value : figure->value > before->value)
        continue;
      const struct unit *unit = &resolving->scenario->model->declarations[d].unit;
      const char *what = arena_printf(resolving->arena, wrong[part],
                                      quantity_text(before->value, unit, resolving->arena),
                                      quantity_text(figure->value, unit, resolving->arena), i + 1);
      diagnostics_error(resolving->diagnostics, figure->place, "'%s' of option '%s' %s",
                        resolving->scenario->model->declarations[declaration].name,
                        resolving->option->id, what);
      return;
    }
}

static void refuse_lone(const struct resolving *resolving, const struct figure **figures,
                        int declaration, int lone) {
  const struct declaration *declarations = resolving->scenario->model->declarations;
  if (lone < 0 || figures[lone]->origin == ORIGIN_NONE)
    return;
  if (figure_is_of_option(figures[lone]))
    diagnostics_error(resolving->diagnostics, figures[lone]->place,
                      "'%s' has no effect on option '%s', whose '%s' has no volume tiers",
                      declarations[lone].name, resolving->option->id,
                      declarations[declaration].name);
  figures[lone] = &figure_none;
}

// An input that belongs to tiers has no effect without tiers.
static void refuse_all_lone(const struct resolving *resolving, const struct figure **figures,
                            int declaration) {
  int inputs[TIERS_INPUTS];
  tiers_inputs(resolving->scenario->model, declaration, inputs, resolving->arena);
  for (size_t i = 0; i < TIERS_INPUTS; i++)
    refuse_lone(resolving, figures, declaration, inputs[i]);
}

void tiers_settle(const struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  for (int d = 0; d < scenario->model->count; d++) {
    if (!scenario->model->declarations[d].tiers)
      continue;
    const size_t count = most_tiers(resolving, d);
    for (size_t c = 0; c < scenario->case_count; c++) {
      const struct figure **figures = resolving_figures(resolving, c);
      const size_t own = figures[d]->tier_count;
      if (!count) {
        refuse_all_lone(resolving, figures, d);
        continue;
      }
      put_tiers(resolving, figures, d, count);
      check_rising(resolving, figures, d, count, own);
    }
  }
}
