// power_join: the watts of a serving rung, taken from a series of watts, by time.
//
// If two clocks are involved, the energy is only as certain as they are close: a bound on their
// difference is stated, from both hosts' NTP or by the user. There are no watts without it, or if
// it could change the energy of the window by more than POWER_JOIN_CLOCK_SHARE.
#ifndef PERTOKEN_MODEL_TELEMETRY_POWER_JOIN_H
#define PERTOKEN_MODEL_TELEMETRY_POWER_JOIN_H

#include "base/arena.h"
#include "model/records/serving.h"
#include "model/telemetry/clock_state.h"
#include "model/telemetry/power_series.h"

#include <stdbool.h>

#define POWER_JOIN_CLOCK_SHARE 0.01
// The scatter, as a share, above which the watts carry a remark on it.
#define POWER_JOIN_SCATTER  0.01
#define POWER_JOIN_WINDOW_S 5.0 // a shorter window has no watts: counters are too coarse

// Watts must exceed this: rocm-smi has been seen to report 0 to 2 W for an MI325X under load.
#define POWER_JOIN_PLAUSIBLE_W 2.0

struct power_join {
  const struct power_series *series;
  double start_s, end_s;           // of the rung's window: UTC, by the clock of the rates' host
  double idle_start_s, idle_end_s; // before the load; NAN: there is no such time
  int accelerators;                // that the rates refer to
  bool one_clock;                  // the series' times are from the same clock as the window's
  double stated_offset_s;          // a bound stated by the user; NAN: none
  struct clock_state clock,
      clock_after; // of the rates' host; unused with one clock
};

// Never fails: without watts, the source is "none: WHY". In the arena.
struct serving_power power_join(const struct power_join *join, struct arena *arena);

// The power of a rung without watts, and why it has none.
struct serving_power power_join_none(const char *why, struct arena *arena);

#endif
