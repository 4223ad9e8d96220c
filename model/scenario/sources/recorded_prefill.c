#include "model/scenario/sources/recorded_prefill.h"

#include "base/arena.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/curve.h"
#include "model/evidence/workload.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/resolving.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_LENGTHS = 64 };

// ---- the rate for a length

// Prompts by length, each length once.
struct lengths {
  double tokens[MAX_LENGTHS], seconds[MAX_LENGTHS], power_w[MAX_LENGTHS];
  const struct measurement_prefill *prompts[MAX_LENGTHS];
  size_t count;
};

static void add_length(struct lengths *lengths, const struct measurement_prefill *prompt) {
  size_t at = lengths->count;
  for (size_t i = 0; i < lengths->count; i++)
    if (lengths->prompts[i]->positions == prompt->positions)
      return;
  if (lengths->count == MAX_LENGTHS)
    return;
  lengths->count++;
  for (; at > 0 && lengths->prompts[at - 1]->positions > prompt->positions; at--)
    lengths->prompts[at] = lengths->prompts[at - 1];
  lengths->prompts[at] = prompt;
}

static struct lengths lengths_of(const struct measurement *result) {
  struct lengths lengths = {.count = 0};
  for (size_t i = 0; i < result->prefill_count; i++)
    add_length(&lengths, &result->prefills[i]);
  for (size_t i = 0; i < lengths.count; i++) {
    lengths.tokens[i] = lengths.prompts[i]->positions;
    lengths.seconds[i] = lengths.prompts[i]->seconds;
    lengths.power_w[i] = lengths.prompts[i]->load_power_w;
  }
  return lengths;
}

// The prompt of a length, or NULL.
static const struct measurement_prefill *measured_at(const struct lengths *lengths, double tokens) {
  for (size_t i = 0; i < lengths->count; i++)
    if (lengths->tokens[i] == tokens)
      return lengths->prompts[i];
  return NULL;
}

// ", 95 % within 130 and 141 token/s", or "".
static const char *interval(const struct measurement_prefill *prompt, struct arena *arena) {
  if (isnan(prompt->ci95_low_s))
    return "";
  return arena_printf(arena, ", 95 %% within %.4g and %.4g token/s",
                      prompt->positions / prompt->ci95_high_s,
                      prompt->positions / prompt->ci95_low_s);
}

static const char *words(const struct measurement *result, const struct lengths *lengths,
                         double tokens, struct arena *arena) {
  const struct measurement_prefill *prompt = measured_at(lengths, tokens);
  const char *how =
      prompt ? arena_printf(arena, "in chunks of %d%s", prompt->chunk, interval(prompt, arena))
             : arena_printf(arena, "interpolated between those of %g to %g", lengths->tokens[0],
                            lengths->tokens[lengths->count - 1]);
  return arena_printf(arena, "record %s: %s, prompts of %g tokens alone on the device, %s; %s%s",
                      source_file_name(result->record->path), result->record->device.name, tokens,
                      how, prompt ? prompt->library : result->prefills[0].library,
                      measurement_is_unsteady(&result->flags) ? "; unsteady" : "");
}

static const char *why_none(const struct measurement *result, const struct lengths *lengths,
                            double tokens, struct arena *arena) {
  if (!lengths->count)
    return "has no prompts: pertoken-probe run --prefill measures them";
  if (result->layers_measured != result->model.layers || result->shard.of > 1)
    return "measured its prompts on only part of the model";
  const double shortest = lengths->tokens[0], longest = lengths->tokens[lengths->count - 1];
  if (tokens >= shortest && tokens <= longest)
    return NULL;
  return arena_printf(arena, "measured prompts of %g%s tokens, not of %g", shortest,
                      longest > shortest ? arena_printf(arena, " to %g", longest) : "", tokens);
}

const char *recorded_prefill_at(const struct measurement *result, double input_tokens,
                                struct prompt_rate *out, struct arena *arena) {
  const struct lengths lengths = lengths_of(result);
  const char *why = why_none(result, &lengths, input_tokens, arena);
  if (why)
    return why;
  const struct measurement_prefill *prompt = measured_at(&lengths, input_tokens);
  const double seconds =
      prompt ? prompt->seconds
             : curve_interpolate(lengths.tokens, lengths.seconds, lengths.count, input_tokens);
  const double power_w =
      prompt && isfinite(prompt->load_power_w)
          ? prompt->load_power_w
          : curve_interpolate(lengths.tokens, lengths.power_w, lengths.count, input_tokens);
  *out = (struct prompt_rate){
      .tokens_per_s = input_tokens / seconds / measurement_devices(result),
      .load_power_w = power_w / measurement_metered_devices(result),
      .grade = prompt ? result->grade : grade_weaker(result->grade, GRADE_PROJECTED),
      .source = words(result, &lengths, input_tokens, arena),
  };
  return NULL;
}

const char *recorded_prefill_caveat(const struct measurement *result, struct arena *arena) {
  double lowest = INFINITY, highest = -INFINITY;
  for (size_t i = 0; i < result->mixed_count; i++) {
    lowest = fmin(lowest, result->mixed[i].sum_error);
    highest = fmax(highest, result->mixed[i].sum_error);
  }
  if (!result->mixed_count)
    return "the error of this sum was not measured with prefill and decoding in one step";
  const char *range = highest > lowest ? arena_printf(arena, " to %+.3g", 100 * highest) : "";
  return arena_printf(arena, "on the record's device such a sum was off by %+.3g%s %%",
                      100 * lowest, range);
}

// ---- an option's

// The time of the option's requests in one case.
struct request {
  double input_tokens, output_tokens; // 0: not stated
  double work;                        // share of the input that is not in a cache
  double decode_tokens_per_s;
};

