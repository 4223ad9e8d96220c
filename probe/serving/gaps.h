// gaps: how long the pauses within streams were, in a histogram of constant size.
#ifndef PERTOKEN_PROBE_SERVING_GAPS_H
#define PERTOKEN_PROBE_SERVING_GAPS_H

#include <stddef.h>
#include <stdint.h>

// The bins cover a microsecond to an hour, 64 per doubling: a quantile is accurate within 0.6 %.
enum { GAPS_PER_OCTAVE = 64, GAPS_OCTAVES = 32, GAPS_BINS = GAPS_PER_OCTAVE * GAPS_OCTAVES };

// Empty when zeroed. Seconds.
struct gaps {
  uint64_t bins[GAPS_BINS];
  uint64_t count;
  double sum, squares;
};

void gaps_add(struct gaps *gaps, double gap_s);

// NAN if empty.
double gaps_mean(const struct gaps *gaps);
double gaps_deviation(const struct gaps *gaps);
double gaps_quantile(const struct gaps *gaps, double q);

#endif
