// curve: one device's throughput over the batch, and the largest batch that still gives every user
// a wanted rate.
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
  double batch[MAX_CURVE_POINTS];      // ascending, no two alike
  double throughput[MAX_CURVE_POINTS]; // token/h per accelerator
  double load_power[MAX_CURVE_POINTS]; // W per accelerator; NAN when not measured
  const char *ids[MAX_CURVE_POINTS];   // rows of data/throughput.csv, or ""
  size_t count;
  double accelerators; // that share the batch
  enum grade grade;    // of the points, the weakest
};

struct curve_choice {
  int batch;            // whole users
  double throughput;    // token/h per accelerator, interpolated where not measured
  double load_power;    // NAN when not measured
  double interactivity; // token/h per user there
  bool is_measured;     // at a point of the curve
};

// y at a place inside x[count], ascending, monotone between the points (Steffen, Astronomy and
// Astrophysics 239, 1990; a straight line between two). NAN outside, and where a point is not a
// number.
double curve_interpolate(const double *x, const double *y, size_t count, double at);

// Puts a point where its batch belongs. False when there is one of that batch already, no room, or
// a batch below 1 or above MAX_CURVE_USERS.
bool curve_add(struct curve *curve, double batch, double throughput, double load_power,
               const char *id);

// A point's rate per user, token/h.
double curve_interactivity(const struct curve *curve, size_t point);

// The largest whole batch of the measured range at which a user gets `target` token/h. Nothing is
// extrapolated. Returns NULL, or for a target that the smallest batch misses, or that the largest
// one exceeds, a message with the range, in the arena.
const char *curve_choose(const struct curve *curve, double target, struct curve_choice *out,
                         struct arena *arena);

#endif
