// environment: what surrounds a measurement on this machine.
#ifndef PERTOKEN_PROBE_MEASURE_ENVIRONMENT_H
#define PERTOKEN_PROBE_MEASURE_ENVIRONMENT_H

#include "model/evidence/measurement.h"

// What cannot be read is left blank or NAN. kernels_build is the backend's. The device's state is
// telemetry's to fill in.
struct measurement_environment environment_read(int threads, const char *kernels_build,
                                                struct arena *arena);

// Now, as records write it: 2026-11-21T09:30:00Z
const char *environment_time(struct arena *arena);

#endif
