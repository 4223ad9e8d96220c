// host_list: names of machines as Slurm writes them: "n[1-3,07],login", "rack[1-2]-n[01-16]".
//
// Numbers have the width of the first one in their range: [08-10] is 08, 09, 10 (scontrol's manual,
// "show hostnames"). A comma may end the list, to distinguish a single host name from a file name.
#ifndef PERTOKEN_BASE_HOST_LIST_H
#define PERTOKEN_BASE_HOST_LIST_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/texts.h"

enum { MAX_HOSTS = 100000 };

// The names, in their order. Errors: a bracket that is not closed or is empty, a range that is
// malformed or descends, a blank name, more than MAX_HOSTS. Returns 0 or -1.
int host_list_read(const char *text, struct texts *names, struct arena *arena,
                   struct diagnostics *diagnostics);

#endif
