#include "model/delivery/offer_guarantee.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/catalog/columns.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/delivery/offer.h"
#include "model/evidence/naming.h"
#include "model/evidence/workload.h"
#include "model/records/serving.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const rate_names[] = {"tokens_per_s", "power"};
static const char *const rate_units[] = {"token/s", "W"};

static void take_rate(struct offer_reader *reader, int which, const struct ini_key *key,
                      double *out) {
  const char *per = offer_per_what(quantity_spelled_out(key->value, reader->arena));
  const char *unit = arena_printf(reader->arena, "%s%s", rate_units[which], *per ? per : "/gpu");
  double value;
  if (quantity_parse(key->value, key->value_place, unit_constant(unit, reader->arena), &value,
                     reader->diagnostics))
    return;
  *out = which ? value : rate_per_second(value);
  if (!(value > 0))
    diagnostics_error(reader->diagnostics, key->value_place, "'%s' must be above 0, not %s",
                      key->name, key->value);
  else if (!*per)
    diagnostics_error(reader->diagnostics, key->value_place,
                      "state the rate as %s/gpu or %s/node, not '%s'", rate_units[which],
                      rate_units[which], key->value);
  else if (reader->first_basis && strcmp(reader->first_basis, per) != 0)
    diagnostics_error(
        reader->diagnostics, key->value_place,
        "one rate is per %s and another per %s: state all guarantees per gpu or all per node",
        per + 1, reader->first_basis + 1);
  reader->first_basis = reader->first_basis ? reader->first_basis : *per ? per : NULL;
}

static void take_naming(const struct offer_reader *reader, const struct ini_key *key,
                        struct naming naming, const char **out) {
  if (naming.why)
    diagnostics_error(reader->diagnostics, key->value_place, "%s", naming.why);
  if (naming.word)
    *out = naming.word;
}

static void take_workload(struct offer_reader *reader, enum workload_key which,
                          const struct ini_key *key, struct workload *workload) {
  const char **out = &workload->values[which];
  long row;
  workload->places[which] = key->value_place;
  if (which == WORKLOAD_MODEL)
    take_naming(reader, key,
                naming_find_row(reader->catalog, CATALOG_MODELS, key->value, &row, reader->arena),
                out);
  else if (which == WORKLOAD_PRECISION || which == WORKLOAD_ACTIVATIONS || which == WORKLOAD_KV ||
           which == WORKLOAD_HEAD)
    take_naming(reader, key, naming_find_precision(reader->catalog, key->value, reader->arena),
                out);
  else if (which == WORKLOAD_BASIS && strcmp(key->value, "decode") != 0 &&
           strcmp(key->value, "serving") != 0)
    offer_refuse(reader, key->value_place, "decode or serving", key->value);
  else if ((which == WORKLOAD_BATCH || which == WORKLOAD_CONTEXT) &&
           (strspn(key->value, "0123456789") != strlen(key->value) || strlen(key->value) > 9 ||
            !strspn(key->value, "123456789")))
    offer_refuse(reader, key->value_place, "a positive whole number", key->value);
  else
    *out = key->value;
}

// The keys of [workload] that a guaranteed rate depends on; rates and times per user are not part
// of a guarantee.
static const enum workload_key workload_keys[] = {
    WORKLOAD_MODEL, WORKLOAD_PRECISION, WORKLOAD_ACTIVATIONS, WORKLOAD_KV,    WORKLOAD_HEAD,
    WORKLOAD_BASIS, WORKLOAD_SCENARIO,  WORKLOAD_TOKENS,      WORKLOAD_BATCH, WORKLOAD_CONTEXT};

enum { WORKLOADS = sizeof workload_keys / sizeof workload_keys[0], RATES = 2 };

// "P99 2 s"
static void take_latency(const struct offer_reader *reader, const struct ini_key *key,
                         struct offer_latency *latency) {
  const size_t length = strcspn(key->value, " \t");
  const char *time = key->value + length + strspn(key->value + length, " \t");
  int statistic = 0;
  while (statistic < LATENCY_STATISTICS &&
         (strlen(serving_statistic_names[statistic]) != length ||
          strncasecmp(serving_statistic_names[statistic], key->value, length) != 0))
    statistic++;
  if (statistic == LATENCY_STATISTICS || !*time) {
    offer_refuse(reader, key->value_place,
                 "a statistic and a time, as 'P99 2 s': mean, P50, P90, P95 or P99", key->value);
    return;
  }
  struct place place = key->value_place;
  place.column += (int)(time - key->value);
  double hours;
  if (quantity_parse(time, place, unit_constant("s", reader->arena), &hours, reader->diagnostics))
    return;
  *latency = (struct offer_latency){rate_per_hour(hours), (enum serving_statistic)statistic,
                                    key->value_place}; // hours in seconds
  if (!(hours > 0))
    diagnostics_error(reader->diagnostics, place, "'%s' must be above 0, not %s", key->name, time);
}

