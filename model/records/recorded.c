#include "model/records/recorded.h"

#include "base/arena.h"
#include "base/source.h"
#include "model/evidence/curve.h"
#include "model/evidence/grade.h"
#include "model/records/record_device.h"
#include "model/records/recorded_words.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct query {
  const struct records *records;
  const char *file, *accelerator;
  const struct workload *workload;
  struct arena *arena;
  const struct measurement **fitting; // of the model and precision; the best of those alike
  size_t count;
};

static bool record_counts(const struct query *query, const struct measurement_record *record) {
  if (*query->file)
    return !strcmp(source_file_name(record->path), query->file);
  return records_is_of_accelerator(query->records, record, query->accelerator);
}

// The rank of a result, of which lower is better: few devices rather than many, and all of them
// measured rather than the share of one.
static int kind_of(const struct measurement *result) {
  return 2 * measurement_devices(result) + (result->shard.of > 1);
}

// A model on one device is better evidence for that device than a share; and curves must be of one
// kind.
static void keep_fewest_ranks(struct query *query) {
  int fewest = INT_MAX;
  size_t kept = 0;
  for (size_t i = 0; i < query->count; i++)
    fewest = kind_of(query->fitting[i]) < fewest ? kind_of(query->fitting[i]) : fewest;
  for (size_t i = 0; i < query->count; i++)
    if (kind_of(query->fitting[i]) == fewest)
      query->fitting[kept++] = query->fitting[i];
  query->count = kept;
}

static double limit_of(const struct measurement *result) {
  return result->record->environment.device_state.power_limit_w;
}

// Whether a result counts rather than another. Each comes with the grade of the figure that it
// gives: the one at the higher power limit counts, if their records state it, else the better
// grade, else the newer one.
static bool goes_before(const struct measurement *result, enum grade grade,
                        const struct measurement *other, enum grade other_grade) {
  const double limit_w = limit_of(result), other_w = limit_of(other);
  if (limit_w > other_w || limit_w < other_w)
    return limit_w > other_w;
  if (grade != other_grade)
    return grade < other_grade;
  return strcmp(result->finished, other->finished) > 0;
}

// Whether two results are of one model in the same precisions, and so on one curve.
static bool is_same_model(const struct measurement *a, const struct measurement *b) {
  return !strcmp(a->model.id, b->model.id) && !strcmp(a->precision, b->precision) &&
         !strcmp(a->types.activations, b->types.activations) && !strcmp(a->types.kv, b->types.kv) &&
         !strcmp(a->types.head, b->types.head);
}

static bool is_alike(const struct measurement *a, const struct measurement *b) {
  return a->batch == b->batch && a->context == b->context && kind_of(a) == kind_of(b) &&
         is_same_model(a, b);
}

static void add_fitting(struct query *query, const struct measurement *result) {
  for (size_t i = 0; i < query->count; i++) {
    const struct measurement *other = query->fitting[i];
    if (!is_alike(other, result))
      continue;
    if (goes_before(result, result->grade, other, other->grade))
      query->fitting[i] = result;
    return;
  }
  query->fitting =
      arena_room(query->arena, query->fitting, query->count, sizeof(struct measurement *));
  query->fitting[query->count++] = result;
}

static const char *wanted(const struct query *query, enum workload_key key) {
  return query->workload->values[key];
}

static bool is_wanted(const struct query *query, enum workload_key key, const char *value) {
  return !*wanted(query, key) || !strcmp(wanted(query, key), value);
}

static const char *why_no_record(const struct query *query) {
  const char *device = *query->file ? NULL : records_unknown_device(query->records);
  if (device)
    return arena_printf(query->arena,
                        "no record of %s; data/ does not identify the accelerator '%s': name its "
                        "file with record = FILE",
                        query->accelerator, device);
  return arena_printf(query->arena, "no record %s%s: see --measurements%s",
                      *query->file ? "named " : "of ",
                      *query->file ? query->file : query->accelerator,
                      records_name_hint(query->file, query->arena));
}

