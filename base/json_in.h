// json_in: a JSON file, read whole.
#ifndef PERTOKEN_BASE_JSON_IN_H
#define PERTOKEN_BASE_JSON_IN_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"

#include <jansson.h>
#include <stddef.h>

// *source is the file's text, NULL if it cannot be read. The error for a file that is not JSON, or
// has a repeated key, begins with `complaint`: "not a part of a simulation". The caller calls
// json_decref. NULL after errors.
json_t *json_in_read(const char *path, const char *complaint, const struct source **source,
                     struct arena *arena, struct diagnostics *diagnostics);

// The place of a mistake that jansson found in a source's text after reading `behind` bytes: the
// word that it quotes, else the last byte. jansson's own columns count characters.
struct place json_in_place(const struct source *source, const json_error_t *error, size_t behind);

#endif
