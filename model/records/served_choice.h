// served_choice: which serving record counts for a workload, and which of its rungs.
//
// A record counts if its accelerator, model, precision and speculation are the workload's (an
// unnamed speculation is any that is stated, with a remark), and its requests are as long as the
// workload states, within REQUEST_LENGTHS; MLPerf's count for any length. Of several records the
// best grade counts, then the newest; there is no choice between records of different lengths. A
// refused rung is not used.
#ifndef PERTOKEN_MODEL_RECORDS_SERVED_CHOICE_H
#define PERTOKEN_MODEL_RECORDS_SERVED_CHOICE_H

#include "base/arena.h"
#include "model/evidence/workload.h"
#include "model/records/records.h"
#include "model/records/served_rungs.h"
#include "model/records/serving.h"

#include <stdbool.h>

struct served_request {
  const struct records *records;
  const char *file, *accelerator; // "": any file; an id, or "cpu"
  const struct workload *workload;
  double input_tokens, output_tokens; // of a request; 0: not stated
  int percentile; // at which times are judged in every option's record; 0: the record's own
};

// Whether there is a record of the accelerator, with a model and precision that do not contradict
// the workload.
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

#endif
