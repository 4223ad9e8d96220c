// A libamd_smi whose accelerators a test sets through the symbol FAKE_AMD. Each is a socket of its
// own, like partitions that differ in the function. As in AMD's library, starting it again does
// nothing and the first shutdown ends it for all (amd_smi.cc of ROCm 5.7 to 6.3). Compiled with
// COUNTS_CALLER, it counts the process that asks, as that of ROCm 5.7 to 6.1.0.
#include "tests/stand_ins/fake/amd.h"
#include "tests/stand_ins/fake/limits.h"

#include <stdio.h>

struct fake_amd fake_amd_machine;

enum { SUCCESS = 0, NOT_SUPPORTED = 2, NOT_INIT = 32 };

int amdsmi_init(uint64_t flags) {
  if (flags != 2)
    return 1;
  if (fake_amd_machine.init_code == SUCCESS)
    fake_amd_machine.inits = 1;
  return fake_amd_machine.init_code;
}

int amdsmi_shut_down(void) {
  fake_amd_machine.inits = 0;
  return SUCCESS;
}

static int code_of(const struct fake_accelerator *one) {
  return fake_amd_machine.inits ? one->code : NOT_INIT;
}

int amdsmi_status_code_to_string(int status, const char **text) {
  *text = status == 10 ? "Permission Denied" : status == 31 ? "Device Not found" : "failed";
  return SUCCESS;
}

int amdsmi_get_lib_version(uint32_t *version) {
  version[0] = fake_amd_machine.version ? fake_amd_machine.version : 26;
  return fake_amd_machine.inits ? SUCCESS : NOT_INIT;
}

int amdsmi_get_socket_handles(uint32_t *count, void **list) {
  *count = fake_amd_machine.count;
  for (uint32_t i = 0; i < *count; i++)
    list[i] = &fake_amd_machine.list[i];
  return SUCCESS;
}

int amdsmi_get_processor_handles(void *socket, uint32_t *count, void **list) {
  *count = 1;
  list[0] = socket;
  return SUCCESS;
}

int amdsmi_get_gpu_device_bdf(const struct fake_accelerator *one, uint64_t *bdf) {
  *bdf = (uint64_t)one->domain << 16 | one->bus << 8 | one->device << 3 | one->function;
  return SUCCESS;
}

#ifndef WITHOUT_ENERGY
int amdsmi_get_energy_count(const struct fake_accelerator *one, uint64_t *count,
                            float *resolution_uj, uint64_t *time_ns) {
  *count = one->energy;
  *resolution_uj = one->resolution_uj;
  *time_ns = 0;
  return one->without_energy ? NOT_SUPPORTED : code_of(one);
}
#endif

int amdsmi_get_gpu_metrics_info(const struct fake_accelerator *one, unsigned char *metrics) {
  if (one->without_metrics || code_of(one))
    return code_of(one) ? code_of(one) : NOT_SUPPORTED;
  fill_metrics(one, fake_amd_machine.version > 26 ? &metrics_of_rocm_10 : &metrics_of_rocm_6,
               metrics);
  return SUCCESS;
}

int amdsmi_get_gpu_compute_partition(const struct fake_accelerator *one, char *text,
                                     uint32_t length) {
  snprintf(text, length, "%s", fake_amd_machine.compute_partition);
  return code_of(one);
}

int amdsmi_get_gpu_memory_partition(const struct fake_accelerator *one, char *text,
                                    uint32_t length) {
  snprintf(text, length, "NPS1");
  return code_of(one);
}

int amdsmi_get_gpu_ecc_enabled(const struct fake_accelerator *one, uint64_t *blocks) {
  *blocks = 1;
  return code_of(one);
}

int amdsmi_get_power_cap_info(const struct fake_accelerator *one, uint32_t sensor, uint64_t *info) {
  const unsigned kept = fake_limit_kept("FAKE_AMD_LIMITS"); // watts
  info[0] = kept ? 1000000ull * kept : one->cap_uw ? one->cap_uw : 1000000000;
  info[1] = 1000000000;
  info[2] = 2100;
  info[3] = 500000000;
  info[4] = 1000000000;
  return sensor ? NOT_SUPPORTED : code_of(one);
}

int amdsmi_set_power_cap(struct fake_accelerator *one, uint32_t sensor, uint64_t microwatts) {
  if (sensor || fake_amd_machine.cap_code)
    return sensor ? NOT_SUPPORTED : fake_amd_machine.cap_code;
  one->cap_uw = microwatts;
  fake_limit_keep("FAKE_AMD_LIMITS", (unsigned)(microwatts / 1000000));
  return code_of(one);
}

#ifdef COUNTS_CALLER
enum { CALLER = 1 };

int amdsmi_get_gpu_process_info(void) {
  return NOT_SUPPORTED;
}
#else
enum { CALLER = 0 };
#endif

int amdsmi_get_gpu_process_list(const struct fake_accelerator *one, uint32_t *count, void *list) {
  *count = list ? fake_amd_machine.processes + CALLER : 0;
  return code_of(one);
}
