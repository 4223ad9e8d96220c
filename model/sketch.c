#include "model/sketch.h"

#include <math.h>
#include <stdlib.h>

enum { TAIL_BINS = SKETCH_OCTAVES * SKETCH_OCTAVE_BINS };
enum { FEWEST_EQUAL_BINS = 1 << 12, MOST_EQUAL_BINS = 1 << 18, BINS_PER_DRAW = 16 };

// Equal bins reach this many interquartile ranges to either side: 10.8 deviations of a normal
// distribution, a bin of which then has at most 3.3e-5 of the draws.
static const double reach = 8;

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

struct sketch_shape sketch_shape(double *pilot, size_t pilot_count, uint64_t draws) {
  qsort(pilot, pilot_count, sizeof *pilot, by_value);
  double centre = pilot[pilot_count / 2];
  double spread = pilot[pilot_count * 3 / 4] - pilot[pilot_count / 4];
  if (!(spread > 0))
    spread = pilot[pilot_count - 1] - pilot[0];
  // Where nothing differs in the pilot any small width will do, but for one that rounds away.
  double least = fabs(centre) * 1e-9;
  if (!(spread > least))
    spread = least > 0 ? least : 1e-9;
  uint32_t bins = FEWEST_EQUAL_BINS;
  while (bins < MOST_EQUAL_BINS && bins < BINS_PER_DRAW * draws)
    bins *= 2;
  return (struct sketch_shape){centre, reach * spread, bins};
}

size_t sketch_bins(const struct sketch_shape *shape) {
  return shape->equal_bins + 2 * (size_t)TAIL_BINS;
}

// Bins of a tail, nearest first; the lower tail's come before the upper one's.
static size_t tail_bin(const struct sketch_shape *shape, double value) {
  double distance = fabs(value - shape->centre) / shape->half_width;
  uint64_t bits = vector_to_bits(distance < 1 ? 1 : distance);
  uint64_t octave = (bits >> 52) - 1023, part = bits >> 44 & (SKETCH_OCTAVE_BINS - 1);
  if (octave >= SKETCH_OCTAVES) {
    octave = SKETCH_OCTAVES - 1;
    part = SKETCH_OCTAVE_BINS - 1;
  }
  return shape->equal_bins + (value < shape->centre ? 0 : TAIL_BINS) + octave * SKETCH_OCTAVE_BINS +
         part;
}

VECTOR_CLONES static void equal_bins(const struct sketch_shape *shape, const double *values,
                                     int *bins) {
  const double centre = shape->centre, half = shape->equal_bins / 2.0;
  const double scale = half / shape->half_width, all = shape->equal_bins;
#pragma omp simd
  for (int i = 0; i < VECTOR_BLOCK; i++) {
    double position = (values[i] - centre) * scale + half;
    bins[i] = position >= 0 && position < all ? (int)position : -1;
  }
}

void sketch_add(const struct sketch_shape *shape, const double *values, size_t count,
                uint32_t *counts) {
  int bins[VECTOR_BLOCK];
  equal_bins(shape, values, bins);
  for (size_t i = 0; i < count; i++)
    counts[bins[i] >= 0 ? (size_t)bins[i] : tail_bin(shape, values[i])]++;
}

// Bins in the order of their values: the lower tail from its far end, the equal ones, the upper.
static size_t bin_in_order(const struct sketch_shape *shape, size_t rank) {
  if (rank < TAIL_BINS)
    return shape->equal_bins + TAIL_BINS - 1 - rank;
  rank -= TAIL_BINS;
  return rank < shape->equal_bins ? rank : rank + TAIL_BINS;
}

static double tail_distance(size_t part) {
  size_t octave = part / SKETCH_OCTAVE_BINS;
  return ldexp(1 + (double)(part % SKETCH_OCTAVE_BINS) / SKETCH_OCTAVE_BINS, (int)octave);
}

static void bin_ends(const struct sketch_shape *shape, size_t bin, double *low, double *high) {
  if (bin < shape->equal_bins) {
    double width = 2 * shape->half_width / shape->equal_bins;
    double middle = shape->equal_bins / 2.0;
    *low = shape->centre + ((double)bin - middle) * width;
    *high = shape->centre + ((double)bin + 1 - middle) * width;
    return;
  }
  size_t part = bin - shape->equal_bins;
  double side = part < TAIL_BINS ? -1 : 1;
  part %= TAIL_BINS;
  double near = shape->centre + side * shape->half_width * tail_distance(part);
  double far = shape->centre + side * shape->half_width * tail_distance(part + 1);
  *low = side < 0 ? far : near;
  *high = side < 0 ? near : far;
}

void sketch_quantiles(const struct sketch_shape *shape, const uint64_t *counts, uint64_t total,
                      const double *levels, size_t level_count, double *values, double *in_bins) {
  double before = 0;
  size_t level = 0, bins = sketch_bins(shape);
  for (size_t rank = 0; rank < bins && level < level_count; rank++) {
    size_t bin = bin_in_order(shape, rank);
    double here = (double)counts[bin], low, high;
    if (here == 0)
      continue;
    bin_ends(shape, bin, &low, &high);
    for (; level < level_count && levels[level] * (double)total <= before + here; level++) {
      values[level] = low + (high - low) * (levels[level] * (double)total - before) / here;
      in_bins[level] = here / (double)total;
    }
    before += here;
  }
}

uint64_t sketch_histogram(const struct sketch_shape *shape, const uint64_t *counts, double low,
                          double high, size_t bars, uint64_t *out) {
  uint64_t below = 0;
  memset(out, 0, bars * sizeof *out);
  for (size_t bin = 0; bin < sketch_bins(shape); bin++) {
    double bin_low, bin_high;
    if (!counts[bin])
      continue;
    bin_ends(shape, bin, &bin_low, &bin_high);
    double place = ((bin_low + bin_high) / 2 - low) / (high - low) * (double)bars;
    if (place >= 0 && place < (double)bars)
      out[(size_t)place] += counts[bin];
    else if (place < 0)
      below += counts[bin];
  }
  return below;
}
