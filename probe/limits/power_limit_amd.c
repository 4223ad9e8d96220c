// Power limits of AMD accelerators by AMD SMI.
#include "base/arena.h"
#include "probe/limits/power_limit.h"
#include "probe/meters/address.h"
#include "probe/meters/amd.h"
#include "probe/meters/hwmon.h"
#include "probe/meters/kinds.h"
#include "probe/meters/meter.h"
#include "probe/meters/small_file.h"
#include "probe/meters/users.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct held {
  struct amd amd;
  size_t index;
};

static enum meter_status refuse(struct power_limit *limit, enum meter_status status) {
  const struct held *held = limit->own;
  limit->why = arena_printf(limit->arena, "%s (%s)", held->amd.why, limit->pci);
  return status;
}

static enum meter_status read_cap(struct power_limit *limit, struct amd_cap *cap) {
  struct held *held = limit->own;
  const enum meter_status status = held->amd.source->cap(&held->amd, held->index, cap);
  return status == METER_OK ? status : refuse(limit, status);
}

static enum meter_status read_limit(struct power_limit *limit, double *watts) {
  struct amd_cap cap;
  const enum meter_status status = read_cap(limit, &cap);
  *watts = status == METER_OK ? cap.watts : NAN;
  return status;
}

static enum meter_status set_limit(struct power_limit *limit, double watts) {
  struct held *held = limit->own;
  const enum meter_status status = held->amd.source->set_cap(&held->amd, held->index, watts);
  return status == METER_OK ? status : refuse(limit, status);
}

// ROCm 6.1 and 6.2 read nine digits of a limit in microwatts: 1000 W as 100, which would then be
// set again at the end.
static bool contradicts_driver(struct power_limit *limit, const struct meter_roots *roots,
                               const struct meter_address *address, double watts) {
  const char *sensors = hwmon_sensors(roots, address, limit->arena);
  const double microwatts = sensors ? small_file_number(sensors, "power1_cap", limit->arena) : NAN;
  const double driver_w = 1e-6 * microwatts;
  if (!(driver_w > 0) || fabs(driver_w - watts) <= 1)
    return false;
  limit->why =
      arena_printf(limit->arena, "amd-smi: it reports a limit of %g W, but the driver has %g W",
                   watts, driver_w);
  return true;
}

static enum meter_status find_limit(struct power_limit *limit, const struct device_users *users,
                                    const struct meter_roots *roots) {
  struct held *held = limit->own;
  struct amd_state state = {.compute_partition = ""};
  struct meter_address address;
  struct amd_cap cap;
  const int index = meter_address_parse(limit->pci, &address) ? amd_find(&held->amd, &address) : -1;
  if (index < 0) {
    limit->why = arena_printf(limit->arena, "amd-smi: it does not list %s", limit->pci);
    return METER_ABSENT;
  }
  held->index = amd_first_partition(&held->amd, (size_t)index);
  const enum meter_status status = read_cap(limit, &cap);
  if (status != METER_OK)
    return status;
  if (contradicts_driver(limit, roots, &held->amd.addresses[held->index], cap.watts))
    return METER_ABSENT;
  limit->watts = cap.watts;
  limit->least_w = cap.least_w;
  limit->most_w = cap.most_w;
  held->amd.source->state(&held->amd, held->index, &state);
  if (*state.compute_partition && strcmp(state.compute_partition, "SPX") != 0)
    limit->part = state.compute_partition;
  limit->other_processes = device_users_of(users, &address);
  return METER_OK;
}

static enum meter_status open_limit(struct power_limit *limit, const struct device_users *users,
                                    const struct meter_roots *roots) {
  struct held *held = arena_alloc(limit->arena, sizeof *held);
  limit->own = held;
  enum meter_status status = amd_open(&held->amd, &amd_smi, roots, limit->arena);
  if (status != METER_OK) {
    limit->why = held->amd.why;
    return status;
  }
  status = find_limit(limit, users, roots);
  if (status != METER_OK)
    amd_close(&held->amd);
  return status;
}

static void close_limit(struct power_limit *limit) {
  struct held *held = limit->own;
  amd_close(&held->amd);
}

const struct power_limit_kind power_limit_amd = {
    .name = "amd-smi",
    .vendor = VENDOR_AMD,
    .open = open_limit,
    .read = read_limit,
    .set = set_limit,
    .close = close_limit,
};
