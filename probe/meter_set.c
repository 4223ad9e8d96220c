#include "probe/meter_set.h"

#include <string.h>

static bool is_host(const struct device *device) {
  return !strcmp(device->backend->name, "cpu");
}

void meter_set_open(struct meter_set *set, const struct device *device,
                    const struct meter_roots *roots, const struct clock *clock,
                    struct arena *arena) {
  *set = (struct meter_set){.devices = {NULL}};
  if (is_host(device)) {
    meter_open(&set->device, roots, clock, arena);
    set->host = (struct meter){.name = "", .why = ""};
    telemetry_open(&set->telemetry, "", roots, clock, arena);
    return;
  }
  memcpy(set->pci, device->described.pci, sizeof set->pci);
  set->devices[0] = set->pci;
  meter_open_devices(&set->device, set->devices, 1, roots, clock, arena);
  meter_open(&set->host, roots, clock, arena);
  if (*set->pci)
    telemetry_open(&set->telemetry, set->pci, roots, clock, arena);
  else
    set->telemetry = (struct telemetry){.name = "none: a device without a PCI address",
                                        .why = "",
                                        .state = measurement_device_state_unknown};
}

void meter_set_close(struct meter_set *set) {
  meter_close(&set->device);
  meter_close(&set->host);
  telemetry_close(&set->telemetry);
}
