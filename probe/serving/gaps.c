#include "probe/serving/gaps.h"

#include <math.h>

static const double shortest_s = 1e-6;

static size_t bin_of(double gap_s) {
  const double bin = floor(GAPS_PER_OCTAVE * log2(gap_s / shortest_s));
  return !(bin > 0) ? 0 : bin < GAPS_BINS ? (size_t)bin : GAPS_BINS - 1;
}

void gaps_add(struct gaps *gaps, double gap_s) {
  gaps->bins[bin_of(gap_s)]++;
  gaps->count++;
  gaps->sum += gap_s;
  gaps->squares += gap_s * gap_s;
}

double gaps_mean(const struct gaps *gaps) {
  return gaps->count ? gaps->sum / (double)gaps->count : NAN;
}

double gaps_deviation(const struct gaps *gaps) {
  const double mean = gaps_mean(gaps);
  return sqrt(fmax(gaps->squares / (double)gaps->count - mean * mean, 0));
}

// The bin's middle, geometrically.
double gaps_quantile(const struct gaps *gaps, double q) {
  const double rank = q * ((double)gaps->count - 1);
  double below = 0;
  for (size_t i = 0; i < GAPS_BINS; i++) {
    below += (double)gaps->bins[i];
    if (below > rank)
      return gaps->count ? shortest_s * exp2(((double)i + 0.5) / GAPS_PER_OCTAVE) : NAN;
  }
  return NAN;
}
