// protocol: how trials are measured: on what, with which meters, for how long.
//
// The clock, the backend and the meters are passed in, so that tests run without waiting.
#ifndef PERTOKEN_PROBE_MEASURE_PROTOCOL_H
#define PERTOKEN_PROBE_MEASURE_PROTOCOL_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "kernels/decode.h"
#include "model/records/measurement.h"
#include "probe/devices/device.h"
#include "probe/measure/energy_watch.h"
#include "probe/measure/meter_set.h"
#include "probe/measure/trial.h"
#include "probe/meters/meter.h"
#include "probe/meters/telemetry.h"
#include "probe/meters/users.h"
#include "probe/meters/wall.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define PROTOCOL_SAMPLE_S 0.020 // a sample has as many steps as take this long
#define PROTOCOL_TIME_S   10.0  // of samples, unless they have settled before (TIMING_SETTLED)
#define PROTOCOL_ENERGY_S 5.5   // of load under a meter
#define PROTOCOL_SOAK_S   300.0 // with --soak; its last part is the window under the meter
#define PROTOCOL_WINDOW_S 60.0  // the longest window
#define PROTOCOL_CACHES   8     // weights and cache are this many times the last-level cache

struct protocol {
  const struct device *device;
  const struct clock *clock;
  struct meter *meter; // the device's own; may have no kind
  double idle_power_w; // NAN: not measured
  struct measurement_window idle_readings;
  // The rest of the meters; each may be NULL.
  struct meter *host;
  double host_idle_power_w;
  struct telemetry *telemetry; // [telemetry_count], of each device
  size_t telemetry_count;
  const struct wall_options *wall;
  // Where the commands find the meters above for the devices that they choose. NULL: they are used
  // as given.
  const struct meter_roots *roots;
  const struct device_users *users; // before a backend was loaded; or NULL
  const char *program; // tries a variant of the kernels in a process of its own: tryout.h; or NULL
  bool on_thread;      // meters are read while the load runs, not between its chunks
  double time_s, energy_s;            // at most, for sampling; at least, under the meter, or 0
  double soak_s;                      // of the same load before the samples and the meter
  const volatile sig_atomic_t *stop;  // set by Ctrl-C: the current sample is finished
  void (*progress)(const char *text); // or NULL; "" clears the line
  struct arena *arena;
  struct diagnostics *diagnostics;
};

enum protocol_outcome {
  PROTOCOL_DONE,
  PROTOCOL_STOPPED, // by *stop; there is no result
  PROTOCOL_FAILED   // and reported
};

// Puts the set's meters and telemetry into the protocol.
void protocol_use(struct protocol *protocol, struct meter_set *set);

// Shows "LABEL: WHAT" as progress, if anybody is watching.
void protocol_say(const struct protocol *protocol, const char *label, const char *what);

// Reports that a trial `what` ("cannot be measured") for a status other than DECODE_OK.
enum protocol_outcome protocol_fail(const struct protocol *protocol, const struct trial *trial,
                                    const char *what, enum decode_status status);

// How many steps take about `seconds` when one takes step_s: 1 to 200.
int protocol_steps(double seconds, double step_s);

// A watch of all the protocol's meters for energy_s, not started yet.
struct energy_watch protocol_watch(const struct protocol *protocol);

// Measures idle_power_w, with its readings, and host_idle_power_w: NAN without a meter.
void protocol_idle(struct protocol *protocol);

#endif
