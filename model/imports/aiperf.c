#include "base/arena.h"
#include "base/texts.h"
#include "model/imports/format.h"
#include "model/imports/imported.h"
#include "model/imports/readers.h"
#include "model/imports/rung.h"
#include "model/records/serving.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static const struct latency_keys statistics = {"avg", "p50", "p90", "p95", "p99", "std"};

// A metric's mean in the only expected unit; NAN without the metric.
static double mean_of(const struct import_reading *reading, const char *metric, const char *unit) {
  const json_t *json = json_below(reading->part->json, metric);
  const char *found = text_below(reading, json, "unit");
  if (json && strcmp(found, unit) != 0)
    reading_error(reading, "'%s': expected the unit %s, found %s", metric, unit,
                  *found ? found : "none");
  return number_below(reading, json, "avg");
}

// A number of requests. GenAI-Perf's unit for it is "count", and AIPerf's CSV omits it.
static double count_of(const struct import_reading *reading, const char *metric) {
  const char *unit = text_below(reading, json_below(reading->part->json, metric), "unit");
  return mean_of(reading, metric, !*unit || !strcmp(unit, "count") ? unit : "requests");
}

static struct serving_latency latency_of(const struct import_reading *reading, const char *metric) {
  const json_t *json = json_below(reading->part->json, metric);
  const char *unit = text_below(reading, json, "unit");
  if (json && isnan(seconds_in(unit)))
    reading_error(reading, "'%s': expected a unit of time, found %s", metric,
                  *unit ? unit : "none");
  return latency_below(reading, json, &statistics, "", seconds_in(unit));
}

// ---- the load

// Since schema 1.3 a run has phases; the phase that counts states what was set.
static const json_t *load_of(const struct import_reading *reading) {
  const json_t *phases = json_below(reading->part->json, "input_config/phases"), *phase;
  const json_t *found = json_below(reading->part->json, "input_config/loadgen");
  size_t i;
  json_array_foreach(phases, i, phase) {
    if (!json_is_true(json_object_get(phase, "exclude_from_results")))
      found = phase;
  }
  return found;
}

