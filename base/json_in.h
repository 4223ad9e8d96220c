// json_in: a file of JSON, read whole.
#ifndef PERTOKEN_BASE_JSON_IN_H
#define PERTOKEN_BASE_JSON_IN_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"

#include <jansson.h>
#include <stddef.h>

// *source is the file's text, NULL if it cannot be read. The error for a file that is not JSON, or
// repeats a key, begins with `complaint`: "not a part of a simulation". The caller calls
// json_decref. NULL after errors.
json_t *json_in_read(const char *path, const char *complaint, const struct source **source,
                     struct arena *arena, struct diagnostics *diagnostics);

// Where jansson found a mistake in a source's text, having read so many bytes of it: at the word that it
// names, else at the last byte. jansson's own columns count characters.
struct place json_in_place(const struct source *source, const json_error_t *error, size_t behind);

#endif
