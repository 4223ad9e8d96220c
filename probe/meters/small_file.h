// small_file: the kernel's one-line files under /sys, and their folders.
#ifndef PERTOKEN_PROBE_METERS_SMALL_FILE_H
#define PERTOKEN_PROBE_METERS_SMALL_FILE_H

#include "base/arena.h"

#include <dirent.h>
#include <stddef.h>

// The first line of DIRECTORY/FILE without its line end; NULL with errno set if it cannot be read.
const char *small_file_text(const char *directory, const char *file, struct arena *arena);

// The number in it; NAN if there is none.
double small_file_number(const char *directory, const char *file, struct arena *arena);
double small_file_number_at(const char *path);

// The paths of a folder's entries that `filter` accepts (non-zero), cpu2 before cpu10: [*count].
// NULL, and *count 0, if the folder cannot be read (errno says why) or is NULL.
const char **small_file_list(const char *folder, int (*filter)(const struct dirent *),
                             size_t *count, struct arena *arena);

#endif