static double amount(const struct sources *sources, size_t which_case, const char *input) {
  const int d = model_find(sources->scenario->model, input);
  return d < 0 ? 0 : resolving_figures(sources->resolving, which_case)[d]->value;
}

static struct request request_of(const struct sources *sources, size_t which_case) {
  const double hits = amount(sources, which_case, "cache_hit");
  return (struct request){
      .input_tokens = amount(sources, which_case, "input_tokens"),
      .output_tokens = amount(sources, which_case, "output_tokens"),
      .work = 1 - hits + hits * amount(sources, which_case, "cached_work"),
      .decode_tokens_per_s = rate_per_second(amount(sources, which_case, "decode_throughput")),
  };
}

// The power of prefill and decoding, weighted by the time that each takes of a request.
static struct figure weigh_power(const struct sources *sources, const struct recorded *recorded,
                                 const struct request *request, const struct prompt_rate *rate) {
  const double reading_s = request->input_tokens * request->work / rate->tokens_per_s;
  const double decoding_s = request->output_tokens / request->decode_tokens_per_s;
  const double share = reading_s / (reading_s + decoding_s);
  const bool metered = isfinite(rate->load_power_w);
  const char *how =
      metered
          ? arena_printf(sources->arena,
                         "prefill %.4g W for %.3g %% of the time, decoding %.4g W, with requests "
                         "of %g tokens in, %g out",
                         rate->load_power_w, 100 * share, recorded->load_power_w,
                         request->input_tokens, request->output_tokens)
          : "decoding only: prefill was not metered";
  return (struct figure){
      .origin = ORIGIN_CATALOGUE,
      .value = metered ? share * rate->load_power_w + (1 - share) * recorded->load_power_w
                       : recorded->load_power_w,
      .place = recorded->nearest->place,
      .grade = grade_weaker(grade_weaker(recorded->power_grade, rate->grade), GRADE_PROJECTED),
      .source = arena_printf(sources->arena, "%s; %s", recorded->load_source, how),
      .date = recorded->date};
}

static void put(const struct sources *sources, size_t which_case, const char *input,
                struct figure figure) {
  const int d = model_find(sources->scenario->model, input);
  const struct figure **at = d < 0 ? NULL : &resolving_figures(sources->resolving, which_case)[d];
  if (at && ((*at)->origin == ORIGIN_NONE || (*at)->origin == ORIGIN_CATALOGUE))
    *at = resolving_keep(sources->resolving, figure);
}

static void take_in_case(const struct sources *sources, const struct recorded *recorded,
                         size_t which_case) {
  const struct request request = request_of(sources, which_case);
  struct prompt_rate rate;
  if (recorded_prefill_at(recorded->nearest, request.input_tokens, &rate, sources->arena))
    return;
  put(sources, which_case, "prefill_throughput",
      (struct figure){.origin = ORIGIN_CATALOGUE,
                      .value = rate_per_hour(rate.tokens_per_s),
                      .place = recorded->nearest->place,
                      .grade = rate.grade,
                      .source = rate.source,
                      .date = recorded->date});
  if (isfinite(recorded->load_power_w))
    put(sources, which_case, "load_power", weigh_power(sources, recorded, &request, &rate));
}

static bool is_asked(const struct sources *sources) {
  const struct model *model = sources->scenario->model;
  const char *const *values = sources->option->workload.values;
  return model_find(model, "prefill_throughput") >= 0 &&
         !resolving_has(sources->resolving, model_find(model, "prefill_throughput")) &&
         strcmp(values[WORKLOAD_BASIS], "decode") != 0 &&
         strcmp(values[WORKLOAD_SCENARIO], "decode") != 0;
}

// Why an option's record cannot be used in a case, in words, or NULL.
static const char *why_not(const struct sources *sources, const struct recorded *recorded,
                           size_t which_case) {
  const struct request request = request_of(sources, which_case);
  struct prompt_rate rate;
  if (!(request.input_tokens > 0) || !(request.output_tokens > 0))
    return recorded->nearest->prefill_count
               ? "also has prompts: set input_tokens and output_tokens to use them"
               : "";
  return recorded_prefill_at(recorded->nearest, request.input_tokens, &rate, sources->arena);
}

static bool is_stated(const struct sources *sources, size_t which_case) {
  const int d = model_find(sources->scenario->model, "prefill_throughput");
  return resolving_figures(sources->resolving, which_case)[d]->origin != ORIGIN_NONE;
}

// A case whose prompts were not measured does not make the base case decode only.
static void check_cases(const struct sources *sources, const struct recorded *recorded) {
  for (size_t c = 1; c < sources->scenario->case_count; c++) {
    const struct figure *length = sources_other_length(sources, c);
    const char *why = length && !is_stated(sources, c) ? why_not(sources, recorded, c) : NULL;
    if (!why)
      continue;
    why = arena_printf(sources->arena,
                       "option '%s' in case '%s': the record %s: give '%s.prefill_throughput' in "
                       "the case",
                       sources->option->id, sources->scenario->cases[c], why, sources->option->id);
    sources_report(sources, (struct lack){LACK_EVIDENCE, length->place, why});
  }
}

void recorded_prefill_take(const struct sources *sources, const struct recorded *recorded) {
  if (!is_asked(sources))
    return;
  const char *why = why_not(sources, recorded, 0);
  if (why) {
    sources->option->prefill_lack = *why ? arena_printf(sources->arena, "the record %s", why) : "";
    return;
  }
  check_cases(sources, recorded);
  for (size_t c = 0; c < sources->scenario->case_count; c++)
    take_in_case(sources, recorded, c);
}
