// text: a scenario file with everything it inherits, merged into one set of sections.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_TEXT_H
#define PERTOKEN_MODEL_SCENARIO_READING_TEXT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>

struct scenario_text {
  const struct source *source;  // the file itself
  struct ini_section *sections; // [section_count]
  size_t section_count;
  const char *all_text; // of all files, oldest ancestor first: the input of the digest
};

// Reads `path` and, through `inherits = FILE` in [scenario], its ancestors (relative to the file
// that names them), merged by inheritance.h; is_common() as there. A missing ancestor and a circle
// are errors at the key. NULL after errors. `written`: what the file will contain, or NULL if it
// exists.
const struct scenario_text *scenario_text_read(const char *path, const char *written,
                                               bool (*is_common)(const char *kind),
                                               struct arena *arena,
                                               struct diagnostics *diagnostics);

#endif
