// Other programs' results that are refused, and why.
#include "tests/support/import_files.h"

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
    {"vLLM, all latencies in seconds",
     VLLM_HEAD VLLM_RATES "\"mean_ttft_ms\": 0.25, \"mean_tpot_ms\": 0.02, \"mean_e2el_ms\": 6.38}",
     "10 requests per second of 0.00638 s each would be 0.0638 in flight, not 64"},
    {"vLLM, TPOT in seconds",
     VLLM_HEAD VLLM_RATES "\"mean_ttft_ms\": 250, \"mean_tpot_ms\": 0.02, \"mean_e2el_ms\": 6380}",
     "2e-05 s from token to token would be 0.0051 s for the 255 tokens after a request's first, "
     "but "
     "they take 6.13 s"},
    {"vLLM, TPOT in seconds, without the time end to end",
     VLLM_HEAD VLLM_RATES "\"mean_ttft_ms\": 250, \"mean_tpot_ms\": 0.02}",
     "would be 2.551 in flight, not 64"},
    {"vLLM, TPOT in microseconds, and no TTFT",
     VLLM_HEAD VLLM_RATES "\"mean_tpot_ms\": 20000, \"mean_e2el_ms\": 6380}",
     "20 s from token to token would be 5100 s"},
    {"vLLM, TPOT in microseconds, of arrivals without the time end to end",
     VLLM_ARRIVALS("null") "\"mean_ttft_ms\": 250, \"mean_tpot_ms\": 20000}",
     "a request takes 5100.25 s, but the run took 64 s"},
    {"vLLM, a first token after the last",
     VLLM_ARRIVALS("null") "\"mean_ttft_ms\": 7000, \"mean_e2el_ms\": 6380}",
     "the mean TTFT is 7 s, but a request takes 6.38 s"},
    {"vLLM, a mean that its median and deviation exclude",
     VLLM_HEAD VLLM_RATES "\"mean_ttft_ms\": 4200, \"median_ttft_ms\": 378, \"std_ttft_ms\": 84}",
     "the mean TTFT is 4.2 s and the median 0.378 s, further apart than the standard deviation, "
     "0.084 s"},
    {"vLLM, a mean in seconds",
     VLLM_HEAD VLLM_RATES "\"mean_itl_ms\": 0.02, \"median_itl_ms\": 20}",
     "the mean gap between chunks is 2e-05 s, too little for a P50 of 0.02 s"},
    {"vLLM, a percentile in seconds",
     VLLM_HEAD VLLM_RATES "\"mean_ttft_ms\": 250, \"p99_ttft_ms\": 0.9}",
     "the mean TTFT is 0.25 s, and its P99 only 0.0009 s"},
    {"vLLM, more goodput than requests", VLLM_HEAD VLLM_RATES "\"request_goodput\": 10.3}",
     "goodput: 10.3 requests per second met their limits, but only 10 were answered"},
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
    {"vLLM sweep, its table", ",date,backend,output_throughput\n0,20260806-132830,vllm,2560\n",
     "vLLM bench sweep's table: its rows may be of servers with unlike settings: import the files "
     "summary.json"},
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
    {"SGLang, arrivals in seconds, of which it counted those in flight",
     "{\"request_rate\": 14, \"duration\": 50.0, \"completed\": 700, \"total_input_tokens\": "
     "70000, "
     "\"total_output_tokens\": 140000, \"output_throughput\": 2800, \"concurrency\": 29.5, "
     "\"mean_e2e_latency_ms\": 2.2}",
     "14 requests per second of 0.0022 s each would be 0.0308 in flight, but it counted 29.5"},
    {"AIPerf, a version to come",
     "{\"schema_version\": \"2.0\", \"output_token_throughput\": {}, \"request_throughput\": {}, "
     "\"input_config\": {}}",
     "AIPerf, version 2.0 of its format: up to 1.3 can be read"},
    {"guidellm, a version to come",
     "{\"metadata\": {\"version\": 3, \"guidellm_version\": \"1.0\"}, \"benchmarks\": []}",
     "guidellm, version 3 of its format: up to 2 can be read"},
    {"llm-d, a version to come",
     "version: 0.3\nscenario: {load: {}}\nresults: {request_performance: {}}\n",
     "version 0.3 of its format: up to 0.2.1 can be read"},
    {"llm-d, no version",
     "version: next\nscenario: {load: {}}\nresults: {request_performance: {}}\n",
     "version next of its format: up to 0.2.1 can be read"},
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
    {"GenAI-Perf, an edited rate", GENAI_PERF("5.0", "true", "\"concurrency\": 32"),
     "contradicts itself: 800 requests of 250 output tokens at 2500 per second take 80 s, in which "
     "5 requests per second are only 400"},
    {"GenAI-Perf, CSV, an edited rate", GENAI_PERF_CSV("9.90"),
     "in which 9.9 requests per second are only 792"},
    {"GenAI-Perf, CSV, a second table cut short",
     "Metric,avg\nRequest Latency (ms),5.00\n\nMetric,Value\nRequest Count (count)\n",
     "5:22: expected 2 cells as in the header, found 1"},
    {"Perf Analyzer's own file",
     "{\"version\": \"1.0\", \"service_kind\": \"openai\", \"endpoint\": \"a:1\", \"experiments\": "
     "[{\"experiment\": {\"mode\": \"concurrency\", \"value\": 1}, \"requests\": []}]}",
     "import profile_export_genai_perf.json"},
    {"AIPerf's request by request",
     "{\"metadata\": {\"session_num\": 45, \"request_start_ns\": 1759813207532900363}, "
     "\"metrics\": "
     "{\"output_token_count\": {\"value\": 9, \"unit\": \"tokens\"}}, \"error\": null}\n",
     "import profile_export_aiperf.json"},
    {"GenAI-Perf of images",
     "Metric,avg\nRequest Latency (ms),5.00\n\nMetric,Value\nRequest Throughput (per sec),9.00\n",
     "CSV in no known format; tried: InferenceX aggregate, SGLang bench_serving, vLLM bench serve, "
     "trtllm-bench, GenAI-Perf, AIPerf, guidellm, "},
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
    {"InferenceX, agents since 2026",
     "{\"scenario_type\": \"agentic-coding\", \"conc\": 8, \"request_metrics\": {}}",
     "multi-turn conversations"},
    {"InferenceX, two kinds of accelerators",
     INFERENCEX(APART "\"prefill_hw\": \"h200\", \"decode_hw\": \"b200\", ", APART_RATES, ""),
     "prefill on 'h200' and decode on 'b200': a record is of one accelerator"},
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
    {"MLPerf Endpoints, interrupted",
     ENDPOINTS("false", "\"n_samples_completed\": 1000", "\"type\": \"max_throughput\"", "null",
               "426.667", "90"),
     "the run is not complete"},
    {"MLPerf Endpoints, an edited rate",
     ENDPOINTS("true", "\"n_samples_completed\": 1000", "\"type\": \"max_throughput\"", "null",
               "512", "90"),
     "contradicts itself: 512 output tokens per second, but 256000 of them in 600 s are 426.667"},
};

static void test_what_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    struct import_files files;
    struct imported imported = {0};
    import_files_start(&files);
    assert_int_equal(import_files_read(&files, refusals[i].text, &imported), -1);
    expect_error(&files.fixture, refusals[i].name, refusals[i].error);
    import_files_end(&files);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
