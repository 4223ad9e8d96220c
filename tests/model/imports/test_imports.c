// Other programs' results: what a reader extracts from a file. test_imports_refused has what it
// refuses, test_imports_run what it takes besides the rates.
#include "tests/support/import_files.h"

#include "model/records/serving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct reading_case {
  const char *name, *text, *expected;
} readings[] = {
    {"vLLM: input is total less output; ITL is no TPOT; P99 wants 662 requests", VLLM,
     "closed loop 64: 800/256 tokens, 8000/2560 per s, ttft 0.25 nan, tpot 0.02, gap 0.0576"},
    {"vLLM: 1,000 requests, for a P99",
     VLLM_HEAD "\"max_concurrency\": 64, \"duration\": 100, \"failed\": 0, \"completed\": 1000, "
               "\"total_input_tokens\": 800000, \"total_output_tokens\": 256000, "
               "\"output_throughput\": 2560, \"total_token_throughput\": 10560, " VLLM_TAIL,
     "closed loop 64: 800/256 tokens, 8000/2560 per s, ttft 0.25 0.9, tpot 0.02, gap 0.0576"},
    {"vLLM: arrivals", VLLM_ARRIVALS("null") VLLM_TAIL,
     "Poisson arrivals 10/s: 800/256 tokens, 8000/2560 per s, ttft 0.25 nan, tpot 0.02, gap "
     "0.0576"},
    {"vLLM: arrivals whose limit is above twice 63.8 in flight and ten",
     VLLM_ARRIVALS("138") VLLM_TAIL,
     "Poisson arrivals 10/s: 800/256 tokens, 8000/2560 per s, ttft 0.25 nan, tpot 0.02, gap "
     "0.0576"},
    {"vLLM: arrivals that a limit may have held back", VLLM_ARRIVALS("137") VLLM_TAIL,
     "unknown: 800/256 tokens, 8000/2560 per s, ttft 0.25 nan, tpot 0.02, gap 0.0576"},
    {"vLLM: arrivals and a limit, without end-to-end latency: 53.5 in flight by TTFT and TPOT",
     VLLM_ARRIVALS("118") "\"mean_ttft_ms\": 250, \"mean_tpot_ms\": 20}",
     "Poisson arrivals 10/s: 800/256 tokens, 8000/2560 per s, ttft 0.25 nan, tpot 0.02, gap nan"},
    {"vLLM: the same, and a limit that is too low",
     VLLM_ARRIVALS("116") "\"mean_ttft_ms\": 250, \"mean_tpot_ms\": 20}",
     "unknown: 800/256 tokens, 8000/2560 per s, ttft 0.25 nan, tpot 0.02, gap nan"},
    {"vLLM: arrivals and a limit, without latencies", VLLM_ARRIVALS("1000") "\"failed\": 0}",
     "unknown: 800/256 tokens, 8000/2560 per s, ttft nan nan, tpot nan, gap nan"},
    {"vLLM: as many requests as may be in flight",
     "{\"num_prompts\": 640, \"max_concurrency\": 640, " VLLM_TOTALS VLLM_TAIL,
     "closed loop 640: 800/256 tokens, 8000/2560 per s, ttft 0.25 nan, tpot 0.02, gap 0.0576"},
    {"vLLM: fewer requests than may be in flight",
     "{\"num_prompts\": 640, \"max_concurrency\": 641, " VLLM_TOTALS VLLM_TAIL,
     "unknown: 800/256 tokens, 8000/2560 per s, ttft 0.25 nan, tpot 0.02, gap 0.0576"},
    {"vLLM: a server that does not stream, whose answers have no time from token to token",
     VLLM_HEAD VLLM_RATES "\"mean_ttft_ms\": 6380, \"mean_tpot_ms\": 0, \"p99_tpot_ms\": 0, "
                          "\"mean_itl_ms\": 0, \"mean_e2el_ms\": 6380}",
     "closed loop 64: 800/256 tokens, 8000/2560 per s, ttft 6.38 nan, tpot nan, gap nan"},
    {"vLLM: a server most of whose answers are not streamed",
     VLLM_HEAD VLLM_RATES "\"mean_ttft_ms\": 6000, \"mean_tpot_ms\": 1.5, \"median_tpot_ms\": 0, "
                          "\"mean_itl_ms\": 20, \"mean_e2el_ms\": 6380}",
     "closed loop 64: 800/256 tokens, 8000/2560 per s, ttft 6 nan, tpot nan, gap 0.02"},
    {"vLLM: a proxy that sends each answer when it is finished",
     VLLM_HEAD VLLM_RATES
     "\"mean_ttft_ms\": 6380, \"mean_tpot_ms\": 0.0049, \"mean_e2el_ms\": 6381}",
     "closed loop 64: 800/256 tokens, 8000/2560 per s, ttft 6.38 nan, tpot nan, gap nan"},
    {"vLLM: a server that sends something else before the first token",
     VLLM_HEAD VLLM_RATES "\"mean_ttft_ms\": 1, \"mean_tpot_ms\": 25, \"mean_e2el_ms\": 6380}",
     "closed loop 64: 800/256 tokens, 8000/2560 per s, ttft nan nan, tpot 0.025, gap nan"},
    {"vLLM: requests of one token",
     VLLM_HEAD "\"max_concurrency\": 64, \"duration\": 64.0, \"completed\": 640, "
               "\"total_input_tokens\": 512000, \"total_output_tokens\": 640, "
               "\"output_throughput\": 10.0, \"mean_ttft_ms\": 6380, \"mean_tpot_ms\": 0, "
               "\"mean_itl_ms\": 0, \"mean_e2el_ms\": 6380, \"total_token_throughput\": 8010}",
     "closed loop 64: 800/1 tokens, 8000/10 per s, ttft 6.38 nan, tpot 0, gap 0"},
    {"vLLM: lengths that vary, and more time for the tokens of short answers",
     VLLM_HEAD VLLM_RATES "\"mean_ttft_ms\": 250, \"mean_tpot_ms\": 49, \"mean_e2el_ms\": 6380}",
     "closed loop 64: 800/256 tokens, 8000/2560 per s, ttft 0.25 nan, tpot 0.049, gap nan"},
    {"vLLM: two requests for each place: the run may drain for most of its time",
     VLLM_HEAD "\"max_concurrency\": 320, " VLLM_TOTALS "\"mean_e2el_ms\": 6380}",
     "closed loop 320: 800/256 tokens, 8000/2560 per s, ttft nan nan, tpot nan, gap nan"},
    {"vLLM: requests failed", "{\"failed\": 3, \"num_prompts\": 643, " VLLM_RATES VLLM_TAIL,
     "closed loop 64: refused: 3 requests failed"},
    {"vLLM: fewer requests than prompts asked for, of which none failed",
     "{\"failed\": 0, \"num_prompts\": 643, " VLLM_RATES VLLM_TAIL,
     "closed loop 64: 800/256 tokens, 8000/2560 per s, ttft 0.25 nan, tpot 0.02, gap 0.0576"},
    {"vLLM: fewer answers than prompts, before it counted failures",
     "{\"num_prompts\": 643, " VLLM_RATES VLLM_TAIL,
     "closed loop 64: refused: 3 of 643 prompts have no answer, and the file does not say whether "
     "they failed or the data set had fewer"},
    {"vLLM: of a short data set some failed",
     "{\"failed\": 2, \"num_prompts\": 643, " VLLM_RATES VLLM_TAIL,
     "closed loop 64: refused: 2 requests failed"},
    {"vLLM: a rate that rises, which is stated as inf",
     VLLM_HEAD "\"ramp_up_strategy\": \"linear\", " VLLM_RATES VLLM_TAIL,
     "unknown: 800/256 tokens, 8000/2560 per s, ttft 0.25 nan, tpot 0.02, gap 0.0576"},
    {"TensorRT-LLM's client: energy over 64.5 s, of as many GPUs as its server has",
     VLLM_HEAD VLLM_RATES ENERGY("45150", "700") VLLM_TAIL,
     "closed loop 64: 800/256 tokens, 8000/2560 per s, ttft 0.25 nan, tpot 0.02, gap 0.0576, 700 W "
     "of 0"},
    {"TensorRT-LLM's client: energy over 70 s, and rates over 64 s",
     VLLM_HEAD VLLM_RATES ENERGY("49000", "700") VLLM_TAIL,
     "closed loop 64: 800/256 tokens, 8000/2560 per s, ttft 0.25 nan, tpot 0.02, gap 0.0576"},
    {"TensorRT-LLM's client: a counter that stood still",
     VLLM_HEAD VLLM_RATES ENERGY("0.0", "null") VLLM_TAIL,
     "closed loop 64: 800/256 tokens, 8000/2560 per s, ttft 0.25 nan, tpot 0.02, gap 0.0576"},
    {"SGLang: total_input_tokens", SGLANG("total_input_tokens", "2800.0"),
     "closed loop 32: 100/200 tokens, 1400/2800 per s, ttft 0.1 0.18, tpot 0.01, gap 0.0288"},
    {"SGLang: total_input", SGLANG("total_input", "2800.0"),
     "closed loop 32: 100/200 tokens, 1400/2800 per s, ttft 0.1 0.18, tpot 0.01, gap 0.0288"},
    {"SGLang: requests with errors",
     SGLANG_ANSWERED("\"inf\"", "total_input", "2800.0",
                     "\"errors\": [\"\", \"HTTP 429\", null], "),
     "closed loop 32: refused: 1 request failed"},
    {"SGLang: more prompts than answers",
     SGLANG_ANSWERED("\"inf\"", "total_input", "2800.0", "\"num_prompts\": 702, "),
     "closed loop 32: refused: 2 of 702 prompts have no answer, and the file does not say whether "
     "they failed or the data set had fewer"},
    {"SGLang: cached prompts",
     SGLANG_ANSWERED("\"inf\"", "total_input", "2800.0",
                     "\"cache_report\": {\"total_cached_tokens\": 63000, \"total_prompt_tokens\": "
                     "70000}, "),
     "closed loop 32: refused: 90 % of the input tokens came from a cache"},
    {"SGLang: pictures",
     SGLANG_ANSWERED("\"inf\"", "total_input", "2800.0", "\"total_input_vision_tokens\": 900, "),
     "closed loop 32: refused: its requests carry images"},
    {"SGLang: arrivals that a limit may have held back",
     SGLANG_ARRIVALS("14", "total_input_tokens", "2800.0"),
     "unknown: 100/200 tokens, 1400/2800 per s, ttft 0.1 0.18, tpot 0.01, gap 0.0288"},
    {"llama-bench, JSON: one stream", "[" LLAMA("load_mode", "0", "128", "512", "32.5") "]",
     "decode static batch 1: 512/128 tokens, nan/32.5 per s, ttft nan nan, tpot nan, gap nan"},
    {"llama-bench, JSON lines, before 0.7.0", LLAMA("use_mmap", "0", "128", "512", "32.5") "\n",
     "decode static batch 1: 512/128 tokens, nan/32.5 per s, ttft nan nan, tpot nan, gap nan"},
    {"llama-bench, CSV", LLAMA_CSV,
     "decode static batch 1: 512/128 tokens, nan/32.5 per s, ttft nan nan, tpot nan, gap nan"},
    {"llama-bench: prompts alone", LLAMA("load_mode", "64", "0", "0", "900.5"),
     "decode static batch 1: 64/0 tokens, 900.5/nan per s, ttft nan nan, tpot nan, gap nan"},
    {"llama-bench: prompts and tokens", LLAMA("load_mode", "64", "16", "0", "90.5"),
     "decode static batch 1: refused: its rate includes input tokens"},
    {"llama-batched-bench", BATCHED("128"),
     "decode static batch 4: 128/64 tokens, nan/128 per s, ttft nan nan, tpot nan, gap nan"},
    {"llama-batched-bench: one prompt for all", BATCHED_ON("1", "128"),
     "decode static batch 4: refused: all its sequences share one prompt"},
    {"trtllm-bench", TRTLLM("2", "\"energy\": {\"total_energy_j\": 35000}, "),
     "unknown: 1000/100 tokens, 20000/2000 per s, ttft 0.12 nan, tpot 0.015, gap nan, 700 W of 2"},
    {"trtllm-bench before it had energy", TRTLLM("2", ""),
     "unknown: 1000/100 tokens, 20000/2000 per s, ttft 0.12 nan, tpot 0.015, gap nan"},
    {"AIPerf: ITL is TPOT; phases", AIPERF(AIPERF_UNIT, AIPERF_PHASES),
     "closed loop 8: 50/100 tokens, 500/1000 per s, ttft 0.09 0.15, tpot 0.006, gap 0.017, 820 W "
     "of 2"},
    {"AIPerf: loadgen, before schema 1.3",
     AIPERF(AIPERF_UNIT, "\"loadgen\": {\"concurrency\": 16}"),
     "closed loop 16: 50/100 tokens, 500/1000 per s, ttft 0.09 0.15, tpot 0.006, gap 0.017, 820 W "
     "of 2"},
    {"AIPerf: arrivals of which 7 are in flight, and a limit",
     AIPERF(AIPERF_UNIT, "\"loadgen\": {\"request_rate\": 10, \"request_rate_mode\": \"poisson\", "
                         "\"concurrency\": 24}"),
     "Poisson arrivals 10/s: 50/100 tokens, 500/1000 per s, ttft 0.09 0.15, tpot 0.006, gap 0.017, "
     "820 W of 2"},
    {"AIPerf: arrivals that a limit may have held back",
     AIPERF(AIPERF_UNIT, "\"loadgen\": {\"request_rate\": 10, \"request_rate_mode\": \"constant\", "
                         "\"concurrency\": 23}"),
     "unknown: 50/100 tokens, 500/1000 per s, ttft 0.09 0.15, tpot 0.006, gap 0.017, 820 W of 2"},
    {"AIPerf, CSV: the load is not in it", AIPERF_CSV,
     "unknown: 50/100 tokens, 500/1000 per s, ttft 0.09 0.15, tpot 0.006, gap nan"},
    {"AIPerf: pictures",
     AIPERF(AIPERF_UNIT, AIPERF_PHASES "}, \"num_images\": {\"unit\": \"images\", \"avg\": 2}, "
                                       "\"more\": {"),
     "closed loop 8: refused: its requests carry images"},
    {"AIPerf: cached prompts",
     AIPERF(AIPERF_UNIT, AIPERF_PHASES
            "}, \"total_usage_prompt_cache_read_tokens\": {\"unit\": \"tokens\", \"avg\": 2000}, "
            "\"total_usage_prompt_tokens\": {\"unit\": \"tokens\", \"avg\": 40000}, \"more\": {"),
     "closed loop 8: refused: 5 % of the input tokens came from a cache"},
    {"GenAI-Perf", GENAI_PERF("10.0", "true", "\"concurrency\": 32"),
     "closed loop 32: 1000/250 tokens, 10000/2500 per s, ttft 0.09 0.15, tpot 0.012, gap nan, 820 "
     "W "
     "of 2"},
    {"GenAI-Perf: at a rate", GENAI_PERF("10.0", "true", "\"request_rate\": 10.0"),
     "constant arrivals 10/s: 1000/250 tokens, 10000/2500 per s, ttft 0.09 0.15, tpot 0.012, gap "
     "nan, 820 W of 2"},
    {"GenAI-Perf: sessions", GENAI_PERF("10.0", "true", "\"session_concurrency\": 4"),
     "unknown: 1000/250 tokens, 10000/2500 per s, ttft 0.09 0.15, tpot 0.012, gap nan, 820 W of 2"},
    {"GenAI-Perf: without streaming, its time to first token is that of the whole answer",
     GENAI_PERF("10.0", "false", "\"concurrency\": 32"),
     "closed loop 32: 1000/250 tokens, 10000/2500 per s, ttft nan nan, tpot 0.012, gap nan, 820 W "
     "of 2"},
    {"GenAI-Perf of 2024", GENAI_PERF_2024,
     "closed loop 32: 1000/250 tokens, 10000/2500 per s, ttft 0.09 0.15, tpot 0.012, gap nan, 820 "
     "W "
     "of 2"},
    {"GenAI-Perf: 10.0375 requests a second over 80 s, of which 800 have an answer",
     GENAI_PERF("10.0375", "true", "\"concurrency\": 32"),
     "closed loop 32: refused: 3 requests failed"},
    {"GenAI-Perf, CSV: the load is not in it", GENAI_PERF_CSV("10.00"),
     "unknown: 1000/250 tokens, 10000/2500 per s, ttft 0.09 0.15, tpot 0.012, gap nan, 820 W of 2"},
    {"GenAI-Perf, CSV: of 803 requests 800 have an answer", GENAI_PERF_CSV("10.04"),
     "unknown: refused: 3 requests failed"},
    {"guidellm: tokens over time; its TPOT has the first token in it",
     GUIDELLM("\"type_\": \"concurrent\", \"streams\": 4"),
     "closed loop 4: 64/32 tokens, 80/40 per s, ttft 0.11 nan, tpot 0.095, gap nan"},
    {"guidellm: stopped with requests in flight",
     GUIDELLM_STOPPED("20", "\"type_\": \"concurrent\", \"streams\": 120"),
     "closed loop 120: 64/32 tokens, 80/40 per s, ttft 0.11 nan, tpot 0.095, gap nan"},
    {"guidellm: fewer requests than streams",
     GUIDELLM_STOPPED("19", "\"type_\": \"concurrent\", \"streams\": 120"),
     "unknown: 64/32 tokens, 80/40 per s, ttft 0.11 nan, tpot 0.095, gap nan"},
    {"guidellm: arrivals and the limit that it always has",
     GUIDELLM("\"type_\": \"constant\", \"rate\": 2.5, \"max_concurrency\": 10240"),
     "constant arrivals 2.5/s: 64/32 tokens, 80/40 per s, ttft 0.11 nan, tpot 0.095, gap nan"},
    {"guidellm: arrivals that a limit may have held back",
     GUIDELLM("\"type_\": \"poisson\", \"rate\": 2.5, \"max_concurrency\": 8"),
     "unknown: 64/32 tokens, 80/40 per s, ttft 0.11 nan, tpot 0.095, gap nan"},
    {"guidellm: requests of 2 s, and a window of 80 s with all of them",
     GUIDELLM_CUT("\"warmup_duration\": 0.0, \"cooldown_duration\": 0.0, "),
     "closed loop 4: 64/32 tokens, 80/40 per s, ttft 0.11 nan, tpot 0.095, gap nan"},
    {"guidellm: the same after a warm-up: it counts 2 s too many, of 80",
     GUIDELLM_CUT("\"warmup_duration\": 8.0, "),
     "closed loop 4: refused: requests that began before its window or ended after it count in "
     "full: measure without warm-up and cool-down, or for longer"},
    {"guidellm: pictures",
     GUIDELLM_WITH("0",
                   "\"image\": {\"images\": {\"input\": {\"successful\": {\"total_sum\": 16}}}}, ",
                   "", "\"type_\": \"concurrent\", \"streams\": 4"),
     "closed loop 4: refused: its requests carry images, video or audio"},
    {"llm-d 0.2.1, a number in flight",
     LLM_D_2_LOADED("concurrency: 16\n      rate_qps: .inf", "s", "1", "8", "500"),
     "closed loop 16: 2000/100 tokens, 10000/500 per s, ttft 0.5 nan, tpot 0.02, gap nan"},
    {"llm-d 0.2.1, a rate and a limit",
     LLM_D_2_LOADED("concurrency: 16\n      rate_qps: 5.0", "s", "1", "8", "500"),
     "unknown: 2000/100 tokens, 10000/500 per s, ttft 0.5 nan, tpot 0.02, gap nan"},
    {"llm-d 0.2.1, YAML", LLM_D_2("s", "1", "8", "500"),
     "unknown: 2000/100 tokens, 10000/500 per s, ttft 0.5 nan, tpot 0.02, gap nan"},
    {"llm-d 0.2.1: a stage of 20 s in a harness of 100 s",
     LLM_D_2("s", "1", "8", "2500, units: tokens/s}\n        request_rate: {mean: 25"),
     "unknown: 2000/100 tokens, 50000/2500 per s, ttft 0.5 nan, tpot 0.02, gap nan"},
    {"llm-d 0.2.1, from AIPerf: its ITL is TPOT",
     LLM_D_2_BY("aiperf", "concurrency: .inf",
                "s}\n        inter_token_latency: {mean: 15, units: ms/token", "1", "8", "500"),
     "unknown: 2000/100 tokens, 10000/500 per s, ttft 0.5 nan, tpot 0.015, gap nan"},
    {"llm-d 0.1, JSON", LLM_D_1,
     "closed loop 16: 2000/100 tokens, 10000/500 per s, ttft nan nan, tpot 0.02, gap nan"},
    {"inference-perf", PERF,
     "unknown: 300/50 tokens, 600/100 per s, ttft 0.03 nan, tpot nan, gap nan"},
    {"inference-perf: no pictures, and prompts by their later name",
     PERF_OF("prompt_tokens: {mean: 300}") "  image: {count: {mean: 0.0}}\n",
     "unknown: 300/50 tokens, 600/100 per s, ttft 0.03 nan, tpot nan, gap nan"},
    {"inference-perf: rates by the client's count of 50 tokens",
     PERF "  output_tokens: {total: 12000, mean: 60}\n",
     "unknown: 300/50 tokens, 600/100 per s, ttft 0.03 nan, tpot nan, gap nan"},
    {"inference-perf: rates by the server's count of 50 tokens",
     PERF_COUNTED("prompt_tokens: {mean: 300}", "60") "  output_tokens: {total: 10000, mean: 50}\n",
     "unknown: 300/50 tokens, 600/100 per s, ttft 0.03 nan, tpot nan, gap nan"},
    {"inference-perf: cached prompts", PERF "  prompt_tokens: {cached: 3000, total: 60000}\n",
     "unknown: refused: 5 % of the input tokens came from a cache"},
    {"inference-perf: pictures", PERF "  image: {count: {mean: 2}}\n",
     "unknown: refused: its requests carry images, video or audio"},
    {"InferenceX: per GPU, latencies in seconds",
     INFERENCEX(ONE_NODE, ONE_NODE_RATES, WATTS("1", "2")),
     "closed loop 64: 1024/1024 tokens, 3120/3120 per s, ttft 0.5 nan, tpot 0.02, gap 0.05, 4000 W "
     "of 8"},
    {"InferenceX: watts of the first version are none",
     INFERENCEX(ONE_NODE, ONE_NODE_RATES, WATTS("1", "1")),
     "closed loop 64: 1024/1024 tokens, 3120/3120 per s, ttft 0.5 nan, tpot 0.02, gap 0.05"},
    {"InferenceX: watts that it calls not valid are none",
     INFERENCEX(ONE_NODE, ONE_NODE_RATES, WATTS("0", "2")),
     "closed loop 64: 1024/1024 tokens, 3120/3120 per s, ttft 0.5 nan, tpot 0.02, gap 0.05"},
    {"InferenceX: prefill and decode apart", INFERENCEX(APART, APART_RATES, ""),
     "closed loop 64: 1024/1024 tokens, 3120/3120 per s, ttft 0.5 nan, tpot 0.02, gap 0.05"},
    {"MLPerf, server", MLPERF("Server", SERVER_RATES, "VALID"),
     "Poisson arrivals 76/s: nan/293.333 tokens, nan/22000 per s, ttft 1 nan, tpot 0.14, gap nan"},
    {"MLPerf until v5.1", MLPERF_OF("to", "Server", SERVER_RATES, "VALID"),
     "Poisson arrivals 76/s: nan/293.333 tokens, nan/22000 per s, ttft 1 nan, tpot 0.14, gap nan"},
    {"MLPerf, offline",
     MLPERF("Offline", "Samples per second: 80\nTokens per second: 24000\n", "VALID"),
     "all at once: nan/300 tokens, nan/24000 per s, ttft 1 nan, tpot 0.14, gap nan"},
    {"MLPerf Endpoints", ENDPOINTS_CLOSED,
     "closed loop 16: nan/256 tokens, nan/426.667 per s, ttft 0.2 nan, tpot 0.02, gap nan"},
    {"MLPerf Endpoints: arrivals, over LoadGen's window of 500 s",
     ENDPOINTS("true", "\"n_samples_completed\": 1000",
               "\"type\": \"poisson\", \"target_qps\": 2.0", "500000000000", "512", "90.0"),
     "Poisson arrivals 2/s: nan/256 tokens, nan/512 per s, ttft 0.2 nan, tpot 0.02, gap nan"},
    {"MLPerf Endpoints: offline",
     ENDPOINTS("true", "\"n_samples_completed\": 1000", "\"type\": \"max_throughput\"", "null",
               "426.667", "90"),
     "all at once: nan/256 tokens, nan/426.667 per s, ttft 0.2 nan, tpot 0.02, gap nan"},
    {"MLPerf Endpoints: answers that never came",
     ENDPOINTS("true", "\"n_samples_completed\": 998",
               "\"type\": \"concurrency\", \"target_concurrency\": 16", "null", "426.667", "90"),
     "closed loop 16: refused: 2 requests failed"},
    {"MLPerf Endpoints: samples dropped",
     ENDPOINTS("true", "\"n_samples_completed\": 1000, \"n_samples_dropped\": 1",
               "\"type\": \"concurrency\", \"target_concurrency\": 16", "null", "426.667", "90"),
     "closed loop 16: refused: 1 request failed"},
    {"MLPerf Endpoints: agents",
     ENDPOINTS("true", "\"n_samples_completed\": 1000", "\"type\": \"agentic_inference\"", "null",
               "426.667", "90"),
     "unknown: refused: conversations of several turns, served from a cache"},
};

