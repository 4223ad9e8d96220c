// RAPL through perf's event power/energy-pkg/: one counter for each package, opened on the CPUs
// that the kernel names for it (perf_event_open(2); needs CAP_PERFMON or perf_event_paranoid <= 0).
// The kernel widens the counter to 64 bits, so it does not wrap.
#include "base/arena.h"
#include "probe/meters/kinds.h"
#include "probe/meters/meter.h"
#include "probe/meters/small_file.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_PACKAGES = 64 };

struct perf {
  int fds[MAX_PACKAGES];
  size_t count;
  double scale_j; // joules per count
};

static enum meter_status absent(struct meter *meter, const char *path) {
  meter->why = arena_printf(meter->arena, "rapl-perf: %s: %s", path, strerror(errno));
  return errno == EACCES || errno == EPERM ? METER_FORBIDDEN : METER_ABSENT;
}

// The number after `prefix` in a file of the event source.
static enum meter_status read_setting(struct meter *meter, const char *root, const char *file,
                                      const char *prefix, int base, unsigned long long *out) {
  const char *path = arena_printf(meter->arena, "%s/%s", root, file);
  const char *text = small_file_text(root, file, meter->arena);
  if (!text)
    return absent(meter, path);
  const size_t length = strlen(prefix);
  char *end = NULL;
  if (strncmp(text, prefix, length) == 0)
    *out = strtoull(text + length, &end, base);
  if (end && end != text + length && !*end)
    return METER_OK;
  meter->why = arena_printf(meter->arena, "rapl-perf: %s holds '%s'", path, text);
  return METER_ABSENT;
}

static enum meter_status open_counter(struct meter *meter, uint32_t type, uint64_t event, int cpu) {
  struct perf *perf = meter->state;
  struct perf_event_attr attribute = {
      .type = type, .size = sizeof attribute, .config = event, .disabled = 0};
  const long fd = syscall(SYS_perf_event_open, &attribute, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0 || perf->count == MAX_PACKAGES)
    return absent(meter, "power/energy-pkg");
  perf->fds[perf->count++] = (int)fd;
  return METER_OK;
}

static void perf_close(struct meter *meter) {
  struct perf *perf = meter->state;
  for (size_t i = 0; i < perf->count; i++)
    close(perf->fds[i]);
  perf->count = 0;
}

// "0,18" or "0-1,4": one CPU of each package.
static enum meter_status open_counters(struct meter *meter, uint32_t type, uint64_t event,
                                       const char *cpus) {
  while (*cpus) {
    char *end;
    const long first = strtol(cpus, &end, 10);
    const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
    if (end == cpus || (*end && *end != ',') || first < 0 || last < first ||
        last - first >= MAX_PACKAGES) {
      meter->why = "rapl-perf: power/cpumask cannot be read";
      return METER_ABSENT;
    }
    for (long cpu = first; cpu <= last; cpu++) {
      const enum meter_status status = open_counter(meter, type, event, (int)cpu);
      if (status != METER_OK)
        return status;
    }
    cpus = *end ? end + 1 : end;
  }
  return METER_OK;
}

static enum meter_status perf_open(struct meter *meter, const struct meter_roots *roots) {
  struct perf *perf = arena_alloc(meter->arena, sizeof *perf);
  meter->state = perf;
  unsigned long long type, event;
  const char *root = arena_printf(meter->arena, "%s/power", roots->events);
  enum meter_status status = read_setting(meter, root, "type", "", 10, &type);
  if (status == METER_OK)
    status = read_setting(meter, root, "events/energy-pkg", "event=", 0, &event);
  if (status != METER_OK)
    return status;
  const char *scale = small_file_text(root, "events/energy-pkg.scale", meter->arena);
  const char *cpus = small_file_text(root, "cpumask", meter->arena);
  perf->scale_j = scale ? strtod(scale, NULL) : 0;
  if (!cpus || !*cpus || !(perf->scale_j > 0)) {
    meter->why = "rapl-perf: power/cpumask or the scale of power/energy-pkg is missing";
    return METER_ABSENT;
  }
  status = open_counters(meter, (uint32_t)type, event, cpus);
  if (status != METER_OK)
    perf_close(meter);
  else
    meter->name = arena_printf(meter->arena, "rapl-perf, %zu CPU package%s", perf->count,
                               perf->count == 1 ? "" : "s");
  return status;
}

static enum meter_status perf_read(struct meter *meter, struct meter_reading *reading) {
  const struct perf *perf = meter->state;
  reading->joules = 0;
  for (size_t i = 0; i < perf->count; i++) {
    uint64_t count;
    if (read(perf->fds[i], &count, sizeof count) != sizeof count) {
      meter->why = "rapl-perf: a counter of power/energy-pkg disappeared";
      return METER_LOST;
    }
    reading->joules += perf->scale_j * (double)count;
  }
  return METER_OK;
}

const struct meter_kind meter_perf = {
    .name = "rapl-perf",
    .covers = "CPU packages",
    .open = perf_open,
    .read = perf_read,
    .close = perf_close,
};
