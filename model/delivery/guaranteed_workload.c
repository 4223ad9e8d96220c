#include "model/delivery/guaranteed_workload.h"

#include "base/texts.h"
#include "model/delivery/fleet_item.h"
#include "model/evidence/catalog.h"
#include "model/evidence/workload.h"
#include "model/records/serving.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool guaranteed_is_offered(const struct guaranteed_among *among,
                           const struct fleet_workload *measured) {
  const struct offer *offer = among->offer;
  if (measured->served)
    return !strcmp(measured->device, offer->accelerator);
  const long row = catalog_device(among->accelerators, measured->device);
  return row >= 0 &&
         !strcmp(table_cell(among->accelerators, (size_t)row, "id"), offer->accelerator);
}

static bool says(const struct workload *workload, enum workload_key key, const char *measured) {
  const char *said = workload->values[key];
  return !*said || workload_is_alike(workload, key, said, measured);
}

static bool is_number(const char *said, int measured) {
  return !*said || atoi(said) == measured;
}

// The precisions beside that of the weights. A device's record states all of them.
static const struct precision {
  enum workload_key key;
  size_t measured; // offset in struct fleet_workload
} precisions[] = {
    {WORKLOAD_ACTIVATIONS, offsetof(struct fleet_workload, activations)},
    {WORKLOAD_KV, offsetof(struct fleet_workload, kv)},
    {WORKLOAD_HEAD, offsetof(struct fleet_workload, head)},
};

enum { PRECISIONS = sizeof precisions / sizeof precisions[0] };

static const char *precision_of(const struct fleet_workload *measured,
                                const struct precision *precision) {
  return *(const char *const *)((const char *)measured + precision->measured);
}

static bool has_precisions(const struct workload *workload, const struct fleet_workload *measured) {
  for (size_t i = 0; i < PRECISIONS; i++) {
    const char *precision = precision_of(measured, &precisions[i]);
    if (*precision && !says(workload, precisions[i].key, precision))
      return false;
  }
  return true;
}

static bool fits_decoding(const struct workload *workload, const struct fleet_workload *measured) {
  return is_number(workload->values[WORKLOAD_BATCH], measured->batch) &&
         is_number(workload->values[WORKLOAD_CONTEXT], measured->context);
}

static bool is_near(double said, double measured, double share) {
  return !(said > 0) || fabs(measured / said - 1) <= share;
}

// Several servers may share a node; a server on several nodes does not belong to one node.
static bool is_of_node(const struct offer *offer, int accelerators) {
  const int each = offer_accelerators_per_node(offer);
  return !each || (accelerators <= each && each % accelerators == 0);
}

static bool fits_serving(const struct offer *offer, const struct offer_guarantee *guarantee,
                         const struct fleet_workload *measured) {
  static const double same_load = 1e-6;
  return is_near(guarantee->input_tokens, measured->input_tokens, REQUEST_LENGTHS) &&
         is_near(guarantee->output_tokens, measured->output_tokens, REQUEST_LENGTHS) &&
         (!(guarantee->concurrency > 0) || measured->load == LOAD_CLOSED) &&
         (!(guarantee->request_rate > 0) || measured->load == LOAD_POISSON) &&
         is_near(guarantee->concurrency, measured->concurrency, same_load) &&
         is_near(guarantee->request_rate, measured->request_rate, same_load) &&
         is_of_node(offer, measured->ranks);
}

bool guaranteed_fits(const struct guaranteed_among *among, const struct offer_guarantee *guarantee,
                     const struct fleet_workload *measured) {
  const struct workload *workload = &guarantee->workload;
  const bool serves = strcmp(workload->values[WORKLOAD_BASIS], "decode") != 0;
  return serves == measured->served && guaranteed_is_offered(among, measured) &&
         !strcmp(workload->values[WORKLOAD_MODEL], measured->model) &&
         says(workload, WORKLOAD_PRECISION, measured->weights) &&
         has_precisions(workload, measured) &&
         (serves ? fits_serving(among->offer, guarantee, measured)
                 : fits_decoding(workload, measured));
}

static bool is_unsaid(const struct offer_guarantee *guarantee,
                      const struct fleet_workload *measured, const struct precision *precision) {
  return *guarantee->workload.values[precision->key] && !*precision_of(measured, precision);
}

