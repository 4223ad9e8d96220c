#include "model/delivery/twins.h"

#include "base/source.h"
#include "base/statistics.h"
#include "model/records/serving.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// ---- one file as several runs

// A load, and one of the files that its record is made from.
struct use {
  const struct serving_file *source;
  const struct fleet_item *item;
};

// Of the whole server: the file does not change with the number of accelerators that is stated.
static double rate_of(const struct use *use) {
  return use->item->run.tokens_per_s * use->item->workload.ranks;
}

static int by_source(const void *a, const void *b) {
  const struct use *left = a, *right = b;
  const int source = strcmp(left->source->sha256, right->source->sha256);
  const int rate = source ? source : number_order(rate_of(left), rate_of(right));
  return rate ? rate : strcmp(left->item->run.digest, right->item->run.digest);
}

static bool is_equal(double a, double b) {
  return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fabs(a);
}

static bool is_one_load(const struct use *a, const struct use *b) {
  const struct fleet_latencies *left = a->item->run.latencies, *right = b->item->run.latencies;
  return !strcmp(a->source->sha256, b->source->sha256) &&
         strcmp(a->item->run.digest, b->item->run.digest) != 0 &&
         is_equal(rate_of(a), rate_of(b)) && is_equal(left->completed, right->completed) &&
         is_equal(left->ttft.mean_s, right->ttft.mean_s);
}

static void refuse(const struct use *a, const struct use *b, struct diagnostics *diagnostics) {
  const struct fleet_item *left = a->item, *right = b->item;
  if (strcmp(left->node, right->node) != 0)
    diagnostics_error(diagnostics, nowhere,
                      "'%s' and '%s' were both imported from %s, as runs of nodes %s and %s: it "
                      "would count twice",
                      left->run.file, right->run.file, a->source->name, left->node, right->node);
  else
    diagnostics_error(diagnostics, nowhere,
                      "'%s' and '%s' were both imported from %s, as two runs of node %s: it would "
                      "count twice",
                      left->run.file, right->run.file, a->source->name, left->node);
}

void twins_refuse(const struct fleet_item *items, size_t count, struct arena *arena,
                  struct diagnostics *diagnostics) {
  struct use *uses = NULL;
  size_t use_count = 0;
  for (size_t i = 0; i < count; i++)
    for (size_t s = 0; s < items[i].source_count; s++) {
      uses = arena_room(arena, uses, use_count, sizeof *uses);
      uses[use_count++] = (struct use){&items[i].sources[s], &items[i]};
    }
  if (use_count)
    qsort(uses, use_count, sizeof *uses, by_source);
  const struct use *told = NULL; // the second of the last pair
  for (size_t u = 1; u < use_count; u++) {
    const bool again = told && !strcmp(told->item->run.digest, uses[u].item->run.digest) &&
                       !strcmp(told[-1].item->run.digest, uses[u - 1].item->run.digest);
    if (again || !is_one_load(&uses[u - 1], &uses[u]))
      continue;
    told = &uses[u];
    refuse(&uses[u - 1], told, diagnostics);
  }
}

// ---- one node under several names

struct folded {
  const char *name, *whole, *host; // as given; folded; folded and without its domain
};

// In lower case, and without leading zeros: "N003" as "n3".
static const char *fold(const char *name, struct arena *arena) {
  char *folded = arena_copy(arena, name), *to = folded;
  for (const char *from = name; *from; from++) {
    const bool begins = from == name || !isdigit((unsigned char)from[-1]);
    while (begins && *from == '0' && isdigit((unsigned char)from[1]))
      from++;
    *to++ = (char)tolower((unsigned char)*from);
  }
  *to = 0;
  return folded;
}

// The name without a domain is the first of its host's.
static int by_host(const void *a, const void *b) {
  const struct folded *left = a, *right = b;
  const int host = strcmp(left->host, right->host);
  const int whole = host ? host : strcmp(left->whole, right->whole);
  return whole ? whole : strcmp(left->name, right->name);
}

// The end of the names that may be the one at `from`: two domains may well have a host each.
static size_t end_of_twins(const struct folded *names, size_t from, size_t count) {
  const bool is_bare = !strcmp(names[from].whole, names[from].host);
  size_t end = from + 1;
  while (end < count && (is_bare ? !strcmp(names[end].host, names[from].host)
                                 : !strcmp(names[end].whole, names[from].whole)))
    end++;
  return end;
}

void twins_of_names(const char *const *names, size_t count, struct texts *warnings,
                    struct arena *arena) {
  struct folded *folded = arena_array(arena, count + 1, sizeof *folded);
  for (size_t i = 0; i < count; i++) {
    const char *whole = fold(names[i], arena);
    folded[i] = (struct folded){names[i], whole, arena_copy_n(arena, whole, strcspn(whole, "."))};
  }
  qsort(folded, count, sizeof *folded, by_host);
  for (size_t from = 0, end; from < count; from = end) {
    struct texts group = {0};
    end = end_of_twins(folded, from, count);
    for (size_t i = from; i < end; i++)
      texts_add(&group, arena, "%s", folded[i].name);
    if (group.count > 1)
      texts_add(warnings, arena,
                "nodes %s may be one that counts %zu times: their names differ only in case, "
                "leading zeros or a domain",
                texts_joined(&group, arena), group.count);
  }
}
