// power_sweep: holds a device at one power limit after another (`run --power-limit`), and shows
// what a token costs in time and joules at each.
//
// Nothing is set unless every requested limit is in the device's range, nobody else uses the
// device, and it is not a part of a larger one. The limit is restored on every way out: by
// power_sweep_end or, if the process ends without it, by the guard.
#ifndef PERTOKEN_PROBE_SESSIONS_POWER_SWEEP_H
#define PERTOKEN_PROBE_SESSIONS_POWER_SWEEP_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/records/measurement.h"
#include "probe/devices/device.h"
#include "probe/limits/power_guard.h"
#include "probe/limits/power_limit.h"
#include "probe/meters/meter.h"
#include "probe/meters/users.h"
#include "probe/options/values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct power_sweep {
  // Set by the caller.
  const struct number_list *limits; // watts
  const struct meter_roots *roots;
  const struct device_users *users; // before a backend was loaded
  struct arena *arena;
  struct diagnostics *diagnostics;

  // For power_sweep.c alone.
  struct power_guard guard;
  struct power_limit limit;
  bool is_open, is_held;
};

// Called before a backend is loaded. Returns 0, or -1 after an error; so do the others.
int power_sweep_begin(struct power_sweep *sweep);

// Finds the device's limit, and refuses what must not be set.
int power_sweep_open(struct power_sweep *sweep, const struct device *device);

// Sets the limit, after telling the guard which one to restore.
int power_sweep_hold(struct power_sweep *sweep, double watts);

// Restores the limit that was found; also allowed for a sweep that was not opened.
int power_sweep_end(struct power_sweep *sweep);

// Prints a line for each result at each limit, and marks the one with the fewest joules per token;
// and which kernels it was with, unless they were the same at all limits. Takes one record [count]
// per limit, as many as were measured; their results may be in different orders.
void power_sweep_print(const struct power_sweep *sweep,
                       const struct measurement_record *const *records, size_t count, FILE *out);

#endif
