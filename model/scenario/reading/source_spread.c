#include "model/scenario/reading/source_spread.h"

#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/delivery/fleet_spread.h"
#include "model/records/measurement.h"
#include "model/scenario/figure.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

struct distribution source_spread_of_rows(const struct evidence *evidence, struct arena *arena) {
  const struct candidates *candidates = &evidence->candidates;
  const size_t count = candidates->submitters;
  struct distribution spread = {.kind = DISTRIBUTION_DISCRETE,
                                .atoms = arena_array(arena, count, sizeof *spread.atoms),
                                .atom_count = count};
  for (size_t i = 0; i < count; i++)
    spread.atoms[i] =
        (struct atom){rate_per_hour(evidence_rate(evidence->table, candidates->best[i])),
                      (double)(i + 1) / (double)count};
  spread.low = spread.atoms[0].value;
  spread.high = spread.atoms[count - 1].value;
  return spread;
}

// Of the base case, for which a range is.
static const struct figure *figure_of(const struct scenario *scenario, const struct option *option,
                                      int declaration) {
  return option_figure(scenario, option, 0, declaration);
}

bool source_spread_is_recorded(const struct scenario *scenario, const struct option *option,
                               int declaration) {
  const struct figure *figure = figure_of(scenario, option, declaration);
  return option->record && figure->origin == ORIGIN_CATALOGUE &&
         figure->place.source == option->record->place.source;
}

#define MAX_SPREAD 0.9 // keeps every draw well above zero

// Half the width of a uniform distribution with the standard deviation measured among devices; an
// assumed value if too few were measured.
static double device_spread(const struct scenario *scenario, const struct option *option,
                            const char *name, struct arena *arena) {
  const bool throughput = !strcmp(name, "decode_throughput");
  const double assumed = throughput ? DISTRIBUTION_SPREAD_THROUGHPUT : DISTRIBUTION_SPREAD_POWER;
  const double measured = !strcmp(name, "idle_power")
                              ? NAN
                              : fleet_device_spread(scenario->records, option->record,
                                                    throughput ? FLEET_TOKENS : FLEET_WATTS, arena);
  return isnan(measured) ? assumed : fmin(sqrt(3) * measured, MAX_SPREAD);
}

void source_spread_of_record(const struct scenario *scenario, const struct option *option,
                             int declaration, struct distribution *distribution,
                             struct arena *arena) {
  const char *name = scenario->model->declarations[declaration].name;
  const bool throughput = !strcmp(name, "decode_throughput");
  distribution_measure(distribution, figure_of(scenario, option, declaration)->value,
                       throughput ? option->record->samples : NULL,
                       throughput ? option->record->sample_count : 0,
                       device_spread(scenario, option, name, arena), arena);
}

static bool are_same_rows(const struct evidence *one, const struct evidence *other) {
  const struct candidates *a = &one->candidates, *b = &other->candidates;
  return one->table == other->table && a->submitters == b->submitters &&
         !memcmp(a->best, b->best, a->submitters * sizeof *a->best);
}

bool source_spread_is_one(const struct scenario *scenario, const struct option *one,
                          const struct option *other, int declaration) {
  if (source_spread_is_recorded(scenario, one, declaration))
    return one->record == other->record &&
           source_spread_is_recorded(scenario, other, declaration) &&
           figure_of(scenario, one, declaration)->value ==
               figure_of(scenario, other, declaration)->value;
  return one->evidence && other->evidence && are_same_rows(one->evidence, other->evidence);
}
