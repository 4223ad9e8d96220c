#include "model/delivery/offer_match.h"

#include "model/records/serving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The latency that nearly every request meets, which a mean or a median does not state. INFINITY:
// not guaranteed.
static double kept_by_most(const struct offer_guarantee *guarantee, enum offer_latency_kind kind) {
  const struct offer_latency *latency = &guarantee->latencies[kind];
  return isnan(latency->seconds) || latency->statistic < LATENCY_P90 ? INFINITY : latency->seconds;
}

// The seconds that a workload's time or rate per user allows, each of which is written in a single
// unit: s, ms or token/s. INFINITY if it states none.
static double seconds_of(const struct workload *workload, enum workload_key key) {
  const double value = strtod(workload->values[key], NULL);
  if (!*workload->values[key])
    return INFINITY;
  return key == WORKLOAD_INTERACTIVITY ? 1 / value : key == WORKLOAD_TPOT ? value / 1000 : value;
}

// The latency limits of a workload, INFINITY for none.
static void limits_of(const struct workload *workload, double limits[OFFER_LATENCIES]) {
  limits[OFFER_TTFT] = seconds_of(workload, WORKLOAD_TTFT);
  limits[OFFER_TPOT] =
      fmin(seconds_of(workload, WORKLOAD_TPOT), seconds_of(workload, WORKLOAD_INTERACTIVITY));
}

static bool is_per_user(int key) {
  return key == WORKLOAD_TTFT || key == WORKLOAD_TPOT || key == WORKLOAD_INTERACTIVITY;
}

static enum offer_latency_kind latency_of(int key) {
  return key == WORKLOAD_TTFT ? OFFER_TTFT : OFFER_TPOT;
}

int offer_guarantee_percentile(const struct offer_guarantee *guarantee,
                               const struct workload *workload, enum workload_key key) {
  static const int percents[LATENCY_STATISTICS] = {
      [LATENCY_P90] = 90, [LATENCY_P95] = 95, [LATENCY_P99] = 99};
  const bool is_limited = (key == WORKLOAD_TTFT || key == WORKLOAD_TPOT) && *workload->values[key];
  return is_limited ? percents[guarantee->latencies[latency_of(key)].statistic] : 0;
}

// Whether the guarantee agrees with the workload's key. A key that the guarantee leaves open agrees
// with what the throughput was measured on, but not with what is asked for.
static bool agrees(const struct offer_guarantee *guarantee, const struct workload *workload,
                   enum workload_key key) {
  const char *wanted = workload->values[key], *said = guarantee->workload.values[key];
  return (!*said && !workload->places[key].source) ||
         (key == WORKLOAD_CONTEXT && *said && strcmp(said, wanted) != 0
              ? guarantee->input_tokens > 0 && !workload_lengths_differ(atof(said), atof(wanted))
              : workload_is_alike(workload, key, wanted, said));
}

static bool meets(const struct offer_guarantee *guarantee, const struct workload *workload,
                  enum workload_key key) {
  if (!*workload->values[key])
    return true;
  return is_per_user(key)
             ? kept_by_most(guarantee, latency_of(key)) <= seconds_of(workload, key) * (1 + 1e-12)
             : agrees(guarantee, workload, key);
}

// The lengths of requests, after the keys of a workload.
enum { INPUT_LENGTH = WORKLOAD_KEYS, OUTPUT_LENGTH, CONDITIONS };

// Whether the guarantee is for the workload as far as a condition goes.
static bool holds(const struct offer_guarantee *guarantee, const struct workload *workload,
                  int condition) {
  if (condition == INPUT_LENGTH)
    return !workload_lengths_differ(guarantee->input_tokens, workload->input_tokens);
  if (condition == OUTPUT_LENGTH)
    return !workload_lengths_differ(guarantee->output_tokens, workload->output_tokens);
  return meets(guarantee, workload, (enum workload_key)condition);
}

static bool fits(const struct offer_guarantee *guarantee, const struct workload *workload) {
  for (int condition = 0; condition < CONDITIONS; condition++)
    if (!holds(guarantee, workload, condition))
      return false;
  return true;
}

// Compares two guarantees that both meet the workload's limits: above 0 if a is closer to them, 0
// if neither is.
static int closer(const struct offer_guarantee *a, const struct offer_guarantee *b,
                  const struct workload *workload) {
  double limits[OFFER_LATENCIES];
  limits_of(workload, limits);
  for (int l = 0; l < OFFER_LATENCIES; l++) {
    const double left = kept_by_most(a, (enum offer_latency_kind)l);
    const double right = kept_by_most(b, (enum offer_latency_kind)l);
    if (isfinite(limits[l]) && left != right)
      return left > right ? 1 : -1;
  }
  return 0;
}

