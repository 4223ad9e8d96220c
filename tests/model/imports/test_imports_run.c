// Other programs' results besides their rates: every latency, what ran where and when, how many
// accelerators and failures, and what is remarked.
#include "tests/support/import_files.h"

#include "base/texts.h"
#include "model/records/serving.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// ---- every latency

// A statistic that is taken for another, or in another unit, gives another number: mean, median,
// P90, P95, P99, standard deviation.
#define WITH(macro, ...) macro(__VA_ARGS__)
#define TTFT_MS          "110", "100", "200", "300", "400", "50"
#define TPOT_MS          "11", "10", "20", "30", "40", "5"
#define GAP_MS           "22", "21", "32", "43", "54", "6"
#define TOTAL_MS         "2200", "2100", "3200", "4300", "5400", "600"
#define TTFT_S           "0.11", "0.1", "0.2", "0.3", "0.4", "0.05"
#define TPOT_S           "0.011", "0.01", "0.02", "0.03", "0.04", "0.005"
#define GAP_S            "0.022", "0.021", "0.032", "0.043", "0.054", "0.006"
#define TOTAL_S          "2.2", "2.1", "3.2", "4.3", "5.4", "0.6"
#define TTFT_NS          "110000000", "100000000", "200000000", "300000000", "400000000"
#define TPOT_NS          "11000000", "10000000", "20000000", "30000000", "40000000"
#define TOTAL_NS         "2200000000", "2100000000", "3200000000", "4300000000", "5400000000"

#define CLIENT(name, mean, p50, p90, p95, p99, std)                                                \
  "\"mean_" name "\": " mean ", \"median_" name "\": " p50 ", \"p90_" name "\": " p90              \
  ", \"p95_" name "\": " p95 ", \"p99_" name "\": " p99 ", \"std_" name "\": " std ", "
#define CLIENTS(ttft, tpot, gap, total)                                                            \
  WITH(CLIENT, ttft, TTFT_MS)                                                                      \
  WITH(CLIENT, tpot, TPOT_MS)                                                                      \
  WITH(CLIENT, gap, GAP_MS) WITH(CLIENT, total, TOTAL_MS)
#define TRTLLM_LATENCY(mean_name, name, mean, p50, p90, p95, p99, std)                             \
  "\"" mean_name "\": " mean ", \"" name "\": {\"p50\": " p50 ", \"p90\": " p90 ", \"p95\": " p95  \
  ", \"p99\": " p99 ", \"std\": " std "}"
#define UNIT_LATENCY(name, of_unit, std_name, mean_name, mean, p50, p90, p95, p99, std)            \
  "\"" name "\": {" of_unit ", \"" mean_name "\": " mean ", \"p50\": " p50 ", \"p90\": " p90       \
  ", \"p95\": " p95 ", \"p99\": " p99 ", \"" std_name "\": " std "}, "
#define GUIDELLM_LATENCY(name, mean, p50, p90, p95, p99, std)                                      \
  "\"" name "\": {\"successful\": {\"mean\": " mean ", \"median\": " p50 ", \"std_dev\": " std     \
  ", \"percentiles\": {\"p90\": " p90 ", \"p95\": " p95 ", \"p99\": " p99 "}}}, "
#define PERF_LATENCY(name, mean, p50, p90, p95, p99, std)                                          \
  "    " name ": {mean: " mean ", median: " p50 ", p90: " p90 ", p95: " p95 ", p99: " p99 "}\n"
#define LOADGEN_LATENCY(mean_name, name, mean, p50, p90, p95, p99)                                 \
  "Mean " mean_name " (ns): " mean "\n50.00 percentile " name " (ns): " p50                        \
  "\n90.00 percentile " name " (ns): " p90 "\n95.00 percentile " name " (ns): " p95                \
  "\n99.00 percentile " name " (ns): " p99 "\n"

#define ENDPOINTS_LATENCY(name, point, mean, p50, p90, p95, p99)                                   \
  "\"" name "\": {\"avg\": " mean ", \"median\": " p50 ", \"percentiles\": {\"90" point "\": " p90 \
  ", \"95" point "\": " p95 ", \"99" point "\": " p99 "}}, "
