#include "model/scenario/reading/assignment.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/cost/model.h"
#include "model/scenario/figure.h"
#include "model/scenario/inputs.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/reading/head.h"
#include "model/scenario/reading/reading.h"
#include "model/scenario/reading/refusal.h"
#include "model/scenario/reading/sections.h"
#include "model/scenario/reading/shorthand.h"
#include "model/scenario/reading/text.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"

#include <stdbool.h>
#include <string.h>

static bool may_stand_in_workload(const struct reading *reading, const char *name) {
  const struct model *model = reading->scenario->model;
  const char *point = strchr(name, '.');
  const char *input = point ? arena_copy_n(reading->arena, name, (size_t)(point - name)) : name;
  const struct shorthand *shorthand = shorthand_find(reading, input);
  int d = model_find(model, shorthand ? shorthand->input : input);
  return d >= 0 && (!strcmp(model->groups[model->declarations[d].group].name, "throughput") ||
                    !strcmp(model->groups[model->declarations[d].group].name, "volume"));
}

// Takes a key as an input, its provenance, or one that stands for inputs. False if it is none.
static bool assign_input(struct reading *reading, struct layer layer, const char *name,
                         const struct ini_key *key) {
  const struct shorthand *shorthand = shorthand_find(reading, name);
  const bool needs_text = shorthand || inputs_is_provenance(reading->inputs, name);
  if (needs_text && !*key->value)
    refuse_empty(reading, layer.origin, name, key);
  else if (shorthand)
    shorthand->take(reading, layer,
                    &(struct ini_key){name, key->value, key->place, key->value_place});
  else
    return inputs_assign(reading->inputs, layer, name, key, reading->diagnostics);
  return true;
}

// Takes a key as a selection of an option, or (-1) the workload. False if `name` is not a
// selection.
static bool select_key(struct reading *reading, int option, enum origin origin, const char *name,
                       const struct ini_key *key) {
  if (selection_is_optional(selection_key_find(name)) && option >= 0 && !*key->value &&
      !origin_layers[origin].is_set)
    refuse_empty(reading, origin, name, key);
  return selection_take(&reading->selections[option + 1], origin, name, key,
                        reading->scenario->catalog, reading->arena, reading->diagnostics);
}

static void assign_common(struct reading *reading, const struct ini_section *section,
                          const struct ini_key *key) {
  static const struct layer layer = {ORIGIN_COMMON, -1, 0};
  bool workload = !strcmp(section->kind, "workload"), head = !strcmp(section->kind, "scenario");
  const bool is_input = !strcmp(key->name, "horizon") || currency_is_rate(key->name);
  if (head && !is_input && !head_is_key(key->name))
    refuse_key(reading, section, key);
  if (head && !is_input)
    return;
  if (section_is_repeated(reading, section->kind, key->name))
    diagnostics_error(reading->diagnostics, key->place,
                      "'%s' is given twice: it is in another common section", key->name);
  if (workload && select_key(reading, -1, layer.origin, key->name, key))
    return;
  if ((workload && !may_stand_in_workload(reading, key->name)) ||
      !assign_input(reading, layer, key->name, key))
    refuse_key(reading, section, key);
}

// Assigns KEY or OPTION.KEY, in a case or (NULL) with --set.
static void assign_prefixed(struct reading *reading, struct layer layer,
                            const struct ini_section *a_case, const struct ini_key *key) {
  const struct prefixed of = reading_prefixed(reading, key->name);
  layer.option = of.option;
  if (of.option >= 0)
    layer.origin = a_case ? ORIGIN_CASE_OPTION : ORIGIN_SET_OPTION;
  if (!assign_input(reading, layer, of.option >= 0 ? of.name : key->name, key))
    refuse_key(reading, a_case, key);
}

// "quote", or "h200.quote" in a case; "list_price.quote" is that price's.
static bool names_offer(const struct reading *reading, const char *name) {
  const char *point = strrchr(name, '.');
  if (!point)
    return !strcmp(name, "quote");
  const char *option = arena_copy_n(reading->arena, name, (size_t)(point - name));
  return !strcmp(point + 1, "quote") && scenario_option(reading->scenario, option) >= 0;
}

