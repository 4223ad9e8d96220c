// A librocm_smi64 whose accelerators a test sets through the symbol FAKE_AMD.
#include "tests/stand_ins/fake/amd.h"

#include <stdio.h>

struct fake_amd fake_amd_machine;

enum { SUCCESS = 0, NOT_SUPPORTED = 2 };

int rsmi_init(uint64_t flags) {
  if (flags != 0)
    return 1;
  if (fake_amd_machine.init_code == SUCCESS)
    fake_amd_machine.inits++;
  return fake_amd_machine.init_code;
}

int rsmi_shut_down(void) {
  fake_amd_machine.inits--;
  return SUCCESS;
}

int rsmi_status_string(int status, const char **text) {
  *text = status == 4 ? "RSMI_STATUS_PERMISSION" : "RSMI_STATUS_FILE_ERROR";
  return SUCCESS;
}

int rsmi_num_monitor_devices(uint32_t *count) {
  *count = fake_amd_machine.count;
  return SUCCESS;
}

// Partitions of a socket differ in bits 28 to 31.
int rsmi_dev_pci_id_get(uint32_t index, uint64_t *bdf) {
  const struct fake_accelerator *one = &fake_amd_machine.list[index];
  *bdf = (uint64_t)one->domain << 32 | (uint64_t)one->function << 28 | one->bus << 8 |
         one->device << 3;
  return SUCCESS;
}

int rsmi_dev_energy_count_get(uint32_t index, uint64_t *count, float *resolution_uj,
                              uint64_t *time_ns) {
  const struct fake_accelerator *one = &fake_amd_machine.list[index];
  *count = one->energy;
  *resolution_uj = one->resolution_uj;
  *time_ns = 0;
  return one->without_energy ? NOT_SUPPORTED : one->code;
}

int rsmi_dev_gpu_metrics_info_get(uint32_t index, unsigned char *metrics) {
  const struct fake_accelerator *one = &fake_amd_machine.list[index];
  if (one->without_metrics || one->code)
    return one->code ? one->code : NOT_SUPPORTED;
  fill_metrics(one, &metrics_of_rocm_6, metrics);
  return SUCCESS;
}

static int power(uint32_t index, uint16_t watts, uint64_t *microwatts) {
  *microwatts = UINT64_C(1000000) * watts;
  return watts == UINT16_MAX ? NOT_SUPPORTED : fake_amd_machine.list[index].code;
}

int rsmi_dev_current_socket_power_get(uint32_t index, uint64_t *microwatts) {
  return power(index, fake_amd_machine.list[index].current_w, microwatts);
}

int rsmi_dev_power_ave_get(uint32_t index, uint32_t sensor, uint64_t *microwatts) {
  return sensor ? NOT_SUPPORTED : power(index, fake_amd_machine.list[index].average_w, microwatts);
}
