// window: what the requests of a load say of the server in its steady window.
//
// Output tokens count when they came: a request's, as its usage tells them, are spread over its
// chunks, and the window has those of the chunks that came in it. Input tokens are spread evenly over
// the time of their request. Latencies are of requests that ended in the window (closed loop) or were
// scheduled in it (open loop). TTFT is NAN for a request without text, TPOT for one whose text came
// all at once. Percentiles are told from serving_samples on.
#ifndef PERTOKEN_PROBE_SERVING_WINDOW_H
#define PERTOKEN_PROBE_SERVING_WINDOW_H

#include "base/arena.h"
#include "model/evidence/serving.h"
#include "probe/serving/load.h"

#include <stdbool.h>
#include <stddef.h>

// NAN: none stated.
struct slo {
  double ttft_s, tpot_s;
};

// What the requests of the window are like, for whoever judges it. Tokens are those of
// requests with usage, 0 where there are none.
struct window_requests {
  size_t completed;
  size_t without_usage;  // prompt or completion tokens are not told
  size_t without_cached; // nothing told of cached tokens
  size_t without_text;   // no chunk had any
  long least_input, most_input, least_output, most_output; // tokens
};

struct window_requests window_requests(const struct load *load, const struct load_result *result);

// The rung's load, rates, latencies, goodput and the client's share of a core. The rest is unknown: for
// others to set are the lengths asked for, power, the server's counters, the seed and `refused`. False, and nothing set, if the window never closed.
bool window_rung(const struct load *load, const struct load_result *result, struct slo slo,
                 struct serving_rung *rung, struct arena *arena);

#endif
