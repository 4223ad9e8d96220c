#include "model/scenario/resolution.h"

#include "base/ini.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/scenario/currency.h"
#include "model/scenario/figure.h"
#include "model/scenario/free.h"
#include "model/scenario/grading.h"
#include "model/scenario/hardware.h"
#include "model/scenario/inputs.h"
#include "model/scenario/resolving.h"
#include "model/scenario/selection.h"
#include "model/scenario/throughput.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MIN_YEARS = 7 };

static bool said(const struct figure *figure) {
  return figure->origin != ORIGIN_NONE;
}

static bool at_option_level(const struct figure *figure) {
  return figure->origin >= ORIGIN_OPTION;
}

static bool is_given(const struct figure *figure) {
  return said(figure) && figure->origin != ORIGIN_RENT;
}

// ---- inputs that bear on one another

static void report_both(const struct resolving *resolving, int a, int b,
                        const struct figure **figures) {
  const struct declaration *declarations = resolving->scenario->model->declarations;
  diagnostics_error(resolving->diagnostics, figures[a]->place,
                    "option '%s' has both '%s' and '%s': give one of them", resolving->option->id,
                    declarations[a].name, declarations[b].name);
}

// Pairs that exclude each other: an error, or the option level's word against the common one's.
static void settle_pairs(const struct resolving *resolving, const struct figure **figures) {
  const struct model *model = resolving->scenario->model;
  for (int d = 0; d < model->count; d++) {
    int conflicts = model->declarations[d].conflicts, instead = model->declarations[d].instead_of;
    if (conflicts >= 0 && said(figures[d]) && said(figures[conflicts]) && figures[d]->value != 0 &&
        figures[conflicts]->value != 0)
      report_both(resolving, d, conflicts, figures);
    if (instead < 0 || !said(figures[d]) || !said(figures[instead]))
      continue;
    if (at_option_level(figures[d]) == at_option_level(figures[instead]))
      report_both(resolving, d, instead, figures);
    else
      figures[at_option_level(figures[d]) ? instead : d] = &figure_none;
  }
}

// A row of prices counts as the option's own list price when it is weighed against a rent, before
// its value has been looked up.
static void settle_purchase(const struct resolving *resolving, const struct figure **figures) {
  const int list_price = model_find(resolving->scenario->model, "list_price");
  const struct ini_key *price = selection_of(&resolving->selections, SELECT_PRICE);
  const bool pending = list_price >= 0 && price && !said(figures[list_price]);
  if (pending)
    figures[list_price] = resolving_keep(
        resolving,
        (struct figure){.origin = ORIGIN_OPTION, .place = price->place, .source = "", .date = ""});
  settle_pairs(resolving, figures);
  if (pending)
    figures[list_price] = &figure_none;
}

// What a rented option does not pay for itself counts as zero there.
static void settle_rent(const struct resolving *resolving, const struct figure **figures) {
  static const struct figure paid = {
      .origin = ORIGIN_RENT, .grade = GRADE_ASSUMED, .source = "included in the rent", .date = ""};
  const struct model *model = resolving->scenario->model;
  const int rental_rate = model_find(model, "rental_rate");
  if (rental_rate < 0 || !said(figures[rental_rate]))
    return;
  resolving->option->rented = true;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    if (!input->in_rent)
      continue;
    if (at_option_level(figures[d]))
      diagnostics_error(
          resolving->diagnostics, figures[d]->place,
          "'%s' is part of the rent of option '%s': a rented option does not pay for it",
          input->name, resolving->option->id);
    // What an option need not have, a rented one does not have.
    figures[d] = input->has_default || input->required ? &paid : &figure_none;
  }
}

// What is said of a view of finance to an option that does not have that view: an error at the
// option's own level, and no matter at the common one as long as some option has it.
static void settle_companions(const struct resolving *resolving, const struct figure **figures) {
  const struct model *model = resolving->scenario->model;
  struct companions *companions = resolving->companions;
  for (int d = 0; d < model->count; d++) {
    const int with = model->declarations[d].only_with;
    if (with < 0 || !is_given(figures[d]))
      continue;
    if (is_given(figures[with])) {
      if (companions)
        companions->some_has[d] = true;
      continue;
    }
    if (at_option_level(figures[d]))
      diagnostics_error(resolving->diagnostics, figures[d]->place,
                        "'%s' means nothing to option '%s' without '%s'",
                        model->declarations[d].name, resolving->option->id,
                        model->declarations[with].name);
    else if (companions && !companions->idle[d].source)
      companions->idle[d] = figures[d]->place;
    figures[d] = &figure_none;
  }
}

