#include "model/scenario/reading/sections.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/short_text.h"
#include "base/source.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define uthash_malloc(size)       arena_alloc(arena, size)
#define uthash_free(memory, size) ((void)(memory))
#include <uthash.h>

enum { MAX_ID_LENGTH = 24 };

enum section_role {
  SECTION_COMMON,  // its keys hold for every option
  SECTION_ONE,     // about one option, case, item or figure
  SECTION_QUESTION // asks something: the values of its keys are read by the code that answers
};

enum { MOST_KEYS = 20 };

static const struct section_kind {
  const char *kind;
  enum section_role role;
  bool named;
  const char *keys[MOST_KEYS]; // KEY or KEY.WHOSE; none: checked where they are read
} section_kinds[] = {
    {"scenario", SECTION_COMMON, false, {NULL}},
    {"workload", SECTION_COMMON, false, {NULL}},
    {"common", SECTION_COMMON, false, {NULL}},
    {"option", SECTION_ONE, true, {NULL}},
    {"case", SECTION_ONE, true, {NULL}},
    {"item", SECTION_ONE, true, {NULL}},
    {"range", SECTION_ONE, false, {NULL}},
    {"correlate", SECTION_ONE, false, {NULL}},
    {"claim", SECTION_QUESTION, true, {NULL}},
    {"free", SECTION_QUESTION, false, {NULL}},
    {"demand",
     SECTION_QUESTION,
     true,
     {"tokens", "context", "split", "kv", "model", "precision", "scenario", "batch", "ready.OPTION",
      "throughput.OPTION", "evidence.OPTION", "record.OPTION", "load_power.OPTION", "interactivity",
      "nodes_per_replica", "growth", "ready_from.OPTION", "input_tokens", "output_tokens"}},
    {"supply",
     SECTION_QUESTION,
     true,
     {"stock", "vendor", "lead_time", "available", "delay", "term"}},
    {"portfolio",
     SECTION_QUESTION,
     false,
     {"minimum_share.VENDOR", "share_of", "budget", "capex_budget"}},
    {"plan", SECTION_QUESTION, false, {"yearly_budget", "site_power", "time", "draws", "seed"}},
    {"wait",
     SECTION_QUESTION,
     true,
     {"months", "successor", "throughput", "power", "price", "available", "price_decline", "slip",
      "meanwhile", "draws", "seed"}},
    {"rent",
     SECTION_QUESTION,
     true,
     {"own", "cloud", "on_demand", "spot", "interruption", "one_year", "three_years", "reserved"}},
    {"fit",
     SECTION_QUESTION,
     false,
     {"context", "kv", "accelerators", "memory_share", "prefill_chunk", "nodes_per_replica"}},
};

enum { SECTION_KINDS = sizeof section_kinds / sizeof section_kinds[0] };

#define WHOLE "whole"

// The keys of questions whose value is a number. All others are checked where they are read.
static const struct section_number {
  const char *kind, *key; // without a NAME
  const char *unit;       // WHOLE: a positive whole number
  bool or_belief;         // a distribution may be there instead, checked where it is read
} section_numbers[] = {
    {"demand", "tokens", "token/month", false},
    {"demand", "context", WHOLE, false},
    {"demand", "nodes_per_replica", WHOLE, false},
    {"demand", "growth", "%/yr", true},
    {"demand", "ready_from", "month", false},
    {"supply", "stock", "gpu", false},
    {"supply", "lead_time", "month", false},
    {"supply", "available", "month", false},
    {"supply", "delay", "month", true},
    {"supply", "term", "month", false},
    {"portfolio", "minimum_share", "%", false},
    {"plan", "site_power", "MW", false},
    {"plan", "time", WHOLE, false},
    {"plan", "draws", WHOLE, false},
    {"plan", "seed", WHOLE, false},
    {"wait", "throughput", "-", true},
    {"wait", "power", "-", true},
    {"wait", "price", "-", true},
    {"wait", "available", "month", true},
    {"wait", "price_decline", "%/month", true},
    {"wait", "slip", "month", true},
    {"rent", "interruption", "%", false},
    {"fit", "context", WHOLE, false},
    {"fit", "accelerators", WHOLE, false},
    {"fit", "prefill_chunk", WHOLE, false},
    {"fit", "nodes_per_replica", WHOLE, false},
    {"fit", "memory_share", "%", false},
};

enum { SECTION_NUMBERS = sizeof section_numbers / sizeof section_numbers[0] };

