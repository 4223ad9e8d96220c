// Other programs' results: what a reader extracts from a file, and what it refuses. The files are
// made up here, in each tool's format and with its keys; none is a measurement.
#include "base/arena.h"
#include "base/texts.h"
#include "tests/support/fixture.h"

#include "model/imports/format.h"
#include "model/imports/imported.h"
#include "model/records/serving.h"

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- files, made up

#define VLLM_HEAD                                                                                  \
  "{\"date\": \"20260806-132830\", \"backend\": \"vllm\", \"model_id\": \"org/Some-8B\", "         \
  "\"num_prompts\": 640, \"request_rate\": \"inf\", \"burstiness\": 1.0, "
#define VLLM_TAIL                                                                                  \
  "\"mean_ttft_ms\": 250, \"median_ttft_ms\": 200, \"p90_ttft_ms\": 400, \"p99_ttft_ms\": 900, "   \
  "\"mean_tpot_ms\": 20, \"mean_itl_ms\": 57.6, \"mean_e2el_ms\": 6380, \"std_ttft_ms\": 9}"
#define VLLM_TOTALS                                                                                \
  "\"duration\": 64.0, \"completed\": 640, \"total_input_tokens\": 512000, "                       \
  "\"total_output_tokens\": 163840, \"output_throughput\": 2560.0, "                               \
  "\"total_token_throughput\": 10560.0, "
#define VLLM_RATES "\"max_concurrency\": 64, " VLLM_TOTALS
#define VLLM       VLLM_HEAD VLLM_RATES VLLM_TAIL
#define VLLM_ARRIVALS(max_concurrency)                                                             \
  "{\"request_rate\": 10, \"burstiness\": 1.0, \"num_prompts\": 640, "                             \
  "\"max_concurrency\": " max_concurrency ", " VLLM_TOTALS

#define SGLANG(total_input, rate) SGLANG_ARRIVALS("Infinity", total_input, rate)
#define SGLANG_ARRIVALS(request_rate, total_input, rate)                                           \
  SGLANG_ANSWERED(request_rate, total_input, rate, "")
#define SGLANG_ANSWERED(request_rate, total_input, rate, more)                                     \
  "{\"backend\": \"sglang\", \"request_rate\": " request_rate ", \"max_concurrency\": 32, " more   \
  "\"duration\": 50.0, \"completed\": 700, \"" total_input "\": 70000, "                           \
  "\"total_output_tokens\": 140000, \"input_throughput\": 1400.0, \"output_throughput\": " rate    \
  ", \"mean_e2e_latency_ms\": 2200, \"mean_ttft_ms\": 100, \"p99_ttft_ms\": 180, "                 \
  "\"mean_tpot_ms\": 10, \"mean_itl_ms\": 28.8, \"concurrency\": 30.8, \"accept_length\": 2.88, "  \
  "\"server_info\": {\"version\": \"0.5.2\", \"model_path\": \"org/Some-8B\"}}\n"

#define LLAMA(mode, prompt, gen, depth, rate)                                                      \
  "{\"build_commit\": \"abc\", \"build_number\": 6000, \"cpu_info\": \"Some CPU\", "               \
  "\"gpu_info\": \"\", \"model_filename\": \"some.gguf\", \"model_type\": \"some 8B Q8_0\", "      \
  "\"" mode "\": 1, \"n_prompt\": " prompt ", \"n_gen\": " gen ", \"n_depth\": " depth ", "        \
  "\"test_time\": \"2026-10-02T08:01:42Z\", \"avg_ts\": " rate ", \"stddev_ts\": 1.0, "            \
  "\"samples_ns\": [2000000000, 2000000000], \"samples_ts\": [" rate ", " rate "]}"
#define LLAMA_CSV                                                                                  \
  "build_commit,build_number,cpu_info,gpu_info,model_filename,model_type,n_prompt,n_gen,n_depth,"  \
  "test_time,avg_ns,avg_ts\n"                                                                      \
  "\"abc\",\"6000\",\"Some CPU\",\"\",\"some.gguf\",\"some 8B Q8_0\",\"0\",\"128\",\"512\","       \
  "\"2026-10-02T08:01:42Z\",\"1000\",\"32.5\"\n"

#define BATCHED(speed)                                                                             \
  "{\"n_kv_max\": 2048, \"pp\": 128, \"tg\": 64, \"pl\": 4, \"t_pp\": 0.5, \"speed_pp\": 1024, "   \
  "\"t_tg\": 2.0, \"speed_tg\": " speed ", \"t\": 2.5, \"speed\": 307}\n"

