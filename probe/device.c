#include "probe/device.h"

#include <stdlib.h>
#include <string.h>

const struct decode_backend *const device_backends[] = {&cpu_backend, NULL};

static const struct place nowhere = {0};

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
  const char *nearest = nearest_name(bare, names, count);
  if (nearest)
    diagnostics_error(diagnostics, nowhere, "unknown device '%s'; did you mean '%s'?", bare,
                      nearest);
  else
    diagnostics_error(diagnostics, nowhere, "unknown device '%s', expected one of: %s", bare, all);
  return -1;
}

static int describe(struct device *device, const char *number, struct diagnostics *diagnostics) {
  const struct decode_backend *backend = device->backend;
  const int count = backend->device_count();
  char *end = NULL;
  const long index = number ? strtol(number, &end, 10) : 0;
  if (number && (end == number || *end || index < 0 || index >= count)) {
    diagnostics_error(diagnostics, nowhere, "no device '%s:%s': %s has %d, counted from 0",
                      backend->name, number, backend->name, count);
    return -1;
  }
  device->index = (int)index;
  const enum decode_status status = backend->describe(device->index, &device->described);
  if (status == DECODE_OK)
    return 0;
  diagnostics->machine_failed = true;
  diagnostics_error(diagnostics, nowhere, "%s: %s", backend->name,
                    device_failure(backend, status, diagnostics->arena));
  return -1;
}

int device_find(const char *name, const struct decode_backend *const *backends, struct device *out,
                struct diagnostics *diagnostics) {
  const size_t length = strcspn(name, ":");
  for (size_t i = 0; backends[i]; i++) {
    if (strlen(backends[i]->name) != length || strncmp(backends[i]->name, name, length) != 0)
      continue;
    out->backend = backends[i];
    return describe(out, name[length] ? name + length + 1 : NULL, diagnostics);
  }
  return refuse_name(name, length, backends, diagnostics);
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
      .units = from->units > 0 ? from->units : 1,
  };
}

const char *device_failure(const struct decode_backend *backend, enum decode_status status,
                           struct arena *arena) {
  static const char *const words[] = {
      [DECODE_OK] = "done",
      [DECODE_UNSUPPORTED] = "this shape or these types are not for this device",
      [DECODE_NO_MEMORY] = "not enough memory",
      [DECODE_NO_DEVICE] = "no device",
      [DECODE_FAILED] = "the device failed",
  };
  const char *own = backend->error ? backend->error() : "";
  return arena_printf(arena, "%s%s%s", words[status], own && *own ? ": " : "", own ? own : "");
}
