// AMD accelerators by AMD SMI (rocm.docs.amd.com/projects/amdsmi, C library; amdsmi.h of ROCm 5.7
// to 10.0). Only calls whose arguments did not change between these versions are used: scalars, and
// gpu_metrics, which only grew at its end until version 27 moved its members. From a version that
// may have moved them again, it is not read: the kernel's sensors state what they have of it.
#include "base/arena.h"
#include "probe/meters/address.h"
#include "probe/meters/amd.h"
#include "probe/meters/gpu_metrics.h"
#include "probe/meters/hwmon.h"
#include "probe/meters/kinds.h"
#include "probe/meters/library.h"
#include "probe/meters/meter.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { AMDSMI_DONE = 0, AMDSMI_NOT_SUPPORTED = 2, AMDSMI_NO_PERM = 10 }; // amdsmi_status_t
static const uint64_t init_gpus = 1u << 1;                               // AMDSMI_INIT_AMD_GPUS
enum { WIDE_METRICS = 27, LAST_KNOWN = 27 };                             // versions of the library

typedef void *processor;     // amdsmi_processor_handle
typedef void *socket_handle; // amdsmi_socket_handle

struct power_cap { // amdsmi_power_cap_info_t, microwatts on bare metal
  uint64_t now, usual, clock_mhz, least, most, reserved[3];
};

// amdsmi_version_t, with room to grow. The first number is the year (23, 24) or, from 25 on, the
// major version.
struct version {
  uint32_t first, others[15];
};

struct functions {
  int (*init)(uint64_t flags);
  int (*shut_down)(void);
  int (*status_string)(int status, const char **text);
  int (*version)(struct version *version);
  int (*sockets)(uint32_t *count, socket_handle *list);
  int (*processors)(socket_handle socket, uint32_t *count, processor *list);
  // amdsmi_bdf_t: function 3 bits, device 5, bus 8, domain 48, lowest first.
  int (*bdf)(processor processor, uint64_t *bdf);
  int (*energy)(processor processor, uint64_t *count, float *resolution_uj, uint64_t *time_ns);
  int (*metrics)(processor processor, union gpu_metrics_room *metrics);
  int (*compute_partition)(processor processor, char *text, uint32_t length);
  int (*memory_partition)(processor processor, char *text, uint32_t length);
  int (*ecc)(processor processor, uint64_t *blocks);
  int (*power_cap)(processor processor, uint32_t sensor, struct power_cap *cap);
  int (*set_power_cap)(processor processor, uint32_t sensor, uint64_t microwatts);
  int (*process_list)(processor processor, uint32_t *count, void *list);
  // Only in ROCm 5.7 to 6.1.0, whose list has every process that holds the device's file open: also
  // this one, since AMDSmiDrm::init in amd_smi_drm.cc opens them all.
  void (*process_info)(void);
};

struct library {
  struct functions call;
  uint32_t version; // UINT32_MAX: unknown
  processor list[MAX_AMD_DEVICES];
};

static const struct meter_symbol symbols[] = {
    {"amdsmi_init", offsetof(struct functions, init), false},
    {"amdsmi_shut_down", offsetof(struct functions, shut_down), false},
    {"amdsmi_status_code_to_string", offsetof(struct functions, status_string), false},
    {"amdsmi_get_lib_version", offsetof(struct functions, version), true},
    {"amdsmi_get_socket_handles", offsetof(struct functions, sockets), false},
    {"amdsmi_get_processor_handles", offsetof(struct functions, processors), false},
    {"amdsmi_get_gpu_device_bdf", offsetof(struct functions, bdf), false},
    {"amdsmi_get_energy_count", offsetof(struct functions, energy), false},
    {"amdsmi_get_gpu_metrics_info", offsetof(struct functions, metrics), false},
    {"amdsmi_get_gpu_compute_partition", offsetof(struct functions, compute_partition), true},
    {"amdsmi_get_gpu_memory_partition", offsetof(struct functions, memory_partition), true},
    {"amdsmi_get_gpu_ecc_enabled", offsetof(struct functions, ecc), true},
    {"amdsmi_get_power_cap_info", offsetof(struct functions, power_cap), true},
    {"amdsmi_set_power_cap", offsetof(struct functions, set_power_cap), true},
    {"amdsmi_get_gpu_process_list", offsetof(struct functions, process_list), true},
    {"amdsmi_get_gpu_process_info", offsetof(struct functions, process_info), true},
    {NULL, 0, false},
};

