// power_formats: the formats of power files, each defined in the file of its program, and what
// their readers have in common.
#ifndef PERTOKEN_MODEL_TELEMETRY_POWER_FORMATS_H
#define PERTOKEN_MODEL_TELEMETRY_POWER_FORMATS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/records/serving.h"
#include "model/telemetry/power_series.h"

#include <stdbool.h>

struct json_t; // of jansson

// Facts that the user states because a file may lack them.
struct power_read_options {
  double utc_offset_s;                 // of times without a zone, positive if ahead of UTC; NAN
  double window_start_s, window_end_s; // that the file should cover, UTC; NAN unknown
};

extern const struct power_read_options power_read_nothing_said;

struct power_input {
  const struct source *source;
  const struct json_t *json; // NULL: the file is not JSON
  const struct power_read_options *options;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

struct power_format {
  const char *name;
  bool (*knows)(const struct power_input *input);
  struct power_series *(*read)(const struct power_input *input); // NULL after errors
};

extern const struct power_format power_spl, power_nvidia_smi, power_amd_smi, power_dcgm_text,
    power_dcgm_range;

// An empty series for that file.
struct power_series *power_series_of(const struct power_input *input, const char *tool,
                                     enum serving_coverage covers);

// An error at a line of the file; 0: for the whole file. Returns NULL.
struct power_series *power_refuse(const struct power_input *input, int line, const char *format,
                                  ...) __attribute__((format(printf, 3, 4)));

#endif
