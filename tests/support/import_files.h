// import_files: files of other programs' results, made up in each tool's format and with its keys;
// none is a measurement. The tests of imports read them.
#ifndef PERTOKEN_TESTS_SUPPORT_IMPORT_FILES_H
#define PERTOKEN_TESTS_SUPPORT_IMPORT_FILES_H

#include "tests/support/fixture.h"

#include "model/imports/imported.h"

struct import_files {
  struct fixture fixture;
  char folder[32];
};

void import_files_start(struct import_files *files);
void import_files_end(struct import_files *files);

// A file with this text, and all values in it. Returns what format_read returns.
int import_files_read_all(struct import_files *files, const char *text, struct imported_list *all);

// The same for the first value. Fails the test if there is none without an error, or one with it.
int import_files_read(struct import_files *files, const char *text, struct imported *imported);

// ---- the files

#define VLLM_HEAD                                                                                  \
  "{\"date\": \"20260806-132830\", \"backend\": \"vllm\", \"model_id\": \"org/Some-8B\", "         \
  "\"num_prompts\": 640, \"request_rate\": \"inf\", \"burstiness\": 1.0, "
#define VLLM_TAIL                                                                                  \
  "\"mean_ttft_ms\": 250, \"median_ttft_ms\": 200, \"p90_ttft_ms\": 400, \"p99_ttft_ms\": 900, "   \
  "\"mean_tpot_ms\": 20, \"mean_itl_ms\": 57.6, \"mean_e2el_ms\": 6380, \"std_ttft_ms\": 90}"
#define VLLM_TOTALS                                                                                \
  "\"duration\": 64.0, \"completed\": 640, \"total_input_tokens\": 512000, "                       \
  "\"total_output_tokens\": 163840, \"output_throughput\": 2560.0, "                               \
  "\"total_token_throughput\": 10560.0, "
#define VLLM_RATES "\"max_concurrency\": 64, " VLLM_TOTALS
#define VLLM       VLLM_HEAD VLLM_RATES VLLM_TAIL
#define VLLM_ARRIVALS(max_concurrency)                                                             \
  "{\"request_rate\": 10, \"burstiness\": 1.0, \"num_prompts\": 640, "                             \
  "\"max_concurrency\": " max_concurrency ", " VLLM_TOTALS

// As TensorRT-LLM's client adds it.
#define ENERGY(joules, watts)                                                                      \
  "\"energy\": {\"total_energy_j\": " joules                                                       \
  ", \"output_tps_per_w\": 3.6, \"total_gpu_power_w\": " watts "}, "

#define SGLANG(total_input, rate) SGLANG_ARRIVALS("Infinity", total_input, rate)
#define SGLANG_ARRIVALS(request_rate, total_input, rate)                                           \
  SGLANG_ANSWERED(request_rate, total_input, rate, "")
#define SGLANG_ANSWERED(request_rate, total_input, rate, more)                                     \
  SGLANG_SERVED(request_rate, total_input, rate, more,                                             \
                "\"version\": \"0.5.2\", \"model_path\": \"org/Some-8B\"")
#define SGLANG_SERVED(request_rate, total_input, rate, more, server)                               \
  "{\"backend\": \"sglang\", \"request_rate\": " request_rate ", \"max_concurrency\": 32, " more   \
  "\"duration\": 50.0, \"completed\": 700, \"" total_input "\": 70000, "                           \
  "\"total_output_tokens\": 140000, \"input_throughput\": 1400.0, \"output_throughput\": " rate    \
  ", \"mean_e2e_latency_ms\": 2200, \"mean_ttft_ms\": 100, \"p99_ttft_ms\": 180, "                 \
  "\"mean_tpot_ms\": 10, \"mean_itl_ms\": 28.8, \"concurrency\": 29.5, \"accept_length\": 2.88, "  \
  "\"server_info\": {" server "}}\n"

#define LLAMA(mode, prompt, gen, depth, rate) LLAMA_ON("\"\"", mode, prompt, gen, depth, rate)
#define LLAMA_ON(gpu, mode, prompt, gen, depth, rate)                                              \
  "{\"build_commit\": \"abc\", \"build_number\": 6000, \"cpu_info\": \"Some CPU\", "               \
  "\"gpu_info\": " gpu ", \"model_filename\": \"some.gguf\", \"model_type\": \"some 8B Q8_0\", "   \
  "\"" mode "\": 1, \"n_prompt\": " prompt ", \"n_gen\": " gen ", \"n_depth\": " depth ", "        \
  "\"test_time\": \"2026-10-02T08:01:42Z\", \"avg_ts\": " rate ", \"stddev_ts\": 1.0, "            \
  "\"samples_ns\": [2000000000, 2000000000], \"samples_ts\": [" rate ", " rate "]}"
