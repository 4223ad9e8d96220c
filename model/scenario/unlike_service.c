#include "model/scenario/unlike_service.h"

#include "base/texts.h"
#include "model/cost/arithmetic.h"
#include "model/cost/model.h"
#include "model/delivery/offer.h"
#include "model/evidence/day.h"
#include "model/evidence/workload.h"
#include "model/records/served.h"
#include "model/records/serving.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// ---- loads of servers

// Requests that follow each other, come at a rate, or come all at once.
enum load_kind { LOADS_CLOSED, LOADS_ARRIVING, LOADS_AT_ONCE, LOADS_OTHER };

// The load on a server at which an option's rate was tested or is guaranteed.
struct load {
  enum load_kind kind;
  const char *shown;
  double request_rate; // 1/s, of requests that arrive
  bool promised;
};

static enum load_kind kind_of(const struct served *served) {
  switch (served->nearest->load) {
  case LOAD_CLOSED: return LOADS_CLOSED;
  case LOAD_POISSON:
  case LOAD_CONSTANT: return LOADS_ARRIVING;
  case LOAD_BURST: return LOADS_AT_ONCE;
  default: return LOADS_OTHER;
  }
}

// The guarantee that gives the option's rate of serving, or NULL.
static const struct offer_guarantee *guarantee_of(const struct scenario *scenario,
                                                  const struct option *option) {
  const struct figure *rate = option_figure_stated(scenario, option, "throughput");
  const struct scenario_offer *quote = scenario_offer_of(scenario, rate);
  for (size_t g = 0; quote && g < quote->offer->guarantee_count; g++)
    if (quote->offer->guarantees[g].tokens_place.line == rate->place.line)
      return &quote->offer->guarantees[g];
  return NULL;
}

static struct load load_of(const struct scenario *scenario, const struct option *option,
                           struct arena *arena) {
  const struct served *served = option_served(scenario, option);
  const struct offer_guarantee *guarantee = guarantee_of(scenario, option);
  if (served)
    return (struct load){kind_of(served), served->load, served->nearest->request_rate, false};
  if (guarantee && guarantee->concurrency > 0)
    return (struct load){LOADS_CLOSED,
                         arena_printf(arena, "%.9g requests in flight", guarantee->concurrency), 0,
                         true};
  if (guarantee && guarantee->request_rate > 0)
    return (struct load){LOADS_ARRIVING,
                         arena_printf(arena, "%.9g requests/s", guarantee->request_rate),
                         guarantee->request_rate, true};
  return (struct load){.kind = LOADS_OTHER};
}

// Two rates at which requests arrive, one of them guaranteed. They follow from the times that users
// must get, if the workload states these.
static bool has_other_rate(const struct load *a, const struct load *b,
                           const struct workload *workload) {
  return a->kind == LOADS_ARRIVING && b->kind == LOADS_ARRIVING && (a->promised || b->promised) &&
         !workload_chooses_batch(workload) &&
         arithmetic_compare(a->request_rate, b->request_rate) != 0;
}

static void warn_of_loads(struct scenario *scenario, const struct ranking *ranking,
                          struct arena *arena) {
  struct load first = {.kind = LOADS_OTHER};
  struct texts loads = {0};
  bool unlike_kinds = false, unlike_rates = false;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    const struct load load = load_of(scenario, option, arena);
    if (!ranking->options[o].ranked || load.kind == LOADS_OTHER)
      continue;
    first = first.kind == LOADS_OTHER ? load : first;
    unlike_kinds |= load.kind != first.kind;
    unlike_rates |= has_other_rate(&load, &first, &option->workload);
    texts_add(&loads, arena, "%s%s with %s%s", option->label, load.promised ? " guaranteed" : "",
              load.shown, load.kind == LOADS_CLOSED ? " (a closed loop)" : "");
  }
  if (unlike_kinds || unlike_rates)
    texts_add(&scenario->warnings, arena, "the servers' loads are unlike: %s; %s",
              texts_joined_by(&loads, "; ", arena),
              unlike_kinds ? "requests that arrive may queue, those of a closed loop wait for each "
                             "other, and arrivals count only at the rates tested"
                           : "no server returns more than what arrives");
}

// ---- times that are met by shares of the requests

// "ttft: a guarantees P99, b was measured at P90"; NULL if nothing differs or is guaranteed.
static const char *unlike_percentiles(const struct scenario *scenario,
                                      const struct ranking *ranking, enum workload_key key,
                                      struct arena *arena) {
  struct texts shares = {0};
  int first = 0;
  bool differ = false, any_promised = false;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    const struct workload *workload = &option->workload;
    const int percentile = workload->percentiles[key];
    if (!ranking->options[o].ranked || !percentile)
      continue;
    first = first ? first : percentile;
    differ |= percentile != first;
    any_promised |= workload->promised;
    texts_add(&shares, arena, "%s %s P%d", option->label,
              workload->promised ? "guarantees" : "was measured at", percentile);
  }
  return differ && any_promised
             ? arena_printf(arena, "%s: %s", workload_key_names[key],
                            texts_joined_by(&shares, options_between(scenario), arena))
             : NULL;
}

