#include "model/scenario/reading/text.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/source_file.h"
#include "model/scenario/reading/inheritance.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ANCESTORS = 32 };

struct chain {
  struct scenario_text *text;
  bool (*is_common)(const char *kind);
  const char *paths[MAX_ANCESTORS]; // canonical, youngest first
  int length;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

static int read_source(struct chain *chain, const char *path, const struct source *source);

static int read_ancestor(struct chain *chain, const char *path, const struct ini_key *inherits) {
  const char *parent = source_beside(path, inherits->value, chain->arena);
  char canonical[PATH_MAX];
  if (!*inherits->value || !realpath(parent, canonical)) {
    diagnostics_error(chain->diagnostics, inherits->value_place,
                      "cannot inherit from '%s': there is no such file", inherits->value);
    return -1;
  }
  for (int i = 0; i < chain->length; i++) {
    if (strcmp(chain->paths[i], canonical) != 0)
      continue;
    diagnostics_error(chain->diagnostics, inherits->value_place,
                      "'%s' inherits from itself, directly or through others", inherits->value);
    return -1;
  }
  return read_source(chain, parent, source_read(parent, chain->arena, chain->diagnostics));
}

// Reads a file and what it inherits. source: the file's, NULL after an error.
static int read_source(struct chain *chain, const char *path, const struct source *source) {
  const struct ini *ini = source ? ini_read(source, chain->arena, chain->diagnostics) : NULL;
  if (!ini)
    return -1;
  if (chain->length == MAX_ANCESTORS) {
    diagnostics_error(chain->diagnostics, (struct place){.source = source},
                      "more than %d files inherit from one another", MAX_ANCESTORS);
    return -1;
  }
  char canonical[PATH_MAX];
  chain->paths[chain->length++] =
      arena_copy(chain->arena, realpath(path, canonical) ? canonical : path);
  const struct ini_section *scenario = ini_section(ini, "scenario", "");
  const struct ini_key *inherits = scenario ? ini_find(scenario, "inherits") : NULL;
  int bad = inherits ? read_ancestor(chain, path, inherits) : 0;
  inheritance_merge(&chain->text->sections, &chain->text->section_count, ini, chain->is_common,
                    chain->arena);
  chain->text->all_text = arena_printf(chain->arena, "%s%s", chain->text->all_text, source->text);
  chain->text->source = source;
  return bad;
}

const struct scenario_text *scenario_text_read(const char *path, const char *written,
                                               bool (*is_common)(const char *kind),
                                               struct arena *arena,
                                               struct diagnostics *diagnostics) {
  struct scenario_text *text = arena_alloc(arena, sizeof *text);
  text->all_text = "";
  struct chain chain = {
      .text = text, .is_common = is_common, .arena = arena, .diagnostics = diagnostics};
  const struct source *source =
      written ? source_from_text(path, written, arena) : source_read(path, arena, diagnostics);
  return read_source(&chain, path, source) ? NULL : text;
}
