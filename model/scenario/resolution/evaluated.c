#include "model/scenario/resolution/evaluated.h"

#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/schedule.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"
#include "model/scenario/resolution/plausibility.h"
#include "model/scenario/sources/utilization.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// The evaluation of one of the last few options that computes the same from the same kinds of
// input, or NULL.
static const struct evaluation *evaluated_alike(const struct scenario *scenario,
                                                const struct option *option) {
  const struct option *other = option;
  for (int i = 0; i < OPTIONS_BEFORE && other > scenario->options; i++)
    if (graph_equal((--other)->graph, option->graph))
      return other->evaluation;
  return NULL;
}

// The number of decades by which a typed input differs from 1 in its own unit: 0 for none, and for
// a 0.
static double decades_of(const struct scenario *scenario, const struct figure *figure, int d) {
  const double value = figure->value / unit_factor(&scenario->model->declarations[d].unit);
  return figure->origin < ORIGIN_COMMON || value == 0 ? 0 : fabs(log10(fabs(value)));
}

// An item without a value names formulas; the input that is to blame is, as a rule, the one whose
// size is the most unusual.
static void name_most_extreme(const struct scenario *scenario, const struct option *option,
                              size_t which, const bool *sources, struct diagnostics *diagnostics) {
  // If the formula is the scenario's own, its place shows what is wrong.
  const bool is_of_own_item =
      diagnostics->list[diagnostics->count - 1].place.source != scenario->model->source;
  int most = -1;
  double decades = 0;
  for (int d = 0; d < scenario->model->count; d++) {
    if (!sources[d] || option->graph->state[d] != GRAPH_INPUT)
      continue;
    const double of = decades_of(scenario, option_figure(scenario, option, which, d), d);
    if (of <= decades)
      continue;
    most = d;
    decades = of;
  }
  if (most < 0 || is_of_own_item)
    return;
  const struct figure *figure = option_figure(scenario, option, which, most);
  diagnostics_error(diagnostics, figure->place,
                    "of the inputs of option '%s', '%s' is the most extreme, %s: check its value "
                    "and its unit",
                    option->id, scenario->model->declarations[most].name,
                    figure->text
                        ? figure->text
                        : quantity_text(figure->value, &scenario->model->declarations[most].unit,
                                        diagnostics->arena));
}

void option_evaluate(const struct scenario *scenario, struct option *option, struct arena *arena,
                     struct diagnostics *diagnostics) {
  const struct evaluation *like = evaluated_alike(scenario, option);
  option->evaluation =
      like ? evaluation_like(like, scenario->case_count, arena)
           : evaluation_new(option->graph, scenario->periods, scenario->case_count, arena);
  for (int d = 0; d < scenario->model->count; d++)
    for (size_t c = 0; c < scenario->case_count && option->graph->state[d] == GRAPH_INPUT; c++)
      evaluation_at(option->evaluation, d, 0)[c] = option_figure(scenario, option, c, d)->value;
  evaluate(option->evaluation);
  bool *sources = arena_array(arena, (size_t)scenario->model->count, sizeof *sources);
  for (size_t c = 0; c < scenario->case_count; c++) {
    const char *what = arena_printf(arena, c ? "option '%s' in case '%s'" : "option '%s'",
                                    option->id, scenario->cases[c]);
    if (evaluation_check(option->evaluation, c, what, sources, diagnostics)) {
      name_most_extreme(scenario, option, c, sources, diagnostics);
      return;
    }
  }
  plausibility_refuse(scenario, option, arena, diagnostics);
  utilization_refuse(scenario, option, arena, diagnostics);
}

static void find_periods(struct scenario *scenario) {
  double longest = MIN_YEARS * HOURS_PER_YEAR;
  const int horizon = model_find(scenario->model, "horizon");
  if (scenario->varies_horizon && scenario->model->declarations[horizon].has_max)
    longest = fmax(longest, scenario->model->declarations[horizon].max);
  for (size_t o = 0; o < scenario->option_count; o++)
    for (size_t c = 0; c < scenario->case_count; c++)
      longest = fmax(longest, option_figure(scenario, &scenario->options[o], c, horizon)->value);
  scenario->periods = scenario_columns(scenario, longest);
}

void scenario_evaluate(struct scenario *scenario, struct arena *arena,
                       struct diagnostics *diagnostics) {
  find_periods(scenario);
  for (size_t o = 0; o < scenario->option_count; o++)
    option_evaluate(scenario, &scenario->options[o], arena, diagnostics);
}
