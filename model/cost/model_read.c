#include "model/cost/model_read.h"

#include "base/ini.h"
#include "base/short_text.h"
#include "model/cost/formula.h"
#include "model/cost/model_currency.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum section_kind { SECTION_GROUP, SECTION_INPUT, SECTION_ITEM, SECTION_SERIES, SECTION_CHECK };

static const char *const section_names[] = {"group", "input", "item", "series", "check"};

struct model_reader {
  struct model *model;
  struct declaration *declaration;
  const struct ini_section *section;
  struct diagnostics *diagnostics;
  size_t field; // of the attribute that is read
};

static bool is_yes(const struct model_reader *reader, const struct ini_key *key) {
  if (!strcmp(key->value, "yes"))
    return true;
  if (strcmp(key->value, "no") != 0)
    diagnostics_error(reader->diagnostics, key->value_place, "expected yes or no, not '%s'",
                      key->value);
  return false;
}

// The value of a quantity that is stated in the declaration's unit; 0 after an error, in the unit
// or in this quantity.
static double quantity(const struct model_reader *reader, const char *text, struct place place) {
  double value = 0;
  if (reader->declaration->unit.text)
    quantity_parse(text, place, &reader->declaration->unit, &value, reader->diagnostics);
  return value;
}

static double limit(const struct model_reader *reader, const struct ini_key *key) {
  return quantity(reader, key->value, key->value_place);
}

static void read_label(struct model_reader *reader, const struct ini_key *key) {
  reader->declaration->label = key->value;
  short_text_check("a label", key->value, key->value_place, reader->diagnostics);
}

static void read_unit(struct model_reader *reader, const struct ini_key *key) {
  unit_parse(key->value, key->value_place, &reader->declaration->unit, reader->model->arena,
             reader->diagnostics);
}

static void read_group(struct model_reader *reader, const struct ini_key *key) {
  reader->declaration->group = model_group(reader->model, key->value);
  if (reader->declaration->group < 0)
    diagnostics_error(reader->diagnostics, key->value_place, "unknown group '%s'", key->value);
}

// The declarations that a key names, and how many there are.
static int read_names(const struct model_reader *reader, const struct ini_key *key,
                      const char *text, int *names, int most) {
  char *rest = arena_copy(reader->model->arena, text), *word;
  int count = 0;
  while ((word = strsep(&rest, " "))) {
    int found = *word ? model_find(reader->model, word) : -2;
    if (found == -1)
      diagnostics_error(reader->diagnostics, key->value_place,
                        "'%s' must be declared before it is named here", word);
    else if (found >= 0 && count == most)
      diagnostics_error(reader->diagnostics, key->value_place, "at most %d names are allowed here",
                        most);
    else if (found >= 0)
      names[count++] = found;
  }
  return count;
}

// "purchase life | resale": an alternative for each list of what the formula needs.
static void add_alternatives(struct model_reader *reader, const struct alternative *plain,
                             const struct ini_key *needs) {
  struct declaration *declaration = reader->declaration;
  char *rest = arena_copy(reader->model->arena, needs ? needs->value : ""), *list;
  while ((list = strsep(&rest, "|"))) {
    if (declaration->alternative_count == MAX_ALTERNATIVES) {
      diagnostics_error(reader->diagnostics, plain->place, "at most %d formulas are allowed here",
                        MAX_ALTERNATIVES);
      return;
    }
    struct alternative *added = &declaration->alternatives[declaration->alternative_count++];
    *added = *plain;
    added->need_count = read_names(reader, needs, list, added->needs, MAX_NEEDS);
  }
}

static const struct {
  const char *formula, *needs;
} alternative_keys[] = {{"formula", "needs"},           {"or_formula", "or_needs"},
                        {"or_formula_2", "or_needs_2"}, {"or_formula_3", "or_needs_3"},
                        {"or_formula_4", "or_needs_4"}, {"or_formula_5", "or_needs_5"},
                        {"or_formula_6", "or_needs_6"}, {"or_formula_7", "or_needs_7"}};

