// rope: the angles by which a position turns the pairs of a head. In double precision, the same for
// every backend and the oracle; decode.h has the formulas.
#ifndef PERTOKEN_KERNELS_ROPE_H
#define PERTOKEN_KERNELS_ROPE_H

#include "kernels/decode.h"

// How many of a head's values turn: all, or with latent attention the last rope_dim. Pairs: half.
int rope_width(const struct decode_shape *shape);

// Radians per position of a pair.
double rope_frequency(const struct decode_shape *shape, int pair);

// The factor for cosine and sine.
double rope_magnitude(const struct decode_rope *rope);

// Cosine and sine of every pair at a position, times the magnitude: [rope_width / 2] each.
void rope_turns(const struct decode_shape *shape, int position, double *cosines, double *sines);

// Which of the values that turn form the i-th pair.
struct rope_pair {
  int a, b;
};
static inline struct rope_pair rope_pair(const struct decode_rope *rope, int width, int i) {
  return rope->interleaved ? (struct rope_pair){2 * i, 2 * i + 1}
                           : (struct rope_pair){i, i + width / 2};
}

#endif
