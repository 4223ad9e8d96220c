#include "model/evidence/workload.h"

#include "base/arena.h"
#include "base/csv.h"
#include "model/cost/units.h"
#include "model/evidence/catalog.h"
#include "model/evidence/grade.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

const char *const workload_key_names[WORKLOAD_KEYS] = {
    [WORKLOAD_MODEL] = "model",
    [WORKLOAD_PRECISION] = "precision",
    [WORKLOAD_ACTIVATIONS] = "activations",
    [WORKLOAD_KV] = "kv",
    [WORKLOAD_SPARSITY] = "sparsity",
    [WORKLOAD_BASIS] = "basis",
    [WORKLOAD_SCENARIO] = "scenario",
    [WORKLOAD_TOKENS] = "tokens",
    [WORKLOAD_INTERACTIVITY] = "interactivity",
    [WORKLOAD_BATCH] = "batch",
    [WORKLOAD_CONTEXT] = "context",
};

// Every throughput that is published per accelerator here counts prefill: the table has no decode
// runs.
static const char published_basis[] = "serving";

static const char *tokens_of_basis(const char *basis) {
  return !strcmp(basis, "input+output") ? "total" : basis;
}

static const char *row_value(const struct table *table, size_t row, enum workload_key key) {
  static const char *const columns[WORKLOAD_KEYS] = {
      [WORKLOAD_MODEL] = "model",
      [WORKLOAD_PRECISION] = "precision",
      [WORKLOAD_SCENARIO] = "scenario",
      [WORKLOAD_TOKENS] = "token_basis",
      [WORKLOAD_BATCH] = "batch_or_concurrency",
      [WORKLOAD_CONTEXT] = "isl",
  };
  if (key == WORKLOAD_BASIS)
    return published_basis;
  if (!columns[key])
    return "";
  const char *value = table_cell(table, row, columns[key]);
  return key == WORKLOAD_TOKENS ? tokens_of_basis(value) : value;
}

static bool row_matches(const struct table *table, size_t row, const struct workload *workload,
                        int keys) {
  for (int key = 0; key < keys; key++)
    if (key != WORKLOAD_INTERACTIVITY && *workload->values[key] &&
        strcmp(workload->values[key], row_value(table, row, (enum workload_key)key)) != 0)
      return false;
  return true;
}

enum { MAX_LISTED = 12 }; // candidates in a message

static bool is_of(const struct table *table, size_t row, const char *accelerator) {
  return !strcmp(table_cell(table, row, "accelerator"), accelerator);
}

struct query {
  const struct table *table;
  const char *accelerator;
  const struct workload *workload;
  struct arena *arena; // of words
};

static size_t count_matches(const struct query *query, int keys) {
  size_t count = 0;
  for (size_t row = 0; row < query->table->rows; row++)
    count += is_of(query->table, row, query->accelerator) &&
             row_matches(query->table, row, query->workload, keys);
  return count;
}

// The distinct values that a key has among the rows that match all keys before it.
static const char *values_there(const struct query *query, enum workload_key key) {
  struct arena *arena = query->arena;
  const char *list = "";
  for (size_t row = 0; row < query->table->rows; row++) {
    if (!is_of(query->table, row, query->accelerator) ||
        !row_matches(query->table, row, query->workload, (int)key))
      continue;
    const char *value = row_value(query->table, row, key);
    const char *item = arena_printf(arena, "%s;", *value ? value : "(not stated)");
    const char *known = strstr(list, item);
    if (!(known && (known == list || known[-1] == ' ')))
      list = arena_printf(arena, "%s%s%s", list, *list ? " " : "", item);
  }
  size_t length = strlen(list);
  return length ? arena_copy_n(arena, list, length - 1) : list;
}

static const char *why_nothing(const struct query *query) {
  if (!count_matches(query, 0))
    return arena_printf(query->arena,
                        "no published throughput of '%s': state throughput in the option",
                        query->accelerator);
  int key = 0;
  while (count_matches(query, key + 1))
    key++;
  return arena_printf(query->arena, "no published throughput of '%s' has %s = %s; there is: %s",
                      query->accelerator, workload_key_names[key], query->workload->values[key],
                      values_there(query, (enum workload_key)key));
}

// Better evidence has the stronger grade, then the later date: <0 when a is better, 0 for a tie.
static int compare_evidence(const struct table *table, size_t a, size_t b) {
  enum grade grade_a = catalog_grade(table, a), grade_b = catalog_grade(table, b);
  if (grade_a != grade_b)
    return (int)grade_a - (int)grade_b;
  struct date day_a = {0}, day_b = {0};
  catalog_date(table, a, &day_a);
  catalog_date(table, b, &day_b);
  return date_compare(day_b, day_a);
}

