#include "model/questions/prediction.h"

#include "base/source.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/workload.h"
#include "model/records/measurement.h"
#include "model/records/record_device.h"
#include "model/records/recorded.h"
#include "model/records/records.h"
#include "model/records/served.h"
#include "model/records/serving.h"
#include "model/scenario/figure.h"
#include "model/scenario/sources/recorded_prefill.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// ---- decoding

// "cpu" is any processor: if both records name theirs, it must be the same.
static bool is_same_device(const struct records *records, const struct measurement_record *record,
                           const struct serving_record *served) {
  const char *known = records_accelerator(records, record);
  if (!strcmp(record->device.backend, "cpu") && !strcmp(served->accelerator, "cpu"))
    return !*served->device || !strcmp(served->device, record->device.name);
  return known && !strcmp(known, served->accelerator);
}

static bool decodes_the_same(const struct records *records, const struct measurement_record *record,
                             const struct measurement *result,
                             const struct serving_record *served) {
  return is_same_device(records, record, served) && result->whole_model &&
         !strcmp(result->model.id, served->model) && !strcmp(result->precision, served->precision);
}

// The nearest batch, and among those the nearest context.
static double distance(const struct measurement *result, double batch, double context) {
  const double most = 1e6; // larger than any distance between two contexts
  return fabs(result->batch - batch) + fabs(result->context - context) / most;
}

static const struct measurement *nearest_decoding(const struct records *records,
                                                  const struct served *served, double batch) {
  const double context = served->rungs->input_tokens + served->rungs->output_tokens / 2;
  const struct measurement *nearest = NULL;
  for (size_t i = 0; i < records->count; i++)
    for (size_t k = 0; k < records->list[i]->count; k++) {
      const struct measurement *result = &records->list[i]->results[k];
      if (decodes_the_same(records, records->list[i], result, served->rungs->record) &&
          (!nearest || distance(result, batch, context) < distance(nearest, batch, context)))
        nearest = result;
    }
  return nearest;
}

static bool choose_at(const struct records *records, const struct serving_record *served,
                      double batch, int context, struct recorded *out, struct arena *arena) {
  struct workload workload = {.shipped_precision = ""};
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    workload.values[key] = "";
  workload.values[WORKLOAD_MODEL] = served->model;
  workload.values[WORKLOAD_PRECISION] = served->precision;
  workload.values[WORKLOAD_BATCH] = arena_printf(arena, "%.0f", batch);
  workload.values[WORKLOAD_CONTEXT] = arena_printf(arena, "%d", context);
  return !recorded_choose(records, "", served->accelerator, &workload, out, arena);
}

// The number of requests at once that were served; for arrivals their mean, or 1 if they were not
// counted.
static double batch_of(const struct option *option) {
  const struct serving_rung *rung = option->served->nearest;
  if (option->curve)
    return option->choice.batch;
  const double batch = isnan(rung->concurrency) ? rung->mean_concurrency : rung->concurrency;
  return isnan(batch) ? 1 : round(fmax(1, batch));
}

static void find_decode(const struct scenario *scenario, const struct option *option,
                        struct prediction *prediction, struct arena *arena) {
  const struct serving_record *served = option->served->rungs->record;
  const double batch = batch_of(option);
  const struct measurement *nearest = nearest_decoding(scenario->records, option->served, batch);
  struct recorded recorded;
  if (!nearest)
    return;
  const bool same = choose_at(scenario->records, served, batch, nearest->context, &recorded, arena);
  if (!same &&
      !choose_at(scenario->records, served, nearest->batch, nearest->context, &recorded, arena))
    return;
  prediction->decode = recorded.tokens_per_s;
  prediction->decode_source = arena_printf(arena, "%s; batch %g, context %d", recorded.source,
                                           same ? batch : (double)nearest->batch, nearest->context);
}

// ---- prefill

static const struct figure *typed_prefill(const struct scenario *scenario,
                                          const struct option *option) {
  const struct figure *figure = option_figure(scenario, option, scenario->selected,
                                              model_find(scenario->model, "prefill_throughput"));
  return figure->origin > ORIGIN_DEFAULT ? figure : NULL;
}