static const char *reading_words(const struct imported *imported, struct arena *arena) {
  const struct serving_rung *rung = &imported->rungs[0];
  const char *set = !isnan(rung->concurrency)    ? arena_printf(arena, " %g", rung->concurrency)
                    : !isnan(rung->request_rate) ? arena_printf(arena, " %g/s", rung->request_rate)
                                                 : "";
  const char *head =
      arena_printf(arena, "%s%s%s: ", imported->basis == BASIS_DECODE ? "decode " : "",
                   serving_load_names[rung->load], set);
  if (*rung->refused)
    return arena_printf(arena, "%srefused: %s", head, rung->refused);
  const char *watts =
      isnan(rung->power.load_power_w)
          ? ""
          : arena_printf(arena, ", %g W of %d", rung->power.load_power_w, rung->power.devices);
  return arena_printf(arena, "%s%g/%g tokens, %g/%g per s, ttft %g %g, tpot %g, gap %g%s", head,
                      rung->input_tokens, rung->output_tokens, rung->input_tokens_per_s,
                      rung->output_tokens_per_s, rung->ttft.mean_s, rung->ttft.p99_s,
                      rung->tpot.mean_s, rung->chunk_gap.mean_s, watts);
}

static void test_what_files_say(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
    struct import_files files;
    struct imported imported = {0};
    import_files_start(&files);
    const int result = import_files_read(&files, readings[i].text, &imported);
    expect_error(&files.fixture, readings[i].name, "");
    assert_int_equal(result, 0);
    const char *words = reading_words(&imported, &files.fixture.arena);
    if (strcmp(words, readings[i].expected) != 0)
      fail_msg("%s\n  expected: %s\n  got:      %s", readings[i].name, readings[i].expected, words);
    import_files_end(&files);
  }
}

// A file truncated anywhere is refused or read; nothing worse.
static void test_cut_anywhere(void **state) {
  (void)state;
  static const char *const texts[] = {VLLM, LLAMA_CSV, GENAI_PERF_CSV("10.00"),
                                      LLM_D_2("s", "1", "8", "500"),
                                      MLPERF("Server", SERVER_RATES, "VALID")};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    for (size_t length = 0; length < strlen(texts[i]); length += 7) {
      struct import_files files;
      struct imported imported = {0};
      import_files_start(&files);
      const int result = import_files_read(
          &files, arena_copy_n(&files.fixture.arena, texts[i], length), &imported);
      assert_int_equal(result == 0, files.fixture.diagnostics.errors == 0);
      import_files_end(&files);
    }
}

// As seeds for the fuzzer.
static int write_files(const char *folder) {
  struct fixture fixture;
  fixture_start(&fixture);
  for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++)
    fixture_write(&fixture, folder, arena_printf(&fixture.arena, "%zu", i), readings[i].text);
  fixture_end(&fixture);
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1)
    return write_files(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_files_say),
      cmocka_unit_test(test_cut_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
