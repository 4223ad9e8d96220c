// served: what serving records say of a workload: a server's throughput at a load, and its watts.
//
// A record counts when its accelerator, model, precision and speculation are the workload's, and its
// requests are as long as the workload says, within SERVED_LENGTHS; MLPerf's stand for any. Of several
// the best grade counts, and of these the newest; records of different lengths are not chosen from,
// nor are rungs of different lengths ever on one curve. A rung that was refused counts for nothing.
//
// The curve is over the requests in flight of the closed loop. Between its rungs it is interpolated
// (curve.h), graded projected; beyond them it is refused. A record of arrivals alone has no curve: of
// its rungs one counts as it is.
#ifndef PERTOKEN_MODEL_EVIDENCE_SERVED_H
#define PERTOKEN_MODEL_EVIDENCE_SERVED_H

#include "base/arena.h"
#include "base/source.h"
#include "model/evidence/curve.h"
#include "model/evidence/grade.h"
#include "model/evidence/records.h"
#include "model/evidence/serving.h"
#include "model/evidence/workload.h"

#include <stdbool.h>
#include <stddef.h>

// What served lengths may differ by from those wanted, and from each other on one curve.
#define SERVED_LENGTHS 0.05

// A ladder whose last step adds less than this has found the most that the server gives.
#define SERVED_SATURATION 0.03

struct served_request {
  const struct records *records;
  const char *file, *accelerator; // "": any file; an id, or "cpu"
  const struct workload *workload;
  double input_tokens, output_tokens; // of a request; 0: not stated
};

// The rungs of one record that count, all of one length.
struct served_rungs {
  const struct serving_record *record;
  double input_tokens, output_tokens;                // of the first; NAN where nobody says
  const struct serving_rung *list[MAX_CURVE_POINTS]; // by rising concurrency, else as in the record
  size_t count;
  bool closed;        // a closed loop; else arrivals, and no curve
  struct curve curve; // of a closed loop, load_power as power.covers says
  size_t others;      // records that would do as well
  const char *remark; // what is to be known of the choice: a sentence without full stop, or ""
};

// One place on it. Per accelerator; NAN when not measured.
struct served {
  const struct served_rungs *rungs;
  const struct serving_rung *nearest; // whose load, lengths and meter are shown
  double tokens_per_s;
  double load_power_w, idle_power_w; // of the accelerator
  double node_power_w;               // with its share of the host
  enum grade grade;
  struct place place;
  const char *source, *power_source, *date; // in words
  const char *note;                         // what the load means: a sentence without full stop
};

// Is there a record of the accelerator, and of a model and precision that the workload does not
// contradict?
bool served_is_there(const struct served_request *request);

// The newest record of an accelerator, whatever it served, or NULL.
const struct serving_record *served_of_accelerator(const struct records *records,
                                                   const char *accelerator);

// The record of a file's name that is of a server, or NULL.
const struct serving_record *served_named(const struct records *records, const char *file);

// Returns NULL, or why there is none, in the words of a message: no such record, another accelerator,
// model or precision, requests of another length, several lengths, two rungs of one load. Words lie
// in the arena.
const char *served_find(const struct served_request *request, struct served_rungs *rungs,
                        struct arena *arena);

// Where the server gives most.
void served_most(const struct served_rungs *rungs, struct served *out, struct arena *arena);

// With so many requests in flight. Returns NULL or why not: outside of what was measured.
const char *served_at(const struct served_rungs *rungs, int batch, struct served *out,
                      struct arena *arena);

// The most within limits: on the curve as curve_choose has it, else the fastest rung of arrivals that
// keeps them. *choice is set for both. Returns NULL or why there is none.
const char *served_within(const struct served_rungs *rungs, const struct curve_limits *limits,
                          struct curve_choice *choice, struct served *out, struct arena *arena);

// Tokens of input of a request as they were asked for where that is within SERVED_LENGTHS of what was
// served, so that two records of one test are alike; else as served.
double served_input_tokens(const struct served *served);

// The strictest percentile of P90, P95 and P99 that is told, NAN for none.
double serving_strictest(const struct serving_latency *latency, int *percentile);

#endif
