#include "probe/meters/telemetry.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/statistics.h"
#include "base/texts.h"
#include "model/records/measurement_fields.h"
#include "probe/meters/address.h"
#include "probe/meters/kinds.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

// Best first.
static const struct telemetry_kind *const telemetry_kinds[] = {
    &telemetry_nvml,   &telemetry_amdsmi, &telemetry_rocmsmi,
    &telemetry_amdgpu, &telemetry_cpu,    NULL};

static const struct telemetry_links links_unknown = {NAN, NAN, NAN, NAN};

static bool is_for(const struct telemetry_kind *kind, const char *device, unsigned vendor) {
  if (!*device || !kind->vendor)
    return !*device && !kind->vendor;
  return !vendor || kind->vendor == vendor;
}

void telemetry_open(struct telemetry *telemetry, const char *device,
                    const struct meter_roots *roots, const struct clock *clock,
                    struct arena *arena) {
  const char *reasons = "";
  const unsigned vendor = *device ? meter_address_vendor(roots->pci, device, arena) : 0;
  for (size_t i = 0; telemetry_kinds[i]; i++) {
    if (!is_for(telemetry_kinds[i], device, vendor))
      continue;
    *telemetry = (struct telemetry){.kind = telemetry_kinds[i],
                                    .name = telemetry_kinds[i]->name,
                                    .why = "",
                                    .device = device,
                                    .state = measurement_device_state_unknown(),
                                    .arena = arena,
                                    .clock = clock};
    if (telemetry->kind->open(telemetry, roots) == METER_OK)
      return;
    reasons = arena_printf(arena, "%s%s%s", reasons, *reasons ? "; " : "", telemetry->why);
  }
  *telemetry = (struct telemetry){.why = reasons,
                                  .device = device,
                                  .state = measurement_device_state_unknown(),
                                  .arena = arena,
                                  .clock = clock};
  telemetry->name =
      arena_printf(arena, "none: %s", *reasons ? reasons : "no kind is known for this device");
}

void telemetry_restart(struct telemetry *telemetry) {
  telemetry->count = 0;
}

void telemetry_look(struct telemetry *telemetry) {
  if (!telemetry->kind || *telemetry->why)
    return;
  telemetry->looks =
      arena_room(telemetry->arena, telemetry->looks, telemetry->count, sizeof *telemetry->looks);
  struct telemetry_look *look = &telemetry->looks[telemetry->count];
  *look =
      (struct telemetry_look){clock_now(telemetry->clock), NAN, NAN, NAN, NAN, {0}, links_unknown};
  for (size_t i = 0; i < MAX_TELEMETRY_REASONS; i++)
    look->throttled_s[i] = NAN;
  if (telemetry->kind->look(telemetry, look) == METER_OK)
    telemetry->count++;
  else if (!*telemetry->why)
    telemetry->why = "the device stopped reporting";
}

// The range of a member over the readings that report it; `values` [2 * looks] is scratch space.
static struct measurement_range range_of(const struct telemetry *telemetry, size_t offset,
                                         double *values) {
  struct measurement_range range = {NAN, NAN, NAN};
  size_t count = 0;
  for (size_t i = 0; i < telemetry->count; i++) {
    memcpy(&values[count], (const char *)&telemetry->looks[i] + offset, sizeof *values);
    if (isnan(values[count]))
      continue;
    range.min = fmin(range.min, values[count]);
    range.max = fmax(range.max, values[count++]);
  }
  if (count)
    range.median = summarise(values, count, values + telemetry->count).median;
  return range;
}

static void sum_throttling(const struct telemetry *telemetry, struct measurement_telemetry *sum) {
  struct measurement_throttle *list =
      arena_array(telemetry->arena, MAX_TELEMETRY_REASONS, sizeof *list);
  const struct telemetry_look *first = &telemetry->looks[0];
  const struct telemetry_look *last = &telemetry->looks[telemetry->count - 1];
  for (size_t i = 0; telemetry->kind->reasons[i]; i++) {
    const double seconds = last->throttled_s[i] - first->throttled_s[i];
    if (seconds > 0)
      list[sum->throttle_count++] =
          (struct measurement_throttle){telemetry->kind->reasons[i], seconds};
  }
  sum->throttles = list;
}

