#include "model/scenario/resolution/resolution.h"

#include "base/diagnostics.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/evidence/workload.h"
#include "model/records/served_rungs.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/inputs.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/reading/free.h"
#include "model/scenario/reading/schedules.h"
#include "model/scenario/reading/tiers.h"
#include "model/scenario/resolution/colocation.h"
#include "model/scenario/resolution/companions.h"
#include "model/scenario/resolution/defaults.h"
#include "model/scenario/resolution/effect.h"
#include "model/scenario/resolution/evaluated.h"
#include "model/scenario/resolution/exclusions.h"
#include "model/scenario/resolution/requirements.h"
#include "model/scenario/resolution/times.h"
#include "model/scenario/resolution/warnings.h"
#include "model/scenario/resolving.h"
#include "model/scenario/selection.h"
#include "model/scenario/sources/hardware.h"
#include "model/scenario/sources/lending.h"
#include "model/scenario/sources/load_power.h"
#include "model/scenario/sources/quoted_sums.h"
#include "model/scenario/sources/throughput.h"
#include "model/scenario/sources/utilization.h"

#include <stdbool.h>
#include <string.h>

// Settles what the layers state between inputs that affect one another. Stops early after an error
// in an earlier case, which this one would only repeat.
static void settle_case(const struct resolving *resolving, size_t which, size_t errors) {
  const struct diagnostics *diagnostics = resolving->diagnostics;
  const size_t before = diagnostics->errors;
  const struct figure **figures = resolving_figures(resolving, which);
  inputs_resolve(resolving->scenario, (int)resolving->number, which, figures);
  if (resolving->amendment)
    amendment_apply(resolving->amendment, figures);
  if (which && errors != before)
    return;
  exclusions_settle_named(resolving, figures);
  hardware_api(resolving, figures);
  frees_fill(resolving, figures);
  exclusions_settle_purchase(resolving, figures);
  if (diagnostics->errors == before)
    exclusions_settle_rent(resolving, figures);
}

static void complete_case(struct resolving *resolving, size_t which, size_t errors) {
  companions_settle(resolving, which, true);
  defaults_apply(resolving, resolving_figures(resolving, which));
  if (resolving->diagnostics->errors == errors)
    companions_check(resolving, resolving_figures(resolving, which));
  if (resolving->diagnostics->errors == errors)
    requirements_check(resolving, resolving_figures(resolving, which));
  if (which && resolving->diagnostics->errors == errors)
    requirements_check_case(resolving, which);
}

static enum given given_by(const struct figure *figure) {
  if (figure->origin == ORIGIN_RENT)
    return GIVEN_NEUTRAL;
  if (figure->year_count)
    return GIVEN_LIST;
  return figure_is_stated(figure) || figure->in_usd ? GIVEN_VALUE : GIVEN_NOT;
}

// One of the last few options with the same inputs given, or NULL.
static const struct option *given_alike(const struct resolving *resolving,
                                        const enum given *given) {
  const struct option *first = resolving->scenario->options, *other = resolving->option;
  const size_t size = (size_t)resolving->scenario->model->count * sizeof *given;
  for (int i = 0; i < OPTIONS_BEFORE && other > first && !resolving->option->lent; i++)
    if ((--other)->graph && !other->lent && !memcmp(other->given, given, size))
      return other;
  return NULL;
}

// The graph and what it was built of.
static void find_graph(const struct resolving *resolving, const enum given *given) {
  const struct model *model = resolving->scenario->model;
  const size_t count = (size_t)model->count;
  struct option *option = resolving->option;
  const struct option *like = given_alike(resolving, given);
  option->given = like ? like->given
                       : memcpy(arena_array(resolving->arena, count, sizeof *given), given,
                                count * sizeof *given);
  option->graph = like ? like->graph
                       : graph_build_lent(model, option->id, option->place, given, option->lent,
                                          resolving->arena, resolving->diagnostics);
}

