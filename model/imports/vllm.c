#include "base/texts.h"
#include "model/imports/imported.h"
#include "model/imports/readers.h"
#include "model/imports/rung.h"
#include "model/records/serving.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const struct latency_keys latencies = {"mean_*_ms", "median_*_ms", "p90_*_ms",
                                              "p95_*_ms",  "p99_*_ms",    "std_*_ms"};

// The tool's own texts. Every other one at the top level was given as --metadata KEY=VALUE.
static const char *const own_texts[] = {"date",     "endpoint_type", "backend",     "label",
                                        "model_id", "tokenizer_id",  "request_rate"};

static bool is_own(const char *key) {
  for (size_t i = 0; i < sizeof own_texts / sizeof own_texts[0]; i++)
    if (!strcmp(key, own_texts[i]))
      return true;
  return false;
}

static void keep_metadata(const struct import_reading *reading) {
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)reading->part->json, key, value) {
    if (json_is_string(value) && json_string_length(value) && !is_own(key))
      texts_add(&reading->imported->remarks, reading->arena, "metadata %s: %s", key,
                json_string_value(value));
  }
}

// The lengths of all requests, if the file has them, must add up to its totals.
static int check_sum(const struct import_reading *reading, const char *list_name, double total) {
  const json_t *list = json_below(reading->part->json, list_name);
  const json_t *element;
  size_t i;
  double sum = 0;
  if (!json_array_size(list) || isnan(total))
    return 0;
  json_array_foreach(list, i, element) {
    sum += json_number_value(element);
  }
  if (sum == total)
    return 0;
  return reading_error(reading,
                       "contradicts itself: '%s' adds up to %.0f tokens, the total is %.0f",
                       list_name, sum, total);
}

// A finite rate is the user's setting; what was achieved is another figure.
static double goodput(const struct import_reading *reading) {
  const double value = number_below(reading, reading->part->json, "request_goodput");
  return isnan(value) ? number_below(reading, reading->part->json, "request_goodput:") : value;
}

// TensorRT-LLM's client asks its server for the energy so far, before the run and after it.
static void read_energy(const struct import_reading *reading, struct serving_rung *rung) {
  const json_t *energy = json_below(reading->part->json, "energy");
  const double total_j = number_below(reading, energy, "total_energy_j"),
               power_w = number_below(reading, energy, "total_gpu_power_w");
  rung_set_energy(reading, rung, total_j / power_w);
}

static void say_run(struct import_reading *reading) {
  struct imported *imported = reading->imported;
  const json_t *json = reading->part->json;
  imported->model = text_below(reading, json, "model_id");
  imported->date = day_of(text_below(reading, json, "date"), reading->arena);
  reading->window.start_s = number_below(reading, json, "benchmark_start_time_unix");
  reading->window.end_s = number_below(reading, json, "benchmark_end_time_unix");
  if (isnan(reading->window.start_s))
    texts_add(&imported->unsaid, reading->arena, "the time zone of its date");
  texts_add(&imported->unsaid, reading->arena, "the engine's version");
}

int read_vllm(struct import_reading *reading) {
  const json_t *json = reading->part->json;
  struct serving_rung rung = serving_rung_unknown();
  const struct rung_totals totals = {number_below(reading, json, "total_input_tokens"),
                                     number_below(reading, json, "total_output_tokens"),
                                     number_below(reading, json, "total_token_throughput")};
  rung_set_load(reading, &rung, json);
  rung.window_s = number_below(reading, json, "duration");
  rung.completed = number_below(reading, json, "completed");
  rung_set_failed(reading, &rung, json);
  rung.output_tokens_per_s = number_below(reading, json, "output_throughput");
  rung.ttft = latency_below(reading, json, &latencies, "ttft", 1e-3);
  rung.tpot = latency_below(reading, json, &latencies, "tpot", 1e-3);
  rung.chunk_gap = latency_below(reading, json, &latencies, "itl", 1e-3);
  rung.end_to_end = latency_below(reading, json, &latencies, "e2el", 1e-3);
  rung.goodput_per_s = goodput(reading);
  rung.accepted_length = number_below(reading, json, "spec_decode_acceptance_length");
  if (isnan(rung.accepted_length)) // as TensorRT-LLM's client calls it
    rung.accepted_length = number_below(reading, json, "avg_decoded_tokens_per_iter/mean");
  read_energy(reading, &rung);
  say_run(reading);
  keep_metadata(reading);
  if (!(rung.failed > 0) && (check_sum(reading, "input_lens", totals.input_tokens) ||
                             check_sum(reading, "output_lens", totals.output_tokens)))
    return -1;
  return rung_add(reading, &rung, &totals);
}
