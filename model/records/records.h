// records: a folder of records of every kind: what the probe measured on devices alone, what
// engines delivered under load, and what they served in production.
//
// A static batch decoded by an engine, as llama-bench runs it, is a measurement of decoding like
// the probe's, and is listed with these too. Fields that only the probe knows are then unknown:
// NAN, "", 0. Its context is the cache before the first step or, if that is empty, half the output.
#ifndef PERTOKEN_MODEL_RECORDS_RECORDS_H
#define PERTOKEN_MODEL_RECORDS_RECORDS_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/records/measurement.h"
#include "model/records/production.h"
#include "model/records/serving.h"

#include <stdbool.h>
#include <stddef.h>

struct json_t; // of jansson

struct records {
  struct measurement_record **list;
  size_t count;
  struct serving_record **servings;
  size_t serving_count;
  struct production **productions;
  size_t production_count;
  const struct table *accelerators; // of the catalogue, to match device names; NULL: none
};

// A record from a day ahead of today is read with a warning; one of a device or a server counts as
// the newest.

// Warns if a time, 2026-11-21T09:30:00Z, or a day lies ahead of today. `so`: what follows from
// that, ", and ...", or "".
void records_doubt_day(const char *time, const char *so, const struct source *source,
                       struct diagnostics *diagnostics);

// ": give its name without a folder, 'a.json'" for the path of a record that was not found; "" for
// a bare name.
const char *records_name_hint(const char *file, struct arena *arena);

// Refuses the watts that a meter wrote, which are in no record until they are joined to a load. For
// readers of several kinds, to whom they are just another. Returns whether it was an error.
bool records_refuse_watts(const struct json_t *object, const struct source *source,
                          struct diagnostics *diagnostics);

// The paths of every *.json in a directory, ordered by name. A directory that cannot be read is an
// error. Returns 0 or -1.
int records_list(const char *directory, const char *const **paths, size_t *count,
                 struct arena *arena, struct diagnostics *diagnostics);

// Reads every *.json in a directory, ordered by name; does not touch `accelerators`. A directory
// that cannot be read is an error; an empty one is not. Returns 0 or -1.
int records_read(const char *directory, struct records *records, struct arena *arena,
                 struct diagnostics *diagnostics);

// The same for a list of files. Returns 0 or -1.
int records_of_files(const char *const *paths, size_t count, struct records *records,
                     struct arena *arena, struct diagnostics *diagnostics);

#endif
