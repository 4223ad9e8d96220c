#include "model/chance/distribution.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/vector.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

// A beta distribution's inverse: each half of the shares is divided into octaves, 1/2 to 1/4, 1/4
// to 1/8, ..., and these into equal parts. Each part has a cubic with the correct values and slopes
// at both ends. Within an octave, a share's own bits are its position.
enum { TABLE_OCTAVES = 40, TABLE_PARTS = 16, TABLE_CELLS = TABLE_OCTAVES * TABLE_PARTS };

struct distribution_table {
  double coefficients[4][2 * TABLE_CELLS]; // by power; the lower half of the shares first
};

static double beta_alpha(const struct distribution *d) {
  return 1 + 4 * (d->mode - d->low) / (d->high - d->low);
}

static double beta_beta(const struct distribution *d) {
  return 1 + 4 * (d->high - d->mode) / (d->high - d->low);
}

// The quantile of the share p of beta(a, b): Newton's method from a guess, else GSL's.
static double beta_quantile(double p, double a, double b, double guess) {
  double x = guess;
  for (int i = 0; i < 20; i++) {
    double step = (gsl_cdf_beta_P(x, a, b) - p) / gsl_ran_beta_pdf(x, a, b);
    if (!(x - step > 0 && x - step < 1))
      break;
    x -= step;
    if (fabs(step) <= 1e-13 * x)
      return x;
  }
  return gsl_cdf_beta_Pinv(p, a, b);
}

// Fills one half of the table, for shares from 1/2 down to the end at which the beta distribution's
// density is zero.
static int fill_half(struct distribution_table *table, double a, double b, int first) {
  double x1 = beta_quantile(0.5, a, b, a / (a + b));
  for (int octave = 0; octave < TABLE_OCTAVES; octave++)
    for (int part = TABLE_PARTS - 1; part >= 0; part--) {
      int cell = first + octave * TABLE_PARTS + part;
      double start = ldexp(0.25, -octave), width = start / TABLE_PARTS;
      double slope1 = width / gsl_ran_beta_pdf(x1, a, b);
      double x0 = beta_quantile(start + part * width, a, b, fmax(x1 - slope1, x1 / 2));
      double slope0 = width / gsl_ran_beta_pdf(x0, a, b);
      if (!(isfinite(x0) && isfinite(slope0) && isfinite(slope1)))
        return -1;
      table->coefficients[0][cell] = x0;
      table->coefficients[1][cell] = slope0;
      table->coefficients[2][cell] = 3 * (x1 - x0) - 2 * slope0 - slope1;
      table->coefficients[3][cell] = slope0 + slope1 - 2 * (x1 - x0);
      x1 = x0;
    }
  return 0;
}

int distribution_prepare(struct distribution *d, struct place place, struct arena *arena,
                         struct diagnostics *diagnostics) {
  if (d->kind != DISTRIBUTION_PERT || d->table)
    return 0;
  gsl_set_error_handler_off();
  struct distribution_table *table = arena_alloc(arena, sizeof *table);
  double a = beta_alpha(d), b = beta_beta(d);
  if (fill_half(table, a, b, 0) || fill_half(table, b, a, TABLE_CELLS)) {
    diagnostics_error(diagnostics, place, "cannot compute the quantiles of this pert()");
    return -1;
  }
  d->table = table;
  return 0;
}

// The share tells the half, and the bits of its distance from the nearer end tell the cell.
VECTOR_CLONES static void pert_quantiles(const struct distribution *d, const double *u,
                                         double *out) {
  const struct distribution_table *table = d->table;
  const double low = d->low, high = d->high, width = d->high - d->low;
  const double smallest = ldexp(0.25, 1 - TABLE_OCTAVES);
#pragma omp simd
  for (int i = 0; i < VECTOR_BLOCK; i++) {
    double p = u[i] < 0.5 ? u[i] : 1 - u[i];
    p = p < smallest ? smallest : p >= 0.5 ? 0x1.fffffffffffffp-2 : p;
    uint64_t bits = vector_to_bits(p);
    uint64_t octave = 1021 - (bits >> 52), part = (bits >> 48) & 15;
    double t = vector_from_bits((bits << 4 & 0xfffffffffffff) | 0x3ff0000000000000) - 1;
    int cell = (int)(octave * TABLE_PARTS + part) + (u[i] < 0.5 ? 0 : TABLE_CELLS);
    double x = table->coefficients[0][cell] +
               t * (table->coefficients[1][cell] +
                    t * (table->coefficients[2][cell] + t * table->coefficients[3][cell]));
    out[i] = u[i] < 0.5 ? low + width * x : high - width * x;
  }
}

