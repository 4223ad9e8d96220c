// served_rungs: the rungs of one serving record that count for a workload, and their curve.
//
// Rungs of different lengths are never on one curve. The curve is over the requests in flight of
// the closed loop. Between its rungs it is interpolated (curve.h), graded projected; beyond them it
// is refused. A rung without watts takes those interpolated between the rungs that have any.
// Arrivals, all at once too, have no curve.
#ifndef PERTOKEN_MODEL_RECORDS_SERVED_RUNGS_H
#define PERTOKEN_MODEL_RECORDS_SERVED_RUNGS_H

#include "base/arena.h"
#include "model/evidence/curve.h"
#include "model/evidence/workload.h"
#include "model/records/serving.h"

#include <stdbool.h>
#include <stddef.h>

// The rungs of one record that count, all with the same lengths.
struct served_rungs {
  const struct serving_record *record;
  double input_tokens, output_tokens; // of the first; NAN if not stated
  const struct serving_rung **list;   // closed loops by rising concurrency, then arrivals as in the
                                      // record
  size_t count, closed;               // of all, of closed loops
  struct curve curve;                 // of the closed loops
  enum serving_coverage covers;       // what the curve's load_power is of
  int percentile;     // which most rungs tell of the times that the workload limits; 0: none
  size_t others;      // other records that would do as well
  const char *remark; // a note on the choice: a sentence without a full stop, or ""
};

// Whether two lengths are the same within REQUEST_LENGTHS; so are two that are not stated, NAN.
bool served_is_alike(double a, double b);

// "requests of 1024 tokens in, 256 out"
const char *served_lengths_text(const struct served_rungs *rungs, struct arena *arena);

// The watts per accelerator: its own, or including its share of the host if the meter covers that.
double served_watts(const struct served_rungs *rungs, double watts,
                    const struct serving_power *power);

// Fills in the curve, for the times that the workload limits. Returns NULL, or why there is none,
// as message text in the arena: two rungs with the same load.
const char *served_draw_curve(struct served_rungs *rungs, const struct workload *workload,
                              struct arena *arena);

#endif