enum { ALTERNATIVE_KEYS = sizeof alternative_keys / sizeof alternative_keys[0] };

static void read_alternatives(struct model_reader *reader) {
  bool is_open = true; // until a number is left out
  for (int i = 0; i < ALTERNATIVE_KEYS; i++) {
    const struct ini_key *key = ini_find(reader->section, alternative_keys[i].formula);
    if (key && !is_open) {
      diagnostics_error(reader->diagnostics, key->place, "%s without the formula before it",
                        key->name);
      return;
    }
    is_open = key;
    if (!key)
      continue;
    const struct alternative plain = {
        .text = key->value,
        .place = key->value_place,
        .formula =
            formula_parse(key->value, key->value_place, reader->model->arena, reader->diagnostics)};
    add_alternatives(reader, &plain, ini_find(reader->section, alternative_keys[i].needs));
  }
}

static int declared(const struct model_reader *reader, const struct ini_key *key) {
  int found = model_find(reader->model, key->value);
  if (found < 0)
    diagnostics_error(reader->diagnostics, key->value_place,
                      "'%s' must be declared before it is named here", key->value);
  return found;
}

// Before each formula, inserts the same one times the factor, for options that have what the factor
// needs.
void model_multiply(const struct model *model, struct declaration *item, int factor) {
  const struct declaration *by = &model->declarations[factor];
  const struct alternative *needed = &by->alternatives[0];
  struct alternative both[MAX_ALTERNATIVES];
  int count = 0;
  for (int a = 0; a < item->alternative_count && count + 2 <= MAX_ALTERNATIVES; a++) {
    const struct alternative *plain = &item->alternatives[a];
    struct alternative *times = &both[count];
    if (!plain->formula || plain->need_count + needed->need_count > MAX_NEEDS)
      return;
    *times = *plain;
    times->formula = formula_times(plain->formula, by->name, model->arena);
    times->text = formula_text(times->formula, model->arena);
    memcpy(times->needs + times->need_count, needed->needs,
           (size_t)needed->need_count * sizeof *needed->needs);
    times->need_count += needed->need_count;
    both[count + 1] = *plain;
    count += 2;
  }
  for (int a = 0; a < count; a++)
    item->alternatives[a] = both[a];
  item->alternative_count = count;
}

static void read_times(struct model_reader *reader, const struct ini_key *key) {
  const int factor = declared(reader, key);
  const int most = MAX_ALTERNATIVES / 2;
  if (reader->declaration->alternative_count > most)
    diagnostics_error(reader->diagnostics, key->place, "at most %d formulas may have a factor",
                      most);
  else if (factor >= 0)
    model_multiply(reader->model, reader->declaration, factor);
}

static void read_choices(struct model_reader *reader, const struct ini_key *key) {
  struct declaration *declaration = reader->declaration;
  char *rest = arena_copy(reader->model->arena, key->value), *word;
  while ((word = strsep(&rest, " "))) {
    char *colon = strchr(word, ':');
    if (!colon || declaration->choice_count == MAX_CHOICES) {
      diagnostics_error(reader->diagnostics, key->value_place, "expected NAME:NUMBER, up to %d",
                        MAX_CHOICES);
      return;
    }
    *colon = 0;
    struct choice *choice = &declaration->choices[declaration->choice_count++];
    choice->name = word;
    choice->value = quantity(reader, colon + 1, key->value_place);
  }
}

static void read_default(struct model_reader *reader, const struct ini_key *key) {
  reader->declaration->has_default = true;
  reader->declaration->default_value = limit(reader, key);
}

static void read_min(struct model_reader *reader, const struct ini_key *key) {
  reader->declaration->has_min = true;
  reader->declaration->min = limit(reader, key);
}

static void read_above(struct model_reader *reader, const struct ini_key *key) {
  read_min(reader, key);
  reader->declaration->min_exclusive = true;
}

static void read_max(struct model_reader *reader, const struct ini_key *key) {
  reader->declaration->has_max = true;
  reader->declaration->max = limit(reader, key);
}

