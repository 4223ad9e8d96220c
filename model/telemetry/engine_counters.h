// engine_counters: the names under which inference engines count their requests and tokens, in the
// text of /metrics and so in an export of Prometheus.
//
// vLLM's cache was named the GPU's until 0.9, and its queries are counted in tokens, as its hits
// are. SGLang's input includes cached tokens, llama.cpp's does not.
#ifndef PERTOKEN_MODEL_TELEMETRY_ENGINE_COUNTERS_H
#define PERTOKEN_MODEL_TELEMETRY_ENGINE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

enum engine_quantity {
  ENGINE_INPUT,   // tokens of prompts
  ENGINE_OUTPUT,  // tokens
  ENGINE_HITS,    // tokens of prompts that were found in the cache
  ENGINE_QUERIES, // tokens that were looked for there
  ENGINE_RUNNING, // requests at the moment
  ENGINE_DRAFTS,
  ENGINE_ACCEPTED,        // tokens of drafts
  ENGINE_ACCEPTED_LENGTH, // tokens of a step with its draft, lately; 0 while idle
  ENGINE_QUANTITIES
};

enum { ENGINE_NAMES = 4, ENGINES = 3 };

struct engine_counters {
  const char *engine;                                 // as in records
  const char *names[ENGINE_QUANTITIES][ENGINE_NAMES]; // newest first
  bool input_lacks_hits; // input tokens exclude those found in the cache
};

extern const struct engine_counters engine_counters[ENGINES];

// The name among those above that equals `name` [length], and whose and what it is; NULL for none.
const char *engine_counter_find(const char *name, size_t length,
                                const struct engine_counters **engine,
                                enum engine_quantity *quantity);

#endif
