#include "model/simulate/simulation.h"

#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"

#include <inttypes.h>
#include <math.h>

const double simulate_levels[SIMULATE_LEVELS] = {0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95};

enum { FEWEST_DRAWS = 100 };

const char *simulation_few_draws(const struct simulation *simulation, struct arena *arena) {
  const uint64_t done = simulation->done;
  if (!done || done >= FEWEST_DRAWS)
    return "";
  return arena_printf(arena, "%s too few for percentiles or a share; use at least %d",
                      done == 1 ? "1 draw is" : arena_printf(arena, "%" PRIu64 " draws are", done),
                      FEWEST_DRAWS);
}

bool simulation_has_percentile(const struct simulation *simulation, int level) {
  const double below = simulate_levels[level];
  return !simulation->done || (double)simulation->done * fmin(below, 1 - below) >= 1;
}

static struct outcome certain_outcome(enum outcome_kind kind, size_t option, double value) {
  struct outcome outcome = {.kind = kind,
                            .option = option,
                            .mean = value,
                            .lowest = value,
                            .highest = value,
                            .bars_low = value,
                            .bars_high = value};
  for (int l = 0; l < SIMULATE_LEVELS; l++)
    outcome.percentiles[l] = value;
  return outcome;
}

const struct simulation *simulation_certain(const struct scenario *scenario, struct arena *arena) {
  const size_t count = scenario->option_count;
  const int item = model_cost_item(scenario->model);
  const struct declaration *cost = &scenario->model->declarations[item];
  struct simulation *result = arena_alloc(arena, sizeof *result);
  struct outcome *outcomes = arena_array(arena, 2 * count - 1, sizeof *outcomes);
  const char **options = arena_array(arena, count, sizeof *options);
  const char **labels = arena_array(arena, count, sizeof *labels);
  const struct ranking *ranking = ranking_of(scenario, arena);
  const char **not_ranked = arena_array(arena, count, sizeof *not_ranked);
  const char **no_saving = arena_array(arena, count, sizeof *no_saving);
  double *ranked = arena_array(arena, 3 * count, sizeof *ranked), *cheapest = ranked + count;
  double *unsaved = cheapest + count;
  size_t savings = count;
  for (size_t o = 0; o < count; o++) {
    const struct option *option = &scenario->options[o];
    const struct standing *standing = &ranking->options[o];
    options[o] = option->id;
    labels[o] = option->label;
    ranked[o] = standing->ranked;
    cheapest[o] = standing->ranked && ranking->cheapest_count ? standing->cheapest : NAN;
    not_ranked[o] = standing->why_not;
    outcomes[o] = certain_outcome(
        OUTCOME_COST, o, option_value(scenario, option, item, 0) / unit_factor(&cost->unit));
    no_saving[o] = "";
    if (o == scenario->baseline || !standing->compared)
      continue;
    unsaved[o] = !isfinite(standing->saving);
    if (unsaved[o] > 0)
      no_saving[o] = arena_printf(arena, "it costs less than nothing, or %s costs nothing or less",
                                  scenario->options[scenario->baseline].label);
    else
      outcomes[savings++] = certain_outcome(OUTCOME_SAVING, o, standing->saving);
  }
  *result = (struct simulation){.item = cost->name,
                                .unit = cost->unit.text,
                                .title = scenario->title,
                                .digest = scenario->digest,
                                .case_name = scenario->cases[scenario->selected],
                                .stamp = scenario_stamp(scenario, arena),
                                .warnings = scenario_all_warnings(scenario, arena),
                                .option_count = count,
                                .baseline = scenario->baseline,
                                .options = options,
                                .labels = labels,
                                .ranked = ranked,
                                .cheapest = cheapest,
                                .not_ranked = not_ranked,
                                .undecided = !ranking->cheapest_count,
                                .asked = ranking->asked,
                                .why_none = ranking->why_none,
                                .no_saving = no_saving,
                                .unsaved = unsaved,
                                .outcome_count = savings,
                                .outcomes = outcomes};
  return result;
}