static void report_idle(const struct scenario *scenario, const struct companions *companions,
                        struct diagnostics *diagnostics) {
  const struct model *model = scenario->model;
  for (int d = 0; d < model->count; d++)
    if (companions->idle[d].source && !companions->some_has[d])
      diagnostics_error(
          diagnostics, companions->idle[d], "'%s' means nothing without '%s', which no option has",
          model->declarations[d].name, model->declarations[model->declarations[d].only_with].name);
}

// ---- what nobody stated

static void apply_defaults(const struct resolving *resolving, const struct figure **figures) {
  const struct model *model = resolving->scenario->model;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    const bool neutral = resolving->option->rented && input->has_rent_default;
    const bool applies = input->only_with < 0 || is_given(figures[input->only_with]);
    if (said(figures[d]) || !applies || (!input->has_default && !neutral))
      continue;
    figures[d] = resolving_keep(
        resolving, (struct figure){.origin = neutral ? ORIGIN_RENT : ORIGIN_DEFAULT,
                                   .value = neutral ? input->rent_default : input->default_value,
                                   .grade = GRADE_ASSUMED,
                                   .source = neutral ? "included in the rent" : "default",
                                   .date = ""});
  }
}

// An input that another one, once above zero, makes no sense without.
static void check_companions(const struct resolving *resolving, const struct figure **figures) {
  const struct model *model = resolving->scenario->model;
  for (int d = 0; d < model->count; d++) {
    const int with = model->declarations[d].needed_with;
    if (with >= 0 && figures[with]->value > 0 && figures[d]->origin == ORIGIN_DEFAULT)
      diagnostics_error(resolving->diagnostics, figures[with]->place,
                        "option '%s' has '%s' and so needs '%s' (%s)", resolving->option->id,
                        model->declarations[with].name, model->declarations[d].name,
                        model->declarations[d].unit.text);
  }
}

// A case may change what an input is, not which inputs there are.
static void check_case(const struct resolving *resolving, size_t which) {
  const struct scenario *scenario = resolving->scenario;
  const struct figure **base = resolving_figures(resolving, 0);
  const struct figure **figures = resolving_figures(resolving, which);
  for (int d = 0; d < scenario->model->count; d++) {
    const struct declaration *input = &scenario->model->declarations[d];
    if (!said(figures[d]) || said(base[d]))
      continue;
    diagnostics_error(resolving->diagnostics, figures[d]->place,
                      "case '%s' gives '%s', which option '%s' otherwise %s: give it there too",
                      scenario->cases[which], input->name, resolving->option->id,
                      input->alternative_count ? "computes" : "does not have");
  }
}

// ---- the steps

// What the layers say, settled between inputs that bear on one another. After an error in one case
// the later ones would only repeat it.
static void settle_case(const struct resolving *resolving, size_t which, size_t errors) {
  const struct diagnostics *diagnostics = resolving->diagnostics;
  const size_t before = diagnostics->errors;
  const struct figure **figures = resolving_figures(resolving, which);
  inputs_resolve(resolving->scenario->inputs, (int)resolving->number, which, figures);
  if (resolving->amendment)
    amendment_apply(resolving->amendment, figures);
  if (which && errors != before)
    return;
  frees_fill(resolving, figures);
  settle_purchase(resolving, figures);
  if (diagnostics->errors == before)
    settle_rent(resolving, figures);
  if (diagnostics->errors == before)
    settle_companions(resolving, figures);
}

static void complete_case(const struct resolving *resolving, size_t which, size_t errors) {
  apply_defaults(resolving, resolving_figures(resolving, which));
  if (resolving->diagnostics->errors == errors)
    check_companions(resolving, resolving_figures(resolving, which));
  if (which && resolving->diagnostics->errors == errors)
    check_case(resolving, which);
}

static enum given given_by(const struct figure *figure) {
  if (figure->origin == ORIGIN_RENT)
    return GIVEN_NEUTRAL;
  return figure->origin > ORIGIN_RENT || figure->in_usd ? GIVEN_VALUE : GIVEN_NOT;
}

