#include "reports/print/interval.h"

#include "model/chance/draw.h"
#include "model/simulate/part.h"
#include "model/simulate/sampler.h"
#include "model/simulate/simulate.h"

#include <math.h>

static const struct interval none = {NAN, NAN, NAN, false};

int interval_simulate(const struct scenario *scenario, const struct simulation **out,
                      struct arena *arena, struct diagnostics *diagnostics) {
  const struct simulate_request request = {.scenario = scenario,
                                           .draws = INTERVAL_DRAWS,
                                           .seed = INTERVAL_SEED,
                                           .method = DRAW_SOBOL,
                                           .without_influence = true};
  *out = NULL;
  if (!sampler_draws_any(scenario, NULL))
    return 0;
  const struct simulation_part *part = simulate(&request, arena, diagnostics);
  *out = part ? simulation_result(part, arena, diagnostics) : NULL;
  return *out ? 0 : -1;
}

struct interval interval_of(const struct simulation *simulation, enum outcome_kind kind,
                            size_t option) {
  for (size_t i = 0; simulation && i < simulation->outcome_count; i++) {
    const struct outcome *outcome = &simulation->outcomes[i];
    if (outcome->kind == kind && outcome->option == option)
      return (struct interval){outcome->percentiles[0], outcome->percentiles[SIMULATE_LEVELS / 2],
                               outcome->percentiles[SIMULATE_LEVELS - 1],
                               simulation_is_constant(outcome)};
  }
  return none;
}

// The baseline's saving over an option, from the option's over the baseline.
static double turned(double saving) {
  return 1 - 1 / (1 - saving);
}

struct interval interval_of_verdict(const struct simulation *simulation,
                                    const struct ranking *ranking) {
  if (ranking->against < 0)
    return none;
  if ((size_t)ranking->against == simulation->baseline)
    return interval_of(simulation, OUTCOME_SAVING, (size_t)ranking->cheapest);
  if ((size_t)ranking->cheapest != simulation->baseline)
    return none;
  const struct interval other = interval_of(simulation, OUTCOME_SAVING, (size_t)ranking->against);
  return (struct interval){turned(other.high), turned(other.median), turned(other.low),
                           other.constant};
}