#define TRTLLM(world, energy)                                                                      \
  "{\"engine\": {\"model\": \"org/Some-8B\", \"version\": \"1.3.0\", \"dtype\": \"bfloat16\", "    \
  "\"quantization\": \"FP8\"}, \"world_info\": {\"tp_size\": 2, \"world_size\": " world "}, "      \
  "\"request_info\": {\"num_requests\": 1000, \"avg_num_concurrent_requests\": 96.5, "             \
  "\"avg_input_length\": 1000, \"avg_output_length\": 100}, \"performance\": "                     \
  "{\"total_latency_ms\": 50000, \"avg_request_latency_ms\": 4825, "                               \
  "\"system_output_throughput_tok_s\": 2000, \"system_total_throughput_tok_s\": 22000, "           \
  "\"output_throughput_per_gpu_tok_s\": 1000, \"request_latency_percentiles_ms\": {\"p50\": "      \
  "4800, \"p99\": 5000}}, " energy "\"streaming_metrics\": {\"avg_ttft_ms\": 120, "                \
  "\"avg_tpot_ms\": 15, \"tpot_percentiles\": {\"p50\": 14, \"p99\": 16}}}"

#define AIPERF(unit, load) AIPERF_BESIDE("NVIDIA H200", unit, load)
#define AIPERF_BESIDE(gpu, unit, load)                                                             \
  "{\"schema_version\": \"1.3\", \"aiperf_version\": \"0.10.0\", "                                 \
  "\"request_throughput\": {\"unit\": \"requests/sec\", \"avg\": 10}, "                            \
  "\"request_latency\": {\"unit\": \"ms\", \"avg\": 700}, "                                        \
  "\"request_count\": {\"unit\": \"requests\", \"avg\": 800}, "                                    \
  "\"time_to_first_token\": {\"unit\": \"ms\", \"avg\": 90, \"p99\": 150}, "                       \
  "\"inter_token_latency\": {\"unit\": \"ms\", \"avg\": 6}, "                                      \
  "\"inter_chunk_latency\": {\"unit\": \"ms\", \"avg\": 17}, "                                     \
  "\"output_token_throughput\": {" unit "\"avg\": 1000}, "                                         \
  "\"output_sequence_length\": {\"unit\": \"tokens\", \"avg\": 100}, "                             \
  "\"input_sequence_length\": {\"unit\": \"tokens\", \"avg\": 50}, "                               \
  "\"benchmark_duration\": {\"unit\": \"sec\", \"avg\": 80}, "                                     \
  "\"total_isl\": {\"unit\": \"tokens\", \"avg\": 40000}, "                                        \
  "\"total_osl\": {\"unit\": \"tokens\", \"avg\": 80000}, \"telemetry_data\": {\"endpoints\": "    \
  "{\"a:9401\": {\"gpus\": {\"gpu_0\": {\"gpu_name\": \"NVIDIA H200\", \"metrics\": "              \
  "{\"gpu_power_usage\": {\"unit\": \"W\", \"avg\": 400}}}, \"gpu_1\": {\"gpu_name\": "            \
  "\"" gpu "\", \"metrics\": {\"gpu_power_usage\": {\"unit\": \"W\", \"avg\": 420}}}}}}}, "        \
  "\"input_config\": {" load "}, \"start_time\": \"2026-07-03T04:19:39.807147\"}"
#define AIPERF_UNIT "\"unit\": \"tokens/sec\", "
#define AIPERF_PHASES                                                                              \
  "\"phases\": [{\"name\": \"warmup\", \"exclude_from_results\": true, \"concurrency\": 2}, "      \
  "{\"name\": \"profiling\", \"concurrency\": 8}]"

#define GUIDELLM_STATISTIC(name, mean, sum)                                                        \
  "\"" name "\": {\"successful\": {\"mean\": " mean ", \"median\": " mean ", \"total_sum\": " sum  \
  ", \"percentiles\": {\"p90\": " mean ", \"p99\": " mean "}}}, "
#define GUIDELLM(strategy) GUIDELLM_STOPPED("0", strategy)
#define GUIDELLM_STOPPED(incomplete, strategy)                                                     \
  "{\"metadata\": {\"version\": 2, \"guidellm_version\": \"0.8.0\"}, \"config\": {\"spec\": "      \
  "{\"backend\": {\"model\": \"org/Some-8B\"}}}, \"benchmarks\": [{\"config\": {\"strategy\": "    \
  "{" strategy "}}, \"metrics\": {\"request_totals\": {\"successful\": 100, \"errored\": "         \
  "0, \"incomplete\": " incomplete "}, " GUIDELLM_STATISTIC("prompt_token_count", "64", "6400")    \
      GUIDELLM_STATISTIC("output_token_count", "32", "3200")                                       \
          GUIDELLM_STATISTIC("time_to_first_token_ms", "11", "1100")                               \
              GUIDELLM_STATISTIC("time_per_output_token_ms", "2.44", "0")                          \
                  GUIDELLM_STATISTIC("inter_token_latency_ms", "1.15", "0") GUIDELLM_STATISTIC(    \
                      "output_tokens_per_second", "1912",                                          \
                      "51") "\"none\": 0}, \"duration\": 80.0, \"start_time\": 1786678148.2}]}"