const struct offer_guarantee *offer_guarantee_for(const struct offer *offer,
                                                  const struct workload *workload, size_t *others) {
  const struct offer_guarantee *found = NULL;
  size_t count = 0;
  for (size_t g = 0; g < offer->guarantee_count; g++)
    if (!isnan(offer->guarantees[g].tokens_per_s) && fits(&offer->guarantees[g], workload)) {
      const struct offer_guarantee *one = &offer->guarantees[g];
      const int nearer = found ? closer(one, found, workload) : 1;
      found = nearer > 0 ? one : found;
      count = nearer > 0 ? 1 : count + (nearer == 0);
    }
  *others = count ? count - 1 : 0;
  return found;
}

struct texts offer_given(const struct offer *offer, const struct workload *workload,
                         struct arena *arena) {
  struct texts names = {0};
  struct offer_input inputs[OFFER_INPUTS];
  size_t others;
  const size_t count = offer_inputs(offer, inputs, arena);
  const struct offer_guarantee *guarantee = offer_guarantee_for(offer, workload, &others);
  for (size_t i = 0; i < count; i++)
    texts_add(&names, arena, "%s", inputs[i].name);
  if (!guarantee || others)
    return names;
  const bool owes = offer_promises_remedy(offer);
  const struct {
    const char *name;
    bool is_given;
  } guaranteed[] = {
      {offer_guaranteed_input(guarantee), true},
      {"load_power", !offer->per_node && !isnan(guarantee->power_w)},
      {"guaranteed_throughput", owes},
      {"guarantee_tolerance", owes},
      {"remedy", owes},
      {"remedy_limit", owes && !isnan(offer->acceptance.remedy_limit)},
      {"replacement", offer->acceptance.replacement},
  };
  for (size_t i = 0; i < sizeof guaranteed / sizeof guaranteed[0]; i++)
    if (guaranteed[i].is_given)
      texts_add(&names, arena, "%s", guaranteed[i].name);
  return names;
}

// ---- why a guarantee does not apply

// "ttft = 2 s and tpot = 45 ms"
static const char *times_missed(const struct offer_guarantee *guarantee,
                                const struct workload *workload, struct arena *arena) {
  struct texts missed = {0};
  for (size_t i = 0; i < WORKLOAD_PER_USER; i++) {
    const enum workload_key key = workload_per_user[i];
    if (!meets(guarantee, workload, key))
      texts_add(&missed, arena, "%s = %s", workload_key_names[key], workload->values[key]);
  }
  return texts_joined_by(&missed, " and ", arena);
}

static const char *difference_in(const struct offer_guarantee *guarantee,
                                 const struct workload *workload, int condition,
                                 struct arena *arena) {
  if (condition == INPUT_LENGTH)
    return arena_printf(arena, "is for input_tokens = %.9g, not %.9g", guarantee->input_tokens,
                        workload->input_tokens);
  if (condition == OUTPUT_LENGTH)
    return arena_printf(arena, "is for output_tokens = %.9g, not %.9g", guarantee->output_tokens,
                        workload->output_tokens);
  const char *key = workload_key_names[condition], *wanted = workload->values[condition];
  const char *said = guarantee->workload.values[condition];
  if (is_per_user(condition))
    return arena_printf(arena, "does not guarantee %s at P90 or higher",
                        times_missed(guarantee, workload, arena));
  return *said ? arena_printf(arena, "is for %s = %s, not %s", key, said, wanted)
               : arena_printf(arena, "does not state %s = %s", key, wanted);
}

// "does not state scenario = server": the first difference in what is asked for, else in what was
// measured; NULL for none.
static const char *difference(const struct offer_guarantee *guarantee,
                              const struct workload *workload, struct arena *arena) {
  for (int asked = 1; asked >= 0; asked--)
    for (int condition = 0; condition < CONDITIONS; condition++) {
      const bool is_asked = condition >= WORKLOAD_KEYS || workload->places[condition].source;
      if (is_asked == asked && !holds(guarantee, workload, condition))
        return difference_in(guarantee, workload, condition, arena);
    }
  return NULL;
}

struct texts offer_mismatches(const struct offer *offer, const struct workload *workload,
                              struct arena *arena) {
  struct texts mismatches = {0};
  for (size_t g = 0; g < offer->guarantee_count; g++) {
    const struct offer_guarantee *guarantee = &offer->guarantees[g];
    const char *why =
        isnan(guarantee->tokens_per_s) ? NULL : difference(guarantee, workload, arena);
    if (why)
      texts_add(&mismatches, arena, "%s (%.9g token/s/%s) %s", guarantee->name,
                guarantee->tokens_per_s, offer->per_node ? "node" : "gpu", why);
  }
  return mismatches;
}
