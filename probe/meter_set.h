// meter_set: what one device is watched by: its own meter, the host's beside it, its telemetry.
#ifndef PERTOKEN_METER_SET_H
#define PERTOKEN_METER_SET_H

#include "probe/device.h"
#include "probe/meter.h"
#include "probe/telemetry.h"

struct meter_set {
  struct meter device, host; // of a CPU, the first is the machine's and the second is none
  struct telemetry telemetry;
  char pci[sizeof((struct decode_device *)0)->pci];
  const char *devices[1];
};

// Never fails: what is not there is none, and says why. The set must not be moved while open.
void meter_set_open(struct meter_set *set, const struct device *device,
                    const struct meter_roots *roots, const struct clock *clock,
                    struct arena *arena);

void meter_set_close(struct meter_set *set);

#endif
