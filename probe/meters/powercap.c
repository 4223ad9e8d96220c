// RAPL through the kernel's powercap tree: a directory for each package, intel-rapl:N (for AMD
// too), with the microjoules used and the value at which they start again from 0
// (Documentation/power/powercap/powercap.rst). Since Linux 5.10 only root may read them.
#include "base/arena.h"
#include "base/clock.h"
#include "probe/meters/kinds.h"
#include "probe/meters/meter.h"
#include "probe/meters/small_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// No package draws more. A counter left unread within a window for longer than it takes to fill at
// this power may have wrapped more than once.
static const double max_power_w = 1000;
// By how much later than the energy flows a counter may show it, with room to spare.
static const double max_delay_s = 1;

struct domain {
  const char *path; // of energy_uj
  int fd;
  double range_j; // max_energy_range_uj
  double last_j;  // as last read
  double total_j; // since opened, with wraps counted, but not what flowed before a restart
};

struct powercap {
  struct domain *domains;
  size_t count;
  double last_s;
};

// Packages only: their children (intel-rapl:0:0, cores) are included in them, and the same packages
// appear again as intel-rapl-mmio:0.
static int is_zone(const struct dirent *entry) {
  static const char prefix[] = "intel-rapl:";
  const char *name = entry->d_name;
  return strncmp(name, prefix, sizeof prefix - 1) == 0 && !strchr(name + sizeof prefix - 1, ':');
}

static enum meter_status refuse(struct meter *meter, const char *path, int reason) {
  meter->why = arena_printf(meter->arena, "rapl-powercap: %s: %s", path, strerror(reason));
  return reason == EACCES || reason == EPERM ? METER_FORBIDDEN : METER_ABSENT;
}

// The counter in joules; false if it cannot be read as a number.
static bool read_counter(int fd, double *joules) {
  char text[64];
  const ssize_t length = pread(fd, text, sizeof text - 1, 0);
  if (length <= 0)
    return false;
  text[length] = 0;
  char *end;
  const unsigned long long value = strtoull(text, &end, 10);
  *joules = 1e-6 * (double)value;
  return end != text;
}

static enum meter_status open_domain(struct meter *meter, const char *zone, struct powercap *all) {
  struct domain domain = {.path = arena_printf(meter->arena, "%s/energy_uj", zone)};
  const char *name = small_file_text(zone, "name", meter->arena);
  if (!name || strncmp(name, "package", strlen("package")) != 0)
    return METER_OK; // psys covers the packages and more: never add it to them
  const char *range = small_file_text(zone, "max_energy_range_uj", meter->arena);
  if (!range)
    return refuse(meter, arena_printf(meter->arena, "%s/max_energy_range_uj", zone), errno);
  domain.range_j = 1e-6 * strtod(range, NULL);
  domain.fd = open(domain.path, O_RDONLY | O_CLOEXEC);
  if (domain.fd < 0)
    return refuse(meter, domain.path, errno);
  all->domains[all->count++] = domain;
  if (!read_counter(domain.fd, &all->domains[all->count - 1].last_j) || !(domain.range_j > 0))
    return refuse(meter, domain.path, errno ? errno : EINVAL);
  return METER_OK;
}

static void powercap_close(struct meter *meter) {
  struct powercap *all = meter->state;
  for (size_t i = 0; i < all->count; i++)
    close(all->domains[i].fd);
  all->count = 0;
}

static enum meter_status open_zones(struct meter *meter, const char *root, const char **zones,
                                    size_t count) {
  struct powercap *all = meter->state;
  for (size_t i = 0; i < count; i++) {
    errno = 0;
    const enum meter_status status = open_domain(meter, zones[i], all);
    if (status != METER_OK)
      return status;
  }
  if (all->count > 0)
    return METER_OK;
  meter->why = arena_printf(meter->arena, "rapl-powercap: no package under %s", root);
  return METER_ABSENT;
}

static enum meter_status powercap_open(struct meter *meter, const struct meter_roots *roots) {
  size_t count;
  const char **zones = small_file_list(roots->powercap, is_zone, &count, meter->arena);
  if (!zones)
    return refuse(meter, roots->powercap, errno);
  struct powercap *all = arena_alloc(meter->arena, sizeof *all);
  all->domains = arena_array(meter->arena, count + 1, sizeof *all->domains);
  all->last_s = clock_now(meter->clock);
  meter->state = all;
  const enum meter_status status = open_zones(meter, roots->powercap, zones, count);
  if (status != METER_OK)
    powercap_close(meter);
  else
    meter->name = arena_printf(meter->arena, "rapl-powercap, %zu CPU package%s", all->count,
                               all->count == 1 ? "" : "s");
  return status;
}

static enum meter_status read_domain(struct meter *meter, const struct domain *domain,
                                     double *joules) {
  if (read_counter(domain->fd, joules))
    return METER_OK;
  meter->why = arena_printf(meter->arena, "rapl-powercap: %s disappeared", domain->path);
  return METER_LOST;
}

static enum meter_status powercap_restart(struct meter *meter) {
  struct powercap *all = meter->state;
  for (size_t i = 0; i < all->count; i++)
    if (read_domain(meter, &all->domains[i], &all->domains[i].last_j) != METER_OK)
      return METER_LOST;
  all->last_s = clock_now(meter->clock);
  return METER_OK;
}

static enum meter_status advance(struct meter *meter, struct domain *domain, double elapsed_s) {
  double now_j;
  if (read_domain(meter, domain, &now_j) != METER_OK)
    return METER_LOST;
  if (elapsed_s * max_power_w > domain->range_j) {
    meter->why = arena_printf(meter->arena,
                              "rapl-powercap: %s was not read for %.0f s and may have wrapped "
                              "unnoticed",
                              domain->path, elapsed_s);
    return METER_LOST;
  }
  const double used = now_j - domain->last_j;
  const double used_j = used < 0 ? used + domain->range_j : used;
  if (used_j > (elapsed_s + max_delay_s) * max_power_w) {
    meter->why =
        arena_printf(meter->arena, "rapl-powercap: %s was reset: from %.0f J to %.0f J in %.2g s",
                     domain->path, domain->last_j, now_j, elapsed_s);
    return METER_LOST;
  }
  domain->total_j += used_j;
  domain->last_j = now_j;
  return METER_OK;
}

static enum meter_status powercap_read(struct meter *meter, struct meter_reading *reading) {
  struct powercap *all = meter->state;
  const double elapsed_s = reading->time_s - all->last_s;
  reading->joules = 0;
  for (size_t i = 0; i < all->count; i++) {
    if (advance(meter, &all->domains[i], elapsed_s) != METER_OK)
      return METER_LOST;
    reading->joules += all->domains[i].total_j;
  }
  all->last_s = reading->time_s;
  return METER_OK;
}

const struct meter_kind meter_powercap = {
    .name = "rapl-powercap",
    .covers = "CPU packages",
    .open = powercap_open,
    .read = powercap_read,
    .restart = powercap_restart,
    .close = powercap_close,
};
