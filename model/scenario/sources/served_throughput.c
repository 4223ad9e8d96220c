#include "model/scenario/sources/served_throughput.h"

#include "base/arena.h"
#include "base/source.h"
#include "model/cost/units.h"
#include "model/evidence/curve.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/records/served_choice.h"
#include "model/records/served_rungs.h"
#include "model/records/serving.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/resolving.h"
#include "model/scenario/selection.h"
#include "model/scenario/sources/user_rate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The place of the limit that is to blame, the first stated if none is alone.
static struct place missed_place(const struct option *option, const struct served_rungs *rungs,
                                 const struct curve_limits *limits) {
  const enum workload_key missed = served_missed(rungs, limits);
  return missed < WORKLOAD_KEYS && *option->workload.values[missed]
             ? option->workload.places[missed]
             : user_rate_place(option);
}

// A limit on TPOT may be met only because the figure is too low.
static void doubt_tpot(const struct sources *sources, const struct curve_limits *limits,
                       struct served *served) {
  const char *doubt = serving_chunk_doubt(served->nearest, sources->arena);
  if (isfinite(limits->tpot_s) && *doubt && !*served->doubt)
    served->doubt = arena_printf(sources->arena, "with %s, %s", served->load, doubt);
}

static struct lack served_within_limits(const struct sources *sources,
                                        const struct served_rungs *rungs, struct served *served) {
  struct option *option = sources->option;
  const struct curve_limits limits = user_rate_limits(sources);
  const char *why = served_within(rungs, &limits, &option->choice, served, sources->arena);
  if (why)
    return (struct lack){LACK_RATE, missed_place(option, rungs, &limits), why};
  doubt_tpot(sources, &limits, served);
  if (option->choice.batch)
    user_rate_take(sources, &rungs->curve);
  return (struct lack){.kind = LACK_NONE};
}

struct lack served_throughput_choose(const struct sources *sources, struct served *served) {
  struct served_rungs *rungs = arena_alloc(sources->arena, sizeof *rungs);
  const char *batch = sources->option->workload.values[WORKLOAD_BATCH];
  const char *why = served_find(&sources->served, rungs, sources->arena);
  if (why)
    return sources_lack(sources, SELECT_RECORD, why);
  if (workload_chooses_batch(&sources->option->workload))
    return served_within_limits(sources, rungs, served);
  if (*batch)
    return sources_lack(sources, SELECT_WORKLOAD + WORKLOAD_BATCH,
                        served_at(rungs, atoi(batch), served, sources->arena));
  served_most(rungs, served, sources->arena);
  return (struct lack){.kind = LACK_NONE};
}

static void take_served_workload(const struct sources *sources, const struct served *served) {
  static const enum workload_key times[] = {WORKLOAD_TTFT, WORKLOAD_TPOT};
  const char **values = sources->option->workload.values;
  const struct served_rungs *rungs = served->rungs;
  values[WORKLOAD_MODEL] = rungs->record->model;
  values[WORKLOAD_PRECISION] = rungs->record->precision;
  values[WORKLOAD_ACTIVATIONS] = rungs->record->activations;
  values[WORKLOAD_KV] = rungs->record->kv;
  values[WORKLOAD_SPECULATION] = rungs->record->speculation;
  values[WORKLOAD_BASIS] = "serving";
  values[WORKLOAD_TOKENS] = "output";
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
    if (*values[times[i]])
      sources->option->workload.percentiles[times[i]] = rungs->percentile;
  if (!*values[WORKLOAD_CONTEXT] && isfinite(rungs->input_tokens))
    values[WORKLOAD_CONTEXT] = arena_printf(sources->arena, "%.0f", served_input_tokens(served));
  if (rungs->record->grade != GRADE_BENCHMARK)
    workload_take_lengths(&sources->option->workload, rungs->input_tokens, rungs->output_tokens);
}

static const char *why_not(const struct sources *its, const void *chosen) {
  const struct served *served = chosen;
  struct served other = {0};
  const struct lack lack = served_throughput_choose(its, &other);
  if (lack.kind || (other.nearest == served->nearest && other.tokens_per_s == served->tokens_per_s))
    return lack.kind ? lack.why : NULL;
  return arena_printf(its->arena,
                      "requests of these lengths were served at another rate than those of the "
                      "base case: give '%s.throughput' in the case",
                      its->option->id);
}

void served_throughput_apply(const struct sources *sources) {
  struct served *served = arena_alloc(sources->arena, sizeof *served);
  struct lack lack = served_throughput_choose(sources, served);
  if (!lack.kind)
    lack = sources_lack_limit(sources, served->nearest->power.power_limit_w);
  if (lack.kind) {
    sources_report(sources, lack);
    resolving_pretend(sources->resolving, "throughput");
    resolving_pretend(sources->resolving, "load_power");
    return;
  }
  sources_check_cases(sources, why_not, served);
  take_served_workload(sources, served);
  sources->option->served = sources->option->served_watts = served;
  sources_found_for_lengths(sources->resolving, served->rungs->record->grade, "throughput");
  resolving_fill(sources->resolving, sources->throughput,
                 figure_found(rate_per_hour(served->tokens_per_s), served->place, served->grade,
                              served->source, served->date));
}

bool served_throughput_speaks(const struct sources *sources) {
  const struct workload *workload = &sources->option->workload;
  if (workload_is_decoding(workload))
    return false;
  if (sources->record)
    return served_named(sources->scenario->records, sources->record->value) != NULL;
  return !sources->evidence && !sources->projection && *workload->values[WORKLOAD_MODEL] &&
         served_is_there(&sources->served);
}
