// device: the backends that this program has, and a device by the name that people give it.
#ifndef PERTOKEN_DEVICE_H
#define PERTOKEN_DEVICE_H

#include "kernels/decode.h"
#include "model/diagnostics.h"
#include "model/measurement.h"

struct device {
  const struct decode_backend *backend;
  int index;
  struct decode_device described;
};

// The list ends with NULL.
extern const struct decode_backend *const device_backends[];

// "cpu", or "cpu:0" for one of several. Unknown names and numbers are errors. Returns 0 or -1.
int device_find(const char *name, const struct decode_backend *const *backends, struct device *out,
                struct diagnostics *diagnostics);

// As records hold it.
struct measurement_device device_record(const struct device *device, struct arena *arena);

// "unsupported", ..., with the backend's own words when it has any.
const char *device_failure(const struct decode_backend *backend, enum decode_status status,
                           struct arena *arena);

#endif
