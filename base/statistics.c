#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void sort_into(const double *samples, size_t count, double *sorted) {
  memcpy(sorted, samples, count * sizeof *samples);
  qsort(sorted, count, sizeof *sorted, ascending);
}

double quantile(const double *values, size_t count, double q) {
  const double at = q * (double)(count - 1);
  const size_t below = (size_t)at;
  if (below + 1 >= count)
    return values[count - 1];
  return values[below] + (at - (double)below) * (values[below + 1] - values[below]);
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

struct summary summarise(const double *samples, size_t count, double *sorted) {
  sort_into(samples, count, sorted);
  const size_t rank = median_interval_rank(count);
  return (struct summary){
      .median = quantile(sorted, count, 0.5),
      .p5 = quantile(sorted, count, 0.05),
      .p95 = quantile(sorted, count, 0.95),
      .low = rank ? sorted[rank - 1] : 0,
      .high = rank ? sorted[count - rank] : INFINITY,
  };
}

bool is_settled(const struct summary *summary, double share) {
  return (summary->high - summary->low) / 2 <= share * summary->median;
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
