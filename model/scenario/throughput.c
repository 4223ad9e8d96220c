#include "model/scenario/throughput.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/catalog.h"
#include "model/evidence/curve.h"
#include "model/evidence/evidence.h"
#include "model/evidence/grade.h"
#include "model/evidence/measurement.h"
#include "model/evidence/production.h"
#include "model/evidence/projection.h"
#include "model/evidence/published_curve.h"
#include "model/evidence/recorded.h"
#include "model/evidence/records.h"
#include "model/evidence/served.h"
#include "model/evidence/workload.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// An option and what is said of where its throughput comes from.
struct sources {
  struct resolving *resolving;
  struct option *option;
  const struct scenario *scenario;
  struct arena *arena;
  const struct ini_key *evidence, *record, *projection; // NULL: not said
  struct evidence_request request;                      // of a published throughput
  struct served_request served;                         // of a server's
  int throughput, decode;                               // declarations
};

// Of an input in the base case; 0 where it has none.
static double tokens_of(const struct resolving *resolving, const char *input) {
  const int d = model_find(resolving->scenario->model, input);
  return resolving_has(resolving, d) ? resolving->option->figures[d]->value : 0;
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
                                 .output_tokens = tokens_of(resolving, "output_tokens")};
}

static struct sources sources_of(struct resolving *resolving) {
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

static const struct lack nothing_lacks = {.kind = LACK_NONE};

// Evidence that is not there (`why` NULL: it is), at the selection that named it or at the option.
static struct lack lack_of(const struct sources *sources, int selection, const char *why) {
  const struct resolving *resolving = sources->resolving;
  const struct ini_key *key = selection_of(&resolving->selections, selection);
  if (!why)
    return nothing_lacks;
  return (struct lack){key && resolving->amended[selection] ? LACK_NAMED : LACK_EVIDENCE,
                       key ? key->value_place : sources->option->place, why};
}

// For whoever takes it, else an error.
static void report(const struct sources *sources, struct lack lack) {
  struct resolving *resolving = sources->resolving;
  if (resolving->lack)
    *resolving->lack = lack;
  else
    diagnostics_error(resolving->diagnostics, lack.place, "%s", lack.why);
}

static void fill_workload(struct resolving *resolving) {
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
}

// Decoding alone is not serving; with a prefill rate it is.
static void settle_basis(const struct resolving *resolving) {
  struct option *option = resolving->option;
  const struct model *model = resolving->scenario->model;
  option->decode_only = resolving_has(resolving, model_find(model, "decode_throughput")) &&
                        !resolving_has(resolving, model_find(model, "prefill_throughput"));
  const char **basis = &option->workload.values[WORKLOAD_BASIS];
  if (option->decode_only)
    *basis = "decode";
  else if (!**basis)
    *basis = "serving";
}

// ---- the batch, where every user is to get a rate, or an answer in time

// Whether the batch follows from a curve.
static bool chooses_batch(const struct option *option) {
  return workload_chooses_batch(&option->workload);
}

// In base units; `none` where it is not stated.
static double limit_of(const struct sources *sources, enum workload_key key, const char *unit_text,
                       double none) {
  const struct workload *workload = &sources->option->workload;
  struct diagnostics *diagnostics = sources->resolving->diagnostics;
  struct unit unit;
  double value = none;
  if (!*workload->values[key])
    return none;
  unit_parse(unit_text, workload->places[key], &unit, sources->arena, diagnostics);
  quantity_parse(workload->values[key], workload->places[key], &unit, &value, diagnostics);
  return value;
}

static struct curve_limits limits_of(const struct sources *sources) {
  return (struct curve_limits){
      rate_per_second(limit_of(sources, WORKLOAD_INTERACTIVITY, "token/s", 0)),
      rate_per_hour(limit_of(sources, WORKLOAD_TTFT, "s", INFINITY)), // hours in seconds
      rate_per_hour(limit_of(sources, WORKLOAD_TPOT, "s", INFINITY))};
}

// Of the first that is stated.
static struct place place_of_limits(const struct option *option) {
  static const enum workload_key keys[] = {WORKLOAD_INTERACTIVITY, WORKLOAD_TTFT, WORKLOAD_TPOT};
  size_t i = 0;
  while (!*option->workload.values[keys[i]])
    i++;
  return option->workload.places[keys[i]];
}

static void take_curve(const struct sources *sources, const struct curve *curve) {
  struct option *option = sources->option;
  option->curve = curve;
  option->workload.values[WORKLOAD_BATCH] =
      arena_printf(sources->arena, "%d", option->choice.batch);
}

// The place on an option's curve that its limits choose, and the batch that follows.
static struct lack choose_on_curve(const struct sources *sources, const struct curve *curve) {
  struct option *option = sources->option;
  const struct curve_limits limits = limits_of(sources);
  const char *why = curve_choose(curve, &limits, &option->choice, sources->arena);
  if (why)
    return (struct lack){LACK_RATE, place_of_limits(option), why};
  take_curve(sources, curve);
  return nothing_lacks;
}

static enum grade grade_on_curve(const struct option *option, enum grade grade) {
  const bool projected = !option->choice.is_measured && grade < GRADE_PROJECTED;
  return projected ? GRADE_PROJECTED : grade;
}

static const char *words_on_curve(const struct sources *sources, const char *source) {
  const struct option *option = sources->option;
  const struct curve *curve = option->curve;
  return arena_printf(sources->arena, "%s; %s batch %d of %g to %g for %s per user", source,
                      option->choice.is_measured ? "at" : "interpolated to", option->choice.batch,
                      curve->batch[0], curve->batch[curve->count - 1],
                      option->workload.values[WORKLOAD_INTERACTIVITY]);
}

// ---- records of the probe

static struct lack recorded_at_rate(const struct sources *sources, const char *file,
                                    struct recorded *recorded) {
  struct option *option = sources->option;
  struct curve *curve = arena_alloc(sources->arena, sizeof *curve);
  const char *why = recorded_curve(sources->scenario->records, file, option->accelerator,
                                   &option->workload, curve, recorded, sources->arena);
  const struct lack lack =
      why ? lack_of(sources, SELECT_RECORD, why) : choose_on_curve(sources, curve);
  if (lack.kind)
    return lack;
  recorded->tokens_per_s = option->choice.tokens_per_s;
  recorded->load_power_w = option->choice.load_power;
  recorded->grade = grade_on_curve(option, curve->grade);
  recorded->source =
      words_on_curve(sources, arena_printf(sources->arena, "records of %s, decode only",
                                           recorded->nearest->record->device.name));
  recorded->load_source = words_on_curve(sources, recorded->load_source);
  return nothing_lacks;
}

static struct figure recorded_figure(const struct recorded *recorded, double value,
                                     const char *source) {
  return (struct figure){.origin = ORIGIN_CATALOGUE,
                         .value = value,
                         .place = recorded->nearest->place,
                         .grade = recorded->grade,
                         .source = source,
                         .date = recorded->date};
}

// The workload as a record measured it.
static void take_workload(struct option *option, const struct measurement *measured) {
  option->workload.values[WORKLOAD_MODEL] = measured->model.id;
  option->workload.values[WORKLOAD_PRECISION] = measured->precision;
  option->workload.values[WORKLOAD_ACTIVATIONS] = recorded_precision(measured->types.activations);
  option->workload.values[WORKLOAD_KV] = recorded_precision(measured->types.kv);
}

static const char *find_record(const struct sources *sources, const char *file,
                               struct recorded *recorded) {
  const struct option *option = sources->option;
  return recorded_choose(sources->scenario->records, file, option->accelerator, &option->workload,
                         recorded, sources->arena);
}

// A record that was measured at another power limit than is asked for, or does not tell.
static struct lack lack_of_limit(const struct sources *sources, double limit_w) {
  const double wanted_w = sources->request.power_limit_w;
  if (!(wanted_w > 0) || fabs(limit_w - wanted_w) < 0.5)
    return nothing_lacks;
  return lack_of(sources, SELECT_POWER_LIMIT,
                 isnan(limit_w)
                     ? arena_printf(sources->arena,
                                    "the record of option '%s' does not tell its power limit",
                                    sources->option->id)
                     : arena_printf(sources->arena,
                                    "the record of option '%s' is of a power limit of %g W, not "
                                    "of %g W",
                                    sources->option->id, limit_w, wanted_w));
}

static struct lack choose_record(const struct sources *sources, struct recorded *recorded) {
  const char *file = sources->record ? sources->record->value : "";
  const struct lack lack =
      chooses_batch(sources->option)
          ? recorded_at_rate(sources, file, recorded)
          : lack_of(sources, SELECT_RECORD, find_record(sources, file, recorded));
  return lack.kind
             ? lack
             : lack_of_limit(sources,
                             recorded->nearest->record->environment.device_state.power_limit_w);
}

static void take_record(const struct sources *sources, const struct recorded *recorded) {
  struct resolving *resolving = sources->resolving;
  const struct model *model = sources->scenario->model;
  sources->option->record = recorded->nearest;
  take_workload(sources->option, recorded->nearest);
  resolving_fill(
      resolving, sources->decode,
      recorded_figure(recorded, rate_per_hour(recorded->tokens_per_s), recorded->source));
  if (isfinite(recorded->load_power_w)) // in place of the TDP
    resolving_fill_over(resolving, model_find(model, "load_power"), ORIGIN_CATALOGUE,
                        recorded_figure(recorded, recorded->load_power_w, recorded->load_source));
  if (isfinite(recorded->idle_power_w))
    resolving_fill(resolving, model_find(model, "idle_power"),
                   recorded_figure(recorded, recorded->idle_power_w, recorded->idle_source));
}

static void apply_record(const struct sources *sources) {
  struct recorded recorded;
  const struct lack lack = choose_record(sources, &recorded);
  if (!lack.kind) {
    take_record(sources, &recorded);
    return;
  }
  report(sources, lack);
  resolving_pretend(sources->resolving, "decode_throughput");
  resolving_pretend(sources->resolving, "load_power");
}

// ---- what a server did

static struct lack served_within_limits(const struct sources *sources,
                                        const struct served_rungs *rungs, struct served *served) {
  struct option *option = sources->option;
  const struct curve_limits limits = limits_of(sources);
  const char *why = served_within(rungs, &limits, &option->choice, served, sources->arena);
  if (why)
    return (struct lack){LACK_RATE, place_of_limits(option), why};
  if (rungs->closed)
    take_curve(sources, &rungs->curve);
  return nothing_lacks;
}

static struct lack choose_served(const struct sources *sources, struct served *served) {
  struct served_rungs *rungs = arena_alloc(sources->arena, sizeof *rungs);
  const char *batch = sources->option->workload.values[WORKLOAD_BATCH];
  const char *why = served_find(&sources->served, rungs, sources->arena);
  if (why)
    return lack_of(sources, SELECT_RECORD, why);
  if (chooses_batch(sources->option))
    return served_within_limits(sources, rungs, served);
  if (*batch)
    return lack_of(sources, SELECT_WORKLOAD + WORKLOAD_BATCH,
                   served_at(rungs, atoi(batch), served, sources->arena));
  served_most(rungs, served, sources->arena);
  return nothing_lacks;
}

static void take_served_workload(const struct sources *sources, const struct served *served) {
  const char **values = sources->option->workload.values;
  const struct served_rungs *rungs = served->rungs;
  values[WORKLOAD_MODEL] = rungs->record->model;
  values[WORKLOAD_PRECISION] = rungs->record->precision;
  values[WORKLOAD_SPECULATION] = rungs->record->speculation;
  values[WORKLOAD_BASIS] = "serving";
  values[WORKLOAD_TOKENS] = "output";
  if (!*values[WORKLOAD_CONTEXT] && isfinite(rungs->input_tokens))
    values[WORKLOAD_CONTEXT] = arena_printf(sources->arena, "%.0f", served_input_tokens(served));
}

static void apply_served(const struct sources *sources) {
  struct served *served = arena_alloc(sources->arena, sizeof *served);
  struct lack lack = choose_served(sources, served);
  if (!lack.kind)
    lack = lack_of_limit(sources, served->nearest->power.power_limit_w);
  if (lack.kind) {
    report(sources, lack);
    resolving_pretend(sources->resolving, "throughput");
    resolving_pretend(sources->resolving, "load_power");
    return;
  }
  take_served_workload(sources, served);
  sources->option->served = sources->option->served_watts = served;
  resolving_fill(sources->resolving, sources->throughput,
                 (struct figure){.origin = ORIGIN_CATALOGUE,
                                 .value = rate_per_hour(served->tokens_per_s),
                                 .place = served->place,
                                 .grade = served->grade,
                                 .source = served->source,
                                 .date = served->date});
}

// ---- published and projected figures

static struct lack published_at_rate(const struct sources *sources, struct evidence *evidence) {
  struct option *option = sources->option;
  struct curve *curve = arena_alloc(sources->arena, sizeof *curve);
  const char *why = published_curve(&sources->request, curve, evidence, sources->arena);
  const struct lack lack =
      why ? lack_of(sources, SELECT_EVIDENCE, why) : choose_on_curve(sources, curve);
  if (lack.kind)
    return lack;
  evidence->tokens_per_s = option->choice.tokens_per_s;
  evidence->load_power_w = option->choice.load_power;
  evidence->node_power_w = NAN;
  evidence->grade = grade_on_curve(option, evidence->grade);
  evidence->id =
      arena_printf(sources->arena, "%s..%s", curve->ids[0], curve->ids[curve->count - 1]);
  evidence->source = words_on_curve(sources, evidence->source);
  return nothing_lacks;
}

static struct lack choose_published(const struct sources *sources, struct evidence *evidence) {
  if (chooses_batch(sources->option))
    return published_at_rate(sources, evidence);
  return lack_of(sources, SELECT_EVIDENCE,
                 evidence_choose(&sources->request, evidence, sources->arena));
}

// False where there is none, which is reported.
static bool find_published(const struct sources *sources, struct evidence *evidence) {
  if (!catalog_table(sources->scenario->catalog, CATALOG_THROUGHPUT))
    return false;
  const struct lack lack = choose_published(sources, evidence);
  if (lack.kind)
    report(sources, lack);
  return !lack.kind;
}

static void apply_published(const struct sources *sources) {
  struct option *option = sources->option;
  struct workload *workload = &option->workload;
  // A throughput is of output tokens while serving, unless the workload says otherwise.
  if (!*workload->values[WORKLOAD_TOKENS])
    workload->values[WORKLOAD_TOKENS] = "output";
  if (!*workload->values[WORKLOAD_BASIS])
    workload->values[WORKLOAD_BASIS] = "serving";
  struct evidence *evidence = arena_alloc(sources->arena, sizeof *evidence);
  if (!find_published(sources, evidence)) {
    resolving_pretend(sources->resolving, "throughput");
    return;
  }
  for (int k = 0; k < WORKLOAD_KEYS; k++)
    if (*evidence->workload.values[k] && (k != WORKLOAD_BATCH || !option->curve))
      workload->values[k] = evidence->workload.values[k];
  option->evidence = option->watts_of = evidence;
  resolving_fill(sources->resolving, sources->throughput,
                 (struct figure){.origin = ORIGIN_CATALOGUE,
                                 .value = rate_per_hour(evidence->tokens_per_s),
                                 .place = evidence->place,
                                 .grade = evidence->grade,
                                 .source = arena_printf(sources->arena, "%s: %s", evidence->id,
                                                        evidence->source),
                                 .date = evidence->date});
}

static void apply_projection(const struct sources *sources) {
  const struct scenario *scenario = sources->scenario;
  struct option *option = sources->option;
  struct projection projection;
  const char *why =
      projection_make(scenario->records, sources->projection->value, scenario->catalog,
                      option->accelerator, &option->workload, &projection, sources->arena);
  if (why) {
    report(sources, lack_of(sources, SELECT_PROJECTION, why));
    resolving_pretend(sources->resolving, "decode_throughput");
    return;
  }
  take_workload(option, projection.from);
  resolving_fill(sources->resolving, sources->decode,
                 (struct figure){.origin = ORIGIN_CATALOGUE,
                                 .value = rate_per_hour(projection.tokens_per_s),
                                 .place = projection.from->place,
                                 .grade = GRADE_PROJECTED,
                                 .source = projection.source,
                                 .date = projection.date});
}

// ---- which of them it is

// Whether the accelerator's own decoding of the workload is measured, or published: either outranks
// what is projected from another's.
static bool has_record(const struct sources *sources) {
  struct recorded recorded;
  return !find_record(sources, "", &recorded);
}

static bool is_published(const struct sources *sources) {
  struct evidence_request request = sources->request;
  struct evidence evidence;
  request.wanted = "";
  if (strcmp(sources->option->workload.values[WORKLOAD_BASIS], "decode") != 0)
    return false;
  return catalog_table(sources->scenario->catalog, CATALOG_THROUGHPUT) &&
         !evidence_choose(&request, &evidence, sources->arena);
}

// Whether a projection counts: it does unless something outranks it, which is said.
static bool still_projected(const struct sources *sources) {
  const char *better = !sources->projection    ? NULL
                       : has_record(sources)   ? "measured"
                       : is_published(sources) ? "published"
                                               : NULL;
  if (better && !sources->resolving->amendment)
    diagnostics_warning(sources->resolving->diagnostics, sources->projection->place,
                        "the projection of option '%s' is not used: its accelerator's own figure "
                        "is %s",
                        sources->option->id, better);
  return sources->projection && !better;
}

// Whether a record speaks for the option though none is named: its device is known from records
// alone, or the workload is decoding, of which nothing is published, and its accelerator was
// measured.
static bool is_measured(const struct sources *sources) {
  const struct records *records = sources->scenario->records;
  const struct option *option = sources->option;
  const struct workload *workload = &option->workload;
  const bool decoding = !strcmp(workload->values[WORKLOAD_BASIS], "decode") ||
                        !strcmp(workload->values[WORKLOAD_SCENARIO], "decode");
  return records_of_backend(records, option->accelerator) ||
         (decoding && records_of_accelerator(records, option->accelerator));
}

// Whether a serving record speaks for the option: it is named, or nothing else is and a record of
// its accelerator and model is there. Never where decoding is asked for.
static bool is_served(const struct sources *sources) {
  const struct workload *workload = &sources->option->workload;
  if (!strcmp(workload->values[WORKLOAD_BASIS], "decode") ||
      !strcmp(workload->values[WORKLOAD_SCENARIO], "decode"))
    return false;
  if (sources->record)
    return served_named(sources->scenario->records, sources->record->value) != NULL;
  return !sources->evidence && !sources->projection && *workload->values[WORKLOAD_MODEL] &&
         served_is_there(&sources->served);
}

static bool is_stated(const struct sources *sources) {
  return resolving_has(sources->resolving, sources->throughput) ||
         resolving_has(sources->resolving, sources->decode);
}

static bool has_origin(const struct sources *sources, int declaration, enum origin origin) {
  return declaration >= 0 && sources->option->figures[declaration]->origin == origin;
}

// One that was refused where it was read: nothing more is to be said of it.
static bool has_refused_rate(const struct sources *sources) {
  static const int keys[] = {WORKLOAD_INTERACTIVITY, WORKLOAD_TTFT, WORKLOAD_TPOT};
  bool refused = false;
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    const struct ini_key *key =
        selection_of(&sources->resolving->selections, SELECT_WORKLOAD + keys[i]);
    refused |= key && !*key->value;
  }
  return refused;
}

