// measurement_read: a record's file, checked, as a measurement_record.
#ifndef PERTOKEN_MODEL_EVIDENCE_MEASUREMENT_READ_H
#define PERTOKEN_MODEL_EVIDENCE_MEASUREMENT_READ_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/evidence/measurement.h"

#include <stddef.h>

// Refused, with an error each: what source_read refuses; no JSON, or not the whole of it; a newer
// schema; a missing field, one of the wrong type, one that is not known; a number that is negative
// or out of range; a digest that does not match the content. NULL after errors.
struct measurement_record *measurement_read(const char *path, struct arena *arena,
                                            struct diagnostics *diagnostics);

// Every *.json of a directory, in the order of their names. A directory that cannot be read is an
// error; an empty one is not. Returns 0 or -1.
int measurement_read_directory(const char *directory, struct measurement_record ***records,
                               size_t *count, struct arena *arena, struct diagnostics *diagnostics);

#endif