static const struct meter_library smi_library = {
    .names = {"libamd_smi.so", "libamd_smi.so.27", "libamd_smi.so.26", "libamd_smi.so.25",
              "libamd_smi.so.24", "/opt/rocm/lib/libamd_smi.so"},
    .root_variable = "ROCM_PATH",
    .symbols = symbols,
};

static enum meter_status refuse(struct amd *amd, int status) {
  const struct library *library = amd->own;
  const char *text = "";
  library->call.status_string(status, &text);
  amd->why = arena_printf(amd->arena, "amd-smi: %s (%d)", text && *text ? text : "failed", status);
  return status == AMDSMI_NO_PERM ? METER_FORBIDDEN : METER_ABSENT;
}

// The library shuts down for the whole process, however often it was initialized (amdsmi_shut_down
// in amd_smi.cc), so its last user does it.
static struct {
  pthread_mutex_t mutex;
  unsigned count;
} users = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static int start(const struct functions *call) {
  pthread_mutex_lock(&users.mutex);
  const int status = call->init(init_gpus);
  users.count += status == AMDSMI_DONE;
  pthread_mutex_unlock(&users.mutex);
  return status;
}

static void stop(const struct functions *call) {
  pthread_mutex_lock(&users.mutex);
  if (--users.count == 0)
    call->shut_down();
  pthread_mutex_unlock(&users.mutex);
}

static uint32_t version_of(const struct functions *call) {
  struct version version;
  return call->version && call->version(&version) == AMDSMI_DONE ? version.first : UINT32_MAX;
}

static int add_processors(struct amd *amd, socket_handle one) {
  struct library *library = amd->own;
  const struct functions *call = &library->call;
  processor list[MAX_AMD_DEVICES];
  uint32_t count = MAX_AMD_DEVICES;
  int status = call->processors(one, &count, list);
  for (uint32_t i = 0; status == AMDSMI_DONE && i < count && amd->count < MAX_AMD_DEVICES; i++) {
    uint64_t bdf;
    status = call->bdf(list[i], &bdf);
    library->list[amd->count] = list[i];
    if (status == AMDSMI_DONE)
      amd->addresses[amd->count++] =
          (struct meter_address){(unsigned)(bdf >> 16), (unsigned)(bdf >> 8 & 0xff),
                                 (unsigned)(bdf >> 3 & 0x1f), (unsigned)(bdf & 7)};
  }
  return status;
}

static enum meter_status smi_open(struct amd *amd, const struct meter_roots *roots) {
  struct library *library = arena_alloc(amd->arena, sizeof *library);
  const char *why = "";
  amd->own = library;
  if (meter_library_open(&smi_library, roots->amdsmi, &library->call, amd->arena, &why)) {
    amd->why = arena_printf(amd->arena, "amd-smi: %s", why);
    return METER_ABSENT;
  }
  int status = start(&library->call);
  if (status != AMDSMI_DONE)
    return refuse(amd, status);
  library->version = version_of(&library->call);
  socket_handle sockets[MAX_AMD_DEVICES];
  uint32_t count = MAX_AMD_DEVICES;
  status = library->call.sockets(&count, sockets);
  for (uint32_t i = 0; status == AMDSMI_DONE && i < count; i++)
    status = add_processors(amd, sockets[i]);
  if (status == AMDSMI_DONE)
    return METER_OK;
  const enum meter_status refused = refuse(amd, status);
  stop(&library->call);
  return refused;
}

