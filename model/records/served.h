// served: what the serving record that counts for a workload (served_choice.h) says of it: a
// server's throughput at a load, and its watts.
//
// A load is a place on the curve of the record's closed loops (served_rungs.h). Of arrivals, one of
// the rungs is taken as it is, for the maximum, or if it beats the curve within limits of time.
#ifndef PERTOKEN_MODEL_RECORDS_SERVED_H
#define PERTOKEN_MODEL_RECORDS_SERVED_H

#include "base/arena.h"
#include "base/source.h"
#include "model/evidence/curve.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/records/served_rungs.h"
#include "model/records/serving.h"

// If the last step of a ladder adds less than this share, the server is saturated.
#define SERVED_SATURATION 0.03

// A place on the curve. Amounts are per accelerator; NAN if not measured.
struct served {
  const struct served_rungs *rungs;
  const struct serving_rung *nearest; // the one whose load, lengths and meter are shown
  double tokens_per_s;
  double load_power_w, idle_power_w; // of the accelerator
  double node_power_w;               // including its share of the host
  enum grade grade, power_grade;     // of the throughput, and of the watts
  struct place place;
  const char *source, *power_source, *date; // in words
  const char *load;                         // "164 requests in flight", interpolated or not
  const char *note;                         // what the load means: a sentence without a full stop
  const char *doubt;                        // why the throughput may be wrong: the same, or ""
};

// The rung with the server's highest throughput.
void served_most(const struct served_rungs *rungs, struct served *out, struct arena *arena);

// Finds the place with that many requests in flight. Returns NULL, or why there is none: it is
// outside the measured range.
const char *served_at(const struct served_rungs *rungs, int batch, struct served *out,
                      struct arena *arena);

// The highest throughput within limits: on the curve by curve_choose, or the fastest rung of
// arrivals that meets them if it is faster; its *choice has no batch. Returns NULL, or why there is
// none.
const char *served_within(const struct served_rungs *rungs, const struct curve_limits *limits,
                          struct curve_choice *choice, struct served *out, struct arena *arena);

// The limit that no usable rung meets by itself, or WORKLOAD_KEYS if each is met by some.
enum workload_key served_missed(const struct served_rungs *rungs,
                                const struct curve_limits *limits);

// A request's input tokens as requested, if that is within REQUEST_LENGTHS of what was served, so
// that two records of one test agree; else as served.
double served_input_tokens(const struct served *served);

#endif
