// NVIDIA Grace has no RAPL: its firmware describes ACPI power meters, each a folder of hwmon whose
// power1_oem_info says what it measures and power1_average has microwatts (NVIDIA Grace Performance
// Tuning Guide, Power Telemetry; Documentation/hwmon/acpi_power_meter.rst). Only "Grace Power
// Socket N" is read: "CPU" and "SysIO" are rails within it, and "Module" has the GPU in it, too.
#include "base/arena.h"
#include "probe/meters/kinds.h"
#include "probe/meters/meter.h"
#include "probe/meters/small_file.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <string.h>

struct grace {
  const char **averages; // the paths of the sockets' power1_average
  size_t count;
};

static int is_visible(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

// The driver's files are those of the ACPI device, or of hwmon's own folder.
static const char *socket_folder(const char *folder, struct arena *arena) {
  static const char label[] = "Grace Power Socket ";
  const char *places[] = {arena_printf(arena, "%s/device", folder), folder};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const char *text = small_file_text(places[i], "power1_oem_info", arena);
    if (text && strncmp(text, label, sizeof label - 1) == 0)
      return places[i];
  }
  return NULL;
}

static enum meter_status grace_read(struct meter *meter, struct meter_reading *reading) {
  const struct grace *grace = meter->state;
  double watts = 0;
  for (size_t i = 0; i < grace->count; i++)
    watts += 1e-6 * small_file_number_at(grace->averages[i]);
  if (watts > 0) {
    reading->watts = watts;
    return METER_OK;
  }
  meter->why = "grace-hwmon: a socket's power1_average has no watts";
  return METER_LOST;
}

static enum meter_status refuse(struct meter *meter, const char *path, int reason) {
  meter->why = arena_printf(meter->arena, "grace-hwmon: %s: %s", path, strerror(reason));
  return reason == EACCES || reason == EPERM ? METER_FORBIDDEN : METER_ABSENT;
}

static enum meter_status grace_open(struct meter *meter, const struct meter_roots *roots) {
  size_t count;
  const char **all = small_file_list(roots->hwmon, is_visible, &count, meter->arena);
  if (!all)
    return refuse(meter, roots->hwmon ? roots->hwmon : "hwmon", roots->hwmon ? errno : ENOENT);
  struct grace *grace = arena_alloc(meter->arena, sizeof *grace);
  *grace = (struct grace){arena_array(meter->arena, count + 1, sizeof *grace->averages), 0};
  for (size_t i = 0; i < count; i++) {
    errno = 0;
    const char *folder = socket_folder(all[i], meter->arena);
    if (!folder)
      continue;
    const char *average = arena_printf(meter->arena, "%s/power1_average", folder);
    if (isnan(small_file_number_at(average)))
      return refuse(meter, average, errno ? errno : EINVAL);
    grace->averages[grace->count++] = average;
  }
  if (!grace->count) {
    meter->why = arena_printf(meter->arena, "grace-hwmon: no Grace socket under %s", roots->hwmon);
    return METER_ABSENT;
  }
  meter->state = grace;
  meter->name = arena_printf(meter->arena, "grace-hwmon, %zu socket%s: average power integrated",
                             grace->count, grace->count == 1 ? "" : "s");
  return METER_OK;
}

static void grace_close(struct meter *meter) {
  (void)meter;
}

const struct meter_kind meter_grace = {
    .name = "grace-hwmon",
    .covers = "Grace sockets",
    .open = grace_open,
    .read = grace_read,
    .close = grace_close,
};