static int look_at_metrics(const struct library *library, processor processor,
                           struct amd_look *look) {
  if (library->version > LAST_KNOWN)
    return AMDSMI_NOT_SUPPORTED;
  union gpu_metrics_room room;
  memset(&room, 0xff, sizeof room);
  const int status = library->call.metrics(processor, &room);
  if (library->version >= WIDE_METRICS)
    gpu_metrics_narrow(&room);
  if (status == AMDSMI_DONE)
    gpu_metrics_look(&room.head, look);
  return status;
}

static void look_at_sensors(const struct amd *amd, size_t index, struct amd_look *look) {
  struct arena paths = {0};
  const struct meter_address *address = &amd->addresses[amd_first_partition(amd, index)];
  const char *sensors = hwmon_sensors(amd->roots, address, &paths);
  if (sensors)
    hwmon_look(sensors, look);
  arena_free(&paths);
}

static int smi_look(struct amd *amd, size_t index, struct amd_look *look) {
  const struct library *library = amd->own;
  float resolution_uj = 0;
  uint64_t counter = 0, time_ns;
  const int energy = library->call.energy(library->list[index], &counter, &resolution_uj, &time_ns);
  if (energy == AMDSMI_DONE)
    gpu_metrics_counter(counter, resolution_uj, look);
  const int metrics = look_at_metrics(library, library->list[index], look);
  if (look->has_counter && library->version > LAST_KNOWN)
    look_at_sensors(amd, index, look);
  if (look->has_counter || metrics == AMDSMI_DONE)
    return 0;
  refuse(amd, energy == AMDSMI_DONE ? metrics : energy);
  return -1;
}

static const char *text_of(const struct amd *amd, int (*call)(processor, char *, uint32_t),
                           processor processor) {
  char text[64] = "";
  if (!call || call(processor, text, sizeof text - 1) != AMDSMI_DONE)
    return "";
  return arena_copy(amd->arena, text);
}

static void smi_state(struct amd *amd, size_t index, struct amd_state *state) {
  const struct library *library = amd->own;
  const struct functions *call = &library->call;
  const processor one = library->list[index];
  uint64_t blocks = 0;
  uint32_t count = 0; // asks only for the number
  state->compute_partition = text_of(amd, call->compute_partition, one);
  state->memory_partition = text_of(amd, call->memory_partition, one);
  state->ecc = call->ecc && call->ecc(one, &blocks) == AMDSMI_DONE ? gpu_metrics_ecc(blocks) : "";
  char none[8192];
  const bool listed = call->process_list && !call->process_info &&
                      call->process_list(one, &count, none) == AMDSMI_DONE;
  state->processes = listed ? (int)count : -1;
}

// The power limit of the first sensor, which is the socket's.
static enum meter_status smi_cap(struct amd *amd, size_t index, struct amd_cap *cap) {
  const struct library *library = amd->own;
  struct power_cap found = {0};
  const int status = library->call.power_cap
                         ? library->call.power_cap(library->list[index], 0, &found)
                         : AMDSMI_NOT_SUPPORTED;
  *cap = (struct amd_cap){1e-6 * (double)found.now, 1e-6 * (double)found.least,
                          1e-6 * (double)found.most};
  return status == AMDSMI_DONE ? METER_OK : refuse(amd, status);
}

static enum meter_status smi_set_cap(struct amd *amd, size_t index, double watts) {
  const struct library *library = amd->own;
  const int status =
      library->call.set_power_cap
          ? library->call.set_power_cap(library->list[index], 0, (uint64_t)llround(1e6 * watts))
          : AMDSMI_NOT_SUPPORTED;
  return status == AMDSMI_DONE ? METER_OK : refuse(amd, status);
}

static void smi_close(struct amd *amd) {
  const struct library *library = amd->own;
  stop(&library->call);
}

const struct amd_source amd_smi = {
    .name = "amd-smi",
    .open = smi_open,
    .look = smi_look,
    .state = smi_state,
    .cap = smi_cap,
    .set_cap = smi_set_cap,
    .close = smi_close,
};
