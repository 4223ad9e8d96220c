// utc: times as files write them, as seconds since 1970-01-01 00:00 UTC, without leap seconds.
#ifndef PERTOKEN_MODEL_TELEMETRY_UTC_H
#define PERTOKEN_MODEL_TELEMETRY_UTC_H

#include "base/arena.h"

#include <stdbool.h>

// "2026-11-21T09:30:00Z", optionally with fractions of a second, or with "+02:00" instead of Z.
// Returns false for anything else: a time without a zone is not UTC.
bool utc_parse(const char *text, double *out);

// Local times without a zone: "2026/09/11 04:19:41.982" with the parts in this order; "12-23-2020
// 10:21:51.496" with the month first, or with the day first if `day_first`.
bool utc_parse_local(const char *text, double *out);
bool utc_parse_american(const char *text, bool day_first, double *out);

// The offset of a zone, positive if ahead of UTC: "+02:00", "-0330", "UTC", "Z". False for anything
// else.
bool utc_offset_parse(const char *text, double *out);

// "2026-11-21T09:30:00Z", rounded down to the second.
const char *utc_text(double time_s, struct arena *arena);

// The same of the current time.
const char *utc_now(struct arena *arena);

#endif
