#include "kernels/gpu/host/collectives.h"

#include "kernels/gpu/host/library_file.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

// Filled in once, by load.
static struct {
  pthread_mutex_t mutex;
  bool tried, found;
  struct gpu_collectives table;
  char why[400];
} loaded = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static const struct library_symbol symbols[] = {
    {offsetof(struct gpu_collectives, version), "GetVersion"},
    {offsetof(struct gpu_collectives, init_all), "CommInitAll"},
    {offsetof(struct gpu_collectives, all_reduce), "AllReduce"},
    {offsetof(struct gpu_collectives, destroy), "CommDestroy"},
    {offsetof(struct gpu_collectives, abort), "CommAbort"},
    {offsetof(struct gpu_collectives, async_error), "CommGetAsyncError"},
    {offsetof(struct gpu_collectives, error_string), "GetErrorString"},
};

// Since 2.9 a version is major * 10000 + minor * 100 + patch (NCCL_VERSION in nccl.h).
static void name_version(const struct library_file *file) {
  int version = 0;
  loaded.table.version(&version);
  snprintf(loaded.table.name, sizeof loaded.table.name, "%s %d.%d.%d", file->kind, version / 10000,
           version / 100 % 100, version % 100);
}

static void load(const struct library_file *file) {
  void *library = library_file_open(file, loaded.why, sizeof loaded.why);
  loaded.found = library && !library_file_find(file, library, "nccl", symbols,
                                               sizeof symbols / sizeof symbols[0], &loaded.table,
                                               loaded.why, sizeof loaded.why);
  if (loaded.found)
    name_version(file);
}

const struct gpu_collectives *gpu_collectives(const struct library_file *file, const char **why) {
  pthread_mutex_lock(&loaded.mutex);
  if (!loaded.tried)
    load(file);
  loaded.tried = true;
  pthread_mutex_unlock(&loaded.mutex);
  *why = loaded.why;
  return loaded.found ? &loaded.table : NULL;
}
