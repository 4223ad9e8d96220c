// production: what a production server served, hour by hour, according to its own counters, as a
// record (base/record.h). It is evidence of utilization: tokens served compared with what the
// accelerators behind the counters could have served.
#ifndef PERTOKEN_MODEL_RECORDS_PRODUCTION_H
#define PERTOKEN_MODEL_RECORDS_PRODUCTION_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/records/serving.h"

#include <stdbool.h>
#include <stddef.h>

struct json_t; // of jansson

#define PRODUCTION_SCHEMA 1

// A shorter record covers only part of a day, and is not evidence of utilization.
#define PRODUCTION_DAY_S 86400.0

struct production_hour {
  const char *start; // 2026-11-21T09:00:00Z
  double covered_s;  // of the hour, covered by scrapes
  double input_tokens, output_tokens;
};

// Texts are never NULL.
struct production {
  const struct source *source; // NULL until written
  const char *path;
  const char *engine;      // "vLLM"
  const char *accelerator; // id of data/accelerators.csv
  int accelerators;        // behind the counters
  const char *precision, *model;
  const char *started, *finished; // time of the first and the last scrape
  double covered_s;               // between them, excluding gaps
  double input_tokens, output_tokens;
  double output_tokens_per_s; // mean over the covered time
  double peak_over_mean;      // of output tokens, busiest whole hour; NAN without a whole hour
  double cache_hit;           // share of input tokens found in the prefix cache; NAN if not counted
  double running;             // requests at once, mean; NAN if not counted
  int resets;                 // of counters
  int utc_offset_min;         // offset of the profile's zone from UTC
  // The shares of a day's output tokens, hour by hour of that zone's day: 24, or none if an hour of
  // the day is never covered completely.
  const double *day_profile; // [day_profile_count]
  size_t day_profile_count;
  const struct production_hour *hours; // [hour_count]
  size_t hour_count;
  const struct serving_file *files; // [file_count]
  size_t file_count;
  const char *digest;
};

// Sets path and digest. Returns 0 or -1.
int production_write(struct production *production, const char *path, struct arena *arena,
                     struct diagnostics *diagnostics);

// Refused, with an error each: what record_of_json refuses, and inconsistent figures. NULL after
// errors.
struct production *production_of_json(const struct json_t *object, const struct source *source,
                                      struct arena *arena, struct diagnostics *diagnostics);

// Whether an object is a record of this kind, of whatever content.
bool production_is_one(const struct json_t *object);

// The output tokens/s that each accelerator behind the counters served, on average.
double production_throughput(const struct production *production);

#endif
