// exact_sum: a sum of doubles that does not depend on their order, so that threads and processes
// that share the work agree to the last bit.
//
// Every finite double is an integer multiple of 2^-1074; the sum is kept as one very long integer
// (Kulisch, Computer Arithmetic and Validity, 2008; Neal, "Fast exact summation using small and
// large superaccumulators", arXiv 1505.05571).
#ifndef PERTOKEN_MODEL_CHANCE_EXACT_SUM_H
#define PERTOKEN_MODEL_CHANCE_EXACT_SUM_H

#include <stdint.h>

enum { EXACT_LIMBS = 68 };

// A sum of up to 2^30 numbers, empty when zeroed. Limb i counts 2^(32 i - 1074).
struct exact_sum {
  int64_t limbs[EXACT_LIMBS];
};

// Adds x, which must be finite; adds another sum.
void exact_sum_add(struct exact_sum *sum, double x);
void exact_sum_merge(struct exact_sum *into, const struct exact_sum *from);

// Brings all limbs but the last into the range 0 to 2^32: equal sums then have equal limbs.
void exact_sum_normalise(struct exact_sum *sum);

// A double at most a few units in the last place from the sum; the same for equal sums.
double exact_sum_value(const struct exact_sum *sum);

#endif
