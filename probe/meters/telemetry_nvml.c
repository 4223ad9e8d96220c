// Telemetry of NVIDIA GPUs by NVML. Reasons of throttling are nvmlClocksEventReasons of its
// reference; if a field counts a reason's nanoseconds, that is used, otherwise the time between
// readings that have its bit set.
#include "base/arena.h"
#include "model/records/measurement.h"
#include "probe/meters/address.h"
#include "probe/meters/kinds.h"
#include "probe/meters/meter.h"
#include "probe/meters/nvml.h"
#include "probe/meters/telemetry.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { REASONS = 7 };

// Reasons in the order of their names.
static const struct {
  unsigned long long bit;
  int field; // that counts its nanoseconds; 0: none
} reasons[REASONS] = {
    {0x02, 0},
    {0x04, NVML_FIELD_POWER_CAP_NS},
    {0x08, 0},
    {0x10, NVML_FIELD_SYNC_BOOST_NS},
    {0x20, NVML_FIELD_SOFTWARE_THERMAL_NS},
    {0x40, NVML_FIELD_HARDWARE_THERMAL_NS},
    {0x80, NVML_FIELD_POWER_BRAKE_NS},
};

static const char *const reason_names[REASONS + 1] = {
    "application clocks",        "software power cap",        "hardware slowdown", "sync boost",
    "software thermal slowdown", "hardware thermal slowdown", "power brake",       NULL,
};

struct watched {
  struct nvml nvml;
  nvml_device device;
  double first_ns[REASONS]; // of the fields; NAN: none
  double seconds[REASONS];  // by bits
  double last_s;            // of the clock, NAN before the first look
};

static double watts(int (*call)(nvml_device, unsigned *), nvml_device device) {
  unsigned milliwatts = 0;
  return call && call(device, &milliwatts) == NVML_DONE ? 1e-3 * milliwatts : NAN;
}

static void read_state(struct telemetry *telemetry) {
  const struct watched *watched = telemetry->own;
  const struct nvml *nvml = &watched->nvml;
  struct measurement_device_state *state = &telemetry->state;
  char driver[80] = "", vbios[32] = ""; // NVML_..._VERSION_BUFFER_SIZE
  unsigned current = 0, pending = 0;
  if (nvml->driver_version && nvml->driver_version(driver, sizeof driver) == NVML_DONE)
    state->driver = arena_copy(telemetry->arena, driver);
  if (nvml->vbios_version && nvml->vbios_version(watched->device, vbios, sizeof vbios) == NVML_DONE)
    state->vbios = arena_copy(telemetry->arena, vbios);
  if (nvml->ecc_mode && nvml->ecc_mode(watched->device, &current, &pending) == NVML_DONE)
    state->ecc = current ? "enabled" : "disabled";
  if (nvml->mig_mode && nvml->mig_mode(watched->device, &current, &pending) == NVML_DONE)
    state->partition = current ? "MIG" : "whole";
  state->power_limit_w = watts(nvml->enforced_limit, watched->device);
  state->default_power_limit_w = watts(nvml->default_limit, watched->device);
  state->other_processes = nvml_other_processes(nvml, watched->device);
}

static enum meter_status gpu_open(struct telemetry *telemetry, const struct meter_roots *roots) {
  struct watched *watched = arena_alloc(telemetry->arena, sizeof *watched);
  telemetry->own = watched;
  enum meter_status status = nvml_open(&watched->nvml, roots, telemetry->arena, &telemetry->why);
  if (status != METER_OK)
    return status;
  status = nvml_find(&watched->nvml, telemetry->device, &watched->device, telemetry->arena,
                     &telemetry->why);
  if (status != METER_OK) {
    watched->nvml.shutdown();
    return status;
  }
  watched->last_s = NAN;
  for (size_t i = 0; i < REASONS; i++)
    watched->first_ns[i] = reasons[i].field
                               ? nvml_read_field(&watched->nvml, watched->device,
                                                 (enum nvml_field)reasons[i].field, NVML_SCOPE_GPU)
                               : NAN;
  read_state(telemetry);
  return METER_OK;
}

