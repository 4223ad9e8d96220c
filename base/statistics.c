#include "base/statistics.h"

#include "base/student.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A normal distribution's standard deviation over its median absolute deviation.
#define NORMAL_PER_MAD 1.4826

int number_order(double a, double b) {
  return (a > b) - (a < b);
}

static int ascending(const void *a, const void *b) {
  return number_order(*(const double *)a, *(const double *)b);
}

void sort_ascending(double *values, size_t count) {
  if (count > 1)
    qsort(values, count, sizeof *values, ascending);
}

static void sort_into(const double *samples, size_t count, double *sorted) {
  memcpy(sorted, samples, count * sizeof *samples);
  sort_ascending(sorted, count);
}

double quantile(const double *values, size_t count, double q) {
  const double at = q * (double)(count - 1);
  const size_t below = (size_t)at;
  if (below + 1 >= count)
    return values[count - 1];
  return values[below] + (at - (double)below) * (values[below + 1] - values[below]);
}

double robust_deviation(double *values, size_t count, double *median) {
  sort_ascending(values, count);
  *median = quantile(values, count, 0.5);
  for (size_t i = 0; i < count; i++)
    values[i] = fabs(values[i] - *median);
  sort_ascending(values, count);
  return NORMAL_PER_MAD * quantile(values, count, 0.5);
}

size_t median_interval_rank(size_t count) {
  const double n = (double)count, all = lgamma(n + 1) - n * log(2);
  double below = 0; // P(Binomial(n, 1/2) < rank)
  size_t rank = 0;
  for (; rank < count; rank++) {
    const double k = (double)rank;
    below += exp(all - lgamma(k + 1) - lgamma(n - k + 1));
    if (below > 0.025)
      break;
  }
  return rank;
}

static double mean_of(const double *samples, size_t count) {
  double mean = 0;
  for (size_t i = 0; i < count; i++)
    mean += samples[i] / (double)count;
  return mean;
}

// The sum of products of deviations from the mean, each with that of the sample `lag` before it.
static double products(const double *samples, size_t count, size_t lag) {
  const double mean = mean_of(samples, count);
  double sum = 0;
  for (size_t i = lag; i < count; i++)
    sum += (samples[i] - mean) * (samples[i - lag] - mean);
  return sum;
}

// n (1 - r) / (1 + r) independent samples tell the mean as well as n that follow each other, with
// the correlation r of neighbors (Bayley and Hammersley 1946). It is not taken to be below 0, and
// corrected for its bias in short series, -(1 + 3 r) / n (Kendall 1954).
static double effective_samples(const double *samples, size_t count) {
  const double n = (double)count, squares = products(samples, count, 0);
  if (!(squares > 0) || count < 4)
    return n;
  const double r = (n * products(samples, count, 1) / squares + 1) / (n - 3);
  return fmin(n, fmax(2, n * (1 - r) / (1 + r)));
}

// Half of the mean's 95 % interval.
static double half_of_mean(const double *samples, size_t count, double independent) {
  const double variance = products(samples, count, 0) / ((double)count - 1);
  return student_quantile(0.975, independent - 1) * sqrt(variance / independent);
}

// The order statistics of `independent` samples, at the same quantiles of these.
static void set_median(const double *sorted, size_t count, struct summary *summary) {
  const size_t rank = median_interval_rank((size_t)summary->independent);
  const double q = rank ? (double)(rank - 1) / (floor(summary->independent) - 1) : 0;
  summary->median = quantile(sorted, count, 0.5);
  summary->low = rank ? quantile(sorted, count, q) : 0;
  summary->high = rank ? quantile(sorted, count, 1 - q) : INFINITY;
}

struct summary summarise(const double *samples, size_t count, double *sorted) {
  const double mean = mean_of(samples, count), independent = effective_samples(samples, count);
  sort_into(samples, count, sorted);
  struct summary summary = {
      .mean = mean,
      .mean_high = INFINITY,
      .p5 = quantile(sorted, count, 0.05),
      .p95 = quantile(sorted, count, 0.95),
      .independent = independent,
  };
  set_median(sorted, count, &summary);
  if (count < MIN_INTERVAL_SAMPLES)
    return summary;
  const double half = half_of_mean(samples, count, independent);
  summary.mean_low = mean - half;
  summary.mean_high = mean + half;
  return summary;
}

bool is_settled(const struct summary *summary, double share) {
  return (summary->mean_high - summary->mean_low) / 2 <= share * summary->mean;
}

static double median_of(const double *samples, size_t count, double *sorted) {
  sort_into(samples, count, sorted);
  return quantile(sorted, count, 0.5);
}

bool is_noisy(const double *samples, size_t count, double share, double *sorted) {
  const size_t third = count / 3;
  if (third == 0)
    return false;
  const double first = median_of(samples, third, sorted);
  const double last = median_of(samples + count - third, third, sorted);
  return fabs(last - first) > share * median_of(samples, count, sorted);
}

struct fitted_line fit_line(const double *x, const double *t, size_t count) {
  struct fitted_line line = {.count = count, .error = NAN};
  double mean_t = 0, product = 0, squares = 0;
  for (size_t i = 0; i < count; i++) {
    line.mean_x += x[i] / (double)count;
    mean_t += t[i] / (double)count;
  }
  for (size_t i = 0; i < count; i++) {
    line.spread_x += (x[i] - line.mean_x) * (x[i] - line.mean_x);
    product += (x[i] - line.mean_x) * (t[i] - mean_t);
  }
  line.b = product / line.spread_x;
  line.a = mean_t - line.b * line.mean_x;
  for (size_t i = 0; i < count; i++)
    squares += pow(t[i] - line_at(&line, x[i]), 2);
  if (count > 2)
    line.error = sqrt(squares / (double)(count - 2));
  return line;
}

double line_at(const struct fitted_line *line, double x) {
  return line->a + line->b * x;
}

double line_error_at(const struct fitted_line *line, double x) {
  const double distance = x - line->mean_x;
  return line->error * sqrt(1 / (double)line->count + distance * distance / line->spread_x);
}

double line_weight(const struct fitted_line *line, double x, double x_of) {
  return 1 / (double)line->count + (x - line->mean_x) * (x_of - line->mean_x) / line->spread_x;
}
