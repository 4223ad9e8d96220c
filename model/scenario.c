#include "model/scenario_read.h"
#include "model/short_text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ID_MAX_LENGTH = 24, MIN_YEARS = 7, MAX_PERIODS_PER_YEAR = 12 };

// First those whose keys are common to all options, then those that need a name.
static const char *const section_kinds[] = {"scenario", "workload", "common", "option",
                                            "case",     "item",     "range",  "correlate"};

// Sections that ask something of the options: their keys are read by whoever answers.
static const struct {
  const char *kind;
  bool named;
} question_kinds[] = {
    {"claim", true},      {"free", false}, {"demand", true}, {"supply", true},
    {"portfolio", false}, {"wait", true},  {"rent", true},   {"fit", false},
};

static const char *const scenario_keys[] = {"title",    "date",   "horizon",
                                            "baseline", "period", "inherits"};

enum { SECTION_KINDS = sizeof section_kinds / sizeof section_kinds[0] };
enum { QUESTION_KINDS = sizeof question_kinds / sizeof question_kinds[0] };
enum { SCENARIO_KEYS = sizeof scenario_keys / sizeof scenario_keys[0] };

static bool is_one_of(const char *word, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(word, words[i]))
      return true;
  return false;
}

static const struct ini_section *section_of(const struct reading *reading, const char *kind) {
  for (size_t i = 0; i < reading->text->section_count; i++)
    if (!strcmp(reading->text->sections[i].kind, kind))
      return &reading->text->sections[i];
  return NULL;
}

static const struct ini_key *scenario_key(const struct reading *reading, const char *name) {
  const struct ini_section *section = section_of(reading, "scenario");
  return section ? ini_find(section, name) : NULL;
}

static int question_kind(const char *kind) {
  for (int i = 0; i < QUESTION_KINDS; i++)
    if (!strcmp(question_kinds[i].kind, kind))
      return i;
  return -1;
}

static void unknown_section(struct reading *reading, const struct ini_section *section) {
  const char *kinds[SECTION_KINDS + QUESTION_KINDS];
  memcpy(kinds, section_kinds, sizeof section_kinds);
  for (size_t i = 0; i < QUESTION_KINDS; i++)
    kinds[SECTION_KINDS + i] = question_kinds[i].kind;
  const char *nearest = nearest_name(section->kind, kinds, SECTION_KINDS + QUESTION_KINDS);
  diagnostics_error(reading->diagnostics, section->place, "unknown section [%s]%s%s%s",
                    section->kind, nearest ? "; did you mean [" : "", nearest ? nearest : "",
                    nearest ? "]?" : "");
}

static void check_sections(struct reading *reading) {
  for (size_t i = 0; i < reading->text->section_count; i++) {
    const struct ini_section *section = &reading->text->sections[i];
    const int question = question_kind(section->kind);
    const bool named = question >= 0 ? question_kinds[question].named
                                     : is_one_of(section->kind, section_kinds + 3, 3);
    if (question < 0 && !is_one_of(section->kind, section_kinds, SECTION_KINDS))
      unknown_section(reading, section);
    else if (named != (*section->argument != 0))
      diagnostics_error(reading->diagnostics, section->place,
                        named ? "[%s] needs a name: [%s NAME]" : "[%s] takes no name: write [%s]",
                        section->kind, section->kind);
  }
}

static void collect_questions(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  struct ini_section *questions =
      arena_array(reading->arena, reading->text->section_count + 1, sizeof *questions);
  for (size_t i = 0; i < reading->text->section_count; i++)
    if (question_kind(reading->text->sections[i].kind) >= 0)
      questions[scenario->question_count++] = reading->text->sections[i];
  scenario->questions = questions;
}