#define ENDPOINTS_LATENCIES(point)                                                                 \
  "{\"n_samples_completed\": 1000, \"complete\": true, \"duration_ns\": 500000000000, "            \
  "\"run_config\": {\"load_pattern\": {\"type\": \"concurrency\", \"target_concurrency\": 8}}, "   \
  "\"output_sequence_lengths\": {\"total\": 256000}, \"tps\": 512, " WITH(                         \
      ENDPOINTS_LATENCY, "ttft", point, TTFT_NS) WITH(ENDPOINTS_LATENCY, "tpot", point, TPOT_NS)   \
      WITH(ENDPOINTS_LATENCY, "latency", point, TOTAL_NS) "\"state\": \"complete\"}"

static const struct {
  const char *name, *text;
  const char *ttft, *tpot, *gap, *end_to_end; // "none": the format does not have it
} latencies[] = {
    {"vLLM",
     VLLM_HEAD "\"max_concurrency\": 64, \"duration\": 100, \"failed\": 0, \"completed\": 1000, "
               "\"total_input_tokens\": 800000, \"total_output_tokens\": 256000, "
               "\"output_throughput\": 2560, \"total_token_throughput\": 10560, " CLIENTS(
                   "ttft_ms", "tpot_ms", "itl_ms", "e2el_ms") "\"none\": 0}",
     "0.11 0.1 0.2 0.3 0.4 0.05", "0.011 0.01 0.02 0.03 0.04 0.005",
     "0.022 0.021 0.032 0.043 0.054 0.006", "2.2 2.1 3.2 4.3 5.4 0.6"},
    {"SGLang",
     "{\"max_concurrency\": 32, \"duration\": 50.0, \"completed\": 700, "
     "\"total_input_tokens\": 70000, \"total_output_tokens\": 140000, "
     "\"output_throughput\": 2800, " CLIENTS("ttft_ms", "tpot_ms", "itl_ms",
                                             "e2e_latency_ms") "\"none\": 0}",
     "0.11 0.1 0.2 0.3 0.4 0.05", "0.011 0.01 0.02 0.03 0.04 0.005",
     "0.022 0.021 0.032 0.043 0.054 0.006", "2.2 2.1 3.2 4.3 5.4 0.6"},
    {"trtllm-bench",
     "{\"request_info\": {\"num_requests\": 1000, \"avg_input_length\": 1000, "
     "\"avg_output_length\": 100}, \"performance\": {\"total_latency_ms\": 50000, "
     "\"system_output_throughput_tok_s\": 2000, " WITH(
         TRTLLM_LATENCY, "avg_request_latency_ms", "request_latency_percentiles_ms",
         TOTAL_MS) "}, \"streaming_metrics\": {" WITH(TRTLLM_LATENCY, "avg_ttft_ms",
                                                      "ttft_percentiles",
                                                      TTFT_MS) ", " WITH(TRTLLM_LATENCY,
                                                                         "avg_tpot_ms",
                                                                         "tpot_percentiles",
                                                                         TPOT_MS) "}}",
     "0.11 0.1 0.2 0.3 0.4 nan", "0.011 0.01 0.02 0.03 0.04 nan", "none",
     "2.2 2.1 3.2 4.3 5.4 nan"},
    {"AIPerf",
     "{\"input_config\": {\"loadgen\": {\"concurrency\": 64}}, "
     "\"request_throughput\": {\"unit\": \"requests/sec\", \"avg\": 10}, "
     "\"request_count\": {\"unit\": \"requests\", \"avg\": 800}, " WITH(
         UNIT_LATENCY, "time_to_first_token", "\"unit\": \"ms\"", "std", "avg",
         TTFT_MS) WITH(UNIT_LATENCY, "inter_token_latency", "\"unit\": \"ms\"", "std", "avg",
                       TPOT_MS) WITH(UNIT_LATENCY, "inter_chunk_latency", "\"unit\": \"ms\"", "std",
                                     "avg", GAP_MS)
         WITH(UNIT_LATENCY, "request_latency", "\"unit\": \"sec\"", "std", "avg",
              TOTAL_S) "\"output_token_throughput\": {\"unit\": \"tokens/sec\", \"avg\": 1000}, "
                       "\"output_sequence_length\": {\"unit\": \"tokens\", \"avg\": 100}, "
                       "\"benchmark_duration\": {\"unit\": \"sec\", \"avg\": 80}}",
     "0.11 0.1 0.2 0.3 0.4 0.05", "0.011 0.01 0.02 0.03 0.04 0.005",
     "0.022 0.021 0.032 0.043 0.054 0.006", "2.2 2.1 3.2 4.3 5.4 0.6"},
    {"guidellm",
     "{\"metadata\": {\"guidellm_version\": \"0.8.0\"}, \"benchmarks\": [{\"config\": "
     "{\"strategy\": {\"type_\": \"concurrent\", \"streams\": 64}}, \"metrics\": "
     "{\"request_totals\": {\"successful\": 800, \"errored\": 0}, " GUIDELLM_STATISTIC(
         "output_token_count", "100", "80000") WITH(GUIDELLM_LATENCY, "time_to_first_token_ms",
                                                    TTFT_MS)
         WITH(GUIDELLM_LATENCY, "inter_token_latency_ms", TPOT_MS)
             WITH(GUIDELLM_LATENCY, "request_latency", TOTAL_S) "\"none\": 0}, \"duration\": 80}]}",
     "0.11 0.1 0.2 0.3 0.4 0.05", "0.011 0.01 0.02 0.03 0.04 0.005", "none",
     "2.2 2.1 3.2 4.3 5.4 0.6"},
    {"llm-d 0.1",
     "{\"version\": \"0.1\", \"scenario\": {}, \"metrics\": {\"time\": {\"duration\": 100}, "
     "\"requests\": {\"total\": 1000, \"output_length\": {\"mean\": 100}}, \"latency\": {" WITH(
         UNIT_LATENCY, "time_to_first_token", "\"units\": \"ms\"", "stddev", "mean", TTFT_MS)
         WITH(UNIT_LATENCY, "time_per_output_token", "\"units\": \"s/token\"", "stddev", "mean",
              TPOT_S) WITH(UNIT_LATENCY, "request_latency", "\"units\": \"s\"", "stddev", "mean",
                           TOTAL_S) "\"none\": 0}, \"throughput\": {\"output_tokens_per_sec\": "
                                    "1000}}}",
     "0.11 0.1 0.2 0.3 0.4 0.05", "0.011 0.01 0.02 0.03 0.04 0.005", "none",
     "2.2 2.1 3.2 4.3 5.4 0.6"},
    {"inference-perf",
     "benchmark_time_seconds: 100\nload_summary: {count: 1000}\nfailures: {count: 0}\n"
     "successes:\n  count: 1000\n  output_len: {mean: 50}\n"
     "  throughput: {output_tokens_per_sec: 500.0}\n  latency:\n" WITH(
         PERF_LATENCY, "time_to_first_token", TTFT_S)
         WITH(PERF_LATENCY, "time_per_output_token", TPOT_S)
             WITH(PERF_LATENCY, "inter_token_latency", GAP_S)
                 WITH(PERF_LATENCY, "request_latency", TOTAL_S),
     "0.11 0.1 0.2 0.3 0.4 nan", "0.011 0.01 0.02 0.03 0.04 nan",
     "0.022 0.021 0.032 0.043 0.054 nan", "2.2 2.1 3.2 4.3 5.4 nan"},
    {"InferenceX, of an unstated number of requests",
     "{\"hw\": \"h200\", \"conc\": 64, \"tp\": 8, \"isl\": 200, \"osl\": 200, " ONE_NODE_RATES WITH(
         CLIENT, "ttft", TTFT_S) WITH(CLIENT, "tpot", TPOT_S) WITH(CLIENT, "itl", GAP_S)
         WITH(CLIENT, "e2el", TOTAL_S) "\"none\": 0}",
     "0.11 0.1 nan nan nan 0.05", "0.011 0.01 nan nan nan 0.005", "0.022 0.021 nan nan nan 0.006",
     "2.2 2.1 nan nan nan 0.6"},
    {"MLPerf, whose LoadGen sees to their number",
     "=====\nMLPerf Results Summary\n=====\nScenario : Server\nMode : PerformanceOnly\n"
     "Result is : VALID\ntarget_qps : 76\n" SERVER_RATES WITH(
         LOADGEN_LATENCY, "First Token latency", "first token latency", TTFT_NS)
         WITH(LOADGEN_LATENCY, "Time to Output Token", "time to output token", TPOT_NS)
             WITH(LOADGEN_LATENCY, "latency", "latency", TOTAL_NS),
     "0.11 0.1 0.2 0.3 0.4 nan", "0.011 0.01 0.02 0.03 0.04 nan", "none",
     "2.2 2.1 3.2 4.3 5.4 nan"},
    {"MLPerf Endpoints", ENDPOINTS_LATENCIES(""), "0.11 0.1 0.2 0.3 0.4 nan",
     "0.011 0.01 0.02 0.03 0.04 nan", "none", "2.2 2.1 3.2 4.3 5.4 nan"},
    {"MLPerf Endpoints, percentiles with a decimal", ENDPOINTS_LATENCIES(".0"),
     "0.11 0.1 0.2 0.3 0.4 nan", "0.011 0.01 0.02 0.03 0.04 nan", "none",
     "2.2 2.1 3.2 4.3 5.4 nan"},
};