VECTOR_CLONES static void uniform_quantiles(const struct distribution *d, const double *u,
                                            double *out) {
  const double low = d->low, width = d->high - d->low;
#pragma omp simd
  for (int i = 0; i < VECTOR_BLOCK; i++)
    out[i] = low + width * u[i];
}

VECTOR_CLONES static void triangular_quantiles(const struct distribution *d, const double *u,
                                               double *out) {
  const double low = d->low, high = d->high, width = d->high - d->low;
  const double left = width * (d->mode - d->low), right = width * (d->high - d->mode);
  const double turn = (d->mode - d->low) / width;
#pragma omp simd
  for (int i = 0; i < VECTOR_BLOCK; i++) {
    double root = sqrt(u[i] < turn ? u[i] * left : (1 - u[i]) * right);
    out[i] = u[i] < turn ? low + root : high - root;
  }
}

// AS 241's three rational functions, from the highest power down.
static const double central_over[] = {2.5090809287301226727e+3, 3.3430575583588128105e+4,
                                      6.7265770927008700853e+4, 4.5921953931549871457e+4,
                                      1.3731693765509461125e+4, 1.9715909503065514427e+3,
                                      1.3314166789178437745e+2, 3.3871328727963666080e+0};
static const double central_under[] = {5.2264952788528545610e+3, 2.8729085735721942674e+4,
                                       3.9307895800092710610e+4, 2.1213794301586595867e+4,
                                       5.3941960214247511077e+3, 6.8718700749205790830e+2,
                                       4.2313330701600911252e+1, 1};
static const double tail_over[] = {7.74545014278341407640e-4, 2.27238449892691845833e-2,
                                   2.41780725177450611770e-1, 1.27045825245236838258e+0,
                                   3.64784832476320460504e+0, 5.76949722146069140550e+0,
                                   4.63033784615654529590e+0, 1.42343711074968357734e+0};
static const double tail_under[] = {1.05075007164441684324e-9, 5.47593808499534494600e-4,
                                    1.51986665636164571966e-2, 1.48103976427480074590e-1,
                                    6.89767334985100004550e-1, 1.67638483018380384940e+0,
                                    2.05319162663775882187e+0, 1};
static const double far_over[] = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                                  1.24266094738807843860e-3, 2.65321895265761230930e-2,
                                  2.96560571828504891230e-1, 1.78482653991729133580e+0,
                                  5.46378491116411436990e+0, 6.65790464350110377720e+0};
static const double far_under[] = {2.04426310338993978564e-15, 1.42151175831644588870e-7,
                                   1.84631831751005468180e-5,  7.86869131145613259100e-4,
                                   1.48753612908506148525e-2,  1.36929880922735805310e-1,
                                   5.99832206555887937690e-1,  1};

static inline double polynomial(const double *coefficients, double x) {
  double sum = coefficients[0];
  for (int i = 1; i < 8; i++)
    sum = sum * x + coefficients[i];
  return sum;
}

// Replaces the normal quantiles of shares within e^-25 of either end, and keeps the others.
static void far_quantiles(const double *u, double *out, const double *in_range) {
  for (int i = 0; i < VECTOR_BLOCK; i++) {
    double p = u[i] < 0.5 ? u[i] : 1 - u[i];
    double r = sqrt(-vector_log(p));
    double z = polynomial(far_over, r - 5) / polynomial(far_under, r - 5);
    out[i] = r <= 5 ? in_range[i] : u[i] < 0.5 ? -z : z;
  }
}

VECTOR_CLONES static bool near_quantiles(const double *u, double *out) {
  int far = 0;
#pragma omp simd reduction(| : far)
  for (int i = 0; i < VECTOR_BLOCK; i++) {
    double q = u[i] - 0.5;
    double p = q < 0 ? u[i] : 1 - u[i];
    double s = 0.180625 - q * q;
    double central = q * (polynomial(central_over, s) / polynomial(central_under, s));
    double r = sqrt(-vector_log(p));
    double tail = polynomial(tail_over, r - 1.6) / polynomial(tail_under, r - 1.6);
    far |= r > 5;
    out[i] = fabs(q) <= 0.425 ? central : q < 0 ? -tail : tail;
  }
  return far != 0;
}

void normal_quantiles(const double *u, double *out) {
  double near[VECTOR_BLOCK];
  if (near_quantiles(u, near))
    far_quantiles(u, out, near);
  else
    memcpy(out, near, sizeof near);
}

VECTOR_CLONES void normal_shares(const double *z, double *out) {
#pragma omp simd
  for (int i = 0; i < VECTOR_BLOCK; i++) {
    double x = fabs(z[i]);
    double over =
        220.206867912376 +
        x * (221.213596169931 +
             x * (112.079291497871 +
                  x * (33.912866078383 +
                       x * (6.37396220353165 + x * (0.700383064443688 + x * 0.0352624965998911)))));
    double under = 440.413735824752 +
                   x * (793.826512519948 +
                        x * (637.333633378831 +
                             x * (296.564248779674 +
                                  x * (86.7807322029461 +
                                       x * (16.064177579207 +
                                            x * (1.75566716318264 + x * 0.0883883476483184))))));
    double tail = vector_exp(-0.5 * x * x) * over / under;
    out[i] = z[i] < 0 ? tail : 1 - tail;
  }
}