static void read_load(struct import_reading *reading, struct serving_rung *rung) {
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

static void add_gpu(const struct import_reading *reading, const char *name, const char *unit,
                    double watts, struct serving_power *power) {
  if (isnan(watts))
    return;
  if (strcmp(unit, "W") != 0)
    reading_error(reading, "gpu_power_usage of %s: expected the unit W, found %s", name,
                  *unit ? unit : "none");
  power->load_power_w = (power->devices ? power->load_power_w : 0) + watts;
  power->devices++;
}

static void add_gpus(const struct import_reading *reading, const json_t *gpus,
                     struct serving_power *power) {
  const char *name;
  json_t *gpu;
  json_object_foreach((json_t *)gpus, name, gpu) {
    const json_t *metric = json_below(gpu, "metrics/gpu_power_usage");
    const double watts = number_below(reading, metric, "avg");
    add_gpu(reading, name, text_below(reading, metric, "unit"), watts, power);
    if (!isnan(watts))
      say_hardware(reading, text_below(reading, gpu, "gpu_name"));
  }
}

static void say_telemetry(const struct import_reading *reading, struct serving_power *power) {
  if (!power->devices)
    return;
  power->covers = COVERS_ACCELERATORS;
  power->source = arena_printf(reading->arena, "%s's telemetry, %d GPUs",
                               reading->imported->format->tool, power->devices);
  power->remark = "a mean of samples over the telemetry's own window, warm-up included";
}

static void read_telemetry(const struct import_reading *reading, struct serving_power *power) {
  const json_t *endpoints = json_below(reading->part->json, "telemetry_data/endpoints");
  const char *name;
  json_t *endpoint;
  json_object_foreach((json_t *)endpoints, name, endpoint) {
    add_gpus(reading, json_below(endpoint, "gpus"), power);
  }
  say_telemetry(reading, power);
}

// ---- the run

// AIPerf leaves out the number of requests with an error if there are none, and lists the errors.
static double count_failed(const struct import_reading *reading) {
  const json_t *errors = json_below(reading->part->json, "error_summary"), *error;
  const double stated = count_of(reading, "error_request_count");
  double count = json_is_array(errors) ? 0 : NAN;
  size_t i;
  json_array_foreach(errors, i, error) {
    count += number_below(reading, error, "count");
  }
  return isnan(stated) ? count : stated;
}

static void say_run(struct import_reading *reading) {
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
  if (isnan(reading->window.start_s) && *text_below(reading, json, "start_time"))
    texts_add(&imported->unsaid, reading->arena, "the time zone of its timestamps");
  texts_add(&imported->unsaid, reading->arena, "the engine and its version");
  if (!json_below(json, "input_config"))
    texts_add(&imported->unsaid, reading->arena, "the load, which AIPerf's JSON states");
}

// The metrics that GenAI-Perf and AIPerf, its successor, have in common.
static struct serving_rung read_metrics(const struct import_reading *reading) {
  struct serving_rung rung = serving_rung_unknown();
  rung.completed = count_of(reading, "request_count");
  rung.output_tokens_per_s = mean_of(reading, "output_token_throughput", "tokens/sec");
  rung.input_tokens = mean_of(reading, "input_sequence_length", "tokens");
  rung.output_tokens = mean_of(reading, "output_sequence_length", "tokens");
  rung.ttft = latency_of(reading, "time_to_first_token");
  rung.tpot = latency_of(reading, "inter_token_latency");
  rung.end_to_end = latency_of(reading, "request_latency");
  return rung;
}

// JSON has a total's key, CSV its title.
static double total_of(const struct import_reading *reading, const char *key, const char *title) {
  const double total = mean_of(reading, key, "tokens");
  return isnan(total) ? mean_of(reading, title, "tokens") : total;
}

int read_aiperf(struct import_reading *reading) {
  struct serving_rung rung = read_metrics(reading);
  const struct rung_totals totals = {total_of(reading, "total_isl", "total_input_sequence_length"),
                                     total_of(reading, "total_osl", "total_output_sequence_length"),
                                     mean_of(reading, "total_token_throughput", "tokens/sec")};
  rung.window_s = latency_of(reading, "benchmark_duration").mean_s;
  rung.failed = count_failed(reading);
  rung.chunk_gap = latency_of(reading, "inter_chunk_latency");
  rung.cached_share = mean_of(reading, "total_usage_prompt_cache_read_tokens", "tokens") /
                      mean_of(reading, "total_usage_prompt_tokens", "tokens");
  if (number_below(reading, reading->part->json, "num_images/avg") > 0)
    rung.refused = "its requests carry images";
  if (json_is_true(json_below(reading->part->json, "was_cancelled")))
    rung.refused = "the run was canceled";
  read_load(reading, &rung);
  read_telemetry(reading, &rung.power);
  say_run(reading);
  return rung_add(reading, &rung, &totals);
}

// ---- GenAI-Perf

// GenAI-Perf's telemetry is one table per metric: {"unit": "W", "gpu0": {"avg": 400}}.
static void read_gpu_table(const struct import_reading *reading, struct serving_power *power) {
  const json_t *metric = json_below(reading->part->json, "telemetry_stats/gpu_power_usage");
  const char *unit = text_below(reading, metric, "unit"), *name;
  json_t *gpu;
  json_object_foreach((json_t *)metric, name, gpu) {
    if (json_is_object(gpu))
      add_gpu(reading, name, unit, number_below(reading, gpu, "avg"), power);
  }
  say_telemetry(reading, power);
}

// GenAI-Perf's options have been in sections since 2025; before, they were one list. Its CSV has
// none.
static const json_t *option_of(const struct import_reading *reading, const char *in_section,
                               const char *in_list) {
  const json_t *options = json_below(reading->part->json, "input_config");
  const json_t *found = json_below(options, in_section);
  return found ? found : json_below(options, in_list);
}

// Perf Analyzer sends at a rate at equal intervals, by default. Of sessions and schedules no load
// has a name.
static void set_load(const struct import_reading *reading, struct serving_rung *rung) {
  const json_t *rate = option_of(reading, "perf_analyzer/stimulus/request_rate", "request_rate");
  const json_t *concurrency =
      option_of(reading, "perf_analyzer/stimulus/concurrency", "concurrency");
  if (json_is_number(rate)) {
    rung->load = LOAD_CONSTANT;
    rung->request_rate = json_number_value(rate);
  } else if (json_is_number(concurrency)) {
    rung->load = LOAD_CLOSED;
    rung->concurrency = json_number_value(concurrency);
  }
}

// GenAI-Perf's request rate counts requests without an answer, but its request count does not. Its
// CSV has two decimals.
static int count_unanswered(const struct import_reading *reading, struct serving_rung *rung) {
  const bool is_exact = json_below(reading->part->json, "input_config");
  const json_t *metric = json_below(reading->part->json, "request_throughput");
  const double rate = number_below(reading, metric, "avg"), sent = rate * rung->window_s;
  const double rounding =
      is_exact
          ? 0
          : sent * (0.005 / rate + 0.005 / rung->output_tokens + 0.005 / rung->output_tokens_per_s);
  const double unanswered = sent - rung->completed;
  if (unanswered > 0.5 + rounding)
    rung->failed = round(unanswered);
  if (!(unanswered < -0.5 - rounding))
    return 0;
  return reading_error(reading,
                       "contradicts itself: %.6g requests of %.6g output tokens at %.6g per second "
                       "take %.6g s, in which %.6g requests per second are only %.6g",
                       rung->completed, rung->output_tokens, rung->output_tokens_per_s,
                       rung->window_s, rate, sent);
}

static void say_genai_perf(const struct import_reading *reading) {
  struct imported *imported = reading->imported;
  const json_t *models = option_of(reading, "model_names", "model");
  imported->model = text_below(reading, models, "0");
  imported->prompts = text_below(reading, reading->part->json, "input_config/endpoint/type");
  if (!*imported->prompts)
    imported->prompts = text_below(reading, reading->part->json, "input_config/endpoint_type");
  texts_add(&imported->unsaid, reading->arena, "the engine and its version");
  if (!json_below(reading->part->json, "input_config"))
    texts_add(&imported->unsaid, reading->arena, "the load, which GenAI-Perf's JSON states");
}

int read_genai_perf(struct import_reading *reading) {
  struct serving_rung rung = read_metrics(reading);
  // The rate is that of all output tokens over the time, which the file does not state otherwise.
  rung.window_s = rung.completed * rung.output_tokens / rung.output_tokens_per_s;
  if (json_is_false(option_of(reading, "endpoint/streaming", "streaming")))
    rung.ttft = serving_rung_unknown().ttft; // of the only response, which is the whole answer
  set_load(reading, &rung);
  read_gpu_table(reading, &rung.power);
  say_genai_perf(reading);
  if (count_unanswered(reading, &rung))
    return -1;
  return rung_add(reading, &rung,
                  &(struct rung_totals){rung.completed * rung.input_tokens,
                                        rung.completed * rung.output_tokens, NAN});
}
