#include "base/texts.h"
#include "model/imports/imported.h"
#include "model/imports/readers.h"
#include "model/imports/rung.h"
#include "model/records/serving.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct latency_keys statistics = {"mean", "p50", "p90", "p95", "p99", "stddev"};
static const struct latency_keys plain_statistics = {"*/mean", "*/median", "*/p90",
                                                     "*/p95",  "*/p99",    NULL};

static struct serving_latency latency_of(const struct import_reading *reading,
                                         const json_t *latencies, const char *name) {
  const json_t *json = json_below(latencies, name);
  const char *unit = text_below(reading, json, "units");
  if (json && isnan(seconds_in(unit)))
    reading_error(reading, "'%s': expected a unit of time, found %s", name, *unit ? unit : "none");
  return latency_below(reading, json, &statistics, "", seconds_in(unit));
}

static bool is_of(const char *tool, const char *const *tools) {
  while (*tools && strcasecmp(tool, *tools) != 0)
    tools++;
  return *tools;
}

// guidellm's own TPOT includes the first token, and the report copies it unchanged; AIPerf has
// none. What both call inter-token latency is TPOT.
static void read_latencies(const struct import_reading *reading, const json_t *latencies,
                           const char *tool, struct serving_rung *rung) {
  static const char *const between_tokens[] = {"guidellm", "aiperf", NULL};
  rung->ttft = latency_of(reading, latencies, "time_to_first_token");
  rung->tpot =
      latency_of(reading, latencies,
                 is_of(tool, between_tokens) ? "inter_token_latency" : "time_per_output_token");
  rung->end_to_end = latency_of(reading, latencies, "request_latency");
}

static void read_requests(const struct import_reading *reading, const json_t *requests,
                          struct serving_rung *rung) {
  rung->failed = number_below(reading, requests, "failures");
  rung->completed =
      number_below(reading, requests, "total") - (isnan(rung->failed) ? 0 : rung->failed);
  rung->input_tokens = number_below(reading, requests, "input_length/mean");
  rung->output_tokens = number_below(reading, requests, "output_length/mean");
}

// Exposes a rate that is a mean over events: it does not equal tokens over time.
static struct rung_totals totals_of(const struct serving_rung *rung, double total_tokens_per_s) {
  return (struct rung_totals){rung->completed * rung->input_tokens,
                              rung->completed * rung->output_tokens, total_tokens_per_s};
}

// Adds up the accelerators; one that says 0 makes the report say 0.
static void say_count(struct imported *imported, int count) {
  imported->accelerators =
      count < 0 || imported->accelerators < 0 ? -1 : imported->accelerators + count;
}

// ---- 0.1

// Adds up the hosts, of which each replica has an entry with its own accelerators.
static void say_hosts(const struct import_reading *reading) {
  const json_t *hosts = json_below(reading->part->json, "scenario/host/accelerator");
  const json_t *types = json_below(reading->part->json, "scenario/host/type"), *host;
  struct imported *imported = reading->imported;
  int input = 0, output = 0;
  size_t i;
  json_array_foreach(hosts, i, host) {
    const int count = count_below(reading, host, "count");
    const char *type = json_string_value(json_array_get(types, i));
    say_hardware(reading, text_below(reading, host, "model"));
    say_count(imported, count);
    input += type && !strcmp(type, "prefill") ? count : 0;
    output += type && !strcmp(type, "decode") ? count : 0;
  }
  if (input > 0 && output > 0) {
    imported->input_accelerators = input;
    imported->output_accelerators = output;
  }
}

int read_llm_d_1(struct import_reading *reading) {
  struct imported *imported = reading->imported;
  const json_t *json = reading->part->json, *metrics = json_below(json, "metrics");
  struct serving_rung rung = serving_rung_unknown();
  const char *tool = text_below(reading, json, "scenario/load/name");
  imported->tool_version = text_below(reading, json, "version");
  imported->model = text_below(reading, json, "scenario/model/name");
  imported->engine = text_below(reading, json, "scenario/platform/engine/0/name");
  imported->engine_version = text_below(reading, json, "scenario/platform/engine/0/version");
  texts_add(&imported->remarks, reading->arena, "measured by %s", *tool ? tool : "an unnamed tool");
  say_hosts(reading);
  rung_set_load(reading, &rung, json_below(json, "scenario/load/args"));
  if (rung.load == LOAD_BURST) // if neither is stated
    rung.load = LOAD_UNKNOWN;
  rung.window_s = number_below(reading, metrics, "time/duration");
  reading->window.start_s = number_below(reading, metrics, "time/start");
  reading->window.end_s = number_below(reading, metrics, "time/stop");
  rung.output_tokens_per_s = number_below(reading, metrics, "throughput/output_tokens_per_sec");
  read_requests(reading, json_below(metrics, "requests"), &rung);
  read_latencies(reading, json_below(metrics, "latency"), tool, &rung);
  const struct rung_totals totals =
      totals_of(&rung, number_below(reading, metrics, "throughput/total_tokens_per_sec"));
  return rung_add(reading, &rung, &totals);
}

