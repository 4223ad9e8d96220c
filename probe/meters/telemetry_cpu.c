// Telemetry of the machine's CPUs by what the kernel shows in sysfs: cpufreq
// (Documentation/admin-guide/pm/cpufreq.rst), the temperature sensors of hwmon or else of a thermal
// zone, and the time that the packages spent throttled (arch/x86 therm_throt). The clock is the
// mean of up to 16 CPUs, spread over all: reading hundreds would disturb what runs.
#include "probe/meters/telemetry.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLOCKS = 16, MOST_SENSORS = 16, MOST_PACKAGES = 16 };

struct paths {
  const char *list[MOST_SENSORS];
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

static void add(struct paths *paths, size_t most, const char *path) {
  if (paths->count < most && !isnan(meter_number(path)))
    paths->list[paths->count++] = path;
}

// A directory's entries as paths, in order. *count is 0 where there is none.
static const char **list_of(const char *root, int (*filter)(const struct dirent *), size_t *count,
                            struct arena *arena) {
  struct dirent **entries;
  const int found = root ? scandir(root, &entries, filter, versionsort) : -1;
  *count = found > 0 ? (size_t)found : 0;
  const char **paths = arena_array(arena, *count + 1, sizeof *paths);
  for (size_t i = 0; i < *count; i++) {
    paths[i] = arena_printf(arena, "%s/%s", root, entries[i]->d_name);
    free(entries[i]);
  }
  if (found >= 0)
    free(entries);
  return paths;
}

// The first CPU of each package tells for the package.
static void find_packages(struct watched *watched, const char **cpus, size_t count,
                          struct arena *arena) {
  double seen[MOST_PACKAGES] = {0};
  for (size_t i = 0; i < count && watched->packages.count < MOST_PACKAGES; i++) {
    const double package =
        meter_number(arena_printf(arena, "%s/topology/physical_package_id", cpus[i]));
    size_t k = 0;
    while (k < watched->packages.count && seen[k] != package)
      k++;
    if (isnan(package) || k < watched->packages.count)
      continue;
    seen[k] = package;
    add(&watched->packages, MOST_PACKAGES,
        arena_printf(arena, "%s/thermal_throttle/package_throttle_total_time_ms", cpus[i]));
  }
}

static void find_sensors(struct watched *watched, const struct meter_roots *roots,
                         struct arena *arena) {
  static const char *const drivers[] = {"coretemp", "k10temp", "zenpower"};
  size_t count;
  const char **directories = list_of(roots->hwmon, is_visible, &count, arena);
  for (size_t i = 0; i < count; i++) {
    const char *name = meter_file(arena_printf(arena, "%s/name", directories[i]), arena);
    for (size_t k = 0; name && k < sizeof drivers / sizeof drivers[0]; k++)
      if (!strcmp(name, drivers[k])) // the first input is the package's, or the control's
        add(&watched->temperatures, MOST_SENSORS,
            arena_printf(arena, "%s/temp1_input", directories[i]));
  }
  if (watched->temperatures.count)
    return;
  directories = list_of(roots->thermal, is_visible, &count, arena);
  for (size_t i = 0; i < count; i++) {
    const char *type = meter_file(arena_printf(arena, "%s/type", directories[i]), arena);
    if (type && (!strcmp(type, "x86_pkg_temp") || strstr(type, "cpu")))
      add(&watched->temperatures, MOST_SENSORS, arena_printf(arena, "%s/temp", directories[i]));
  }
}

static double sum_of(const struct paths *paths) {
  double sum = 0;
  for (size_t i = 0; i < paths->count; i++)
    sum += meter_number(paths->list[i]);
  return sum;
}

static enum meter_status cpu_open(struct telemetry *telemetry, const struct meter_roots *roots) {
  struct arena *arena = telemetry->arena;
  struct watched *watched = arena_alloc(arena, sizeof *watched);
  size_t count;
  telemetry->own = watched;
  const char **cpus = list_of(roots->cpu, is_cpu, &count, arena);
  const size_t looked_at = count < MOST_CLOCKS ? count : MOST_CLOCKS;
  for (size_t i = 0; i < looked_at; i++)
    add(&watched->clocks, MOST_CLOCKS,
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
  telemetry->why = "the kernel shows neither cpufreq nor temperature sensors";
  return METER_ABSENT;
}

static enum meter_status cpu_look(struct telemetry *telemetry, struct telemetry_look *look) {
  const struct watched *watched = telemetry->own;
  if (watched->clocks.count)
    look->core_clock_hz = 1e3 * sum_of(&watched->clocks) / (double)watched->clocks.count;
  for (size_t i = 0; i < watched->temperatures.count; i++)
    look->core_temperature_c =
        fmax(look->core_temperature_c, 1e-3 * meter_number(watched->temperatures.list[i]));
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
