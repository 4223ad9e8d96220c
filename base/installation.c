#include "base/installation.h"

#include "base/source.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The folder of the running program; NULL if the system does not tell. Files to load or start are
// never looked for in the current folder, where anyone may have put them.
static const char *own_folder(struct arena *arena) {
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  const char *slash = length > 0 ? memrchr(self, '/', (size_t)length) : NULL;
  return slash ? arena_copy_n(arena, self, (size_t)(slash - self)) : NULL;
}

static const char *absolute_path(const char *path, struct arena *arena) {
  char *resolved = realpath(path, NULL);
  const char *text = resolved ? arena_copy(arena, resolved) : NULL;
  free(resolved);
  return text;
}

static const char *short_path(const char *directory, struct arena *arena) {
  const char *resolved = absolute_path(directory, arena), *here = absolute_path(".", arena);
  const size_t length = here ? strlen(here) : 0;
  if (!resolved)
    return directory;
  const bool below = length && !strncmp(resolved, here, length) && resolved[length] == '/';
  return below ? resolved + length + 1 : resolved;
}

// The first path in `beside`, relative to the program's folder, that contains `file`; NULL: none.
static const char *find_beside(const char *const *beside, size_t count, const char *file,
                               struct arena *arena) {
  const char *folder = own_folder(arena);
  for (size_t i = 0; folder && i < count; i++) {
    const char *directory = arena_printf(arena, "%s/%s", folder, beside[i]);
    if (access(arena_printf(arena, "%s/%s", directory, file), R_OK) == 0)
      return directory;
  }
  return NULL;
}

const char *installation_data(const char *given, struct arena *arena,
                              struct diagnostics *diagnostics) {
  static const char *const beside[] = {"../share/pertoken/data", "../data", "../../data"};
  if (given)
    return given;
  const char *found =
      find_beside(beside, sizeof beside / sizeof beside[0], "accelerators.csv", arena);
  if (found)
    return short_path(found, arena);
  diagnostics_error(diagnostics, nowhere,
                    "found no catalogue beside the program; name its directory with --data DIR");
  return NULL;
}

const char *installation_plugins(struct arena *arena) {
  static const char *const beside[] = {"../lib/pertoken", "lib/pertoken"};
  const char *given = secure_getenv("PERTOKEN_PLUGINS");
  return given ? absolute_path(given, arena)
               : find_beside(beside, sizeof beside / sizeof beside[0], ".", arena);
}

const char *installation_program(const char *name, struct arena *arena) {
  const char *folder = own_folder(arena);
  return folder ? arena_printf(arena, "%s/%s", folder, name) : NULL;
}
