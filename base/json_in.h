// json_in: a file of JSON, read whole.
#ifndef PERTOKEN_BASE_JSON_IN_H
#define PERTOKEN_BASE_JSON_IN_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"

#include <jansson.h>

// *source is the file's text, NULL if it cannot be read. The error for a file that is not JSON, or
// repeats a key, begins with `complaint`: "not a part of a simulation". The caller calls
// json_decref. NULL after errors.
json_t *json_in_read(const char *path, const char *complaint, const struct source **source,
                     struct arena *arena, struct diagnostics *diagnostics);

#endif
