#include "model/scenario/sources/offered_throughput.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/delivery/offer.h"
#include "model/delivery/offer_match.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static struct figure guaranteed(const struct resolving *resolving, const struct offer *offer,
                                const struct offer_guarantee *guarantee, double value,
                                struct place place) {
  return figure_found(value, place, GRADE_QUOTED,
                      arena_printf(resolving->arena, "%s, guarantee %s",
                                   offer_reference(offer, resolving->arena), guarantee->name),
                      offer->date);
}

static const char *what_of(const struct offer_guarantee *guarantee, const char *input) {
  if (!strcmp(input, offer_guaranteed_input(guarantee)))
    return "throughput";
  return strcmp(input, "load_power") != 0 ? "remedy" : "power";
}

void offered_set(struct resolving *resolving, size_t which_case, const struct offer *offer,
                 const struct offer_guarantee *guarantee, const char *input, double value,
                 struct place place) {
  const int d = model_find(resolving->scenario->model, input);
  const struct figure **at = d < 0 ? NULL : &resolving_figures(resolving, which_case)[d];
  if (!at || ((*at)->origin != ORIGIN_NONE && (*at)->origin != ORIGIN_CATALOGUE))
    return;
  *at = resolving_keep(resolving, guaranteed(resolving, offer, guarantee, value, place));
  if (guarantee->input_tokens > 0)
    sources_found_for_lengths(resolving, GRADE_QUOTED, what_of(guarantee, input));
}

// Watts of decoding do not belong to a throughput of serving, nor the other way round.
static bool stands_under_another(const struct sources *sources,
                                 const struct offer_guarantee *guarantee) {
  const struct resolving *resolving = sources->resolving;
  return sources_stated(sources) &&
         !resolving_has(resolving,
                        model_find(resolving->scenario->model, offer_guaranteed_input(guarantee)));
}

// The watts of a whole node include its host's, so they are not the accelerators'.
static void apply_guarantee(struct resolving *resolving, size_t which_case,
                            const struct offer *offer, const struct offer_guarantee *guarantee) {
  offered_set(resolving, which_case, offer, guarantee, offer_guaranteed_input(guarantee),
              offer_guaranteed_rate(offer, guarantee), guarantee->tokens_place);
  if (!offer->per_node && !isnan(guarantee->power_w))
    offered_set(resolving, which_case, offer, guarantee, "load_power", guarantee->power_w,
                guarantee->power_place);
}

// The conditions of a guaranteed rate, so that it is compared only with its like.
static void take_workload(struct workload *workload, const struct offer_guarantee *guarantee) {
  workload->promised = false;
  for (int key = 0; key < WORKLOAD_KEYS; key++) {
    if (*guarantee->workload.values[key])
      workload->values[key] = guarantee->workload.values[key];
    workload->percentiles[key] =
        offer_guarantee_percentile(guarantee, workload, (enum workload_key)key);
    workload->promised |= workload->percentiles[key] > 0;
  }
  workload_take_lengths(workload, guarantee->input_tokens, guarantee->output_tokens);
}

// Whether the option's rate in the case is this guarantee's: it may have been typed, or be another
// guarantee's.
static bool gives_rate(const struct sources *sources, size_t which_case, const struct offer *offer,
                       const struct offer_guarantee *guarantee) {
  const int d = model_find(sources->scenario->model, offer_guaranteed_input(guarantee));
  const struct figure *figure = resolving_figures(sources->resolving, which_case)[d];
  return figure->origin == ORIGIN_CATALOGUE && figure->place.source == offer->source;
}

void offered_throughput_conditions(const struct sources *sources, size_t which_case,
                                   struct workload *workload) {
  const struct scenario_offer *quote = option_offer(sources->scenario, sources->option, which_case);
  size_t others = 0;
  const struct offer_guarantee *guarantee =
      quote ? offer_guarantee_for(quote->offer, workload, &others) : NULL;
  if (guarantee && gives_rate(sources, which_case, quote->offer, guarantee))
    take_workload(workload, guarantee);
}

