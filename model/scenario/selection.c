#include "model/scenario/selection.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "model/cost/units.h"

#include <string.h>

static const char *const selection_names[] = {"accelerator", "price", "evidence", "record",
                                              "projection"};

const char *selection_key_name(int key) {
  return key < SELECT_WORKLOAD ? selection_names[key] : workload_key_names[key - SELECT_WORKLOAD];
}

int selection_key_find(const char *name) {
  for (int key = 0; key < SELECTION_KEYS; key++)
    if (!strcmp(selection_key_name(key), name))
      return key;
  return -1;
}

static const char *const precisions[] = {"bf16",  "fp16",  "fp8",  "fp4",  "mxfp8",
                                         "mxfp6", "mxfp4", "int8", "int4", "fp32"};
static const char *const bases[] = {"serving", "decode"};
static const char *const token_kinds[] = {"output", "total"};

static const char *const sparsities[] = {"dense", "sparse"};

static const struct vocabulary {
  enum workload_key key;
  const char *const *words;
  size_t count;
} vocabularies[] = {
    {WORKLOAD_PRECISION, precisions, sizeof precisions / sizeof precisions[0]},
    {WORKLOAD_ACTIVATIONS, precisions, sizeof precisions / sizeof precisions[0]},
    {WORKLOAD_KV, precisions, sizeof precisions / sizeof precisions[0]},
    {WORKLOAD_SPARSITY, sparsities, sizeof sparsities / sizeof sparsities[0]},
    {WORKLOAD_BASIS, bases, sizeof bases / sizeof bases[0]},
    {WORKLOAD_TOKENS, token_kinds, sizeof token_kinds / sizeof token_kinds[0]},
};

static const char *join(const char *const *words, size_t count, struct arena *arena) {
  const char *list = "";
  for (size_t i = 0; i < count; i++)
    list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", words[i]);
  return list;
}

struct taker {
  struct catalog *catalog;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static void check_word(const struct taker *taker, enum workload_key which,
                       const struct ini_key *key) {
  for (size_t v = 0; v < sizeof vocabularies / sizeof vocabularies[0]; v++) {
    const struct vocabulary *vocabulary = &vocabularies[v];
    if (vocabulary->key != which)
      continue;
    for (size_t i = 0; i < vocabulary->count; i++)
      if (!strcmp(vocabulary->words[i], key->value))
        return;
    diagnostics_error(taker->diagnostics, key->value_place, "unknown %s '%s': expected %s",
                      workload_key_names[which], key->value,
                      join(vocabulary->words, vocabulary->count, taker->arena));
  }
}

long selection_row(struct catalog *catalog, enum catalog_table which, const char *what,
                   const struct ini_key *key, struct arena *arena,
                   struct diagnostics *diagnostics) {
  const struct table *table = catalog_table(catalog, which);
  long row = table ? catalog_find(table, key->value) : -1;
  if (!table || row >= 0)
    return row;
  const char **ids = arena_array(arena, table->rows + 1, sizeof *ids);
  for (size_t i = 0; i < table->rows; i++)
    ids[i] = table_cell(table, i, "id");
  const char *nearest = nearest_name(key->value, ids, table->rows);
  if (nearest)
    diagnostics_error(diagnostics, key->value_place, "unknown %s '%s'; did you mean '%s'?", what,
                      key->value, nearest);
  else
    diagnostics_error(diagnostics, key->value_place, "unknown %s '%s'; see 'pertoken catalog %s'",
                      what, key->value, catalog_table_names[which]);
  return -1;
}

// Written alike whatever its unit was, so that equal rates are equal texts; "" after an error.
static void read_interactivity(const struct taker *taker, struct ini_key *key) {
  const char *text = key->value;
  struct unit unit;
  double rate;
  key->value = "";
  if (unit_parse("token/s", key->value_place, &unit, taker->arena, taker->diagnostics) ||
      quantity_parse(text, key->value_place, &unit, &rate, taker->diagnostics))
    return;
  if (rate <= 0)
    diagnostics_error(taker->diagnostics, key->value_place,
                      "interactivity must be above 0 token/s, not %s", text);
  else
    key->value = quantity_text(rate, &unit, taker->arena);
}

static void check_workload_value(const struct taker *taker, enum workload_key which,
                                 struct ini_key *key) {
  size_t digits = strspn(key->value, "0123456789");
  if (which == WORKLOAD_INTERACTIVITY)
    read_interactivity(taker, key);
  else if (which == WORKLOAD_MODEL)
    selection_row(taker->catalog, CATALOG_MODELS, "model", key, taker->arena, taker->diagnostics);
  else if (which == WORKLOAD_BATCH || which == WORKLOAD_CONTEXT) {
    if (!digits || key->value[digits] || digits > 9 || !strspn(key->value, "123456789"))
      diagnostics_error(taker->diagnostics, key->value_place,
                        "expected a positive whole number, not '%s'", key->value);
  } else
    check_word(taker, which, key);
}

bool selection_take(struct selections *selections, bool of_option, const char *name,
                    const struct ini_key *key, struct catalog *catalog, struct arena *arena,
                    struct diagnostics *diagnostics) {
  const struct taker taker = {catalog, arena, diagnostics};
  const int which = selection_key_find(name);
  if (which < 0 || (!of_option && which < SELECT_WORKLOAD))
    return false;
  struct ini_key *selection = &selections->keys[which];
  *selection = *key;
  if (which >= SELECT_WORKLOAD)
    check_workload_value(&taker, (enum workload_key)(which - SELECT_WORKLOAD), selection);
  return true;
}

const struct ini_key *selection_of(const struct selections *selections, int key) {
  const struct ini_key *selection = &selections->keys[key];
  const bool optional = key >= SELECT_PRICE && key < SELECT_WORKLOAD;
  return selection->name && !(optional && !*selection->value) ? selection : NULL;
}
