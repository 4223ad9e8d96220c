#include "model/scenario/reading/assignment.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/catalog/columns.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/cost/words.h"
#include "model/delivery/offer.h"
#include "model/evidence/carbon.h"
#include "model/evidence/catalog.h"
#include "model/evidence/day.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"
#include "model/scenario/inputs.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/reading/reading.h"
#include "model/scenario/reading/sections.h"
#include "model/scenario/reading/text.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

// Keys of [scenario] other than inputs.
static const char *const head_keys[] = {"title",    "date",   "start",    "horizon",
                                        "baseline", "period", "inherits", "currency"};

enum { HEAD_KEYS = sizeof head_keys / sizeof head_keys[0] };

static bool is_head_key(const char *name) {
  for (size_t i = 0; i < HEAD_KEYS; i++)
    if (!strcmp(head_keys[i], name))
      return true;
  return false;
}

// ---- keys that stand for inputs

// grid = REGION sets grid_intensity.
static void take_grid(struct reading *reading, struct layer layer, const struct ini_key *key) {
  struct scenario *scenario = reading->scenario;
  const struct table *table = catalog_table(scenario->catalog, CATALOG_CARBON);
  const int intensity = model_find(scenario->model, "grid_intensity");
  const char *nearest = NULL;
  struct figure figure;
  const long row = table ? carbon_of_grid(table, key->value, &nearest, reading->arena) : -1;
  if (table && row < 0)
    diagnostics_error(reading->diagnostics, key->value_place,
                      "unknown grid '%s'%s; see 'pertoken catalog carbon'", key->value,
                      did_you_mean(nearest, reading->arena));
  if (row < 0)
    figure = (struct figure){.place = key->value_place, .source = "", .date = ""};
  else {
    resolving_cell(table, (size_t)row, "value", &figure);
    figure.value *= unit_factor(&scenario->model->declarations[intensity].unit);
    figure.source =
        arena_printf(reading->arena, "%s (%s): %s", table_cell(table, (size_t)row, "subject"),
                     table_cell(table, (size_t)row, "region"), figure.source);
  }
  inputs_take(reading->inputs, layer, intensity, figure, key, reading->diagnostics);
}

// day_profile = consumer sets the 24 shares.
static void take_day(struct reading *reading, struct layer layer, const struct ini_key *key) {
  struct scenario *scenario = reading->scenario;
  const int first = model_find(scenario->model, "day_share_1");
  struct day day;
  struct figure figure = {
      .place = key->value_place, .grade = GRADE_ASSUMED, .source = "", .date = ""};
  day_read(key->value, key->value_place, scenario->catalog, &day, reading->arena,
           reading->diagnostics);
  const struct table *table = catalog_glance(scenario->catalog, CATALOG_DAY_PROFILES);
  if (day.row >= 0)
    resolving_cell(table, (size_t)day.row, "share_1", &figure);
  for (int hour = 0; hour < HOURS_OF_DAY; hour++) {
    figure.value = day.share[hour];
    figure.place = key->value_place;
    inputs_take(reading->inputs, layer, first + hour, figure, key, reading->diagnostics);
  }
}

// Assigns an input of the offer, unless the layer sets it itself; another offer in its place does
// not count.
static void assign_offered(const struct reading *reading, struct layer layer,
                           const struct offer_input *input, const struct offer *offer) {
  const struct ini_key key = {input->name, input->text, input->place, input->place};
  const struct ini_key quote = {
      "quote",
      arena_printf(reading->arena, "%s %s", offer_reference(offer, reading->arena), offer->date),
      input->place, input->place};
  const int declaration = model_find(reading->scenario->model, input->name);
  const struct figure *said =
      declaration < 0 ? NULL : inputs_said(reading->inputs, layer, declaration);
  if (declaration < 0 || (said && !scenario_offer_of(reading->scenario, said)))
    return;
  if (!said)
    inputs_refuse_provenance(reading->inputs, layer, declaration, reading->diagnostics);
  inputs_assign(reading->inputs, layer, input->name, &key, reading->diagnostics);
  inputs_assign(reading->inputs, layer, arena_printf(reading->arena, "%s.quote", input->name),
                &quote, reading->diagnostics);
}

