// drawn: the moments of what a distribution draws, from its quantiles.
#ifndef PERTOKEN_TESTS_SUPPORT_DRAWN_H
#define PERTOKEN_TESTS_SUPPORT_DRAWN_H

#include "model/chance/distribution.h"

struct drawn {
  double mean, variance;
};

// The variance about distribution_mean.
struct drawn drawn_from(const struct distribution *distribution);

#endif