// A file that is named counts whatever its device is, unless the device is known to be another
// accelerator.
static const char *why_not_its_own(const struct query *query,
                                   const struct measurement_record *record) {
  const char *known = records_accelerator(query->records, record);
  if (!known || records_is_of_accelerator(query->records, record, query->accelerator))
    return NULL;
  return arena_printf(query->arena, "record '%s' is for '%s' (%s), not '%s'",
                      source_file_name(record->path), known, record->device.name,
                      query->accelerator);
}

const char *recorded_precision(const char *element) {
  if (!strcmp(element, "e4m3"))
    return "fp8";
  return strcmp(element, "f32") ? element : "fp32";
}

static bool is_fitting(const struct query *query, const struct measurement *result) {
  return is_wanted(query, WORKLOAD_MODEL, result->model.id) &&
         is_wanted(query, WORKLOAD_PRECISION, result->precision) &&
         is_wanted(query, WORKLOAD_ACTIVATIONS, recorded_precision(result->types.activations)) &&
         is_wanted(query, WORKLOAD_KV, recorded_precision(result->types.kv)) &&
         is_wanted(query, WORKLOAD_HEAD, recorded_precision(result->types.head)) &&
         is_wanted(query, WORKLOAD_SPARSITY, "dense");
}

// ", activations bf16, kv fp8", as far as the workload states them.
static const char *other_precisions(const struct query *query) {
  static const enum workload_key keys[] = {WORKLOAD_ACTIVATIONS, WORKLOAD_KV, WORKLOAD_HEAD,
                                           WORKLOAD_SPARSITY};
  const char *text = "";
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (*wanted(query, keys[i]))
      text = arena_printf(query->arena, "%s, %s %s", text, workload_key_names[keys[i]],
                          wanted(query, keys[i]));
  return text;
}

static const char *find_fitting(struct query *query) {
  size_t seen = 0;
  for (size_t i = 0; i < query->records->count; i++) {
    const struct measurement_record *record = query->records->list[i];
    if (!record_counts(query, record))
      continue;
    seen++;
    const char *why = why_not_its_own(query, record);
    if (why)
      return why;
    for (size_t k = 0; k < record->count; k++)
      if (record->results[k].whole_model && is_fitting(query, &record->results[k]))
        add_fitting(query, &record->results[k]);
  }
  if (query->count)
    keep_fewest_ranks(query);
  if (query->count)
    return NULL;
  if (!seen)
    return why_no_record(query);
  return arena_printf(query->arena, "no record has a whole-model result of %s in %s%s",
                      wanted(query, WORKLOAD_MODEL), wanted(query, WORKLOAD_PRECISION),
                      other_precisions(query));
}

// ---- several models or precisions

// The results of the same model in the same precisions as one of them; empty if an earlier one is
// of these too.
static struct query same_model(const struct query *query, size_t first) {
  struct query same = *query;
  same.count = 0;
  same.fitting = arena_array(query->arena, query->count, sizeof(struct measurement *));
  for (size_t i = 0; i < query->count; i++) {
    if (!is_same_model(query->fitting[i], query->fitting[first]))
      continue;
    if (i < first)
      break;
    same.fitting[same.count++] = query->fitting[i];
  }
  return same;
}

// "llama-3.1-8b in fp8, activations bf16, kv bf16, head bf16 (FILE)"
static const char *model_text(const struct measurement *result, struct arena *arena) {
  const struct measurement_types *types = &result->types;
  return arena_printf(arena, "%s in %s%s%s%s%s%s%s (%s)", result->model.id, result->precision,
                      *types->activations ? ", activations " : "",
                      recorded_precision(types->activations), *types->kv ? ", kv " : "",
                      recorded_precision(types->kv), *types->head ? ", head " : "",
                      recorded_precision(types->head), source_file_name(result->record->path));
}

// The number of records that have the result, at the same power limit if they state it.
static size_t count_alike(const struct query *query, const struct measurement *result) {
  size_t count = 0;
  for (size_t i = 0; i < query->records->count; i++) {
    const struct measurement_record *record = query->records->list[i];
    bool has = false;
    for (size_t k = 0; k < record->count && record_counts(query, record); k++) {
      const struct measurement *other = &record->results[k];
      has |= other->whole_model && is_alike(other, result) &&
             !(limit_of(other) > limit_of(result) || limit_of(other) < limit_of(result));
    }
    count += has;
  }
  return count;
}

