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
  const struct source *source; // the file itself
  // Merged: in a child each key overrides the same key of the same section.
  struct ini_section *sections; // [section_count]
  size_t section_count;
  const char *all_text; // of all files, oldest ancestor first: the input of the digest
};

// Reads `path` and, through `inherits = FILE` in [scenario], its ancestors (relative to the file
// that names them). A key of a common section, which is one of a kind with is_common(), also
// overrides it in the ancestors' other common sections. A key that is stated anew loses what the
// ancestors give as its source, date and quote and of its parts (the years of a list, the tiers of
// a discount, the hours of a day), and `api` the prices that they give beside it. An empty key that
// takes back what an ancestor states in the same place is not in the result, nor is one beside a
// number that it says comes from no row; one that takes back nothing is. A missing ancestor and a
// circle are errors at the key. NULL after errors. `written`: what the file will contain, or NULL
// if it exists.
const struct scenario_text *scenario_text_read(const char *path, const char *written,
                                               bool (*is_common)(const char *kind),
                                               struct arena *arena,
                                               struct diagnostics *diagnostics);

#endif
