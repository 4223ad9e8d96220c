#include "base/texts.h"
#include "model/imports/imported.h"
#include "model/imports/readers.h"
#include "model/imports/rung.h"
#include "model/records/serving.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

// A percentile's key has a decimal in later files.
static const struct latency_keys statistics = {"*/avg",
                                               "*/median",
                                               "*/percentiles/90.0",
                                               "*/percentiles/95.0",
                                               "*/percentiles/99.0",
                                               "*/std_dev"},
                                 whole_statistics = {"*/avg",
                                                     "*/median",
                                                     "*/percentiles/90",
                                                     "*/percentiles/95",
                                                     "*/percentiles/99",
                                                     "*/std_dev"};

static struct serving_latency latency_of(const struct import_reading *reading, const char *name) {
  const json_t *json = reading->part->json, *percentiles;
  percentiles = json_below(json_below(json, name), "percentiles");
  return latency_below(
      reading, json, json_below(percentiles, "90.0") ? &statistics : &whole_statistics, name, 1e-9);
}

static void read_load(const struct import_reading *reading, struct serving_rung *rung) {
  const json_t *pattern = json_below(reading->part->json, "run_config/load_pattern");
  const char *type = text_below(reading, pattern, "type");
  if (!strcmp(type, "concurrency")) {
    rung->load = LOAD_CLOSED;
    rung->concurrency = number_below(reading, pattern, "target_concurrency");
  } else if (!strcmp(type, "poisson")) {
    rung->load = LOAD_POISSON;
    rung->request_rate = number_below(reading, pattern, "target_qps");
  } else if (!strcmp(type, "max_throughput"))
    rung->load = LOAD_BURST;
  if (rung->load != LOAD_BURST && isnan(rung->concurrency) && isnan(rung->request_rate))
    rung->load = LOAD_UNKNOWN;
  if (!strcmp(type, "agentic_inference"))
    rung->refused = "conversations of several turns, served from a cache";
}

// The number of samples that failed, were dropped, or never came back.
static double count_failed(const struct import_reading *reading, double completed) {
  const json_t *json = reading->part->json;
  const double dropped = number_below(reading, json, "n_samples_dropped");
  const double failed = number_below(reading, json, "n_samples_failed"),
               missing = number_below(reading, json, "n_samples_issued") - completed;
  return fmax(failed + (isnan(dropped) ? 0 : dropped), fmax(0, missing));
}

// The seconds that the rates are over: with Poisson arrivals LoadGen's window, until the last
// request that was issued has its answer; otherwise the whole run.
static double window_of(const struct import_reading *reading) {
  const json_t *json = reading->part->json;
  const double of_loadgen = number_below(reading, json, "legacy_loadgen_window_duration_ns");
  return 1e-9 * (of_loadgen > 0 ? of_loadgen : number_below(reading, json, "duration_ns"));
}

int read_mlperf_endpoints(struct import_reading *reading) {
  const json_t *json = reading->part->json;
  struct serving_rung rung = serving_rung_unknown();
  if (!json_is_true(json_below(json, "complete")))
    return reading_error(reading, "the run is not complete, but %s",
                         text_below(reading, json, "state"));
  const struct rung_totals totals = {number_below(reading, json, "input_sequence_lengths/total"),
                                     number_below(reading, json, "output_sequence_lengths/total"),
                                     NAN};
  read_load(reading, &rung);
  rung.window_s = window_of(reading);
  rung.completed = number_below(reading, json, "n_samples_completed");
  rung.failed = count_failed(reading, rung.completed);
  rung.output_tokens_per_s = number_below(reading, json, "tps");
  rung.ttft = latency_of(reading, "ttft");
  rung.tpot = latency_of(reading, "tpot");
  rung.end_to_end = latency_of(reading, "latency");
  reading->imported->tool_version = text_below(reading, json, "version");
  texts_add(&reading->imported->unsaid, reading->arena, "the engine and its version");
  return rung_add(reading, &rung, &totals);
}