// Notes on the choice between figures of several models or precisions, the best of which is best.
static void remark_on(const struct query *query, const char *passed_over, struct recorded *best) {
  best->alike = count_alike(query, best->nearest);
  best->remark =
      *passed_over
          ? arena_printf(query->arena,
                         "matching decoding records differ in their precisions or model: %s is "
                         "used, not %s: the best grade, then the newest; model, precision, "
                         "activations, kv and head in [workload] choose another",
                         model_text(best->nearest, query->arena), passed_over)
          : "";
}

// Keeps the better of two figures, and lists the other.
static void keep_better(const struct query *query, const struct recorded *found,
                        struct recorded *best, const char **passed_over) {
  const struct recorded *other = found;
  struct recorded before = *best;
  if (!before.nearest || goes_before(found->nearest, found->grade, before.nearest, before.grade)) {
    *best = *found;
    other = &before;
  }
  if (other->nearest)
    *passed_over = arena_printf(query->arena, "%s%s%s", *passed_over, **passed_over ? "; " : "",
                                model_text(other->nearest, query->arena));
}

const char *recorded_remark(const struct recorded *recorded, struct arena *arena) {
  if (recorded->alike < 2)
    return recorded->remark;
  return arena_printf(
      arena, "of %zu matching decoding records, %s is used: the best grade, then the newest%s%s",
      recorded->alike, source_file_name(recorded->nearest->record->path),
      *recorded->remark ? "; " : "", recorded->remark);
}

// ---- one figure

static int axis_of(const struct measurement *result, enum workload_key key) {
  return key == WORKLOAD_BATCH ? result->batch : result->context;
}

// A measured context, if one is within REQUEST_LENGTHS of it, else itself.
static int nearly_measured(const struct query *query, double context) {
  const struct measurement *nearest = NULL;
  for (size_t i = 0; i < query->count; i++)
    if (!workload_lengths_differ(query->fitting[i]->context, context) &&
        (!nearest || fabs(query->fitting[i]->context - context) < fabs(nearest->context - context)))
      nearest = query->fitting[i];
  return nearest ? nearest->context : (int)fmin(round(context), INT_MAX);
}

// The required batch or context; a context follows from the lengths of requests if these are known;
// 0 if it is unset, unless all results agree on one value.
static int wanted_number(const struct query *query, enum workload_key key) {
  if (*wanted(query, key))
    return atoi(wanted(query, key));
  if (key == WORKLOAD_CONTEXT && workload_has_lengths(query->workload))
    return nearly_measured(query, workload_decode_context(query->workload));
  const int first = query->count ? axis_of(query->fitting[0], key) : 0;
  for (size_t i = 1; i < query->count; i++)
    if (axis_of(query->fitting[i], key) != first)
      return 0;
  return first;
}

static const char *measured_values(const struct query *query, enum workload_key key) {
  const char *list = "";
  for (size_t i = 0; i < query->count; i++)
    list =
        arena_printf(query->arena, "%s%s%d", list, i ? ", " : "", axis_of(query->fitting[i], key));
  return list;
}

// The rate of one of a result's devices.
static double rate_of(const struct measurement *result) {
  return measurement_rate(result) / measurement_devices(result);
}

static double load_power_of(const struct measurement *result) {
  return result->load_power_w / measurement_metered_devices(result);
}

static void fill(const struct query *query, const struct measurement *nearest,
                 struct recorded *out) {
  *out = (struct recorded){
      .nearest = nearest,
      .tokens_per_s = rate_of(nearest),
      .load_power_w = load_power_of(nearest),
      .idle_power_w = nearest->idle_power_w / measurement_metered_devices(nearest),
      .grade = nearest->grade,
      .power_grade = nearest->grade,
      .source = recorded_source(nearest, query->arena),
      .load_source = recorded_load_source(nearest, query->arena),
      .idle_source = recorded_idle_source(nearest, query->arena),
      .date = arena_copy_n(query->arena, nearest->finished, strlen("2026-11-21")),
      .remark = "",
  };
}

