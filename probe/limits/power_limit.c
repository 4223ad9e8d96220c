#include "probe/limits/power_limit.h"

#include "base/arena.h"
#include "probe/meters/address.h"
#include "probe/meters/meter.h"

#include <math.h>
#include <stddef.h>

static const double same_w = 1; // a limit is rounded when it is read back

static const struct power_limit_kind *const kinds[] = {&power_limit_nvml, &power_limit_amd};

enum meter_status power_limit_open(struct power_limit *limit, const char *pci,
                                   const struct device_users *users,
                                   const struct meter_roots *roots, struct arena *arena) {
  const unsigned vendor = meter_address_vendor(roots->pci, pci, arena);
  const char *whys = "";
  enum meter_status status = METER_ABSENT;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (vendor && kinds[i]->vendor != vendor)
      continue;
    *limit = (struct power_limit){.kind = kinds[i],
                                  .why = "",
                                  .pci = pci,
                                  .arena = arena,
                                  .part = "",
                                  .other_processes = NAN};
    status = kinds[i]->open(limit, users, roots);
    if (status == METER_OK)
      return status;
    whys = arena_printf(arena, "%s%s%s", whys, *whys ? "; " : "", limit->why);
  }
  *limit =
      (struct power_limit){.why = *whys ? whys : "no library that sets power limits supports it"};
  return status;
}

enum meter_status power_limit_set(struct power_limit *limit, double watts) {
  double now_w = NAN;
  enum meter_status status = limit->kind->set(limit, watts);
  if (status == METER_OK)
    status = limit->kind->read(limit, &now_w);
  if (status != METER_OK || fabs(now_w - watts) <= same_w)
    return status;
  limit->why = arena_printf(limit->arena, "%s: %s was set to %g W but reports %g W",
                            limit->kind->name, limit->pci, watts, now_w);
  return METER_LOST;
}

void power_limit_close(struct power_limit *limit) {
  if (limit->kind)
    limit->kind->close(limit);
  limit->kind = NULL;
}