static const char *why_tie(const struct query *query, size_t best) {
  struct arena *arena = query->arena;
  const struct table *table = query->table;
  const char *list = "";
  int count = 0;
  for (size_t row = 0; row < table->rows; row++) {
    if (!is_of(table, row, query->accelerator) ||
        !row_matches(table, row, query->workload, WORKLOAD_KEYS) ||
        compare_evidence(table, row, best) != 0)
      continue;
    if (++count <= MAX_LISTED)
      list =
          arena_printf(arena, "%s\n    evidence = %-8s %9s token/s  %s, %s, %s", list,
                       table_cell(table, row, "id"), table_cell(table, row, "tokens_per_s_per_gpu"),
                       table_cell(table, row, "scenario"), table_cell(table, row, "submitter"),
                       table_cell(table, row, "as_of"));
  }
  return arena_printf(arena,
                      "%d published throughputs of '%s' fit equally well; choose one with evidence "
                      "= ID:%s%s",
                      count, query->accelerator, list, count > MAX_LISTED ? ", ..." : "");
}

static const char *choose_row(const struct query *query, size_t *chosen) {
  const struct table *table = query->table;
  long best = -1;
  bool tie = false;
  for (size_t row = 0; row < table->rows; row++) {
    if (!is_of(table, row, query->accelerator) ||
        !row_matches(table, row, query->workload, WORKLOAD_KEYS))
      continue;
    int order = best < 0 ? -1 : compare_evidence(table, row, (size_t)best);
    tie = order == 0 || (tie && order > 0);
    if (order < 0)
      best = (long)row;
  }
  if (best < 0 || tie)
    return tie ? why_tie(query, (size_t)best) : why_nothing(query);
  *chosen = (size_t)best;
  return NULL;
}

// The row named outright; it must be of the accelerator and not contradict the workload.
static const char *named_row(const struct query *query, const char *id, size_t *chosen) {
  const struct table *table = query->table;
  long row = catalog_find(table, id);
  if (row < 0)
    return arena_printf(query->arena, "no row '%s' in the table of throughputs", id);
  if (!is_of(table, (size_t)row, query->accelerator))
    return arena_printf(query->arena, "evidence '%s' is for '%s', not for '%s'", id,
                        table_cell(table, (size_t)row, "accelerator"), query->accelerator);
  for (int key = 0; key < WORKLOAD_KEYS; key++) {
    const char *wanted = query->workload->values[key];
    const char *has = row_value(table, (size_t)row, (enum workload_key)key);
    if (*wanted && strcmp(wanted, has) != 0 && key != WORKLOAD_INTERACTIVITY)
      return arena_printf(query->arena, "evidence '%s' has %s = %s, but the workload wants %s", id,
                          workload_key_names[key], *has ? has : "(not stated)", wanted);
  }
  *chosen = (size_t)row;
  return NULL;
}

static void fill_evidence(const struct query *query, size_t row, struct evidence *evidence) {
  const struct table *table = query->table;
  double per_second = 0;
  table_number(table, row, "tokens_per_s_per_gpu", &per_second);
  *evidence = (struct evidence){
      .table = table,
      .row = row,
      .id = table_cell(table, row, "id"),
      .source = table_cell(table, row, "source_title"),
      .date = table_cell(table, row, "as_of"),
      .doubt = table_cell(table, row, "doubt"),
      .throughput = per_second * conversion_table[CONVERT_SECONDS_PER_HOUR].value,
      .grade = catalog_grade(table, row),
      .place = table_place(table, row, "tokens_per_s_per_gpu"),
  };
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    evidence->workload.values[key] = row_value(table, row, (enum workload_key)key);
}

const char *evidence_choose(const struct table *throughputs, const char *accelerator,
                            const struct workload *workload, const char *wanted_id,
                            struct evidence *evidence, struct arena *arena) {
  const struct query query = {throughputs, accelerator, workload, arena};
  size_t row = 0;
  if (!*wanted_id && !*workload->values[WORKLOAD_MODEL])
    return arena_printf(arena,
                        "'%s' has no throughput, and there is no [workload] model to look one up",
                        accelerator);
  const char *why = *wanted_id ? named_row(&query, wanted_id, &row) : choose_row(&query, &row);
  if (!why)
    fill_evidence(&query, row, evidence);
  return why;
}

// ---- throughput over the batch

// In these the points of one curve agree: in all but the batch and what follows from it.
static const char *const curve_columns[] = {"model",
                                            "precision",
                                            "isl",
                                            "osl",
                                            "num_gpus",
                                            "parallelism",
                                            "token_basis",
                                            "scenario",
                                            "software",
                                            "submitter",
                                            "source_title",
                                            "as_of",
                                            "model_as_published"};

static bool is_same_curve(const struct table *table, size_t a, size_t b) {
  for (size_t i = 0; i < sizeof curve_columns / sizeof curve_columns[0]; i++)
    if (strcmp(table_cell(table, a, curve_columns[i]), table_cell(table, b, curve_columns[i])) != 0)
      return false;
  return true;
}

