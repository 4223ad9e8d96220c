// together: the same workload on several devices at once, each with a model of its own (data
// parallel): what each decodes meanwhile, and what all of them draw.
//
// Every device was verified and measured alone before. Each runs on a thread of its own and never
// waits for another. Rates are of the time in which all of them ran, under the meter where there is
// one.
#ifndef PERTOKEN_PROBE_MEASURE_TOGETHER_H
#define PERTOKEN_PROBE_MEASURE_TOGETHER_H

#include "probe/measure/protocol.h"

struct together {
  double *tokens_per_s; // [count], of each device
  double total, slowest, fastest;
  double load_power_w, host_load_power_w; // NAN when not measured
  double window_s;
  const struct measurement_telemetry *telemetry; // [count], of each device
};

// protocol: clock, meter (of all the devices), host, telemetry (of each of them), energy_s, stop,
// progress, arena and diagnostics count. step_s [count]: about what a step takes on each. The
// devices may be of several backends.
enum protocol_outcome together_measure(const struct protocol *protocol,
                                       const struct device *devices, size_t count,
                                       const struct workload *workload, const double *step_s,
                                       struct together *out);

#endif
