// curve: one device's throughput as a function of the batch, and the largest batch that still gives
// users a required rate on average, or meets latency limits.
//
// A user's rate is the throughput of all accelerators that share a batch, divided by the batch:
// tokens per second and user, "interactivity", an average over users. In serving it includes
// prefill time, and so is a lower bound of the mean rate at which one answer streams.
#ifndef PERTOKEN_MODEL_EVIDENCE_CURVE_H
#define PERTOKEN_MODEL_EVIDENCE_CURVE_H

#include "base/arena.h"
#include "model/evidence/grade.h"

#include <stdbool.h>
#include <stddef.h>

// The largest batch on a curve from which curve_choose chooses: it tries every smaller one.
enum { MAX_CURVE_USERS = 65536 };

// Columns of `count` values, all in the arena.
struct curve {
  double *batch;        // ascending, no two alike
  double *tokens_per_s; // per accelerator
  double *load_power;   // W per accelerator; NAN if not measured
  const char **ids;     // rows of data/throughput.csv, or ""
  // Time to first token and time per output token, at one percentile, P90 or higher; NAN if
  // unknown. Time limits can be met only up to the largest batch whose times are known.
  double *ttft_s, *tpot_s;
  int percentile;       // 0: the times are unknown
  const char *no_times; // why they are; NULL: curve_no_times
  size_t count;
  double accelerators; // that share the batch
  enum grade grade;    // the weakest of the points
};

// The limits that service must meet: a mean rate, and times at the curve's percentile.
struct curve_limits {
  double interactivity;  // token/s on average at least; 0: any
  double ttft_s, tpot_s; // at most; INFINITY: any
};

struct curve_choice {
  int batch;             // whole users
  double tokens_per_s;   // per accelerator, interpolated if not measured
  double load_power;     // interpolated at a point without watts; NAN outside those with any
  double interactivity;  // token/s per user at this batch
  double ttft_s, tpot_s; // at the curve's percentile; NAN if unknown
  bool is_measured;      // at a point of the curve
  bool has_own_watts;    // at a point with watts
};

// The interpolated y at a place inside x[count], which ascends; y is monotone between the points
// (Steffen, Astronomy and Astrophysics 239, 1990; a straight line between two). Points whose y is
// NAN are left out; NAN outside the others.
double curve_interpolate(const double *x, const double *y, size_t count, double at);

// Whether a value is within a limit, or a round-off beyond it; always true if there is none,
// INFINITY.
bool curve_is_within(double value, double limit);

// Why time limits cannot be met if no times are known: too few requests, or an unknown number.
extern const char *const curve_no_times, *const curve_no_count;

// Inserts a point in order of batch, its times unknown. False if that batch already has one.
bool curve_add(struct curve *curve, double batch, double tokens_per_s, double load_power,
               const char *id, struct arena *arena);

// A point's rate per user, token/s.
double curve_interactivity(const struct curve *curve, size_t point);

// The curve at a batch in the measured range, measured or interpolated. Returns 0, or -1 outside
// the range.
int curve_at(const struct curve *curve, int batch, struct curve_choice *out);

// The largest whole batch in the measured range that meets the limits. Nothing is extrapolated: if
// the largest measured batch meets time limits, it is taken, as nothing larger was measured; but if
// it exceeds a required rate, the batch for that rate lies beyond the range. Returns NULL, or a
// message with the range, in the arena: the smallest batch misses the limits, the largest exceeds
// the rate or MAX_CURVE_USERS, or the times are unknown.
const char *curve_choose(const struct curve *curve, const struct curve_limits *limits,
                         struct curve_choice *out, struct arena *arena);

#endif