static void read_rent_default(struct model_reader *reader, const struct ini_key *key) {
  reader->declaration->has_rent_default = true;
  reader->declaration->rent_default = limit(reader, key);
}

static void read_scope(struct model_reader *reader, const struct ini_key *key) {
  reader->declaration->per_option = true;
  if (strcmp(key->value, "option") != 0)
    diagnostics_error(reader->diagnostics, key->value_place, "expected option, not '%s'",
                      key->value);
}

static void read_instead_of(struct model_reader *reader, const struct ini_key *key) {
  struct declaration *declaration = reader->declaration;
  declaration->instead_count =
      read_names(reader, key, key->value, declaration->instead_of, MAX_INSTEAD);
}

static void read_rate_of(struct model_reader *reader, const struct ini_key *key) {
  struct declaration *declaration = reader->declaration;
  declaration->rated_count = read_names(reader, key, key->value, declaration->rated, MAX_RATED);
}

// The first of the names is the series that identifies a list.
static void read_ages(struct model_reader *reader, const struct ini_key *key) {
  struct declaration *declaration = reader->declaration;
  declaration->ages = key->value;
  declaration->schedule = arena_copy_n(reader->model->arena, key->value, strcspn(key->value, " "));
}

static void read_role(struct model_reader *reader, const struct ini_key *key) {
  if (!strcmp(key->value, "headline"))
    reader->declaration->role = ROLE_HEADLINE;
  else if (!strcmp(key->value, "category"))
    reader->declaration->role = ROLE_CATEGORY;
  else
    diagnostics_error(reader->diagnostics, key->value_place, "expected headline or category");
}

static void *field_of(const struct model_reader *reader) {
  return (char *)reader->declaration + reader->field;
}

static void read_yes(struct model_reader *reader, const struct ini_key *key) {
  *(bool *)field_of(reader) = is_yes(reader, key);
}

static void read_declared(struct model_reader *reader, const struct ini_key *key) {
  *(int *)field_of(reader) = declared(reader, key);
}

static void read_text(struct model_reader *reader, const struct ini_key *key) {
  *(const char **)field_of(reader) = key->value;
}

#define AT(field) offsetof(struct declaration, field)
#define IN(kind)  (1u << SECTION_##kind)
#define COMPUTED  (IN(ITEM) | IN(SERIES))

// Read in this order, whatever the order in the file: the unit comes before the quantities in it.
static const struct attribute {
  const char *name;
  unsigned sections;
  void (*read)(struct model_reader *, const struct ini_key *);
  size_t field; // of the declaration, for those that are a field alone
} attributes[] = {
    {"label", IN(INPUT) | COMPUTED | IN(CHECK) | IN(GROUP), read_label, 0},
    {"unit", IN(INPUT) | COMPUTED | IN(CHECK), read_unit, 0},
    {"group", IN(INPUT) | COMPUTED, read_group, 0},
    {"times", COMPUTED, read_times, 0},
    {"of_those_present", COMPUTED, read_yes, AT(of_those_present)},
    {"choices", IN(INPUT), read_choices, 0},
    {"default", IN(INPUT), read_default, 0},
    {"min", IN(INPUT), read_min, 0},
    {"above", IN(INPUT), read_above, 0},
    {"max", IN(INPUT), read_max, 0},
    {"required", IN(INPUT), read_yes, AT(required)},
    {"integer", IN(INPUT), read_yes, AT(integer)},
    {"property", IN(INPUT), read_yes, AT(property)},
    {"in_rent", IN(INPUT), read_yes, AT(in_rent)},
    {"rent_default", IN(INPUT), read_rent_default, 0},
    {"scope", IN(INPUT), read_scope, 0},
    {"conflicts", IN(INPUT), read_declared, AT(conflicts)},
    {"instead_of", IN(INPUT), read_instead_of, 0},
    {"unless", IN(INPUT), read_declared, AT(unless)},
    {"needed_with", IN(INPUT), read_declared, AT(needed_with)},
    {"only_with", IN(INPUT), read_declared, AT(only_with)},
    {"idle_without", IN(INPUT), read_declared, AT(idle_without)},
    {"when_varies", IN(INPUT), read_declared, AT(when_varies)},
    {"or_with", IN(INPUT), read_declared, AT(or_with)},
    {"typed", IN(INPUT), read_yes, AT(typed)},
    {"varies", IN(ITEM), read_yes, AT(varies)},
    {"absent_with", IN(INPUT) | COMPUTED, read_declared, AT(absent_with)},
    {"given_as", IN(INPUT), read_text, AT(given_as)},
    {"family", IN(INPUT), read_text, AT(family)},
    {"notice", IN(INPUT), read_text, AT(notice)},
    {"schedule", IN(INPUT), read_text, AT(schedule)},
    {"ages", IN(INPUT), read_ages, 0},
    {"tiers", IN(INPUT), read_text, AT(tiers)},
    {"rate_of", IN(INPUT), read_rate_of, 0},
    {"none_below", IN(ITEM), read_declared, AT(none_below)},
    {"none_without", IN(ITEM), read_declared, AT(none_without)},
    {"none", IN(ITEM), read_text, AT(none)},
    {"role", COMPUTED, read_role, 0},
    {"view", IN(GROUP), NULL, 0},
};

