// power_log: reads the meters of this host on a thread of their own, as a power series in UTC.
//
// A track is an accelerator (a socket, if partitions share one), or the CPU packages together.
#ifndef PERTOKEN_PROBE_MEASURE_POWER_LOG_H
#define PERTOKEN_PROBE_MEASURE_POWER_LOG_H

#include "base/arena.h"
#include "model/telemetry/power_series.h"
#include "probe/meters/meter.h"

#include <stddef.h>
#include <time.h>

struct power_log_request {
  // "all": every accelerator, or the CPU packages of a machine without one. "cpu". Or a list of
  // accelerators by number, in the order of their PCI addresses, by PCI address or by UUID.
  const char *devices;
  double every_s; // between two readings
  const struct meter_roots *roots;
  const struct clock *clock;
};

struct power_log;

#define POWER_LOG_EVERY_S 0.2

// Opens the meters and begins to read. Returns NULL, or why it could not: a device that is unknown
// or has no meter. `request` need not outlive it, but what it points to must.
const char *power_log_start(const struct power_log_request *request, struct power_log **out,
                            struct arena *arena);

// What was read so far, with the clock's state at the start and now.
struct power_series power_log_series(struct power_log *log, struct arena *arena);

// "GPU-1a2b (0000:17:00.0): nvml, 1 GPU: ..." for each, joined with "; ", until power_log_stop; and
// what has gone wrong since, "" for nothing.
const char *power_log_meters(const struct power_log *log);
const char *power_log_trouble(struct power_log *log, struct arena *arena);

// The sum of the latest watts of all tracks; NAN before there are any.
double power_log_watts(struct power_log *log);

// A time of the request's clock as UTC, as in the series.
double power_log_utc(const struct power_log *log, double time_s);

// Ends the thread and closes the meters.
void power_log_stop(struct power_log *log);

#endif
