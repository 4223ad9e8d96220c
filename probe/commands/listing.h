// listing: the devices here, how fast they read and multiply, and which meters work.
#ifndef PERTOKEN_PROBE_COMMANDS_LISTING_H
#define PERTOKEN_PROBE_COMMANDS_LISTING_H

#include "base/diagnostics.h"
#include "probe/devices/device.h"
#include "probe/meters/meter.h"

#include <stdbool.h>
#include <stdio.h>

struct listing_request {
  const struct decode_backend *const *backends;
  const struct device *devices; // those alone; NULL: all of the backends
  size_t device_count;
  const struct meter_roots *meters;
  bool calibrate, json;
};

// With `calibrate`, of several devices also what an all-reduce takes among them (exchange.h).
// Returns 0, or -1 when a device fails.
int listing_print(const struct listing_request *request, FILE *out, struct arena *arena,
                  struct diagnostics *diagnostics);

#endif
