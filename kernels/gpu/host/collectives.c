#include "kernels/gpu/host/collectives.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Filled in once, by load.
static struct {
  pthread_mutex_t mutex;
  bool tried, found;
  struct gpu_collectives table;
  char why[400];
} loaded = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static const struct {
  size_t offset;
  const char *symbol;
} symbols[] = {
    {offsetof(struct gpu_collectives, version), "ncclGetVersion"},
    {offsetof(struct gpu_collectives, init_all), "ncclCommInitAll"},
    {offsetof(struct gpu_collectives, all_reduce), "ncclAllReduce"},
    {offsetof(struct gpu_collectives, destroy), "ncclCommDestroy"},
    {offsetof(struct gpu_collectives, abort), "ncclCommAbort"},
    {offsetof(struct gpu_collectives, async_error), "ncclCommGetAsyncError"},
    {offsetof(struct gpu_collectives, error_string), "ncclGetErrorString"},
};

static void *open_beside(const char *other, const char *name) {
  char path[512];
  const char *slash = other ? strrchr(other, '/') : NULL;
  if (!slash)
    return NULL;
  snprintf(path, sizeof path, "%.*s/%s", (int)(slash - other), other, name);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// Kept: such a library has threads of its own.
static void *open_library(const struct gpu_collectives_source *source) {
  const char *given = getenv(source->variable);
  if (given && *given) {
    void *library = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      snprintf(loaded.why, sizeof loaded.why, "%s: %s", source->variable, dlerror());
    return library;
  }
  void *library = open_beside(source->beside, source->names[0]);
  for (size_t i = 0; source->names[i] && !library; i++)
    library = dlopen(source->names[i], RTLD_NOW | RTLD_LOCAL);
  if (library)
    return library;
  snprintf(loaded.why, sizeof loaded.why,
           "devices that hold a model together need %s, and %s was not found; %s, or set %s to its "
           "path",
           source->kind, source->names[0], source->install, source->variable);
  return NULL;
}

static bool find_symbols(const struct gpu_collectives_source *source, void *library) {
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    void *symbol = dlsym(library, symbols[i].symbol);
    if (!symbol) {
      snprintf(loaded.why, sizeof loaded.why, "this %s lacks %s; %s", source->kind,
               symbols[i].symbol, source->install);
      return false;
    }
    memcpy((char *)&loaded.table + symbols[i].offset, &symbol, sizeof symbol);
  }
  return true;
}

// Since 2.9 a version is major * 10000 + minor * 100 + patch (NCCL_VERSION in nccl.h).
static void name_version(const struct gpu_collectives_source *source) {
  int version = 0;
  loaded.table.version(&version);
  snprintf(loaded.table.name, sizeof loaded.table.name, "%s %d.%d.%d", source->kind,
           version / 10000, version / 100 % 100, version % 100);
}

static void load(const struct gpu_collectives_source *source) {
  void *library = open_library(source);
  loaded.found = library && find_symbols(source, library);
  if (loaded.found)
    name_version(source);
}

const struct gpu_collectives *gpu_collectives(const struct gpu_collectives_source *source,
                                              const char **why) {
  pthread_mutex_lock(&loaded.mutex);
  if (!loaded.tried)
    load(source);
  loaded.tried = true;
  pthread_mutex_unlock(&loaded.mutex);
  *why = loaded.why;
  return loaded.found ? &loaded.table : NULL;
}
