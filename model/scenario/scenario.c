#include "model/scenario/scenario.h"

#include "base/source.h"
#include "base/texts.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/units.h"
#include "model/delivery/offer.h"
#include "model/evidence/date.h"
#include "model/evidence/evidence.h"
#include "model/evidence/workload.h"
#include "model/records/served.h"
#include "model/scenario/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int scenario_columns(const struct scenario *scenario, double horizon_h) {
  return 1 + (int)ceil(round(horizon_h / scenario->period_h * 1e9) / 1e9);
}

static int periods_per_year(const struct scenario *scenario) {
  return (int)lround(HOURS_PER_YEAR / scenario->period_h);
}

const char *scenario_year_begins(const struct scenario *scenario, int year, struct arena *arena) {
  return scenario_period_begins(scenario, 1 + (year - 1) * periods_per_year(scenario), arena);
}

const char *scenario_value_begins(const struct scenario *scenario, const struct declaration *input,
                                  int number, struct arena *arena) {
  const double step_h = input->step_h > 0 ? input->step_h : HOURS_PER_YEAR;
  const int periods = (int)lround(step_h / scenario->period_h);
  return scenario_period_begins(scenario, 1 + (number - 1) * periods, arena);
}

// Years and months are the calendar's; a part of a year that is not a whole number of months is
// that share of 365 days.
const char *scenario_period_begins(const struct scenario *scenario, int period,
                                   struct arena *arena) {
  enum { MONTHS = 12, DAYS = 365 };
  const int per_year = periods_per_year(scenario);
  const int years = (period - 1) / per_year, rest = (period - 1) % per_year;
  const bool whole = MONTHS % per_year == 0;
  struct date start = {0};
  date_parse(scenario->start, &start);
  const struct date date =
      date_later(start, years * MONTHS + (whole ? rest * MONTHS / per_year : 0),
                 whole ? 0 : rest * DAYS / per_year);
  const char *month = arena_printf(arena, "%d-%02d", date.year, date.month);
  return whole && start.day == 1 ? month : arena_printf(arena, "%s-%02d", month, date.day);
}

const char *scenario_why_fixed(const struct scenario *scenario, int declaration,
                               struct arena *arena) {
  const char *found = scenario->finds[declaration];
  return found ? arena_printf(arena,
                              "the %s was found for this value: for another, use pertoken with "
                              "--set or a [case]",
                              found)
               : NULL;
}

int scenario_option(const struct scenario *scenario, const char *id) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (!strcmp(scenario->options[o].id, id))
      return (int)o;
  return -1;
}

const char *scenario_option_hint(const struct scenario *scenario, const char *id,
                                 struct arena *arena) {
  if (scenario->option_count > MAX_CANDIDATES)
    return "";
  const char **ids = arena_array(arena, scenario->option_count + 1, sizeof *ids);
  for (size_t o = 0; o < scenario->option_count; o++)
    ids[o] = scenario->options[o].id;
  return name_hint(id, ids, scenario->option_count, arena);
}

void scenario_unknown_option(const struct scenario *scenario, const char *id, struct place place,
                             struct diagnostics *diagnostics) {
  diagnostics_error(diagnostics, place, "there is no option '%s'%s", id,
                    scenario_option_hint(scenario, id, diagnostics->arena));
}

bool scenario_meant(const struct scenario *scenario, const char *name) {
  for (size_t i = 0; i < scenario->meant.count; i++)
    if (!strcmp(scenario->meant.list[i], name))
      return true;
  return false;
}

const struct figure *option_figure(const struct scenario *scenario, const struct option *option,
                                   size_t which_case, int declaration) {
  return declaration < 0
             ? &figure_none
             : option->figures[which_case * (size_t)scenario->model->count + (size_t)declaration];
}

const struct figure *option_figure_stated(const struct scenario *scenario,
                                          const struct option *option, const char *name) {
  const int declaration = graph_stated(option->graph, model_find(scenario->model, name));
  return option_figure(scenario, option, scenario->selected, declaration);
}

int option_follower(const struct scenario *scenario, const struct option *option, int declaration) {
  const struct declaration *declarations = scenario->model->declarations;
  const int input = model_named(scenario->model, declaration), of = declarations[input].year_of;
  const struct declaration *list = of < 0 ? NULL : &declarations[of];
  for (int i = 1; list && i < list->year_count; i++) {
    const int next = graph_stated(option->graph, list->years[i]);
    if (list->years[i - 1] == input && option->graph->state[next] == GRAPH_INPUT &&
        option_figure(scenario, option, scenario->selected, next)->follows)
      return next;
  }
  return -1;
}

