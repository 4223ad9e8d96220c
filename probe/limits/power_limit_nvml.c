// Power limits of NVIDIA GPUs by NVML: nvmlDeviceGetPowerManagementLimit, its constraints, and
// nvmlDeviceSetPowerManagementLimit, all in milliwatts.
#include "base/arena.h"
#include "probe/limits/power_limit.h"
#include "probe/meters/address.h"
#include "probe/meters/meter.h"
#include "probe/meters/nvml.h"
#include "probe/meters/users.h"

#include <math.h>
#include <stddef.h>

struct held {
  struct nvml nvml;
  nvml_device device;
};

static enum meter_status refuse(struct power_limit *limit, int code) {
  const struct held *held = limit->own;
  limit->why =
      arena_printf(limit->arena, "nvml: %s: %s", limit->pci, nvml_error(&held->nvml, code));
  return code == NVML_NO_PERMISSION || code == NVML_OPERATING_SYSTEM ? METER_FORBIDDEN
                                                                     : METER_ABSENT;
}

static enum meter_status read_limit(struct power_limit *limit, double *watts) {
  const struct held *held = limit->own;
  unsigned milliwatts = 0;
  const int code = held->nvml.power_limit ? held->nvml.power_limit(held->device, &milliwatts)
                                          : NVML_NOT_SUPPORTED;
  *watts = 1e-3 * milliwatts;
  return code == NVML_DONE ? METER_OK : refuse(limit, code);
}

static enum meter_status set_limit(struct power_limit *limit, double watts) {
  const struct held *held = limit->own;
  const int code = held->nvml.set_power_limit
                       ? held->nvml.set_power_limit(held->device, (unsigned)lround(1e3 * watts))
                       : NVML_NOT_SUPPORTED;
  return code == NVML_DONE ? METER_OK : refuse(limit, code);
}

static enum meter_status find_limit(struct power_limit *limit) {
  struct held *held = limit->own;
  unsigned least = 0, most = 0, current = 0, pending = 0;
  enum meter_status status =
      nvml_find(&held->nvml, limit->pci, &held->device, limit->arena, &limit->why);
  if (status == METER_OK)
    status = read_limit(limit, &limit->watts);
  if (status != METER_OK)
    return status;
  const int code = held->nvml.power_range ? held->nvml.power_range(held->device, &least, &most)
                                          : NVML_NOT_SUPPORTED;
  if (code != NVML_DONE)
    return refuse(limit, code);
  limit->least_w = 1e-3 * least;
  limit->most_w = 1e-3 * most;
  if (held->nvml.mig_mode && held->nvml.mig_mode(held->device, &current, &pending) == NVML_DONE &&
      current)
    limit->part = "MIG";
  limit->other_processes = nvml_other_processes(&held->nvml, held->device);
  return METER_OK;
}

static enum meter_status open_limit(struct power_limit *limit, const struct device_users *users,
                                    const struct meter_roots *roots) {
  struct held *held = arena_alloc(limit->arena, sizeof *held);
  (void)users;
  limit->own = held;
  enum meter_status status = nvml_open(&held->nvml, roots, limit->arena, &limit->why);
  if (status != METER_OK)
    return status;
  status = find_limit(limit);
  if (status != METER_OK)
    held->nvml.shutdown();
  return status;
}

static void close_limit(struct power_limit *limit) {
  const struct held *held = limit->own;
  held->nvml.shutdown();
}

const struct power_limit_kind power_limit_nvml = {
    .name = "nvml",
    .vendor = VENDOR_NVIDIA,
    .open = open_limit,
    .read = read_limit,
    .set = set_limit,
    .close = close_limit,
};
