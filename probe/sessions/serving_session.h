// serving_session: measures a running server at one load after another, and writes its record.
#ifndef PERTOKEN_PROBE_SESSIONS_SERVING_SESSION_H
#define PERTOKEN_PROBE_SESSIONS_SERVING_SESSION_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/records/serving.h"
#include "probe/options/serving_options.h"
#include "probe/serving/engine.h"
#include "probe/serving/prompt.h"
#include "probe/serving/rehearsal.h"
#include "probe/serving/rung.h"
#include "probe/serving/server.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct serving_session {
  const struct serving_options *options;
  const struct rung_meter *meter; // NULL: none
  const volatile sig_atomic_t *stop;
  void (*progress)(const char *text);                // NULL: nobody is told
  void (*announce)(void *context, const char *text); // before the load begins
  void *announce_context;
  struct arena *arena;
  struct diagnostics *diagnostics;
  // Set by serving_session_run.
  struct server server;
  struct engine engine;
  const struct served_model *served;
  struct prompt prompt;
  struct rehearsal rehearsal;
  struct serving_record *record; // NULL until it is open
  const char *path; // of the record: MODEL-serving-HASH.json, the hash over all that makes a run
  bool is_written;  // it has a rung
  size_t known;     // rungs that an earlier run has measured
};

// Measures what the record does not hold yet, and writes it after each rung. Rungs that an earlier
// run refused are measured again. Returns 0, also when stopped, or -1: bad input, or a server that
// is gone (machine_failed).
int serving_session_run(struct serving_session *session);

// Connects to the server and queries it, and fills in the record's head from it and from the
// catalogue: the first part of serving_session_run. The caller calls server_close. Returns 0 or -1.
int serving_session_open(struct serving_session *session);

// Finds out which form of request the server takes; needed before the first rung. Returns 0 or -1.
int serving_session_rehearse(struct serving_session *session);

// Everything that measuring a load needs.
struct rung_order serving_session_order(struct serving_session *session, enum serving_load load,
                                        size_t concurrency, double rate_per_s);

#endif
