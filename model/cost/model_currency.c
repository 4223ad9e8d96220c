#include "model/cost/model_currency.h"

#include "base/arena.h"
#include "base/ini.h"
#include "model/cost/formula.h"
#include "model/cost/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

bool model_is_foreign(const struct model *model) {
  return strcmp(model->currency, "USD") != 0;
}

const struct ini_section *model_in_currency(const struct model *model,
                                            const struct ini_section *section) {
  if (!model_is_foreign(model))
    return section;
  struct ini_section *copy = arena_alloc(model->arena, sizeof *copy);
  struct ini_key *keys = arena_array(model->arena, section->key_count + 1, sizeof *keys);
  *copy = *section;
  copy->keys = keys;
  for (size_t k = 0; k < section->key_count; k++) {
    keys[k] = section->keys[k];
    keys[k].value = model_unit_text(model, keys[k].value);
  }
  return copy;
}

static void formula_into(const struct model *model, struct alternative *alternative,
                         const char *text, struct place place, struct diagnostics *diagnostics) {
  *alternative = (struct alternative){
      .text = text,
      .place = place,
      .formula = formula_parse(text, place, model->arena, diagnostics),
  };
}

void model_declare_exchange_rate(struct model *model, struct place place,
                                 struct diagnostics *diagnostics) {
  if (model_find(model, "exchange_rate") >= 0)
    return;
  const int group = model_group(model, "finance");
  struct declaration *rate = model_declare(model, "exchange_rate", place, diagnostics);
  if (!rate)
    return;
  rate->kind = DECLARATION_INPUT;
  rate->label = arena_printf(model->arena, "Exchange rate: USD for one %s", model->currency);
  rate->group = group < 0 ? 0 : group;
  rate->has_min = rate->min_exclusive = true;
  const char *unit = arena_printf(model->arena, "USD/%s", model->currency);
  unit_parse(unit, place, &rate->unit, model->arena, diagnostics);
}

// Limits other than zero are in the report's currency.
static void copy_in_usd(const struct model *model, struct declaration *dollars,
                        const struct declaration *input, struct diagnostics *diagnostics) {
  struct arena *arena = model->arena;
  const bool zero = input->min == 0;
  dollars->kind = DECLARATION_INPUT;
  dollars->label = arena_printf(arena, "%s, in USD", input->label);
  dollars->group = input->group;
  dollars->per_option = input->per_option;
  dollars->typed = input->typed;
  dollars->in_rent = input->in_rent;
  dollars->instead_count = input->instead_count;
  memcpy(dollars->instead_of, input->instead_of, sizeof dollars->instead_of);
  dollars->unless = input->unless;
  dollars->absent_with = input->absent_with;
  dollars->notice = input->notice;
  dollars->has_min = input->has_min && zero;
  dollars->min_exclusive = input->min_exclusive && zero;
  unit_parse(text_in_currency(input->unit.text, model->currency, "USD", arena), input->place,
             &dollars->unit, arena, diagnostics);
}

void model_declare_in_usd(struct model *model, int of, struct diagnostics *diagnostics) {
  const struct declaration input = model->declarations[of];
  struct arena *arena = model->arena;
  const char *name = arena_printf(arena, "%s_usd", input.name);
  const bool has_room = input.alternative_count < MAX_ALTERNATIVES;
  if (!model_is_foreign(model) || dimension_money(input.unit.dimension) != 1 || !has_room)
    return;
  struct declaration *dollars = model_declare(model, name, input.place, diagnostics);
  if (!dollars)
    return;
  const int number = (int)(dollars - model->declarations);
  copy_in_usd(model, dollars, &input, diagnostics);
  dollars->usd_of = of;
  struct declaration *own = &model->declarations[of];
  own->in_usd = number;
  for (int a = own->alternative_count++; a > 0; a--)
    own->alternatives[a] = own->alternatives[a - 1];
  formula_into(model, &own->alternatives[0], arena_printf(arena, "%s / exchange_rate", name),
               input.place, diagnostics);
  own->alternatives[0].needs[own->alternatives[0].need_count++] = number;
}

void model_declare_result_in_usd(struct model *model, struct diagnostics *diagnostics) {
  const int cost = model_cost_item(model);
  if (cost < 0 || model_find(model, "exchange_rate") < 0)
    return;
  const struct declaration of = model->declarations[cost];
  struct declaration *result = model_declare(model, "cost_per_mtok_usd", of.place, diagnostics);
  if (!result)
    return;
  result->kind = DECLARATION_SCALAR;
  result->label = arena_printf(model->arena, "%s, in USD", of.label);
  result->group = of.group;
  result->alternative_count = 1;
  formula_into(model, &result->alternatives[0], "cost_per_mtok * exchange_rate", of.place,
               diagnostics);
  unit_parse(text_in_currency(of.unit.text, model->currency, "USD", model->arena), of.place,
             &result->unit, model->arena, diagnostics);
}
