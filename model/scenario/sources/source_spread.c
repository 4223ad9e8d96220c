#include "model/scenario/sources/source_spread.h"

#include "model/cost/evaluate.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/delivery/fleet_spread.h"
#include "model/records/measurement.h"
#include "model/scenario/figure.h"

#include <gsl/gsl_cdf.h>
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

// The figure in the base case, for which a range is stated.
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

// The devices whose results may replace the record's; none for idle watts.
static struct fleet_sample sample_of(const struct scenario *scenario, const struct option *option,
                                     const char *name, struct arena *arena) {
  if (!strcmp(name, "idle_power"))
    return (struct fleet_sample){0, NAN, NAN};
  return fleet_sample_of(scenario->records, option->record,
                         strcmp(name, "load_power") != 0 ? FLEET_TOKENS : FLEET_WATTS, arena);
}

// The number of groups like the measured ones, each holding a whole model, that the option has in
// the base case.
static double devices_of(const struct scenario *scenario, const struct option *option) {
  const int accelerators = model_find(scenario->model, "accelerators");
  const double count = accelerators >= 0 && option_has(option, accelerators)
                           ? evaluation_at(option->evaluation, accelerators, 0)[0]
                           : NAN;
  return count > 0 ? count / measurement_devices(option->record) : INFINITY;
}

// The deviation of the mean of the option's own devices, as estimated from those measured (JCGM
// 100:2008, 4.2.3). It is such that a normal distribution has the 5th and 95th percentile of
// Student's.
static double mean_deviation(const struct scenario *scenario, const struct option *option,
                             const struct fleet_sample *sample) {
  static const double high = 0.95;
  const double count = (double)sample->count;
  const double student = gsl_cdf_tdist_Pinv(high, count - 1) / gsl_cdf_ugaussian_Pinv(high);
  return student * sample->between_devices * sqrt(1 / count + 1 / devices_of(scenario, option));
}

// Half the interval of a record's mean step, as a share of the step.
static double step_half_width(const struct measurement *record) {
  return (record->tokens_per_s / record->ci95_low - record->tokens_per_s / record->ci95_high) / 2;
}

int source_spread_of_record(const struct scenario *scenario, const struct option *option,
                            int declaration, struct distribution *distribution,
                            struct arena *arena) {
  const char *name = scenario->model->declarations[declaration].name;
  const bool throughput = !strcmp(name, "decode_throughput");
  const double figure = figure_of(scenario, option, declaration)->value;
  const struct fleet_sample sample = sample_of(scenario, option, name, arena);
  const double assumed = throughput ? DISTRIBUTION_SPREAD_THROUGHPUT : DISTRIBUTION_SPREAD_POWER;
  if (sample.count >= FLEET_ENOUGH &&
      figure == (throughput ? rate_per_hour(sample.mean) : sample.mean)) {
    distribution_measure_mean(distribution, figure, mean_deviation(scenario, option, &sample));
    return 0;
  }
  const double half_width = throughput ? step_half_width(option->record) : 0;
  if (isnan(half_width))
    return -1;
  // Half the width of a uniform distribution with the standard deviation among devices.
  const double spread = sqrt(3) * sample.between_devices;
  distribution_measure(distribution, figure, half_width,
                       isnan(spread) ? assumed : fmin(spread, MAX_SPREAD), arena);
  return 0;
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