static double batch_of(const struct table *table, size_t row) {
  double batch = 0;
  table_number(table, row, "batch_or_concurrency", &batch);
  return batch;
}

static bool has_batch(const struct table *table, size_t row) {
  return batch_of(table, row) >= 1 && batch_of(table, row) <= MAX_CURVE_USERS;
}

static bool is_point(const struct query *query, size_t row) {
  return is_of(query->table, row, query->accelerator) &&
         row_matches(query->table, row, query->workload, WORKLOAD_KEYS) &&
         has_batch(query->table, row);
}

// Whether a row is the first of a curve, one with a second batch further down.
static bool starts_curve(const struct query *query, size_t row) {
  bool more = false;
  if (!is_point(query, row))
    return false;
  for (size_t other = 0; other < query->table->rows; other++) {
    if (!is_point(query, other) || !is_same_curve(query->table, row, other))
      continue;
    if (other < row)
      return false;
    more |= batch_of(query->table, other) != batch_of(query->table, row);
  }
  return more;
}

static const char *why_no_curve(const struct query *query, size_t count) {
  const struct table *table = query->table;
  struct arena *arena = query->arena;
  const char *list = "";
  size_t listed = 0;
  if (!count)
    return arena_printf(arena,
                        "no source has throughputs of '%s' at several batches for this workload: "
                        "interactivity cannot choose one",
                        query->accelerator);
  for (size_t row = 0; row < table->rows && listed < MAX_LISTED; row++)
    if (starts_curve(query, row) && ++listed)
      list = arena_printf(
          arena, "%s\n    evidence = %-8s context %s, output %s, %s accelerators, %s, %s, %s", list,
          table_cell(table, row, "id"), table_cell(table, row, "isl"),
          table_cell(table, row, "osl"), table_cell(table, row, "num_gpus"),
          table_cell(table, row, "model_as_published"), table_cell(table, row, "source_title"),
          table_cell(table, row, "as_of"));
  return arena_printf(arena, "%zu published curves of '%s' fit; choose one with evidence = ID:%s%s",
                      count, query->accelerator, list, count > MAX_LISTED ? ", ..." : "");
}

static const char *choose_curve(const struct query *query, size_t *chosen) {
  size_t count = 0;
  for (size_t row = 0; row < query->table->rows; row++)
    if (starts_curve(query, row) && !count++)
      *chosen = row;
  return count == 1 ? NULL : why_no_curve(query, count);
}

static const char *read_curve(const struct query *query, size_t of, struct curve *curve) {
  const double hour_s = conversion_table[CONVERT_SECONDS_PER_HOUR].value;
  const struct table *table = query->table;
  double per_second = 0;
  *curve = (struct curve){.accelerators = 1, .grade = catalog_grade(table, of)};
  table_number(table, of, "num_gpus", &curve->accelerators);
  for (size_t row = 0; row < table->rows; row++) {
    if (!is_of(table, row, query->accelerator) || !is_same_curve(table, of, row) ||
        !has_batch(table, row) || !table_number(table, row, "tokens_per_s_per_gpu", &per_second))
      continue;
    if (curve_add(curve, batch_of(table, row), per_second * hour_s, NAN,
                  table_cell(table, row, "id")))
      continue;
    return arena_printf(query->arena,
                        "'%s' is a second throughput at batch %g on the same curve, and nothing "
                        "tells them apart",
                        table_cell(table, row, "id"), batch_of(table, row));
  }
  if (curve->count >= 2)
    return NULL;
  return arena_printf(query->arena,
                      "evidence '%s' covers one batch alone: interactivity needs a curve",
                      table_cell(table, of, "id"));
}

const char *evidence_curve(const struct table *throughputs, const char *accelerator,
                           const struct workload *workload, const char *wanted_id,
                           struct curve *curve, struct evidence *evidence, struct arena *arena) {
  const struct query query = {throughputs, accelerator, workload, arena};
  size_t row = 0;
  const char *why = *wanted_id ? named_row(&query, wanted_id, &row) : choose_curve(&query, &row);
  if (!why)
    why = read_curve(&query, row, curve);
  if (!why)
    fill_evidence(&query, (size_t)catalog_find(throughputs, curve->ids[curve->count - 1]),
                  evidence);
  return why;
}

const char *workload_difference(const struct workload *a, const struct workload *b,
                                struct arena *arena) {
  for (int key = 0; key < WORKLOAD_KEYS; key++) {
    const char *left = a->values[key], *right = b->values[key];
    const char *rate = a->values[WORKLOAD_INTERACTIVITY];
    if (key == WORKLOAD_BATCH && *rate && !strcmp(rate, b->values[WORKLOAD_INTERACTIVITY]))
      continue;
    if (*left && *right && strcmp(left, right) != 0)
      return arena_printf(arena, "%s: %s and %s", workload_key_names[key], left, right);
  }
  return NULL;
}
