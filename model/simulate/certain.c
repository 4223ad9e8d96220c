#include "model/simulate/simulate.h"

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
  const int item = model_find(scenario->model, "cost_per_mtok");
  const struct declaration *cost = &scenario->model->declarations[item];
  struct simulation *result = arena_alloc(arena, sizeof *result);
  struct outcome *outcomes = arena_array(arena, 2 * count - 1, sizeof *outcomes);
  const char **options = arena_array(arena, count, sizeof *options);
  double *cheapest = arena_array(arena, count, sizeof *cheapest);
  size_t best = 0, savings = count;
  for (size_t o = 0; o < count; o++) {
    const struct option *option = &scenario->options[o];
    options[o] = option->id;
    outcomes[o] = certain_outcome(
        OUTCOME_COST, o, option_value(scenario, option, item, 0) / unit_factor(&cost->unit));
    if (o != scenario->baseline)
      outcomes[savings++] =
          certain_outcome(OUTCOME_SAVING, o, option_saving(scenario, option, cost->name));
    best = outcomes[o].mean < outcomes[best].mean ? o : best;
  }
  cheapest[best] = 1;
  *result = (struct simulation){.item = cost->name,
                                .unit = cost->unit.text,
                                .digest = scenario->digest,
                                .case_name = scenario->cases[scenario->selected],
                                .stamp = scenario_stamp(scenario, arena),
                                .option_count = count,
                                .baseline = scenario->baseline,
                                .options = options,
                                .cheapest = cheapest,
                                .outcome_count = savings,
                                .outcomes = outcomes};
  return result;
}