// The prefill-only rung whose length is nearest to that of the served prompts.
static const struct serving_rung *nearest_prompts(const struct serving_record *of,
                                                  double input_tokens) {
  const struct serving_rung *nearest = NULL;
  for (size_t i = 0; i < of->count; i++) {
    const struct serving_rung *rung = &of->rungs[i];
    if (!*rung->refused && rung->input_tokens_per_s > 0 && isnan(rung->output_tokens_per_s) &&
        (!nearest ||
         fabs(rung->input_tokens - input_tokens) < fabs(nearest->input_tokens - input_tokens)))
      nearest = rung;
  }
  return nearest;
}

// The newest of the probe's own prompts, of the served length or around it.
static void find_probed_prefill(const struct records *records, const struct serving_record *served,
                                struct prediction *prediction, struct arena *arena) {
  const char *newest = "";
  for (size_t i = 0; i < records->count; i++)
    for (size_t k = 0; k < records->list[i]->count; k++) {
      const struct measurement *result = &records->list[i]->results[k];
      struct prompt_rate rate;
      if (!decodes_the_same(records, records->list[i], result, served) ||
          strcmp(result->finished, newest) <= 0 ||
          recorded_prefill_at(result, prediction->input_tokens, &rate, arena))
        continue;
      newest = result->finished;
      prediction->prefill = rate.tokens_per_s;
      prediction->prefill_source = rate.source;
    }
}

static void find_prefill(const struct scenario *scenario, const struct option *option,
                         struct prediction *prediction, struct arena *arena) {
  const struct serving_record *served = option->served->rungs->record;
  const struct figure *typed = typed_prefill(scenario, option);
  if (typed) {
    prediction->prefill = rate_per_second(typed->value);
    prediction->prefill_source = *typed->source ? typed->source : "typed";
    return;
  }
  for (size_t i = 0; i < scenario->records->serving_count; i++) {
    const struct serving_record *record = scenario->records->servings[i];
    const struct serving_rung *rung = record->basis == BASIS_DECODE &&
                                              !strcmp(record->accelerator, served->accelerator) &&
                                              !strcmp(record->model, served->model) &&
                                              !strcmp(record->precision, served->precision)
                                          ? nearest_prompts(record, prediction->input_tokens)
                                          : NULL;
    if (!rung)
      continue;
    prediction->prefill = rung->input_tokens_per_s / record->accelerators;
    prediction->prefill_source =
        arena_printf(arena, "record %s: %s, prompts of %.0f tokens", source_file_name(record->path),
                     record->tool, rung->input_tokens);
  }
  if (isnan(prediction->prefill))
    find_probed_prefill(scenario->records, served, prediction, arena);
}

// ---- both

static const char *what_is_missing(const struct prediction *prediction) {
  if (isnan(prediction->decode))
    return "no decoding record for its accelerator, model and precision";
  if (isnan(prediction->prefill))
    return "no prefill rate: type prefill_throughput, measure prompts of that length with "
           "pertoken-probe run --prefill, or import a prefill-only run";
  if (!isfinite(prediction->predicted))
    return "the record does not state the length of its requests";
  return NULL;
}

struct prediction prediction_of(const struct scenario *scenario, const struct option *option,
                                struct arena *arena) {
  struct prediction prediction = {.input_tokens = option->served->rungs->input_tokens,
                                  .output_tokens = option->served->rungs->output_tokens,
                                  .decode = NAN,
                                  .prefill = NAN,
                                  .decode_source = "",
                                  .prefill_source = "",
                                  .served = option->served->tokens_per_s};
  find_decode(scenario, option, &prediction, arena);
  find_prefill(scenario, option, &prediction, arena);
  prediction.predicted = prediction.output_tokens / (prediction.input_tokens / prediction.prefill +
                                                     prediction.output_tokens / prediction.decode);
  prediction.why = what_is_missing(&prediction);
  return prediction;
}
