// Telemetry of the machine's CPUs from the kernel's sysfs: cpufreq
// (Documentation/admin-guide/pm/cpufreq.rst), the temperature sensors of hwmon or else of a thermal
// zone, and the time that the packages spent throttled (arch/x86 therm_throt). The clock is the
// mean of up to 16 CPUs, spread over all: reading hundreds would disturb what runs.
#include "base/arena.h"
#include "probe/meters/kinds.h"
#include "probe/meters/meter.h"
#include "probe/meters/small_file.h"
#include "probe/meters/telemetry.h"

#include <dirent.h>
#include <math.h>
#include <string.h>

enum { MAX_PATHS = 16 };

struct paths {
  const char *list[MAX_PATHS];
  size_t count;
};

struct watched {
  struct paths clocks, temperatures, packages;
  double first_ms;
};

static const char *const reasons[] = {"package temperature", NULL};

static int is_cpu(const struct dirent *entry) {
  const char *name = entry->d_name;
  return !strncmp(name, "cpu", 3) && name[3] >= '0' && name[3] <= '9';
}

static int is_visible(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

// Keeps a file that contains a number, if there is room.
static void add(struct paths *paths, const char *path) {
  if (paths->count < MAX_PATHS && !isnan(small_file_number_at(path)))
    paths->list[paths->count++] = path;
}

// The first CPU of each package represents the package.
static void find_packages(struct watched *watched, const char **cpus, size_t count,
                          struct arena *arena) {
  double seen[MAX_PATHS] = {0};
  for (size_t i = 0; i < count && watched->packages.count < MAX_PATHS; i++) {
    const double package = small_file_number(cpus[i], "topology/physical_package_id", arena);
    size_t k = 0;
    while (k < watched->packages.count && seen[k] != package)
      k++;
    if (isnan(package) || k < watched->packages.count)
      continue;
    seen[k] = package;
    add(&watched->packages,
        arena_printf(arena, "%s/thermal_throttle/package_throttle_total_time_ms", cpus[i]));
  }
}

static void find_sensors(struct watched *watched, const struct meter_roots *roots,
                         struct arena *arena) {
  static const char *const drivers[] = {"coretemp", "k10temp", "zenpower"};
  size_t count;
  const char **directories = small_file_list(roots->hwmon, is_visible, &count, arena);
  for (size_t i = 0; i < count; i++) {
    const char *name = small_file_text(directories[i], "name", arena);
    for (size_t k = 0; name && k < sizeof drivers / sizeof drivers[0]; k++)
      if (!strcmp(name, drivers[k])) // the first input is the package's, or the control's
        add(&watched->temperatures, arena_printf(arena, "%s/temp1_input", directories[i]));
  }
  if (watched->temperatures.count)
    return;
  directories = small_file_list(roots->thermal, is_visible, &count, arena);
  for (size_t i = 0; i < count; i++) {
    const char *type = small_file_text(directories[i], "type", arena);
    if (type && (!strcmp(type, "x86_pkg_temp") || strstr(type, "cpu")))
      add(&watched->temperatures, arena_printf(arena, "%s/temp", directories[i]));
  }
}

static double sum_of(const struct paths *paths) {
  double sum = 0;
  for (size_t i = 0; i < paths->count; i++)
    sum += small_file_number_at(paths->list[i]);
  return sum;
}

static enum meter_status cpu_open(struct telemetry *telemetry, const struct meter_roots *roots) {
  struct arena *arena = telemetry->arena;
  struct watched *watched = arena_alloc(arena, sizeof *watched);
  size_t count;
  telemetry->own = watched;
  const char **cpus = small_file_list(roots->cpu, is_cpu, &count, arena);
  const size_t looked_at = count < MAX_PATHS ? count : MAX_PATHS;
  for (size_t i = 0; i < looked_at; i++)
    add(&watched->clocks,
        arena_printf(arena, "%s/cpufreq/scaling_cur_freq", cpus[i * count / looked_at]));
  find_packages(watched, cpus, count, arena);
  find_sensors(watched, roots, arena);
  watched->first_ms = sum_of(&watched->packages);
  if (watched->clocks.count || watched->temperatures.count || watched->packages.count) {
    telemetry->name = arena_printf(arena, "sysfs: clocks of %zu CPUs, %zu temperature sensor%s",
                                   watched->clocks.count, watched->temperatures.count,
                                   watched->temperatures.count == 1 ? "" : "s");
    return METER_OK;
  }
  telemetry->why = "the kernel exposes neither cpufreq nor temperature sensors";
  return METER_ABSENT;
}

static enum meter_status cpu_look(struct telemetry *telemetry, struct telemetry_look *look) {
  const struct watched *watched = telemetry->own;
  if (watched->clocks.count)
    look->core_clock_hz = 1e3 * sum_of(&watched->clocks) / (double)watched->clocks.count;
  for (size_t i = 0; i < watched->temperatures.count; i++)
    look->core_temperature_c =
        fmax(look->core_temperature_c, 1e-3 * small_file_number_at(watched->temperatures.list[i]));
  if (watched->packages.count)
    look->throttled_s[0] = 1e-3 * (sum_of(&watched->packages) - watched->first_ms);
  return METER_OK;
}

static void cpu_close(struct telemetry *telemetry) {
  (void)telemetry;
}

const struct telemetry_kind telemetry_cpu = {
    .name = "sysfs",
    .reasons = reasons,
    .open = cpu_open,
    .look = cpu_look,
    .close = cpu_close,
};
