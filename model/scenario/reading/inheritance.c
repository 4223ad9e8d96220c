#include "model/scenario/reading/inheritance.h"

#include "model/scenario/figure.h"
#include "model/scenario/selection.h"

#include <ctype.h>
#include <string.h>

struct merging {
  struct ini_section *sections; // [section_count]: the inherited ones first
  size_t inherited, section_count;
  bool (*is_common)(const char *kind);
  struct arena *arena;
};

// The key of a section whose provenance stands under plain names: "source", not "formula.source".
static const struct {
  const char *kind, *key;
} plain_provenance[] = {{"item", "formula"}, {"claim", "says"}};

static struct ini_key *find_key(struct ini_section *section, const char *name) {
  for (size_t k = 0; k < section->key_count; k++)
    if (!strcmp(section->keys[k].name, name))
      return &section->keys[k];
  return NULL;
}

static void drop_key(struct ini_section *section, const char *name) {
  struct ini_key *key = find_key(section, name);
  if (!key)
    return;
  struct ini_key *last = &section->keys[--section->key_count];
  memmove(key, key + 1, (size_t)(last - key) * sizeof *key);
}

static const char *provenance_of(const char *kind, const char *key, const char *attribute,
                                 struct arena *arena) {
  for (size_t i = 0; i < sizeof plain_provenance / sizeof plain_provenance[0]; i++)
    if (!strcmp(kind, plain_provenance[i].kind))
      return !strcmp(key, plain_provenance[i].key) ? attribute : "";
  return arena_printf(arena, "%s.%s", key, attribute);
}

// The source, date and quote of an inherited statement do not vouch for the one that replaces it.
static void drop_provenance(struct ini_section *section, const char *key, struct arena *arena) {
  for (size_t a = 0; a < FIGURE_ATTRIBUTES; a++)
    drop_key(section, provenance_of(section->kind, key, figure_attributes[a], arena));
}

// Drops an inherited source, date and quote where the file states another source or quote, with
// which the inherited ones do not go. `key`: "list_price.source".
static void drop_other_provenance(struct ini_section *section, const char *key,
                                  struct arena *arena) {
  const char *point = strrchr(key, '.');
  const char *name = point ? point + 1 : key;
  if (strcmp(name, "source") != 0 && strcmp(name, "quote") != 0)
    return;
  const char *stem = arena_copy_n(arena, key, (size_t)(name - key));
  for (size_t a = 0; a < FIGURE_ATTRIBUTES; a++)
    drop_key(section, arena_printf(arena, "%s%s", stem, figure_attributes[a]));
}

// The other name under which the same input may be stated: of an amount the one in USD.
static const char *twin_of(const char *key, struct arena *arena) {
  static const char usd[] = "_usd";
  static const char *const grids[2] = {"grid", "grid_intensity"};
  const char *point = strrchr(key, '.');
  const char *name = point ? point + 1 : key;
  const int before = (int)(name - key);
  for (size_t i = 0; i < 2; i++)
    if (!strcmp(name, grids[i]))
      return arena_printf(arena, "%.*s%s", before, key, grids[1 - i]);
  const size_t length = strlen(key), ending = sizeof usd - 1;
  return length > ending && !strcmp(key + length - ending, usd)
             ? arena_copy_n(arena, key, length - ending)
             : arena_printf(arena, "%s%s", key, usd);
}

// Whether `rest` ends an input's name or that of its source, after a number or without one. The
// user's items have names of their own: "engineers_scale_out_1".
static bool ends_name(const char *rest, bool numbered) {
  const size_t digits = strspn(rest, "0123456789");
  return (digits > 0) == numbered && (!rest[digits] || rest[digits] == '.');
}

