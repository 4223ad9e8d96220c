#include "model/cost/model.h"

#include <string.h>

int model_find(const struct model *model, const char *name) {
  for (int i = 0; i < model->count; i++)
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
  const char **names = arena_array(arena, (size_t)model->count + 1, sizeof *names);
  size_t count = 0;
  for (int i = 0; i < model->count; i++)
    if (!inputs_only || model->declarations[i].kind == DECLARATION_INPUT)
      names[count++] = model->declarations[i].name;
  return nearest_name(name, names, count);
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

const char *model_unit_text(const struct model *model, const char *usd_text) {
  return text_in_currency(usd_text, "USD", model->currency, model->arena);
}
