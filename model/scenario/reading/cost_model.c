#include "model/scenario/reading/cost_model.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "base/source_file.h"
#include "model/cost/formula.h"
#include "model/cost/list_text.h"
#include "model/cost/model.h"
#include "model/cost/model_check.h"
#include "model/cost/model_read.h"
#include "model/cost/own_item.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/cost/usable.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/reading/schedules.h"
#include "model/scenario/reading/sections.h"
#include "model/scenario/reading/tiers.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

// [scenario] period replaces the model's length of a period. It is not an input: the columns of
// every sheet depend on it, in all cases.
static void read_period(struct reading *reading, struct model *model) {
  const struct ini_key *key = reading_head_key(reading, "period");
  reading->scenario->period_h = HOURS_PER_YEAR;
  int d = key ? model_require(model, "period_length", reading->diagnostics) : -1;
  if (d < 0)
    return;
  struct declaration *item = &model->declarations[d];
  double value = 0;
  if (quantity_parse(key->value, key->value_place, &item->unit, &value, reading->diagnostics))
    return;
  double per_year = value > 0 ? HOURS_PER_YEAR / value : 0;
  if (per_year < 1 || per_year > MAX_PERIODS_PER_YEAR + 1e-9 ||
      fabs(per_year - round(per_year)) > 1e-9) {
    diagnostics_error(reading->diagnostics, key->value_place,
                      "a year must be a whole number of periods, at most %d: 1 month, 3 month, "
                      "6 month, 1 yr",
                      MAX_PERIODS_PER_YEAR);
    return;
  }
  reading->scenario->period_h = value;
  item->alternatives[0].text = key->value;
  item->alternatives[0].place = key->value_place;
  item->alternatives[0].formula =
      formula_parse(key->value, key->value_place, reading->arena, reading->diagnostics);
}

// Volume tiers give inputs of their own.
static void mention_tiers(struct model *model, const char *value) {
  for (int d = 0; d < model->count && text_is_tiers(value); d++)
    if (model->declarations[d].tiers)
      model_mention(model, tiers_input(model, d, 0, 0, model->arena));
}

// An offer may have them, too. One that cannot be read is reported where it is loaded.
static void mention_offered_tiers(const struct reading *reading, struct model *model,
                                  const char *path) {
  struct diagnostics quiet = {.arena = reading->arena};
  const struct source *source =
      access(path, R_OK) ? NULL : source_read(path, reading->arena, &quiet);
  const struct ini *ini = source ? ini_read(source, reading->arena, &quiet) : NULL;
  const struct ini_section *prices = ini ? ini_section(ini, "price", "") : NULL;
  for (size_t k = 0; prices && k < prices->key_count; k++)
    mention_tiers(model, prices->keys[k].value);
}

static bool is_quote(const char *key) {
  const char *last = strrchr(key, '.');
  return !strcmp(last ? last + 1 : key, "quote");
}

// Mentions a key; an offer may state a warranty and damages for a delay, too.
static void mention(struct model *model, const char *key) {
  static const char *const offered[] = {"warranty", "delay_damages"};
  model_mention(model, key);
  for (size_t i = 0; i < sizeof offered / sizeof offered[0]; i++)
    if (is_quote(key))
      model_mention(model, offered[i]);
}

// Every key of the scenario and of --set may give an input, but a question's own keys do not.
static void mention_keys(const struct reading *reading, struct model *model) {
  for (size_t i = 0; i < reading->spoken->section_count; i++) {
    const struct ini_section *section = &reading->spoken->sections[i];
    const bool asks = section_is_question(section->kind) && strcmp(section->kind, "free") != 0;
    for (size_t k = 0; k < section->key_count; k++)
      if (!asks || strchr(section->keys[k].name, '.'))
        mention(model, section->keys[k].name);
    for (size_t k = 0; k < section->key_count && !asks; k++) {
      const struct ini_key *key = &section->keys[k];
      mention_tiers(model, key->value);
      if (is_quote(key->name))
        mention_offered_tiers(
            reading, model,
            source_beside(key->value_place.source->name, key->value, reading->arena));
    }
  }
  for (size_t i = 0; i < reading->scenario->setting_count; i++) {
    const char *setting = reading->scenario->settings[i];
    const char *key = arena_copy_n(reading->arena, setting, strcspn(setting, " ="));
    mention(model, key);
    mention_tiers(model, setting);
    if (is_quote(key))
      mention_offered_tiers(reading, model, setting + strcspn(setting, "=") + 1);
  }
  model_leave_out(model);
}

static void add_items(const struct reading *reading, struct model *model) {
  for (size_t i = 0; i < reading->text->section_count; i++)
    if (!strcmp(reading->text->sections[i].kind, "item"))
      own_item_add(model, &reading->text->sections[i], reading->diagnostics);
  own_items_finish(model);
}

// Checks that the model has what the engine itself looks up by name: without these no key of the
// scenario would have any effect.
static int check_relied_on(const struct model *model, struct diagnostics *diagnostics) {
  static const char *const names[] = {"cost_per_mtok", "levelised_cost_per_mtok", "horizon",
                                      "throughput"};
  int missing = 0;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    missing += model_require(model, names[i], diagnostics) < 0;
  return missing ? -1 : 0;
}

int scenario_model_read(struct reading *reading) {
  const struct source *source =
      reading->request->model_path
          ? source_read(reading->request->model_path, reading->arena, reading->diagnostics)
          : source_from_text("built-in model", model_default_text, reading->arena);
  const char *currency = currency_read(reading);
  struct model *model = source && currency
                            ? model_read_in(source, currency, reading->arena, reading->diagnostics)
                            : NULL;
  if (!model || check_relied_on(model, reading->diagnostics))
    return -1;
  size_t errors = reading->diagnostics->errors;
  schedules_declare(reading, model);
  add_items(reading, model);
  reading->scenario->model = model;
  read_period(reading, model);
  schedules_check_steps(reading, model);
  mention_keys(reading, model);
  if (reading->diagnostics->errors == errors)
    model_check(model, reading->diagnostics);
  return 0;
}
