#include "base/texts.h"
#include "model/imports/imported.h"
#include "model/imports/readers.h"
#include "model/imports/rung.h"
#include "model/records/serving.h"
#include "model/telemetry/power_read.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const struct latency_keys tokens = {"Mean * (ns)",
                                           "50.00 percentile * (ns)",
                                           "90.00 percentile * (ns)",
                                           "95.00 percentile * (ns)",
                                           "99.00 percentile * (ns)",
                                           NULL};

// LoadGen's keys for the same latency come in two spellings.
static struct serving_latency latency_of(const struct import_reading *reading, const char *in_mean,
                                         const char *in_percentiles) {
  struct latency_keys mean = {.mean = tokens.mean}, percentiles = tokens;
  const json_t *json = reading->part->json;
  percentiles.mean = NULL;
  struct serving_latency latency = latency_below(reading, json, &percentiles, in_percentiles, 1e-9);
  latency.mean_s = latency_below(reading, json, &mean, in_mean, 1e-9).mean_s;
  return latency;
}

static const struct scenario_keys {
  const char *scenario, *rate, *samples;
  enum serving_load load;
} scenarios[] = {
    {"Server", "Completed tokens per second", "Completed samples per second", LOAD_POISSON},
    {"Interactive", "Completed tokens per second", "Completed samples per second", LOAD_POISSON},
    {"Offline", "Tokens per second", "Samples per second", LOAD_BURST}};

static const struct scenario_keys *scenario_of(const char *name) {
  for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
    if (!strcmp(name, scenarios[i].scenario))
      return &scenarios[i];
  return NULL;
}

static int check_result(const struct import_reading *reading, const struct scenario_keys *keys) {
  const json_t *json = reading->part->json;
  const char *verdict = text_below(reading, json, "Result is"),
             *mode = text_below(reading, json, "Mode");
  if (strcmp(verdict, "VALID") != 0)
    return reading_error(reading, "the run's result is %s: only VALID ones are results", verdict);
  if (strcmp(mode, "PerformanceOnly") != 0)
    return reading_error(reading, "expected a run in mode PerformanceOnly, found '%s'", mode);
  if (!keys)
    return reading_error(reading,
                         "expected the scenario Server, Interactive or Offline, found '%s'",
                         text_below(reading, json, "Scenario"));
  if (!json_below(json, keys->rate))
    return reading_error(reading, "no '%s': not a language model's run", keys->rate);
  return 0;
}

int read_mlperf(struct import_reading *reading) {
  const json_t *json = reading->part->json;
  const struct scenario_keys *keys = scenario_of(text_below(reading, json, "Scenario"));
  struct serving_rung rung = serving_rung_unknown();
  if (check_result(reading, keys))
    return -1;
  reading->imported->stops_early = true;
  rung.load = keys->load;
  if (keys->load == LOAD_POISSON)
    rung.request_rate = number_below(reading, json, "target_qps");
  if (isnan(rung.request_rate) && keys->load == LOAD_POISSON)
    rung.load = LOAD_UNKNOWN;
  rung.output_tokens_per_s = number_below(reading, json, keys->rate);
  rung.output_tokens = rung.output_tokens_per_s / number_below(reading, json, keys->samples);
  rung.ttft = latency_of(reading, "First Token latency", "first token latency");
  rung.tpot = latency_of(reading, "Time per Output Token", "time to output token");
  if (isnan(rung.tpot.mean_s)) // as it was called until v5.1
    rung.tpot = latency_of(reading, "Time to Output Token", "time to output token");
  rung.end_to_end = latency_of(reading, "latency", "latency");
  rung.slo_ttft_s = 1e-9 * number_below(reading, json, "ttft_latency (ns)");
  rung.slo_tpot_s = 1e-9 * number_below(reading, json, "tpot_latency (ns)");
  texts_add(&reading->imported->unsaid, reading->arena,
            "the lengths of its prompts, and the number of requests behind its latencies");
  texts_add(&reading->imported->remarks, reading->arena, "MLPerf Inference, scenario %s",
            keys->scenario);
  return rung_add(reading, &rung, &(struct rung_totals){NAN, NAN, NAN});
}

// Submitters write numbers as texts too.
static int whole_of(const struct import_reading *reading, const char *key) {
  const char *text = text_below(reading, reading->part->json, key);
  int value = 0;
  for (const char *at = text; *at >= '0' && *at <= '9' && value < 100000; at++)
    value = 10 * value + (*at - '0');
  return value;
}

int read_mlperf_system(struct import_reading *reading) {
  struct imported *imported = reading->imported;
  const json_t *json = reading->part->json;
  const int nodes = whole_of(reading, "number_of_nodes");
  imported->accelerators = whole_of(reading, "accelerators_per_node") * nodes;
  if (!imported->accelerators)
    imported->accelerators = -1;
  imported->hardware = text_below(reading, json, "accelerator_model_name");
  imported->engine = text_below(reading, json, "framework");
  return 0;
}

int read_mlperf_window(struct import_reading *reading) {
  struct imported_window *window = &reading->imported->power_window;
  if (mlperf_power_window(reading->document->source, &window->start_s, &window->end_s))
    return 0;
  return reading_error(reading, "no power_begin and power_end: not the log of a run with watts");
}
