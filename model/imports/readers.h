// readers: one function per format, which reads one value of a file, usually a rung.
//
// The keys are those in the tools' own sources. All functions return 0, or -1 after errors.
#ifndef PERTOKEN_MODEL_IMPORTS_READERS_H
#define PERTOKEN_MODEL_IMPORTS_READERS_H

struct import_reading;

// vllm.c: `vllm bench serve --save-result`, and forks of it (InferenceX's client).
int read_vllm(struct import_reading *reading);

// sglang.c: `python -m sglang.bench_serving --output-file`.
int read_sglang(struct import_reading *reading);

// llama_cpp.c: `llama-bench -o json|jsonl|csv` and `llama-batched-bench --output-format jsonl`.
int read_llama_bench(struct import_reading *reading);
int read_batched_bench(struct import_reading *reading);

// trtllm.c: `trtllm-bench throughput --report_json`.
int read_trtllm(struct import_reading *reading);

// aiperf.c: profile_export_aiperf.json or .csv of `aiperf profile`, and those of its predecessor,
// profile_export_genai_perf.json or .csv of `genai-perf profile`.
int read_aiperf(struct import_reading *reading);
int read_genai_perf(struct import_reading *reading);

// guidellm.c: a report of `guidellm benchmark run`, version 2.
int read_guidellm(struct import_reading *reading);

// llm_d.c: a report of llm-d-benchmark, and one of inference-perf.
int read_llm_d_1(struct import_reading *reading);
int read_llm_d_2(struct import_reading *reading);
int read_inference_perf(struct import_reading *reading);

// inferencex.c: an aggregate of InferenceX (InferenceMAX), for one node or several.
int read_inferencex(struct import_reading *reading);

// mlperf_endpoints.c: result_summary.json of MLPerf's client for endpoints, mlcommons/endpoints.
int read_mlperf_endpoints(struct import_reading *reading);

// mlperf.c: mlperf_log_summary.txt; a submission's system description; mlperf_log_detail.txt, a
// text without values, for the window of its watts.
int read_mlperf(struct import_reading *reading);
int read_mlperf_system(struct import_reading *reading);
int read_mlperf_window(struct import_reading *reading);

#endif
