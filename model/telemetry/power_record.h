// power_record: pertoken-probe's power series as a file (base/record.h).
#ifndef PERTOKEN_MODEL_TELEMETRY_POWER_RECORD_H
#define PERTOKEN_MODEL_TELEMETRY_POWER_RECORD_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/telemetry/power_series.h"

#include <stdbool.h>

struct json_t; // of jansson

// Schema 2 adds the devices' indices.
#define POWER_RECORD_SCHEMA 2
#define POWER_RECORD_OLDEST 1

// Texts are never NULL.
struct power_record {
  struct power_series series;
  const char *tool_version;
  const char *meters;             // what was read: "nvml, 8 GPUs: total energy and instant power"
  const char *started, *finished; // 2026-11-21T09:30:00Z
  const char *remarks;            // "" or a note: "stopped early"
};

// A failure is an error with machine_failed set. Returns 0 or -1.
int power_record_write(const struct power_record *record, const char *path, struct arena *arena,
                       struct diagnostics *diagnostics);

// Refused, with an error each: what record_of_json refuses, lists of different lengths, times that
// do not ascend. NULL after errors.
struct power_record *power_record_of_json(const struct json_t *object, const struct source *source,
                                          struct arena *arena, struct diagnostics *diagnostics);

// Whether an object states that it is a power record, whatever else is wrong with it.
bool power_record_is_one(const struct json_t *object);

#endif