const char *guaranteed_unsaid(const struct offer_guarantee *guarantee,
                              const struct fleet_workload *measured, struct arena *arena) {
  struct texts unsaid = {0};
  for (size_t i = 0; i < PRECISIONS; i++)
    if (is_unsaid(guarantee, measured, &precisions[i]))
      texts_add(&unsaid, arena, "%s", workload_key_names[precisions[i].key]);
  return texts_joined_by(&unsaid, " and ", arena);
}

static int unsaid_count(const struct offer_guarantee *guarantee,
                        const struct fleet_workload *measured) {
  int count = 0;
  for (size_t i = 0; i < PRECISIONS; i++)
    count += is_unsaid(guarantee, measured, &precisions[i]);
  return count;
}

static bool says_more(const struct offer_guarantee *guarantee, const struct fleet_workload *a,
                      const struct fleet_workload *b) {
  return unsaid_count(guarantee, a) < unsaid_count(guarantee, b);
}

// Prefers one that was measured as a whole node at once, then the one with more runs.
static bool is_better(const struct fleet_workload *a, const struct fleet_workload *b) {
  const bool whole = a->together > 1 || a->ranks > 1, other = b->together > 1 || b->ranks > 1;
  return whole != other ? whole : a->run_count > b->run_count;
}

// Devices one by one and all at once are two ways to measure the same; two loads are different
// workloads.
static bool is_another(const struct fleet_workload *a, const struct fleet_workload *b) {
  return a->served || a->batch != b->batch || a->context != b->context ||
         strcmp(a->precision, b->precision) != 0;
}

// Advice on which of the keys that the guarantee leaves open would decide between two measured
// workloads.
static const char *advice(const struct offer_guarantee *guarantee, const struct fleet_workload *a,
                          const struct fleet_workload *b, struct arena *arena) {
  const char *const *said = guarantee->workload.values;
  const bool has_load = guarantee->concurrency > 0 || guarantee->request_rate > 0;
  const bool other_load =
      a->load != b->load || a->concurrency != b->concurrency || a->request_rate != b->request_rate;
  const struct {
    bool is_open, differs;
    const char *key;
  } keys[] = {
      {!(guarantee->input_tokens > 0), a->input_tokens != b->input_tokens, "input_tokens"},
      {!(guarantee->output_tokens > 0), a->output_tokens != b->output_tokens, "output_tokens"},
      {!has_load, other_load, "concurrency or request_rate"},
      {!*said[WORKLOAD_BATCH], a->batch != b->batch, "batch"},
      {!*said[WORKLOAD_CONTEXT], a->context != b->context, "context"},
      {!*said[WORKLOAD_ACTIVATIONS], strcmp(a->activations, b->activations) != 0, "activations"},
      {!*said[WORKLOAD_KV], strcmp(a->kv, b->kv) != 0, "kv"},
      {!*said[WORKLOAD_HEAD], strcmp(a->head, b->head) != 0, "head"},
  };
  struct texts open = {0};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (keys[i].is_open && keys[i].differs)
      texts_add(&open, arena, "%s", keys[i].key);
  return open.count ? arena_printf(arena, "state %s in it", texts_joined(&open, arena))
                    : "give the records of one of them alone";
}

long guaranteed_workload(const struct guaranteed_among *among,
                         const struct offer_guarantee *guarantee, struct diagnostics *diagnostics,
                         struct arena *arena) {
  const struct fleet *fleet = among->fleet;
  long found = -1;
  for (size_t w = 0; w < fleet->workload_count; w++) {
    const struct fleet_workload *one = &fleet->workloads[w];
    if (!guaranteed_fits(among, guarantee, one))
      continue;
    const struct fleet_workload *other = found < 0 ? one : &fleet->workloads[found];
    if (says_more(guarantee, other, one))
      continue;
    if (says_more(guarantee, one, other))
      found = -1;
    if (found >= 0 && is_another(one, other)) {
      diagnostics_error(diagnostics, guarantee->place,
                        "guarantee '%s' matches two measured workloads: %s; and %s: %s",
                        guarantee->name, other->words, one->words,
                        advice(guarantee, other, one, arena));
      return -1;
    }
    if (found < 0 || is_better(one, other))
      found = (long)w;
  }
  return found;
}

bool guaranteed_same_ladder(const struct fleet_workload *a, const struct fleet_workload *b) {
  return a->served && b->served && !strcmp(a->device, b->device) && !strcmp(a->model, b->model) &&
         !strcmp(a->precision, b->precision) && a->ranks == b->ranks &&
         a->input_tokens == b->input_tokens && a->output_tokens == b->output_tokens;
}
