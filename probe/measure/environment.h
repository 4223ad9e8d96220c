// environment: what a measurement on this machine depends on apart from its device.
#ifndef PERTOKEN_PROBE_MEASURE_ENVIRONMENT_H
#define PERTOKEN_PROBE_MEASURE_ENVIRONMENT_H

#include "base/arena.h"
#include "model/records/measurement.h"

// What cannot be read is left blank or NAN. `threads` and the backend's kernels_build are copied;
// the device's state is left to its telemetry, and remarks to the caller.
struct measurement_environment environment_read(int threads, const char *kernels_build,
                                                struct arena *arena);

#endif