#define LLM_D_2(unit, replicas, count, rate)                                                       \
  LLM_D_2_LOADED("concurrency: .inf", unit, replicas, count, rate)
#define LLM_D_2_LOADED(load, unit, replicas, count, rate)                                          \
  "version: '0.2.1'\nresults:\n  request_performance:\n    aggregate:\n      latency:\n"           \
  "        time_to_first_token: {mean: 0.5, p99: 0.9, units: " unit "}\n"                          \
  "        time_per_output_token: {mean: 20, units: ms/token}\n"                                   \
  "      requests:\n        failures: 0\n        total: 500\n"                                     \
  "        input_length: {mean: 2000, units: count}\n"                                             \
  "        output_length: {mean: 100, units: count}\n"                                             \
  "      throughput:\n        output_token_rate: {mean: " rate ", units: tokens/s}\n"              \
  "run:\n  time: {start: '2026-01-05T18:00:42Z', duration: PT1M40S}\n"                             \
  "scenario:\n  load:\n    standardized:\n      tool: inference-perf\n"                            \
  "      tool_version: 0.3.0\n      " load "\n"                                                    \
  "  stack:\n  - standardized:\n      kind: inference_engine\n      tool: vLLM\n"                  \
  "      tool_version: 0.11.0\n      role: replica\n      replicas: " replicas "\n"                \
  "      model: {name: org/Some-8B}\n"                                                             \
  "      accelerator: {model: NVIDIA-H200, count: " count "}\n"
#define LLM_D_1 LLM_D_1_ON("H200", "4", "8")
#define LLM_D_1_ON(model, prefill, decode)                                                         \
  "{\"version\": \"0.1\", \"scenario\": {\"model\": {\"name\": \"org/Some-8B\"}, \"host\": "       \
  "{\"type\": [\"prefill\", \"decode\"], \"accelerator\": [{\"model\": \"H200\", "                 \
  "\"count\": " prefill "}, "                                                                      \
  "{\"model\": \"" model "\", \"count\": " decode                                                  \
  "}]}, \"load\": {\"name\": \"vllm-benchmark\", \"args\": "                                       \
  "{\"max_concurrency\": 16}}, \"platform\": {\"engine\": [{\"name\": \"vllm:0.11\"}]}}, "         \
  "\"metrics\": {\"time\": {\"duration\": 100.0, \"start\": 1786022594}, \"requests\": "           \
  "{\"total\": 500, \"input_length\": {\"mean\": 2000}, \"output_length\": {\"mean\": 100}}, "     \
  "\"latency\": {\"time_per_output_token\": {\"mean\": 20, \"units\": \"ms/token\"}}, "            \
  "\"throughput\": {\"output_tokens_per_sec\": 500, \"total_tokens_per_sec\": 10500}}}"

#define PERF                                                                                       \
  "benchmark_time_seconds: 100\nload_summary: {count: 200, requested_rate: 2.0}\n"                 \
  "failures: {count: 0}\nsuccesses:\n  count: 200\n  prompt_len: {mean: 300}\n"                    \
  "  output_len: {mean: 50}\n  throughput: {output_tokens_per_sec: 100.0}\n"                       \
  "  latency:\n    time_to_first_token: {mean: 0.03, median: 0.03}\n"

#define INFERENCEX_SPECULATING(speculation, gpus, rates, more)                                     \
  "{\"hw\": \"h200\", \"conc\": 64, \"image\": \"vllm/vllm-openai:v0.11.0\", \"model\": "          \
  "\"org/Some-8B\", \"framework\": \"vllm\", \"precision\": \"fp8\", " speculation                 \
  "\"isl\": 1024, \"osl\": 1024, " gpus rates more                                                 \
  "\"mean_ttft\": 0.5, \"mean_tpot\": 0.02, \"mean_itl\": 0.05, \"mean_e2el\": 21.0}"
#define INFERENCEX(gpus, rates, more)                                                              \
  INFERENCEX_SPECULATING("\"spec_decoding\": \"none\", ", gpus, rates, more)
#define ONE_NODE "\"is_multinode\": false, \"tp\": 8, "
#define APART                                                                                      \
  "\"disagg\": true, \"is_multinode\": true, \"num_prefill_gpu\": 4, \"num_decode_gpu\": 8, "
#define ONE_NODE_RATES                                                                             \
  "\"tput_per_gpu\": 780, \"output_tput_per_gpu\": 390, \"input_tput_per_gpu\": 390, "
#define APART_RATES                                                                                \
  "\"tput_per_gpu\": 520, \"output_tput_per_gpu\": 390, \"input_tput_per_gpu\": 780, "
#define WATTS(valid, schema)                                                                       \
  "\"power_valid\": " valid ", \"power_metric_schema_version\": " schema ", \"avg_power_w\": "     \
  "500, \"avg_total_gpu_power_w\": 4000, \"total_gpu_energy_j\": 400000, "

