#include "model/evidence/measurement_read.h"

#include "base/json_in.h"
#include "base/source.h"
#include "model/evidence/grade.h"
#include "model/evidence/measurement_fields.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// What stands in a record besides the fields of the table.
static const char *const outer_names[] = {"schema", "basis", "digest"};

struct reader {
  struct arena *arena;
  struct diagnostics *diagnostics;
  struct place place;
  int schema; // of the record
};

static void wanted(const struct reader *reader, const char *path, const char *what,
                   const json_t *found) {
  static const char *const kinds[] = {
      [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list",  [JSON_STRING] = "a text",
      [JSON_INTEGER] = "a number", [JSON_REAL] = "a number", [JSON_TRUE] = "true",
      [JSON_FALSE] = "false",      [JSON_NULL] = "null"};
  diagnostics_error(reader->diagnostics, reader->place, "%s: expected %s, found %s", path, what,
                    found ? kinds[json_typeof(found)] : "nothing");
}

// A number between low and high, both included.
static bool read_number(const struct reader *reader, const char *path, const json_t *value,
                        double low, double high, double *out) {
  if (!json_is_number(value)) {
    wanted(reader, path, "a number", value);
    return false;
  }
  *out = json_number_value(value);
  if (*out >= low && *out <= high)
    return true;
  diagnostics_error(reader->diagnostics, reader->place,
                    "%s: expected a number of at least %g, found %.17g", path, low, *out);
  return false;
}

static bool read_whole(const struct reader *reader, const char *path, const json_t *value,
                       const struct field *field, double *out) {
  if (json_is_integer(value))
    return read_number(reader, path, value, field->low, field->high, out);
  wanted(reader, path, "a whole number", value);
  return false;
}

static void read_reals(const struct reader *reader, const char *path, const json_t *value,
                       const struct field *field, char *base) {
  if (!json_is_array(value)) {
    wanted(reader, path, "a list", value);
    return;
  }
  const size_t count = json_array_size(value);
  double *list = arena_array(reader->arena, count, sizeof *list);
  for (size_t i = 0; i < count; i++) {
    const char *name = arena_printf(reader->arena, "%s[%zu]", path, i);
    const json_t *element = json_array_get(value, i);
    list[i] = NAN;
    if (field->kind == FIELD_MAYBES && json_is_null(element))
      continue;
    if (!read_number(reader, name, element, field->low, field->high, &list[i]))
      return;
  }
  *(const double **)(base + field->offset) = list;
  *(size_t *)(base + field->count_offset) = count;
}

static void read_object(const struct reader *reader, const char *path, const json_t *object,
                        const struct field *fields, char *base);

static void read_list(const struct reader *reader, const char *path, const json_t *value,
                      const struct field *field, char *base) {
  if (!json_is_array(value)) {
    wanted(reader, path, "a list", value);
    return;
  }
  const size_t count = json_array_size(value);
  char *list = arena_array(reader->arena, count, field->size);
  for (size_t i = 0; i < count; i++)
    read_object(reader, arena_printf(reader->arena, "%s[%zu]", path, i), json_array_get(value, i),
                field->fields, list + i * field->size);
  *(char **)(base + field->offset) = list;
  *(size_t *)(base + field->count_offset) = count;
}

static void read_text(const struct reader *reader, const char *path, const json_t *value,
                      const char **out) {
  *out = "";
  if (json_is_string(value))
    *out = arena_copy(reader->arena, json_string_value(value));
  else
    wanted(reader, path, "a text", value);
}

static void read_grade(const struct reader *reader, const char *path, const json_t *value,
                       enum grade *out) {
  static const enum grade grades[] = {GRADE_MEASURED, GRADE_PROJECTED};
  *out = GRADE_PROJECTED;
  const char *text = json_string_value(value);
  for (size_t i = 0; text && i < sizeof grades / sizeof grades[0]; i++) {
    if (strcmp(text, grade_name(grades[i])) != 0)
      continue;
    *out = grades[i];
    return;
  }
  wanted(reader, path, "\"measured\" or \"projected\"", value);
}

static void read_field(const struct reader *reader, const char *path, const json_t *value,
                       const struct field *field, char *base) {
  void *at = base + field->offset;
  double number = 0;
  switch (field->kind) {
  case FIELD_TEXT: read_text(reader, path, value, at); break;
  case FIELD_MAYBE:
    *(double *)at = NAN;
    if (json_is_null(value))
      break;
    read_number(reader, path, value, field->low, field->high, at);
    break;
  case FIELD_REAL: read_number(reader, path, value, field->low, field->high, at); break;
  case FIELD_INT:
    if (read_whole(reader, path, value, field, &number))
      *(int *)at = (int)number;
    break;
  case FIELD_COUNT:
    if (read_whole(reader, path, value, field, &number))
      *(uint64_t *)at = (uint64_t)json_integer_value(value);
    break;
  case FIELD_BOOL:
    *(bool *)at = json_is_true(value);
    if (!json_is_boolean(value))
      wanted(reader, path, "true or false", value);
    break;
  case FIELD_GRADE: read_grade(reader, path, value, at); break;
  case FIELD_REALS:
  case FIELD_MAYBES: read_reals(reader, path, value, field, base); break;
  case FIELD_OBJECT: read_object(reader, path, value, field->fields, at); break;
  case FIELD_LIST: read_list(reader, path, value, field, base); break;
  }
}

// What a record of an older schema says of a field that it lacks: nothing.
static void leave_unknown(const struct field *field, char *base) {
  void *at = base + field->offset;
  switch (field->kind) {
  case FIELD_TEXT: *(const char **)at = ""; break;
  case FIELD_REAL:
  case FIELD_MAYBE: *(double *)at = NAN; break;
  case FIELD_OBJECT:
    for (const struct field *inner = field->fields; inner->name; inner++)
      leave_unknown(inner, at);
    break;
  default: break; // zero, as all of a record begins
  }
}

static bool is_outer(const char *path, const char *name) {
  for (size_t i = 0; !*path && i < sizeof outer_names / sizeof outer_names[0]; i++)
    if (!strcmp(outer_names[i], name))
      return true;
  return false;
}

static void refuse_unknown(const struct reader *reader, const char *path, const json_t *object,
                           const struct field *fields) {
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)object, name, value) {
    const struct field *field = fields;
    while (field->name && strcmp(field->name, name) != 0)
      field++;
    const bool known = field->name && field->since <= reader->schema;
    if (!known && !is_outer(path, name))
      diagnostics_error(reader->diagnostics, reader->place, "%s%s%s: records have no such field",
                        path, *path ? "." : "", name);
  }
}

