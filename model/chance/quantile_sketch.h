// quantile_sketch: how often a quantity had which values, in constant memory, and exactly
// mergeable.
//
// A fixed fine histogram: equal bins about a center and, beyond them on either side, bins that grow
// with the distance, 256 per doubling, so that no finite value falls outside. A value that occurs
// twice in the pilot is an atom, with its own bin. Center, width and atoms come from a pilot, the
// same for every part of a run. Counts add up to the same sketch in any order. A quantile that is
// an atom is exact; any other is wrong in rank by no more than the share in its own bin, which
// sketch_quantiles returns. If the pilot misses an atom of a discrete quantity, one with a
// probability of about 1 in 1,000 or less, its value is known to the width of its bin: 16
// interquartile ranges / equal_bins.
#ifndef PERTOKEN_MODEL_CHANCE_QUANTILE_SKETCH_H
#define PERTOKEN_MODEL_CHANCE_QUANTILE_SKETCH_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

enum { SKETCH_OCTAVES = 64, SKETCH_OCTAVE_BINS = 256 };

struct sketch_shape {
  double centre, half_width; // of all equal bins together
  uint32_t equal_bins;       // a power of two
  const double *atoms;       // ascending
  size_t atom_count;
};

// The shape for `draws` values distributed like the pilot, which is sorted in place.
struct sketch_shape sketch_shape(double *pilot, size_t pilot_count, uint64_t draws,
                                 struct arena *arena);

// Number of bins: equal ones, tails, atoms.
size_t sketch_bins(const struct sketch_shape *shape);

// Counts the first `count` values of a block. counts: [sketch_bins]
void sketch_add(const struct sketch_shape *shape, const double *values, size_t count,
                uint32_t *counts);

// The quantiles at levels, which ascend between 0 and 1. values: the value below which that share
// of the `total` counts lies, interpolated linearly within a bin. in_bins: the share of all counts
// in its bin; 0 if the value is exact.
void sketch_quantiles(const struct sketch_shape *shape, const uint32_t *counts, uint64_t total,
                      const double *levels, size_t level_count, double *values, double *in_bins);

// Adds up the counts in `bars` equal parts of [low, high), by the middle of each bin. Returns the
// number below `low`.
uint64_t sketch_histogram(const struct sketch_shape *shape, const uint32_t *counts, double low,
                          double high, size_t bars, uint64_t *out);

#endif
