#include "base/json_in.h"

#include "base/diagnostics.h"
#include "base/source_file.h"

#include <stddef.h>

json_t *json_in_read(const char *path, const char *complaint, const struct source **source,
                     struct arena *arena, struct diagnostics *diagnostics) {
  json_error_t error;
  *source = source_read(path, arena, diagnostics);
  if (!*source)
    return NULL;
  json_t *json = json_loadb((*source)->text, (*source)->size, JSON_REJECT_DUPLICATES, &error);
  if (!json)
    diagnostics_error(diagnostics,
                      (struct place){*source, error.line > 0 ? error.line : 0,
                                     error.column > 0 ? error.column : 1},
                      "%s: %s", complaint, error.text);
  return json;
}
