// power_readings: a meter's readings during a window, in the form of a record.
#ifndef PERTOKEN_PROBE_MEASURE_POWER_READINGS_H
#define PERTOKEN_PROBE_MEASURE_POWER_READINGS_H

#include "base/arena.h"
#include "model/records/measurement.h"
#include "probe/meters/meter.h"

#include <stdbool.h>
#include <stddef.h>

// Seconds. Readings further apart leave a gap: five readings were missed.
#define POWER_READINGS_GAP_S 0.5

// The mean powers between `count` readings, joined as struct measurement_window says. `sensed`:
// from their watts, which all of them must have; otherwise from their joules.
struct measurement_window power_readings(const struct meter_reading *readings, size_t count,
                                         bool sensed, struct arena *arena);

#endif
