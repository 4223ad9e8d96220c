#include "model/imports/repeats.h"

#include "base/statistics.h"
#include "base/texts.h"
#include "model/evidence/workload.h"
#include "model/records/serving.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static int compare(double a, double b) {
  if (isnan(a) || isnan(b))
    return !isnan(a) - !isnan(b);
  return number_order(a, b);
}

static const struct serving_rung *rung_of(const void *imported) {
  return &((const struct imported *)imported)->rungs[0];
}

static int by_load(const void *one, const void *other) {
  const struct serving_rung *a = rung_of(one), *b = rung_of(other);
  const int orders[] = {
      (a->load > b->load) - (a->load < b->load), compare(a->concurrency, b->concurrency),
      compare(a->request_rate, b->request_rate), compare(a->input_tokens, b->input_tokens)};
  for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
    if (orders[i])
      return orders[i];
  return 0;
}

// Refused runs come last.
static int by_rate(const void *one, const void *other) {
  const struct serving_rung *a = rung_of(one), *b = rung_of(other);
  if (!*a->refused != !*b->refused)
    return *a->refused ? 1 : -1;
  return compare(a->output_tokens_per_s, b->output_tokens_per_s);
}

// Lengths are drawn around a mean, and differ slightly from run to run.
static bool is_near(double a, double b) {
  return fabs(a - b) <= REQUEST_LENGTHS * fmax(a, b);
}

static bool is_repeat(const struct serving_rung *a, const struct serving_rung *b) {
  return a->load != LOAD_UNKNOWN && a->load == b->load &&
         !compare(a->concurrency, b->concurrency) && !compare(a->request_rate, b->request_rate) &&
         is_near(a->input_tokens, b->input_tokens) && is_near(a->output_tokens, b->output_tokens);
}

static const char *load_text(const struct serving_rung *rung, struct arena *arena) {
  if (!isnan(rung->concurrency))
    return arena_printf(arena, "%.6g in flight", rung->concurrency);
  return isnan(rung->request_rate) ? serving_load_names[rung->load]
                                   : arena_printf(arena, "%.6g requests/s", rung->request_rate);
}

static struct imported median_of(struct imported *runs, size_t count, struct arena *arena) {
  size_t usable = 0;
  qsort(runs, count, sizeof *runs, by_rate);
  while (usable < count && !*runs[usable].rungs[0].refused)
    usable++;
  struct imported median = runs[usable ? (usable - 1) / 2 : 0];
  if (count > 1)
    texts_add(&median.remarks, arena, "%s: the run with the median rate, of %zu",
              load_text(&median.rungs[0], arena), count);
  return median;
}

void repeats_settle(struct imported_list *all, size_t first, struct arena *arena) {
  struct imported *runs = all->list + first;
  const size_t count = all->count - first;
  size_t kept = 0;
  qsort(runs, count, sizeof *runs, by_load);
  for (size_t start = 0, end; start < count; start = end) {
    for (end = start + 1; end < count && is_repeat(&runs[start].rungs[0], &runs[end].rungs[0]);)
      end++;
    runs[kept++] = median_of(&runs[start], end - start, arena);
  }
  all->count = first + kept;
}
