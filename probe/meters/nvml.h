// nvml: the functions of NVIDIA's management library that we use, declared here because its header
// is not part of the CUDA toolkit. Types, constants and meanings are those of the NVML API
// Reference Guide (docs.nvidia.com/deploy/nvml-api; nvml.h 13.3.29); each one's name there is
// given.
#ifndef PERTOKEN_PROBE_METERS_NVML_H
#define PERTOKEN_PROBE_METERS_NVML_H

#include "base/arena.h"
#include "probe/meters/meter.h"

enum nvml_code { // nvmlReturn_t, "Device Enums"
  NVML_DONE = 0,
  NVML_NOT_SUPPORTED = 3,
  NVML_NO_PERMISSION = 4,
  NVML_LOST = 15,
  NVML_OPERATING_SYSTEM = 17, // the device is blocked, by cgroups for example
};

enum nvml_field { // "Field Value Enums"
  NVML_FIELD_POWER_CAP_NS = 74,
  NVML_FIELD_SYNC_BOOST_NS = 76,
  NVML_FIELD_MEMORY_TEMPERATURE = 82, // degrees Celsius
  NVML_FIELD_POWER_INSTANT = 186,     // mW; plain nvmlDeviceGetPowerUsage is a 1 s average
  NVML_FIELD_SOFTWARE_THERMAL_NS = 269,
  NVML_FIELD_HARDWARE_THERMAL_NS = 270,
  NVML_FIELD_POWER_BRAKE_NS = 271,
};

enum nvml_scope { NVML_SCOPE_GPU = 0, NVML_SCOPE_MODULE = 1 }; // NVML_POWER_SCOPE_*

enum nvml_value_type { // nvmlValueType_t
  NVML_VALUE_DOUBLE = 0,
  NVML_VALUE_UINT = 1,
  NVML_VALUE_ULONG = 2,
  NVML_VALUE_ULLONG = 3,
  NVML_VALUE_LLONG = 4,
  NVML_VALUE_INT = 5,
};

enum nvml_clock { NVML_CLOCK_CORE = 1, NVML_CLOCK_MEMORY = 2 }; // NVML_CLOCK_SM, NVML_CLOCK_MEM
enum { NVML_SENSOR_GPU = 0 };                                   // NVML_TEMPERATURE_GPU
enum { NVML_MOST_LINKS = 18 };                                  // NVML_NVLINK_MAX_LINKS

struct nvml_field_value { // nvmlFieldValue_t
  unsigned field, scope;
  long long timestamp_us, latency_us;
  int type, code; // nvml_value_type; nvml_code: the value counts only when it is 0
  union {
    double real;
    int sint;
    unsigned uint;
    unsigned long ulong;
    unsigned long long ullong;
    long long llong;
  } value;
};

struct nvml_process { // nvmlProcessInfo_t, in the version 2 that ..._v3 of the call takes
  unsigned pid;
  unsigned long long memory_bytes;
  unsigned gpu_instance, compute_instance;
};

_Static_assert(sizeof(struct nvml_field_value) == 40, "as in nvml.h");
_Static_assert(sizeof(struct nvml_process) == 24, "as in nvml.h");

typedef struct nvmlDevice_st *nvml_device;

struct nvml {
  int (*init)(void);
  int (*shutdown)(void);
  const char *(*error_string)(int code);
  int (*device_by_pci)(const char *pci, nvml_device *out);
  int (*uuid)(nvml_device device, char *out, unsigned size);
  int (*mig_mode)(nvml_device device, unsigned *current, unsigned *pending);
  int (*total_energy)(nvml_device device, unsigned long long *millijoules);
  int (*field_values)(nvml_device device, int count, struct nvml_field_value *values);
  int (*driver_version)(char *text, unsigned length);
  int (*vbios_version)(nvml_device device, char *text, unsigned length);
  int (*ecc_mode)(nvml_device device, unsigned *current, unsigned *pending);
  int (*clock_info)(nvml_device device, int clock, unsigned *megahertz);
  int (*temperature)(nvml_device device, int sensor, unsigned *celsius);
  int (*event_reasons)(nvml_device device, unsigned long long *bits);
  int (*throttle_reasons)(nvml_device device, unsigned long long *bits); // its name before 12.2
  int (*enforced_limit)(nvml_device device, unsigned *milliwatts);
  int (*default_limit)(nvml_device device, unsigned *milliwatts);
  int (*power_limit)(nvml_device device, unsigned *milliwatts);
  int (*power_range)(nvml_device device, unsigned *least, unsigned *most); // milliwatts
  int (*set_power_limit)(nvml_device device, unsigned milliwatts);         // as root
  int (*pcie_generation)(nvml_device device, unsigned *generation); // now, and so is the width
  int (*pcie_width)(nvml_device device, unsigned *lanes);
  int (*nvlink_state)(nvml_device device, unsigned link, int *is_up);
  int (*processes)(nvml_device device, unsigned *count, struct nvml_process *list);
};

// Loads and initializes the library. NVML counts initializations, so every open needs its own
// shutdown. On failure *why is a sentence.
enum meter_status nvml_open(struct nvml *nvml, const struct meter_roots *roots, struct arena *arena,
                            const char **why);

// The device at a PCI address. On failure *why is a sentence.
enum meter_status nvml_find(const struct nvml *nvml, const char *pci, nvml_device *out,
                            struct arena *arena, const char **why);

// A field's value in NVML's own unit, NAN if the device does not report it.
double nvml_read_field(const struct nvml *nvml, nvml_device device, enum nvml_field field,
                       enum nvml_scope scope);

// The number of processes that it lists on the device, except this one, if that is listed under its
// own number: in a container it is not. NAN if it does not report that.
double nvml_other_processes(const struct nvml *nvml, nvml_device device);

// The error in the library's own words.
const char *nvml_error(const struct nvml *nvml, int code);

#endif