static void add_offer(const struct reading *reading, struct layer layer, const struct offer *offer,
                      struct place place) {
  struct scenario *scenario = reading->scenario;
  scenario->offers =
      arena_room(reading->arena, scenario->offers, scenario->offer_count, sizeof *scenario->offers);
  scenario->offers[scenario->offer_count++] =
      (struct scenario_offer){layer.origin, layer.option, layer.which_case, offer, place};
}

// quote = FILE sets the inputs of a vendor's prices and terms.
static void take_offer(struct reading *reading, struct layer layer, const struct ini_key *key) {
  struct arena *arena = reading->arena;
  if (layer.option < 0) {
    diagnostics_error(reading->diagnostics, key->place,
                      "an offer applies to one option: '%s' belongs in [option ID]", key->name);
    return;
  }
  const char *path = source_beside(key->value_place.source->name, key->value, arena);
  const bool is_there = access(path, R_OK) == 0;
  const struct offer *offer =
      is_there ? offer_read(path, reading->scenario->catalog, arena, reading->diagnostics) : NULL;
  if (!is_there)
    diagnostics_error(reading->diagnostics, key->value_place, "the offer '%s' cannot be opened: %s",
                      key->value, strerror(errno));
  reading->scenario->options[layer.option].lacks_offer |= !offer;
  if (!offer)
    return;
  add_offer(reading, layer, offer, key->value_place);
  struct offer_input inputs[OFFER_INPUTS];
  const size_t count = offer_inputs(offer, inputs, arena);
  for (size_t i = 0; i < count; i++)
    assign_offered(reading, layer, &inputs[i], offer);
}

static const struct shorthand {
  const char *key, *input;
  void (*take)(struct reading *reading, struct layer layer, const struct ini_key *key);
} shorthands[] = {{"grid", "grid_intensity", take_grid},
                  {"day_profile", "day_share_1", take_day},
                  {"quote", "list_price", take_offer}};

enum { SHORTHANDS = sizeof shorthands / sizeof shorthands[0] };

static const struct shorthand *find_shorthand(const struct reading *reading, const char *name) {
  for (size_t i = 0; i < SHORTHANDS; i++)
    if (!strcmp(shorthands[i].key, name) &&
        model_find(reading->scenario->model, shorthands[i].input) >= 0)
      return &shorthands[i];
  return NULL;
}

// The nearest of the keys that could be used in place of `name`, for a suggestion.
static const char *nearest_key(const struct reading *reading, const char *name, bool selections) {
  const struct model *model = reading->scenario->model;
  if (model->count > MAX_CANDIDATES)
    return NULL;
  const char **names =
      arena_array(reading->arena, (size_t)model->count + SELECTION_KEYS + SHORTHANDS + MODEL_WORDS,
                  sizeof *names);
  size_t count = 0;
  for (size_t i = 0; i < SHORTHANDS; i++)
    names[count++] = shorthands[i].key;
  for (int d = 0; d < model->count; d++)
    if (model->declarations[d].kind == DECLARATION_INPUT)
      names[count++] = model->declarations[d].name;
  for (int key = 0; key < SELECTION_KEYS && selections; key++)
    names[count++] = selection_key_name(key);
  return words_nearest(name, names, count);
}

static const char *selection_sections(const char *name) {
  return selection_key_find(name) < SELECT_WORKLOAD ? "an option" : "an option or [workload]";
}

