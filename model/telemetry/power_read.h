// power_read: power series in files of other programs and of pertoken-probe's, told by content.
#ifndef PERTOKEN_MODEL_TELEMETRY_POWER_READ_H
#define PERTOKEN_MODEL_TELEMETRY_POWER_READ_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/telemetry/power_formats.h"
#include "model/telemetry/power_series.h"

#include <stdbool.h>

// Known are: pertoken-probe's meter, MLPerf's spl.txt, CSV of nvidia-smi and amd-smi, text and range
// queries of dcgm-exporter. Errors: a file of no known format, naming those that were tried; times
// without a zone unless the offset is said; a date that could be of two days; units that are not
// watts; what cannot be read. NULL after errors.
struct power_series *power_read(const char *path, const struct power_read_options *options,
                                struct arena *arena, struct diagnostics *diagnostics);

// The same of a text that was read already.
struct power_series *power_read_source(const struct source *source,
                                       const struct power_read_options *options,
                                       struct arena *arena, struct diagnostics *diagnostics);

// Whether it is of one of these formats.
bool power_read_knows(const struct source *source);

// The window between power_begin and power_end of an mlperf_log_detail.txt, UTC. False where it has
// none. MLPerf's own check lets the clocks of the two hosts differ by MLPERF_CLOCK_S (power-dev,
// compliance/check.py, TIME_DELTA_TOLERANCE).
bool mlperf_power_window(const struct source *source, double *start_s, double *end_s);

#define MLPERF_CLOCK_S 0.5

#endif
