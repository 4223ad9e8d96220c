// served: what serving records contain for a workload: a server's throughput at a load, and its
// watts.
//
// A record counts if its accelerator, model, precision and speculation are the workload's, and its
// requests are as long as the workload states, within REQUEST_LENGTHS; MLPerf's count for any
// length. Of several records the best grade counts, then the newest; there is no choice between
// records of different lengths, nor are rungs of different lengths ever on one curve. A refused
// rung is not used.
//
// The curve is over the requests in flight of the closed loop. Between its rungs it is interpolated
// (curve.h), graded projected; beyond them it is refused. A rung without watts takes those
// interpolated between the rungs that have any. Arrivals, all at once too, have no curve:
// one of their rungs is taken as it is, for the maximum, or if it beats the curve within limits of
// time.
#ifndef PERTOKEN_MODEL_RECORDS_SERVED_H
#define PERTOKEN_MODEL_RECORDS_SERVED_H

#include "base/arena.h"
#include "base/source.h"
#include "model/evidence/curve.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/records/records.h"
#include "model/records/serving.h"

#include <stdbool.h>
#include <stddef.h>

// If the last step of a ladder adds less than this, the server is saturated.
#define SERVED_SATURATION 0.03

struct served_request {
  const struct records *records;
  const char *file, *accelerator; // "": any file; an id, or "cpu"
  const struct workload *workload;
  double input_tokens, output_tokens; // of a request; 0: not stated
};

// The rungs of one record that count, all with the same lengths.
struct served_rungs {
  const struct serving_record *record;
  double input_tokens, output_tokens;                // of the first; NAN if not stated
  const struct serving_rung *list[MAX_CURVE_POINTS]; // closed loops by rising concurrency, then
                                                     // arrivals as in the record
  size_t count, closed;                              // of all, of closed loops
  struct curve curve;                                // of the closed loops
  enum serving_coverage covers;                      // what the curve's load_power is of
  int percentile;     // which most rungs tell of the times that the workload limits; 0: none
  size_t others;      // other records that would do as well
  const char *remark; // a note on the choice: a sentence without a full stop, or ""
};

// One place on the curve. Per accelerator; NAN if not measured.
struct served {
  const struct served_rungs *rungs;
  const struct serving_rung *nearest; // the one whose load, lengths and meter are shown
  double tokens_per_s;
  double load_power_w, idle_power_w; // of the accelerator
  double node_power_w;               // including its share of the host
  enum grade grade, power_grade;     // of the throughput, and of the watts
  struct place place;
  const char *source, *power_source, *date; // in words
  const char *note;                         // what the load means: a sentence without a full stop
  const char *doubt;                        // why the throughput may be wrong: the same, or ""
};

// Is there a record of the accelerator, with a model and precision that do not contradict the
// workload?
bool served_is_there(const struct served_request *request);

// The newest record of an accelerator, whatever model it served, or NULL.
const struct serving_record *served_of_accelerator(const struct records *records,
                                                   const char *accelerator);

// The serving record with this file name, or NULL.
const struct serving_record *served_named(const struct records *records, const char *file);

// Returns NULL, or why there is none, as message text in the arena: no such record, another
// accelerator, model or precision, requests of another length, several lengths, two rungs with the
// same load.
const char *served_find(const struct served_request *request, struct served_rungs *rungs,
                        struct arena *arena);

// The rung with the server's highest throughput.
void served_most(const struct served_rungs *rungs, struct served *out, struct arena *arena);

// With that many requests in flight. Returns NULL, or why not: outside the measured range.
const char *served_at(const struct served_rungs *rungs, int batch, struct served *out,
                      struct arena *arena);

// The highest throughput within limits: on the curve by curve_choose, or the fastest rung of
// arrivals that meets them if it is faster; its *choice has no batch. Returns NULL, or why there is
// none.
const char *served_within(const struct served_rungs *rungs, const struct curve_limits *limits,
                          struct curve_choice *choice, struct served *out, struct arena *arena);

// A request's input tokens as requested, if that is within REQUEST_LENGTHS of what was served, so
// that two records of one test agree; else as served.
double served_input_tokens(const struct served *served);

#endif
