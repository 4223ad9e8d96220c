// GPUs by NVIDIA's management library: the total-energy counter, which the driver refreshes about
// every 100 ms, and the instant power. On a superchip (Grace Hopper, Grace Blackwell) both cover
// only the GPU; the power of the module, CPU and memory included, is read as well.
#include "probe/meters/nvml.h"

#include "base/arena.h"
#include "probe/meters/address.h"
#include "probe/meters/kinds.h"
#include "probe/meters/library.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

struct gpu {
  nvml_device handle;
  const char *pci;
  unsigned long long first_mj, last_mj;
};

struct gpus {
  struct nvml nvml;
  struct gpu *list;
  size_t count;
  bool has_counter, has_instant, has_module; // of all of them
};

static const struct meter_symbol symbols[] = {
    {"nvmlInit_v2", offsetof(struct nvml, init), false},
    {"nvmlShutdown", offsetof(struct nvml, shutdown), false},
    {"nvmlErrorString", offsetof(struct nvml, error_string), false},
    {"nvmlDeviceGetHandleByPciBusId_v2", offsetof(struct nvml, device_by_pci), false},
    {"nvmlDeviceGetUUID", offsetof(struct nvml, uuid), true},
    {"nvmlDeviceGetMigMode", offsetof(struct nvml, mig_mode), true},
    {"nvmlDeviceGetTotalEnergyConsumption", offsetof(struct nvml, total_energy), true},
    {"nvmlDeviceGetFieldValues", offsetof(struct nvml, field_values), true},
    {"nvmlSystemGetDriverVersion", offsetof(struct nvml, driver_version), true},
    {"nvmlDeviceGetVbiosVersion", offsetof(struct nvml, vbios_version), true},
    {"nvmlDeviceGetEccMode", offsetof(struct nvml, ecc_mode), true},
    {"nvmlDeviceGetClockInfo", offsetof(struct nvml, clock_info), true},
    {"nvmlDeviceGetTemperature", offsetof(struct nvml, temperature), true},
    {"nvmlDeviceGetCurrentClocksEventReasons", offsetof(struct nvml, event_reasons), true},
    {"nvmlDeviceGetCurrentClocksThrottleReasons", offsetof(struct nvml, throttle_reasons), true},
    {"nvmlDeviceGetEnforcedPowerLimit", offsetof(struct nvml, enforced_limit), true},
    {"nvmlDeviceGetPowerManagementDefaultLimit", offsetof(struct nvml, default_limit), true},
    {"nvmlDeviceGetPowerManagementLimit", offsetof(struct nvml, power_limit), true},
    {"nvmlDeviceGetPowerManagementLimitConstraints", offsetof(struct nvml, power_range), true},
    {"nvmlDeviceSetPowerManagementLimit", offsetof(struct nvml, set_power_limit), true},
    {"nvmlDeviceGetCurrPcieLinkGeneration", offsetof(struct nvml, pcie_generation), true},
    {"nvmlDeviceGetCurrPcieLinkWidth", offsetof(struct nvml, pcie_width), true},
    {"nvmlDeviceGetNvLinkState", offsetof(struct nvml, nvlink_state), true},
    {"nvmlDeviceGetComputeRunningProcesses_v3", offsetof(struct nvml, processes), true},
    {NULL, 0, false},
};

static const struct meter_library nvml_library = {.names = {"libnvidia-ml.so.1", "libnvidia-ml.so"},
                                                  .symbols = symbols};

// ---- the library

const char *nvml_error(const struct nvml *nvml, int code) {
  const char *text = nvml->error_string(code);
  return text ? text : "an unnamed error";
}

static enum meter_status status_of(int code) {
  return code == NVML_NO_PERMISSION || code == NVML_OPERATING_SYSTEM ? METER_FORBIDDEN
                                                                     : METER_ABSENT;
}

enum meter_status nvml_open(struct nvml *nvml, const struct meter_roots *roots, struct arena *arena,
                            const char **why) {
  const char *reason = "";
  *nvml = (struct nvml){0};
  if (meter_library_open(&nvml_library, roots->nvml, nvml, arena, &reason)) {
    *why = arena_printf(arena, "nvml: %s", reason);
    return METER_ABSENT;
  }
  const int code = nvml->init();
  if (code == NVML_DONE)
    return METER_OK;
  *why = arena_printf(arena, "nvml: %s", nvml_error(nvml, code));
  return status_of(code);
}

