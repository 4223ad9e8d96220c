// energy_watch: meters and telemetry watched while a load runs.
//
// On a thread of its own the watch begins and ends under load, and the load need not stop to be
// looked at: a GPU between two calls idles. Without one, the looks fall between the load's chunks,
// which is how tests with a clock of their own run it. While a watch runs, nobody else may use its
// arena, meters and telemetry.
#ifndef PERTOKEN_PROBE_MEASURE_ENERGY_WATCH_H
#define PERTOKEN_PROBE_MEASURE_ENERGY_WATCH_H

#include "probe/measure/energy.h"
#include "probe/meters/telemetry.h"

#include <pthread.h>
#include <stdatomic.h>

struct energy_watch {
  // Set by the caller.
  const struct clock *clock;
  struct meter *meter, *host;  // each may be NULL or without a kind
  struct telemetry *telemetry; // [telemetry_count]
  size_t telemetry_count;
  double seconds;
  bool on_thread;
  struct arena *arena;

  // After energy_watch_stop; telemetry keeps its looks.
  struct energy_use use, host_use;

  // Its own.
  struct energy_window window, host_window;
  bool has_window, has_host_window;
  double end_s, next_look_s;
  pthread_t thread;
  atomic_bool is_over, is_stopped;
};

// Waits for edges of the counters and begins. Returns 0, or -1 when no thread could be started.
int energy_watch_start(struct energy_watch *watch);

// To be called a few times a second while the load runs; true when it may end.
bool energy_watch_is_over(struct energy_watch *watch);

// Waits for edges and sums up; to be called with the load still running when that is possible.
void energy_watch_stop(struct energy_watch *watch);

#endif
