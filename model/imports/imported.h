// imported: what one value of a file states of another program's results, in one form for all.
//
// A reader takes one value of a document, such as a line of JSON, and fills in what its format
// states: nothing is guessed, and what the value does not state stays unknown. Values of one file
// may contradict each other as those of two do, and are kept apart. Everything is in the arena.
#ifndef PERTOKEN_MODEL_IMPORTS_IMPORTED_H
#define PERTOKEN_MODEL_IMPORTS_IMPORTED_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/imports/document.h"
#include "model/records/serving.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct format;

// Seconds since 1970, UTC; NAN unknown.
struct imported_window {
  double start_s, end_s;
};

// Texts are "" and counts 0 if the value does not state them.
struct imported {
  const struct source *source;
  const char *name; // the file's; of one value of several: "FILE:2" or "FILE, result 2"
  const struct format *format;
  const char *tool_version;
  const char *engine, *engine_version;
  const char *hardware;  // as in the file: "h200", "NVIDIA-H100-80GB-HBM3"
  const char *precision; // as in the file: "FP8"
  const char *model;     // as in the file: "openai/gpt-oss-120b"
  const char *prompts, *speculation;
  const char *date; // 2026-11-21
  int accelerators; // -1: the file says none, 0 accelerators
  int input_accelerators, output_accelerators;
  int server_accelerators; // of one server, of which there may be several; 0: not stated
  enum serving_basis basis;
  bool stops_early;     // percentiles have enough requests: LoadGen ensures it
  struct texts remarks; // what readers of the record must know
  struct texts unsaid;  // what the value does not state and options cannot: "the engine"
  struct texts doubts;  // warnings
  struct imported_window power_window; // of the watts in files next to MLPerf's results
  struct serving_rung *rungs;          // [count]
  struct imported_window *windows;     // [count], when each rung was measured
  size_t count;
};

// The results in the order of the files, and of the values in them.
struct imported_list {
  struct imported *list; // [count]
  size_t count;
};

// A reader at work on one value of the file.
struct import_reading {
  const struct document *document;
  const struct document_part *part;
  struct imported *imported;
  // The current rung's window and limit, for rung_add, which then clears them.
  struct imported_window window;
  double max_concurrency; // that limits the requests in flight of a rate; NAN none
  double unfinished;      // requests in flight when the tool stopped; NAN not stated
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// An error at the part. Returns -1.
int reading_error(const struct import_reading *reading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// A time with its zone, "2026-07-03T04:19:39.8Z", below a value; NAN if there is none.
double time_below(const struct import_reading *reading, const json_t *value, const char *path);

// The value at a path of keys separated by '/', below a value; NULL if there is none, or if it is
// null. A step into a list is a number: "items/0/name".
const json_t *json_below(const json_t *value, const char *path);

// A number below a value; NAN if there is none. Anything but a number is an error.
double number_below(const struct import_reading *reading, const json_t *value, const char *path);

// A text, "" if there is none: in the arena. For a number, its digits.
const char *text_below(const struct import_reading *reading, const json_t *value, const char *path);

// A whole number of accelerators; 0 if the file does not state it, -1 if it says 0. Anything but a
// whole number from 0 to a million is an error.
int count_below(const struct import_reading *reading, const json_t *value, const char *path);

// The accelerator's name, of one of several hosts or devices; "" says nothing. Unlike ones are an
// error.
void say_hardware(const struct import_reading *reading, const char *name);

// The paths of a latency's numbers; '*' stands for its name. NULL: not in the format.
struct latency_keys {
  const char *mean, *p50, *p90, *p95, *p99, *std;
};

// Reads a latency's statistics: numbers times `scale`, in seconds.
struct serving_latency latency_below(const struct import_reading *reading, const json_t *value,
                                     const struct latency_keys *keys, const char *name,
                                     double scale);

// The seconds in a unit as tools write it: "ms", "s/token", "sec"; NAN for an unknown unit.
double seconds_in(const char *unit);

// The day at the start of a text: "20260806-132830", "2026-07-03T04:19:39"; "" for none.
const char *day_of(const char *text, struct arena *arena);

#endif