static void read_object(const struct reader *reader, const char *path, const json_t *object,
                        const struct field *fields, char *base) {
  if (!json_is_object(object)) {
    wanted(reader, path, "an object", object);
    return;
  }
  refuse_unknown(reader, path, object, fields);
  for (const struct field *field = fields; field->name; field++) {
    if (field->since > reader->schema) {
      leave_unknown(field, base);
      continue;
    }
    const char *name =
        *path ? arena_printf(reader->arena, "%s.%s", path, field->name) : field->name;
    const json_t *value = json_object_get(object, field->name);
    if (value)
      read_field(reader, name, value, field, base);
    else
      diagnostics_error(reader->diagnostics, reader->place, "%s: this field is missing", name);
  }
}

// Is the mean of the readings the window's? Where there is a gap nobody can say, nor where the mean
// of that kind is not in the record: the sensors' of an idle window.
static bool has_mean(const struct measurement_window *window, double power_w) {
  const double tolerance = 1e-6; // of sums of differences of large numbers
  if (!window->count || isnan(power_w) || measurement_has_gap(window))
    return true;
  const double mean_w = measurement_window_joules(window) / measurement_window_seconds(window);
  return fabs(mean_w - power_w) <= tolerance * power_w;
}

static bool is_in_order(const struct measurement_window *window) {
  for (size_t i = 0; i < window->count; i++)
    if (!(window->end_s[i] > (i ? window->end_s[i - 1] : 0)))
      return false;
  return window->count == window->power_count;
}

static const char *wrong_readings(const struct measurement *result) {
  const struct measurement_window *idle = &result->readings.idle, *load = &result->readings.load;
  if (!is_in_order(idle) || !is_in_order(load))
    return "readings need a time and watts each, the times ascending";
  if ((idle->count && isnan(result->idle_power_w)) || (load->count && isnan(result->load_power_w)))
    return "readings of watts that were not measured";
  if (!has_mean(load, load->sensed ? result->sampled_power_w : result->load_power_w) ||
      !has_mean(idle, idle->sensed ? NAN : result->idle_power_w))
    return "the mean of the readings is not the window's";
  return NULL;
}

// Figures that contradict each other were not written by the probe.
static void check_result(const struct reader *reader, const struct measurement *result, size_t i) {
  const char *wrong = NULL;
  if (!(result->step_seconds > 0) || !(result->tokens_per_s > 0))
    wrong = "tokens_per_s and step_seconds must be above 0";
  else if (fabs(result->tokens_per_s * result->step_seconds / result->batch - 1) > 1e-9)
    wrong = "tokens_per_s is not batch / step_seconds";
  else if (result->ci95_low > result->tokens_per_s || result->ci95_high < result->tokens_per_s)
    wrong = "tokens_per_s lies outside its own interval";
  else if (result->grade == GRADE_MEASURED &&
           (!result->whole_model || result->slice_count || result->flags.cache_resident ||
            result->shard.of > 1))
    wrong = "slices, a part of a model and a cache-resident model are never graded measured";
  else if (result->whole_model && !result->slice_count &&
           result->layers_measured != result->model.layers)
    wrong = "some layers without slices are not a whole model";
  else if (result->shard.of > 1 && result->whole_model && isnan(result->shard.all_reduce_s))
    wrong = "a rank's share is not a whole model without the time of an all-reduce";
  else if (result->tensor_parallel.member_count != (size_t)result->tensor_parallel.devices)
    wrong = "tensor_parallel.members and tensor_parallel.devices differ in number";
  else if (result->tensor_parallel.devices > 1 && result->shard.of > 1)
    wrong = "a result is of several devices or of one rank's share, not of both";
  else if (result->verification.max_error > result->verification.tolerance)
    wrong = "the kernels did not pass their verification";
  else
    wrong = wrong_readings(result);
  if (wrong)
    diagnostics_error(reader->diagnostics, reader->place, "results[%zu]: %s", i, wrong);
}

