#include "model/scenario/sources/throughput.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/catalog/columns.h"
#include "model/cost/model.h"
#include "model/evidence/catalog.h"
#include "model/evidence/evidence.h"
#include "model/evidence/workload.h"
#include "model/records/recorded.h"
#include "model/records/served.h"
#include "model/records/served_choice.h"
#include "model/records/served_rungs.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"
#include "model/scenario/sources/contradiction.h"
#include "model/scenario/sources/offered_remedy.h"
#include "model/scenario/sources/offered_throughput.h"
#include "model/scenario/sources/projected_throughput.h"
#include "model/scenario/sources/published_throughput.h"
#include "model/scenario/sources/recorded_throughput.h"
#include "model/scenario/sources/served_throughput.h"
#include "model/scenario/sources/sources.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static void fill_workload(const struct sources *sources) {
  const struct resolving *resolving = sources->resolving;
  struct workload *workload = &resolving->option->workload;
  for (int k = 0; k < WORKLOAD_KEYS; k++) {
    const struct ini_key *key = selection_of(&resolving->selections, SELECT_WORKLOAD + k);
    workload->values[k] = key ? key->value : "";
    workload->places[k] = key ? key->value_place : nowhere;
  }
  const struct table *models = catalog_glance(resolving->scenario->catalog, CATALOG_MODELS);
  const long model = models ? catalog_find(models, workload->values[WORKLOAD_MODEL]) : -1;
  workload->shipped_precision =
      model < 0 ? "" : table_cell(models, (size_t)model, "shipped_precision");
  workload->input_tokens = fmax(sources->request.input_tokens, 0);
  workload->output_tokens = fmax(sources->request.output_tokens, 0);
}

void throughput_tally(struct resolving *resolving, struct served_tally *tally) {
  const struct sources sources = sources_of(resolving);
  const struct workload *workload = &resolving->option->workload;
  struct served_rungs rungs;
  fill_workload(&sources);
  if (!resolving->option->provider && workload_limits_times(workload) &&
      !contradiction_refuse(&sources) && !sources_stated(&sources) &&
      !projected_throughput_counts(&sources) && served_throughput_speaks(&sources) &&
      !served_find(&sources.served, &rungs, sources.arena))
    served_tally_add(tally, &rungs, workload);
}

static bool has(const struct resolving *resolving, const char *input) {
  return resolving_has(resolving, model_find(resolving->scenario->model, input));
}

// Decoding alone is not serving; with a prefill rate and request lengths it is.
static void settle_basis(const struct resolving *resolving) {
  struct option *option = resolving->option;
  const bool prefills = has(resolving, "prefill_throughput");
  const bool decodes = has(resolving, "decode_throughput");
  option->serving_estimate =
      decodes && prefills && has(resolving, "input_tokens") && has(resolving, "output_tokens");
  option->decode_only = decodes && !option->serving_estimate;
  if (option->decode_only && prefills)
    option->prefill_lack = "prefill_throughput is used only with input_tokens and output_tokens";
  const char **basis = &option->workload.values[WORKLOAD_BASIS];
  if (option->decode_only)
    *basis = "decode";
  else if (!**basis)
    *basis = "serving";
}

// The option as it would be without the rate that is stated. The copy must outlive the result.
static struct sources without_rate(const struct sources *sources, struct option *copy) {
  struct sources its = *sources;
  *copy = *sources->option;
  its.option = copy;
  its.request.workload = its.served.workload = &copy->workload;
  return its;
}

static void keep_published_watts(const struct sources *sources) {
  struct evidence *evidence = arena_alloc(sources->arena, sizeof *evidence);
  struct option beneath;
  const struct sources its = without_rate(sources, &beneath);
  if (!*beneath.workload.values[WORKLOAD_TOKENS])
    beneath.workload.values[WORKLOAD_TOKENS] = "output";
  if (its.request.throughputs && !published_throughput_choose(&its, evidence).kind)
    sources->option->watts_of = evidence;
}

static void keep_served_watts(const struct sources *sources) {
  struct served *served = arena_alloc(sources->arena, sizeof *served);
  struct option beneath;
  const struct sources its = without_rate(sources, &beneath);
  if (!served_throughput_choose(&its, served).kind)
    sources->option->served_watts = served;
}

// A what-if changes the rate alone; beside one that the scenario states, only the watts of decoding
// are the record's.
static void keep_recorded_watts(const struct sources *sources) {
  struct recorded recorded;
  struct option beneath;
  const struct sources its = without_rate(sources, &beneath);
  if (sources_typed_over(sources, sources->decode)) {
    if (!recorded_throughput_choose(sources, &recorded).kind)
      recorded_throughput_take(sources, &recorded);
  } else if (!has(sources->resolving, "prefill_throughput") &&
             !recorded_throughput_choose(&its, &recorded).kind)
    recorded_throughput_watts(sources, &recorded);
}

// A stated throughput has the watts that its offer guarantees, or that were measured in its place,
// wherever it is stated. A published row is that of a figure which a what-if replaces, and of no
// other.
static void keep_watts(const struct sources *sources) {
  const bool serves = resolving_has(sources->resolving, sources->throughput);
  const bool decodes = !serves && resolving_has(sources->resolving, sources->decode);
  if (serves && served_throughput_speaks(sources))
    keep_served_watts(sources);
  else if (decodes && (sources->record || recorded_throughput_speaks(sources)))
    keep_recorded_watts(sources);
  else if (!offered_throughput_apply(sources) && sources_typed_over(sources, sources->throughput))
    keep_published_watts(sources);
}

// A provider chooses its own precision and way of serving.
static void keep_model(struct workload *workload) {
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    if (key != WORKLOAD_MODEL)
      workload->values[key] = "";
}

static void settle_cases(const struct sources *sources) {
  const size_t count = sources->scenario->case_count;
  struct workload *workloads = arena_array(sources->arena, count, sizeof *workloads);
  for (size_t c = 0; c < count; c++) {
    workloads[c] = sources_workload_in(sources, c);
    offered_throughput_conditions(sources, c, &workloads[c]);
  }
  sources->option->workloads = workloads;
}

static void select_workload(const struct sources *sources) {
  sources->option->workload = sources->option->workloads[sources->scenario->selected];
}

// The sources count in this order: what the option states, a record if one is named or counts for
// it, its offer's guarantee, what is published.
void throughput_apply(struct resolving *resolving) {
  const struct sources sources = sources_of(resolving);
  fill_workload(&sources);
  if (resolving->option->provider) {
    keep_model(&resolving->option->workload);
    settle_cases(&sources);
    select_workload(&sources);
    return;
  }
  if (!contradiction_refuse(&sources)) {
    if (sources_stated(&sources))
      keep_watts(&sources);
    else if (projected_throughput_counts(&sources))
      projected_throughput_apply(&sources);
    else if (served_throughput_speaks(&sources))
      served_throughput_apply(&sources);
    else if (sources.record || (sources.projection && recorded_throughput_exists(&sources)) ||
             recorded_throughput_speaks(&sources))
      recorded_throughput_apply(&sources);
    else if (!offered_throughput_apply(&sources))
      published_throughput_apply(&sources);
  }
  settle_basis(resolving);
  settle_cases(&sources);
  offered_remedy_apply(&sources);
  offered_watts_apply(&sources);
  select_workload(&sources);
}
