// protocol: how one workload is measured: verify, warm up, calibrate, time, meter.
//
// The clock, the backend and the meter come from outside, so that tests run it without waiting.
#ifndef PERTOKEN_PROBE_MEASURE_PROTOCOL_H
#define PERTOKEN_PROBE_MEASURE_PROTOCOL_H

#include "base/clock.h"
#include "model/evidence/measurement.h"
#include "probe/devices/device.h"
#include "probe/meters/meter.h"
#include "probe/meters/telemetry.h"
#include "probe/meters/wall.h"

#include <signal.h>

enum { PROTOCOL_DEPTHS = 3 };

#define PROTOCOL_SAMPLE_S 0.020 // one sample is as many steps as take this long
#define PROTOCOL_SETTLED  0.005 // half-width of the median's interval, as a share, that ends it
#define PROTOCOL_TIME_S   10.0  // of sampling, else
#define PROTOCOL_ENERGY_S 5.5   // of load under a meter
#define PROTOCOL_SOAK_S   300.0 // with --soak; the last of it is the window under the meter
#define PROTOCOL_WINDOW_S 60.0  // at most that long
#define PROTOCOL_CACHES   8     // weights and cache are this many times the last-level cache

struct protocol {
  const struct device *device;
  const struct clock *clock;
  struct meter *meter; // the device's own; may be none
  double idle_power_w; // NAN when not measured
  struct measurement_window idle_readings;
  // Beside it; each may be NULL.
  struct meter *host;
  double host_idle_power_w;
  struct telemetry *telemetry; // [telemetry_count], of the device, or of each of several
  size_t telemetry_count;
  const struct wall_options *wall;
  // From which session and recheck open the three above and the meter for the device that they
  // find, NULL: they are used as given.
  const struct meter_roots *roots;
  bool on_thread;                     // meters are read beside the load, not between its chunks
  double time_s, energy_s;            // at most for sampling; at least under the meter
  double soak_s;                      // of the same load before the meter starts
  const volatile sig_atomic_t *stop;  // set by Ctrl-C: the running sample is finished
  void (*progress)(const char *text); // or NULL; "" clears the line
  struct arena *arena;
  struct diagnostics *diagnostics;
};

struct workload {
  struct measurement_shape model;
  const char *precision;
  struct decode_types types;
  int batch, context, threads;
  uint64_t seed;
  // Depths to measure, ascending; one, of all the model's layers or fewer, or two and more, from
  // which the whole is extrapolated.
  int layers[PROTOCOL_DEPTHS];
  size_t layer_count;
  struct measurement_shard shard; // of > 1: one rank's share; step_seconds is not used
  // Devices of the protocol's backend that hold the model together, the protocol's first; none: it
  // alone.
  const struct device *ranks;
  const int *rank_indices; // of those
  int rank_count;
};

enum protocol_outcome {
  PROTOCOL_DONE,
  PROTOCOL_STOPPED, // by *stop; there is no result
  PROTOCOL_FAILED   // reported
};

// "tinyllama-1.1b bf16, batch 1, context 512"
const char *workload_text(const struct workload *workload, struct arena *arena);

// What the backend is asked to run at that depth.
struct decode_request workload_request(const struct workload *workload, int layers);

// Refuses what the device cannot hold, saying how much is needed and there, and what would fit.
// Returns 0 or -1.
int protocol_fits(const struct protocol *protocol, const struct workload *workload);

// Fills *out, but for its record and place.
enum protocol_outcome protocol_measure(const struct protocol *protocol,
                                       const struct workload *workload, struct measurement *out);

// Measures idle_power_w, with its readings, and host_idle_power_w: NAN without a meter.
void protocol_idle(struct protocol *protocol);

#endif
