// power_guard: a process beside this one that restores a device's power limit if this process ends
// without having done so, even when killed. It is started before any vendor's library is loaded,
// because a forked copy could not use one, and in its own session, so that no terminal ends it; a
// signal meant for this process does not reach it. It cannot help against what ends both at once,
// such as a killed cgroup or a machine going down.
#ifndef PERTOKEN_PROBE_LIMITS_POWER_GUARD_H
#define PERTOKEN_PROBE_LIMITS_POWER_GUARD_H

#include "probe/meters/meter.h"

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

struct power_guard {
  pid_t process; // 0: none
  int channel;
};

// Returns 0, or -1 with errno. `roots` must be usable unchanged in the forked process.
int power_guard_start(struct power_guard *guard, const struct meter_roots *roots);

// From now on the device is to be restored to that many watts or, once that has been done, not at
// all. Returns 0, or -1 if the guard is gone.
int power_guard_tell(const struct power_guard *guard, const char *pci, double watts, bool is_held);

// Lets the guard end, and waits for that. It ends at once or, if it was told of a device that is
// still limited, after it has restored it.
void power_guard_stop(struct power_guard *guard);

#endif