void reading_unknown_key(struct reading *reading, const char *name, const struct ini_key *key,
                         const char *where, bool selections) {
  const char *nearest = nearest_key(reading, name, selections);
  const struct model *model = reading->scenario->model;
  int d = model_find(model, name);
  if (d >= 0 && model->declarations[d].kind == DECLARATION_INPUT) {
    inputs_note_misspelt(reading->inputs, model->declarations[d].name); // not missing, too
    diagnostics_error(reading->diagnostics, key->place, "'%s' belongs in [common] or an option",
                      name);
  } else if (selection_key_find(name) >= 0)
    diagnostics_error(reading->diagnostics, key->place, "'%s' belongs in %s", name,
                      selection_sections(name));
  else if (currency_is_rate(name))
    diagnostics_error(reading->diagnostics, key->place,
                      "the report is in USD: '%s' has no effect without 'currency' in [scenario]",
                      name);
  else if (d >= 0)
    diagnostics_error(reading->diagnostics, key->place,
                      "'%s' is computed, not given: see its formula with 'pertoken explain'", name);
  else {
    if (nearest)
      inputs_note_misspelt(reading->inputs, nearest);
    diagnostics_error(reading->diagnostics, key->place, "unknown key '%s' in %s%s", name, where,
                      did_you_mean(nearest, reading->arena));
  }
}

static bool may_stand_in_workload(const struct reading *reading, const char *name) {
  const struct model *model = reading->scenario->model;
  const char *point = strchr(name, '.');
  const char *input = point ? arena_copy_n(reading->arena, name, (size_t)(point - name)) : name;
  const struct shorthand *shorthand = find_shorthand(reading, input);
  int d = model_find(model, shorthand ? shorthand->input : input);
  return d >= 0 && (!strcmp(model->groups[model->declarations[d].group].name, "throughput") ||
                    !strcmp(model->groups[model->declarations[d].group].name, "volume"));
}

static void unknown_head_key(struct reading *reading, const struct ini_key *key) {
  const int d = model_find(reading->scenario->model, key->name);
  if (selection_key_find(key->name) >= 0 ||
      (d >= 0 && reading->scenario->model->declarations[d].kind == DECLARATION_INPUT)) {
    reading_unknown_key(reading, key->name, key, "[scenario]", true);
    return;
  }
  const char *nearest = nearest_name(key->name, head_keys, HEAD_KEYS);
  const char *meant = model_word_meaning(key->name);
  diagnostics_error(reading->diagnostics, key->place, "unknown key '%s' in [scenario]%s", key->name,
                    did_you_mean(meant != key->name ? meant : nearest, reading->arena));
}

// Takes a key as an input, or as one that stands for inputs; the latter needs a value.
static bool assign_input(struct reading *reading, struct layer layer, const char *name,
                         const struct ini_key *key) {
  const struct shorthand *shorthand = find_shorthand(reading, name);
  if (!shorthand)
    return inputs_assign(reading->inputs, layer, name, key, reading->diagnostics);
  struct ini_key named = *key;
  named.name = name;
  if (*key->value)
    shorthand->take(reading, layer, &named);
  else
    inputs_refuse_empty(name, key, origin_layers[layer.origin].is_set, reading->diagnostics);
  return true;
}

// Takes a key as a selection of an option, or (-1) the workload. False if `name` is not a
// selection.
static bool select_key(struct reading *reading, int option, enum origin origin, const char *name,
                       const struct ini_key *key) {
  const int which = selection_key_find(name);
  if (which >= SELECT_PRICE && which < SELECT_WORKLOAD && option >= 0 && !*key->value &&
      !origin_layers[origin].is_set)
    inputs_refuse_empty(name, key, false, reading->diagnostics);
  return selection_take(&reading->selections[option + 1], origin, name, key,
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
                      "'%s' is given twice: it is in another common section", key->name);
  if (workload && select_key(reading, -1, layer.origin, key->name, key))
    return;
  if ((workload && !may_stand_in_workload(reading, key->name)) ||
      !assign_input(reading, layer, key->name, key))
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
    diagnostics_error(reading->diagnostics, key->place, "a case changes inputs: '%s' belongs in %s",
                      name, selection_sections(name));
}

struct prefixed reading_prefixed(const struct reading *reading, const char *key) {
  const char *point = strchr(key, '.');
  if (!point)
    return (struct prefixed){NULL, -1, key};
  const char *id = arena_copy_n(reading->arena, key, (size_t)(point - key));
  return (struct prefixed){id, scenario_option(reading->scenario, id), point + 1};
}