// The shares of the untruncated distribution at the cuts.
struct cut {
  double low, width;
};

static double standard(const struct distribution *d, double x) {
  if (d->kind == DISTRIBUTION_LOGNORMAL)
    x = x > 0 ? log(x) : -INFINITY;
  return (x - d->mean) / d->deviation;
}

static struct cut cut_of(const struct distribution *d) {
  double low = gsl_cdf_ugaussian_P(standard(d, d->low));
  return (struct cut){low, gsl_cdf_ugaussian_P(standard(d, d->high)) - low};
}

VECTOR_CLONES static void cut_shares(const struct cut *cut, const double *u, double *out) {
  const double smallest = 0x1p-1022, largest = 0x1.fffffffffffffp-1;
#pragma omp simd
  for (int i = 0; i < VECTOR_BLOCK; i++) {
    double share = cut->low + cut->width * u[i];
    out[i] = share < smallest ? smallest : share > largest ? largest : share;
  }
}

VECTOR_CLONES static void stretch(const struct distribution *d, double *out) {
  const double mean = d->mean, deviation = d->deviation, low = d->low, high = d->high;
#pragma omp simd
  for (int i = 0; i < VECTOR_BLOCK; i++) {
    double x = mean + deviation * out[i];
    out[i] = x < low ? low : x > high ? high : x;
  }
}

VECTOR_CLONES static void stretch_logarithm(const struct distribution *d, double *out) {
  const double mean = d->mean, deviation = d->deviation, low = d->low, high = d->high;
#pragma omp simd
  for (int i = 0; i < VECTOR_BLOCK; i++) {
    double x = vector_exp(mean + deviation * out[i]);
    out[i] = x < low ? low : x > high ? high : x;
  }
}

static void bell_quantiles(const struct distribution *d, const double *u, double *out) {
  struct cut cut = cut_of(d);
  cut_shares(&cut, u, out);
  normal_quantiles(out, out);
  if (d->kind == DISTRIBUTION_LOGNORMAL)
    stretch_logarithm(d, out);
  else
    stretch(d, out);
}

static void discrete_quantiles(const struct distribution *d, const double *u, double *out) {
  for (int i = 0; i < VECTOR_BLOCK; i++) {
    size_t low = 0, high = d->atom_count - 1;
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (u[i] < d->atoms[middle].upto)
        high = middle;
      else
        low = middle + 1;
    }
    out[i] = d->atoms[low].value;
  }
}

// A mixture of uniform distributions: the share below x, and the density there.
static double mixture_share(const struct distribution *d, double x, double *density) {
  double share = 0, before = 0;
  *density = 0;
  for (size_t a = 0; a < d->atom_count; a++) {
    double weight = d->atoms[a].upto - before, width = 2 * d->spread * d->atoms[a].value;
    double inside = (x - d->atoms[a].value * (1 - d->spread)) / width;
    share += weight * fmin(fmax(inside, 0), 1);
    *density += inside > 0 && inside < 1 ? weight / width : 0;
    before = d->atoms[a].upto;
  }
  return share;
}

// Between two ends of uniforms the share is linear in x, so bisection with Newton's steps ends
// quickly.
static double mixture_quantile(const struct distribution *d, double u) {
  double low = d->atoms[0].value * (1 - d->spread);
  double high = d->atoms[d->atom_count - 1].value * (1 + d->spread), x = (low + high) / 2;
  for (int i = 0; i < 100 && high - low > 1e-15 * high; i++) {
    double density, excess = mixture_share(d, x, &density) - u;
    *(excess > 0 ? &high : &low) = x;
    double next = x - excess / density;
    if (fabs(next - x) <= 1e-15 * x)
      break;
    x = next > low && next < high ? next : (low + high) / 2;
  }
  return x;
}

static void measured_quantiles(const struct distribution *d, const double *u, double *out) {
  if (!d->atom_count) {
    bell_quantiles(d, u, out);
    return;
  }
  for (int i = 0; i < VECTOR_BLOCK; i++)
    out[i] = d->mean * mixture_quantile(d, u[i]);
}

static void round_within(const struct distribution *d, double *out) {
  double low = ceil(d->low - 1e-9), high = floor(d->high + 1e-9);
  for (int i = 0; i < VECTOR_BLOCK; i++)
    out[i] = fmin(fmax(round(out[i]), low), high);
}

