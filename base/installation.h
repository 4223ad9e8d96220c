// installation: what stands beside the running program, installed or in a build tree.
#ifndef PERTOKEN_BASE_INSTALLATION_H
#define PERTOKEN_BASE_INSTALLATION_H

#include "base/arena.h"
#include "base/diagnostics.h"

// The shipped catalogue: `given` if the user named a directory, else ../share/pertoken/data or
// ../data from where the program is. Below the current folder it comes without that, for people
// to read. NULL after an error.
const char *installation_data(const char *given, struct arena *arena,
                              struct diagnostics *diagnostics);

// The folder of the plugins: ../lib/pertoken or lib/pertoken from where the program is, NULL when
// there is neither. PERTOKEN_PLUGINS=DIR takes another.
const char *installation_plugins(struct arena *arena);

// The path of another program in the program's own folder.
const char *installation_program(const char *name, struct arena *arena);

#endif