static bool has_decoding_times(const struct sources *sources) {
  const char *const *values = sources->option->workload.values;
  return (*values[WORKLOAD_TTFT] || *values[WORKLOAD_TPOT]) && !is_served(sources) &&
         (sources->record || is_measured(sources));
}

static bool has_two_batches(const struct sources *sources) {
  return chooses_batch(sources->option) && *sources->option->workload.values[WORKLOAD_BATCH];
}

static bool has_two_records(const struct sources *sources) {
  return sources->evidence && sources->record;
}

static bool is_outranked(const struct sources *sources) {
  return sources->projection && (sources->evidence || sources->record);
}

// A case or --set may replace the evidence; the option itself is to say one or the other.
static bool states_and_names(const struct sources *sources) {
  return (sources->evidence || sources->record || sources->projection) &&
         (has_origin(sources, sources->throughput, ORIGIN_OPTION) ||
          has_origin(sources, sources->decode, ORIGIN_OPTION));
}

static bool is_typed(const struct sources *sources, const char *input) {
  const int d = model_find(sources->scenario->model, input);
  const enum origin origin = d < 0 ? ORIGIN_NONE : sources->option->figures[d]->origin;
  return origin >= ORIGIN_COMMON && origin != ORIGIN_SET && origin != ORIGIN_SET_OPTION;
}

