// recorded_words: where the figures of a measured result come from, in words. All in the arena.
#ifndef PERTOKEN_MODEL_RECORDS_RECORDED_WORDS_H
#define PERTOKEN_MODEL_RECORDS_RECORDED_WORDS_H

#include "base/arena.h"
#include "model/evidence/workload.h"
#include "model/records/measurement.h"

#include <stdbool.h>

// The source of a result's throughput: record, device, interval, share of the read bandwidth, and
// what else ran on how many devices.
const char *recorded_source(const struct measurement *result, struct arena *arena);

// The source of a throughput that is interpolated along the batch or the context, from this result
// and others.
const char *recorded_source_at(const struct measurement *result, enum workload_key along, int at,
                               struct arena *arena);

// ", 95 % within 53.1 and 55.9 token/s", or "" without an interval. The interval is the samples':
// if the rate is that of the seconds under the meter, the text says so first.
const char *recorded_interval(double low, double high, bool is_of_window, struct arena *arena);

// The source of a result's watts under load, and before it: meter and readings; "" without watts.
const char *recorded_load_source(const struct measurement *result, struct arena *arena);
const char *recorded_idle_source(const struct measurement *result, struct arena *arena);

#endif
