#include "base/clock.h"

#include <stddef.h>
#include <time.h>

static double machine_now(void *context) {
  (void)context;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void machine_sleep(void *context, double seconds) {
  (void)context;
  const time_t whole = (time_t)seconds;
  const struct timespec wait = {whole, (long)(1e9 * (seconds - (double)whole))};
  nanosleep(&wait, NULL);
}

const struct clock machine_clock = {machine_now, machine_sleep, NULL};
