// AMD accelerators by ROCm SMI (rocm.docs.amd.com/projects/rocm_smi_lib; rocm_smi.h of ROCm 5 to
// 7), the predecessor of AMD SMI.
#include "base/arena.h"
#include "probe/meters/address.h"
#include "probe/meters/amd.h"
#include "probe/meters/gpu_metrics.h"
#include "probe/meters/kinds.h"
#include "probe/meters/library.h"
#include "probe/meters/meter.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { RSMI_DONE = 0, RSMI_PERMISSION = 4 }; // rsmi_status_t

struct functions {
  int (*init)(uint64_t flags);
  int (*shut_down)(void);
  int (*status_string)(int status, const char **text);
  int (*count)(uint32_t *count);
  // domain << 32 | partition << 28 | bus << 8 | device << 3 | function
  int (*pci_id)(uint32_t index, uint64_t *bdf);
  int (*energy)(uint32_t index, uint64_t *count, float *resolution_uj, uint64_t *time_ns);
  int (*metrics)(uint32_t index, union gpu_metrics_room *metrics);
  int (*current_power)(uint32_t index, uint64_t *microwatts);
  int (*average_power)(uint32_t index, uint32_t sensor, uint64_t *microwatts);
  int (*compute_partition)(uint32_t index, char *text, uint32_t length);
  int (*memory_partition)(uint32_t index, char *text, uint32_t length);
  int (*ecc)(uint32_t index, uint64_t *blocks);
};

static const struct meter_symbol symbols[] = {
    {"rsmi_init", offsetof(struct functions, init), false},
    {"rsmi_shut_down", offsetof(struct functions, shut_down), false},
    {"rsmi_status_string", offsetof(struct functions, status_string), false},
    {"rsmi_num_monitor_devices", offsetof(struct functions, count), false},
    {"rsmi_dev_pci_id_get", offsetof(struct functions, pci_id), false},
    {"rsmi_dev_energy_count_get", offsetof(struct functions, energy), false},
    {"rsmi_dev_gpu_metrics_info_get", offsetof(struct functions, metrics), true},
    {"rsmi_dev_current_socket_power_get", offsetof(struct functions, current_power), true},
    {"rsmi_dev_power_ave_get", offsetof(struct functions, average_power), true},
    {"rsmi_dev_compute_partition_get", offsetof(struct functions, compute_partition), true},
    {"rsmi_dev_memory_partition_get", offsetof(struct functions, memory_partition), true},
    {"rsmi_dev_ecc_enabled_get", offsetof(struct functions, ecc), true},
    {NULL, 0, false},
};

static const struct meter_library smi_library = {
    .names = {"librocm_smi64.so", "librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5",
              "/opt/rocm/lib/librocm_smi64.so"},
    .root_variable = "ROCM_PATH",
    .symbols = symbols,
};

static enum meter_status refuse(struct amd *amd, int status) {
  const struct functions *call = amd->own;
  const char *text = "";
  call->status_string(status, &text);
  amd->why = arena_printf(amd->arena, "rocm-smi: %s (%d)", text && *text ? text : "failed", status);
  return status == RSMI_PERMISSION ? METER_FORBIDDEN : METER_ABSENT;
}

// A partition's number is in bits 28 to 31 of its address, or in the function.
static int list_devices(struct amd *amd) {
  const struct functions *call = amd->own;
  uint32_t count = 0;
  int status = call->count(&count);
  for (uint32_t i = 0; status == RSMI_DONE && i < count && i < MAX_AMD_DEVICES; i++) {
    uint64_t bdf;
    status = call->pci_id(i, &bdf);
    const unsigned partition = (unsigned)(bdf >> 28 & 0xf), function = (unsigned)(bdf & 7);
    amd->addresses[amd->count++] =
        (struct meter_address){(unsigned)(bdf >> 32), (unsigned)(bdf >> 8 & 0xff),
                               (unsigned)(bdf >> 3 & 0x1f), partition ? partition : function};
  }
  return status;
}

static enum meter_status smi_open(struct amd *amd, const struct meter_roots *roots) {
  struct functions *call = arena_alloc(amd->arena, sizeof *call);
  const char *why = "";
  amd->own = call;
  if (meter_library_open(&smi_library, roots->rocmsmi, call, amd->arena, &why)) {
    amd->why = arena_printf(amd->arena, "rocm-smi: %s", why);
    return METER_ABSENT;
  }
  int status = call->init(0);
  if (status != RSMI_DONE)
    return refuse(amd, status);
  status = list_devices(amd);
  if (status == RSMI_DONE)
    return METER_OK;
  call->shut_down();
  return refuse(amd, status);
}

// Asks for the power by separate calls, for versions that lack it in gpu_metrics.
static void look_at_power(const struct functions *call, uint32_t index, struct amd_look *look) {
  uint64_t microwatts;
  look->is_momentary = call->current_power && call->current_power(index, &microwatts) == RSMI_DONE;
  if (look->is_momentary ||
      (call->average_power && call->average_power(index, 0, &microwatts) == RSMI_DONE))
    look->watts = 1e-6 * (double)microwatts;
}

static int smi_look(struct amd *amd, size_t index, struct amd_look *look) {
  const struct functions *call = amd->own;
  const uint32_t device = (uint32_t)index;
  union gpu_metrics_room room;
  float resolution_uj = 0;
  uint64_t counter = 0, time_ns;
  memset(&room, 0xff, sizeof room);
  const int status = call->energy(device, &counter, &resolution_uj, &time_ns);
  if (status == RSMI_DONE)
    gpu_metrics_counter(counter, resolution_uj, look);
  if (call->metrics && call->metrics(device, &room) == RSMI_DONE)
    gpu_metrics_look(&room.head, look);
  if (isnan(look->watts))
    look_at_power(call, device, look);
  if (look->has_counter || !isnan(look->watts))
    return 0;
  refuse(amd, status);
  return -1;
}

static const char *text_of(const struct amd *amd, int (*call)(uint32_t, char *, uint32_t),
                           size_t index) {
  char text[64] = "";
  if (!call || call((uint32_t)index, text, sizeof text - 1) != RSMI_DONE)
    return "";
  return arena_copy(amd->arena, text);
}

static void smi_state(struct amd *amd, size_t index, struct amd_state *state) {
  const struct functions *call = amd->own;
  uint64_t blocks = 0;
  state->compute_partition = text_of(amd, call->compute_partition, index);
  state->memory_partition = text_of(amd, call->memory_partition, index);
  state->ecc =
      call->ecc && call->ecc((uint32_t)index, &blocks) == RSMI_DONE ? gpu_metrics_ecc(blocks) : "";
}

static void smi_close(struct amd *amd) {
  const struct functions *call = amd->own;
  call->shut_down();
}

const struct amd_source rocm_smi = {
    .name = "rocm-smi",
    .open = smi_open,
    .look = smi_look,
    .state = smi_state,
    .close = smi_close,
};
