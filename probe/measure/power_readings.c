#include "probe/measure/power_readings.h"

#include "base/arena.h"

#include <math.h>
#include <stddef.h>

// The mean being built up.
struct joining {
  struct measurement_window *window;
  double *end_s, *power_w;
  double start_s;        // of the window
  double begin_s, now_s; // of the mean
  double joules, min_s;
};

static void add(struct joining *joining, double end_s, double power_w) {
  const size_t i = joining->window->count++;
  joining->end_s[i] = end_s - joining->start_s;
  joining->power_w[i] = power_w;
  joining->begin_s = joining->now_s = end_s;
  joining->joules = 0;
}

// A mean over too short a time is joined with the previous one, unless that is a gap.
static void finish(struct joining *joining) {
  const size_t count = joining->window->count;
  const double seconds = joining->now_s - joining->begin_s;
  if (!(seconds > 0))
    return;
  if (seconds >= joining->min_s || !count || isnan(joining->power_w[count - 1])) {
    add(joining, joining->now_s, joining->joules / seconds);
    return;
  }
  const double before_s = count > 1 ? joining->end_s[count - 2] : 0;
  const double joules =
      joining->power_w[count - 1] * (joining->end_s[count - 1] - before_s) + joining->joules;
  joining->window->count--;
  add(joining, joining->now_s, joules / (joining->now_s - joining->start_s - before_s));
}

static void join(struct joining *joining, const struct meter_reading *a,
                 const struct meter_reading *b, bool sensed) {
  const double seconds = b->time_s - a->time_s;
  if (seconds > POWER_READINGS_GAP_S) {
    finish(joining);
    add(joining, b->time_s, NAN);
    return;
  }
  joining->joules += sensed ? seconds * (a->watts + b->watts) / 2 : b->joules - a->joules;
  joining->now_s = b->time_s;
  if (joining->now_s - joining->begin_s >= joining->min_s)
    finish(joining);
}

struct measurement_window power_readings(const struct meter_reading *readings, size_t count,
                                         bool sensed, struct arena *arena) {
  struct measurement_window window = {.sensed = sensed};
  if (count < 2)
    return window;
  const double seconds = readings[count - 1].time_s - readings[0].time_s;
  struct joining joining = {
      .window = &window,
      .end_s = arena_array(arena, count, sizeof(double)),
      .power_w = arena_array(arena, count, sizeof(double)),
      .start_s = readings[0].time_s,
      .begin_s = readings[0].time_s,
      .now_s = readings[0].time_s,
      .min_s = fmax(seconds / MEASUREMENT_READINGS, MEASUREMENT_READING_S),
  };
  for (size_t i = 1; i < count; i++)
    join(&joining, &readings[i - 1], &readings[i], sensed);
  finish(&joining);
  window.end_s = joining.end_s;
  window.power_w = joining.power_w;
  window.power_count = window.count;
  return window;
}
