#include "base/texts.h"
#include "model/imports/imported.h"
#include "model/imports/readers.h"
#include "model/imports/rung.h"
#include "model/records/serving.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const struct latency_keys e2e = {"avg_request_latency_ms",
                                        "request_latency_percentiles_ms/p50",
                                        "request_latency_percentiles_ms/p90",
                                        "request_latency_percentiles_ms/p95",
                                        "request_latency_percentiles_ms/p99",
                                        NULL};
static const struct latency_keys streamed = {"avg_*_ms",          "*_percentiles/p50",
                                             "*_percentiles/p90", "*_percentiles/p95",
                                             "*_percentiles/p99", NULL};

// The rate per GPU was divided by the world size; both state it, and must agree.
static int say_accelerators(const struct import_reading *reading, double rate) {
  const double per_gpu =
      number_below(reading, reading->part->json, "performance/output_throughput_per_gpu_tok_s");
  const int world = count_below(reading, reading->part->json, "world_info/world_size");
  const double divisor = rate / per_gpu;
  const bool divides = divisor >= 0.5 && fabs(divisor - round(divisor)) < 1e-3 * divisor;
  reading->imported->accelerators = world || !divides ? world : (int)round(divisor);
  if (world > 0 && divides && (int)round(divisor) != world)
    return reading_error(reading,
                         "contradicts itself: world_size is %d, but the rate per GPU implies %.0f",
                         world, divisor);
  return 0;
}

static void say_engine(const struct import_reading *reading) {
  struct imported *imported = reading->imported;
  const json_t *engine = json_below(reading->part->json, "engine");
  const char *quantization = text_below(reading, engine, "quantization");
  imported->hardware = text_below(reading, reading->part->json, "machine/name");
  imported->engine = "TensorRT-LLM";
  imported->engine_version = text_below(reading, engine, "version");
  imported->tool_version = imported->engine_version;
  imported->model = text_below(reading, engine, "model");
  imported->precision = *quantization ? quantization : text_below(reading, engine, "dtype");
  imported->speculation = text_below(reading, reading->part->json, "decoding_stats/mode");
}

int read_trtllm(struct import_reading *reading) {
  const json_t *performance = json_below(reading->part->json, "performance"),
               *requests = json_below(reading->part->json, "request_info"),
               *streaming = json_below(reading->part->json, "streaming_metrics");
  struct serving_rung rung = serving_rung_unknown();
  rung.window_s = 1e-3 * number_below(reading, performance, "total_latency_ms");
  rung.completed = number_below(reading, requests, "num_requests");
  rung.mean_concurrency = number_below(reading, requests, "avg_num_concurrent_requests");
  rung.input_tokens = number_below(reading, requests, "avg_input_length");
  rung.output_tokens = number_below(reading, requests, "avg_output_length");
  rung.output_tokens_per_s = number_below(reading, performance, "system_output_throughput_tok_s");
  rung.ttft = latency_below(reading, streaming, &streamed, "ttft", 1e-3);
  rung.tpot = latency_below(reading, streaming, &streamed, "tpot", 1e-3);
  rung.end_to_end = latency_below(reading, performance, &e2e, "", 1e-3);
  const struct rung_totals totals = {
      rung.input_tokens * rung.completed, rung.output_tokens * rung.completed,
      number_below(reading, performance, "system_total_throughput_tok_s")};
  say_engine(reading);
  if (say_accelerators(reading, rung.output_tokens_per_s))
    return -1;
  rung_set_energy(reading, &rung, rung.window_s); // average_gpu_power is that of all GPUs, too
  texts_add(&reading->imported->unsaid, reading->arena, "the concurrency that was set");
  return rung_add(reading, &rung, &totals);
}