// A record is judged at the percentile that all have; a guarantee holds at its own.
static void warn_of_percentiles(struct scenario *scenario, const struct ranking *ranking,
                                struct arena *arena) {
  struct texts times = {0};
  for (int key = 0; key < WORKLOAD_KEYS; key++) {
    const char *unlike = unlike_percentiles(scenario, ranking, (enum workload_key)key, arena);
    if (unlike)
      texts_add(&times, arena, "%s", unlike);
  }
  if (times.count)
    texts_add(&scenario->warnings, arena,
              "the times per user are met by unlike shares of the requests: %s; at a lower "
              "percentile a server may carry more load",
              texts_joined_by(&times, "; ", arena));
}

// ---- what the options must serve

// What an option must serve in one respect: as shown, and in a form in which equals are equal
// texts; NULL for nothing.
struct service {
  const char *shown, *same;
  bool measured; // by a record of production
};

typedef struct service service_function(const struct scenario *scenario,
                                        const struct option *option, struct arena *arena);

static const char *texts_added(const char *list, const char *text, struct arena *arena) {
  return arena_printf(arena, "%s%s%s", list, *list ? ", " : "", text);
}

static struct service demand_of(const struct scenario *scenario, const struct option *option,
                                struct arena *arena) {
  const struct figure *demand = option_figure_stated(scenario, option, "demand");
  const struct list_figure single = {demand->value, demand->text, demand->place};
  const struct list_figure *years = demand->year_count ? demand->years : &single;
  struct service service = {"", "", false};
  if (!figure_is_given(demand))
    return (struct service){0};
  for (size_t y = 0; y < (demand->year_count ? demand->year_count : 1); y++) {
    const char *same = arena_printf(arena, "%.9g", years[y].value);
    service.same = texts_added(service.same, same, arena);
    service.shown = texts_added(service.shown, years[y].text ? years[y].text : same, arena);
  }
  return service;
}

static struct service day_of(const struct scenario *scenario, const struct option *option,
                             struct arena *arena) {
  const int first = model_find(scenario->model, "day_share_1");
  const struct figure *hour = option_figure(scenario, option, scenario->selected, first);
  const double even = 1.0 / HOURS_OF_DAY;
  struct service service = {"flat", "", false};
  if (!figure_is_given(option_figure_stated(scenario, option, "demand")))
    return (struct service){0};
  for (int h = 0; h < HOURS_OF_DAY && figure_is_given(hour); h++) {
    const double share = option_figure(scenario, option, scenario->selected, first + h)->value;
    if (arithmetic_compare(share, even) != 0)
      service.shown = hour->text ? hour->text : "of its own";
    service.same = texts_added(service.same, arena_printf(arena, "%.9g", share), arena);
  }
  if (!strcmp(service.shown, "flat"))
    service.same = "";
  return service;
}

static struct service utilization_of(const struct scenario *scenario, const struct option *option,
                                     struct arena *arena) {
  const bool measured =
      figure_is_given(option_figure_stated(scenario, option, "production_throughput"));
  const char *shown =
      arena_printf(arena, "%.1f %% %s", 100 * option_amount(scenario, option, "utilization"),
                   measured ? "by tokens served" : "as stated");
  struct service service = {0};
  if (!option->provider)
    service = (struct service){shown, shown, measured};
  return service;
}

// Stated utilizations may differ for good reasons; one that is stated beside one that was measured
// is a comparison of unlike figures.
static const struct respect {
  const char *name;
  service_function *service;
  bool only_if_measured; // for one option and not for another
} respects[] = {{"demand", demand_of, false},
                {"day profile", day_of, false},
                {"utilization", utilization_of, true}};

static const char *difference_in(const struct scenario *scenario, const struct ranking *ranking,
                                 const struct respect *respect, struct arena *arena) {
  struct texts all = {0};
  const char *first = NULL;
  bool differ = false, any_measured = false, any_stated = false;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    const struct service service = ranking->options[o].ranked && !option->lent
                                       ? respect->service(scenario, option, arena)
                                       : (struct service){0};
    if (!service.shown)
      continue;
    first = first ? first : service.same;
    differ |= strcmp(first, service.same) != 0;
    any_measured |= service.measured;
    any_stated |= !service.measured;
    texts_add(&all, arena, "%s %s", option->label, service.shown);
  }
  return differ && (!respect->only_if_measured || (any_measured && any_stated))
             ? arena_printf(arena, "%s: %s", respect->name,
                            texts_joined_by(&all, options_between(scenario), arena))
             : NULL;
}

static void warn_of_demands(struct scenario *scenario, const struct ranking *ranking,
                            struct arena *arena) {
  struct texts differences = {0};
  for (size_t i = 0; i < sizeof respects / sizeof respects[0]; i++) {
    const char *difference = difference_in(scenario, ranking, &respects[i], arena);
    if (difference)
      texts_add(&differences, arena, "%s", difference);
  }
  if (differences.count)
    texts_add(&scenario->warnings, arena, "the options do not serve the same: %s",
              texts_joined_by(&differences, "; ", arena));
}

void unlike_service_warn(struct scenario *scenario, struct arena *arena) {
  const struct ranking *ranking = ranking_of(scenario, arena);
  warn_of_loads(scenario, ranking, arena);
  warn_of_percentiles(scenario, ranking, arena);
  warn_of_demands(scenario, ranking, arena);
}
