#include "model/scenario/resolution/companions.h"

#include "base/arena.h"
#include "base/source.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/resolving.h"

#include <stdbool.h>

// The input without which this one has no effect, or -1: for a rate on something that an option may
// lack, the input that it changes.
static int companion_of(const struct model *model, int declaration, const struct figure **figures) {
  const struct declaration *input = &model->declarations[declaration];
  const int with = input->only_with >= 0 ? input->only_with : input->idle_without;
  if (with >= 0 || !input->typed || !input->rated_count ||
      model->declarations[input->rated[0]].required)
    return with;
  for (int i = 0; i < input->rated_count && figures; i++)
    if (figure_is_given(figures[input->rated[i]]))
      return input->rated[i];
  return input->rated[0];
}

// Whether the input is given, or drawn around its default.
static bool is_given_or_drawn(const struct resolving *resolving, int declaration,
                              const struct figure *figure) {
  const struct scenario *scenario = resolving->scenario;
  if (figure->origin != ORIGIN_NONE || !scenario->model->declarations[declaration].has_default)
    return figure_is_given(figure);
  return ranges_name(scenario, resolving->number, declaration);
}

// An input that is there without its companion may be for another case, which gives that.
static bool has_companion(const struct resolving *resolving, int declaration, int with,
                          const struct figure **figures) {
  const struct scenario *scenario = resolving->scenario;
  const struct model *model = scenario->model;
  const bool idle = model->declarations[declaration].idle_without == with ||
                    model->declarations[with].has_default;
  for (size_t c = 0; c < (idle ? scenario->case_count : 0); c++)
    if (figure_is_given(resolving_figures(resolving, c)[with]))
      return true;
  return is_given_or_drawn(resolving, with, figures[with]);
}

static bool is_of_case(const struct figure *figure) {
  return origin_layers[figure->origin].of_case;
}

// "", or " in case 'x'" of what a case itself states.
static const char *in_case(const struct scenario *scenario, size_t which, struct arena *arena) {
  return which ? arena_printf(arena, " in case '%s'", scenario->cases[which]) : "";
}

// An input without its companion.
static void report_alone(const struct resolving *resolving, size_t which, int declaration, int with,
                         const struct figure *figure) {
  const struct scenario *scenario = resolving->scenario;
  const size_t stated_in = is_of_case(figure) ? which : 0;
  const char *name = declaration_key(scenario->model, declaration);
  struct companions *companions = resolving->companions;
  if (figure_is_of_option(figure) && *name)
    diagnostics_error(resolving->diagnostics, figure->place,
                      "'%s' has no effect on option '%s'%s without '%s'", name,
                      resolving->option->id, in_case(scenario, stated_in, resolving->arena),
                      scenario->model->declarations[with].name);
  else if (companions && !companions[stated_in].idle[declaration].source)
    companions[stated_in].idle[declaration] = figure->place;
}

// An offer states terms whether or not the option has a use for them.
static bool is_offered(const struct resolving *resolving, const struct figure *figure) {
  return scenario_offer_of(resolving->scenario, figure) != NULL;
}

void companions_settle(const struct resolving *resolving, size_t which, bool late) {
  const struct model *model = resolving->scenario->model;
  const struct figure **figures = resolving_figures(resolving, which);
  struct companions *companions = resolving->companions;
  bool *alone = arena_array(resolving->arena, (size_t)model->count, sizeof *alone);
  const int remedy = model_find(model, "remedy");
  const int prefill = model_find(model, "prefill_throughput");
  for (int d = 0; d < model->count; d++) {
    const int with = companion_of(model, d, figures);
    if (with < 0 || !figure_is_given(figures[d]) || (with == remedy || with == prefill) != late)
      continue;
    const bool here = is_given_or_drawn(resolving, with, figures[with]);
    const bool somewhere = has_companion(resolving, d, with, figures);
    if (companions) {
      companions[which].some_has[d] |= here;
      companions[0].some_has[d] |= somewhere;
    }
    alone[d] = !(is_of_case(figures[d]) ? here : somewhere);
    if (alone[d] && !alone[with] && !is_offered(resolving, figures[d]))
      report_alone(resolving, which, d, with, figures[d]);
    // An input that exists anyway keeps the common value, which is the same for all options.
    if (!somewhere && model->declarations[d].idle_without != with)
      figures[d] = &figure_none;
  }
}

void companions_assume(const struct resolving *resolving, size_t which) {
  struct companions *companions = resolving->companions;
  for (int d = 0; d < resolving->scenario->model->count && companions; d++)
    companions[which].some_has[d] = true;
}

void companions_settle_varying(const struct resolving *resolving) {
  const struct option *option = resolving->option;
  const struct model *model = resolving->scenario->model;
  struct companions *companions = resolving->companions;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    const struct figure *figure = option->figures[d];
    if (input->when_varies < 0 || !figure_is_given(figure) || figure->origin == ORIGIN_DEFAULT)
      continue;
    const bool has = option->graph->state[d] == GRAPH_INPUT;
    if (!has && figure_is_of_option(figure))
      diagnostics_error(resolving->diagnostics, figure->place,
                        "'%s' has no effect on option '%s': its '%s' is the same in all years",
                        input->name, option->id, model->declarations[input->when_varies].name);
    else if (!has && companions && !companions->idle[d].source)
      companions->idle[d] = figure->place;
    else if (has && companions)
      companions->some_has[d] = true;
  }
}

void companions_report(const struct scenario *scenario, size_t which,
                       const struct companions *companions, struct diagnostics *diagnostics) {
  const struct model *model = scenario->model;
  for (int d = 0; d < model->count; d++)
    if (companions->idle[d].source && !companions->some_has[d] && *declaration_key(model, d)) {
      const struct declaration *input = &model->declarations[d];
      const bool varies = input->when_varies >= 0;
      diagnostics_error(
          diagnostics, companions->idle[d],
          varies  ? "'%s' has no effect%s: '%s' is the same in all years, in every option"
          : which ? "'%s' has no effect%s without '%s', which no option has there"
                  : "'%s' has no effect%s without '%s', which no option has",
          declaration_key(model, d), in_case(scenario, which, diagnostics->arena),
          model->declarations[varies ? input->when_varies : companion_of(model, d, NULL)].name);
    }
}

// Reports missing inputs that are required once another one is above zero.
void companions_check(const struct resolving *resolving, const struct figure **figures) {
  const struct model *model = resolving->scenario->model;
  for (int d = 0; d < model->count; d++) {
    const int with = model->declarations[d].needed_with;
    if (with >= 0 && figure_highest(figures[with]) > 0 && figures[d]->origin == ORIGIN_DEFAULT)
      diagnostics_error(resolving->diagnostics, figures[with]->place,
                        "option '%s' has '%s' and so needs '%s' (%s)", resolving->option->id,
                        model->declarations[with].name, model->declarations[d].name,
                        model->declarations[d].unit.text);
  }
}
