#include "probe/devices/device.h"

#include "base/arena.h"
#include "base/source.h"
#include "kernels/cpu/backend.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 64 };

static const struct place nowhere = {0};

// ---- plugins

static int is_plugin(const struct dirent *entry) {
  const size_t length = strlen(entry->d_name);
  return length > 3 && !strcmp(entry->d_name + length - 3, ".so");
}

static bool has_name(const struct decode_backend *const *backends, const char *name) {
  for (size_t i = 0; backends[i]; i++)
    if (!strcmp(backends[i]->name, name))
      return true;
  return false;
}

// NULL, with a warning, if the file is not a usable backend.
static const struct decode_backend *load(const char *path,
                                         const struct decode_backend *const *backends,
                                         struct diagnostics *diagnostics) {
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!plugin) {
    diagnostics_warning(diagnostics, nowhere, "a plugin cannot be loaded: %s", dlerror());
    return NULL;
  }
  decode_plugin *entry = NULL;
  void *symbol = dlsym(plugin, DECODE_PLUGIN);
  memcpy(&entry, &symbol, sizeof entry); // C has no conversion from data to functions
  const struct decode_backend *backend = entry ? entry() : NULL;
  const char *why = NULL;
  if (!backend)
    why = "is not a backend";
  else if (backend->abi != DECODE_ABI)
    why = "belongs to another version of pertoken";
  else if (has_name(backends, backend->name))
    why = "has the name of another backend";
  if (!why)
    return backend;
  diagnostics_warning(diagnostics, nowhere, "plugin %s is ignored: it %s", path, why);
  dlclose(plugin);
  return NULL;
}

const struct decode_backend *const *device_backends(const char *folder, struct arena *arena,
                                                    struct diagnostics *diagnostics) {
  struct dirent **entries = NULL;
  const int files = folder ? scandir(folder, &entries, is_plugin, alphasort) : 0;
  const struct decode_backend **backends =
      arena_array(arena, (size_t)(files > 0 ? files : 0) + 2, sizeof(void *));
  size_t count = 0;
  backends[count++] = &cpu_backend;
  for (int i = 0; i < files; i++) {
    backends[count] = NULL;
    const char *path = arena_printf(arena, "%s/%s", folder, entries[i]->d_name);
    const struct decode_backend *backend = load(path, backends, diagnostics);
    if (backend)
      backends[count++] = backend;
    free(entries[i]);
  }
  free(entries);
  backends[count] = NULL;
  return backends;
}

// ---- devices

// Backends of GPUs that this installation may lack.
static const struct {
  const char *name, *devices, *compiler;
} gpu_backends[] = {{"cuda", "NVIDIA's GPUs", "nvcc"}, {"hip", "AMD's GPUs", "clang"}};

static int refuse_missing(size_t which, struct diagnostics *diagnostics) {
  diagnostics_error(diagnostics, nowhere,
                    "this installation has no backend '%s' for %s: it is built where %s is found "
                    "(docs/measuring-cpu.md)",
                    gpu_backends[which].name, gpu_backends[which].devices,
                    gpu_backends[which].compiler);
  return -1;
}

static int refuse_name(const char *name, size_t length,
                       const struct decode_backend *const *backends,
                       struct diagnostics *diagnostics) {
  const char *names[16], *all = "";
  size_t count = 0;
  for (; count < sizeof names / sizeof names[0] && backends[count]; count++) {
    names[count] = backends[count]->name;
    all = arena_printf(diagnostics->arena, "%s%s%s", all, count ? ", " : "", names[count]);
  }
  const char *bare = arena_copy_n(diagnostics->arena, name, length);
  for (size_t i = 0; i < sizeof gpu_backends / sizeof gpu_backends[0]; i++)
    if (!strcmp(bare, gpu_backends[i].name))
      return refuse_missing(i, diagnostics);
  // The nearest name would be "cpu".
  const char *nearest = strcmp(bare, "gpu") ? nearest_name(bare, names, count) : "auto";
  diagnostics_error(diagnostics, nowhere, "unknown device '%s'%s", bare,
                    nearest ? did_you_mean(nearest, diagnostics->arena)
                            : arena_printf(diagnostics->arena, ", expected one of: %s", all));
  return -1;
}

static int fail(const struct device *device, enum decode_status status,
                struct diagnostics *diagnostics) {
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "%s: %s", device->backend->name,
                    device_failure(device->backend, status, diagnostics->arena));
  return -1;
}

