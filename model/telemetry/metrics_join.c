#include "model/telemetry/metrics_join.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/telemetry/metrics.h"
#include "model/telemetry/utc.h"

#include <stdlib.h>
#include <string.h>

#define uthash_malloc(size)       arena_alloc(joining->arena, size)
#define uthash_free(memory, size) ((void)(memory))
#include <uthash.h>

struct known {
  const char *key;
  size_t index;
  UT_hash_handle hh;
};

struct joining {
  struct metrics *all;
  struct known *known;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct metric_label *)a)->name, ((const struct metric_label *)b)->name);
}

// The name and all labels, whatever their order; no label contains a line feed and a tab.
static const char *key_of(const struct metric *metric, struct arena *arena) {
  struct metric_label *labels = arena_array(arena, metric->label_count, sizeof *labels);
  const char *key = metric->name;
  for (size_t i = 0; i < metric->label_count; i++)
    labels[i] = metric->labels[i];
  if (metric->label_count)
    qsort(labels, metric->label_count, sizeof *labels, by_name);
  for (size_t i = 0; i < metric->label_count; i++)
    key = arena_printf(arena, "%s\n\t%s=%s", key, labels[i].name, labels[i].value);
  return key;
}

static int differ(const struct joining *joining, const struct source *source,
                  const struct metric *a, size_t i, const struct metric *b, size_t k) {
  diagnostics_error(joining->diagnostics, (struct place){source, 0, 0},
                    "'%s' is %.17g at %s, and %.17g in another series with the same labels: "
                    "servers need labels that tell them apart",
                    b->name, b->values[k], utc_text(b->time_s[k], joining->arena), a->values[i]);
  return -1;
}

static size_t count_falls(const struct metric *metric) {
  size_t falls = 0;
  for (size_t i = 1; i < metric->count; i++)
    falls += metric->values[i] < metric->values[i - 1];
  return falls;
}

// Two servers' numbers, read at times of their own, alternate where they overlap. One server's fall
// together only where they do apart, or where one series follows the other.
static int check_alternation(const struct joining *joining, const struct source *source,
                             const struct metric *joined, size_t falls_apart) {
  const size_t falls = count_falls(joined);
  if (falls <= 2 * falls_apart + 2)
    return 0;
  diagnostics_error(joining->diagnostics, (struct place){source, 0, 0},
                    "'%s' falls %zu times when joined with another series of the same labels, and "
                    "%zu times apart: servers need labels that tell them apart",
                    joined->name, falls, falls_apart);
  return -1;
}

// Two series as one.
static int merge(const struct joining *joining, const struct source *source, struct metric *a,
                 const struct metric *b) {
  const size_t most = a->count + b->count;
  double *time_s = arena_array(joining->arena, most, sizeof *time_s);
  double *values = arena_array(joining->arena, most, sizeof *values);
  const size_t falls_apart = count_falls(a) + count_falls(b);
  size_t i = 0, k = 0, count = 0;
  while (i < a->count || k < b->count) {
    const bool both = i < a->count && k < b->count && !(a->time_s[i] < b->time_s[k]) &&
                      !(b->time_s[k] < a->time_s[i]);
    if (both && a->values[i] != b->values[k])
      return differ(joining, source, a, i, b, k);
    const bool first = both || k == b->count || (i < a->count && a->time_s[i] < b->time_s[k]);
    time_s[count] = first ? a->time_s[i] : b->time_s[k];
    values[count++] = first ? a->values[i] : b->values[k];
    k += both || !first;
    i += first;
  }
  a->time_s = time_s;
  a->values = values;
  a->count = count;
  return check_alternation(joining, source, a, falls_apart);
}

static int add(struct joining *joining, const struct source *source, const struct metric *metric) {
  struct metrics *all = joining->all;
  struct known *known;
  const char *key = key_of(metric, joining->arena);
  HASH_FIND_STR(joining->known, key, known);
  if (known)
    return merge(joining, source, &all->list[known->index], metric);
  known = arena_alloc(joining->arena, sizeof *known);
  *known = (struct known){.key = key, .index = all->count};
  HASH_ADD_KEYPTR(hh, joining->known, known->key, strlen(key), known);
  all->list = arena_room(joining->arena, all->list, all->count, sizeof *all->list);
  all->list[all->count++] = *metric;
  return 0;
}

struct metrics *metrics_join(struct metrics *const *files, size_t count, struct arena *arena,
                             struct diagnostics *diagnostics) {
  struct joining joining = {
      .all = arena_alloc(arena, sizeof *joining.all), .arena = arena, .diagnostics = diagnostics};
  *joining.all = (struct metrics){.source = count ? files[0]->source : NULL};
  for (size_t f = 0; f < count; f++)
    for (size_t i = 0; i < files[f]->count; i++)
      if (add(&joining, files[f]->source, &files[f]->list[i]))
        return NULL;
  return joining.all;
}