static void expect_latency(struct arena *arena, const char *name, const char *which,
                           const struct serving_latency *latency, const char *expected) {
  const char *got = arena_printf(arena, "%g %g %g %g %g %g", latency->mean_s, latency->p50_s,
                                 latency->p90_s, latency->p95_s, latency->p99_s, latency->std_s);
  const char *wanted = !strcmp(expected, "none") ? "nan nan nan nan nan nan" : expected;
  if (strcmp(got, wanted) != 0)
    fail_msg("%s, %s\n  expected: %s\n  got:      %s", name, which, wanted, got);
}

static void test_every_latency(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof latencies / sizeof latencies[0]; i++) {
    struct import_files files;
    struct imported imported = {0};
    import_files_start(&files);
    const int result = import_files_read(&files, latencies[i].text, &imported);
    expect_error(&files.fixture, latencies[i].name, "");
    assert_int_equal(result, 0);
    const struct serving_rung *rung = &imported.rungs[0];
    struct arena *arena = &files.fixture.arena;
    expect_latency(arena, latencies[i].name, "TTFT", &rung->ttft, latencies[i].ttft);
    expect_latency(arena, latencies[i].name, "TPOT", &rung->tpot, latencies[i].tpot);
    expect_latency(arena, latencies[i].name, "chunks", &rung->chunk_gap, latencies[i].gap);
    expect_latency(arena, latencies[i].name, "requests", &rung->end_to_end,
                   latencies[i].end_to_end);
    import_files_end(&files);
  }
}

