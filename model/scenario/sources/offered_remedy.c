#include "model/scenario/sources/offered_remedy.h"

#include "base/source.h"
#include "model/cost/model.h"
#include "model/delivery/offer.h"
#include "model/delivery/offer_match.h"
#include "model/evidence/workload.h"
#include "model/records/served.h"
#include "model/records/serving.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"
#include "model/scenario/sources/load_power.h"
#include "model/scenario/sources/offered_throughput.h"
#include "model/scenario/sources/sources.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct promise {
  const struct offer *offer;
  const struct offer_guarantee *guarantee;
};

// A guarantee of decoding does not apply to an option that serves, nor the other way round.
static bool is_of_its_throughput(const struct sources *sources,
                                 const struct offer_guarantee *guarantee) {
  const bool decodes = resolving_has(sources->resolving, sources->decode);
  return !strcmp(offer_guaranteed_input(guarantee), decodes ? "decode_throughput" : "throughput");
}

static bool is_near(double guaranteed, double measured) {
  static const double same_load = 1e-6;
  return fabs(measured / guaranteed - 1) <= same_load;
}

// A server's maximum is of a load that the workload does not state.
static bool is_of_its_load(const struct option *option, const struct offer_guarantee *guarantee) {
  const struct serving_rung *rung = option->served ? option->served->nearest : NULL;
  if (!rung || *option->workload.values[WORKLOAD_BATCH])
    return true;
  if (guarantee->concurrency > 0)
    return rung->load == LOAD_CLOSED && is_near(guarantee->concurrency, rung->concurrency);
  return !(guarantee->request_rate > 0) ||
         (rung->load == LOAD_POISSON && is_near(guarantee->request_rate, rung->request_rate));
}

// What a case's offer promises for the option; nothing if no guarantee or more than one applies.
static struct promise promise_of(const struct sources *sources, size_t which_case) {
  const struct option *option = sources->option;
  const struct scenario_offer *quote = option_offer(sources->scenario, option, which_case);
  size_t others = 0;
  const struct offer_guarantee *guarantee =
      quote ? offer_guarantee_for(quote->offer, &option->workloads[which_case], &others) : NULL;
  if (!guarantee || others || !is_of_its_throughput(sources, guarantee) ||
      !is_of_its_load(option, guarantee))
    return (struct promise){NULL, NULL};
  return (struct promise){quote->offer, guarantee};
}

static bool promises_remedy(const struct promise *promise) {
  return promise->guarantee && offer_promises_remedy(promise->offer);
}

// The promises of all cases' offers together: an input that one of them gives is given in all
// cases.
struct promises {
  struct promise first; // the first one that has a remedy
  bool replaces, limits;
};

// Applies a promise in a case. `owes`: whether it is this case's own.
static void apply(const struct sources *sources, size_t which_case, const struct promise *promise,
                  const struct promises *all, bool owes) {
  const struct offer_acceptance *said = &promise->offer->acceptance;
  const double remedy = owes && !said->replacement ? said->remedy : 0;
  const double most = isnan(said->remedy_limit) ? 100 * remedy : said->remedy_limit;
  const struct offer *offer = promise->offer;
  const struct {
    const char *input;
    double value;
    struct place place;
  } inputs[] = {
      {"remedy", remedy, offer->remedy_place},
      {"replacement",
       owes && said->replacement ? 1
       : all->replaces           ? 0
                                 : NAN,
       offer->remedy_place},
      {"guaranteed_throughput", offer_guaranteed_rate(offer, promise->guarantee),
       promise->guarantee->tokens_place},
      {"guarantee_tolerance", isnan(said->tolerance) ? 0 : said->tolerance, offer->tolerance_place},
      {"remedy_limit", all->limits ? most : NAN, offer->limit_place},
  };
  for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
    if (!isnan(inputs[i].value))
      offered_set(sources->resolving, which_case, offer, promise->guarantee, inputs[i].input,
                  inputs[i].value,
                  inputs[i].place.source ? inputs[i].place : promise->guarantee->place);
}

static struct promises promises_of(const struct sources *sources) {
  struct promises all = {.first = {NULL, NULL}};
  for (size_t c = 0; c < sources->scenario->case_count; c++) {
    const struct promise own = promise_of(sources, c);
    if (!promises_remedy(&own))
      continue;
    all.first = all.first.guarantee ? all.first : own;
    all.replaces |= own.offer->acceptance.replacement;
    all.limits |= !isnan(own.offer->acceptance.remedy_limit);
  }
  return all;
}

void offered_remedy_apply(const struct sources *sources) {
  const struct promises all = promises_of(sources);
  if (!all.first.guarantee || !option_is_owned(sources->option))
    return;
  for (size_t c = 0; c < sources->scenario->case_count; c++) {
    const struct promise own = promise_of(sources, c);
    const bool owes = promises_remedy(&own);
    apply(sources, c, owes ? &own : &all.first, &all, owes);
  }
}

// Whether the option lacks watts: neither a rung nor another record of it has them, and nobody
// stated them.
static bool lacks_watts(const struct sources *sources, size_t which_case) {
  const struct served *served = sources->option->served_watts;
  const int load_power = model_find(sources->scenario->model, "load_power");
  const struct figure *load = resolving_figures(sources->resolving, which_case)[load_power];
  return !(served && (isfinite(served->load_power_w) || isfinite(served->node_power_w))) &&
         (load->origin == ORIGIN_NONE || load_power_is_tdp(sources->scenario, load));
}

void offered_watts_apply(const struct sources *sources) {
  if (!sources->option->served_watts && !sources->option->record)
    return;
  for (size_t c = 0; c < sources->scenario->case_count; c++) {
    const struct promise own = promise_of(sources, c);
    if (own.guarantee && !own.offer->per_node && !isnan(own.guarantee->power_w) &&
        lacks_watts(sources, c))
      offered_set(sources->resolving, c, own.offer, own.guarantee, "load_power",
                  own.guarantee->power_w, own.guarantee->power_place);
  }
}