// Watts without their tokens, or tokens without their watts.
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

// What an option cannot say together, and the first of the selections that is there is to blame.
static const struct contradiction {
  bool (*holds)(const struct sources *sources);
  int blamed[3];
  const char *what;
} contradictions[] = {
    {has_two_batches,
     {SELECT_WORKLOAD + WORKLOAD_BATCH},
     "has both batch and interactivity, ttft or tpot: these choose the batch"},
    {has_decoding_times,
     {SELECT_WORKLOAD + WORKLOAD_TTFT, SELECT_WORKLOAD + WORKLOAD_TPOT},
     "wants ttft or tpot, and records of decoding tell no times: a serving record does"},
    {has_two_records, {SELECT_RECORD}, "names both evidence and a record: give one"},
    {is_outranked,
     {SELECT_PROJECTION},
     "names a projection and evidence that outranks it: give one"},
    {states_and_names,
     {SELECT_EVIDENCE, SELECT_RECORD, SELECT_PROJECTION},
     "states a throughput and names evidence for one: give one"},
    {limits_and_states,
     {SELECT_POWER_LIMIT},
     "has power_limit, which takes watts and throughput from one record or row, and states one of "
     "them itself: give one"},
    {limits_a_projection,
     {SELECT_POWER_LIMIT},
     "has both power_limit and a projection, which is of no power limit: give one"},
};

