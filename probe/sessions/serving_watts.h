// serving_watts: power during a server's loads: from this host's own meters if the server runs
// here, otherwise from a file that pertoken probe meter wrote on its host, joined by time.
#ifndef PERTOKEN_PROBE_SESSIONS_SERVING_WATTS_H
#define PERTOKEN_PROBE_SESSIONS_SERVING_WATTS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/records/serving.h"
#include "model/telemetry/clock_state.h"
#include "probe/measure/power_log.h"
#include "probe/meters/meter.h"
#include "probe/serving/rung.h"

#include <stdbool.h>
#include <time.h>

// Measured before the first load, while the server has nothing to do.
#define SERVING_IDLE_S 6.0

struct serving_watts {
  // Set by the caller.
  const char *url;
  const char *devices; // of power_log_request; NULL: all, or the CPU packages for "cpu"
  const char *accelerator;
  int accelerators;
  const struct meter_roots *roots;
  const struct clock *clock; // machine_clock, except in tests
  struct arena *arena;
  // serving_watts's own.
  struct power_log *log;           // NULL until the first load, and without a meter
  const char *why;                 // why there is none; NULL
  double idle_start_s, idle_end_s; // UTC
  struct clock_state clock_before;
};

// The meter for every load, for rung_run. It waits for SERVING_IDLE_S before the first.
struct rung_meter serving_watts_meter(struct serving_watts *watts);

// Closes the meters; also allowed without any.
void serving_watts_stop(struct serving_watts *watts);

// Joins the loads of a record that have no watts yet to another host's file by time. `offset_s`:
// how far the two clocks may differ, as stated by the user; NAN: as both hosts' NTP says. Returns
// how many loads it gave watts, or -1 after errors.
int serving_watts_join(struct serving_record *record, const char *path, const char *devices,
                       double offset_s, struct arena *arena, struct diagnostics *diagnostics);

#endif