double option_value(const struct scenario *scenario, const struct option *option, int declaration,
                    int period) {
  return evaluation_at(option->evaluation, declaration, period)[scenario->selected];
}

double option_amount(const struct scenario *scenario, const struct option *option,
                     const char *name) {
  const int d = model_find(scenario->model, name);
  return d >= 0 && option_has(option, d) ? option_value(scenario, option, d, 0) : 0;
}

const char *option_none(const struct scenario *scenario, const struct option *option,
                        int declaration) {
  const struct declaration *item = &scenario->model->declarations[declaration];
  const int below = item->none_below, without = item->none_without;
  const bool is_none =
      (below >= 0 && option_has(option, below) && option_value(scenario, option, below, 0) < 0) ||
      (without >= 0 && option_has(option, without) &&
       option_value(scenario, option, without, 0) <= 0);
  return is_none ? item->none : NULL;
}

bool option_is_lent(const struct option *option, int declaration) {
  return option->lent && option->lent[declaration];
}

bool option_has(const struct option *option, int declaration) {
  return option->graph->state[declaration] != GRAPH_ABSENT && !option_is_lent(option, declaration);
}

bool scenario_has(const struct scenario *scenario, int declaration) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (option_has(&scenario->options[o], declaration))
      return true;
  return false;
}

const char *options_between(const struct scenario *scenario) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (strchr(scenario->options[o].label, ','))
      return "; ";
  return ", ";
}

const char *options_joined(const struct scenario *scenario, const char *list, const char *more,
                           struct arena *arena) {
  return *list ? arena_printf(arena, "%s%s%s", list, options_between(scenario), more) : more;
}

bool option_is_owned(const struct option *option) {
  return !option->rented && !option->provider;
}

const char *option_runs_on(const struct option *option) {
  return option->provider ? "token API" : option->accelerator;
}

const char *option_workload(const struct option *option, enum workload_key key) {
  return option->provider && key == WORKLOAD_PRECISION ? "provider's precision"
                                                       : option->workload.values[key];
}

int option_periods(const struct scenario *scenario, const struct option *option,
                   size_t which_case) {
  int operating = model_find(scenario->model, "operating"), count = 0;
  for (int t = 1; t < scenario->periods && operating >= 0; t++)
    count += evaluation_at(option->evaluation, operating, t)[which_case] > 0;
  return count;
}

static bool is_given(const struct scenario *scenario, const struct option *option,
                     int declaration) {
  return declaration >= 0 &&
         figure_is_stated(option_figure(scenario, option, scenario->selected, declaration));
}

// An amount in USD is the figure of NAME_usd.
int option_price(const struct scenario *scenario, const struct option *option) {
  const struct model *model = scenario->model;
  const int list_price = model_find(model, "list_price");
  for (int i = 0; list_price >= 0 && i < model->declarations[list_price].instead_count; i++) {
    const int rent = model->declarations[list_price].instead_of[i];
    if (is_given(scenario, option, rent) ||
        is_given(scenario, option, model->declarations[rent].in_usd))
      return rent;
  }
  return list_price;
}

static double cost_of(const struct scenario *scenario, const struct option *option, int item) {
  return option_value(scenario, option, item, 0);
}

double cost_saving(double cost, double base) {
  return cost < 0 || base < 0 ? NAN : 1 - cost / base;
}

bool option_may_save(const struct scenario *scenario, const struct option *option, int item) {
  return cost_of(scenario, option, item) >= 0 &&
         cost_of(scenario, &scenario->options[scenario->baseline], item) >= 0;
}

double option_saving(const struct scenario *scenario, const struct option *option,
                     const char *item) {
  const int d = model_find(scenario->model, item);
  return cost_saving(cost_of(scenario, option, d),
                     cost_of(scenario, &scenario->options[scenario->baseline], d));
}

static bool is_upper_bound(const struct option *option) {
  return option->decode_only;
}

static bool is_estimate(const struct option *option) {
  return option->serving_estimate;
}

static bool is_api(const struct option *option) {
  return option->provider != NULL;
}

// Adds "WHAT: a, b." for the options that it holds for, if any.
static void add_stamp(struct texts *stamps, const struct scenario *scenario, const char *what,
                      bool (*holds)(const struct option *), struct arena *arena) {
  struct texts labels = {0};
  for (size_t o = 0; o < scenario->option_count; o++)
    if (holds(&scenario->options[o]))
      texts_add(&labels, arena, "%s", scenario->options[o].label);
  if (labels.count)
    texts_add(stamps, arena, "%s: %s.", what,
              texts_joined_by(&labels, options_between(scenario), arena));
}

