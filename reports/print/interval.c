#include "reports/print/interval.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/chance/draw.h"
#include "model/scenario/scenario.h"
#include "model/simulate/part.h"
#include "model/simulate/simulate.h"

#include <math.h>
#include <stddef.h>

const struct simulation *interval_simulate(const struct scenario *scenario, struct arena *arena) {
  if (!scenario->range_count)
    return NULL;
  struct diagnostics unheard = {.arena = arena};
  const struct simulate_request request = {
      .scenario = scenario, .draws = INTERVAL_DRAWS, .seed = INTERVAL_SEED, .method = DRAW_SOBOL};
  const struct simulation_part *part = simulate(&request, arena, &unheard);
  return part ? simulation_result(part, arena, &unheard) : NULL;
}

struct interval interval_of(const struct simulation *simulation, enum outcome_kind kind,
                            size_t option) {
  for (size_t i = 0; simulation && i < simulation->outcome_count; i++) {
    const struct outcome *outcome = &simulation->outcomes[i];
    if (outcome->kind == kind && outcome->option == option)
      return (struct interval){outcome->percentiles[0], outcome->percentiles[SIMULATE_LEVELS - 1]};
  }
  return (struct interval){NAN, NAN};
}
