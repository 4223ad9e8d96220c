// energy_watch: meters and telemetry watched while a load runs.
//
// On a thread of its own, the watch begins and ends under load without making the load pause: a GPU
// idles between two calls. Without a thread, readings are taken between the load's chunks; tests
// with their own clock run it that way. While a watch runs, nobody else may use its arena, meters
// or telemetry.
#ifndef PERTOKEN_PROBE_MEASURE_ENERGY_WATCH_H
#define PERTOKEN_PROBE_MEASURE_ENERGY_WATCH_H

#include "base/arena.h"
#include "probe/measure/energy.h"
#include "probe/meters/meter.h"
#include "probe/meters/telemetry.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct energy_watch {
  // Set by the caller.
  const struct clock *clock;
  struct meter *meter, *host;  // each may be NULL or without a kind
  struct telemetry *telemetry; // [telemetry_count]
  size_t telemetry_count;
  double seconds;
  bool on_thread;
  struct arena *arena;

  // Set by energy_watch_stop; telemetry keeps its readings.
  struct energy_use use, host_use;

  // For energy_watch.c alone.
  struct energy_window window, host_window;
  bool has_window, has_host_window;
  bool is_due; // what remains is an edge
  double end_s, next_look_s;
  pthread_t thread;
  atomic_bool is_over, is_stopped;
};

// Waits for edges of the counters, and begins. Returns 0, or -1 if no thread could be started.
int energy_watch_start(struct energy_watch *watch);

// To be called a few times a second while the load runs; true when it may end.
bool energy_watch_is_over(struct energy_watch *watch);

// Waits for edges, and computes the results; best called while the load is still running.
void energy_watch_stop(struct energy_watch *watch);

#endif
