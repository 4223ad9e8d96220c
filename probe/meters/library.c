#include "probe/meters/library.h"

#include <dlfcn.h>
#include <string.h>

static void *load(const char *given, const char *const *names, struct arena *arena,
                  const char **why) {
  if (given) {
    void *library = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      *why = arena_copy(arena, dlerror());
    return library;
  }
  for (size_t i = 0; names[i]; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library)
      return library;
  }
  *why = arena_printf(arena, "%s was not found", names[0]);
  return NULL;
}

int meter_library_open(const char *given, const char *const *names,
                       const struct meter_symbol *symbols, void *table, struct arena *arena,
                       const char **why) {
  void *library = load(given, names, arena, why);
  if (!library)
    return -1;
  for (const struct meter_symbol *symbol = symbols; symbol->name; symbol++) {
    void *address = dlsym(library, symbol->name);
    if (!address && !symbol->optional) {
      *why = arena_printf(arena, "%s has no %s: it is too old or too new", names[0], symbol->name);
      return -1;
    }
    memcpy((char *)table + symbol->offset, &address, sizeof address);
  }
  return 0;
}
