// metrics_join: what several files say of the same numbers over time.
//
// A series with the same name and labels in several files is one, such as the weeks of one server:
// its samples in order of time, and what the files have in common once.
#ifndef PERTOKEN_MODEL_TELEMETRY_METRICS_JOIN_H
#define PERTOKEN_MODEL_TELEMETRY_METRICS_JOIN_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/telemetry/metrics.h"

#include <stddef.h>

// The series of files [count] as one list, which shares the files' memory. Errors: two values of a
// series at the same time, or at times in turn, as two servers' are. NULL after errors.
struct metrics *metrics_join(struct metrics *const *files, size_t count, struct arena *arena,
                             struct diagnostics *diagnostics);

#endif
