#include "model/evidence/recompute.h"

#include "model/cost/arithmetic.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 8, PRICES_MOST = 64 };

struct checking {
  const struct table *claims;
  struct catalog *catalog;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static bool is(const struct table *table, size_t row, const char *column, const char *value) {
  return !strcmp(table_cell(table, row, column), value);
}

static bool has(const struct table *table, size_t row, const char *column, const char *part) {
  return strstr(table_cell(table, row, column), part);
}

// ---- numbers and days in texts

// The first number of a text, "$2.3B" or ">90"; NAN without one.
static const char *first_number(const char *text, double *value) {
  while (*text && !isdigit((unsigned char)*text))
    text++;
  const size_t length = number_prefix(text, value);
  if (!length)
    *value = NAN;
  return text + length;
}

static double days_in_years(struct date date) {
  static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  return date.year + (before[date.month - 1] + date.day - 1) / 365.25;
}

static double years_of(const char *text) {
  struct date date;
  return date_parse(text, &date) ? days_in_years(date) : NAN;
}

// ---- references

// The words of a reference; their number.
static int split(const struct checking *checking, const char *text, const char *words[WORDS]) {
  int count = 0;
  while (*text && count < WORDS) {
    const size_t length = strcspn(text, " ");
    words[count++] = arena_copy_n(checking->arena, text, length);
    text += length + strspn(text + length, " ");
  }
  return count;
}

static double cell_number(const struct table *table, long row, const char *column) {
  double value = NAN;
  if (row >= 0 && table_column(table, column) >= 0)
    table_number(table, (size_t)row, column, &value);
  return value;
}

// ID.COLUMN of a table.
static double look_up(const struct checking *checking, enum catalog_table which, const char *text) {
  const struct table *table = catalog_table(checking->catalog, which);
  const char *dot = strrchr(text, '.');
  if (!table || !dot)
    return NAN;
  const long row = catalog_find(table, arena_copy_n(checking->arena, text, (size_t)(dot - text)));
  if (row >= 0 && !strcmp(dot + 1, "launch"))
    return years_of(table_cell(table, (size_t)row, "launch"));
  return cell_number(table, row, dot + 1);
}

static double claimed_by(const struct checking *checking, const char *id, bool day) {
  double value = NAN;
  for (size_t r = 0; r < checking->claims->rows; r++) {
    if (!is(checking->claims, r, "id", id))
      continue;
    if (day)
      return years_of(table_cell(checking->claims, r, "as_of"));
    first_number(table_cell(checking->claims, r, "value"), &value);
  }
  return value;
}

// words: best|lowest|total ACCELERATOR MODEL SCENARIO PRECISION ROUND
static double benchmark(const struct checking *checking, const char *const *words) {
  const struct table *table = catalog_table(checking->catalog, CATALOG_THROUGHPUT);
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

static bool is_of_vendor(const struct checking *checking, const char *accelerator,
                         const char *vendor) {
  const struct table *table = catalog_table(checking->catalog, CATALOG_ACCELERATORS);
  const long row = table ? catalog_find(table, accelerator) : -1;
  return row >= 0 && is(table, (size_t)row, "vendor", vendor);
}

// A submitter may be two, as Dell_MangoBoost.
static double partners(const struct checking *checking, const char *round) {
  const struct table *table = catalog_table(checking->catalog, CATALOG_THROUGHPUT);
  const char *seen = ",AMD,";
  int count = 0;
  for (size_t r = 0; table && r < table->rows; r++) {
    if (!has(table, r, "source_title", round) || !has(table, r, "source_title", "MLPerf") ||
        !is_of_vendor(checking, table_cell(table, r, "accelerator"), "AMD"))
      continue;
    const char *name = table_cell(table, r, "submitter");
    while (*name) {
      const size_t length = strcspn(name, "_");
      const char *key = arena_printf(checking->arena, ",%.*s,", (int)length, name);
      if (!strstr(seen, key)) {
        seen = arena_printf(checking->arena, "%s%s", seen, key + 1);
        count++;
      }
      name += length + (name[length] == '_');
    }
  }
  return table ? (double)count : (double)NAN;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Prices of an accelerator: the lowest rent on demand at a provider, or (provider NULL) the median
// of purchases.
static double price(const struct checking *checking, const char *accelerator,
                    const char *provider) {
  const struct table *table = catalog_table(checking->catalog, CATALOG_PRICES);
  double prices[PRICES_MOST];
  size_t count = 0;
  for (size_t r = 0; table && r < table->rows && count < PRICES_MOST; r++)
    if (is(table, r, "accelerator", accelerator) && !is(table, r, "kind", "seed_claim") &&
        is(table, r, "price_basis", provider ? "on_demand" : "purchase") &&
        (!provider || is(table, r, "provider", provider)) &&
        table_number(table, r, "usd_per_gpu_equivalent", &prices[count]))
      count++;
  if (!count)
    return NAN;
  qsort(prices, count, sizeof *prices, ascending);
  return provider ? prices[0] : (prices[(count - 1) / 2] + prices[count / 2]) / 2;
}

static double published_parameters(const struct checking *checking, const char *model) {
  const struct table *table = catalog_table(checking->catalog, CATALOG_MODELS);
  return table ? cell_number(table, catalog_find(table, model), "published_params_b") : NAN;
}

static double reference_value(const struct checking *checking, const char *text) {
  const char *words[WORDS] = {"", "", ""};
  const int count = split(checking, text, words);
  if (count == 1)
    return look_up(checking, CATALOG_ACCELERATORS, words[0]);
  if (!strcmp(words[0], "claim"))
    return claimed_by(checking, words[1], count == 3);
  if (!strcmp(words[0], "row"))
    return look_up(checking, CATALOG_THROUGHPUT, words[1]);
  if (!strcmp(words[0], "partners"))
    return partners(checking, words[1]);
  if (!strcmp(words[0], "rent") && count == 3)
    return price(checking, words[1], words[2]);
  if (!strcmp(words[0], "purchase"))
    return price(checking, words[1], NULL);
  if (!strcmp(words[0], "model"))
    return published_parameters(checking, words[1]);
  return count == 6 ? benchmark(checking, words) : NAN;
}

// ---- formulas

static double fold(const struct node *node) {
  double values[MAX_ARGUMENTS] = {0};
  for (int i = 0; i < node->argument_count; i++)
    values[i] = fold(node->arguments[i]);
  switch (node->kind) {
  case NODE_NUMBER: return node->value;
  case NODE_NEGATE: return -values[0];
  case NODE_ADD: return values[0] + values[1];
  case NODE_SUBTRACT: return values[0] - values[1];
  case NODE_MULTIPLY: return values[0] * values[1];
  case NODE_DIVIDE: return values[0] / values[1];
  case NODE_CALL: break;
  default: return NAN;
  }
  double result = values[0];
  switch (node->function) {
  case FUNCTION_MIN:
    for (int i = 1; i < node->argument_count; i++)
      result = fmin(result, values[i]);
    return result;
  case FUNCTION_ROUND: return arithmetic_round(values[0], values[1]);
  case FUNCTION_CEIL: return arithmetic_ceil_scaled(values[0], arithmetic_scale(CEIL_DECIMALS));
  default: return NAN;
  }
}

// The formula with every reference's number in its place; NULL where one has none.
static const char *filled_in(const struct checking *checking, const char *formula) {
  const char *text = "";
  while (*formula) {
    const size_t plain = strcspn(formula, "[");
    text = arena_printf(checking->arena, "%s%.*s", text, (int)plain, formula);
    formula += plain;
    if (!*formula)
      break;
    const size_t length = strcspn(formula, "]");
    const double value =
        reference_value(checking, arena_copy_n(checking->arena, formula + 1, length - 1));
    if (!isfinite(value))
      return NULL;
    text = arena_printf(checking->arena, value < 0 ? "%s(%.17g)" : "%s%.17g", text, value);
    formula += length + 1;
  }
  return text;
}

static double formula_value(const struct checking *checking, const char *formula) {
  const char *text = filled_in(checking, formula);
  const struct place place = {source_from_text("a rule", text ? text : "", checking->arena), 1, 1};
  const struct node *node =
      text ? formula_parse(text, place, checking->arena, checking->diagnostics) : NULL;
  return node ? fold(node) : NAN;
}

// ---- verdicts

static const struct recompute_rule *rule_of(const char *id) {
  for (size_t i = 0; i < recompute_rule_count; i++)
    if (!strcmp(recompute_rules[i].claim, id))
      return &recompute_rules[i];
  return NULL;
}

static bool holds(const struct checking *checking, size_t row, const struct recompute_rule *rule,
                  double value) {
  double claimed, high;
  const char *text = table_cell(checking->claims, row, "value");
  const char *rest = first_number(text, &claimed);
  if (isnan(claimed)) // "below": the number is in the unit
    first_number(table_cell(checking->claims, row, "unit"), &claimed);
  first_number(rest, &high);
  const double slack = 1e-9 + rule->tolerance;
  switch (rule->relation) {
  case RECOMPUTE_AT_LEAST: return value >= claimed;
  case RECOMPUTE_AT_MOST: return value <= claimed;
  case RECOMPUTE_WITHIN: return value >= claimed && value <= high;
  case RECOMPUTE_NOT_BELOW: return claimed >= value;
  default: return fabs(value - claimed) <= slack * fabs(claimed);
  }
}

static void compare_texts(const struct checking *checking, const struct recompute_rule *rule,
                          struct recomputed *result) {
  const struct table *table = catalog_table(checking->catalog, CATALOG_ACCELERATORS);
  const char *dot = strrchr(rule->formula, '.');
  const char *id = arena_copy_n(checking->arena, rule->formula, (size_t)(dot - rule->formula));
  const long row = table ? catalog_find(table, id) : -1;
  if (row < 0 || table_column(table, dot + 1) < 0)
    return;
  result->text = table_cell(table, (size_t)row, dot + 1);
  result->verdict = strcasecmp(result->text, result->claimed) ? RECOMPUTE_FAILS : RECOMPUTE_HOLDS;
}

// A day before that of the formula cannot be true; one after it may be, and is not proven.
static void compare_days(const struct checking *checking, size_t row,
                         const struct recompute_rule *rule, struct recomputed *result) {
  const double earliest = formula_value(checking, rule->formula);
  const char *day = table_cell(checking->claims, row, "value");
  const double claimed =
      isnan(years_of(day)) ? years_of(table_cell(checking->claims, row, "as_of")) : years_of(day);
  if (isnan(earliest) || isnan(claimed))
    return;
  // The launch that the formula names, as the catalogue writes it.
  const struct table *table = catalog_table(checking->catalog, CATALOG_ACCELERATORS);
  const char *id =
      arena_copy_n(checking->arena, rule->formula + 1, strcspn(rule->formula, ".") - 1);
  const long accelerator = catalog_find(table, id);
  result->text = table_cell(table, (size_t)accelerator, "launch");
  if (claimed < earliest)
    result->verdict = RECOMPUTE_FAILS;
}

static bool starts(const char *text, const char *word) {
  return !strncmp(text, word, strlen(word));
}

// What the table says flatly and the recomputation contradicts. "Consistent, but ..." is not flat.
static bool disagrees(const struct recomputed *result) {
  static const char *const against[] = {"contradict", "internally inconsistent", "NOT ",
                                        "trivially"};
  static const char *const hedges[] = {" only", " but ", " vs ", ";", " per ", "partly"};
  const char *said = result->table_verdict;
  bool hedged = false;
  for (size_t i = 0; i < sizeof hedges / sizeof hedges[0]; i++)
    hedged |= strstr(said, hedges[i]) != NULL;
  if (result->verdict == RECOMPUTE_FAILS)
    return !hedged && (starts(said, "consistent") || starts(said, "derived"));
  for (size_t i = 0; i < sizeof against / sizeof against[0]; i++)
    if (result->verdict == RECOMPUTE_HOLDS && starts(said, against[i]))
      return true;
  return false;
}

static void check_row(const struct checking *checking, size_t row, struct recomputed *result) {
  const struct table *claims = checking->claims;
  *result = (struct recomputed){.id = table_cell(claims, row, "id"),
                                .claim = table_cell(claims, row, "claim"),
                                .claimed = table_cell(claims, row, "value"),
                                .unit = table_cell(claims, row, "unit"),
                                .source = table_cell(claims, row, "source_title"),
                                .table_verdict = table_cell(claims, row, "verdict"),
                                .verdict = RECOMPUTE_CANNOT,
                                .value = NAN,
                                .why = "no rule says what it amounts to"};
  const struct recompute_rule *rule = rule_of(result->id);
  if (!rule)
    return;
  result->why = rule->why;
  if (rule->relation == RECOMPUTE_NOT)
    return;
  if (rule->relation == RECOMPUTE_SAME_TEXT)
    compare_texts(checking, rule, result);
  else if (rule->relation == RECOMPUTE_NOT_BEFORE)
    compare_days(checking, row, rule, result);
  else {
    result->value = formula_value(checking, rule->formula);
    if (isfinite(result->value))
      result->verdict =
          holds(checking, row, rule, result->value) ? RECOMPUTE_HOLDS : RECOMPUTE_FAILS;
  }
  if (result->verdict == RECOMPUTE_CANNOT)
    result->why = arena_printf(checking->arena, "not in the catalogue: %s", rule->why);
  result->disagrees = disagrees(result);
}

const struct recomputed *recompute_claims(const struct table *claims, struct catalog *catalog,
                                          struct arena *arena, struct diagnostics *diagnostics) {
  static const char *const columns[] = {"id",      "claim",        "value", "unit",
                                        "verdict", "source_title", "as_of"};
  const struct checking checking = {claims, catalog, arena, diagnostics};
  const size_t errors = diagnostics->errors;
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
    if (table_column(claims, columns[i]) < 0)
      diagnostics_error(diagnostics, table_header_place(claims),
                        "a table of claims needs a column "
                        "'%s'",
                        columns[i]);
  if (diagnostics->errors != errors)
    return NULL;
  struct recomputed *results = arena_array(arena, claims->rows + 1, sizeof *results);
  for (size_t r = 0; r < claims->rows; r++)
    check_row(&checking, r, &results[r]);
  return diagnostics->errors == errors ? results : NULL;
}