enum meter_status nvml_find(const struct nvml *nvml, const char *pci, nvml_device *out,
                            struct arena *arena, const char **why) {
  const int code = nvml->device_by_pci(pci, out);
  if (code == NVML_DONE)
    return METER_OK;
  *why = arena_printf(arena, "nvml: %s: %s", pci, nvml_error(nvml, code));
  return status_of(code);
}

// Whether the device is split by MIG.
static bool is_split(const struct nvml *nvml, nvml_device device) {
  unsigned current = 0, pending = 0;
  return nvml->mig_mode && nvml->mig_mode(device, &current, &pending) == NVML_DONE && current == 1;
}

static double number_of(const struct nvml_field_value *value) {
  switch (value->type) {
  case NVML_VALUE_DOUBLE: return value->value.real;
  case NVML_VALUE_UINT: return value->value.uint;
  case NVML_VALUE_ULONG: return (double)value->value.ulong;
  case NVML_VALUE_ULLONG: return (double)value->value.ullong;
  case NVML_VALUE_LLONG: return (double)value->value.llong;
  case NVML_VALUE_INT: return value->value.sint;
  default: return NAN;
  }
}

double nvml_read_field(const struct nvml *nvml, nvml_device device, enum nvml_field field,
                       enum nvml_scope scope) {
  struct nvml_field_value value = {.field = field, .scope = scope, .code = NVML_NOT_SUPPORTED};
  if (!nvml->field_values || nvml->field_values(device, 1, &value) != NVML_DONE ||
      value.code != NVML_DONE)
    return NAN;
  return number_of(&value);
}

double nvml_other_processes(const struct nvml *nvml, nvml_device device) {
  enum { MAX_PROCESSES = 256 };
  struct nvml_process list[MAX_PROCESSES];
  unsigned count = MAX_PROCESSES;
  if (!nvml->processes || nvml->processes(device, &count, list) != NVML_DONE)
    return NAN;
  double others = 0;
  for (unsigned i = 0; i < count && i < MAX_PROCESSES; i++)
    others += list[i].pid != (unsigned)getpid();
  return others;
}

// ---- the meter

static enum meter_status refuse(struct meter *meter, const struct gpu *gpu, int code) {
  const struct gpus *gpus = meter->state;
  meter->why = arena_printf(meter->arena, "nvml: %s: %s", gpu->pci, nvml_error(&gpus->nvml, code));
  return status_of(code);
}

static double watts_of(const struct gpus *gpus, const struct gpu *gpu, enum nvml_scope scope) {
  return 1e-3 * nvml_read_field(&gpus->nvml, gpu->handle, NVML_FIELD_POWER_INSTANT, scope);
}

// A meter of several GPUs reports only what all of them report.
static enum meter_status try_gpu(struct meter *meter, struct gpu *gpu) {
  struct gpus *gpus = meter->state;
  int code = NVML_NOT_SUPPORTED;
  if (is_split(&gpus->nvml, gpu->handle)) {
    meter->why = arena_printf(meter->arena,
                              "nvml: %s is split by MIG: its instances share its watts, which "
                              "cannot be attributed to one of them",
                              gpu->pci);
    return METER_ABSENT;
  }
  if (gpus->nvml.total_energy)
    code = gpus->nvml.total_energy(gpu->handle, &gpu->first_mj);
  gpu->last_mj = gpu->first_mj;
  if (code != NVML_DONE && code != NVML_NOT_SUPPORTED)
    return refuse(meter, gpu, code);
  const bool has_counter = code == NVML_DONE;
  const bool has_instant = !isnan(watts_of(gpus, gpu, NVML_SCOPE_GPU));
  gpus->has_counter = gpus->has_counter && has_counter;
  gpus->has_instant = gpus->has_instant && has_instant;
  gpus->has_module = gpus->has_module && watts_of(gpus, gpu, NVML_SCOPE_MODULE) > 0;
  if (gpus->has_counter || gpus->has_instant)
    return METER_OK;
  meter->why = arena_printf(meter->arena, "nvml: %s reports neither energy nor power", gpu->pci);
  return METER_ABSENT;
}

