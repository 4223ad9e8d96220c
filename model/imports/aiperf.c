#include "base/arena.h"
#include "base/texts.h"
#include "model/imports/imported.h"
#include "model/imports/readers.h"
#include "model/records/serving.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const struct latency_keys statistics = {"avg", "p50", "p90", "p95", "p99", "std"};

// A metric's mean in the only expected unit; NAN without the metric.
static double mean_of(const struct reading *reading, const char *metric, const char *unit) {
  const json_t *json = json_below(reading->part->json, metric);
  const char *found = text_below(reading, json, "unit");
  if (json && strcmp(found, unit) != 0)
    reading_error(reading, "'%s': expected the unit %s, found %s", metric, unit,
                  *found ? found : "none");
  return number_below(reading, json, "avg");
}

static struct serving_latency latency_of(const struct reading *reading, const char *metric) {
  const json_t *json = json_below(reading->part->json, metric);
  const char *unit = text_below(reading, json, "unit");
  if (json && isnan(seconds_in(unit)))
    reading_error(reading, "'%s': expected a unit of time, found %s", metric,
                  *unit ? unit : "none");
  return latency_below(reading, json, &statistics, "", seconds_in(unit));
}

// ---- the load

// Since schema 1.3 a run has phases; the phase that counts states what was set.
static const json_t *load_of(const struct reading *reading) {
  const json_t *phases = json_below(reading->part->json, "input_config/phases"), *phase;
  const json_t *found = json_below(reading->part->json, "input_config/loadgen");
  size_t i;
  json_array_foreach(phases, i, phase) {
    if (!json_is_true(json_object_get(phase, "exclude_from_results")))
      found = phase;
  }
  return found;
}

static void read_load(struct reading *reading, struct serving_rung *rung) {
  const json_t *load = load_of(reading);
  const double rate = number_below(reading, load, "request_rate"),
               concurrency = number_below(reading, load, "concurrency");
  const char *type = text_below(reading, load, "type");
  if (!*type)
    type = text_below(reading, load, "request_rate_mode");
  rung->request_rate = rate;
  reading->max_concurrency = concurrency;
  if (isnan(rate)) {
    rung->concurrency = concurrency;
    rung->load = isnan(concurrency) ? LOAD_UNKNOWN : LOAD_CLOSED;
  } else if (!strcmp(type, "constant"))
    rung->load = LOAD_CONSTANT;
  else if (!strcmp(type, "poisson"))
    rung->load = LOAD_POISSON;
  else
    rung->request_rate = NAN;
}

// ---- watts

static void add_gpus(const struct reading *reading, const json_t *gpus,
                     struct serving_power *power) {
  const char *name;
  json_t *gpu;
  json_object_foreach((json_t *)gpus, name, gpu) {
    const json_t *metric = json_below(gpu, "metrics/gpu_power_usage");
    const double watts = number_below(reading, metric, "avg");
    const char *unit = text_below(reading, metric, "unit");
    if (metric && strcmp(unit, "W") != 0)
      reading_error(reading, "gpu_power_usage of %s: expected the unit W, found %s", name,
                    *unit ? unit : "none");
    if (isnan(watts))
      continue;
    power->load_power_w = (power->devices ? power->load_power_w : 0) + watts;
    power->devices++;
    say_hardware(reading, text_below(reading, gpu, "gpu_name"));
  }
}

static void read_telemetry(const struct reading *reading, struct serving_power *power) {
  const json_t *endpoints = json_below(reading->part->json, "telemetry_data/endpoints");
  const char *name;
  json_t *endpoint;
  json_object_foreach((json_t *)endpoints, name, endpoint) {
    add_gpus(reading, json_below(endpoint, "gpus"), power);
  }
  if (!power->devices)
    return;
  power->covers = COVERS_ACCELERATORS;
  power->source = arena_printf(reading->arena, "AIPerf's telemetry, %d GPUs", power->devices);
  power->remark = "a mean of samples over the telemetry's own window, warm-up included";
}

// ---- the run

// AIPerf leaves out the number of requests with an error if there are none, and lists the errors.
static double count_failed(const struct reading *reading) {
  const json_t *errors = json_below(reading->part->json, "error_summary"), *error;
  const double stated = mean_of(reading, "error_request_count", "requests");
  double count = json_is_array(errors) ? 0 : NAN;
  size_t i;
  json_array_foreach(errors, i, error) {
    count += number_below(reading, error, "count");
  }
  return isnan(stated) ? count : stated;
}

static void say_run(struct reading *reading) {
  struct imported *imported = reading->imported;
  const json_t *json = reading->part->json;
  imported->tool_version = text_below(reading, json, "aiperf_version");
  imported->model = text_below(reading, json, "input_config/models/items/0/name");
  if (!*imported->model)
    imported->model = text_below(reading, json, "input_config/endpoint/model_names/0");
  imported->prompts = text_below(reading, json, "input_config/endpoint/type");
  reading->window.start_s = time_below(reading, json, "start_time");
  reading->window.end_s = time_below(reading, json, "end_time");
  imported->date = day_of(text_below(reading, json, "start_time"), reading->arena);
  if (isnan(reading->window.start_s))
    texts_add(&imported->unsaid, reading->arena, "the time zone of its timestamps");
  texts_add(&imported->unsaid, reading->arena, "the engine and its version");
}

int read_aiperf(struct reading *reading) {
  struct serving_rung rung = serving_rung_unknown;
  const struct rung_totals totals = {mean_of(reading, "total_isl", "tokens"),
                                     mean_of(reading, "total_osl", "tokens"),
                                     mean_of(reading, "total_token_throughput", "tokens/sec")};
  const struct serving_latency window = latency_of(reading, "benchmark_duration");
  rung.window_s = window.mean_s;
  rung.completed = mean_of(reading, "request_count", "requests");
  rung.failed = count_failed(reading);
  rung.output_tokens_per_s = mean_of(reading, "output_token_throughput", "tokens/sec");
  rung.input_tokens = mean_of(reading, "input_sequence_length", "tokens");
  rung.output_tokens = mean_of(reading, "output_sequence_length", "tokens");
  rung.ttft = latency_of(reading, "time_to_first_token");
  rung.tpot = latency_of(reading, "inter_token_latency");
  rung.chunk_gap = latency_of(reading, "inter_chunk_latency");
  rung.end_to_end = latency_of(reading, "request_latency");
  if (json_is_true(json_below(reading->part->json, "was_cancelled")))
    rung.refused = "the run was canceled";
  read_load(reading, &rung);
  read_telemetry(reading, &rung.power);
  say_run(reading);
  return rung_add(reading, &rung, &totals);
}
