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

struct meter_library {
  const char *names[8];      // ending with NULL
  const char *root_variable; // names a folder whose lib/ is searched first: "ROCM_PATH"; or NULL
  const struct meter_symbol *symbols;
};

// Loads `given` or, if that is NULL, the first of the library's names that is found, and fills
// `table`; missing optional symbols become NULL. Returns 0, or -1 with *why.
int meter_library_open(const struct meter_library *library, const char *given, void *table,
                       struct arena *arena, const char **why);

#endif
