#include "model/cost/model.h"

#include "model/cost/units.h"
#include "model/cost/words.h"

#include <ctype.h>
#include <string.h>

#define uthash_malloc(size)       arena_alloc(model->arena, size)
#define uthash_free(memory, size) ((void)(memory))
#include <uthash.h>

struct model_name {
  const char *name;
  int declaration;
  UT_hash_handle hh;
};

static void enter(struct model *model) {
  struct model_name *entry = arena_alloc(model->arena, sizeof *entry);
  *entry = (struct model_name){.name = model->declarations[model->entered].name,
                               .declaration = model->entered};
  model->entered++;
  HASH_ADD_KEYPTR(hh, model->names, entry->name, strlen(entry->name), entry);
}

int model_find(const struct model *model, const char *name) {
  struct model_name *entry;
  HASH_FIND_STR(model->names, name, entry);
  if (entry)
    return entry->declaration;
  for (int i = model->entered; i < model->count; i++)
    if (!strcmp(model->declarations[i].name, name))
      return i;
  return -1;
}

int model_cost_item(const struct model *model) {
  return model_find(model, "cost_per_mtok");
}

int model_group(const struct model *model, const char *name) {
  for (int i = 0; i < model->group_count; i++)
    if (!strcmp(model->groups[i].name, name))
      return i;
  return -1;
}

static bool legal_name(const struct model *model, const char *name, struct place place,
                       struct diagnostics *diagnostics) {
  size_t length = strlen(name);
  bool legal = length > 0 && length <= MAX_NAME_LENGTH && isalpha((unsigned char)name[0]);
  for (size_t i = 0; i < length; i++)
    legal &= isalnum((unsigned char)name[i]) || name[i] == '_';
  if (!legal)
    diagnostics_error(diagnostics, place,
                      "'%s' is not a name: a letter, then letters, digits and _, at most %d", name,
                      MAX_NAME_LENGTH);
  else if ((unit_is_symbol(name) && strcmp(name, "year") != 0) || !strcmp(name, "t"))
    diagnostics_error(diagnostics, place, "'%s' is a reserved word in formulas", name);
  else if (model_find(model, name) >= 0)
    diagnostics_error(diagnostics, place, "'%s' is already a name of the cost model", name);
  else
    return true;
  return false;
}

static struct declaration *declare(struct model *model, const char *name, struct place place) {
  if (model->count == model->capacity) {
    int capacity = model->capacity ? 2 * model->capacity : 1024;
    model->declarations = arena_grow(model->arena, model->declarations, (size_t)model->count,
                                     (size_t)capacity, sizeof *model->declarations);
    model->capacity = capacity;
  }
  struct declaration *declaration = &model->declarations[model->count++];
  *declaration = (struct declaration){.name = name,
                                      .label = name,
                                      .place = place,
                                      .conflicts = -1,
                                      .needed_with = -1,
                                      .only_with = -1,
                                      .idle_without = -1,
                                      .when_varies = -1,
                                      .or_with = -1,
                                      .unless = -1,
                                      .absent_with = -1,
                                      .none_below = -1,
                                      .none_without = -1,
                                      .none = "none",
                                      .in_usd = -1,
                                      .usd_of = -1,
                                      .scale = -1,
                                      .year_of = -1,
                                      .scale_of = -1,
                                      .unit = {.text = ""}};
  enter(model);
  return declaration;
}

struct declaration *model_declare(struct model *model, const char *name, struct place place,
                                  struct diagnostics *diagnostics) {
  return legal_name(model, name, place, diagnostics) ? declare(model, name, place) : NULL;
}

int model_require(const struct model *model, const char *name, struct diagnostics *diagnostics) {
  int found = model_find(model, name);
  if (found < 0)
    diagnostics_error(diagnostics, (struct place){.source = model->source},
                      "the cost model does not declare '%s', which reports need", name);
  return found;
}

const char *model_nearest(const struct model *model, const char *name, bool inputs_only,
                          struct arena *arena) {
  if (model->count > MAX_CANDIDATES)
    return NULL;
  const char **names = arena_array(arena, (size_t)model->count + MODEL_WORDS, sizeof *names);
  size_t count = 0;
  for (int i = 0; i < model->count; i++)
    if (!inputs_only || model->declarations[i].kind == DECLARATION_INPUT)
      names[count++] = model->declarations[i].name;
  return words_nearest(name, names, count);
}

static bool stands_instead(const struct declaration *declaration, int other) {
  for (int i = 0; i < declaration->instead_count; i++)
    if (declaration->instead_of[i] == other)
      return true;
  return false;
}

bool model_excludes(const struct model *model, int a, int b) {
  return stands_instead(&model->declarations[a], b) || stands_instead(&model->declarations[b], a);
}

bool declaration_is_series(const struct declaration *declaration) {
  return declaration->kind == DECLARATION_SERIES ||
         (declaration->year_count > 1 && !strcmp(declaration->schedule, declaration->name));
}

bool declaration_is_clock(const struct declaration *declaration) {
  return declaration->kind == DECLARATION_SERIES &&
         (declaration->step_h > 0 || !strcmp(declaration->name, "year"));
}

const char *declaration_key(const struct model *model, int declaration) {
  const struct declaration *input = &model->declarations[declaration];
  const char *key = input->given_as;
  const char *before = declaration > 0 ? input[-1].given_as : NULL;
  const char *after = declaration + 1 < model->count ? input[1].given_as : NULL;
  const bool follows = key && before && !strcmp(key, before);
  const bool leads = key && after && !strcmp(key, after);
  return follows ? "" : leads ? key : input->name;
}

const char *declaration_choice(const struct declaration *declaration, double value) {
  for (int i = 0; i < declaration->choice_count; i++)
    if (declaration->choices[i].value == value)
      return declaration->choices[i].name;
  return NULL;
}

int model_stated(const struct model *model, int declaration, const char *amount) {
  const int in_usd = declaration < 0 ? -1 : model->declarations[declaration].in_usd;
  return in_usd >= 0 && text_has_currency(amount, "USD") ? in_usd : declaration;
}

int model_named(const struct model *model, int declaration) {
  const int of = declaration < 0 ? -1 : model->declarations[declaration].usd_of;
  return of < 0 ? declaration : of;
}

const char *model_unit_text(const struct model *model, const char *usd_text) {
  return text_in_currency(usd_text, "USD", model->currency, model->arena);
}
