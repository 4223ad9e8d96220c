// window: the server's figures from a load's requests in its steady window.
//
// Output tokens count when they came: the number that a request's usage reports is spread over its
// chunks, and the window gets those of the chunks that came in it. Input tokens count with the
// answer to them, in the same shares, and not while they wait. Latencies are those of requests that
// ended in the window (closed loop) or were scheduled in it (open loop). TTFT is NAN for a request
// without text, TPOT for one of a single token or whose text came all at once; if most are like
// that, the rung has no TPOT. Percentiles are given from serving_samples on.
#ifndef PERTOKEN_PROBE_SERVING_WINDOW_H
#define PERTOKEN_PROBE_SERVING_WINDOW_H

#include "base/arena.h"
#include "model/records/serving.h"
#include "probe/serving/load.h"

#include <stdbool.h>
#include <stddef.h>

// Text came all at once if a token of it took less than the first of these, 5,000 token/s for one
// request, and all of it only this share of the time until its end: a fast engine's takes more.
#define AT_ONCE_TOKEN_S 2e-4
#define AT_ONCE_SHARE   0.05

// NAN: none stated.
struct slo {
  double ttft_s, tpot_s;
};

// The requests of the window, for whoever judges it. Tokens are those of requests with usage, 0 if
// there are none.
struct window_requests {
  size_t completed;
  size_t without_usage;  // prompt or completion tokens are not reported
  size_t without_cached; // cached tokens are not reported
  size_t without_text;   // no chunk had any
  long least_input, most_input, least_output, most_output; // tokens
  double chunks, streamed_tokens; // with text, and of the requests that have such chunks
};

struct window_requests window_requests(const struct load *load, const struct load_result *result);

// The rung's load, rates, latencies, goodput and the client's share of a core. The rest is left for
// others to set: the lengths asked for, power, the server's counters, the seed and `refused`.
// False, with nothing set, if the window never closed.
bool window_rung(const struct load *load, const struct load_result *result, struct slo slo,
                 struct serving_rung *rung, struct arena *arena);

#endif
