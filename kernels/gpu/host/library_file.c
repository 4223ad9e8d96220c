#include "kernels/gpu/host/library_file.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *open_beside(const struct library_file *file) {
  const char *slash = file->beside ? strrchr(file->beside, '/') : NULL;
  void *library = NULL;
  for (size_t i = 0; slash && file->names[i] && !library; i++) {
    char path[512];
    snprintf(path, sizeof path, "%.*s/%s", (int)(slash - file->beside), file->beside,
             file->names[i]);
    library = strchr(file->names[i], '/') ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return library;
}

void *library_file_open(const struct library_file *file, char *why, size_t why_size) {
  const char *given = getenv(file->variable);
  if (given && *given) {
    void *library = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      snprintf(why, why_size, "%s: %s", file->variable, dlerror());
    return library;
  }
  void *library = open_beside(file);
  for (size_t i = 0; file->names[i] && !library; i++)
    library = dlopen(file->names[i], RTLD_NOW | RTLD_LOCAL);
  if (library)
    return library;
  if (file->need)
    snprintf(why, why_size, "%s need %s, and %s was not found; %s, or set %s to its path",
             file->need, file->kind, file->names[0], file->install, file->variable);
  else
    snprintf(why, why_size, "%s was not found; %s, or set %s to its path", file->names[0],
             file->install, file->variable);
  return NULL;
}

int library_file_find(const struct library_file *file, void *library, const char *prefix,
                      const struct library_symbol *symbols, size_t count, void *table, char *why,
                      size_t why_size) {
  for (size_t i = 0; i < count; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", prefix, symbols[i].name);
    void *address = dlsym(library, name);
    if (!address) {
      snprintf(why, why_size, "this %s lacks %s; %s", file->kind, name, file->install);
      return -1;
    }
    memcpy((char *)table + symbols[i].offset, &address, sizeof address);
  }
  return 0;
}
