// collector: process 0's end of the connections from the others of a launch, in a thread of its own
// that does what clerk.h says. It sleeps until somebody asks.
//
// A caller that does not prove within STRANGER_S that it belongs to the launch is disconnected, and
// counted. At most the launch's processes and MAX_STRANGERS are connected at a time.
#ifndef PERTOKEN_PROBE_FLEET_COLLECTOR_H
#define PERTOKEN_PROBE_FLEET_COLLECTOR_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "probe/fleet/clerk.h"
#include "probe/fleet/rendezvous.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { STRANGER_S = 10, MAX_STRANGERS = 64 };

struct caller; // a connection

// Must not move while the thread runs.
struct collector {
  // Set by the caller.
  struct clerk clerk; // set by the clerk's caller
  const struct rendezvous *rendezvous;
  // The collector's own.
  int listener, wake;
  pthread_t thread;
  bool runs;
  struct caller *callers;
  size_t caller_count;
  size_t refused; // connections
};

// Errors, with machine_failed set: no port is free, or too few files may be open. Returns 0 or -1.
int collector_start(struct collector *collector, struct arena *arena,
                    struct diagnostics *diagnostics);

// Sends what is still to be sent, and ends the thread; does nothing if it is not running. Warns of
// refused connections.
void collector_stop(struct collector *collector, struct diagnostics *diagnostics);

#endif
