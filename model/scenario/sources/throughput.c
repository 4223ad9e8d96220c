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
#include "model/scenario/figure.h"
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
    workload->places[k] = key ? key->value_place : (struct place){0};
  }
  const struct table *models = catalog_glance(resolving->scenario->catalog, CATALOG_MODELS);
  const long model = models ? catalog_find(models, workload->values[WORKLOAD_MODEL]) : -1;
  workload->shipped_precision =
      model < 0 ? "" : table_cell(models, (size_t)model, "shipped_precision");
  workload->input_tokens = fmax(sources->request.input_tokens, 0);
  workload->output_tokens = fmax(sources->request.output_tokens, 0);
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

static bool is_typed_over(const struct sources *sources, int declaration) {
  return sources_origin_is(sources, declaration, ORIGIN_SET) ||
         sources_origin_is(sources, declaration, ORIGIN_SET_OPTION);
}

static void keep_published_watts(const struct sources *sources) {
  struct evidence *evidence = arena_alloc(sources->arena, sizeof *evidence);
  struct option beneath = *sources->option; // as it would be without the --set
  struct sources its = *sources;
  its.option = &beneath;
  its.request.workload = &beneath.workload;
  if (!*beneath.workload.values[WORKLOAD_TOKENS])
    beneath.workload.values[WORKLOAD_TOKENS] = "output";
  if (its.request.throughputs && !published_throughput_choose(&its, evidence).kind)
    sources->option->watts_of = evidence;
  if (sources->option->watts_of)
    sources_found_for_lengths(sources->resolving, evidence->grade);
}

static void keep_served_watts(const struct sources *sources) {
  struct served *served = arena_alloc(sources->arena, sizeof *served);
  struct option beneath = *sources->option;
  struct sources its = *sources;
  its.option = &beneath;
  its.served.workload = &beneath.workload;
  if (served_throughput_choose(&its, served).kind)
    return;
  sources->option->served_watts = served;
  sources_found_for_lengths(sources->resolving, served->rungs->record->grade);
}

// A throughput overridden with --set, as in a cell of the workbook, keeps the watts of the figure
// that it replaces, if there is one.
static void keep_watts(const struct sources *sources) {
  struct recorded recorded;
  if (is_typed_over(sources, sources->throughput) && served_throughput_speaks(sources))
    keep_served_watts(sources);
  else if (is_typed_over(sources, sources->throughput) && !offered_throughput_apply(sources))
    keep_published_watts(sources);
  if (!is_typed_over(sources, sources->decode) ||
      resolving_has(sources->resolving, sources->throughput))
    return;
  if (!sources->record && !recorded_throughput_speaks(sources))
    offered_throughput_apply(sources);
  else if (!recorded_throughput_choose(sources, &recorded).kind)
    recorded_throughput_take(sources, &recorded);
}

// A provider chooses its own precision and way of serving.
static void keep_model(struct workload *workload) {
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    if (key != WORKLOAD_MODEL)
      workload->values[key] = "";
}

// In this order: what the option states, a record if one is named or counts for it, its offer's
// guarantee, what is published.
void throughput_apply(struct resolving *resolving) {
  const struct sources sources = sources_of(resolving);
  fill_workload(&sources);
  if (resolving->option->provider) {
    keep_model(&resolving->option->workload);
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
  offered_remedy_apply(&sources);
}