#define MLPERF(scenario, rates, verdict)                                                           \
  "=====\nMLPerf Results Summary\n=====\nSUT name : PySUT\nScenario : " scenario "\n"              \
  "Mode     : PerformanceOnly\n" rates "Result is : " verdict "\n"                                 \
  "Mean First Token latency (ns)                : 1000000000\n"                                    \
  "50.00 percentile first token latency (ns)   : 900000000\n"                                      \
  "Mean Time to Output Token (ns)               : 140000000\n"                                     \
  "target_qps : 76\nttft_latency (ns): 2000000000\n"
#define SERVER_RATES "Completed samples per second    : 75\nCompleted tokens per second: 22000\n"

// ---- what they are read as

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
    {"vLLM: requests failed", "{\"failed\": 3, \"num_prompts\": 643, " VLLM_RATES VLLM_TAIL,
     "closed loop 64: refused: 3 requests failed"},
    {"vLLM: fewer answers than prompts, and none counted as failed",
     "{\"failed\": 0, \"num_prompts\": 643, " VLLM_RATES VLLM_TAIL,
     "closed loop 64: refused: 3 requests failed"},
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
     "closed loop 32: refused: 2 requests failed"},
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
    {"guidellm: tokens over time; its TPOT has the first token in it",
     GUIDELLM("\"type_\": \"concurrent\", \"streams\": 4"),
     "closed loop 4: 64/32 tokens, 80/40 per s, ttft 0.011 nan, tpot 0.00115, gap nan"},
    {"guidellm: stopped with requests in flight",
     GUIDELLM_STOPPED("20", "\"type_\": \"concurrent\", \"streams\": 120"),
     "closed loop 120: 64/32 tokens, 80/40 per s, ttft 0.011 nan, tpot 0.00115, gap nan"},
    {"guidellm: fewer requests than streams",
     GUIDELLM_STOPPED("19", "\"type_\": \"concurrent\", \"streams\": 120"),
     "unknown: 64/32 tokens, 80/40 per s, ttft 0.011 nan, tpot 0.00115, gap nan"},
    {"guidellm: arrivals and the limit that it always has",
     GUIDELLM("\"type_\": \"constant\", \"rate\": 2.5, \"max_concurrency\": 10240"),
     "constant arrivals 2.5/s: 64/32 tokens, 80/40 per s, ttft 0.011 nan, tpot 0.00115, gap nan"},
    {"guidellm: arrivals that a limit may have held back",
     GUIDELLM("\"type_\": \"poisson\", \"rate\": 2.5, \"max_concurrency\": 8"),
     "unknown: 64/32 tokens, 80/40 per s, ttft 0.011 nan, tpot 0.00115, gap nan"},
    {"llm-d 0.2.1, a number in flight",
     LLM_D_2_LOADED("concurrency: 16\n      rate_qps: .inf", "s", "1", "8", "500"),
     "closed loop 16: 2000/100 tokens, 10000/500 per s, ttft 0.5 nan, tpot 0.02, gap nan"},
    {"llm-d 0.2.1, a rate and a limit",
     LLM_D_2_LOADED("concurrency: 16\n      rate_qps: 5.0", "s", "1", "8", "500"),
     "unknown: 2000/100 tokens, 10000/500 per s, ttft 0.5 nan, tpot 0.02, gap nan"},
    {"llm-d 0.2.1, YAML", LLM_D_2("s", "1", "8", "500"),
     "unknown: 2000/100 tokens, 10000/500 per s, ttft 0.5 nan, tpot 0.02, gap nan"},
    {"llm-d 0.1, JSON", LLM_D_1,
     "closed loop 16: 2000/100 tokens, 10000/500 per s, ttft nan nan, tpot 0.02, gap nan"},
    {"inference-perf", PERF,
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
    {"MLPerf, offline",
     MLPERF("Offline", "Samples per second: 80\nTokens per second: 24000\n", "VALID"),
     "all at once: nan/300 tokens, nan/24000 per s, ttft 1 nan, tpot 0.14, gap nan"},
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

// ---- what is refused

static const struct {
  const char *name, *text, *error;
} refusals[] = {
    {"nothing", "", "in no known format; tried: InferenceX aggregate, SGLang bench_serving, vLLM"},
    {"a text", "Serving Benchmark Result\nOutput token throughput (tok/s): 5\n",
     "in no known format"},
    {"JSON of another kind", "{\"a\": 1}", "JSON in no known format"},
    {"a list of nothing", "[]", "JSON in no known format"},
    {"YAML of another kind", "a: 1\n", "text in no known format"},
    {"YAML of half a report", "results: 1\n", "YAML in no known format"},
    {"CSV of another kind", "a,b\n1,2\n", "in no known format"},
    {"vLLM, cut short", VLLM_HEAD VLLM_RATES, "not complete JSON"},
    {"vLLM, an edited rate",
     VLLM_HEAD "\"max_concurrency\": 64, \"duration\": 64.0, \"completed\": 640, "
               "\"total_input_tokens\": 512000, \"total_output_tokens\": 163840, "
               "\"output_throughput\": 3560.0, \"total_token_throughput\": 10560.0}",
     "contradicts itself: 3560 output tokens per second, but 163840 of them in 64 s are 2560"},
    {"vLLM, a rate that counts input",
     VLLM_HEAD "\"max_concurrency\": 64, \"duration\": 64.0, \"completed\": 640, "
               "\"total_input_tokens\": 512000, \"total_output_tokens\": 163840, "
               "\"output_throughput\": 10560.0, \"total_token_throughput\": 10560.0}",
     "includes input tokens: 10560 per second are 512000 in and 163840 out in 64 s"},
    {"vLLM, an edited length", VLLM_HEAD VLLM_RATES "\"output_lens\": [163840, 1], " VLLM_TAIL,
     "'output_lens' adds up to 163841 tokens, the total is 163840"},
    {"vLLM, a latency in seconds", VLLM_HEAD VLLM_RATES "\"mean_e2el_ms\": 6400000}",
     "would be 64000 in flight, not 64: check the latency units"},
    {"vLLM, a latency below 0", VLLM_HEAD VLLM_RATES "\"mean_ttft_ms\": -5}",
     "ttft.mean_s: expected a number of at least 0, found -0.005"},
    {"vLLM, percentiles that do not ascend",
     VLLM_HEAD VLLM_RATES "\"median_ttft_ms\": 200, \"p90_ttft_ms\": 150}",
     "a latency's percentiles do not ascend"},
    {"vLLM, half a request in flight",
     VLLM_HEAD "\"max_concurrency\": 0.5, " VLLM_TOTALS "\"failed\": 0}",
     "concurrency: expected a number of at least 1, found 0.5"},
    {"vLLM, less than a token accepted",
     VLLM_HEAD VLLM_RATES "\"spec_decode_acceptance_length\": 0.5}",
     "accepted_length: expected a number of at least 1, found 0.5"},
    {"vLLM, a text for a number", VLLM_HEAD VLLM_RATES "\"mean_ttft_ms\": \"250 ms\"}",
     "'mean_ttft_ms': expected a number"},
    {"vLLM throughput",
     "{\"elapsed_time\": 10, \"num_requests\": 100, \"total_num_tokens\": 9000, "
     "\"requests_per_second\": 10, \"tokens_per_second\": 900}",
     "its tokens per second include input tokens"},
    {"SGLang, the second line cut short",
     SGLANG("total_input_tokens", "2800.0") "{\"backend\": \"sglang\", \"requ",
     "2:23: not complete JSON"},
    {"SGLang, the second line edited",
     SGLANG("total_input_tokens", "2800.0") SGLANG("total_input_tokens", "3800.0"),
     "2:1: contradicts itself: 3800"},
    {"InferenceX, a list whose second result is edited",
     "[" INFERENCEX(ONE_NODE, ONE_NODE_RATES, "") ", " INFERENCEX(APART, ONE_NODE_RATES, "") "]",
     "result 2: contradicts itself: 9360 tokens per second"},
    {"SGLang, another format appended", SGLANG("total_input_tokens", "2800.0") "{\"a\": 1}\n",
     "2:1: expected more of SGLang bench_serving here, but 'output_throughput' is missing"},
    {"llama-bench's table", "| model                          |       size |\n",
     "run llama-bench with -o json, jsonl or csv"},
    {"llama-bench, an edited rate",
     "{\"build_commit\": \"\", \"n_prompt\": 0, \"n_gen\": 8, \"avg_ts\": 90, \"samples_ts\": "
     "[32]}",
     "avg_ts is 90, its samples' mean 32"},
    {"llama-bench, CSV cut short", LLAMA_CSV "\"abc\",\"6000\"\n",
     "expected 12 cells as in the header, found 2"},
    {"llama-batched-bench's table", "|    PP |     TG |    B |   N_KV |\n",
     "--output-format jsonl"},
    {"llama-batched-bench, an edited rate", BATCHED("512"),
     "speed_tg is 512, but pl x tg tokens in t_tg are 128"},
    {"trtllm-bench, GPUs that contradict", TRTLLM("4", ""),
     "world_size is 4, but the rate per GPU implies 2"},
    {"AIPerf without a unit", AIPERF("", AIPERF_PHASES),
     "'output_token_throughput': expected the unit tokens/sec, found none"},
    {"AIPerf in another unit", AIPERF("\"unit\": \"tokens/min\", ", AIPERF_PHASES),
     "expected the unit tokens/sec, found tokens/min"},
    {"AIPerf on unlike accelerators", AIPERF_BESIDE("NVIDIA H100", AIPERF_UNIT, AIPERF_PHASES),
     "accelerators of both 'NVIDIA H200' and 'NVIDIA H100'"},
    {"llm-d on unlike accelerators", LLM_D_1_ON("H100", "4", "8"),
     "accelerators of both 'H200' and 'H100'"},
    {"guidellm, an earlier version",
     "{\"args\": {}, \"benchmarks\": [{\"metrics\": {\"output_tokens_per_second\": {}}}]}",
     "version 2 of the report"},
    {"llm-d, a rate that is a mean of events", LLM_D_2("s", "1", "8", "1912"),
     "contradicts itself: 1912 output tokens per second, but 50000 of them in 100 s are 500"},
    {"llm-d, another unit", LLM_D_2("minutes", "1", "8", "500"),
     "'time_to_first_token': expected a unit of time, found minutes"},
    {"llm-d, an alias", "results: &a 1\nb: *a\n", "2:4: aliases are not supported"},
    {"llm-d, a repeated key", "version: '0.2'\nversion: '0.2'\nmetrics: 1\n", "is repeated here"},
    {"llm-d, cut short", "version: '0.2'\nscenario: {load: [1,", "not complete YAML"},
    {"llm-d, a line end of YAML's alone", "metrics: {\ra: 1, \xc3\xa9: 2]",
     "1:23: not complete YAML"},
    {"YAML that is nested too deep",
     "metrics: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
     "[[[[[[[[[[",
     "nested too deep"},
    {"InferenceX, agents",
     "{\"scenario_type\": \"agentic-coding\", \"users\": 8, \"output_tput_per_gpu\": 5}",
     "multi-turn conversations"},
    {"InferenceX, latencies in milliseconds",
     "{\"hw\": \"h200\", \"conc\": 64, \"tp\": 8, \"isl\": 1024, \"osl\": 1024, "
     "\"tput_per_gpu\": 780, \"output_tput_per_gpu\": 390, \"mean_e2el\": 21000}",
     "check the latency units"},
    {"InferenceX, no GPU", INFERENCEX("\"tp\": 0, ", ONE_NODE_RATES, ""),
     "states no number of GPUs above 0"},
    {"InferenceX, rates of other GPUs", INFERENCEX(APART, ONE_NODE_RATES, ""),
     "tokens per second in and out of 12 GPUs, but 1560 in and 3120 out"},
    {"MLPerf, not valid", MLPERF("Server", SERVER_RATES, "INVALID"), "the run's result is INVALID"},
    {"MLPerf, no language model", MLPERF("Offline", "Samples per second: 80\n", "VALID"),
     "no 'Tokens per second': not a language model's run"},
    {"MLPerf, another scenario", MLPERF("SingleStream", SERVER_RATES, "VALID"),
     "expected the scenario Server, Interactive or Offline, found 'SingleStream'"},
};

// ---- the tests

struct files {
  struct fixture fixture;
  char folder[32];
};

static void start(struct files *files) {
  fixture_start(&files->fixture);
  strcpy(files->folder, "/tmp/pertoken-imports-XXXXXX");
  assert_non_null(mkdtemp(files->folder));
}

static void end(struct files *files) {
  const char *path = arena_printf(&files->fixture.arena, "%s/file", files->folder);
  unlink(path);
  rmdir(files->folder);
  fixture_end(&files->fixture);
}

static int read_all(struct files *files, const char *text, struct imported_list *all) {
  struct arena *arena = &files->fixture.arena;
  fixture_write(&files->fixture, files->folder, "file", text);
  return format_read(arena_printf(arena, "%s/file", files->folder), all, arena,
                     &files->fixture.diagnostics);
}

// The first value of a text.
static int read_text(struct files *files, const char *text, struct imported *imported) {
  struct imported_list all = {0};
  const int result = read_all(files, text, &all);
  assert_true(result ? !all.count : all.count > 0);
  if (!result)
    *imported = all.list[0];
  return result;
}

static void test_what_files_say(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
    struct files files;
    struct imported imported = {0};
    start(&files);
    const int result = read_text(&files, readings[i].text, &imported);
    expect_error(&files.fixture, readings[i].name, "");
    assert_int_equal(result, 0);
    const char *words = reading_words(&imported, &files.fixture.arena);
    if (strcmp(words, readings[i].expected) != 0)
      fail_msg("%s\n  expected: %s\n  got:      %s", readings[i].name, readings[i].expected, words);
    end(&files);
  }
}