static int read_reasons(const struct watched *watched, unsigned long long *bits) {
  const struct nvml *nvml = &watched->nvml;
  if (nvml->event_reasons)
    return nvml->event_reasons(watched->device, bits);
  return nvml->throttle_reasons ? nvml->throttle_reasons(watched->device, bits)
                                : NVML_NOT_SUPPORTED;
}

static void look_at_reasons(struct watched *watched, struct telemetry_look *look) {
  unsigned long long bits = 0;
  const bool has_bits = read_reasons(watched, &bits) == NVML_DONE;
  const double elapsed_s = isnan(watched->last_s) ? 0 : look->time_s - watched->last_s;
  for (size_t i = 0; i < REASONS; i++) {
    const double now_ns = isnan(watched->first_ns[i])
                              ? NAN
                              : nvml_read_field(&watched->nvml, watched->device,
                                                (enum nvml_field)reasons[i].field, NVML_SCOPE_GPU);
    if (has_bits && bits & reasons[i].bit)
      watched->seconds[i] += elapsed_s;
    if (!isnan(now_ns))
      look->throttled_s[i] = 1e-9 * (now_ns - watched->first_ns[i]);
    else if (has_bits)
      look->throttled_s[i] = watched->seconds[i];
  }
  watched->last_s = look->time_s;
}

static double clock_of(const struct watched *watched, enum nvml_clock clock, int *code) {
  unsigned megahertz = 0;
  *code = watched->nvml.clock_info
              ? watched->nvml.clock_info(watched->device, (int)clock, &megahertz)
              : NVML_NOT_SUPPORTED;
  return *code == NVML_DONE ? 1e6 * megahertz : NAN;
}

static double number_of(int (*call)(nvml_device, unsigned *), nvml_device device) {
  unsigned value = 0;
  return call && call(device, &value) == NVML_DONE ? (double)value : NAN;
}

// A device without NVLink does not support the query for any link.
static double count_nvlinks(const struct watched *watched) {
  double up = 0;
  bool has_any = false;
  for (unsigned link = 0; watched->nvml.nvlink_state && link < NVML_MOST_LINKS; link++) {
    int is_up = 0;
    if (watched->nvml.nvlink_state(watched->device, link, &is_up) != NVML_DONE)
      continue;
    has_any = true;
    up += is_up != 0;
  }
  return has_any ? up : NAN;
}

static enum meter_status gpu_look(struct telemetry *telemetry, struct telemetry_look *look) {
  struct watched *watched = telemetry->own;
  const struct nvml *nvml = &watched->nvml;
  unsigned celsius = 0;
  int code;
  look->memory_clock_hz = clock_of(watched, NVML_CLOCK_MEMORY, &code);
  look->core_clock_hz = clock_of(watched, NVML_CLOCK_CORE, &code);
  if (code == NVML_LOST) {
    telemetry->why =
        arena_printf(telemetry->arena, "nvml: %s: %s", telemetry->device, nvml_error(nvml, code));
    return METER_LOST;
  }
  if (nvml->temperature &&
      nvml->temperature(watched->device, NVML_SENSOR_GPU, &celsius) == NVML_DONE)
    look->core_temperature_c = celsius;
  look->memory_temperature_c =
      nvml_read_field(nvml, watched->device, NVML_FIELD_MEMORY_TEMPERATURE, NVML_SCOPE_GPU);
  look_at_reasons(watched, look);
  look->links.pcie_generation = number_of(nvml->pcie_generation, watched->device);
  look->links.pcie_width = number_of(nvml->pcie_width, watched->device);
  look->links.nvlinks = count_nvlinks(watched);
  return METER_OK;
}

static void gpu_close(struct telemetry *telemetry) {
  const struct watched *watched = telemetry->own;
  watched->nvml.shutdown();
}

const struct telemetry_kind telemetry_nvml = {
    .name = "nvml",
    .vendor = VENDOR_NVIDIA,
    .reasons = reason_names,
    .open = gpu_open,
    .look = gpu_look,
    .close = gpu_close,
};