static const char *const latency_names[OFFER_LATENCIES] = {
    [OFFER_TTFT] = "ttft", [OFFER_TPOT] = "tpot"};

// The lengths of a request, and the load on a server.
static const struct load_key {
  const char *name, *unit;
  bool is_rate, is_whole;
  size_t offset;
} load_keys[] = {
    {"input_tokens", "token", false, false, offsetof(struct offer_guarantee, input_tokens)},
    {"output_tokens", "token", false, false, offsetof(struct offer_guarantee, output_tokens)},
    {"concurrency", "request", false, true, offsetof(struct offer_guarantee, concurrency)},
    {"request_rate", "request/s", true, false, offsetof(struct offer_guarantee, request_rate)},
};

enum { LOADS = sizeof load_keys / sizeof load_keys[0] };

static void take_load(const struct offer_reader *reader, const struct load_key *load,
                      const struct ini_key *key, struct offer_guarantee *guarantee) {
  double value;
  if (quantity_parse(key->value, key->value_place, unit_constant(load->unit, reader->arena), &value,
                     reader->diagnostics))
    return;
  if (!(value > 0) || (load->is_whole && !offer_is_whole(value, 1)))
    offer_refuse(reader, key->value_place,
                 load->is_whole ? "a whole number above 0" : "a value above 0", key->value);
  else
    *(double *)((char *)guarantee + load->offset) = load->is_rate ? rate_per_second(value) : value;
}

// Whether the key is one for serving only, and was taken.
static bool take_served(const struct offer_reader *reader, const struct ini_key *key,
                        struct offer_guarantee *guarantee) {
  for (int l = 0; l < OFFER_LATENCIES; l++)
    if (!strcmp(key->name, latency_names[l])) {
      take_latency(reader, key, &guarantee->latencies[l]);
      return true;
    }
  for (int l = 0; l < LOADS; l++)
    if (!strcmp(key->name, load_keys[l].name)) {
      take_load(reader, &load_keys[l], key, guarantee);
      return true;
    }
  return false;
}

static void take_guaranteed(struct offer_reader *reader, const struct ini_section *section,
                            const struct ini_key *key, struct offer_guarantee *guarantee) {
  const char *names[WORKLOADS + RATES + OFFER_LATENCIES + LOADS];
  double *const rates[RATES] = {&guarantee->tokens_per_s, &guarantee->power_w};
  for (int r = 0; r < RATES; r++) {
    names[WORKLOADS + r] = rate_names[r];
    if (!strcmp(key->name, rate_names[r])) {
      *(r ? &guarantee->power_place : &guarantee->tokens_place) = key->value_place;
      take_rate(reader, r, key, rates[r]);
      return;
    }
  }
  for (int k = 0; k < WORKLOADS; k++) {
    names[k] = workload_key_names[workload_keys[k]];
    if (!strcmp(key->name, names[k])) {
      take_workload(reader, workload_keys[k], key, &guarantee->workload);
      return;
    }
  }
  if (take_served(reader, key, guarantee))
    return;
  for (int l = 0; l < OFFER_LATENCIES; l++)
    names[WORKLOADS + RATES + l] = latency_names[l];
  for (int l = 0; l < LOADS; l++)
    names[WORKLOADS + RATES + OFFER_LATENCIES + l] = load_keys[l].name;
  offer_unknown_key(reader, section, key, names, sizeof names / sizeof names[0]);
}

// ---- the conditions of a guarantee of serving

// Keys with the same meaning: a workload's batch is its requests in flight, its context their
// input.
static const struct {
  const char *one, *other, *why;
} exclusive[] = {
    {"concurrency", "request_rate",
     "a load is either a number of requests in flight or a rate per second"},
    {"concurrency", "batch", "both are the requests in flight"},
    {"request_rate", "batch",
     "a load is either a number of requests in flight or a rate per second"},
    {"input_tokens", "context", "both are the tokens of a prompt"},
};

static void check_exclusive(const struct offer_reader *reader, const struct ini_section *section) {
  for (size_t i = 0; i < sizeof exclusive / sizeof exclusive[0]; i++) {
    const struct ini_key *one = ini_find(section, exclusive[i].one);
    if (one && ini_find(section, exclusive[i].other))
      diagnostics_error(reader->diagnostics, one->place, "'%s' beside '%s': %s", exclusive[i].one,
                        exclusive[i].other, exclusive[i].why);
  }
}

// A latency depends on the request length and the load.
static void check_latencies(const struct offer_reader *reader, const struct ini_section *section,
                            const struct offer_guarantee *guarantee) {
  static const char *const needed[][3] = {
      {"input_tokens", "context"}, {"output_tokens"}, {"concurrency", "request_rate", "batch"}};
  bool is_told = true;
  for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
    bool is_there = false;
    for (size_t n = 0; n < 3 && needed[i][n]; n++)
      is_there |= ini_find(section, needed[i][n]) != NULL;
    is_told &= is_there;
  }
  for (int l = 0; l < OFFER_LATENCIES; l++)
    if (!isnan(guarantee->latencies[l].seconds) && !is_told)
      diagnostics_error(reader->diagnostics, guarantee->latencies[l].place,
                        "'%s' depends on request length and load: it needs 'input_tokens', "
                        "'output_tokens', and 'concurrency' or 'request_rate'",
                        latency_names[l]);
}

