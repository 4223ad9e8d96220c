// recorded: what the probe's records say of a workload: decode throughput and watts.
//
// A record measures decoding, so it gives a decode_throughput and never a serving figure. It counts
// when model and precisions are equal. Equal batch and context take the result as it is, graded as
// it was measured. One of the two equal and the other inside the measured range is interpolated
// (Steffen 1990, monotone; a straight line between two points), graded projected; outside the range
// it is refused.
//
// A record is of an accelerator when its backend is called so ("cpu", in no catalogue), or when its
// device has one of the accelerator's device_names. A device of another name counts only where its
// file is named.
#ifndef PERTOKEN_MODEL_EVIDENCE_RECORDED_H
#define PERTOKEN_MODEL_EVIDENCE_RECORDED_H

#include "base/arena.h"
#include "model/evidence/curve.h"
#include "model/evidence/grade.h"
#include "model/evidence/measurement.h"
#include "model/evidence/records.h"
#include "model/evidence/workload.h"

#include <stddef.h>

struct recorded {
  const struct measurement *nearest; // whose device, types and place are shown
  double tokens_per_s;               // per device
  double load_power_w, idle_power_w; // NAN when not measured
  enum grade grade;
  const char *source;                    // record, device, interval, in words
  const char *load_source, *idle_source; // of the watts: meter and readings; "" without watts
  const char *date;
};

// Is there a record of this backend ("cpu") at all? Returns one, the newest, or NULL.
const struct measurement_record *records_of_backend(const struct records *records,
                                                    const char *backend);

// Is there one of this accelerator (an id of the catalogue, or a backend)? The newest, or NULL.
const struct measurement_record *records_of_accelerator(const struct records *records,
                                                        const char *accelerator);

// The record of a file's name, or NULL.
const struct measurement_record *records_named(const struct records *records, const char *file);

// Which accelerator of the catalogue a record's device is, or NULL.
const char *records_accelerator(const struct records *records,
                                const struct measurement_record *record);

// Chooses from the record file named `file`, or ("") from all of an accelerator. Returns NULL, or
// why there is none, in the words of a message: no such record, one of a device that is known to be
// another accelerator, no result of the model and precision, batch or context unset or outside what
// was measured. Words lie in the arena.
const char *recorded_choose(const struct records *records, const char *file,
                            const char *accelerator, const struct workload *workload,
                            struct recorded *out, struct arena *arena);

// The results over the batch, of the model, precisions and context that the workload says, for a
// batch that is open. *nearest is of the largest batch. Returns NULL, or why there is none: what
// recorded_choose says, and that there is only one batch.
const char *recorded_curve(const struct records *records, const char *file, const char *accelerator,
                           const struct workload *workload, struct curve *curve,
                           struct recorded *nearest, struct arena *arena);

// "fp8" for a record's e4m3, "fp32" for f32: as people say it.
const char *recorded_precision(const char *element);

#endif
