// rung: one load on a server, measured with everything recorded alongside, and judged.
#ifndef PERTOKEN_PROBE_SERVING_RUNG_H
#define PERTOKEN_PROBE_SERVING_RUNG_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/records/serving.h"
#include "probe/serving/load.h"
#include "probe/serving/prompt.h"
#include "probe/serving/server.h"
#include "probe/serving/window.h"

#include <signal.h>
#include <stddef.h>

// Power during the load. Times are of machine_clock, and `utc_offset_s` converts them to UTC.
struct rung_meter {
  void *context;
  void (*begin)(void *context); // the load is about to begin
  // The load is over, and the window was from..until.
  struct serving_power (*end)(void *context, double from_s, double until_s, double utc_offset_s);
};

struct rung_order {
  const struct server *server;
  const struct prompt *prompt; // its seed is the run's; a rung has its own
  enum serving_load load;      // LOAD_CLOSED or LOAD_POISSON
  size_t concurrency;          // closed
  double rate_per_s;           // open
  double window_s, limit_s;    // minimum of the window, maximum of the load
  double request_s;            // of a request that is alone on the server
  struct slo slo;
  const struct rung_meter *meter;
  const volatile sig_atomic_t *stop;
  void (*told)(void *context, const struct load_progress *progress);
  void *told_context;
};

enum rung_end {
  RUNG_DONE,    // it is in the record, refused or not
  RUNG_STOPPED, // by *stop
  RUNG_GONE,    // refused, and the server no longer answers
  RUNG_FAILED   // on this machine, and reported
};

// Limits beyond which a rung is refused, apart from failed requests and missing usage.
#define RUNG_MOST_CACHED  0.01 // of input tokens
#define RUNG_LENGTH_OFF   0.01 // of output tokens, and of input sent as ids
#define RUNG_WORDS_OFF    0.05 // of input sent as words
#define RUNG_CLIENT_BOUND 0.8  // of a core: the client's own share

enum { RUNG_MOST_IN_FLIGHT = 1024 }; // of an open loop

// The most requests that the rung sends.
size_t rung_most_requests(const struct rung_order *order);

// Sends the load. *rung gets the result, without rates if it is refused, and *chunk_tokens the
// tokens per chunk with text, NAN without any. The server's counters are read before and after,
// when nothing is in flight.
enum rung_end rung_run(const struct rung_order *order, struct serving_rung *rung,
                       double *chunk_tokens, struct arena *arena, struct diagnostics *diagnostics);

#endif
