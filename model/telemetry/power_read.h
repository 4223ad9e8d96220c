// power_read: power series from files of other programs and of pertoken-probe, recognized by
// content.
#ifndef PERTOKEN_MODEL_TELEMETRY_POWER_READ_H
#define PERTOKEN_MODEL_TELEMETRY_POWER_READ_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/telemetry/power_formats.h"
#include "model/telemetry/power_series.h"

#include <stdbool.h>

// Known formats: pertoken-probe's meter, MLPerf's spl.txt, CSV of nvidia-smi and amd-smi, text and
// range queries of dcgm-exporter. Errors: a file in no known format, with those that were tried;
// times without a zone unless the offset is given; an ambiguous date; units other than watts;
// unreadable content. NULL after errors.
struct power_series *power_read(const char *path, const struct power_read_options *options,
                                struct arena *arena, struct diagnostics *diagnostics);

// The same for a text that has already been read.
struct power_series *power_read_source(const struct source *source,
                                       const struct power_read_options *options,
                                       struct arena *arena, struct diagnostics *diagnostics);

// Whether it has one of these formats.
bool power_read_knows(const struct source *source);

// The window between power_begin and power_end of an mlperf_log_detail.txt, UTC. False if it has
// none. MLPerf's own check allows the clocks of the two hosts to differ by MLPERF_CLOCK_S
// (power-dev, compliance/check.py, TIME_DELTA_TOLERANCE).
bool mlperf_power_window(const struct source *source, double *start_s, double *end_s);

#define MLPERF_CLOCK_S 0.5

#endif
