#include "base/texts.h"
#include "model/imports/imported.h"
#include "model/imports/readers.h"
#include "model/imports/rung.h"
#include "model/records/serving.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

// The type of most weights, the end of "llama 8B Q4_K - Medium"; "" if it is unknown.
static const char *weights_in(const char *model_type) {
  static const char *const floats[] = {"all F32", "BF16", "F16", "MXFP4 MoE"};
  const char *quantized = NULL;
  for (const char *at = model_type; (at = strchr(at, ' ')); at++)
    if (at[1] == 'Q' || !strncmp(at + 1, "IQ", 2) || !strncmp(at + 1, "TQ", 2))
      quantized = at + 1;
  for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
    const char *found = strstr(model_type, floats[i]);
    if (found && found > model_type && found[-1] == ' ' && !found[strlen(floats[i])])
      return found;
  }
  return quantized ? quantized : "";
}

// gpu_info names all GPUs of the machine, also if no layer ran on them.
static bool is_on_cpu(const struct import_reading *reading) {
  const json_t *json = reading->part->json;
  return number_below(reading, json, "n_gpu_layers") == 0 ||
         !strcmp(text_below(reading, json, "devices"), "none");
}

static void say_llama(const struct import_reading *reading) {
  struct imported *imported = reading->imported;
  const json_t *json = reading->part->json;
  const char *gpu = text_below(reading, json, "gpu_info");
  imported->basis = BASIS_DECODE;
  imported->engine = "llama.cpp";
  imported->engine_version = text_below(reading, json, "build_number");
  imported->tool_version = imported->engine_version;
  imported->hardware = *gpu && !is_on_cpu(reading) ? gpu : text_below(reading, json, "cpu_info");
  imported->model = text_below(reading, json, "model_filename");
  imported->precision = weights_in(text_below(reading, json, "model_type"));
  imported->date = day_of(text_below(reading, json, "test_time"), reading->arena);
  texts_add(&imported->remarks, reading->arena, "%s, build %s (%s)",
            text_below(reading, json, "model_type"), text_below(reading, json, "build_number"),
            text_below(reading, json, "build_commit"));
}

// Checks the mean of the samples, if the file has them: CSV does not.
static int check_samples(const struct import_reading *reading, struct serving_rung *rung,
                         double rate) {
  const json_t *samples = json_below(reading->part->json, "samples_ts");
  const json_t *times = json_below(reading->part->json, "samples_ns"), *element;
  const double count = (double)json_array_size(samples);
  size_t i;
  double sum = 0, ns = 0;
  json_array_foreach(samples, i, element) {
    sum += json_number_value(element) / count;
  }
  json_array_foreach(times, i, element) {
    ns += json_number_value(element);
  }
  if (!(rate > 0))
    return reading_error(reading, "no rate above 0");
  if (count > 0 && fabs(sum - rate) > 0.02 * rate)
    return reading_error(reading, "contradicts itself: avg_ts is %.6g, its samples' mean %.6g",
                         rate, sum);
  if (count > 0)
    rung->completed = count;
  rung->window_s = ns > 0 ? ns * 1e-9 : NAN;
  return 0;
}

int read_llama_bench(struct import_reading *reading) {
  const json_t *json = reading->part->json;
  const double prompt = number_below(reading, json, "n_prompt"),
               written = number_below(reading, json, "n_gen"),
               depth = number_below(reading, json, "n_depth"),
               rate = number_below(reading, json, "avg_ts");
  struct serving_rung rung = serving_rung_unknown();
  say_llama(reading);
  rung.load = LOAD_STATIC;
  rung.concurrency = 1;
  rung.input_tokens = prompt + (isnan(depth) ? 0 : depth);
  rung.output_tokens = written;
  if (check_samples(reading, &rung, rate))
    return -1;
  if (prompt > 0 && written > 0)
    rung.refused = "its rate includes input tokens";
  else if (prompt > 0)
    rung.input_tokens_per_s = rate;
  else
    rung.output_tokens_per_s = rate;
  reading->window.start_s = time_below(reading, json, "test_time");
  return rung_add(reading, &rung, &(struct rung_totals){NAN, NAN, NAN});
}

int read_batched_bench(struct import_reading *reading) {
  const json_t *json = reading->part->json;
  const double rate = number_below(reading, json, "speed_tg"),
               time_s = number_below(reading, json, "t_tg");
  struct serving_rung rung = serving_rung_unknown();
  reading->imported->basis = BASIS_DECODE;
  reading->imported->engine = "llama.cpp";
  rung.load = LOAD_STATIC;
  rung.concurrency = number_below(reading, json, "pl");
  rung.input_tokens = number_below(reading, json, "pp");
  rung.output_tokens = number_below(reading, json, "tg");
  rung.output_tokens_per_s = rate;
  rung.window_s = time_s;
  const double expected = rung.concurrency * rung.output_tokens / time_s;
  if (!(rate > 0))
    return reading_error(reading, "no output token rate above 0");
  if (fabs(expected - rate) > 0.02 * rate)
    return reading_error(reading,
                         "contradicts itself: speed_tg is %.6g, but pl x tg tokens in t_tg are "
                         "%.6g per second",
                         rate, expected);
  if (number_below(reading, json, "is_pp_shared") == 1)
    rung.refused = "all its sequences share one prompt";
  texts_add(&reading->imported->unsaid, reading->arena, "llama.cpp's build");
  return rung_add(reading, &rung, &(struct rung_totals){NAN, NAN, NAN});
}
