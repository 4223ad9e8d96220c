#include "model/evidence/workload.h"

#include "base/arena.h"
#include "base/texts.h"

#include <math.h>
#include <string.h>
#include <strings.h>

const char *const workload_key_names[WORKLOAD_KEYS] = {
    [WORKLOAD_MODEL] = "model",
    [WORKLOAD_PRECISION] = "precision",
    [WORKLOAD_ACTIVATIONS] = "activations",
    [WORKLOAD_KV] = "kv",
    [WORKLOAD_HEAD] = "head",
    [WORKLOAD_SPARSITY] = "sparsity",
    [WORKLOAD_SPECULATION] = "speculation",
    [WORKLOAD_BASIS] = "basis",
    [WORKLOAD_SCENARIO] = "scenario",
    [WORKLOAD_TOKENS] = "tokens",
    [WORKLOAD_INTERACTIVITY] = "interactivity",
    [WORKLOAD_TTFT] = "ttft",
    [WORKLOAD_TPOT] = "tpot",
    [WORKLOAD_BATCH] = "batch",
    [WORKLOAD_CONTEXT] = "context",
};

// Every throughput published per accelerator here includes prefill: the table has no decode runs.
static const char published_basis[] = "serving";

static const char *tokens_of_basis(const char *basis) {
  return !strcmp(basis, "input+output") ? "total" : basis;
}

