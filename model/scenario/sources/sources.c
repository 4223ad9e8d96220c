#include "model/scenario/sources/sources.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "model/catalog/columns.h"
#include "model/cost/model.h"
#include "model/evidence/catalog.h"
#include "model/evidence/workload.h"
#include "model/records/recorded.h"
#include "model/records/served_choice.h"
#include "model/scenario/figure.h"
#include "model/scenario/inputs.h"
#include "model/scenario/selection.h"

#include <math.h>
#include <stddef.h>

// An input in the base case; 0 if it has none.
static double tokens_of(const struct resolving *resolving, const char *input) {
  return resolving_figure(resolving, 0, input)->value;
}

static struct evidence_request request_of(const struct resolving *resolving) {
  const struct ini_key *evidence = selection_of(&resolving->selections, SELECT_EVIDENCE);
  const struct table *parts = catalog_glance(resolving->scenario->catalog, CATALOG_ACCELERATORS);
  const long part = parts ? catalog_find(parts, resolving->option->accelerator) : -1;
  return (struct evidence_request){
      .throughputs = catalog_glance(resolving->scenario->catalog, CATALOG_THROUGHPUT),
      .accelerator = resolving->option->accelerator,
      .vendor = part < 0 ? "" : table_cell(parts, (size_t)part, "vendor"),
      .workload = &resolving->option->workload,
      .input_tokens = tokens_of(resolving, "input_tokens"),
      .output_tokens = tokens_of(resolving, "output_tokens"),
      .power_limit_w = selection_power_limit(&resolving->selections, resolving->arena),
      .wanted = evidence ? evidence->value : ""};
}

static struct served_request served_request_of(const struct resolving *resolving) {
  const struct ini_key *record = selection_of(&resolving->selections, SELECT_RECORD);
  return (struct served_request){.records = resolving->scenario->records,
                                 .file = record ? record->value : "",
                                 .accelerator = resolving->option->accelerator,
                                 .workload = &resolving->option->workload,
                                 .input_tokens = tokens_of(resolving, "input_tokens"),
                                 .output_tokens = tokens_of(resolving, "output_tokens"),
                                 .percentile = resolving->scenario->percentile};
}

struct sources sources_of(struct resolving *resolving) {
  const struct selections *selections = &resolving->selections;
  const struct model *model = resolving->scenario->model;
  return (struct sources){.request = request_of(resolving),
                          .served = served_request_of(resolving),
                          .resolving = resolving,
                          .option = resolving->option,
                          .scenario = resolving->scenario,
                          .arena = resolving->arena,
                          .evidence = selection_of(selections, SELECT_EVIDENCE),
                          .record = selection_of(selections, SELECT_RECORD),
                          .projection = selection_of(selections, SELECT_PROJECTION),
                          .throughput = model_find(model, "throughput"),
                          .decode = model_find(model, "decode_throughput")};
}

struct lack sources_lack(const struct sources *sources, int selection, const char *why) {
  const struct resolving *resolving = sources->resolving;
  const struct ini_key *key = selection_of(&resolving->selections, selection);
  if (!why)
    return (struct lack){.kind = LACK_NONE};
  return (struct lack){key && resolving->amended[selection] ? LACK_NAMED : LACK_EVIDENCE,
                       key ? key->value_place : sources->option->place, why};
}

void sources_report(const struct sources *sources, struct lack lack) {
  struct resolving *resolving = sources->resolving;
  if (resolving->lack)
    *resolving->lack = lack;
  else
    diagnostics_error(resolving->diagnostics, lack.place, "%s", lack.why);
}

struct lack sources_lack_limit(const struct sources *sources, double limit_w) {
  const double wanted_w = sources->request.power_limit_w;
  if (!(wanted_w > 0) || fabs(limit_w - wanted_w) < 0.5)
    return (struct lack){.kind = LACK_NONE};
  return sources_lack(
      sources, SELECT_POWER_LIMIT,
      isnan(limit_w)
          ? arena_printf(sources->arena, "the record of option '%s' does not state its power limit",
                         sources->option->id)
          : arena_printf(
                sources->arena,
                "the record of option '%s' was measured at a power limit of %g W, not %g W",
                sources->option->id, limit_w, wanted_w));
}

const struct figure *sources_other_length(const struct sources *sources, size_t which_case) {
  static const char *const lengths[] = {"input_tokens", "output_tokens"};
  const struct resolving *resolving = sources->resolving;
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    const struct figure *figure = resolving_figure(resolving, which_case, lengths[i]);
    if (figure->value != tokens_of(resolving, lengths[i]))
      return figure;
  }
  return NULL;
}