void distribution_quantiles(const struct distribution *d, const double *u, double *out) {
  static void (*const table[DISTRIBUTION_KINDS])(const struct distribution *, const double *,
                                                 double *) = {
      uniform_quantiles, triangular_quantiles, pert_quantiles,    bell_quantiles,
      bell_quantiles,    discrete_quantiles,   measured_quantiles};
  table[d->kind](d, u, out);
  if (d->integer)
    round_within(d, out);
}

// Means of a normal and a lognormal within [low, high]: see for example Johnson, Kotz and
// Balakrishnan, Continuous Univariate Distributions 1, 1994, sections 13.10 and 14.
static double cut_normal_mean(const struct distribution *d) {
  const double a = standard(d, d->low), b = standard(d, d->high);
  const double inside = gsl_cdf_ugaussian_P(b) - gsl_cdf_ugaussian_P(a);
  return d->mean + d->deviation * ((gsl_ran_ugaussian_pdf(a) - gsl_ran_ugaussian_pdf(b)) / inside);
}

static double cut_lognormal_mean(const struct distribution *d) {
  const double a = standard(d, d->low), b = standard(d, d->high), s = d->deviation;
  const double inside = gsl_cdf_ugaussian_P(b) - gsl_cdf_ugaussian_P(a);
  const double moved = gsl_cdf_ugaussian_P(b - s) - gsl_cdf_ugaussian_P(a - s);
  return exp(d->mean + s * s / 2) * moved / inside;
}

static double atom_mean(const struct distribution *d) {
  double sum = 0, before = 0;
  for (size_t a = 0; a < d->atom_count; a++) {
    sum += (d->atoms[a].upto - before) * d->atoms[a].value;
    before = d->atoms[a].upto;
  }
  return sum;
}

double distribution_mean(const struct distribution *d) {
  switch (d->kind) {
  case DISTRIBUTION_UNIFORM: return (d->low + d->high) / 2;
  case DISTRIBUTION_TRIANGULAR: return (d->low + d->mode + d->high) / 3;
  case DISTRIBUTION_PERT: return (d->low + 4 * d->mode + d->high) / 6;
  case DISTRIBUTION_NORMAL: return cut_normal_mean(d);
  case DISTRIBUTION_LOGNORMAL: return cut_lognormal_mean(d);
  case DISTRIBUTION_MEASURED: return d->atom_count ? d->mean * atom_mean(d) : cut_normal_mean(d);
  default: return atom_mean(d);
  }
}

bool distribution_equal(const struct distribution *one, const struct distribution *other) {
  return one->kind == other->kind && one->low == other->low && one->high == other->high &&
         one->mode == other->mode && one->mean == other->mean &&
         one->deviation == other->deviation && one->spread == other->spread &&
         one->integer == other->integer && one->atom_count == other->atom_count &&
         (!one->atom_count ||
          !memcmp(one->atoms, other->atoms, one->atom_count * sizeof *one->atoms));
}

#define MEAN_REACH      4    // standard deviations
#define MOST_REACH      0.9  // of the figure: keeps every draw well above zero
#define LEAST_DEVIATION 1e-9 // of devices that are all alike

enum { STEP_CELLS = 80 }; // of equal width, each drawn as its middle

void distribution_measure(struct distribution *d, double figure, double half_width, double spread,
                          struct arena *arena) {
  const double deviation = half_width / gsl_cdf_ugaussian_Pinv(0.975);
  const double reach = deviation > 0 ? fmin(MEAN_REACH, MOST_REACH / deviation) : MEAN_REACH;
  const double beyond = gsl_cdf_ugaussian_Q(reach);
  const size_t cells = deviation > 0 ? STEP_CELLS : 1;
  const double width = 2 * reach / (double)cells;
  d->atoms = arena_array(arena, cells, sizeof *d->atoms);
  d->atom_count = cells;
  // The longest step is the lowest throughput, so start from the slow end.
  for (size_t k = 0; k < cells; k++) {
    const double z = reach - ((double)k + 0.5) * width;
    const double slower = gsl_cdf_ugaussian_Q(z - width / 2) - beyond;
    d->atoms[k] =
        (struct atom){1 / (1 + deviation * z), k + 1 < cells ? slower / (1 - 2 * beyond) : 1};
  }
  d->mean = figure;
  d->spread = spread;
  d->low = figure * d->atoms[0].value * (1 - spread);
  d->high = figure * d->atoms[cells - 1].value * (1 + spread);
}

void distribution_measure_mean(struct distribution *d, double figure, double deviation) {
  const double share = fmax(deviation, LEAST_DEVIATION);
  const double reach = fmin(MEAN_REACH * share, MOST_REACH);
  d->mean = figure;
  d->deviation = figure * share;
  d->low = figure * (1 - reach);
  d->high = figure * (1 + reach);
}
