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
  int percentile;     // at which the times that the workload limits are judged; 0: none
  size_t others;      // other records that would do as well
  const char *remark; // a note on the choice: a sentence without a full stop, or ""
};

// How many rungs of several records tell of the times that the workload limits, at each percentile.
enum { SERVED_PERCENTILES = 3 };
struct served_tally {
  size_t told[SERVED_PERCENTILES]; // P99, P95, P90
  bool untold[SERVED_PERCENTILES]; // of a record that has another one
};

// Counts a record whose times the workload limits; one without any percentile does not count.
void served_tally_add(struct served_tally *tally, const struct served_rungs *rungs,
                      const struct workload *workload);

// The percentile that every record has, on most rungs; the strictest if several tie; 0: none.
int served_tally_percentile(const struct served_tally *tally);

// Whether two lengths are the same within REQUEST_LENGTHS; so are two that are not stated, NAN.
bool served_is_alike(double a, double b);

// "requests of 1024 tokens in, 256 out"
const char *served_lengths_text(const struct served_rungs *rungs, struct arena *arena);

// The watts per accelerator: its own, or including its share of the host if the meter covers that.
double served_watts(const struct served_rungs *rungs, double watts,
                    const struct serving_power *power);

// Fills in the curve, for the times that the workload limits, at a percentile or, if it is 0 or no
// rung has it, at the record's own. Returns NULL, or why there is none, as message text in the
// arena: two rungs with the same load.
const char *served_draw_curve(struct served_rungs *rungs, const struct workload *workload,
                              int percentile, struct arena *arena);

#endif
