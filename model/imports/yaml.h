// yaml: a YAML text as a JSON value, limited to what reports use: mappings, lists, scalars.
#ifndef PERTOKEN_MODEL_IMPORTS_YAML_H
#define PERTOKEN_MODEL_IMPORTS_YAML_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"

#include <jansson.h>

enum { MAX_YAML_DEPTH = 64 };

// The first document of the text. A plain scalar is null, true, false, a number or a text; a quoted
// one is a text, and so is a number that is not finite (".inf"). Errors, with their place: a
// mistake in the text, an alias, a repeated key, a key that is not a scalar, nesting deeper than
// MAX_YAML_DEPTH. To be freed with json_decref; NULL after errors.
json_t *yaml_read(const struct source *source, struct arena *arena,
                  struct diagnostics *diagnostics);

#endif
