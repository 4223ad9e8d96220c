#include "model/scenario/sources/contradiction.h"

#include "base/arena.h"
#include "base/ini.h"
#include "model/cost/model.h"
#include "model/evidence/workload.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/resolving.h"
#include "model/scenario/selection.h"
#include "model/scenario/sources/recorded_throughput.h"
#include "model/scenario/sources/served_throughput.h"

#include <stddef.h>

// A rate that was refused when it was read: nothing more is reported.
static bool has_refused_rate(const struct sources *sources) {
  bool refused = false;
  for (size_t i = 0; i < WORKLOAD_PER_USER; i++) {
    const struct ini_key *key =
        selection_of(&sources->resolving->selections, SELECT_WORKLOAD + (int)workload_per_user[i]);
    refused |= key && !*key->value;
  }
  return refused;
}

static bool has_decoding_times(const struct sources *sources) {
  const char *const *values = sources->option->workload.values;
  return (*values[WORKLOAD_TTFT] || *values[WORKLOAD_TPOT]) && !served_throughput_speaks(sources) &&
         (sources->record || recorded_throughput_speaks(sources));
}

static bool has_two_batches(const struct sources *sources) {
  return workload_chooses_batch(&sources->option->workload) &&
         *sources->option->workload.values[WORKLOAD_BATCH];
}

static bool has_two_records(const struct sources *sources) {
  return sources->evidence && sources->record;
}

static bool is_outranked(const struct sources *sources) {
  return sources->projection && (sources->evidence || sources->record);
}

// A case or --set may replace the evidence; the option itself must state one or the other.
static bool states_and_names(const struct sources *sources) {
  return (sources->evidence || sources->record || sources->projection) &&
         (sources_origin_is(sources, sources->throughput, ORIGIN_OPTION) ||
          sources_origin_is(sources, sources->decode, ORIGIN_OPTION));
}

static bool is_typed(const struct sources *sources, const char *input) {
  const int d = model_find(sources->scenario->model, input);
  const enum origin origin = d < 0 ? ORIGIN_NONE : sources->option->figures[d]->origin;
  return origin >= ORIGIN_COMMON && origin != ORIGIN_SET && origin != ORIGIN_SET_OPTION;
}

// Whether the option limits its power and states watts or a rate: it would mix stated watts with a
// record's throughput, or the other way round.
static bool limits_and_states(const struct sources *sources) {
  static const char *const inputs[] = {"load_power", "throughput", "decode_throughput"};
  bool stated = false;
  for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
    stated |= is_typed(sources, inputs[i]);
  return sources->request.power_limit_w > 0 && stated;
}

static bool limits_a_projection(const struct sources *sources) {
  return sources->request.power_limit_w > 0 && sources->projection;
}

// Combinations that an option cannot have; the first of the blamed selections that exists gets the
// error.
static const struct contradiction {
  bool (*holds)(const struct sources *sources);
  int blamed[3];
  const char *what;
} contradictions[] = {
    {has_two_batches,
     {SELECT_WORKLOAD + WORKLOAD_BATCH},
     "has batch along with interactivity, ttft or tpot, which determine the batch"},
    {has_decoding_times,
     {SELECT_WORKLOAD + WORKLOAD_TTFT, SELECT_WORKLOAD + WORKLOAD_TPOT},
     "sets ttft or tpot, but decoding records contain no latencies: use a serving record"},
    {has_two_records, {SELECT_RECORD}, "names both evidence and a record: give one"},
    {is_outranked,
     {SELECT_PROJECTION},
     "names a projection and evidence that outranks it: give one"},
    {states_and_names,
     {SELECT_EVIDENCE, SELECT_RECORD, SELECT_PROJECTION},
     "states a throughput and also names evidence for one: give only one"},
    {limits_and_states,
     {SELECT_POWER_LIMIT},
     "has power_limit, which takes watts and throughput from one record or row, and states one of "
     "them itself: give one"},
    {limits_a_projection,
     {SELECT_POWER_LIMIT},
     "has both power_limit and a projection, which has no power limit: give only one"},
};

bool contradiction_refuse(const struct sources *sources) {
  const struct selections *selections = &sources->resolving->selections;
  const struct contradiction *found = NULL;
  for (size_t i = 0; i < sizeof contradictions / sizeof contradictions[0] && !found; i++)
    if (contradictions[i].holds(sources))
      found = &contradictions[i];
  if (!found && !has_refused_rate(sources))
    return false;
  if (!sources_stated(sources))
    resolving_pretend(sources->resolving, "throughput");
  if (!found)
    return true;
  const int *blamed = found->blamed;
  while (!selection_of(selections, *blamed))
    blamed++;
  struct lack lack = sources_lack(
      sources, *blamed,
      arena_printf(sources->arena, "option '%s' %s", sources->option->id, found->what));
  if (*blamed < SELECT_WORKLOAD)
    lack.place = selection_of(selections, *blamed)->place;
  sources_report(sources, lack);
  return true;
}