// The inputs that one key states together: "NAME_year_2", "NAME_step_2" and "NAME_scale" of a list,
// "discount_tier_2" of a discount's volume tiers.
static bool is_part_of(const char *name, const char *key, struct arena *arena) {
  static const struct {
    const char *ending;
    bool numbered;
  } parts[] = {
      {"_year_", true}, {"_step_", true}, {"_scale", false}, {"_tier_", true}, {"_from_", true}};
  const size_t length = strlen(key), profile = sizeof "day_profile" - 1;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    const size_t ending = strlen(parts[i].ending);
    if (!strncmp(name, key, length) && !strncmp(name + length, parts[i].ending, ending) &&
        ends_name(name + length + ending, parts[i].numbered))
      return true;
  }
  if (length < profile || strcmp(key + length - profile, "day_profile") != 0)
    return false;
  const char *shares = arena_printf(arena, "%.*sday_share_", (int)(length - profile), key);
  return !strncmp(name, shares, strlen(shares)) && ends_name(name + strlen(shares), true);
}

// Drops what ancestors state about parts of the input: it goes with what they state about the
// whole, which the file replaces.
static void drop_parts(struct ini_section *section, const char *key, struct arena *arena) {
  static const char *const kinds[] = {"common", "workload", "option", "case"};
  bool states_inputs = false;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    states_inputs |= !strcmp(section->kind, kinds[i]);
  for (size_t k = states_inputs ? section->key_count : 0; k-- > 0;)
    if (is_part_of(section->keys[k].name, key, arena))
      drop_key(section, section->keys[k].name);
}

// Takes back an inherited key. A range or a correlation keeps its place, which decides what is
// drawn.
static void retract(struct ini_section *section, const char *key, struct arena *arena) {
  const char *twin = twin_of(key, arena);
  drop_provenance(section, key, arena);
  drop_provenance(section, twin, arena);
  drop_other_provenance(section, key, arena);
  drop_parts(section, key, arena);
  drop_parts(section, twin, arena);
  drop_key(section, twin);
  if (strcmp(section->kind, "range") != 0 && strcmp(section->kind, "correlate") != 0)
    drop_key(section, key);
}

// Whether the key states a number of the item's formula: "insurance_1", "h200.insurance_1" or
// "insurance_1.source" for the item "insurance".
static bool is_number_of(const char *key, const char *item) {
  const size_t length = strlen(item);
  for (const char *at = key; at; at = strchr(at, '.')) {
    at += *at == '.';
    if (!strncmp(at, item, length) && at[length] == '_' && isdigit((unsigned char)at[length + 1]))
      return true;
  }
  return false;
}

// Drops what ancestors state about the numbers in an item's formula: it is about their formula,
// which the file replaces.
static void drop_numbers(const struct merging *merging, const struct ini_section *item) {
  if (strcmp(item->kind, "item") != 0 || !ini_find(item, "formula"))
    return;
  for (size_t i = 0; i < merging->inherited; i++) {
    struct ini_section *section = &merging->sections[i];
    for (size_t k = section->key_count; k-- > 0;)
      if (is_number_of(section->keys[k].name, item->argument))
        drop_key(section, section->keys[k].name);
  }
}

// Drops the inherited prices of a section in which the file names a row of prices: the row gives
// all of them.
static void drop_prices(struct ini_section *section, const struct ini_key *key,
                        struct arena *arena) {
  const bool names_row = !strcmp(key->name, selection_key_name(SELECT_API)) && *key->value;
  for (size_t i = 0; i < SELECTION_API_PRICES && names_row; i++)
    retract(section, selection_api_prices[i], arena);
}

// ---- empty keys

static bool states(struct ini_section *section, const char *key, struct arena *arena) {
  bool found = find_key(section, key) || find_key(section, twin_of(key, arena));
  for (size_t k = 0; k < section->key_count && !found; k++)
    found = is_part_of(section->keys[k].name, key, arena);
  return found;
}

static bool is_same_place(const struct merging *merging, const struct ini_section *a,
                          const struct ini_section *b) {
  return (!strcmp(a->kind, b->kind) && !strcmp(a->argument, b->argument)) ||
         (merging->is_common(a->kind) && merging->is_common(b->kind));
}

// Whether an empty key says that a number beside it comes from no row, whatever is inherited.
static bool gives_way(const struct ini_section *from, const struct ini_key *empty) {
  bool found = false;
  for (size_t k = 0; k < from->key_count && !found; k++)
    found = *from->keys[k].value &&
            selection_may_give(selection_key_find(empty->name), from->keys[k].name);
  return found;
}

