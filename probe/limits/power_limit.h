// power_limit: a GPU's power limit, read and set through its vendor's management library: NVML or
// AMD SMI. Setting needs root, and lasts beyond the process: whoever sets it must ensure that it is
// restored (power_guard.h). A device is found by its PCI address.
#ifndef PERTOKEN_PROBE_LIMITS_POWER_LIMIT_H
#define PERTOKEN_PROBE_LIMITS_POWER_LIMIT_H

#include "base/arena.h"
#include "probe/meters/meter.h"
#include "probe/meters/users.h"

struct power_limit;

struct power_limit_kind {
  const char *name; // "nvml"
  unsigned vendor;
  // Fills in `own` and what is found. On failure limit->why has a sentence.
  enum meter_status (*open)(struct power_limit *limit, const struct device_users *users,
                            const struct meter_roots *roots);
  enum meter_status (*read)(struct power_limit *limit, double *watts);
  enum meter_status (*set)(struct power_limit *limit, double watts);
  void (*close)(struct power_limit *limit);
};

extern const struct power_limit_kind power_limit_nvml, power_limit_amd;

struct power_limit {
  const struct power_limit_kind *kind; // NULL: none
  const char *why;                     // the last failure in words, "" before one
  const char *pci;
  struct arena *arena;
  void *own;                     // of the kind
  double watts, least_w, most_w; // when it was opened; the range that can be set
  const char *part;              // "", or a part of a device: "MIG", "CPX"
  double other_processes;        // that use the device; NAN: unknown
};

// `pci`, `roots` and `arena` must outlive it. `users` may be NULL for a caller that only restores a
// limit. On failure limit->why says why, and there is nothing to close.
enum meter_status power_limit_open(struct power_limit *limit, const char *pci,
                                   const struct device_users *users,
                                   const struct meter_roots *roots, struct arena *arena);

// METER_FORBIDDEN without permission; METER_LOST if the device afterwards reports a different
// limit.
enum meter_status power_limit_set(struct power_limit *limit, double watts);

void power_limit_close(struct power_limit *limit);

#endif
