// energy: a meter watched over a time window, idle or under load.
#ifndef PERTOKEN_PROBE_MEASURE_ENERGY_H
#define PERTOKEN_PROBE_MEASURE_ENERGY_H

#include "base/arena.h"
#include "model/records/measurement.h"
#include "probe/meters/meter.h"

#include <stdbool.h>
#include <stddef.h>

// Seconds. A shorter window gives no power: the counters are too coarse.
#define MIN_ENERGY_WINDOW_S 5.0

struct energy_window {
  struct meter *meter;
  struct arena *arena;
  struct meter_reading *readings; // [count], the first and the last at edges
  size_t count;
};

// All NAN and false unless the window lasted MIN_ENERGY_WINDOW_S and the meter did not fail.
struct energy_use {
  double start_s, end_s;           // the first and last edge, by the meter's clock
  double joules, seconds, power_w; // between them
  // The trapezoid integral of the meter's momentary power or, if it has none, of the powers between
  // adjacent readings; NAN if power_w is such an integral itself.
  double sampled_power_w;
  double module_power_w; // trapezoid, for the modules that the devices are on; NAN: none
  double slope_w_per_s;  // measurement_window_slope of the readings
  bool inconsistent;     // the two powers differ by more than 5 %
  bool unsettled;        // it moves by more than MAX_POWER_CHANGE of the power during the window
  struct measurement_window readings; // for the same time; the sensors' watts if there are any
};

// Waits for an edge of the counter, at most 1 s. Fails as meter_read_edge does.
enum meter_status energy_start(struct energy_window *window, struct meter *meter,
                               struct arena *arena);

// Takes a sample; to be called a few times a second during the window.
enum meter_status energy_sample(struct energy_window *window);

// Waits for an edge, and computes the results.
struct energy_use energy_stop(struct energy_window *window);

// Nothing was metered.
extern const struct energy_use energy_unknown;

#endif