static bool legal_id(struct reading *reading, const struct ini_section *section) {
  const char *id = section->argument;
  bool legal = isalpha((unsigned char)*id) && strlen(id) <= ID_MAX_LENGTH;
  for (size_t i = 0; id[i]; i++)
    legal &= isalnum((unsigned char)id[i]) || id[i] == '_';
  bool reserved = is_one_of(id, section_kinds, SECTION_KINDS) || !strcmp(id, "base");
  if (!legal || reserved)
    diagnostics_error(reading->diagnostics, section->place,
                      reserved ? "'%s' has another meaning: choose another name"
                               : "'%s' is no name: a letter, then up to 23 letters, digits and _",
                      id);
  return legal && !reserved;
}

static void collect_options(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  size_t sections = reading->text->section_count;
  scenario->options = arena_array(reading->arena, sections + 1, sizeof *scenario->options);
  reading->chosen = arena_array(reading->arena, sections + 1, sizeof *reading->chosen);
  const char **cases = arena_array(reading->arena, sections + 1, sizeof *cases);
  cases[scenario->case_count++] = "base";
  for (size_t i = 0; i < sections; i++) {
    const struct ini_section *section = &reading->text->sections[i];
    bool option = !strcmp(section->kind, "option"), a_case = !strcmp(section->kind, "case");
    if ((!option && !a_case) || !*section->argument || !legal_id(reading, section))
      continue;
    if (a_case) {
      cases[scenario->case_count++] = section->argument;
      continue;
    }
    for (size_t o = 0; o < scenario->option_count; o++)
      if (!strcasecmp(scenario->options[o].id, section->argument))
        diagnostics_error(reading->diagnostics, section->place,
                          "options '%s' and '%s' differ only in case", scenario->options[o].id,
                          section->argument);
    scenario->options[scenario->option_count++] = (struct option){.id = section->argument,
                                                                  .place = section->place,
                                                                  .accelerator = "",
                                                                  .accelerator_name = "",
                                                                  .not_included = ""};
  }
  scenario->cases = cases;
  if (!scenario->option_count)
    diagnostics_error(reading->diagnostics, (struct place){.source = scenario->source},
                      "there is no [option ID] to cost");
}

static int option_find(const struct scenario *scenario, const char *id) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (!strcmp(scenario->options[o].id, id))
      return (int)o;
  return -1;
}

int reading_option(const struct reading *reading, const char *id) {
  return option_find(reading->scenario, id);
}

static int case_find(const struct scenario *scenario, const char *name) {
  for (size_t c = 0; c < scenario->case_count; c++)
    if (!strcmp(scenario->cases[c], name))
      return (int)c;
  return -1;
}

static const char *nearest_option(const struct reading *reading, const char *id) {
  const struct scenario *scenario = reading->scenario;
  const char **ids = arena_array(reading->arena, scenario->option_count + 1, sizeof *ids);
  for (size_t o = 0; o < scenario->option_count; o++)
    ids[o] = scenario->options[o].id;
  return nearest_name(id, ids, scenario->option_count);
}

