// metrics: numbers over time with names and labels, as Prometheus keeps them.
//
// Read from the answer of /api/v1/query_range (JSON, "resultType": "matrix"), or from the text
// exposition format with times, one scrape after the other.
// https://prometheus.io/docs/prometheus/latest/querying/api/#range-queries
// https://prometheus.io/docs/instrumenting/exposition_formats/
#ifndef PERTOKEN_MODEL_TELEMETRY_METRICS_H
#define PERTOKEN_MODEL_TELEMETRY_METRICS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>

struct json_t; // of jansson

struct metric_label {
  const char *name, *value;
};

struct metric {
  const char *name;            // "" if a query's function dropped it
  struct metric_label *labels; // [label_count], as written
  size_t label_count;
  double *time_s, *values; // [count], ascending; NaN and infinities are left out
  size_t count;
};

struct metrics {
  const struct source *source;
  struct metric *list;
  size_t count;
};

// The metric's label of that name, or "".
const char *metric_label(const struct metric *metric, const char *name);

bool metrics_are_range(const struct json_t *object);
bool metrics_are_refused(const struct json_t *object); // a range query's answer without series
bool metrics_are_text(const struct source *source);

// Errors: an answer that reports a failure ("status": "error") or is not a matrix; times that do
// not ascend; text without times. NULL after errors.
struct metrics *metrics_of_range(const struct json_t *object, const struct source *source,
                                 struct arena *arena, struct diagnostics *diagnostics);
struct metrics *metrics_of_text(const struct source *source, struct arena *arena,
                                struct diagnostics *diagnostics);

#endif
