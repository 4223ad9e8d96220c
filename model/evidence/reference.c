#include "model/evidence/reference.h"

#include "base/statistics.h"
#include "model/catalog/columns.h"
#include "model/cost/quantity.h"
#include "model/evidence/date.h"
#include "model/evidence/fit.h"
#include "model/evidence/memory.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 8, MAX_PRICES = 64 };

static bool is(const struct table *table, size_t row, const char *column, const char *value) {
  return !strcmp(table_cell(table, row, column), value);
}

static bool has(const struct table *table, size_t row, const char *column, const char *part) {
  return strstr(table_cell(table, row, column), part);
}

const char *first_number(const char *text, double *value) {
  while (*text && !isdigit((unsigned char)*text))
    text++;
  const size_t length = number_prefix(text, value);
  if (!length)
    *value = NAN;
  return text + length;
}

double years_of(const char *text) {
  static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  struct date date;
  if (!date_parse(text, &date))
    return NAN;
  return date.year + (before[date.month - 1] + date.day - 1) / 365.25;
}

// A reference during its lookup: its words, "best", "b200-sxm-180", ...
struct reference {
  const struct references *in;
  struct place place;
  const char *words[MAX_WORDS];
  int count;
};

static double cell_number(const struct table *table, long row, const char *column) {
  return row < 0 ? (double)NAN : table_number_or(table, (size_t)row, column, NAN);
}

// The table of ID.COLUMN, its row (-1: none) and its column; NULL after an error.
static const struct table *find_cell(const struct reference *reference, enum catalog_table which,
                                     const char *text, long *row, const char **column) {
  const struct table *table = catalog_table(reference->in->catalog, which);
  const char *dot = strrchr(text, '.');
  if (!table)
    return NULL;
  if (!dot || table_column(table, dot + 1) < 0) {
    diagnostics_error(reference->in->diagnostics, reference->place,
                      dot ? "the table %s has no column '%s'" : "expected a column of %s in '%s'",
                      catalog_table_names[which], dot ? dot + 1 : text);
    return NULL;
  }
  *row = catalog_find(table, arena_copy_n(reference->in->arena, text, (size_t)(dot - text)));
  *column = dot + 1;
  return table;
}

static double accelerator_cell(const struct reference *reference) {
  long row;
  const char *column;
  const struct table *table =
      find_cell(reference, CATALOG_ACCELERATORS, reference->words[0], &row, &column);
  if (table && row >= 0 && !strcmp(column, "launch"))
    return years_of(table_cell(table, (size_t)row, column));
  return table ? cell_number(table, row, column) : (double)NAN;
}

static double throughput_cell(const struct reference *reference) {
  long row;
  const char *column;
  const struct table *table =
      find_cell(reference, CATALOG_THROUGHPUT, reference->words[1], &row, &column);
  return table ? cell_number(table, row, column) : (double)NAN;
}

// words: claim ID [as_of]
static double claim(const struct reference *reference) {
  const struct table *claims = reference->in->claims;
  for (size_t r = 0; r < claims->rows; r++) {
    if (!is(claims, r, "id", reference->words[1]))
      continue;
    if (reference->count == 3)
      return years_of(table_cell(claims, r, "as_of"));
    double value;
    first_number(table_cell(claims, r, "value"), &value);
    return value;
  }
  diagnostics_error(reference->in->diagnostics, reference->place,
                    "there is no claim '%s' in the table", reference->words[1]);
  return NAN;
}

// words: best|lowest|total ACCELERATOR MODEL SCENARIO PRECISION ROUND
static double benchmark(const struct reference *reference) {
  const struct table *table = catalog_table(reference->in->catalog, CATALOG_THROUGHPUT);
  const char *const *words = reference->words;
  const bool lowest = !strcmp(words[0], "lowest"), total = !strcmp(words[0], "total");
  double result = NAN, value;
  for (size_t r = 0; table && r < table->rows; r++) {
    const bool wanted = is(table, r, "accelerator", words[1]) && is(table, r, "model", words[2]) &&
                        is(table, r, "scenario", words[3]) && is(table, r, "precision", words[4]) &&
                        has(table, r, "source_title", words[5]) &&
                        has(table, r, "source_title", "MLPerf") &&
                        is(table, r, "token_basis", "output") && !*table_cell(table, r, "doubt");
    if (!wanted ||
        !table_number(table, r, total ? "tokens_per_s_total" : "tokens_per_s_per_gpu", &value))
      continue;
    if (isnan(result) || (lowest ? value < result : value > result))
      result = value;
  }
  return result;
}

static bool is_of_vendor(const struct references *references, const char *accelerator,
                         const char *vendor) {
  const struct table *table = catalog_table(references->catalog, CATALOG_ACCELERATORS);
  const long row = table ? catalog_find(table, accelerator) : -1;
  return row >= 0 && is(table, (size_t)row, "vendor", vendor);
}

