// statistics: what can be inferred from a list of timings.
//
// Timings are not normally distributed (they have a floor and a long tail), and follow each other:
// what disturbs a machine lasts for more than one of them. Of the two intervals, the median's is by
// order statistics and the mean's by Student's t, which the means of skewed samples approach; both
// are as wide as for the number of independent samples that would tell as much (GUM, JCGM 100:2008,
// 4.2.7, warns of them otherwise).
#ifndef PERTOKEN_BASE_STATISTICS_H
#define PERTOKEN_BASE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

enum { MIN_INTERVAL_SAMPLES = 6 }; // for a 95 % interval

struct summary {
  double mean, mean_low, mean_high; // 95 % interval; 0 and infinity with too few samples
  double median, low, high;         // the same of the median
  double p5, p95;
  double independent; // how many independent samples would tell the mean as well, from 2 to count
};

// The summary of `count` > 0 samples, which stay in their order; `sorted` [count] is scratch space.
struct summary summarise(const double *samples, size_t count, double *sorted);

// The order of two numbers as qsort expects it from a comparison: below, at or above zero as the
// first is below, equal to or above the second.
int number_order(double a, double b);

// Sorts numbers, none of which may be NAN.
void sort_ascending(double *values, size_t count);

// 1.4826 times the median absolute deviation of `count` > 0 values: estimates a normal
// distribution's standard deviation even if a few values are outliers (Iglewicz and Hoaglin, How to
// Detect and Handle Outliers, 1993). The values are overwritten.
double robust_deviation(double *values, size_t count, double *median);

// Quantile q (0..1) of ascending values, by linear interpolation between (count - 1) q's
// neighbours.
double quantile(const double *ascending, size_t count, double q);

// The interval from the k-th smallest to the k-th largest of `count` samples contains the median
// with a probability of at least 95 %: the largest such k, from 1, or 0 if there is none.
//   P(Binomial(count, 1/2) < k) <= 2.5 %         (see David and Nagaraja, Order Statistics, 7.1)
size_t median_interval_rank(size_t count);

// Whether the half-width of the mean's interval is at most `share` of the mean.
bool is_settled(const struct summary *summary, double share);

// Whether the medians of the first and the last third of the samples differ by more than `share` of
// the overall median. `sorted` [count] is scratch space.
bool is_noisy(const double *samples, size_t count, double share, double *sorted);

// A line t = a + b x through points.
struct fitted_line {
  double a, b;
  double error;            // standard deviation of the points about the line; NAN for two points
  double mean_x, spread_x; // of the points' x: mean, sum of squares about it
  size_t count;
};

// The line of least squares through `count` >= 2 points with different x.
struct fitted_line fit_line(const double *x, const double *t, size_t count);

// The line at x, and its standard error there: NAN for two points.
double line_at(const struct fitted_line *line, double x);
double line_error_at(const struct fitted_line *line, double x);

// The increase of line_at(x) with the point at x_of: d line_at(x) / d t_of.
double line_weight(const struct fitted_line *line, double x, double x_of);

#endif