static const struct section_kind *kind_find(const char *kind) {
  for (size_t i = 0; i < SECTION_KINDS; i++)
    if (!strcmp(section_kinds[i].kind, kind))
      return &section_kinds[i];
  return NULL;
}

bool section_is_common(const char *kind) {
  const struct section_kind *found = kind_find(kind);
  return found && found->role == SECTION_COMMON;
}

bool section_is_question(const char *kind) {
  const struct section_kind *found = kind_find(kind);
  return found && found->role == SECTION_QUESTION;
}

const struct ini_section *reading_section(const struct reading *reading, const char *kind) {
  for (size_t i = 0; i < reading->text->section_count; i++)
    if (!strcmp(reading->text->sections[i].kind, kind))
      return &reading->text->sections[i];
  return NULL;
}

const struct ini_key *reading_head_key(const struct reading *reading, const char *name) {
  const struct ini_section *section = reading_section(reading, "scenario");
  return section ? ini_find(section, name) : NULL;
}

bool section_is_repeated(const struct reading *reading, const char *kind, const char *key) {
  for (size_t i = 0; i < SECTION_KINDS && strcmp(section_kinds[i].kind, kind) != 0; i++) {
    const struct ini_section *other = reading_section(reading, section_kinds[i].kind);
    if (other && ini_find(other, key))
      return true;
  }
  return false;
}

static void unknown_section(struct reading *reading, const struct ini_section *section) {
  const char *kinds[SECTION_KINDS];
  for (size_t i = 0; i < SECTION_KINDS; i++)
    kinds[i] = section_kinds[i].kind;
  const char *nearest = nearest_name(section->kind, kinds, SECTION_KINDS);
  diagnostics_error(reading->diagnostics, section->place, "unknown section [%s]%s%s%s",
                    section->kind, nearest ? "; did you mean [" : "", nearest ? nearest : "",
                    nearest ? "]?" : "");
}

static void check_section(struct reading *reading, const struct ini_section *section) {
  const struct section_kind *kind = kind_find(section->kind);
  if (!kind)
    unknown_section(reading, section);
  else if (kind->named != (*section->argument != 0))
    diagnostics_error(reading->diagnostics, section->place,
                      kind->named ? "[%s] needs a name: [%s NAME]"
                                  : "[%s] takes no name: write [%s]",
                      section->kind, section->kind);
}

// The key of a kind with this name, whether it takes a NAME or not; NULL for none.
static const char *key_like(const struct section_kind *kind, const char *name) {
  const size_t length = strcspn(name, ".");
  for (size_t i = 0; i < MOST_KEYS && kind->keys[i]; i++)
    if (strcspn(kind->keys[i], ".") == length && !strncmp(name, kind->keys[i], length))
      return kind->keys[i];
  return NULL;
}

// Whether `name` is the known key, or its KEY.source or KEY.date.
static bool is_key(const char *known, const char *name) {
  const char *point = strchr(name, '.');
  return !point == !strchr(known, '.') ||
         (point && (!strcmp(point, ".source") || !strcmp(point, ".date")));
}

// The key that a mistyped one is nearest to, by what comes before the point; NULL for none.
static const char *nearest_key(const struct section_kind *kind, const char *name,
                               struct arena *arena) {
  const char *stems[MOST_KEYS];
  size_t count = 0;
  for (; count < MOST_KEYS && kind->keys[count]; count++)
    stems[count] = arena_copy_n(arena, kind->keys[count], strcspn(kind->keys[count], "."));
  const char *nearest = nearest_name(arena_copy_n(arena, name, strcspn(name, ".")), stems, count);
  return nearest ? key_like(kind, nearest) : NULL;
}

static const struct section_number *number_find(const char *kind, const char *key) {
  const size_t length = strcspn(key, ".");
  for (size_t i = 0; i < SECTION_NUMBERS; i++)
    if (!strcmp(section_numbers[i].kind, kind) && strlen(section_numbers[i].key) == length &&
        !strncmp(section_numbers[i].key, key, length))
      return &section_numbers[i];
  return NULL;
}

const char *section_unit(const char *kind, const char *key) {
  return number_find(kind, key)->unit;
}

