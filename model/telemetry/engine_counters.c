#include "model/telemetry/engine_counters.h"

#include <string.h>

const struct engine_counters engine_counters[ENGINES] = {
    {.engine = "vLLM",
     .names = {[ENGINE_INPUT] = {"vllm:prompt_tokens_total", "vllm:prompt_tokens"},
               [ENGINE_OUTPUT] = {"vllm:generation_tokens_total", "vllm:generation_tokens"},
               [ENGINE_HITS] = {"vllm:prefix_cache_hits_total", "vllm:prefix_cache_hits",
                                "vllm:gpu_prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits"},
               [ENGINE_QUERIES] = {"vllm:prefix_cache_queries_total", "vllm:prefix_cache_queries",
                                   "vllm:gpu_prefix_cache_queries_total",
                                   "vllm:gpu_prefix_cache_queries"},
               [ENGINE_RUNNING] = {"vllm:num_requests_running"},
               [ENGINE_DRAFTS] = {"vllm:spec_decode_num_drafts_total"},
               [ENGINE_ACCEPTED] = {"vllm:spec_decode_num_accepted_tokens_total"}}},
    {.engine = "SGLang",
     .names = {[ENGINE_INPUT] = {"sglang:prompt_tokens_total"},
               [ENGINE_OUTPUT] = {"sglang:generation_tokens_total"},
               [ENGINE_HITS] = {"sglang:cached_tokens_total"},
               [ENGINE_RUNNING] = {"sglang:num_running_reqs"},
               [ENGINE_ACCEPTED_LENGTH] = {"sglang:spec_accept_length"}}},
    {.engine = "llama.cpp",
     .names = {[ENGINE_INPUT] = {"llamacpp:prompt_tokens_total"},
               [ENGINE_OUTPUT] = {"llamacpp:tokens_predicted_total"},
               [ENGINE_HITS] = {"llamacpp:prompt_tokens_cached_total"},
               [ENGINE_RUNNING] = {"llamacpp:requests_processing"}},
     .input_lacks_hits = true},
};

const char *engine_counter_find(const char *name, size_t length,
                                const struct engine_counters **engine,
                                enum engine_quantity *quantity) {
  for (size_t i = 0; i < (size_t)ENGINES * ENGINE_QUANTITIES * ENGINE_NAMES; i++) {
    const size_t e = i / (ENGINE_QUANTITIES * ENGINE_NAMES);
    const size_t q = i / ENGINE_NAMES % ENGINE_QUANTITIES;
    const char *known = engine_counters[e].names[q][i % ENGINE_NAMES];
    if (!known || strlen(known) != length || memcmp(name, known, length) != 0)
      continue;
    *engine = &engine_counters[e];
    *quantity = (enum engine_quantity)q;
    return known;
  }
  return NULL;
}
