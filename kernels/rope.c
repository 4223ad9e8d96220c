#include "kernels/rope.h"

#include <math.h>

static const double turn = 6.283185307179586476925286766559; // 2 pi

int rope_width(const struct decode_shape *shape) {
  return shape->latent.rank > 0 ? shape->latent.rope_dim : shape->head_dim;
}

// Long waves are stretched, short ones left alone.
static double llama3(const struct decode_rope *rope, double frequency) {
  const double turns = rope->original_context * frequency / turn; // over the original context
  const double low = (double)rope->low, high = (double)rope->high, factor = (double)rope->factor;
  if (turns < low)
    return frequency / factor;
  if (turns > high)
    return frequency;
  const double kept = (turns - low) / (high - low);
  return (1 - kept) * frequency / factor + kept * frequency;
}

// The pair that turns this many times over the original context; may be between two pairs.
static double yarn_pair(const struct decode_shape *shape, int width, double turns) {
  return width / 2.0 * log(shape->rope.original_context / (turn * turns)) /
         log((double)shape->rope_theta);
}

static double yarn(const struct decode_shape *shape, int width, int i, double frequency) {
  const struct decode_rope *rope = &shape->rope;
  double first = yarn_pair(shape, width, (double)rope->high);
  double last = yarn_pair(shape, width, (double)rope->low);
  if (rope->whole) {
    first = floor(first);
    last = ceil(last);
  }
  first = fmax(first, 0);
  last = fmax(fmin(last, width - 1), first + 0.001);
  const double stretched = fmin(fmax((i - first) / (last - first), 0), 1);
  return stretched * frequency / (double)rope->factor + (1 - stretched) * frequency;
}

double rope_frequency(const struct decode_shape *shape, int pair) {
  const int width = rope_width(shape);
  const double plain = pow((double)shape->rope_theta, -2.0 * pair / width);
  switch (shape->rope.scaling) {
  case ROPE_LLAMA3: return llama3(&shape->rope, plain);
  case ROPE_YARN: return yarn(shape, width, pair, plain);
  case ROPE_PLAIN: break;
  }
  return plain;
}

double rope_magnitude(const struct decode_rope *rope) {
  const bool scaled = rope->scaling == ROPE_YARN && rope->magnitude > 0;
  return scaled ? (double)rope->magnitude : 1;
}

void rope_turns(const struct decode_shape *shape, int position, double *cosines, double *sines) {
  const double magnitude = rope_magnitude(&shape->rope);
  for (int i = 0; i < rope_width(shape) / 2; i++) {
    const double angle = position * rope_frequency(shape, i);
    cosines[i] = magnitude * cos(angle);
    sines[i] = magnitude * sin(angle);
  }
}
