#include "model/scenario/sources/recorded_prefill.h"

#include "base/arena.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/curve.h"
#include "model/evidence/workload.h"
#include "model/records/recorded_words.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/inputs.h"
#include "model/scenario/option.h"
#include "model/scenario/resolving.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// ---- the rate for a length

// Prompts by length, each length once.
struct lengths {
  double *tokens, *seconds, *power_w;
  const struct measurement_prefill **prompts;
  size_t count;
};

static void add_length(struct lengths *lengths, const struct measurement_prefill *prompt) {
  for (size_t i = 0; i < lengths->count; i++)
    if (lengths->prompts[i]->positions == prompt->positions)
      return;
  size_t at = lengths->count++;
  for (; at > 0 && lengths->prompts[at - 1]->positions > prompt->positions; at--)
    lengths->prompts[at] = lengths->prompts[at - 1];
  lengths->prompts[at] = prompt;
}

static struct lengths lengths_of(const struct measurement *result, struct arena *arena) {
  const size_t most = result->prefill_count;
  struct lengths lengths = {.tokens = arena_array(arena, most, sizeof(double)),
                            .seconds = arena_array(arena, most, sizeof(double)),
                            .power_w = arena_array(arena, most, sizeof(double)),
                            .prompts = arena_array(arena, most, sizeof *lengths.prompts)};
  for (size_t i = 0; i < result->prefill_count; i++)
    add_length(&lengths, &result->prefills[i]);
  for (size_t i = 0; i < lengths.count; i++) {
    lengths.tokens[i] = lengths.prompts[i]->positions;
    lengths.seconds[i] =
        lengths.prompts[i]->positions / measurement_prompt_rate(lengths.prompts[i]);
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

static const char *interval(const struct measurement_prefill *prompt, struct arena *arena) {
  return recorded_interval(prompt->positions / prompt->ci95_high_s,
                           prompt->positions / prompt->ci95_low_s, prompt->window_tokens_per_s > 0,
                           arena);
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
  const struct lengths lengths = lengths_of(result, arena);
  const char *why = why_none(result, &lengths, input_tokens, arena);
  if (why)
    return why;
  const struct measurement_prefill *prompt = measured_at(&lengths, input_tokens);
  const double seconds =
      prompt ? input_tokens / measurement_prompt_rate(prompt)
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

static void put(const struct sources *sources, size_t which_case, const char *input,
                struct figure figure) {
  const int d = model_find(sources->scenario->model, input);
  const struct figure **at = d < 0 ? NULL : &resolving_figures(sources->resolving, which_case)[d];
  if (at && ((*at)->origin == ORIGIN_NONE || (*at)->origin == ORIGIN_CATALOGUE))
    *at = resolving_keep(sources->resolving, figure);
}

// The watts of decoding, in place of prefill's.
static struct figure unmetered(const struct sources *sources, const struct recorded *recorded) {
  return sources_recorded(recorded, recorded->load_power_w,
                          grade_weaker(recorded->power_grade, GRADE_PROJECTED),
                          arena_printf(sources->arena, "%s; decoding only: prefill was not metered",
                                       recorded->load_source));
}

// Whether the file states the input, in common or for the option, which is then about the whole
// load. A case or --set replaces only the record's watts of decoding, as in a cell of the workbook.
static bool file_states(const struct sources *sources, const char *input) {
  const int d = model_find(sources->scenario->model, input);
  const struct layer common = {ORIGIN_COMMON, -1, 0};
  const struct layer own = {ORIGIN_OPTION, (int)sources->resolving->number, 0};
  return inputs_said(sources->scenario->inputs, common, d) ||
         inputs_said(sources->scenario->inputs, own, d);
}

// The rate of prompts that the option's record gives in one case.
struct case_rate {
  struct prompt_rate at;
  const char *why; // there is none, in words, or NULL
};

// The rate in a case, or why the option's record cannot be used there, in words.
static const char *find_rate(const struct sources *sources, const struct recorded *recorded,
                             size_t which_case, struct prompt_rate *rate) {
  const double input_tokens =
      resolving_figure(sources->resolving, which_case, "input_tokens")->value;
  if (!(input_tokens > 0) ||
      !(resolving_figure(sources->resolving, which_case, "output_tokens")->value > 0))
    return recorded->nearest->prefill_count
               ? "also has prompts: set input_tokens and output_tokens to use them"
               : "";
  return recorded_prefill_at(recorded->nearest, input_tokens, rate, sources->arena);
}

static bool is_stated(const struct sources *sources, size_t which_case) {
  const int d = model_find(sources->scenario->model, "prefill_throughput");
  return resolving_figures(sources->resolving, which_case)[d]->origin != ORIGIN_NONE;
}

// A case whose prompts were not measured does not make the base case decode only.
static void check_case(const struct sources *sources, size_t which_case, const char *why) {
  const struct figure *length = sources_other_length(sources, which_case);
  if (!length || is_stated(sources, which_case))
    return;
  why = arena_printf(sources->arena,
                     "option '%s' in case '%s': the record %s: give '%s.prefill_throughput' in "
                     "the case",
                     sources->option->id, sources->scenario->cases[which_case], why,
                     sources->option->id);
  sources_report(sources, (struct lack){LACK_EVIDENCE, length->place, why});
}

// Takes the watts of prompts. If they were measured in any case, they are an input of their own in
// all cases, including one that states the rate of prompts of an unmeasured length.
static void take_powers(const struct sources *sources, const struct recorded *recorded,
                        const struct case_rate *rates) {
  const size_t cases = sources->scenario->case_count;
  bool metered = false;
  for (size_t c = 0; c < cases; c++)
    metered |= !rates[c].why && isfinite(rates[c].at.load_power_w);
  if (!isfinite(recorded->load_power_w) || file_states(sources, "load_power"))
    return;
  for (size_t c = 0; c < cases; c++) {
    const struct prompt_rate *rate = rates[c].why ? NULL : &rates[c].at;
    if (rate || metered)
      put(sources, c, metered ? "prefill_power" : "load_power",
          rate && isfinite(rate->load_power_w)
              ? sources_recorded(&recorded[c], rate->load_power_w, rate->grade, rate->source)
              : unmetered(sources, &recorded[c]));
  }
}

static void take_rates(const struct sources *sources, const struct recorded *recorded,
                       const struct case_rate *rates) {
  for (size_t c = 0; c < sources->scenario->case_count; c++) {
    const struct prompt_rate *rate = &rates[c].at;
    if (rates[c].why)
      check_case(sources, c, rates[c].why);
    else
      put(sources, c, "prefill_throughput",
          sources_recorded(&recorded[c], rate_per_hour(rate->tokens_per_s), rate->grade,
                           rate->source));
  }
  take_powers(sources, recorded, rates);
}

void recorded_prefill_take(const struct sources *sources, const struct recorded *recorded) {
  const struct model *model = sources->scenario->model;
  const int prefill = model_find(model, "prefill_throughput");
  const size_t cases = sources->scenario->case_count;
  struct case_rate *rates = arena_array(sources->arena, cases, sizeof *rates);
  const bool stated = prefill >= 0 && resolving_has(sources->resolving, prefill);
  if (prefill < 0 || workload_is_decoding(&sources->option->workload))
    return;
  if (recorded->nearest->prefill_count && !(stated && file_states(sources, "load_power")))
    sources_found_for(sources->resolving, "input_tokens", "prefill");
  for (size_t c = 0; c < cases; c++)
    rates[c].why = find_rate(sources, &recorded[c], c, &rates[c].at);
  const char *why = rates[0].why;
  if (!why)
    take_rates(sources, recorded, rates);
  else if (!stated)
    sources->option->prefill_lack = *why ? arena_printf(sources->arena, "the record %s", why) : "";
}