int section_number(const char *kind, const struct ini_key *key, double *out,
                   struct diagnostics *diagnostics) {
  const char *unit_text = section_unit(kind, key->name);
  struct unit unit;
  double value;
  if (strcmp(unit_text, WHOLE) != 0)
    return unit_parse(unit_text, key->value_place, &unit, diagnostics->arena, diagnostics) ||
                   quantity_parse(key->value, key->value_place, &unit, out, diagnostics)
               ? -1
               : 0;
  if (csv_number(key->value, &value) && value >= 1 && value <= 1e9 && value == floor(value)) {
    *out = value;
    return 0;
  }
  diagnostics_error(diagnostics, key->value_place, "expected a positive whole number, not '%s'",
                    key->value);
  return -1;
}

static void check_value(struct reading *reading, const char *kind, const struct ini_key *key) {
  const struct section_number *number = number_find(kind, key->name);
  double value;
  if (number && !(number->or_belief && isalpha((unsigned char)*key->value)))
    section_number(kind, key, &value, reading->diagnostics);
}

static void check_keys(struct reading *reading, const struct section_kind *kind,
                       const struct ini_section *section) {
  for (size_t k = 0; k < section->key_count && kind->keys[0]; k++) {
    const struct ini_key *key = &section->keys[k];
    const char *like = key_like(kind, key->name);
    if (like && !strchr(like, '.') == !strchr(key->name, '.'))
      check_value(reading, kind->kind, key);
    if (like && is_key(like, key->name))
      continue;
    const char *meant = like ? like : nearest_key(kind, key->name, reading->arena);
    diagnostics_error(reading->diagnostics, key->place, "unknown key '%s' in [%s%s%s]%s", key->name,
                      section->kind, *section->argument ? " " : "", section->argument,
                      did_you_mean(meant, reading->arena));
  }
}

static void collect_questions(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  struct ini_section *questions =
      arena_array(reading->arena, reading->text->section_count + 1, sizeof *questions);
  for (size_t i = 0; i < reading->text->section_count; i++) {
    const struct section_kind *kind = kind_find(reading->text->sections[i].kind);
    if (!kind || kind->role != SECTION_QUESTION)
      continue;
    check_keys(reading, kind, &reading->text->sections[i]);
    questions[scenario->question_count++] = reading->text->sections[i];
  }
  scenario->questions = questions;
}

// A word with another meaning where an id may occur: before a dot in --set, or as a case.
static bool is_reserved(const char *id) {
  const struct section_kind *kind = kind_find(id);
  return (kind && kind->role != SECTION_QUESTION) || !strcmp(id, "base");
}

static bool legal_id(struct reading *reading, const struct ini_section *section) {
  const char *id = section->argument;
  bool legal = isalpha((unsigned char)*id) && strlen(id) <= MAX_ID_LENGTH;
  for (size_t i = 0; id[i]; i++)
    legal &= isalnum((unsigned char)id[i]) || id[i] == '_';
  bool reserved = is_reserved(id);
  if (!legal || reserved)
    diagnostics_error(reading->diagnostics, section->place,
                      reserved
                          ? "'%s' is a reserved word: choose another name"
                          : "'%s' is not a name: a letter, then up to 23 letters, digits and _",
                      id);
  return legal && !reserved;
}

// The label of a section. A quotation mark would end the text in a formula.
static const char *label_of(struct reading *reading, const struct ini_section *section,
                            const char *refused) {
  const struct ini_key *key = ini_find(section, SECTION_LABEL);
  if (!key || !*key->value)
    return section->argument;
  short_text_check("a label", key->value, key->value_place, reading->diagnostics);
  const char *sign = strpbrk(key->value, refused);
  if (sign)
    diagnostics_error(reading->diagnostics, key->value_place, "%s label cannot have %s: '%s'",
                      !strcmp(section->kind, "case") ? "a case's" : "an option's",
                      *sign == '"' ? "a quotation mark"
                                   : arena_printf(reading->arena, "'%c'", *sign),
                      key->value);
  return text_readable(key->value, reading->arena);
}

// Two options must have different labels and ids, or they could not be distinguished; the same
// holds for cases. `kind` is "options" or "cases".
static void check_label(struct reading *reading, const char *kind,
                        const struct ini_section *section, const char *label, const char *other_id,
                        const char *other_label) {
  const bool by_label = !strcmp(other_label, label) || !strcmp(other_id, label);
  if (by_label || !strcmp(other_label, section->argument))
    diagnostics_error(reading->diagnostics, section->place,
                      "%s '%s' and '%s' are both labeled '%s': give each its own label", kind,
                      other_id, section->argument, by_label ? label : section->argument);
}

// An id or a label of the options or cases so far, in lower case.
struct taken {
  const char *name;
  UT_hash_handle hh;
};

