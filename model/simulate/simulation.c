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

bool simulation_is_constant(const struct outcome *outcome) {
  static const double rounding = 1e-12; // relative to a cost; a saving is relative already
  const double size = fmax(fabs(outcome->lowest), fabs(outcome->highest));
  return outcome->highest - outcome->lowest <=
         rounding * (outcome->kind == OUTCOME_SAVING ? fmax(size, 1) : size);
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

// The ranking's verdict on each option, the same in every draw.
static void certain_standings(const struct scenario *scenario, const struct ranking *ranking,
                              struct simulation *result, struct arena *arena) {
  const size_t count = scenario->option_count;
  const char **options = arena_array(arena, count, sizeof *options);
  const char **labels = arena_array(arena, count, sizeof *labels);
  const char **not_ranked = arena_array(arena, count, sizeof *not_ranked);
  double *ranked = arena_array(arena, count, sizeof *ranked);
  double *cheapest = arena_array(arena, count, sizeof *cheapest);
  for (size_t o = 0; o < count; o++) {
    const struct standing *standing = &ranking->options[o];
    options[o] = scenario->options[o].id;
    labels[o] = scenario->options[o].label;
    ranked[o] = standing->ranked;
    cheapest[o] = standing->ranked && ranking->cheapest_count ? standing->cheapest : NAN;
    not_ranked[o] = standing->why_not;
  }
  result->options = options;
  result->labels = labels;
  result->ranked = ranked;
  result->cheapest = cheapest;
  result->not_ranked = not_ranked;
  result->undecided = !ranking->cheapest_count;
  result->asked = ranking->asked;
  result->why_none = ranking->why_none;
}

// The outcomes: each option's cost, then the savings of those that have one.
static void certain_outcomes(const struct scenario *scenario, const struct ranking *ranking,
                             int item, struct simulation *result, struct arena *arena) {
  const size_t count = scenario->option_count;
  const double unit = unit_factor(&scenario->model->declarations[item].unit);
  struct outcome *outcomes = arena_array(arena, 2 * count - 1, sizeof *outcomes);
  const char **no_saving = arena_array(arena, count, sizeof *no_saving);
  double *unsaved = arena_array(arena, count, sizeof *unsaved);
  size_t savings = count;
  for (size_t o = 0; o < count; o++) {
    const struct standing *standing = &ranking->options[o];
    outcomes[o] = certain_outcome(OUTCOME_COST, o,
                                  option_value(scenario, &scenario->options[o], item, 0) / unit);
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
  result->outcomes = outcomes;
  result->outcome_count = savings;
  result->no_saving = no_saving;
  result->unsaved = unsaved;
}

const struct simulation *simulation_certain(const struct scenario *scenario, struct arena *arena) {
  const int item = model_cost_item(scenario->model);
  const struct declaration *cost = &scenario->model->declarations[item];
  const struct ranking *ranking = ranking_of(scenario, arena);
  struct simulation *result = arena_alloc(arena, sizeof *result);
  *result = (struct simulation){.item = cost->name,
                                .unit = cost->unit.text,
                                .title = scenario->title,
                                .digest = scenario->digest,
                                .case_name = scenario->cases[scenario->selected],
                                .stamp = scenario_stamp(scenario, arena),
                                .warnings = scenario_all_warnings(scenario, arena),
                                .option_count = scenario->option_count,
                                .baseline = scenario->baseline};
  certain_standings(scenario, ranking, result, arena);
  certain_outcomes(scenario, ranking, item, result, arena);
  return result;
}
