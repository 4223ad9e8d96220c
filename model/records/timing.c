#include "model/records/timing.h"

#include "base/statistics.h"
#include "base/student.h"

#include <math.h>
#include <stddef.h>

// An interval of a time that reached down to 0 would be one of a rate up to infinity, and no more
// than two independent samples do not tell how much they vary: the interval is then unknown.
static struct summary summary_of(const double *samples, size_t count, struct arena *arena) {
  struct summary summary = summarise(samples, count, arena_array(arena, count, sizeof *samples));
  if (!(summary.mean_low > 0) || !(summary.independent > 2))
    summary.mean_low = summary.mean_high = NAN;
  return summary;
}

bool timing_is_told(const struct measurement *result) {
  for (size_t i = 0; i < result->slice_count; i++)
    if (result->slices[i].sample_count < MIN_INTERVAL_SAMPLES)
      return false;
  return result->slice_count ? result->slice_count >= 2
                             : result->sample_count >= MIN_INTERVAL_SAMPLES;
}

// A share's ranks add exchanges to its own time: two per layer, and one for the tokens.
static double exchanges_s(const struct measurement *result) {
  const bool is_told = result->shard.of > 1 && !isnan(result->shard.all_reduce_s);
  return is_told ? (2 * result->model.layers + 1) * result->shard.all_reduce_s : 0;
}

// ---- slices

static bool tell_slices(struct measurement *result, struct arena *arena) {
  struct measurement_slice *slices = arena_array(arena, result->slice_count, sizeof *slices);
  bool settled = true;
  for (size_t i = 0; i < result->slice_count; i++) {
    slices[i] = result->slices[i];
    const struct summary summary = summary_of(slices[i].samples, slices[i].sample_count, arena);
    slices[i].step_seconds = summary.mean;
    slices[i].ci95_low_s = summary.mean_low;
    slices[i].ci95_high_s = summary.mean_high;
    settled = settled && is_settled(&summary, TIMING_SETTLED);
  }
  result->slices = slices;
  return settled;
}

// The time of a step by the line t = a + b L, at the model's number of layers. The interval
// combines each depth's own interval, propagated through the line, and with three depths the line's
// own error.
static struct summary extrapolate(struct measurement *result, struct arena *arena) {
  const size_t count = result->slice_count;
  double *layers = arena_array(arena, count, sizeof *layers);
  double *step_s = arena_array(arena, count, sizeof *step_s);
  for (size_t i = 0; i < count; i++) {
    layers[i] = result->slices[i].layers;
    step_s[i] = result->slices[i].step_seconds;
  }
  const struct fitted_line line = fit_line(layers, step_s, count);
  const double whole = result->model.layers, mean = line_at(&line, whole);
  double squares = 0;
  for (size_t i = 0; i < count; i++) {
    const struct measurement_slice *slice = &result->slices[i];
    const double half = (slice->ci95_high_s - slice->ci95_low_s) / 2;
    squares += pow(line_weight(&line, whole, layers[i]) * half, 2);
  }
  result->slice_error_s = line_error_at(&line, whole);
  if (!isnan(result->slice_error_s))
    squares += pow(student_quantile(0.975, (double)count - 2) * result->slice_error_s, 2);
  result->layer_seconds = line.b;
  const double half = sqrt(squares) < mean ? sqrt(squares) : (double)NAN;
  return (struct summary){.mean = mean,
                          .mean_low = mean - half,
                          .mean_high = mean + half,
                          .median = mean,
                          .p5 = mean - half,
                          .p95 = mean + half};
}

// ---- results

static struct summary steps_of(struct measurement *result, struct arena *arena) {
  if (result->slice_count) {
    result->flags.unconverged = !tell_slices(result, arena);
    return extrapolate(result, arena);
  }
  const struct summary steps = summary_of(result->samples, result->sample_count, arena);
  result->flags.unconverged = !is_settled(&steps, TIMING_SETTLED);
  result->layer_seconds = steps.median / result->layers_measured;
  result->slice_error_s = NAN;
  return steps;
}

void timing_tell(struct measurement *result, struct arena *arena) {
  const struct summary steps = steps_of(result, arena);
  const double shift_s = exchanges_s(result);
  if (result->shard.of > 1)
    result->shard.step_seconds = steps.median;
  result->step_seconds = steps.median + shift_s;
  result->p5_s = steps.p5 + shift_s;
  result->p95_s = steps.p95 + shift_s;
  result->tokens_per_s = result->batch / (steps.mean + shift_s);
  result->ci95_low = result->batch / (steps.mean_high + shift_s);
  result->ci95_high = result->batch / (steps.mean_low + shift_s);
}

void timing_tell_prompt(struct measurement_prefill *prompt, struct arena *arena) {
  const struct summary summary = summary_of(prompt->samples, prompt->sample_count, arena);
  prompt->seconds = summary.median;
  prompt->ci95_low_s = summary.mean_low;
  prompt->ci95_high_s = summary.mean_high;
  prompt->tokens_per_s = prompt->positions / summary.mean;
}

// ---- means

static double mean_of(const double *samples, size_t count) {
  double mean = count ? 0 : (double)NAN;
  for (size_t i = 0; i < count; i++)
    mean += samples[i] / (double)count;
  return mean;
}

double timing_step_mean(const struct measurement *result) {
  return result->slice_count ? (double)NAN
                             : mean_of(result->samples, result->sample_count) + exchanges_s(result);
}

double timing_prompt_mean(const struct measurement_prefill *prompt) {
  return mean_of(prompt->samples, prompt->sample_count);
}