static void test_what_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    struct files files;
    struct imported imported = {0};
    start(&files);
    assert_int_equal(read_text(&files, refusals[i].text, &imported), -1);
    expect_error(&files.fixture, refusals[i].name, refusals[i].error);
    end(&files);
  }
}

// A file truncated anywhere is refused or read; nothing worse.
static void test_cut_anywhere(void **state) {
  (void)state;
  static const char *const texts[] = {VLLM, LLAMA_CSV, LLM_D_2("s", "1", "8", "500"),
                                      MLPERF("Server", SERVER_RATES, "VALID")};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    for (size_t length = 0; length < strlen(texts[i]); length += 7) {
      struct files files;
      struct imported imported = {0};
      start(&files);
      const int result =
          read_text(&files, arena_copy_n(&files.fixture.arena, texts[i], length), &imported);
      assert_int_equal(result == 0, files.fixture.diagnostics.errors == 0);
      end(&files);
    }
}

// ---- besides the rates

// Each line is a result of its own, which may contradict another.
static void test_appended_lines(void **state) {
  (void)state;
  struct files files;
  struct imported_list all = {0};
  start(&files);
  assert_int_equal(read_all(&files,
                            SGLANG("total_input_tokens", "2800.0") SGLANG("total_input", "2801.0"),
                            &all),
                   0);
  assert_int_equal(all.count, 2);
  for (size_t i = 0; i < all.count; i++) {
    const struct imported *imported = &all.list[i];
    assert_int_equal(imported->count, 1);
    assert_string_equal(imported->engine, "SGLang");
    assert_string_equal(imported->engine_version, "0.5.2");
    assert_string_equal(imported->speculation, "unnamed");
    expect_near(imported->rungs[0].output_tokens_per_s, 2800 + (double)i, 1e-12, "the line's rate");
    expect_near(imported->rungs[0].accepted_length, 2.88, 1e-12, "tokens a step");
    expect_fragment(imported->name, i ? "/file:2" : "/file:1");
  }
  end(&files);
}