static void refuse_of_decoding(const struct offer_reader *reader,
                               const struct ini_section *section) {
  for (int l = 0; l < OFFER_LATENCIES + LOADS; l++) {
    const char *name = l < OFFER_LATENCIES ? latency_names[l] : load_keys[l - OFFER_LATENCIES].name;
    const struct ini_key *key = ini_find(section, name);
    if (key)
      diagnostics_error(reader->diagnostics, key->place,
                        "'%s' applies to serving, and this guarantee is for decoding", name);
  }
}

static void settle_served(const struct offer_reader *reader, const struct ini_section *section,
                          struct offer_guarantee *guarantee) {
  const char **values = guarantee->workload.values;
  if (strcmp(values[WORKLOAD_BASIS], "serving") != 0) {
    refuse_of_decoding(reader, section);
    return;
  }
  check_exclusive(reader, section);
  if (*values[WORKLOAD_BATCH])
    guarantee->concurrency = atoi(values[WORKLOAD_BATCH]);
  else if (guarantee->concurrency > 0)
    values[WORKLOAD_BATCH] = arena_printf(reader->arena, "%.0f", guarantee->concurrency);
  if (*values[WORKLOAD_CONTEXT])
    guarantee->input_tokens = atoi(values[WORKLOAD_CONTEXT]);
  else if (guarantee->input_tokens > 0)
    values[WORKLOAD_CONTEXT] = arena_printf(reader->arena, "%.0f", guarantee->input_tokens);
  check_latencies(reader, section, guarantee);
}

// Checks that the section guarantees something: a rate or, for serving, a latency.
static void check_is_promised(const struct offer_reader *reader,
                              const struct ini_section *section) {
  const struct ini_key *basis = ini_find(section, "basis");
  const bool serves = basis && !strcmp(basis->value, "serving");
  if (!ini_find(section, "tokens_per_s") &&
      !(serves && (ini_find(section, "ttft") || ini_find(section, "tpot"))))
    diagnostics_error(reader->diagnostics, section->place,
                      serves ? "a guarantee needs 'tokens_per_s', 'ttft' or 'tpot'"
                             : "a guarantee needs 'tokens_per_s'");
}

void offer_guarantee_read(struct offer_reader *reader, const struct ini_section *section) {
  static const char *const needed[] = {"model", "precision", "basis"};
  struct offer_guarantee *guarantee = &reader->offer->guarantees[reader->offer->guarantee_count++];
  *guarantee = (struct offer_guarantee){.name = section->argument,
                                        .place = section->place,
                                        .tokens_per_s = NAN,
                                        .power_w = NAN,
                                        .latencies = {{.seconds = NAN}, {.seconds = NAN}}};
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    guarantee->workload.values[key] = "";
  for (size_t k = 0; k < section->key_count; k++)
    take_guaranteed(reader, section, &section->keys[k], guarantee);
  if (!*guarantee->workload.values[WORKLOAD_TOKENS])
    guarantee->workload.values[WORKLOAD_TOKENS] = "output";
  for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
    if (!ini_find(section, needed[i]))
      diagnostics_error(reader->diagnostics, section->place, "a guarantee needs '%s'", needed[i]);
  check_is_promised(reader, section);
  settle_served(reader, section, guarantee);
}

// The tokens of a request that count, 0 if unknown.
static double tokens_counted(const struct offer_guarantee *guarantee) {
  const bool all = !strcmp(guarantee->workload.values[WORKLOAD_TOKENS], "total");
  if (all && !(guarantee->input_tokens > 0 && guarantee->output_tokens > 0))
    return 0;
  return guarantee->output_tokens + (all ? guarantee->input_tokens : 0);
}

void offer_guarantee_check_rates(const struct offer_reader *reader) {
  static const double rounding = 1e-9;
  const struct offer *offer = reader->offer;
  // A server has one accelerator or more, so that a node has at most as many servers.
  const double servers = offer->per_node ? offer_accelerators_per_node(offer) : 1;
  for (size_t g = 0; g < offer->guarantee_count; g++) {
    const struct offer_guarantee *guarantee = &offer->guarantees[g];
    const double tokens = tokens_counted(guarantee);
    const double most = guarantee->request_rate * tokens * servers;
    if (most > 0 && guarantee->tokens_per_s > most * (1 + rounding))
      diagnostics_error(reader->diagnostics, guarantee->tokens_place,
                        "%.9g requests/s of %.9g tokens at each server are at most %.9g "
                        "token/s/%s, even with one accelerator per server",
                        guarantee->request_rate, tokens, most, offer->per_node ? "node" : "gpu");
  }
}