struct workload sources_workload_in(const struct sources *sources, size_t which_case) {
  struct workload workload = sources->option->workload;
  const struct resolving *resolving = sources->resolving;
  const double input = resolving_figure(resolving, which_case, "input_tokens")->value;
  const double output = resolving_figure(resolving, which_case, "output_tokens")->value;
  // A context that nobody stated follows from the lengths that the base case was given.
  if (sources_other_length(sources, which_case) && !workload.places[WORKLOAD_CONTEXT].source)
    workload.values[WORKLOAD_CONTEXT] = "";
  workload.input_tokens = input > 0 ? input : workload.input_tokens;
  workload.output_tokens = output > 0 ? output : workload.output_tokens;
  return workload;
}

struct sources sources_in_case(const struct sources *sources, size_t which_case,
                               struct option *copy) {
  const struct resolving *resolving = sources->resolving;
  struct sources its = *sources;
  *copy = *sources->option;
  copy->workload = sources_workload_in(sources, which_case);
  if (copy->curve)
    copy->workload.values[WORKLOAD_BATCH] = ""; // as chosen for the base case
  its.option = copy;
  its.request.workload = its.served.workload = &copy->workload;
  its.request.input_tokens = its.served.input_tokens =
      resolving_figure(resolving, which_case, "input_tokens")->value;
  its.request.output_tokens = its.served.output_tokens =
      resolving_figure(resolving, which_case, "output_tokens")->value;
  return its;
}

void sources_check_cases(const struct sources *sources,
                         const char *(*why_not)(const struct sources *its, const void *chosen),
                         const void *chosen) {
  for (size_t c = 1; c < sources->scenario->case_count; c++) {
    const struct figure *length = sources_other_length(sources, c);
    if (!length || resolving_figure(sources->resolving, c, "throughput")->origin != ORIGIN_NONE ||
        resolving_figure(sources->resolving, c, "decode_throughput")->origin != ORIGIN_NONE)
      continue;
    struct option copy;
    const struct sources its = sources_in_case(sources, c, &copy);
    const char *why = why_not(&its, chosen);
    if (!why)
      continue;
    why = arena_printf(sources->arena, "option '%s' in case '%s': %s", sources->option->id,
                       sources->scenario->cases[c], why);
    sources_report(sources, (struct lack){LACK_EVIDENCE, length->place, why});
  }
}

struct figure sources_recorded(const struct recorded *recorded, double value, enum grade grade,
                               const char *source) {
  return figure_found(value, recorded->nearest->place, grade, source, recorded->date);
}

void sources_found_for(const struct resolving *resolving, const char *input, const char *what) {
  const int d = model_find(resolving->scenario->model, input);
  if (d >= 0 && resolving_has(resolving, d) && !resolving->scenario->finds[d])
    resolving->scenario->finds[d] =
        arena_printf(resolving->arena, "%s of %s", what, resolving->option->label);
}

void sources_found_for_lengths(const struct resolving *resolving, enum grade grade,
                               const char *what) {
  if (grade == GRADE_BENCHMARK)
    return;
  sources_found_for(resolving, "input_tokens", what);
  sources_found_for(resolving, "output_tokens", what);
}

bool sources_follow_lengths(const struct sources *sources) {
  return workload_has_lengths(&sources->option->workload) &&
         !sources->option->workload.places[WORKLOAD_CONTEXT].source;
}

bool sources_stated(const struct sources *sources) {
  return resolving_has(sources->resolving, sources->throughput) ||
         resolving_has(sources->resolving, sources->decode);
}

bool sources_origin_is(const struct sources *sources, int declaration, enum origin origin) {
  return declaration >= 0 && sources->option->figures[declaration]->origin == origin;
}

bool sources_typed_over(const struct sources *sources, int declaration) {
  return declaration >= 0 && figure_is_what_if(sources->option->figures[declaration]) &&
         !inputs_states(sources->scenario, (int)sources->resolving->number, declaration);
}

void sources_take_workload(const struct sources *sources, const struct measurement *measured) {
  const char **values = sources->option->workload.values;
  values[WORKLOAD_MODEL] = measured->model.id;
  values[WORKLOAD_PRECISION] = measured->precision;
  values[WORKLOAD_ACTIVATIONS] = recorded_precision(measured->types.activations);
  values[WORKLOAD_KV] = recorded_precision(measured->types.kv);
  values[WORKLOAD_HEAD] = recorded_precision(measured->types.head);
  if (!*values[WORKLOAD_BATCH])
    values[WORKLOAD_BATCH] = arena_printf(sources->arena, "%d", measured->batch);
  const struct workload *workload = &sources->option->workload;
  if (!*values[WORKLOAD_CONTEXT])
    values[WORKLOAD_CONTEXT] =
        arena_printf(sources->arena, "%.0f",
                     workload_has_lengths(workload) ? workload_decode_context(workload)
                                                    : (double)measured->context);
}
