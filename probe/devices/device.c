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

// `which`: the backend, or the device.
static int fail(const char *which, const struct device *device, enum decode_status status,
                struct diagnostics *diagnostics) {
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "%s: %s", which,
                    device_failure(device->backend, status, diagnostics->arena));
  return -1;
}

static int describe(struct device *device, const char *number, struct diagnostics *diagnostics) {
  const struct decode_backend *backend = device->backend;
  const int count = backend->device_count();
  char *end = NULL;
  const long index = number ? strtol(number, &end, 10) : 0;
  if (count == 0)
    return fail(backend->name, device, DECODE_NO_DEVICE, diagnostics);
  if (number && (end == number || *end || index < 0 || index >= count)) {
    diagnostics_error(diagnostics, nowhere, "no device '%s:%s': %s has %d, counted from 0",
                      backend->name, number, backend->name, count);
    return -1;
  }
  device->index = (int)index;
  const enum decode_status status = backend->describe(device->index, &device->described);
  return status == DECODE_OK
             ? 0
             : fail(arena_printf(diagnostics->arena, "%s:%ld", backend->name, index), device,
                    status, diagnostics);
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

// Devices that have been found by their names.
struct found {
  struct device *list; // [MAX_DEVICES]
  size_t count;
};

static bool is_repeated(const struct found *found, const char *name,
                        struct diagnostics *diagnostics) {
  const struct device *newest = &found->list[found->count];
  for (size_t i = 0; i < found->count; i++)
    if (found->list[i].backend == newest->backend && found->list[i].index == newest->index) {
      diagnostics_error(diagnostics, nowhere, "device '%s' is named twice", name);
      return true;
    }
  return false;
}

// `number`: of its device, as text.
static int find_one(const struct decode_backend *backend, const char *number, struct found *found,
                    struct diagnostics *diagnostics) {
  const struct decode_backend *const backends[] = {backend, NULL};
  const char *name = arena_printf(diagnostics->arena, "%s:%s", backend->name, number);
  if (found->count == MAX_DEVICES) {
    diagnostics_error(diagnostics, nowhere, "more than %d devices", MAX_DEVICES);
    return -1;
  }
  if (device_find(name, backends, &found->list[found->count], diagnostics) ||
      is_repeated(found, name, diagnostics))
    return -1;
  found->count++;
  return 0;
}

// "0,2": the numbers of a backend's devices.
static int find_listed(const struct decode_backend *backend, const char *numbers,
                       struct found *found, struct diagnostics *diagnostics) {
  size_t digits = 0;
  for (const char *at = numbers; at == numbers || at[-1]; at += digits + 1) {
    digits = strcspn(at, ",");
    if (find_one(backend, arena_copy_n(diagnostics->arena, at, digits), found, diagnostics))
      return -1;
  }
  return 0;
}

static int find_all_of(const struct decode_backend *backend, struct found *found,
                       struct diagnostics *diagnostics) {
  const int count = backend->device_count();
  for (int i = 0; i < count; i++)
    if (find_one(backend, arena_printf(diagnostics->arena, "%d", i), found, diagnostics))
      return -1;
  return count ? 0 : find_one(backend, "0", found, diagnostics); // which says why there is none
}

// Every GPU, of whichever backend.
static int find_all(const struct decode_backend *const *backends, struct found *found,
                    struct diagnostics *diagnostics) {
  for (size_t i = 1; backends[0] && backends[i]; i++)
    if (backends[i]->device_count() > 0 && find_all_of(backends[i], found, diagnostics))
      return -1;
  return found->count ? 0 : find_all_of(best(backends), found, diagnostics);
}

int devices_find(const char *name, const struct decode_backend *const *backends,
                 struct device **out, size_t *count, struct arena *arena,
                 struct diagnostics *diagnostics) {
  const size_t length = strcspn(name, ":");
  const char *which = name[length] ? name + length + 1 : "";
  const bool is_auto = length == strlen("auto") && !strncmp(name, "auto", length);
  const struct decode_backend *backend =
      is_auto ? best(backends) : backend_named(name, length, backends);
  struct found found = {arena_array(arena, MAX_DEVICES, sizeof **out), 0};
  int result = 0;
  *out = found.list;
  if (!name[length] || !backend)
    result = device_find(name, backends, &found.list[found.count++], diagnostics);
  else if (strcmp(which, "all") != 0)
    result = find_listed(backend, which, &found, diagnostics);
  else
    result = is_auto ? find_all(backends, &found, diagnostics)
                     : find_all_of(backend, &found, diagnostics);
  *count = found.count;
  return result;
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
