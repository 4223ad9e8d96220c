// energy_load: keeps a decode state running while it is metered.
#ifndef PERTOKEN_PROBE_MEASURE_ENERGY_LOAD_H
#define PERTOKEN_PROBE_MEASURE_ENERGY_LOAD_H

#include "kernels/decode.h"
#include "model/records/measurement.h"
#include "probe/measure/energy.h"
#include "probe/measure/protocol.h"
#include "probe/meters/wall.h"

struct energy_load {
  struct energy_use use, host_use;               // by the device's meter and by the host's
  const struct measurement_telemetry *telemetry; // [protocol->telemetry_count]
  struct wall_reading wall;
  double soak_s; // of load before
  double step_s; // of the steps within `use`, on average; NAN without a meter
};

// All unknown.
struct energy_load energy_load_unknown(void);

// Runs steps for protocol->soak_s, to be followed by everything that is timed. `step_s` is roughly
// the time of a step; `label` is for progress.
enum decode_status energy_load_soak(const struct protocol *protocol, struct decode_state *state,
                                    double step_s, const char *label, struct energy_load *out);

// Runs steps for protocol->energy_s under the meters; none at all if that is 0, or if there is
// nothing to watch.
// out->soak_s stays.
enum decode_status energy_load_run(const struct protocol *protocol, struct decode_state *state,
                                   double step_s, const char *label, struct energy_load *out);

#endif