static bool refuse(const struct sources *sources) {
  const struct selections *selections = &sources->resolving->selections;
  const struct contradiction *found = NULL;
  for (size_t i = 0; i < sizeof contradictions / sizeof contradictions[0] && !found; i++)
    if (contradictions[i].holds(sources))
      found = &contradictions[i];
  if (!found && !has_refused_rate(sources))
    return false;
  if (!is_stated(sources))
    resolving_pretend(sources->resolving, "throughput");
  if (!found)
    return true;
  const int *blamed = found->blamed;
  while (!selection_of(selections, *blamed))
    blamed++;
  struct lack lack =
      lack_of(sources, *blamed,
              arena_printf(sources->arena, "option '%s' %s", sources->option->id, found->what));
  if (*blamed < SELECT_WORKLOAD)
    lack.place = selection_of(selections, *blamed)->place;
  report(sources, lack);
  return true;
}

static bool is_typed_over(const struct sources *sources, int declaration) {
  return has_origin(sources, declaration, ORIGIN_SET) ||
         has_origin(sources, declaration, ORIGIN_SET_OPTION);
}

static void keep_published_watts(const struct sources *sources) {
  struct evidence *evidence = arena_alloc(sources->arena, sizeof *evidence);
  struct option beneath = *sources->option; // as it were without the --set
  struct sources its = *sources;
  its.option = &beneath;
  its.request.workload = &beneath.workload;
  if (!*beneath.workload.values[WORKLOAD_TOKENS])
    beneath.workload.values[WORKLOAD_TOKENS] = "output";
  if (its.request.throughputs && !choose_published(&its, evidence).kind)
    sources->option->watts_of = evidence;
}

