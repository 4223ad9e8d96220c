#include "model/evidence/curve.h"

#include "model/cost/units.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_interp.h>
#include <math.h>

double curve_interpolate(const double *x, const double *y, size_t count, double at) {
  if (count < 2 || at < x[0] || at > x[count - 1])
    return NAN;
  for (size_t i = 0; i < count; i++)
    if (!isfinite(y[i]))
      return NAN;
  gsl_set_error_handler_off();
  const gsl_interp_type *type = count > 2 ? gsl_interp_steffen : gsl_interp_linear;
  gsl_interp *interpolation = gsl_interp_alloc(type, count);
  double value = NAN;
  if (!interpolation)
    return value;
  if (gsl_interp_init(interpolation, x, y, count) != GSL_SUCCESS ||
      gsl_interp_eval_e(interpolation, x, y, at, NULL, &value) != GSL_SUCCESS)
    value = NAN;
  gsl_interp_free(interpolation);
  return value;
}

bool curve_add(struct curve *curve, double batch, double throughput, double load_power,
               const char *id) {
  size_t at = 0;
  if (!(batch >= 1 && batch <= MAX_CURVE_USERS))
    return false;
  while (at < curve->count && curve->batch[at] < batch)
    at++;
  if (curve->count == MAX_CURVE_POINTS || (at < curve->count && curve->batch[at] == batch))
    return false;
  for (size_t i = curve->count++; i > at; i--) {
    curve->batch[i] = curve->batch[i - 1];
    curve->throughput[i] = curve->throughput[i - 1];
    curve->load_power[i] = curve->load_power[i - 1];
    curve->ids[i] = curve->ids[i - 1];
  }
  curve->batch[at] = batch;
  curve->throughput[at] = throughput;
  curve->load_power[at] = load_power;
  curve->ids[at] = id;
  return true;
}

static double rate(const struct curve *curve, double throughput, double batch) {
  return throughput * curve->accelerators / batch;
}

double curve_interactivity(const struct curve *curve, size_t point) {
  return rate(curve, curve->throughput[point], curve->batch[point]);
}

static double throughput_at(const struct curve *curve, double batch) {
  for (size_t i = 0; i < curve->count; i++)
    if (curve->batch[i] == batch)
      return curve->throughput[i];
  return curve_interpolate(curve->batch, curve->throughput, curve->count, batch);
}

static const char *why_none(const struct curve *curve, double target, struct arena *arena) {
  const double hour_s = conversion_table[CONVERT_SECONDS_PER_HOUR].value;
  const size_t last = curve->count - 1;
  const bool above = target > curve_interactivity(curve, 0);
  return arena_printf(arena,
                      "%.4g token/s per user is %s what was measured: %.4g at batch %g down to "
                      "%.4g at batch %g",
                      target / hour_s, above ? "above" : "below",
                      curve_interactivity(curve, 0) / hour_s, curve->batch[0],
                      curve_interactivity(curve, last) / hour_s, curve->batch[last]);
}

const char *curve_choose(const struct curve *curve, double target, struct curve_choice *out,
                         struct arena *arena) {
  const size_t last = curve->count - 1;
  const double roundoff = 1e-12;
  if (curve_interactivity(curve, last) > target * (1 + roundoff))
    return why_none(curve, target, arena);
  for (int batch = (int)curve->batch[last]; batch >= ceil(curve->batch[0]); batch--) {
    const double throughput = throughput_at(curve, batch);
    if (!(rate(curve, throughput, batch) >= target * (1 - roundoff)))
      continue;
    *out = (struct curve_choice){
        .batch = batch, .throughput = throughput, .interactivity = rate(curve, throughput, batch)};
    out->load_power =
        curve_interpolate(curve->batch, curve->load_power, curve->count, (double)batch);
    for (size_t i = 0; i <= last; i++)
      if (curve->batch[i] == batch) {
        out->is_measured = true;
        out->load_power = curve->load_power[i];
      }
    return NULL;
  }
  return why_none(curve, target, arena);
}