// ---- every run

static const struct {
  const char *name, *text, *expected;
} runs[] = {
    {"vLLM, 6.38 s for each of 10 requests/s", VLLM,
     "by -, - -, org/Some-8B in - on -, speculation -, 2026-08-06, - to -: 640 in 64 s, 63.8 in "
     "flight, nan J"},
    {"SGLang", SGLANG("total_input", "2800.0"),
     "by -, SGLang 0.5.2, org/Some-8B in - on -, speculation unnamed, -, - to -: 700 in 50 s, 29.5 "
     "in flight, nan J"},
    {"SGLang behind a router, which names the method of speculation",
     SGLANG_SERVED("\"inf\"", "total_input", "2800.0", "",
                   "\"prefill\": [], \"decode\": [{\"version\": \"0.5.9\", "
                   "\"speculative_algorithm\": \"EAGLE\", \"model_path\": \"org/Some-8B\"}]"),
     "by -, SGLang 0.5.9, org/Some-8B in - on -, speculation EAGLE, -, - to -: 700 in 50 s, 29.5 "
     "in flight, nan J"},
    {"SGLang's client at vLLM's server",
     SGLANG_SERVED("\"inf\"", "total_input", "2800.0", "", "\"vllm_config\": {}"),
     "by -, - -, - in - on -, speculation unnamed, -, - to -: 700 in 50 s, 29.5 in flight, nan J"},
    {"trtllm-bench", TRTLLM("2", "\"energy\": {\"total_energy_j\": 35000}, "),
     "by 1.3.0, TensorRT-LLM 1.3.0, org/Some-8B in FP8 on -, speculation -, -, - to -: 1000 in 50 "
     "s, 95.5 in flight, 35000 J"},
    {"trtllm-bench, which names the machine",
     TRTLLM("2", "\"machine\": {\"name\": \"NVIDIA H100 80GB HBM3\"}, "),
     "by 1.3.0, TensorRT-LLM 1.3.0, org/Some-8B in FP8 on NVIDIA H100 80GB HBM3, speculation -, -, "
     "- to -: 1000 in 50 s, 95.5 in flight, nan J"},
    {"AIPerf, 0.7 s for each of 10 requests/s", AIPERF(AIPERF_UNIT, AIPERF_PHASES),
     "by 0.10.0, - -, - in - on NVIDIA H200, speculation -, 2026-07-03, - to -: 800 in 80 s, 7 in "
     "flight, nan J"},
    {"guidellm", GUIDELLM("\"type_\": \"concurrent\", \"streams\": 4"),
     "by 0.8.0, - -, org/Some-8B in - on -, speculation -, 2026-08-14, 2026-08-14T03:29:08Z to -: "
     "100 in 80 s, nan in flight, nan J"},
    {"llm-d 0.2.1", LLM_D_2("s", "1", "8", "500"),
     "by 0.2.1, vLLM 0.11.0, org/Some-8B in - on NVIDIA-H200, speculation -, 2026-01-05, "
     "2026-01-05T18:00:42Z to -: 500 in 100 s, nan in flight, nan J"},
    {"llm-d 0.1", LLM_D_1,
     "by 0.1, vllm:0.11 -, org/Some-8B in - on H200, speculation -, 2026-08-06, "
     "2026-08-06T13:23:14Z to -: 500 in 100 s, nan in flight, nan J"},
    {"inference-perf", PERF,
     "by -, - -, - in - on -, speculation -, -, - to -: 200 in 100 s, nan in flight, nan J"},
    {"InferenceX, 21 s for each of 3120 / 1024 requests/s",
     INFERENCEX(ONE_NODE, ONE_NODE_RATES, WATTS("1", "2")),
     "by -, vllm vllm/vllm-openai:v0.11.0, org/Some-8B in fp8 on h200, speculation -, -, - to -: "
     "nan in nan s, 63.9844 in flight, 400000 J"},
    {"llama-bench", "[" LLAMA("load_mode", "0", "128", "512", "32.5") "]",
     "by 6000, llama.cpp 6000, some.gguf in Q8_0 on Some CPU, speculation -, 2026-10-02, "
     "2026-10-02T08:01:42Z to -: 2 in 4 s, nan in flight, nan J"},
    {"llama-bench on a GPU", LLAMA_ON("\"H100\"", "load_mode", "0", "128", "512", "32.5"),
     "by 6000, llama.cpp 6000, some.gguf in Q8_0 on H100, speculation -, 2026-10-02, "
     "2026-10-02T08:01:42Z to -: 2 in 4 s, nan in flight, nan J"},
    {"llama-bench beside a GPU that has no layer",
     LLAMA_ON("\"H100\", \"n_gpu_layers\": 0", "load_mode", "0", "128", "512", "32.5"),
     "by 6000, llama.cpp 6000, some.gguf in Q8_0 on Some CPU, speculation -, 2026-10-02, "
     "2026-10-02T08:01:42Z to -: 2 in 4 s, nan in flight, nan J"},
    {"llama-bench without its GPU",
     LLAMA_ON("\"H100\", \"devices\": \"none\"", "load_mode", "0", "128", "512", "32.5"),
     "by 6000, llama.cpp 6000, some.gguf in Q8_0 on Some CPU, speculation -, 2026-10-02, "
     "2026-10-02T08:01:42Z to -: 2 in 4 s, nan in flight, nan J"},
    {"llama-batched-bench", BATCHED("128"),
     "by -, llama.cpp -, - in - on -, speculation -, -, - to -: nan in 2 s, nan in flight, nan J"},
    {"MLPerf", MLPERF("Server", SERVER_RATES, "VALID"),
     "by -, - -, - in - on -, speculation -, -, - to -: nan in nan s, nan in flight, nan J"},
    {"MLPerf Endpoints, 5 s for each of 1.667 requests/s", ENDPOINTS_CLOSED,
     "by 6.1.0, - -, - in - on -, speculation -, -, - to -: 1000 in 600 s, 8.33333 in flight, nan "
     "J"},
};

