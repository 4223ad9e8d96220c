#include "model/evidence/curve.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_interp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const curve_no_times =
    "its rungs give no P90 for time to first token or between tokens: each needs 64 requests";

const char *const curve_no_count =
    "its rungs give no P90 for time to first token or between tokens: each needs 64 requests, and "
    "the record does not state how many there were";

double curve_interpolate(const double *x, const double *y, size_t count, double at) {
  double *places = malloc(2 * count * sizeof *places), *values = places + count, value = NAN;
  gsl_interp *interpolation = NULL;
  size_t told = 0;
  for (size_t i = 0; i < count; i++)
    if (isfinite(y[i])) {
      places[told] = x[i];
      values[told++] = y[i];
    }
  if (told < 2 || at < places[0] || at > places[told - 1])
    goto end;
  gsl_set_error_handler_off();
  interpolation = gsl_interp_alloc(told > 2 ? gsl_interp_steffen : gsl_interp_linear, told);
  if (gsl_interp_init(interpolation, places, values, told) != GSL_SUCCESS ||
      gsl_interp_eval_e(interpolation, places, values, at, NULL, &value) != GSL_SUCCESS)
    value = NAN;
end:
  gsl_interp_free(interpolation);
  free(places);
  return value;
}

bool curve_add(struct curve *curve, double batch, double tokens_per_s, double load_power,
               const char *id, struct arena *arena) {
  const struct {
    double **column, value;
  } columns[] = {{&curve->batch, batch},
                 {&curve->tokens_per_s, tokens_per_s},
                 {&curve->load_power, load_power},
                 {&curve->ttft_s, NAN},
                 {&curve->tpot_s, NAN}};
  size_t at = 0;
  while (at < curve->count && curve->batch[at] < batch)
    at++;
  if (at < curve->count && curve->batch[at] == batch)
    return false;
  const size_t after = curve->count - at;
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
    double *column = arena_room(arena, *columns[i].column, curve->count, sizeof *column);
    memmove(column + at + 1, column + at, after * sizeof *column);
    column[at] = columns[i].value;
    *columns[i].column = column;
  }
  curve->ids = arena_room(arena, curve->ids, curve->count, sizeof *curve->ids);
  memmove(curve->ids + at + 1, curve->ids + at, after * sizeof *curve->ids);
  curve->ids[at] = id;
  curve->count++;
  return true;
}

static double rate(const struct curve *curve, double tokens_per_s, double batch) {
  return tokens_per_s * curve->accelerators / batch;
}

double curve_interactivity(const struct curve *curve, size_t point) {
  return rate(curve, curve->tokens_per_s[point], curve->batch[point]);
}

// A column's value at a batch: at a point that point's own, NAN if it has none; else interpolated.
static double value_at(const struct curve *curve, const double *column, double batch) {
  for (size_t i = 0; i < curve->count; i++)
    if (curve->batch[i] == batch)
      return column[i];
  return curve_interpolate(curve->batch, column, curve->count, batch);
}

// The same, interpolated at a point without one too.
static double told_at(const struct curve *curve, const double *column, double batch) {
  const double own = value_at(curve, column, batch);
  return isnan(own) ? curve_interpolate(curve->batch, column, curve->count, batch) : own;
}

// The first point whose limited times are known, else the last.
static size_t first_told(const struct curve *curve, const struct curve_limits *limits) {
  size_t first = 0;
  while (first + 1 < curve->count && ((isfinite(limits->ttft_s) && isnan(curve->ttft_s[first])) ||
                                      (isfinite(limits->tpot_s) && isnan(curve->tpot_s[first]))))
    first++;
  return first;
}

static const char *why_no_rate(const struct curve *curve, double target, struct arena *arena) {
  const size_t last = curve->count - 1;
  const bool above = target > curve_interactivity(curve, 0);
  return arena_printf(
      arena,
      "%.4g token/s per user on average is %s the measured range: %.4g at batch %g down to %.4g at "
      "batch %g",
      target, above ? "above" : "below", curve_interactivity(curve, 0), curve->batch[0],
      curve_interactivity(curve, last), curve->batch[last]);
}

static bool limits_times(const struct curve_limits *limits) {
  return isfinite(limits->ttft_s) || isfinite(limits->tpot_s);
}

static const char *why_none(const struct curve *curve, const struct curve_limits *limits,
                            struct arena *arena) {
  if (!limits_times(limits))
    return why_no_rate(curve, limits->interactivity, arena);
  const size_t first = first_told(curve, limits);
  const double ttft_s = curve->ttft_s[first], tpot_s = curve->tpot_s[first];
  return arena_printf(
      arena,
      "no measured point meets it: at batch %g P%d is %s%s%s, at %.4g token/s per user on average",
      curve->batch[first], curve->percentile,
      isnan(ttft_s) ? "" : arena_printf(arena, "%.4g s to the first token", ttft_s),
      isnan(ttft_s) || isnan(tpot_s) ? "" : ", ",
      isnan(tpot_s) ? "" : arena_printf(arena, "%.4g s from token to token", tpot_s),
      curve_interactivity(curve, first));
}

static struct curve_choice choice_at(const struct curve *curve, int batch) {
  const bool told = curve->percentile > 0;
  struct curve_choice choice = {.batch = batch,
                                .tokens_per_s = value_at(curve, curve->tokens_per_s, batch),
                                .load_power = told_at(curve, curve->load_power, batch),
                                .ttft_s = told ? told_at(curve, curve->ttft_s, batch) : NAN,
                                .tpot_s = told ? told_at(curve, curve->tpot_s, batch) : NAN};
  choice.interactivity = rate(curve, choice.tokens_per_s, batch);
  for (size_t i = 0; i < curve->count; i++) {
    choice.is_measured |= curve->batch[i] == batch;
    choice.has_own_watts |= curve->batch[i] == batch && isfinite(curve->load_power[i]);
  }
  return choice;
}

int curve_at(const struct curve *curve, int batch, struct curve_choice *out) {
  *out = choice_at(curve, batch);
  return isfinite(out->tokens_per_s) ? 0 : -1;
}

bool curve_is_within(double value, double limit) {
  const double roundoff = 1e-12;
  return !isfinite(limit) || value <= limit * (1 + roundoff);
}

static bool keeps(const struct curve_choice *choice, const struct curve_limits *limits) {
  return curve_is_within(limits->interactivity, choice->interactivity) &&
         curve_is_within(choice->ttft_s, limits->ttft_s) &&
         curve_is_within(choice->tpot_s, limits->tpot_s);
}

const char *curve_choose(const struct curve *curve, const struct curve_limits *limits,
                         struct curve_choice *out, struct arena *arena) {
  const size_t last = curve->count - 1;
  if (limits_times(limits) && !curve->percentile)
    return curve->no_times ? curve->no_times : curve_no_times;
  if (!limits_times(limits) &&
      !curve_is_within(curve_interactivity(curve, last), limits->interactivity))
    return why_none(curve, limits, arena);
  if (curve->batch[last] > MAX_CURVE_USERS)
    return arena_printf(arena, "its curve goes up to batch %g, and none is chosen above %d",
                        curve->batch[last], MAX_CURVE_USERS);
  for (int batch = (int)curve->batch[last]; batch >= ceil(curve->batch[0]); batch--) {
    const struct curve_choice choice = choice_at(curve, batch);
    if (!keeps(&choice, limits))
      continue;
    *out = choice;
    return NULL;
  }
  return why_none(curve, limits, arena);
}
