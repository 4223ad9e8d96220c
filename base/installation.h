// installation: finds what lies beside the running program, installed or in a build tree.
#ifndef PERTOKEN_BASE_INSTALLATION_H
#define PERTOKEN_BASE_INSTALLATION_H

#include "base/arena.h"
#include "base/diagnostics.h"

// The directory of the shipped catalogue: `given` if the user named one, else
// ../share/pertoken/data, ../data or, of a build with sanitizers, ../../data relative to the
// program. A path that was found is relative if it is below the current folder, which is easier to
// read. NULL after an error.
const char *installation_data(const char *given, struct arena *arena,
                              struct diagnostics *diagnostics);

// The folder of the plugins as an absolute path: $PERTOKEN_PLUGINS, else ../lib/pertoken or
// lib/pertoken relative to the program; NULL if there is none.
const char *installation_plugins(struct arena *arena);

// The absolute path of another program in this program's folder; NULL if the system does not tell
// which folder that is.
const char *installation_program(const char *name, struct arena *arena);

#endif
