// counters: what a server's own counters (GET /metrics, the text format of Prometheus) report, to
// be compared with what the client counted.
#ifndef PERTOKEN_PROBE_SERVING_COUNTERS_H
#define PERTOKEN_PROBE_SERVING_COUNTERS_H

#include "base/arena.h"

#include <stddef.h>

// Since the server started, over all requests and all of its replicas. NAN: not counted.
struct server_counters {
  const char *engine;   // whose names they are: "vLLM", "SGLang", "llama.cpp"; NULL: not known here
  double input_tokens;  // of all prompts, including those found in the cache
  double cached_tokens; // of these
  double output_tokens;
  // Of speculative decoding: the drafts and their accepted tokens, to which every draft's step adds
  // one of its own; or the recent mean of tokens per step.
  double drafts, accepted_tokens, accepted_length;
};

// Reads the body [size] of an answer; lines not in the format are skipped.
struct server_counters counters_read(const char *text, size_t size);

// What a client counted over the same time, from the servers' usage.
struct client_counts {
  double input_tokens, output_tokens;
};

// How far counters may differ from the client's, as a share.
#define COUNTERS_AGREE 0.001

// "agree: 1,280 of 1,280 tokens in, ..." or "differ: ...", from readings before and after. Requests
// of others count in the server's numbers, and so do not go unnoticed.
const char *counters_compare(const struct server_counters *before,
                             const struct server_counters *after,
                             const struct client_counts *client, struct arena *arena);

// The share of input tokens that the server took from its cache; NAN if it does not count them.
double counters_cached_share(const struct server_counters *before,
                             const struct server_counters *after);

// The tokens that a step of speculative decoding yielded; NAN if the server does not report that it
// speculates.
double counters_accepted_length(const struct server_counters *before,
                                const struct server_counters *after);

#endif