// Schema, basis and digest, in this order: each is meaningless after a failure of the one before.
static int check_outer(struct reader *reader, const json_t *object) {
  const json_t *schema = json_object_get(object, "schema");
  if (!json_is_object(object) || !json_is_integer(schema)) {
    diagnostics_error(reader->diagnostics, reader->place,
                      "expected a measurement record, found no \"schema\" number");
    return -1;
  }
  if (json_integer_value(schema) < 1 || json_integer_value(schema) > MEASUREMENT_SCHEMA) {
    diagnostics_error(reader->diagnostics, reader->place,
                      "a record of schema %" JSON_INTEGER_FORMAT
                      ", this version reads 1 to %d: use the version that wrote it, or a newer one",
                      json_integer_value(schema), MEASUREMENT_SCHEMA);
    return -1;
  }
  reader->schema = (int)json_integer_value(schema);
  const char *digest = json_string_value(json_object_get(object, "digest"));
  const char *expected = measurement_digest(object, reader->arena);
  if (!digest || !expected || strcmp(digest, expected) != 0) {
    diagnostics_error(reader->diagnostics, reader->place,
                      digest ? "the record was changed after the probe wrote it: "
                               "its digest does not match its content"
                             : "the record has no digest: it was not written by the probe");
    return -1;
  }
  const char *basis = json_string_value(json_object_get(object, "basis"));
  if (basis && !strcmp(basis, MEASUREMENT_BASIS))
    return 0;
  diagnostics_error(reader->diagnostics, reader->place, "basis: expected \"%s\"",
                    MEASUREMENT_BASIS);
  return -1;
}

static struct measurement_record *read_record(struct reader *reader, const json_t *object) {
  const size_t errors = reader->diagnostics->errors;
  struct measurement_record *record = arena_alloc(reader->arena, sizeof *record);
  if (check_outer(reader, object))
    return NULL;
  read_object(reader, "", object, measurement_record_fields, (char *)record);
  if (reader->diagnostics->errors > errors)
    return NULL;
  record->source = reader->place.source;
  record->path = record->source->name;
  record->digest = arena_copy(reader->arena, json_string_value(json_object_get(object, "digest")));
  for (size_t i = 0; i < record->count; i++) {
    record->results[i].record = record;
    record->results[i].place = reader->place;
    check_result(reader, &record->results[i], i);
  }
  return reader->diagnostics->errors > errors ? NULL : record;
}

struct measurement_record *measurement_read(const char *path, struct arena *arena,
                                            struct diagnostics *diagnostics) {
  const struct source *source;
  json_t *object = json_in_read(path, "expected a whole measurement record in JSON", &source, arena,
                                diagnostics);
  if (!object)
    return NULL;
  struct reader reader = {arena, diagnostics, {source, 0, 0}, 0};
  struct measurement_record *record = read_record(&reader, object);
  json_decref(object);
  return record;
}

static int is_record_name(const struct dirent *entry) {
  const char *point = strrchr(entry->d_name, '.');
  return entry->d_name[0] != '.' && point && strcmp(point, ".json") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

int measurement_read_directory(const char *directory, struct measurement_record ***records,
                               size_t *count, struct arena *arena,
                               struct diagnostics *diagnostics) {
  struct dirent **entries;
  const size_t errors = diagnostics->errors;
  *count = 0;
  *records = NULL;
  const int found = scandir(directory, &entries, is_record_name, by_name);
  if (found < 0) {
    diagnostics_error(diagnostics, (struct place){0}, "cannot read the directory '%s': %s",
                      directory, strerror(errno));
    return -1;
  }
  *records = arena_array(arena, (size_t)found, sizeof(struct measurement_record *));
  for (int i = 0; i < found; i++) {
    const char *path = arena_printf(arena, "%s/%s", directory, entries[i]->d_name);
    struct measurement_record *record = measurement_read(path, arena, diagnostics);
    if (record)
      (*records)[(*count)++] = record;
    free(entries[i]);
  }
  free(entries);
  return diagnostics->errors > errors ? -1 : 0;
}
