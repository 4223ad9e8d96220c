// meter_set: what devices are watched by: their own meter, the host's beside it, their telemetry.
#ifndef PERTOKEN_PROBE_MEASURE_METER_SET_H
#define PERTOKEN_PROBE_MEASURE_METER_SET_H

#include "probe/devices/device.h"
#include "probe/meters/meter.h"
#include "probe/meters/telemetry.h"

struct meter_set {
  struct meter device, host;   // of a CPU, the first is the machine's and the second is none
  struct telemetry *telemetry; // [telemetry_count], of each device, in their order
  size_t telemetry_count;
  const char *const *devices; // PCI addresses of what `device` meters
};

// Never fails: what is not there is none, and says why. The set must not be moved while open.
void meter_set_open(struct meter_set *set, const struct device *device,
                    const struct meter_roots *roots, const struct clock *clock,
                    struct arena *arena);

// The same for several devices of one vendor: watts that they share are counted once.
void meter_set_open_all(struct meter_set *set, const struct device *const *devices, size_t count,
                        const struct meter_roots *roots, const struct clock *clock,
                        struct arena *arena);

void meter_set_close(struct meter_set *set);

#endif
