#include "model/evidence/naming.h"

#include "base/csv.h"
#include "base/diagnostics.h"
#include "model/catalog/columns.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_NAMED = 6, MIN_OF_A_NAME = 2 };

static char plain(char c) {
  return (char)(c == ' ' || c == '_' ? '-' : tolower((unsigned char)c));
}

static bool is_start_of(const char *start, const char *word) {
  while (*start && plain(*start) == plain(*word)) {
    start++;
    word++;
  }
  return !*start;
}

static bool is_same(const char *a, const char *b) {
  return strlen(a) == strlen(b) && is_start_of(a, b);
}

// 'h20' begins 'h200-sxm-141', but is another part: its number ends there.
static bool ends_inside_number(const char *start, const char *word) {
  const size_t length = strlen(start);
  return length && isdigit((unsigned char)start[length - 1]) &&
         isdigit((unsigned char)word[length]);
}

// Whether the typed name's number differs from the word's but has as many digits.
static bool has_another_number(const struct vocabulary *vocabulary, const char *typed,
                               const char *word) {
  static const char digits[] = "0123456789";
  typed += strcspn(typed, digits);
  word += strcspn(word, digits);
  const size_t length = strspn(typed, digits);
  return vocabulary->numbered && length == strspn(word, digits) &&
         strncmp(typed, word, length) != 0;
}

static const char *word_like(const struct vocabulary *vocabulary, const char *typed) {
  for (size_t i = 0; i < vocabulary->count; i++)
    if (is_same(typed, vocabulary->words[i]))
      return vocabulary->words[i];
  return NULL;
}

// An older catalogue lacks this table.
static const struct table *aliases_of(struct catalog *catalog,
                                      const struct vocabulary *vocabulary) {
  return vocabulary->column ? catalog_glance(catalog, CATALOG_ALIASES) : NULL;
}

// The word that a row's alias stands for, if this vocabulary has it.
static const char *meaning(const struct table *aliases, size_t row,
                           const struct vocabulary *vocabulary) {
  return word_like(vocabulary, table_cell(aliases, row, vocabulary->column));
}

static const char *words_beginning(const struct vocabulary *vocabulary, const char *typed,
                                   size_t *count, struct arena *arena) {
  const char *list = "";
  *count = 0;
  for (size_t i = 0; i < vocabulary->count && strlen(typed) >= MIN_OF_A_NAME; i++)
    if (is_start_of(typed, vocabulary->words[i]) &&
        !ends_inside_number(typed, vocabulary->words[i]) && ++*count <= MAX_NAMED)
      list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "", vocabulary->words[i]);
  return *count > MAX_NAMED ? arena_printf(arena, "%s, ...", list) : list;
}

// The nearest word, directly or through an alias.
static const char *nearest_word(const struct table *aliases, const struct vocabulary *vocabulary,
                                const char *typed, struct arena *arena) {
  const size_t rows = aliases ? aliases->rows : 0;
  const char **names = arena_array(arena, vocabulary->count + rows, sizeof *names);
  size_t count = 0;
  for (size_t i = 0; i < vocabulary->count; i++)
    if (!has_another_number(vocabulary, typed, vocabulary->words[i]))
      names[count++] = vocabulary->words[i];
  for (size_t row = 0; row < rows; row++)
    if (meaning(aliases, row, vocabulary) &&
        !has_another_number(vocabulary, typed, table_cell(aliases, row, "id")))
      names[count++] = table_cell(aliases, row, "id");
  const char *nearest = nearest_name(typed, names, count);
  const long row = nearest && aliases ? catalog_find(aliases, nearest) : -1;
  return row < 0 ? nearest : meaning(aliases, (size_t)row, vocabulary);
}

static const char *all_words(const struct vocabulary *vocabulary, struct arena *arena) {
  const char *list = "";
  for (size_t i = 0; i < vocabulary->count; i++)
    list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", vocabulary->words[i]);
  return list;
}

static const char *why_not(const struct table *aliases, const struct vocabulary *vocabulary,
                           const char *typed, struct arena *arena) {
  size_t count;
  const char *list = words_beginning(vocabulary, typed, &count, arena);
  const char *unknown = arena_printf(arena, "unknown %s '%s'", vocabulary->what, typed);
  if (count > 1)
    return arena_printf(arena, "'%s' matches more than one %s: %s; choose one", typed,
                        vocabulary->what, list);
  const char *nearest = count ? list : nearest_word(aliases, vocabulary, typed, arena);
  if (nearest)
    return arena_printf(arena, "%s%s", unknown, did_you_mean(nearest, arena));
  return vocabulary->see
             ? arena_printf(arena, "%s; %s", unknown, vocabulary->see)
             : arena_printf(arena, "%s: expected %s", unknown, all_words(vocabulary, arena));
}

struct naming naming_find(struct catalog *catalog, const struct vocabulary *vocabulary,
                          const char *typed, struct arena *arena) {
  const struct table *aliases = aliases_of(catalog, vocabulary);
  struct naming naming = {.word = word_like(vocabulary, typed)};
  for (size_t row = 0; aliases && row < aliases->rows && !naming.word; row++) {
    if (!is_same(typed, table_cell(aliases, row, "id")))
      continue;
    const char *says = table_cell(aliases, row, "says");
    naming.word = meaning(aliases, row, vocabulary);
    if (naming.word && *says)
      naming.note = arena_printf(arena, "'%s' is read as %s: %s", typed, naming.word, says);
  }
  if (!naming.word)
    naming.why = why_not(aliases, vocabulary, typed, arena);
  return naming;
}

struct naming naming_find_row(struct catalog *catalog, enum catalog_table which, const char *typed,
                              long *row, struct arena *arena) {
  const struct table *table = catalog_table(catalog, which);
  *row = table ? catalog_find(table, typed) : -1;
  if (!table)
    return (struct naming){0};
  if (*row >= 0)
    return (struct naming){.word = table_cell(table, (size_t)*row, "id")};
  const char **ids = arena_array(arena, table->rows + 1, sizeof *ids);
  for (size_t i = 0; i < table->rows; i++)
    ids[i] = table_cell(table, i, "id");
  const bool is_model = which == CATALOG_MODELS;
  const char *what = is_model ? "model" : "accelerator";
  const char *see = arena_printf(arena, "see 'pertoken catalog %s'", catalog_table_names[which]);
  const struct vocabulary vocabulary = {what, what, ids, table->rows, see, !is_model};
  const struct naming naming = naming_find(catalog, &vocabulary, typed, arena);
  *row = naming.word ? catalog_find(table, naming.word) : -1;
  return naming;
}

const char *const naming_precisions[NAMING_PRECISIONS] = {"bf16",  "fp16",  "fp8",  "fp4",  "mxfp8",
                                                          "mxfp6", "mxfp4", "int8", "int4", "fp32"};

struct naming naming_find_precision(struct catalog *catalog, const char *typed,
                                    struct arena *arena) {
  const struct vocabulary precisions = {"precision",       "precision", naming_precisions,
                                        NAMING_PRECISIONS, NULL,        false};
  return naming_find(catalog, &precisions, typed, arena);
}