// A submitter may be a pair, such as Dell_MangoBoost.
static double partners(const struct reference *reference) {
  const struct references *in = reference->in;
  const struct table *table = catalog_table(in->catalog, CATALOG_THROUGHPUT);
  const char *seen = ",AMD,";
  int count = 0;
  for (size_t r = 0; table && r < table->rows; r++) {
    if (!has(table, r, "source_title", reference->words[1]) ||
        !has(table, r, "source_title", "MLPerf") ||
        !is_of_vendor(in, table_cell(table, r, "accelerator"), "AMD"))
      continue;
    const char *name = table_cell(table, r, "submitter");
    while (*name) {
      const size_t length = strcspn(name, "_");
      const char *key = arena_printf(in->arena, ",%.*s,", (int)length, name);
      if (!strstr(seen, key)) {
        seen = arena_printf(in->arena, "%s%s", seen, key + 1);
        count++;
      }
      name += length + (name[length] == '_');
    }
  }
  return table ? (double)count : (double)NAN;
}

// The prices of an accelerator on a basis, ascending; from one provider, or (NULL) from all.
// Returns how many there are.
static size_t prices_of(const struct reference *reference, const char *basis, const char *provider,
                        double prices[MAX_PRICES]) {
  const struct table *table = catalog_table(reference->in->catalog, CATALOG_PRICES);
  size_t count = 0;
  for (size_t r = 0; table && r < table->rows && count < MAX_PRICES; r++)
    if (is(table, r, "accelerator", reference->words[1]) && !is(table, r, "kind", "seed_claim") &&
        is(table, r, "price_basis", basis) && (!provider || is(table, r, "provider", provider)) &&
        table_number(table, r, "usd_per_gpu_equivalent", &prices[count]))
      count++;
  sort_ascending(prices, count);
  return count;
}

static double rent(const struct reference *reference) {
  double prices[MAX_PRICES];
  return prices_of(reference, "on_demand", reference->words[2], prices) ? prices[0] : (double)NAN;
}

static double purchase(const struct reference *reference) {
  double prices[MAX_PRICES];
  const size_t count = prices_of(reference, "purchase", NULL, prices);
  return count ? quantile(prices, count, 0.5) : (double)NAN;
}

static double model_parameters(const struct reference *reference) {
  const struct table *table = catalog_table(reference->in->catalog, CATALOG_MODELS);
  return table ? cell_number(table, catalog_find(table, reference->words[1]), "published_params_b")
               : (double)NAN;
}

static double concurrency(const struct reference *reference) {
  const struct table *models = catalog_table(reference->in->catalog, CATALOG_MODELS);
  const struct table *parts = catalog_table(reference->in->catalog, CATALOG_ACCELERATORS);
  const long part = parts ? catalog_find(parts, reference->words[1]) : -1;
  const long model = models ? catalog_find(models, reference->words[2]) : -1;
  const char *precision = reference->words[3];
  const struct fit_terms terms = {.context = strtod(reference->words[4], NULL),
                                  .kv = MEMORY_KV,
                                  .memory_share = MEMORY_SHARE,
                                  .chunk = MEMORY_CHUNK};
  struct fit_device device;
  if (part < 0 || model < 0 || memory_bits(precision) <= 0 || terms.context <= 0 ||
      !fit_device_of(parts, (size_t)part, &device))
    return NAN;
  const struct memory_model shape = memory_model_of(models, (size_t)model);
  return fit_concurrency(&shape, precision, &device, atoi(reference->words[5]), &terms);
}

static const struct {
  const char *word;
  int least, most; // number of words, including this one
  double (*find)(const struct reference *reference);
} forms[] = {
    {"row", 2, 2, throughput_cell}, {"best", 6, 6, benchmark},
    {"lowest", 6, 6, benchmark},    {"total", 6, 6, benchmark},
    {"partners", 2, 2, partners},   {"rent", 3, 3, rent},
    {"purchase", 2, 2, purchase},   {"model", 2, 2, model_parameters},
    {"claim", 2, 3, claim},         {"concurrency", 6, 6, concurrency},
};

// Splits the text between the brackets into words.
static struct reference split(const struct references *references, const char *text,
                              struct place place) {
  struct reference reference = {.in = references, .place = place};
  const char *end = text + strlen(text) - 1;
  for (const char *at = text + 1; at < end;) {
    const size_t length = strcspn(at, " ]");
    if (length && reference.count < MAX_WORDS)
      reference.words[reference.count++] = arena_copy_n(references->arena, at, length);
    at += length + 1;
  }
  return reference;
}

double reference_value(const struct references *references, const char *text, struct place place) {
  const struct reference reference = split(references, text, place);
  if (reference.count == 1)
    return accelerator_cell(&reference);
  for (size_t i = 0; reference.count && i < sizeof forms / sizeof forms[0]; i++)
    if (!strcmp(reference.words[0], forms[i].word) && reference.count >= forms[i].least &&
        reference.count <= forms[i].most)
      return forms[i].find(&reference);
  diagnostics_error(references->diagnostics, place,
                    "'%s' is not a reference; data/README.md lists their forms", text);
  return NAN;
}

const char *reference_cell(const struct references *references, const char *text,
                           struct place place) {
  const struct reference reference =
      *text == '[' ? split(references, text, place) : (struct reference){.count = 0};
  long row;
  const char *column;
  if (reference.count != 1) {
    diagnostics_error(references->diagnostics, place,
                      "expected one [ACCELERATOR.COLUMN], found '%s'", text);
    return NULL;
  }
  const struct table *table =
      find_cell(&reference, CATALOG_ACCELERATORS, reference.words[0], &row, &column);
  return table && row >= 0 ? table_cell(table, (size_t)row, column) : NULL;
}