static void test_results_of_one_file_are_apart(void **state) {
  (void)state;
  static const char *const texts[] = {"[" INFERENCEX(ONE_NODE, ONE_NODE_RATES, "") ", " INFERENCEX(
                                          "\"tp\": 4, ", ONE_NODE_RATES, "") "]",
                                      "[" LLM_D_1 ", " LLM_D_1 "]"};
  static const int accelerators[][2] = {{8, 4}, {12, 12}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    struct files files;
    struct imported_list all = {0};
    start(&files);
    assert_int_equal(read_all(&files, texts[i], &all), 0);
    assert_int_equal(all.count, 2);
    assert_int_equal(all.list[0].accelerators, accelerators[i][0]);
    assert_int_equal(all.list[1].accelerators, accelerators[i][1]);
    expect_fragment(all.list[1].name, "/file, result 2");
    end(&files);
  }
}

static void test_a_limited_rate_is_remarked(void **state) {
  (void)state;
  struct files files;
  struct imported imported = {0};
  start(&files);
  assert_int_equal(read_text(&files, VLLM_ARRIVALS("64") VLLM_TAIL, &imported), 0);
  assert_string_equal(
      texts_joined(&imported.remarks, &files.fixture.arena),
      "load unknown: at 10 requests/s, the limit of 64 in flight may have held some back");
  assert_true(isnan(imported.rungs[0].request_rate) && isnan(imported.rungs[0].concurrency));
  end(&files);
}

