// library: a vendor's management library, loaded at run time with the functions that are
// used.
//
// Such a library is never unloaded: some leave threads or exit handlers behind.
#ifndef PERTOKEN_PROBE_METERS_LIBRARY_H
#define PERTOKEN_PROBE_METERS_LIBRARY_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// Where in a table of function pointers a symbol's address goes. A list ends with no name.
struct meter_symbol {
  const char *name;
  size_t offset;
  bool optional; // else the library is of no use without it
};

// Loads `given`, or the first of `names` (ends with NULL) when it is NULL, and fills `table`;
// optional symbols that are missing stay NULL. Returns 0, or -1 with *why.
int meter_library_open(const char *given, const char *const *names,
                       const struct meter_symbol *symbols, void *table, struct arena *arena,
                       const char **why);

#endif
