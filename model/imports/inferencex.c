#include "base/arena.h"
#include "base/texts.h"
#include "model/imports/imported.h"
#include "model/imports/readers.h"
#include "model/imports/rung.h"
#include "model/records/serving.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct latency_keys latencies = {"mean_*", "median_*", "p90_*",
                                              "p95_*",  "p99_*",    "std_*"};

enum { POWER_SCHEMA = 2 }; // from this version, watts are averaged over the run's own window

// Rates are per working GPU: of all GPUs or, if prefill and decode are separate, input per prefill
// GPU and output per decode GPU.
struct gpus {
  int all, input, output;
};

// The GPUs of a run on one node: ranks of tensor parallelism, in stages, each for parts of a
// prompt. 0: not stated.
static int of_node(const struct import_reading *reading) {
  const json_t *json = reading->part->json;
  const int tp = count_below(reading, json, "tp"), stages = count_below(reading, json, "pp"),
            parts = count_below(reading, json, "pcp_size");
  const double all = (double)tp * (stages > 1 ? stages : 1) * (parts > 1 ? parts : 1);
  return all >= 1 && all <= INT_MAX ? (int)all : 0;
}

static int read_gpus(const struct import_reading *reading, struct gpus *gpus) {
  const json_t *json = reading->part->json;
  struct imported *imported = reading->imported;
  const int input = count_below(reading, json, "num_prefill_gpu"),
            output = count_below(reading, json, "num_decode_gpu");
  if (input || output) {
    const int prefill = input > 0 ? input : 0, decode = output > 0 ? output : 0;
    const bool apart = prefill && decode && json_is_true(json_below(json, "disagg"));
    const bool shared = json_is_false(json_below(json, "is_multinode")); // both include all GPUs
    const int all = shared && prefill == decode ? prefill : prefill + decode;
    *gpus =
        (struct gpus){all, prefill && !shared ? prefill : all, decode && !shared ? decode : all};
    imported->input_accelerators = apart ? prefill : 0;
    imported->output_accelerators = apart ? decode : 0;
  } else {
    const int all = of_node(reading);
    *gpus = (struct gpus){all, all, all};
  }
  imported->accelerators = gpus->all;
  if (gpus->all)
    return 0;
  return reading_error(reading, "its rates are per GPU, and it states no number of GPUs above 0");
}

// The rates must agree: input and output, each times its GPUs, add up to the total.
static int check_rates(const struct import_reading *reading, const struct serving_rung *rung,
                       const struct gpus *gpus) {
  const double all = gpus->all * number_below(reading, reading->part->json, "tput_per_gpu");
  const double sum = rung->input_tokens_per_s + rung->output_tokens_per_s;
  if (isnan(all) || isnan(sum) || fabs(all - sum) <= 0.02 * all)
    return 0;
  return reading_error(reading,
                       "contradicts itself: %.6g tokens per second in and out of %d GPUs, but %.6g "
                       "in and %.6g out",
                       all, gpus->all, rung->input_tokens_per_s, rung->output_tokens_per_s);
}

static void read_power(const struct import_reading *reading, struct serving_rung *rung, int gpus) {
  const json_t *json = reading->part->json;
  const double valid = number_below(reading, json, "power_valid"),
               schema = number_below(reading, json, "power_metric_schema_version"),
               each_w = number_below(reading, json, "avg_power_w"),
               total_w = number_below(reading, json, "avg_total_gpu_power_w");
  struct serving_power *power = &rung->power;
  if (isnan(each_w))
    return;
  power->source = "none: InferenceX says that its watts are not valid";
  if (schema != POWER_SCHEMA)
    power->source =
        "none: InferenceX's watts before version 2 are not a mean over the run's window";
  if (valid != 1 || schema != POWER_SCHEMA)
    return;
  power->source = arena_printf(reading->arena, "InferenceX, the GPUs' boards, %d GPUs", gpus);
  power->covers = COVERS_ACCELERATORS;
  power->devices = gpus;
  power->load_power_w = isnan(total_w) ? each_w * gpus : total_w;
  power->energy_j = number_below(reading, json, "total_gpu_energy_j");
  power->window_s = power->energy_j / power->load_power_w;
}

// Before it had "spec_decoding", InferenceX wrote whether it used MTP, and only into some files.
static const char *speculation_of(const struct import_reading *reading, const json_t *json) {
  static const struct {
    const char *mtp, *speculation;
  } words[] = {{"on", "mtp"}, {"true", "mtp"}, {"off", ""}, {"false", ""}, {"none", ""}};
  const char *speculation = text_below(reading, json, "spec_decoding");
  if (*speculation && strcasecmp(speculation, "none") != 0)
    return speculation;
  if (json_is_true(json_below(json, "mtp")))
    return "mtp";
  const char *mtp = text_below(reading, json, "mtp");
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (!strcasecmp(mtp, words[i].mtp))
      return words[i].speculation;
  return mtp;
}

static void say_run(const struct import_reading *reading) {
  struct imported *imported = reading->imported;
  const json_t *json = reading->part->json;
  const char *image = text_below(reading, json, "image");
  imported->hardware = text_below(reading, json, "hw");
  imported->precision = text_below(reading, json, "precision");
  imported->model = text_below(reading, json, "model");
  imported->engine = text_below(reading, json, "framework");
  imported->engine_version = image;
  imported->speculation = speculation_of(reading, json);
  imported->date = day_of(text_below(reading, json, "date"), reading->arena);
  texts_add(&imported->unsaid, reading->arena,
            "the number of requests and seconds its rates cover, and the lengths as served");
  texts_add(&imported->remarks, reading->arena, "lengths as requested, not as served");
}

int read_inferencex(struct import_reading *reading) {
  const json_t *json = reading->part->json;
  struct serving_rung rung = serving_rung_unknown();
  struct gpus gpus;
  if (read_gpus(reading, &gpus))
    return -1;
  const char *prefill = text_below(reading, json, "prefill_hw"),
             *decode = text_below(reading, json, "decode_hw");
  if (strcmp(prefill, decode) != 0)
    return reading_error(reading,
                         "prefill on '%s' and decode on '%s': a record is of one accelerator",
                         prefill, decode);
  rung.load = LOAD_CLOSED;
  rung.concurrency = number_below(reading, json, "conc");
  rung.output_tokens_per_s = gpus.output * number_below(reading, json, "output_tput_per_gpu");
  rung.input_tokens_per_s = gpus.input * number_below(reading, json, "input_tput_per_gpu");
  if (isnan(rung.input_tokens_per_s))
    rung.input_tokens_per_s =
        gpus.all * number_below(reading, json, "tput_per_gpu") - rung.output_tokens_per_s;
  rung.asked_input_tokens = number_below(reading, json, "isl");
  rung.asked_output_tokens = number_below(reading, json, "osl");
  rung.input_tokens = rung.asked_input_tokens;
  rung.output_tokens = rung.asked_output_tokens;
  rung.ttft = latency_below(reading, json, &latencies, "ttft", 1);
  rung.tpot = latency_below(reading, json, &latencies, "tpot", 1);
  rung.chunk_gap = latency_below(reading, json, &latencies, "itl", 1);
  rung.end_to_end = latency_below(reading, json, &latencies, "e2el", 1);
  if (check_rates(reading, &rung, &gpus))
    return -1;
  read_power(reading, &rung, gpus.all);
  say_run(reading);
  return rung_add(reading, &rung, &(struct rung_totals){NAN, NAN, NAN});
}
