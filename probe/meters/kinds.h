// kinds: every kind of meter, of telemetry and of source for AMD accelerators, each defined in the
// file named after it (telemetry of AMD accelerators in telemetry_amd.c).
#ifndef PERTOKEN_PROBE_METERS_KINDS_H
#define PERTOKEN_PROBE_METERS_KINDS_H

struct meter_kind;
struct telemetry_kind;
struct amd_source;

extern const struct meter_kind meter_powercap, meter_perf, meter_grace;
extern const struct meter_kind meter_nvml, meter_amdsmi, meter_rocmsmi, meter_hwmon;

extern const struct telemetry_kind telemetry_nvml, telemetry_amdsmi, telemetry_rocmsmi,
    telemetry_amdgpu, telemetry_cpu;

extern const struct amd_source amd_smi, rocm_smi, amd_sysfs;

#endif
