// installation: what stands beside the running program, installed or in a build tree.
#ifndef PERTOKEN_BASE_INSTALLATION_H
#define PERTOKEN_BASE_INSTALLATION_H

#include "base/arena.h"
#include "base/diagnostics.h"

// The directory of the shipped catalogue: `given` if the user named one, else
// ../share/pertoken/data or ../data as seen from the program. Below the current folder the path is
// relative, for people to read. NULL after an error.
const char *installation_data(const char *given, struct arena *arena,
                              struct diagnostics *diagnostics);

// The folder of the plugins as an absolute path: $PERTOKEN_PLUGINS, else ../lib/pertoken or
// lib/pertoken as seen from the program; NULL when there is none.
const char *installation_plugins(struct arena *arena);

// The absolute path of another program in the program's own folder; NULL where the system does not
// say which that is.
const char *installation_program(const char *name, struct arena *arena);

#endif
