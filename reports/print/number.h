// number: figures in the form that people read. Files for programs (csv, json) use base/digits
// instead.
#ifndef PERTOKEN_REPORTS_PRINT_NUMBER_H
#define PERTOKEN_REPORTS_PRINT_NUMBER_H

#include "base/arena.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"

#include <stddef.h>

// How the numbers of one row are shown so that they can be compared at a glance: in one unit, with
// the same number of decimals.
struct scale {
  double factor;    // shown = value in base units / factor
  const char *unit; // "USD", "T tokens"; "" for plain numbers
  int decimals;
};

// Chosen for values in base units. Money is rounded to the dollar (cents below 1,000), money per
// token to four decimals or three digits of the smallest (cents from 100 on), percentages to a
// tenth, token counts in M, G or T tokens, anything else to five digits of the largest; decimals
// that are zero in every value are left out.
struct scale number_scale(const struct unit *unit, const double *values, size_t count,
                          struct arena *arena);

// The decimals with which a percentage is shown: as many, or as many more as tell it from 100, of
// which it lacks more than rounding.
int number_percent_decimals(double percent, int decimals);

// "39,597,312", with the scale's decimals, without its unit; a value that these would show as 0 has
// two digits, down to 0.0001 (fewer tokens are "<0.01"), and a percentage is told from 100.
const char *number_scaled(double value, struct scale scale, struct arena *arena);

// "14.3", "99.97": a share as a percentage with one decimal, or more as above.
const char *number_percent(double share, struct arena *arena);

// A number with thousands separators and the given number of decimals.
const char *number_fixed(double value, int decimals, struct arena *arena);

// "1 node", "1,024 nodes".
const char *number_counted(double count, const char *noun, struct arena *arena);

// The text with thousands separators in the number that it begins with: "22,000 USD/gpu".
const char *number_grouped(const char *text, struct arena *arena);

// A number with thousands separators and at most the given number of significant digits, without
// trailing zeros after the point; numbers from 10^15 on and very small ones have an exponent.
const char *number_significant(double value, int digits, struct arena *arena);

// "+3.2 %": the change from a to b; "-" if a is 0 and b is not. Below a tenth of a percent, one
// digit.
const char *number_change(double a, double b, struct arena *arena);

// The value in a unit as typed (87.5 for a fraction in %), never -0: of the numbers that mean the
// same value, the shortest (14, not 14.000000000000002).
double number_in_unit(double value, const struct unit *unit);

// "22000 USD/gpu": the figure in its input's unit, but as it was typed if that takes fewer digits:
// "1 day", not 0.00273972602739726 yr.
const char *number_of_figure(const struct figure *figure, const struct unit *unit,
                             struct arena *arena);

#endif