static void build_graph(const struct resolving *resolving) {
  const struct model *model = resolving->scenario->model;
  const struct option *option = resolving->option;
  enum given given[model->count];
  for (int d = 0; d < model->count; d++)
    given[d] = given_by(option->figures[d]);
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    const int one = input->year_of >= 0 || input->scale_of >= 0 ? d : input->only_with;
    if (one >= 0 && given[one] == GIVEN_NOT && defaults_stated_somewhere(resolving, one))
      given[one] = GIVEN_VALUE;
  }
  find_graph(resolving, given);
  if (!option->graph)
    return;
  companions_settle_varying(resolving);
  times_check(resolving);
  if (option->lent)
    tokens_hide(resolving);
}

static void pretend_meant(struct resolving *resolving) {
  const struct model *model = resolving->scenario->model;
  for (int d = 0; d < model->count; d++) {
    const char *name = model->declarations[d].name;
    if (model->declarations[d].required && scenario_meant(resolving->scenario, name))
      resolving_pretend(resolving, name);
  }
}

// What its layers state, and what its hardware gives. Returns 0, or -1 if it is unknown what that
// is.
static int settle_stated(struct resolving *resolving, size_t errors) {
  for (size_t c = 0; c < resolving->scenario->case_count; c++)
    settle_case(resolving, c, errors);
  quoted_sums_settle(resolving);
  for (size_t c = 0; c < resolving->scenario->case_count; c++)
    if (resolving->diagnostics->errors == errors)
      companions_settle(resolving, c, false);
    else
      companions_assume(resolving, c);
  pretend_meant(resolving);
  colocation_apply(resolving);
  schedules_settle(resolving);
  tiers_settle(resolving);
  return resolving->option->provider ? 0 : hardware_apply(resolving);
}

static void settle(struct resolving *resolving) {
  const size_t errors = resolving->diagnostics->errors;
  if (resolving->option->lacks_offer)
    return; // what it needs may be in the offer
  if (settle_stated(resolving, errors) == 0) {
    throughput_apply(resolving);
    utilization_apply(resolving);
    load_power_find(resolving);
  }
  if (resolving->lack && resolving->lack->kind)
    return;
  for (size_t c = 0; c < resolving->scenario->case_count; c++)
    complete_case(resolving, c, errors);
  currency_settle(resolving);
  if (tokens_are_lent(resolving) &&
      (resolving->diagnostics->errors != errors || tokens_lend(resolving)))
    return;
  build_graph(resolving);
}

// A copy of the scenario, with options that can be changed.
static struct scenario *copy_of(const struct scenario *scenario, struct arena *arena) {
  struct scenario *copy = arena_alloc(arena, sizeof *copy);
  *copy = *scenario;
  copy->options = arena_array(arena, scenario->option_count, sizeof *copy->options);
  memcpy(copy->options, scenario->options, scenario->option_count * sizeof *copy->options);
  const size_t inputs = (size_t)scenario->model->count;
  copy->finds = arena_array(arena, inputs, sizeof *copy->finds);
  memcpy(copy->finds, scenario->finds, inputs * sizeof *copy->finds);
  return copy;
}

static bool limits_times(const struct selections *selections) {
  static const enum workload_key times[] = {WORKLOAD_TTFT, WORKLOAD_TPOT};
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
    if (selection_of(selections, SELECT_WORKLOAD + (int)times[i]))
      return true;
  return false;
}

static bool any_limits_times(const struct scenario *scenario) {
  for (size_t s = 0; s <= scenario->option_count; s++)
    if (limits_times(&scenario->selections[s]))
      return true;
  return false;
}

