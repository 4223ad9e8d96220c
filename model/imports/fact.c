#include "model/imports/fact.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/digits.h"
#include "model/catalog/columns.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const fact_options[IMPORT_FACTS] = {[FACT_ACCELERATOR] = "--accelerator",
                                                [FACT_ACCELERATORS] = "--accelerators",
                                                [FACT_PRECISION] = "--precision",
                                                [FACT_MODEL] = "--model",
                                                [FACT_DATE] = "--date"};

const char *fact_said_by(const struct imported *imported, enum import_fact fact,
                         struct arena *arena) {
  switch (fact) {
  case FACT_ACCELERATOR: return imported->hardware;
  case FACT_ACCELERATORS:
    return imported->accelerators ? arena_printf(arena, "%d", imported->accelerators) : "";
  case FACT_PRECISION: return imported->precision;
  case FACT_MODEL: return imported->model;
  default: return imported->date;
  }
}

static struct naming accelerator_named(const char *text, struct catalog *catalog,
                                       struct arena *arena) {
  long row;
  const struct table *table = catalog_table(catalog, CATALOG_ACCELERATORS);
  char *spaced = arena_copy(arena, text);
  for (char *at = spaced; *at; at++)
    *at = *at == '-' ? ' ' : *at;
  row = table ? catalog_device(table, text) : -1;
  if (table && row < 0)
    row = catalog_device(table, spaced); // Kubernetes' labels
  if (row >= 0)
    return (struct naming){.word = table_cell(table, (size_t)row, "id")};
  if (!strcasecmp(text, "cpu"))
    return (struct naming){.word = "cpu"};
  return naming_find_row(catalog, CATALOG_ACCELERATORS, text, &row, arena);
}

// "Qwen/Qwen3-8B", or Hugging Face's folder for it: ".../models--Qwen--Qwen3-8B/snapshots/...".
static struct naming model_named(const char *text, struct catalog *catalog, struct arena *arena) {
  static const char cached[] = "models--";
  const char *folder = strstr(text, cached), *slash = strrchr(text, '/');
  const char *name = slash && !folder ? slash + 1 : text;
  long row;
  if (folder) {
    const char *owner_end = strstr(folder + strlen(cached), "--");
    name = owner_end ? arena_copy_n(arena, owner_end + 2, strcspn(owner_end + 2, "/")) : text;
  }
  return naming_find_row(catalog, CATALOG_MODELS, name, &row, arena);
}

static struct naming precision_named(const char *text, struct catalog *catalog,
                                     struct arena *arena) {
  static const struct {
    const char *dtype, *word;
  } dtypes[] = {{"bfloat16", "bf16"}, {"float16", "fp16"}, {"float32", "fp32"},
                {"F16", "fp16"},      {"all F32", "fp32"}, {"MXFP4 MoE", "mxfp4"},
                {"Q8_0", "int8"},     {"Q4_0", "int4"}};
  for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++)
    if (!strcmp(text, dtypes[i].dtype))
      return (struct naming){.word = dtypes[i].word};
  return naming_find_precision(catalog, text, arena);
}

static struct naming count_named(const char *text, struct catalog *catalog, struct arena *arena) {
  (void)catalog;
  uint64_t count;
  if (is_whole_number(text, 1, 1000000, &count))
    return (struct naming){.word = arena_printf(arena, "%d", (int)count)};
  return (struct naming){
      .why = arena_printf(arena, "expected a number of accelerators above 0, found '%s'",
                          !strcmp(text, "-1") ? "0" : text)};
}

static struct naming day_named(const char *text, struct catalog *catalog, struct arena *arena) {
  (void)catalog;
  const char *day = strlen(text) == strlen("2026-11-21") ? day_of(text, arena) : "";
  if (*day)
    return (struct naming){.word = day};
  return (struct naming){
      .why = arena_printf(arena, "expected a day such as 2026-11-21, found '%s'", text)};
}

static struct naming (*const named[IMPORT_FACTS])(const char *, struct catalog *,
                                                  struct arena *) = {
    accelerator_named, count_named, precision_named, model_named, day_named};

struct naming fact_named(enum import_fact fact, const char *text, struct catalog *catalog,
                         struct arena *arena) {
  return named[fact](text, catalog, arena);
}

// Whether a word of the text, letters and digits, equals the `length` characters of `word`.
static bool has_word(const char *text, const char *word, size_t length) {
  for (const char *at = text; *at;) {
    size_t size = 0;
    while (isalnum((unsigned char)at[size]))
      size++;
    if (size == length && !strncasecmp(at, word, length))
      return true;
    at += size ? size : 1;
  }
  return false;
}

// "h200" for h200-sxm-141.
static bool names_family(const char *text, const char *id) {
  return has_word(text, id, strcspn(id, "-"));
}

// "b200-trt" is not an h200, whatever else it is.
static bool is_other_accelerator(struct catalog *catalog, const char *text, const char *id) {
  const struct table *table = catalog_table(catalog, CATALOG_ACCELERATORS);
  for (size_t row = 0; table && !names_family(text, id) && row < table->rows; row++)
    if (names_family(text, table_cell(table, row, "id")))
      return true;
  return false;
}

// The billions of parameters in a name: 397 for "Qwen3.5-397B-A17B"; NAN for none.
static double size_said(const char *name) {
  for (const char *at = name; *at; at++) {
    char *end;
    if (!isdigit((unsigned char)*at) ||
        (at > name && (isalnum((unsigned char)at[-1]) || at[-1] == '.')))
      continue;
    const double size = strtod(at, &end);
    if ((*end == 'b' || *end == 'B') && !isalnum((unsigned char)end[1]))
      return size;
  }
  return NAN;
}

// Names round: Qwen2.5 7B has 7.6 billion parameters.
static const double SIZE_ROUNDED = 0.1;

// A name that states another size than the id or, if the id states none, than the parameters.
static bool is_other_model(struct catalog *catalog, const char *text, const char *id) {
  const struct table *table = catalog_table(catalog, CATALOG_MODELS);
  const double said = size_said(text), said_by_id = size_said(id);
  const long row = table ? catalog_find(table, id) : -1;
  if (!isnan(said_by_id) || row < 0)
    return fabs(said - said_by_id) > 0;
  const double size = table_number_or(table, (size_t)row, "params_b", NAN);
  return fabs(said - size) > SIZE_ROUNDED * size;
}

bool fact_is_another(enum import_fact fact, const char *text, const char *word,
                     struct catalog *catalog) {
  return (fact == FACT_ACCELERATOR && is_other_accelerator(catalog, text, word)) ||
         (fact == FACT_MODEL && is_other_model(catalog, text, word));
}

bool fact_is_other_model(const char *text, const char *model, struct catalog *catalog,
                         struct arena *arena) {
  const struct naming naming = model_named(text, catalog, arena);
  return naming.word ? strcmp(naming.word, model) != 0 : is_other_model(catalog, text, model);
}
