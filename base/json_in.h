// json_in: a file of JSON, read whole.
#ifndef PERTOKEN_BASE_JSON_IN_H
#define PERTOKEN_BASE_JSON_IN_H

#include "base/source.h"

#include <jansson.h>

// The caller's to json_decref. An error that is no JSON, or has a key twice, begins with
// `complaint`, as "no part of a simulation". NULL after errors.
json_t *json_in_read(const char *path, const char *complaint, const struct source **source,
                     struct arena *arena, struct diagnostics *diagnostics);

#endif
