#include "probe/measure/energy.h"

#include "base/arena.h"
#include "model/records/measurement.h"
#include "probe/measure/power_readings.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const double edge_limit_s = 1;
static const double min_power_s = 0.02; // a few periods of the counter

const struct energy_use energy_unknown = {
    .start_s = NAN,
    .end_s = NAN,
    .joules = NAN,
    .seconds = NAN,
    .power_w = NAN,
    .sampled_power_w = NAN,
    .module_power_w = NAN,
    .slope_w_per_s = NAN,
};

static void keep(struct energy_window *window, struct meter_reading reading) {
  window->readings =
      arena_room(window->arena, window->readings, window->count, sizeof *window->readings);
  window->readings[window->count++] = reading;
}

static enum meter_status keep_edge(struct energy_window *window) {
  struct meter_reading reading;
  const enum meter_status status = meter_read_edge(window->meter, edge_limit_s, &reading);
  if (status == METER_OK)
    keep(window, reading);
  return status;
}

enum meter_status energy_start(struct energy_window *window, struct meter *meter,
                               struct arena *arena) {
  *window = (struct energy_window){.meter = meter, .arena = arena};
  return meter_restart(meter) == METER_OK ? keep_edge(window) : METER_LOST;
}

enum meter_status energy_sample(struct energy_window *window) {
  struct meter_reading reading;
  const enum meter_status status = meter_read(window->meter, &reading);
  const struct meter_reading *last = &window->readings[window->count - 1];
  if (status == METER_OK && reading.time_s - last->time_s > 0.05)
    keep(window, reading);
  return status;
}

// The powers between adjacent readings, each at the middle of its time.
static size_t powers_of(const struct energy_window *window, double *times, double *powers) {
  size_t count = 0;
  for (size_t i = 1; i < window->count; i++) {
    const struct meter_reading *a = &window->readings[i - 1], *b = &window->readings[i];
    if (b->time_s - a->time_s < min_power_s)
      continue;
    times[count] = (a->time_s + b->time_s) / 2;
    powers[count++] = (b->joules - a->joules) / (b->time_s - a->time_s);
  }
  return count;
}

static double trapezoid(const double *times, const double *powers, size_t count) {
  double joules = 0;
  for (size_t i = 1; i < count; i++)
    joules += (times[i] - times[i - 1]) * (powers[i] + powers[i - 1]) / 2;
  return joules / (times[count - 1] - times[0]);
}

// The window's mean of a momentary power; NAN unless every reading has it.
static double mean_of_momentary(const struct energy_window *window, size_t offset, double *times,
                                double *powers) {
  for (size_t i = 0; i < window->count; i++) {
    times[i] = window->readings[i].time_s;
    memcpy(&powers[i], (const char *)&window->readings[i] + offset, sizeof powers[i]);
  }
  return trapezoid(times, powers, window->count);
}

// The sensors' power, if there is also a counter.
static double momentary_power(const struct energy_window *window) {
  if (!isnan(window->meter->integral.watts))
    return NAN;
  double *times = arena_array(window->arena, window->count, sizeof *times);
  double *powers = arena_array(window->arena, window->count, sizeof *powers);
  return mean_of_momentary(window, offsetof(struct meter_reading, watts), times, powers);
}

static double sampled_power(const struct energy_window *window, double momentary_w,
                            const double *times, const double *powers, size_t count) {
  if (!isnan(window->meter->integral.watts))
    return NAN;
  return isnan(momentary_w) ? trapezoid(times, powers, count) : momentary_w;
}

struct energy_use energy_stop(struct energy_window *window) {
  struct energy_use use = energy_unknown;
  if (keep_edge(window) != METER_OK)
    return use;
  const struct meter_reading *first = &window->readings[0];
  const struct meter_reading *last = &window->readings[window->count - 1];
  const double seconds = last->time_s - first->time_s;
  if (seconds < MIN_ENERGY_WINDOW_S)
    return use;
  use.start_s = first->time_s;
  use.end_s = last->time_s;
  use.seconds = seconds;
  use.joules = last->joules - first->joules;
  use.power_w = use.joules / seconds;
  double *times = arena_array(window->arena, window->count, sizeof *times);
  double *powers = arena_array(window->arena, window->count, sizeof *powers);
  use.module_power_w =
      mean_of_momentary(window, offsetof(struct meter_reading, module_watts), times, powers);
  const double momentary_w = momentary_power(window);
  use.readings =
      power_readings(window->readings, window->count, !isnan(momentary_w), window->arena);
  const size_t count = powers_of(window, times, powers);
  if (count < 2)
    return use;
  use.sampled_power_w = sampled_power(window, momentary_w, times, powers, count);
  use.slope_w_per_s = measurement_window_slope(&use.readings, window->arena);
  use.inconsistent = fabs(use.sampled_power_w - use.power_w) > MAX_ENERGY_DIFFERENCE * use.power_w;
  use.unsettled = fabs(use.slope_w_per_s) * seconds > MAX_POWER_CHANGE * use.power_w;
  return use;
}