static void keep_served_watts(const struct sources *sources) {
  struct served *served = arena_alloc(sources->arena, sizeof *served);
  struct option beneath = *sources->option;
  struct sources its = *sources;
  its.option = &beneath;
  its.served.workload = &beneath.workload;
  if (!choose_served(&its, served).kind)
    sources->option->served_watts = served;
}

// A throughput typed over with --set, as one does in a cell of the workbook: the watts of what it
// stands over stay. Where nothing fits there are none to keep.
static void keep_watts(const struct sources *sources) {
  struct recorded recorded;
  if (is_typed_over(sources, sources->throughput) && is_served(sources))
    keep_served_watts(sources);
  else if (is_typed_over(sources, sources->throughput))
    keep_published_watts(sources);
  if (!is_typed_over(sources, sources->decode) ||
      resolving_has(sources->resolving, sources->throughput) ||
      !(sources->record || is_measured(sources)))
    return;
  if (!choose_record(sources, &recorded).kind)
    take_record(sources, &recorded);
}

// A provider serves a model in a precision of its own, in its own way.
static void keep_model(struct workload *workload) {
  for (int key = 0; key < WORKLOAD_KEYS; key++)
    if (key != WORKLOAD_MODEL)
      workload->values[key] = "";
}

// Its own word, else a record where one is asked for or speaks for it, else what is published.
void throughput_apply(struct resolving *resolving) {
  const struct sources sources = sources_of(resolving);
  fill_workload(resolving);
  if (resolving->option->provider) {
    keep_model(&resolving->option->workload);
    return;
  }
  if (!refuse(&sources)) {
    if (is_stated(&sources))
      keep_watts(&sources);
    else if (still_projected(&sources))
      apply_projection(&sources);
    else if (is_served(&sources))
      apply_served(&sources);
    else if (sources.record || (sources.projection && has_record(&sources)) ||
             is_measured(&sources))
      apply_record(&sources);
    else
      apply_published(&sources);
  }
  settle_basis(resolving);
}

