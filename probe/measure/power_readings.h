// power_readings: what a meter read over a window, as a record keeps it.
#ifndef PERTOKEN_PROBE_MEASURE_POWER_READINGS_H
#define PERTOKEN_PROBE_MEASURE_POWER_READINGS_H

#include "model/evidence/measurement.h"
#include "probe/meters/meter.h"

#include <stdbool.h>

// Readings further apart are a gap: five looks that were not taken.
#define POWER_READINGS_GAP_S 0.5

// Of `count` readings, joined by the rule of struct measurement_window. `sensed`: by their watts,
// which all of them need to have; else by their joules.
struct measurement_window power_readings(const struct meter_reading *readings, size_t count,
                                         bool sensed, struct arena *arena);

#endif
