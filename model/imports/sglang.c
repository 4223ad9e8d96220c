#include "base/texts.h"
#include "model/imports/imported.h"
#include "model/imports/readers.h"
#include "model/imports/rung.h"
#include "model/records/serving.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>

static const struct latency_keys latencies = {"mean_*_ms", "median_*_ms", "p90_*_ms",
                                              "p95_*_ms",  "p99_*_ms",    "std_*_ms"};

static double first_number(const struct import_reading *reading, const char *one,
                           const char *other) {
  const double value = number_below(reading, reading->part->json, one);
  return isnan(value) ? number_below(reading, reading->part->json, other) : value;
}

// The accelerators of one server; a router may have several such servers behind it. Data parallel
// ranks are replicas with accelerators of their own, unless only attention is data parallel: then
// they share tp_size.
static int accelerators_of(const struct import_reading *reading, const json_t *info) {
  const int tp = count_below(reading, info, "tp_size"), pp = count_below(reading, info, "pp_size");
  const bool shared = json_is_true(json_object_get(info, "enable_dp_attention"));
  const int dp = shared ? 1 : count_below(reading, info, "dp_size");
  const double all = (double)tp * (pp > 1 ? pp : 1) * (dp > 1 ? dp : 1);
  return all >= 1 && all <= INT_MAX ? (int)all : 0;
}

// Takes what the server reported about itself when the client asked; newer clients store it. A
// router lists its servers for prefill and decode apart.
static void say_server(const struct import_reading *reading) {
  struct imported *imported = reading->imported;
  const json_t *all = json_below(reading->part->json, "server_info");
  const json_t *decode = json_below(all, "decode/0"), *info = decode ? decode : all;
  imported->engine = json_is_object(info) && !json_below(info, "vllm_config") ? "SGLang" : "";
  imported->speculation = text_below(reading, info, "speculative_algorithm");
  imported->engine_version = text_below(reading, info, "version");
  imported->server_accelerators = accelerators_of(reading, info);
  imported->model = text_below(reading, info, "served_model_name");
  if (!*imported->model)
    imported->model = text_below(reading, info, "model_path");
  imported->precision = text_below(reading, info, "quantization");
  if (json_is_null(json_object_get(info, "quantization"))) // the server's default
    imported->precision = "as in the checkpoint";
  if (!*imported->engine)
    texts_add(&imported->unsaid, reading->arena, "the engine and its version");
}

int read_sglang(struct import_reading *reading) {
  const json_t *json = reading->part->json;
  struct serving_rung rung = serving_rung_unknown();
  const struct rung_totals totals = {first_number(reading, "total_input_tokens", "total_input"),
                                     number_below(reading, json, "total_output_tokens"), NAN};
  rung_set_load(reading, &rung, json);
  rung.window_s = number_below(reading, json, "duration");
  rung.completed = number_below(reading, json, "completed");
  rung_set_failed(reading, &rung, json);
  rung.mean_concurrency = number_below(reading, json, "concurrency");
  rung.output_tokens_per_s = number_below(reading, json, "output_throughput");
  rung.input_tokens_per_s = number_below(reading, json, "input_throughput");
  rung.asked_input_tokens = number_below(reading, json, "random_input_len");
  rung.asked_output_tokens = number_below(reading, json, "random_output_len");
  rung.ttft = latency_below(reading, json, &latencies, "ttft", 1e-3);
  rung.tpot = latency_below(reading, json, &latencies, "tpot", 1e-3);
  rung.chunk_gap = latency_below(reading, json, &latencies, "itl", 1e-3);
  rung.end_to_end = latency_below(reading, json, &latencies, "e2e_latency", 1e-3);
  rung.accepted_length = number_below(reading, json, "accept_length");
  rung.cached_share = number_below(reading, json, "cache_report/total_cached_tokens") /
                      number_below(reading, json, "cache_report/total_prompt_tokens");
  if (number_below(reading, json, "total_input_vision_tokens") > 0)
    rung.refused = "its requests carry images";
  say_server(reading);
  return rung_add(reading, &rung, &totals);
}
