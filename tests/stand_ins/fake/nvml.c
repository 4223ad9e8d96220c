// A libnvidia-ml whose GPUs a test sets through the symbol FAKE_NVML. Types and constants are typed
// from the NVML API reference, so that a mistake in the probe's own is found. Compiled with
// WITHOUT_ENERGY it lacks a function, like a library that is too old; with WITHOUT_LOOKUP it lacks
// a required one.
#include "tests/stand_ins/fake/fake_nvml.h"
#include "tests/stand_ins/fake/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake_nvml fake_nvml_machine;

typedef struct {
  unsigned int fieldId, scopeId;
  long long timestamp, latencyUsec;
  int valueType, nvmlReturn;
  union {
    double dVal;
    unsigned int uiVal;
    unsigned long long ullVal;
  } value;
} field_value;

typedef struct {
  unsigned int pid;
  unsigned long long usedGpuMemory;
  unsigned int gpuInstanceId, computeInstanceId;
} process_info;

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

// A process that sets no GPUs has the one at the address in FAKE_NVML_GPU.
int nvmlInit_v2(void) {
  const char *pci = getenv("FAKE_NVML_GPU");
  if (pci && !fake_nvml_machine.count)
    fake_nvml_machine = (struct fake_nvml){.gpus = {{.pci = pci}}, .count = 1};
  if (fake_nvml_machine.init_code == SUCCESS)
    fake_nvml_machine.inits++;
  return fake_nvml_machine.init_code;
}

int nvmlShutdown(void) {
  fake_nvml_machine.inits--;
  return SUCCESS;
}

const char *nvmlErrorString(int code) {
  switch (code) {
  case 3: return "Not Supported";
  case 4: return "Insufficient Permissions";
  case 6: return "Not Found";
  case 9: return "Driver Not Loaded";
  case 15: return "GPU is lost";
  default: return "Unknown Error";
  }
}

#ifndef WITHOUT_LOOKUP
int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, struct fake_gpu **out) {
  for (unsigned i = 0; i < fake_nvml_machine.count; i++) {
    struct fake_gpu *gpu = &fake_nvml_machine.gpus[i];
    if (strcmp(gpu->pci, pci) != 0)
      continue;
    *out = gpu;
    return gpu->code;
  }
  return NOT_FOUND;
}
#endif

int nvmlDeviceGetUUID(struct fake_gpu *gpu, char *out, unsigned size) {
  snprintf(out, size, "GPU-of-%s", gpu->pci);
  return gpu->code;
}

int nvmlDeviceGetMigMode(struct fake_gpu *gpu, unsigned *current, unsigned *pending) {
  *current = *pending = gpu->is_split;
  return gpu->code;
}

#ifndef WITHOUT_ENERGY
int nvmlDeviceGetTotalEnergyConsumption(struct fake_gpu *gpu, unsigned long long *energy) {
  *energy = gpu->energy_mj;
  return gpu->without_counter ? NOT_SUPPORTED : gpu->code;
}
#endif

static void read_power(const struct fake_gpu *gpu, field_value *value) {
  const double watts = value->scopeId == 1 ? gpu->module_w : gpu->power_w;
  value->valueType = 1;
  value->value.uiVal = (unsigned)(1000 * watts + 0.5);
  if (value->scopeId > 1 || (value->scopeId == 1 && gpu->module_w == 0) || gpu->without_power)
    value->nvmlReturn = NOT_SUPPORTED;
}

int nvmlDeviceGetFieldValues(struct fake_gpu *gpu, int count, field_value *values) {
  for (int i = 0; i < count; i++) {
    values[i].nvmlReturn = SUCCESS;
    switch (values[i].fieldId) {
    case 74:
      values[i].valueType = 3;
      values[i].value.ullVal = gpu->power_cap_ns;
      break;
    case 82:
      values[i].valueType = 1;
      values[i].value.uiVal = gpu->memory_c;
      break;
    case 186: read_power(gpu, &values[i]); break;
    default: values[i].nvmlReturn = NOT_SUPPORTED;
    }
  }
  return gpu->code;
}

