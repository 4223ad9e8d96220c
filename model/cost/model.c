#include "model/cost/model.h"

#include "model/cost/words.h"

#include <string.h>

#define uthash_malloc(size)       arena_alloc(model->arena, size)
#define uthash_free(memory, size) ((void)(memory))
#include <uthash.h>

struct model_name {
  const char *name;
  int declaration;
  UT_hash_handle hh;
};

void model_enter(struct model *model) {
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