// ---- 0.2 and 0.2.1

// "PT1M49.97S"; NAN for any other text.
static double duration_s(const char *text) {
  double total = 0;
  if (strncmp(text, "PT", 2) != 0)
    return NAN;
  for (const char *at = text + 2; *at;) {
    char *end;
    const double number = strtod(at, &end);
    if (end == at || !strchr("HMS", *end) || !*end)
      return NAN;
    total += number * (*end == 'H' ? 3600 : *end == 'M' ? 60 : 1);
    at = end + 1;
  }
  return total;
}

// The report has those of one of several workers, tensor times local data parallelism.
static int count_of(const struct import_reading *reading, const json_t *accelerator) {
  const int count = count_below(reading, accelerator, "count");
  const double tp = number_below(reading, accelerator, "parallelism/tp"),
               local = number_below(reading, accelerator, "parallelism/dp_local"),
               workers = number_below(reading, accelerator, "parallelism/workers");
  const double all = count * workers;
  return workers > 1 && tp * local == count && all <= INT_MAX ? (int)all : count;
}

// The report does not state how many accelerators several replicas have in total.
static void say_engine(const struct import_reading *reading, const json_t *component) {
  struct imported *imported = reading->imported;
  const int count = count_of(reading, json_below(component, "accelerator"));
  const double replicas = number_below(reading, component, "replicas");
  const char *role = text_below(reading, component, "role");
  imported->engine = text_below(reading, component, "tool");
  imported->engine_version = text_below(reading, component, "tool_version");
  say_hardware(reading, text_below(reading, component, "accelerator/model"));
  imported->model = text_below(reading, component, "model/name");
  if (replicas > 1 && count >= 0 && imported->accelerators >= 0)
    texts_add(&imported->unsaid, reading->arena,
              "whether its %d accelerators belong to one of %.0f replicas", count, replicas);
  else
    say_count(imported, count);
  imported->input_accelerators += strcmp(role, "prefill") == 0 && count > 0 ? count : 0;
  imported->output_accelerators += strcmp(role, "decode") == 0 && count > 0 ? count : 0;
}

static void say_stack(const struct import_reading *reading) {
  struct imported *imported = reading->imported;
  const json_t *stack = json_below(reading->part->json, "scenario/stack"), *component;
  size_t i;
  json_array_foreach(stack, i, component) {
    const json_t *standardized = json_below(component, "standardized");
    if (!strcmp(text_below(reading, standardized, "kind"), "inference_engine"))
      say_engine(reading, standardized);
  }
  if (imported->unsaid.count && imported->accelerators > 0)
    imported->accelerators = 0;
  const int both = imported->input_accelerators + imported->output_accelerators;
  if (!imported->input_accelerators || !imported->output_accelerators ||
      both != imported->accelerators)
    imported->input_accelerators = imported->output_accelerators = 0;
}

static void read_load(const struct import_reading *reading, struct serving_rung *rung) {
  const json_t *load = json_below(reading->part->json, "scenario/load/standardized");
  const json_t *concurrency = json_below(load, "concurrency"), *rate = json_below(load, "rate_qps");
  rung->asked_input_tokens = number_below(reading, load, "input_seq_len/value");
  rung->asked_output_tokens = number_below(reading, load, "output_seq_len/value");
  if (json_is_number(concurrency) && !json_is_number(rate)) { // with a rate, it is a limit
    rung->load = LOAD_CLOSED;
    rung->concurrency = json_number_value(concurrency);
  }
  if (!isnan(number_below(reading, load, "prefix/prefix_len/value")))
    texts_add(&reading->imported->remarks, reading->arena,
              "prompts share a prefix, so some of their tokens may come from a cache");
}

static double rate_of(const struct import_reading *reading, const char *name) {
  const json_t *rate =
      json_below(reading->part->json, "results/request_performance/aggregate/throughput");
  rate = json_below(rate, name);
  const char *unit = text_below(reading, rate, "units");
  if (rate && strcmp(unit, "tokens/s") != 0)
    reading_error(reading, "'%s': expected the unit tokens/s, found %s", name,
                  *unit ? unit : "none");
  return number_below(reading, rate, "mean");
}

// Derives the window from the rate. These tools report the time of the whole harness, with its
// start and all its stages, but the rates of one stage.
static void settle_stage(struct import_reading *reading, const char *tool, double requests_per_s,
                         struct serving_rung *rung) {
  static const char *const timed_whole[] = {"inference-perf", "vllm-benchmark", "aiperf", NULL};
  if (!is_of(tool, timed_whole) || !(requests_per_s > 0))
    return;
  rung->window_s = rung->completed / requests_per_s;
  reading->window = (struct imported_window){NAN, NAN};
  reading->imported->date =
      day_of(text_below(reading, reading->part->json, "run/time/start"), reading->arena);
}