static const char *or_none(const char *text) {
  return *text ? text : "-";
}

static const char *run_words(const struct imported *imported, struct arena *arena) {
  const struct serving_rung *rung = &imported->rungs[0];
  return arena_printf(
      arena,
      "by %s, %s %s, %s in %s on %s, speculation %s, %s, %s to %s: %g in %g s, %g in flight, %g J",
      or_none(imported->tool_version), or_none(imported->engine), or_none(imported->engine_version),
      or_none(imported->model), or_none(imported->precision), or_none(imported->hardware),
      or_none(imported->speculation), or_none(imported->date), or_none(rung->started),
      or_none(rung->finished), rung->completed, rung->window_s, rung->mean_concurrency,
      rung->power.energy_j);
}

static void test_every_run(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
    struct import_files files;
    struct imported imported = {0};
    import_files_start(&files);
    assert_int_equal(import_files_read(&files, runs[i].text, &imported), 0);
    const char *words = run_words(&imported, &files.fixture.arena);
    if (strcmp(words, runs[i].expected) != 0)
      fail_msg("%s\n  expected: %s\n  got:      %s", runs[i].name, runs[i].expected, words);
    import_files_end(&files);
  }
}

// ---- what else is read

// Each line is a result of its own, which may contradict another.
static void test_appended_lines(void **state) {
  (void)state;
  struct import_files files;
  struct imported_list all = {0};
  import_files_start(&files);
  assert_int_equal(
      import_files_read_all(
          &files, SGLANG("total_input_tokens", "2800.0") SGLANG("total_input", "2801.0"), &all),
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
  import_files_end(&files);
}

static void test_results_of_one_file_are_apart(void **state) {
  (void)state;
  static const char *const texts[] = {"[" INFERENCEX(ONE_NODE, ONE_NODE_RATES, "") ", " INFERENCEX(
                                          "\"tp\": 4, ", ONE_NODE_RATES, "") "]",
                                      "[" LLM_D_1 ", " LLM_D_1 "]"};
  static const int accelerators[][2] = {{8, 4}, {12, 12}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    struct import_files files;
    struct imported_list all = {0};
    import_files_start(&files);
    assert_int_equal(import_files_read_all(&files, texts[i], &all), 0);
    assert_int_equal(all.count, 2);
    assert_int_equal(all.list[0].accelerators, accelerators[i][0]);
    assert_int_equal(all.list[1].accelerators, accelerators[i][1]);
    expect_fragment(all.list[1].name, "/file, result 2");
    import_files_end(&files);
  }
}

static void test_a_limited_rate_is_remarked(void **state) {
  (void)state;
  struct import_files files;
  struct imported imported = {0};
  import_files_start(&files);
  assert_int_equal(import_files_read(&files, VLLM_ARRIVALS("64") VLLM_TAIL, &imported), 0);
  assert_string_equal(
      texts_joined(&imported.remarks, &files.fixture.arena),
      "load unknown: at 10 requests/s, the limit of 64 in flight may have held some back");
  assert_true(isnan(imported.rungs[0].request_rate) && isnan(imported.rungs[0].concurrency));
  import_files_end(&files);
}

static void test_too_few_requests_are_remarked(void **state) {
  (void)state;
  struct import_files files;
  struct imported imported = {0};
  import_files_start(&files);
  assert_int_equal(import_files_read(&files,
                                     VLLM_HEAD "\"max_concurrency\": 900, " VLLM_TOTALS VLLM_TAIL,
                                     &imported),
                   0);
  assert_string_equal(texts_joined(&imported.remarks, &files.fixture.arena),
                      "load unknown: 640 requests cannot be 900 in flight");
  assert_true(isnan(imported.rungs[0].concurrency));
  expect_near(imported.rungs[0].mean_concurrency, 63.8, 1e-12, "in flight on average");
  import_files_end(&files);
}

static void test_a_short_data_set_is_remarked(void **state) {
  (void)state;
  struct import_files files;
  struct imported imported = {0};
  import_files_start(&files);
  assert_int_equal(import_files_read(&files,
                                     "{\"failed\": 0, \"num_prompts\": 1000, " VLLM_RATES VLLM_TAIL,
                                     &imported),
                   0);
  assert_string_equal(texts_joined(&imported.remarks, &files.fixture.arena),
                      "its data set had 640 of the 1000 prompts asked for");
  import_files_end(&files);
}

static void test_the_other_count_is_remarked(void **state) {
  (void)state;
  static const struct {
    const char *text, *remark;
  } cases[] = {
      {PERF "  output_tokens: {mean: 50.2}\n", ""},
      {PERF "  output_tokens: {mean: 60}\n",
       "output tokens are the client's count, 50 a request; the server's is 60"},
      {PERF_COUNTED("prompt_tokens: {mean: 300}", "60") "  output_tokens: {mean: 50}\n",
       "output tokens are the server's count, 50 a request; the client's is 60"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct import_files files;
    struct imported imported = {0};
    import_files_start(&files);
    assert_int_equal(import_files_read(&files, cases[i].text, &imported), 0);
    assert_string_equal(texts_joined(&imported.remarks, &files.fixture.arena), cases[i].remark);
    import_files_end(&files);
  }
}

// summary.json of `vllm bench sweep serve`: every load several times.
#define SWEPT(run, concurrency, failed, rate, seconds)                                             \
  "{\"run_number\": " run ", \"max_concurrency\": " concurrency ", \"failed\": " failed            \
  ", \"completed\": 640, \"total_input_tokens\": 512000, \"total_output_tokens\": 163840, "        \
  "\"duration\": " seconds ", \"output_throughput\": " rate ", \"total_token_throughput\": 10560}"

static void test_of_repeated_runs_the_median_stays(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double rate, other_rate; // of one load and of the next, 0: there is none
    const char *remark;
  } cases[] = {
      {"[" SWEPT("0", "16", "0", "2560", "64") "]", 2560, 0, ""},
      {"[" SWEPT("0", "16", "0", "2560", "64") ", " SWEPT("1", "16", "0", "2048", "80") ", " SWEPT(
           "2", "16", "0", "2340.57", "70") "]",
       2340.57, 0, "16 in flight: the run with the median rate, of 3"},
      {"[" SWEPT("0", "16", "0", "2560", "64") ", " SWEPT("1", "16", "0", "2048", "80") "]", 2048,
       0, "16 in flight: the run with the median rate, of 2"},
      {"[" SWEPT("0", "16", "0", "2560", "64") ", " SWEPT("1", "16", "3", "2048", "80") "]", 2560,
       0, "16 in flight: the run with the median rate, of 2"},
      {"[" SWEPT("0", "32", "0", "2560", "64") ", " SWEPT("0", "16", "0", "2048", "80") "]", 2048,
       2560, ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct import_files files;
    struct imported_list all = {0};
    import_files_start(&files);
    assert_int_equal(import_files_read_all(&files, cases[i].text, &all), 0);
    assert_int_equal(all.count, cases[i].other_rate > 0 ? 2 : 1);
    expect_near(all.list[0].rungs[0].output_tokens_per_s, cases[i].rate, 1e-12, "rate");
    if (cases[i].other_rate > 0)
      expect_near(all.list[1].rungs[0].output_tokens_per_s, cases[i].other_rate, 1e-12, "other");
    assert_string_equal(texts_joined(&all.list[0].remarks, &files.fixture.arena), cases[i].remark);
    import_files_end(&files);
  }
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
               {GENAI_PERF("10.0", "true", "\"concurrency\": 32"), NAN},
               {GENAI_PERF_CSV("10.00"), NAN},
               {LLM_D_1, NAN},
               {LLM_D_2("s", "1", "8", "500"), 0}};
#undef ANSWERED
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct import_files files;
    struct imported imported = {0};
    import_files_start(&files);
    assert_int_equal(import_files_read(&files, cases[i].text, &imported), 0);
    const char *unsaid = texts_joined(&imported.unsaid, &files.fixture.arena);
    const double failed = imported.rungs[0].failed;
    assert_true(isnan(cases[i].failed) ? isnan(failed) : failed == cases[i].failed);
    assert_int_equal(strstr(unsaid, "how many requests failed") != NULL, isnan(failed));
    import_files_end(&files);
  }
}