#define LLAMA_CSV                                                                                  \
  "build_commit,build_number,cpu_info,gpu_info,model_filename,model_type,n_prompt,n_gen,n_depth,"  \
  "test_time,avg_ns,avg_ts\n"                                                                      \
  "\"abc\",\"6000\",\"Some CPU\",\"\",\"some.gguf\",\"some 8B Q8_0\",\"0\",\"128\",\"512\","       \
  "\"2026-10-02T08:01:42Z\",\"1000\",\"32.5\"\n"

#define BATCHED(speed) BATCHED_ON("0", speed)
#define BATCHED_ON(shared, speed)                                                                  \
  "{\"n_kv_max\": 2048, \"is_pp_shared\": " shared                                                 \
  ", \"pp\": 128, \"tg\": 64, \"pl\": 4, \"t_pp\": 0.5, \"speed_pp\": 1024, "                      \
  "\"t_tg\": 2.0, \"speed_tg\": " speed ", \"t\": 2.5, \"speed\": 307}\n"

#define TRTLLM(world, energy)                                                                      \
  "{\"engine\": {\"model\": \"org/Some-8B\", \"version\": \"1.3.0\", \"dtype\": \"bfloat16\", "    \
  "\"quantization\": \"FP8\"}, \"world_info\": {\"tp_size\": 2, \"world_size\": " world "}, "      \
  "\"request_info\": {\"num_requests\": 1000, \"avg_num_concurrent_requests\": 95.5, "             \
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

// In the order of AIPerf's own CSV, which has no unit for a number of requests.
#define AIPERF_CSV                                                                                 \
  "Metric,avg,min,max,p50,p90,p95,p99,std\r\n"                                                     \
  "Input Sequence Length (tokens),50.00,50,50,50.00,50.00,50.00,50.00,0.00\r\n"                    \
  "Inter Token Latency (ms),6.00,5.00,7.00,6.00,6.50,6.80,7.00,0.50\r\n"                           \
  "Output Sequence Length (tokens),100.00,100,100,100.00,100.00,100.00,100.00,0.00\r\n"            \
  "Request Latency (ms),700.00,600.00,900.00,700.00,800.00,850.00,880.00,9.00\r\n"                 \
  "Time to First Token (ms),90.00,50.00,160.00,,,,150.00,9.00\r\n"                                 \
  "\r\n"                                                                                           \
  "Metric,Value\r\n"                                                                               \
  "Benchmark Duration (sec),80.00\r\n"                                                             \
  "Output Token Throughput (tokens/sec),1000.00\r\n"                                               \
  "Request Count,800.00\r\n"                                                                       \
  "Request Throughput (requests/sec),10.00\r\n"                                                    \
  "Total Input Sequence Length (tokens),40000.00\r\n"                                              \
  "Total Output Sequence Length (tokens),80000.00\r\n"

// As GenAI-Perf's own exporters write it: 800 answers of 250 tokens in 80 s.
#define GENAI_PERF_METRICS(requests_per_s)                                                         \
  "{\"request_throughput\": {\"unit\": \"requests/sec\", \"avg\": " requests_per_s "}, "           \
  "\"request_latency\": {\"unit\": \"ms\", \"avg\": 3000, \"p99\": 3300}, "                        \
  "\"request_count\": {\"unit\": \"count\", \"avg\": 800.0}, "                                     \
  "\"time_to_first_token\": {\"unit\": \"ms\", \"avg\": 90, \"p99\": 150}, "                       \
  "\"inter_token_latency\": {\"unit\": \"ms\", \"avg\": 12}, "                                     \
  "\"output_token_throughput\": {\"unit\": \"tokens/sec\", \"avg\": 2500.0}, "                     \
  "\"output_sequence_length\": {\"unit\": \"tokens\", \"avg\": 250.0}, "                           \
  "\"input_sequence_length\": {\"unit\": \"tokens\", \"avg\": 1000.0}, "                           \
  "\"telemetry_stats\": {\"gpu_power_limit\": {\"unit\": \"W\", \"gpu0\": {\"avg\": 700}}, "       \
  "\"gpu_power_usage\": {\"unit\": \"W\", \"gpu0\": {\"avg\": 400}, \"gpu1\": {\"avg\": 420}}}, "
