#include "model/scenario/assignment.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/scenario/currency.h"
#include "model/scenario/figure.h"
#include "model/scenario/inputs.h"
#include "model/scenario/scenario.h"
#include "model/scenario/sections.h"
#include "model/scenario/selection.h"

#include <stdbool.h>
#include <string.h>

// Of [scenario], beside the inputs.
static const char *const head_keys[] = {"title",  "date",     "horizon", "baseline",
                                        "period", "inherits", "currency"};

enum { HEAD_KEYS = sizeof head_keys / sizeof head_keys[0] };

static bool is_head_key(const char *name) {
  for (size_t i = 0; i < HEAD_KEYS; i++)
    if (!strcmp(head_keys[i], name))
      return true;
  return false;
}

// Every key that could stand where `name` stands, for a suggestion.
static const char *nearest_key(const struct reading *reading, const char *name, bool selections) {
  const struct model *model = reading->scenario->model;
  const char **names =
      arena_array(reading->arena, (size_t)model->count + SELECTION_KEYS, sizeof *names);
  size_t count = 0;
  for (int d = 0; d < model->count; d++)
    if (model->declarations[d].kind == DECLARATION_INPUT)
      names[count++] = model->declarations[d].name;
  for (int key = 0; key < SELECTION_KEYS && selections; key++)
    names[count++] = selection_key_name(key);
  return nearest_name(name, names, count);
}

void reading_unknown_key(struct reading *reading, const char *name, const struct ini_key *key,
                         const char *where, bool selections) {
  const char *nearest = nearest_key(reading, name, selections);
  const struct model *model = reading->scenario->model;
  int d = model_find(model, name);
  if (d >= 0 && model->declarations[d].kind == DECLARATION_INPUT)
    diagnostics_error(reading->diagnostics, key->place, "'%s' belongs in [common] or an option",
                      name);
  else if (currency_is_rate(name))
    diagnostics_error(reading->diagnostics, key->place,
                      "the report is in USD: '%s' means nothing without 'currency' in [scenario]",
                      name);
  else if (d >= 0)
    diagnostics_error(reading->diagnostics, key->place,
                      "'%s' is computed, not given: see its formula with 'pertoken explain'", name);
  else
    diagnostics_error(reading->diagnostics, key->place, "unknown key '%s' in %s%s", name, where,
                      did_you_mean(nearest, reading->arena));
}

static bool may_stand_in_workload(const struct reading *reading, const char *name) {
  const struct model *model = reading->scenario->model;
  const char *point = strchr(name, '.');
  const char *input = point ? arena_copy_n(reading->arena, name, (size_t)(point - name)) : name;
  int d = model_find(model, input);
  return d >= 0 && (!strcmp(model->groups[model->declarations[d].group].name, "throughput") ||
                    !strcmp(model->groups[model->declarations[d].group].name, "volume"));
}

static void unknown_head_key(struct reading *reading, const struct ini_key *key) {
  const char *nearest = nearest_name(key->name, head_keys, HEAD_KEYS);
  diagnostics_error(reading->diagnostics, key->place, "unknown key '%s' in [scenario]%s", key->name,
                    did_you_mean(nearest, reading->arena));
}

// As a selection of an option, or (-1) the workload. False when `name` is none.
static bool select_key(struct reading *reading, int option, const char *name,
                       const struct ini_key *key) {
  return selection_take(&reading->selections[option + 1], option >= 0, name, key,
                        reading->scenario->catalog, reading->arena, reading->diagnostics);
}

static void assign_common(struct reading *reading, const struct ini_section *section,
                          const struct ini_key *key) {
  static const struct layer layer = {ORIGIN_COMMON, -1, 0};
  bool workload = !strcmp(section->kind, "workload"), head = !strcmp(section->kind, "scenario");
  const bool is_input = !strcmp(key->name, "horizon") || currency_is_rate(key->name);
  if (head && !is_input && !is_head_key(key->name))
    unknown_head_key(reading, key);
  if (head && !is_input)
    return;
  if (section_is_repeated(reading, section->kind, key->name))
    diagnostics_error(reading->diagnostics, key->place,
                      "'%s' is given twice: it stands in another common section", key->name);
  if (workload && select_key(reading, -1, key->name, key))
    return;
  if ((workload && !may_stand_in_workload(reading, key->name)) ||
      !inputs_assign(reading->inputs, layer, key->name, key, reading->diagnostics))
    reading_unknown_key(reading, key->name, key,
                        arena_printf(reading->arena, "[%s]", section->kind), workload);
}

