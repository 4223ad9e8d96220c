#include "probe/meters/small_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The first line of the file, at most size - 1 bytes of it. NULL with errno set.
static char *read_line(const char *path, char *line, int size) {
  FILE *file = fopen(path, "re");
  if (!file)
    return NULL;
  errno = EIO;
  char *read = fgets(line, size, file);
  const int reason = errno;
  fclose(file);
  errno = reason;
  if (read)
    line[strcspn(line, "\n")] = 0;
  return read;
}

const char *small_file_text(const char *directory, const char *file, struct arena *arena) {
  char line[256];
  const char *path = arena_printf(arena, "%s/%s", directory, file);
  return read_line(path, line, sizeof line) ? arena_copy(arena, line) : NULL;
}

double small_file_number_at(const char *path) {
  char line[64], *end = line;
  if (!read_line(path, line, sizeof line))
    return NAN;
  const double value = strtod(line, &end);
  return end == line ? NAN : value;
}

double small_file_number(const char *directory, const char *file, struct arena *arena) {
  return small_file_number_at(arena_printf(arena, "%s/%s", directory, file));
}

const char **small_file_list(const char *folder, int (*filter)(const struct dirent *),
                             size_t *count, struct arena *arena) {
  struct dirent **entries;
  const int found = folder ? scandir(folder, &entries, filter, versionsort) : -1;
  *count = found > 0 ? (size_t)found : 0;
  if (found < 0)
    return NULL;
  const char **paths = arena_array(arena, *count + 1, sizeof *paths);
  for (size_t i = 0; i < *count; i++) {
    paths[i] = arena_printf(arena, "%s/%s", folder, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  return paths;
}