// ---- utilization

static const struct production *production_named(const struct records *records, const char *file) {
  for (size_t i = 0; i < records->production_count; i++) {
    const char *path = records->productions[i]->path, *slash = strrchr(path, '/');
    if (!strcmp(slash ? slash + 1 : path, file))
      return records->productions[i];
  }
  return NULL;
}

static bool differs(const char *said, const char *recorded) {
  return *said && strcmp(said, recorded) != 0;
}

// Why a record says nothing of the option, or NULL. A share of one fleet's capacity is none of
// another's.
static const char *refuse_production(const struct resolving *resolving, const char *file,
                                     const struct production *production) {
  const struct option *option = resolving->option;
  const char *const *workload = option->workload.values;
  struct arena *arena = resolving->arena;
  if (!production)
    return arena_printf(arena, "no record of production named '%s' among the --measurements", file);
  if (differs(option->accelerator, production->accelerator) ||
      differs(workload[WORKLOAD_MODEL], production->model) ||
      differs(workload[WORKLOAD_PRECISION], production->precision))
    return arena_printf(arena,
                        "'%s' is of %s in %s on %s: its utilization is not that of another "
                        "accelerator, model or precision; 'demand' carries over",
                        file, production->model, production->precision, production->accelerator);
  if (production->covered_s < PRODUCTION_DAY_S)
    return arena_printf(arena, "'%s' covers %.1f hours: utilization needs a whole day", file,
                        production->covered_s / 3600);
  return NULL;
}

