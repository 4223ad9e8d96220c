// exact_sum: a sum of doubles that does not depend on their order, so that threads and processes
// which share out the work agree to the last bit.
//
// Every finite double is a whole number of 2^-1074; the sum is kept as one very long whole number
// (Kulisch, Computer Arithmetic and Validity, 2008; Neal, "Fast exact summation using small and
// large superaccumulators", arXiv 1505.05571).
#ifndef PERTOKEN_MODEL_CHANCE_EXACT_SUM_H
#define PERTOKEN_MODEL_CHANCE_EXACT_SUM_H

#include <stdint.h>

enum { EXACT_LIMBS = 68 };

// Limb i counts 2^(32 i - 1074). Zeroed: the sum of nothing. Good for 2^30 numbers.
struct exact_sum {
  int64_t limbs[EXACT_LIMBS];
};

// x must be finite.
void exact_sum_add(struct exact_sum *sum, double x);
void exact_sum_merge(struct exact_sum *into, const struct exact_sum *from);

// Brings the limbs within 0 and 2^32, but for the last: equal sums then have equal limbs.
void exact_sum_normalise(struct exact_sum *sum);

// The double near the sum, at most a few units in the last place away; the same for equal sums.
double exact_sum_value(const struct exact_sum *sum);

#endif
