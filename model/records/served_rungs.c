#include "model/records/served_rungs.h"

#include "base/source.h"

#include <math.h>
#include <stdbool.h>

bool served_is_alike(double a, double b) {
  return (isnan(a) && isnan(b)) || fabs(a - b) <= REQUEST_LENGTHS * fmax(a, b);
}

const char *served_lengths_text(const struct served_rungs *rungs, struct arena *arena) {
  const double in = rungs->input_tokens, out = rungs->output_tokens;
  if (isnan(in) && isnan(out))
    return "requests of unstated length";
  if (isnan(in) || isnan(out))
    return arena_printf(arena, "requests of %.0f tokens %s, unstated %s", isnan(in) ? out : in,
                        isnan(in) ? "out" : "in", isnan(in) ? "in" : "out");
  return arena_printf(arena, "requests of %.0f tokens in, %.0f out", in, out);
}

// Whether a rung has the times that the workload limits, both if it limits none.
static bool has_times(const struct serving_rung *rung, int percentile,
                      const struct workload *workload) {
  const bool ttft = *workload->values[WORKLOAD_TTFT], tpot = *workload->values[WORKLOAD_TPOT];
  return ((tpot && !ttft) || !isnan(serving_percentile(&rung->ttft, percentile))) &&
         ((ttft && !tpot) || !isnan(serving_percentile(&rung->tpot, percentile)));
}

static size_t count_times(const struct served_rungs *rungs, size_t count, int percentile,
                          const struct workload *workload) {
  size_t told = 0;
  for (size_t i = 0; i < count; i++)
    told += has_times(rungs->list[i], percentile, workload);
  return told;
}

static const int percentiles[SERVED_PERCENTILES] = {99, 95, 90};

void served_tally_add(struct served_tally *tally, const struct served_rungs *rungs,
                      const struct workload *workload) {
  size_t told[SERVED_PERCENTILES], in_all = 0;
  for (size_t p = 0; p < SERVED_PERCENTILES; p++)
    in_all += told[p] = count_times(rungs, rungs->count, percentiles[p], workload);
  for (size_t p = 0; p < SERVED_PERCENTILES && in_all; p++) {
    tally->told[p] += told[p];
    tally->untold[p] |= !told[p];
  }
}

int served_tally_percentile(const struct served_tally *tally) {
  size_t most = 0;
  int percentile = 0;
  for (size_t p = 0; p < SERVED_PERCENTILES; p++) {
    if (tally->untold[p] || tally->told[p] <= most)
      continue;
    most = tally->told[p];
    percentile = percentiles[p];
  }
  return percentile;
}

static int own_percentile(const struct served_rungs *rungs, const struct workload *workload) {
  struct served_tally tally = {0};
  served_tally_add(&tally, rungs, workload);
  return served_tally_percentile(&tally);
}

double served_watts(const struct served_rungs *rungs, double watts,
                    const struct serving_power *power) {
  const bool whole = power->covers != COVERS_ACCELERATORS;
  return watts / (whole || !power->devices ? rungs->record->accelerators : power->devices);
}

// The coverage of the meter in the first closed loop that has one.
static enum serving_coverage coverage_of(const struct served_rungs *rungs) {
  for (size_t i = 0; i < rungs->closed; i++)
    if (!isnan(rungs->list[i]->power.load_power_w))
      return rungs->list[i]->power.covers;
  return COVERS_NOTHING;
}

static bool states_requests(const struct served_rungs *rungs) {
  for (size_t i = 0; i < rungs->count; i++)
    if (!isnan(rungs->list[i]->completed))
      return true;
  return false;
}

const char *served_draw_curve(struct served_rungs *rungs, const struct workload *workload,
                              int percentile, struct arena *arena) {
  struct curve *curve = &rungs->curve;
  if (!count_times(rungs, rungs->count, percentile, workload))
    percentile = own_percentile(rungs, workload);
  rungs->percentile = percentile;
  rungs->covers = coverage_of(rungs);
  *curve = (struct curve){
      .accelerators = rungs->record->accelerators,
      .grade = rungs->record->grade,
      .percentile = count_times(rungs, rungs->closed, percentile, workload) ? percentile : 0,
      .no_times = states_requests(rungs) ? curve_no_times : curve_no_count};
  for (size_t i = 0; i < rungs->closed; i++) {
    const struct serving_rung *rung = rungs->list[i];
    const struct serving_power *power = &rung->power;
    const double watts =
        power->covers == rungs->covers ? served_watts(rungs, power->load_power_w, power) : NAN;
    if (!curve_add(curve, rung->concurrency, rung->output_tokens_per_s / curve->accelerators, watts,
                   "", arena))
      return arena_printf(
          arena, "'%s' has two rungs with %g requests in flight, and nothing distinguishes them",
          source_file_name(rungs->record->path), rung->concurrency);
    curve->ttft_s[i] = serving_percentile(&rung->ttft, percentile);
    curve->tpot_s[i] = serving_percentile(&rung->tpot, percentile);
  }
  return NULL;
}