// An idle link is put on a lower generation, so the highest of all readings counts.
static struct telemetry_links widest_links(const struct telemetry *telemetry) {
  struct telemetry_links widest = links_unknown;
  for (size_t i = 0; i < telemetry->count; i++) {
    const struct telemetry_links *links = &telemetry->looks[i].links;
    widest.pcie_generation = fmax(widest.pcie_generation, links->pcie_generation);
    widest.pcie_width = fmax(widest.pcie_width, links->pcie_width);
    widest.nvlinks = fmax(widest.nvlinks, links->nvlinks);
    widest.xgmi_width = fmax(widest.xgmi_width, links->xgmi_width);
  }
  return widest;
}

static const char *tell_links(const struct telemetry_links *links, struct arena *arena) {
  struct texts told = {NULL, 0};
  if (links->pcie_generation > 0 && links->pcie_width > 0)
    texts_add(&told, arena, "PCIe %g x%g", links->pcie_generation, links->pcie_width);
  else if (links->pcie_width > 0)
    texts_add(&told, arena, "PCIe x%g", links->pcie_width);
  if (!isnan(links->nvlinks))
    texts_add(&told, arena, "%g NVLinks", links->nvlinks);
  if (!isnan(links->xgmi_width))
    texts_add(&told, arena, "xGMI x%g", links->xgmi_width);
  return texts_joined(&told, arena);
}

struct measurement_telemetry telemetry_sum(const struct telemetry *telemetry) {
  struct measurement_telemetry sum = measurement_unknown().telemetry;
  sum.source = telemetry->name;
  if (!telemetry->kind)
    return sum;
  if (*telemetry->why)
    sum.source = arena_printf(telemetry->arena, "lost: %s", telemetry->why);
  if (telemetry->count == 0)
    return sum;
  double *values = arena_array(telemetry->arena, 2 * telemetry->count, sizeof *values);
  sum.looks = (int)telemetry->count;
  sum.window_s = telemetry->looks[telemetry->count - 1].time_s - telemetry->looks[0].time_s;
  sum.core_clock_hz = range_of(telemetry, offsetof(struct telemetry_look, core_clock_hz), values);
  sum.memory_clock_hz =
      range_of(telemetry, offsetof(struct telemetry_look, memory_clock_hz), values);
  sum.core_temperature_c =
      range_of(telemetry, offsetof(struct telemetry_look, core_temperature_c), values);
  sum.memory_temperature_c =
      range_of(telemetry, offsetof(struct telemetry_look, memory_temperature_c), values);
  sum_throttling(telemetry, &sum);
  const struct telemetry_links links = widest_links(telemetry);
  sum.links = tell_links(&links, telemetry->arena);
  return sum;
}

struct measurement_telemetry *telemetry_sums(const struct telemetry *telemetry, size_t count,
                                             struct arena *arena) {
  struct measurement_telemetry *sums = arena_array(arena, count, sizeof *sums);
  for (size_t i = 0; i < count; i++)
    sums[i] = telemetry_sum(&telemetry[i]);
  return sums;
}

struct measurement_telemetry *telemetry_unwatched(const struct telemetry *telemetry, size_t count,
                                                  struct arena *arena) {
  struct measurement_telemetry *sums = arena_array(arena, count, sizeof *sums);
  for (size_t i = 0; i < count; i++) {
    sums[i] = measurement_unknown().telemetry;
    sums[i].source = telemetry[i].name;
  }
  return sums;
}

void telemetry_close(struct telemetry *telemetry) {
  if (telemetry->kind)
    telemetry->kind->close(telemetry);
  telemetry->kind = NULL;
}
