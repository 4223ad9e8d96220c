#include "model/scenario/scenario.h"

#include "base/source.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/scenario/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int scenario_columns(const struct scenario *scenario, double horizon_h) {
  return 1 + (int)ceil(round(horizon_h / scenario->period_h * 1e9) / 1e9);
}

int scenario_option(const struct scenario *scenario, const char *id) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (!strcmp(scenario->options[o].id, id))
      return (int)o;
  return -1;
}

const char *scenario_nearest_option(const struct scenario *scenario, const char *id,
                                    struct arena *arena) {
  const char **ids = arena_array(arena, scenario->option_count + 1, sizeof *ids);
  for (size_t o = 0; o < scenario->option_count; o++)
    ids[o] = scenario->options[o].id;
  return nearest_name(id, ids, scenario->option_count);
}

void scenario_unknown_option(const struct scenario *scenario, const char *id, struct place place,
                             struct diagnostics *diagnostics) {
  struct arena *arena = diagnostics->arena;
  diagnostics_error(diagnostics, place, "there is no option '%s'%s", id,
                    did_you_mean(scenario_nearest_option(scenario, id, arena), arena));
}

const struct figure *option_figure(const struct scenario *scenario, const struct option *option,
                                   size_t which_case, int declaration) {
  return option->figures[which_case * (size_t)scenario->model->count + (size_t)declaration];
}

double option_value(const struct scenario *scenario, const struct option *option, int declaration,
                    int period) {
  return evaluation_at(option->evaluation, declaration, period)[scenario->selected];
}

bool option_has(const struct option *option, int declaration) {
  return option->graph->state[declaration] != GRAPH_ABSENT;
}

int option_periods(const struct scenario *scenario, const struct option *option,
                   size_t which_case) {
  int operating = model_find(scenario->model, "operating"), count = 0;
  for (int t = 1; t < scenario->periods && operating >= 0; t++)
    count += evaluation_at(option->evaluation, operating, t)[which_case] > 0;
  return count;
}

double option_saving(const struct scenario *scenario, const struct option *option,
                     const char *item) {
  int d = model_find(scenario->model, item);
  return 1 - option_value(scenario, option, d, 0) /
                 option_value(scenario, &scenario->options[scenario->baseline], d, 0);
}

const char *scenario_stamp(const struct scenario *scenario, struct arena *arena) {
  const char *ids = "", *text = "";
  for (size_t o = 0; o < scenario->option_count; o++)
    if (scenario->options[o].decode_only)
      ids = arena_printf(arena, "%s%s%s", ids, *ids ? ", " : "", scenario->options[o].id);
  if (*ids)
    text = arena_printf(arena, "Upper bound, decode only (as if prefill took no time): %s. ", ids);
  if (scenario->mixed && *scenario->mixed_reason)
    text = arena_printf(arena, "MIXED: %s. %s", scenario->mixed_reason, text);
  return text;
}
