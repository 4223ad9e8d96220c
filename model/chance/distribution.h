// distribution: the uncertainty of one input: a range of values and how likely they are.
//
//   uniform(LOW, HIGH)
//   triangular(LOW, MODE, HIGH)
//   pert(LOW, MODE, HIGH)                beta with mean (LOW + 4 MODE + HIGH) / 6 (Malcolm,
//                                        Roseboom, Clark, Fazar, Operations Research 7, 1959)
//   normal(MEAN, DEVIATION[, LOW, HIGH]) cut off at LOW and HIGH, and at the input's own limits
//   lognormal(MEDIAN, FACTOR)            two thirds (68.3 %) lie within MEDIAN / FACTOR and
//                                        MEDIAN * FACTOR; cut off at the input's own limits
//   discrete(VALUE: WEIGHT, ...)         weights need not add up to 1; a choice's names are values
//   from measurement                     the uncertainty of the option's record, see below
//
// each followed by its unit, as in triangular(0.05, 0.08, 0.14) USD/kWh; FACTOR and WEIGHT have
// none. An integer input is rounded, within its limits.
//
// From measurement: of one device, decode_throughput is the record's figure, divided by a normally
// distributed mean step as a share of the measured one, times 1 +- 2 % between devices; load_power
// and idle_power are the record's figures, times 1 +- 5 %. The step has the 2.5th and 97.5th
// percentile of the record's interval, which allows for samples that follow each other
// (base/statistics.h), and is cut off at four standard deviations. Both spreads are uniform and
// assumed until three devices of the kind have been measured; then they have the same standard
// deviation as the devices measured (that of idle_power stays assumed). The mean of several devices
// is normal, about itself.
#ifndef PERTOKEN_MODEL_CHANCE_DISTRIBUTION_H
#define PERTOKEN_MODEL_CHANCE_DISTRIBUTION_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>

enum distribution_kind {
  DISTRIBUTION_UNIFORM,
  DISTRIBUTION_TRIANGULAR,
  DISTRIBUTION_PERT,
  DISTRIBUTION_NORMAL,
  DISTRIBUTION_LOGNORMAL,
  DISTRIBUTION_DISCRETE,
  DISTRIBUTION_MEASURED,
  DISTRIBUTION_KINDS
};

// One value of a discrete distribution, with the share of draws up to and including it.
struct atom {
  double value, upto;
};

struct distribution_table;

// All values in base units.
struct distribution {
  enum distribution_kind kind;
  double low, high;       // no draw lies outside
  double mode;            // triangular, PERT
  double mean, deviation; // normal, mean of devices: before the cuts; lognormal: of the logarithm
  struct atom *atoms;     // discrete: by value; measured: ratios to `mean`, by value, or none
  size_t atom_count;
  double spread;                          // measured on one device: +- this share
  bool integer;                           // draws are rounded
  const struct distribution_table *table; // set by distribution_prepare, else NULL
};

// Completes a `from measurement` of one device: the figure in base units, half the 95 % interval of
// the mean step as a share of it (0: certain) and the share by which devices differ.
void distribution_measure(struct distribution *distribution, double figure, double half_width,
                          double spread, struct arena *arena);

// The same if the figure is the mean of devices, with its standard deviation as a share of it. It
// is cut off at four of them.
void distribution_measure_mean(struct distribution *distribution, double figure, double deviation);

// Whether two distributions that have not been prepared are the same.
bool distribution_equal(const struct distribution *one, const struct distribution *other);

// Spreads between devices, assumed until three have been measured.
#define DISTRIBUTION_SPREAD_THROUGHPUT 0.02
#define DISTRIBUTION_SPREAD_POWER      0.05

// Computes what drawing needs: for PERT a table of its inverse, which takes some time when first
// built. Returns 0, or -1 after an error at `place`.
int distribution_prepare(struct distribution *distribution, struct place place, struct arena *arena,
                         struct diagnostics *diagnostics);

// out[i]: the value below which the share u[i] of draws lies, 0 < u < 1, for VECTOR_BLOCK numbers.
// PERT is interpolated, within 1e-6 of HIGH - LOW, and shares closer to either end than 2^-40 are
// treated as 2^-40 from it; the others are accurate to 1e-12 or better.
void distribution_quantiles(const struct distribution *distribution, const double *u, double *out);

// The mean of the draws in closed form, without the rounding of integers.
double distribution_mean(const struct distribution *distribution);

// Standard normal: its inverse (Wichura, algorithm AS 241, Applied Statistics 37, 1988, 1e-15
// relative) and itself (Hart, Computer Approximations, 1968, no. 5666, 1e-14 absolute), for
// VECTOR_BLOCK numbers. out may be the same as in.
void normal_quantiles(const double *u, double *out);
void normal_shares(const double *z, double *out);

#endif