int read_llm_d_2(struct import_reading *reading) {
  struct imported *imported = reading->imported;
  const json_t *json = reading->part->json;
  const json_t *aggregate = json_below(json, "results/request_performance/aggregate");
  struct serving_rung rung = serving_rung_unknown();
  const char *tool = text_below(reading, json, "scenario/load/standardized/tool");
  imported->tool_version = text_below(reading, json, "version");
  texts_add(&imported->remarks, reading->arena, "measured by %s %s", tool,
            text_below(reading, json, "scenario/load/standardized/tool_version"));
  say_stack(reading);
  read_load(reading, &rung);
  rung.window_s = duration_s(text_below(reading, json, "run/time/duration"));
  reading->window.start_s = time_below(reading, json, "run/time/start");
  reading->window.end_s = time_below(reading, json, "run/time/end");
  rung.output_tokens_per_s = rate_of(reading, "output_token_rate");
  read_requests(reading, json_below(aggregate, "requests"), &rung);
  settle_stage(reading, tool, number_below(reading, aggregate, "throughput/request_rate/mean"),
               &rung);
  read_latencies(reading, json_below(aggregate, "latency"), tool, &rung);
  const struct rung_totals totals = totals_of(&rung, rate_of(reading, "total_token_rate"));
  return rung_add(reading, &rung, &totals);
}

// ---- inference-perf

// Requests with images or audio are a different workload from their text tokens. Since 0.6 a report
// counts them even if there are none.
static bool has_media(const struct import_reading *reading, const json_t *successes) {
  static const char *const media[] = {"image/count/mean", "video/count/mean", "audio/count/mean"};
  for (size_t i = 0; i < sizeof media / sizeof media[0]; i++)
    if (number_below(reading, successes, media[i]) > 0)
      return true;
  return false;
}

// Two counts of the output: a tokenizer's at the client, and since June 2026 the server's own.
// The client's configuration decides of which its rates and its TPOT are.
static void read_output(const struct import_reading *reading, const json_t *successes,
                        struct serving_rung *rung) {
  const double client = number_below(reading, successes, "output_len/mean"),
               server = number_below(reading, successes, "output_tokens/mean");
  const double rated = rung->output_tokens_per_s * rung->window_s / rung->completed;
  const bool is_of_server = isnan(client) || fabs(rated - server) < fabs(rated - client);
  rung->output_tokens = is_of_server ? server : client;
  if (fabs(client - server) > 0.01 * fmax(client, server))
    texts_add(&reading->imported->remarks, reading->arena,
              "output tokens are the %s's count, %.6g a request; the %s's is %.6g",
              is_of_server ? "server" : "client", rung->output_tokens,
              is_of_server ? "client" : "server", is_of_server ? client : server);
}

int read_inference_perf(struct import_reading *reading) {
  const json_t *json = reading->part->json, *successes = json_below(json, "successes");
  struct serving_rung rung = serving_rung_unknown();
  rung.window_s = number_below(reading, json, "benchmark_time_seconds");
  rung.completed = number_below(reading, successes, "count");
  rung.failed = number_below(reading, json, "failures/count");
  rung.input_tokens = number_below(reading, successes, "prompt_len/mean");
  if (isnan(rung.input_tokens)) // as it is called since August 2026
    rung.input_tokens = number_below(reading, successes, "prompt_tokens/mean");
  rung.output_tokens_per_s = number_below(reading, successes, "throughput/output_tokens_per_sec");
  read_output(reading, successes, &rung);
  rung.cached_share = number_below(reading, successes, "prompt_tokens/cached") /
                      number_below(reading, successes, "prompt_tokens/total");
  const json_t *latency = json_below(successes, "latency");
  rung.ttft = latency_below(reading, latency, &plain_statistics, "time_to_first_token", 1);
  rung.tpot = latency_below(reading, latency, &plain_statistics, "time_per_output_token", 1);
  rung.chunk_gap = latency_below(reading, latency, &plain_statistics, "inter_token_latency", 1);
  rung.end_to_end = latency_below(reading, latency, &plain_statistics, "request_latency", 1);
  if (has_media(reading, successes))
    rung.refused = "its requests carry images, video or audio";
  texts_add(&reading->imported->unsaid, reading->arena,
            "whether requests came at even intervals or at random");
  texts_add(&reading->imported->unsaid, reading->arena, "the engine and its version");
  const struct rung_totals totals =
      totals_of(&rung, number_below(reading, successes, "throughput/total_tokens_per_sec"));
  return rung_add(reading, &rung, &totals);
}
