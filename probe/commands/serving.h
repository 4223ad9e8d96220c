// serving: a running server measured at one load after the other, and the record that it goes into.
#ifndef PERTOKEN_PROBE_COMMANDS_SERVING_H
#define PERTOKEN_PROBE_COMMANDS_SERVING_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/evidence/serving.h"
#include "probe/commands/serving_options.h"
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
  // Set by serving_run.
  struct server server;
  struct engine engine;
  const struct served_model *served;
  struct prompt prompt;
  struct rehearsal rehearsal;
  struct serving_record *record; // NULL until it is open
  const char *path; // of it: MODEL-serving-HASH.json, the hash over all that makes a run
  bool is_written;  // it has a rung
};

// Measures what the record does not hold yet, and writes it after each rung. Refused rungs of an earlier
// run are measured again. Returns 0, also when stopped, or -1: bad input, a server that is gone
// (machine_failed).
int serving_run(struct serving_session *session);

// Opens and asks the server, and fills in the record's head from it and from the catalogue: what
// serving_run begins with. The caller calls server_close. Returns 0 or -1.
int serving_open(struct serving_session *session);

// Finds out how the server takes requests, which it needs before the first rung. Returns 0 or -1.
int serving_rehearse(struct serving_session *session);

// What a load is measured with.
struct rung_order serving_order(struct serving_session *session, enum serving_load load,
                                size_t concurrency, double rate_per_s);

#endif
