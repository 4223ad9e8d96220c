// hwmon: a device's files of the kernel's amdgpu driver, whichever source the device came from.
#ifndef PERTOKEN_PROBE_METERS_HWMON_H
#define PERTOKEN_PROBE_METERS_HWMON_H

#include "base/arena.h"
#include "probe/meters/address.h"
#include "probe/meters/amd.h"
#include "probe/meters/meter.h"

#include <stddef.h>

// The first line of one of the device's files under roots->pci, or "".
const char *hwmon_text(const struct amd *amd, size_t index, const char *file);

// The directory of its sensors, "ROOT/0000:c1:00.0/hwmon/hwmon3", or NULL.
const char *hwmon_sensors(const struct meter_roots *roots, const struct meter_address *address,
                          struct arena *arena);

// Watts, clocks and temperatures by the sensors in that directory; the rest stays as it is.
void hwmon_look(const char *sensors, struct amd_look *look);

#endif