// "MIXED: a and b differ in ... in case c": unlike in other cases alone.
static const char *mixed_in_cases(const struct scenario *scenario, struct arena *arena) {
  const struct option *baseline = &scenario->options[scenario->baseline];
  struct texts reasons = {0};
  for (size_t o = 0; o < scenario->option_count && scenario->may_mix; o++) {
    const struct option *option = &scenario->options[o];
    const char *difference = NULL;
    size_t c = 0;
    if (workload_difference(&baseline->workload, &option->workload, arena))
      continue;
    for (; c < scenario->case_count && !difference; c++)
      difference = workload_difference(&baseline->workloads[c], &option->workloads[c], arena);
    if (difference)
      texts_add(&reasons, arena, "%s and %s differ in %s in case %s", baseline->label,
                option->label, difference, scenario->case_labels[c - 1]);
  }
  return texts_joined_by(&reasons, "; ", arena);
}

static const char *stamp_with(const struct scenario *scenario, const char *mixed,
                              struct arena *arena) {
  struct texts stamps = {0};
  if (*mixed)
    texts_add(&stamps, arena, "MIXED: %s.", mixed);
  add_stamp(&stamps, scenario, "Upper bound, decode only (prefill time ignored)", is_upper_bound,
            arena);
  add_stamp(&stamps, scenario, "Serving estimate (prefill plus decoding)", is_estimate, arena);
  add_stamp(&stamps, scenario, "Provider's precision (unknown, not compared)", is_api, arena);
  return texts_joined_by(&stamps, " ", arena);
}

const char *scenario_stamp(const struct scenario *scenario, struct arena *arena) {
  return stamp_with(scenario, scenario->mixed ? scenario->mixed_reason : "", arena);
}

const char *scenario_lasting_stamp(const struct scenario *scenario, struct arena *arena) {
  const char *here = scenario->mixed ? scenario->mixed_reason : "";
  const char *there = mixed_in_cases(scenario, arena);
  const char *joint = *here && *there ? "; " : "";
  return stamp_with(scenario, arena_printf(arena, "%s%s%s", here, joint, there), arena);
}

struct texts scenario_all_warnings(const struct scenario *scenario, struct arena *arena) {
  struct texts all = {0};
  for (size_t i = 0; i < scenario->warnings.count; i++)
    texts_add(&all, arena, "%s", scenario->warnings.list[i]);
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    for (size_t i = 0; i < option->warnings.count; i++)
      texts_add(&all, arena, "%s: %s", option->label, option->warnings.list[i]);
  }
  return all;
}

// A case may state another one.
static bool throughput_is_found(const struct scenario *scenario, const struct option *option) {
  const int d = model_find(scenario->model, "throughput");
  return d >= 0 &&
         option_figure(scenario, option, scenario->selected, d)->origin == ORIGIN_CATALOGUE;
}

const struct evidence *option_published(const struct scenario *scenario,
                                        const struct option *option) {
  return throughput_is_found(scenario, option) ? option->evidence : NULL;
}

const struct served *option_served(const struct scenario *scenario, const struct option *option) {
  return throughput_is_found(scenario, option) ? option->served : NULL;
}

const char *option_doubt(const struct scenario *scenario, const struct option *option) {
  const struct evidence *published = option_published(scenario, option);
  const struct served *served = option_served(scenario, option);
  return published ? published->doubt : served ? served->doubt : "";
}

const struct scenario_offer *option_offer(const struct scenario *scenario,
                                          const struct option *option, size_t which_case) {
  const struct scenario_offer *found = NULL;
  for (size_t i = 0; i < scenario->offer_count; i++) {
    const struct scenario_offer *offer = &scenario->offers[i];
    const bool holds = offer->origin != ORIGIN_CASE_OPTION || offer->which_case == which_case;
    if (!strcmp(scenario->options[offer->option].id, option->id) && holds &&
        (!found || offer->origin >= found->origin))
      found = offer;
  }
  return found;
}

const struct scenario_offer *scenario_offer_of(const struct scenario *scenario,
                                               const struct figure *figure) {
  for (size_t i = 0; i < scenario->offer_count; i++)
    if (scenario->offers[i].offer->source == figure->place.source)
      return &scenario->offers[i];
  return NULL;
}