enum { ATTRIBUTES = sizeof attributes / sizeof attributes[0] };

static bool is_alternative(const char *name) {
  for (int i = 0; i < ALTERNATIVE_KEYS; i++)
    if (!strcmp(name, alternative_keys[i].formula) || !strcmp(name, alternative_keys[i].needs))
      return true;
  return false;
}

static void refuse_unknown_keys(const struct ini_section *section, unsigned kind,
                                struct diagnostics *diagnostics) {
  for (size_t k = 0; k < section->key_count; k++) {
    bool known = kind != IN(GROUP) && is_alternative(section->keys[k].name);
    for (size_t a = 0; a < ATTRIBUTES; a++)
      known |=
          (attributes[a].sections & kind) && !strcmp(attributes[a].name, section->keys[k].name);
    if (!known)
      diagnostics_error(diagnostics, section->keys[k].place, "unknown key '%s' in a model's [%s]",
                        section->keys[k].name, section->kind);
  }
}

static void read_attributes(struct model_reader *reader, unsigned kind) {
  read_alternatives(reader);
  for (size_t a = 0; a < ATTRIBUTES; a++) {
    const struct ini_key *key = ini_find(reader->section, attributes[a].name);
    reader->field = attributes[a].field;
    if (key && (attributes[a].sections & kind))
      attributes[a].read(reader, key);
  }
}

static void read_group_section(struct model *model, const struct ini_section *section,
                               struct diagnostics *diagnostics) {
  const struct ini_key *label = ini_find(section, "label"), *view = ini_find(section, "view");
  model->groups =
      arena_room(model->arena, model->groups, (size_t)model->group_count, sizeof *model->groups);
  const struct model_reader reader = {
      .model = model, .section = section, .diagnostics = diagnostics};
  model->groups[model->group_count++] = (struct group){
      section->argument, label ? label->value : section->argument, view && is_yes(&reader, view)};
}

static int section_kind(const char *name) {
  for (int i = 0; i <= SECTION_CHECK; i++)
    if (!strcmp(section_names[i], name))
      return i;
  return -1;
}

static void demand_keys(const struct ini_section *section, const char *const *names, size_t count,
                        struct diagnostics *diagnostics) {
  for (size_t i = 0; i < count; i++)
    if (!ini_find(section, names[i]))
      diagnostics_error(diagnostics, section->place, "[%s %s] needs '%s'", section->kind,
                        section->argument, names[i]);
}

