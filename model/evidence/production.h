// production: what a server in use served, hour by hour, by its own counters, as a record
// (base/record.h). It is evidence of utilization: tokens served against what the accelerators behind
// the counters could have served.
#ifndef PERTOKEN_MODEL_EVIDENCE_PRODUCTION_H
#define PERTOKEN_MODEL_EVIDENCE_PRODUCTION_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/evidence/serving.h"

#include <stdbool.h>
#include <stddef.h>

struct json_t; // of jansson

#define PRODUCTION_SCHEMA 1

// A shorter record leaves out part of the day, and is no evidence of utilization.
#define PRODUCTION_DAY_S 86400.0

enum { HOURS_OF_DAY = 24 };

struct production_hour {
  const char *start; // 2026-11-21T09:00:00Z
  double covered_s;  // of the hour, by scrapes
  double input_tokens, output_tokens;
};

// Text is never NULL.
struct production {
  const struct source *source; // NULL until written
  const char *path;
  const char *engine;      // "vLLM"
  const char *accelerator; // id of data/accelerators.csv
  int accelerators;        // behind the counters
  const char *precision, *model;
  const char *started, *finished; // of the first and last scrape
  double covered_s;               // between them, gaps left out
  double input_tokens, output_tokens;
  double output_tokens_per_s; // mean over what is covered
  double peak_over_mean;      // of output tokens, the busiest whole hour; NAN without a whole hour
  double cache_hit;           // share of input tokens found in the prefix cache; NAN not counted
  double running;             // requests at once, the mean; NAN not counted
  int resets;                 // of counters
  int utc_offset_min;         // what the profile's zone is ahead of UTC
  const double
      *day_profile; // [24] shares of a day's output tokens, hour by hour of that zone's day;
  size_t day_profile_count;            // none where an hour of the day is never covered whole
  const struct production_hour *hours; // [hour_count]
  size_t hour_count;
  const struct serving_file *files; // [file_count]
  size_t file_count;
  const char *digest;
};

// Sets path and digest. Returns 0 or -1.
int production_write(struct production *production, const char *path, struct arena *arena,
                     struct diagnostics *diagnostics);

// Refused, with an error each: what record_of_json refuses, and figures that do not hold together.
// NULL after errors.
struct production *production_of_json(const struct json_t *object, const struct source *source,
                                      struct arena *arena, struct diagnostics *diagnostics);

bool production_is_one(const struct json_t *object);

// The share of their capacity that the accelerators behind the counters served: mean output tokens/s
// over accelerators x throughput, both of one accelerator and per second. `throughput` is what one
// delivers when it is always busy, with everything that keeps it from that taken off.
double production_utilization(const struct production *production, double throughput_per_s);

#endif
