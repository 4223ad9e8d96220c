// load: requests sent to a server at a set concurrency or rate, each streamed and timed.
//
// One thread serves all streams. Times are of machine_clock. Data gets the time at which the kernel
// reported it, once for everything available at that moment: reading and parsing earlier streams
// does not make a later one late, and several events received together have the same time.
//
// Closed loop: `concurrency` requests in flight; when a stream ends, the next request is sent. Open
// loop: requests are sent on schedule, however slow the server is, so that a server that stalls is
// charged with every request that it keeps waiting ("coordinated omission", G. Tene).
//
// The steady window opens when each of the first `concurrency` requests (open loop: the first) has
// ended and `ramp_s` is over. It closes when it has lasted `window_s` and `window_requests` have
// ended in it (open loop: were scheduled in it). Then a closed loop sends no more, and requests in
// flight may finish; an open loop continues until those of the window have ended.
#ifndef PERTOKEN_PROBE_SERVING_LOAD_H
#define PERTOKEN_PROBE_SERVING_LOAD_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/records/serving.h"
#include "probe/serving/gaps.h"
#include "probe/serving/server.h"
#include "probe/serving/stream.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

// Minimum of the steady window; completions for each request in flight.
enum { STEADY_WINDOW_S = 60, STEADY_COMPLETIONS = 5 };

enum load_phase { LOAD_RAMP_UP, LOAD_STEADY, LOAD_DRAIN, LOAD_OVER };

// What a load reports as it runs: at each change of phase, and about once a second.
struct load_progress {
  enum load_phase phase;
  double elapsed_s, steady_s; // since the start of the load and of the window
  size_t in_flight, completed, failed;
};

struct load {
  const struct server *server;
  const char *path; // "/v1/completions"
  // The JSON of request `number`, from 0, valid until the next call.
  const char *(*body)(void *context, size_t number);
  void *body_context;

  enum serving_load kind; // LOAD_CLOSED, LOAD_POISSON, LOAD_CONSTANT
  size_t concurrency;     // closed: requests in flight; open: the maximum
  double rate_per_s;      // open
  uint64_t seed;          // for the arrivals of LOAD_POISSON

  double ramp_s;          // at least; a closed loop's first requests are spread over this time
  double window_s;        // at least, as STEADY_WINDOW_S
  size_t window_requests; // at least, as STEADY_COMPLETIONS * concurrency

  // When it ends unfinished. All must be set.
  double limit_s;       // of the whole load
  double silence_s;     // of a stream that sends nothing: the request fails
  double request_s;     // of a request that continues: it fails
  size_t most_requests; // sent
  size_t most_failed;   // one more failure ends the load

  const volatile sig_atomic_t *stop;                                 // NULL: nobody stops it
  void (*told)(void *context, const struct load_progress *progress); // NULL: nobody is told
  void *told_context;
};

// A request. Times are NAN if it did not get that far.
struct load_sample {
  double scheduled_s; // closed loop: when its slot became free
  double sent_s;      // on an open connection, before its first byte
  double first_s;     // first text came; NAN if the server sent none
  double last_s;      // last token
  double end_s;       // the answer was complete, or the request failed
  struct usage usage;
  size_t chunks, window_chunks; // with text: all, and in the window
  size_t receipts;              // pieces that completed at least one of them
  const char *failure;          // NULL: it ended well
};

struct load_result {
  struct load_sample *samples; // [count], in the order sent
  size_t count;
  size_t completed, failed;
  double began_s, ended_s;
  double window_from_s, window_until_s; // NAN: never opened, never closed
  double utc_offset_s;                  // UTC as of time(2), less machine_clock
  struct gaps gaps;                     // between receipts with text of a stream, in the window
  double cpu_s;                         // of this thread in the window
  double worst_lag_s;        // longest time in the window that a receipt waited for others
  const char *first_failure; // NULL: none
  const char *unfinished;    // NULL: the window closed and all ended; otherwise why not
};

// Runs it to its end. Errors: no room for that many connections. A server that fails is not an
// error here: its samples say so. Returns 0 or -1.
int load_run(const struct load *load, struct load_result *result, struct arena *arena,
             struct diagnostics *diagnostics);

// When a sample's latencies begin: in a closed loop when it was sent, in an open loop when it was
// scheduled.
double load_sample_start(const struct load *load, const struct load_sample *sample);

#endif