static void test_too_few_requests_are_remarked(void **state) {
  (void)state;
  struct files files;
  struct imported imported = {0};
  start(&files);
  assert_int_equal(
      read_text(&files, VLLM_HEAD "\"max_concurrency\": 900, " VLLM_TOTALS VLLM_TAIL, &imported),
      0);
  assert_string_equal(texts_joined(&imported.remarks, &files.fixture.arena),
                      "load unknown: 640 requests cannot be 900 in flight");
  assert_true(isnan(imported.rungs[0].concurrency));
  expect_near(imported.rungs[0].mean_concurrency, 63.8, 1e-12, "in flight on average");
  end(&files);
}

static void test_failures_that_are_not_stated(void **state) {
  (void)state;
#define ANSWERED(more) SGLANG_ANSWERED("\"inf\"", "total_input", "2800.0", more)
  static const struct {
    const char *text;
    double failed;
  } cases[] = {{VLLM, 0},
               {"{" VLLM_RATES VLLM_TAIL, NAN},
               {"{\"failed\": 0, " VLLM_RATES VLLM_TAIL, 0},
               {ANSWERED(""), NAN},
               {ANSWERED("\"errors\": [], \"input_lens\": [], "), NAN},
               {ANSWERED("\"errors\": [\"\", \"\"], "), 0},
               {ANSWERED("\"num_prompts\": 700, "), 0},
               {AIPERF(AIPERF_UNIT, AIPERF_PHASES), NAN},
               {AIPERF(AIPERF_UNIT, AIPERF_PHASES "}, \"error_summary\": [], \"more\": {"), 0},
               {AIPERF(AIPERF_UNIT, AIPERF_PHASES "}, \"error_summary\": [{\"count\": 2}, "
                                                  "{\"count\": 3}], \"more\": {"),
                5},
               {LLM_D_1, NAN},
               {LLM_D_2("s", "1", "8", "500"), 0}};
#undef ANSWERED
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct files files;
    struct imported imported = {0};
    start(&files);
    assert_int_equal(read_text(&files, cases[i].text, &imported), 0);
    const char *unsaid = texts_joined(&imported.unsaid, &files.fixture.arena);
    const double failed = imported.rungs[0].failed;
    assert_true(isnan(cases[i].failed) ? isnan(failed) : failed == cases[i].failed);
    assert_int_equal(strstr(unsaid, "how many requests failed") != NULL, isnan(failed));
    end(&files);
  }
}

