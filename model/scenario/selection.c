#include "model/scenario/selection.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "model/catalog/columns.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/naming.h"

#include <string.h>
#include <strings.h>

static const char *const selection_names[] = {
    "accelerator", "price",      "evidence", "evidence_spread", "record",
    "projection",  "production", "api",      "power_limit",     "tokens_of"};

const char *selection_key_name(int key) {
  return key < SELECT_WORKLOAD ? selection_names[key] : workload_key_names[key - SELECT_WORKLOAD];
}

int selection_key_find(const char *name) {
  for (int key = 0; key < SELECTION_KEYS; key++)
    if (!strcmp(selection_key_name(key), name))
      return key;
  return -1;
}

static const char *const bases[] = {"serving", "decode"};
static const char *const token_kinds[] = {"output", "total"};
static const char *const sparsities[] = {"dense", "sparse"};

static const struct {
  const char *const *words;
  size_t count;
  const char *aliases; // their column of aliases, or NULL
} vocabularies[WORKLOAD_KEYS] = {
    [WORKLOAD_PRECISION] = {naming_precisions, NAMING_PRECISIONS, "precision"},
    [WORKLOAD_ACTIVATIONS] = {naming_precisions, NAMING_PRECISIONS, "precision"},
    [WORKLOAD_KV] = {naming_precisions, NAMING_PRECISIONS, "precision"},
    [WORKLOAD_HEAD] = {naming_precisions, NAMING_PRECISIONS, "precision"},
    [WORKLOAD_SPARSITY] = {sparsities, sizeof sparsities / sizeof sparsities[0], NULL},
    [WORKLOAD_BASIS] = {bases, sizeof bases / sizeof bases[0], NULL},
    [WORKLOAD_TOKENS] = {token_kinds, sizeof token_kinds / sizeof token_kinds[0], NULL},
};

struct taker {
  struct catalog *catalog;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// Replaces the value with the word that it means.
static void settle_name(const struct taker *taker, struct naming naming, struct ini_key *key,
                        const char **note) {
  if (naming.why)
    diagnostics_error(taker->diagnostics, key->value_place, "%s", naming.why);
  if (!naming.word)
    return;
  key->value = naming.word;
  *note = naming.note;
}

static void read_model(const struct taker *taker, struct ini_key *key, const char **note) {
  long row;
  settle_name(taker,
              naming_find_row(taker->catalog, CATALOG_MODELS, key->value, &row, taker->arena), key,
              note);
}

static void read_word(const struct taker *taker, enum workload_key which, struct ini_key *key,
                      const char **note) {
  const struct vocabulary vocabulary = {workload_key_names[which],
                                        vocabularies[which].aliases,
                                        vocabularies[which].words,
                                        vocabularies[which].count,
                                        NULL,
                                        false};
  settle_name(taker, naming_find(taker->catalog, &vocabulary, key->value, taker->arena), key, note);
}

static bool is_among(const char *word, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(words[i], word))
      return true;
  return false;
}

// "Server" or "MTP" in the spelling of the table of throughputs; any other word is left as it is,
// as records may have one of their own.
static void read_open_word(const struct taker *taker, enum workload_key which, struct ini_key *key,
                           const char **note) {
  const struct table *table = catalog_glance(taker->catalog, CATALOG_THROUGHPUT);
  const char **words = NULL;
  size_t count = 0;
  for (size_t row = 0; table && row < table->rows; row++) {
    const char *word = workload_row_value(table, row, which);
    if (!strcasecmp(word, key->value)) {
      key->value = word;
      return;
    }
    if (!*word || is_among(word, words, count))
      continue;
    words = arena_room(taker->arena, words, count, sizeof *words);
    words[count++] = word;
  }
  const char *nearest = nearest_name(key->value, words, count);
  if (nearest)
    *note = arena_printf(taker->arena, "no published throughput has %s '%s': is '%s' meant?",
                         workload_key_names[which], key->value, nearest);
}

// Rates and times per user, and the units in which they are written.
static const char *const per_user_units[WORKLOAD_KEYS] = {
    [WORKLOAD_INTERACTIVITY] = "token/s", [WORKLOAD_TTFT] = "s", [WORKLOAD_TPOT] = "ms"};

// Written the same way in any unit, so that equal rates are equal texts; "" after an error.
static void read_per_user(const struct taker *taker, enum workload_key which, struct ini_key *key) {
  const char *text = key->value;
  struct unit unit;
  double rate;
  key->value = "";
  if (unit_parse(per_user_units[which], key->value_place, &unit, taker->arena,
                 taker->diagnostics) ||
      quantity_parse(text, key->value_place, &unit, &rate, taker->diagnostics))
    return;
  if (rate <= 0)
    diagnostics_error(taker->diagnostics, key->value_place, "%s must be above 0 %s, not %s",
                      workload_key_names[which], per_user_units[which], text);
  else
    key->value = quantity_text(rate, &unit, taker->arena);
}