const char *workload_row_value(const struct table *table, size_t row, enum workload_key key) {
  static const char *const columns[WORKLOAD_KEYS] = {
      [WORKLOAD_MODEL] = "model",
      [WORKLOAD_PRECISION] = "precision",
      [WORKLOAD_ACTIVATIONS] = "activations",
      [WORKLOAD_SPECULATION] = "speculation",
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

static bool is_of_family(const char *precision) {
  return !strcmp(precision, "fp4") || !strcmp(precision, "mxfp4");
}

// SGLang calls a model's own prediction of several tokens NEXTN.
static const char *speculation_of(const char *word) {
  return !strcasecmp(word, "nextn") ? "mtp" : word;
}

static bool speculates_alike(const char *a, const char *b) {
  if (!*a || !*b)
    return *a == *b;
  return !strcmp(a, WORKLOAD_UNNAMED) || !strcmp(b, WORKLOAD_UNNAMED) ||
         !strcasecmp(speculation_of(a), speculation_of(b));
}

bool workload_is_alike(const struct workload *workload, enum workload_key key, const char *a,
                       const char *b) {
  if (key == WORKLOAD_SPECULATION)
    return speculates_alike(a, b);
  const char *shipped = workload->shipped_precision ? workload->shipped_precision : "";
  return !strcmp(a, b) ||
         (key == WORKLOAD_PRECISION && is_of_family(a) && is_of_family(b) && is_of_family(shipped));
}

const char *workload_family_note(const struct workload *a, const struct workload *b,
                                 struct arena *arena) {
  const char *left = a->values[WORKLOAD_PRECISION], *right = b->values[WORKLOAD_PRECISION];
  if (!strcmp(left, right) || !is_of_family(left) || !is_of_family(right) ||
      !workload_is_alike(a, WORKLOAD_PRECISION, left, right))
    return NULL;
  return arena_printf(arena,
                      "%s and %s, treated as one here: %s is published in %s, and fp4 does not "
                      "specify the 4-bit format",
                      left, right, a->values[WORKLOAD_MODEL], a->shipped_precision);
}

bool workload_row_matches(const struct workload *workload, const struct table *table, size_t row,
                          int keys) {
  for (int key = 0; key < keys; key++)
    if (key != WORKLOAD_INTERACTIVITY && *workload->values[key] &&
        !workload_is_alike(workload, (enum workload_key)key, workload->values[key],
                           workload_row_value(table, row, (enum workload_key)key)))
      return false;
  return true;
}

bool workload_is_decoding(const struct workload *workload) {
  return !strcmp(workload->values[WORKLOAD_BASIS], "decode") ||
         !strcmp(workload->values[WORKLOAD_SCENARIO], "decode");
}

const enum workload_key workload_per_user[WORKLOAD_PER_USER] = {WORKLOAD_INTERACTIVITY,
                                                                WORKLOAD_TTFT, WORKLOAD_TPOT};

bool workload_chooses_batch(const struct workload *workload) {
  for (size_t i = 0; i < WORKLOAD_PER_USER; i++)
    if (*workload->values[workload_per_user[i]])
      return true;
  return false;
}

const char *workload_chosen_by(const struct workload *workload, struct arena *arena) {
  struct texts keys = {0};
  for (size_t i = 0; i < WORKLOAD_PER_USER; i++)
    if (*workload->values[workload_per_user[i]])
      texts_add(&keys, arena, "%s", workload_key_names[workload_per_user[i]]);
  return texts_joined_by(&keys, " and ", arena);
}

bool workload_limits_times(const struct workload *workload) {
  return *workload->values[WORKLOAD_TTFT] || *workload->values[WORKLOAD_TPOT];
}

static bool gives_the_same(const struct workload *a, const struct workload *b) {
  for (size_t i = 0; i < WORKLOAD_PER_USER; i++)
    if (strcmp(a->values[workload_per_user[i]], b->values[workload_per_user[i]]) != 0)
      return false;
  return workload_chooses_batch(a);
}

static double length_of(double stated, double measured) {
  return stated > 0 || !(measured > 0) ? stated : measured;
}

void workload_take_lengths(struct workload *workload, double input_tokens, double output_tokens) {
  workload->input_tokens = length_of(workload->input_tokens, input_tokens);
  workload->output_tokens = length_of(workload->output_tokens, output_tokens);
}

bool workload_has_lengths(const struct workload *workload) {
  return workload->input_tokens > 0 && workload->output_tokens > 0;
}

double workload_decode_context(const struct workload *workload) {
  return workload->input_tokens + workload->output_tokens / 2;
}

bool workload_lengths_differ(double a, double b) {
  return a > 0 && b > 0 && fabs(a - b) > REQUEST_LENGTHS * fmax(a, b);
}

// Whether the workload states lengths but no context. The context then follows from the lengths:
// what it is the mean of depends on the evidence's source.
static bool has_only_lengths(const struct workload *workload) {
  return workload_has_lengths(workload) && !workload->places[WORKLOAD_CONTEXT].source;
}

static bool follows(enum workload_key key, const struct workload *a, const struct workload *b) {
  return key == WORKLOAD_BATCH     ? gives_the_same(a, b)
         : key == WORKLOAD_CONTEXT ? has_only_lengths(a) && has_only_lengths(b)
                                   : false;
}

// "the share of requests that meet tpot: P99 and P90", or NULL.
static const char *other_percentile(const struct workload *a, const struct workload *b,
                                    struct arena *arena) {
  const char *times = "";
  int left = 0, right = 0;
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    if (a->percentiles[key] && b->percentiles[key] && a->percentiles[key] != b->percentiles[key]) {
      times = arena_printf(arena, "%s%s%s", times, *times ? " and " : "", workload_key_names[key]);
      left = a->percentiles[key];
      right = b->percentiles[key];
    }
  if (!*times || a->promised || b->promised)
    return NULL;
  return arena_printf(arena, "the share of requests that meet %s: P%d and P%d", times, left, right);
}

const char *workload_difference(const struct workload *a, const struct workload *b,
                                struct arena *arena) {
  for (int key = 0; key < WORKLOAD_KEYS; key++) {
    const char *left = a->values[key], *right = b->values[key];
    if (follows((enum workload_key)key, a, b))
      continue;
    if (*left && *right && !workload_is_alike(a, (enum workload_key)key, left, right))
      return arena_printf(arena, "%s: %s and %s", workload_key_names[key], left, right);
  }
  if (workload_lengths_differ(a->input_tokens, b->input_tokens))
    return arena_printf(arena, "input_tokens: %.0f and %.0f", a->input_tokens, b->input_tokens);
  if (workload_lengths_differ(a->output_tokens, b->output_tokens))
    return arena_printf(arena, "output_tokens: %.0f and %.0f", a->output_tokens, b->output_tokens);
  return other_percentile(a, b, arena);
}