static void test_metadata_and_fork_of_vllm(void **state) {
  (void)state;
  struct files files;
  struct imported imported = {0};
  start(&files);
  assert_int_equal(read_text(&files,
                             VLLM_HEAD VLLM_RATES
                             "\"tp\": \"8\", \"request_goodput:\": 4.5, "
                             "\"benchmark_start_time_unix\": 1786022594.99, " VLLM_TAIL,
                             &imported),
                   0);
  expect_fragment(texts_joined(&imported.unsaid, &files.fixture.arena),
                  "whether speculative decoding was used, as its chunks hold 2.9 tokens");
  assert_string_equal(texts_joined(&imported.remarks, &files.fixture.arena), "metadata tp: 8");
  assert_string_equal(imported.date, "2026-08-06");
  assert_string_equal(imported.rungs[0].started, "2026-08-06T13:23:14Z");
  expect_near(imported.rungs[0].goodput_per_s, 4.5, 1e-12, "goodput");
  end(&files);
}

static void test_counts_of_accelerators(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int all, input, output;
  } cases[] = {
      {VLLM, 0, 0, 0},
      {TRTLLM("2", ""), 2, 0, 0},
      {TRTLLM("0", ""), -1, 0, 0},
      {LLM_D_1, 12, 4, 8},
      {LLM_D_1_ON("H200", "0", "4"), -1, 0, 0},
      {LLM_D_1_ON("H200", "4", "0"), -1, 0, 0},
      {LLM_D_2("s", "1", "8", "500"), 8, 0, 0},
      {LLM_D_2("s", "2", "8", "500"), 0, 0, 0}, // it does not say whether of one replica or of both
      {LLM_D_2("s", "1", "0", "500"), -1, 0, 0},
      {INFERENCEX(ONE_NODE, ONE_NODE_RATES, ""), 8, 0, 0},
      {INFERENCEX(APART, APART_RATES, ""), 12, 4, 8},
      {"{\"accelerator_model_name\": \"NVIDIA H200\", \"accelerators_per_node\": \"8\", "
       "\"number_of_nodes\": 2}",
       16, 0, 0},
      {"{\"accelerator_model_name\": \"\", \"accelerators_per_node\": 0}", -1, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct files files;
    struct imported imported = {0};
    start(&files);
    assert_int_equal(read_text(&files, cases[i].text, &imported), 0);
    assert_int_equal(imported.accelerators, cases[i].all);
    assert_int_equal(imported.input_accelerators, cases[i].input);
    assert_int_equal(imported.output_accelerators, cases[i].output);
    end(&files);
  }
}

static void test_speculation_of_inferencex(void **state) {
  (void)state;
#define SAYS(words) INFERENCEX_SPECULATING(words, ONE_NODE, ONE_NODE_RATES, "")
  static const struct {
    const char *text, *speculation;
  } cases[] = {
      {SAYS(""), ""},
      {SAYS("\"spec_decoding\": \"none\", "), ""},
      {SAYS("\"spec_decoding\": \"mtp\", "), "mtp"},
      {SAYS("\"spec_decoding\": \"draft_model\", \"mtp\": \"off\", "), "draft_model"},
      {SAYS("\"spec_decoding\": \"none\", \"mtp\": \"off\", "), ""},
      {SAYS("\"spec_decoding\": \"none\", \"mtp\": \"on\", "), "mtp"},
      {SAYS("\"mtp\": \"on\", "), "mtp"}, // as before it had "spec_decoding"
      {SAYS("\"mtp\": \"off\", "), ""},
      {SAYS("\"mtp\": \"\", "), ""},
      {SAYS("\"mtp\": true, "), "mtp"},
      {SAYS("\"mtp\": \"True\", "), "mtp"},
      {SAYS("\"mtp\": false, "), ""},
      {SAYS("\"mtp\": \"mtp3\", "), "mtp3"}, // whatever it means, it is not known to be none
  };
#undef SAYS
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct files files;
    struct imported imported = {0};
    start(&files);
    assert_int_equal(read_text(&files, cases[i].text, &imported), 0);
    if (strcmp(imported.speculation, cases[i].speculation) != 0)
      fail_msg("'%s' of %s", imported.speculation, cases[i].text);
    end(&files);
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
      cmocka_unit_test(test_what_is_refused),
      cmocka_unit_test(test_cut_anywhere),
      cmocka_unit_test(test_appended_lines),
      cmocka_unit_test(test_results_of_one_file_are_apart),
      cmocka_unit_test(test_a_limited_rate_is_remarked),
      cmocka_unit_test(test_too_few_requests_are_remarked),
      cmocka_unit_test(test_failures_that_are_not_stated),
      cmocka_unit_test(test_metadata_and_fork_of_vllm),
      cmocka_unit_test(test_counts_of_accelerators),
      cmocka_unit_test(test_speculation_of_inferencex),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
