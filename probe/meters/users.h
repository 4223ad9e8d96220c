// users: how many other processes use each of AMD's devices.
//
// AMD SMI counts this process among a device's users once it uses one, so the others are counted
// before a backend is loaded; that of ROCm 5.7 to 6.1.0 always counts it, so there the number is
// unknown. NVML names each process, and needs no such list.
#ifndef PERTOKEN_PROBE_METERS_USERS_H
#define PERTOKEN_PROBE_METERS_USERS_H

#include "base/arena.h"
#include "probe/meters/address.h"
#include "probe/meters/meter.h"

#include <stddef.h>

struct device_users {
  struct meter_address *addresses; // [count]
  int *processes;                  // [count]; -1: unknown
  size_t count;
};

// Empty without AMD SMI.
struct device_users device_users_find(const struct meter_roots *roots, struct arena *arena);

// The users of all partitions of the device's socket together, since they share its power. NAN:
// unknown, or a device that is not in the list. `users` may be NULL.
double device_users_of(const struct device_users *users, const struct meter_address *device);

#endif