void reading_unknown_option(struct reading *reading, const char *id, struct place place) {
  const char *nearest = nearest_option(reading, id);
  diagnostics_error(reading->diagnostics, place, "there is no option '%s'%s%s%s", id,
                    nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
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
  else if (d >= 0)
    diagnostics_error(reading->diagnostics, key->place,
                      "'%s' is computed, not given: see its formula with 'pertoken explain'", name);
  else
    diagnostics_error(reading->diagnostics, key->place, "unknown key '%s' in %s%s%s%s", name, where,
                      nearest ? "; did you mean '" : "", nearest ? nearest : "",
                      nearest ? "'?" : "");
}

static bool may_stand_in_workload(const struct reading *reading, const char *name) {
  const struct model *model = reading->scenario->model;
  const char *point = strchr(name, '.');
  const char *input = point ? arena_copy_n(reading->arena, name, (size_t)(point - name)) : name;
  int d = model_find(model, input);
  return d >= 0 && (!strcmp(model->groups[model->declarations[d].group].name, "throughput") ||
                    !strcmp(model->groups[model->declarations[d].group].name, "volume"));
}

static bool already_common(const struct reading *reading, const char *section, const char *name) {
  static const char *const elsewhere[] = {"scenario", "workload", "common"};
  for (size_t i = 0; i < 3 && strcmp(elsewhere[i], section) != 0; i++) {
    const struct ini_section *other = section_of(reading, elsewhere[i]);
    if (other && ini_find(other, name))
      return true;
  }
  return false;
}

static void assign_common(struct reading *reading, const struct ini_section *section,
                          const struct ini_key *key) {
  static const struct layer layer = {ORIGIN_COMMON, -1, 0};
  bool workload = !strcmp(section->kind, "workload"), scenario = !strcmp(section->kind, "scenario");
  if (scenario && strcmp(key->name, "horizon") != 0) {
    if (!is_one_of(key->name, scenario_keys, SCENARIO_KEYS)) {
      const char *nearest = nearest_name(key->name, scenario_keys, SCENARIO_KEYS);
      diagnostics_error(reading->diagnostics, key->place, "unknown key '%s' in [scenario]%s%s%s",
                        key->name, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                        nearest ? "'?" : "");
    }
    return;
  }
  if (already_common(reading, section->kind, key->name))
    diagnostics_error(reading->diagnostics, key->place,
                      "'%s' is given twice: it stands in another common section", key->name);
  if (workload && selection_assign(reading, -1, key->name, key))
    return;
  else if ((workload && !may_stand_in_workload(reading, key->name)) ||
           !inputs_assign(reading->inputs, layer, key->name, key, reading->diagnostics))
    reading_unknown_key(reading, key->name, key,
                        arena_printf(reading->arena, "[%s]", section->kind), workload);
}

// KEY or OPTION.KEY, in a case or after --set.
static void assign_prefixed(struct reading *reading, struct layer layer, enum origin for_option,
                            const struct ini_key *key, const char *where) {
  const char *point = strchr(key->name, '.');
  const char *prefix =
      point ? arena_copy_n(reading->arena, key->name, (size_t)(point - key->name)) : "";
  layer.option = point ? option_find(reading->scenario, prefix) : -1;
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
    diagnostics_error(reading->diagnostics, key->place,
                      "a case changes inputs: '%s' belongs in the option or [workload]", name);
  else if (point && layer.option < 0)
    reading_unknown_option(reading, prefix, key->place);
  else
    reading_unknown_key(reading, name, key, where, false);
}

static void assign_section(struct reading *reading, const struct ini_section *section) {
  struct scenario *scenario = reading->scenario;
  int option = !strcmp(section->kind, "option") ? option_find(scenario, section->argument) : -1;
  int which = !strcmp(section->kind, "case") ? case_find(scenario, section->argument) : -1;
  const char *where = arena_printf(reading->arena, "[%s%s%s]", section->kind,
                                   *section->argument ? " " : "", section->argument);
  for (size_t k = 0; k < section->key_count; k++) {
    const struct ini_key *key = &section->keys[k];
    if (is_one_of(section->kind, section_kinds, 3))
      assign_common(reading, section, key);
    else if (which >= 0)
      assign_prefixed(reading, (struct layer){ORIGIN_CASE, -1, (size_t)which}, ORIGIN_CASE_OPTION,
                      key, where);
    else if (option >= 0 && !selection_assign(reading, option, key->name, key) &&
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
    int option = option_find(reading->scenario, prefix);
    if (option >= 0 && selection_assign(reading, option, point + 1, &key))
      return;
    if (!strcmp(prefix, "workload") && selection_assign(reading, -1, point + 1, &key))
      return;
    if (is_one_of(prefix, section_kinds, 3))
      key.name = point + 1;
  }
  assign_prefixed(reading, (struct layer){ORIGIN_SET, -1, 0}, ORIGIN_SET_OPTION, &key, "--set");
}

static void read_date(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  const struct ini_key *key = scenario_key(reading, "date");
  struct date date;
  scenario->date = key ? key->value : NULL;
  if (key && (!date_parse(key->value, &date) || strlen(key->value) != 10))
    diagnostics_error(reading->diagnostics, key->value_place,
                      "expected a day such as 2026-10-01, not '%s'", key->value);
  if (key)
    return;
  const char *epoch = getenv("SOURCE_DATE_EPOCH");
  time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
  struct tm day;
  char text[16];
  gmtime_r(&now, &day);
  strftime(text, sizeof text, "%Y-%m-%d", &day);
  scenario->date = arena_copy(reading->arena, text);
}

static void read_head(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  const struct ini_key *title = scenario_key(reading, "title");
  const struct ini_key *baseline = scenario_key(reading, "baseline");
  scenario->title = title ? title->value : scenario->path;
  if (title)
    short_text_check("a title", title->value, title->value_place, reading->diagnostics);
  read_date(reading);
  int found = baseline ? option_find(scenario, baseline->value) : 0;
  scenario->baseline = found < 0 ? 0 : (size_t)found;
  if (found < 0) {
    const char *nearest = nearest_option(reading, baseline->value);
    diagnostics_error(reading->diagnostics, baseline->value_place,
                      "the baseline '%s' is no option%s%s%s", baseline->value,
                      nearest ? "; did you mean '" : "", nearest ? nearest : "",
                      nearest ? "'?" : "");
  }
  const char *wanted = reading->request->case_name;
  int which = wanted ? case_find(scenario, wanted) : 0;
  scenario->selected = which < 0 ? 0 : (size_t)which;
  if (which < 0) {
    const char *nearest = nearest_name(wanted, scenario->cases, scenario->case_count);
    diagnostics_error(reading->diagnostics, (struct place){.source = scenario->source},
                      "no [case %s]%s%s%s", wanted, nearest ? "; did you mean '" : "",
                      nearest ? nearest : "", nearest ? "'?" : "");
  }
}

// [scenario] period replaces what the model says of a period's length. It is no input: the columns
// of every sheet depend on it, in all cases alike.
static void read_period(struct reading *reading, struct model *model) {
  const double year_h = conversion_table[CONVERT_HOURS_PER_YEAR].value;
  const struct ini_key *key = scenario_key(reading, "period");
  reading->scenario->period_h = year_h;
  int d = key ? model_require(model, "period_length", reading->diagnostics) : -1;
  if (d < 0)
    return;
  struct declaration *item = &model->declarations[d];
  double value = 0;
  if (quantity_parse(key->value, key->value_place, &item->unit, &value, reading->diagnostics))
    return;
  double per_year = value > 0 ? year_h / value : 0;
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

static int read_model(struct reading *reading) {
  const struct source *source =
      reading->request->model_path
          ? source_read(reading->request->model_path, reading->arena, reading->diagnostics)
          : source_from_text("built-in model", model_default_text, reading->arena);
  struct model *model = source ? model_read(source, reading->arena, reading->diagnostics) : NULL;
  if (!model)
    return -1;
  size_t errors = reading->diagnostics->errors;
  for (size_t i = 0; i < reading->text->section_count; i++)
    if (!strcmp(reading->text->sections[i].kind, "item"))
      model_add_own(model, &reading->text->sections[i], reading->diagnostics);
  reading->scenario->model = model;
  read_period(reading, model);
  if (reading->diagnostics->errors == errors)
    model_check(model, reading->diagnostics);
  static const char *const relied_on[] = {"cost_per_mtok", "levelised_cost_per_mtok", "horizon",
                                          "throughput"};
  for (size_t i = 0; i < sizeof relied_on / sizeof relied_on[0]; i++)
    model_require(model, relied_on[i], reading->diagnostics);
  return 0;
}

static void digest(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  const char *all =
      arena_printf(reading->arena, "%s%s", scenario->model->source->text, reading->text->all_text);
  for (size_t i = 0; i < scenario->setting_count; i++)
    all = arena_printf(reading->arena, "%s--set %s\n", all, scenario->settings[i]);
  scenario->digest = source_sha256(source_from_text("digest", all, reading->arena), reading->arena);
}

static struct figure *figures_of(const struct reading *reading, size_t option, size_t which) {
  const struct scenario *scenario = reading->scenario;
  return scenario->options[option].figures + which * (size_t)scenario->model->count;
}

static bool said(const struct figure *figure) {
  return figure->origin != ORIGIN_NONE;
}

static bool at_option_level(const struct figure *figure) {
  return figure->origin >= ORIGIN_OPTION;
}

static void report_both(struct reading *reading, size_t option, int a, int b,
                        const struct figure *figures) {
  const struct declaration *declarations = reading->scenario->model->declarations;
  diagnostics_error(reading->diagnostics, figures[a].place,
                    "option '%s' has both '%s' and '%s': give one of them",
                    reading->scenario->options[option].id, declarations[a].name,
                    declarations[b].name);
}

// Pairs that exclude each other: an error, or the option level's word against the common one's.
static void settle_pairs(struct reading *reading, size_t option, struct figure *figures) {
  const struct model *model = reading->scenario->model;
  for (int d = 0; d < model->count; d++) {
    int conflicts = model->declarations[d].conflicts, instead = model->declarations[d].instead_of;
    if (conflicts >= 0 && said(&figures[d]) && said(&figures[conflicts]) && figures[d].value != 0 &&
        figures[conflicts].value != 0)
      report_both(reading, option, d, conflicts, figures);
    if (instead < 0 || !said(&figures[d]) || !said(&figures[instead]))
      continue;
    if (at_option_level(&figures[d]) == at_option_level(&figures[instead]))
      report_both(reading, option, d, instead, figures);
    else
      figures[at_option_level(&figures[d]) ? instead : d].origin = ORIGIN_NONE;
  }
}

// A row of prices counts as the option's own list price when it is weighed against a rent, before
// its value has been looked up.
static void settle_purchase(struct reading *reading, size_t option, struct figure *figures) {
  int list_price = model_find(reading->scenario->model, "list_price");
  const struct ini_key *price = &reading->chosen[option][SELECT_PRICE];
  bool pending = list_price >= 0 && price->name && !said(&figures[list_price]);
  if (pending)
    figures[list_price] =
        (struct figure){.origin = ORIGIN_OPTION, .place = price->place, .source = "", .date = ""};
  settle_pairs(reading, option, figures);
  if (pending)
    figures[list_price].origin = ORIGIN_NONE;
}

// What a rented option does not pay for itself counts as zero there.
static void settle_rent(struct reading *reading, size_t option, struct figure *figures) {
  const struct model *model = reading->scenario->model;
  int rental_rate = model_find(model, "rental_rate");
  if (rental_rate < 0 || !said(&figures[rental_rate]))
    return;
  reading->scenario->options[option].rented = true;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    if (!input->in_rent)
      continue;
    if (at_option_level(&figures[d]))
      diagnostics_error(reading->diagnostics, figures[d].place,
                        "'%s' is part of the rent of option '%s': a rented option does not pay it",
                        input->name, reading->scenario->options[option].id);
    // What an option need not have, a rented one does not have.
    bool counts = input->has_default || input->required;
    figures[d] = (struct figure){.origin = counts ? ORIGIN_RENT : ORIGIN_NONE,
                                 .grade = GRADE_ASSUMED,
                                 .source = "included in the rent",
                                 .date = ""};
  }
}

static bool is_given(const struct figure *figure) {
  return said(figure) && figure->origin != ORIGIN_RENT;
}

// What is said of a view of finance to an option that does not have that view: an error at the
// option's own level, and no matter at the common one as long as some option has it.
static void settle_companions(struct reading *reading, size_t option, struct figure *figures) {
  const struct model *model = reading->scenario->model;
  for (int d = 0; d < model->count; d++) {
    int with = model->declarations[d].only_with;
    if (with < 0 || !is_given(&figures[d]))
      continue;
    if (is_given(&figures[with])) {
      reading->companions[d] = true;
      continue;
    }
    if (at_option_level(&figures[d]))
      diagnostics_error(reading->diagnostics, figures[d].place,
                        "'%s' means nothing to option '%s' without '%s'",
                        model->declarations[d].name, reading->scenario->options[option].id,
                        model->declarations[with].name);
    else if (!reading->idle[d].source)
      reading->idle[d] = figures[d].place;
    figures[d].origin = ORIGIN_NONE;
  }
}

static void report_idle(struct reading *reading) {
  const struct model *model = reading->scenario->model;
  for (int d = 0; d < model->count; d++)
    if (reading->idle[d].source && !reading->companions[d])
      diagnostics_error(reading->diagnostics, reading->idle[d],
                        "'%s' means nothing without '%s', which no option has",
                        model->declarations[d].name,
                        model->declarations[model->declarations[d].only_with].name);
}

static void apply_defaults(struct reading *reading, size_t option, struct figure *figures) {
  const struct model *model = reading->scenario->model;
  bool rented = reading->scenario->options[option].rented;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    bool neutral = rented && input->has_rent_default;
    bool applies = input->only_with < 0 || is_given(&figures[input->only_with]);
    if (said(&figures[d]) || !applies || (!input->has_default && !neutral))
      continue;
    figures[d] = (struct figure){.origin = neutral ? ORIGIN_RENT : ORIGIN_DEFAULT,
                                 .value = neutral ? input->rent_default : input->default_value,
                                 .grade = GRADE_ASSUMED,
                                 .source = neutral ? "included in the rent" : "default",
                                 .date = ""};
  }
}

// An input that another one, once above zero, makes no sense without.
static void check_companions(struct reading *reading, size_t option, const struct figure *figures) {
  const struct model *model = reading->scenario->model;
  for (int d = 0; d < model->count; d++) {
    int with = model->declarations[d].needed_with;
    if (with >= 0 && figures[with].value > 0 && figures[d].origin == ORIGIN_DEFAULT)
      diagnostics_error(reading->diagnostics, figures[with].place,
                        "option '%s' has '%s' and so needs '%s' (%s)",
                        reading->scenario->options[option].id, model->declarations[with].name,
                        model->declarations[d].name, model->declarations[d].unit.text);
  }
}

// A case may change what an input is, not which inputs there are.
static void check_case(struct reading *reading, size_t option, size_t which) {
  const struct scenario *scenario = reading->scenario;
  const struct figure *base = figures_of(reading, option, 0);
  const struct figure *figures = figures_of(reading, option, which);
  for (int d = 0; d < scenario->model->count; d++) {
    const struct declaration *input = &scenario->model->declarations[d];
    if (!said(&figures[d]) || said(&base[d]))
      continue;
    diagnostics_error(reading->diagnostics, figures[d].place,
                      "case '%s' gives '%s', which option '%s' otherwise %s: give it there too",
                      scenario->cases[which], input->name, scenario->options[option].id,
                      input->alternative_count ? "computes" : "does not have");
  }
}

static enum given given_by(const struct figure *figure) {
  if (figure->origin == ORIGIN_RENT)
    return GIVEN_NEUTRAL;
  return figure->origin > ORIGIN_RENT ? GIVEN_VALUE : GIVEN_NOT;
}

static int resolve_option(struct reading *reading, size_t o) {
  struct scenario *scenario = reading->scenario;
  struct option *option = &scenario->options[o];
  size_t errors = reading->diagnostics->errors, count = (size_t)scenario->model->count;
  option->figures =
      arena_array(reading->arena, count * scenario->case_count, sizeof *option->figures);
  for (size_t c = 0; c < scenario->case_count; c++) {
    size_t before = reading->diagnostics->errors;
    struct figure *figures = figures_of(reading, o, c);
    inputs_resolve(reading->inputs, (int)o, c, figures);
    if (c && errors != before)
      continue;
    frees_fill(reading, o, figures);
    settle_purchase(reading, o, figures);
    if (reading->diagnostics->errors == before)
      settle_rent(reading, o, figures);
    if (reading->diagnostics->errors == before)
      settle_companions(reading, o, figures);
  }
  selection_apply(reading, o);
  for (size_t c = 0; c < scenario->case_count; c++) {
    apply_defaults(reading, o, figures_of(reading, o, c));
    if (reading->diagnostics->errors == errors)
      check_companions(reading, o, figures_of(reading, o, c));
    if (c && reading->diagnostics->errors == errors)
      check_case(reading, o, c);
  }
  enum given *given = arena_array(reading->arena, count, sizeof *given);
  for (size_t d = 0; d < count; d++)
    given[d] = given_by(&option->figures[d]);
  option->graph = graph_build(scenario->model, option->id, option->place, given, reading->arena,
                              reading->diagnostics);
  return reading->diagnostics->errors == errors ? 0 : -1;
}

int scenario_columns(const struct scenario *scenario, double horizon_h) {
  return 1 + (int)ceil(round(horizon_h / scenario->period_h * 1e9) / 1e9);
}

static void find_periods(struct scenario *scenario) {
  double longest = MIN_YEARS * conversion_table[CONVERT_HOURS_PER_YEAR].value;
  int horizon = model_find(scenario->model, "horizon");
  for (size_t o = 0; o < scenario->option_count; o++)
    for (size_t c = 0; c < scenario->case_count; c++)
      longest = fmax(longest, option_figure(scenario, &scenario->options[o], c, horizon)->value);
  scenario->periods = scenario_columns(scenario, longest);
}

static void evaluate_option(struct reading *reading, struct option *option) {
  const struct scenario *scenario = reading->scenario;
  option->evaluation =
      evaluation_new(option->graph, scenario->periods, scenario->case_count, reading->arena);
  for (int d = 0; d < scenario->model->count; d++)
    for (size_t c = 0; c < scenario->case_count && option->graph->state[d] == GRAPH_INPUT; c++)
      evaluation_at(option->evaluation, d, 0)[c] = option_figure(scenario, option, c, d)->value;
  evaluate(option->evaluation);
  for (size_t c = 0; c < scenario->case_count; c++) {
    const char *what = arena_printf(reading->arena, c ? "option '%s' in case '%s'" : "option '%s'",
                                    option->id, scenario->cases[c]);
    if (evaluation_check(option->evaluation, c, what, reading->diagnostics))
      return;
  }
}

// What the shapes of the sections say, before anything is looked up.
static void read_sections(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  check_sections(reading);
  collect_options(reading);
  collect_questions(reading);
  read_head(reading);
  reading->inputs =
      inputs_new(scenario->model, scenario->option_count, scenario->case_count, reading->arena);
  for (size_t i = 0; i < reading->text->section_count; i++)
    assign_section(reading, &reading->text->sections[i]);
  for (size_t i = 0; i < scenario->setting_count; i++)
    assign_setting(reading, scenario->settings[i]);
  inputs_check_attributes(reading->inputs, reading->diagnostics);
  ranges_read(reading);
  frees_read(reading);
}

static bool failed(const struct reading *reading) {
  return reading->diagnostics->errors != reading->errors_before;
}

static int resolve(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  size_t count = (size_t)scenario->model->count;
  reading->companions = arena_array(reading->arena, count, sizeof *reading->companions);
  reading->idle = arena_array(reading->arena, count, sizeof *reading->idle);
  for (size_t o = 0; o < scenario->option_count; o++)
    resolve_option(reading, o);
  report_idle(reading);
  if (failed(reading))
    return -1;
  find_periods(scenario);
  for (size_t o = 0; o < scenario->option_count; o++)
    evaluate_option(reading, &scenario->options[o]);
  ranges_check(reading);
  return failed(reading) ? -1 : 0;
}

static const struct scenario_request *request_copy(const struct scenario_request *request,
                                                   struct arena *arena) {
  struct scenario_request *copy = arena_alloc(arena, sizeof *copy);
  *copy = *request;
  return copy;
}

struct scenario *scenario_read(const struct scenario_request *request, struct arena *arena,
                               struct diagnostics *diagnostics) {
  struct scenario *scenario = arena_alloc(arena, sizeof *scenario);
  struct reading reading = {.request = request,
                            .scenario = scenario,
                            .catalog = arena_alloc(arena, sizeof *reading.catalog),
                            .records = arena_alloc(arena, sizeof *reading.records),
                            .errors_before = diagnostics->errors,
                            .arena = arena,
                            .diagnostics = diagnostics};
  *reading.records = (struct records){0};
  reading.text = scenario_text_read(request->path, arena, diagnostics);
  if (!reading.text || catalog_open(reading.catalog, request->data_directory, arena, diagnostics))
    return NULL;
  if (request->measurements_directory &&
      measurement_read_directory(request->measurements_directory, &reading.records->list,
                                 &reading.records->count, arena, diagnostics))
    return NULL;
  if (reading.records->count)
    reading.records->accelerators = catalog_table(reading.catalog, CATALOG_ACCELERATORS);
  *scenario = (struct scenario){.source = reading.text->source,
                                .path = request->path,
                                .request = request_copy(request, arena),
                                .catalog = reading.catalog,
                                .records = reading.records,
                                .settings = request->settings,
                                .setting_count = request->setting_count};
  if (read_model(&reading))
    return NULL;
  bool model_is_good = !failed(&reading);
  read_sections(&reading);
  if (!model_is_good || !scenario->option_count || resolve(&reading))
    return NULL;
  digest(&reading);
  assess(&reading);
  return failed(&reading) ? NULL : scenario;
}

const struct figure *option_figure(const struct scenario *scenario, const struct option *option,
                                   size_t which_case, int declaration) {
  return &option->figures[which_case * (size_t)scenario->model->count + (size_t)declaration];
}

double option_value(const struct scenario *scenario, const struct option *option, int declaration,
                    int period) {
  return evaluation_at(option->evaluation, declaration, period)[scenario->selected];
}

bool option_has(const struct option *option, int declaration) {
  return option->graph->state[declaration] != GRAPH_ABSENT;
}

int option_periods(const struct scenario *scenario, const struct option *option,
                   size_t which_case) {
  int operating = model_find(scenario->model, "operating"), count = 0;
  for (int t = 1; t < scenario->periods && operating >= 0; t++)
    count += evaluation_at(option->evaluation, operating, t)[which_case] > 0;
  return count;
}

double option_saving(const struct scenario *scenario, const struct option *option,
                     const char *item) {
  int d = model_find(scenario->model, item);
  return 1 - option_value(scenario, option, d, 0) /
                 option_value(scenario, &scenario->options[scenario->baseline], d, 0);
}

// The fewest digits that read back to the same value, but for the last bit of the conversion.
static char *shortest_number(double value, double factor, struct arena *arena) {
  double shown = value / factor;
  char *number = NULL;
  for (int digits = 15; digits <= 17; digits++) {
    number = arena_printf(arena, "%.*g", digits, shown);
    if (fabs(strtod(number, NULL) * factor - value) <= 4e-16 * fabs(value))
      break;
  }
  return number;
}

const char *quantity_text(double value, const struct unit *unit, struct arena *arena) {
  char *number = shortest_number(value, unit_factor(unit), arena);
  bool plain = !strcmp(unit->text, "-") || !*unit->text;
  return plain ? number : arena_printf(arena, "%s %s", number, unit->text);
}

const char *scenario_stamp(const struct scenario *scenario, struct arena *arena) {
  const char *ids = "", *text = "";
  for (size_t o = 0; o < scenario->option_count; o++)
    if (scenario->options[o].decode_only)
      ids = arena_printf(arena, "%s%s%s", ids, *ids ? ", " : "", scenario->options[o].id);
  if (*ids)
    text = arena_printf(arena, "Upper bound, decode only (as if prefill took no time): %s. ", ids);
  if (scenario->mixed && *scenario->mixed_reason)
    text = arena_printf(arena, "MIXED: %s. %s", scenario->mixed_reason, text);
  return text;
}