// An input's value in a case, its default where nobody said one; NAN without either.
static double value_in(const struct resolving *resolving, const struct figure **figures,
                       const char *input) {
  const struct model *model = resolving->scenario->model;
  const int d = model_find(model, input);
  if (d < 0)
    return NAN;
  if (figures[d]->origin != ORIGIN_NONE)
    return figures[d]->value;
  return model->declarations[d].has_default ? model->declarations[d].default_value : NAN;
}

static const char *production_words(const struct production *production, struct arena *arena) {
  const char *hits = isnan(production->cache_hit)
                         ? ""
                         : arena_printf(arena, ", %.3g %% of input tokens from the prefix cache",
                                        100 * production->cache_hit);
  const char *peak = isnan(production->peak_over_mean)
                         ? ""
                         : arena_printf(arena, ", %.3g times that in the busiest hour",
                                        production->peak_over_mean);
  return arena_printf(arena, "%s counters: %.6g token/s over %.3g days on %d accelerators%s%s",
                      production->engine, production->output_tokens_per_s,
                      production->covered_s / PRODUCTION_DAY_S, production->accelerators, peak,
                      hits);
}

// Beside a day's profile utilization is that of the peak hour.
static double busiest_over_mean(const struct production *production) {
  double most = 0;
  for (size_t hour = 0; hour < production->day_profile_count; hour++)
    most = fmax(most, production->day_profile[hour]);
  return most > 0 ? HOURS_OF_DAY * most : 1;
}

// The utilization of a case, or NULL where it has none, and why.
static const struct figure *utilization_in(const struct resolving *resolving,
                                           const struct production *production,
                                           const struct figure **figures, const char **why) {
  const int d = model_find(resolving->scenario->model, "throughput");
  const double per_hour = value_in(resolving, figures, "throughput") *
                          value_in(resolving, figures, "availability") *
                          value_in(resolving, figures, "scaling_efficiency") *
                          value_in(resolving, figures, "delivered");
  const bool in_peak =
      resolving_has(resolving, model_find(resolving->scenario->model, "day_share_1"));
  const double share = production_utilization(production, rate_per_second(per_hour)) *
                       (in_peak ? busiest_over_mean(production) : 1);
  *why = NULL;
  if (!(per_hour > 0))
    *why = "utilization from production needs a serving throughput to be a share of";
  else if (share > 1)
    *why = arena_printf(resolving->arena,
                        "%.6g token/s were served, %.0f %% of what %d accelerators can at this "
                        "throughput: one of them is wrong",
                        production->output_tokens_per_s, 100 * share, production->accelerators);
  if (*why)
    return NULL;
  const enum grade rate_grade = figures[d]->grade;
  return resolving_keep(
      resolving, (struct figure){.origin = ORIGIN_CATALOGUE,
                                 .value = share,
                                 .place = {production->source, 0, 0},
                                 .grade = rate_grade,
                                 .source = production_words(production, resolving->arena),
                                 .date = arena_copy_n(resolving->arena, production->finished, 10)});
}