static void assign_section(struct reading *reading, const struct ini_section *section) {
  int option =
      !strcmp(section->kind, "option") ? scenario_option(reading->scenario, section->argument) : -1;
  int which = !strcmp(section->kind, "case") ? reading_case(reading, section->argument) : -1;
  const size_t count = section->key_count;
  for (size_t k = 0; k < 2 * count; k++) {
    const struct ini_key *key = &section->keys[k < count ? k : k - count];
    if (names_offer(reading, key->name) != (k >= count))
      continue; // keys of its own come first: an offer does not change them
    if (section_is_common(section->kind))
      assign_common(reading, section, key);
    else if ((which >= 0 || option >= 0) && !strcmp(key->name, SECTION_LABEL))
      continue; // sections.h has read it
    else if (which >= 0)
      assign_prefixed(reading, (struct layer){ORIGIN_CASE, -1, (size_t)which}, section, key);
    else if (option >= 0 && !select_key(reading, option, ORIGIN_OPTION, key->name, key) &&
             !assign_input(reading, (struct layer){ORIGIN_OPTION, option, 0}, key->name, key))
      refuse_key(reading, section, key);
  }
}

// The option in "OPTION.KEY"; "INPUT.source" is none.
static bool names_option(const struct reading *reading, const char *key) {
  const char *point = strchr(key, '.');
  const char *id = point ? arena_copy_n(reading->arena, key, (size_t)(point - key)) : "";
  return point && scenario_option(reading->scenario, id) >= 0 &&
         model_find(reading->scenario->model, id) < 0;
}

// Takes SECTION.KEY or OPTION.KEY if KEY is a selection, and else removes SECTION from the key.
// Returns false if nothing is left to do.
static bool take_section(struct reading *reading, struct ini_key *key) {
  const char *point = strchr(key->name, '.');
  if (!point)
    return true;
  const char *prefix = arena_copy_n(reading->arena, key->name, (size_t)(point - key->name));
  const int option = scenario_option(reading->scenario, prefix);
  if (option >= 0 && select_key(reading, option, ORIGIN_SET_OPTION, point + 1, key))
    return false;
  if (!section_is_common(prefix))
    return true;
  if (select_key(reading, -1, ORIGIN_SET, point + 1, key))
    return false;
  if (names_option(reading, point + 1)) {
    diagnostics_error(reading->diagnostics, key->place,
                      "'%s' names both a section and an option: set '%s'", key->name, point + 1);
    return false;
  }
  key->name = point + 1;
  return true;
}

// The subject of a setting, however it is written: that of "common.grid" is "grid_intensity".
static const char *subject_of(const struct reading *reading, const char *key) {
  struct arena *arena = reading->arena;
  const char *point = strchr(key, '.');
  const char *owner = point ? arena_copy_n(arena, key, (size_t)(point - key)) : "";
  const bool of_option = names_option(reading, key);
  const char *name = point && (of_option || section_is_common(owner)) ? point + 1 : key;
  const char *attribute = strchr(name, '.');
  attribute = attribute ? attribute : name + strlen(name);
  const char *input = arena_copy_n(arena, name, (size_t)(attribute - name));
  const struct shorthand *shorthand = shorthand_find(reading, input);
  if (shorthand && !shorthand->yields)
    input = shorthand->input;
  const struct model *model = reading->scenario->model;
  const int d = model_find(model, input);
  if (d >= 0)
    input = model->declarations[model_named(model, d)].name;
  return arena_printf(arena, "%s.%s%s", of_option ? owner : "", input, attribute);
}

// Warns of repeated settings of one subject, of which the last holds, as with other options: the
// one before would look like a what-if without effect.
static void warn_of_repeated(struct reading *reading, const char **subjects, size_t number,
                             const char *key) {
  struct scenario *scenario = reading->scenario;
  size_t before = number;
  subjects[number] = subject_of(reading, key);
  while (before > 0 && strcmp(subjects[before - 1], subjects[number]) != 0)
    before--;
  if (before > 0)
    texts_add(&scenario->warnings, reading->arena,
              "--set %s has no effect: --set %s comes after it", scenario->settings[before - 1],
              scenario->settings[number]);
}

