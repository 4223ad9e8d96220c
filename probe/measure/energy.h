// energy: a meter watched over a window of time: idle, or under load.
#ifndef PERTOKEN_PROBE_MEASURE_ENERGY_H
#define PERTOKEN_PROBE_MEASURE_ENERGY_H

#include "model/evidence/measurement.h"
#include "probe/meters/meter.h"

#include <stdbool.h>

// A shorter window gives no power: the counters are too coarse.
#define ENERGY_SHORTEST_S 5.0

struct energy_window {
  struct meter *meter;
  struct arena *arena;
  struct meter_reading *readings; // at edges first and last
  size_t count, capacity;
};

// All NAN and false unless the window lasted ENERGY_SHORTEST_S and the meter stayed.
struct energy_use {
  double joules, seconds, power_w; // from first to last edge
  // Trapezoid of the meter's momentary power; of the powers between neighbouring readings when it
  // gives none; NAN when power_w is such an integral itself.
  double sampled_power_w;
  double module_power_w; // trapezoid, of the modules that the devices sit on; NAN without
  double slope_w_per_s;  // straight line through the powers between neighbouring readings
  bool inconsistent;     // the two powers differ by more than 5 %
  bool unsettled;        // over the window, the line moves by more than 3 % of the power
  struct measurement_window readings; // over the same time; by the sensors' where they are sampled
};

// Waits for an edge of the counter. METER_LOST: as meter_read.
enum meter_status energy_start(struct energy_window *window, struct meter *meter,
                               struct arena *arena);

// To be called while the window lasts, a few times a second.
enum meter_status energy_sample(struct energy_window *window);

// Waits for an edge and sums up.
struct energy_use energy_stop(struct energy_window *window);

extern const struct energy_use energy_unknown;

#endif
