// together: the same trial on several devices at once, each with its own model (data parallel):
// what each of them decodes, and what all of them draw.
//
// Every device has already been verified and measured alone. Each runs on a thread of its own and
// never waits for another. Rates cover the time in which all of them ran, under the meter if there
// is one.
#ifndef PERTOKEN_PROBE_MEASURE_TOGETHER_H
#define PERTOKEN_PROBE_MEASURE_TOGETHER_H

#include "model/records/measurement.h"
#include "probe/devices/device.h"
#include "probe/measure/protocol.h"
#include "probe/measure/trial.h"

#include <stddef.h>

struct together {
  double *tokens_per_s;                   // [count], of each device
  double total, slowest, fastest;         // of these
  double load_power_w, host_load_power_w; // NAN: not measured
  double wall_power_w;                    // the same
  double window_s;
  const struct measurement_telemetry *telemetry; // [count], of each device
};

// Of the protocol, the clock, the meter (of all the devices), host, wall, telemetry (of each of
// them), energy_s, soak_s, stop, progress, arena and diagnostics are used. alone [count]: the
// trial's result on each, whose variant is used again. The devices may belong to several
// backends. What *out points to is in the protocol's arena. Failures are reported.
enum protocol_outcome together_measure(const struct protocol *protocol,
                                       const struct device *devices, size_t count,
                                       const struct trial *trial, struct measurement *const *alone,
                                       struct together *out);

#endif
