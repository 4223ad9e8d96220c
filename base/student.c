#include "base/student.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdbool.h>

enum { STEPS = 1000 };

double student_quantile(double p, double freedom) {
  gsl_set_error_handler_off(); // on failure return NAN, do not abort
  return freedom > 0 ? gsl_cdf_tdist_Pinv(p, freedom) : INFINITY;
}

// The probability of a value below x.
static double normal_share(double x) {
  return 0.5 * erfc(-x * M_SQRT1_2);
}

// The density of W, whose square times `freedom` is chi-squared, up to a constant factor.
static double density(double w, double freedom) {
  if (!(w > 0))
    return freedom > 1 ? 0 : exp(freedom / 2);
  return exp((freedom - 1) * log(w) + freedom / 2 * (1 - w * w));
}

double student_power(double distance, double deviation, double estimate, double freedom,
                     double limit) {
  // Beyond ten standard deviations of W, and below 0, the density is negligible.
  const double width = 10 / sqrt(2 * freedom);
  const double low = fmax(0, 1 - width), high = 1 + width, step = (high - low) / STEPS;
  double sum = 0, whole = 0;
  for (int i = 0; i <= STEPS; i++) {
    const double w = low + i * step;
    const double weight = (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * density(w, freedom);
    const double above = distance - limit * estimate * w;
    whole += weight;
    sum += weight * (deviation > 0 ? normal_share(above / deviation) : above > 0);
  }
  return sum / whole;
}

// How much the chance that mean - k deviation is below the quantile exceeds the confidence. It
// rises with k.
static double excess(double k, double z, double count, double confidence) {
  return student_power(-z, 1 / sqrt(count), -k, count - 1, 1) - confidence;
}

// The false position method, in the form that halves the weight of an end that stays (Illinois).
double student_tolerance(double count, double p, double confidence) {
  const double z = gsl_cdf_ugaussian_Pinv(p);
  double low = z - 1, high = z + 1, below, above, root = z;
  for (; (below = excess(low, z, count, confidence)) > 0 && isfinite(low); low -= high - low) {
  }
  for (; (above = excess(high, z, count, confidence)) < 0 && isfinite(high); high += high - low) {
  }
  for (int i = 0, side = 0; i < STEPS && high - low > 1e-9 * fmax(1, fabs(low)); i++) {
    const double next = (below * high - above * low) / (below - above);
    const double there = excess(next, z, count, confidence);
    const bool moved = fabs(next - root) > 1e-10 * fmax(1, fabs(next));
    root = next;
    if (there == 0 || !moved)
      break;
    if (there < 0) {
      low = next;
      below = there;
      above *= side < 0 ? 0.5 : 1;
      side = -1;
    } else {
      high = next;
      above = there;
      below *= side > 0 ? 0.5 : 1;
      side = 1;
    }
  }
  return root;
}

double student_at_most(unsigned most, double p, unsigned count) {
  return most >= count ? 1 : gsl_cdf_binomial_P(most, p, count);
}
