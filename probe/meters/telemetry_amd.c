// Telemetry of AMD accelerators, through the sources of amd.h. Versions and limits come from the
// amdgpu driver's files in sysfs, whatever the source.
#include "base/arena.h"
#include "model/records/measurement.h"
#include "probe/meters/address.h"
#include "probe/meters/amd.h"
#include "probe/meters/hwmon.h"
#include "probe/meters/kinds.h"
#include "probe/meters/meter.h"
#include "probe/meters/small_file.h"
#include "probe/meters/telemetry.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct watched {
  struct amd amd;
  size_t index;
  double seconds[AMD_REASONS];
  uint64_t cycles, residency[AMD_REASONS];
  double last_s; // of the clock, NAN before the first look
};

static double limit_of(const char *sensors, const char *file, struct arena *arena) {
  const double microwatts = small_file_number(sensors, file, arena);
  return microwatts > 0 ? 1e-6 * microwatts : NAN; // a second die of an MI250X reads 0
}

static void read_state(struct telemetry *telemetry, const struct meter_roots *roots) {
  struct watched *watched = telemetry->own;
  struct amd *amd = &watched->amd;
  struct measurement_device_state *state = &telemetry->state;
  struct amd_state own = {"", "", "", -1};
  const size_t first = amd_first_partition(amd, watched->index);
  amd->source->state(amd, watched->index, &own);
  const char *version = small_file_text(roots->module, "amdgpu/version", telemetry->arena);
  const char *sensors = hwmon_sensors(roots, &amd->addresses[first], telemetry->arena);
  state->driver =
      version ? arena_printf(telemetry->arena, "amdgpu %s", version) : "amdgpu of the kernel";
  state->vbios = hwmon_text(amd, first, "vbios_version");
  state->ecc = own.ecc;
  state->partition = arena_printf(telemetry->arena, "%s%s%s", own.compute_partition,
                                  *own.compute_partition && *own.memory_partition ? ", " : "",
                                  own.memory_partition);
  if (sensors) {
    state->power_limit_w = limit_of(sensors, "power1_cap", telemetry->arena);
    state->default_power_limit_w = limit_of(sensors, "power1_cap_default", telemetry->arena);
  }
  if (own.processes >= 0)
    state->other_processes = own.processes;
}

// The device or, if it is a partition without readings of its own, the first of its socket.
static size_t with_readings(struct amd *amd, size_t index) {
  struct amd_look look;
  const bool is_silent =
      amd_look(amd, index, &look) || (isnan(look.core_clock_hz) && isnan(look.core_temperature_c));
  return is_silent ? amd_first_partition(amd, index) : index;
}

static enum meter_status watched_open(struct telemetry *telemetry,
                                      const struct meter_roots *roots) {
  const struct amd_source *source = telemetry->kind->own;
  struct watched *watched = arena_alloc(telemetry->arena, sizeof *watched);
  struct meter_address address;
  telemetry->own = watched;
  watched->last_s = NAN;
  const enum meter_status status = amd_open(&watched->amd, source, roots, telemetry->arena);
  if (status != METER_OK) {
    telemetry->why = watched->amd.why;
    return status;
  }
  const int index =
      meter_address_parse(telemetry->device, &address) ? amd_find(&watched->amd, &address) : -1;
  if (index < 0) {
    telemetry->why =
        arena_printf(telemetry->arena, "%s: no device at %s", source->name, telemetry->device);
    amd_close(&watched->amd);
    return METER_ABSENT;
  }
  watched->index = with_readings(&watched->amd, (size_t)index);
  read_state(telemetry, roots);
  return METER_OK;
}

// The share of the elapsed time in which cycles were throttled.
static void add_residency(struct watched *watched, const struct amd_look *seen, double elapsed_s) {
  const double cycles = (double)(seen->cycles - watched->cycles);
  for (size_t i = 0; i < AMD_REASONS; i++) {
    if (cycles > 0 && seen->residency[i] >= watched->residency[i])
      watched->seconds[i] +=
          elapsed_s * (double)(seen->residency[i] - watched->residency[i]) / cycles;
    watched->residency[i] = seen->residency[i];
  }
  watched->cycles = seen->cycles;
}

static void look_at_reasons(struct watched *watched, const struct amd_look *seen,
                            struct telemetry_look *look) {
  const double elapsed_s = isnan(watched->last_s) ? 0 : look->time_s - watched->last_s;
  if (seen->has_residency)
    add_residency(watched, seen, elapsed_s);
  for (size_t i = 0; i < AMD_REASONS; i++) {
    if (seen->has_bits && seen->throttled[i])
      watched->seconds[i] += elapsed_s;
    if (seen->has_bits || seen->has_residency)
      look->throttled_s[i] = watched->seconds[i];
  }
  watched->last_s = look->time_s;
}

static enum meter_status watched_look(struct telemetry *telemetry, struct telemetry_look *look) {
  struct watched *watched = telemetry->own;
  struct amd_look seen;
  if (amd_look(&watched->amd, watched->index, &seen)) {
    telemetry->why = watched->amd.why;
    return METER_LOST;
  }
  look->core_clock_hz = seen.core_clock_hz;
  look->memory_clock_hz = seen.memory_clock_hz;
  look->core_temperature_c = seen.core_temperature_c;
  look->memory_temperature_c = seen.memory_temperature_c;
  look->links.pcie_generation = seen.pcie_generation;
  look->links.pcie_width = seen.pcie_width;
  look->links.xgmi_width = seen.xgmi_width;
  look_at_reasons(watched, &seen, look);
  return METER_OK;
}

static void watched_close(struct telemetry *telemetry) {
  struct watched *watched = telemetry->own;
  amd_close(&watched->amd);
}

const struct telemetry_kind telemetry_amdsmi = {
    .name = "amd-smi",
    .vendor = VENDOR_AMD,
    .reasons = amd_reasons,
    .own = &amd_smi,
    .open = watched_open,
    .look = watched_look,
    .close = watched_close,
};

const struct telemetry_kind telemetry_rocmsmi = {
    .name = "rocm-smi",
    .vendor = VENDOR_AMD,
    .reasons = amd_reasons,
    .own = &rocm_smi,
    .open = watched_open,
    .look = watched_look,
    .close = watched_close,
};

const struct telemetry_kind telemetry_amdgpu = {
    .name = "amdgpu",
    .vendor = VENDOR_AMD,
    .reasons = amd_reasons,
    .own = &amd_sysfs,
    .open = watched_open,
    .look = watched_look,
    .close = watched_close,
};