// The results along one axis, and those nearest to a place on it.
struct line {
  struct curve curve;
  const struct measurement *nearest, *metered; // of all; of those with watts
};

// Whether `axis` is nearer to `at` than the best so far. Of two that are equally near, the smaller
// counts.
static bool is_nearer(int axis, int best, int at) {
  const int far = abs(axis - at), best_far = abs(best - at);
  return far < best_far || (far == best_far && axis < best);
}

// The curve along one axis at the required value of the other. The result nearest to `at` is
// line.nearest; INT_MAX asks for the largest.
static struct line curve_along(const struct query *query, enum workload_key along,
                               enum workload_key across, int at, int other) {
  struct line line = {.curve = {.accelerators = 1, .grade = GRADE_MEASURED}};
  for (size_t i = 0; i < query->count; i++) {
    const struct measurement *result = query->fitting[i];
    const int axis = axis_of(result, along);
    if (axis_of(result, across) != other ||
        !curve_add(&line.curve, axis, rate_of(result), load_power_of(result), "", query->arena))
      continue;
    line.curve.grade = grade_weaker(result->grade, line.curve.grade);
    line.curve.accelerators = measurement_devices(result);
    if (!line.nearest || is_nearer(axis, axis_of(line.nearest, along), at))
      line.nearest = result;
    if (!isnan(load_power_of(result)) &&
        (!line.metered || is_nearer(axis, axis_of(line.metered, along), at)))
      line.metered = result;
  }
  return line;
}

// Takes the watts along one axis, from the results that have any. Returns false outside these.
static bool take_watts(const struct query *query, const struct line *line, enum workload_key along,
                       int at, struct recorded *out) {
  const struct curve *curve = &line->curve;
  out->load_power_w = curve_interpolate(curve->batch, curve->load_power, curve->count, at);
  if (isnan(out->load_power_w) || !line->metered)
    return false;
  out->power_grade = grade_weaker(line->metered->grade, GRADE_PROJECTED);
  out->load_source = arena_printf(query->arena, "%s; interpolated to %s %d",
                                  recorded_load_source(line->metered, query->arena),
                                  workload_key_names[along], at);
  return true;
}

static bool try_curve(const struct query *query, enum workload_key along, enum workload_key across,
                      int at, int other, struct recorded *out) {
  const struct line line = curve_along(query, along, across, at, other);
  const struct curve *curve = &line.curve;
  double tokens_per_s = curve_interpolate(curve->batch, curve->tokens_per_s, curve->count, at);
  if (!line.nearest || !isfinite(tokens_per_s))
    return false;
  fill(query, line.nearest, out);
  out->tokens_per_s = tokens_per_s;
  out->grade = out->grade > GRADE_PROJECTED ? out->grade : GRADE_PROJECTED;
  out->source = recorded_source_at(line.nearest, along, at, query->arena);
  take_watts(query, &line, along, at, out);
  return true;
}

// The watts of a measured result without any, from those of other batches, else of other contexts.
static void fill_watts(const struct query *query, int batch, int context, struct recorded *out) {
  struct line line = curve_along(query, WORKLOAD_BATCH, WORKLOAD_CONTEXT, batch, context);
  if (take_watts(query, &line, WORKLOAD_BATCH, batch, out))
    return;
  line = curve_along(query, WORKLOAD_CONTEXT, WORKLOAD_BATCH, context, batch);
  take_watts(query, &line, WORKLOAD_CONTEXT, context, out);
}

// Takes the figure, measured or interpolated.
static bool figure_at(const struct query *query, int batch, int context, struct recorded *out) {
  for (size_t i = 0; i < query->count; i++)
    if (query->fitting[i]->batch == batch && query->fitting[i]->context == context) {
      fill(query, query->fitting[i], out);
      if (isnan(out->load_power_w))
        fill_watts(query, batch, context, out);
      return true;
    }
  return batch && context &&
         (try_curve(query, WORKLOAD_BATCH, WORKLOAD_CONTEXT, batch, context, out) ||
          try_curve(query, WORKLOAD_CONTEXT, WORKLOAD_BATCH, context, batch, out));
}

