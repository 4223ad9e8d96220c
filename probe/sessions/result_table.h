// result_table: results as a table for people.
#ifndef PERTOKEN_PROBE_SESSIONS_RESULT_TABLE_H
#define PERTOKEN_PROBE_SESSIONS_RESULT_TABLE_H

#include "base/arena.h"
#include "model/records/measurement.h"

#include <stdio.h>

// A line for each result, then how long their exchanges take, then why power was not measured if
// so.
void result_table_print(const struct measurement_record *record, FILE *out);

// What several devices [count] decoded one by one and all at once: a line for each trial that all
// of them measured, with the slowest and the fastest to show the spread; whether that is also one
// of the kernels; and for any other trial why it was not measured at once.
void together_table_print(const struct measurement_record *const *records, size_t count, FILE *out);

// The record's result of the same workload, in the same types; NULL if it has none.
const struct measurement *result_like(const struct measurement_record *record,
                                      const struct measurement *like);

// Remarks on a result: "noisy, cache-resident", or "".
const char *result_remarks(const struct measurement *result, struct arena *arena);

#endif
