// serving_table: what a server delivered at each load, as a table for people.
#ifndef PERTOKEN_PROBE_SESSIONS_SERVING_TABLE_H
#define PERTOKEN_PROBE_SESSIONS_SERVING_TABLE_H

#include "base/arena.h"
#include "model/records/serving.h"

#include <stdio.h>

// A line for each rung; then why some were refused, where power is missing and what the server's
// own counters said; then the goodput if an SLO is stated.
void serving_table_print(const struct serving_record *record, struct arena *arena, FILE *out);

// "8 in flight", "0.5/s".
const char *serving_load_text(const struct serving_rung *rung, struct arena *arena);

#endif
