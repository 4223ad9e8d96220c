// listing: the devices on this machine, how fast they read and multiply, and which meters work.
#ifndef PERTOKEN_PROBE_COMMANDS_LISTING_H
#define PERTOKEN_PROBE_COMMANDS_LISTING_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "kernels/decode.h"
#include "probe/devices/device.h"
#include "probe/meters/meter.h"

#include <stdbool.h>
#include <stdio.h>

struct listing_request {
  const struct decode_backend *const *backends;
  const struct device *devices; // [device_count], only these; NULL: all devices of all backends
  size_t device_count;
  const struct meter_roots *meters;
  bool calibrate, json, csv;
};

// Prints a table, JSON, or CSV of kind,name,item,value with a line for each value of the JSON. With
// `calibrate`, for several devices also how long an all-reduce among them takes (exchange.h).
// Returns 0, or -1 if a device fails.
int listing_print(const struct listing_request *request, FILE *out, struct arena *arena,
                  struct diagnostics *diagnostics);

#endif