static int describe(struct device *device, const char *number, struct diagnostics *diagnostics) {
  const struct decode_backend *backend = device->backend;
  const int count = backend->device_count();
  char *end = NULL;
  const long index = number ? strtol(number, &end, 10) : 0;
  if (count == 0)
    return fail(device, DECODE_NO_DEVICE, diagnostics);
  if (number && (end == number || *end || index < 0 || index >= count)) {
    diagnostics_error(diagnostics, nowhere, "no device '%s:%s': %s has %d, counted from 0",
                      backend->name, number, backend->name, count);
    return -1;
  }
  device->index = (int)index;
  const enum decode_status status = backend->describe(device->index, &device->described);
  return status == DECODE_OK ? 0 : fail(device, status, diagnostics);
}

// The first backend is the CPU's.
static const struct decode_backend *best(const struct decode_backend *const *backends) {
  for (size_t i = 1; backends[0] && backends[i]; i++)
    if (backends[i]->device_count() > 0)
      return backends[i];
  return backends[0];
}

// NULL if there is none of that name.
static const struct decode_backend *backend_named(const char *name, size_t length,
                                                  const struct decode_backend *const *backends) {
  while (*backends &&
         (strlen((*backends)->name) != length || strncmp((*backends)->name, name, length) != 0))
    backends++;
  return *backends;
}

int device_find(const char *name, const struct decode_backend *const *backends, struct device *out,
                struct diagnostics *diagnostics) {
  const size_t length = strcspn(name, ":");
  const bool is_auto = !strcmp(name, "auto");
  out->backend = is_auto ? best(backends) : backend_named(name, length, backends);
  if (!out->backend)
    return refuse_name(name, length, backends, diagnostics);
  return describe(out, name[length] ? name + length + 1 : NULL, diagnostics);
}

// "cuda:all" as "cuda:0,1,2"; any other name unchanged.
static const char *spelled_out(const char *name, const struct decode_backend *backend,
                               struct arena *arena) {
  const char *colon = strchr(name, ':');
  if (!colon || strcmp(colon, ":all") != 0)
    return name;
  const char *all = arena_printf(arena, "%s:0", backend->name);
  for (int i = 1; i < backend->device_count(); i++)
    all = arena_printf(arena, "%s,%d", all, i);
  return all;
}

static bool is_repeated(const struct device *devices, size_t count, const char *name,
                        struct diagnostics *diagnostics) {
  for (size_t i = 0; i < count; i++)
    if (devices[i].index == devices[count].index) {
      diagnostics_error(diagnostics, nowhere, "device '%s' is named twice", name);
      return true;
    }
  return false;
}

int devices_find(const char *name, const struct decode_backend *const *backends,
                 struct device **out, size_t *count, struct arena *arena,
                 struct diagnostics *diagnostics) {
  const size_t length = strcspn(name, ":");
  *out = arena_array(arena, strlen(name) + MAX_DEVICES, sizeof **out);
  *count = 0;
  if (!name[length])
    return device_find(name, backends, &(*out)[(*count)++], diagnostics);
  const bool is_auto = length == strlen("auto") && !strncmp(name, "auto", length);
  const struct decode_backend *backend =
      is_auto ? best(backends) : backend_named(name, length, backends);
  if (!backend)
    return refuse_name(name, length, backends, diagnostics);
  const char *at = strchr(spelled_out(name, backend, arena), ':');
  while (*at && *count < MAX_DEVICES) {
    const size_t digits = strcspn(at + 1, ",");
    const char *one =
        arena_printf(arena, "%s:%s", backend->name, arena_copy_n(arena, at + 1, digits));
    if (device_find(one, backends, &(*out)[*count], diagnostics) ||
        is_repeated(*out, *count, one, diagnostics))
      return -1;
    (*count)++;
    at += 1 + digits;
  }
  return 0;
}

struct measurement_device device_record(const struct device *device, struct arena *arena) {
  const struct decode_device *from = &device->described;
  return (struct measurement_device){
      .backend = device->backend->name,
      .index = device->index,
      .name = arena_copy(arena, from->name),
      .uuid = arena_copy(arena, from->uuid),
      .pci = arena_copy(arena, from->pci),
      .runtime = arena_copy(arena, from->runtime),
      .memory_bytes = from->memory_bytes,
      .cache_bytes = from->cache_bytes,
      .reported_cache_bytes = from->reported_cache_bytes,
      .units = from->units > 0 ? from->units : 1,
  };
}

const char *device_failure(const struct decode_backend *backend, enum decode_status status,
                           struct arena *arena) {
  static const char *const words[] = {
      [DECODE_OK] = "done",
      [DECODE_UNSUPPORTED] = "the device does not support this shape or these types",
      [DECODE_NO_MEMORY] = "not enough memory",
      [DECODE_NO_DEVICE] = "no device",
      [DECODE_FAILED] = "the device failed",
  };
  const char *own = backend->error ? backend->error() : "";
  if (status == DECODE_NO_DEVICE && own && *own)
    return arena_copy(arena, own); // which says that there is none, and why
  return arena_printf(arena, "%s%s%s", words[status], own && *own ? ": " : "", own ? own : "");
}
