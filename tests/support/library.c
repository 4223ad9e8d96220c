#include "tests/support/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void *library_open(const char *name) {
  char program[512], path[640];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) {
    return NULL;
  }
  program[length] = '\0';
  const char *slash = strrchr(program, '/');
  snprintf(path, sizeof path, "%.*s/lib/%s.so", (int)(slash - program), program, name);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
  }
  return library;
}

void *library_symbol(void *library, const char *symbol) {
  void *found = library ? dlsym(library, symbol) : NULL;
  if (!found) {
    fprintf(stderr, "%s is missing\n", symbol);
  }
  return found;
}

const struct decode_backend *library_backend(void *library) {
  decode_plugin *plugin;
  *(void **)&plugin = library_symbol(library, DECODE_PLUGIN);
  if (!plugin)
    return NULL;
  const struct decode_backend *backend = plugin();
  if (backend->abi == DECODE_ABI)
    return backend;
  fprintf(stderr, "%s: ABI %d, not %d\n", backend->name, backend->abi, DECODE_ABI);
  return NULL;
}
