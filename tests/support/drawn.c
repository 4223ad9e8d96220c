#include "tests/support/drawn.h"

#include "base/vector.h"

struct drawn drawn_from(const struct distribution *distribution) {
  enum { BLOCKS = 256, COUNT = BLOCKS * VECTOR_BLOCK };
  const double mean = distribution_mean(distribution);
  double sum = 0, squares = 0, u[VECTOR_BLOCK], x[VECTOR_BLOCK];
  for (int b = 0; b < BLOCKS; b++) {
    for (int k = 0; k < VECTOR_BLOCK; k++)
      u[k] = (b * VECTOR_BLOCK + k + 0.5) / COUNT;
    distribution_quantiles(distribution, u, x);
    for (int k = 0; k < VECTOR_BLOCK; k++) {
      sum += x[k];
      squares += (x[k] - mean) * (x[k] - mean);
    }
  }
  return (struct drawn){sum / COUNT, squares / COUNT};
}
