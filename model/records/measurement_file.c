#include "model/records/measurement_file.h"

#include "base/json_in.h"
#include "base/record.h"
#include "base/source.h"
#include "model/evidence/grade.h"
#include "model/records/measurement_fields.h"
#include "model/records/timing.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Whether the mean of the readings is that of the window. True also if this cannot be determined:
// with a gap, or if the record lacks the mean of that kind, such as the sensors' over an idle
// window.
static bool has_mean(const struct measurement_window *window, double power_w) {
  const double tolerance = 1e-6; // for sums of differences of large numbers
  if (!window->count || isnan(power_w) || measurement_has_gap(window))
    return true;
  const double mean_w = measurement_window_joules(window) / measurement_window_seconds(window);
  return fabs(mean_w - power_w) <= tolerance * power_w;
}

static bool is_in_order(const struct measurement_window *window) {
  for (size_t i = 0; i < window->count; i++)
    if (!(window->end_s[i] > (i ? window->end_s[i - 1] : 0)))
      return false;
  return window->count == window->power_count;
}

static const char *wrong_readings(const struct measurement *result) {
  const struct measurement_window *idle = &result->readings.idle, *load = &result->readings.load;
  if (!is_in_order(idle) || !is_in_order(load))
    return "readings need a time and watts each, the times ascending";
  if ((idle->count && isnan(result->idle_power_w)) || (load->count && isnan(result->load_power_w)))
    return "readings of watts that were not measured";
  if (!has_mean(load, load->sensed ? result->sampled_power_w : result->load_power_w) ||
      !has_mean(idle, idle->sensed ? NAN : result->idle_power_w))
    return "the mean of the readings is not the window's";
  return NULL;
}

// The schema since which rates are of mean steps, not of medians; and that since which an interval
// that the samples do not tell is unknown.
#define MEAN_SCHEMA     18
#define INTERVAL_SCHEMA 19
// The schema since which the slope of the watts is that of the readings (measurement_window_slope).
#define SLOPE_SCHEMA 17

// The seconds of which a record of that schema gives the rate.
static double step_of(const struct measurement *result, int schema) {
  const double mean_s =
      schema >= MEAN_SCHEMA && timing_is_told(result) ? timing_step_mean(result) : (double)NAN;
  return isnan(mean_s) ? result->step_seconds : mean_s;
}

static double prompt_of(const struct measurement_prefill *prompt, int schema) {
  const double mean_s = schema >= MEAN_SCHEMA ? timing_prompt_mean(prompt) : (double)NAN;
  return isnan(mean_s) ? prompt->seconds : mean_s;
}

static const char *wrong_prompts(const struct measurement *result, int schema) {
  for (size_t i = 0; i < result->prefill_count; i++) {
    const struct measurement_prefill *prompt = &result->prefills[i];
    if (prompt->positions > result->context || prompt->chunk > prompt->positions)
      return "a prompt is longer than the context, or a chunk longer than its prompt";
    const double seconds = prompt_of(prompt, schema);
    if (!(prompt->seconds > 0) ||
        !(fabs(prompt->tokens_per_s * seconds / prompt->positions - 1) <= 1e-9))
      return "a prompt's tokens_per_s is not positions / seconds";
    if (prompt->ci95_low_s > seconds || prompt->ci95_high_s < seconds)
      return "a prompt's seconds lie outside their own interval";
  }
  for (size_t i = 0; i < result->mixed_count; i++) {
    const struct measurement_mixed *mixed = &result->mixed[i];
    const double apart = (mixed->steps_s + mixed->chunk_s) / mixed->mixed_s - 1;
    if (!(fabs(mixed->sum_error - apart) <= 1e-9 * (1 + fabs(apart))))
      return "a mixed step's sum_error is not that of its times";
  }
  return NULL;
}

