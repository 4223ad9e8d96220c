// statistics: what is said about a list of timings.
//
// Timings are not normal (they have a floor and a long tail), so nothing here assumes that they
// are: medians, quantiles, and an interval of the median by order statistics.
#ifndef PERTOKEN_BASE_STATISTICS_H
#define PERTOKEN_BASE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

enum { STATISTICS_FEWEST = 6 }; // samples that a 95 % interval of a median needs

struct summary {
  double median, p5, p95;
  double low, high; // 95 % interval of the median; 0 and infinity below STATISTICS_FEWEST samples
};

// `count` above 0; the samples stay in their order. `sorted` [count] is room to work in.
struct summary summarise(const double *samples, size_t count, double *sorted);

// Quantile q (0..1) of ascending values, by linear interpolation between (count - 1) q's
// neighbours.
double quantile(const double *ascending, size_t count, double q);

// The interval from the k-th smallest to the k-th largest of `count` samples holds the median with
// at least 95 %: the largest such k, from 1, or 0 when there is none.
//   P(Binomial(count, 1/2) < k) <= 2.5 %         (see David and Nagaraja, Order Statistics, 7.1)
size_t median_interval_rank(size_t count);

// The stopping rule: the interval's half-width is at most `share` of the median.
bool is_settled(const struct summary *summary, double share);

// Whether the medians of the first and the last third differ by more than `share` of the whole's.
bool is_noisy(const double *samples, size_t count, double share, double *sorted);

// Least squares of t = a + b x through `count` >= 2 points of different x.
struct line {
  double a, b;
  double error;            // standard deviation of the points about the line; NAN from two points
  double mean_x, spread_x; // of the points: mean, sum of squares about it
  size_t count;
};
struct line fit_line(const double *x, const double *t, size_t count);

// The line at x, and the standard error of that: NAN from two points.
double line_at(const struct line *line, double x);
double line_error_at(const struct line *line, double x);

// By how much line_at(x) grows with the point at x_of: d line_at(x) / d t_of.
double line_weight(const struct line *line, double x, double x_of);

#endif
