// AMD accelerators through the files of the kernel's amdgpu driver in sysfs
// (Documentation/gpu/amdgpu/thermal.rst, Documentation/hwmon/sysfs-interface.rst): microwatts,
// microjoules if there are any, millidegrees, hertz.
#include "probe/meters/hwmon.h"

#include "base/arena.h"
#include "probe/meters/address.h"
#include "probe/meters/kinds.h"
#include "probe/meters/meter.h"
#include "probe/meters/small_file.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct sensors {
  const char *directory[MAX_AMD_DEVICES];
};

static int is_sensor_directory(const struct dirent *entry) {
  return strncmp(entry->d_name, "hwmon", strlen("hwmon")) == 0;
}

static int is_device(const struct dirent *entry) {
  struct meter_address address;
  return meter_address_parse(entry->d_name, &address);
}

const char *hwmon_sensors(const struct meter_roots *roots, const struct meter_address *address,
                          struct arena *arena) {
  size_t count;
  const char *above =
      arena_printf(arena, "%s/%s/hwmon", roots->pci, meter_address_text(address, arena));
  const char **found = small_file_list(above, is_sensor_directory, &count, arena);
  return count ? found[0] : NULL;
}

const char *hwmon_text(const struct amd *amd, size_t index, const char *file) {
  const char *device = meter_address_text(&amd->addresses[index], amd->arena);
  const char *text =
      small_file_text(arena_printf(amd->arena, "%s/%s", amd->roots->pci, device), file, amd->arena);
  return text ? text : "";
}

static enum meter_status sysfs_open(struct amd *amd, const struct meter_roots *roots) {
  size_t count;
  struct sensors *sensors = arena_alloc(amd->arena, sizeof *sensors);
  amd->own = sensors;
  const char **devices = small_file_list(roots->pci, is_device, &count, amd->arena);
  if (!devices) {
    amd->why = arena_printf(amd->arena, "amdgpu-hwmon: %s: %s", roots->pci, strerror(errno));
    return errno == EACCES ? METER_FORBIDDEN : METER_ABSENT;
  }
  for (size_t i = 0; i < count && amd->count < MAX_AMD_DEVICES; i++) {
    const char *name = strrchr(devices[i], '/') + 1;
    struct meter_address *address = &amd->addresses[amd->count];
    if (meter_address_vendor(roots->pci, name, amd->arena) != VENDOR_AMD ||
        !meter_address_parse(name, address))
      continue;
    const char *directory = hwmon_sensors(roots, address, amd->arena);
    const char *driver = directory ? small_file_text(directory, "name", amd->arena) : NULL;
    if (driver && !strcmp(driver, "amdgpu"))
      sensors->directory[amd->count++] = directory;
  }
  return METER_OK;
}

// The sensor with that label: "junction", "mem". NAN without one.
static double temperature(const char *sensors, const char *label, struct arena *arena) {
  for (int i = 1; i <= 8; i++) {
    const char *found = small_file_text(sensors, arena_printf(arena, "temp%d_label", i), arena);
    if (found && !strcmp(found, label))
      return 1e-3 * small_file_number(sensors, arena_printf(arena, "temp%d_input", i), arena);
  }
  return NAN;
}

// power1_input is momentary, if the kernel has it; older devices report power1_average.
void hwmon_look(const char *sensors, struct amd_look *look) {
  struct arena paths = {0};
  look->watts = 1e-6 * small_file_number(sensors, "power1_input", &paths);
  look->is_momentary = !isnan(look->watts);
  if (!look->is_momentary)
    look->watts = 1e-6 * small_file_number(sensors, "power1_average", &paths);
  look->core_clock_hz = small_file_number(sensors, "freq1_input", &paths);
  look->memory_clock_hz = small_file_number(sensors, "freq2_input", &paths);
  look->core_temperature_c = temperature(sensors, "junction", &paths);
  look->memory_temperature_c = temperature(sensors, "mem", &paths);
  arena_free(&paths);
}

static int sysfs_look(struct amd *amd, size_t index, struct amd_look *look) {
  const struct sensors *sensors = amd->own;
  const char *directory = sensors->directory[index];
  const double energy_uj = small_file_number(directory, "energy1_input", amd->arena);
  look->has_counter = !isnan(energy_uj);
  look->counter = look->has_counter ? (uint64_t)energy_uj : 0;
  look->resolution_j = 1e-6;
  hwmon_look(directory, look);
  if (look->has_counter || !isnan(look->watts))
    return 0;
  amd->why = arena_printf(amd->arena, "amdgpu-hwmon: no power in %s", directory);
  return -1;
}

static void sysfs_state(struct amd *amd, size_t index, struct amd_state *state) {
  state->compute_partition = hwmon_text(amd, index, "current_compute_partition");
  state->memory_partition = hwmon_text(amd, index, "current_memory_partition");
}

static void sysfs_close(struct amd *amd) {
  (void)amd;
}

const struct amd_source amd_sysfs = {
    .name = "amdgpu-hwmon",
    .open = sysfs_open,
    .look = sysfs_look,
    .state = sysfs_state,
    .close = sysfs_close,
};
