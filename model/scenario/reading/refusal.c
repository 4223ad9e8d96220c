#include "model/scenario/reading/refusal.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/cost/model.h"
#include "model/cost/words.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/reading/head.h"
#include "model/scenario/reading/sections.h"
#include "model/scenario/reading/shorthand.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"

#include <stddef.h>
#include <string.h>

struct refused {
  struct reading *reading;
  const struct ini_section *section; // NULL: --set
  const struct ini_key *key;
  struct prefixed of;
  int declaration; // of its name; -1: there is none
};

// ---- where it stands

static bool stands_in(const struct refused *refused, const char *kind) {
  return refused->section && !strcmp(refused->section->kind, kind);
}

static bool allows_prefix(const struct ini_section *section) {
  static const char *const kinds[] = {"case", "range", "free"};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && section; i++)
    if (!strcmp(section->kind, kinds[i]))
      return true;
  return !section;
}

static const char *words_of(const struct ini_section *section, struct arena *arena) {
  return section ? arena_printf(arena, "[%s%s%s]", section->kind, *section->argument ? " " : "",
                                section->argument)
                 : "--set";
}

static bool is_input(const struct model *model, int declaration) {
  return declaration >= 0 && model->declarations[declaration].kind == DECLARATION_INPUT;
}

// ---- the reasons: each reports the key and returns true, or does not apply

static bool has_unknown_prefix(const struct refused *refused) {
  if (!refused->of.id || refused->of.option >= 0)
    return false;
  scenario_unknown_option(refused->reading->scenario, refused->of.id, refused->key->place,
                          refused->reading->diagnostics);
  return true;
}

static bool is_stray_selection(const struct refused *refused) {
  struct diagnostics *diagnostics = refused->reading->diagnostics;
  const char *name = refused->of.name;
  const int which = selection_key_find(name);
  if (which < 0)
    return false;
  const bool of_workload = which >= SELECT_WORKLOAD;
  if (!refused->section)
    diagnostics_error(diagnostics, refused->key->place, "'%s' is not an input: set OPTION.%s%s%s",
                      name, name, of_workload ? " or workload." : "", of_workload ? name : "");
  else if (stands_in(refused, "range"))
    diagnostics_error(diagnostics, refused->key->place,
                      "only inputs have ranges: '%s' is not an input", name);
  else
    diagnostics_error(diagnostics, refused->key->place, "%s'%s' belongs in an option%s",
                      stands_in(refused, "case") ? "a case changes inputs: " : "", name,
                      of_workload ? " or [workload]" : "");
  return true;
}

static bool is_stray_head_key(const struct refused *refused) {
  if (refused->section || !head_is_key(refused->of.name))
    return false;
  diagnostics_error(refused->reading->diagnostics, refused->key->place,
                    "--set changes inputs: '%s' belongs in the file's [scenario]",
                    refused->of.name);
  return true;
}

static void note_meant(const struct refused *refused, const char *name) {
  struct scenario *scenario = refused->reading->scenario;
  if (!scenario_meant(scenario, name))
    texts_add(&scenario->meant, refused->reading->arena, "%s", name);
}

static bool is_stray_input(const struct refused *refused) {
  const struct model *model = refused->reading->scenario->model;
  if (!is_input(model, refused->declaration))
    return false;
  note_meant(refused, model->declarations[refused->declaration].name);
  diagnostics_error(refused->reading->diagnostics, refused->key->place,
                    "'%s' belongs in [common] or an option", refused->of.name);
  return true;
}

static bool is_idle(const struct refused *refused) {
  if (!currency_is_rate(refused->of.name))
    return false;
  diagnostics_error(refused->reading->diagnostics, refused->key->place,
                    "the report is in USD: '%s' has no effect without 'currency' in [scenario]",
                    refused->of.name);
  return true;
}

static bool is_computed(const struct refused *refused) {
  if (refused->declaration < 0 || stands_in(refused, "scenario"))
    return false;
  diagnostics_error(refused->reading->diagnostics, refused->key->place,
                    "'%s' is computed, not given: see its formula with 'pertoken explain'",
                    refused->of.name);
  return true;
}

// The nearest of the inputs, the keys that stand for them and, where they may stand, selections.
static const char *nearest_input(const struct refused *refused) {
  const struct model *model = refused->reading->scenario->model;
  const bool selections = stands_in(refused, "option") || stands_in(refused, "workload");
  if (model->count > MAX_CANDIDATES)
    return NULL;
  const char **names =
      arena_array(refused->reading->arena,
                  (size_t)model->count + SELECTION_KEYS + SHORTHANDS + MODEL_WORDS, sizeof *names);
  size_t count = 0;
  for (size_t i = 0; i < SHORTHANDS; i++)
    names[count++] = shorthands[i].key;
  for (int d = 0; d < model->count; d++)
    if (is_input(model, d))
      names[count++] = model->declarations[d].name;
  for (int key = 0; key < SELECTION_KEYS && selections; key++)
    names[count++] = selection_key_name(key);
  return words_nearest(refused->of.name, names, count);
}

static bool is_misspelt(const struct refused *refused) {
  struct arena *arena = refused->reading->arena;
  const bool of_head = stands_in(refused, "scenario");
  const char *name = refused->of.name;
  const char *nearest = of_head ? head_nearest_key(name) : nearest_input(refused);
  if (nearest && !of_head)
    note_meant(refused, nearest);
  diagnostics_error(refused->reading->diagnostics, refused->key->place, "unknown key '%s' in %s%s",
                    name, words_of(refused->section, arena), did_you_mean(nearest, arena));
  return true;
}

void refuse_key(struct reading *reading, const struct ini_section *section,
                const struct ini_key *key) {
  static bool (*const reasons[])(const struct refused *refused) = {
      has_unknown_prefix, is_stray_selection, is_stray_head_key, is_stray_input, is_idle,
      is_computed,        is_misspelt};
  struct refused refused = {reading, section, key, .of = {NULL, -1, key->name}};
  if (allows_prefix(section))
    refused.of = reading_prefixed(reading, key->name);
  refused.declaration = model_find(reading->scenario->model, refused.of.name);
  for (size_t i = 0; !reasons[i](&refused); i++)
    ;
}

void refuse_empty(struct reading *reading, enum origin origin, const char *name,
                  const struct ini_key *key) {
  diagnostics_error(
      reading->diagnostics, key->value_place,
      origin_layers[origin].is_set
          ? "an empty '%s' only removes what a file inherits: --set needs a value"
          : "an empty '%s' only removes what an inherited file states in the same section, and "
            "none states it there",
      name);
}

// Inputs of a purchase that the rent does not contain, and what a rented option has instead.
static const struct not_in_rent {
  const char *input, *instead;
} not_in_rent[] = {
    {"purchase_tax",
     "is a share of a purchase; if a tax on the rent is not recovered, add it as an "
     "[item] with a formula such as rental_cost * 8 %"},
    {"purchase_unit",
     "applies to a purchase; if it is rented in instances, give 'accelerators' in whole ones"},
};

void refuse_rented(struct diagnostics *diagnostics, struct place place, const char *input,
                   const char *option) {
  for (size_t i = 0; i < sizeof not_in_rent / sizeof not_in_rent[0]; i++)
    if (!strcmp(not_in_rent[i].input, input)) {
      diagnostics_error(diagnostics, place, "option '%s' is rented: '%s' %s", option, input,
                        not_in_rent[i].instead);
      return;
    }
  diagnostics_error(diagnostics, place,
                    "'%s' is part of the rent of option '%s': a rented option does not pay for it",
                    input, option);
}