// Whether the name is new; it is then taken.
static bool take(struct taken **taken, const char *name, struct arena *arena) {
  char *lower = arena_copy(arena, name);
  for (char *c = lower; *c; c++)
    *c = (char)tolower((unsigned char)*c);
  struct taken *entry;
  HASH_FIND_STR(*taken, lower, entry);
  if (entry)
    return false;
  entry = arena_alloc(arena, sizeof *entry);
  entry->name = lower;
  HASH_ADD_KEYPTR(hh, *taken, entry->name, strlen(entry->name), entry);
  return true;
}

// Takes a section's id and label. Whether both are new: then none before need be compared with it.
static bool take_both(struct taken **taken, const struct ini_section *section, const char *label,
                      struct arena *arena) {
  const bool is_new = take(taken, section->argument, arena);
  return (!strcasecmp(label, section->argument) || take(taken, label, arena)) && is_new;
}

static void add_option(struct reading *reading, const struct ini_section *section,
                       struct taken **taken) {
  struct scenario *scenario = reading->scenario;
  const char *label = label_of(reading, section, "\"");
  const bool is_new = take_both(taken, section, label, reading->arena);
  for (size_t o = 0; o < scenario->option_count && !is_new; o++)
    check_label(reading, "options", section, label, scenario->options[o].id,
                scenario->options[o].label);
  for (size_t o = 0; o < scenario->option_count && !is_new; o++)
    if (!strcasecmp(scenario->options[o].id, section->argument))
      diagnostics_error(reading->diagnostics, section->place,
                        "options '%s' and '%s' differ only in case", scenario->options[o].id,
                        section->argument);
  scenario->options[scenario->option_count++] =
      (struct option){.id = section->argument, .label = label, .place = section->place};
}

// A workbook looks cases up by their labels: * ? ~ would be wildcards there, and | separates the
// names in a list.
static void add_case(struct reading *reading, const struct ini_section *section, const char **cases,
                     const char **labels, struct taken **taken) {
  struct scenario *scenario = reading->scenario;
  const char *label = label_of(reading, section, "\"*?~|");
  const bool is_new = take_both(taken, section, label, reading->arena);
  for (size_t c = 0; c < scenario->case_count && !is_new; c++)
    check_label(reading, "cases", section, label, cases[c], labels[c]);
  cases[scenario->case_count] = section->argument;
  labels[scenario->case_count++] = label;
}

static void collect_options(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  size_t sections = reading->text->section_count;
  scenario->options = arena_array(reading->arena, sections + 1, sizeof *scenario->options);
  const char **cases = arena_array(reading->arena, sections + 1, sizeof *cases);
  const char **labels = arena_array(reading->arena, sections + 1, sizeof *labels);
  struct taken *options_taken = NULL, *cases_taken = NULL;
  labels[0] = cases[0] = "base";
  scenario->case_count = 1;
  take(&cases_taken, cases[0], reading->arena);
  for (size_t i = 0; i < sections; i++) {
    const struct ini_section *section = &reading->text->sections[i];
    bool option = !strcmp(section->kind, "option"), a_case = !strcmp(section->kind, "case");
    if ((!option && !a_case) || !*section->argument || !legal_id(reading, section))
      continue;
    if (option)
      add_option(reading, section, &options_taken);
    else
      add_case(reading, section, cases, labels, &cases_taken);
  }
  scenario->cases = cases;
  scenario->case_labels = labels;
  if (!scenario->option_count)
    diagnostics_error(reading->diagnostics, (struct place){.source = scenario->source},
                      "there is no [option ID] to cost");
}

void sections_read(struct reading *reading) {
  for (size_t i = 0; i < reading->text->section_count; i++)
    check_section(reading, &reading->text->sections[i]);
  collect_options(reading);
  collect_questions(reading);
}

struct prefixed reading_prefixed(const struct reading *reading, const char *key) {
  const char *point = strchr(key, '.');
  if (!point)
    return (struct prefixed){NULL, -1, key};
  const char *id = arena_copy_n(reading->arena, key, (size_t)(point - key));
  return (struct prefixed){id, scenario_option(reading->scenario, id), point + 1};
}

int reading_case(const struct reading *reading, const char *name) {
  const struct scenario *scenario = reading->scenario;
  for (size_t c = 0; c < scenario->case_count; c++)
    if (!strcmp(scenario->cases[c], name) || !strcmp(scenario->case_labels[c], name))
      return (int)c;
  return -1;
}
