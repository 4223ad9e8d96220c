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
#include "model/evidence/grade.h"
#include "model/evidence/measurement.h"
#include "model/evidence/projection.h"
#include "model/evidence/recorded.h"
#include "model/evidence/workload.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// An option and what is said of where its throughput comes from.
struct sources {
  struct resolving *resolving;
  struct option *option;
  const struct scenario *scenario;
  struct arena *arena;
  const struct ini_key *evidence, *record, *projection; // NULL: not said
  int throughput, decode;                               // declarations
};

static struct sources sources_of(struct resolving *resolving) {
  const struct selections *selections = &resolving->selections;
  const struct model *model = resolving->scenario->model;
  return (struct sources){.resolving = resolving,
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

// ---- the batch, where every user is to get a rate

// Whether the batch follows from a curve.
static bool chooses_batch(const struct option *option) {
  return *option->workload.values[WORKLOAD_INTERACTIVITY] != 0;
}

// The place on an option's curve that its interactivity chooses, and the batch that follows.
static struct lack choose_on_curve(const struct sources *sources, const struct curve *curve) {
  struct option *option = sources->option;
  struct diagnostics *diagnostics = sources->resolving->diagnostics;
  struct workload *workload = &option->workload;
  const struct place place = workload->places[WORKLOAD_INTERACTIVITY];
  struct unit unit;
  double target = 0;
  unit_parse("token/s", place, &unit, sources->arena, diagnostics);
  quantity_parse(workload->values[WORKLOAD_INTERACTIVITY], place, &unit, &target, diagnostics);
  const char *why = curve_choose(curve, target, &option->choice, sources->arena);
  if (why)
    return (struct lack){LACK_RATE, place, why};
  option->curve = curve;
  workload->values[WORKLOAD_BATCH] = arena_printf(sources->arena, "%d", option->choice.batch);
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
  recorded->throughput = option->choice.throughput;
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

static struct lack choose_record(const struct sources *sources, struct recorded *recorded) {
  const char *file = sources->record ? sources->record->value : "";
  if (chooses_batch(sources->option))
    return recorded_at_rate(sources, file, recorded);
  return lack_of(sources, SELECT_RECORD, find_record(sources, file, recorded));
}

static void take_record(const struct sources *sources, const struct recorded *recorded) {
  struct resolving *resolving = sources->resolving;
  const struct model *model = sources->scenario->model;
  sources->option->record = recorded->nearest;
  take_workload(sources->option, recorded->nearest);
  resolving_fill(resolving, sources->decode,
                 recorded_figure(recorded, recorded->throughput, recorded->source));
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

// ---- published and projected figures

static struct lack published_at_rate(const struct sources *sources, const struct table *throughputs,
                                     struct evidence *evidence) {
  struct option *option = sources->option;
  struct curve *curve = arena_alloc(sources->arena, sizeof *curve);
  const char *wanted_id = sources->evidence ? sources->evidence->value : "";
  const char *why = evidence_curve(throughputs, option->accelerator, &option->workload, wanted_id,
                                   curve, evidence, sources->arena);
  const struct lack lack =
      why ? lack_of(sources, SELECT_EVIDENCE, why) : choose_on_curve(sources, curve);
  if (lack.kind)
    return lack;
  evidence->throughput = option->choice.throughput;
  evidence->grade = grade_on_curve(option, evidence->grade);
  evidence->id =
      arena_printf(sources->arena, "%s..%s", curve->ids[0], curve->ids[curve->count - 1]);
  evidence->source = words_on_curve(sources, evidence->source);
  return nothing_lacks;
}

static struct lack choose_published(const struct sources *sources, const struct table *throughputs,
                                    struct evidence *evidence) {
  const struct option *option = sources->option;
  const char *wanted_id = sources->evidence ? sources->evidence->value : "";
  if (chooses_batch(option))
    return published_at_rate(sources, throughputs, evidence);
  return lack_of(sources, SELECT_EVIDENCE,
                 evidence_choose(throughputs, option->accelerator, &option->workload, wanted_id,
                                 evidence, sources->arena));
}

// False where there is none, which is reported.
static bool find_published(const struct sources *sources, struct evidence *evidence) {
  const struct table *throughputs = catalog_table(sources->scenario->catalog, CATALOG_THROUGHPUT);
  if (!throughputs)
    return false;
  const struct lack lack = choose_published(sources, throughputs, evidence);
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
  struct evidence evidence;
  if (!find_published(sources, &evidence)) {
    resolving_pretend(sources->resolving, "throughput");
    return;
  }
  for (int k = 0; k < WORKLOAD_KEYS; k++)
    if (*evidence.workload.values[k] && (k != WORKLOAD_BATCH || !option->curve))
      workload->values[k] = evidence.workload.values[k];
  option->throughput_doubt = evidence.doubt;
  resolving_fill(sources->resolving, sources->throughput,
                 (struct figure){
                     .origin = ORIGIN_CATALOGUE,
                     .value = evidence.throughput,
                     .place = evidence.place,
                     .grade = evidence.grade,
                     .source = arena_printf(sources->arena, "%s: %s", evidence.id, evidence.source),
                     .date = evidence.date});
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
                                 .value = projection.tokens_per_s *
                                          conversion_table[CONVERT_SECONDS_PER_HOUR].value,
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
  const struct option *option = sources->option;
  struct evidence evidence;
  if (strcmp(option->workload.values[WORKLOAD_BASIS], "decode") != 0)
    return false;
  const struct table *throughputs = catalog_table(sources->scenario->catalog, CATALOG_THROUGHPUT);
  return throughputs && !evidence_choose(throughputs, option->accelerator, &option->workload, "",
                                         &evidence, sources->arena);
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

static bool is_stated(const struct sources *sources) {
  return resolving_has(sources->resolving, sources->throughput) ||
         resolving_has(sources->resolving, sources->decode);
}

static bool has_origin(const struct sources *sources, int declaration, enum origin origin) {
  return declaration >= 0 && sources->option->figures[declaration]->origin == origin;
}

// One that was refused where it was read: nothing more is to be said of it.
static bool has_refused_rate(const struct sources *sources) {
  const struct ini_key *key =
      selection_of(&sources->resolving->selections, SELECT_WORKLOAD + WORKLOAD_INTERACTIVITY);
  return key && !*key->value;
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

// What an option cannot say together, and the first of the selections that is there is to blame.
static const struct contradiction {
  bool (*holds)(const struct sources *sources);
  int blamed[3];
  const char *what;
} contradictions[] = {
    {has_two_batches,
     {SELECT_WORKLOAD + WORKLOAD_BATCH},
     "has both batch and interactivity: the rate chooses the batch"},
    {has_two_records, {SELECT_RECORD}, "names both evidence and a record: give one"},
    {is_outranked,
     {SELECT_PROJECTION},
     "names a projection and evidence that outranks it: give one"},
    {states_and_names,
     {SELECT_EVIDENCE, SELECT_RECORD, SELECT_PROJECTION},
     "states a throughput and names evidence for one: give one"},
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

// A record's throughput typed over with --set, as one does in a cell of the workbook: its watts
// stay. Where no record fits there are none to keep.
static void keep_watts(const struct sources *sources) {
  const bool typed_over = has_origin(sources, sources->decode, ORIGIN_SET) ||
                          has_origin(sources, sources->decode, ORIGIN_SET_OPTION);
  struct recorded recorded;
  if (!typed_over || resolving_has(sources->resolving, sources->throughput) ||
      !(sources->record || is_measured(sources)))
    return;
  if (!choose_record(sources, &recorded).kind)
    take_record(sources, &recorded);
}

// Its own word, else a record where one is asked for or speaks for it, else what is published.
void throughput_apply(struct resolving *resolving) {
  const struct sources sources = sources_of(resolving);
  fill_workload(resolving);
  if (!refuse(&sources)) {
    if (is_stated(&sources))
      keep_watts(&sources);
    else if (still_projected(&sources))
      apply_projection(&sources);
    else if (sources.record || (sources.projection && has_record(&sources)) ||
             is_measured(&sources))
      apply_record(&sources);
    else
      apply_published(&sources);
  }
  settle_basis(resolving);
}
