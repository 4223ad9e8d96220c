// AMD accelerators by what the kernel's amdgpu driver shows in sysfs
// (Documentation/gpu/amdgpu/thermal.rst, Documentation/hwmon/sysfs-interface.rst): microwatts,
// microjoules where there are any, millidegrees, hertz.
#include "probe/meters/amd.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sensors {
  const char *directory[AMD_MOST_DEVICES];
};

static int is_sensor_directory(const struct dirent *entry) {
  return strncmp(entry->d_name, "hwmon", strlen("hwmon")) == 0;
}

static int is_device(const struct dirent *entry) {
  struct meter_address address;
  return meter_address_parse(entry->d_name, &address);
}

static void free_entries(struct dirent **entries, int count) {
  for (int i = 0; i < count; i++)
    free(entries[i]);
  if (count >= 0)
    free(entries);
}

const char *amd_sysfs_sensors(const struct meter_roots *roots, const struct meter_address *address,
                              struct arena *arena) {
  struct dirent **entries;
  const char *above =
      arena_printf(arena, "%s/%s/hwmon", roots->pci, meter_address_text(address, arena));
  const int count = scandir(above, &entries, is_sensor_directory, alphasort);
  const char *found = count > 0 ? arena_printf(arena, "%s/%s", above, entries[0]->d_name) : NULL;
  free_entries(entries, count);
  return found;
}

const char *amd_sysfs_text(const struct amd *amd, size_t index, const char *file) {
  const char *device = meter_address_text(&amd->addresses[index], amd->arena);
  const char *text =
      meter_file(arena_printf(amd->arena, "%s/%s/%s", amd->roots->pci, device, file), amd->arena);
  return text ? text : "";
}

static double sensor(const struct amd *amd, size_t index, const char *file) {
  const struct sensors *sensors = amd->own;
  return meter_number(arena_printf(amd->arena, "%s/%s", sensors->directory[index], file));
}

static enum meter_status sysfs_open(struct amd *amd, const struct meter_roots *roots) {
  struct dirent **entries;
  struct sensors *sensors = arena_alloc(amd->arena, sizeof *sensors);
  amd->own = sensors;
  const int count = scandir(roots->pci, &entries, is_device, alphasort);
  if (count < 0) {
    amd->why = arena_printf(amd->arena, "amdgpu-hwmon: %s: %s", roots->pci, strerror(errno));
    return errno == EACCES ? METER_FORBIDDEN : METER_ABSENT;
  }
  for (int i = 0; i < count && amd->count < AMD_MOST_DEVICES; i++) {
    struct meter_address *address = &amd->addresses[amd->count];
    if (meter_address_vendor(roots->pci, entries[i]->d_name, amd->arena) != VENDOR_AMD ||
        !meter_address_parse(entries[i]->d_name, address))
      continue;
    const char *directory = amd_sysfs_sensors(roots, address, amd->arena);
    if (!directory)
      continue;
    const char *driver = meter_file(arena_printf(amd->arena, "%s/name", directory), amd->arena);
    if (driver && !strcmp(driver, "amdgpu"))
      sensors->directory[amd->count++] = directory;
  }
  free_entries(entries, count);
  return METER_OK;
}

// The sensor of that label: "junction", "mem". NAN without one.
static double temperature(const struct amd *amd, size_t index, const char *label) {
  const struct sensors *sensors = amd->own;
  for (int i = 1; i <= 8; i++) {
    const char *found = meter_file(
        arena_printf(amd->arena, "%s/temp%d_label", sensors->directory[index], i), amd->arena);
    if (found && !strcmp(found, label))
      return 1e-3 * sensor(amd, index, arena_printf(amd->arena, "temp%d_input", i));
  }
  return NAN;
}

// power1_input is momentary, where a kernel has it; power1_average is what older devices give.
static int sysfs_look(struct amd *amd, size_t index, struct amd_look *look) {
  const double energy_uj = sensor(amd, index, "energy1_input");
  look->has_counter = !isnan(energy_uj);
  look->counter = look->has_counter ? (uint64_t)energy_uj : 0;
  look->resolution_j = 1e-6;
  look->watts = 1e-6 * sensor(amd, index, "power1_input");
  look->is_momentary = !isnan(look->watts);
  if (!look->is_momentary)
    look->watts = 1e-6 * sensor(amd, index, "power1_average");
  look->core_clock_hz = sensor(amd, index, "freq1_input");
  look->memory_clock_hz = sensor(amd, index, "freq2_input");
  look->core_temperature_c = temperature(amd, index, "junction");
  look->memory_temperature_c = temperature(amd, index, "mem");
  if (look->has_counter || !isnan(look->watts))
    return 0;
  amd->why = arena_printf(amd->arena, "amdgpu-hwmon: no power in %s",
                          ((const struct sensors *)amd->own)->directory[index]);
  return -1;
}

static void sysfs_state(struct amd *amd, size_t index, struct amd_state *state) {
  state->compute_partition = amd_sysfs_text(amd, index, "current_compute_partition");
  state->memory_partition = amd_sysfs_text(amd, index, "current_memory_partition");
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
