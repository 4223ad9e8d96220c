// measurement_file: the file of a measurement_record, read and checked, or written.
#ifndef PERTOKEN_MODEL_RECORDS_MEASUREMENT_FILE_H
#define PERTOKEN_MODEL_RECORDS_MEASUREMENT_FILE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/records/measurement.h"

struct json_t; // of jansson

// Refused, with an error each: what source_read refuses; invalid or incomplete JSON; a newer
// schema; a field that is missing, of the wrong type or unknown; a number that is negative or out
// of range; a digest that does not match the content. NULL after errors.
//
// In a record of an older schema, what follows from its own samples and readings is computed by
// today's formulas (model/records/timing.h), not taken from the file; the digest is the file's.
struct measurement_record *measurement_read(const char *path, struct arena *arena,
                                            struct diagnostics *diagnostics);

// The same for a file's object, which the caller keeps.
struct measurement_record *measurement_of_json(const struct json_t *object,
                                               const struct source *source, struct arena *arena,
                                               struct diagnostics *diagnostics);

// Writes a record as record_write does. Sets path and digest. Returns 0 or -1.
int measurement_write(struct measurement_record *record, const char *path, struct arena *arena,
                      struct diagnostics *diagnostics);

#endif
