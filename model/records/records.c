#include "model/records/records.h"

#include "base/json_in.h"
#include "base/process.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/evidence/date.h"
#include "model/records/measurement_fields.h"
#include "model/records/measurement_file.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int is_record_name(const struct dirent *entry) {
  return entry->d_name[0] != '.' && text_ends_in(entry->d_name, ".json");
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

// ---- decoding by an engine

// A cache that begins empty, as llama-bench's does unless told otherwise, holds half the output on
// average. 0: unknown.
static int context_of(const struct serving_rung *rung) {
  const double context =
      rung->input_tokens > 0 ? rung->input_tokens : ceil(rung->output_tokens / 2);
  return isnan(rung->input_tokens) || isnan(context) ? 0 : (int)context;
}

static struct measurement decoding_of(const struct serving_record *record,
                                      const struct serving_rung *rung) {
  const struct serving_power *power = &rung->power;
  struct measurement result = measurement_unknown();
  result.place = (struct place){record->source, 0, 0};
  result.model.id = record->model;
  result.precision = record->precision;
  result.types.weights = record->precision;
  result.batch = (int)rung->concurrency;
  result.context = context_of(rung);
  result.whole_model = true;
  result.tokens_per_s = rung->output_tokens_per_s;
  result.step_seconds = rung->concurrency / rung->output_tokens_per_s;
  result.energy_meter = power->source;
  if (power->covers == COVERS_ACCELERATORS) {
    result.idle_power_w = power->idle_power_w;
    result.load_power_w = power->load_power_w;
  }
  result.grade = record->grade;
  result.started = record->started;
  result.finished = *record->finished ? record->finished : record->date;
  if (record->accelerators > 1)
    result.tensor_parallel.devices = record->accelerators;
  return result;
}

static bool is_decoding(const struct serving_rung *rung) {
  return !*rung->refused && rung->output_tokens_per_s > 0 && context_of(rung) > 0;
}

static struct measurement_record *decodings_of(const struct serving_record *from,
                                               struct arena *arena) {
  struct measurement_record *record = arena_alloc(arena, sizeof *record);
  *record = (struct measurement_record){
      .source = from->source,
      .path = from->path,
      .accelerator = from->accelerator,
      .device = {.backend = !strcmp(from->accelerator, "cpu") ? "cpu" : "",
                 .name = *from->device ? from->device : from->accelerator,
                 .uuid = "",
                 .pci = "",
                 .runtime = ""},
      .started = from->started,
      .finished = *from->finished ? from->finished : from->date,
      .digest = from->digest,
      .results = arena_array(arena, from->count, sizeof *record->results),
  };
  for (size_t i = 0; i < from->count; i++)
    if (is_decoding(&from->rungs[i])) {
      struct measurement *result = &record->results[record->count++];
      *result = decoding_of(from, &from->rungs[i]);
      result->record = record;
    }
  return record;
}

// ---- the folder

void records_doubt_day(const char *time, const char *so, const struct source *source,
                       struct diagnostics *diagnostics) {
  const char *day = arena_printf(diagnostics->arena, "%.10s", time);
  const char *today = process_today(diagnostics->arena);
  struct date date, latest;
  if (date_parse(day, &date) && date_parse(today, &latest) && date_is_ahead(date, latest))
    diagnostics_warning(diagnostics, (struct place){source, 0, 0},
                        "the record is dated %s, after today, %s%s: is a clock wrong?", day, today,
                        so);
}

bool records_refuse_watts(const json_t *object, const struct source *source,
                          struct diagnostics *diagnostics) {
  const char *kind = json_string_value(json_object_get(object, "record"));
  if (!kind || strcmp(kind, "power series") != 0)
    return false;
  diagnostics_error(diagnostics, (struct place){source, 0, 0},
                    "a power series of 'pertoken probe meter' is no record by itself: 'probe "
                    "serving' and 'import' take its watts with --power");
  return true;
}

static void read_one(const char *path, struct records *records, struct arena *arena,
                     struct diagnostics *diagnostics) {
  const struct source *source;
  struct measurement_record *measurement = NULL;
  struct serving_record *serving = NULL;
  struct production *production = NULL;
  json_t *object =
      json_in_read(path, "expected a complete record in JSON", &source, arena, diagnostics);
  if (!object)
    return;
  const bool is_watts = records_refuse_watts(object, source, diagnostics);
  if (production_is_one(object))
    production = production_of_json(object, source, arena, diagnostics);
  else if (serving_is_one(object))
    serving = serving_of_json(object, source, arena, diagnostics);
  else if (!is_watts)
    measurement = measurement_of_json(object, source, arena, diagnostics);
  json_decref(object);
  if (measurement || serving)
    records_doubt_day(measurement          ? measurement->finished
                      : *serving->finished ? serving->finished
                                           : serving->date,
                      ", and counts as the newest until then", source, diagnostics);
  if (production)
    records_doubt_day(production->finished, "", source, diagnostics);
  if (production)
    records->productions[records->production_count++] = production;
  if (measurement)
    records->list[records->count++] = measurement;
  if (serving)
    records->servings[records->serving_count++] = serving;
  if (serving && serving->basis == BASIS_DECODE)
    records->list[records->count++] = decodings_of(serving, arena);
}

int records_of_files(const char *const *paths, size_t count, struct records *records,
                     struct arena *arena, struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  records->count = records->serving_count = records->production_count = 0;
  records->list = arena_array(arena, count, sizeof(struct measurement_record *));
  records->servings = arena_array(arena, count, sizeof(struct serving_record *));
  records->productions = arena_array(arena, count, sizeof(struct production *));
  for (size_t i = 0; i < count; i++)
    read_one(paths[i], records, arena, diagnostics);
  return diagnostics->errors > errors ? -1 : 0;
}

const char *records_name_hint(const char *file, struct arena *arena) {
  return strchr(file, '/')
             ? arena_printf(arena, ": give its name without a folder, '%s'", source_file_name(file))
             : "";
}

int records_list(const char *directory, const char *const **paths, size_t *count,
                 struct arena *arena, struct diagnostics *diagnostics) {
  struct dirent **entries;
  const int found = scandir(directory, &entries, is_record_name, by_name);
  if (found < 0) {
    diagnostics_error(diagnostics, nowhere, "cannot read the directory '%s': %s", directory,
                      strerror(errno));
    return -1;
  }
  const char **list = arena_array(arena, (size_t)found, sizeof *list);
  for (int i = 0; i < found; i++) {
    list[i] = arena_printf(arena, "%s/%s", directory, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  *paths = list;
  *count = (size_t)found;
  return 0;
}

int records_read(const char *directory, struct records *records, struct arena *arena,
                 struct diagnostics *diagnostics) {
  const char *const *paths;
  size_t count;
  if (records_list(directory, &paths, &count, arena, diagnostics))
    return -1;
  return records_of_files(paths, count, records, arena, diagnostics);
}
