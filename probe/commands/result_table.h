// result_table: results as a table for people.
#ifndef PERTOKEN_PROBE_COMMANDS_RESULT_TABLE_H
#define PERTOKEN_PROBE_COMMANDS_RESULT_TABLE_H

#include "model/evidence/measurement.h"

#include <stdio.h>

void result_table_print(const struct measurement_record *record, FILE *out);

// What several devices decoded one by one and all at once: a line each per workload that all of
// them have; the slowest and the fastest show their spread.
void together_table_print(const struct measurement_record *const *records, size_t count, FILE *out);

// "noisy, cache-resident", or "".
const char *result_remarks(const struct measurement *result, struct arena *arena);

// Prints a text that comes from a device or a file: what a terminal would act on becomes '?'.
void print_safely(const char *text, FILE *out);

#endif