// The probe does not write figures that contradict each other.
static void check_result(const struct measurement *result, size_t i, int schema,
                         struct diagnostics *diagnostics) {
  const char *wrong = NULL;
  if (!(result->step_seconds > 0) || !(result->tokens_per_s > 0))
    wrong = "tokens_per_s and step_seconds must be above 0";
  else if (fabs(result->tokens_per_s * step_of(result, schema) / result->batch - 1) > 1e-9)
    wrong = schema < MEAN_SCHEMA ? "tokens_per_s is not batch / step_seconds"
                                 : "tokens_per_s is not batch / the mean step";
  else if (result->ci95_low > result->tokens_per_s || result->ci95_high < result->tokens_per_s)
    wrong = "tokens_per_s lies outside its own interval";
  else if (result->grade == GRADE_MEASURED &&
           (!result->whole_model || result->slice_count || result->flags.cache_resident ||
            result->shard.of > 1))
    wrong = "slices, a part of a model and a cache-resident model are never graded measured";
  else if (result->whole_model && !result->slice_count &&
           result->layers_measured != result->model.layers)
    wrong = "some layers without slices are not a whole model";
  else if (result->shard.of > 1 && result->whole_model && isnan(result->shard.all_reduce_s))
    wrong = "a rank's share is not a whole model without the time of an all-reduce";
  else if (result->share_count && result->share_count != result->sample_count)
    wrong = "shares and samples differ in number";
  else if (result->tensor_parallel.member_count != (size_t)result->tensor_parallel.devices)
    wrong = "tensor_parallel.members and tensor_parallel.devices differ in number";
  else if (result->tensor_parallel.devices > 1 && result->shard.of > 1)
    wrong = "a result is of several devices or of one rank's share, not of both";
  else if (result->model.experts.count == 0 && *result->routing.policy)
    wrong = "a model without experts has no routing";
  else if (result->model.experts.chosen > result->model.experts.count)
    wrong = "more experts per token than experts";
  else if (result->routing.touched > (double)result->model.experts.count * result->model.layers)
    wrong = "more experts touched than the model has";
  else if (result->verification.max_error > result->verification.tolerance)
    wrong = "the kernels did not pass their verification";
  else if (!(wrong = wrong_prompts(result, schema)))
    wrong = wrong_readings(result);
  if (wrong)
    diagnostics_error(diagnostics, result->place, "results[%zu]: %s", i, wrong);
}

// ---- records of older schemas

static void restate_prompts(struct measurement *result, struct arena *arena) {
  struct measurement_prefill *prompts = arena_array(arena, result->prefill_count, sizeof *prompts);
  for (size_t i = 0; i < result->prefill_count; i++) {
    struct measurement_prefill told = prompts[i] = result->prefills[i];
    if (told.sample_count)
      timing_tell_prompt(&told, arena);
    if (told.seconds > 0 && isfinite(told.tokens_per_s))
      prompts[i] = told;
  }
  result->prefills = prompts;
}

// Restates the steps. If no rate follows from the samples, what the file states is left.
static void restate_steps(struct measurement *result, struct arena *arena) {
  struct measurement told = *result;
  if (!timing_is_told(result))
    return;
  timing_tell(&told, arena);
  if (isfinite(told.tokens_per_s) && told.step_seconds > 0)
    *result = told;
}

// The line through the readings, as the probe draws it now.
static void restate_slope(struct measurement *result, struct arena *arena) {
  const double slope = measurement_window_slope(&result->readings.load, arena);
  if (isnan(slope))
    return;
  result->power_slope_w_per_s = slope;
  result->flags.thermal_unsettled =
      fabs(slope) * result->energy_window_s > MAX_POWER_CHANGE * result->load_power_w;
}

// Restates what follows from a record's own samples and readings by today's formulas, so that
// records of all schemas can be compared.
static void restate(struct measurement *result, int schema, struct arena *arena) {
  if (schema < SLOPE_SCHEMA)
    restate_slope(result, arena);
  if (schema < INTERVAL_SCHEMA) {
    restate_prompts(result, arena);
    restate_steps(result, arena);
  }
  if (schema >= MEAN_SCHEMA)
    return;
  if (isnan(result->window_tokens_per_s))
    result->joules_per_token =
        (result->shard.of > 1 ? result->shard.of : 1) * result->load_power_w / result->tokens_per_s;
  else
    result->flags.window_differs = measurement_window_differs(result);
}

struct measurement_record *measurement_of_json(const json_t *object, const struct source *source,
                                               struct arena *arena,
                                               struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  struct measurement_record *record = arena_alloc(arena, sizeof *record);
  if (record_of_json(&measurement_form, object, source, record, &record->digest, arena,
                     diagnostics))
    return NULL;
  const int schema = (int)json_integer_value(json_object_get(object, "schema"));
  record->source = source;
  record->path = source->name;
  for (size_t i = 0; i < record->count; i++) {
    record->results[i].record = record;
    record->results[i].place = (struct place){source, 0, 0};
    check_result(&record->results[i], i, schema, diagnostics);
    if (diagnostics->errors == errors)
      restate(&record->results[i], schema, arena);
  }
  return diagnostics->errors > errors ? NULL : record;
}

struct measurement_record *measurement_read(const char *path, struct arena *arena,
                                            struct diagnostics *diagnostics) {
  const struct source *source;
  json_t *object = json_in_read(path, "expected a complete measurement record in JSON", &source,
                                arena, diagnostics);
  if (!object)
    return NULL;
  struct measurement_record *record = measurement_of_json(object, source, arena, diagnostics);
  json_decref(object);
  return record;
}

int measurement_write(struct measurement_record *record, const char *path, struct arena *arena,
                      struct diagnostics *diagnostics) {
  if (record_write(&measurement_form, record, &record->digest, path, arena, diagnostics))
    return -1;
  record->path = arena_copy(arena, path);
  return 0;
}