static void refuse_selection(struct reading *reading, const char *name, const struct ini_key *key,
                             bool is_set) {
  const char *workload = selection_key_find(name) < SELECT_WORKLOAD
                             ? ""
                             : arena_printf(reading->arena, " or workload.%s", name);
  if (is_set)
    diagnostics_error(reading->diagnostics, key->place, "'%s' is not an input: set OPTION.%s%s",
                      name, name, workload);
  else
    diagnostics_error(reading->diagnostics, key->place,
                      "a case changes inputs: '%s' belongs in the option or [workload]", name);
}

// KEY or OPTION.KEY, in a case or after --set.
static void assign_prefixed(struct reading *reading, struct layer layer, enum origin for_option,
                            const struct ini_key *key, const char *where) {
  const char *point = strchr(key->name, '.');
  const char *prefix =
      point ? arena_copy_n(reading->arena, key->name, (size_t)(point - key->name)) : "";
  layer.option = point ? scenario_option(reading->scenario, prefix) : -1;
  if (layer.option < 0 &&
      inputs_assign(reading->inputs, layer, key->name, key, reading->diagnostics))
    return;
  const char *name = point && layer.option >= 0 ? point + 1 : key->name;
  if (layer.option >= 0) {
    layer.origin = for_option;
    if (inputs_assign(reading->inputs, layer, name, key, reading->diagnostics))
      return;
  }
  if (selection_key_find(name) >= 0)
    refuse_selection(reading, name, key, for_option == ORIGIN_SET_OPTION);
  else if (for_option == ORIGIN_SET_OPTION && is_head_key(name))
    diagnostics_error(reading->diagnostics, key->place,
                      "--set changes inputs: '%s' stands in the file's [scenario]", name);
  else if (point && layer.option < 0)
    scenario_unknown_option(reading->scenario, prefix, key->place, reading->diagnostics);
  else
    reading_unknown_key(reading, name, key, where, false);
}

static void assign_section(struct reading *reading, const struct ini_section *section) {
  int option =
      !strcmp(section->kind, "option") ? scenario_option(reading->scenario, section->argument) : -1;
  int which = !strcmp(section->kind, "case") ? reading_case(reading, section->argument) : -1;
  const char *where = arena_printf(reading->arena, "[%s%s%s]", section->kind,
                                   *section->argument ? " " : "", section->argument);
  for (size_t k = 0; k < section->key_count; k++) {
    const struct ini_key *key = &section->keys[k];
    if (section_is_common(section->kind))
      assign_common(reading, section, key);
    else if (which >= 0)
      assign_prefixed(reading, (struct layer){ORIGIN_CASE, -1, (size_t)which}, ORIGIN_CASE_OPTION,
                      key, where);
    else if (option >= 0 && !select_key(reading, option, key->name, key) &&
             !inputs_assign(reading->inputs, (struct layer){ORIGIN_OPTION, option, 0}, key->name,
                            key, reading->diagnostics))
      reading_unknown_key(reading, key->name, key, where, true);
  }
}

// --set KEY=VALUE, common.KEY=VALUE, workload.KEY=VALUE, scenario.KEY=VALUE or OPTION.KEY=VALUE.
static void assign_setting(struct reading *reading, const char *setting) {
  struct arena *arena = reading->arena;
  const struct source *source = source_from_text("--set", setting, arena);
  struct place start = {source, 1, 1};
  const char *equals = strchr(setting, '=');
  if (!equals) {
    diagnostics_error(reading->diagnostics, start, "expected KEY=VALUE");
    return;
  }
  size_t length = (size_t)(equals - setting), space = strspn(equals + 1, " ");
  while (length && setting[length - 1] == ' ')
    length--;
  struct ini_key key = {arena_copy_n(arena, setting, length), arena_copy(arena, equals + 1 + space),
                        start, start};
  key.value_place.column += (int)(equals - setting + 1 + (long)space);
  const char *point = strchr(key.name, '.');
  if (point) {
    const char *prefix = arena_copy_n(arena, key.name, (size_t)(point - key.name));
    int option = scenario_option(reading->scenario, prefix);
    if (option >= 0 && select_key(reading, option, point + 1, &key))
      return;
    if (!strcmp(prefix, "workload") && select_key(reading, -1, point + 1, &key))
      return;
    if (section_is_common(prefix))
      key.name = point + 1;
  }
  assign_prefixed(reading, (struct layer){ORIGIN_SET, -1, 0}, ORIGIN_SET_OPTION, &key, "--set");
}

void assign_all(struct reading *reading) {
  const struct scenario *scenario = reading->scenario;
  for (size_t i = 0; i < reading->text->section_count; i++)
    assign_section(reading, &reading->text->sections[i]);
  for (size_t i = 0; i < scenario->setting_count; i++)
    assign_setting(reading, scenario->settings[i]);
}
