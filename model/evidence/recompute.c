#include "model/evidence/recompute.h"

#include "base/source.h"
#include "model/cost/arithmetic.h"
#include "model/cost/formula.h"
#include "model/evidence/reference.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum relation {
  RELATION_NONE, // cannot be recomputed
  RELATION_EQUAL,
  RELATION_AT_LEAST,
  RELATION_AT_MOST,
  RELATION_WITHIN,
  RELATION_NOT_BEFORE,
  RELATION_SAME_TEXT,
  RELATIONS
};

static const char *const relation_names[RELATIONS] = {
    [RELATION_NONE] = "",
    [RELATION_EQUAL] = "equal",
    [RELATION_AT_LEAST] = "at_least",
    [RELATION_AT_MOST] = "at_most",
    [RELATION_WITHIN] = "within",
    [RELATION_NOT_BEFORE] = "not_before",
    [RELATION_SAME_TEXT] = "same_text",
};

// A row's rule.
struct rule {
  enum relation relation;
  const char *formula;
  struct place place; // of the formula
  double tolerance;
  const char *how;
};

// ---- rules

// The place where a cell's text begins: after the opening quote if it is quoted.
static struct place text_place(const struct table *claims, size_t row, const char *column) {
  struct place place = table_place(claims, row, column);
  const char *line;
  size_t length;
  if (source_line(place.source, place.line, &line, &length) && line[place.column - 1] == '"')
    place.column++;
  return place;
}

static int read_relation(const struct references *in, size_t row, enum relation *relation) {
  const char *name = table_cell(in->claims, row, "relation");
  for (int r = 0; r < RELATIONS; r++)
    if (!strcmp(name, relation_names[r])) {
      *relation = (enum relation)r;
      return 0;
    }
  diagnostics_error(in->diagnostics, table_place(in->claims, row, "relation"),
                    "unknown relation '%s'%s", name,
                    name_hint(name, relation_names, RELATIONS, in->arena));
  return -1;
}

static int read_rule(const struct references *in, size_t row, struct rule *rule) {
  *rule = (struct rule){.formula = table_cell(in->claims, row, "formula"),
                        .place = text_place(in->claims, row, "formula"),
                        .how = table_cell(in->claims, row, "how")};
  const char *tolerance = table_cell(in->claims, row, "tolerance");
  if (read_relation(in, row, &rule->relation))
    return -1;
  if (!*rule->formula == (rule->relation != RELATION_NONE)) {
    diagnostics_error(in->diagnostics, rule->place,
                      *rule->formula ? "expected a relation with this formula"
                                     : "expected a formula with '%s'",
                      relation_names[rule->relation]);
    return -1;
  }
  if (!*tolerance || table_number(in->claims, row, "tolerance", &rule->tolerance))
    return 0;
  diagnostics_error(in->diagnostics, table_place(in->claims, row, "tolerance"),
                    "expected a number as tolerance, found '%s'", tolerance);
  return -1;
}

// ---- formulas

static double call_value(const struct references *in, const struct node *node,
                         const double *values) {
  double result = values[0];
  switch (node->function) {
  case FUNCTION_MIN:
    for (int i = 1; i < node->argument_count; i++)
      result = fmin(result, values[i]);
    return result;
  case FUNCTION_MAX:
    for (int i = 1; i < node->argument_count; i++)
      result = fmax(result, values[i]);
    return result;
  case FUNCTION_ROUND: return arithmetic_round(values[0], values[1]);
  case FUNCTION_CEIL: return arithmetic_ceil(values[0]);
  case FUNCTION_FLOOR: return arithmetic_floor(values[0]);
  default:
    diagnostics_error(in->diagnostics, node->place, "a rule cannot use %s()",
                      function_table[node->function].name);
    return NAN;
  }
}

static double node_value(const struct references *in, const struct node *node) {
  double values[MAX_ARGUMENTS] = {0};
  for (int i = 0; i < node->argument_count; i++)
    values[i] = node_value(in, node->arguments[i]);
  switch (node->kind) {
  case NODE_NUMBER: return node->value;
  case NODE_NEGATE: return -values[0];
  case NODE_ADD: return values[0] + values[1];
  case NODE_SUBTRACT: return values[0] - values[1];
  case NODE_MULTIPLY: return values[0] * values[1];
  case NODE_DIVIDE: return values[0] / values[1];
  case NODE_POWER: return pow(values[0], values[1]);
  case NODE_CALL: return call_value(in, node, values);
  case NODE_NAME:
    if (*node->name == '[')
      return reference_value(in, node->name, node->place);
    diagnostics_error(in->diagnostics, node->place, "expected a [reference], found '%s'",
                      node->name);
    return NAN;
  default:
    diagnostics_error(in->diagnostics, node->place, "a rule cannot use comparisons");
    return NAN;
  }
}

static double formula_value(const struct references *in, const struct rule *rule) {
  const struct node *node = formula_parse(rule->formula, rule->place, in->arena, in->diagnostics);
  return node ? node_value(in, node) : (double)NAN;
}

// ---- verdicts

static bool holds(const struct references *in, size_t row, const struct rule *rule, double value) {
  double claimed, high;
  const char *rest = first_number(table_cell(in->claims, row, "value"), &claimed);
  if (isnan(claimed)) // "below": the number is in the unit
    first_number(table_cell(in->claims, row, "unit"), &claimed);
  first_number(rest, &high);
  const double slack = 1e-9 + rule->tolerance;
  switch (rule->relation) {
  case RELATION_AT_LEAST: return value >= claimed;
  case RELATION_AT_MOST: return value <= claimed;
  case RELATION_WITHIN: return value >= claimed && value <= high;
  default: return fabs(value - claimed) <= slack * fabs(claimed);
  }
}