int nvmlSystemGetDriverVersion(char *version, unsigned length) {
  snprintf(version, length, "580.95.05");
  return SUCCESS;
}

int nvmlDeviceGetVbiosVersion(struct fake_gpu *gpu, char *version, unsigned length) {
  snprintf(version, length, "96.00.A5.00.01");
  return gpu->code;
}

int nvmlDeviceGetEccMode(struct fake_gpu *gpu, unsigned *current, unsigned *pending) {
  *current = *pending = 1;
  return gpu->code;
}

int nvmlDeviceGetClockInfo(struct fake_gpu *gpu, int type, unsigned *clock) {
  *clock = type == 1 ? gpu->core_mhz : type == 2 ? gpu->memory_mhz : 0;
  return gpu->code;
}

int nvmlDeviceGetTemperature(struct fake_gpu *gpu, int sensor, unsigned *celsius) {
  *celsius = sensor == 0 ? gpu->core_c : 0;
  return gpu->code;
}

int nvmlDeviceGetCurrentClocksEventReasons(struct fake_gpu *gpu, unsigned long long *reasons) {
  *reasons = gpu->reasons;
  return gpu->code;
}

// Settings outlive the process: in the file named by FAKE_NVML_LIMITS, where a test can look too.
int nvmlDeviceGetPowerManagementLimit(const struct fake_gpu *gpu, unsigned *milliwatts) {
  const unsigned kept = fake_limit_kept("FAKE_NVML_LIMITS");
  *milliwatts = kept ? kept : gpu->limit_mw ? gpu->limit_mw : 650000;
  return gpu->code;
}

int nvmlDeviceGetEnforcedPowerLimit(const struct fake_gpu *gpu, unsigned *milliwatts) {
  return nvmlDeviceGetPowerManagementLimit(gpu, milliwatts);
}

int nvmlDeviceGetPowerManagementLimitConstraints(struct fake_gpu *gpu, unsigned *least,
                                                 unsigned *most) {
  *least = 200000;
  *most = 700000;
  return gpu->code;
}

int nvmlDeviceSetPowerManagementLimit(struct fake_gpu *gpu, unsigned milliwatts) {
  const char *refused = getenv("FAKE_NVML_FORBIDS");
  if (gpu->limit_code || refused)
    return gpu->limit_code ? gpu->limit_code : 4;
  gpu->limit_mw = gpu->ignores_limit ? gpu->limit_mw : milliwatts;
  if (!gpu->ignores_limit)
    fake_limit_keep("FAKE_NVML_LIMITS", milliwatts);
  return gpu->code;
}

int nvmlDeviceGetPowerManagementDefaultLimit(struct fake_gpu *gpu, unsigned *milliwatts) {
  *milliwatts = 700000;
  return gpu->code;
}

int nvmlDeviceGetCurrPcieLinkGeneration(struct fake_gpu *gpu, unsigned *generation) {
  *generation = gpu->pcie_generation;
  return gpu->pcie_width ? gpu->code : NOT_SUPPORTED;
}

int nvmlDeviceGetCurrPcieLinkWidth(struct fake_gpu *gpu, unsigned *width) {
  *width = gpu->pcie_width;
  return gpu->pcie_width ? gpu->code : NOT_SUPPORTED;
}

// An H200's 18 links, the first of which are up.
int nvmlDeviceGetNvLinkState(struct fake_gpu *gpu, unsigned link, int *is_active) {
  *is_active = link < gpu->nvlinks;
  return !gpu->nvlinks || link >= 18 ? NOT_SUPPORTED : gpu->code;
}

// The first process is the one that asks.
int nvmlDeviceGetComputeRunningProcesses_v3(struct fake_gpu *gpu, unsigned *count,
                                            process_info *list) {
  for (unsigned i = 0; i < gpu->processes && i < *count; i++)
    list[i] = (process_info){i ? i : (unsigned)getpid(), 1 << 20, ~0u, ~0u};
  *count = gpu->processes;
  return gpu->code;
}