static void read_workload_value(const struct taker *taker, enum workload_key which,
                                struct ini_key *key, const char **note) {
  size_t digits = strspn(key->value, "0123456789");
  if (per_user_units[which])
    read_per_user(taker, which, key);
  else if (which == WORKLOAD_MODEL)
    read_model(taker, key, note);
  else if (which == WORKLOAD_BATCH || which == WORKLOAD_CONTEXT) {
    if (!digits || key->value[digits] || digits > 9 || !strspn(key->value, "123456789"))
      diagnostics_error(taker->diagnostics, key->value_place,
                        "expected a positive whole number, not '%s'", key->value);
  } else if (which == WORKLOAD_SPECULATION && !strcasecmp(key->value, "none"))
    key->value = "";
  else if (which == WORKLOAD_SCENARIO || which == WORKLOAD_SPECULATION)
    read_open_word(taker, which, key, note);
  else
    read_word(taker, which, key, note);
}

static int parse_watts(const struct ini_key *key, double *watts, struct arena *arena,
                       struct diagnostics *diagnostics) {
  return quantity_parse(key->value, key->value_place, unit_constant("W/gpu", arena), watts,
                        diagnostics);
}

static void check_watts(const struct taker *taker, const struct ini_key *key) {
  double watts = 0;
  if (!parse_watts(key, &watts, taker->arena, taker->diagnostics) && !(watts > 0))
    diagnostics_error(taker->diagnostics, key->value_place, "power_limit must be above 0 W, not %s",
                      key->value);
}

double selection_power_limit(const struct selections *selections, struct arena *arena) {
  const struct ini_key *key = selection_of(selections, SELECT_POWER_LIMIT);
  struct diagnostics quiet = {.arena = arena};
  double watts;
  return key && !parse_watts(key, &watts, arena, &quiet) ? watts : 0;
}

bool selection_take(struct selections *selections, enum origin origin, const char *name,
                    const struct ini_key *key, struct catalog *catalog, struct arena *arena,
                    struct diagnostics *diagnostics) {
  const struct taker taker = {catalog, arena, diagnostics};
  const int which = selection_key_find(name);
  if (which < 0 || (!origin_layers[origin].of_option && which < SELECT_WORKLOAD))
    return false;
  struct ini_key *selection = &selections->keys[which];
  *selection = *key;
  selections->notes[which] = NULL;
  selections->origins[which] = origin;
  if (which == SELECT_SPREAD && *key->value && strcmp(key->value, "yes") != 0 &&
      strcmp(key->value, "no") != 0)
    diagnostics_error(diagnostics, key->value_place, "expected yes or no, not '%s'", key->value);
  if (which == SELECT_POWER_LIMIT && *key->value)
    check_watts(&taker, key);
  if (which >= SELECT_WORKLOAD)
    read_workload_value(&taker, (enum workload_key)(which - SELECT_WORKLOAD), selection,
                        &selections->notes[which]);
  return true;
}

bool selection_is_optional(int key) {
  return key >= SELECT_PRICE && key < SELECT_WORKLOAD;
}

const struct ini_key *selection_of(const struct selections *selections, int key) {
  const struct ini_key *selection = &selections->keys[key];
  const bool is_said = selection->name && (*selection->value || !selection_is_optional(key));
  return is_said ? selection : NULL;
}

const char *const selection_api_prices[SELECTION_API_PRICES] = {"input_price", "cached_input_price",
                                                                "output_price"};

static const struct {
  int key;
  const char *input;
} givings[] = {
    {SELECT_PRICE, "list_price"},
    {SELECT_API, "input_price"},
    {SELECT_API, "output_price"},
    {SELECT_EVIDENCE, "throughput"},
    {SELECT_EVIDENCE, "decode_throughput"},
    {SELECT_RECORD, "throughput"},
    {SELECT_RECORD, "decode_throughput"},
    {SELECT_PROJECTION, "throughput"},
    {SELECT_PROJECTION, "decode_throughput"},
};

bool selection_may_give(int key, const char *input) {
  static const char *const of_price[] = {"rental_rate", "on_demand_rate"};
  for (size_t i = 0; i < sizeof of_price / sizeof of_price[0]; i++)
    if (key == SELECT_PRICE && !strcmp(of_price[i], input))
      return true;
  for (size_t i = 0; i < SELECTION_API_PRICES; i++)
    if (key == SELECT_API && !strcmp(selection_api_prices[i], input))
      return true;
  for (size_t i = 0; i < sizeof givings / sizeof givings[0]; i++)
    if (givings[i].key == key && !strcmp(givings[i].input, input))
      return true;
  return false;
}

int selection_giving(const struct selections *selections, const char *input) {
  for (size_t i = 0; i < sizeof givings / sizeof givings[0]; i++)
    if (!strcmp(givings[i].input, input) && selection_of(selections, givings[i].key))
      return givings[i].key;
  return -1;
}