static const char *why_none_at(const struct query *query) {
  const struct workload *workload = query->workload;
  const char *measured = arena_printf(query->arena, "the records measured batch %s at context %s",
                                      measured_values(query, WORKLOAD_BATCH),
                                      measured_values(query, WORKLOAD_CONTEXT));
  if (*wanted(query, WORKLOAD_CONTEXT) || !workload_has_lengths(workload))
    return arena_printf(query->arena,
                        "%s: the workload's batch or context is outside that or not stated",
                        measured);
  return arena_printf(query->arena,
                      "%s: requests of %.0f input and %.0f output tokens decode at context %.0f on "
                      "average, and this context or the workload's batch is outside that or not "
                      "stated: measure it with pertoken-probe run --context, or state the context "
                      "in [workload]",
                      measured, workload->input_tokens, workload->output_tokens,
                      workload_decode_context(workload));
}

const char *recorded_choose(const struct records *records, const char *file,
                            const char *accelerator, const struct workload *workload,
                            struct recorded *out, struct arena *arena) {
  struct query query = {records, file, accelerator, workload, arena, NULL, 0};
  const char *why = find_fitting(&query);
  if (why)
    return why;
  const int batch = wanted_number(&query, WORKLOAD_BATCH);
  const int context = wanted_number(&query, WORKLOAD_CONTEXT);
  const char *passed_over = "";
  struct recorded found, best = {.nearest = NULL};
  for (size_t i = 0; i < query.count; i++) {
    const struct query same = same_model(&query, i);
    if (figure_at(&same, batch, context, &found))
      keep_better(&query, &found, &best, &passed_over);
  }
  if (best.nearest) {
    remark_on(&query, passed_over, &best);
    *out = best;
    return NULL;
  }
  return why_none_at(&query);
}

// A curve over the batch, and as *nearest its largest batch, with the curve's grade.
static bool curve_over_batch(const struct query *query, int context, struct curve *curve,
                             struct recorded *nearest) {
  const struct line line = curve_along(query, WORKLOAD_BATCH, WORKLOAD_CONTEXT, INT_MAX, context);
  *curve = line.curve;
  if (!line.nearest || curve->count < 2)
    return false;
  fill(query, line.nearest, nearest);
  nearest->grade = curve->grade;
  nearest->load_source = line.metered ? recorded_load_source(line.metered, query->arena) : "";
  return true;
}

const char *recorded_curve(const struct records *records, const char *file, const char *accelerator,
                           const struct workload *workload, struct curve *curve,
                           struct recorded *nearest, struct arena *arena) {
  struct query query = {records, file, accelerator, workload, arena, NULL, 0};
  const char *why = find_fitting(&query);
  if (why)
    return why;
  const int context = wanted_number(&query, WORKLOAD_CONTEXT);
  const char *passed_over = "";
  struct recorded found, best = {.nearest = NULL};
  for (size_t i = 0; i < query.count; i++) {
    const struct query same = same_model(&query, i);
    struct curve over;
    if (!curve_over_batch(&same, context, &over, &found))
      continue;
    keep_better(&query, &found, &best, &passed_over);
    if (best.nearest == found.nearest)
      *curve = over;
  }
  if (best.nearest) {
    remark_on(&query, passed_over, &best);
    *nearest = best;
    return NULL;
  }
  return arena_printf(arena,
                      "records of several batches are needed for %s, at one context%s; there is "
                      "batch %s at context %s",
                      workload_chosen_by(workload, arena),
                      workload_has_lengths(workload) && !*wanted(&query, WORKLOAD_CONTEXT)
                          ? arena_printf(arena, ", for these requests %d", context)
                          : "",
                      measured_values(&query, WORKLOAD_BATCH),
                      measured_values(&query, WORKLOAD_CONTEXT));
}