#define GENAI_PERF(requests_per_s, streaming, stimulus)                                            \
  GENAI_PERF_METRICS(requests_per_s)                                                               \
  "\"input_config\": {\"model_names\": [\"org/Some-8B\"], \"endpoint\": {\"type\": \"chat\", "     \
  "\"streaming\": " streaming "}, \"perf_analyzer\": {\"stimulus\": {" stimulus "}}}}"
// Before its options had sections.
#define GENAI_PERF_2024                                                                            \
  GENAI_PERF_METRICS("10.0")                                                                       \
  "\"input_config\": {\"model\": [\"org/Some-8B\"], \"endpoint_type\": \"chat\", \"streaming\": "  \
  "true, \"concurrency\": 32, \"request_rate\": null, \"stability_percentage\": 999}}"
#define GENAI_PERF_CSV(requests_per_s)                                                             \
  "Metric,avg,min,max,p99,p95,p90,p75,p50,p25,p10,p5,p1\r\n"                                       \
  "Time To First Token (ms),90.00,N/A,1,150.00,1,1,1,1,1,1,1,1\r\n"                                \
  "Request Latency (ms),\"3,000.00\",1,1,\"3,300.00\",1,1,1,1,1,1,1,1\r\n"                         \
  "Inter Token Latency (ms),12.00,1,1,15.00,1,1,1,1,1,1,1,1\r\n"                                   \
  "Output Sequence Length (tokens),250.00,1,1,1,1,1,1,1,1,1,1,1\r\n"                               \
  "Input Sequence Length (tokens),\"1,000.00\",1,1,1,1,1,1,1,1,1,1,1\r\n"                          \
  "\r\n"                                                                                           \
  "Metric,Value\r\n"                                                                               \
  "Output Token Throughput (tokens/sec),\"2,500.00\"\r\n"                                          \
  "Request Throughput (per sec)," requests_per_s "\r\n"                                            \
  "Request Count (count),800.00\r\n"                                                               \
  "\r\n"                                                                                           \
  "Metric,GPU,avg,min,max,p99,p95,p90,p75,p50,p25,p10,p5,p1\r\n"                                   \
  "GPU Power Usage (W),gpu0,400.00,1,1,1,1,1,1,1,1,1,1,1\r\n"                                      \
  "GPU Power Usage (W),gpu1,420.00,1,1,1,1,1,1,1,1,1,1,1\r\n"                                      \
  "\r\n"                                                                                           \
  "Metric,GPU,Value\r\n"                                                                           \
  "GPU Power Limit (W),gpu0,700.00\r\n"                                                            \
  "GPU Power Limit (W),1,700.00\r\n"

#define GUIDELLM_STATISTIC(name, mean, sum)                                                        \
  "\"" name "\": {\"successful\": {\"mean\": " mean ", \"median\": " mean ", \"total_sum\": " sum  \
  ", \"percentiles\": {\"p90\": " mean ", \"p99\": " mean "}}}, "
#define GUIDELLM(strategy)                     GUIDELLM_STOPPED("0", strategy)
#define GUIDELLM_STOPPED(incomplete, strategy) GUIDELLM_WITH(incomplete, "", "", strategy)
// Requests of 2 s, in a window with what is said of its ends.
#define GUIDELLM_CUT(ends)                                                                         \
  GUIDELLM_WITH("0", GUIDELLM_STATISTIC("request_latency", "2", "200"), ends,                      \
                "\"type_\": \"concurrent\", \"streams\": 4")
#define GUIDELLM_WITH(incomplete, more, ends, strategy)                                            \
  "{\"metadata\": {\"version\": 2, \"guidellm_version\": \"0.8.0\"}, \"config\": {\"spec\": "      \
  "{\"backend\": {\"model\": \"org/Some-8B\"}}}, \"benchmarks\": [{\"config\": {\"strategy\": "    \
  "{" strategy "}}, \"metrics\": {\"request_totals\": {\"successful\": 100, \"errored\": "         \
  "0, \"incomplete\": " incomplete "}, " more GUIDELLM_STATISTIC(                                  \
      "prompt_token_count", "64", "6400") GUIDELLM_STATISTIC("output_token_count", "32", "3200")   \
      GUIDELLM_STATISTIC("time_to_first_token_ms", "110", "11000")                                 \
          GUIDELLM_STATISTIC("time_per_output_token_ms", "95.5", "0")                              \
              GUIDELLM_STATISTIC("inter_token_latency_ms", "95", "0")                              \
                  GUIDELLM_STATISTIC("output_tokens_per_second", "1912",                           \
                                     "51") "\"none\": 0}, " ends                                   \
                                           "\"duration\": 80.0, \"start_time\": 1786678148.2}]}"