static void compare_texts(const struct references *in, const struct rule *rule,
                          struct recomputed *result) {
  result->text = reference_cell(in, rule->formula, rule->place);
  if (result->text)
    result->verdict = strcasecmp(result->text, result->claimed) ? RECOMPUTE_FAILS : RECOMPUTE_HOLDS;
}

// A day before that of the launch cannot be true; one after it may be, but is not proven.
static void compare_days(const struct references *in, size_t row, const struct rule *rule,
                         struct recomputed *result) {
  const char *launch = reference_cell(in, rule->formula, rule->place);
  const char *day = table_cell(in->claims, row, "value");
  const double earliest = launch ? years_of(launch) : (double)NAN;
  const double claimed =
      isnan(years_of(day)) ? years_of(table_cell(in->claims, row, "as_of")) : years_of(day);
  if (isnan(earliest) || isnan(claimed))
    return;
  result->text = launch;
  if (claimed < earliest)
    result->verdict = RECOMPUTE_FAILS;
}

static void compare_numbers(const struct references *in, size_t row, const struct rule *rule,
                            struct recomputed *result) {
  result->value = formula_value(in, rule);
  if (isfinite(result->value))
    result->verdict = holds(in, row, rule, result->value) ? RECOMPUTE_HOLDS : RECOMPUTE_FAILS;
}

static const char between_readings[] = " | ";

// Cuts off the first of several readings; returns the rest, or NULL.
static const char *cut_reading(const struct references *in, const char **text) {
  const char *end = strstr(*text, between_readings);
  if (!end)
    return NULL;
  *text = arena_copy_n(in->arena, *text, (size_t)(end - *text));
  return end + strlen(between_readings);
}

// Compares each reading as its own rule: "1.708 (memory left): holds; 1.391 (on a node): does not".
static void compare_readings(const struct references *in, size_t row, struct rule rule,
                             struct recomputed *result) {
  const char *formulas = rule.formula, *hows = rule.how;
  unsigned verdicts = 0;
  result->text = result->why = "";
  while (formulas) {
    struct recomputed one = {.verdict = RECOMPUTE_CANNOT};
    const char *comma = *result->text ? ", " : "", *semicolon = *result->why ? "; " : "";
    rule.formula = formulas;
    rule.how = hows ? hows : "";
    formulas = cut_reading(in, &rule.formula);
    hows = cut_reading(in, &rule.how);
    compare_numbers(in, row, &rule, &one);
    verdicts |= 1U << one.verdict;
    result->text = arena_printf(in->arena, "%s%s%.4g", result->text, comma, one.value);
    result->why = arena_printf(in->arena, "%s%s%.4g (%s): %s", result->why, semicolon, one.value,
                               rule.how, one.verdict == RECOMPUTE_HOLDS ? "holds" : "does not");
  }
  result->verdict = verdicts & 1U << RECOMPUTE_CANNOT   ? RECOMPUTE_CANNOT
                    : verdicts == 1U << RECOMPUTE_HOLDS ? RECOMPUTE_HOLDS
                    : verdicts == 1U << RECOMPUTE_FAILS ? RECOMPUTE_FAILS
                                                        : RECOMPUTE_DEPENDS;
}

static bool starts(const char *text, const char *word) {
  return !strncmp(text, word, strlen(word));
}

// Whether the recomputation contradicts a flat statement of the table. "Consistent, but ..." is not
// flat.
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

static void check_row(const struct references *in, size_t row, struct recomputed *result) {
  const struct table *claims = in->claims;
  struct rule rule;
  *result = (struct recomputed){.id = table_cell(claims, row, "id"),
                                .claim = table_cell(claims, row, "claim"),
                                .claimed = table_cell(claims, row, "value"),
                                .unit = table_cell(claims, row, "unit"),
                                .source = table_cell(claims, row, "source_title"),
                                .table_verdict = table_cell(claims, row, "verdict"),
                                .verdict = RECOMPUTE_CANNOT,
                                .value = NAN};
  if (read_rule(in, row, &rule))
    return;
  result->why = *rule.how || rule.relation ? rule.how : "there is no rule to recompute it";
  if (rule.relation == RELATION_NONE)
    return;
  if (rule.relation == RELATION_SAME_TEXT)
    compare_texts(in, &rule, result);
  else if (rule.relation == RELATION_NOT_BEFORE)
    compare_days(in, row, &rule, result);
  else if (strstr(rule.formula, between_readings))
    compare_readings(in, row, rule, result);
  else
    compare_numbers(in, row, &rule, result);
  if (result->verdict == RECOMPUTE_CANNOT)
    result->why = arena_printf(in->arena, "not in the catalogue: %s", rule.how);
  result->disagrees = disagrees(result);
}

const struct recomputed *recompute_claims(const struct table *claims, struct catalog *catalog,
                                          struct arena *arena, struct diagnostics *diagnostics) {
  static const char *const columns[] = {"id",      "claim",        "value", "unit",
                                        "verdict", "source_title", "as_of", "relation",
                                        "formula", "tolerance",    "how"};
  const struct references in = {claims, catalog, arena, diagnostics};
  const size_t errors = diagnostics->errors;
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
    if (table_column(claims, columns[i]) < 0)
      diagnostics_error(diagnostics, table_header_place(claims),
                        "a table of claims needs a column '%s'", columns[i]);
  if (diagnostics->errors != errors)
    return NULL;
  struct recomputed *results = arena_array(arena, claims->rows + 1, sizeof *results);
  for (size_t r = 0; r < claims->rows; r++)
    check_row(&in, r, &results[r]);
  return diagnostics->errors == errors ? results : NULL;
}
