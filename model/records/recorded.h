// recorded: what the probe's records contain for a workload: decode throughput and watts.
//
// A record measures decoding, so it gives a decode_throughput, never a serving figure. It counts if
// model and precisions are equal. If batch and context are equal, the result is taken as it is,
// with the grade of its measurement. If one of them is equal and the other is inside the measured
// range, the result is interpolated (Steffen 1990, monotone; a straight line between two points)
// and graded projected; outside the range it is refused. So are the watts of a result without any,
// between those that have them.
//
// Of several results for one workload the best grade counts, then the newest; for a device measured
// at several power limits, the result at the highest limit. Results of several models or
// precisions, where the workload leaves these open, are never on one curve; of the figures that
// they give, one is chosen in the same way.
//
// A record belongs to an accelerator if its backend has that name ("cpu", which is in no
// catalogue), or if its device has one of the accelerator's device_names. A device with another
// name counts only if its file is named.
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

// Is there any record of this backend ("cpu")? Returns the newest one, or NULL.
const struct measurement_record *records_of_backend(const struct records *records,
                                                    const char *backend);

// Is there one for this accelerator (an id of the catalogue, or a backend)? Returns the newest one,
// or NULL.
const struct measurement_record *records_of_accelerator(const struct records *records,
                                                        const char *accelerator);

// The record with this file name, or NULL.
const struct measurement_record *records_named(const struct records *records, const char *file);

// The accelerator in the catalogue that matches a record's device, or NULL.
const char *records_accelerator(const struct records *records,
                                const struct measurement_record *record);

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