static void read_declaration(struct model *model, const struct ini_section *section, int kind,
                             enum declaration_kind declared, struct diagnostics *diagnostics) {
  const struct ini_key *unit = ini_find(section, "unit");
  const bool may_be_in_usd = kind == SECTION_INPUT && model_is_foreign(model) && unit &&
                             text_has_currency(unit->value, model->currency);
  if (may_be_in_usd)
    model_declare_exchange_rate(model, section->place, diagnostics);
  const int number = model->count;
  struct model_reader reader = {
      model, model_declare(model, section->argument, section->place, diagnostics), section,
      diagnostics, 0};
  if (!reader.declaration)
    return;
  reader.declaration->kind = declared;
  if (kind == SECTION_CHECK) {
    int group = model_group(model, "check");
    reader.declaration->role = ROLE_CHECK;
    reader.declaration->group = group < 0 ? 0 : group;
  } else if (number)
    reader.declaration->group = model->declarations[number - 1].group;
  read_attributes(&reader, 1u << kind);
  if (may_be_in_usd)
    model_declare_in_usd(model, number, diagnostics);
}

static void read_one(struct model *model, const struct ini_section *section,
                     struct diagnostics *diagnostics) {
  static const enum declaration_kind kinds[] = {DECLARATION_SCALAR, DECLARATION_INPUT,
                                                DECLARATION_SCALAR, DECLARATION_SERIES,
                                                DECLARATION_SCALAR};
  int kind = section_kind(section->kind);
  if (kind < 0) {
    diagnostics_error(diagnostics, section->place, "unknown section [%s] in a model",
                      section->kind);
    return;
  }
  refuse_unknown_keys(section, 1u << kind, diagnostics);
  if (kind == SECTION_GROUP) {
    read_group_section(model, section, diagnostics);
    return;
  }
  static const char *const needed[] = {"label", "unit", "formula"};
  demand_keys(section, needed, kind == SECTION_INPUT ? 2 : 3, diagnostics);
  read_declaration(model, section, kind, kinds[kind], diagnostics);
}

// The section of one input of [input NAME_1..N].
static const struct ini_section *numbered(const struct model *model,
                                          const struct ini_section *section, int number) {
  struct ini_section *copy = arena_alloc(model->arena, sizeof *copy);
  struct ini_key *keys = arena_array(model->arena, section->key_count, sizeof *keys);
  const int length = (int)(strstr(section->argument, "1..") - section->argument);
  *copy = *section;
  copy->argument = arena_printf(model->arena, "%.*s%d", length, section->argument, number);
  copy->keys = keys;
  for (size_t k = 0; k < section->key_count; k++) {
    keys[k] = section->keys[k];
    for (const char *hash; (hash = strchr(keys[k].value, '#'));)
      keys[k].value = arena_printf(model->arena, "%.*s%d%s", (int)(hash - keys[k].value),
                                   keys[k].value, number, hash + 1);
  }
  return copy;
}

static void read_section(struct model *model, const struct ini_section *written,
                         struct diagnostics *diagnostics) {
  enum { MOST = 99 };
  const struct ini_section *section = model_in_currency(model, written);
  const char *count = strstr(section->argument, "1..");
  const long last = count ? strtol(count + strlen("1.."), NULL, 10) : 0;
  if (!count || last < 1 || last > MOST)
    read_one(model, section, diagnostics);
  for (int number = 1; number <= last && last <= MOST; number++)
    read_one(model, numbered(model, section, number), diagnostics);
}

struct model *model_read(const struct source *source, struct arena *arena,
                         struct diagnostics *diagnostics) {
  return model_read_in(source, "USD", arena, diagnostics);
}

struct model *model_read_in(const struct source *source, const char *currency, struct arena *arena,
                            struct diagnostics *diagnostics) {
  size_t errors = diagnostics->errors;
  const struct ini *ini = ini_read(source, arena, diagnostics);
  if (!ini)
    return NULL;
  struct model *model = arena_alloc(arena, sizeof *model);
  model->source = source;
  model->arena = arena;
  model->currency = currency;
  for (size_t i = 0; i < ini->section_count; i++)
    read_section(model, &ini->sections[i], diagnostics);
  if (model_is_foreign(model))
    model_declare_result_in_usd(model, diagnostics);
  return diagnostics->errors == errors ? model : NULL;
}
