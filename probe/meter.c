#include "probe/meter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct meter_roots machine_meters = {"/sys/class/powercap", "/sys/bus/event_source/devices"};

const struct meter_kind *const meter_kinds[] = {&meter_powercap, &meter_perf, NULL};

enum meter_status meter_open_kind(struct meter *meter, const struct meter_kind *kind,
                                  const struct meter_roots *roots, const struct clock *clock,
                                  struct arena *arena) {
  *meter = (struct meter){.kind = kind, .why = "", .arena = arena, .clock = clock};
  const enum meter_status status = kind->open(meter, roots);
  if (status == METER_OK)
    return METER_OK;
  meter->kind = NULL;
  meter->name = arena_printf(arena, "none: %s", meter->why);
  return status;
}

enum meter_status meter_open(struct meter *meter, const struct meter_roots *roots,
                             const struct clock *clock, struct arena *arena) {
  const char *reasons = "";
  enum meter_status worst = METER_ABSENT;
  for (size_t i = 0; meter_kinds[i]; i++) {
    const enum meter_status status = meter_open_kind(meter, meter_kinds[i], roots, clock, arena);
    if (status == METER_OK)
      return METER_OK;
    if (status == METER_FORBIDDEN)
      worst = status;
    reasons = arena_printf(arena, "%s%s%s", reasons, i ? "; " : "", meter->why);
  }
  meter->why = reasons;
  meter->name = arena_printf(arena, "none: %s", reasons);
  return worst;
}

enum meter_status meter_read(struct meter *meter, struct meter_reading *out) {
  if (!meter->kind || *meter->why)
    return METER_LOST;
  out->time_s = clock_now(meter->clock);
  if (meter->kind->read(meter, out->time_s, &out->joules) == METER_OK)
    return METER_OK;
  if (!*meter->why)
    meter->why = "the meter failed";
  return METER_LOST;
}

enum meter_status meter_read_edge(struct meter *meter, double limit_s, struct meter_reading *out) {
  struct meter_reading first;
  if (meter_read(meter, &first) != METER_OK)
    return METER_LOST;
  do {
    clock_sleep(meter->clock, 1e-4);
    if (meter_read(meter, out) != METER_OK)
      return METER_LOST;
    if (out->joules > first.joules)
      return METER_OK;
  } while (out->time_s - first.time_s < limit_s);
  meter->why = arena_printf(meter->arena, "%s: the counter stood still for %g s", meter->kind->name,
                            limit_s);
  return METER_LOST;
}

void meter_close(struct meter *meter) {
  if (meter->kind)
    meter->kind->close(meter);
  meter->kind = NULL;
}

const char *meter_file(const char *path, struct arena *arena) {
  char line[256];
  FILE *file = fopen(path, "re");
  if (!file)
    return NULL;
  errno = EIO;
  const char *read = fgets(line, sizeof line, file);
  const int reason = errno;
  fclose(file);
  errno = reason;
  if (!read)
    return NULL;
  line[strcspn(line, "\n")] = 0;
  return arena_copy(arena, line);
}