// Assigns --set KEY=VALUE, common.KEY=VALUE, workload.KEY=VALUE, scenario.KEY=VALUE or
// OPTION.KEY=VALUE.
static void assign_setting(struct reading *reading, const char **subjects, size_t number) {
  struct arena *arena = reading->arena;
  const char *setting = reading->scenario->settings[number];
  const struct source *source = source_from_text("--set", setting, arena);
  struct place start = {source, 1, 1};
  const char *equals = strchr(setting, '=');
  if (!equals) {
    diagnostics_error(reading->diagnostics, start, "expected KEY=VALUE");
    subjects[number] = "";
    return;
  }
  size_t length = (size_t)(equals - setting), space = strspn(equals + 1, " ");
  while (length && setting[length - 1] == ' ')
    length--;
  struct ini_key key = {arena_copy_n(arena, setting, length), arena_copy(arena, equals + 1 + space),
                        start, start};
  key.value_place.column += (int)(equals - setting + 1 + (long)space);
  warn_of_repeated(reading, subjects, number, key.name);
  if (take_section(reading, &key))
    assign_prefixed(reading, (struct layer){ORIGIN_SET, -1, 0}, NULL, &key);
}

// ---- [item NAME]

static void assign_to_common(struct reading *reading, const char *name, const char *value,
                             struct place place) {
  const struct ini_key key = {name, value, place, place};
  inputs_assign(reading->inputs, (struct layer){ORIGIN_COMMON, -1, 0}, name, &key,
                reading->diagnostics);
}

// Assigns NAME_applies: yes in the listed options, no in all others.
static void assign_options(struct reading *reading, const struct ini_key *list, const char *name) {
  const char *at = list->value;
  assign_to_common(reading, name, "no", list->value_place);
  while (*(at += strspn(at, " \t,"))) {
    const size_t length = strcspn(at, " \t,");
    struct ini_key key = {name, "yes", list->value_place, list->value_place};
    key.value_place.column += (int)(at - list->value);
    const char *id = arena_copy_n(reading->arena, at, length);
    const int option = scenario_option(reading->scenario, id);
    if (option < 0)
      scenario_unknown_option(reading->scenario, id, key.value_place, reading->diagnostics);
    else
      inputs_assign(reading->inputs, (struct layer){ORIGIN_OPTION, option, 0}, name, &key,
                    reading->diagnostics);
    at += length;
  }
}

// The numbers in its formula as inputs, with the item's source, date and quote.
static void assign_item(struct reading *reading, const struct ini_section *section) {
  const struct model *model = reading->scenario->model;
  const struct ini_key *options = ini_find(section, "options");
  const struct ini_key *said[FIGURE_ATTRIBUTES];
  for (size_t a = 0; a < FIGURE_ATTRIBUTES; a++)
    said[a] = ini_find(section, figure_attributes[a]);
  size_t numbers = 0;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    if (!input->item || strcmp(input->item, section->argument) != 0 ||
        input->kind != DECLARATION_INPUT)
      continue;
    if (!input->literal) {
      assign_options(reading, options, input->name);
      continue;
    }
    numbers++;
    assign_to_common(reading, input->name, input->literal, input->place);
    for (size_t a = 0; a < FIGURE_ATTRIBUTES; a++)
      if (said[a])
        assign_input(reading, (struct layer){ORIGIN_COMMON, -1, 0},
                     arena_printf(reading->arena, "%s.%s", input->name, figure_attributes[a]),
                     said[a]);
  }
  for (size_t a = 0; a < FIGURE_ATTRIBUTES && !numbers; a++)
    if (said[a])
      diagnostics_error(reading->diagnostics, said[a]->place,
                        "'%s' applies to numbers in the formula; it has none",
                        figure_attributes[a]);
}

// Items come first: what [common] states about their numbers replaces these.
void assign_all(struct reading *reading) {
  const struct scenario *scenario = reading->scenario;
  const struct scenario_text *text = reading->text;
  for (size_t i = 0; i < text->section_count; i++)
    if (!strcmp(text->sections[i].kind, "item"))
      assign_item(reading, &text->sections[i]);
  for (size_t i = 0; i < text->section_count; i++)
    assign_section(reading, &text->sections[i]);
  const char **subjects =
      arena_array(reading->arena, scenario->setting_count + 1, sizeof *subjects);
  for (size_t i = 0; i < scenario->setting_count; i++)
    assign_setting(reading, subjects, i);
  reading->scenario->text_warnings = scenario->warnings.count;
}
