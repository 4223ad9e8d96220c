// device: the backends of this program, and devices by the names that users give them.
#ifndef PERTOKEN_PROBE_DEVICES_DEVICE_H
#define PERTOKEN_PROBE_DEVICES_DEVICE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "kernels/decode.h"
#include "model/records/measurement.h"

#include <stddef.h>

struct device {
  const struct decode_backend *backend;
  int index;
  struct decode_device described;
};

// The CPU's backend, and those of the plugins *.so in `folder` (installation_plugins; NULL: none)
// in order of name; the list ends with NULL. A plugin that cannot be loaded, has another version or
// repeats a name is ignored with a warning. Plugins stay loaded until the program ends.
const struct decode_backend *const *device_backends(const char *folder, struct arena *arena,
                                                    struct diagnostics *diagnostics);

// "cpu", or "cpu:0" for one of several; "auto" is the first GPU, or the CPU if there is none.
// Unknown names and numbers are errors. Returns 0 or -1.
int device_find(const char *name, const struct decode_backend *const *backends, struct device *out,
                struct diagnostics *diagnostics);

// Several devices: "cuda:0,2", "cuda:all", "auto:all", which is every GPU of whichever backend; or
// one that device_find accepts. Sets *out [*count]. A repeated number is an error. Returns 0 or -1.
int devices_find(const char *name, const struct decode_backend *const *backends,
                 struct device **out, size_t *count, struct arena *arena,
                 struct diagnostics *diagnostics);

// The device as a record describes it, with its texts copied.
struct measurement_device device_record(const struct device *device, struct arena *arena);

// The meaning of a status: "not enough memory: ", with the backend's own words if it has any.
const char *device_failure(const struct decode_backend *backend, enum decode_status status,
                           struct arena *arena);

#endif
