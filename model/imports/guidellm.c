#include "base/texts.h"
#include "model/imports/imported.h"
#include "model/imports/readers.h"
#include "model/imports/rung.h"
#include "model/records/serving.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define CUT_SHARE 0.02 // of the window, up to which a rate may be too high

static const struct latency_keys statistics = {"*/successful/mean",
                                               "*/successful/median",
                                               "*/successful/percentiles/p90",
                                               "*/successful/percentiles/p95",
                                               "*/successful/percentiles/p99",
                                               "*/successful/std_dev"};

static void read_load(struct import_reading *reading, const json_t *strategy,
                      struct serving_rung *rung) {
  static const struct {
    const char *type;
    enum serving_load load;
    const char *key;
  } loads[] = {{"concurrent", LOAD_CLOSED, "streams"},
               {"synchronous", LOAD_CLOSED, NULL},
               {"constant", LOAD_CONSTANT, "rate"},
               {"poisson", LOAD_POISSON, "rate"},
               {"throughput", LOAD_BURST, NULL}};
  const char *type = text_below(reading, strategy, "type_");
  reading->max_concurrency = number_below(reading, strategy, "max_concurrency");
  for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
    if (strcmp(type, loads[i].type) != 0)
      continue;
    const double set = loads[i].key ? number_below(reading, strategy, loads[i].key) : 1;
    rung->load = isnan(set) ? LOAD_UNKNOWN : loads[i].load;
    if (rung->load == LOAD_CLOSED)
      rung->concurrency = set;
    else if (rung->load == LOAD_CONSTANT || rung->load == LOAD_POISSON)
      rung->request_rate = set;
  }
}

// Requests with images or audio are a different workload from their text tokens.
static bool has_media(const struct import_reading *reading, const json_t *metrics) {
  static const char *const media[] = {"image/images", "video/frames", "audio/samples"};
  for (size_t i = 0; i < sizeof media / sizeof media[0]; i++)
    if (number_below(reading, json_below(metrics, media[i]), "input/successful/total_sum") > 0)
      return true;
  return false;
}

// Whether requests of a warm-up or cool-down reach into the window. guidellm counts all tokens of
// each, so that the rate is too high by about a request's duration over the window.
static bool is_cut(const struct import_reading *reading, const json_t *benchmark,
                   const struct serving_rung *rung) {
  const double before = number_below(reading, benchmark, "warmup_duration"),
               after = number_below(reading, benchmark, "cooldown_duration");
  return (before > 0 || after > 0) && !(rung->end_to_end.mean_s <= CUT_SHARE * rung->window_s);
}

// guidellm's time_per_output_token includes the first token. Its inter_token_latency is TPOT as
// commonly defined, but averaged over tokens instead of requests. Its rates are means over events,
// not over time: tokens are added up and divided by the duration.
static int read_benchmark(struct import_reading *reading, const json_t *benchmark) {
  const json_t *metrics = json_below(benchmark, "metrics");
  struct serving_rung rung = serving_rung_unknown();
  const struct rung_totals totals = {
      number_below(reading, metrics, "prompt_token_count/successful/total_sum"),
      number_below(reading, metrics, "output_token_count/successful/total_sum"), NAN};
  read_load(reading, json_below(benchmark, "config/strategy"), &rung);
  rung.window_s = number_below(reading, benchmark, "duration");
  rung.completed = number_below(reading, metrics, "request_totals/successful");
  rung.failed = number_below(reading, metrics, "request_totals/errored");
  reading->unfinished = number_below(reading, metrics, "request_totals/incomplete");
  rung.output_tokens_per_s = totals.output_tokens / rung.window_s;
  rung.mean_concurrency = number_below(reading, metrics, "request_concurrency/successful/mean");
  rung.ttft = latency_below(reading, metrics, &statistics, "time_to_first_token_ms", 1e-3);
  rung.tpot = latency_below(reading, metrics, &statistics, "inter_token_latency_ms", 1e-3);
  rung.end_to_end = latency_below(reading, metrics, &statistics, "request_latency", 1);
  if (has_media(reading, metrics))
    rung.refused = "its requests carry images, video or audio";
  if (is_cut(reading, benchmark, &rung))
    rung.refused = "requests that began before its window or ended after it count in full: measure "
                   "without warm-up and cool-down, or for longer";
  reading->window.start_s = number_below(reading, benchmark, "start_time");
  reading->window.end_s = number_below(reading, benchmark, "end_time");
  return rung_add(reading, &rung, &totals);
}

int read_guidellm(struct import_reading *reading) {
  struct imported *imported = reading->imported;
  const json_t *json = reading->part->json, *benchmark;
  size_t i;
  imported->tool_version = text_below(reading, json, "metadata/guidellm_version");
  imported->model = text_below(reading, json, "config/spec/backend/model");
  imported->prompts = text_below(reading, json, "config/spec/backend/request_format");
  texts_add(&imported->unsaid, reading->arena, "the engine and its version");
  json_array_foreach(json_below(json, "benchmarks"), i, benchmark) {
    if (read_benchmark(reading, benchmark))
      return -1;
  }
  return 0;
}
