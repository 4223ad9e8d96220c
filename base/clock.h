// clock: the time by which the probe measures, passed in so that tests need not wait.
#ifndef PERTOKEN_BASE_CLOCK_H
#define PERTOKEN_BASE_CLOCK_H

#include <stddef.h>
#include <time.h>

struct clock {
  double (*now)(void *context);                 // seconds from an arbitrary start, never backwards
  void (*sleep)(void *context, double seconds); // may wake early after a signal
  void *context;
};

// The machine's monotonic clock; it needs no context.
extern const struct clock machine_clock;

static inline double clock_now(const struct clock *clock) {
  return clock->now(clock->context);
}

// An equal part for each of `count` of the time that is left until `end`: what one of them does not
// use, the others get. Never negative.
static inline double clock_part_until(const struct clock *clock, double end, size_t count) {
  const double left = end - clock_now(clock);
  return left > 0 ? left / (double)count : 0;
}

static inline void clock_sleep(const struct clock *clock, double seconds) {
  clock->sleep(clock->context, seconds);
}

#endif
