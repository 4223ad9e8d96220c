#include "base/json_in.h"

#include "base/diagnostics.h"
#include "base/source_file.h"

#include <stddef.h>
#include <string.h>

// jansson's position is behind the word that it quotes; long words it does not quote.
static size_t named_length(const char *text, const json_error_t *error, size_t behind) {
  static const char opening[] = " near '";
  const char *name = strstr(error->text, opening);
  const size_t length = name ? strlen(name + strlen(opening)) : 0;
  if (length < 2 || length - 1 > behind)
    return 0;
  return strncmp(text + behind - (length - 1), name + strlen(opening), length - 1) ? 0 : length - 1;
}

struct place json_in_place(const struct source *source, const json_error_t *error, size_t behind) {
  const size_t end = behind < source->size ? behind : source->size;
  const size_t length = named_length(source->text, error, end);
  return source_place(source, length ? end - length : end ? end - 1 : 0);
}

json_t *json_in_read(const char *path, const char *complaint, const struct source **source,
                     struct arena *arena, struct diagnostics *diagnostics) {
  json_error_t error;
  *source = source_read(path, arena, diagnostics);
  if (!*source)
    return NULL;
  json_t *json = json_loadb((*source)->text, (*source)->size, JSON_REJECT_DUPLICATES, &error);
  if (!json)
    diagnostics_error(diagnostics, json_in_place(*source, &error, (size_t)error.position), "%s: %s",
                      complaint, error.text);
  return json;
}