static bool is_known(const struct gpus *gpus, nvml_device handle) {
  for (size_t i = 0; i < gpus->count; i++)
    if (gpus->list[i].handle == handle)
      return true;
  return false;
}

static enum meter_status add_gpus(struct meter *meter) {
  struct gpus *gpus = meter->state;
  gpus->list = arena_array(meter->arena, meter->device_count + 1, sizeof *gpus->list);
  for (size_t i = 0; i < meter->device_count; i++) {
    struct gpu *gpu = &gpus->list[gpus->count];
    gpu->pci = meter->devices[i];
    enum meter_status status =
        nvml_find(&gpus->nvml, gpu->pci, &gpu->handle, meter->arena, &meter->why);
    if (status == METER_OK && is_known(gpus, gpu->handle))
      continue;
    if (status == METER_OK)
      status = try_gpu(meter, gpu);
    if (status != METER_OK)
      return status;
    gpus->count++;
  }
  return METER_OK;
}

static void nvml_close(struct meter *meter) {
  const struct gpus *gpus = meter->state;
  gpus->nvml.shutdown();
}

static enum meter_status nvml_meter_open(struct meter *meter, const struct meter_roots *roots) {
  struct gpus *gpus = arena_alloc(meter->arena, sizeof *gpus);
  gpus->has_counter = gpus->has_instant = gpus->has_module = true;
  meter->state = gpus;
  enum meter_status status = nvml_open(&gpus->nvml, roots, meter->arena, &meter->why);
  if (status != METER_OK)
    return status;
  status = add_gpus(meter);
  if (status != METER_OK) {
    nvml_close(meter);
    return status;
  }
  meter->name = arena_printf(
      meter->arena, "nvml, %zu GPU%s: %s%s%s", gpus->count, gpus->count == 1 ? "" : "s",
      gpus->has_counter ? "total energy" : "instant power integrated, no counter",
      gpus->has_counter && gpus->has_instant ? " and instant power" : "",
      gpus->has_module ? "; of the GPU alone, with its module's power recorded separately" : "");
  return METER_OK;
}

static enum meter_status read_energy(struct meter *meter, struct gpu *gpu, double *joules) {
  const struct gpus *gpus = meter->state;
  unsigned long long now_mj;
  const int code = gpus->nvml.total_energy(gpu->handle, &now_mj);
  if (code != NVML_DONE) {
    refuse(meter, gpu, code);
    return METER_LOST;
  }
  if (now_mj < gpu->last_mj) {
    meter->why = arena_printf(meter->arena,
                              "nvml: %s: the energy counter went backwards: the driver was "
                              "reloaded",
                              gpu->pci);
    return METER_LOST;
  }
  gpu->last_mj = now_mj;
  *joules += 1e-3 * (double)(now_mj - gpu->first_mj);
  return METER_OK;
}

static enum meter_status nvml_read(struct meter *meter, struct meter_reading *reading) {
  struct gpus *gpus = meter->state;
  double joules = 0, watts = 0, module = 0;
  for (size_t i = 0; i < gpus->count; i++) {
    struct gpu *gpu = &gpus->list[i];
    if (gpus->has_counter && read_energy(meter, gpu, &joules) != METER_OK)
      return METER_LOST;
    if (gpus->has_instant)
      watts += watts_of(gpus, gpu, NVML_SCOPE_GPU);
    if (gpus->has_module)
      module += watts_of(gpus, gpu, NVML_SCOPE_MODULE);
  }
  if (gpus->has_counter)
    reading->joules = joules;
  if (gpus->has_instant)
    reading->watts = watts;
  if (gpus->has_module)
    reading->module_watts = module;
  if (gpus->has_counter || !isnan(watts))
    return METER_OK;
  meter->why = "nvml: the instant power can no longer be read";
  return METER_LOST;
}

const struct meter_kind meter_nvml = {
    .name = "nvml",
    .covers = "NVIDIA GPUs",
    .vendor = VENDOR_NVIDIA,
    .open = nvml_meter_open,
    .read = nvml_read,
    .close = nvml_close,
};
