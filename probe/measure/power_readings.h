// power_readings: what a meter read during a window, as a record keeps it.
#ifndef PERTOKEN_PROBE_MEASURE_POWER_READINGS_H
#define PERTOKEN_PROBE_MEASURE_POWER_READINGS_H

#include "base/arena.h"
#include "model/evidence/measurement.h"
#include "probe/meters/meter.h"

#include <stdbool.h>
#include <stddef.h>

// Seconds. Readings further apart leave a gap: five looks were missed.
#define POWER_READINGS_GAP_S 0.5

// The mean powers between `count` readings, joined as struct measurement_window says. `sensed`: by
// their watts, which all of them must have; else by their joules.
struct measurement_window power_readings(const struct meter_reading *readings, size_t count,
                                         bool sensed, struct arena *arena);

#endif
