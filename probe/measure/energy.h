// energy: a meter watched over a window of time: idle, or under load.
#ifndef PERTOKEN_PROBE_MEASURE_ENERGY_H
#define PERTOKEN_PROBE_MEASURE_ENERGY_H

#include "base/arena.h"
#include "model/evidence/measurement.h"
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

// All NAN and false unless the window lasted MIN_ENERGY_WINDOW_S and the meter did.
struct energy_use {
  double joules, seconds, power_w; // from first to last edge
  // The trapezoid of the meter's momentary power or, if it has none, of the powers between
  // neighbouring readings; NAN if power_w is such an integral itself.
  double sampled_power_w;
  double module_power_w; // trapezoid, of the modules that the devices sit on; NAN: none
  double slope_w_per_s;  // of a straight line through the powers between neighbouring readings
  bool inconsistent;     // the two powers differ by more than 5 %
  bool unsettled;        // the line moves by more than 3 % of the power during the window
  struct measurement_window readings; // of the same time; the sensors' watts if there are any
};

// Waits for an edge of the counter, for 1 s at most. Fails as meter_read_edge does.
enum meter_status energy_start(struct energy_window *window, struct meter *meter,
                               struct arena *arena);

// To be called while the window lasts, a few times a second.
enum meter_status energy_sample(struct energy_window *window);

// Waits for an edge, and sums up.
struct energy_use energy_stop(struct energy_window *window);

// Nothing was metered.
extern const struct energy_use energy_unknown;

#endif
