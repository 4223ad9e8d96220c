#include "model/chance/quantile_sketch.h"

#include "base/statistics.h"
#include "base/vector.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { TAIL_BINS = SKETCH_OCTAVES * SKETCH_OCTAVE_BINS };
enum { MIN_EQUAL_BINS = 1 << 12, MAX_EQUAL_BINS = 1 << 18, BINS_PER_DRAW = 16 };

// Equal bins extend this many interquartile ranges to either side: 10.8 deviations of a normal
// distribution, of which a bin then has at most 3.3e-5 of the draws.
static const double reach = 8;

// The values that occur more than once in a sorted pilot.
static const double *find_atoms(const double *pilot, size_t pilot_count, size_t *count,
                                struct arena *arena) {
  double *atoms = arena_array(arena, pilot_count / 2 + 1, sizeof *atoms);
  *count = 0;
  for (size_t i = 1; i < pilot_count; i++)
    if (pilot[i] == pilot[i - 1] && (!*count || atoms[*count - 1] != pilot[i]))
      atoms[(*count)++] = pilot[i];
  return atoms;
}

struct sketch_shape sketch_shape(double *pilot, size_t pilot_count, uint64_t draws,
                                 struct arena *arena) {
  sort_ascending(pilot, pilot_count);
  double centre = pilot[pilot_count / 2];
  double spread = pilot[pilot_count * 3 / 4] - pilot[pilot_count / 4];
  if (!(spread > 0))
    spread = pilot[pilot_count - 1] - pilot[0];
  // If all values of the pilot are equal, any small width will do, unless it rounds away.
  double least = fabs(centre) * 1e-9;
  if (!(spread > least))
    spread = least > 0 ? least : 1e-9;
  uint32_t bins = MIN_EQUAL_BINS;
  while (bins < MAX_EQUAL_BINS && bins < BINS_PER_DRAW * draws)
    bins *= 2;
  struct sketch_shape shape = {centre, reach * spread, bins, NULL, 0};
  shape.atoms = find_atoms(pilot, pilot_count, &shape.atom_count, arena);
  return shape;
}

size_t sketch_bins(const struct sketch_shape *shape) {
  return shape->equal_bins + 2 * (size_t)TAIL_BINS + shape->atom_count;
}

static size_t first_atom(const struct sketch_shape *shape) {
  return shape->equal_bins + 2 * (size_t)TAIL_BINS;
}

// The bin of the atom with that value, or SIZE_MAX.
static size_t atom_bin(const struct sketch_shape *shape, double value) {
  size_t low = 0, high = shape->atom_count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (shape->atoms[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  const bool there = low < shape->atom_count && shape->atoms[low] == value;
  return there ? first_atom(shape) + low : SIZE_MAX;
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
  for (size_t i = 0; i < count; i++) {
    const size_t atom = shape->atom_count ? atom_bin(shape, values[i]) : SIZE_MAX;
    const size_t spread = bins[i] >= 0 ? (size_t)bins[i] : tail_bin(shape, values[i]);
    counts[atom != SIZE_MAX ? atom : spread]++;
  }
}

// Bins ordered by value: the lower tail from its far end, the equal ones, the upper tail.
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

// Steps through the counted values in order, bin by bin; an atom comes before the bin whose middle
// it is below.
struct cursor {
  const struct sketch_shape *shape;
  const uint32_t *counts;
  size_t rank, atom;
  double low, high, here; // of the current bin
};

static void skip_empty(struct cursor *cursor) {
  const struct sketch_shape *shape = cursor->shape;
  while (cursor->rank < first_atom(shape) && !cursor->counts[bin_in_order(shape, cursor->rank)])
    cursor->rank++;
  while (cursor->atom < shape->atom_count && !cursor->counts[first_atom(shape) + cursor->atom])
    cursor->atom++;
}

static bool next_bin(struct cursor *cursor) {
  const struct sketch_shape *shape = cursor->shape;
  skip_empty(cursor);
  const bool bins = cursor->rank < first_atom(shape), atoms = cursor->atom < shape->atom_count;
  double low = 0, high = 0;
  if (bins)
    bin_ends(shape, bin_in_order(shape, cursor->rank), &low, &high);
  if (atoms && (!bins || shape->atoms[cursor->atom] < (low + high) / 2)) {
    cursor->low = cursor->high = shape->atoms[cursor->atom];
    cursor->here = (double)cursor->counts[first_atom(shape) + cursor->atom++];
    return true;
  }
  if (!bins)
    return false;
  cursor->low = low;
  cursor->high = high;
  cursor->here = (double)cursor->counts[bin_in_order(shape, cursor->rank++)];
  return true;
}

void sketch_quantiles(const struct sketch_shape *shape, const uint32_t *counts, uint64_t total,
                      const double *levels, size_t level_count, double *values, double *in_bins) {
  struct cursor cursor = {.shape = shape, .counts = counts};
  double before = 0;
  size_t level = 0;
  while (level < level_count && next_bin(&cursor)) {
    const double low = cursor.low, high = cursor.high, here = cursor.here;
    for (; level < level_count && levels[level] * (double)total <= before + here; level++) {
      values[level] = low + (high - low) * (levels[level] * (double)total - before) / here;
      in_bins[level] = low < high ? here / (double)total : 0;
    }
    before += here;
  }
}

uint64_t sketch_histogram(const struct sketch_shape *shape, const uint32_t *counts, double low,
                          double high, size_t bars, uint64_t *out) {
  struct cursor cursor = {.shape = shape, .counts = counts};
  uint64_t below = 0;
  memset(out, 0, bars * sizeof *out);
  while (next_bin(&cursor)) {
    double place = ((cursor.low + cursor.high) / 2 - low) / (high - low) * (double)bars;
    if (place >= 0 && place < (double)bars)
      out[(size_t)place] += (uint64_t)cursor.here;
    else if (place < 0)
      below += (uint64_t)cursor.here;
  }
  return below;
}