// Hits change what is left to prefill, and what a provider asks; a serving throughput contains its own.
static void fill_hits(struct resolving *resolving, const struct production *production) {
  const struct model *model = resolving->scenario->model;
  const bool counts = resolving->option->provider ||
                      resolving_has(resolving, model_find(model, "prefill_throughput"));
  if (counts && !isnan(production->cache_hit))
    resolving_fill(
        resolving, model_find(model, "cache_hit"),
        (struct figure){.origin = ORIGIN_CATALOGUE,
                        .value = production->cache_hit,
                        .place = {production->source, 0, 0},
                        .grade = GRADE_MEASURED,
                        .source = production_words(production, resolving->arena),
                        .date = arena_copy_n(resolving->arena, production->finished, 10)});
}

// A day that is said to be measured: of the option's record. Why it cannot be, or NULL.
static const char *take_day(const struct resolving *resolving, const struct figure **figures,
                            const struct production *production) {
  const int first = model_find(resolving->scenario->model, "day_share_1");
  if (first < 0 || figures[first]->origin == ORIGIN_NONE || !isnan(figures[first]->value))
    return NULL;
  const bool is_there = production && production->day_profile_count == HOURS_OF_DAY;
  for (int hour = 0; hour < HOURS_OF_DAY; hour++) {
    struct figure share = *figures[first + hour];
    share.value = is_there ? production->day_profile[hour] : 1.0 / HOURS_OF_DAY;
    if (is_there) {
      share.grade = GRADE_MEASURED;
      share.source = production_words(production, resolving->arena);
      share.date = arena_copy_n(resolving->arena, production->finished, 10);
    }
    figures[first + hour] = resolving_keep(resolving, share);
  }
  return is_there     ? NULL
         : production ? "the record has no profile of a day: not each of its hours was seen whole"
                      : "a measured day needs 'production', the record of what served";
}

// In all cases, with one error.
static void take_days(const struct resolving *resolving, const struct production *production) {
  const int first = model_find(resolving->scenario->model, "day_share_1");
  const char *why = NULL;
  for (size_t c = 0; c < resolving->scenario->case_count; c++) {
    const struct figure **figures = resolving_figures(resolving, c);
    const char *its = take_day(resolving, figures, production);
    if (its && !why)
      diagnostics_error(resolving->diagnostics, figures[first]->place, "option '%s': %s",
                        resolving->option->id, its);
    why = why ? why : its;
  }
}

// Takes the record's figures for what the option leaves open. Why it cannot, or NULL.
static const char *take_production(struct resolving *resolving,
                                   const struct production *production) {
  const struct scenario *scenario = resolving->scenario;
  const int utilization = model_find(scenario->model, "utilization");
  const char *why = NULL;
  fill_hits(resolving, production);
  for (size_t c = 0; c < scenario->case_count && !why && !resolving->option->provider; c++) {
    const struct figure **figures = resolving_figures(resolving, c);
    if (figures[utilization]->origin != ORIGIN_NONE)
      continue;
    const struct figure *figure = utilization_in(resolving, production, figures, &why);
    if (figure)
      figures[utilization] = figure;
  }
  return why;
}

void throughput_utilization(struct resolving *resolving) {
  const struct ini_key *key = selection_of(&resolving->selections, SELECT_PRODUCTION);
  if (model_find(resolving->scenario->model, "utilization") < 0)
    return;
  const struct production *production =
      key ? production_named(resolving->scenario->records, key->value) : NULL;
  const char *why = key ? refuse_production(resolving, key->value, production) : NULL;
  if (!why)
    take_days(resolving, production);
  if (key && !why)
    why = take_production(resolving, production);
  if (!why)
    return;
  diagnostics_error(resolving->diagnostics, key->value_place, "%s", why);
  resolving_pretend(resolving, "utilization");
}