#define LLM_D_2(unit, replicas, count, rate)                                                       \
  LLM_D_2_LOADED("concurrency: .inf", unit, replicas, count, rate)
#define LLM_D_2_LOADED(load, unit, replicas, count, rate)                                          \
  LLM_D_2_BY("inference-perf", load, unit, replicas, count, rate)
#define LLM_D_2_BY(tool, load, unit, replicas, count, rate)                                        \
  "version: '0.2.1'\nresults:\n  request_performance:\n    aggregate:\n      latency:\n"           \
  "        time_to_first_token: {mean: 0.5, p99: 0.9, units: " unit "}\n"                          \
  "        time_per_output_token: {mean: 20, units: ms/token}\n"                                   \
  "      requests:\n        failures: 0\n        total: 500\n"                                     \
  "        input_length: {mean: 2000, units: count}\n"                                             \
  "        output_length: {mean: 100, units: count}\n"                                             \
  "      throughput:\n        output_token_rate: {mean: " rate ", units: tokens/s}\n"              \
  "run:\n  time: {start: '2026-01-05T18:00:42Z', duration: PT1M40S}\n"                             \
  "scenario:\n  load:\n    standardized:\n      tool: " tool "\n"                                  \
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

#define PERF             PERF_OF("prompt_len: {mean: 300}")
#define PERF_OF(prompts) PERF_COUNTED(prompts, "50")
#define PERF_COUNTED(prompts, client)                                                              \
  "benchmark_time_seconds: 100\nload_summary: {count: 200, requested_rate: 2.0}\n"                 \
  "failures: {count: 0}\nsuccesses:\n  count: 200\n  " prompts "\n"                                \
  "  output_len: {mean: " client "}\n  throughput: {output_tokens_per_sec: 100.0}\n"               \
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

#define MLPERF(scenario, rates, verdict) MLPERF_OF("per", scenario, rates, verdict)
#define MLPERF_OF(per, scenario, rates, verdict)                                                   \
  "=====\nMLPerf Results Summary\n=====\nSUT name : PySUT\nScenario : " scenario "\n"              \
  "Mode     : PerformanceOnly\n" rates "Result is : " verdict "\n"                                 \
  "Mean First Token latency (ns)                : 1000000000\n"                                    \
  "50.00 percentile first token latency (ns)   : 900000000\n"                                      \
  "Mean Time " per " Output Token (ns)          : 140000000\n"                                     \
  "target_qps : 76\nttft_latency (ns): 2000000000\n"
// 1000 answers of 256 tokens in 600 s, or for LoadGen in 500 s.
#define ENDPOINTS(state, samples, load, window, tps, p90)                                          \
  "{\"version\": \"6.1.0\", \"n_samples_issued\": 1000, " samples ", \"n_samples_failed\": 0, "    \
  "\"duration_ns\": 600000000000, \"state\": \"complete\", \"complete\": " state ", "              \
  "\"ttft\": {\"avg\": 200000000, \"median\": 190000000, \"std_dev\": 50000000, \"percentiles\": " \
  "{\"50\": 190000000, \"" p90 "\": 300000000}}, \"tpot\": {\"avg\": 20000000}, "                  \
  "\"latency\": {\"avg\": 5000000000}, \"output_sequence_lengths\": {\"total\": 256000, \"avg\": " \
  "256}, \"legacy_loadgen_window_duration_ns\": " window ", \"tps\": " tps                         \
  ", \"run_config\": {\"load_pattern\": {" load "}}}"
#define ENDPOINTS_CLOSED                                                                           \
  ENDPOINTS("true", "\"n_samples_completed\": 1000",                                               \
            "\"type\": \"concurrency\", \"target_concurrency\": 16, \"target_qps\": null", "null", \
            "426.667", "90")
#define SERVER_RATES "Completed samples per second    : 75\nCompleted tokens per second: 22000\n"

#endif