// Why a case's offer does not do beside that of the base case, or NULL.
static const char *why_not(const struct sources *sources, size_t which_case,
                           const struct scenario_offer *quote, int declaration) {
  const char *case_name = sources->scenario->cases[which_case];
  const char *input = sources->scenario->model->declarations[declaration].name;
  const char *reference = quote->offer->reference, *id = sources->option->id;
  const bool same = quote == option_offer(sources->scenario, sources->option, 0);
  const enum origin base = sources->option->figures[declaration]->origin;
  const enum origin its = resolving_figures(sources->resolving, which_case)[declaration]->origin;
  if (its == ORIGIN_NONE && base != ORIGIN_NONE && same)
    return arena_printf(sources->arena,
                        "the offer %s guarantees no '%s' for the request lengths of option '%s' in "
                        "case '%s': give '%s.%s' there",
                        reference, input, id, case_name, id, input);
  if (its == ORIGIN_NONE && base != ORIGIN_NONE)
    return arena_printf(sources->arena,
                        "the offer %s, unlike that of the base case, guarantees no '%s' for the "
                        "workload of option '%s' under the same conditions: give '%s.%s' in case "
                        "'%s'",
                        reference, input, id, id, input, case_name);
  if (its == ORIGIN_CATALOGUE && base == ORIGIN_NONE)
    return arena_printf(sources->arena,
                        "the offer %s guarantees a '%s' in case '%s', but option '%s' otherwise "
                        "has none: give '%s' or evidence for it in the option",
                        reference, input, case_name, id, input);
  return NULL;
}

// A case has the same kind of throughput as the base case.
static void check_cases(const struct sources *sources) {
  const int kinds[] = {sources->throughput, sources->decode};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    for (size_t c = 1; c < sources->scenario->case_count; c++) {
      const struct scenario_offer *quote = option_offer(sources->scenario, sources->option, c);
      const char *why = quote && kinds[i] >= 0 ? why_not(sources, c, quote, kinds[i]) : NULL;
      if (!why)
        continue;
      const struct figure *length = sources_other_length(sources, c);
      sources_report(sources,
                     (struct lack){LACK_EVIDENCE, length ? length->place : quote->place, why});
      resolving_pretend(sources->resolving, sources->scenario->model->declarations[kinds[i]].name);
      return;
    }
}

static bool lacks_rate(const struct sources *sources, size_t which_case,
                       const struct offer_guarantee *guarantee) {
  const int d = model_find(sources->scenario->model, offer_guaranteed_input(guarantee));
  return d >= 0 && resolving_figures(sources->resolving, which_case)[d]->origin == ORIGIN_NONE;
}

static const struct scenario_offer *refuse_several(const struct sources *sources, size_t which_case,
                                                   const struct scenario_offer *quote,
                                                   size_t count) {
  const struct figure *length = sources_other_length(sources, which_case);
  const char *in_case =
      length ? arena_printf(sources->arena, " in case '%s'", sources->scenario->cases[which_case])
             : "";
  diagnostics_error(sources->resolving->diagnostics, length ? length->place : quote->place,
                    "the offer %s guarantees %zu rates that match the workload of option '%s'%s: "
                    "state its batch, context, basis or scenario",
                    quote->offer->reference, count, sources->option->id, in_case);
  return quote;
}

bool offered_throughput_apply(const struct sources *sources) {
  struct resolving *resolving = sources->resolving;
  struct option *option = sources->option;
  const bool stated = sources_stated(sources);
  // A rate that the scenario itself states is for the scenario's own conditions.
  const bool replaced = !stated || sources_typed_over(sources, sources->throughput) ||
                        sources_typed_over(sources, sources->decode);
  const struct scenario_offer *refused = NULL;
  bool found = false;
  if (sources->evidence || sources->request.power_limit_w > 0)
    return false;
  for (size_t c = 0; c < resolving->scenario->case_count; c++) {
    const struct scenario_offer *quote = option_offer(resolving->scenario, option, c);
    const struct workload workload = sources_workload_in(sources, c);
    size_t others = 0;
    const struct offer_guarantee *guarantee =
        quote ? offer_guarantee_for(quote->offer, &workload, &others) : NULL;
    if (!guarantee || stands_under_another(sources, guarantee))
      continue;
    const bool open = lacks_rate(sources, c, guarantee);
    if (others && open && quote != refused)
      refused = refuse_several(sources, c, quote, others + 1);
    if (!others || open) // after an error too, so that it is the only one
      apply_guarantee(resolving, c, quote->offer, guarantee);
    if (!found && replaced)
      take_workload(&option->workload, guarantee);
    found = true;
  }
  if (found)
    check_cases(sources);
  return found;
}