// KEY or OPTION.KEY, in a case or with --set.
static void assign_prefixed(struct reading *reading, struct layer layer, enum origin for_option,
                            const struct ini_key *key, const char *where) {
  const struct prefixed prefixed = reading_prefixed(reading, key->name);
  layer.option = prefixed.option;
  if (layer.option < 0 && assign_input(reading, layer, key->name, key))
    return;
  const char *name = layer.option >= 0 ? prefixed.name : key->name;
  if (layer.option >= 0) {
    layer.origin = for_option;
    if (assign_input(reading, layer, name, key))
      return;
  }
  if (selection_key_find(name) >= 0)
    refuse_selection(reading, name, key, for_option == ORIGIN_SET_OPTION);
  else if (for_option == ORIGIN_SET_OPTION && is_head_key(name))
    diagnostics_error(reading->diagnostics, key->place,
                      "--set changes inputs: '%s' belongs in the file's [scenario]", name);
  else if (prefixed.id && layer.option < 0)
    scenario_unknown_option(reading->scenario, prefixed.id, key->place, reading->diagnostics);
  else
    reading_unknown_key(reading, name, key, where, false);
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
  const char *where = arena_printf(reading->arena, "[%s%s%s]", section->kind,
                                   *section->argument ? " " : "", section->argument);
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
      assign_prefixed(reading, (struct layer){ORIGIN_CASE, -1, (size_t)which}, ORIGIN_CASE_OPTION,
                      key, where);
    else if (option >= 0 && !select_key(reading, option, ORIGIN_OPTION, key->name, key) &&
             !assign_input(reading, (struct layer){ORIGIN_OPTION, option, 0}, key->name, key))
      reading_unknown_key(reading, key->name, key, where, true);
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

// What a setting states, however it is written: "common.grid" is "grid_intensity".
static const char *subject_of(const struct reading *reading, const char *key) {
  struct arena *arena = reading->arena;
  const char *point = strchr(key, '.');
  const char *owner = point ? arena_copy_n(arena, key, (size_t)(point - key)) : "";
  const bool of_option = names_option(reading, key);
  const char *name = point && (of_option || section_is_common(owner)) ? point + 1 : key;
  const char *attribute = strchr(name, '.');
  attribute = attribute ? attribute : name + strlen(name);
  const char *input = arena_copy_n(arena, name, (size_t)(attribute - name));
  const struct shorthand *shorthand = find_shorthand(reading, input);
  if (shorthand &&
      shorthand->take != take_offer) // an offer leaves room for the option's own values
    input = shorthand->input;
  const struct model *model = reading->scenario->model;
  const int d = model_find(model, input);
  if (d >= 0)
    input = model->declarations[model_named(model, d)].name;
  return arena_printf(arena, "%s.%s%s", of_option ? owner : "", input, attribute);
}

// Of several settings of one thing the last holds, as with other options; the one before would look
// like a what-if without effect.
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

// --set KEY=VALUE, common.KEY=VALUE, workload.KEY=VALUE, scenario.KEY=VALUE or OPTION.KEY=VALUE.
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
    assign_prefixed(reading, (struct layer){ORIGIN_SET, -1, 0}, ORIGIN_SET_OPTION, &key, "--set");
}

// ---- [item NAME]

static void assign_to_common(struct reading *reading, const char *name, const char *value,
                             struct place place) {
  const struct ini_key key = {name, value, place, place};
  inputs_assign(reading->inputs, (struct layer){ORIGIN_COMMON, -1, 0}, name, &key,
                reading->diagnostics);
}

// NAME_applies: yes in the listed options, no in all others.
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
        inputs_assign(reading->inputs, (struct layer){ORIGIN_COMMON, -1, 0},
                      arena_printf(reading->arena, "%s.%s", input->name, figure_attributes[a]),
                      said[a], reading->diagnostics);
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
