#include "model/questions/batch_curve.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/source.h"
#include "base/statistics.h"
#include "model/catalog/columns.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/catalog.h"
#include "model/records/measurement.h"
#include "model/records/served.h"
#include "model/records/served_rungs.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"

#include <stdlib.h>
#include <string.h>

// The columns that must be equal in two rows for batch to be their only difference.
static const char *const same_columns[] = {
    "accelerator",  "model",     "precision",   "scenario",    "token_basis",
    "isl",          "osl",       "num_gpus",    "parallelism", "software",
    "source_title", "submitter", "speculation", "activations",
};

static int by_batch(const void *a, const void *b) {
  const struct batch_point *left = a, *right = b;
  return number_order(left->batch, right->batch);
}

static bool has_batch(const struct batch_curve *batches, double batch) {
  for (size_t i = 0; i < batches->count; i++)
    if (batches->points[i].batch == batch)
      return true;
  return false;
}

// Adds a point. The first of two results at the same batch counts; the option's own is added first.
static void add_point(struct batch_curve *batches, struct batch_point point) {
  if (point.batch > 0 && point.throughput > 0 && !has_batch(batches, point.batch))
    batches->points[batches->count++] = point;
}

// ---- from a record

static bool same_text(const char *a, const char *b) {
  return !strcmp(a, b);
}

static bool same_types(const struct measurement_types *a, const struct measurement_types *b) {
  return same_text(a->weights, b->weights) && same_text(a->activations, b->activations) &&
         same_text(a->kv, b->kv) && same_text(a->head, b->head) &&
         same_text(a->accumulation, b->accumulation);
}

static bool differs_in_batch_alone(const struct measurement *a, const struct measurement *b) {
  return a->whole_model && b->whole_model && a->context == b->context &&
         measurement_devices(a) == measurement_devices(b) && same_text(a->model.id, b->model.id) &&
         same_types(&a->types, &b->types);
}

// A measured result as a point, per device like the published rows.
static struct batch_point recorded_point(const struct measurement *result) {
  const double per_second = measurement_rate(result) / measurement_devices(result);
  return (struct batch_point){result->batch, rate_per_hour(per_second), result->record->path};
}

static void add_recorded(const struct option *option, struct batch_curve *batches,
                         struct arena *arena) {
  const struct measurement_record *record = option->record->record;
  batches->points = arena_array(arena, record->count, sizeof *batches->points);
  for (size_t i = 0; i < record->count; i++)
    if (differs_in_batch_alone(option->record, &record->results[i]))
      add_point(batches, recorded_point(&record->results[i]));
}

// ---- from a serving record

static void add_served(const struct option *option, struct batch_curve *batches,
                       struct arena *arena) {
  const struct served_rungs *rungs = option->served->rungs;
  batches->points = arena_array(arena, rungs->count, sizeof *batches->points);
  for (size_t i = 0; i < rungs->curve.count; i++)
    add_point(batches, (struct batch_point){rungs->curve.batch[i],
                                            rate_per_hour(rungs->curve.tokens_per_s[i]),
                                            rungs->record->path});
}

// ---- from the table

static bool same_but_batch(const struct table *table, size_t a, size_t b) {
  for (size_t i = 0; i < sizeof same_columns / sizeof same_columns[0]; i++)
    if (strcmp(table_cell(table, a, same_columns[i]), table_cell(table, b, same_columns[i])) != 0)
      return false;
  return true;
}

static struct batch_point published_point(const struct table *table, size_t row) {
  return (struct batch_point){
      .batch = table_number_or(table, row, "batch_or_concurrency", 0),
      .throughput = rate_per_hour(table_number_or(table, row, "tokens_per_s_per_gpu", 0)),
      .source = table_cell(table, row, "id")};
}

// The row from which a figure was taken, or -1.
static long row_of(const struct table *table, const struct figure *figure) {
  for (size_t row = 0; row < table->rows; row++) {
    const struct place place = table_place(table, row, "tokens_per_s_per_gpu");
    if (place.source == figure->place.source && place.line == figure->place.line)
      return (long)row;
  }
  return -1;
}

static void add_published(const struct scenario *scenario, const struct figure *figure,
                          struct batch_curve *batches, struct arena *arena) {
  const struct table *table = catalog_table(scenario->catalog, CATALOG_THROUGHPUT);
  const long own = table ? row_of(table, figure) : -1;
  if (own < 0)
    return;
  batches->points = arena_array(arena, table->rows, sizeof *batches->points);
  add_point(batches, published_point(table, (size_t)own));
  if (!batches->count) // its own batch is not stated
    return;
  for (size_t row = 0; row < table->rows; row++)
    if (same_but_batch(table, (size_t)own, row))
      add_point(batches, published_point(table, row));
}

// The figure of the evidence, if every case has it: no case and no option overrides it.
static const struct figure *found_figure(const struct scenario *scenario,
                                         const struct option *option, int declaration) {
  if (declaration < 0 || option->graph->state[declaration] != GRAPH_INPUT)
    return NULL;
  for (size_t c = 0; c < scenario->case_count; c++)
    if (option_figure(scenario, option, c, declaration)->origin != ORIGIN_CATALOGUE)
      return NULL;
  return option_figure(scenario, option, 0, declaration);
}

bool batch_curve_of(const struct scenario *scenario, const struct option *option,
                    struct batch_curve *batches, struct arena *arena) {
  const int decode = model_find(scenario->model, "decode_throughput");
  const int serving = model_find(scenario->model, "throughput");
  *batches = (struct batch_curve){.declaration = option->record ? decode : serving};
  const struct figure *figure = found_figure(scenario, option, batches->declaration);
  if (!figure)
    return false;
  if (option->record)
    add_recorded(option, batches, arena);
  else if (option->served)
    add_served(option, batches, arena);
  else
    add_published(scenario, figure, batches, arena);
  if (batches->count)
    qsort(batches->points, batches->count, sizeof *batches->points, by_batch);
  return batches->count > 1;
}
