// recorded: what the probe's records contain for a workload: decode throughput and watts.
//
// A record measures decoding, so it gives a decode_throughput, never a serving figure. It counts if
// model and precisions are equal. If batch and context are equal, the result is taken as it is,
// with the grade of its measurement. If one of them is equal and the other is inside the measured
// range, the result is interpolated (Steffen 1990, monotone; a straight line between two points)
// and graded projected; outside the range it is refused. So are the watts of a result without any,
// between those that have them. A context that is not stated follows from the lengths of requests,
// if these are known: their mean while decoding (workload_decode_context), to which a measured one
// within REQUEST_LENGTHS counts as equal.
//
// Of several results for one workload the best grade counts, then the newest; for a device measured
// at several power limits, the result at the highest limit. Results of several models or
// precisions, where the workload leaves these open, are never on one curve; of the figures that
// they give, one is chosen in the same way.
#ifndef PERTOKEN_MODEL_RECORDS_RECORDED_H
#define PERTOKEN_MODEL_RECORDS_RECORDED_H

#include "base/arena.h"
#include "model/evidence/curve.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/records/measurement.h"
#include "model/records/records.h"

#include <stddef.h>

struct recorded {
  const struct measurement *nearest;     // the one whose device, types and place are shown
  double tokens_per_s;                   // per device
  double load_power_w, idle_power_w;     // NAN if not measured
  enum grade grade, power_grade;         // of the throughput; of load_power_w
  const char *source;                    // record, device, interval, in words
  const char *load_source, *idle_source; // of the watts: meter and readings; "" without watts
  const char *date;
  size_t alike;       // records that have this result, of which it is the best
  const char *remark; // a note on other models or precisions: a sentence, or ""
};

// A note on a choice among records, without a full stop, or "".
const char *recorded_remark(const struct recorded *recorded, struct arena *arena);

// Chooses from the record file named `file`, or ("") from all records of an accelerator. Returns
// NULL, or why there is none, as message text in the arena: no such record, a record of a device
// that is known to be another accelerator, no result for the model and precision, batch or context
// unset or outside the measured range.
const char *recorded_choose(const struct records *records, const char *file,
                            const char *accelerator, const struct workload *workload,
                            struct recorded *out, struct arena *arena);

// The results as a function of the batch, for a workload whose batch is open, with its model,
// precisions and context. *nearest is the one with the largest batch. Returns NULL, or why there is
// none: as for recorded_choose, or only one batch.
const char *recorded_curve(const struct records *records, const char *file, const char *accelerator,
                           const struct workload *workload, struct curve *curve,
                           struct recorded *nearest, struct arena *arena);

// "fp8" for a record's e4m3, "fp32" for f32: the usual names.
const char *recorded_precision(const char *element);

#endif
