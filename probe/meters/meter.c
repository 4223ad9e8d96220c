#include "probe/meters/meter.h"

#include "base/clock.h"
#include "probe/meters/address.h"
#include "probe/meters/kinds.h"

#include <math.h>
#include <time.h>

const struct meter_roots machine_meters = {
    .powercap = "/sys/class/powercap",
    .events = "/sys/bus/event_source/devices",
    .pci = "/sys/bus/pci/devices",
    .cpu = "/sys/devices/system/cpu",
    .hwmon = "/sys/class/hwmon",
    .thermal = "/sys/class/thermal",
    .module = "/sys/module",
};

const struct meter_kind *const meter_kinds[] = {&meter_powercap, &meter_perf, &meter_grace, NULL};
// The kinds of device meter, best first; ends with NULL.
static const struct meter_kind *const device_kinds[] = {&meter_nvml, &meter_amdsmi, &meter_rocmsmi,
                                                        &meter_hwmon, NULL};

enum meter_status meter_open_device_kind(struct meter *meter, const struct meter_kind *kind,
                                         const char *const *devices, size_t count,
                                         const struct meter_roots *roots, const struct clock *clock,
                                         struct arena *arena) {
  *meter = (struct meter){.kind = kind,
                          .why = "",
                          .arena = arena,
                          .clock = clock,
                          .devices = devices,
                          .device_count = count};
  meter->integral.watts = NAN;
  const enum meter_status status = kind->open(meter, roots);
  if (status == METER_OK)
    return METER_OK;
  meter->kind = NULL;
  meter->name = arena_printf(arena, "none: %s", meter->why);
  return status;
}

enum meter_status meter_open_kind(struct meter *meter, const struct meter_kind *kind,
                                  const struct meter_roots *roots, const struct clock *clock,
                                  struct arena *arena) {
  return meter_open_device_kind(meter, kind, NULL, 0, roots, clock, arena);
}

// Opens the first working kind for that vendor, or of any vendor if it is 0.
static enum meter_status open_first(struct meter *meter, const struct meter_kind *const *kinds,
                                    unsigned vendor, const char *const *devices, size_t count,
                                    const struct meter_roots *roots, const struct clock *clock,
                                    struct arena *arena) {
  const char *reasons = "";
  enum meter_status worst = METER_ABSENT;
  for (size_t i = 0; kinds[i]; i++) {
    if (vendor && kinds[i]->vendor != vendor)
      continue;
    const enum meter_status status =
        meter_open_device_kind(meter, kinds[i], devices, count, roots, clock, arena);
    if (status == METER_OK)
      return METER_OK;
    if (status == METER_FORBIDDEN)
      worst = status;
    reasons = arena_printf(arena, "%s%s%s", reasons, *reasons ? "; " : "", meter->why);
  }
  if (!*reasons)
    reasons = "no meter is known for this vendor's devices";
  *meter = (struct meter){.why = reasons, .arena = arena, .clock = clock};
  meter->name = arena_printf(arena, "none: %s", reasons);
  return worst;
}

enum meter_status meter_open(struct meter *meter, const struct meter_roots *roots,
                             const struct clock *clock, struct arena *arena) {
  return open_first(meter, meter_kinds, 0, NULL, 0, roots, clock, arena);
}

enum meter_status meter_open_devices(struct meter *meter, const char *const *devices, size_t count,
                                     const struct meter_roots *roots, const struct clock *clock,
                                     struct arena *arena) {
  for (size_t i = 0; i < count; i++) {
    struct meter_address address;
    if (meter_address_parse(devices[i], &address))
      continue;
    *meter = (struct meter){.arena = arena, .clock = clock};
    meter->why =
        arena_printf(arena, "a device without a PCI address ('%s') has no meter", devices[i]);
    meter->name = arena_printf(arena, "none: %s", meter->why);
    return METER_ABSENT;
  }
  const unsigned vendor = count ? meter_address_vendor(roots->pci, devices[0], arena) : 0;
  return open_first(meter, device_kinds, vendor, devices, count, roots, clock, arena);
}

// Adds the trapezoid between the last reading and this one.
static void integrate(struct meter *meter, struct meter_reading *reading) {
  if (!isnan(meter->integral.watts))
    meter->integral.joules +=
        (reading->time_s - meter->integral.time_s) * (reading->watts + meter->integral.watts) / 2;
  meter->integral.time_s = reading->time_s;
  meter->integral.watts = reading->watts;
  reading->joules = meter->integral.joules;
}

static enum meter_status lose(struct meter *meter) {
  if (!*meter->why)
    meter->why = "the meter failed";
  return METER_LOST;
}

enum meter_status meter_restart(struct meter *meter) {
  if (!meter->kind || *meter->why)
    return METER_LOST;
  return meter->kind->restart && meter->kind->restart(meter) != METER_OK ? lose(meter) : METER_OK;
}

enum meter_status meter_read(struct meter *meter, struct meter_reading *out) {
  if (!meter->kind || *meter->why)
    return METER_LOST;
  *out = (struct meter_reading){clock_now(meter->clock), NAN, NAN, NAN};
  if (meter->kind->read(meter, out) == METER_OK) {
    if (isnan(out->joules) && !isnan(out->watts))
      integrate(meter, out);
    if (!isnan(out->joules))
      return METER_OK;
  }
  return lose(meter);
}

enum meter_status meter_read_edge(struct meter *meter, double limit_s, struct meter_reading *out) {
  struct meter_reading first;
  if (meter_read(meter, &first) != METER_OK)
    return METER_LOST;
  do {
    clock_sleep(meter->clock, 1e-4);
    if (meter_read(meter, out) != METER_OK)
      return METER_LOST;
    if (out->joules > first.joules)
      return METER_OK;
  } while (out->time_s - first.time_s < limit_s);
  meter->why = arena_printf(meter->arena, "%s: the counter did not change for %g s",
                            meter->kind->name, limit_s);
  return METER_LOST;
}

void meter_close(struct meter *meter) {
  if (meter->kind)
    meter->kind->close(meter);
  meter->kind = NULL;
}
