#include "model/scenario/reading/free.h"

#include "base/arena.h"
#include "base/ini.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"
#include "model/scenario/reading/refusal.h"
#include "model/scenario/reading/sections.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"

#include <string.h>

static bool within(const struct declaration *input, double value) {
  if (input->has_min && (input->min_exclusive ? value <= input->min : value < input->min))
    return false;
  return !input->has_max || value <= input->max;
}

bool bounds_parse(const char *text, struct place place, const struct unit *unit, double *low,
                  double *high, struct diagnostics *diagnostics) {
  double ends[2];
  const int failed = quantity_parse_series(text, "..", place, unit, ends, 2, diagnostics);
  if (failed > 0)
    diagnostics_error(diagnostics, place, "expected LOW .. HIGH in %s, not '%s'", unit->text, text);
  if (failed)
    return false;
  *low = ends[0];
  *high = ends[1];
  if (*low < *high)
    return true;
  diagnostics_error(diagnostics, place, "the low end of '%s' is not below its high end", text);
  return false;
}

static bool read_free(struct reading *reading, const struct ini_key *key,
                      struct free_quantity *quantity) {
  const struct model *model = reading->scenario->model;
  const struct prefixed of = reading_prefixed(reading, key->name);
  const int d = model_stated(model, model_find(model, of.name), key->value);
  *quantity = (struct free_quantity){
      .key = key->name, .place = key->place, .declaration = d, .option = of.option};
  if ((of.id && of.option < 0) || d < 0 || model->declarations[d].kind != DECLARATION_INPUT) {
    refuse_key(reading, reading_section(reading, "free"), key);
    return false;
  }
  const struct declaration *input = &model->declarations[d];
  if (input->choice_count || input->integer) {
    diagnostics_error(reading->diagnostics, key->place,
                      "'%s' is %s, which cannot be free: write one scenario for each value",
                      of.name, input->choice_count ? "a choice" : "a whole number");
    return false;
  }
  if (!bounds_parse(key->value, key->value_place, &input->unit, &quantity->low, &quantity->high,
                    reading->diagnostics))
    return false;
  if (within(input, quantity->low) && within(input, quantity->high))
    return true;
  diagnostics_error(reading->diagnostics, key->value_place, "'%s' exceeds the limits of '%s'",
                    key->value, of.name);
  return false;
}

void frees_read(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  const struct ini_section *section = reading_section(reading, "free");
  const size_t count = section ? section->key_count : 0;
  scenario->frees = arena_array(reading->arena, count + 1, sizeof *scenario->frees);
  for (size_t k = 0; k < count; k++)
    if (read_free(reading, &section->keys[k], &scenario->frees[scenario->free_count]))
      scenario->free_count++;
}

void frees_fill(const struct resolving *resolving, const struct figure **figures) {
  const struct scenario *scenario = resolving->scenario;
  for (size_t i = 0; i < scenario->free_count; i++) {
    const struct free_quantity *quantity = &scenario->frees[i];
    const struct declaration *input = &scenario->model->declarations[quantity->declaration];
    const int named = model_named(scenario->model, quantity->declaration);
    const struct figure **figure = &figures[named];
    const bool common = quantity->option < 0;
    if ((!common && (size_t)quantity->option != resolving->number) ||
        (*figure)->origin != ORIGIN_NONE ||
        selection_giving(&resolving->selections, scenario->model->declarations[named].name) >= 0)
      continue;
    const double middle = (quantity->low + quantity->high) / 2;
    *figure = resolving_keep(
        resolving, (struct figure){.origin = common ? ORIGIN_COMMON : ORIGIN_OPTION,
                                   .value = middle,
                                   .text = quantity_text(middle, &input->unit, resolving->arena),
                                   .place = quantity->place,
                                   .grade = GRADE_ASSUMED,
                                   .source = "middle of its range in [free]",
                                   .date = "",
                                   .in_usd = named != quantity->declaration});
  }
}
