// imported: what one file of another program's results says, in one form for all of them.
//
// A reader takes a document and fills in what its format tells: nothing is guessed, and what the file
// does not say stays unknown. Everything lives in the arena.
#ifndef PERTOKEN_MODEL_IMPORTS_IMPORTED_H
#define PERTOKEN_MODEL_IMPORTS_IMPORTED_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/evidence/serving.h"
#include "model/imports/document.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct format;

// Seconds since 1970, UTC; NAN unknown.
struct imported_window {
  double start_s, end_s;
};

// Where a rung stands in its file, and when it was measured.
struct imported_place {
  int line; // 0 unknown
  struct imported_window window;
};

// Texts are "" and counts 0 where the file does not say.
struct imported {
  const struct source *source;
  const struct format *format;
  const char *tool_version;
  const char *engine, *engine_version;
  const char *hardware;  // as the file writes it: "h200", "NVIDIA-H100-80GB-HBM3"
  const char *precision; // as the file writes it: "FP8"
  const char *model;     // as the file writes it: "openai/gpt-oss-120b"
  const char *prompts, *speculation;
  const char *date; // 2026-11-21
  int accelerators; // -1: the file says none, 0 of them
  int input_accelerators, output_accelerators;
  enum serving_basis basis;
  bool stops_early;     // percentiles are of enough requests: LoadGen sees to it
  struct texts remarks; // what a reader of the record must know
  struct texts unsaid;  // what the file does not say, beyond what options can: "the engine"
  struct imported_window power_window; // of the watts beside MLPerf's results
  struct serving_rung *rungs;          // [count]
  struct imported_place *places;       // [count]
  size_t count;
};

// A reader at work on one value of the file.
struct reading {
  const struct document *document;
  const struct document_part *part;
  struct imported *imported;
  struct imported_window window; // of the rung that is read, for rung_add, which forgets it
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// An error at the part. Returns -1.
int reading_error(const struct reading *reading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// A time with its zone, "2026-07-03T04:19:39.8Z", below a value; NAN where there is none.
double time_below(const struct reading *reading, const json_t *value, const char *path);

// What lies at a path of keys with '/' between them, below a value; NULL where there is nothing, or
// null. A step in a list is its number: "items/0/name".
const json_t *json_below(const json_t *value, const char *path);

// A number below a value; NAN where there is none. One that is no number is an error.
double number_below(const struct reading *reading, const json_t *value, const char *path);

// A text, "" where there is none: in the arena. A number's digits.
const char *text_below(const struct reading *reading, const json_t *value, const char *path);

// A whole number of accelerators; 0 where the file does not say, -1 where it says 0. Others than
// whole ones within 0 and a million are an error.
int count_below(const struct reading *reading, const json_t *value, const char *path);

// Where the numbers of a latency lie; '*' stands for its name. NULL: the format has none.
struct latency_keys {
  const char *mean, *p50, *p90, *p95, *p99, *std;
};

// Numbers times `scale`, in seconds.
struct serving_latency latency_below(const struct reading *reading, const json_t *value,
                                     const struct latency_keys *keys, const char *name,
                                     double scale);

// Seconds in a unit as tools write it: "ms", "s/token", "sec"; NAN for none that is known.
double seconds_in(const char *unit);

// The day that a text begins with: "20260806-132830", "2026-07-03T04:19:39"; "" for none.
const char *day_of(const char *text, struct arena *arena);

// The load as vLLM's client and what comes from it say it: max_concurrency, request_rate ("inf": as
// fast as the concurrency allows), burstiness (1: Poisson arrivals; another is no load with a name).
void rung_set_load(const struct reading *reading, struct serving_rung *rung, const json_t *value);

// What a file counts beside its rates; NAN where it does not.
struct rung_totals {
  double input_tokens, output_tokens; // of all requests that were answered
  double total_tokens_per_s;          // input and output
};

// One more rung, once it holds together: what follows from the totals is filled in, percentiles of
// too few requests are left out, and what failed or was cached refuses it. Errors: no rate; a rate
// that the totals belie, one that counts input for one; more requests in flight than were set,
// which latencies in another unit look like. Returns 0 or -1.
int rung_add(struct reading *reading, struct serving_rung *rung, const struct rung_totals *totals);

#endif