static bool takes_back(const struct merging *merging, const struct ini_section *from,
                       const struct ini_key *key) {
  if (*key->value)
    return false;
  bool found = merging->inherited && gives_way(from, key);
  for (size_t i = 0; i < merging->inherited && !found; i++)
    found = is_same_place(merging, &merging->sections[i], from) &&
            states(&merging->sections[i], key->name, merging->arena);
  return found;
}

// Finds which keys of a file's sections take back what is inherited.
static bool **find_taken_back(const struct merging *merging, const struct ini *ini) {
  bool **taken_back = arena_array(merging->arena, ini->section_count, sizeof *taken_back);
  for (size_t i = 0; i < ini->section_count; i++) {
    const struct ini_section *from = &ini->sections[i];
    taken_back[i] = arena_array(merging->arena, from->key_count, sizeof **taken_back);
    for (size_t k = 0; k < from->key_count; k++)
      taken_back[i][k] = takes_back(merging, from, &from->keys[k]);
  }
  return taken_back;
}

// ---- a file over those it inherits

// A key of a common section replaces the inherited one, whichever common section that is in.
static void drop_inherited(const struct merging *merging, const struct ini_section *from) {
  if (!merging->is_common(from->kind))
    return;
  for (size_t i = 0; i < merging->inherited; i++) {
    struct ini_section *section = &merging->sections[i];
    if (!merging->is_common(section->kind) || !strcmp(section->kind, from->kind))
      continue;
    for (size_t k = 0; k < from->key_count; k++)
      retract(section, from->keys[k].name, merging->arena);
  }
}

// The inherited section that is the same as this one, or NULL. Within a file no section repeats
// another.
static struct ini_section *find_inherited(const struct merging *merging,
                                          const struct ini_section *like) {
  struct ini_section *sections = merging->sections;
  for (size_t i = 0; i < merging->inherited; i++)
    if (!strcmp(sections[i].kind, like->kind) && !strcmp(sections[i].argument, like->argument))
      return &sections[i];
  return NULL;
}

static struct ini_section *add_section(struct merging *merging, const struct ini_section *from) {
  merging->sections = arena_room(merging->arena, merging->sections, merging->section_count,
                                 sizeof *merging->sections);
  merging->sections[merging->section_count] = *from;
  return &merging->sections[merging->section_count++];
}

static void restate(struct ini_section *into, const struct ini_section *from, struct arena *arena) {
  into->place = from->place;
  for (size_t k = 0; k < from->key_count; k++) {
    retract(into, from->keys[k].name, arena);
    drop_prices(into, &from->keys[k], arena);
  }
  into->keys = arena_grow(arena, into->keys, into->key_count, into->key_count + from->key_count,
                          sizeof *into->keys);
  for (size_t k = 0; k < from->key_count; k++) {
    struct ini_key *key = find_key(into, from->keys[k].name);
    if (!key)
      key = &into->keys[into->key_count++];
    *key = from->keys[k];
  }
}

// The last first: an added section shares its keys with the file's, and those behind one that is
// dropped move up.
static void merge_section(struct merging *merging, const struct ini_section *from,
                          const bool *taken_back) {
  struct ini_section *into = find_inherited(merging, from);
  if (into)
    restate(into, from, merging->arena);
  else
    into = add_section(merging, from);
  for (size_t k = from->key_count; k-- > 0;)
    if (taken_back[k])
      drop_key(into, from->keys[k].name);
}

// The keys that take something back are found before anything is dropped.
void inheritance_merge(struct ini_section **sections, size_t *count, const struct ini *file,
                       bool (*is_common)(const char *kind), struct arena *arena) {
  struct merging merging = {*sections, *count, *count, is_common, arena};
  bool **taken_back = find_taken_back(&merging, file);
  for (size_t i = 0; i < file->section_count; i++) {
    drop_inherited(&merging, &file->sections[i]);
    drop_numbers(&merging, &file->sections[i]);
  }
  for (size_t i = 0; i < file->section_count; i++)
    merge_section(&merging, &file->sections[i], taken_back[i]);
  *sections = merging.sections;
  *count = merging.section_count;
}