// Options whose records tell of different percentiles are judged by one that all of them have: who
// tests longer, and so knows a stricter one, must not lose by it. The amendment is of one option,
// and its workload of all. 0: there is none, or nothing to judge.
static int find_percentile(const struct scenario *scenario, size_t number,
                           const struct amendment *amendment) {
  struct arena scratch = {NULL};
  struct diagnostics quiet = {.arena = &scratch};
  struct served_tally tally = {0};
  struct scenario *copy = copy_of(scenario, &scratch);
  for (size_t o = 0; o < copy->option_count; o++) {
    struct amendment its = amendment ? *amendment : (struct amendment){.scenario = scenario};
    struct lack lack = {.kind = LACK_NONE};
    if (o != number)
      its.option = (struct selections){0};
    struct resolving resolving = resolving_new(copy, o, amendment ? &its : NULL, &scratch, &quiet);
    resolving.lack = &lack;
    if (!resolving.option->lacks_offer && settle_stated(&resolving, quiet.errors) == 0)
      throughput_tally(&resolving, &tally);
  }
  arena_free(&scratch);
  return served_tally_percentile(&tally);
}

static int percentile_of_all(const struct scenario *scenario, size_t number,
                             const struct amendment *amendment) {
  return scenario->option_count > 1 && scenario->records->serving_count > 1 &&
                 any_limits_times(scenario)
             ? find_percentile(scenario, number, amendment)
             : 0;
}

void scenario_resolve(struct scenario *scenario, struct arena *arena,
                      struct diagnostics *diagnostics) {
  const size_t count = (size_t)scenario->model->count;
  scenario->percentile = percentile_of_all(scenario, 0, NULL);
  struct companions *companions = arena_array(arena, scenario->case_count, sizeof *companions);
  for (size_t c = 0; c < scenario->case_count; c++)
    companions[c] = (struct companions){arena_array(arena, count, sizeof(bool)),
                                        arena_array(arena, count, sizeof(struct place))};
  for (int asking = 0; asking <= 1; asking++) // those that ask for another's tokens come last
    for (size_t o = 0; o < scenario->option_count; o++) {
      if ((selection_of(&scenario->selections[1 + o], SELECT_TOKENS_OF) != NULL) != asking)
        continue;
      struct resolving resolving = resolving_new(scenario, o, NULL, arena, diagnostics);
      resolving.companions = companions;
      settle(&resolving);
    }
  for (size_t c = 0; c < scenario->case_count; c++)
    companions_report(scenario, c, &companions[c], diagnostics);
  currency_check(scenario, diagnostics);
}

const struct option *option_resolve(const struct scenario *scenario, size_t number,
                                    const struct amendment *amendment, struct lack *lack,
                                    struct arena *arena, struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  struct scenario *copy = copy_of(scenario, arena);
  copy->percentile = percentile_of_all(scenario, number, amendment);
  struct resolving resolving = resolving_new(copy, number, amendment, arena, diagnostics);
  *lack = (struct lack){.kind = LACK_NONE};
  resolving.lack = lack;
  settle(&resolving);
  if (lack->kind || diagnostics->errors != errors)
    return NULL;
  option_evaluate(resolving.scenario, resolving.option, arena, diagnostics);
  if (diagnostics->errors != errors)
    return NULL;
  option_assess(resolving.scenario, number, arena);
  return resolving.option;
}

const struct scenario *scenario_in_case(const struct scenario *scenario, size_t which_case,
                                        struct arena *arena, struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  struct scenario *copy = copy_of(scenario, arena);
  copy->selected = which_case;
  for (size_t o = 0; o < copy->option_count; o++)
    copy->options[o].workload = copy->options[o].workloads[which_case];
  copy->warnings = (struct texts){0};
  for (size_t i = 0; i < scenario->text_warnings; i++)
    texts_add(&copy->warnings, arena, "%s", scenario->warnings.list[i]);
  effect_check_reach(copy, arena, diagnostics);
  effect_check_use(copy, arena, diagnostics);
  if (diagnostics->errors != errors)
    return NULL;
  scenario_assess(copy, arena);
  return copy;
}
