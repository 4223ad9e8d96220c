// library: a vendor's management library, loaded at run time with the functions that we use.
//
// Such a library is never unloaded: some leave threads or exit handlers behind.
#ifndef PERTOKEN_PROBE_METERS_LIBRARY_H
#define PERTOKEN_PROBE_METERS_LIBRARY_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// Where in a table of function pointers a symbol's address goes. A list of these ends with name
// NULL.
struct meter_symbol {
  const char *name;
  size_t offset;
  bool optional; // otherwise a library without it is refused
};

// Loads `given` or, if that is NULL, the first of `names` that is found (the list ends with NULL),
// and fills `table`; missing optional symbols become NULL. Returns 0, or -1 with *why.
int meter_library_open(const char *given, const char *const *names,
                       const struct meter_symbol *symbols, void *table, struct arena *arena,
                       const char **why);

#endif
