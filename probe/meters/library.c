#include "probe/meters/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *load_any(const struct meter_library *library, const char *folder,
                      struct arena *arena) {
  void *loaded = NULL;
  for (size_t i = 0; library->names[i] && !loaded; i++)
    loaded = dlopen(arena_printf(arena, "%s%s", folder, library->names[i]), RTLD_NOW | RTLD_LOCAL);
  return loaded;
}

static void *load(const struct meter_library *library, const char *given, struct arena *arena,
                  const char **why) {
  if (given) {
    void *loaded = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    if (!loaded)
      *why = arena_copy(arena, dlerror());
    return loaded;
  }
  const char *root = library->root_variable ? getenv(library->root_variable) : NULL;
  void *loaded =
      root && *root ? load_any(library, arena_printf(arena, "%s/lib/", root), arena) : NULL;
  if (!loaded)
    loaded = load_any(library, "", arena);
  if (!loaded)
    *why = arena_printf(arena, "%s was not found", library->names[0]);
  return loaded;
}

int meter_library_open(const struct meter_library *library, const char *given, void *table,
                       struct arena *arena, const char **why) {
  void *loaded = load(library, given, arena, why);
  if (!loaded)
    return -1;
  for (const struct meter_symbol *symbol = library->symbols; symbol->name; symbol++) {
    void *address = dlsym(loaded, symbol->name);
    if (!address && !symbol->optional) {
      *why = arena_printf(arena, "%s has no %s: it is too old or too new", library->names[0],
                          symbol->name);
      return -1;
    }
    memcpy((char *)table + symbol->offset, &address, sizeof address);
  }
  return 0;
}
