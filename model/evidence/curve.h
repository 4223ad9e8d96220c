// curve: one device's throughput over the batch, and the largest batch that still gives every user
// a wanted rate, or answers as soon as is wanted.
//
// A user's rate is the throughput of all accelerators that share a batch over the batch: tokens per
// second and user, "interactivity". While serving it contains what prefill takes, and so is a lower
// bound of the rate at which one answer streams.
#ifndef PERTOKEN_MODEL_EVIDENCE_CURVE_H
#define PERTOKEN_MODEL_EVIDENCE_CURVE_H

#include "base/arena.h"
#include "model/evidence/grade.h"

#include <stdbool.h>
#include <stddef.h>

// More users than MAX_CURVE_USERS share no batch that anybody has published.
enum { MAX_CURVE_POINTS = 64, MAX_CURVE_USERS = 65536 };

struct curve {
  double batch[MAX_CURVE_POINTS];        // ascending, no two alike
  double tokens_per_s[MAX_CURVE_POINTS]; // per accelerator
  double load_power[MAX_CURVE_POINTS];   // W per accelerator; NAN when not measured
  const char *ids[MAX_CURVE_POINTS];     // rows of data/throughput.csv, or ""
  // To the first token, and from token to token: of one percentile, P90 or more; NAN where it is not
  // told, and limits of time then hold at no batch beyond those that tell.
  double ttft_s[MAX_CURVE_POINTS], tpot_s[MAX_CURVE_POINTS];
  int percentile; // 0: they are not told
  size_t count;
  double accelerators; // that share the batch
  enum grade grade;    // of the points, the weakest
};

// What every user is to get.
struct curve_limits {
  double interactivity;  // token/s at least; 0: any
  double ttft_s, tpot_s; // at most; INFINITY: any
};

struct curve_choice {
  int batch;             // whole users
  double tokens_per_s;   // per accelerator, interpolated where not measured
  double load_power;     // NAN when not measured
  double interactivity;  // token/s per user there
  double ttft_s, tpot_s; // of the curve's percentile; NAN where not told
  bool is_measured;      // at a point of the curve
};

// y at a place inside x[count], ascending, monotone between the points (Steffen, Astronomy and
// Astrophysics 239, 1990; a straight line between two). NAN outside, and where a point is not a
// number.
double curve_interpolate(const double *x, const double *y, size_t count, double at);

// Puts a point where its batch belongs. False when there is one of that batch already, no room, or
// a batch below 1 or above MAX_CURVE_USERS.
bool curve_add(struct curve *curve, double batch, double tokens_per_s, double load_power,
               const char *id);

// A point's rate per user, token/s.
double curve_interactivity(const struct curve *curve, size_t point);

// A batch of the measured range, as measured or interpolated. Returns 0, or -1 outside of it.
int curve_at(const struct curve *curve, int batch, struct curve_choice *out);

// The largest whole batch of the measured range that keeps the limits. Nothing is extrapolated: where
// the largest one keeps limits of time it is taken, as more was not measured; but a rate that the
// largest exceeds has its batch beyond it. Returns NULL, or for limits that the smallest batch misses,
// a rate that the largest exceeds, and times that are not told, a message with the range, in the
// arena.
const char *curve_choose(const struct curve *curve, const struct curve_limits *limits,
                         struct curve_choice *out, struct arena *arena);

#endif
