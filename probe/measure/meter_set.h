// meter_set: everything that watches a set of devices: their own meter, the host's, their
// telemetry.
#ifndef PERTOKEN_PROBE_MEASURE_METER_SET_H
#define PERTOKEN_PROBE_MEASURE_METER_SET_H

#include "base/arena.h"
#include "probe/devices/device.h"
#include "probe/meters/meter.h"
#include "probe/meters/telemetry.h"
#include "probe/meters/users.h"

#include <stddef.h>
#include <time.h>

struct meter_set {
  struct meter device, host;   // for a CPU, the first is the machine's and the second is none
  struct telemetry *telemetry; // [telemetry_count], of each device, in their order
  size_t telemetry_count;
  const char *const *devices; // [telemetry_count], PCI addresses of what `device` meters
};

// Opens what watches `count` devices of one vendor; power that they share is counted once. Never
// fails: what is missing is "none: WHY". The set must not be moved while it is open. `users`, or
// NULL, know of other processes on the devices what telemetry cannot tell from this one.
void meter_set_open(struct meter_set *set, const struct device *devices, size_t count,
                    const struct meter_roots *roots, const struct device_users *users,
                    const struct clock *clock, struct arena *arena);

void meter_set_close(struct meter_set *set);

#endif