static void build_graph(const struct resolving *resolving) {
  const struct model *model = resolving->scenario->model;
  struct option *option = resolving->option;
  enum given *given = arena_array(resolving->arena, (size_t)model->count, sizeof *given);
  for (int d = 0; d < model->count; d++)
    given[d] = given_by(option->figures[d]);
  option->graph = graph_build(model, option->id, option->place, given, resolving->arena,
                              resolving->diagnostics);
}

static void settle(struct resolving *resolving) {
  const size_t errors = resolving->diagnostics->errors;
  for (size_t c = 0; c < resolving->scenario->case_count; c++)
    settle_case(resolving, c, errors);
  if (hardware_apply(resolving) == 0)
    throughput_apply(resolving);
  if (resolving->lack && resolving->lack->kind)
    return;
  for (size_t c = 0; c < resolving->scenario->case_count; c++)
    complete_case(resolving, c, errors);
  currency_settle(resolving);
  build_graph(resolving);
}

static void evaluate_option(const struct scenario *scenario, struct option *option,
                            struct arena *arena, struct diagnostics *diagnostics) {
  option->evaluation =
      evaluation_new(option->graph, scenario->periods, scenario->case_count, arena);
  for (int d = 0; d < scenario->model->count; d++)
    for (size_t c = 0; c < scenario->case_count && option->graph->state[d] == GRAPH_INPUT; c++)
      evaluation_at(option->evaluation, d, 0)[c] = option_figure(scenario, option, c, d)->value;
  evaluate(option->evaluation);
  for (size_t c = 0; c < scenario->case_count; c++) {
    const char *what = arena_printf(arena, c ? "option '%s' in case '%s'" : "option '%s'",
                                    option->id, scenario->cases[c]);
    if (evaluation_check(option->evaluation, c, what, diagnostics))
      return;
  }
}

static void find_periods(struct scenario *scenario) {
  double longest = MIN_YEARS * conversion_table[CONVERT_HOURS_PER_YEAR].value;
  const int horizon = model_find(scenario->model, "horizon");
  for (size_t o = 0; o < scenario->option_count; o++)
    for (size_t c = 0; c < scenario->case_count; c++)
      longest = fmax(longest, option_figure(scenario, &scenario->options[o], c, horizon)->value);
  scenario->periods = scenario_columns(scenario, longest);
}

void scenario_resolve(struct scenario *scenario, struct arena *arena,
                      struct diagnostics *diagnostics) {
  const size_t count = (size_t)scenario->model->count;
  struct companions companions = {arena_array(arena, count, sizeof(bool)),
                                  arena_array(arena, count, sizeof(struct place))};
  for (size_t o = 0; o < scenario->option_count; o++) {
    struct resolving resolving = resolving_new(scenario, o, NULL, arena, diagnostics);
    resolving.companions = &companions;
    settle(&resolving);
  }
  report_idle(scenario, &companions, diagnostics);
  currency_check(scenario, diagnostics);
}

void scenario_evaluate(struct scenario *scenario, struct arena *arena,
                       struct diagnostics *diagnostics) {
  find_periods(scenario);
  for (size_t o = 0; o < scenario->option_count; o++)
    evaluate_option(scenario, &scenario->options[o], arena, diagnostics);
}

// A scenario of the same options, each of which can be changed.
static struct scenario *copy_of(const struct scenario *scenario, struct arena *arena) {
  struct scenario *copy = arena_alloc(arena, sizeof *copy);
  *copy = *scenario;
  copy->options = arena_array(arena, scenario->option_count, sizeof *copy->options);
  memcpy(copy->options, scenario->options, scenario->option_count * sizeof *copy->options);
  return copy;
}

const struct option *option_resolve(const struct scenario *scenario, size_t number,
                                    const struct amendment *amendment, struct lack *lack,
                                    struct arena *arena, struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  struct resolving resolving =
      resolving_new(copy_of(scenario, arena), number, amendment, arena, diagnostics);
  *lack = (struct lack){.kind = LACK_NONE};
  resolving.lack = lack;
  settle(&resolving);
  if (lack->kind || diagnostics->errors != errors)
    return NULL;
  evaluate_option(resolving.scenario, resolving.option, arena, diagnostics);
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
  copy->warnings = (struct texts){0};
  inputs_check_reach(copy->inputs, copy, diagnostics);
  if (diagnostics->errors != errors)
    return NULL;
  scenario_assess(copy, arena, diagnostics);
  return copy;
}
