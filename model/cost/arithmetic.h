// arithmetic: the operations of the formula language that take more than one machine operation, as
// a spreadsheet does them. Everything that computes them uses these, so that no two results differ.
#ifndef PERTOKEN_MODEL_COST_ARITHMETIC_H
#define PERTOKEN_MODEL_COST_ARITHMETIC_H

#include "model/cost/formula.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

// round(): half away from zero, without a call, so that a loop over it can be vectorised.
static inline double arithmetic_half_away(double x) {
  double whole = trunc(x);
  double rest = fabs(x - whole);
  return rest >= 0.5 ? whole + copysign(1, x) : whole;
}

// Spreadsheets round a decimal that has no exact double, such as 1.005, as it is written: half away
// from zero, after a nudge of the last bits. scale: 10 to the number of digits.
static inline double arithmetic_round_scaled(double x, double scale) {
  double scaled = x * scale * (scale == 1 ? 1 : 1 + DBL_EPSILON);
  return fabs(scaled) < 9e15 ? arithmetic_half_away(scaled) / scale : x;
}

static inline double arithmetic_scale(double digits) {
  return pow(10, trunc(digits));
}

static inline double arithmetic_round(double x, double digits) {
  return digits == digits ? arithmetic_round_scaled(x, arithmetic_scale(digits)) : digits;
}

// ROUNDUP(ROUND(x, 9), 0): away from zero, after CEIL_DECIMALS decimals; scale is 10 to that power.
static inline double arithmetic_ceil_scaled(double x, double scale) {
  double near = arithmetic_round_scaled(x, scale);
  return near < 0 ? floor(near) : ceil(near);
}

static inline double arithmetic_ceil(double x) {
  return arithmetic_ceil_scaled(x, arithmetic_scale(CEIL_DECIMALS));
}

// ROUNDDOWN(ROUND(x, 9), 0): towards zero.
static inline double arithmetic_floor_scaled(double x, double scale) {
  return trunc(arithmetic_round_scaled(x, scale));
}

static inline double arithmetic_floor(double x) {
  return arithmetic_floor_scaled(x, arithmetic_scale(CEIL_DECIMALS));
}

// Whether a time or an amount is up to a limit of zero or more, rounding aside: a sum of periods
// may fall short of it by a few bits.
static inline bool arithmetic_reaches(double value, double limit) {
  return value >= limit * (1 - 1e-9);
}

// Like a spreadsheet's, a comparison treats numbers as equal that differ only in their last bits.
static inline double arithmetic_compare(double a, double b) {
  return fabs(a - b) <= fabs(a) * 0x1p-48 ? 0 : a - b;
}

#endif