static void test_metadata_and_fork_of_vllm(void **state) {
  (void)state;
  struct import_files files;
  struct imported imported = {0};
  import_files_start(&files);
  assert_int_equal(import_files_read(&files,
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
  assert_true(isnan(imported.rungs[0].goodput_per_s)); // of limits that nobody knows
  expect_fragment(texts_joined(&imported.unsaid, &files.fixture.arena),
                  "the limits of its goodput");
  import_files_end(&files);
}

// Figures that are left out are listed, and so is a format that is newer than what is known.
static void test_what_is_left_out_is_said(void **state) {
  (void)state;
  static const struct {
    const char *text, *unsaid, *remark, *doubt;
  } cases[] = {
      {VLLM_HEAD VLLM_RATES "\"mean_tpot_ms\": 0, \"mean_itl_ms\": 0}",
       "TPOT (0 in the file), the gap between chunks (0 in the file)", "", ""},
      {VLLM_HEAD VLLM_RATES "\"mean_ttft_ms\": 0}", "TTFT (0 in the file)", "", ""},
      {VLLM_HEAD VLLM_RATES "\"mean_ttft_ms\": 6380, \"mean_tpot_ms\": 0.04}", "",
       "TPOT left out: 4e-05 s is 25000 token/s for one request", ""},
      {VLLM_HEAD VLLM_RATES "\"mean_ttft_ms\": 1, \"mean_tpot_ms\": 25}", "",
       "TTFT left out: 0.001 s until the first token, and 0.025 s for each other", ""},
      {INFERENCEX(ONE_NODE, ONE_NODE_RATES, "\"p90_ttft\": 0.9, "),
       "how many requests its percentiles are of (P90 and above are left out)", "", ""},
      {"{\"schema_version\": \"1.4\", \"request_throughput\": {\"unit\": \"requests/sec\", "
       "\"avg\": 1}, "
       "\"output_token_throughput\": {\"unit\": \"tokens/sec\", \"avg\": 10}, \"input_config\": "
       "{}}",
       "", "", "/file has version 1.4 of its format, newer than 1.3, the newest that is known"},
      {LLM_D_2("s", "1", "8", "500"), "", "", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct import_files files;
    struct imported imported = {0};
    import_files_start(&files);
    assert_int_equal(import_files_read(&files, cases[i].text, &imported), 0);
    struct arena *arena = &files.fixture.arena;
    expect_fragment(texts_joined(&imported.unsaid, arena), cases[i].unsaid);
    expect_fragment(texts_joined(&imported.remarks, arena), cases[i].remark);
    expect_fragment(texts_joined(&imported.doubts, arena), cases[i].doubt);
    assert_int_equal(imported.doubts.count, *cases[i].doubt != '\0');
    import_files_end(&files);
  }
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
      {LLM_D_2("s", "1", "8, parallelism: {tp: 1, dp_local: 8, workers: 2}", "500"), 16, 0, 0},
      {LLM_D_2("s", "1", "8, parallelism: {tp: 8, dp_local: 1, workers: 1}", "500"), 8, 0, 0},
      {INFERENCEX(ONE_NODE, ONE_NODE_RATES, ""), 8, 0, 0},
      {INFERENCEX("\"tp\": 4, \"pcp_size\": 2, ", ONE_NODE_RATES, ""), 8, 0, 0},
      {INFERENCEX(APART, APART_RATES, ""), 12, 4, 8},
      {"{\"accelerator_model_name\": \"NVIDIA H200\", \"accelerators_per_node\": \"8\", "
       "\"number_of_nodes\": 2}",
       16, 0, 0},
      {"{\"accelerator_model_name\": \"\", \"accelerators_per_node\": 0}", -1, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct import_files files;
    struct imported imported = {0};
    import_files_start(&files);
    assert_int_equal(import_files_read(&files, cases[i].text, &imported), 0);
    assert_int_equal(imported.accelerators, cases[i].all);
    assert_int_equal(imported.input_accelerators, cases[i].input);
    assert_int_equal(imported.output_accelerators, cases[i].output);
    import_files_end(&files);
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
    struct import_files files;
    struct imported imported = {0};
    import_files_start(&files);
    assert_int_equal(import_files_read(&files, cases[i].text, &imported), 0);
    if (strcmp(imported.speculation, cases[i].speculation) != 0)
      fail_msg("'%s' of %s", imported.speculation, cases[i].text);
    import_files_end(&files);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_latency),
      cmocka_unit_test(test_every_run),
      cmocka_unit_test(test_appended_lines),
      cmocka_unit_test(test_results_of_one_file_are_apart),
      cmocka_unit_test(test_a_limited_rate_is_remarked),
      cmocka_unit_test(test_too_few_requests_are_remarked),
      cmocka_unit_test(test_a_short_data_set_is_remarked),
      cmocka_unit_test(test_the_other_count_is_remarked),
      cmocka_unit_test(test_of_repeated_runs_the_median_stays),
      cmocka_unit_test(test_failures_that_are_not_stated),
      cmocka_unit_test(test_metadata_and_fork_of_vllm),
      cmocka_unit_test(test_what_is_left_out_is_said),
      cmocka_unit_test(test_counts_of_accelerators),
      cmocka_unit_test(test_speculation_of_inferencex),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
