#include "probe/measure/meter_set.h"

#include "base/arena.h"
#include "model/records/measurement.h"
#include "model/records/measurement_fields.h"
#include "probe/meters/address.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

static bool is_host(const struct device *device) {
  return !strcmp(device->backend->name, "cpu");
}

static const char *const *addresses_of(const struct device *devices, size_t count,
                                       struct arena *arena) {
  const char **addresses = arena_array(arena, count, sizeof *addresses);
  for (size_t i = 0; i < count; i++)
    addresses[i] = arena_copy(arena, devices[i].described.pci);
  return addresses;
}

static void open_telemetry(struct telemetry *telemetry, const struct device *device,
                           const char *address, const struct meter_roots *roots,
                           const struct clock *clock, struct arena *arena) {
  if (*address || is_host(device))
    telemetry_open(telemetry, address, roots, clock, arena);
  else
    *telemetry = (struct telemetry){.name = "none: a device without a PCI address",
                                    .why = "",
                                    .device = "",
                                    .state = measurement_device_state_unknown(),
                                    .arena = arena};
}

static void count_others(struct telemetry *telemetry, const struct device_users *users) {
  struct meter_address address;
  const double others =
      meter_address_parse(telemetry->device, &address) ? device_users_of(users, &address) : NAN;
  if (!isnan(others))
    telemetry->state.other_processes = others;
}

void meter_set_open(struct meter_set *set, const struct device *devices, size_t count,
                    const struct meter_roots *roots, const struct device_users *users,
                    const struct clock *clock, struct arena *arena) {
  *set = (struct meter_set){.telemetry = arena_array(arena, count, sizeof *set->telemetry),
                            .telemetry_count = count,
                            .devices = addresses_of(devices, count, arena)};
  for (size_t i = 0; i < count; i++) {
    open_telemetry(&set->telemetry[i], &devices[i], set->devices[i], roots, clock, arena);
    count_others(&set->telemetry[i], users);
  }
  if (is_host(&devices[0])) {
    meter_open(&set->device, roots, clock, arena);
    set->host = (struct meter){.name = "", .why = ""};
    return;
  }
  meter_open_devices(&set->device, set->devices, count, roots, clock, arena);
  meter_open(&set->host, roots, clock, arena);
}

void meter_set_close(struct meter_set *set) {
  meter_close(&set->device);
  meter_close(&set->host);
  for (size_t i = 0; i < set->telemetry_count; i++)
    telemetry_close(&set->telemetry[i]);
}
